"""Who holds a store: on Linux the kernel's list of locks says it (FACTS 9). Elsewhere, and where that list cannot
be read, nobody is named. Files are only asked for their numbers, never opened: closing a descriptor would drop
the locks of this very process."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from hermes_tui.text import one_line
from hermes_tui.values import dataclass

LOCKS = Path("/proc/locks")
_PROCESSES = Path("/proc")
_LONGEST_NAME = 40
_PENDING, _RESERVED, _LAST = 0x40000000, 0x40000001, 0x400001FF
"""Bytes of the database that SQLite locks: a process that has RESERVED alone lets others read."""
_WAL_FIRST, _WAL_LAST = 120, 127
"""Bytes of the `-shm`: writing, checkpointing, recovering, and five marks of readers."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Another process with locks on a store."""

    pid: int
    name: str
    """Of its program, safe to show; "" where it cannot be told."""
    writes: bool
    """It holds a lock that only a writer takes."""
    bars: bool
    """Others cannot read while it holds it."""

    def __str__(self) -> str:
        return f"{self.name} (process {self.pid})" if self.name else f"process {self.pid}"


@dataclass(frozen=True, slots=True)
class _Lock:
    pid: int
    write: bool
    file: tuple[int, int]
    """(device, inode)"""
    first: int
    last: int


def holders(db: Path) -> tuple[Holder, ...]:
    """Other processes with locks on this store, by number; empty where nobody can tell."""
    files = _files(db)
    held: dict[int, list[tuple[str, _Lock]]] = {}
    for lock in _locks() if files else ():
        for suffix, identity in files.items():
            if lock.file[1] == identity[1] and lock.pid != os.getpid() and _same(lock, identity):
                held.setdefault(lock.pid, []).append((suffix, lock))
    return tuple(_holder(pid, locks) for pid, locks in sorted(held.items()))


def can_tell() -> bool:
    """Whether this system says who holds a lock."""
    return os.access(LOCKS, os.R_OK)


def barring(db: Path) -> str:
    """Who keeps others from reading, in words; "" where nobody can tell."""
    return " and ".join(str(each) for each in holders(db) if each.bars)


def _holder(pid: int, locks: Iterable[tuple[str, _Lock]]) -> Holder:
    writes = bars = False
    for suffix, lock in locks:
        if not lock.write:
            continue
        if suffix:
            writes |= lock.first <= _WAL_LAST and lock.last >= _WAL_FIRST
            bars |= lock.first <= _WAL_FIRST and lock.last >= _WAL_LAST
        elif lock.first <= _LAST and lock.last >= _PENDING:
            writes = True
            bars |= not lock.first == lock.last == _RESERVED
    return Holder(pid, _name(pid), writes, bars)


def _files(db: Path) -> dict[str, tuple[int, int]]:
    found = {}
    for suffix in ("", "-shm"):
        try:
            stat = os.stat(f"{db}{suffix}")
        except (OSError, ValueError):
            continue
        found[suffix] = (stat.st_dev, stat.st_ino)
    return found


def _locks() -> Iterator[_Lock]:
    """`1: POSIX ADVISORY WRITE 4711 fe:00:2181424 120 120`; a line that waits for a lock has an arrow."""
    try:
        lines = LOCKS.read_text("ascii", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        fields = line.split()
        try:
            _, kind, _, how, pid, file, first, last = fields
            major, minor, inode = file.split(":")
            device = os.makedev(int(major, 16), int(minor, 16))
            end = 1 << 62 if last == "EOF" else int(last)
            lock = _Lock(int(pid), how == "WRITE", (device, int(inode)), int(first), end)
        except (AttributeError, ValueError, OverflowError):
            continue  # a line of another kind
        if kind in ("POSIX", "OFDLCK") and lock.pid > 0:
            yield lock


def _same(lock: _Lock, identity: tuple[int, int]) -> bool:
    """Some file systems tell the kernel's list another device than they tell us: then the process must have our
    file open."""
    if lock.file == identity:
        return True
    try:
        opened = list((_PROCESSES / str(lock.pid) / "fd").iterdir())
    except OSError:
        return False
    return any(_identity(each) == identity for each in opened)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return (stat.st_dev, stat.st_ino)


def _name(pid: int) -> str:
    try:
        said = (_PROCESSES / str(pid) / "comm").read_text("utf-8", errors="replace")
    except OSError:
        return ""
    return one_line(said, _LONGEST_NAME)
