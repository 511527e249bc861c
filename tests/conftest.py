"""Fixtures that every test may use. Nothing here or below ever touches the user's own Hermes home."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import real_stores


@pytest.fixture(autouse=True)
def _own_world(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty home, UTC, no colour or theme from outside."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("HERMES", "XDG_")) and name != "HERMES_TUI_TEST_CACHE":
            monkeypatch.delenv(name)
    for name in ("NO_COLOR", "TEXTUAL_THEME", "TMUX", "SSH_CONNECTION", "SSH_TTY", "DISPLAY", "WAYLAND_DISPLAY"):
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


@pytest.fixture(params=sorted(real_stores.RELEASES), ids=lambda release: f"schema{real_stores.SCHEMAS[release]}")
def release(request: pytest.FixtureRequest) -> str:
    """Each release of Hermes in turn."""
    return str(request.param)


@pytest.fixture
def real_home(release: str) -> Path:
    """A home that each release in turn wrote; read it only."""
    return real_stores.store_home(release)
