"""A search as it is lived through: pages that grow, a newer question that stops the older one, ways out,
completion."""

from __future__ import annotations

import asyncio
import json
import os
import random
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from hermes_tui.domain.queries import Hit, SearchOrder, SearchPage, SearchQuery
from hermes_tui.service import searching
from hermes_tui.service.catalogues import Catalogues
from hermes_tui.service.completing import complete
from hermes_tui.service.direct import DirectReader
from hermes_tui.service.reader import Reader
from hermes_tui.service.searching import run_search
from hermes_tui.service.sqlite import SqliteSessionService
from hermes_tui.service.ways import ways_out
from hermes_tui.storage import connection, finding, judging, scan
from hermes_tui.storage import search as search_module
from hermes_tui.storage.connection import Store
from hermes_tui.storage.matches import Groups
from hermes_tui.storage.summing import Summing
from tests.builders import StoreBuilder
from tests.searches import all_pages, hit_of, ids, ref_of, search
from tests.watching import Statements


@pytest.fixture
async def reader() -> AsyncIterator[Reader]:
    made = Reader()
    yield made
    await asyncio.to_thread(made.close)


@pytest.fixture
def many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store in which a common word occurs far more often than one answers at once."""
    monkeypatch.setattr(finding, "MANY", 200)
    monkeypatch.setattr(finding, "_SOME", 200)
    rng = random.Random(4711)
    with StoreBuilder(tmp_path / "state.db") as store:
        for i in range(120):
            store.session(
                f"s{i:03}", "cron" if i % 5 == 4 else "telegram" if i % 5 == 3 else "cli", title=f"Talk {i}"
            )
        for i in range(1_500):
            filler = " ".join(rng.choices(["lorem", "ipsum", "dolor"], k=rng.randrange(2, 30)))
            word = "common" if (i + i // 120) % 3 else "seldom"
            store.message(f"s{i % 120:03}", ("user", "assistant")[i % 2], f"{filler} {word} {filler}")
    return tmp_path / "state.db"


async def test_common_words_answer_in_steps_and_each_is_better_than_the_one_before(many: Path) -> None:
    pages = await all_pages(many, "common")
    assert len(pages) >= 3
    newest, last = pages[0], pages[-1]
    ages = [hit.best.message_id for hit in newest.hits if hit.best]
    assert ages == sorted(ages, reverse=True), "the newest are there at once"
    assert all(hit.conversation.source != "cron" for hit in newest.hits)
    assert [page.final for page in pages] == [False] * (len(pages) - 1) + [True]
    totals = [page.total for page in pages]
    assert totals == sorted(totals), "what was found is not lost again"
    assert last.total == 120
    assert sum(hit.count or 0 for hit in last.hits) == 1_000
    assert all(hit.count is None for hit in newest.hits)
    best = [hit for hit in last.hits if hit.tier == "conversation"]
    assert len(best) == 96
    assert {hit.tier for hit in last.hits[96:]} == {"automation"}


async def test_what_an_answer_was_made_from_goes_before_its_hits_are_made(
    many: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[int] = []
    page = search_module.StoreSearch.page

    def noted(self: search_module.StoreSearch, store: Store) -> search_module.StorePage:
        held.append(len(self.finding.groups) if self.finding else 0)
        return page(self, store)

    monkeypatch.setattr(search_module.StoreSearch, "page", noted)
    assert len((await search(many, "common")).hits) == 120
    assert max(held) == 120
    assert held[-1] == 1, "enough to tell that something was found"


async def test_few_matches_need_no_steps(many: Path) -> None:
    pages = await all_pages(many, '"seldom lorem ipsum dolor" OR "Talk 7"')
    assert pages[0].hits
    assert {page.total for page in pages[1:]} == {pages[-1].total}, "titles first, then all that was said"


async def test_a_rare_word_is_answered_by_one_job_that_makes_no_table(
    tmp_path: Path, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    with StoreBuilder(tmp_path / "state.db") as store:
        store.session("s000")
        store.message("s000", "user", "needle")
        store.message("s000", "user", [{"type": "text", "text": "in pieces × 2"}])
    catalogues, ref = Catalogues(reader), ref_of(tmp_path / "state.db")
    monkeypatch.setattr(search_module, "FRAME", 60.0)
    made: list[str] = []
    monkeypatch.setattr(judging, "Words", made.append)
    pages = [page async for page in run_search(reader, [ref], catalogues.of, SearchQuery("needle"))]
    assert ids(pages[-1]) == ["s000"]
    assert reader.statistics["run"] == 2, "the catalogue, and the search"
    assert made == []


async def test_every_hit_has_its_best_match_and_the_first_ones_three(many: Path) -> None:
    page = await search(many, "common")
    assert all(len(hit.matches) == 3 for hit in page.hits[:100])
    assert all(hit.best is not None for hit in page.hits)


@pytest.mark.parametrize("order", SearchOrder)
async def test_matches_that_are_summed_up_make_the_same_answer(
    many: Path, order: SearchOrder, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = 0

    class Counted(Summing):
        def last(self, store: Store) -> Groups:
            nonlocal made
            made += 1
            return super().last(store)

    before = await search(many, "common", order=order)
    monkeypatch.setattr(search_module, "_NARROW", 0)
    monkeypatch.setattr(finding, "Summing", Counted)
    for steps in (True, False):
        after = (await all_pages(many, "common", order=order, steps=steps))[-1]
        assert replace(after, elapsed_ms=0) == replace(before, elapsed_ms=0)
    assert made == 2
    await search(many, "common source:cli")
    assert made == 2, "of a few conversations all is ranked"


async def test_an_answer_comes_with_a_screenful_of_messages_and_the_others_when_they_are_wanted(many: Path) -> None:
    whole = await search(many, "common")
    service = SqliteSessionService([ref_of(many)])
    try:
        page = [page async for page in service.search(SearchQuery("common", reads=5))][-1]
        assert not any(hit.unread for hit in page.hits[:5])
        assert sum(hit.unread for hit in page.hits) >= 100, "but what a page before has shown is not forgotten"
        assert page.total == whole.total
        assert [_told(hit) for hit in page.hits] == [_told(hit) for hit in whole.hits]
        assert await service.read(page.hits, page.tree) == whole.hits
        assert await service.read(page.hits[:5], page.tree) == page.hits[:5]
    finally:
        await service.close()


def _told(hit: Hit) -> tuple[object, ...]:
    return hit.conversation, hit.tier, hit.count, [match.message_id for match in hit.matches]


async def test_without_steps_there_is_the_last_page_and_no_other(many: Path) -> None:
    for text in ("common", "seldom", "common seldom", "source:cli"):
        (page,) = await all_pages(many, text, steps=False)
        assert replace(page, elapsed_ms=0) == replace(await search(many, text), elapsed_ms=0)


async def test_a_scan_starts_with_the_newest_tells_how_far_it_is_and_delivers_what_it_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "FIRST_SLICE", 50)
    monkeypatch.setattr(scan, "LARGEST_SLICE", 50)
    db = tmp_path / "state.db"
    with StoreBuilder(db, fts=False) as store:
        for i in range(10):
            store.session(f"s{i}")
        for i in range(1_000):
            store.message(f"s{i // 100}", "user", "needle" if i % 100 == 50 else "hay")
    pages = await all_pages(db, "needle")
    progress = [page.progress for page in pages if page.progress is not None]
    assert progress == sorted(progress)
    assert len(progress) >= 10
    assert ids(next(page for page in pages if page.hits)) == ["s9"]
    assert set(ids(pages[-1])) == {f"s{i}" for i in range(10)}
    assert pages[-1].progress is None


async def test_a_newer_question_stops_the_older_one_and_is_answered(many: Path, reader: Reader) -> None:
    catalogues, ref = Catalogues(reader), ref_of(many)
    await catalogues.of(ref)

    async def ask(text: str) -> SearchPage:
        return [page async for page in run_search(reader, [ref], catalogues.of, SearchQuery(text))][-1]

    older: list[asyncio.Task[SearchPage]] = []
    for end in range(1, len("common")):
        older.append(asyncio.create_task(ask("common"[:end] + "*")))
        await asyncio.sleep(0)
        if end % 2:
            older[-1].cancel()
    page = await ask("common")
    assert page.total == 120
    done = await asyncio.gather(*older, return_exceptions=True)
    assert any(isinstance(each, asyncio.CancelledError) for each in done)
    assert all(isinstance(each, SearchPage | asyncio.CancelledError) for each in done)


async def test_leaving_a_search_half_way_leaves_nothing_running(many: Path, reader: Reader) -> None:
    catalogues, ref = Catalogues(reader), ref_of(many)
    pages = run_search(reader, [ref], catalogues.of, SearchQuery("common"))
    assert (await anext(pages)).hits
    await pages.aclose()  # type: ignore[attr-defined]  # it is a generator
    assert reader._running == set()
    assert not [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]


async def test_finding_a_common_word_reads_no_more_text_than_it_shows(
    many: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with StoreBuilder(many.parent / "long" / "state.db") as store:
        store.session("s1")
        for i in range(300):
            store.message("s1", "user", f"common {i} " + "long text " * 4_000)
    taken = 0

    def decode(raw: bytes) -> str:
        nonlocal taken
        taken += len(raw)
        return raw.decode("utf-8", "replace")

    monkeypatch.setattr(connection, "_decode", decode)
    page = await search(many.parent / "long" / "state.db", "common")
    assert page.hits[0].count == 300
    assert taken < 400_000, "three messages of 40 kilobytes, not three hundred"


async def test_ways_out_are_those_that_find_something_with_what_they_find(many: Path, reader: Reader) -> None:
    catalogues, ref = Catalogues(reader), ref_of(many)

    async def ways(text: str) -> dict[str, tuple[str, int, int]]:
        found = await ways_out(reader, [ref], catalogues.of, SearchQuery(text))
        return {way.label: (way.text, way.conversations, way.matches) for way in found}

    assert await ways("common source:slack") == {"without source:slack": ("common", 120, 1_000)}
    assert await ways("common nowhereatall source:cli") == {"without nowhereatall": ("common source:cli", 72, 600)}
    found = await ways('"common seldom"')
    assert found['"common seldom" as single words'][0] == "common seldom"
    assert await ways("nowhereatall") == {}
    two = await ways("common source:slack model:none")
    assert two["without any filter"] == ("common", 120, 1_000)


async def test_a_source_that_is_none_leads_to_the_one_that_was_meant(tmp_path: Path, reader: Reader) -> None:
    with StoreBuilder(tmp_path / "state.db") as store:
        for source in ("slack", "kanban"):
            store.session(source, source)
            store.message(source, "user", "needle")
    ref, catalogues = ref_of(tmp_path / "state.db"), Catalogues(reader)

    async def ways(text: str) -> list[tuple[str, str]]:
        found = await ways_out(reader, [ref], catalogues.of, SearchQuery(text))
        return [(way.label, way.text) for way in found]

    meant = ("source:slack instead of source:slak", "source:slack")
    assert await ways("source:slak") == [meant], "not kanban's conversations, which nobody asked for"
    assert (meant[0], "needle source:slack") in await ways("needle source:slak")
    assert await ways("source:nothinglikeit") == []


async def test_sources_that_were_left_out_are_a_way_out(tmp_path: Path, reader: Reader) -> None:
    with StoreBuilder(tmp_path / "state.db") as store:
        store.session("card", "kanban")
        store.message("card", "user", "needle")
    ref, catalogues = ref_of(tmp_path / "state.db"), Catalogues(reader)
    (way,) = await ways_out(reader, [ref], catalogues.of, SearchQuery("needle"))
    assert (way.conversations, way.matches) == (1, 1)
    page = await search(tmp_path / "state.db", way.text)
    assert hit_of(page, "card").tier == "automation"


async def test_completion_offers_what_the_store_holds_with_counts(
    many: Path, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERMES_TUI_NOW", "1780020000")
    catalogues, ref = Catalogues(reader), ref_of(many)

    async def offered(word: str) -> list[tuple[str, int]]:
        return [(each.text, each.count) for each in await complete(reader, [ref], catalogues.of, word)]

    assert await offered("source:") == [("source:cli", 72), ("source:cron", 24), ("source:telegram", 24)]
    assert await offered("source:c") == [("source:cli", 72), ("source:cron", 24)]
    assert await offered("-source:te") == [("-source:telegram", 24)]
    assert await offered("source:cli,te") == [("source:cli,telegram", 24)]
    assert await offered("role:") == [("role:assistant", 750), ("role:user", 750)]
    assert ("is:automation", 24) in await offered("is:")
    assert ('title:"Talk 7"', 1) in await offered('title:"talk 7')
    assert {text for text, _ in await offered("after:")} >= {"after:today", "after:7d"}
    assert await offered("profile:") == [("profile:default", 120)]
    for word in ("source", "deploy", "http://x", "messages:", "nokey:x"):
        assert await offered(word) == []


async def test_the_completion_of_a_source_counts_what_the_list_holds_of_it(tmp_path: Path, reader: Reader) -> None:
    with StoreBuilder(tmp_path / "state.db") as store:
        store.session("a", "telegram", end_reason="compression", ended_at=2_000.0)
        store.session("b", "telegram", parent="a", started_at=2_001.0)
        store.session("c", "telegram")
        store.session("d", "subagent", parent="c", model_config={"_delegate_from": "c"})
        for each in "abcd":
            store.message(each, "user", f"word {each}")
    found = await complete(reader, [ref_of(tmp_path / "state.db")], Catalogues(reader).of, "source:")
    assert [(each.text, each.count) for each in found] == [("source:telegram", 2), ("source:subagent", 1)]


async def test_what_all_stores_say_is_said_once_what_they_leave_out_added_up_and_the_rest_by_name(
    tmp_path: Path,
) -> None:
    for name in ("one", "two", "bare"):
        with StoreBuilder(tmp_path / name / "state.db", fts=name != "bare") as store:
            store.session("s")
            store.message("s", "tool", "word " + "x" * 10_000)
            store.session("k", "kanban")
            if name == "two":
                store.session("l", "subagent")
                store.session("d", "subagent", parent="s", model_config={"_delegate_from": "s"})
    one, two, bare = (ref_of(tmp_path / name / "state.db", name) for name in ("one", "two", "bare"))
    assert (await all_pages([one, two], "word"))[-1].notices == (
        "Left out: 2 kanban, 1 subagent, 1 delegate run (source: asks for them).",
        "Tool output beyond 8 KB was not searched.",
    )
    assert (await all_pages([one, bare], "word"))[-1].notices == (
        "Left out: 2 kanban (source: asks for them).",
        "one: Tool output beyond 8 KB was not searched.",
        "bare: There is no search index: the messages themselves were read.",
    )
    assert not (await all_pages([one, two], "@session:one/s"))[-1].notices


@pytest.fixture
def unindexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store that is read in several slices."""
    monkeypatch.setattr(scan, "FIRST_SLICE", 200)
    with StoreBuilder(tmp_path / "state.db", fts=False) as store:
        for i in range(20):
            store.session(f"s{i:02}", title=f"Talk {i}")
        for i in range(2_000):
            store.message(f"s{i % 20:02}", "user", f"plover {i}" if i % 3 == 0 else "other")
    return tmp_path / "state.db"


