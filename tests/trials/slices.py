"""A small store cut from one that Hermes wrote: its own schema, triggers and indexes, of the rows only some.

The whole ones hold messages of megabytes; a trial that makes a copy for each of thousands of damages wants
every shape and little bulk.
"""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

_LONGEST = 20_000
"""Bytes of a row's text; longer rows stay behind."""
_SPECIAL = 8
"""Messages kept of each session."""
_MADE_BY_FTS = """
select name from sqlite_master where type = 'table' and exists (
    select 1 from sqlite_master v where v.sql like 'create virtual table%'
    and sqlite_master.name <> v.name and sqlite_master.name like v.name || '\\_%' escape '\\'
    and substr(sqlite_master.name, length(v.name) + 2) in ('data', 'idx', 'content', 'docsize', 'config'))
"""


def cut(source: Path, to: Path, *, journal: str = "delete") -> None:
    """Write the small store; `source` is only read."""
    to.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as whole:
        whole.text_factory = bytes
        shadows = {name for (name,) in whole.execute(_MADE_BY_FTS)}
        made = whole.execute("select type, name, sql from sqlite_master where sql is not null order by rowid")
        parts = [(kind.decode(), name, sql.decode()) for kind, name, sql in made if name not in shadows]
        with contextlib.closing(sqlite3.connect(to, isolation_level=None)) as small:
            _write(whole, small, parts)
            small.execute(f"pragma journal_mode = {journal}")


def _write(whole: sqlite3.Connection, small: sqlite3.Connection, parts: list[tuple[str, bytes, str]]) -> None:
    for pragma in ("page_size", "application_id", "user_version"):
        small.execute(f"pragma {pragma} = {whole.execute(f'pragma {pragma}').fetchone()[0]}")
    small.execute("begin")
    for wanted in ("table", "index", "view", "trigger"):
        for kind, name, sql in parts:
            if kind == wanted and not name.startswith(b"sqlite_"):
                small.execute(sql)
    for kind, name, sql in parts:
        if kind == "table" and not name.startswith(b"sqlite_") and not sql.lower().startswith("create virtual"):
            _fill(whole, small, name.decode())
    small.execute("commit")


def _fill(whole: sqlite3.Connection, small: sqlite3.Connection, table: str) -> None:
    columns = [row[1].decode() for row in whole.execute(f"pragma table_info({table})")]
    size = " + ".join(f"coalesce(length(cast({column} as blob)), 0)" for column in columns)
    of_messages = (
        f"and id in (select id from (select id, row_number() over (partition by session_id order by id) as n"
        f" from messages) where n <= {_SPECIAL})"
    )
    # What is taken as it is stays as it is: text that is no UTF-8 comes as bytes and is written as text.
    told = ", ".join(f"typeof({column}), {column}" for column in columns)
    sql = f"select {told} from {table} where {size} <= {_LONGEST} {of_messages if table == 'messages' else ''}"
    known = {row[1]: row for row in small.execute(f"pragma table_info({table})")}
    names = [column for column in columns if column in known]
    for row in whole.execute(sql):
        kinds, values = row[::2], row[1::2]
        holes = ", ".join("cast(? as text)" if kind == b"text" else "?" for kind in kinds)
        small.execute(f"insert or replace into {table} ({', '.join(names)}) values ({holes})", values)
