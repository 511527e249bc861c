"""Open a store read-only and turn SQLite's errors into ours.

The database is never opened as a plain file: closing such a descriptor would drop the locks that this
process holds on it (FACTS 8). Result codes decide, never message texts: in DELETE mode a lost lock inside an
FTS5 constructor reads "vtable constructor failed".
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import methodcaller
from pathlib import Path
from typing import TypedDict

from hermes_tui.domain.profiles import StoreRef
from hermes_tui.errors import (
    HermesTuiError,
    StoreBusy,
    StoreError,
    StoreMissing,
    StoreUnreadable,
)
from hermes_tui.storage.holders import barring
from hermes_tui.storage.schema import Schema, probe
from hermes_tui.values import dataclass, field

trace: Callable[[str], None] | None = None
"""For tests: told of every statement that any connection runs."""

busy_seconds = 5.0
"""How long a store that another process holds is asked again before it counts as busy; tests wait less."""

_BUSY_MS = 100
"""SQLite's own wait for a lock; short, because it cannot be interrupted. The reader asks again."""
_CACHE_KB = 512
"""Pages that a connection holds on to. The system has them all the same, and takes no longer: a question goes through
pages once, and four times as many, which SQLite would hold for each of our threads, make none faster."""
_FOLDER_CODES = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY})
_HOT_JOURNAL = 776  # SQLITE_READONLY_ROLLBACK, which Python 3.11 does not name on every build


NEEDED_OF_SESSIONS = ("id", "source", "parent_session_id", "started_at", "ended_at", "end_reason")
NEEDED_OF_MESSAGES = (
    "id", "session_id", "role", "content", "tool_call_id", "tool_calls", "tool_name", "timestamp",
)  # fmt: skip
"""Columns that every release has had, and no question can do without; every other one may be missing."""


def never() -> bool:
    """Nobody stops what runs."""
    return False


@dataclass(slots=True)
class Store:
    """An open store: one connection, used by one thread at a time."""

    ref: StoreRef
    conn: sqlite3.Connection
    schema: Schema
    notices: tuple[str, ...]
    """What the person should know about how it was opened."""
    identity: tuple[int, int]
    """(device, inode): another file under the same name is another store."""
    immutable: bool = False
    stopped: Callable[[], bool] = never
    """Whether nobody waits for the answer any more: asked by loops that run outside SQLite."""
    memory: dict[tuple[str, ...], tuple[int, object]] = field(default_factory=dict)
    """What one reading keeps for the next, each with the `version` that it belongs to."""

    searching: dict[str, tuple[object, object]] = field(default_factory=dict)
    """What one search keeps for the next, each with what it was made from."""

    hurt: int = 0
    """How often an answer went on without what a damaged page holds."""

    def forgive(self, error: sqlite3.Error) -> None:
        """Go on after damage, and remember that there was some; any other error is raised."""
        if not is_damage(error):
            raise error
        self.hurt += 1

    def fresh(self) -> bool:
        """Whether the file under this name is still the one that is open."""
        return _identity(self.ref.db) == self.identity

    def version(self) -> int:
        """Another number whenever another process has written to the store."""
        return int(self.conn.execute("pragma data_version").fetchone()[0])

    def refresh(self) -> None:
        """Probe again when another process has changed the schema."""
        cookie = int(self.conn.execute("pragma schema_version").fetchone()[0])
        if cookie != self.schema.cookie:
            self.schema = probe(self.conn)


@contextmanager
def decoding(store: Store, how: Callable[[bytes], object]) -> Iterator[None]:
    """Texts are read like this meanwhile. `str` is SQLite's own way, the fastest, and ends where one is not UTF-8
    (`is_undecoded`)."""
    kept, store.conn.text_factory = store.conn.text_factory, how
    try:
        yield
    finally:
        store.conn.text_factory = kept


def _identity(path: Path) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return (0, 0)
    return (found.st_dev, found.st_ino)


_decode: Callable[[bytes], str] = methodcaller("decode", "utf-8", "replace")
"""Called for every text that is read: a function of Python's own would take twice as long."""


def _connect(db: Path, *, immutable: bool) -> sqlite3.Connection:
    uri = Path(os.path.abspath(db)).as_uri() + ("?immutable=1" if immutable else "?mode=ro")
    conn = sqlite3.connect(uri, uri=True, timeout=_BUSY_MS / 1_000, isolation_level=None, check_same_thread=False)
    try:
        if trace is not None:
            conn.set_trace_callback(trace)
        conn.text_factory = _decode
        conn.execute("pragma query_only = on")
        conn.execute("pragma temp_store = memory")  # nothing of what is stored goes to other files, not even sorted
        conn.execute(f"pragma cache_size = -{_CACHE_KB}")
        conn.execute("select 1 from sqlite_master limit 1").fetchone()
    except sqlite3.Error:
        conn.close()
        raise
    except UnicodeDecodeError as error:
        # What SQLite has to say of a damaged schema quotes the damage.
        conn.close()
        damage = sqlite3.DatabaseError("malformed database schema")
        damage.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise damage from error
    return conn


