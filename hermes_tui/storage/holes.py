"""Holes in a full-text index: messages that it should hold and does not, while nothing marks them. A writer whose
triggers were gone for a while leaves some. FTS5 keeps one row a message beside its index (`_docsize`), so that
holes can be found without reading a text."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from hermes_tui.storage.connection import Store
from hermes_tui.storage.rows import extent

Gap = tuple[int, int]
"""Message ids that an index does not hold: above the first number, up to the second."""
_MANY = 20
"""Holes, each a condition of its own; more are taken together with what lies between them."""


def lacking(store: Store, index: str) -> list[int]:
    """Every message up to the newest one indexed that this index lacks: each is looked up in it. In order.
    Raises sqlite3.Error as it comes."""
    sql = f"""
    select m.id
    from messages m
    where +m.id <= (select max(id) from {index}_docsize)
    and not exists (select 1 from {index}_docsize d where d.id = m.id)
    order by 1
    """  # the plus keeps SQLite off the table itself: any index of it holds the ids, and is a tenth of its size
    return [row[0] for row in store.conn.execute(sql).fetchall()]


def holes(store: Store, index: str, newest: int) -> tuple[Gap, ...]:
    """The same as gaps, looked for only where the numbers of rows differ. `newest`: the newest message indexed.
    Remembered until the schema changes: without a change of triggers there is no new hole, but where newer messages
    are lacking, which the next one makes a hole."""
    kept = store.searching.get("holes")
    if kept is not None and kept[0] == store.schema.cookie and isinstance(kept[1], tuple):
        return kept[1]
    found: tuple[Gap, ...] = ()
    try:
        if _differ(store, index, newest):
            found = _gaps(lacking(store, index))
    except sqlite3.DatabaseError as error:
        store.forgive(error)
    if extent(store)[1] <= newest:
        store.searching["holes"] = (store.schema.cookie, found)
    return found


def _differ(store: Store, index: str, newest: int) -> bool:
    """Whether there are more messages than rows of the index. Where no number between the oldest and the newest is
    missing, these tell how many there are, and nothing is counted."""
    (indexed,) = store.conn.execute(f"select count(*) from {index}_docsize").fetchone()
    if indexed > newest - extent(store)[0]:
        return False
    sql = "select (select count(*) from messages) - (select count(*) from messages where id > ?)"
    (messages,) = store.conn.execute(sql, (newest,)).fetchone()
    return bool(indexed < messages)


def _gaps(ids: Iterable[int]) -> tuple[Gap, ...]:
    found: list[Gap] = []
    for each in ids:
        if found and found[-1][1] == each - 1:
            found[-1] = (found[-1][0], each)
        else:
            found.append((each - 1, each))
    return tuple(found) if len(found) <= _MANY else ((found[0][0], found[-1][1]),)
