"""Where messages stand in a transcript: walking it from a place, finding the place of a message, counting."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

from hermes_tui.domain.copies import Folds, Place
from hermes_tui.errors import TargetNotFound
from hermes_tui.storage.connection import Store
from hermes_tui.storage.messages import Standing
from hermes_tui.storage.rows import (
    BY_ACTIVE,
    BY_ID,
    BY_TIME,
    FIRST,
    LAST,
    by_ids,
    in_order,
    one_by_one,
    pinned,
    session_ids,
    walk_ids,
)
from hermes_tui.storage.schema import Schema
from hermes_tui.storage.visibility import kept, visible

LONG = 1_000
"""Rows of a session from which on it takes a while to look at each."""


class Ground:
    """A conversation to walk in: its segments in order, and what folding copies changes."""

    def __init__(self, store: Store, sessions: Sequence[str], folds: Folds) -> None:
        self.store = store
        self.sessions = tuple(sessions)
        self.folds = folds
        elsewhere = {shown: self.sessions[segment] for shown, (segment, _) in folds.firsts.items()}
        self.standing = Standing(folds.aliases, elsewhere)

    @property
    def start(self) -> Place:
        """Before the first message."""
        return (0, FIRST)

    @property
    def end(self) -> Place:
        """Behind the last message."""
        return (len(self.sessions) - 1, LAST)

    def id_at(self, place: Place) -> int:
        """The message that is shown at this place."""
        return self.folds.stand_in.get(place[1], place[1])

    def walk(self, place: Place, direction: str) -> Iterator[Place]:
        """The places from `place` (excluded) on: `asc` to the end, `desc` to the start."""
        step = 1 if direction == "asc" else -1
        segment, start = place
        sql = f"select m.id from messages m where {{ids}} and {visible(self.store.schema)}"
        while 0 <= segment < len(self.sessions):
            for ids in walk_ids(self.store, self.sessions[segment], direction, start):
                seen = by_ids(self.store, sql, ids)
                for message_id in ids:
                    if message_id in seen and message_id not in self.folds.gone:
                        yield (segment, message_id)
            segment += step
            start = FIRST if step == 1 else LAST

    def place_of(self, message_id: int) -> Place:
        """Where the message stands that is, or is shown for, this one. Raises `TargetNotFound`."""
        missing = TargetNotFound(f"This conversation has no message {message_id}.")
        if not FIRST < message_id < LAST:
            raise missing
        shown = self.folds.shown(message_id)
        if shown in self.folds.firsts:
            return self.folds.firsts[shown]
        sql = f"select m.session_id from messages m where m.id = ? and {visible(self.store.schema)}"
        for _, cells in one_by_one(self.store, sql, [shown]):
            if cells is not None and cells[0] in self.sessions:
                return (self.sessions.index(cells[0]), shown)
            if cells is None:  # the row is damaged; an index still says whose it is
                for index, session_id in enumerate(self.sessions):
                    if shown in session_ids(self.store, session_id):
                        return (index, shown)
        raise missing

    def count(self, *places: Place, rough: bool = False) -> tuple[int, ...]:
        """How many messages there are, then how many stand before each of `places`. `rough`: of a long session, what
        is kept and not shown is counted too, which is known without looking at the rows."""
        totals = [0] * (1 + len(places))
        sql = count_sql(self.store.schema, len(places))
        roughly = rough_sql(self.store.schema, len(places)) if rough else None
        for index, session_id in enumerate(self.sessions):
            bounds = [LAST if index < segment else at if index == segment else FIRST for segment, at in places]
            counts = self._counted(roughly, session_id, bounds) if roughly is not None else []
            if not counts or counts[0] < LONG:
                counts = self._counted(sql, session_id, bounds)
            for number, found in enumerate(counts):
                totals[number] += found
        totals[0] -= len(self.folds.gone)
        for number, place in enumerate(places, start=1):
            totals[number] -= self.folds.gone_before(place)
        return tuple(totals)

    def _counted(self, sql: str, session_id: str, bounds: Sequence[int]) -> list[int]:
        try:
            return [found or 0 for found in self.store.conn.execute(sql, (*bounds, session_id)).fetchone()]
        except sqlite3.DatabaseError as error:
            self.store.forgive(error)
        sql = f"select 1 from messages m where m.id = ? and {visible(self.store.schema)}"
        ids = [message_id for message_id, _ in one_by_one(self.store, sql, session_ids(self.store, session_id))]
        return [len(ids), *(sum(each < bound for each in ids) for bound in bounds)]


def rough_sql(schema: Schema, places: int) -> str | None:
    """The same of rows that were kept, shown or not; None where no index tells which these are."""
    if "active" in schema.messages and BY_ACTIVE not in schema.indexes:
        return None
    return f"""
    select {", ".join(["count(*)", *(["sum(m.id < ?)"] * places)])}
    from messages m {pinned(schema, BY_ACTIVE, BY_ID, BY_TIME)}
    where m.session_id = ? and {kept(schema)}
    """


def count_sql(schema: Schema, places: int) -> str:
    """Visible rows of a session, and those with an id below each of so many bounds."""
    return f"""
    select {", ".join(["count(*)", *(["sum(m.id < ?)"] * places)])}
    from messages m {in_order(schema)}
    where m.session_id = ? and {visible(schema)}
    """
