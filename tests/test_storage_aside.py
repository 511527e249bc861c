"""A list that leaves out of its reading what it only counts is the list of everything."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from pathlib import Path

import pytest

from hermes_tui.domain.families import Catalogue
from hermes_tui.domain.lists import Everything, Haystack, Words, page, select
from hermes_tui.domain.sessions import ConversationKey, ConversationPage, HiddenReason, ListQuery, Order
from hermes_tui.service.sqlite import SqliteSessionService
from hermes_tui.storage import connection
from hermes_tui.storage.aside import alone, load_shown
from hermes_tui.storage.catalogue import load_catalogue
from hermes_tui.storage.connection import Store
from tests.builders import SCHEMAS
from tests.test_storage_newest import any_stores, many, opened, ref_of


def listed(catalogue: Catalogue, query: ListQuery) -> ConversationPage:
    chosen = select(
        catalogue.conversations,
        filters=Everything(),
        words=Words(()),
        haystack=Haystack,
        include_hidden=False,
        aside=catalogue.aside,
    )
    return page([chosen], query)


def agree(store: Store, live: Collection[str] = ()) -> int:
    """Both ways give the same rows and counts in every order; how many conversations stand aside."""
    loaded, whole = load_shown(store, live), load_catalogue(store).marked(frozenset(live))
    assert loaded is not None
    shown = loaded.catalogue.marked(frozenset(live))
    for order in Order:
        for reverse in (False, True):
            query = ListQuery(order=order, reverse=reverse)
            assert listed(shown, query) == listed(whole, query)
    assert len(shown) + shown.aside == len(whole)
    for session_id, chain in shown.chains.items():
        assert whole.chains[session_id] == chain
        assert whole.owner(session_id) == shown.owner(session_id)
        assert whole.family_top(session_id) == shown.family_top(session_id)
        assert whole.hanging().get(session_id) == shown.hanging().get(session_id)
    return shown.aside


@pytest.mark.real
def test_of_a_real_store_both_ways_give_the_same_list(real_home: Path) -> None:
    with opened(real_home / "state.db") as store:
        assert agree(store) > 0


@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize("seed", range(12))
def test_of_any_store_both_ways_give_the_same_list(tmp_path: Path, seed: int, schema: int) -> None:
    for store, live in any_stores(tmp_path, seed, schema):
        agree(store, live)


LONE = "s00001"
"""A run that stands aside in `many`."""


@pytest.mark.parametrize(
    "change",
    [
        f"update sessions set pinned = 1 where id = '{LONE}'",
        f"update sessions set source = 'cli' where id = '{LONE}'",
        f"update sessions set source = null where id = '{LONE}'",
        f"update sessions set parent_session_id = 's00000' where id = '{LONE}'",
        f"update sessions set parent_session_id = 'gone' where id = '{LONE}'",
        f"update sessions set parent_session_id = '{LONE}' where id = '{LONE}'",
        f"update sessions set parent_session_id = '{LONE}' where id = 's00006'",
        f"update sessions set model_config = '{{\"_delegate_from\": \"s00000\"}}' where id = '{LONE}'",
        f"update sessions set model_config = '{{\"_branched_from\": 7}}' where id = '{LONE}'",
        f"update sessions set archived = 1, hidden = 1, title = 'mine' where id = '{LONE}'",
        f"update sessions set id = 'é' where id = '{LONE}'",
        f"update sessions set id = 'a' || char(0) || 'b' where id = '{LONE}'",
        f"update sessions set id = '' where id = '{LONE}'",
        f"delete from messages where session_id = '{LONE}'",
        "update sessions set source = 'cli'",
        "delete from sessions",
    ],
)
def test_whatever_makes_a_run_more_than_that_brings_it_back(tmp_path: Path, change: str) -> None:
    db = many(tmp_path / "state.db", sessions=60)
    with connection.sqlite3.connect(db) as conn:
        conn.execute("pragma writable_schema = on")
        conn.execute("update sqlite_master set sql = replace(sql, 'source TEXT NOT NULL', 'source TEXT')")
    conn = connection.sqlite3.connect(db)
    conn.execute(change)
    conn.commit()
    conn.close()
    with opened(db) as store:
        agree(store)
        agree(store, ["s00002"])


@pytest.mark.parametrize(
    "change",
    [
        f"update sessions set id = x'ff' where id = '{LONE}'",
        f"update sessions set parent_session_id = x'ff' where id = '{LONE}'",
        f"update sessions set id = cast(x'c3' as text) where id = '{LONE}'",
        "update sessions set title = cast(x'ff' as text) where id = 's00006'",
    ],
)
def test_where_it_cannot_be_sure_everything_is_read(tmp_path: Path, change: str) -> None:
    db = many(tmp_path / "state.db", sessions=60)
    conn = connection.sqlite3.connect(db)
    conn.execute(change)
    conn.commit()
    conn.close()
    with opened(db) as store:
        assert load_shown(store, ()) is None


def test_a_zero_in_the_id_of_a_live_session_is_not_sure_either(tmp_path: Path) -> None:
    with opened(many(tmp_path / "state.db", sessions=60)) as store:
        assert load_shown(store, ["a\0b"]) is None


async def test_whoever_asks_for_one_that_stands_aside_gets_it(tmp_path: Path) -> None:
    service = SqliteSessionService([ref_of(many(tmp_path / "state.db"))])
    try:
        before = await service.conversations(ListQuery())
        assert before.hidden[HiddenReason.AUTOMATION] > 600
        assert service._catalogues.known(service.stores[0]).aside > 600
        key = ConversationKey("default", LONE)
        assert (await service.details([key]))[key].message_count == 1
        assert (await service.conversation(key)).automation
        assert len((await service.conversations(ListQuery(include_hidden=True))).rows) == before.of
        assert await service.conversations(ListQuery()) == before
        assert (await service.conversations(ListQuery("source:cron"))).total > 600
    finally:
        await service.close()


async def test_a_run_that_becomes_live_is_in_the_list_at_once(tmp_path: Path) -> None:
    service = SqliteSessionService([ref_of(many(tmp_path / "state.db"))])
    try:
        before = await service.conversations(ListQuery())
        (tmp_path / "runtime").mkdir()
        entry = {"session_id": LONE, "pid": os.getpid(), "surface": "cli"}
        (tmp_path / "runtime" / "active_sessions.json").write_text(json.dumps({"entries": [entry]}))
        after = await service.conversations(ListQuery())
        assert [row.id for row in after.rows if row.live] == [LONE]
        assert (after.of, after.total) == (before.of, before.total + 1)
    finally:
        await service.close()


async def test_runs_that_are_gone_are_no_longer_counted(tmp_path: Path) -> None:
    db = many(tmp_path / "state.db", sessions=60)
    service = SqliteSessionService([ref_of(db)])
    try:
        assert (await service.conversations(ListQuery())).hidden[HiddenReason.AUTOMATION] > 30
        conn = connection.sqlite3.connect(db)
        kept = "select coalesce(parent_session_id, id) from sessions where source = 'cli'"
        conn.execute(f"delete from sessions where source = 'cron' and id not in ({kept})")
        conn.commit()
        conn.close()
        for query in (ListQuery("source:cli"), ListQuery(include_hidden=True), ListQuery()):
            fresh = SqliteSessionService([ref_of(db)])
            assert await service.conversations(query) == await fresh.conversations(query)
            await fresh.close()
    finally:
        await service.close()


def test_no_message_of_what_stands_aside_is_read(tmp_path: Path) -> None:
    rows: list[int] = []
    for sessions in (600, 2_400):
        with opened(many(tmp_path / f"{sessions}" / "state.db", sessions=sessions)) as store:
            aside = alone(store.schema)
            sql = f"explain query plan select count(*) from sessions s where {aside}"
            plan = [row[3] for row in store.conn.execute(sql, {"live": "[]"})]
            loaded = load_shown(store, ())
        assert loaded is not None
        assert not any("messages" in step or " m " in step for step in plan)
        rows.append(len(loaded.segments))
    assert rows[1] == 4 * rows[0] < 2_400 / 2
