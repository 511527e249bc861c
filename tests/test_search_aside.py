"""A search that reads of what stands aside only what it finds gives the answer of one that has read everything."""

from __future__ import annotations

import json
import os
import random
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from hermes_tui.domain.links import Link
from hermes_tui.domain.queries import SearchOrder, SearchPage, SearchQuery
from hermes_tui.domain.querytext import parse_query
from hermes_tui.domain.sessions import ConversationKey, ListQuery
from hermes_tui.domain.targets import beginnings, read_name
from hermes_tui.service.catalogues import Catalogues
from hermes_tui.service.reader import Reader
from hermes_tui.service.searching import run_search
from hermes_tui.service.sqlite import SqliteSessionService
from hermes_tui.storage import aside, preparing
from hermes_tui.storage.aside import bring, load_bystanders, load_shown
from hermes_tui.storage.catalogue import load_catalogue
from hermes_tui.storage.connection import Store
from hermes_tui.values import replace
from tests.builders import StoreBuilder
from tests.searches import ids, pages_of, ref_of
from tests.seeds import SEED
from tests.test_storage_newest import REASONS, many, opened

WORDS = ["plover", "heron", "teal", "数据库", "swift"]
NAMES = [None, None, None, "heron watch", "teal #2", "teal", "Plover-Count 7", "  ", "état"]


def drawn(db: Path, seed: int) -> list[str]:
    """Runs that nobody asked for, most of them alone, among conversations; some share the beginning of an id."""
    rng, found = random.Random(SEED * 100 + seed), list[str]()
    with StoreBuilder(db) as store:
        for n in range(90):
            source = rng.choice(["cli", "cron", "cron", "cron", "subagent", "tool", "kanban"])
            options: dict[str, Any] = {"end_reason": rng.choice(REASONS)}
            if found and rng.random() < 0.2:
                options["parent"] = rng.choice(found[-9:])
            if source == "subagent" and rng.random() < 0.5:
                options["model_config"] = {"_delegate_from": rng.choice(found or ["gone"])}
            title, shown = rng.choice(NAMES), rng.choice(NAMES)
            options |= {"title": f"{title} {n}" if title else None, "display_name": shown}
            options |= {"pinned": rng.random() < 0.05, "archived": rng.random() < 0.1, "hidden": rng.random() < 0.1}
            found.append(store.session(f"{rng.choice(['run_2026', 'cron_7'])}_{n:04}", source, **options))
            for _ in range(rng.choice([0, 1, 1, 2])):
                said = " ".join(rng.choices(WORDS, k=rng.choice([1, 2, 3])))
                store.message(found[-1], rng.choice(["user", "assistant", "tool"]), said)
    return found


def write(db: Path, sql: str) -> None:
    """As another process does."""
    conn = sqlite3.connect(db)
    conn.execute(sql)
    conn.commit()
    conn.close()


async def both(db: Path, query: SearchQuery) -> tuple[SearchPage, SearchPage]:
    """The last page, lean and whole; they take as long as they take."""
    reader = Reader()
    try:
        catalogues, refs = Catalogues(reader), [ref_of(db)]
        lean = [page async for page in pages_of(reader, catalogues, refs, query)][-1]
        whole = [page async for page in run_search(reader, refs, Catalogues(reader).of, query)][-1]
    finally:
        await reader.end()
    return replace(lean, elapsed_ms=0.0), replace(whole, elapsed_ms=0.0)


@pytest.mark.parametrize("few", [0, 400])
@pytest.mark.parametrize("seed", range(6))
async def test_of_any_store_both_ways_give_the_same_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, few: int
) -> None:
    monkeypatch.setattr(aside, "_FEW", few)
    known = drawn(tmp_path / "state.db", seed)
    rng = random.Random(seed)
    texts = [*WORDS, "plover heron", "teal OR swift", "plover -teal", "her", "nothing", "teal #2", "état", "据库"]
    texts += [
        "watch",
        "run_2026",
        "cron_7_",
        *rng.sample(known, 3),
        rng.choice(known)[:11],
        "“teal 5”",
        "heron watch 3 x1",
    ]
    found = 0
    for text in texts:
        for order in SearchOrder if text in WORDS else (SearchOrder.RELEVANCE,):
            query = SearchQuery(text, order=order, include_hidden=rng.random() < 0.3, reads=None)
            lean, whole = await both(tmp_path / "state.db", query)
            assert lean == whole, text
            found += len(lean.hits)
    assert found > 100


async def test_what_a_word_does_not_find_is_not_read(tmp_path: Path) -> None:
    db = many(tmp_path / "state.db")
    write(db, "update messages set content = 'plover' where session_id = 's00001'")
    service = SqliteSessionService([ref_of(db)])
    try:
        shown = len(await _known(service))
        last = [page async for page in service.search(SearchQuery("plover"))][-1]
        assert ids(last) == ["s00001"]
        assert last.searched > 1_000
        catalogue = await service._catalogues.shown(service.stores[0])
        assert len(catalogue) == shown + 1
        key = ConversationKey("default", "s00001")
        assert (await service.conversation(key)).automation
        assert (await service.details([key]))[key].message_count == 1
        assert len(await service._catalogues.shown(service.stores[0])) == shown + 1
    finally:
        await service.close()


async def _known(service: SqliteSessionService) -> list[str]:
    await service.conversations(ListQuery())
    return list((await service._catalogues.shown(service.stores[0])).chains)


