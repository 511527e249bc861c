"""Every session of a store as chains and conversations, whatever the schema and however odd the cells."""

from __future__ import annotations

import json
import random
import sqlite3
import string
from pathlib import Path
from typing import Any

import pytest

from hermes_tui.domain.families import Catalogue
from hermes_tui.domain.lists import ordered
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.domain.sessions import HiddenReason, Kind, Order
from hermes_tui.storage import connection
from hermes_tui.storage.catalogue import load, load_catalogue
from hermes_tui.storage.connection import Store, open_store
from tests.builders import SCHEMAS, StoreBuilder
from tests.seeds import SEED


def opened(db: Path) -> Store:
    return open_store(StoreRef("default", db, db.parent, db.parent))


def catalogue(db: Path) -> Catalogue:
    store = opened(db)
    try:
        return load_catalogue(store)
    finally:
        store.conn.close()


def word() -> str:
    return "".join(random.choices(string.ascii_lowercase, k=10))


@pytest.mark.real
def test_every_session_of_a_real_store_is_in_exactly_one_place(real_home: Path) -> None:
    db = real_home / "state.db"
    conn = sqlite3.connect(f"{db.as_uri()}?mode=ro", uri=True)
    ids = sorted(row[0] for row in conn.execute("select id from sessions"))
    conn.close()
    found = catalogue(db)
    shown = [id for conversation in found.conversations for id in conversation.segment_ids]
    chains = [chain for chain in found.all_chains() if chain.kind is Kind.DELEGATE]
    assert sorted([*shown, *(segment.id for chain in chains for segment in chain.segments)]) == ids
    for chain in chains:
        owner = found.owner(chain.root.id)
        assert owner is not None
        assert owner[1]


@pytest.mark.real
def test_the_shapes_that_hermes_made_are_told_apart(real_home: Path) -> None:
    shapes: dict[str, list[str]] = json.loads((real_home / "gen-manifest.json").read_text("utf-8"))["shapes"]
    found = catalogue(real_home / "state.db")

    def is_chain(*ids: str) -> bool:
        chain = found.chains[ids[0]]
        return tuple(segment.id for segment in chain.segments) == ids

    for shape in ("chain2", "chain3", "chain4", "chain5", "chain6"):
        assert is_chain(*shapes[shape]), shape
        assert found.chains[shapes[shape][0]].kind is Kind.ROOT
    assert found.chains[shapes["chain5:stale"][0]].kind is Kind.SIBLING
    assert found.chains[shapes["chain3:branch-of-root"][0]].kind is Kind.BRANCH
    parent, branch = shapes["branch"]
    assert is_chain(parent)
    assert found.chains[branch].kind is Kind.BRANCH
    first, *helpers = shapes["delegate"]
    assert is_chain(first)
    for helper in helpers:
        assert found.chains[helper].kind is Kind.DELEGATE
        owner = found.owner(helper)
        assert owner is not None
        assert owner[0].id == first
    assert [found.chains[id].kind for id in shapes["reset"]] == [Kind.ROOT, Kind.RESET, Kind.RESET]
    empty = found.holding(shapes["empty"][0])
    assert empty is not None
    assert empty.hidden_reason is HiddenReason.EMPTY
    for shape in ("kanban", "tool"):
        automatic = found.holding(shapes[shape][0])
        assert automatic is not None
        assert automatic.hidden_reason is HiddenReason.AUTOMATION


@pytest.mark.parametrize("schema", SCHEMAS)
def test_rows_of_every_schema_and_what_is_not_stored_is_blank(tmp_path: Path, schema: int) -> None:  # R29
    title = word()
    with StoreBuilder(tmp_path / "state.db", schema) as store:
        store.session("a", title=title, model="m", cwd="/w", git_repo_root="/g", archived=1, pinned=1, hidden=1)
        store.message("a", "user", word())
        newest = store.clock
    (found,) = catalogue(tmp_path / "state.db").conversations
    assert (found.id, found.title, found.model, found.stored_messages) == ("a", title, "m", 1)
    assert found.last_active == newest
    assert found.cwd == ("/w" if schema >= 14 else None)
    assert found.git_repo_root == ("/g" if schema >= 22 else None)
    assert (found.archived, found.pinned, found.hidden) == (schema >= 14, schema >= 31, schema >= 31)


