"""Every way in which a store can be, each made by code in a home of its own.

A maker is given an empty folder and leaves a home in it; what goes on meanwhile (a lock, a replacement) it does
as a context manager, and undoes at its end.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from tests.builders import StoreBuilder

Maker = Callable[[Path], AbstractContextManager[Path]]
DB = "state.db"
IDS = ("s0", "s1", "s2")
SEED = 20261203


def well(home: Path, *, schema: int = 31, journal: str = "delete", filler: int = 0) -> Path:
    """Three conversations, each with a walnut in it; the state that all others are made of. The database."""
    with StoreBuilder(home / DB, schema, journal=journal) as store:
        for n, id in enumerate(IDS):
            store.session(id, title=f"Talk {n}", model_config={"n": n})
            store.message(id, "user", f"walnut number {n}")
            for i in range(filler):
                store.message(id, "user", f"filler {n} {i} " + "y" * 600)
            calls = [{"id": f"c{n}", "function": {"name": "look", "arguments": "{}"}}]
            store.message(id, "assistant", f"answer {n}", tool_calls=calls)
            store.message(id, "tool", f"heron {n}", tool_call_id=f"c{n}", tool_name="look")
    return home / DB


def still(make: Callable[[Path], object]) -> Maker:
    """A maker of what does not move."""

    @contextmanager
    def made(home: Path) -> Iterator[Path]:
        make(home)
        yield home

    made.__doc__ = make.__doc__
    made.__name__ = make.__name__  # type: ignore[attr-defined]  # of the function that is returned
    return made


def sql(home: Path, script: str, **options: object) -> None:
    """Change the store that lies there."""
    well(home, **options)  # type: ignore[arg-type]  # options of `well`
    with contextlib.closing(sqlite3.connect(home / DB, isolation_level=None)) as conn:
        conn.executescript(script)


# what is no store


def nothing(home: Path) -> None:
    home.rmdir()


def folder(home: Path) -> None:
    (home / DB).mkdir()


def empty(home: Path) -> None:
    (home / DB).touch()


def text(home: Path) -> None:
    (home / DB).write_text("Dear diary,\n" * 500)


def garbage_behind_a_header(home: Path) -> None:
    (home / DB).write_bytes(b"SQLite format 3\x00" + random.Random(SEED).randbytes(20_000))


def foreign(home: Path) -> None:
    with contextlib.closing(sqlite3.connect(home / DB)) as conn:
        conn.executescript("create table bookmarks (url text); insert into bookmarks values ('x')")


def cut_short(home: Path) -> None:
    raw = well(home, filler=40).read_bytes()
    (home / DB).write_bytes(raw[: len(raw) // 2])


def forbidden(home: Path) -> None:
    well(home).chmod(0o000)


# damage


def _wipe(home: Path, name: str, kind: str, *, filler: int = 40, which: int = 1) -> None:
    """Overwrite a page of this table or index."""
    db = well(home, filler=filler)
    with contextlib.closing(sqlite3.connect(db)) as conn:
        ask = "select pageno from dbstat where name = ? and pagetype = ? order by pageno limit 1 offset ?"
        (page,) = conn.execute(ask, (name, kind, which)).fetchone()
        (size,) = conn.execute("pragma page_size").fetchone()
    with db.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(random.Random(SEED).randbytes(size))


def damaged_messages(home: Path) -> None:
    _wipe(home, "messages", "leaf", which=3)


def damaged_sessions(home: Path) -> None:
    _wipe(home, "sessions", "leaf", which=0)


def damaged_index(home: Path) -> None:
    _wipe(home, "idx_messages_session_id", "leaf", which=0)


def damaged_fts(home: Path) -> None:
    _wipe(home, "messages_fts_data", "leaf", which=0)


# cells


def bad_utf8(home: Path) -> None:
    sql(
        home,
        "update sessions set title = cast(x'ff54616c6bc328' as text) where id = 's1';"
        "update messages set content = cast(x'77616c6e757420fffe' as text) where session_id = 's1' and id % 3 = 1;",
    )


def wrong_types(home: Path) -> None:
    """In every column of a row of its own: a blob, a number, a text."""
    with StoreBuilder(home / DB, journal="delete") as store:
        values = (b"\x00\xff\x1b[2J", 7, -1.5e300, "nonsense", "")
        for column in store.session_columns:
            for n, value in enumerate(values if column != "id" else ()):
                id = store.session(f"w-{column}-{n}")
                store.message(id, "user", "walnut")
                with contextlib.suppress(sqlite3.IntegrityError):  # a title is unique
                    store.conn.execute(f"update sessions set {column} = ? where id = ?", (value, id))
        store.session("messages")
        for column in store.message_columns:
            for value in values if column not in ("id", "session_id") else ():
                at = store.message("messages", "user", "walnut")
                store.conn.execute(f"update messages set {column} = ? where id = ?", (value, at))


def absurd_times(home: Path) -> None:
    times = ("9e999", "-9e999", "-1", "1e18", "'yesterday'", "x'00'", "null", "4.2e9 + 1", "0")
    with StoreBuilder(home / DB, journal="delete") as store:
        for n, value in enumerate(times):
            store.session(f"t{n}", title=f"Time {n}")
            at = store.message(f"t{n}", "user", "walnut")
            columns = ", ".join(f"{name} = {value}" for name in ("started_at", "ended_at", "last_activity_at"))
            store.conn.execute(f"update sessions set {columns} where id = ?", (f"t{n}",))
            store.conn.execute(f"update messages set timestamp = {value} where id = ?", (at,))


JSON_OF_SESSIONS = ("model_config", "origin_json", "tool_names", "handoff_state")
JSON_OF_MESSAGES = (
    "tool_calls", "display_metadata", "absorbed_message_uids", "tool_call_uids",
    "reasoning_details", "codex_reasoning_items", "codex_message_items",
)  # fmt: skip
BROKEN_JSON = (
    "{",
    '"x',
    "[1,",
    "null",
    "[[[]]]",
    '{"a": NaN}',
    "[" * 3_000,
    '"\\ud800"',
    '{"a":1,"a":2}',
    "7",
    "\x00",
)


def broken_json(home: Path) -> None:
    """In every column that holds JSON, and in structured content."""
    well(home)
    with contextlib.closing(sqlite3.connect(home / DB, isolation_level=None)) as conn:
        conn.execute("begin")
        for n, value in enumerate(BROKEN_JSON):
            for column in JSON_OF_SESSIONS:
                conn.execute(
                    f"insert into sessions (id, source, {column}) values (?, 'cli', ?)", (f"{column}{n}", value)
                )
                ask = "insert into messages (session_id, role, content) values (?, 'user', 'walnut')"
                conn.execute(ask, (f"{column}{n}",))
            for column in JSON_OF_MESSAGES:
                ask = f"insert into messages (session_id, role, content, {column}) values ('s1', 'assistant', 'x', ?)"
                conn.execute(ask, (value,))
            ask = "insert into messages (session_id, role, content) values ('s1', 'user', ?)"
            conn.execute(ask, ("\x00json:" + value,))
        conn.execute("commit")


def nulls(home: Path) -> None:
    with StoreBuilder(home / DB, journal="delete") as store:
        store.session("bare")
        store.message("bare", "user", "walnut")
        store.conn.execute(
            "update sessions set " + ", ".join(f"{c} = null" for c in store.session_columns if c != "id")
        )
        kept = ("id", "session_id")
        for _ in range(3):
            at = store.message("bare", "user", "walnut")
            gone = ", ".join(f"{c} = null" for c in store.message_columns if c not in kept)
            store.conn.execute(f"update messages set {gone} where id = ?", (at,))


# schemas


def no_extras(home: Path) -> None:
    """Neither indexes nor notes: sessions and messages alone."""
    well(home)
    with contextlib.closing(sqlite3.connect(home / DB, isolation_level=None)) as conn:
        kinds = conn.execute("select type, name from sqlite_master where type in ('trigger', 'view', 'index')")
        for kind, name in kinds.fetchall():
            if not name.startswith("sqlite_"):
                conn.execute(f"drop {kind} {name}")
        for name in ("messages_fts", "messages_fts_trigram", "state_meta", "schema_version"):
            conn.execute(f"drop table {name}")


def few_columns(home: Path) -> None:
    """Less than any release ever had."""
    with contextlib.closing(sqlite3.connect(home / DB)) as conn:
        conn.executescript(
            "create table sessions (id text primary key, source text, title text, started_at real);"
            "create table messages (id integer primary key, session_id text, role text, content text);"
            "insert into sessions values ('s0', 'cli', 'Talk 0', 1780000000);"
            "insert into messages values (1, 's0', 'user', 'walnut')"
        )


def no_messages_table(home: Path) -> None:
    with contextlib.closing(sqlite3.connect(home / DB)) as conn:
        conn.executescript("create table sessions (id text primary key, source text, title text)")


def sixteen_bits(home: Path) -> None:
    """All is there, its texts in another encoding."""
    with contextlib.closing(sqlite3.connect(home / DB)) as conn:
        conn.executescript("pragma encoding = 'UTF-16le'; create table loose (x)")
    well(home)


def oldest(home: Path) -> None:
    well(home, schema=11)


def newer(home: Path) -> None:
    sql(
        home,
        "update schema_version set version = 99; create table runtime_epoch (x);"
        "alter table sessions add column mood text; alter table messages add column weight real;",
    )


# files


def symlink(home: Path) -> None:
    well(home / "elsewhere")
    (home / DB).symlink_to(home / "elsewhere" / DB)


def dangling_symlink(home: Path) -> None:
    (home / DB).symlink_to(home / "nowhere" / DB)


def hot_journal(home: Path) -> None:
    """A writer was killed in the middle of a change."""
    interrupt(well(home))


def interrupt(db: Path) -> None:
    """Leave a journal that must be rolled back."""
    code = (
        "import os, signal, sqlite3, sys\n"
        "conn = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "conn.execute('pragma cache_size = 2')\n"
        "conn.execute('begin')\n"
        "conn.execute('update sessions set title = title || ?', ('x' * 100,))\n"
        "rows = ((str(i), 'y' * 500) for i in range(500))\n"
        "conn.executemany('insert into sessions (id, source) values (?, ?)', rows)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(db)], check=False)
    assert db.with_name(db.name + "-journal").stat().st_size > 0


def _with_wal(home: Path) -> None:
    """A copy of a store whose newest conversation is in the log alone, without the index of that log."""
    db = well(home / "live", journal="wal")
    with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as writer:
        writer.execute("pragma wal_autocheckpoint = 0")
        writer.execute(
            "insert into sessions (id, source, title, started_at) values ('s3', 'cli', 'Talk 3', 1780000999)"
        )
        writer.execute("insert into messages (session_id, role, content) values ('s3', 'user', 'walnut')")
        for suffix in ("", "-wal"):
            shutil.copy(f"{db}{suffix}", home / f"{DB}{suffix}")
    shutil.rmtree(home / "live")


def wal_without_shm(home: Path) -> None:
    _with_wal(home)


def idle_wal(home: Path) -> None:
    well(home, journal="wal")


# what goes on meanwhile


@contextmanager
def live_writer(home: Path) -> Iterator[Path]:
    """In WAL mode, with something that is not in the database file yet."""
    db = well(home, journal="wal")
    with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as writer:
        writer.execute("pragma wal_autocheckpoint = 0")
        writer.execute(
            "insert into sessions (id, source, title, started_at) values ('s3', 'cli', 'Talk 3', 1780000999)"
        )
        writer.execute("insert into messages (session_id, role, content) values ('s3', 'user', 'walnut')")
        writer.execute("begin immediate")
        yield home


@contextmanager
def locked(home: Path) -> Iterator[Path]:
    """Another process keeps everybody out."""
    code = (
        "import sqlite3, sys\nconn = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "conn.execute('begin exclusive')\nprint('holding', flush=True)\nsys.stdin.read()"
    )
    argv = [sys.executable, "-c", code, str(well(home))]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"holding\n"
        yield home
        process.stdin.close()


@contextmanager
def read_only(home: Path, make: Callable[[Path], object]) -> Iterator[Path]:
    """Somebody else's folder."""
    make(home)
    for path in home.iterdir():
        path.chmod(path.stat().st_mode & 0o444)
    home.chmod(0o555)
    with ordinary_user():
        yield home
    home.chmod(0o755)


NOBODY = 65_534


@contextmanager
def ordinary_user() -> Iterator[None]:
    """Not root for a while: root may write anywhere."""
    if os.geteuid() != 0:
        yield
        return
    os.setresgid(NOBODY, NOBODY, 0)
    os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)
        os.setresgid(0, 0, 0)