async def test_a_run_that_was_found_and_becomes_live_is_in_the_list(tmp_path: Path) -> None:
    db = many(tmp_path / "state.db")
    service = SqliteSessionService([ref_of(db)])
    try:
        before = await service.conversations(ListQuery())
        assert ids([page async for page in service.search(SearchQuery("s00001"))][-1]) == ["s00001"]
        assert await service.conversations(ListQuery()) == before
        _live(tmp_path, "s00001")
        after = await service.conversations(ListQuery())
        assert [row.id for row in after.rows if row.live] == ["s00001"]
        assert (after.of, after.total) == (before.of, before.total + 1)
    finally:
        await service.close()


async def test_what_one_search_has_found_is_known_to_the_next_and_counted_once(tmp_path: Path) -> None:
    drawn(tmp_path / "state.db", 1)
    reader = Reader()
    try:
        catalogues, whole, refs = Catalogues(reader), Catalogues(reader), [ref_of(tmp_path / "state.db")]
        for text in (*WORDS, *WORDS):
            for every in (False, True):
                query = SearchQuery(text, include_hidden=every, reads=None)
                lean = [page async for page in pages_of(reader, catalogues, refs, query)][-1]
                full = [page async for page in run_search(reader, refs, whole.of, query)][-1]
                assert replace(lean, elapsed_ms=0.0) == replace(full, elapsed_ms=0.0), (text, every)
    finally:
        await reader.end()


async def test_when_something_becomes_live_what_was_found_aside_is_counted_once(tmp_path: Path) -> None:
    db = many(tmp_path / "state.db")
    service = SqliteSessionService([ref_of(db)])
    try:
        before, shown = await service.conversations(ListQuery()), await _known(service)
        found = [page async for page in service.search(SearchQuery("s00001"))][-1]
        _live(tmp_path, shown[0])
        after = await service.conversations(ListQuery())
        assert [row.id for row in after.rows if row.live] == [shown[0]]
        assert (after.of, after.total, after.hidden) == (before.of, before.total, before.hidden)
        again = [page async for page in service.search(SearchQuery("s00001"))][-1]
        assert (ids(again), again.searched) == (["s00001"], found.searched)
    finally:
        await service.close()


def _live(home: Path, session_id: str) -> None:
    (home / "runtime").mkdir()
    entry = {"session_id": session_id, "pid": os.getpid(), "surface": "cli"}
    (home / "runtime" / "active_sessions.json").write_text(json.dumps({"entries": [entry]}))


async def test_a_store_that_is_written_meanwhile_is_read_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = many(tmp_path / "state.db", sessions=60)

    def late(store: Store, catalogue: Any) -> Any:
        write(db, "update sessions set source = 'cli' where id = 's00001'")
        return load_bystanders(store, catalogue)

    monkeypatch.setattr("hermes_tui.service.catalogues.load_bystanders", late)
    reader = Reader()
    try:
        catalogue = await Catalogues(reader).searched(parse_query("plover", present=0.0), ref_of(db))
    finally:
        await reader.end()
    assert not catalogue.bystanders
    assert len(catalogue) == 60
    found = catalogue.by_root("s00001")
    assert found is not None
    assert found.source == "cli"


def test_what_is_gone_stays_unknown(tmp_path: Path) -> None:
    db = many(tmp_path / "state.db", sessions=60)
    with opened(db) as store:
        loaded = load_shown(store, ())
        assert loaded is not None
        catalogue = loaded.catalogue
        catalogue.bystanders = load_bystanders(store, catalogue)
        assert len(catalogue.bystanders) == catalogue.aside
        write(db, "delete from sessions where id = 's00001'")
        bring(store, catalogue, ["s00001", "s00002", "nobody"])
        whole = load_catalogue(store)
    assert "s00001" not in catalogue.chains
    assert catalogue.chains["s00002"] == whole.chains["s00002"]
    assert catalogue.by_root("s00002") == whole.by_root("s00002")
    assert all(row.id != "s00002" for row in catalogue.conversations)


@pytest.mark.parametrize(
    ("name", "begun"),
    [
        ("teal", {"teal"}),
        ("“teal”.", {"“teal”.", "“teal”", "teal"}),
        ("teal #2", {"teal #2"}),
        ("teal#2", {"teal#2", "teal"}),
        ("teal x3", {"teal x3", "teal"}),
    ],
)
def test_with_what_begins_all_that_answers_to_a_name(name: str, begun: set[str]) -> None:
    assert beginnings(read_name(name)) == begun


def test_a_link_with_a_place_names_what_begins_with_all_of_it_too() -> None:
    assert "a#7" in beginnings(Link(None, "a", 7))


async def test_where_a_word_finds_much_everything_is_read_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn(tmp_path / "state.db", 1)
    monkeypatch.setattr(preparing, "FEW", 5)
    reader = Reader()
    try:
        lean = {}
        for text in ("plover", "watch", '"plover plover plover plover"', "据库"):
            catalogue = await Catalogues(reader).searched(
                parse_query(text, present=0.0), ref_of(tmp_path / "state.db")
            )
            lean[text] = catalogue.aside > 0
    finally:
        await reader.end()
    assert lean == {"plover": False, "watch": True, '"plover plover plover plover"': True, "据库": True}


async def test_an_id_that_is_still_being_typed_reads_two_of_those_that_begin_so(tmp_path: Path) -> None:
    db = many(tmp_path / "state.db")
    write(db, "update messages set content = 'n'")
    service = SqliteSessionService([ref_of(db)])
    try:
        shown = len(await _known(service))
        for text, read in (("s", 0), ("s0", 0), ("s000", 2), ("s00001", 3)):
            async for _ in service.search(SearchQuery(text, typing_at=len(text), limit=0)):
                pass
            assert len(await service._catalogues.shown(service.stores[0])) <= shown + read, text
    finally:
        await service.close()
