"""Of very many matches, no more than SQLite itself makes of them: how many each session has, and the best of them.

A row for each match would take Python as long as SQLite takes to score it, and threads take turns there, so that no
two could work at the same time. The matches behind the best are asked for once it is known whose are shown.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain

from hermes_tui.domain.queries import SearchOrder
from hermes_tui.domain.querytrees import Node
from hermes_tui.storage.conditions import Conditions
from hermes_tui.storage.connection import Store
from hermes_tui.storage.fts import TROUBLE, Index, is_index_trouble
from hermes_tui.storage.matches import Group, Groups, Top, by_order
from hermes_tui.storage.ranking import WHOLE, Part, Ranking, Recently, hits_params, hits_sql, newest_part
from hermes_tui.storage.rows import in_order
from hermes_tui.values import dataclass, field

MOST = 25_000
"""Matches that are summed up at once: SQLite holds them all until it has them by their sessions. Messages of a
session lie together, so that few sessions are in two parts."""
_RANK = {
    SearchOrder.RELEVANCE: "score",
    SearchOrder.NEWEST: "coalesce(-at, 9e999)",
    SearchOrder.OLDEST: "coalesce(at, 9e999)",
}
"""SQL for what is smallest for the best match."""


Sum = tuple[str, int, int, float, int, float, float | None]
"""The matches of one session that are of one kind: session, kind, how many; then rank, id, score and time of the
best. As SQLite gives it: there are as many as an answer has conversations, and more."""


def sums_sql(index: Index, where: Conditions, order: SearchOrder, part: Part = WHOLE) -> str:
    """One row a session and kind, to be bound with `hits_params`. Of equally good matches the first is taken, and
    they come by their ids."""
    return f"""
    select session_id, kind, count(*), min({_RANK[order]}), id, score, at
    from ({hits_sql(index, where, order, part)})
    group by session_id, kind
    """


@dataclass(slots=True)
class Summing:
    """What sums up the matches of one tree: all of them, or those that are older than the ones `known`."""

    index: Index
    tree: Node
    where: Conditions
    order: SearchOrder
    known: Recently | None = None
    parts: list[Part] = field(default_factory=lambda: [WHOLE])
    """Summed up each by itself: side by side, where there are several."""
    _abreast: int = 1
    """So many of them are read at the same time."""
    _found: list[list[Sum]] | None = None
    """Of each part, if that was done ahead."""
    _deep: set[str] = field(default_factory=set)
    """Sessions of which more than the best match is known."""

    def divide(self, store: Store, number: int, abreast: int) -> None:
        """Of so many matches make as many parts as can be read side by side, or more, none of which is large."""
        self.parts, self._abreast = [self.known.part.rest if self.known is not None else WHOLE], abreast
        many = max(abreast, -(-number // MOST))
        for _ in range(many - 1):
            newer = newest_part(store, self.index, self.tree, number // many, self.parts.pop().high)
            self.parts += [newer, newer.rest]

    @property
    def ahead(self) -> list[Callable[[Store], list[Sum] | None]]:
        """What can be read side by side; None of a part that has trouble with the index, which is left to
        `groups`."""
        if self._abreast < 2 or self._found is not None:
            return []
        return [partial(self._quietly, part) for part in self.parts]

    def take(self, found: Iterable[list[Sum] | None]) -> None:
        """What `ahead` has read, in its order."""
        known = [each for each in found if each is not None]
        self._found = known if len(known) == len(self.parts) else []

    def groups(self, store: Store) -> Groups:
        """All matches, of each session and kind the best alone. Where something was written since, or another
        connection knows them, the newest are read again: they are few."""
        return self._grouped(self._rows(store))

    def last(self, store: Store) -> Groups:
        """The same for the last time: what they are made of goes part by part, instead of being there beside them."""
        rows = self._rows(store)
        self.known, self._found = None, None
        return self._grouped(rows.pop() for _ in range(len(rows)))

    def _rows(self, store: Store) -> list[list[Sum]]:
        """All there is to be summed up, part by part."""
        found = self._found or [self._summed(part, store) for part in self.parts]
        if self.known is None:
            return [*found]
        if self.known.good(store):
            return [*found, self._sums(self.known.ranking.groups())]
        return [*found, self._summed(self.known.part, store)]

    def deepen(self, store: Store, groups: Groups, session_ids: Iterable[str]) -> bool:
        """Put as many matches of these sessions into the groups as are ever shown; whether any were missing."""
        fresh = [each for each in session_ids if each in groups and each not in self._deep]
        if not fresh:
            return False
        try:
            best = self._best(store, fresh)
        except sqlite3.DatabaseError as error:
            store.forgive(error)  # the best of each is known
            best = {}
        for session_id, kinds in best.items():
            for kind, group in kinds.items():
                if (there := groups[session_id].get(kind)) is not None:
                    there.tops = group.tops
        self._deep.update(fresh)
        return True

    def _best(self, store: Store, session_ids: Sequence[str]) -> Groups:
        those = f"""
        select d.id
        from messages d {in_order(store.schema)}
        where d.session_id in (select value from json_each(:deep))
        """
        # the plus: the index is gone through in its own order, and scores nothing but what is asked for
        where = self.where.also(f"+f.rowid in ({those})", deep=json.dumps(session_ids))
        found = Ranking(self.order)
        found.ask(store, hits_sql(self.index, where, self.order), hits_params(self.index, self.tree, where))
        return found.groups()

    def _quietly(self, part: Part, store: Store) -> list[Sum] | None:
        try:
            return self._summed(part, store)
        except TROUBLE as error:
            if not is_index_trouble(error):
                raise
        return None

    def _summed(self, part: Part, store: Store) -> list[Sum]:
        params = hits_params(self.index, self.tree, self.where, part)
        return store.conn.execute(sums_sql(self.index, self.where, self.order, part), params).fetchall()

    def _sums(self, groups: Groups) -> list[Sum]:
        rank = by_order(self.order)
        return [
            (session_id, kind, group.count, *rank(group.tops[0]), group.tops[0].score, group.tops[0].at)
            for session_id, kinds in groups.items()
            for kind, group in kinds.items()
        ]

    def _grouped(self, found: Iterable[Iterable[Sum]]) -> Groups:
        """Session → kind → matches. What one part lacks may be in another, and names that differ only in what is no
        UTF-8 are one."""
        groups: Groups = {}
        ranked = by_order(self.order)
        for session_id, kind, number, rank, message_id, score, at in chain.from_iterable(found):
            kinds = groups.setdefault(session_id, {})
            group = kinds.get(kind)
            if group is None:
                kinds[kind] = group = Group(0)
            group.count += number
            if group.tops and ranked(group.tops[0]) < (rank, message_id):
                continue
            group.tops = [Top(message_id, session_id, score, at)]
        return groups
