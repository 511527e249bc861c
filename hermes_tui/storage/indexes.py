"""Whether the full-text indexes can be trusted: what `doctor` says of each. Nothing is repaired here."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from hermes_tui.domain.resume import Check, State
from hermes_tui.storage.connection import Store, is_busy, is_interrupt
from hermes_tui.storage.fts import look
from hermes_tui.storage.holes import lacking
from hermes_tui.storage.schema import FtsTable
from hermes_tui.text import count

_BASE = "messages_fts"
_CJK = "messages_fts_cjk"
_NAMES = {_BASE: "word index", "messages_fts_trigram": "trigram index", _CJK: "CJK index"}
_TRIGRAM_SINCE = (3, 34)
_DIGITS = 19
"""As many a row's id may have; more is no id."""


def check_indexes(store: Store) -> Iterator[Check]:
    """One line an index. A gap is scanned when somebody searches, so none of this is worse than a warning."""
    if not _has_fts5(store):
        yield Check("word index", State.WARNING, "this SQLite was built without FTS5: searches read the messages")
        return
    if _BASE not in store.schema.fts:
        yield Check("word index", State.WARNING, "there is none: searches read the messages")
    for name, table in sorted(store.schema.fts.items()):
        if name in _NAMES:
            yield _looked_at(store, table)


def check_index(store: Store) -> Iterator[Check]:
    """Whether the word index holds every message that it should, which only the ids themselves can tell."""
    table = store.schema.fts.get(_BASE)
    if table is None or not _has_fts5(store):
        return
    try:
        if _stale(store, table) is not None:
            return
        lost = lacking(store, table.name)
    except sqlite3.DatabaseError as error:
        store.forgive(error)
        return  # `check_indexes` has said so
    if lost:
        which = f"{count(len(lost), 'message')} that nothing marks, the first is {lost[0]}"
        yield Check("index", State.WARNING, f"the word index lacks {which}: they are read when somebody searches")
    else:
        yield Check("index", State.OK, "every message is in the word index")


def _looked_at(store: Store, table: FtsTable) -> Check:
    try:
        return _index(store, table)
    except sqlite3.DatabaseError as error:
        store.forgive(error)
        trouble = "whether it is whole cannot be told: the database is damaged where that is written"
        return Check(_NAMES[table.name], State.WARNING, trouble)


def _has_fts5(store: Store) -> bool:
    return "ENABLE_FTS5" in {row[0] for row in store.conn.execute("pragma compile_options").fetchall()}


def _index(store: Store, table: FtsTable) -> Check:
    name = _NAMES[table.name]
    if table.name == _CJK:
        return Check(name, State.OK, "left alone: it needs an extension; CJK is found by other means")
    trouble = _unreadable(store, table) or _stale(store, table) or _empty(store, table) or _behind(store, table)
    if trouble is not None:
        return Check(name, State.WARNING, trouble)
    layout = f"over {table.content}" if table.content else "with its own text"
    return Check(name, State.OK, f"{', '.join(table.columns)}, {layout}")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _unreadable(store: Store, table: FtsTable) -> str | None:
    if table.tokenizer.startswith("trigram") and sqlite3.sqlite_version_info < _TRIGRAM_SINCE:
        return f"SQLite {sqlite3.sqlite_version} does not know trigrams: substrings are found by reading"
    try:
        store.conn.execute(f"select rowid from {_quoted(table.name)} limit 0").fetchall()
    except sqlite3.DatabaseError as error:
        if is_busy(error) or is_interrupt(error):
            raise
        return f"it cannot be read ({error}): searches read the messages"
    return None


def _stale(store: Store, table: FtsTable) -> str | None:
    if "fts_stale" in (marks := _marks(store)):
        return "Hermes has marked it as stale: what it lacks is read from the messages"
    high, done = _number(marks, "fts_rebuild_high_water"), _number(marks, "fts_rebuild_progress") or 0
    if high:
        share = max(0, min(100, 100 * done // high))
        return f"{share} % built: Hermes is still at it; what it lacks is read from the messages"
    if not table.complete_triggers:
        return "it does not follow new messages, its triggers are gone: what it lacks is read from the messages"
    return None


def _marks(store: Store) -> dict[str, str]:
    if "state_meta" not in store.schema.tables:
        return {}
    sql = "select cast(key as text), cast(value as text) from state_meta where key in (?, ?, ?)"
    keys = ("fts_stale", "fts_rebuild_high_water", "fts_rebuild_progress")
    rows = store.conn.execute(sql, keys).fetchall()
    return {key: value or "" for key, value in rows if not (key == "fts_stale" and value in ("0", "", None))}


def _number(marks: dict[str, str], key: str) -> int | None:
    value = marks.get(key, "").strip()
    return int(value) if value.isdecimal() and len(value) < _DIGITS else None


def _empty(store: Store, table: FtsTable) -> str | None:
    shadow = f"{table.name}_docsize"
    if shadow not in store.schema.tables:
        return None
    indexed = store.conn.execute(f"select 1 from {_quoted(shadow)} limit 1").fetchone()
    if indexed is None and store.conn.execute("select 1 from messages limit 1").fetchone() is not None:
        return "it is empty: searches read the messages"
    return None


def _behind(store: Store, table: FtsTable) -> str | None:
    """What a search itself would find wrong beyond all this."""
    if table.name != _BASE:
        return None
    index = look(store).base
    if index is None:
        return "it is of an unknown kind: searches read the messages"
    return "it lacks the newest messages: they are read when somebody searches" if index.gaps else None
