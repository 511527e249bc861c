"""Ways in which a store can be wrong, drawn by lot: cells, schema, index tables, header, pages, length, WAL.

A mutation changes the file it is given and says in a few words what it did. Every one of them is what a disk, a
crash, an older or newer Hermes, another program or a mischievous hand could leave behind.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import sqlite3
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_JSON = (
    "",
    "null",
    "[]",
    "{",
    "[1",
    '"x"',
    "[null]",
    '{"a": 1}',
    "[[[]]]",
    '[{"id": 5}]',
    '[{"function": 7}]',
    "NaN",
)
_JSON += ('[{"id": "c", "function": {"name": null, "arguments": []}}]', '[{"function": {"arguments": "{"}}]', "1e999")
_TEXTS = (
    "[/]",
    "[red]hi[/blue]",
    "\x1b]0;pwned\x07",
    "\x1b[2J\x9b31m",
    "\u202eevil\u2066",
    "a\x00b",
    "%s%n{0}",
    "--json",
)
_TEXTS += (
    "../../etc/passwd",
    "@session:../x/y",
    "$(touch /tmp/pwned)",
    "ZWJ 👨‍👩‍👧‍👦",
    "e\u0301" * 500,
    "x" * 1_000_000,
    "\r\n" * 300,
)
_NUMBERS = (
    0,
    -1,
    1,
    2**31,
    2**63 - 1,
    -(2**63),
    1e308,
    -1e308,
    1e-320,
    float("inf"),
    float("-inf"),
    0.1,
    253402300800.0,
)
_BYTES = (
    b"",
    b"\xff\xfe\xfd",
    b"\x00",
    b"\xed\xa0\x80",
    b"\xc3\x28",
    b"\xf8\x88\x80\x80\x80",
    b"\x00json:{",
    bytes(5_000),
)
_NAMES = (("x", "id", ""), ("messages", "x y", "sessions"), ("hidden", "active", "[/]"))
"""What a column, a table and a new column may be called."""
_META = {
    "fts_stale": "1",
    "fts_rebuild_high_water": "1000",
    "fts_rebuild_progress": "40",
    "fts_storage_version": "3",
    "fts_optimize_available": "1",
}


@contextlib.contextmanager
def _writing(db: Path) -> Iterator[sqlite3.Connection]:
    """A connection that may do what SQLite would rather refuse."""
    with contextlib.closing(sqlite3.connect(db, isolation_level=None, timeout=5)) as conn:
        conn.text_factory = lambda raw: raw.decode("utf-8", "replace")
        yield conn


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _value(chance: random.Random) -> tuple[str, Any]:
    """An expression with one place, and what goes into it."""
    draw = chance.randrange(7)
    if draw == 0:
        return "?", None
    if draw == 1:
        return "?", chance.choice(_NUMBERS)
    if draw == 2:
        return "?", chance.choice(_BYTES)
    if draw == 3:
        return "cast(? as text)", chance.choice(_BYTES)
    if draw == 4:
        deep = chance.choice(("[", '{"a":', '[{"function":')) * chance.choice((100, 2_000, 60_000))
        return "?", chance.choice(("", "\x00json:")) + chance.choice((*_JSON, deep))
    if draw == 5:
        parts = [chance.choice((*_TEXTS[:-2], *_JSON)) for _ in range(3)]
        part = {"type": chance.choice(("text", "image_url", "tool", 5)), "text": chance.choice((None, *parts))}
        return "?", "\x00json:" + json.dumps(chance.choice((part, [part, parts], parts, {"text": part})))
    return "?", chance.choice(_TEXTS)


def cells(db: Path, chance: random.Random) -> str:
    """Values of any kind in any column of a few rows."""
    told = []
    with _writing(db) as conn:
        if chance.random() < 0.5:  # with triggers the indexes follow, without them they lie
            for (name,) in conn.execute("select name from sqlite_master where type = 'trigger'").fetchall():
                conn.execute(f"drop trigger {_quoted(name)}")
        tables = ["sessions", "sessions", "messages", "messages", *_tables(conn)]
        for _ in range(chance.randrange(1, 30)):
            table = chance.choice(tables)
            columns = [row[1] for row in conn.execute(f"pragma table_info({_quoted(table)})")]
            column = chance.choice(columns or ["rowid"])
            hole, value = _value(chance)
            which = "" if chance.random() < 0.1 else f"where abs(rowid * 7919 + {chance.randrange(97)}) % 97 < 3"
            done = f"update or ignore {_quoted(table)} set {_quoted(column)} = {hole} {which}"
            with contextlib.suppress(sqlite3.Error, OverflowError):
                conn.execute(done, (value,))
                told.append(f"{table}.{column}")
    return "cells " + " ".join(told)


def _tables(conn: sqlite3.Connection) -> list[str]:
    found = conn.execute("select name from sqlite_master where type = 'table' and name not like 'sqlite%'")
    return [name for (name,) in found]


def schema(db: Path, chance: random.Random) -> str:
    """Tables, columns, indexes, triggers and views that are gone, renamed, doubled, or of another kind."""
    told = []
    with _writing(db) as conn:
        for _ in range(chance.randrange(1, 6)):
            found = conn.execute("select type, name, sql from sqlite_master where name not like 'sqlite%'").fetchall()
            if not found:
                break
            kind, name, _ = chance.choice(found)
            table = name if kind == "table" else chance.choice(["sessions", "messages"])
            columns = [row[1] for row in conn.execute(f"pragma table_info({_quoted(table)})")] or ["x"]
            column = _quoted(chance.choice(columns))
            to, other, new = (_quoted(chance.choice(names)) for names in _NAMES)
            done = chance.choice(
                (
                    f"drop {kind} {_quoted(name)}",
                    f"alter table {_quoted(table)} drop column {column}",
                    f"alter table {_quoted(table)} rename column {column} to {to}",
                    f"alter table {_quoted(table)} rename to {other}",
                    f"alter table {_quoted(table)} add column {new} blob",
                    f"create table {_quoted(chance.choice(('sessions', 'messages', 'extra')))} (a, b)",
                    f"create view {_quoted(chance.choice(('sessions', 'messages')))} as select 1 as id",
                    f"delete from {_quoted(table)}",
                    "delete from schema_version",
                    f"update schema_version set version = {chance.choice((99, -1, 'null', repr('x')))}",
                )
            )
            with contextlib.suppress(sqlite3.Error):
                conn.execute(done)
                told.append(done)
        if chance.random() < 0.3:
            told.append(_rewritten(conn, chance))
    return "schema " + "; ".join(told)


def _rewritten(conn: sqlite3.Connection, chance: random.Random) -> str:
    """The text of the schema itself, changed behind SQLite's back."""
    kind, name, sql = chance.choice(
        conn.execute("select type, name, sql from sqlite_master where sql > ''").fetchall()
    )
    at = chance.randrange(len(sql))
    changed = chance.choice((sql[:at], sql[:at] + "\x00" + sql[at:], sql[:at] + "x" + sql[at + 1 :], "", "select 1"))
    with contextlib.suppress(sqlite3.Error):
        conn.execute("pragma writable_schema = on")
        conn.execute("update sqlite_master set sql = ? where type = ? and name = ?", (changed, kind, name))
    return f"schema text of {name} at {at}"


