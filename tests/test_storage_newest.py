"""The first rows of a list, read without the rest of the store, are the first rows of the whole list."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hermes_tui.domain.lists import Everything, Haystack, Words, page, select
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.domain.sessions import Conversation, ListQuery
from hermes_tui.service.reader import Reader
from hermes_tui.service.sqlite import SqliteSessionService
from hermes_tui.storage import connection, newest
from hermes_tui.storage.catalogue import load_catalogue
from hermes_tui.storage.connection import Store, open_store
from tests.builders import SCHEMAS, StoreBuilder
from tests.seeds import SEED

SOURCES = ["cli", "cli", "telegram", "cron", "subagent"]
REASONS = [None, None, "compression", "compression", "branched", "session_reset", "user_exit"]


def ref_of(db: Path) -> StoreRef:
    return StoreRef("default", db, db.parent, db.parent)


@contextmanager
def opened(db: Path) -> Iterator[Store]:
    store = open_store(ref_of(db))
    try:
        yield store
    finally:
        store.conn.close()


@pytest.fixture
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a small store is asked like one of very many sessions."""
    monkeypatch.setattr(newest, "MANY", 1)
    monkeypatch.setattr(newest, "_TIPS", 7)


def listed(conversations: Collection[Conversation], include_hidden: bool) -> tuple[Conversation, ...]:
    chosen = select(
        conversations,
        filters=Everything(),
        words=Words(()),
        haystack=Haystack,
        include_hidden=include_hidden,
    )
    return page([chosen], ListQuery()).rows


def first_rows(store: Store, live: Collection[str], include_hidden: bool) -> tuple[Conversation, ...] | None:
    found = newest.newest(store, live, include_hidden=include_hidden)
    if found is None:
        return None
    rows = listed(found.catalogue.marked(frozenset(live)).conversations, include_hidden)
    return tuple(row for row in rows if row.last_active is not None and row.last_active > found.since)


def agree(store: Store, live: Collection[str] = ()) -> int:
    """The first rows are those of the whole list; how many they are."""
    catalogue, several = load_catalogue(store).marked(frozenset(live)), 0
    for include_hidden in (False, True):
        begun, whole = first_rows(store, live, include_hidden), listed(catalogue.conversations, include_hidden)
        assert begun is not None
        assert begun == whole[: len(begun)]
        several += len(begun)
    return several


@pytest.mark.real
@pytest.mark.usefixtures("_few_are_many")
def test_the_first_rows_of_a_real_store_are_those_of_its_list(real_home: Path) -> None:
    with opened(real_home / "state.db") as store:
        assert agree(store) > 0


def drawn(rng: random.Random, store: StoreBuilder) -> list[str]:
    """Families of every shape, loops too; times that were never, are nonsense, or lie far ahead of the messages."""
    ids: list[str] = []
    for n in range(60):
        parent = rng.choice([*ids[-9:], "gone"]) if ids and rng.random() < 0.5 else None
        columns = {
            "parent": parent,
            "end_reason": rng.choice(REASONS),
            "pinned": rng.random() < 0.05,
            "archived": rng.random() < 0.1,
            "hidden": rng.random() < 0.1,
            "model_config": rng.choice([None, None, {"_branched_from": parent}, {"_delegate_from": parent}]),
        }
        if rng.random() < 0.1:
            columns["started_at"] = rng.choice([-5.0, 0.0, 1e18, "soon", store.clock + 900.0])
        if rng.random() < 0.2:
            columns["last_activity_at"] = rng.choice([store.clock, store.clock + 300.0, 1e18, "late"])
        ids.append(store.session(f"s{n:03}", rng.choice(SOURCES), **columns))
        for _ in range(rng.choice([0, 1, 1, 2])):
            at = rng.choice([store.tick(), store.clock - 50.0 * rng.random(), 1e18])
            kind = rng.choice([None, None, "hidden"])
            store.message(
                rng.choice(ids), "user", "words", timestamp=at, display_kind=kind, active=rng.random() < 0.9
            )
    for _ in range(3):
        store.conn.execute(
            "update sessions set parent_session_id = ? where id = ?", (rng.choice(ids), rng.choice(ids))
        )
    return ids


