"""The conversations that were active last, with their families and nothing else: what a list begins with where
reading all of it takes a while.

Exact, or nothing at all. No session can have been active later than its newest message, heartbeat and start say,
and these come off an index: a pass over them finds the sessions beside which all others are older.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Sequence

from hermes_tui.domain.families import Catalogue
from hermes_tui.storage.catalogue import assembled
from hermes_tui.storage.connection import Store, is_damage
from hermes_tui.storage.rows import BY_TIME, Cells, batches, listed
from hermes_tui.storage.schema import Schema
from hermes_tui.storage.segments import AUTOMATIC, believable, flag, segments_of, segments_sql, strange
from hermes_tui.times import EPOCH_MAX
from hermes_tui.values import NamedTuple

MANY = 1_000
"""Sessions from which on this pays; of fewer the whole list is there as soon."""
_TIPS = 160
"""Sessions to begin with: several screens full."""
_MOST = 4_000
"""Sessions in their families that are worth reading."""
_BY_PARENT = "idx_sessions_parent"
_UNDECODED = "\ufffd"
_PARENT = 2
_NEVER = -1.0


class Newest(NamedTuple):
    """Whole families, among them every conversation that was active after `since`."""

    catalogue: Catalogue
    since: float


class _Unsure(Exception):
    """What was found may not be all that there is. Never shown."""


def newest(store: Store, live: Collection[str], *, include_hidden: bool) -> Newest | None:
    """The conversations that were active last; without `include_hidden` of those that a list shows by itself.
    `live`: sessions that are open somewhere. None where the whole list had better be asked for: it is short, or
    this cannot be known without it."""
    if not {BY_TIME, _BY_PARENT} <= store.schema.indexes:
        return None
    try:
        (most,) = store.conn.execute("select max(rowid) from sessions").fetchone()
        if (most or 0) < MANY or strange(store):
            return None
        tips = store.conn.execute(_tips_sql(store.schema, include_hidden), (_TIPS,)).fetchall()
        rows = _families(store, [rowid for rowid, _ in tips], live)
        found = assembled(store, segments_of(store, list(rows.values())))
    except _Unsure:
        return None
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        return None
    return Newest(found.catalogue, tips[-1][1] if len(tips) == _TIPS else float("-inf"))


def _tips_sql(schema: Schema, include_hidden: bool) -> str:
    """Rowids, and before when each was surely active last, latest first. The last session of a conversation
    decides whether a list shows it, unless it is live."""
    asked = f"""
    where {flag(schema, "pinned")} or (
        not {AUTOMATIC}
        and not {flag(schema, "archived")}
        and not {flag(schema, "hidden")}
    )"""
    return f"""
    select
        s.rowid,
        max(
            coalesce((
                select m.timestamp from messages m indexed by {BY_TIME}
                where m.session_id = s.id and m.timestamp between 0 and {EPOCH_MAX!r}
                order by m.timestamp desc limit 1
            ), {_NEVER}),
            coalesce({believable("s.started_at")}, {_NEVER}),
            coalesce({believable(schema.session("last_activity_at"))}, {_NEVER})
        ) + 0.0 as latest
    from sessions s
    {"" if include_hidden else asked}
    order by latest desc
    limit ?
    """


def _families(store: Store, tips: Sequence[int], live: Collection[str]) -> dict[str, Cells]:
    """These sessions and the live ones with all that they hang together with. Raises `_Unsure`."""
    rows: dict[str, Cells] = {}
    asked: set[str] = set()
    """Ids that were looked for; a parent may be missing."""
    by_id, by_parent = _by(store, "s.id"), _by(store, "s.parent_session_id")
    by_rowid = segments_sql(store.schema, "where s.rowid in (select value from json_each(?))")
    found = store.conn.execute(by_rowid, (listed(tips),)).fetchall() + by_id(sorted(live))
    while found:
        fresh = {row[0]: row for row in found if row[0] not in rows}
        rows |= fresh
        if len(rows) > _MOST or any(id is None or _UNDECODED in f"{id}{row[_PARENT]}" for id, row in fresh.items()):
            raise _Unsure
        parents = {row[_PARENT] for row in fresh.values()} - rows.keys() - asked - {None}
        asked |= parents
        found = by_id(parents) + by_parent(fresh)
    return rows


def _by(store: Store, column: str) -> Callable[[Iterable[str]], list[Cells]]:
    """Sessions by the values of an indexed column: bound one by one, since a list in JSON would end at a zero."""

    def ask(values: Iterable[str]) -> list[Cells]:
        found = []
        for some in batches(list(values)):
            sql = segments_sql(store.schema, f"where {column} in ({', '.join('?' * len(some))})")
            found += store.conn.execute(sql, some).fetchall()
        return found

    return ask
