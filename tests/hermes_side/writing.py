"""Run inside an environment of Hermes: a writer that talks, compacts, renames, archives, deletes, checkpoints.

    python writing.py STATE_DB SEED STEPS PAUSE JOURNAL

It prints `ready`, waits for a line, and takes its steps, PAUSE seconds apart, until STEPS are done or its input
ends; STEPS may be 0, which is without end. What it wrote depends on seed and number of steps alone: time and uuids
are drawn. The last line is JSON: steps, what failed, the latencies of its calls, what became of its checkpoints.
"""

from __future__ import annotations

import json
import random
import select
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "real_store"))

from clocks import Clock, seed_uuids
from dramas import Drama

_BEGIN = 1_796_000_000.0
_STEP = 37.0
_ASIDE = 6
"""Conversations that are on at the same time."""


class Writer:
    """Steps drawn by lot; each is one or a few calls of Hermes' own."""

    def __init__(self, db: Any, seed: int, clock: Clock) -> None:
        self.db, self.clock, self.seed = db, clock, seed
        self.rng = random.Random(f"writer-{seed}")
        self.found = sorted(row["id"] for row in db.list_sessions_rich(limit=40))
        self.made = 0
        self.dramas = [self.begin() for _ in range(_ASIDE)]
        self.checkpoints: Counter[str] = Counter()
        self.steps: list[Callable[[], None]] = [self.talk] * 12
        self.steps += [self.compact, self.rotate, self.undo, self.rename, self.archive, self.mark, self.delete]
        self.steps += [self.checkpoint] * 2

    def begin(self) -> Drama:
        self.made += 1
        return Drama(self.db, self.rng, f"20261201_{self.made:06d}_live{self.seed}")

    def anyone(self) -> str:
        """A session of ours or one that was there."""
        return self.rng.choice([drama.session for drama in self.dramas] + self.found[:20])

    def talk(self) -> None:
        self.rng.choice(self.dramas).turn()

    def compact(self) -> None:
        self.rng.choice(self.dramas).compact()

    def rotate(self) -> None:
        self.rng.choice(self.dramas).rotate()

    def undo(self) -> None:
        drama = self.rng.choice(self.dramas)
        drama.undo()
        drama.turn()

    def rename(self) -> None:
        drama = self.rng.choice(self.dramas)
        self.db.set_session_title(drama.session, f"{drama.words(3)} {self.rng.getrandbits(40):x}")

    def archive(self) -> None:
        self.db.set_session_archived(self.anyone(), self.rng.random() < 0.5)

    def mark(self) -> None:
        change = self.rng.choice([self.db.set_session_pinned, self.db.set_session_hidden])
        change(self.anyone(), self.rng.random() < 0.5)

    def delete(self) -> None:
        """One goes, another begins."""
        place = self.rng.randrange(len(self.dramas))
        if self.rng.random() < 0.5 and self.found:
            self.db.delete_session(self.found.pop())
        else:
            self.db.delete_session(self.dramas[place].session)
            self.dramas[place] = self.begin()

    def checkpoint(self) -> None:
        """As Hermes does it now and then: passive in between, the whole of it at times."""
        how = self.rng.choice(["passive", "truncate"])
        busy, pages, done = self.db._conn.execute(f"pragma wal_checkpoint({how})").fetchone()
        whole = not busy and pages == done
        self.checkpoints[f"{how} {'whole' if whole else 'part'}"] += 1

    def step(self, number: int) -> None:
        self.clock.now = _BEGIN + number * _STEP
        self.rng.choice(self.steps)()


def _told_to_end(pause: float) -> bool:
    """Whether the input ended, after at most this many seconds."""
    return bool(select.select([sys.stdin], [], [], pause)[0]) and not sys.stdin.buffer.read1(1)


def main() -> None:
    path, seed, steps, pause, journal = Path(sys.argv[1]), *map(float, sys.argv[2:5]), sys.argv[5]
    seed_uuids(int(seed))
    clock = Clock(_BEGIN)
    clock.install()
    from hermes_state import SessionDB

    with sqlite3.connect(path) as before:
        mode = before.execute(f"pragma journal_mode = {journal}").fetchone()[0]
    before.close()
    db = SessionDB(db_path=path)
    writer = Writer(db, int(seed), clock)
    print("ready", flush=True)
    sys.stdin.buffer.read1(1)
    failed: Counter[str] = Counter()
    took: list[float] = []
    number = 0
    while (not steps or number < steps) and not _told_to_end(pause):
        number += 1
        began = time.perf_counter()
        try:
            writer.step(number)
        except sqlite3.Error as error:
            failed[f"{type(error).__name__}: {error}"] += 1
        took.append(time.perf_counter() - began)
    now = db._conn.execute("pragma journal_mode").fetchone()[0]
    db.close()
    took.sort()
    told = {
        "steps": number,
        "journal": [mode, now],
        "failed": dict(failed),
        "checkpoints": dict(writer.checkpoints),
        "median_ms": round(took[len(took) // 2] * 1_000, 1) if took else 0,
        "p99_ms": round(took[int(len(took) * 0.99)] * 1_000, 1) if took else 0,
        "longest_ms": round(took[-1] * 1_000, 1) if took else 0,
    }
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
