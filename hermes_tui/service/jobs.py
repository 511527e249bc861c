"""What reader threads are given to do: for whom, and on which lane."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from hermes_tui.domain.profiles import StoreRef
from hermes_tui.errors import QueryTimeout
from hermes_tui.storage.connection import Store

if TYPE_CHECKING:
    import asyncio


class Lane(Enum):
    """Who may be kept waiting by whom."""

    PAGES = auto()
    """Short jobs that a screen waits for: any thread."""
    CATALOGUE = auto()
    """Thread 0 only. What runs is read to its end, also when nobody waits for it any more: the next one who asks
    wants the same, and would have to begin again."""
    SEARCH = auto()
    """Any thread but 0."""


class Cancelled(Exception):
    """Nobody waits for this job any more. Never shown."""


class Job:
    """What one thread does for one question."""

    __slots__ = ("conn", "ref", "stop", "work")

    def __init__(self, ref: StoreRef, work: Callable[[Store], Any]) -> None:
        self.ref = ref
        self.work = work
        self.conn: sqlite3.Connection | None = None
        self.stop: type[Cancelled] | type[QueryTimeout] | None = None
        """Why it was stopped."""

    def failure(self) -> Exception:
        """What to raise for a job that was stopped."""
        if self.stop is QueryTimeout:
            return QueryTimeout(f"Reading {self.ref.db} took too long and was stopped; try again, or ask for less.")
        return Cancelled()


class Awaited(Job):
    """A job that a task waits for."""

    __slots__ = ("future", "lane", "loop")

    def __init__(
        self, ref: StoreRef, work: Callable[[Store], Any], lane: Lane, loop: asyncio.AbstractEventLoop
    ) -> None:
        super().__init__(ref, work)
        self.lane = lane
        self.loop = loop
        self.future: asyncio.Future[Any] = loop.create_future()

    def settle(self, result: Any, error: BaseException | None) -> None:
        """Hand over the outcome; on the event loop."""
        if self.future.done():
            return
        if isinstance(error, Cancelled):
            self.future.cancel()
        elif error is not None:
            self.future.set_exception(error)
        else:
            self.future.set_result(result)

    def deliver(self, result: Any, error: BaseException | None) -> None:
        """Hand over the outcome; from any thread."""
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.settle, result, error)


def may_take(number: int, lane: Lane) -> bool:
    """Whether the thread of this number takes jobs of this lane."""
    return lane is Lane.PAGES or (lane is Lane.CATALOGUE) == (number == 0)