def any_stores(tmp_path: Path, seed: int, schema: int) -> Iterator[tuple[Store, list[str]]]:
    """A drawn store, with nothing live and with some."""
    rng = random.Random(SEED * 100 + seed)
    with StoreBuilder(tmp_path / "state.db", schema=schema, fts=False) as builder:
        ids = drawn(rng, builder)
    with opened(tmp_path / "state.db") as store:
        yield store, []
        yield store, rng.sample(ids, 4)


@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.usefixtures("_few_are_many")
def test_the_first_rows_of_any_store_are_those_of_its_list(tmp_path: Path, seed: int, schema: int) -> None:
    for store, live in any_stores(tmp_path, seed, schema):
        agree(store, live)


def many(db: Path, *, sessions: int = 1_200) -> Path:
    """More sessions than a list reads at once, some of them continued, most of them nobody's."""
    with StoreBuilder(db, fts=False) as store:
        for n in range(sessions):
            parent = f"s{n - 1:05}" if n % 10 == 9 else None
            reason = "compression" if n % 10 == 8 else None
            store.session(f"s{n:05}", "cli" if n % 10 > 5 else "cron", parent=parent, end_reason=reason)
            store.message(f"s{n:05}", "user", "words")
    return db


async def test_of_very_many_sessions_the_first_rows_come_before_the_list_is_counted(tmp_path: Path) -> None:
    service = SqliteSessionService([ref_of(many(tmp_path / "state.db"))])
    try:
        begun, whole = await service.first_page(ListQuery()), await service.conversations(ListQuery())
        assert not begun.whole
        assert whole.whole
        assert 100 < len(begun.rows) < len(whole.rows)
        assert begun.rows == whole.rows[: len(begun.rows)]
        for other in (ListQuery("words"), ListQuery(reverse=True), ListQuery(limit=3)):
            assert (await service.first_page(other)).whole
    finally:
        await service.close()


async def test_what_a_screen_begins_with_is_one_job_of_the_reader(tmp_path: Path) -> None:
    """Whoever asks is importing Textual meanwhile, and has no time to ask for the next part."""
    for sessions, whole in ((20, True), (1_200, False)):
        reader = Reader()
        service = SqliteSessionService([ref_of(many(tmp_path / f"{sessions}.db", sessions=sessions))], reader=reader)
        try:
            page = await service.first_page(ListQuery())
            assert (page.whole, reader.statistics["run"]) == (whole, 1)
            if whole:
                assert page == await service.conversations(ListQuery())
        finally:
            await service.close()


def test_first_rows_take_the_same_few_questions_however_many_sessions_there_are(tmp_path: Path) -> None:
    asked: list[int] = []
    for sessions in (1_200, 4_800):
        db, said = many(tmp_path / f"{sessions}" / "state.db", sessions=sessions), list[str]()
        with opened(db) as store:
            store.conn.set_trace_callback(said.append)
            found = newest.newest(store, (), include_hidden=False)
        assert found is not None
        assert len(found.catalogue) < 400
        asked.append(len(said))
    assert asked[0] == asked[1] < 20


@pytest.mark.parametrize(
    "change",
    [
        "drop index idx_sessions_parent",
        "drop index idx_messages_session",
        "update sessions set id = x'ff' where id = 's00007'",
        "update sessions set parent_session_id = x'ff' where id = 's00007'",
        "update sessions set parent_session_id = cast(x'c3' as text) where id = 's01198'",
        "update sessions set parent_session_id = 's00000' where id <> 's00000'",
        "delete from sessions where rowid > 900",
    ],
)
def test_where_first_rows_cannot_be_sure_or_save_nothing_the_list_is_asked_for(
    tmp_path: Path, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newest, "_MOST", 1_000)
    db = many(tmp_path / "state.db")
    with opened(db) as store:
        assert newest.newest(store, (), include_hidden=False) is not None
    builder = connection.sqlite3.connect(db)
    builder.execute(change)
    builder.commit()
    builder.close()
    with opened(db) as store:
        assert newest.newest(store, (), include_hidden=False) is None


def test_the_pass_over_all_sessions_reads_no_message_but_off_the_index(tmp_path: Path) -> None:
    with opened(many(tmp_path / "state.db")) as store:
        sql = newest._tips_sql(store.schema, include_hidden=False)
        plan = [row[3] for row in store.conn.execute(f"explain query plan {sql}", (5,))]
    assert any("m USING COVERING INDEX idx_messages_session (session_id=? AND timestamp" in step for step in plan)
