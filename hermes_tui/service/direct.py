"""Questions without an event loop, for commands that ask one thing after the other and print the answer.

    drive(ask(service))     # a coroutine that awaits nothing but a `DirectReader`

Each question is still read on a thread of its own, because SQLite's work cannot be broken off from inside: the
main thread waits where a signal reaches it, and interrupts.
"""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from hermes_tui.domain.profiles import StoreRef
from hermes_tui.errors import HermesTuiError, QueryTimeout, StoreError
from hermes_tui.service.jobs import Cancelled, Job, Lane
from hermes_tui.service.reader import Reader, Step, processors
from hermes_tui.storage.connection import Store

T = TypeVar("T")
_LOOK = 0.2
"""Seconds after which the waiting thread looks up: not every system wakes one that waits for a signal."""

_MOST = 2
"""Threads that read at the same time, if there are so many processors."""

_GONE = 5.0
"""Seconds that an interrupted thread gets."""


def drive(asked: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never gives way."""
    try:
        asked.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]  # what the coroutine returned
    asked.close()
    raise RuntimeError("this needs an event loop")


class Hand:
    """What reads: its own connections, one thread at a time."""

    def __init__(self) -> None:
        self.stores: dict[StoreRef, Store] = {}
        self.busy: list[_Work] = []
        """What it was given to do while others work, one after the other."""


class _Work:
    """A job on its thread."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.done = threading.Event()
        self.outcome: tuple[Any, BaseException | None] = (None, None)

    def result(self) -> Any:
        result, error = self.outcome
        if error is not None:
            raise error
        return result


class DirectReader(Reader):
    """A reader that is done when `run` returns. The catalogue has a connection of its own, so that what a search
    needs beside it can be read meanwhile."""

    def __init__(self) -> None:
        super().__init__(threads=0)
        self.abreast = min(_MOST, processors())
        self.hands = [Hand() for _ in range(_MOST)]
        self._until = float("inf")
        """When what is asked `within` a time has to be answered."""

    async def run(
        self, ref: StoreRef, work: Callable[[Store], T], *, lane: Lane = Lane.PAGES, seconds: float = 60.0
    ) -> T:
        hand = self.hands[-1 if lane is Lane.CATALOGUE and self.abreast > 1 else 0]
        return self._served(ref, [(hand, work)], seconds)[0]

    async def side_by_side(self, ref: StoreRef, jobs: Sequence[Callable[[Store], T]]) -> list[T]:
        found: list[T] = []
        while len(found) < len(jobs):
            found += self._served(ref, list(zip(self.hands, jobs[len(found) :], strict=False)))
        return found

    def meanwhile(self, ref: StoreRef, work: Callable[[Store], None]) -> None:
        if self.abreast > 1:
            hand, given = self.hands[0], _Work(Job(ref, work))
            before = hand.busy[-1] if hand.busy else None
            hand.busy.append(given)
            self._begin(hand, given, before)

    async def lend(self, ref: StoreRef, work: Callable[[Store], None]) -> None:
        if self.hands[0].busy:
            with suppress(StoreError):  # met again by whoever asks
                await self.run(ref, work, lane=Lane.CATALOGUE)

    def _served(
        self, ref: StoreRef, asked: Sequence[tuple[Hand, Callable[[Store], T]]], seconds: float = 60.0
    ) -> list[T]:
        """What each hand found out. A job that takes too long is stopped; told to end while they work, all are."""
        deadline = min(time.monotonic() + seconds, self._until)
        under_way: list[_Work] = []
        try:
            for hand, _ in asked:
                under_way += hand.busy
                for each in hand.busy:
                    self._wait(each, deadline)
                hand.busy.clear()
            for hand, work in asked:
                under_way.append(_Work(Job(ref, work)))  # before it begins: it may be what a signal comes from
                self._begin(hand, under_way[-1])
            for each in under_way:
                self._wait(each, deadline)
        finally:
            for each in under_way:
                if not each.done.is_set():
                    self._break_off(each, Cancelled)
                    each.done.wait(_GONE)
        return [each.result() for each in under_way[-len(asked) :]]

    def _begin(self, hand: Hand, work: _Work, before: _Work | None = None) -> None:
        def serve() -> None:
            if before is not None:
                before.done.wait()
            work.outcome = self._outcome(work.job, hand.stores)
            work.done.set()

        threading.Thread(target=serve, name="reader", daemon=True).start()

    def _wait(self, work: _Work, deadline: float) -> None:
        while not work.done.wait(_LOOK):
            if time.monotonic() > deadline:
                self._break_off(work, QueryTimeout)

    def _break_off(self, work: _Work, why: type[Cancelled] | type[QueryTimeout]) -> None:
        with self._lock:
            self._interrupt(work.job, why)

    async def together(self, asked: Sequence[Coroutine[Any, Any, T]]) -> list[T | BaseException]:
        """One after the other."""
        answers: list[T | BaseException] = []
        try:
            for each in asked:
                try:
                    answers.append(await each)
                except HermesTuiError as failure:
                    answers.append(failure)
        finally:
            for each in asked[len(answers) :]:
                each.close()
        return answers

    async def rounds(self, steps: Sequence[Step]) -> AsyncGenerator[None, None]:
        """One after the other in each round."""
        going = list(steps)
        while going:
            going = [step for step in going if await step()]
            yield

    async def within(self, seconds: float, asked: Coroutine[Any, Any, T]) -> T:
        """What runs when the time is over is stopped; an answer that goes without that store is none."""
        self._until = time.monotonic() + seconds
        try:
            answer = await asked
        except QueryTimeout as late:
            raise TimeoutError from late
        finally:
            over, self._until = time.monotonic() > self._until, float("inf")
        if over:
            raise TimeoutError
        return answer

    async def end(self) -> None:
        self.close()

    def close(self) -> None:
        for hand in self.hands:
            going = [each for each in hand.busy if not each.done.is_set()]
            for each in going:
                self._break_off(each, Cancelled)
            for each in going:
                each.done.wait(_GONE)
            hand.busy.clear()
            for store in hand.stores.values():
                store.conn.close()
            hand.stores.clear()
