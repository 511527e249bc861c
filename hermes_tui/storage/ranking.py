"""Rank what an index finds: SQLite counts and scores by session, so that no more than a few rows of each session
ever become anything that lasts."""

from __future__ import annotations

import math
from heapq import nsmallest
from typing import Any

from hermes_tui.domain.queries import SearchOrder
from hermes_tui.domain.querytrees import Node
from hermes_tui.storage.conditions import AT, Conditions
from hermes_tui.storage.connection import Store
from hermes_tui.storage.fts import Index, column, express
from hermes_tui.storage.matches import BEST, CALLED, SAID, UNSURE, Group, Groups, Top

Hit = tuple[float, int, Any, float | None, int]
"""A matching message as SQLite gives it: score, id, session, time, kind."""
_SORTED = 100
"""Matches of one session up to which it takes least to sort them all."""

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


def hits_params(index: Index, tree: Node, where: Conditions) -> dict[str, Any]:
    expression = express(tree)
    said = {} if index.inline else {"said": column(expression)}
    return {**where.params, **said, "expression": expression}


def hits_sql(index: Index, where: Conditions, order: SearchOrder, recent: bool) -> str:
    """All matching messages, to be bound with `hits_params`; `recent`: of the newest `:recent`."""
    newest = f"select rowid from {index.name} where {index.name} match :expression order by rowid desc limit :recent"
    since = f"and f.rowid >= (select min(rowid) from ({newest}))" if recent else ""
    # the limit keeps bm25() where it works
    return f"""
    select
        {_score(index, order)} as score,
        m.id as id,
        cast(m.session_id as text) as session_id,
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
    params = {**hits_params(index, tree, where), "among": among}
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
    params = hits_params(index, tree, where) | ({"recent": recent} if recent is not None else {})
    rows = _raw(store, hits_sql(index, where, order, recent is not None), params)
    kinds: dict[int, dict[bytes, list[Hit]]] = {SAID: {}, CALLED: {}, UNSURE: {}}
    for row in rows:
        kinds[row[4]].setdefault(row[2], []).append(row)
    groups: Groups = {}
    for kind, sessions in kinds.items():
        for raw, each in sessions.items():
            session_id = raw.decode("utf-8", "replace")
            tops = [Top(row[1], session_id, row[0], row[3]) for row in _best(each, order)]
            groups.setdefault(session_id, {})[kind] = Group(len(each), tops)
    return groups


def _best(hits: list[Hit], order: SearchOrder) -> list[Hit]:
    """The few that are shown. A hit begins with what sorts it by relevance."""
    if order is SearchOrder.RELEVANCE:
        return nsmallest(BEST, hits) if len(hits) > _SORTED else sorted(hits)[:BEST]
    sign = -1.0 if order is SearchOrder.NEWEST else 1.0
    return nsmallest(BEST, hits, key=lambda hit: (math.inf if hit[3] is None else sign * hit[3], hit[1]))


def _raw(store: Store, sql: str, params: dict[str, Any]) -> list[Hit]:
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
    with hit as ({hits_sql(index, where, order, False)})
    select session_id, kind, count(*), id, score, at, {best}
    from hit
    group by session_id, kind
    """
    groups: Groups = {}
    for session_id, kind, n, message_id, score, at, _ in store.conn.execute(
        sql, hits_params(index, tree, where)
    ).fetchall():
        groups.setdefault(session_id, {})[kind] = Group(n, [Top(message_id, session_id, score, at)])
    return groups


def _score(index: Index, order: SearchOrder) -> str:
    return f"bm25({index.name})" if order is SearchOrder.RELEVANCE else "0.0"


def _at(order: SearchOrder) -> str:
    """The time of a message lies behind its text: read only where it decides."""
    return "null" if order is SearchOrder.RELEVANCE else AT


def every(store: Store, index: Index, tree: Node, where: Conditions, order: SearchOrder) -> list[tuple[int, Top]]:
    """(kind, message) for each matching message; for the few sessions that are looked at one by one."""
    sql = hits_sql(index, where, order, False)
    rows = store.conn.execute(sql, hits_params(index, tree, where)).fetchall()
    return [(kind, Top(message_id, session_id, score, at)) for score, message_id, session_id, at, kind in rows]