def open_store(ref: StoreRef) -> Store:
    """Open and probe. Raises `StoreError` with the sentence to show; creates nothing but, beside an idle
    WAL store in a writable folder, SQLite's own empty `-wal` and `-shm`."""
    _check_file(ref)
    identity = _identity(ref.db)
    immutable, notices = False, []
    try:
        conn = _connect(ref.db, immutable=False)
    except sqlite3.Error as error:
        if not _read_only_folder(ref, error):
            raise _not_opened(error, ref) from error
        immutable = True
        if _has_wal(ref.db):
            notices.append(
                f"Recent messages may be missing: {ref.db.name}-wal cannot be read in a folder that is read-only."
            )
        try:
            conn = _connect(ref.db, immutable=True)
        except sqlite3.Error as again:
            raise _not_opened(again, ref) from again
    try:
        schema = probe(conn)
        encoding = str(conn.execute("pragma encoding").fetchone()[0])
    except sqlite3.Error as error:
        conn.close()
        raise _not_opened(error, ref) from error
    if (strange := _strange(schema, encoding)) is not None:
        conn.close()
        raise StoreUnreadable(f"{ref.db} is {strange}. Name another with --db or --home.", **_where(ref))
    return Store(ref, conn, schema, tuple(notices), identity, immutable)


def _not_opened(error: sqlite3.Error, ref: StoreRef) -> HermesTuiError:
    """Damage that leaves nothing to go on with is said otherwise than damage that costs a page."""
    if not is_damage(error):
        return translate(error, ref)
    sentence = f"{ref.db} is damaged where all reading begins ({error}): nothing of it can be shown."
    return StoreUnreadable(f"{sentence} Name another with --db or --home.", **_where(ref))


def _strange(schema: Schema, encoding: str) -> str | None:
    """What is wrong with a database whose tables are not those of a Hermes, or its texts: bytes of others than UTF-8
    would be searched in vain."""
    if "id" not in schema.sessions or "session_id" not in schema.messages:
        return "a database, but not one of Hermes: it has no sessions and messages"
    lacking = [f"sessions.{each}" for each in NEEDED_OF_SESSIONS if each not in schema.sessions]
    lacking += [f"messages.{each}" for each in NEEDED_OF_MESSAGES if each not in schema.messages]
    if lacking:
        return f"not a store of any Hermes that is known: it lacks {', '.join(lacking)}"
    return None if encoding == "UTF-8" else f"not a store of any Hermes that is known: its texts are in {encoding}"


class _Where(TypedDict):
    db: Path
    profile: str


def _where(ref: StoreRef) -> _Where:
    return {"db": ref.db, "profile": ref.profile}


def _check_file(ref: StoreRef) -> None:
    db, where = ref.db, _where(ref)
    try:
        found = os.stat(db)
    except PermissionError as error:
        raise StoreUnreadable(f"{db} cannot be read: permission denied.", **where) from error
    except (OSError, ValueError) as error:
        raise StoreMissing(
            f"No Hermes history at {db}: there is no such file. Name another with --db, --home or -p, "
            "or look around with --demo.",
            **where,
        ) from error
    if not os.path.isfile(db):
        raise StoreUnreadable(f"{db} is not a file. Name the database itself with --db.", **where)
    if found.st_size == 0:
        raise StoreUnreadable(f"{db} is empty: Hermes has written nothing into it yet.", **where)
    if not os.access(db, os.R_OK):
        raise StoreUnreadable(f"{db} cannot be read: permission denied.", **where)


def _read_only_folder(ref: StoreRef, error: sqlite3.Error) -> bool:
    code = getattr(error, "sqlite_errorcode", 0)
    if code & 0xFF not in _FOLDER_CODES or code == _HOT_JOURNAL:
        return False
    return not os.access(ref.db.parent, os.W_OK)


def _has_wal(db: Path) -> bool:
    try:
        return os.stat(f"{db}-wal").st_size > 0
    except OSError:
        return False


def is_busy(error: sqlite3.Error) -> bool:
    """Another process is in the way, and asking again helps."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_interrupt(error: sqlite3.Error) -> bool:
    """We stopped it ourselves."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_INTERRUPT


def is_disk_error(error: sqlite3.Error) -> bool:
    """The file could not be read just now; only if that stays is it damage."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_IOERR


def is_damage(error: sqlite3.Error) -> bool:
    """A page, a cell or an index cannot be read; others may."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_IOERR)


def is_undecoded(error: sqlite3.Error) -> bool:
    """A text is not UTF-8, which the `sqlite3` module says by itself: SQLite knows nothing of it."""
    return not hasattr(error, "sqlite_errorcode") and "UTF-8" in str(error)


def exhausted(ref: StoreRef) -> StoreUnreadable:
    """For SQLite's wish for more memory than there is: here all but certainly a page that names a wrong size."""
    return StoreUnreadable(
        f"{ref.db} is damaged here (a page asks for more memory than there is); reading goes on elsewhere.",
        **_where(ref),
    )


def translate(error: sqlite3.Error, ref: StoreRef) -> HermesTuiError:
    """The failure that a user can act on."""
    code = getattr(error, "sqlite_errorcode", 0)
    where = _where(ref)
    failure: StoreError
    if code == _HOT_JOURNAL:
        failure = StoreUnreadable(
            f"{ref.db} was left in the middle of a change: start hermes once, so that it can finish it.",
            **where,
        )
    elif is_busy(error):
        holder = barring(ref.db) or "another process"
        sentence = f"{ref.db} is busy: {holder} is writing. Try again in a moment."
        failure = StoreBusy(sentence, holder=holder, **where)
    elif code & 0xFF == sqlite3.SQLITE_NOTADB:
        failure = StoreUnreadable(f"{ref.db} is not a database. Name another with --db or --home.", **where)
    elif is_damage(error):
        failure = StoreUnreadable(f"{ref.db} is damaged here ({error}); reading goes on elsewhere.", **where)
    else:
        failure = StoreUnreadable(f"{ref.db} cannot be read: {error}. Name another with --db or --home.", **where)
    return failure
