"""The states that a store can be in, one row each: how it is made, and what list, search, show, tree, doctor and the
screen make of it (R25 to R31)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests import states
from tests.states import Maker, still

UNREADABLE = "This store cannot be read."
MISSING = "No history here yet"
BUSY = "Another program holds the store. Trying again …"


@dataclass(frozen=True)
class State:
    """One row of the table."""

    name: str
    make: Maker
    code: int = 0
    """Of list, show and tree."""
    says: str = ""
    """With 3: the line on stderr. With 0: a notice of the list; "" for none at all."""
    rows: int = 3
    """Conversations listed, all of which have a walnut …"""
    hits: int | None = None
    """… and those that a search for it finds, if not all."""
    search: str = ""
    """What the search says of its index."""
    doctor: str = ""
    """Checks of `doctor` that are not ok, by name."""
    screen: str = ""
    """What stands on the screen; "" for the list alone."""
    show: str = "s1"
    """The conversation that is asked for by its id."""

    @property
    def found(self) -> int:
        """How many a search finds."""
        return self.rows if self.hits is None else self.hits

    @property
    def sees(self) -> str:
        """What a person sees, in short."""
        if self.code:
            return f"“{self.says}”"
        told = self.says or self.search
        return f"what can be read, and “{told}”" if told else "everything"


def _unwritable(make: Callable[[Path], object]) -> Maker:
    return lambda home: states.read_only(home, make)


NO_FILE = "there is no such file. Name another with --db, --home or -p"
NOT_ONE = "is not a database. Name another with --db or --home"
WAL_LOST = "Recent messages may be missing: state.db-wal cannot be read in a folder that is read-only"
TABLE = (
    # what is no store
    State("missing", still(states.nothing), 3, NO_FILE, screen=MISSING),
    State("a link to nothing", still(states.dangling_symlink), 3, NO_FILE, screen=MISSING),
    State("a folder", still(states.folder), 3, "is not a file", screen=UNREADABLE),
    State("empty", still(states.empty), 3, "is empty: Hermes has written nothing into it yet", screen=UNREADABLE),
    State("text", still(states.text), 3, NOT_ONE, screen=UNREADABLE),
    State("garbage", still(states.garbage_behind_a_header), 3, NOT_ONE, screen=UNREADABLE),
    State("another program's database", still(states.foreign), 3, "not one of Hermes", screen=UNREADABLE),
    State("cut short", still(states.cut_short), 3, "damaged where all reading begins", screen=UNREADABLE),
    State("no right to read", _unwritable(states.forbidden), 3, "permission denied", screen=UNREADABLE),
    # damaged pages
    State(
        "damage in messages", still(states.damaged_messages), 0, "is damaged",
        hits=2, search="messages could not be read", doctor="sessions integrity", screen="is damaged",
    ),
    State(
        "damage in sessions", still(states.damaged_sessions), 0, "sessions cannot be read",
        rows=0, doctor="sessions integrity", screen="3 sessions cannot be read", show="",
    ),
    State(
        "damage in an index", still(states.damaged_index), 0, "What can be read is shown",
        doctor="size integrity",
    ),
    State(
        "damage in the search index", still(states.damaged_fts), search="The search index is damaged",
        doctor="word index, integrity",
    ),
    # odd cells
    State("text that is no UTF-8", still(states.bad_utf8)),
    State("wrong types everywhere", still(states.wrong_types), rows=-1, show="messages"),
    State("absurd times", still(states.absurd_times), rows=9, show="t3"),
    State("broken JSON everywhere", still(states.broken_json), rows=3 + 11 * 4),
    State("NULL everywhere", still(states.nulls), rows=1, show="bare"),
    # schemas
    State("schema 11", still(states.oldest)),
    State(
        "tables and indexes missing", still(states.no_extras), search="There is no search index",
        doctor="schema, word index",
    ),
    State(
        "columns missing that every release has had", still(states.few_columns), 3,
        "not a store of any Hermes that is known: it lacks sessions.",
        screen=UNREADABLE,
    ),
    State(
        "texts in UTF-16", still(states.sixteen_bits), 3,
        "not a store of any Hermes that is known: its texts are in UTF-16le.",
        screen=UNREADABLE,
    ),
    State("no messages table", still(states.no_messages_table), 3, "not one of Hermes", screen=UNREADABLE),
    State("a newer schema", still(states.newer), doctor="schema"),
    # files and folders
    State("a link", still(states.symlink)),
    State("WAL at rest", still(states.idle_wal)),
    State("WAL without shm", still(states.wal_without_shm), rows=4),
    State("WAL and a writer", states.live_writer, rows=4),
    State("read-only folder", _unwritable(states.well)),
    State("read-only folder, WAL at rest", _unwritable(states.idle_wal)),
    State(
        "read-only folder, WAL without shm", _unwritable(states.wal_without_shm), 0, WAL_LOST,
        search=WAL_LOST, doctor="database", screen="Recent messages may be missing",
    ),
    State("a change that was broken off", still(states.hot_journal), 3, "start hermes once", screen=UNREADABLE),
    State("locked for long", states.locked, 3, "is busy: ", screen=BUSY),
)  # fmt: skip
