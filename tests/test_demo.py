"""The sample store: complete, the same each time, and shaped as Hermes shapes its own."""

from __future__ import annotations

import contextlib
import re
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hermes_tui.demo import schema, write_demo
from hermes_tui.domain.families import Catalogue
from hermes_tui.domain.messages import EVENTS
from hermes_tui.domain.sessions import Kind
from hermes_tui.errors import UsageError
from hermes_tui.storage.catalogue import load_catalogue
from hermes_tui.storage.connection import open_store
from tests import real_stores

PRESENT = 1_796_040_000.0


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    ref = write_demo(tmp_path / "demo", PRESENT)
    opened = sqlite3.connect(ref.db)
    yield opened
    opened.close()


def catalogue(folder: Path) -> Catalogue:
    store = open_store(write_demo(folder, PRESENT))
    try:
        return load_catalogue(store)
    finally:
        store.conn.close()


def test_it_opens_like_any_other_store_and_cannot_be_resumed(tmp_path: Path) -> None:
    ref = write_demo(tmp_path / "demo", PRESENT)
    assert (ref.profile, ref.home, ref.root) == ("default", tmp_path / "demo", tmp_path / "demo")
    assert not ref.resumable
    assert "demo" in ref.why_not


def test_it_holds_about_sixty_conversations_over_a_year(tmp_path: Path) -> None:
    found = catalogue(tmp_path / "demo").conversations
    assert 55 <= len(found) <= 65
    active = [row.last_active for row in found if row.last_active is not None]
    assert max(active) <= PRESENT
    assert PRESENT - max(active) < 600
    assert 300 < (PRESENT - min(row.started_at or PRESENT for row in found)) / 86_400 < 366


def test_every_kind_of_relative_is_there(tmp_path: Path) -> None:
    chains = {chain.root.id: chain for chain in catalogue(tmp_path / "demo").chains.values()}.values()
    kinds = Counter(chain.kind for chain in chains)
    assert set(kinds) == {Kind.ROOT, Kind.BRANCH, Kind.RESET, Kind.DELEGATE, Kind.SIBLING, Kind.ORPHAN}
    assert max(len(chain.segments) for chain in chains) >= 3


@pytest.mark.parametrize(
    "condition",
    [
        "active = 0 and compacted = 0",
        "active = 0 and compacted = 1",
        "_compressed_summary = 1",
        "reasoning is not null",
        "codex_message_items is not null",
        "content like char(0) || 'json:%' or instr(content, 'image_url')",
        "role = 'session_meta'",
        "finish_reason = 'error'",
        "role = 'tool' and length(content) > 8192",
        "instr(content, char(27) || '[31m')",
        "instr(content, '@session:default/')",
        "instr(content, '```python')",
        "instr(content, '|---')",
        *(f"display_kind = '{kind}'" for kind in ("hidden", *sorted(EVENTS))),
        "role = 'assistant' and tool_calls is not null and id = (select max(id) from messages m "
        "where m.session_id = messages.session_id)",
    ],
)
def test_every_shape_of_message_is_there(conn: sqlite3.Connection, condition: str) -> None:
    assert conn.execute(f"select count(*) from messages where {condition}").fetchone()[0] > 0


@pytest.mark.parametrize(
    "condition",
    [
        "source = 'cron'",
        "source = 'kanban'",
        "source = 'tool'",
        "source = 'oneshot'",
        "pinned = 1",
        "archived = 1",
        "hidden = 1",
        "rewind_count > 0",
        "title is null and message_count > 0",
        "message_count = 0",
        "unicode(title) > 0x1f000",
        "unicode(title) between 0x4e00 and 0x9fff",
        "unicode(title) between 0xac00 and 0xd7a3",
        "cwd is null",
        "git_branch is not null",
        "chat_id is not null",
        "ended_at is null",
    ],
)
def test_every_shape_of_session_is_there(conn: sqlite3.Connection, condition: str) -> None:
    assert conn.execute(f"select count(*) from sessions where {condition}").fetchone()[0] > 0


