"""Shapes of descent: chains of compression, branches, helpers' runs, resets, compaction, undo."""

from __future__ import annotations

import json

from places import PLACES
from rotations import compact, copy_history, next_title, rewind, rotate
from scripts import Script, Scripts
from stores import parameters


class Descents(Scripts):
    """Sessions that descend from each other, or change what was said."""

    def chain(
        self,
        shape: str,
        source: str,
        count: int,
        title: str | None = None,
        stale_sibling: bool = False,
        leave_open: bool = False,
        archive: str | None = None,
    ) -> Script:
        """A conversation of `count` segments, the title moving on to its tip."""
        store = self.store
        topic = self.topic()
        sid = root = store.create(source)
        if title:
            title = store.title(sid, title)
        for i in range(count):
            store.shapes[shape].append(sid)
            mark = self.text.rare() if store.replicate else f"segment{shape}part{i + 1}"
            opening = f"Continue {topic[0]}, {mark}: {self.text.prose(12, topic)}"
            yield from self.turn(sid, topic, 1, text=opening)
            yield from self.turns(sid, topic, self.rng.randrange(2, 4))
            store.activity(sid)
            if i == count - 1:
                break
            parent, sid = sid, rotate(store, sid, source, topic)
            if stale_sibling and i == count - 2:
                yield from self._stale_sibling(shape, source, parent, topic)
            if title:
                self._move_title(sid, title)
            yield self.gap(5, 30)
        store.usage(root, 6, second_model=True)
        if archive:
            store.plant(archive, sid, "user", "The {} ledger moved to cold storage.")
        if not leave_open:
            store.end(sid, "user_exit")
        if archive and store.has("set_session_archived"):
            store.db.set_session_archived(sid, True)  # newer releases flag the whole lineage
            store.shapes["archived"] += store.shapes[shape][-count:]

    def _stale_sibling(self, shape: str, source: str, parent: str, topic: list[str]) -> Script:
        """A client that came back late made a second child; the live one must be preferred."""
        store = self.store
        stale = store.create(source, parent_session_id=parent)
        store.shapes[f"{shape}:stale"].append(stale)
        store.say(stale, "user", self.text.question(topic))
        yield self.gap(1, 5)
        store.end(stale, "ws_orphan_reap")

    def _move_title(self, sid: str, title: str) -> None:
        store = self.store
        store.titles.discard(title)
        store.flush()
        if store.has("publish_compression_child"):
            store.db.set_session_title(sid, title)  # moves the title from the ended parent to the tip
        else:
            next_title(store, sid, title)
        store.titles.add(title)

    def numbered_chain(self) -> Script:
        """Titles x, x #2, x #3 along a chain, and a branch off its closed root."""
        store = self.store
        topic = ["atlas-gateway", *self.topic()[1:]]
        base = f"{self.text.rare()} rollout" if store.replicate else "atlas-gateway rollout"
        sid = root = store.create("cli", place=PLACES[0])
        base = store.title(sid, base)
        for i in range(3):
            store.shapes["chain3"].append(sid)
            opening = None if store.replicate else f"segmentchain3part{i + 1} of the atlas-gateway rollout"
            yield from self.turn(sid, topic, 1, text=opening)
            yield from self.turns(sid, topic, 3)
            if i < 2:
                sid = rotate(store, sid, "cli", topic)
                next_title(store, sid, base)
                yield self.gap(5, 30)
        marker = {"_branched_from": root}
        branch = store.create("cli", parent_session_id=root, place=PLACES[0], model_config=marker)
        store.shapes["chain3:branch-of-root"].append(branch)
        copy_history(store, root, branch)
        yield self.gap(5, 30)
        yield from self.turn(branch, topic, 0, text="On this branch, try the blue variant instead.")
        store.end(sid, "user_exit")
        store.usage(root, 4)

    def branch(self) -> Script:
        """A session that branched, the history copied to the branch."""
        store = self.store
        topic = self.topic()
        parent = store.create("cli", place=PLACES[1])
        title = store.title(parent, f"{self.text.rare()} backoff" if store.replicate else "retry backoff")
        store.shapes["branch"].append(parent)
        store.plant("branchberry", parent, "user", "Use exponential backoff with {} jitter.")
        yield self.gap(4, 20)
        store.say(parent, "assistant", self.text.answer(topic), finish_reason="stop")
        yield from self.turns(parent, topic, 3)
        config = {"max_iterations": 90, "_branched_from": parent}
        child = store.create("cli", parent_session_id=parent, place=PLACES[1], model_config=config)
        store.shapes["branch"].append(child)
        store.end(parent, "branched")
        copy_history(store, parent, child)
        next_title(store, child, title)
        yield self.gap(4, 20)
        store.plant("branchonly", child, "user", "In this branch use {} instead of jitter.")
        yield from self.turns(child, topic, 2)
        store.activity(child)

    def delegate(self) -> Script:
        """Two helpers' runs, one under its own source, one under its parent's."""
        store = self.store
        topic = self.topic()
        parent = store.create("desktop", place=PLACES[2])
        store.title(parent, self.name("Split the audit", "Split the"))
        store.shapes["delegate"].append(parent)
        yield from self.turn(parent, topic, 1, text="Delegate the audit to two helpers.")
        for source, needle in (("subagent", "delegatine"), ("desktop", "inheritine")):
            config = {"_delegate_from": parent, "max_iterations": 30}
            child = store.create(source, parent_session_id=parent, model_config=config)
            store.shapes["delegate"].append(child)
            store.plant(needle, child, "user", "Audit the {} module and report.")
            yield self.gap(2, 9)
            if needle == "delegatine":
                store.plant("kanbazorb", child, "assistant", "The {} bridge is only visible to helpers.")
            yield from self.turns(child, topic, 3, pause=(1, 10))
            store.end(child, "agent_close")
        yield from self.turns(parent, topic, 2)
        store.usage(parent, 5)
        store.activity(parent)

    def reset(self) -> Script:
        """A chat that was reset twice, the second time as it was before the marker existed."""
        store = self.store
        topic = self.topic()
        chat = str(self.rng.randrange(10**8, 10**9))
        peer = {
            "chat_id": chat,
            "chat_type": "dm",
            "user_id": "4242",
            "session_key": f"agent:main:whatsapp:dm:{chat}",
            "display_name": "Mei",
            "origin_json": json.dumps({"platform": "whatsapp", "chat_id": chat}),
        }
        first = store.create("whatsapp", **peer)
        store.shapes["reset"].append(first)
        store.title(first, self.name("Dinner and flights", "Dinner and"))
        store.plant("resetpredecessor", first, "user", "Book the {} table for eight.")
        yield from self.turns(first, topic, 3)
        store.end(first, "session_reset")
        yield self.gap(30, 600)
        second = store.create("whatsapp", parent_session_id=first, model_config={"_reset_from": first}, **peer)
        store.shapes["reset"].append(second)
        store.plant("resetsuccessor", second, "user", "New topic: {} tickets.")
        yield from self.turns(second, topic, 2)
        store.end(second, "daily")
        yield self.gap(30, 600)
        third = store.create("whatsapp", parent_session_id=second, model_config={"max_iterations": 90}, **peer)
        store.shapes["reset"].append(third)
        yield from self.turns(third, topic, 2)
        store.activity(third)

    def in_place(self) -> Script:
        """Compaction that keeps the session, twice."""
        store = self.store
        topic = self.topic()
        sid = store.create("desktop", place=PLACES[7])
        store.title(sid, self.name("Compaction without rotation", "Compaction without"))
        store.shapes["inplace"].append(sid)
        store.plant("compactonyx", sid, "user", "The {} plan is in the first part.")
        yield from self.turns(sid, topic, 5)
        for k in range(2):
            store.plant("carryover", sid, "user", "Hold {} across the compaction.")
            yield self.gap(3, 9)
            store.say(sid, "assistant", f"Holding it, round {k + 1}.", finish_reason="stop")
            yield self.gap(3, 9)
            if not compact(store, sid, topic, tail=2):
                break
            yield from self.turns(sid, topic, 4)
        store.usage(sid, 9)
        store.activity(sid)

    def rewound(self) -> Script:
        """Turns that were undone, and a prompt that was edited."""
        store = self.store
        topic = self.topic()
        sid = store.create("acp", place=PLACES[3])
        store.title(sid, self.name("Undo and retry", "Undo and"))
        store.shapes["rewind"].append(sid)
        yield from self.turns(sid, topic, 3)
        if store.has("rewind_to_message"):
            for _ in range(2):
                mid = store.plant("rewoundling", sid, "user", "Delete the {} directory.")
                yield self.gap(3, 9)
                yield from self.turn(sid, topic, 1, text="and then this one too")
                rewind(store, sid, mid)
                yield self.gap(3, 9)
                yield from self.turn(sid, topic, 1, text="Do not delete anything, list it.")
        if store.has("replace_messages") and "archive_dropped" in parameters(store.db.replace_messages):
            # The kept prefix stays, the dropped suffix becomes undone rows.
            messages = store.db.get_messages_as_conversation(sid)
            kept = [*messages[:-2], {"role": "user", "content": "Edited prompt: list hidden files as well."}]
            store.db.replace_messages(sid, kept, archive_dropped=True)
            store.rows += 1
        yield self.gap(3, 9)
        store.activity(sid)
