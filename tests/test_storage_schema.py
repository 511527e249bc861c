"""What a store looks like is read off its own DDL: columns, and the layout of its full-text indexes (R29)."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

from hermes_tui.domain.profiles import StoreRef
from hermes_tui.errors import StoreUnreadable
from hermes_tui.storage.connection import open_store
from hermes_tui.storage.schema import Schema, probe
from tests.builders import SCHEMAS, StoreBuilder
from tests.real_stores import SCHEMAS as SCHEMA_OF


def probed(db: Path) -> Schema:
    store = open_store(StoreRef("default", db, db.parent, db.parent))
    store.conn.close()
    return store.schema


def test_a_store_that_hermes_wrote(real_home: Path, release: str) -> None:
    found = probed(real_home / "state.db")
    assert found.version == SCHEMA_OF[release]
    assert set(found.fts) == {"messages_fts", "messages_fts_trigram"}
    assert all(index.complete_triggers for index in found.fts.values())
    base, trigram = found.fts["messages_fts"], found.fts["messages_fts_trigram"]
    assert (base.tokenizer, trigram.tokenizer) == ("unicode61", "trigram")
    if release == "0.22.2":
        assert base.columns == ("content", "tool_name", "tool_calls")
        assert (base.content, trigram.content) == ("messages_fts_src", "messages_fts_trigram_src")
        assert "8192" in base.view_sql
    else:
        assert base.columns == trigram.columns == ("content",)
        assert base.content is None
        assert base.view_sql == ""


@pytest.mark.parametrize("schema", SCHEMAS)
def test_columns_that_are_not_there_are_null(tmp_path: Path, schema: int) -> None:
    with StoreBuilder(tmp_path / "state.db", schema):
        pass
    found = probed(tmp_path / "state.db")
    assert found.session("title") == "s.title"
    assert found.session("archived", "x") == ("x.archived" if schema >= 14 else "null")
    assert found.session("pinned", default="0") == ("s.pinned" if schema >= 31 else "0")
    assert found.message("compacted") == ("m.compacted" if schema >= 22 else "null")


def test_an_upgraded_store_keeps_its_old_indexes(tmp_path: Path) -> None:
    """`schema_version` says nothing about the layout."""
    with StoreBuilder(tmp_path / "state.db", 22) as store:
        store.conn.execute("update schema_version set version = 31")
    found = probed(tmp_path / "state.db")
    assert found.version == 31
    assert found.fts["messages_fts"].columns == ("content",)


def test_an_index_on_the_table_itself(tmp_path: Path) -> None:
    with StoreBuilder(tmp_path / "state.db", fts=False) as store:
        store.conn.execute("commit")
        store.conn.execute(
            "create virtual table messages_fts using fts5("
            "content, tool_name, tool_calls, content=messages, content_rowid=id, prefix='2 3')"
        )
    index = probed(tmp_path / "state.db").fts["messages_fts"]
    assert index.columns == ("content", "tool_name", "tool_calls")
    assert (index.content, index.view_sql, index.tokenizer) == ("messages", "", "unicode61")


def test_a_tokenizer_that_is_not_here_is_never_asked(tmp_path: Path) -> None:
    """Any statement that names such a table fails; its DDL can still be read."""
    with StoreBuilder(tmp_path / "state.db") as store:
        store.conn.execute("commit")
        store.conn.execute("pragma writable_schema = on")
        store.conn.execute(
            "insert into sqlite_master (type, name, tbl_name, rootpage, sql) values ('table', 'messages_fts_cjk', "
            "'messages_fts_cjk', 0, ?)",
            ("create virtual table messages_fts_cjk using fts5(content, tokenize='cjk_unicode61')",),
        )
    index = probed(tmp_path / "state.db").fts["messages_fts_cjk"]
    assert (index.tokenizer, index.columns, index.complete_triggers) == ("cjk_unicode61", ("content",), False)


@pytest.mark.parametrize("verb", ["insert", "delete", "update"])
def test_a_missing_trigger_is_seen(tmp_path: Path, verb: str) -> None:
    with StoreBuilder(tmp_path / "state.db") as store:
        store.conn.execute(f"drop trigger messages_fts_{verb}")
    found = probed(tmp_path / "state.db")
    assert not found.fts["messages_fts"].complete_triggers
    assert found.fts["messages_fts_trigram"].complete_triggers


def test_no_indexes_at_all(tmp_path: Path) -> None:
    with StoreBuilder(tmp_path / "state.db", fts=False):
        pass
    assert probed(tmp_path / "state.db").fts == {}


@pytest.mark.parametrize("content", ["'x'", "null", None])
def test_a_version_that_is_no_number(tmp_path: Path, content: str | None) -> None:
    with StoreBuilder(tmp_path / "state.db") as store:
        store.conn.execute("delete from schema_version")
        if content:
            store.conn.execute("alter table schema_version rename to old")
            store.conn.execute("create table schema_version (version)")
            store.conn.execute(f"insert into schema_version values ({content})")
    assert probed(tmp_path / "state.db").version is None


def test_a_foreign_database_has_no_columns() -> None:
    with contextlib.closing(sqlite3.connect(":memory:")) as conn:
        conn.execute("create table bookmarks (url)")
        found = probe(conn)
    assert (found.version, found.sessions, found.messages, found.fts) == (None, frozenset(), frozenset(), {})


def test_names_in_capitals_and_columns_that_are_reckoned_are_known() -> None:
    with contextlib.closing(sqlite3.connect(":memory:")) as conn:
        conn.execute("create table SESSIONS (ID text, named text, title text generated always as (named) virtual)")
        conn.execute("create table Messages (id integer primary key, Content text)")
        found = probe(conn)
    assert found.sessions == {"id", "named", "title"}
    assert found.messages == {"id", "content"}


def test_a_version_that_is_told_otherwise_is_none() -> None:
    with contextlib.closing(sqlite3.connect(":memory:")) as conn:
        conn.execute("create table schema_version (number integer)")
        assert probe(conn).version is None


def test_messages_whose_ids_are_texts_are_not_those_of_a_hermes(tmp_path: Path) -> None:
    with StoreBuilder(tmp_path / "state.db", fts=False) as store:
        columns = ", ".join(name for name in store.message_columns if name != "id")
        store.conn.execute("drop table messages")
        store.conn.execute(f"create table messages (id text primary key, {columns})")
    with pytest.raises(StoreUnreadable, match=r"lacks messages\.id"):
        probed(tmp_path / "state.db")
