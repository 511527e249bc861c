"""Where threads and asyncio meet: awaiting is cancelling, a lock is waited for, closing always works."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import random
import sqlite3
import sys
import threading
import time
import weakref
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from pathlib import Path

import pytest

from hermes_tui.domain.profiles import StoreRef
from hermes_tui.errors import QueryTimeout, StoreBusy, StoreMissing, StoreUnreadable, TargetNotFound
from hermes_tui.service.jobs import Cancelled, Lane
from hermes_tui.service.reader import Reader
from hermes_tui.storage import connection
from hermes_tui.storage.connection import Store
from tests.builders import StoreBuilder

ENDLESS = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"


def ref(db: Path) -> StoreRef:
    return StoreRef("default", db, db.parent, db.parent)


def make(db: Path, title: str = "first") -> Path:
    with StoreBuilder(db, journal="delete") as store:
        store.session("s1", title=title)
    return db


@pytest.fixture
def store(tmp_path: Path) -> StoreRef:
    return ref(make(tmp_path / "state.db"))


@pytest.fixture
async def reader() -> AsyncIterator[Reader]:
    made = Reader(threads=2)
    yield made
    made.close()


def title(store: Store) -> str:
    return str(store.conn.execute("select title from sessions").fetchone()[0])


def endless(store: Store) -> int:
    return int(store.conn.execute(ENDLESS).fetchone()[0])


async def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition that another thread brings about."""
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110  # a thread brings it about, which knows no asyncio event
            await asyncio.sleep(0.001)


class Gate:
    """A job that says when it runs and goes on when told."""

    def __init__(self) -> None:
        self.runs = threading.Event()
        self.go_on = threading.Event()
        self.thread = ""

    def __call__(self, store: Store) -> str:
        self.thread = threading.current_thread().name
        self.runs.set()
        while not self.go_on.wait(0.005):
            if store.stopped():
                break
        return title(store)


