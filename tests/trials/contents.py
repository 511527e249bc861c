"""What a store holds, as digests: of every table's rows, whatever pages they lie on."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from pathlib import Path

_SEGMENTS = ("_data", "_idx", "_config")
"""Ends of the names of an index's own tables, which hold the same in many ways."""


def content(db: Path) -> dict[str, str]:
    """Table → digest of its rows; every column, in the order of the rows."""
    found = {}
    with contextlib.closing(sqlite3.connect(f"{db.resolve().as_uri()}?mode=ro", uri=True)) as conn:
        conn.text_factory = bytes
        tables = [name.decode() for (name,) in conn.execute("select name from sqlite_master where type = 'table'")]
        for table in sorted(tables):
            if table.startswith("messages_fts") and table.endswith(_SEGMENTS):
                continue
            digest = hashlib.sha256()
            for row in conn.execute(f'select * from "{table}"'):
                digest.update(repr(row).encode())
            found[table] = digest.hexdigest()
    return found


def sound(db: Path) -> list[str]:
    """What SQLite's own checks say of a copy's pages and search indexes; nothing when all is well."""
    with contextlib.closing(sqlite3.connect(db)) as conn:
        told = [line for (line,) in conn.execute("pragma integrity_check") if line != "ok"]
        virtual = "select name from sqlite_master where sql like 'create virtual table%using fts5%'"
        for (name,) in conn.execute(virtual).fetchall():
            try:
                conn.execute(f"insert into {name}({name}) values ('integrity-check')")
            except sqlite3.DatabaseError as error:
                told.append(f"{name}: {error}")
        conn.rollback()
    return told
