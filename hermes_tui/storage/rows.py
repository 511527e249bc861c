"""Reading rows of `messages` by id or in order, so that a damaged page costs its rows and not the answer."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from hermes_tui.storage.connection import Store, is_busy, is_damage, is_interrupt
from hermes_tui.storage.schema import Schema

BY_ID = "idx_messages_session_id"
BY_TIME = "idx_messages_session"
BY_ACTIVE = "idx_messages_session_active"
BY_UID = "idx_messages_session_uid"
BATCH = 400
"""Rows that one statement reads, where a list of ids decides which."""
FIRST, LAST = -(1 << 63), (1 << 63) - 1
"""Below and above every message id that can be."""

Cells = tuple[Any, ...]
T = TypeVar("T")


def batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """As many at a time as one statement reads."""
    for start in range(0, len(items), BATCH):
        yield items[start : start + BATCH]


def listed(values: Iterable[object]) -> str:
    """Values as one bound parameter, for `in (select value from json_each(?))`."""
    import json

    return json.dumps(list(values))


def pinned(schema: Schema, *names: str) -> str:
    """`indexed by` the first of these indexes that exists: planners with old statistics choose badly."""
    return next((f"indexed by {name}" for name in names if name in schema.indexes), "")


def in_order(schema: Schema) -> str:
    """The index that holds a session's ids; below schema 31 the ids must be sorted."""
    return pinned(schema, BY_ID, BY_TIME)


def next_ids(schema: Schema, direction: str) -> str:
    """The next ids of a session from one on, to be bound as session, id, how many. Off an index alone: below
    schema 31 no index is in this order, and sorting whole rows would read the whole session."""
    return f"""
    select d.id
    from messages d {in_order(schema)}
    where d.session_id = ? and d.id {">" if direction == "asc" else "<"} ?
    order by d.id {direction}
    limit ?
    """


def fetch(store: Store, sql: str, *parameters: object) -> list[Cells]:
    """All rows of a statement; raises sqlite3.Error as it comes."""
    return store.conn.execute(sql, parameters).fetchall()


def ids_beside(store: Store, session_id: str, direction: str, at: int, many: int) -> list[int]:
    """The next ids of a session from one on, as far as anything still knows them."""
    try:
        return [cells[0] for cells in fetch(store, next_ids(store.schema, direction), session_id, at, many)]
    except sqlite3.DatabaseError as error:
        store.forgive(error)
    known = session_ids(store, session_id)
    beyond = [each for each in known if each > at]
    if direction == "desc":
        beyond = [each for each in reversed(known) if each < at]
    return beyond[:many]


def walk_ids(
    store: Store, session_id: str, direction: str, start: int | None = None, step: int = 64
) -> Iterator[list[int]]:
    """Ids of a session in batches of growing size, from `start` (excluded) or one end on."""
    at = start if start is not None else (FIRST if direction == "asc" else LAST)
    while not store.stopped():
        ids = ids_beside(store, session_id, direction, at, step)
        if ids:
            yield ids
        if len(ids) < step:
            return
        at = ids[-1]
        step = min(step * 4, 8_192)


def session_ids(store: Store, session_id: str) -> list[int]:
    """Every message id of a session that any index, or the table, still knows; in order."""
    found: set[int] = set()
    for way in ("idx_messages_session_active", BY_ID, BY_TIME, None):
        if way is not None and way not in store.schema.indexes:
            continue
        hint = "not indexed" if way is None else f"indexed by {way}"
        cursor = store.conn.cursor()
        try:
            for (message_id,) in cursor.execute(
                f"select m.id from messages m {hint} where m.session_id = ?", (session_id,)
            ):
                found.add(message_id)
            break  # this one is whole
        except sqlite3.DatabaseError as error:
            store.forgive(error)
        finally:
            cursor.close()
    return sorted(found)


def one_by_one(store: Store, sql: str, ids: Iterable[int]) -> Iterator[tuple[int, Cells | None]]:
    """(id, row of `sql`, bound to that id) for each of `ids` that has one; None for one that cannot be read."""
    for message_id in ids:
        if store.stopped():
            return
        try:
            row = store.conn.execute(sql, (message_id,)).fetchone()
        except sqlite3.DatabaseError as error:
            store.forgive(error)
            yield (message_id, None)
            continue
        if row is not None:
            yield (message_id, row)


def by_ids(store: Store, sql: str, ids: Sequence[int]) -> dict[int, Cells | None]:
    """Rows of a statement that ends in a condition on `m.id`, by their first column, for each of `ids` that
    has one; None for a row that cannot be read. `sql` holds `{ids}` where that condition goes."""
    found: dict[int, Cells | None] = {}
    many = sql.replace("{ids}", "m.id in (select value from json_each(?))")
    for some in batches(ids):
        if store.stopped():
            break
        try:
            found.update((row[0], row) for row in fetch(store, many, listed(some)))
        except sqlite3.DatabaseError as error:
            store.forgive(error)
            found.update(one_by_one(store, sql.replace("{ids}", "m.id = ?"), some))
    return found


def extent(store: Store) -> tuple[int, int]:
    """The oldest and the newest message id; (0, 0) without messages. Where the page that holds one cannot be
    read, a bound: 1, and what SQLite last gave out."""
    oldest = _end(store, "select min(id) from messages", "select 1")
    newest = _end(store, "select max(id) from messages", "select seq from sqlite_sequence where name = 'messages'")
    return oldest, newest


def newest_up_to(store: Store, high: int) -> int:
    """The newest message id that is not above `high`; `high` itself where the page that would tell is damaged."""
    try:
        found = store.conn.execute("select max(id) from messages where id <= ?", (high,)).fetchone()[0]
    except sqlite3.DatabaseError as error:
        store.forgive(error)
        return high
    return int(found) if found is not None else FIRST


def sound_spans(store: Store, low: int, high: int) -> Iterator[tuple[int, int]]:
    """Spans of ids, above the first up to the second, newest first, that lie on readable pages of the table.

    A statement that costs next to nothing finds the damaged ones; the costly one is then asked only where there
    is an answer. What a long text holds on further pages may still be damaged.
    """
    sql = "select sum(length(m.role)) from messages m not indexed where m.id > ? and m.id <= ?"
    try:
        store.conn.execute(sql, (low, high)).fetchone()
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
    else:
        yield low, high
        return
    if high - low > 1 and not store.stopped():
        middle = (low + high) // 2
        yield from sound_spans(store, middle, high)
        yield from sound_spans(store, low, middle)


def _end(store: Store, ask: str, otherwise: str) -> int:
    for sql in (ask, otherwise):
        try:
            found = store.conn.execute(sql).fetchone()
        except sqlite3.OperationalError as error:
            if is_busy(error) or is_interrupt(error):
                raise
            continue  # ids of such a table are not counted by SQLite
        except sqlite3.DatabaseError as error:
            store.forgive(error)
            continue
        return int(found[0]) if found and isinstance(found[0], int) else 0
    return 0