async def cancel(task: asyncio.Task[object]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


def start(
    reader: Reader, store: StoreRef, job: Callable[[Store], object], lane: Lane = Lane.PAGES
) -> asyncio.Task[object]:
    return asyncio.create_task(reader.run(store, job, lane=lane))


class TestRunning:
    async def test_the_answer_comes_from_another_thread(self, reader: Reader, store: StoreRef) -> None:
        assert await reader.run(store, title) == "first"
        thread = await reader.run(store, lambda _: threading.current_thread().name)
        assert thread.startswith("reader-")

    async def test_our_own_failures_pass_as_they_are(self, reader: Reader, store: StoreRef) -> None:
        def fails(_: Store) -> None:
            raise TargetNotFound("nothing of that name")

        with pytest.raises(TargetNotFound, match="nothing of that name"):
            await reader.run(store, fails)
        assert await reader.run(store, title) == "first"

    async def test_sqlite_s_failures_become_ours(self, reader: Reader, store: StoreRef) -> None:
        with pytest.raises(StoreUnreadable, match=r"state\.db cannot be read"):
            await reader.run(store, lambda store: store.conn.execute("select nothing from nowhere"))

    async def test_a_store_that_is_not_there(self, reader: Reader, tmp_path: Path) -> None:
        with pytest.raises(StoreMissing):
            await reader.run(ref(tmp_path / "none.db"), title)
        make(tmp_path / "none.db", "now it is")
        assert await reader.run(ref(tmp_path / "none.db"), title) == "now it is"

    async def test_a_replaced_file_is_opened_anew(self, reader: Reader, store: StoreRef, tmp_path: Path) -> None:
        assert await reader.run(store, title) == "first"
        os.replace(make(tmp_path / "other.db", "restored"), store.db)
        assert await reader.run(store, title) == "restored"

    async def test_a_disk_error_that_passes_is_not_seen(self, reader: Reader, store: StoreRef) -> None:
        failures = [sqlite3.SQLITE_IOERR] * 2

        def flaky(store: Store) -> str:
            if failures:
                error = sqlite3.OperationalError("disk I/O error")
                error.sqlite_errorcode = failures.pop()
                raise error
            return title(store)

        assert await reader.run(store, flaky) == "first"

    async def test_a_disk_error_that_stays_is_damage(self, reader: Reader, store: StoreRef) -> None:
        def broken(_: Store) -> None:
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR
            raise error

        with pytest.raises(StoreUnreadable, match="damaged"):
            await reader.run(store, broken)


class TestCancelling:
    async def test_a_running_query_stops_and_the_thread_is_free(self, reader: Reader, store: StoreRef) -> None:
        for _ in range(3):
            task = start(reader, store, endless)
            await until(lambda: any(job.conn is not None for job in reader._running))
            await cancel(task)
            assert task.cancelled()
            await until(lambda: not reader._running)
            assert await reader.run(store, title) == "first"
        assert reader.statistics["cancelled"] == 3

    async def test_a_query_that_had_not_begun_stops_too(self, reader: Reader, store: StoreRef) -> None:
        gate = Gate()

        def late(store: Store) -> int:
            gate.runs.set()
            gate.go_on.wait()
            return endless(store)

        task = start(reader, store, late)
        await until(gate.runs.is_set)
        await cancel(task)
        gate.go_on.set()
        await until(lambda: not reader._running)
        assert await reader.run(store, title) == "first"

    async def test_a_loop_outside_sqlite_is_told(self, reader: Reader, store: StoreRef) -> None:
        gate = Gate()
        task = start(reader, store, gate)
        await until(gate.runs.is_set)
        await cancel(task)
        await until(lambda: not reader._running)

    async def test_a_job_that_waits_in_the_queue_never_runs(self, reader: Reader, store: StoreRef) -> None:
        gates = [Gate(), Gate()]
        busy = [start(reader, store, gate) for gate in gates]
        await until(lambda: all(gate.runs.is_set() for gate in gates))
        ran = threading.Event()
        waiting = start(reader, store, lambda _: ran.set())
        await until(lambda: len(reader._queue) == 1)
        await cancel(waiting)
        for gate in gates:
            gate.go_on.set()
        assert await asyncio.gather(*busy) == ["first", "first"]
        assert not ran.is_set()

    async def test_an_interrupt_hits_no_other_job(self, reader: Reader, store: StoreRef) -> None:
        chance = random.Random(4711)

        def work(number: int) -> Callable[[Store], int]:
            sql = (
                "with recursive n(i) as (select 1 union all select i + 1 from n limit 3000) select max(i) + ? from n"
            )
            return lambda store: int(store.conn.execute(sql, (number,)).fetchone()[0])

        tasks = [asyncio.create_task(reader.run(store, work(number))) for number in range(300)]
        doomed = set(chance.sample(range(300), 150))
        for number in sorted(doomed, key=lambda _: chance.random()):
            tasks[number].cancel()
            await asyncio.sleep(chance.choice((0, 0, 0.001)))
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        for number, answer in enumerate(answers):
            assert answer == 3_000 + number or (number in doomed and isinstance(answer, asyncio.CancelledError))


class TestDeadlines:
    async def test_a_query_past_its_deadline_is_stopped(self, reader: Reader, store: StoreRef) -> None:
        with pytest.raises(QueryTimeout, match=r"state\.db took too long"):
            await reader.run(store, endless, seconds=0.01)
        await until(lambda: not reader._running)
        assert reader.statistics["timeout"] == 1
        assert await reader.run(store, title) == "first"

    async def test_half_an_answer_is_none(self, reader: Reader, store: StoreRef) -> None:
        def work(store: Store) -> str:
            while not store.stopped():
                pass
            return "half"

        with pytest.raises(QueryTimeout):
            await reader.run(store, work, seconds=0.01)
        assert await reader.run(store, title) == "first"

    async def test_so_is_one_that_still_waits(self, reader: Reader, store: StoreRef) -> None:
        gates = [Gate(), Gate()]
        busy = [start(reader, store, gate) for gate in gates]
        await until(lambda: all(gate.runs.is_set() for gate in gates))
        with pytest.raises(QueryTimeout):
            await reader.run(store, title, seconds=0.01)
        for gate in gates:
            gate.go_on.set()
        await asyncio.gather(*busy)


class TestLocks:
    """R27: another process holds the store."""

    @pytest.mark.parametrize("opened_before", [True, False])
    async def test_a_lock_that_goes_is_waited_for(self, reader: Reader, store: StoreRef, opened_before: bool) -> None:
        if opened_before:
            await reader.run(store, title)
        with contextlib.closing(sqlite3.connect(store.db, isolation_level=None)) as writer:
            writer.execute("begin exclusive")
            task = start(reader, store, title)
            await until(lambda: len(reader._running) == 1)
            assert not task.done()
            writer.execute("update sessions set title = 'written meanwhile'")
            writer.execute("commit")
        assert await task == "written meanwhile"

    @pytest.mark.parametrize("opened_before", [True, False])
    async def test_a_lock_that_stays_is_said(
        self, reader: Reader, store: StoreRef, monkeypatch: pytest.MonkeyPatch, opened_before: bool
    ) -> None:
        if opened_before:
            await reader.run(store, title)
        monkeypatch.setattr(connection, "busy_seconds", 0.0)
        with contextlib.closing(sqlite3.connect(store.db, isolation_level=None)) as writer:
            writer.execute("begin exclusive")
            with pytest.raises(StoreBusy, match="busy"):
                await reader.run(store, title)
            writer.execute("rollback")
        assert await reader.run(store, title) == "first"

    async def test_waiting_for_a_lock_can_be_cancelled(self, reader: Reader, store: StoreRef) -> None:
        with contextlib.closing(sqlite3.connect(store.db, isolation_level=None)) as writer:
            writer.execute("begin exclusive")
            task = start(reader, store, title)
            await until(lambda: len(reader._running) == 1)
            await cancel(task)
            await until(lambda: not reader._running)
            writer.execute("rollback")


class TestLanes:
    async def test_pages_come_while_searches_run(self, reader: Reader, store: StoreRef) -> None:
        gates = [Gate(), Gate()]
        searches = [start(reader, store, gate, Lane.SEARCH) for gate in gates]
        await until(gates[0].runs.is_set)
        for _ in range(5):
            assert await reader.run(store, title) == "first"
        assert not gates[1].runs.is_set()
        gates[0].go_on.set()
        gates[1].go_on.set()
        assert await asyncio.gather(*searches) == ["first", "first"]
        assert {gate.thread for gate in gates} == {"reader-1"}

    async def test_a_newer_search_runs_as_soon_as_the_older_is_cancelled(
        self, reader: Reader, store: StoreRef
    ) -> None:
        older = start(reader, store, endless, Lane.SEARCH)
        await until(lambda: len(reader._running) == 1)
        newer = start(reader, store, title, Lane.SEARCH)
        await cancel(older)
        assert await newer == "first"

    async def test_the_catalogue_stays_on_its_thread(self, reader: Reader, store: StoreRef) -> None:
        names = set()
        for _ in range(5):
            gate = Gate()
            search = start(reader, store, gate, Lane.SEARCH)
            await until(gate.runs.is_set)
            names.add(await reader.run(store, lambda _: threading.current_thread().name, lane=Lane.CATALOGUE))
            gate.go_on.set()
            await search
        assert names == {"reader-0"}

    async def test_a_catalogue_that_nobody_waits_for_any_more_is_read_to_its_end(
        self, reader: Reader, store: StoreRef
    ) -> None:
        gate = Gate()
        given_up = start(reader, store, gate, Lane.CATALOGUE)
        await until(gate.runs.is_set)
        await cancel(given_up)
        after = start(reader, store, title, Lane.CATALOGUE)
        assert all(job.stop is None for job in reader._running)
        gate.go_on.set()
        assert await after == "first"
        assert reader.statistics == {"run": 2, "cancelled": 0, "timeout": 0}


class TestClosing:
    async def test_what_runs_is_stopped_and_the_threads_end(self, store: StoreRef) -> None:
        reader = Reader(threads=2)
        running = [start(reader, store, endless) for _ in range(2)]
        waiting = [start(reader, store, title) for _ in range(3)]
        await until(lambda: len(reader._running) == 2 and len(reader._queue) == 3)
        before = time.monotonic()
        await asyncio.to_thread(reader.close)
        assert time.monotonic() - before < 15
        assert not [thread for thread in reader._threads if thread.is_alive()]
        done = await asyncio.gather(*running, *waiting, return_exceptions=True)
        assert all(isinstance(each, asyncio.CancelledError) for each in done)

    async def test_closing_twice_and_asking_afterwards(self, store: StoreRef) -> None:
        reader = Reader(threads=2)
        assert await reader.run(store, title) == "first"
        reader.close()
        reader.close()
        with pytest.raises(Cancelled):
            await reader.run(store, title)

    async def test_it_ends_though_whoever_ends_it_is_given_up_before_a_thread_is_free(self, store: StoreRef) -> None:
        """A panel that is left while it looks into other profiles."""
        reader, free = Reader(), threading.Event()
        await reader.run(store, title)
        pool = ThreadPoolExecutor(1)
        asyncio.get_running_loop().set_default_executor(pool)
        pool.submit(free.wait)
        ending = asyncio.ensure_future(reader.end())
        await asyncio.sleep(0)
        ending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await ending
        threads = list(reader._threads)
        assert threads
        assert all(thread.is_alive() for thread in threads)
        free.set()
        await until(lambda: not any(thread.is_alive() for thread in threads))

    async def test_connections_are_closed(self, store: StoreRef) -> None:
        reader = Reader(threads=1)
        conn = await reader.run(store, lambda store: store.conn)
        reader.close()
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            conn.execute("select 1")

    async def test_a_reader_that_was_never_asked_has_no_threads(self) -> None:
        reader = Reader()
        assert reader._threads == []
        reader.close()

    def test_a_loop_that_ended_does_not_matter(self, store: StoreRef) -> None:
        reader = Reader(threads=1)
        gate = Gate()

        async def leave() -> None:
            start(reader, store, gate)
            await until(gate.runs.is_set)

        asyncio.run(leave())
        reader.close()
        assert not [thread for thread in reader._threads if thread.is_alive()]


async def _side_by_side(reader: Reader, store: StoreRef) -> set[str]:
    """The threads of two searches that run at the same time."""
    gates = Gate(), Gate()
    both = [start(reader, store, gate, Lane.SEARCH) for gate in gates]
    await until(lambda: all(gate.runs.is_set() for gate in gates))
    for gate in gates:
        gate.go_on.set()
    await asyncio.gather(*both)
    return {gate.thread for gate in gates}


async def test_one_search_after_the_other_is_done_by_the_thread_that_knows_the_most(store: StoreRef) -> None:
    reader = Reader()
    try:
        assert await _side_by_side(reader, store) == {"reader-1", "reader-2"}
        for _ in range(20):
            assert await reader.run(store, _thread, lane=Lane.SEARCH) == "reader-1"
        for _ in range(20):
            assert await reader.run(store, _thread) == "reader-0"
        assert await _side_by_side(reader, store) == {"reader-1", "reader-2"}
    finally:
        reader.close()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere threads of one process have one priority")
async def test_a_search_leaves_the_processor_to_whoever_else_wants_it(reader: Reader, store: StoreRef) -> None:
    def nice(_: Store) -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    here = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    assert await reader.run(store, nice, lane=Lane.CATALOGUE) == here
    assert await reader.run(store, nice, lane=Lane.SEARCH) == min(here + 5, 19)
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == here


def _thread(_: Store) -> str:
    return threading.current_thread().name


async def test_steps_wait_until_somebody_asks_for_more() -> None:
    reader, taken = Reader(), list[int]()

    async def step() -> bool:
        taken.append(len(taken))
        return len(taken) < 3

    rounds = reader.rounds([step])
    for number in (1, 2):
        await anext(rounds)
        await asyncio.sleep(0)
        assert len(taken) == number
    assert [each async for each in rounds] == [None]
    assert len(taken) == 3
    reader.close()


class _Large:
    """Stands for what a search has found."""

    def __call__(self, store: Store) -> str:
        return title(store)


@pytest.mark.parametrize("lane", Lane)
async def test_an_answer_that_was_given_is_kept_by_nobody(reader: Reader, store: StoreRef, lane: Lane) -> None:
    """Neither by the thread that worked on it nor by one that left it to another, until it gets something else."""
    works = [_Large() for _ in range(4)]
    left = [weakref.ref(work) for work in works]
    await asyncio.gather(*(reader.run(store, work, lane=lane) for work in works))
    del works
    await until(lambda: not any(each() for each in left))


async def test_a_deadline_that_has_passed_by_holds_nothing_of_whoever_asked(store: StoreRef, reader: Reader) -> None:
    class Asker:
        """As a screen is, of the worker that asks."""

    asking: ContextVar[Asker] = ContextVar("asking")

    async def ask() -> weakref.ref[Asker]:
        asker = Asker()
        asking.set(asker)
        await reader.run(store, title, seconds=3600)
        return weakref.ref(asker)

    held = await asyncio.create_task(ask())

    def let_go() -> bool:
        gc.collect()
        return held() is None

    await until(let_go)


async def test_what_asks_for_all_memory_there_is_is_told_as_damage(reader: Reader, store: StoreRef) -> None:
    def exhausted(_: Store) -> None:
        raise MemoryError

    with pytest.raises(StoreUnreadable, match="damaged here"):
        await reader.run(store, exhausted)
    assert await reader.run(store, title) == "first"
