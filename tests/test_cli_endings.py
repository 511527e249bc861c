"""However and wherever the program ends or is stopped: the terminal is as it was, the code is the documented one,
and one is told why (SPEC 10, 11). One table of places, one of ends."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.builders import StoreBuilder
from tests.test_cli_terminal import ALTERNATE_OFF, ALTERNATE_ON, ID, Terminal, started

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for stopped processes in /proc")

_PROGRAM = """
import sys
from textual.events import Key
from hermes_tui.app import HermesApp
from hermes_tui.storage import finding
def crash():
    raise RuntimeError('a bug')
before = HermesApp.on_event
async def on_event(self, event):
    if isinstance(event, Key) and event.key == 'f9':
        self.screen.call_later(crash)
    else:
        await before(self, event)
HermesApp.on_event = on_event
ENDLESS = 'with recursive n(i) as (select 1 union all select i from n) select count(*) from n'
finding.scan_slice = lambda store, task: store.conn.execute(ENDLESS).fetchall()
from hermes_tui.cli import main
sys.exit(main())
"""
"""The program, in which F9 meets a bug, and reading what no index holds takes for ever."""
F9 = "\x1b[20~"


@dataclass(frozen=True)
class Place:
    """How to come there: what to press, and what is seen then."""

    name: str
    steps: tuple[tuple[str, str], ...] = ()
    begins: str = f"@session:default/{ID}"
    """What is seen before anything is pressed."""
    store: str = "there"
    """`there`, `held` by somebody else, or `missing`."""

    @property
    def seen(self) -> str:
        return self.steps[-1][1] if self.steps else self.begins


_READ = ("\r", "message 2 of 2")
_HITS = (("/", "Search"), ("walnut", "X scans it"))
PLACES = (
    Place("list"),
    Place("filter", (("f", "title, first words"),)),
    Place("search", (("/", "Search every word"),)),
    Place("hits", _HITS),
    Place("scan", (*_HITS, ("\t", "enter read"), ("X", "scanning"))),
    Place("transcript", (_READ,)),
    Place("find", (_READ, ("/", "enter keep"))),
    Place("bookmarks", (_READ, ("m", "bookmarked"), ("'", "m remove"))),
    Place("link", (_READ, ("\t", "enter follow"), ("\r", "Open this link?"))),
    Place("lineage", (("l", "Lineage of"),)),
    Place("resume", (("r", "--resume"),)),
    Place("help", (("?", "everywhere"),)),
    Place("profiles", (("P", "Profiles"),)),
    Place("palette", ((":", "find a command"),)),
    Place("no store", begins="Or name it", store="missing"),
    Place("held store", begins="reading", store="held"),
)


def _signalled(number: signal.Signals) -> Callable[[Terminal], int]:
    def end(terminal: Terminal) -> int:
        terminal.process.send_signal(number)
        return terminal.ends()

    return end


def _crashed(terminal: Terminal) -> int:
    terminal.press(F9)
    code = terminal.ends()
    assert b"RuntimeError: a bug" in terminal.data[terminal.data.rfind(ALTERNATE_OFF) :]
    return code


def _closed(terminal: Terminal) -> int:
    terminal.hang_up()
    return terminal.process.wait(30)


ENDS: tuple[tuple[str, Callable[[Terminal], int], int], ...] = (
    ("SIGTERM", _signalled(signal.SIGTERM), 143),
    ("SIGHUP", _signalled(signal.SIGHUP), 129),
    ("SIGINT", _signalled(signal.SIGINT), 130),
    ("closed", _closed, 129),
)
"""Name, how, and the exit code."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("endings")
    with StoreBuilder(folder / "home" / "state.db", journal="delete") as store:
        store.session(ID, title="Refactoring auth")
        store.message(ID, "tool", "x " * 9_000)
        store.message(ID, "user", "the walnut question, see https://walnut.example/a")
    return folder / "home"


_SEQUENCE = re.compile(rb"\x1b\[[0-9;?<>=]*[A-Za-z]")


def _read(data: bytes) -> str:
    """What was drawn, without colours and places."""
    return _SEQUENCE.sub(b"", data).decode("utf-8", "replace")


@contextmanager
def at(place: Place, home: Path, tmp_path: Path) -> Iterator[Terminal]:
    """The program, there."""
    where = {"missing": tmp_path / "none"}.get(place.store, home)
    argv = [sys.executable, "-c", _PROGRAM, *(["--home", str(home)] if place.store != "missing" else [])]
    env = {"HERMES_HOME": str(where), "XDG_STATE_HOME": str(tmp_path / "state"), "TZ": "UTC"}
    with closing(sqlite3.connect(home / "state.db", isolation_level=None)) as other:
        if place.store == "held":
            other.execute("begin exclusive")
        with started(argv, env) as terminal:
            terminal.shows(place.begins)
            for keys, seen in place.steps:
                back = len(terminal.data)
                terminal.press(keys)
                terminal.until(lambda back=back, seen=seen: seen in _read(terminal.data[back:]))
            yield terminal


def _stop_and_go_on(terminal: Terminal, seen: str) -> None:
    """ctrl+z in a shell, something else in the terminal, and `fg`."""
    before = terminal.modes()
    terminal.process.send_signal(signal.SIGTSTP)
    status = Path(f"/proc/{terminal.process.pid}/stat")
    terminal.until(lambda: status.read_text().rpartition(")")[2].split()[0] == "T")
    terminal.drain()
    assert terminal.restored()
    assert terminal.modes() == terminal.first
    back = len(terminal.data)
    terminal.process.send_signal(signal.SIGCONT)
    terminal.until(lambda: seen in _read(terminal.data[back:]))
    assert ALTERNATE_ON in terminal.data[back:]
    assert terminal.modes() == before


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
def test_a_crash_leaves_the_terminal_as_it_was_and_tells_where(home: Path, tmp_path: Path, place: Place) -> None:
    with at(place, home, tmp_path) as terminal:
        assert _crashed(terminal) == 1
        assert terminal.restored()


@pytest.mark.parametrize(
    ("place", "end"),
    [(place, ENDS[number % len(ENDS)]) for number, place in enumerate(PLACES)]
    if not os.environ.get("HERMES_TUI_TEST_EVERY_END")
    else [(place, end) for place in PLACES for end in ENDS],
    ids=lambda value: value.name if isinstance(value, Place) else value[0],
)
def test_it_is_stopped_goes_on_and_is_ended(
    home: Path, tmp_path: Path, place: Place, end: tuple[str, Callable[[Terminal], int], int]
) -> None:
    """Every place meets one end, every end four places; `HERMES_TUI_TEST_EVERY_END=1` lets all meet."""
    _, do, code = end
    with at(place, home, tmp_path) as terminal:
        _stop_and_go_on(terminal, place.seen)
        assert do(terminal) == code
        assert terminal.restored() or terminal.master < 0
        assert b"Traceback" not in terminal.data
