"""Run inside an environment of Hermes: write a store full of compactions, hand-overs, repeated prompts,
undone turns and odd rows, through Hermes' own calls.

    python dramas.py DIR SEED CONVERSATIONS
"""

from __future__ import annotations

import inspect
import itertools
import random
import sys
from pathlib import Path
from typing import Any

WORDS = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "inlet", "juniper", "kelp", "larch"]
END = "--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---"
PRIOR = "[PRIOR CONTEXT — for reference only; not a new message]"
PRIOR_END = "[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]"


class Drama:
    """One conversation; what happens next is drawn by lot."""

    def __init__(self, db: Any, rng: random.Random, session_id: str) -> None:
        from agent.context_compressor import LEGACY_SUMMARY_PREFIX, SUMMARY_PREFIX

        self.db, self.rng, self.session = db, rng, session_id
        # The wordings of middle-aged releases are hand-offs to us, but 0.22.2 has forgotten some of them.
        self.prefix = SUMMARY_PREFIX if hasattr(db, "publish_compression_child") else LEGACY_SUMMARY_PREFIX
        self.ids = (f"{session_id}_{number}" for number in itertools.count(1))
        self.known = set(inspect.signature(db.append_message).parameters)
        self.last_prompt = self.words(4)
        db.create_session(session_id, "cli")

    def words(self, number: int) -> str:
        return " ".join(self.rng.choice(WORDS) for _ in range(number))

    def say(self, role: str, content: Any, **columns: Any) -> int | None:
        if any(name not in self.known for name in columns):
            return None
        return int(self.db.append_message(self.session, role, content=content, **columns))

    def live(self) -> list[dict[str, Any]]:
        """What Hermes holds of the session, with the identities that its copies keep."""
        return [dict(message) for message in self.db.get_messages_as_conversation(self.session)]

    # what can happen

    def turn(self) -> None:
        self.last_prompt = self.words(self.rng.randrange(1, 6))
        self.say("user", self.last_prompt)
        for _ in range(self.rng.randrange(3)):
            names = self.rng.sample(WORDS, self.rng.randrange(1, 3))
            same = self.rng.random() < 0.3
            calls = [
                {
                    "id": "call_0" if same else f"call_{self.rng.getrandbits(32):x}",
                    "type": "function",
                    "function": {"name": name, "arguments": '{"q": "' + self.words(2) + '"}'},
                }
                for name in (names[:1] if same else names)
            ]
            self.say("assistant", self.rng.choice(["", self.words(3)]), tool_calls=calls)
            for call in calls:
                name = call["function"]["name"]
                self.say("tool", self.words(5), tool_name=name, tool_call_id=call["id"])
        if self.rng.random() < 0.85:
            self.say("assistant", self.words(6), finish_reason="stop")

    def unanswered(self) -> None:
        self.last_prompt = self.words(3)
        self.say("user", self.last_prompt)

    def repeat(self) -> None:
        self.say("user", self.last_prompt)

    def odd_row(self) -> None:
        kind = self.rng.choice(["hidden", "model_switch", "steer", "auto_continue", "failed_turn", "someday"])
        role = "assistant" if kind == "failed_turn" else "user"
        if self.say(role, self.words(3), display_kind=kind) is None:
            self.say("user", f"[System: {self.words(3)}]")

    def other_row(self) -> None:
        self.rng.choice(
            [
                lambda: self.say("session_meta", "{}"),
                lambda: self.say("system", self.words(4)),
                lambda: self.say("assistant", "", reasoning=self.words(4)),
                lambda: self.say("assistant", None),
                lambda: self.say("user", [{"type": "text", "text": self.words(2)}, {"type": "image_url"}]),
            ]
        )()

    def undo(self) -> None:
        if not hasattr(self.db, "rewind_to_message"):
            return
        rows = self.db.get_messages(self.session)
        prompts = [row["id"] for row in rows if row["role"] == "user" and not row.get("display_kind")]
        if prompts:
            self.db.rewind_to_message(self.session, self.rng.choice(prompts[-2:]))

    def handoff(self, live: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], int]:
        """A summary and the tail that is carried over; sometimes the two share a row."""
        tail = live[-self.rng.randrange(0, 4) :] if self.rng.random() < 0.8 else []
        while tail and tail[0]["role"] == "tool":
            tail = tail[1:]
        summary = f"{self.prefix}\n\n## Goal\n{self.words(8)}"
        first = tail[0] if tail else {}
        content = first.get("content")
        if isinstance(content, str) and "[CONTEXT" not in content and self.rng.random() < 0.4:
            if first["role"] == "user" and self.rng.random() < 0.5:
                first["content"] = f"{summary}\n\n{END}\n\n{first['content']}"
            else:
                first["content"] = f"{PRIOR}\n{first['content']}\n\n{PRIOR_END}\n\n{summary}\n\n{END}"
            first["_compressed_summary"] = True
            return tail, len(tail)
        return [{"role": "user", "content": summary, "_compressed_summary": True}, *tail], len(tail)

    def compact(self) -> None:
        """In one session: rows are archived, the tail is written anew."""
        if not hasattr(self.db, "archive_and_compact"):
            return
        messages, carried = self.handoff(self.live())
        options = {}
        if "tail_count" in inspect.signature(self.db.archive_and_compact).parameters:
            options = {"watermark": self.db.get_active_message_watermark(self.session)}
            if self.rng.random() < 0.7:  # older builds archived the originals of the tail as well
                options["tail_count"] = carried
        self.db.archive_and_compact(self.session, messages, **options)

    def rotate(self) -> None:
        """Into a new session: the parent is closed."""
        parent, child = self.session, next(self.ids)
        messages, _ = self.handoff(self.live())
        if hasattr(self.db, "publish_compression_child"):
            assert self.db.try_acquire_compression_lock(parent, "drama")
            self.db.publish_compression_child(
                parent_session_id=parent,
                child_session_id=child,
                source="cli",
                messages=messages,
                compression_lock_holder="drama",
                watermark=self.db.get_active_message_watermark(parent),
            )
            self.db.release_compression_lock(parent, "drama")
            self.session = child
            return
        self.db.end_session(parent, "compression")
        self.db.create_session(child, "cli", parent_session_id=parent)
        self.session = child
        for message in messages:
            kept = ("tool_calls", "tool_call_id", "tool_name", "timestamp")
            columns = {name: message[name] for name in kept if message.get(name) and name in self.known}
            self.say(message["role"], message.get("content"), **columns)

    def play(self) -> None:
        scenes = [self.turn] * 6 + [self.unanswered, self.repeat, self.odd_row, self.other_row, self.undo]
        scenes += [self.compact, self.rotate] * 2
        self.turn()
        for _ in range(self.rng.randrange(3, 16)):
            self.rng.choice(scenes)()


def main() -> None:
    from hermes_state import SessionDB

    home, seed, number = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    home.mkdir(parents=True, exist_ok=True)
    db = SessionDB(db_path=home / "state.db")
    db._conn.execute("pragma synchronous = off")  # nobody needs this store after a power cut
    rng = random.Random(seed)
    for index in range(number):
        Drama(db, rng, f"drama{index:03d}").play()
    db.close()


if __name__ == "__main__":
    main()
