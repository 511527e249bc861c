"""Ask an index: which messages match, how well, where. SQLite ranks and counts by session, so that no more
than a few rows of each session ever become Python values."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from heapq import nsmallest
from typing import Any, NamedTuple

from hermes_tui.domain.queries import SearchOrder
from hermes_tui.domain.querytrees import Leaf, Node
from hermes_tui.storage.conditions import AT, Conditions
from hermes_tui.storage.connection import Store, is_damage
from hermes_tui.storage.fts import Index, column, express
from hermes_tui.values import dataclass, field

BEST = 3
"""Matches that a hit shows."""
SAID, CALLED, UNSURE = 0, 1, 2
"""Where a message matches: in what people and the assistant said; in calls, output, or what other roles hold;
in one of the two, which only reading it tells."""


class Top(NamedTuple):
    """One of the best messages of a session."""

    id: int
    session_id: str
    score: float
    """BM25 as FTS5 gives it: the smaller the better."""
    at: float | None


@dataclass(slots=True)
class Group:
    """The matches of one session that are of one kind."""

    count: int
    tops: list[Top] = field(default_factory=list)
    """Best first, by the order asked for."""


FEW_SESSIONS = 1_000
"""Sessions whose messages are gone through rather than all that match anywhere."""
_MEASURED = 200
"""Rows outside of the answer of an index that it is asked about one by one."""

Groups = dict[str, dict[int, Group]]
"""Session id → kind → matches."""


_SPOKEN = "m.role in ('user', 'assistant')"
_PLAIN = "coalesce(m.tool_calls, '') in ('', '[]') and coalesce(m.tool_name, '') = ''"


def _kind(index: Index, newest: str = "") -> str:
    """SQL for where a row matches. Where the index keeps columns apart, it is asked; elsewhere a row with
    calls must be read. `newest`: an end of the question, where only the newest matter."""
    with_calls = str(UNSURE)
    if not index.inline:
        with_calls = (
            f"case when m.id in (select rowid from {index.name} where {index.name} match :said {newest}) "
            f"then {SAID} else {CALLED} end"
        )
    return f"case when not {_SPOKEN} then {CALLED} when {_PLAIN} then {SAID} else {with_calls} end"


def _params(index: Index, tree: Node, where: Conditions) -> dict[str, Any]:
    expression = express(tree)
    said = {} if index.inline else {"said": column(expression)}
    return {**where.params, **said, "expression": expression}


def _hits(index: Index, where: Conditions, order: SearchOrder, recent: bool) -> str:
    """The matching messages; `recent`: of the newest `:recent`."""
    newest = f"select rowid from {index.name} where {index.name} match :expression order by rowid desc limit :recent"
    since = f"and f.rowid >= (select min(rowid) from ({newest}))" if recent else ""
    # the limit keeps bm25() where it works
    return f"""
    select
        m.id as id,
        cast(m.session_id as text) as session_id,
        {_score(index, order)} as score,
        {_at(order)} as at,
        {_kind(index)} as kind
    from {index.name} f
    cross join messages m on m.id = f.rowid
    where f.{index.name} match :expression {since} and {where.sql}
    limit -1
    """


def newest(store: Store, index: Index, tree: Node, where: Conditions, among: int) -> list[tuple[int, Top]]:
    """(kind, message) for each that passes among the newest `among` that match, newest first."""
    some = "order by rowid desc limit :among"
    sql = f"""
    select {_kind(index, some)}, m.id, cast(m.session_id as text), -m.id, null
    from (select rowid from {index.name} where {index.name} match :expression {some}) f
    cross join messages m on m.id = f.rowid
    where {where.sql}
    order by m.id desc
    """
    params = {**_params(index, tree, where), "among": among}
    return [(row[0], Top(*row[1:])) for row in store.conn.execute(sql, params).fetchall()]


def ranked(
    store: Store,
    index: Index,
    tree: Node,
    where: Conditions,
    order: SearchOrder,
    *,
    recent: int | None = None,
) -> Groups:
    """Matches by session and kind: how many, and the best few. `recent`: of the newest so many that match.
    For at most some thousands: each becomes a Python value, which costs less than SQLite's sorting by session."""
    params = _params(index, tree, where) | ({"recent": recent} if recent is not None else {})
    rows = _raw(store, _hits(index, where, order, recent is not None), params)
    found: dict[tuple[bytes, int], list[tuple[float, int, float, float | None]]] = {}
    if order is SearchOrder.RELEVANCE:
        for message_id, raw, score, at, kind in rows:
            found.setdefault((raw, kind), []).append((score, message_id, score, at))
    else:
        sign = -1.0 if order is SearchOrder.NEWEST else 1.0
        for message_id, raw, score, at, kind in rows:
            worth = math.inf if at is None else sign * at
            found.setdefault((raw, kind), []).append((worth, message_id, score, at))
    groups: Groups = {}
    for (raw, kind), each in found.items():
        session_id = raw.decode("utf-8", "replace")
        tops = [Top(message_id, session_id, score, at) for _, message_id, score, at in nsmallest(BEST, each)]
        groups.setdefault(session_id, {})[kind] = Group(len(each), tops)
    return groups


