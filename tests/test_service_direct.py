"""Questions without an event loop: the same answers, and nothing that cannot be broken off."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import pytest

from hermes_tui.domain.profiles import StoreRef
from hermes_tui.domain.queries import SearchPage, SearchQuery
from hermes_tui.domain.sessions import ListQuery
from hermes_tui.errors import QueryTimeout, StoreMissing
from hermes_tui.service import sqlite
from hermes_tui.service.direct import DirectReader, drive
from hermes_tui.service.jobs import Lane
from hermes_tui.service.reader import Step
from hermes_tui.service.sqlite import SqliteSessionService
from hermes_tui.storage import vocabulary
from hermes_tui.storage.connection import Store
from tests.builders import StoreBuilder
from tests.test_service_reader import endless, make, ref, title

T = TypeVar("T")


@pytest.fixture
def store(tmp_path: Path) -> StoreRef:
    return ref(make(tmp_path / "state.db"))


@pytest.fixture
def reader() -> Iterator[DirectReader]:
    made = DirectReader()
    yield made
    made.close()


def test_the_answer_is_there_when_the_call_returns(reader: DirectReader, store: StoreRef) -> None:
    assert drive(reader.run(store, title)) == "first"
    assert drive(reader.run(store, lambda opened: threading.current_thread().name)) == "reader"


def test_what_fails_is_raised(reader: DirectReader, tmp_path: Path) -> None:
    with pytest.raises(StoreMissing):
        drive(reader.run(ref(tmp_path / "nothing.db"), title))


def test_a_question_that_takes_too_long_is_stopped(reader: DirectReader, store: StoreRef) -> None:
    with pytest.raises(QueryTimeout):
        drive(reader.run(store, endless, seconds=0.05))
    assert drive(reader.run(store, title)) == "first"


@pytest.mark.skipif(os.name == "nt", reason="signals of this kind are POSIX")
def test_a_signal_ends_a_question_that_would_never_end(reader: DirectReader, store: StoreRef) -> None:
    def interrupted(opened: Store) -> int:
        os.kill(os.getpid(), signal.SIGINT)
        return endless(opened)

    with pytest.raises(KeyboardInterrupt):
        drive(reader.run(store, interrupted))
    for thread in threading.enumerate():
        if thread.name == "reader":
            thread.join(10)
            assert not thread.is_alive()


def test_several_questions_are_answered_or_say_why_not(reader: DirectReader, store: StoreRef, tmp_path: Path) -> None:
    missing = ref(tmp_path / "nothing.db")
    first, second = drive(reader.together([reader.run(missing, title), reader.run(store, title)]))
    assert isinstance(first, StoreMissing)
    assert second == "first"


def test_jobs_of_one_search_run_at_the_same_time(reader: DirectReader, store: StoreRef) -> None:
    both = threading.Barrier(2, timeout=20)

    def meet(number: int, opened: Store) -> tuple[int, str]:
        if number < 2:
            both.wait()
        return number, title(opened)

    jobs = [partial(meet, number) for number in range(3)]
    assert drive(reader.side_by_side(store, jobs)) == [(0, "first"), (1, "first"), (2, "first")]


def test_of_jobs_at_the_same_time_the_failure_of_one_is_raised_and_none_is_left(
    reader: DirectReader, store: StoreRef
) -> None:
    def fails(opened: Store) -> str:
        raise QueryTimeout("too long")

    with pytest.raises(QueryTimeout):
        drive(reader.side_by_side(store, [title, fails]))
    assert drive(reader.side_by_side(store, [title, title])) == ["first", "first"]
    assert not [thread for thread in threading.enumerate() if thread.name == "reader"]


def test_what_is_prepared_meanwhile_is_there_before_the_next_question(reader: DirectReader, store: StoreRef) -> None:
    reader.abreast = 2
    catalogue_read = threading.Event()
    order: list[str] = []

    def prepare(opened: Store) -> None:
        assert catalogue_read.wait(20)
        order.append("prepared")

    def read_catalogue(opened: Store) -> None:
        order.append("catalogue")
        catalogue_read.set()

    def search(opened: Store) -> str:
        order.append("search")
        return title(opened)

    reader.meanwhile(store, prepare)
    drive(reader.run(store, read_catalogue, lane=Lane.CATALOGUE))
    assert drive(reader.run(store, search, lane=Lane.SEARCH)) == "first"
    assert order == ["catalogue", "prepared", "search"]


def test_what_cannot_be_prepared_is_no_failure(reader: DirectReader, store: StoreRef, tmp_path: Path) -> None:
    reader.abreast = 2
    reader.meanwhile(ref(tmp_path / "nothing.db"), lambda opened: None)
    assert drive(reader.run(store, title)) == "first"


def prepared_endlessly(reader: DirectReader, store: StoreRef) -> threading.Event:
    """Set once it has begun."""
    begun = threading.Event()

    def prepare(opened: Store) -> None:
        begun.set()
        endless(opened)

    reader.meanwhile(store, prepare)
    return begun


def test_closing_stops_what_is_being_prepared(reader: DirectReader, store: StoreRef) -> None:
    reader.abreast = 2
    begun = prepared_endlessly(reader, store)
    assert begun.wait(20)
    reader.close()
    for thread in threading.enumerate():
        if thread.name == "reader":
            thread.join(10)
            assert not thread.is_alive()
    assert reader.statistics["cancelled"] == 1


def test_preparations_follow_one_another(reader: DirectReader, store: StoreRef) -> None:
    reader.abreast = 2
    go_on = threading.Event()
    order: list[str] = []

    def first(opened: Store) -> None:
        assert go_on.wait(20)
        order.append("first")

    reader.meanwhile(store, first)
    reader.meanwhile(store, lambda opened: order.append("second"))
    go_on.set()
    assert drive(reader.run(store, title, lane=Lane.SEARCH)) == "first"
    assert order == ["first", "second"]


def test_closing_stops_what_waits_to_be_prepared(reader: DirectReader, store: StoreRef) -> None:
    reader.abreast = 2
    begun = prepared_endlessly(reader, store)
    reader.meanwhile(store, lambda opened: pytest.fail("it was closed before"))
    assert begun.wait(20)
    reader.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "reader"]
    assert reader.statistics["run"] == 0


def test_what_reads_the_catalogue_helps_with_what_is_prepared(reader: DirectReader, store: StoreRef) -> None:
    reader.abreast = 2
    helped, lent = threading.Event(), []

    def help_(opened: Store) -> None:
        lent.append(opened)
        helped.set()

    drive(reader.lend(store, lambda opened: pytest.fail("there is nothing to help with")))
    reader.meanwhile(store, lambda opened: None if helped.wait(20) else pytest.fail("nobody helps"))
    drive(reader.lend(store, help_))
    assert drive(reader.run(store, title, lane=Lane.SEARCH)) == "first"
    assert lent == [reader.hands[-1].stores[store]]


def test_what_helping_fails_at_is_left_to_whoever_asks(reader: DirectReader, store: StoreRef) -> None:
    reader.abreast = 2
    reader.meanwhile(store, lambda opened: None)
    drive(reader.lend(store, lambda opened: opened.conn.execute("select nothing from nowhere")))
    assert drive(reader.run(store, title, lane=Lane.SEARCH)) == "first"


def test_words_inside_words_are_looked_for_by_two_hands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the list of sessions is read by one of them, and before the search itself begins."""
    with StoreBuilder(tmp_path / "state.db") as made:
        made.session("s1", title="日志")
        made.message("s1", "user", "今天部署了")
        made.message("s1", "user", "plover")
    shared: list[Store] = []
    share = vocabulary.Reading.share

    def watched(reading: vocabulary.Reading, opened: Store) -> None:
        shared.append(opened)
        share(reading, opened)

    reader = DirectReader()
    reader.abreast = 2
    service = SqliteSessionService([ref(tmp_path / "state.db")], reader=reader)

    async def search(text: str) -> SearchPage:
        return [page async for page in service.search(SearchQuery(text, steps=False))][-1]

    alone = drive(search("部署"))
    assert [hit.count for hit in alone.hits] == [1]
    with closing(sqlite3.connect(tmp_path / "state.db")) as conn, conn:
        conn.execute("update sessions set title = 'another'")
    monkeypatch.setattr(vocabulary.Reading, "share", watched)
    monkeypatch.setattr(vocabulary, "_read", lambda *_: pytest.fail("it was not prepared"))
    page = drive(search("部署"))
    assert [hit.count for hit in page.hits] == [1]
    assert page.route == alone.route
    assert len(shared) == len({id(opened) for opened in shared}) == 2
    shared.clear()
    drive(search("plover"))
    assert not shared
    drive(service.close())


