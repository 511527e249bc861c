"""What `doctor` says of one store: whether it can be read, searched and believed. Nothing here changes it, and
nothing of what was written, titled or configured is repeated: the lines are made to be pasted into a report.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from hermes_tui import paths
from hermes_tui.domain.families import Catalogue
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.domain.resume import Check, State
from hermes_tui.domain.sessions import HiddenReason, Kind
from hermes_tui.storage.config import other_backend, read_config
from hermes_tui.storage.connection import Store, is_damage
from hermes_tui.storage.holders import Holder, can_tell, holders
from hermes_tui.storage.indexes import check_index, check_indexes
from hermes_tui.storage.live import leases
from hermes_tui.text import count, one_line, size

_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,20}")
"""What a kind of database is called."""
OLDEST, NEWEST = 11, 31
"""Schemas that this program was made for."""


Look = Callable[[Store, Catalogue], Iterable[Check]]

LOOKS: tuple[tuple[str, Look], ...] = (
    ("database", lambda store, catalogue: _database(store)),
    ("size", lambda store, catalogue: _size(store)),
    ("journal", lambda store, catalogue: _journal(store)),
    ("locks", lambda store, catalogue: _locks(store)),
    ("schema", lambda store, catalogue: _schema(store)),
    ("indexes", lambda store, catalogue: check_indexes(store)),
    ("index", lambda store, catalogue: check_index(store)),
    ("sessions", lambda store, catalogue: _sessions(store, catalogue)),
    ("live", lambda store, catalogue: _live(store)),
    ("backend", lambda store, catalogue: _configured(store.ref)),
    ("integrity", lambda store, catalogue: _integrity(store)),
)
"""What is looked at, in this order, each for a time of its own: a store may be too large for one and not for the
next."""


def check_store(store: Store, catalogue: Catalogue) -> list[Check]:
    """Everything, however long it takes."""
    return [check for _, look in LOOKS for check in look(store, catalogue)]


def _database(store: Store) -> Iterator[Check]:
    where = paths.tilde(store.ref.db)
    if store.notices:
        yield Check("database", State.WARNING, f"{where}: {' '.join(store.notices)}")
        return
    how = ", as a snapshot: its folder is read-only" if store.immutable else ""
    if os.path.islink(store.ref.db):
        how += f", a link to {paths.tilde(Path(os.path.realpath(store.ref.db)))}"
    yield Check("database", State.OK, f"{where} · profile {store.ref.profile}{how}")


def _size(store: Store) -> Iterator[Check]:
    parts = []
    for suffix, name in (("", "database"), ("-wal", "write-ahead log")):
        try:
            bytes_ = os.stat(f"{store.ref.db}{suffix}").st_size
        except OSError:
            continue
        if bytes_:
            parts.append(f"{name} {size(bytes_)}")
    messages = _ask(store, "select count(*) from messages")
    parts.append("messages cannot be counted" if messages is None else count(messages, "message"))
    yield Check("size", State.OK if messages is not None else State.ERROR, ", ".join(parts))


def _ask(store: Store, sql: str) -> int | None:
    """One number; None where a page is damaged."""
    try:
        return int(store.conn.execute(sql).fetchone()[0])
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        return None


def _journal(store: Store) -> Iterator[Check]:
    mode = str(store.conn.execute("pragma journal_mode").fetchone()[0])
    yield Check("journal", State.OK, f"{mode} mode, SQLite {sqlite3.sqlite_version}")


def _locks(store: Store) -> Iterator[Check]:
    """Who else has locks on it just now; nothing where nobody can tell."""
    if not can_tell():
        return
    found = holders(store.ref.db)
    detail = ", ".join(f"{each} {_held(each)}" for each in found) or "nobody else holds one"
    yield Check("locks", State.OK, detail)


def _held(holder: Holder) -> str:
    if holder.bars:
        return "keeps others out"
    return "writes" if holder.writes else "has it open"


def _schema(store: Store) -> Iterator[Check]:
    yield _versioned(store)


def _versioned(store: Store) -> Check:
    version = store.schema.version
    if version is None:
        return Check("schema", State.WARNING, "no version is recorded; columns are taken as they are found")
    if version > NEWEST:
        return Check("schema", State.WARNING, f"version {version}, newer than the {NEWEST} this program knows")
    if version < OLDEST:
        return Check("schema", State.WARNING, f"version {version}, older than the {OLDEST} this program knows")
    lacking = [
        words
        for words, column in (
            ("archiving", "archived"),
            ("git workspaces", "git_repo_root"),
            ("pins", "pinned"),
        )
        if column not in store.schema.sessions
    ]
    without = f"; it knows nothing of {', '.join(lacking)}" if lacking else ""
    return Check("schema", State.OK, f"version {version}{without}")


def _sessions(store: Store, catalogue: Catalogue) -> Iterator[Check]:
    yield _summed(store, catalogue)


def _summed(store: Store, catalogue: Catalogue) -> Check:
    """The sum that nothing is missing from: every row of `sessions` is shown, hidden, a further segment or a
    delegate's run."""
    conversations = catalogue.conversations
    hidden = [each for each in conversations if each.hidden_reason is not None]
    delegates = sum(len(chain.segments) for chain in catalogue.all_chains() if chain.kind is Kind.DELEGATE)
    segments = sum(len(each.segment_ids) - 1 for each in conversations)
    shown = len(conversations) - len(hidden)
    total = shown + len(hidden) + segments + delegates
    said = f"{shown:,} shown + {len(hidden):,} hidden + {segments:,} further segments + {delegates:,} delegates"
    rows = _ask(store, "select count(*) from sessions")
    if catalogue.damaged or catalogue.mute or rows is None:
        unread = f" + {catalogue.damaged:,} that cannot be read" if catalogue.damaged else ""
        mute = f"; of {catalogue.mute:,} the messages cannot be read" if catalogue.mute else ""
        return Check("sessions", State.ERROR, f"{said}{unread}{mute}: the database is damaged")
    reasons = Counter(each.hidden_reason for each in hidden)
    counted = [f"{reasons[reason]:,} {reason}" for reason in HiddenReason if reasons[reason]]
    why = f" (hidden: {', '.join(counted)})" if counted else ""
    state = State.OK if total == rows else State.WARNING
    return Check(
        "sessions", state, f"{said} = {rows:,} rows of sessions{why}" if total == rows else f"{said} ≠ {rows:,}"
    )


def _live(store: Store) -> Iterator[Check]:
    found = leases(store.ref.home)
    yield Check("live", State.OK, f"{count(len(found), 'session')} open in Hermes now")


def _configured(ref: StoreRef) -> Iterator[Check]:
    if (backend := other_backend(read_config(ref.home))) is not None:
        where = backend if _PLAIN.fullmatch(backend) else "another database"  # an address may hold a password
        detail = f"config.yaml keeps sessions in {where}: this SQLite store may be old history"
        yield Check("backend", State.WARNING, detail)


def _integrity(store: Store) -> Iterator[Check]:
    """SQLite's own look at every page."""
    try:
        said = [str(row[0]) for row in store.conn.execute("pragma quick_check(3)").fetchall()]
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        said = [str(error)]
    if said == ["ok"]:
        yield Check("integrity", State.OK, "every page is sound")
        return
    yield Check("integrity", State.ERROR, f"damaged: {one_line('; '.join(said), 200)}; what can be read is shown")


def check_profiles(root: Path) -> Check:
    """Which profiles there are."""
    found = [each for each in paths.list_profiles(root) if each.valid]
    return Check(
        "profiles", State.OK, ", ".join(each.name + ("" if each.exists else " (no history)") for each in found)
    )
