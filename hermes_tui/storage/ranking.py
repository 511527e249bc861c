"""Rank what an index finds: of each session no more than a few rows ever become anything that lasts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from heapq import nsmallest
from typing import Any, NamedTuple

from hermes_tui.domain.queries import SearchOrder
from hermes_tui.domain.querytrees import Node, as_it_stands
from hermes_tui.storage.conditions import AT, Conditions
from hermes_tui.storage.connection import Store, decoding
from hermes_tui.storage.fts import Index, column, express
from hermes_tui.storage.matches import BEST, CALLED, SAID, UNSURE, Group, Groups, Top, by_order
from hermes_tui.storage.rows import listed

Hit = tuple[float, int, Any, float | None, int]
"""A matching message as SQLite gives it: score, id, session, time, kind."""
HELD = 64
"""Matches of one session and kind that are held before the best of them are chosen."""


class Part(NamedTuple):
    """A part of the store, by the ids of its messages."""

    low: int | None = None
    """From this one on …"""
    high: int | None = None
    """… and below this one."""

    def sql(self, rowid: str) -> str:
        """The condition on an id of that name, to be bound with `params`."""
        low = "" if self.low is None else f"and {rowid} >= :low "
        return low if self.high is None else f"{low}and {rowid} < :high"

    @property
    def params(self) -> dict[str, int]:
        bounds = {"low": self.low, "high": self.high}
        return {name: bound for name, bound in bounds.items() if bound is not None}

    @property
    def rest(self) -> Part:
        """All that is older."""
        return Part(None, self.low)


WHOLE = Part()

_SPOKEN = "coalesce(m.role in ('user', 'assistant'), 0)"
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


def hits_params(index: Index, tree: Node, where: Conditions, part: Part = WHOLE) -> dict[str, Any]:
    """What `hits_sql` is to be bound with."""
    expression = express(tree)
    said = {} if index.inline else {"said": column(expression)}
    return {**where.params, **said, **part.params, "expression": expression}


def hits_sql(index: Index, where: Conditions, order: SearchOrder, part: Part = WHOLE) -> str:
    """All matching messages of this part of the store, to be bound with `hits_params`."""
    # the limit keeps bm25() where it works
    return f"""
    select
        {_score(index, order)} as score,
        m.id as id,
        cast(m.session_id as text) as session_id,
        {_at(order)} as at,
        {_kind(index, part.sql("rowid"))} as kind
    from {index.name} f
    cross join messages m on m.id = f.rowid
    where f.{index.name} match :expression {part.sql("f.rowid")} and {where.sql}
    limit -1
    """


def newest_ids(store: Store, index: Index, tree: Node, number: int) -> list[int]:
    """The newest so many messages that match, newest first."""
    sql = f"select rowid from {index.name} where {index.name} match ? order by rowid desc limit ?"
    return [row[0] for row in store.conn.execute(sql, (express(tree), number))]


def enough(store: Store, index: Index, tree: Node, number: int) -> tuple[Node, list[int]]:
    """(what was asked, the newest so many messages that match it): fewer only of the tree itself. A word that is
    being typed is taken as it stands where that finds enough: of words that go on, SQLite first goes through all."""
    asked = as_it_stands(tree)
    found = newest_ids(store, index, asked, number)
    if len(found) < number and asked != tree:
        asked, found = tree, newest_ids(store, index, tree, number)
    return asked, found


def newest(store: Store, index: Index, tree: Node, where: Conditions, among: Sequence[int]) -> list[tuple[int, Top]]:
    """(kind, message) for each that passes among these that match, which are the newest, newest first."""
    sql = f"""
    select {_kind(index, "order by rowid desc limit :number")}, m.id, cast(m.session_id as text), -m.id, null
    from messages m
    where m.id in (select value from json_each(:among)) and {where.sql}
    order by m.id desc
    """
    params = {**hits_params(index, tree, where), "among": listed(among), "number": len(among)}
    return [(row[0], Top(*row[1:])) for row in store.conn.execute(sql, params).fetchall()]


class Ranking:
    """The matches of a part of the store, by kind and session: how many, and the best few."""

    def __init__(self, order: SearchOrder) -> None:
        self._order = order
        self._hits: dict[int, dict[bytes, list[Hit]]] = {SAID: {}, CALLED: {}, UNSURE: {}}
        self._dropped: dict[tuple[int, bytes], int] = {}
        """How many hits are no longer in a list, because better ones are."""

    def read(self, cursor: Iterable[Hit]) -> None:
        """Take in all rows of a statement, one at a time: of a common word there are too many to hold them all."""
        said, called, unsure = self._hits[SAID], self._hits[CALLED], self._hits[UNSURE]
        for hit in cursor:
            kind, session = hit[4], hit[2]
            sessions = said if kind == SAID else called if kind == CALLED else unsure
            known = sessions.get(session)
            if known is None:
                sessions[session] = [hit]
            else:
                known.append(hit)
                if len(known) > HELD:
                    self._trim(kind, session, known)

    def ask(self, store: Store, sql: str, params: Mapping[str, Any]) -> None:
        """Take in all rows of this statement."""
        with decoding(store, bytes), closing(store.conn.cursor()) as cursor:
            self.read(cursor.execute(sql, params))

    def _trim(self, kind: int, session: bytes, hits: list[Hit]) -> None:
        best = _best(hits, self._order)
        self._dropped[kind, session] = self._dropped.get((kind, session), 0) + len(hits) - len(best)
        hits[:] = best

    def add(self, other: Ranking) -> None:
        """Take in the matches of another part; the other stays what it is."""
        for kind, sessions in other._hits.items():
            here = self._hits[kind]
            for session, hits in sessions.items():
                here[session] = [*here.get(session, ()), *hits]
        for key, number in other._dropped.items():
            self._dropped[key] = self._dropped.get(key, 0) + number

    def groups(self) -> Groups:
        """By session and kind. Each session's name is decoded once."""
        groups: Groups = {}
        order, dropped = self._order, self._dropped
        for kind, sessions in self._hits.items():
            for raw, hits in sessions.items():
                session_id = raw.decode("utf-8", "replace")
                best = hits if len(hits) == 1 else _best(hits, order)
                tops = [Top(hit[1], session_id, hit[0], hit[3]) for hit in best]
                number = len(hits) + (dropped.get((kind, raw), 0) if dropped else 0)
                kinds = groups.get(session_id)
                if kinds is None:
                    groups[session_id] = {kind: Group(number, tops)}
                elif kind in kinds:  # two names that differ only in what is no UTF-8
                    group = kinds[kind]
                    tops = sorted([*group.tops, *tops], key=by_order(order))[:BEST]
                    kinds[kind] = Group(group.count + number, tops)
                else:
                    kinds[kind] = Group(number, tops)
        return groups