def test_a_newer_schema_with_more_columns_and_fewer_is_read(tmp_path: Path) -> None:  # R29
    with StoreBuilder(tmp_path / "state.db") as store:
        store.session("a", title="Future")
        store.message("a", "user", "hello")
        store.conn.execute("commit")
        store.conn.execute("update schema_version set version = 99")
        store.conn.execute("alter table sessions add column mood text default 'calm'")
        store.conn.execute("alter table messages add column mood text")
        store.conn.execute("alter table sessions drop column archived")
        store.conn.execute("create table receipts (id)")
    assert [each.title for each in catalogue(tmp_path / "state.db").conversations] == ["Future"]


def test_archived_null_is_not_archived(tmp_path: Path) -> None:  # R4
    with StoreBuilder(tmp_path / "state.db") as store:
        for value in (0, 1, None):
            store.session(f"a{value}", archived=value)
            store.message(f"a{value}", "user", "x")
    marks = {each.id: each.archived for each in catalogue(tmp_path / "state.db").conversations}
    assert marks == {"a0": False, "a1": True, "aNone": False}


def test_last_active_is_the_newest_visible_message_or_heartbeat_never_the_start(tmp_path: Path) -> None:  # R5
    now = 1_790_000_000.0
    with StoreBuilder(tmp_path / "state.db") as store:
        store.session("a", started_at=now - 86_400)
        store.message("a", "user", "old", timestamp=now - 86_000)
        store.message("a", "assistant", "new", timestamp=now)
        store.message("a", "user", "undone", timestamp=now + 500, active=0, compacted=0)
        store.message("a", "user", "scaffold", timestamp=now + 600, display_kind="hidden")
        store.session("b", started_at=now - 4_000)
        store.message("b", "user", "x", timestamp=now - 3_600)
        store.session("c", started_at=now - 60)
        store.session("beat", started_at=now - 9_000, last_activity_at=now + 30)
        store.message("beat", "user", "x", timestamp=now - 8_000)
    found = {each.id: each for each in catalogue(tmp_path / "state.db").conversations}
    assert {id: each.last_active for id, each in found.items()} == {
        "a": now,
        "b": now - 3_600,
        "c": now - 60,
        "beat": now + 30,
    }
    assert {id for id, each in found.items() if each.empty} == {"c"}


@pytest.mark.parametrize("nonsense", [float("inf"), 5e246, -1.0, "yesterday", b"\xff\xfe", None])
def test_nonsense_times_are_no_times(tmp_path: Path, nonsense: Any) -> None:
    with StoreBuilder(tmp_path / "state.db") as store:
        store.session("a", started_at=nonsense, ended_at=nonsense, last_activity_at=nonsense)
        store.message("a", "user", "x", timestamp=nonsense)
    (found,) = catalogue(tmp_path / "state.db").conversations
    assert (found.started_at, found.ended_at, found.last_active) == (None, None, None)
    assert not found.empty


@pytest.mark.parametrize("nonsense", [float("inf"), float("-inf"), float("nan"), 1.7e308, "much", b"\xff", None])
def test_a_number_that_is_none_counts_as_none(tmp_path: Path, nonsense: Any) -> None:
    with StoreBuilder(tmp_path / "state.db") as store:
        counts = dict.fromkeys(("message_count", "tool_call_count", "input_tokens", "output_tokens"), nonsense)
        parent = None
        for session_id in ("a", "b"):
            store.session(
                session_id,
                parent=parent,
                end_reason="compression",
                actual_cost_usd=nonsense,
                estimated_cost_usd=nonsense,
                **counts,
            )
            parent = session_id
        store.session("c", actual_cost_usd=nonsense, estimated_cost_usd=0.25, input_tokens=nonsense, output_tokens=5)
    found = {each.id: each for each in catalogue(tmp_path / "state.db").conversations}
    odd = found["b"]
    assert (odd.cost_usd, odd.tokens, odd.stored_messages, odd.tool_call_count) == (None, 0, 0, 0)
    assert (found["c"].cost_usd, found["c"].tokens) == (0.25, 5)
    for order in (Order.COST, Order.TOKENS):
        assert [each.id for each in ordered(found.values(), order, reverse=False, names={})] == ["c", "b"]


def test_any_cell_may_hold_anything(tmp_path: Path) -> None:
    rng = random.Random()
    values = [None, "", "x", 7, -7, 1.5, 1e300, b"\xff\x00", "\x00json:[1", "[/]", 2**62]
    with StoreBuilder(tmp_path / "state.db") as store:
        store.conn.execute("drop index idx_sessions_title_unique")
        columns = [column for column in store.session_columns if column not in ("id", "parent_session_id")]
        for n in range(200):
            row = {column: rng.choice(values) for column in columns}
            store.session(f"s{n}", row.pop("source"), **row)
    found = catalogue(tmp_path / "state.db")
    assert len(found) == 200
    for conversation in found.conversations:
        assert conversation.stored_messages >= 0
        assert isinstance(conversation.source, str)
        assert isinstance(conversation.title, str | None)
        hash(conversation)


