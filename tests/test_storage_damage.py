"""Whatever page of a store is damaged, what lies on the others is read (R30)."""

from __future__ import annotations

import contextlib
import random
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_tui.domain.messages import UNREADABLE
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.domain.queries import SearchPage, SearchQuery
from hermes_tui.domain.resume import State
from hermes_tui.domain.sessions import ConversationKey
from hermes_tui.domain.targets import Named
from hermes_tui.paths import home_store
from hermes_tui.service.sqlite import SqliteSessionService
from hermes_tui.storage.catalogue import load_catalogue
from hermes_tui.storage.checks import check_store
from hermes_tui.storage.connection import Store
from hermes_tui.storage.lineage import load_lineage
from hermes_tui.storage.resume import plan_resume
from hermes_tui.storage.sessions import load_details
from hermes_tui.storage.targets import locate
from hermes_tui.storage.transcripts import load_messages, load_outline
from tests.builders import StoreBuilder
from tests.stores import opened

SEED = 20261201


def build(db: Path, schema: int) -> None:
    """Chains of three, a page and more of each table and index, calls with results, copies."""
    chance = random.Random(SEED)
    with StoreBuilder(db, schema, journal="delete") as store:
        for n in range(12):
            follows = n % 3 != 0
            store.session(
                f"s{n:02}",
                title=f"Walk {n} {'w' * 60}",
                parent=f"s{n - 1:02}" if follows else None,
                end_reason="compression" if n % 3 != 2 else None,
            )
        for n in range(90):
            session = f"s{chance.randrange(12):02}"
            calls = [{"id": f"c{n}", "function": {"name": "look", "arguments": "{}"}}]
            store.message(session, "user", f"plover {n} " + "x" * chance.choice((10, 200, 900)))
            store.message(session, "assistant", "", tool_calls=calls, message_uid=f"u{n // 2}")
            store.message(session, "tool", f"heron {n}", tool_call_id=f"c{n}", tool_name="look")


def damages(whole: bytes, size: int) -> Iterator[tuple[int, bytes]]:
    """Each page but the first overwritten in turn, as a failing disk or a lost write would."""
    chance = random.Random(SEED)
    for at in range(size, len(whole), size):
        garbage = chance.choice(
            (bytes(size), chance.randbytes(size), whole[at : at + 8] + chance.randbytes(size - 8))
        )
        yield at, whole[:at] + garbage + whole[at + size :]


def readable(store: Store, message_id: int) -> tuple[str, ...] | None:
    """Session and content, where SQLite itself still reads this row by its id."""
    sql = "select m.session_id, m.content, m.tool_calls, m.role from messages m where m.id = ?"
    try:
        found: tuple[str, ...] | None = store.conn.execute(sql, (message_id,)).fetchone()
    except sqlite3.DatabaseError as error:
        store.forgive(error)
        return None
    return found


@pytest.mark.parametrize("schema", [11, 31])
def test_no_damaged_page_costs_more_than_what_is_on_it(tmp_path: Path, schema: int) -> None:
    whole, db = tmp_path / "whole" / "state.db", tmp_path / "state.db"
    build(whole, schema)
    conn = sqlite3.connect(whole)
    size = conn.execute("pragma page_size").fetchone()[0]
    conn.close()
    looked_at = hurt = 0
    for _, raw in damages(whole.read_bytes(), size):
        db.write_bytes(raw)
        conn = sqlite3.connect(db)
        try:
            conn.execute("select count(*) from sqlite_master").fetchone()
        except sqlite3.DatabaseError:
            continue  # not even the schema is left
        finally:
            conn.close()
        with opened(db) as store:
            everything(store)
            looked_at, hurt = looked_at + 1, hurt + bool(store.hurt)
    assert looked_at > 30
    assert hurt > 5


def everything(store: Store) -> None:
    """Ask all that a person may ask of each session."""
    catalogue = load_catalogue(store)
    check_store(store, catalogue)
    for chain in catalogue.all_chains():
        found = load_details(store, [chain])[chain.root.id]
        ids = list(load_outline(store, chain).ids)
        shown = {message.id: message for message in load_messages(store, chain, ids)}
        assert list(shown) == ids
        assert found.message_count == len(ids)
        for message in shown.values():
            assert (message.kind == UNREADABLE) is (readable(store, message.id) is None)
        load_lineage(store, catalogue, chain.tip.id)
        plan = plan_resume(store, catalogue, chain.root.id)
        assert plan.argv[-1] == chain.tip.id
        for message_id in ids[::7]:
            target = locate(store, Named(catalogue, chain.tip, message_id))
            assert target.anchor == message_id, target


