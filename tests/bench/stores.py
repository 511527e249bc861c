"""The stores that are measured, and what of each is opened and asked for."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests import real_stores
from tests.bench.measuring import in_turn
from tests.tools import ROOT

SEED: dict[str, int | float | bool] = {
    "sessions": 237,
    "messages": 25_563,
    "cron": 0.8186,
    "tool_bytes": 5_750,
    "seed": 1,
}
STORES: dict[str, dict[str, int | float | bool]] = {
    "small": {},
    "seed": {**SEED},
    "middle": {**SEED, "sessions": 3_000, "messages": 250_000, "bulk": True},
    "large": {**SEED, "sessions": 12_000, "messages": 1_000_000, "giant": 25_000, "bulk": True},
}
"""Name → arguments of the generator; those of `small` are the tests' own."""
QUERIES = {
    "rare": "quokkaflux",
    "medium": "rollback",
    "common": "deploy",
    "phrase": '"harbour lights"',
    "CJK of 2": "部署",
    "CJK of 3": "数据库",
}
"""Kind → a query of that kind; every store has something to find for each."""
_PLAIN = re.compile(r"[A-Za-z][a-z]+(?: [a-z]+){2,}")
_LENGTHS = """
select m.session_id, count(*)
from messages m
join sessions s on s.id = m.session_id
where s.parent_session_id is null and coalesce(s.end_reason, '') <> 'compression'
group by m.session_id
order by 2
"""
_SAID = """
select id, content
from messages
where session_id = ? and role in ('user', 'assistant') and active = 1 and display_kind is null
order by id
"""


@dataclass(frozen=True, slots=True)
class Place:
    """A message to open at."""

    session: str
    message: int
    needle: str
    """How its text begins on the screen."""
    length: int
    """Messages of the session."""

    @property
    def link(self) -> str:
        return f"@session:{self.session}#{self.message}"


@dataclass(frozen=True, slots=True)
class Bench:
    """One store, copied where nothing minds that Hermes writes beside it, and the program that reads it."""

    name: str
    home: Path
    scratch: Path
    bin: Path
    """Where `python` and `hermes-tui` are."""
    runs: int
    quick: bool
    """Once is enough: to see that it works."""

    @property
    def db(self) -> Path:
        return self.home / "state.db"

    @property
    def rounds(self) -> int:
        """That count."""
        return 1 if self.quick else self.runs

    def in_turn(self, *sides: Callable[[], float]) -> list[list[float]]:
        """As often as this look at the store wants it."""
        return in_turn(self.rounds, *sides, warm=not self.quick)

    @property
    def tui(self) -> list[str]:
        return [str(self.bin / "hermes-tui"), "--home", str(self.home)]

    @property
    def python(self) -> str:
        return str(self.bin / "python")

    @property
    def env(self) -> dict[str, str]:
        """A user's, with folders of its own."""
        own = {name: str(self.scratch / name.lower()) for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME")}
        return {**os.environ, "HERMES_HOME": str(self.home), **own}

    @property
    def queries(self) -> dict[str, str]:
        """Every kind of query; a quick look takes the two that go different ways."""
        kinds = ("rare", "CJK of 2") if self.quick else tuple(QUERIES)
        return {kind: QUERIES[kind] for kind in kinds}

    def connect(self) -> sqlite3.Connection:
        """The store as Python's own module opens it, for reading."""
        return sqlite3.connect(f"{self.db.as_uri()}?mode=ro", uri=True)

    def about(self) -> str:
        """How large it is."""
        conn = self.connect()
        try:
            (sessions,) = conn.execute("select count(*) from sessions").fetchone()
            (messages,) = conn.execute("select count(*) from messages").fetchone()
        finally:
            conn.close()
        return f"{sessions:,} sessions, {messages:,} messages, {self.db.stat().st_size / 1e6:,.0f} MB"

    def places(self, number: int) -> tuple[list[Place], ...]:
        """So many places in the longest session, in one of about 50 messages, and in another of that length."""
        conn = self.connect()
        try:
            lengths = conn.execute(_LENGTHS).fetchall()
            short, other = sorted(lengths[:-1], key=lambda row: abs(row[1] - 50))[:2]
            return tuple(self._within(conn, *chosen, number=number) for chosen in (lengths[-1], short, other))
        finally:
            conn.close()

    def _within(self, conn: sqlite3.Connection, session: str, length: int, *, number: int) -> list[Place]:
        """Spread over the session, away from its end; repeated where it is too short for so many."""
        found = []
        for message, content in conn.execute(_SAID, (session,)):
            if isinstance(content, str) and (plain := _PLAIN.match(content)) and len(plain[0]) >= 24:
                found.append(Place(session, message, plain[0][:24].rstrip(), length))
        if not found:
            raise RuntimeError(f"{session} has no message that begins with plain words")
        return [found[int(index * len(found) * 0.8 / number)] for index in range(number)]


def installed(scratch: Path) -> Path:
    """The `bin` of an environment with the program as users have it: from its wheel, compiled."""
    folder = scratch / "venv"
    venv.create(folder, with_pip=True)
    command = [str(folder / "bin" / "pip"), "install", "-q", "--compile", str(ROOT)]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    return folder / "bin"


def beside() -> Path:
    """The `bin` of this Python: the program as it is being worked on, not compiled beforehand."""
    return Path(sys.executable).parent


def copied(name: str, folder: Path) -> Path:
    """A home of our own in this folder, with this store."""
    home = folder / name
    if (home / "state.db").exists():
        return home
    kept = real_stores.store_home(real_stores.LATEST, **STORES[name])
    home.mkdir(parents=True)
    shutil.copy(kept / "state.db", home / "state.db")
    return home