def indexes(db: Path, chance: random.Random) -> str:
    """Search indexes that lack rows, hold garbage, or say that they are half-built."""
    told = []
    with _writing(db) as conn:
        names = conn.execute(
            "select name from sqlite_master where type = 'table' and name like 'messages_fts%'"
        ).fetchall()
        for _ in range(chance.randrange(1, 4)):
            name = chance.choice(names)[0] if names else "messages_fts"
            columns = [row[1] for row in conn.execute(f"pragma table_info({_quoted(name)})")] or ["x"]
            rows = f"where abs(rowid * 31 + {chance.randrange(9)}) % 9 < {chance.randrange(1, 9)}"
            done, values = chance.choice(
                (
                    (f"delete from {_quoted(name)} {rows}", ()),
                    (
                        f"update {_quoted(name)} set {_quoted(chance.choice(columns))} = ? {rows}",
                        (chance.randbytes(40),),
                    ),
                    (f"update {_quoted(name)} set {_quoted(columns[-1])} = zeroblob(3) {rows}", ()),
                    ("insert into messages_fts(messages_fts) values ('delete-all')", ()),
                    (f"drop table {_quoted(name)}", ()),
                )
            )
            with contextlib.suppress(sqlite3.Error):
                conn.execute("pragma writable_schema = on")
                conn.execute(done, values)
                told.append(done)
        for key in chance.sample(sorted(_META), chance.randrange(3)):
            value = chance.choice((_META[key], "", "x", "-5", "9" * 30, None))
            with contextlib.suppress(sqlite3.Error):
                conn.execute("insert or replace into state_meta (key, value) values (?, ?)", (key, value))
                told.append(f"{key}={value}")
    return "indexes " + "; ".join(told)


