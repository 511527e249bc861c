"""Build a store: all scripts at once on one simulated clock, so that message ids interleave as they do in life."""

from __future__ import annotations

import argparse
import functools
import heapq
import itertools
import json
import random
import sqlite3
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from clocks import Clock, seed_uuids
from corpus import Text
from needles import NEEDLES
from places import INTERACTIVE, JOBS
from scripts import Script
from shapes import Shapes
from stores import Store, parameters
from words import PROJECTS

_SPAN = 2 * 365 * 86_400.0
_SET_SESSIONS = 41, 2
"""Sessions in one set of shapes: outside cron, cron."""
_SET_ROWS = 1_400
"""Rough messages of one set; only steers the budget of the fillers."""
_NOTE_EVERY = 50_000


class Budget:
    """Shares the wanted number of messages among the fillers while sets of unknown size run."""

    def __init__(self, total: int, weights: list[float], sets: int, giant: int) -> None:
        self.total, self.giant = total, giant
        self.left_weight = sum(weights)
        self.given = 0
        self.set_total: float = sets * _SET_ROWS
        self.set_expected = self.set_total

    def set_progress(self, rows: int, done: float) -> None:
        """`rows` were written by sets so far, the share `done` of their scripts has ended."""
        self.set_expected = rows + (1 - done) * self.set_total

    def take(self, weight: float) -> int:
        """How many messages a filler of this weight gets."""
        pool = self.total - self.giant - self.set_expected - self.given
        count = max(2, round(pool * weight / self.left_weight)) if self.left_weight > 0 else 2
        self.left_weight -= weight
        self.given += count
        return count


