"""The writer trial: Hermes' own writer at work, and the program beside it in every screen, in fast motion.

What the writer leaves behind must be what it leaves behind when it is alone: what it writes depends on its seed
and the number of its steps, so the same steps are taken once more on another copy, and every table is compared.
"""

from __future__ import annotations

import itertools
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.trials.contents import content, sound
from tests.trials.driving import LiveWriter, Watched, complaints, copied

LONGEST_LOCK = 2.0
"""Seconds for which a reading may stand in the writer's way; Hermes itself waits one second and then asks again."""
BUSY = 0
"""Calls of the writer that may fail."""
_SAMPLED_EVERY = 0.004
_BLIND = 0.25
"""Seconds without a look, on a machine that has too much to do, after which one lock is not taken for another."""
_WAL_READERS = range(123, 128)
"""Bytes of `-shm` that a reader in WAL mode locks while it reads."""
_SHARED = range(0x40000000, 0x40000000 + 513)
"""Bytes of the database that a reader locks in the other modes (and in WAL mode as long as it is open)."""
TOUR = (
    (b"j", b"j", b"\x1b[6~", b"G", b"g", b" ", b" ", b"s", b"S", b"S", b"a", b"a"),
    (b"f", b"o", b"a", b"u", b"\x1b", b"y", b"Y", b"i"),
    (b"/", b"q", b"u", b"o", b"k", b"k", b"a", b"\x0e", b"\x10", b"\t", b"o", b"o", b"o", b"X", b"g", b"\r"),
    (b"n", b"N", b"[", b"]", b"J", b"K", b"t", b"T", b"/", b"t", b"h", b"e", b"\r", b"n", b"n", b"\x1b"),
    (b"m", b"'", b"\x1b", b"#", b"1", b"\r", b"y", b"c", b"L", b"g", b"G", b"\x0e", b"\x10"),
    (b"l", b"j", b"j", b"\x1b[D", b"\x1b[C", b" ", b"\r"),
    (b"r", b"c", b"b", b"d", b"\x1b", b"q", b"q", b"\x1b", b"\x1b", b"\x1b"),
    (b"P", b"j", b"\x1b", b"?", b"j", b"\x1b", b"\x1b", b":", b"k", b"e", b"y", b"\x1b"),
    (b"\r", b"G", b"\x1b[5~", b"\x1b", b"l", b"\x1b", b"r", b"\x1b", b"\x1b"),
)
"""Browse, filter, search as typed, transcript, find, bookmarks, lineage, resume, profiles, help, palette."""
EVERYWHERE = {"BrowseScreen", "SearchScreen", "TranscriptScreen", "LineageScreen", "ResumeScreen", "ProfilesScreen"}
EVERYWHERE |= {"HelpScreen", "Palette"}


class Locks(threading.Thread):
    """Looks at `/proc/locks` all the time: for how long one process stands in a writer's way."""

    def __init__(self, db: Path, pid: int, *, wal: bool) -> None:
        super().__init__(daemon=True)
        self._pid, self._wal = pid, wal
        self._path = Path(f"{db}-shm") if wal else db
        self._end = threading.Event()
        self.longest = 0.0
        self.samples = 0
        self.held = 0

    def run(self) -> None:
        since: float | None = None
        before = time.monotonic()
        while not self._end.wait(_SAMPLED_EVERY):
            now, last = time.monotonic(), before
            before = now
            self.samples += 1
            if not self._holds() or now - last > _BLIND:  # nobody knows what was between
                since = None
                continue
            self.held += 1
            since = since if since is not None else now
            self.longest = max(self.longest, now - since)

    def _holds(self) -> bool:
        try:
            inode = os.stat(self._path).st_ino
            told = Path("/proc/locks").read_text("ascii")
        except OSError:
            return False
        wanted = _WAL_READERS if self._wal else _SHARED
        for line in told.splitlines():
            words = line.split()
            if words[1] != "POSIX" or words[4] != str(self._pid) or int(words[5].rpartition(":")[2]) != inode:
                continue
            if int(words[6]) in wanted:
                return True
        return False

    def end(self) -> None:
        self._end.set()
        self.join()


