"""Plain sessions that fill a store: talk, scheduled runs, helpers' runs, one giant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from places import INTERACTIVE, JOBS, PLACES
from scripts import Script, Scripts
from stores import Store

_ENDS = ("user_exit", "agent_close", "idle", "new_session", "cli_close")


class Fillers(Scripts):
    """Sessions without a special shape."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.last_plain: str | None = None
        """The parent of the next helper's run."""

    def filler(self, source: str, budget: Callable[[], int], cron_job: tuple[str, str] | None = None) -> Script:
        """A plain session of `budget()` messages (asked when it starts)."""
        store, rng = self.store, self.rng
        count = left = budget()
        topic = self.topic()
        job = cron_job or (None, None)
        sid = self._begin(source, job[0])
        title = self._title(source, topic, job[1])
        if title and rng.random() < 0.5:
            store.title(sid, title, source=rng.choice(("llm", "derived", "user")))
            title = None
        while left > 0:
            if source == "cron":
                script = self.cron_turn(sid, topic, job[1])
            else:
                tools = rng.choice((0, 1, 1, 2, 3, 5)) if rng.random() < 0.97 else 12
                script = self.turn(sid, topic, tools, fast=True)
            left = yield from self.up_to(script, left)
            if source == "cron":
                yield self.gap(5, 40)
            else:
                yield self.gap(10, 1500) if rng.random() < 0.97 else self.gap(3_000, 200_000)
        if title:
            store.title(sid, title, source="user" if source == "cron" else "llm")
        store.usage(sid, max(1, count // 3), second_model=rng.random() < 0.1)
        store.activity(sid)
        if rng.random() < 0.8:
            store.end(sid, "cron_complete" if source == "cron" else rng.choice(_ENDS))

    def _begin(self, source: str, job: str | None) -> str:
        columns: dict[str, Any] = {}
        if source == "subagent":
            config = {"_delegate_from": self.last_plain, "max_iterations": 30}
            columns = {"parent_session_id": self.last_plain, "model_config": config}
        sid = self.store.create(source, job=job, **columns)
        if source in INTERACTIVE:
            self.last_plain = sid
        self.store.shapes[f"filler:{source}"].append(sid)
        return sid

    def _title(self, source: str, topic: list[str], job: str | None) -> str | None:
        if self.rng.random() < (0.05 if source == "cron" else 0.35):
            return None
        if source == "cron":
            return f"{job} · {self.store.clock.day():%b %d %H:%M}"[:90]
        return " ".join([*self.text.words(self.rng.randrange(2, 5)), topic[0]]).capitalize()[:90]

    def cron_turn(self, sid: str, topic: list[str], job: str | None) -> Script:
        """Scheduled runs repeat their vocabulary: deploy, post, session."""
        rng, project = self.rng, topic[0]
        day = self.store.clock.day()
        prompt = (
            f"[SYSTEM: You are running as a scheduled cron job.] {job}: check the last deploy of {project}, "
            f"collect every session since {day:%Y-%m-%d}, write the deploy post, then post the session summary. "
            "Post only if the deploy changed."
        )
        sessions, commit = rng.randrange(40), self.text.hex(7)
        state = rng.choice(("live", "pending", "rolled back"))
        reply = (
            f"Deploy post for {project}, {day:%Y-%m-%d %H:%M}. Session summary: {sessions} session(s), "
            f"deploy {commit} is {state}. {self.text.prose(rng.randrange(20, 70), topic)} "
            "Post sent to the deploy channel; session closed."
        )
        yield from self.turn(sid, topic, rng.choice((2, 3, 4, 6)), text=prompt, reply=reply, fast=True)

    def giant(self, count: int) -> Script:
        """One session of that many messages."""
        store = self.store
        topic = self.topic()
        sid = store.create("cli", place=PLACES[0])
        store.shapes["giant"].append(sid)
        store.title(sid, "marathon kestrel migration")
        left = count
        while left > 0:
            left = yield from self.up_to(self.turn(sid, topic, self.rng.choice((1, 2, 4)), fast=True), left, pace=0.3)
            yield self.gap(1, 120)
        store.usage(sid, count // 3)
        store.activity(sid)

    def cron_needles(self) -> Script:
        """Two scheduled sessions with words of their own."""
        store = self.store
        for k in range(2):
            topic = self.topic()
            job, label = JOBS[k]
            sid = store.create("cron", job=job)
            store.shapes["cronneedles"].append(sid)
            store.title(sid, self.name(f"{label} · special {k + 1}", f"{label} ·"))
            for i in range(12):
                yield from self.cron_turn(sid, topic, label)
                said = f"Deploy {{}} post, session deploy post, session {i}."
                store.plant("cronshared", sid, "assistant", said)
                if i % 3 == 0:
                    store.plant("cronolith", sid, "assistant", "The {} run is steady, deploy post done.")
                yield self.gap(1, 20)
            store.usage(sid, 12)
            store.activity(sid)
            store.end(sid, "cron_complete")
            yield self.gap(100, 4000)