async def found_by(reader: Reader, db: Path) -> list[SearchPage]:
    pages = run_search(reader, [ref_of(db)], Catalogues(reader).of, SearchQuery("plover", reads=None))
    return [page async for page in pages]


async def test_slices_are_read_at_the_same_time_where_there_are_processors(
    reader: Reader, unindexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = threading.Barrier(2, timeout=20)
    reading = scan.read
    ahead: list[scan.Span] = []

    def together(store: Store, task: scan.Task, span: scan.Span) -> scan.Reading:
        if task.planned:
            both.wait()
            ahead.append(span)
        return reading(store, task, span)

    monkeypatch.setattr(scan, "read", together)
    reader.abreast = 1
    alone = await found_by(reader, unindexed)
    assert not ahead
    reader.abreast = 2
    beside = await found_by(reader, unindexed)
    assert len(ahead) >= 2
    assert ids(beside[-1]) == ids(alone[-1])
    assert [hit.count for hit in beside[-1].hits] == [hit.count for hit in alone[-1].hits]
    progress = [page.progress for page in beside if page.progress is not None]
    assert progress == sorted(progress)


async def test_a_reading_that_ends_with_nothing_new_leaves_the_same_order_in_steps_and_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "FIRST_SLICE", 10)
    with StoreBuilder(tmp_path / "state.db") as store:
        for session_id in ("older", "long call", "long text"):
            store.session(session_id)
        for _ in range(30):
            store.message("older", "user", "nothing of the kind")
        for session_id, text, call in (("long call", "", "y " * 300), ("long text", "z " * 60, "")):
            function = {"name": "terminal", "arguments": json.dumps({"command": call})}
            store.message(session_id, "assistant", f"xploverx {text}", tool_calls=[{"id": "1", "function": function}])
    for steps in (False, True):
        page = await search(tmp_path / "state.db", "plover", steps=steps)
        assert ids(page) == ["long call", "long text"], "as the index ranks them, which holds no calls"