def family(db: Path, chance: random.Random) -> str:
    """Parents that make loops, ladders and knots of the sessions."""
    with _writing(db) as conn:
        ids = [row[0] for row in conn.execute("select id from sessions")]
        chance.shuffle(ids)
        for one, other in zip(ids, ids[1:] + ids[:1], strict=True):
            if chance.random() < 0.6:
                reason = chance.choice(("compression", "compression", "session_reset", "branched", None, "x"))
                parent = chance.choice((other, other, one, "__orphaned__", ""))
                sql = "update sessions set parent_session_id = ?, end_reason = ? where id = ?"
                with contextlib.suppress(sqlite3.Error):
                    conn.execute(sql, (parent, reason, one))
    return f"family of {len(ids)}"


def _patched(db: Path, at: int, new: bytes) -> None:
    with db.open("r+b") as file:
        file.seek(at)
        file.write(new)


def _page_size(db: Path) -> int:
    with db.open("rb") as file:
        size = int(struct.unpack(">H", file.read(18)[16:18])[0])
    return size if size > 1 else 65_536


def header(db: Path, chance: random.Random) -> str:
    """A field of the first hundred bytes."""
    at = chance.choice(
        (0, 16, 18, 19, 20, 21, 24, 28, 32, 36, 40, 44, 52, 56, 60, 64, 68, 92, 96, chance.randrange(100))
    )
    new = chance.choice((b"\0", b"\xff", b"\x01", b"\x02", bytes(4), b"\xff" * 4, chance.randbytes(2)))
    _patched(db, at, new)
    return f"header at {at} {new.hex()}"


def some_bytes(db: Path, chance: random.Random) -> str:
    """Bytes here and there."""
    size = db.stat().st_size
    number = chance.choice((1, 5, 50, 400))
    for _ in range(number):
        _patched(db, chance.randrange(100, size), chance.randbytes(chance.choice((1, 1, 4, 60))))
    return f"{number} places"


