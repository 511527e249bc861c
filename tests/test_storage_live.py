"""Who has a session open: the registry is believed only as far as its processes exist."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hermes_tui.storage.live import _of_proc, leases, live_ids

linux = pytest.mark.skipif(sys.platform != "linux", reason="start times are told by Linux only")


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    """A process of our own that waits."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as running:
        yield running
        assert running.stdin is not None
        running.stdin.close()


def registry(home: Path, *entries: Any) -> Path:
    write(home, json.dumps({"entries": entries}))
    return home


def write(home: Path, text: str) -> None:
    (home / "runtime").mkdir(exist_ok=True)
    (home / "runtime" / "active_sessions.json").write_text(text, "utf-8")


def test_a_session_is_live_while_its_process_runs(tmp_path: Path, process: subprocess.Popen[bytes]) -> None:
    entry = {"session_id": "s1", "pid": process.pid, "surface": "tui", "started_at": 5.0}
    home = registry(tmp_path, entry, {"session_id": "s2", "pid": str(os.getpid())})
    assert live_ids(home) == {"s1", "s2"}
    assert [(each.session_id, each.surface, each.started_at) for each in leases(home)] == [
        ("s1", "tui", 5.0),
        ("s2", "another window", None),
    ]
    process.kill()
    process.wait()
    assert live_ids(home) == {"s2"}


@linux
def test_a_number_that_another_process_has_now_is_not_live(tmp_path: Path, process: subprocess.Popen[bytes]) -> None:
    since = _of_proc(process.pid)[1]
    assert since is not None
    same = {"session_id": "same", "pid": process.pid, "process_start_time": since}
    other = {"session_id": "other", "pid": process.pid, "process_start_time": since - 3_600}
    assert live_ids(registry(tmp_path, same, other)) == {"same"}


@linux
def test_a_process_that_ended_and_was_not_collected_is_not_live(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        assert live_ids(registry(tmp_path, {"session_id": "s", "pid": ended.pid})) == frozenset()


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"session_id": "s"},
        {"session_id": "s", "pid": True},
        {"session_id": "s", "pid": 0},
        {"session_id": "s", "pid": -1},
        {"session_id": "s", "pid": 10**30},
        {"session_id": "s", "pid": "x"},
        {"session_id": "", "pid": os.getpid()},
        {"session_id": 7, "pid": os.getpid()},
        "s",
        None,
    ],
)
def test_entries_that_make_no_sense_are_passed_over(tmp_path: Path, entry: Any) -> None:
    home = registry(tmp_path, entry, {"session_id": "good", "pid": os.getpid()})
    assert live_ids(home) == {"good"}


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"entries": 5}', "\x00", "[" * 100_000])
def test_a_broken_registry_means_nobody_is_live(tmp_path: Path, text: str) -> None:
    write(tmp_path, text)
    assert live_ids(tmp_path) == frozenset()


def test_no_registry_and_a_bare_list(tmp_path: Path) -> None:
    assert live_ids(tmp_path) == frozenset()
    write(tmp_path, "\ufeff" + json.dumps([{"session_id": "s", "pid": os.getpid(), "process_start_time": "nan"}]))
    assert live_ids(tmp_path) == {"s"}
