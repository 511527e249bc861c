"""Questions without an event loop, for commands that ask one thing after the other and print the answer.

    drive(ask(service))     # a coroutine that awaits nothing but a `DirectReader`

Each question is still read on a thread of its own, because SQLite's work cannot be broken off from inside: the
main thread waits where a signal reaches it, and interrupts.
"""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from typing import Any, TypeVar

from hermes_tui.domain.profiles import StoreRef
from hermes_tui.errors import HermesTuiError, QueryTimeout
from hermes_tui.service.reader import Cancelled, Job, Lane, Reader, Step
from hermes_tui.storage.connection import Store

T = TypeVar("T")
_LOOK = 0.2
"""Seconds after which the waiting thread looks up: not every system wakes one that waits for a signal."""

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


class DirectReader(Reader):
    """A reader that is done when `run` returns."""

    def __init__(self) -> None:
        super().__init__(threads=0)
        self._stores: dict[StoreRef, Store] = {}
        self._until = float("inf")
        """When what is asked `within` a time has to be answered."""

    async def run(
        self, ref: StoreRef, work: Callable[[Store], T], *, lane: Lane = Lane.PAGES, seconds: float = 60.0
    ) -> T:
        job = Job(ref, work)
        outcomes: list[tuple[Any, BaseException | None]] = []
        done = threading.Event()

        def serve() -> None:
            outcomes.append(self._outcome(job, self._stores))
            done.set()

        deadline = min(time.monotonic() + seconds, self._until)
        try:
            threading.Thread(target=serve, name="reader", daemon=True).start()
            while not done.wait(_LOOK):
                if time.monotonic() > deadline:
                    self._break_off(job, QueryTimeout)
        finally:
            if not done.is_set():  # told to end while it waited
                self._break_off(job, Cancelled)
                done.wait(_GONE)
        ((result, error),) = outcomes
        if error is not None:
            raise error
        return result  # type: ignore[no-any-return]  # what `work` returned

    def _break_off(self, job: Job, why: type[Cancelled] | type[QueryTimeout]) -> None:
        with self._lock:
            self._interrupt(job, why)

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
        for store in self._stores.values():
            store.conn.close()
        self._stores.clear()