def test_copies_are_one_message(conn: sqlite3.Connection) -> None:
    copies = conn.execute("select count(*) from messages group by message_uid having count(*) > 1").fetchall()
    assert copies
    assert not conn.execute("select 1 from messages where message_uid is null or display_order is null").fetchall()


def test_the_indexes_agree_with_the_messages(conn: sqlite3.Connection) -> None:
    for table in ("messages_fts", "messages_fts_trigram"):
        conn.execute(f"insert into {table}({table}, rank) values ('integrity-check', 1)")
    assert conn.execute("pragma integrity_check").fetchone() == ("ok",)


def dump(folder: Path) -> list[str]:
    opened = sqlite3.connect(folder / "state.db")
    try:
        return [line for line in opened.iterdump() if "_data" not in line]
    finally:
        opened.close()


def test_the_same_present_gives_the_same_store(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_demo(tmp_path / name, PRESENT)
    assert dump(tmp_path / "one") == dump(tmp_path / "two")
    write_demo(tmp_path / "later", PRESENT + 86_400)
    assert dump(tmp_path / "later") != dump(tmp_path / "one")


def test_a_link_into_the_demo_leads_there_the_next_time_too(tmp_path: Path) -> None:
    """All through the day: times move with the present, ids do not."""
    ids = []
    for hours in (0, 1, 5):
        db = write_demo(tmp_path / str(hours), PRESENT + hours * 3_601).db
        with contextlib.closing(sqlite3.connect(db)) as conn:
            ids.append(sorted(conn.execute("select id from sessions").fetchall()))
    assert ids[0] == ids[1] == ids[2]
    assert all(re.fullmatch(r"(cron_[0-9a-f]{12}_)?\d{8}_\d{6}(_[0-9a-f]{6,8})?", id) for (id,) in ids[0])


def test_a_folder_with_something_else_in_it_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=str(tmp_path)):
        write_demo(tmp_path, PRESENT)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_store_of_hermes_is_something_else(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "state.db").executescript("create table state_meta (key, value)")
    with pytest.raises(UsageError):
        write_demo(tmp_path, PRESENT)
    (tmp_path / "state.db").write_text("no database at all")
    with pytest.raises(UsageError):
        write_demo(tmp_path, PRESENT)


def test_a_demo_that_lies_there_already_is_opened_again(tmp_path: Path) -> None:
    first = write_demo(tmp_path / "demo", PRESENT)
    before = dump(tmp_path / "demo")
    assert write_demo(tmp_path / "demo", PRESENT + 1_000_000) == first
    assert dump(tmp_path / "demo") == before


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot hold the demo"):
        write_demo(tmp_path / "file" / "demo", PRESENT)


def shape(conn: sqlite3.Connection) -> dict[tuple[str, str], Any]:
    """Every table with its columns, every index with its columns and condition, every trigger and view by name."""
    found: dict[tuple[str, str], Any] = {}
    for kind, name, table, sql in conn.execute("select type, name, tbl_name, sql from sqlite_master").fetchall():
        if kind == "table":
            found[kind, name] = [row[1:] for row in conn.execute(f"pragma table_xinfo({name})")]
        elif kind == "index":
            columns = [row[2:] for row in conn.execute(f"pragma index_xinfo({name})")]
            condition = (sql or "").lower().partition("where")[2]
            found[kind, name] = (columns, condition.replace("(", " ").replace(")", " ").split())
        else:
            found[kind, name] = table
    return found


