"""The only place where threads and asyncio meet: run a job on a reader thread; awaiting it is cancelling it.

A few threads, one read-only connection each and store. **Thread 0 never takes searches**, so that pages of
text come while a search runs; it alone keeps the catalogue, so that `data_version` on its connection tells
exactly when a store was written.

    await reader.run(ref, job) ─▶ queue ─▶ thread: job(store) ─▶ call_soon_threadsafe ─▶ result
        └ cancelled, or past its deadline ─▶ interrupt(), under the lock that says which job runs where
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextvars import Context
from typing import Any, TypeVar

from hermes_tui.domain.profiles import StoreRef
from hermes_tui.errors import QueryTimeout, StoreError
from hermes_tui.freeing import give_back
from hermes_tui.service.jobs import Awaited, Cancelled, Job, Lane, may_take
from hermes_tui.storage import connection
from hermes_tui.storage.connection import Store, is_busy, is_disk_error, is_interrupt, open_store, translate

T = TypeVar("T")
Step = Callable[[], Coroutine[Any, Any, bool]]
"""One part of a longer work; whether there is more of it."""

_STEPS_BETWEEN_CHECKS = 100_000
"""The progress handler backs up `interrupt()`, which does nothing before the first step."""
_DISK_TRIES = 3
"""While another process commits, a read may fail with a disk error that is gone a millisecond later."""
_PAUSE = 0.05
_LONG, _SHOWN = 0.1, 0.25
"""Seconds from which on a job may have taken much memory, and after which its answer is on the screen."""
_NICER = 5
"""By how much a search gives way: a third of a processor where somebody else wants the same one."""


def processors() -> int:
    """Those that this process may use."""
    able = getattr(os, "sched_getaffinity", None)
    return len(able(0)) if able is not None else os.cpu_count() or 1


def _give_way() -> None:
    """From now on this thread has a processor after whoever else wants one: Hermes, which writes, must not wait for
    somebody's search. Of the systems that this runs on, Linux alone lets a thread be asked so."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # where that is forbidden, a search has its share like all others
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), os.getpriority(os.PRIO_PROCESS, 0) + _NICER)


def _given(answer: T | BaseException) -> T:
    if isinstance(answer, BaseException):
        raise answer
    return answer