class Plan:
    """How many sessions of which kind."""

    def __init__(self, args: argparse.Namespace) -> None:
        plain, cron = _SET_SESSIONS
        of_cron = round(args.sessions * args.cron)
        others = args.sessions - of_cron
        self.sets = max(1, min(others // args.per_core, others // plain, of_cron // cron))
        self.plain = others - self.sets * plain - (1 if args.giant else 0)
        self.cron = of_cron - self.sets * cron
        if self.plain < 1 or self.cron < 0:
            raise SystemExit(f"too few sessions: one set of shapes needs {plain} + {cron} cron, and one filler")

    def kinds(self, rng: random.Random) -> list[str]:
        """The source of each filler."""
        kinds = ["cron"] * self.cron + [rng.choice(INTERACTIVE) for _ in range(self.plain)]
        kinds[self.cron] = "api_server"
        if self.plain >= 50:
            helpers = slice(self.cron + 1, None, 8)
            kinds[helpers] = ["subagent"] * len(kinds[helpers])
        rng.shuffle(kinds)
        return kinds


class Building:
    """One build."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.wall = time.perf_counter()
        self.end = datetime.fromisoformat(args.end).replace(tzinfo=UTC).timestamp()
        self.begin = self.end - _SPAN
        seed_uuids(args.seed)
        self.clock = Clock(self.begin)
        self.rng = random.Random(f"gen-{args.seed}")
        self.text = Text(args.seed)
        self.set_rows = 0
        self.set_ended = 0
        self.set_scripts = 0
        self.next_note = _NOTE_EVERY
        self._order = itertools.count()
        self._heap: list[tuple[float, int, Script, int | None]] = []

    def run(self) -> None:
        """Write the store and its manifest."""
        self.clock.install()
        try:
            self._open()
            self._schedule()
            self._play()
            missing = self._top_up()
            manifest = self._manifest(missing)
            self.store.db.close()
        finally:
            self.clock.remove()
        self._finish(manifest)

    def _open(self) -> None:
        args, home = self.args, Path(self.args.home)
        options = {"bulk": args.bulk, "journal": args.journal, "tool_bytes": args.tool_bytes}
        self.store = Store(home, self.clock, self.rng, self.text, **options)
        self.shapes = Shapes(self.store)

    def _at(self, share: float, script: Script, which_set: int | None = None) -> None:
        self._push(self.begin + _SPAN * share, script, which_set)

    def _push(self, when: float, script: Script, which_set: int | None) -> None:
        heapq.heappush(self._heap, (when, next(self._order), script, which_set))

    def _sometime(self) -> float:
        """A place within the two years, later ones more often."""
        return self.rng.random() ** 0.7 * 0.985

    def _schedule(self) -> None:
        args, rng = self.args, self.rng
        self.plan = plan = Plan(args)
        for k in range(plan.sets):
            for place, script in self.shapes.one_set():
                self.set_scripts += 1
                self._at(place if k == 0 else self._sometime(), script, k)
        if args.giant:
            self._at(0.4, self.shapes.giant(args.giant))
        kinds = plan.kinds(rng)
        weights = [rng.lognormvariate(0, 0.7 if kind == "cron" else 1.2) for kind in kinds]
        self.budget = Budget(args.messages, weights, plan.sets, args.giant)
        for kind, weight in zip(kinds, weights, strict=True):
            job = rng.choice(JOBS) if kind == "cron" else None
            place = self._sometime()
            share: Callable[[], int] = functools.partial(self.budget.take, weight)
            self._at(place, self.shapes.filler(kind, share, job))

    def _play(self) -> None:
        """Let every script go on in the order of time, until all have ended."""
        store = self.store
        while self._heap:
            when, _order, script, which_set = heapq.heappop(self._heap)
            self.clock.now = max(self.clock.now, round(when, 6))
            store.replicate = which_set if which_set is not None else 1
            before = store.rows
            pause = next(script, None)
            if which_set is not None:
                self.set_rows += store.rows - before
                self.set_ended += pause is None
                self.budget.set_progress(self.set_rows, self.set_ended / self.set_scripts)
            if pause is not None:
                self._push(self.clock.now + pause, script, which_set)
            if store.rows >= self.next_note:
                self.next_note += _NOTE_EVERY
                seconds = time.perf_counter() - self.wall
                print(f"  {store.rows:>9,} messages, {seconds:6.0f} s", file=sys.stderr, flush=True)
        store.flush()

    def _top_up(self) -> int:
        """Land on the exact number: the last plain session goes on for as long as is needed."""
        store = self.store
        missing: int = self.args.messages - store.db.message_count()
        if missing < 0:
            written = f"{self.set_rows} core rows in {self.plan.sets} set(s)"
            raise SystemExit(f"{-missing} messages too many ({written}): raise --messages")
        if missing:
            self._go_on(self._last_plain(), missing)
        if store.has("set_meta") and store.db.get_meta("store_created_at_utc") is not None:
            created = datetime.fromtimestamp(self.begin, UTC).isoformat()
            store.db.set_meta("store_created_at_utc", created)
        return missing

    def _last_plain(self) -> str:
        names = [name for name in self.store.shapes if name.startswith("filler:")]
        return [sid for name in names if not name.endswith(("cron", "subagent")) for sid in self.store.shapes[name]][
            -1
        ]

    def _go_on(self, sid: str, missing: int) -> None:
        store = self.store
        if store.db.get_session(sid)["ended_at"] is not None and store.has("reopen_session"):
            store.db.reopen_session(sid)
        topic = self.text.topic(self.rng)
        start = store.rows
        while store.rows - start < missing:
            for pause in self.shapes.turn(sid, topic, 2, fast=True):
                self.clock.now += pause
                if store.rows - start >= missing:
                    break
        store.flush()
        store.activity(sid)

    def _manifest(self, missing: int) -> dict[str, Any]:
        """What was planted where."""
        db, store = self.store.db, self.store
        plain_count = "exclude_children" not in parameters(db.session_count)
        sessions = db.session_count() if plain_count else self._one("SELECT COUNT(*) FROM sessions")
        return {
            "args": {name: value for name, value in vars(self.args).items() if name not in ("func", "home")},
            "upstream_schema": self._one("SELECT version FROM schema_version"),
            "sqlite": sqlite3.sqlite_version,
            "sessions": sessions,
            "messages": db.message_count(),
            "core_sets": self.plan.sets,
            "core_rows": self.set_rows,
            "top_up": missing,
            "needle_notes": NEEDLES,
            "needles": dict(sorted(store.needles.items())),
            "shapes": {k: v for k, v in sorted(store.shapes.items()) if not k.startswith("filler:")},
            "projects": PROJECTS,
        }

    def _one(self, sql: str) -> Any:
        return self.store.db._conn.execute(sql).fetchone()[0]

    def _finish(self, manifest: dict[str, Any]) -> None:
        store = self.store
        conn = sqlite3.connect(store.path)
        wal = self.args.journal == "wal"
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)" if wal else "PRAGMA journal_mode=delete")
        conn.close()
        for leftover in store.home.glob("state.db.*.lock"):
            leftover.unlink()
        text = json.dumps(manifest, ensure_ascii=False, indent=1) + "\n"
        (store.home / "gen-manifest.json").write_text(text, encoding="utf-8")
        size = store.path.stat().st_size / 1e6
        print(
            f"{store.path}: {manifest['sessions']:,} sessions, {manifest['messages']:,} messages, {size:,.1f} MB, "
            f"schema {manifest['upstream_schema']}, core {self.set_rows} rows in {self.plan.sets} set(s), "
            f"top-up {manifest['top_up']}, {time.perf_counter() - self.wall:.0f} s"
        )