def cell_bytes(db: Path, chance: random.Random) -> str:
    """The heads and cell pointers of pages, where a wrong byte leads furthest."""
    size, page = db.stat().st_size, _page_size(db)
    number = chance.choice((1, 4, 20))
    for _ in range(number):
        at = chance.randrange(max(1, size // page)) * page + chance.randrange(24)
        if at >= 100:
            _patched(db, at, bytes([chance.choice((0, 1, 2, 5, 10, 13, 255, chance.randrange(256)))]))
    return f"{number} page heads"


def pages(db: Path, chance: random.Random) -> str:
    """Whole pages lost, scrambled, or written in the place of another."""
    size = _page_size(db)
    count = max(2, db.stat().st_size // size)
    told = []
    for _ in range(chance.choice((1, 1, 3, 12))):
        to = chance.randrange(1, count)
        draw = chance.randrange(3)
        if draw == 2:
            with db.open("rb") as file:
                file.seek(chance.randrange(count) * size)
                new = file.read(size)
        else:
            new = chance.randbytes(size) if draw else bytes(size)
        _patched(db, to * size, new)
        told.append(str(to))
    return "pages " + " ".join(told)


def length(db: Path, chance: random.Random) -> str:
    """Cut short or grown, at a page's edge or not."""
    size, page = db.stat().st_size, _page_size(db)
    to = chance.choice(
        (0, 1, 99, 100, 511, page, page + 1, chance.randrange(size), size // page // 2 * page, size - page)
    )
    to = chance.choice((to, to, to, size + page, size + 7))
    os.truncate(db, to)
    return f"length {size} → {to}"


def wal(db: Path, chance: random.Random) -> str:
    """A WAL that was never checkpointed, whole, cut or damaged, with or without a stale `-shm`."""
    aside = db.with_name("aside.db")
    shutil.copy(db, aside)
    with _writing(aside) as conn:
        conn.execute("pragma journal_mode = wal")
        conn.execute("pragma wal_autocheckpoint = 0")
        for number in range(chance.randrange(1, 4)):
            with contextlib.suppress(sqlite3.Error):
                conn.execute("update sessions set title = ? || id where rowid % 3 = ?", (f"wal {number} ", number))
        for suffix in ("", "-wal", "-shm"):
            shutil.copy(f"{aside}{suffix}", f"{db}{suffix}")
    for suffix in ("", "-wal", "-shm"):
        aside.with_name(aside.name + suffix).unlink(missing_ok=True)
    log = db.with_name(db.name + "-wal")
    if chance.random() < 0.5:
        db.with_name(db.name + "-shm").unlink(missing_ok=True)
    told = chance.choice(("whole", "cut", "bytes", "head", "shm"))
    if told == "cut":
        os.truncate(log, chance.randrange(log.stat().st_size + 1))
    elif told in ("bytes", "head") and log.stat().st_size:
        for _ in range(5):
            _patched(log, chance.randrange(32 if told == "head" else log.stat().st_size), chance.randbytes(2))
    elif told == "shm":
        shared = db.with_name(db.name + "-shm")
        shared.write_bytes(chance.randbytes(32_768))
    return f"wal {told}"


def journal(db: Path, chance: random.Random) -> str:
    """A rollback journal that somebody left behind: hot, cut, or nonsense."""
    aside = db.with_name("aside.db")
    shutil.copy(db, aside)
    left = db.with_name(db.name + "-journal")
    with _writing(aside) as conn:
        conn.execute("pragma journal_mode = delete")
        conn.execute("pragma cache_size = 2")
        with contextlib.suppress(sqlite3.Error):
            conn.execute("begin immediate")
            conn.execute("update messages set content = content || 'torn'")
            conn.execute("update sessions set source = source || 'torn'")
        hot = aside.with_name(aside.name + "-journal")
        if hot.exists():
            shutil.copy(hot, left)
            shutil.copy(aside, db)
        with contextlib.suppress(sqlite3.Error):
            conn.execute("rollback")
    aside.unlink()
    told = chance.choice(("hot", "cut", "nonsense", "empty"))
    if told == "cut" and left.exists():
        os.truncate(left, chance.randrange(left.stat().st_size + 1))
    elif told in ("nonsense", "empty"):
        left.write_bytes(chance.randbytes(600) if told == "nonsense" else b"")
    return f"journal {told}"


Mutation = Callable[[Path, random.Random], str]
IN_ROWS: tuple[Mutation, ...] = (cells, cells, cells, schema, schema, indexes, indexes, family)
"""Done through SQLite: what comes after finds a sound file."""
IN_BYTES: tuple[Mutation, ...] = (header, some_bytes, cell_bytes, cell_bytes, pages, pages, length, wal, journal)
"""Done behind its back."""


def mutate(db: Path, chance: random.Random) -> list[str]:
    """One to three of them, rows before bytes; what was done."""
    chosen = [chance.choice(IN_ROWS) for _ in range(chance.choice((0, 1, 1, 2)))]
    if not chosen or chance.random() < 0.5:
        chosen.append(chance.choice(IN_BYTES))
    told = []
    for each in chosen:
        try:
            told.append(each(db, chance))
        except (sqlite3.Error, OSError) as error:
            told.append(f"{each.__name__} no more: {error}")  # the one before left nothing to work on
    return told