def _raw(store: Store, sql: str, params: dict[str, Any]) -> list[tuple[Any, ...]]:
    """All rows of a statement, texts as bytes: of very many that are few different ones, each is decoded once."""
    decoding, store.conn.text_factory = store.conn.text_factory, bytes
    try:
        return store.conn.execute(sql, params).fetchall()
    finally:
        store.conn.text_factory = decoding


def summed(store: Store, index: Index, tree: Node, where: Conditions, order: SearchOrder) -> Groups:
    """The same over very many matches, with the one best message of each session and kind: half the work."""
    best = {
        SearchOrder.RELEVANCE: "min(score)",
        SearchOrder.NEWEST: "max(at)",
        SearchOrder.OLDEST: "min(at)",
    }[order]
    sql = f"""
    with hit as ({_hits(index, where, order, False)})
    select session_id, kind, count(*), id, score, at, {best}
    from hit
    group by session_id, kind
    """
    groups: Groups = {}
    for session_id, kind, n, message_id, score, at, _ in store.conn.execute(
        sql, _params(index, tree, where)
    ).fetchall():
        groups.setdefault(session_id, {})[kind] = Group(n, [Top(message_id, session_id, score, at)])
    return groups


def _score(index: Index, order: SearchOrder) -> str:
    return f"bm25({index.name})" if order is SearchOrder.RELEVANCE else "0.0"


def _at(order: SearchOrder) -> str:
    """The time of a message lies behind its text: read only where it decides."""
    return "null" if order is SearchOrder.RELEVANCE else AT


def by_order(order: SearchOrder) -> Callable[[Top], tuple[float, int]]:
    """What sorts the messages of one conversation; of equals the earlier comes first."""
    if order is SearchOrder.RELEVANCE:
        return lambda top: (top.score, top.id)
    sign = -1.0 if order is SearchOrder.NEWEST else 1.0
    return lambda top: (math.inf if top.at is None else sign * top.at, top.id)


def every(store: Store, index: Index, tree: Node, where: Conditions, order: SearchOrder) -> list[tuple[int, Top]]:
    """(kind, message) for each matching message; for the few sessions that are looked at one by one."""
    sql = _hits(index, where, order, False)
    rows = store.conn.execute(sql, _params(index, tree, where)).fetchall()
    return [(row[4], Top(*row[:4])) for row in rows]