def test_an_id_that_is_null_costs_that_row_and_is_counted(tmp_path: Path) -> None:
    with StoreBuilder(tmp_path / "state.db") as store:
        store.session("a")
        store.conn.execute("insert into sessions (id, source) values (null, 'cli')")
    found = catalogue(tmp_path / "state.db")
    assert (list(found.chains), found.damaged) == (["a"], 1)


@pytest.mark.parametrize(
    "config", ["", "{", "null", "[]", '"_branched_from"', '{"_branched_from": null}', "[" * 9999]
)
def test_markers_in_json_that_is_none(tmp_path: Path, config: str) -> None:
    with StoreBuilder(tmp_path / "state.db") as store:
        store.session("p", ended_at=1.0, end_reason="compression")
        store.session("c", parent="p", model_config=config)
    assert catalogue(tmp_path / "state.db").chains["c"].root.id == "p"


def test_a_marker_of_any_type_counts_where_the_parent_was_not_compressed(tmp_path: Path) -> None:
    with StoreBuilder(tmp_path / "state.db") as store:
        store.session("p", ended_at=1.0, end_reason="user_exit")
        store.session("c", parent="p", model_config={"_branched_from": 7})
    assert catalogue(tmp_path / "state.db").chains["c"].kind is Kind.BRANCH


def test_the_list_never_reads_the_text_of_messages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # R32
    with StoreBuilder(tmp_path / "state.db") as store:
        for n in range(50):
            store.session(f"s{n}")
            for _ in range(4):
                store.message(f"s{n}", "user", "x" * 50_000)
    statements: list[str] = []
    monkeypatch.setattr(connection, "trace", statements.append)
    store = opened(tmp_path / "state.db")
    try:
        load_catalogue(store)
        asked = [sql for sql in statements if "from messages" in sql]
        assert asked
        for sql in asked:
            plan = [row[3] for row in store.conn.execute(f"explain query plan {sql}")]
            assert not [step for step in plan if step.startswith("SCAN m")], plan
    finally:
        store.conn.close()


def damage(db: Path, table: str, *, keep: int = 1) -> None:
    """Overwrite the leaf pages of a table but the first ones, as a failing disk would."""
    conn = sqlite3.connect(db)
    conn.execute("pragma journal_mode = delete")
    size = conn.execute("pragma page_size").fetchone()[0]
    pages = [
        row[0]
        for row in conn.execute(
            "select pageno from dbstat where name = ? and pagetype = 'leaf' order by path", (table,)
        )
    ]
    conn.close()
    assert len(pages) > keep
    with db.open("r+b") as file:
        for page in pages[keep:]:
            file.seek((page - 1) * size)
            file.write(b"\xa5" * size)


def has_dbstat() -> bool:
    conn = sqlite3.connect(":memory:")
    try:
        return conn.execute("select 1 from pragma_module_list where name = 'dbstat'").fetchone() is not None
    finally:
        conn.close()


needs_dbstat = pytest.mark.skipif(not has_dbstat(), reason="this SQLite cannot say which page is whose")


@needs_dbstat
def test_damaged_messages_cost_no_session(tmp_path: Path) -> None:  # R30
    with StoreBuilder(tmp_path / "state.db", fts=False, journal="delete") as store:
        for n in range(30):
            store.session(f"s{n:02}", title=f"t{n}")
            store.message(f"s{n:02}", "user", "x" * 900)
    damage(tmp_path / "state.db", "messages")
    found = catalogue(tmp_path / "state.db")
    assert len(found.conversations) == 30
    assert found.damaged == 0
    assert 0 < found.mute < 30
    assert not [each.id for each in found.conversations if each.empty]


@needs_dbstat
def test_a_damaged_page_of_sessions_costs_its_rows_and_they_are_counted(tmp_path: Path) -> None:  # R30
    with StoreBuilder(tmp_path / "state.db", fts=False, journal="delete") as store:
        for n in range(60):
            store.session(f"s{n:02}", title="x" * 400 + str(n))
    damage(tmp_path / "state.db", "sessions")
    found = catalogue(tmp_path / "state.db")
    assert 0 < len(found.conversations) < 60
    assert len(found.conversations) + found.damaged == 60