def ranking(
    store: Store, index: Index, tree: Node, where: Conditions, order: SearchOrder, part: Part = WHOLE
) -> Ranking:
    """Matches of this part of the store."""
    found = Ranking(order)
    found.ask(store, hits_sql(index, where, order, part), hits_params(index, tree, where, part))
    return found


def ranked(
    store: Store, index: Index, tree: Node, where: Conditions, order: SearchOrder, known: Recently | None = None
) -> Groups:
    """All matches. Those that are `known` already are not asked for again, if the store is what it was."""
    if known is not None and known.good(store):
        older = ranking(store, index, tree, where, order, known.part.rest)
        if known.good(store):
            older.add(known.ranking)
            return older.groups()
    return ranking(store, index, tree, where, order).groups()


class Recently(NamedTuple):
    """The newest matches, and what they are good for."""

    store: Store
    version: int
    """Of the store, as this connection sees it."""
    part: Part
    ranking: Ranking

    def good(self, store: Store) -> bool:
        """Whether nothing was written since, as far as this very connection can tell."""
        return store is self.store and store.version() == self.version


def recently(store: Store, index: Index, tree: Node, where: Conditions, order: SearchOrder, number: int) -> Recently:
    """The newest so many matches."""
    version, part = store.version(), newest_part(store, index, tree, number)
    return Recently(store, version, part, ranking(store, index, tree, where, order, part))


def newest_part(store: Store, index: Index, tree: Node, number: int, high: int | None = None) -> Part:
    """That part of the store which holds the newest so many matches, of those below `high` if that is given."""
    older = Part(None, high)
    sql = f"""
    select min(rowid)
    from (
        select rowid
        from {index.name}
        where {index.name} match :expression {older.sql("rowid")}
        order by rowid desc
        limit :number
    )
    """
    params = {**older.params, "expression": express(tree), "number": number}
    return Part(store.conn.execute(sql, params).fetchone()[0] or 0, high)


def _best(hits: list[Hit], order: SearchOrder) -> list[Hit]:
    """The few that are shown. A hit begins with what sorts it by relevance."""
    if order is SearchOrder.RELEVANCE:
        return sorted(hits)[:BEST]
    sign = -1.0 if order is SearchOrder.NEWEST else 1.0
    return nsmallest(BEST, hits, key=lambda hit: (math.inf if hit[3] is None else sign * hit[3], hit[1]))


def _score(index: Index, order: SearchOrder) -> str:
    return f"bm25({index.name})" if order is SearchOrder.RELEVANCE else "0.0"


def _at(order: SearchOrder) -> str:
    """The time of a message lies behind its text: read only where it decides."""
    return "null" if order is SearchOrder.RELEVANCE else AT


def every(store: Store, index: Index, tree: Node, where: Conditions, order: SearchOrder) -> list[tuple[int, Top]]:
    """(kind, message) for each matching message; for the few sessions that are looked at one by one."""
    sql = hits_sql(index, where, order)
    rows = store.conn.execute(sql, hits_params(index, tree, where)).fetchall()
    return [(kind, Top(message_id, session_id, score, at)) for score, message_id, session_id, at, kind in rows]
