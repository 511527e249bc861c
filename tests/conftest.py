"""Fixtures that every test may use. Nothing here or below ever touches the user's own Hermes home."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from hermes_tui.storage import connection
from tests import real_stores, watching
from tests.builders import SCHEMAS


def pytest_configure() -> None:
    """What a shell makes its background jobs ignore, their children ignore too: here each signal does its work."""
    for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP, signal.SIGINT) if os.name == "posix" else ():
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


_TERMINAL = ("NO_COLOR", "TMUX", "COLUMNS", "LINES")
"""What is said of the terminal that the suite runs in; programs here have one of their own."""


@pytest.fixture(autouse=True)
def _own_world(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty home, UTC, no colour or theme from outside."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("HERMES", "XDG_")) and name not in ("HERMES_TUI_TEST_CACHE", "HERMES_TUI_TEST_SEED"):
            monkeypatch.delenv(name)
    for name in (*_TERMINAL, "TEXTUAL_THEME", "SSH_CONNECTION", "SSH_TTY", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HERMES_TUI_TEST_CACHE", str(_CACHE))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("HERMES_HOME", str(home / ".hermes"))
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


_CACHE = real_stores.cache()
settings.register_profile("suite", deadline=None, print_blob=True)
settings.load_profile("suite")


@pytest.fixture(autouse=True)
def _never_on_the_loop() -> Iterator[None]:
    """Fails a test in which the program opens a database on a thread that runs an event loop."""
    watching.opened_on_a_loop.clear()
    yield
    assert not watching.opened_on_a_loop, f"opened on the event loop's thread: {watching.opened_on_a_loop}"


@pytest.fixture(autouse=True)
def statements(monkeypatch: pytest.MonkeyPatch) -> Iterator[watching.Statements]:
    """Every statement that the program's connections run; fails a test in which one of them is no reading."""
    seen = watching.Statements()
    monkeypatch.setattr(connection, "trace", seen)
    yield seen
    assert not seen.writing, f"not a reading statement: {seen.writing}"


@pytest.fixture(params=sorted(real_stores.RELEASES), ids=lambda release: f"schema{real_stores.SCHEMAS[release]}")
def release(request: pytest.FixtureRequest) -> str:
    """Each release of Hermes in turn."""
    return str(request.param)


@pytest.fixture
def real_home(release: str) -> Path:
    """A home that each release in turn wrote; read it only."""
    return real_stores.store_home(release)


@pytest.fixture(params=SCHEMAS, ids=lambda schema: f"schema{schema}")
def schema(request: pytest.FixtureRequest) -> int:
    """Each schema that code builds, in turn."""
    return int(request.param)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Where a store may be built."""
    return tmp_path / "state.db"


@pytest.fixture
def word() -> Iterator[str]:
    """Words that nobody else uses, new ones each time."""
    rng = random.Random(5)
    return iter(lambda: "".join(rng.choice("bcdfghklmnprstvz") + rng.choice("aeiou") for _ in range(5)), "")