def test_with_one_processor_nothing_runs_beside_anything(reader: DirectReader, store: StoreRef) -> None:
    reader.abreast = 1
    reader.meanwhile(store, lambda opened: pytest.fail("nobody asked for it"))
    assert drive(reader.run(store, title, lane=Lane.CATALOGUE)) == "first"
    assert len([hand for hand in reader.hands if hand.stores]) == 1


def test_steps_are_taken_in_rounds_until_none_has_more(reader: DirectReader) -> None:
    taken: list[str] = []

    def step(name: str, times: int) -> Step:
        async def one() -> bool:
            taken.append(name)
            return taken.count(name) < times

        return one

    async def all_rounds() -> int:
        return len([None async for _ in reader.rounds([step("a", 3), step("b", 1)])])

    assert drive(all_rounds()) == 3
    assert taken == ["a", "b", "a", "a"]


def test_what_is_asked_within_a_time_is_stopped_with_all_that_it_asks(reader: DirectReader, store: StoreRef) -> None:
    async def goes_on_without() -> str:
        with contextlib.suppress(QueryTimeout):
            await reader.run(store, endless)
        return "half an answer"

    for asked in (reader.run(store, endless), goes_on_without()):
        with pytest.raises(TimeoutError):
            drive(reader.within(0.05, asked))
    assert drive(reader.within(60.0, reader.run(store, title))) == "first"
    assert drive(reader.run(store, title)) == "first"