def ids(store: Store, index: Index, tree: Node, where: Conditions, session_ids: list[str]) -> list[tuple[int, str]]:
    """(message, session) for each matching message of these sessions."""
    matching = f"select rowid from {index.name} where {index.name} match :expression"
    where = where.in_sessions(session_ids)
    source = f"({matching} limit -1) f cross join messages m on m.id = f.rowid where"
    if len(session_ids) <= FEW_SESSIONS:
        source = f"messages m where +m.id in ({matching}) and"  # the plus: sessions lead, not all that matches
    sql = f"select m.id, cast(m.session_id as text) from {source} {where.sql}"
    return store.conn.execute(sql, {**where.params, "expression": express(tree)}).fetchall()


def scores(store: Store, index: Index, tree: Node, message_ids: Sequence[int]) -> dict[int, float]:
    """BM25 of those of these rows that the index finds; asked one by one, for they are few among very many."""
    sql = f"select bm25({index.name}) from {index.name} where {index.name} match ? and rowid = ?"
    found = {}
    for message_id in message_ids[:_MEASURED]:
        row = store.conn.execute(sql, (express(tree), message_id)).fetchone()
        if row is not None:
            found[message_id] = row[0]
    return found


def escaped_ids(store: Store, index: Index, words: tuple[Leaf, ...]) -> list[int]:
    """Rows that may hold one of these words as JSON writes what is not ASCII: `caf\\u00e9`, two words to FTS5."""
    spelled = {
        json.dumps(text)[1:-1]
        for leaf in words
        if not leaf.text.isascii()
        for text in (leaf.text, leaf.text.lower(), leaf.text.upper(), leaf.text.capitalize())
    }
    if not spelled:
        return []
    expression = " OR ".join(f'"{text}"' for text in sorted(spelled) if '"' not in text)
    sql = f"select rowid from {index.name} where {index.name} match ?"
    return [row[0] for row in store.conn.execute(sql, (expression,)).fetchall()]


def sessions_with(
    store: Store, index: Index, tree: Node, where: Conditions, few: list[str] | None = None
) -> set[str]:
    """The sessions that hold a matching message; `few`: of these only."""
    matching = f"select rowid from {index.name} where {index.name} match :expression"
    if few is None:
        sql = f"""
        select distinct cast(m.session_id as text)
        from ({matching} limit -1) f
        cross join messages m on m.id = f.rowid
        where {where.sql}
        """
    else:
        where = where.in_sessions(few)
        sql = (
            f"select distinct cast(m.session_id as text) from messages m where +m.id in ({matching}) and {where.sql}"
        )
    return {row[0] for row in store.conn.execute(sql, {**where.params, "expression": express(tree)}).fetchall()}


def sessions_where(store: Store, where: Conditions, session_ids: Iterable[str]) -> set[str]:
    """The sessions that hold a message of this kind, whatever it says; where pages are damaged, of these sessions
    those of which that can be seen."""
    sql = f"select distinct cast(m.session_id as text) from messages m where {where.sql}"
    try:
        return {row[0] for row in store.conn.execute(sql, where.params).fetchall()}
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
    return {session_id for session_id in session_ids if _holds_any(store, where.in_sessions([session_id]))}


def _holds_any(store: Store, where: Conditions) -> bool:
    try:
        found = store.conn.execute(f"select 1 from messages m where {where.sql} limit 1", where.params).fetchone()
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        return False
    return found is not None


def count(store: Store, index: Index, tree: Node) -> int:
    """How many rows of the index match, visible or not."""
    sql = f"select count(*) from {index.name} where {index.name} match ?"
    return int(store.conn.execute(sql, (express(tree),)).fetchone()[0])


def occurs(store: Store, index: Index, leaf: Leaf, where: Conditions, session_ids: set[str] | None) -> bool:
    """Whether any message that passes matches; `session_ids`: those that are searched, None for all."""
    sql = f"""
    select cast(m.session_id as text)
    from {index.name} f
    cross join messages m on m.id = f.rowid
    where f.{index.name} match :expression and {where.sql}
    """
    cursor = store.conn.cursor()
    try:
        found = cursor.execute(sql, {**where.params, "expression": express(leaf)})
        return any(session_ids is None or row[0] in session_ids for row in found)
    finally:
        cursor.close()
