"""Opening: every kind of file that may lie where a store is expected, and what is left behind (R25 to R28)."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_tui.domain.profiles import StoreRef
from hermes_tui.errors import HermesTuiError, StoreBusy, StoreError, StoreMissing, StoreUnreadable
from hermes_tui.storage.connection import Store, open_store, translate
from tests.builders import SCHEMAS, StoreBuilder
from tests.states import interrupt, ordinary_user
from tests.watching import Statements


def ref(db: Path) -> StoreRef:
    return StoreRef("default", db, db.parent, db.parent)


@contextlib.contextmanager
def opened(db: Path) -> Iterator[Store]:
    store = open_store(ref(db))
    try:
        yield store
    finally:
        store.conn.close()


def titles(db: Path) -> list[str]:
    """What a reader sees."""
    with opened(db) as store:
        return [row[0] for row in store.conn.execute("select title from sessions order by rowid").fetchall()]


def make(db: Path, *, journal: str = "wal", schema: int = 31) -> Path:
    with StoreBuilder(db, schema, journal=journal) as store:
        store.session("s1", title="first")
        store.message("s1", "user", "hello")
    return db


def tree(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file below with size and modification time."""
    return {
        str(path.relative_to(folder)): (path.stat().st_size, path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def shared_folder() -> Iterator[Path]:
    """A folder that every user may enter; pytest's own are for one user alone."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def read_only(folder: Path) -> None:
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)


class TestWhatIsNoStore:
    """R28: one sentence that names the path and what to do; nothing is created."""

    def refused(self, db: Path, kind: type[StoreError], words: str) -> None:
        before = tree(db.parent) if db.parent.is_dir() else None
        with pytest.raises(kind, match=words) as failure:
            open_store(ref(db))
        assert str(db) in str(failure.value)
        assert "\n" not in str(failure.value)
        assert failure.value.exit_code == 3
        assert (tree(db.parent) if db.parent.is_dir() else None) == before

    def test_no_file(self, tmp_path: Path) -> None:
        self.refused(tmp_path / "state.db", StoreMissing, "no such file.*--db")

    def test_no_folder(self, tmp_path: Path) -> None:
        self.refused(tmp_path / "nowhere" / "state.db", StoreMissing, "no such file")
        assert not (tmp_path / "nowhere").exists()

    def test_a_folder(self, tmp_path: Path) -> None:
        (tmp_path / "state.db").mkdir()
        self.refused(tmp_path / "state.db", StoreUnreadable, "not a file")

    def test_below_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("x")
        with pytest.raises(StoreMissing):
            open_store(ref(tmp_path / "file" / "state.db"))

    def test_a_device(self) -> None:
        with pytest.raises(StoreUnreadable, match="not a file"):
            open_store(ref(Path("/dev/null")))

    def test_an_empty_file(self, tmp_path: Path) -> None:
        (tmp_path / "state.db").touch()
        self.refused(tmp_path / "state.db", StoreUnreadable, "empty")

    @pytest.mark.parametrize("content", [b"hello\n", b"just text " * 500, bytes(range(256)) * 40])
    def test_a_file_of_something_else(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "state.db").write_bytes(content)
        self.refused(tmp_path / "state.db", StoreUnreadable, "not a database")

    def test_another_database(self, tmp_path: Path) -> None:
        with contextlib.closing(sqlite3.connect(tmp_path / "state.db")) as conn:
            conn.execute("create table bookmarks (url text)")
            conn.commit()
        self.refused(tmp_path / "state.db", StoreUnreadable, "not one of Hermes.*--home")

    def test_a_database_without_tables(self, tmp_path: Path) -> None:
        with contextlib.closing(sqlite3.connect(tmp_path / "state.db")) as conn:
            conn.execute("pragma user_version = 3")
        self.refused(tmp_path / "state.db", StoreUnreadable, "not one of Hermes")

    @pytest.mark.parametrize("size", [99, 100, 4_096, 6_000])
    def test_a_file_cut_short(self, tmp_path: Path, size: int) -> None:
        db = make(tmp_path / "state.db", journal="delete")
        db.write_bytes(db.read_bytes()[:size])
        with pytest.raises(StoreUnreadable) as failure:
            open_store(ref(db))
        assert str(db) in str(failure.value)

    def test_a_file_that_may_not_be_read(self, shared_folder: Path) -> None:
        db = make(shared_folder / "state.db")
        db.chmod(0o000)
        with ordinary_user():
            self.refused(db, StoreUnreadable, "permission denied")

    def test_a_folder_that_may_not_be_entered(self, shared_folder: Path) -> None:
        db = make(shared_folder / "home" / "state.db")
        db.parent.chmod(0o000)
        with ordinary_user(), pytest.raises(StoreUnreadable, match="permission denied"):
            open_store(ref(db))
        db.parent.chmod(0o755)


def test_a_schema_that_is_no_text_is_damage(tmp_path: Path) -> None:
    db = make(tmp_path / "state.db")
    with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as conn:
        conn.execute("pragma writable_schema = on")
        broken = "create view broken as sel\xad\xff".encode("latin-1")
        conn.execute("insert into sqlite_master values ('view', 'broken', 'broken', 0, cast(? as text))", (broken,))
    with pytest.raises(StoreUnreadable, match="damaged") as failure:
        open_store(ref(db))
    assert str(db) in str(failure.value)


@pytest.mark.parametrize("schema", SCHEMAS)
def test_every_known_schema_opens(tmp_path: Path, schema: int) -> None:
    assert titles(make(tmp_path / "state.db", schema=schema)) == ["first"]


def test_an_unknown_newer_schema_opens(tmp_path: Path) -> None:
    db = make(tmp_path / "state.db")
    with contextlib.closing(sqlite3.connect(db)) as conn:
        conn.executescript(
            "update schema_version set version = 99; create table leases (x); alter table sessions add column mood;"
        )
    with opened(db) as store:
        assert store.schema.version == 99
        assert "mood" in store.schema.sessions
    assert titles(db) == ["first"]


@pytest.mark.parametrize(
    "name", ["a b", "what?", "half#way", "100%25", "sch:eme", "ünïcode 桂林", "quo'te\"d", "am&per=sand", "[x]"]
)
def test_any_folder_name_will_do(tmp_path: Path, name: str) -> None:
    assert titles(make(tmp_path / name / "state.db")) == ["first"]
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_relative_path_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path / "state.db")
    monkeypatch.chdir(tmp_path)
    assert titles(Path("state.db")) == ["first"]


def test_a_symlink_will_do(tmp_path: Path) -> None:
    make(tmp_path / "real" / "state.db")
    (tmp_path / "state.db").symlink_to(tmp_path / "real" / "state.db")
    assert titles(tmp_path / "state.db") == ["first"]


class TestBesideAWriter:
    """R25: what it committed is seen, what it owns is not touched."""

    @pytest.fixture
    def writer(self, tmp_path: Path) -> Iterator[sqlite3.Connection]:
        make(tmp_path / "state.db")
        conn = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
        conn.execute("pragma wal_autocheckpoint = 0")
        conn.execute("insert into sessions (id, source, title) values ('s2', 'cli', 'only in the WAL')")
        yield conn
        conn.close()

    def test_uncheckpointed_rows_are_seen_and_nothing_changes(
        self, tmp_path: Path, writer: sqlite3.Connection
    ) -> None:
        db = tmp_path / "state.db"
        files = [db, tmp_path / "state.db-wal", tmp_path / "state.db-shm"]
        before = [(hashlib.sha256(db.read_bytes()).hexdigest(), path.stat().st_ino) for path in files]
        changed = db.stat().st_mtime_ns, files[1].stat().st_mtime_ns
        for _ in range(3):
            assert titles(db) == ["first", "only in the WAL"]
        assert [(hashlib.sha256(db.read_bytes()).hexdigest(), path.stat().st_ino) for path in files] == before
        assert (db.stat().st_mtime_ns, files[1].stat().st_mtime_ns) == changed
        writer.execute("insert into sessions (id, source, title) values ('s3', 'cli', 'later')")
        assert titles(db)[-1] == "later"

    def test_a_reader_that_is_killed_leaves_the_writer_alone(
        self, tmp_path: Path, writer: sqlite3.Connection
    ) -> None:
        db = tmp_path / "state.db"
        code = (
            "import sys; from pathlib import Path; from tests.test_storage_connection import open_store, ref\n"
            "store = open_store(ref(Path(sys.argv[1])))\n"
            "store.conn.execute('begin'); store.conn.execute('select count(*) from sessions').fetchone()\n"
            "print('reading', flush=True); sys.stdin.read()"
        )
        reader = subprocess.Popen(
            [sys.executable, "-c", code, str(db)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert reader.stdout is not None
        assert reader.stdin is not None
        with reader:
            assert reader.stdout.readline() == "reading\n"
            reader.send_signal(signal.SIGKILL)
            reader.wait()
        inodes = [path.stat().st_ino for path in sorted(tmp_path.iterdir())]
        writer.execute("insert into sessions (id, source, title) values ('s3', 'cli', 'later')")
        assert writer.execute("pragma wal_checkpoint(truncate)").fetchone()[0] == 0
        assert titles(db) == ["first", "only in the WAL", "later"]
        assert [path.stat().st_ino for path in sorted(tmp_path.iterdir())] == inodes

    def test_no_read_lingers(self, tmp_path: Path, writer: sqlite3.Connection) -> None:
        with opened(tmp_path / "state.db") as store:
            store.conn.execute("select * from sessions").fetchall()
            assert writer.execute("pragma wal_checkpoint(truncate)").fetchone() == (0, 0, 0)

    def test_an_idle_store_gains_at_most_empty_sidecars(self, tmp_path: Path) -> None:
        db = make(tmp_path / "state.db")
        content = db.read_bytes()
        titles(db)
        assert db.read_bytes() == content
        assert {path.name for path in tmp_path.iterdir()} <= {"state.db", "state.db-wal", "state.db-shm"}
        assert not (tmp_path / "state.db-wal").exists() or (tmp_path / "state.db-wal").stat().st_size == 0

    def test_a_store_without_wal_gains_nothing(self, tmp_path: Path) -> None:
        db = make(tmp_path / "state.db", journal="delete")
        before = tree(tmp_path)
        titles(db)
        assert tree(tmp_path) == before


def test_nothing_can_be_written(tmp_path: Path, statements: Statements) -> None:
    writes = ["delete from sessions", "create table x (y)", "pragma user_version = 7"]
    with opened(make(tmp_path / "state.db")) as store:
        for statement in writes:
            with pytest.raises(sqlite3.OperationalError) as failure:
                store.conn.execute(statement)
            assert failure.value.sqlite_errorcode & 0xFF == sqlite3.SQLITE_READONLY
        assert store.conn.execute("pragma query_only").fetchone() == (1,)
        assert store.conn.execute("pragma temp_store").fetchone() == (2,), "what is sorted stays in memory"
        assert store.conn.execute("pragma cache_size").fetchone() == (-512,), "each thread has one of its own"
    assert set(statements.writing) <= set(writes)
    statements.writing.clear()


class TestReadOnlyFolders:
    """R26: another user's folder, a backup, a snapshot."""

    def test_a_quiet_wal_store_opens_and_nothing_is_created(self, shared_folder: Path) -> None:
        db = make(shared_folder / "state.db")
        read_only(shared_folder)
        with ordinary_user():
            with opened(db) as store:
                assert store.immutable
                assert store.notices == ()
            assert titles(db) == ["first"]
        assert [path.name for path in shared_folder.iterdir()] == ["state.db"]

    def test_a_store_without_wal_needs_nothing_special(self, shared_folder: Path) -> None:
        db = make(shared_folder / "state.db", journal="delete")
        read_only(shared_folder)
        with ordinary_user(), opened(db) as store:
            assert not store.immutable

    def test_a_live_wal_store_is_read_as_it_is(self, shared_folder: Path) -> None:
        db = make(shared_folder / "state.db")
        with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as writer:
            writer.execute("insert into sessions (id, source, title) values ('s2', 'cli', 'only in the WAL')")
            read_only(shared_folder)
            with ordinary_user(), opened(db) as store:
                assert not store.immutable
                assert store.conn.execute("select count(*) from sessions").fetchone() == (2,)

    @pytest.mark.parametrize("sidecars", ["wal unreadable", "no shm"])
    def test_a_wal_that_cannot_be_read_is_said(self, shared_folder: Path, sidecars: str) -> None:
        db = make(shared_folder / "live" / "state.db")
        with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as writer:
            writer.execute("insert into sessions (id, source, title) values ('s2', 'cli', 'only in the WAL')")
            snapshot = shared_folder / "snapshot"
            shutil.copytree(db.parent, snapshot)
        (snapshot / "state.db-shm").unlink()
        read_only(snapshot)
        if sidecars == "wal unreadable":
            (snapshot / "state.db-wal").chmod(0o000)
        with ordinary_user():
            with opened(snapshot / "state.db") as store:
                assert store.immutable
                assert ["may be missing" in notice for notice in store.notices] == [True]
            assert titles(snapshot / "state.db") == ["first"]
        assert sorted(path.name for path in snapshot.iterdir()) == ["state.db", "state.db-wal"]
        snapshot.chmod(0o755)

    def test_a_writable_folder_is_never_opened_immutable(self, tmp_path: Path) -> None:
        with opened(make(tmp_path / "state.db")) as store:
            assert not store.immutable


class TestHotJournals:
    @pytest.mark.parametrize("folder", ["writable", "read-only"])
    def test_hermes_is_to_finish_what_it_began(self, shared_folder: Path, folder: str) -> None:
        db = make(shared_folder / "state.db", journal="delete")
        interrupt(db)
        if folder == "read-only":
            read_only(shared_folder)
        before = tree(shared_folder)
        user = ordinary_user() if folder == "read-only" else contextlib.nullcontext()
        with user, pytest.raises(StoreUnreadable, match="start hermes once"):
            open_store(ref(db))
        assert tree(shared_folder) == before


class TestBusy:
    """R27: a lock that another process holds."""

    def test_an_exclusive_lock_is_busy(self, tmp_path: Path) -> None:
        db = make(tmp_path / "state.db", journal="delete")
        with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as writer:
            writer.execute("begin exclusive")
            with pytest.raises(StoreBusy, match="busy") as failure:
                open_store(ref(db))
            assert failure.value.exit_code == 3
            writer.execute("rollback")
        assert titles(db) == ["first"]

    def test_a_lock_lost_inside_an_index_is_busy_too(self) -> None:
        error = sqlite3.OperationalError("vtable constructor failed: messages_fts")
        error.sqlite_errorcode = sqlite3.SQLITE_BUSY
        assert isinstance(translate(error, ref(Path("/x/state.db"))), StoreBusy)

    @pytest.mark.parametrize(
        ("code", "words"),
        [
            (sqlite3.SQLITE_CORRUPT, "damaged"),
            (sqlite3.SQLITE_IOERR, "damaged"),
            (sqlite3.SQLITE_NOTADB, "not a database"),
            (sqlite3.SQLITE_CANTOPEN, "cannot be read"),
            (776, "start hermes once"),
        ],
    )
    def test_codes_decide_not_texts(self, code: int, words: str) -> None:
        error = sqlite3.DatabaseError("database is locked")
        error.sqlite_errorcode = code
        failure = translate(error, ref(Path("/x/state.db")))
        assert isinstance(failure, HermesTuiError)
        assert words in str(failure)
        assert "/x/state.db" in str(failure)


class TestAsTimeGoesOn:
    def test_another_file_under_the_same_name_is_noticed(self, tmp_path: Path) -> None:
        db = make(tmp_path / "state.db", journal="delete")
        with opened(db) as store:
            assert store.fresh()
            os.replace(make(tmp_path / "other.db", journal="delete"), db)
            assert not store.fresh()
            db.unlink()
            assert not store.fresh()

    def test_a_changed_schema_is_probed_again(self, tmp_path: Path) -> None:
        db = make(tmp_path / "state.db", schema=14)
        with opened(db) as store, contextlib.closing(sqlite3.connect(db, isolation_level=None)) as writer:
            assert store.schema.session("pinned") == "null"
            writer.execute("alter table sessions add column pinned integer")
            store.refresh()
            assert store.schema.session("pinned") == "s.pinned"

    def test_text_that_is_no_utf8_is_read(self, tmp_path: Path) -> None:
        db = make(tmp_path / "state.db")
        with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as writer:
            writer.execute("update sessions set title = cast(x'66ff6f' as text)")
        assert titles(db) == ["f\ufffdo"]