@pytest.mark.parametrize("schema", [11, 31])
async def test_a_search_goes_on_beside_a_damaged_page_and_says_so(tmp_path: Path, schema: int) -> None:
    whole, db = tmp_path / "whole" / "state.db", tmp_path / "state.db"
    build(whole, schema)
    sound = await searched(whole)
    assert len(sound.hits) == 4
    conn = sqlite3.connect(whole)
    size = conn.execute("pragma page_size").fetchone()[0]
    conn.close()
    less = 0
    for _, raw in damages(whole.read_bytes(), size):
        db.write_bytes(raw)
        if not whole_schema(db):
            continue  # there is nothing to search in
        page = await searched(db)
        if len(page.hits) < len(sound.hits):
            less += 1
            assert any("damaged" in notice or "cannot be read" in notice for notice in page.notices), page.notices
    assert less


def whole_schema(db: Path) -> bool:
    """Whether the names of tables and columns are left."""
    conn = sqlite3.connect(db)
    try:
        names = {name for (name,) in conn.execute("select name from sqlite_master")}
    except sqlite3.DatabaseError:
        return False
    finally:
        conn.close()
    return {"sessions", "messages"} <= names


async def searched(db: Path) -> SearchPage:
    """The last page of a search for a word that many messages hold."""
    service = SqliteSessionService([home_store(db.parent)])
    try:
        found = [page async for page in service.search(SearchQuery("plover"))][-1]
    finally:
        await service.close()
    assert found.final
    return found


def test_a_resume_that_cannot_look_says_so(tmp_path: Path) -> None:
    whole, db = tmp_path / "whole" / "state.db", tmp_path / "state.db"
    build(whole, 31)
    shutil.copy(whole, db)
    conn = sqlite3.connect(db)
    page = conn.execute("select rootpage from sqlite_master where name = 'messages'").fetchone()[0]
    size = conn.execute("pragma page_size").fetchone()[0]
    conn.close()
    with db.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(bytes(size))
    with opened(db) as store:
        plan = plan_resume(store, load_catalogue(store), "s03")
    states = {check.name: check.state for check in plan.checks}
    assert plan.argv == ("hermes", "-p", "default", "--resume", "s05")
    assert states["length"] is State.WARNING
    assert any("damaged" in notice for notice in plan.notices)


async def test_a_row_of_which_something_cannot_be_read_says_so(tmp_path: Path) -> None:
    db = tmp_path / "state.db"
    with StoreBuilder(db, fts=False, journal="delete") as store:
        for session in ("sound", "torn"):
            store.session(session)
            for n in range(60):
                store.message(session, "user", f"{session} {n} " + "x" * 700)
    raw = db.read_bytes()
    page = raw.index(b"torn 30 ") // 4096 * 4096
    db.write_bytes(raw[:page] + bytes(4096) + raw[page + 4096 :])
    service = SqliteSessionService([StoreRef("default", db, tmp_path, tmp_path)])
    try:
        details = await service.details([ConversationKey("default", each) for each in ("sound", "torn")])
    finally:
        await service.close()
    assert {key.root_id: (found.unread, found.message_count) for key, found in details.items()} == {
        "sound": (False, 60),
        "torn": (True, 60),
    }


def test_an_index_that_leads_to_the_wrong_rows_costs_no_transcript(tmp_path: Path) -> None:
    db = tmp_path / "state.db"
    with StoreBuilder(db, fts=False, journal="delete") as store:
        for session, parent in (("s1", None), ("s2", "s1"), ("s3", None)):
            store.session(session, parent=parent, end_reason="compression" if session == "s1" else None)
            for n in range(4):
                store.message(session, "user", f"{session} {n}", timestamp=1_780_000_000.0)
                store.message(session, "assistant", f"answer {n}")
    with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as conn:
        conn.execute("pragma writable_schema = on")
        kept = conn.execute("select * from sqlite_master where type = 'index' and tbl_name = 'messages'").fetchall()
        conn.execute("delete from sqlite_master where type = 'index' and tbl_name = 'messages'")
    with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as conn:
        conn.execute("update messages set session_id = 's3' where id in (1, 3)")  # no index follows
        conn.execute("pragma writable_schema = on")
        conn.executemany("insert into sqlite_master values (?, ?, ?, ?, ?)", kept)
    with opened(db) as store:
        catalogue = load_catalogue(store)
        shown = {
            message.id
            for chain in catalogue.all_chains()
            for message in load_messages(store, chain, list(load_outline(store, chain).ids))
        }
    assert shown >= set(range(1, 25)) - {1, 3}
