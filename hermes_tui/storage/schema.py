"""What this store looks like: probed once a connection, so that no query names a column that is not there."""

from __future__ import annotations

import re
import sqlite3
from functools import lru_cache

from hermes_tui.values import dataclass

_CONTENT = r"(?i)content\s*=\s*['\"]?([A-Za-z0-9_]*)"
_TOKENIZE = r"(?is)tokenize\s*=\s*(['\"])(.*?)\1"
_COLUMNS = r"(?is)fts5\s*\((.*)\)"
"""Compiled when an index is looked at: a list is there without."""
Ddl = tuple[str, str, str, str]
"""Kind, name and table of something that exists, and the statement that made it."""


@dataclass(frozen=True, slots=True)
class FtsTable:
    """One full-text index, read off its DDL: never asked through the table, whose tokenizer may be missing."""

    name: str
    columns: tuple[str, ...]
    content: str | None
    """Table or view that holds the text; None for an inline index."""
    tokenizer: str
    triggers: frozenset[str]
    """Of insert, delete, update: those that exist."""
    view_sql: str
    """DDL of the view behind it, "" when there is none: what the index leaves out stands there."""

    @property
    def complete_triggers(self) -> bool:
        return len(self.triggers) == 3


@dataclass(frozen=True, slots=True)
class Schema:
    """Tables, columns and indexes that exist. Column order means nothing: upgrades append."""

    version: int | None
    """`schema_version`; says nothing about the layout of the full-text indexes."""
    cookie: int
    """SQLite's own schema counter: when it moves, probe again."""
    tables: frozenset[str]
    sessions: frozenset[str]
    messages: frozenset[str]
    indexes: frozenset[str]
    ddl: tuple[Ddl, ...]

    @property
    def fts(self) -> dict[str, FtsTable]:
        """The full-text indexes by name."""
        return _fts(self.ddl)

    def session(self, column: str, alias: str = "s", default: str = "null") -> str:
        """`s.column`, or `default` where this store has no such column."""
        return f"{alias}.{column}" if column in self.sessions else default

    def message(self, column: str, alias: str = "m", default: str = "null") -> str:
        """`m.column`, or `default` where this store has no such column."""
        return f"{alias}.{column}" if column in self.messages else default


def probe(conn: sqlite3.Connection) -> Schema:
    """Read the schema. Raises sqlite3.Error as it comes; a foreign database gives empty column sets."""
    cookie = int(conn.execute("pragma schema_version").fetchone()[0])
    rows = conn.execute("select type, name, tbl_name, coalesce(sql, '') from sqlite_master").fetchall()
    tables = frozenset(name.lower() for kind, name, _, _ in rows if kind == "table")
    return Schema(
        version=_version(conn) if "schema_version" in tables else None,
        cookie=cookie,
        tables=tables,
        sessions=_columns(conn, "sessions") if "sessions" in tables else frozenset(),
        messages=_columns(conn, "messages") if "messages" in tables else frozenset(),
        indexes=frozenset(name for kind, name, _, _ in rows if kind == "index"),
        ddl=tuple(rows),
    )


def _version(conn: sqlite3.Connection) -> int | None:
    """What the store says of itself; None also where it says so otherwise than is known, or the page that says it is
    damaged: columns are probed."""
    try:
        found = conn.execute("select max(version) from schema_version").fetchone()
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR):
            raise
        return None
    return found[0] if found and isinstance(found[0], int) else None


def _columns(conn: sqlite3.Connection, table: str) -> frozenset[str]:
    """Generated ones too. Messages are told apart by numbers: an id that is a text is none."""
    found = {str(row[1]).lower(): str(row[2]).upper() for row in conn.execute(f"pragma table_xinfo({table})")}
    if table == "messages" and any(kind in found.get("id", "") for kind in ("TEXT", "CHAR", "CLOB")):
        del found["id"]
    return frozenset(found)


@lru_cache(maxsize=16)
def _fts(rows: tuple[Ddl, ...]) -> dict[str, FtsTable]:
    triggers = {name for kind, name, _, _ in rows if kind == "trigger"}
    views = {name: sql for kind, name, _, sql in rows if kind == "view"}
    found = {}
    for kind, name, _, sql in rows:
        if kind != "table" or "fts5" not in sql.lower() or not name.startswith("messages_fts"):
            continue
        body = re.search(_COLUMNS, sql)
        parts = [part.strip() for part in body[1].split(",")] if body else []
        content = re.search(_CONTENT, sql)
        tokenizer = re.search(_TOKENIZE, sql)
        source = content[1] if content and content[1] else None
        found[name] = FtsTable(
            name=name,
            columns=tuple(part.split()[0] for part in parts if part and "=" not in part),
            content=source,
            tokenizer=tokenizer[2] if tokenizer else "unicode61",
            triggers=frozenset(verb for verb in ("insert", "delete", "update") if f"{name}_{verb}" in triggers),
            view_sql=views.get(source or "", ""),
        )
    return found