def _some_change(rng: random.Random, store: StoreBuilder, ids: list[str], step: int) -> None:
    """What Hermes, or its user, does to a store between two looks."""
    conn, one, other = store.conn, rng.choice(ids), rng.choice(ids)
    match rng.randrange(12):
        case 0 | 1 | 2:
            store.message(one, rng.choice(["user", "assistant"]), "more")
        case 3:
            conn.execute("update sessions set title = ? where id = ?", (f"Renamed {step}", one))
        case 4:
            conn.execute(
                "update sessions set ended_at = ?, end_reason = 'user_exit' where id = ?", (store.tick(), one)
            )
        case 5:
            conn.execute("update sessions set ended_at = null, end_reason = null where id = ?", (one,))
        case 6:
            conn.execute("update messages set active = 0 where session_id = ?", (one,))
        case 7:
            conn.execute("delete from messages where session_id = ?", (one,))
            conn.execute("delete from sessions where id = ?", (one,))
            ids.remove(one)
        case 8:
            ids.append(store.session(f"s{step:04}", rng.choice(["cli", "cron", "subagent"])))
        case 9:
            conn.execute("update sessions set end_reason = 'compression' where id = ?", (one,))
            ids.append(store.session(f"s{step:04}", parent=one))
        case 10:
            conn.execute("update sessions set parent_session_id = ? where id = ?", (other, one))
        case 11:
            conn.execute("update sessions set pinned = 1 - pinned, input_tokens = ? where id = ?", (step, one))
            conn.execute("update messages set timestamp = null where session_id = ?", (one,))


@pytest.mark.parametrize("seed", range(8))
def test_a_catalogue_that_follows_its_store_is_the_one_that_is_read_anew(tmp_path: Path, seed: int) -> None:
    rng = random.Random(SEED + seed)
    with StoreBuilder(tmp_path / "state.db") as store:
        ids = [store.session(f"s{n:04}", rng.choice(["cli", "telegram", "cron"])) for n in range(40)]
        for _ in range(120):
            store.message(rng.choice(ids), "user", "words")
        store.conn.execute("commit")
        reading = opened(tmp_path / "state.db")
        try:
            before = load(reading)
            assert load(reading, before).catalogue is before.catalogue, "nobody wrote, nothing is made anew"
            for step in range(1, 40):
                for _ in range(rng.choice([1, 1, 1, 5])):
                    _some_change(rng, store, ids, rng.randrange(100_000) + step * 100_000)
                found, anew = load(reading, before), load(reading)
                assert found.catalogue.chains == anew.catalogue.chains
                assert found.catalogue.conversations == anew.catalogue.conversations
                assert found.catalogue._by_root == anew.catalogue._by_root
                before = found
        finally:
            reading.conn.close()


def test_a_message_decides_between_two_that_continue_a_third(tmp_path: Path) -> None:
    """One that is hidden, too: no row of `sessions` looks different for it."""
    with StoreBuilder(tmp_path / "state.db") as store:
        store.session("root", end_reason="compression")
        for id in ("one", "two"):
            store.session(id, parent="root")
            store.message(id, "user", "words")
        store.conn.execute("commit")
        reading = opened(tmp_path / "state.db")
        try:
            before = load(reading)
            assert before.catalogue.chains["root"].tip.id == "two"
            store.message("one", "user", "a note to the model", display_kind="hidden")
            store.conn.execute("update sessions set message_count = 1")
            after = load(reading, before)
            assert after.catalogue.chains["root"].tip.id == "one"
            assert after.catalogue.chains == load(reading).catalogue.chains
            assert load(reading, after).catalogue is after.catalogue
        finally:
            reading.conn.close()


def test_a_message_makes_one_conversation_anew_and_no_other(tmp_path: Path) -> None:
    with StoreBuilder(tmp_path / "state.db") as store:
        for n in range(30):
            store.session(f"s{n:02}", title=f"Talk {n}")
            store.message(f"s{n:02}", "user", "words")
        store.conn.execute("commit")
        reading = opened(tmp_path / "state.db")
        try:
            before = load(reading)
            before = before._replace(catalogue=before.catalogue.marked(frozenset({"s07"})))
            store.message("s07", "assistant", "an answer")
            after = load(reading, before)
        finally:
            reading.conn.close()
    pairs = list(zip(before.catalogue.conversations, after.catalogue.conversations, strict=True))
    assert [new.id for old, new in pairs if old is not new] == ["s07"]
    found = after.catalogue.by_root("s07")
    assert found is not None
    assert (found.stored_messages, found.live) == (2, True)
    assert after.catalogue.holding("s07") is found