@dataclass(slots=True)
class Outcome:
    """What a run of the trial has to tell."""

    journal: str
    keys: int = 0
    starts: int = 0
    kills: int = 0
    longest_lock: float = 0.0
    writer: dict[str, Any] = field(default_factory=dict)
    alone: dict[str, Any] = field(default_factory=dict)
    screens: set[str] = field(default_factory=set)
    said: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def told(self) -> str:
        """One line."""
        return (
            f"{self.journal}: {self.writer['steps']} steps of the writer, {self.keys} keys in {len(self.screens)} "
            f"kinds of screens, {self.starts} starts, {self.kills} of them ended by kill -9; the longest lock "
            f"{self.longest_lock * 1_000:.0f} ms; the writer's steps took {self.writer['median_ms']} ms (p99 "
            f"{self.writer['p99_ms']}, longest {self.writer['longest_ms']}), alone {self.alone['median_ms']} "
            f"(p99 {self.alone['p99_ms']}, longest {self.alone['longest_ms']}), "
            f"{sum(self.writer['failed'].values())} failed; {len(self.failures)} failures"
        )


def run(
    seed: int,
    source: Path,
    folder: Path,
    *,
    journal: str,
    more: Callable[[Outcome], bool],
    pause: float = 0.05,
    kills: bool = True,
) -> Outcome:
    """Tours of every screen while `more` says so; every other one ends with `kill -9` somewhere."""
    outcome = Outcome(journal)
    chance = random.Random(f"writer-{seed}")
    db = copied(source, folder / "home")
    writer = LiveWriter(db, seed, pause=pause, journal=journal)
    try:
        writer.go()
        for number in itertools.count():
            if not more(outcome):
                break
            _tour(db, folder, number, chance, outcome, kill=kills and number % 2 == 1)
        outcome.writer = writer.end()
    finally:
        writer.kill()
    outcome.failures += _compared(seed, source, folder, db, outcome)
    return outcome


def _tour(db: Path, folder: Path, number: int, chance: random.Random, outcome: Outcome, *, kill: bool) -> None:
    report = folder / f"tour{number}" / "report"
    report.parent.mkdir()
    outcome.starts += 1
    with Watched(db.parent, report, size=chance.choice(((120, 36), (80, 24), (160, 48))), stay=True) as watched:
        locks = Locks(db, watched.pid, wal=outcome.journal == "wal")
        locks.start()
        try:
            keys = list(itertools.chain.from_iterable(TOUR))
            for count, key in enumerate(keys[: chance.randrange(10, len(keys)) if kill else None]):
                if key == b"\r":
                    watched.settled()
                    watched.app.wait_quiet(0.3, 5)  # there is something to go into
                watched.app.feed(key)
                outcome.keys += 1
                # What follows an escape at once would be its second half.
                time.sleep(0.15 if key == b"\x1b" else chance.choice((0.0, 0.01, 0.03)))
                if count % 8 == 7:
                    watched.settled()
            told = watched.look() if kill else watched.settled()
            outcome.screens |= set(told["screens"])
            outcome.said.update(told["said"])
            outcome.failures += complaints(told)
            if kill:
                watched.app.process.send_signal(signal.SIGKILL)
                watched.app.process.wait()
                outcome.kills += 1
            elif code := watched.quit():
                outcome.failures.append(f"it ended with {code}")
        finally:
            locks.end()
            outcome.longest_lock = max(outcome.longest_lock, locks.longest)


def _compared(seed: int, source: Path, folder: Path, db: Path, outcome: Outcome) -> Iterator[str]:
    """The same steps without us must leave the same store behind."""
    other = copied(source, folder / "alone")
    writer = LiveWriter(other, seed, steps=outcome.writer["steps"], journal=outcome.journal)
    try:
        writer.go()
        outcome.alone = writer.finish(600)
    finally:
        writer.kill()
    mine, theirs = content(db), content(other)
    for table in sorted(mine.keys() | theirs.keys()):
        if mine.get(table) != theirs.get(table):
            yield f"table {table} is not what the writer writes when it is alone"
    yield from (f"integrity: {line}" for line in sound(db))
    if sum(outcome.writer["failed"].values()) > BUSY:
        yield f"the writer failed: {outcome.writer['failed']}"
    if outcome.longest_lock > LONGEST_LOCK:
        yield f"a lock was held for {outcome.longest_lock:.1f} s"
    if outcome.writer["journal"] != [outcome.journal, outcome.journal]:
        yield f"another journal mode than {outcome.journal}: {outcome.writer['journal']}"
    checkpoints = outcome.writer["checkpoints"]
    whole = sum(count for name, count in checkpoints.items() if name.endswith("whole"))
    if outcome.journal == "wal" and checkpoints and not whole:
        yield f"the WAL was never checkpointed: {checkpoints}"
    left = Path(f"{db}-wal")
    if left.exists() and left.stat().st_size:
        yield "the WAL was not checkpointed when the writer closed"