class Reader:
    """A small pool of reader threads. `close()` stops what runs and joins them."""

    def __init__(self, threads: int = 3) -> None:
        self._lock = threading.Lock()
        self._ready = threading.Condition(self._lock)
        self._queue: deque[Awaited] = deque()
        self._running: set[Awaited] = set()
        self._idle: set[int] = set()
        """Threads that have no job."""
        self._closing = False
        self._size = threads
        self.abreast = max(1, min(threads - 1, processors()))
        """Jobs of one search that are worth running at the same time."""
        self._threads: list[threading.Thread] = []
        self._freeing: object = None
        """Set until what long jobs have left is given back."""
        self.statistics = {"run": 0, "cancelled": 0, "timeout": 0}

    async def run(
        self, ref: StoreRef, work: Callable[[Store], T], *, lane: Lane = Lane.PAGES, seconds: float = 60.0
    ) -> T:
        """`work(store)` on a reader thread.

        Raises what `work` raises, SQLite's errors as ours; `StoreBusy` when the store stayed locked for five
        seconds; `QueryTimeout` after `seconds`. Cancelling the awaiting task stops the SQL.
        """
        import asyncio  # here, because a command that prints does without

        job = Awaited(ref, work, lane, asyncio.get_running_loop())
        with self._lock:
            if self._closing:
                raise Cancelled
            self._start(lane)
            self._queue.append(job)
            self._ready.notify_all()
        # Cancelled, it stays in the loop's list until its time, and what belongs to whoever asked would stay with it.
        deadline = job.loop.call_later(seconds, self._stop, job, QueryTimeout, context=Context())
        began = time.monotonic()
        try:
            return await job.future  # type: ignore[no-any-return]  # the future carries what `work` returned
        except asyncio.CancelledError:
            self._stop(job, Cancelled)
            raise
        finally:
            deadline.cancel()
            if time.monotonic() - began > _LONG and self._freeing is None:
                self._freeing = job.loop.call_later(_SHOWN, self._free, context=Context())

    def _free(self) -> None:
        """What a long job took and has left is given back, on the thread that asked: a thread that gives way would
        have everybody else wait for memory meanwhile."""
        self._freeing = None
        give_back()

    async def together(self, asked: Sequence[Coroutine[Any, Any, T]]) -> list[T | BaseException]:
        """The answers to several questions at once, or why there is none."""
        import asyncio

        return await asyncio.gather(*asked, return_exceptions=True)

    async def side_by_side(self, ref: StoreRef, jobs: Sequence[Callable[[Store], T]]) -> list[T]:
        """What these jobs of one search give, run at the same time. Raises what the first that fails raises."""
        found = await self.together([self.run(ref, job, lane=Lane.SEARCH) for job in jobs])
        return [_given(each) for each in found]

    def meanwhile(self, ref: StoreRef, work: Callable[[Store], None]) -> None:
        """Prepare what is going to be asked on the lane of searches, where that lane has nothing to do yet. Nobody
        waits for it, and what it fails at is met again by whoever asks. Here everything is kept from question to
        question, and there is nothing to prepare."""

    async def lend(self, ref: StoreRef, work: Callable[[Store], None]) -> None:
        """Have what reads the catalogue help with what is done `meanwhile`."""

    async def rounds(self, steps: Sequence[Step]) -> AsyncGenerator[None, None]:
        """Take each of these again and again for as long as it answers True, side by side; gives way whenever one
        or more of them have answered, and goes on with these when it is asked for more. What a step raises ends
        them all."""
        import asyncio

        tasks = {asyncio.ensure_future(step()): step for step in steps}
        try:
            while tasks:
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                ended = [(tasks.pop(task), task) for task in done]
                again = [step for step, task in ended if task.result()]
                yield  # whoever shows what has been found need not share the processor with the next step
                tasks |= {asyncio.ensure_future(step()): step for step in again}
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def within(self, seconds: float, asked: Coroutine[Any, Any, T]) -> T:
        """The answer, if it takes no longer than that; else TimeoutError."""
        import asyncio

        async with asyncio.timeout(seconds):
            return await asked

    async def end(self) -> None:
        """`close`, while the event loop goes on. Once asked for it happens, also when whoever asked is given up: a
        call that waits for a thread of the loop's pool would be cancelled with its caller, and leave ours behind."""
        import asyncio

        await asyncio.shield(asyncio.get_running_loop().run_in_executor(None, self.close))

    def close(self) -> None:
        """Interrupt every job, end the threads, close their connections. Safe to call twice."""
        with self._lock:
            self._closing = True
            for job in self._running:
                self._interrupt(job, Cancelled)
            for job in self._queue:
                job.deliver(None, Cancelled())
            self._queue.clear()
            self._ready.notify_all()
        for thread in self._threads:
            thread.join()

    def _start(self, lane: Lane) -> None:
        """Start a thread where all that could take this lane are at work; `_lock` is held."""
        need = 2 if lane is Lane.SEARCH else 1
        jobs = [job.lane for job in (*self._running, *self._queue)]
        searched = lane is Lane.SEARCH and jobs.count(lane) >= len(self._threads) - 1
        if searched or len(jobs) >= len(self._threads):
            need = max(need, len(self._threads) + 1)
        while len(self._threads) < min(need, self._size):
            number = len(self._threads)
            thread = threading.Thread(target=self._serve, args=(number,), name=f"reader-{number}", daemon=True)
            self._threads.append(thread)
            self._idle.add(number)
            thread.start()

    def _stop(self, job: Awaited, why: type[Cancelled] | type[QueryTimeout]) -> None:
        with self._lock:
            if job in self._queue:
                self._queue.remove(job)
                job.stop = why
                job.settle(None, job.failure())
            elif job in self._running and not (why is Cancelled and job.lane is Lane.CATALOGUE):
                self._interrupt(job, why)

    def _interrupt(self, job: Job, why: type[Cancelled] | type[QueryTimeout]) -> None:
        job.stop = job.stop or why
        if job.conn is not None:
            job.conn.interrupt()

    def _serve(self, number: int) -> None:
        stores: dict[StoreRef, Store] = {}
        if number:
            _give_way()
        try:
            while (job := self._next(number)) is not None:
                result, error = self._outcome(job, stores)
                with self._lock:
                    self._running.discard(job)
                    self._idle.add(number)
                    job.conn = None
                job.deliver(result, error)
                del job, result, error
        finally:
            for store in stores.values():
                store.conn.close()

    def _next(self, number: int) -> Awaited | None:
        with self._lock:
            while not self._closing:
                if (job := self._fitting(number)) is not None:
                    self._queue.remove(job)
                    self._running.add(job)
                    self._idle.discard(number)
                    if self._queue:
                        self._ready.notify_all()  # somebody may have left it to this thread
                    return job
                self._ready.wait()
            return None

    def _fitting(self, number: int) -> Awaited | None:
        """The first job that is for this thread: one that is idle too and comes before it knows more, because it did
        the last one of the kind. Whoever waits holds on to no job that another one takes."""
        others = [other for other in self._idle if other < number]
        for job in self._queue:
            if may_take(number, job.lane) and not any(may_take(other, job.lane) for other in others):
                return job
        return None

    def _outcome(self, job: Job, stores: dict[StoreRef, Store]) -> tuple[Any, BaseException | None]:
        """What a job gives, or why it gives nothing: whatever that is, it belongs to whoever asked."""
        try:
            return self._work(job, stores), None
        except BaseException as failure:
            return None, failure

    def _work(self, job: Job, stores: dict[StoreRef, Store]) -> Any:
        patience, disk_tries = time.monotonic() + connection.busy_seconds, _DISK_TRIES
        while True:
            if job.stop is not None:
                raise job.failure()
            try:
                return self._attempt(job, stores)
            except MemoryError as error:
                raise connection.exhausted(job.ref) from error
            except (sqlite3.Error, StoreError) as error:
                cause = error if isinstance(error, sqlite3.Error) else error.__cause__
                if not isinstance(cause, sqlite3.Error):
                    raise
                if is_interrupt(cause) and job.stop is not None:
                    self.statistics["timeout" if job.stop is QueryTimeout else "cancelled"] += 1
                    raise job.failure() from error
                if is_disk_error(cause) and disk_tries:
                    disk_tries -= 1
                elif not is_busy(cause) or time.monotonic() > patience:
                    if isinstance(error, StoreError):
                        raise
                    raise translate(cause, job.ref) from cause
            time.sleep(_PAUSE)

    def _attempt(self, job: Job, stores: dict[StoreRef, Store]) -> Any:
        store = stores.get(job.ref)
        if store is not None and not store.fresh():
            store.conn.close()
            store = None
        if store is None:
            stores.pop(job.ref, None)
            store = stores[job.ref] = open_store(job.ref)
        with self._lock:
            if job.stop is not None:
                raise job.failure()
            job.conn = store.conn
        store.stopped = lambda: job.stop is not None
        store.conn.set_progress_handler(lambda: job.stop is not None, _STEPS_BETWEEN_CHECKS)
        try:
            store.refresh()
            result = job.work(store)
            if job.stop is not None:
                raise job.failure()  # a loop that asked `stopped()` broke off: half an answer is none
            self.statistics["run"] += 1
            return result
        finally:
            with self._lock:
                job.conn = None
            store.conn.set_progress_handler(None, 0)
            store.stopped = connection.never  # else the store would keep the job, and the job its whole answer