async def test_what_takes_long_to_show_is_shown_less_often_while_messages_are_read(
    reader: Reader, unindexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    page = search_module.StoreSearch.page

    def noted(self: search_module.StoreSearch, store: Store) -> search_module.StorePage:
        made.append(len(self.finding.judged) if self.finding else 0)
        return page(self, store)

    monkeypatch.setattr(search_module.StoreSearch, "page", noted)
    often = await found_by(reader, unindexed)
    shown = len(made)
    made.clear()
    monkeypatch.setattr(searching, "_READ_FOR_A_PAGE", float("inf"))
    seldom = await found_by(reader, unindexed)
    assert len(made) < shown
    assert ids(seldom[-1]) == ids(often[-1])
    assert [hit.count for hit in seldom[-1].hits] == [hit.count for hit in often[-1].hits]
    progress = [page.progress for page in seldom if page.progress is not None]
    assert len(progress) == len([page for page in often if page.progress is not None])
    assert progress == sorted(progress)


async def test_sessions_are_named_to_what_is_read_only_where_most_are_not_searched(
    tmp_path: Path, statements: Statements
) -> None:
    output = "lorem " * 2_000 + "deeptoolite"
    with StoreBuilder(tmp_path / "state.db") as store:
        for name, source in (("s0", "cli"), ("s1", "cli"), ("s2", "telegram"), ("s3", "tool")):
            store.session(name, source)
            store.message(name, "user", f"question in {name}")
            store.message(name, "tool", output, tool_name="terminal")
    for text, named, found in (
        ("role:tool deeptoolite", False, ["s0", "s1", "s2"]),
        ("role:tool source:telegram deeptoolite", True, ["s2"]),
        ("role:tool source:tool deeptoolite", True, ["s3"]),
    ):
        statements.all.clear()
        page = await search(tmp_path / "state.db", text)
        assert sorted(ids(page)) == found, text
        reading = [each for each in statements.all if "worth0(" in each]
        assert reading
        assert {"m.session_id in" in each for each in reading} == {named}, text
        assert any("group_concat(m.id)" in each for each in statements.all) is not named


async def test_tool_output_is_not_read_a_second_time_for_an_index_that_lacks_it(
    tmp_path: Path, statements: Statements
) -> None:
    with StoreBuilder(tmp_path / "state.db") as store:
        store.session("s0")
        store.message("s0", "user", "an undeeptoolited word")
        store.message("s0", "tool", "lorem " * 2_000 + "undeeptoolited", tool_name="terminal")
    for deep in (True, False):
        statements.all.clear()
        page = await search(tmp_path / "state.db", "eeptoolit", scan=deep)
        assert [hit.count for hit in page.hits] == [1 + deep]
        lacking = [
            each for each in statements.all if "not exists" in each and "piece0" not in each and "worth" in each
        ]
        assert lacking
        assert {"and not (m.role is 'tool')" in each for each in lacking} == {deep}


async def test_whoever_gives_up_a_search_stops_all_that_is_read_for_it(
    reader: Reader, unindexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = threading.Semaphore(0)
    reading = scan.read

    def endless(store: Store, task: scan.Task, span: scan.Span) -> scan.Reading:
        if task.planned:
            begun.release()
            store.conn.execute("with recursive c(x) as (select 1 union all select x + 1 from c) select sum(x) from c")
        return reading(store, task, span)

    monkeypatch.setattr(scan, "read", endless)
    reader.abreast = 2
    task = asyncio.create_task(found_by(reader, unindexed))
    for _ in range(2):
        assert await asyncio.to_thread(begun.acquire, timeout=20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(reader.close)
    assert reader.statistics["cancelled"] == 2


async def test_of_several_stores_each_has_a_thread_and_no_more(
    reader: Reader, unindexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with StoreBuilder(tmp_path / "other" / "state.db", fts=False) as store:
        store.session("o")
        store.message("o", "user", "plover")
    ahead: list[scan.Task] = []
    monkeypatch.setattr(scan, "take", lambda task, readings: ahead.append(task))
    reader.abreast = 2
    stores = [ref_of(unindexed), ref_of(tmp_path / "other" / "state.db", "other")]
    pages = [page async for page in run_search(reader, stores, Catalogues(reader).of, SearchQuery("plover"))]
    assert pages[-1].total == 21
    assert not any(task.planned for task in ahead)


def test_one_processor_is_not_shared_by_two_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    for processors, abreast in ({0}, 1), ({0, 1}, 2), ({0, 1, 2, 3, 4, 5}, 2):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, them=processors: them, raising=False)
        assert Reader().abreast == abreast
        assert DirectReader().abreast == abreast