@pytest.mark.real
class TestBesideHermes:
    """The same tables, indexes and triggers as a store that Hermes 0.22.2 made, and the same behaviour."""

    @pytest.fixture
    def stores(self, tmp_path: Path) -> Iterator[tuple[sqlite3.Connection, sqlite3.Connection]]:
        """Both empty: ours from its DDL, and a copy of a real one without its rows."""
        shutil.copy(real_stores.store_home(real_stores.LATEST) / "state.db", tmp_path / "real.db")
        real = sqlite3.connect(tmp_path / "real.db", isolation_level=None)
        ours = sqlite3.connect(":memory:", isolation_level=None)
        for statement in schema.statements():
            ours.execute(statement)
        real.execute("delete from messages")
        real.execute("delete from sessions")
        real.execute("delete from sqlite_sequence")
        yield ours, real
        ours.close()
        real.close()

    def test_tables_columns_indexes_and_triggers_are_the_same(
        self, stores: tuple[sqlite3.Connection, sqlite3.Connection]
    ) -> None:
        ours, real = (shape(conn) for conn in stores)
        assert ours.keys() == real.keys()
        for key in ours:
            assert ours[key] == real[key], key

    def test_triggers_do_the_same(self, stores: tuple[sqlite3.Connection, sqlite3.Connection]) -> None:
        assert behave(stores[0]) == behave(stores[1])


_COPY = """insert into messages (session_id, role, content, timestamp, display_identity)
    values ('a', 'user', 'twice', 3.0, x'01')"""
_STEPS = (
    "insert into sessions (id, source, started_at) values ('a', 'cli', 1.0), ('c', 'cron', 1.0)",
    """insert into sessions (id, source, started_at, model_config)
        values ('d', 'cli', 1.0, '{"_delegate_from": "a"}'), ('x', 'telegram', 1.0, '{broken')""",
    *(
        f"insert into messages (session_id, role, content, tool_name, tool_calls, timestamp) "
        f"values ('{session}', '{role}', '{session}{role} walnut {'deep ' * 2_000}needle', 'term', '[calls]', 2.0)"
        for session in "acdx"
        for role in ("user", "tool")
    ),
    _COPY,
    _COPY,
    "update messages set content = 'chestnut' where id = 1",
    "update messages set role = 'tool' where id = 3",
    "update messages set role = 'user' where id = 2",
    "update messages set content = content where id = 4",
    "update messages set active = 0 where id = 9",
    "update messages set active = 1 where id = 9",
    "update messages set active = 0, compacted = 1 where id = 10",
    "delete from messages where id = 9",
    "delete from messages where id = 5",
    "insert or replace into state_meta values ('fts_rebuild_high_water', '100'), ('fts_rebuild_progress', '3')",
    "insert into messages (session_id, role, content, timestamp) values ('a', 'user', 'in the gap', 4.0)",
    "update messages set content = 'pistachio' where id = 1",
    "update messages set content = 'pistachio' where id = 7",
    "delete from messages where id = 2",
    "delete from state_meta where key like 'fts_rebuild%'",
    """insert into messages (session_id, role, content, timestamp, message_uid)
        values ('a', 'user', 'after', 5.0, 'u')""",
)
_WORDS = ("walnut", "chestnut", "pistachio", "needle", "term", "calls", "gap", "after", "deep")


def behave(conn: sqlite3.Connection) -> list[Any]:
    """What the indexes find and how copies are ordered after each of these changes."""
    seen: list[Any] = []
    for step in _STEPS:
        conn.execute(step)
        found = {
            (table, word): conn.execute(f"select rowid from {table} where {table} match ?", (word,)).fetchall()
            for table in ("messages_fts", "messages_fts_trigram")
            for word in _WORDS
        }
        rows = conn.execute(
            """
            select id, role, length(content), active, compacted, display_order, display_identity,
                message_uid is not null and length(message_uid) in (1, 32)
            from messages order by id
            """
        ).fetchall()
        sizes = [
            conn.execute(f"select count(*) from {t}_docsize").fetchone()
            for t in ("messages_fts", "messages_fts_trigram")
        ]
        seen.append((step, found, rows, sizes))
    return seen
