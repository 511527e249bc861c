"""Read messages where no index answers: in slices by id, the newest first.

Role and filters are tested before the text, so that SQLite need not load the long ones; then a condition that
costs little and lets through at least everything that matches; what is left and visible is judged.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import takewhile
from typing import Any

from hermes_tui.domain.querytrees import Node, positive
from hermes_tui.storage.conditions import AT, Conditions
from hermes_tui.storage.connection import Store, is_damage
from hermes_tui.storage.ends import AT_ONCE, Learned, ending_with, ends_of
from hermes_tui.storage.fts import CUT_AT, STRUCTURED, TROUBLE, Index, is_index_trouble
from hermes_tui.storage.holes import Gap
from hermes_tui.storage.judging import Judge, Verdict, row_of
from hermes_tui.storage.rows import FIRST, extent, newest_up_to, sound_spans
from hermes_tui.storage.sieve import Sieve, teach
from hermes_tui.storage.sifting import TESTED, EndsTest, Test, ends_suffice, holding, pieces_of
from hermes_tui.values import NamedTuple, dataclass, field

FIRST_SLICE = 2_000
LARGEST_SLICE = 200_000
_SLICE_SECONDS = 0.1
"""A slice is made larger or smaller so that it takes about as long as this, in a thread that has the machine …"""
_WAITED = 4
"""… or so many times as long in one that waits for others: smaller slices would wait more often, and no less."""
_SHARES = 2
"""Slices for each thread, so that whoever has the easier ones takes more of them."""
_JUDGED_AT_ONCE = 256


class Judged(NamedTuple):
    """A message that was read and has to do with the query."""

    id: int
    session_id: str
    role: str
    at: float | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Stretch:
    """What is to be read: ids above `low` up to `high`, of these the rows for which `only` holds."""

    low: int
    high: int
    only: str = "1"
    params: dict[str, Any] = field(default_factory=dict)
    held: bool = True
    """Its rows are in the index; what is structured among them is read elsewhere."""
    begun: bool = False
    """Tool output, of which the index holds the beginning; what is structured in it is read elsewhere too."""
    few: bool = False
    """Single rows, which nobody would call a scan."""


class Span(NamedTuple):
    """One slice of a stretch: ids above `low` up to `high`."""

    stretch: Stretch
    top: int
    """Where the one before it ended: there is nothing between this and `high`."""
    high: int
    low: int


class Reading(NamedTuple):
    """What was found in one slice."""

    span: Span
    found: list[Judged]
    unreadable: int
    next_size: int
    """Of the slices after it."""


@dataclass(slots=True)
class Task:
    """One reading of one or several stretches, and how far it is."""

    judge: Judge
    asked: Node
    """What a row must at least have to do with: the tree, or any of its parts."""
    stretches: list[Stretch]
    where: Conditions
    index: Index | None
    """Answers for whole words in rows that it holds."""
    cut: bool
    """Of tool output only the beginning is read, as far as an index would hold it."""
    anywhere: Conditions | None = None
    """`where` without the sessions, when most are searched: testing each row for these takes longer than it saves,
    and whoever asks leaves out what is found in others."""
    at: int | None = None
    """Ids above this one are done, in the first of `stretches`."""
    slice: int = field(default_factory=lambda: FIRST_SLICE)
    """Ids that are gone through at once."""
    abreast: int = 1
    """Slices that are read at the same time, each on a thread of its own."""
    inside: Node | None = None
    """What a row must at least have to do with that the index holds, where that is less than `asked`."""
    planned: list[Span] = field(default_factory=list)
    """The next slices, where they can be read ahead of `scan_slice` …"""
    ahead: list[Reading] = field(default_factory=list)
    """… and those that were."""
    learned: Learned = field(default_factory=dict)
    """What is remembered of texts by whoever reads slices of this task, for all of them."""
    done: int = 0
    total: int = 0
    unreadable: int = 0

    def __post_init__(self) -> None:
        self.total = sum(stretch.high - stretch.low for stretch in self.stretches)

    def asked_of(self, stretch: Stretch) -> Node:
        """What a row of this stretch must at least have to do with."""
        return self.inside if self.inside is not None and stretch.held else self.asked

    @property
    def few(self) -> bool:
        """All that is left are single rows."""
        return all(stretch.few for stretch in self.stretches)

    @property
    def progress(self) -> float:
        return self.done / self.total if self.total else 1.0


class _Clock:
    """How long a slice takes, and how long it should have been."""

    def __init__(self) -> None:
        self._wall, self._work = time.monotonic(), time.thread_time()

    def paced(self, size: int) -> int:
        """The size of the next slice, from that of this one."""
        wall, work = time.monotonic() - self._wall, time.thread_time() - self._work
        took = max(work, wall / _WAITED)
        if took < _SLICE_SECONDS / 2:
            return min(size * 2, LARGEST_SLICE)
        return max(size // 2, FIRST_SLICE // 8) if took > _SLICE_SECONDS * 2 else size


def scan_slice(store: Store, task: Task) -> list[Judged]:
    """Take what was read ahead, or else judge the next slice, and move on. Nothing of the task changes when SQLite
    raises."""
    stretch = task.stretches[0]
    readings = task.ahead or [read(store, task, span) for span in _next(store, stretch, task.at, task.slice, 1)]
    size = min(reading.next_size for reading in readings)
    low = readings[-1].span.low
    over = low <= stretch.low
    stretches, at = (task.stretches[1:], None) if over else (task.stretches, low)
    task.planned = _abreast(store, stretches, at, size, task.abreast)
    task.ahead, task.slice = [], size
    task.done += sum(reading.span.top - reading.span.low for reading in readings)
    task.unreadable += sum(reading.unreadable for reading in readings)
    task.stretches, task.at = stretches, at
    return [judged for reading in readings for judged in reading.found]


def plan(store: Store, task: Task) -> None:
    """Have the first slices read side by side too."""
    task.planned = _abreast(store, task.stretches, task.at, task.slice, task.abreast)


def _abreast(store: Store, stretches: Sequence[Stretch], at: int | None, size: int, number: int) -> list[Span]:
    if not stretches or number < 2:
        return []
    return _next(store, stretches[0], at, max(size // _SHARES, 1), number * _SHARES)


def _next(store: Store, stretch: Stretch, at: int | None, size: int, number: int) -> list[Span]:
    """The next slices of a stretch, at most so many, the newest first."""
    top = stretch.high if at is None else at
    if stretch.few:
        return [Span(stretch, top, top, stretch.low)]
    size = min(size, -(-(top - stretch.low) // number))  # the last ones as large as each other
    found: list[Span] = []
    while not found or (top > stretch.low and len(found) < number):
        # Ids need not be dense: one that is off by years of messages must not be counted down from.
        high = max(stretch.low, newest_up_to(store, top))
        low = high - size
        if size > AT_ONCE:
            low -= low % AT_ONCE  # what is remembered of texts is of blocks, which no slice should part
        found.append(Span(stretch, top, high, max(stretch.low, low)))
        top = found[-1].low
    return found


def read_ahead(task: Task) -> list[Callable[[Store], Reading | None]]:
    """What can be read side by side, each on a thread of its own, before the next `scan_slice`; None of a slice that
    has trouble with an index, which is left to `scan_slice`."""

    def job(span: Span, store: Store) -> Reading | None:
        try:
            return read(store, task, span)
        except TROUBLE as error:
            if not is_index_trouble(error):
                raise
        return None

    return [partial(job, span) for span in task.planned] if len(task.planned) > 1 else []


def take(task: Task, readings: Iterable[Reading | None]) -> None:
    """What `read_ahead` has read, in its order, as far as nothing is missing."""
    task.ahead = [each for each in takewhile(lambda each: each is not None, readings) if each is not None]
    task.planned = []


def read(store: Store, task: Task, span: Span) -> Reading:
    """Judge the rows of one slice. Changes nothing."""
    started = _Clock()
    rows, unreadable = _rows(store, task, span.stretch, span.low, span.high)
    found = [judged for some in _batches(rows) for judged in _judge(task.judge, some)]
    return Reading(span, found, unreadable, started.paced(task.slice))


def _batches(rows: Sequence[tuple[Any, ...]]) -> Iterator[Sequence[tuple[Any, ...]]]:
    return (rows[start : start + _JUDGED_AT_ONCE] for start in range(0, len(rows), _JUDGED_AT_ONCE))


def _judge(judge: Judge, cells: Sequence[tuple[Any, ...]]) -> Iterator[Judged]:
    rows = {row.id: row for row in map(row_of, cells)}
    for message_id, verdict in judge.judge(list(rows.values())).items():
        row = rows[message_id]
        yield Judged(row.id, row.session_id, row.role, row.timestamp, verdict)


def _rows(store: Store, task: Task, stretch: Stretch, low: int, high: int) -> tuple[list[tuple[Any, ...]], int]:
    """The rows of a slice that are worth judging, and how many could not be read."""

    def read(low: int, high: int, *, alone: bool = True) -> list[tuple[Any, ...]]:
        among = None if alone else _among(store, task, stretch, low, high)
        sql, params, sieves = slice_sql(task, stretch, alone=alone, among=among)
        teach(store, sieves)
        return store.conn.execute(sql, {**params, "low": low, "high": high}).fetchall()

    try:
        return read(low, high, alone=False), 0
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
    # Perhaps only an index is damaged by which SQLite went to these rows: from here on the table speaks alone.
    if stretch.few:
        return _halved(read, low, high)
    found: list[tuple[Any, ...]] = []
    unreadable = high - low
    for span in sound_spans(store, low, high):
        rows, torn = _halved(read, *span)
        found += rows
        unreadable += torn - (span[1] - span[0])
    return found, unreadable


def _halved(
    read: Callable[[int, int], list[tuple[Any, ...]]], low: int, high: int
) -> tuple[list[tuple[Any, ...]], int]:
    """What can be read between these ids, and how many could not."""
    try:
        return read(low, high), 0
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
    if high - low <= 1:
        return [], 1
    middle = (low + high) // 2
    newer, older = _halved(read, middle, high), _halved(read, low, middle)
    return [*newer[0], *older[0]], newer[1] + older[1]


def _among(store: Store, task: Task, stretch: Stretch, low: int, high: int) -> list[int] | None:
    """The rows that are worth looking at, where SQLite can tell by itself; None where each row is looked at."""
    where, asked = task.anywhere or task.where, task.asked_of(stretch)
    if not stretch.few and (pieces := pieces_of(asked)) is not None:
        test, params = holding(pieces)
        sql = f"""
        select m.id from messages m
        where m.id > :low and m.id <= :high and {where.narrowing} and ({stretch.only}) and ({test})
        """
        bound = {**where.params, **stretch.params, **params, "low": low, "high": high}
        return [row[0] for row in store.conn.execute(sql, bound)]
    words = tuple(positive(asked))
    if task.anywhere is None or len(words) > TESTED or not _ends_suffice(task, stretch):
        return None
    return ending_with(store, ends_of(words), where, low, high, task.learned)


def slice_sql(
    task: Task, stretch: Stretch, *, alone: bool = False, among: Sequence[int] | None = None
) -> tuple[str, dict[str, Any], list[Sieve]]:
    """The statement of one slice, and the sieves in it, to be taught; `:low` and `:high` are still to be bound.
    `alone`: no index is asked; `among`: beside what an index knows, these rows only."""
    said = "m.content"
    if task.cut:
        plain_tool = f"m.role is 'tool' and not {STRUCTURED}"
        said = f"case when {plain_tool} then substr(m.content, 1, {CUT_AT}) else m.content end"
    where = task.where if alone or task.anywhere is None else task.anywhere
    test, asked = _test_of(task, stretch, alone=alone), task.asked_of(stretch)
    only = f"({stretch.only})"
    if among is not None:
        only += f" and {test.among(tuple(positive(asked)), among)}"
    sql = f"""
    select m.id, cast(m.session_id as text), cast(m.role as text), {AT}, {said}, m.tool_name, m.tool_calls
    from messages m {"not indexed" if alone else ""}
    where m.id > :low and m.id <= :high and {where.narrowing} and {only}
    and {test.sql(asked)}
    and ({where.visible})
    order by m.id desc
    """
    return sql, {**where.params, **stretch.params, **test.params}, test.sieves


def _test_of(task: Task, stretch: Stretch, *, alone: bool) -> Test:
    if task.index is not None and not alone and _ends_suffice(task, stretch):
        return EndsTest(task.index)
    return Test(task.index if stretch.held and not alone else None, structured=not stretch.held)


def _ends_suffice(task: Task, stretch: Stretch) -> bool:
    return task.index is not None and stretch.begun and ends_suffice(task.index, task.asked)


def gaps_of(gaps: Sequence[Gap]) -> list[Stretch]:
    """Ids that an index does not hold, the newest first."""
    return [Stretch(low, high, held=False) for low, high in sorted(gaps, reverse=True)]


def listed(ids: Sequence[int], only: str = "1", *, held: bool = False) -> list[Stretch]:
    """Of these single rows those for which `only` holds, in stretches of neighbours in the list."""
    found = []
    for start in range(0, len(ids), 2_000):
        some = sorted(ids[start : start + 2_000])
        these = f"m.id in (select value from json_each(:listed)) and ({only})"
        found.append(Stretch(some[0] - 1, some[-1], these, {"listed": json.dumps(some)}, held=held, few=True))
    return found


def everything(store: Store, only: str = "1", *, held: bool = True, begun: bool = False) -> list[Stretch]:
    """All rows for which `only` holds."""
    oldest, newest = extent(store)
    return [Stretch(max(oldest - 1, FIRST), newest, only, held=held, begun=begun)] if newest else []