def test_being_told_to_end_leaves_no_question_behind(reader: DirectReader, store: StoreRef) -> None:
    async def told() -> NoReturn:
        raise KeyboardInterrupt

    later: Coroutine[Any, Any, str] = reader.run(store, title)
    with pytest.raises(KeyboardInterrupt):
        drive(reader.together([told(), later]))
    with pytest.raises(RuntimeError, match="already awaited"):
        later.send(None)


def test_what_needs_an_event_loop_is_refused() -> None:
    class Waits:
        def __await__(self) -> Iterator[None]:
            yield

    async def waits() -> None:
        await Waits()

    with pytest.raises(RuntimeError, match="event loop"):
        drive(waits())


def test_the_service_answers_lists_with_it(store: StoreRef) -> None:
    service = SqliteSessionService([store], reader=DirectReader())
    page = drive(service.conversations(ListQuery(include_hidden=True)))
    assert [row.title for row in page.rows] == ["first"]
    assert list(drive(service.details([page.rows[0].key]))) == [page.rows[0].key]
    drive(service.close())


def test_details_of_thousands_are_read_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with StoreBuilder(tmp_path / "state.db") as made:
        for number in range(30):
            made.session(f"s{number}")
            for _ in range(number % 4):
                made.message(f"s{number}", "user", f"plover {number}")
    shares: list[int] = []

    class Watched(DirectReader):
        async def side_by_side(self, ref: StoreRef, jobs: Sequence[Callable[[Store], T]]) -> list[T]:
            shares.append(len(jobs))
            return await super().side_by_side(ref, jobs)

    reader = Watched()
    reader.abreast = 2
    service = SqliteSessionService([ref(tmp_path / "state.db")], reader=reader)
    keys = [row.key for row in drive(service.conversations(ListQuery(include_hidden=True))).rows]
    for brief in (False, True):
        alone = drive(SqliteSessionService(service.stores, reader=DirectReader()).details(keys, brief=brief))
        assert len(alone) == 30
        monkeypatch.setattr(sqlite, "_MANY", 29)
        assert drive(service.details(keys, brief=brief)) == alone
        monkeypatch.undo()
    assert shares == [2], "but not where hardly anything is read"
    drive(service.close())


def test_the_service_answers_searches_and_ways_out_with_it(store: StoreRef) -> None:
    service = SqliteSessionService([store], reader=DirectReader())

    async def search(text: str) -> SearchPage:
        return [page async for page in service.search(SearchQuery(text, steps=False))][-1]

    found = drive(search("first"))
    assert found.final
    assert [hit.conversation.title for hit in found.hits] == ["first"]
    assert not drive(search("first source:none")).total
    assert [way.label for way in drive(service.ways_out(SearchQuery("first source:none")))] == ["without source:none"]
    drive(service.close())


def test_a_limited_search_counts_what_it_gives_and_the_number_of_all_is_right(tmp_path: Path) -> None:
    with StoreBuilder(tmp_path / "state.db") as made:
        for number in range(60):
            made.session(f"s{number}")
            for _ in range(3):  # the same words at the same time are one message
                made.message(f"s{number}", "user", "plover", timestamp=1_700_000_000.0 + number)
            made.message(f"s{number}", "assistant", f"plover {number}", timestamp=1_700_000_100.0 + number)
    service = SqliteSessionService([ref(tmp_path / "state.db")], reader=DirectReader())

    async def search(limit: int | None, offset: int = 0) -> SearchPage:
        query = SearchQuery("plover", steps=False, reads=None, limit=limit, offset=offset)
        return [page async for page in service.search(query)][-1]

    every = drive(search(None))
    assert {hit.count for hit in every.hits} == {2}
    assert drive(search(5)).hits == every.hits[:5]
    assert drive(search(50, 3)).hits == every.hits[3:53]
    assert drive(search(5)).total == every.total == 60
    ways = drive(service.ways_out(SearchQuery("plover source:none")))
    assert [(way.conversations, way.matches) for way in ways] == [(60, 120)]
    drive(service.close())
