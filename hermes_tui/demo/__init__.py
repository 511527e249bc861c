"""The sample store: about sixty conversations of one Ada over a year, with every shape that a real store has.

Nothing here is read by the rest of the program; the store that comes out is opened like any other.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from pathlib import Path

from hermes_tui.demo import drills, machines, schema, scripts, writing
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.errors import UsageError
from hermes_tui.paths import DATABASE, DEFAULT

_OURS = frozenset({DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", f"{DATABASE}-journal", "runtime"})
_MARK = "hermes_tui_demo"
_LIVE = "docker"
"""The conversation that this process is taking part in, so to speak."""
_WHY_NOT = "this is the demo, and hermes has never heard of its sessions"


def write_demo(folder: Path, present: float) -> StoreRef:
    """Write the store into `folder`, or take the one that an earlier run left there.

    The same `present` gives the same store. Raises `UsageError` when something else lies in the folder.
    """
    db = folder / DATABASE
    live = _lying_there(folder)
    if live is None:
        conn = sqlite3.connect(db, isolation_level=None)
        try:
            for pragma in ("journal_mode = memory", "synchronous = off", "foreign_keys = off"):
                conn.execute(f"pragma {pragma}")
            conn.execute("begin")
            live = _fill(conn, present)
            conn.execute("commit")
            conn.execute("pragma journal_mode = delete")
        finally:
            conn.close()
    with contextlib.suppress(OSError):  # in a folder that has become read-only, then, nobody is live
        _register(folder, live, present)
    return StoreRef(DEFAULT, db, folder, folder, resumable=False, why_not=_WHY_NOT)


def _lying_there(folder: Path) -> str | None:
    """The live session of a demo that lies there already; the folder is made when it does not exist."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = set(os.listdir(folder))
    except OSError as error:
        raise UsageError(f"{folder} cannot hold the demo: {error.strerror}") from error
    if not there:
        return None
    live = _mark(folder / DATABASE) if there <= _OURS and DATABASE in there else None
    if live is not None:
        return live
    raise UsageError(f"{folder} holds something else; --demo-dir wants a new or an empty folder")


def _mark(db: Path) -> str | None:
    """What `_fill` wrote into it; None when this is not our work."""
    try:
        conn = sqlite3.connect(f"{db.absolute().as_uri()}?mode=ro", uri=True)
    except sqlite3.Error:
        return None
    try:
        found = conn.execute("select value from state_meta where key = ?", (_MARK,)).fetchone()
    except sqlite3.Error:
        return None  # not a store of this kind
    finally:
        conn.close()
    return None if found is None else str(found[0])


def _fill(conn: sqlite3.Connection, present: float) -> str:
    """Tables, rows and indexes; returns the id of the live session."""
    for statement in schema.statements():
        conn.execute(statement)
    conn.execute("insert into schema_version (version) values (?)", (schema.VERSION,))
    sessions = [*scripts.stories(machines.fillings()), drills.session(), *machines.sessions()]
    writer = writing.Writer(conn, present)
    writer.write(_parents_first(sessions, present))
    writing.usage_rows(conn)
    meta = {"fts_storage_version": "3", _MARK: writer.ids[_LIVE]}
    conn.executemany("insert into state_meta (key, value) values (?, ?)", meta.items())
    return writer.ids[_LIVE]


def _parents_first(sessions: list[scripts.Session], present: float) -> list[scripts.Session]:
    """In the order in which they began, so that message ids ascend with time."""
    return sorted(sessions, key=lambda session: session.start(present))


def _register(folder: Path, session_id: str, present: float) -> None:
    """Say that one session is open in this very process, as Hermes would (FACTS 4.4)."""
    runtime = folder / "runtime"
    runtime.mkdir(exist_ok=True)
    entry = {
        "lease_id": "demo",
        "session_id": session_id,
        "surface": "cli",
        "pid": os.getpid(),
        "started_at": present - 68 * 60,
    }
    (runtime / "active_sessions.json").write_text(json.dumps({"entries": [entry]}), "utf-8")
