"""Handing the terminal to `hermes`: what reaches it, and what is given back afterwards (R36, R41)."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hermes_tui import handover
from hermes_tui.errors import Unsupported

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and terminals of POSIX")

ARGV = ["hermes", "-p", "work", "--resume", "20260101_000000_abcdef"]
_STUB = """#!{python}
import json, os, signal, sys
seen = {{"argv": sys.argv[1:], "env": dict(os.environ), "cwd": os.getcwd()}}
try:
    status = open("/proc/self/status").read()
    seen["ignored"] = int(next(line for line in status.splitlines() if line.startswith("SigIgn")).split()[1], 16)
except OSError:
    pass
if sys.stdin.isatty():
    import termios
    flags = termios.tcgetattr(0)[3]
    seen["canonical"] = bool(flags & termios.ICANON and flags & termios.ECHO)
with open(os.environ["RECORD"] + ".part", "w") as file:
    json.dump(seen, file)
os.rename(os.environ["RECORD"] + ".part", os.environ["RECORD"])
{then}
"""


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "seen.json"
    monkeypatch.setenv("RECORD", str(path))
    return path


def stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, then: str = "", name: str = "hermes") -> Path:
    """A program on PATH that records what reached it."""
    folder = tmp_path / "bin"
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(_STUB.format(python=sys.executable, then=then))
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return path


def driver(call: str) -> list[str]:
    """A process that hands over."""
    return [sys.executable, "-c", f"import sys; from hermes_tui import handover; sys.exit(handover.{call})"]


def seen(record: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(record.read_text())
    return found


def wait_for(record: Path, process: subprocess.Popen[bytes] | None = None) -> dict[str, Any]:
    """What the stub saw, once it runs."""
    deadline = time.monotonic() + 20
    while not record.exists():
        assert time.monotonic() < deadline, "the stub never ran"
        select.select([], [], [], 0.01)
    return seen(record)


@pytest.mark.parametrize("how", ["become", "run"])
def test_the_command_arrives_as_it_is(
    how: str, tmp_path: Path, record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub(tmp_path, monkeypatch, "sys.exit(7)")
    monkeypatch.setenv("HERMES_SESSION_SOURCE", "cron")
    monkeypatch.setenv("HERMES_TUI_RESUME", "other")
    monkeypatch.setenv("HERMES_TUI_THEME", "light")
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "old"))
    argv = ["hermes", "-p", "work", "--resume=-x y;$(id)'\"`日本"]
    call = f"{how}({argv!r}, {{'HERMES_HOME': {str(tmp_path / 'new')!r}}})"
    done = subprocess.run(driver(call), cwd=tmp_path, check=False)
    found = seen(record)
    assert done.returncode == 7
    assert found["argv"] == argv[1:]
    assert found["cwd"] == str(tmp_path)
    assert found["env"]["HERMES_HOME"] == str(tmp_path / "new")
    assert found["env"]["RECORD"] == str(record)
    foreign = [name for name in found["env"] if name.startswith(("HERMES_TUI_", "PYTEST_", "HERMES_SESSION_SOURCE"))]
    assert not foreign


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks /proc")
@pytest.mark.parametrize("how", ["become", "run"])
def test_no_signal_is_left_ignored(how: str, tmp_path: Path, record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    plain = folder / "hermes"
    plain.write_text('#!/bin/sh\ngrep SigIgn /proc/self/status | tr -dc "0-9a-f\\n" > "$RECORD"\n')
    plain.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    subprocess.run(driver(f"{how}({ARGV!r}, {{}})"), check=True)
    ignored = int(record.read_text().strip().lstrip("g") or "0", 16)
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP):
        assert not ignored & (1 << (number - 1)), number.name


@pytest.mark.parametrize("how", ["become", "run", "in_tmux_window"])
def test_a_missing_program_leaves_the_command_to_copy(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setenv("TMUX", "/tmp/tmux,1,0")
    arguments = (ARGV, {"HERMES_HOME": "/opt/my data"}, *(["name"] if how == "in_tmux_window" else []))
    with pytest.raises(Unsupported) as refused:
        getattr(handover, how)(*arguments)
    assert "HERMES_HOME='/opt/my data' hermes -p work --resume 20260101_000000_abcdef" in str(refused.value)


@pytest.mark.parametrize("how", ["become", "run"])
def test_an_id_that_no_argument_can_hold_is_refused(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub(tmp_path, monkeypatch)
    monkeypatch.setattr(signal, "signal", lambda number, handler: handler)
    with pytest.raises(Unsupported, match="could not be started"):
        getattr(handover, how)(["hermes", "--resume", "a\x00b"], {})


def test_a_program_that_cannot_be_executed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = stub(tmp_path, monkeypatch)
    path.write_text("#!/no/such/interpreter\n")
    with pytest.raises(Unsupported, match="could not be started"):
        handover.run(ARGV, {})


def test_a_signal_that_ended_the_child_is_128_and_its_number(
    tmp_path: Path, record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub(tmp_path, monkeypatch, "os.kill(os.getpid(), signal.SIGKILL)")
    assert handover.run(ARGV, {}) == 128 + signal.SIGKILL


def test_signal_handlers_are_as_before(tmp_path: Path, record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stub(tmp_path, monkeypatch)
    watched = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP, signal.SIGCONT)
    before = [signal.getsignal(number) for number in watched]
    assert handover.run(ARGV, {}) == 0
    assert [signal.getsignal(number) for number in watched] == before


def test_an_order_to_end_is_passed_on(tmp_path: Path, record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stub(tmp_path, monkeypatch, "signal.pause()")
    with subprocess.Popen(driver(f"run({ARGV!r}, {{}})")) as process:
        wait_for(record)
        process.terminate()
        assert process.wait(20) == 128 + signal.SIGTERM


@pytest.fixture
def pty_pair() -> Iterator[tuple[int, int]]:
    import pty

    pair = pty.openpty()
    yield pair
    for each in pair:
        os.close(each)


def start_on(slave: int, call: str) -> subprocess.Popen[bytes]:
    """The driver as leader of the terminal."""
    import fcntl
    import termios

    def lead() -> None:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    return subprocess.Popen(driver(call), stdin=slave, stdout=slave, stderr=slave, preexec_fn=lead)


def read_until(master: int, wanted: bytes) -> bytes:
    data, deadline = b"", time.monotonic() + 20
    while wanted not in data:
        assert time.monotonic() < deadline, data
        if select.select([master], [], [], 0.1)[0]:
            data += os.read(master, 4096)
    return data


def test_the_child_owns_the_terminal_and_the_modes_come_back(
    tmp_path: Path, record: Path, monkeypatch: pytest.MonkeyPatch, pty_pair: tuple[int, int]
) -> None:
    """It finds a cooked terminal, gets what is typed, and may leave it raw: we put it right."""
    import termios

    then = (
        "line = sys.stdin.readline()\nprint('got', line.strip(), flush=True)\n"
        "import tty; tty.setraw(0)\nsys.exit(len(line))"
    )
    stub(tmp_path, monkeypatch, then)
    master, slave = pty_pair
    before = termios.tcgetattr(slave)
    with start_on(slave, f"run({ARGV!r}, {{}})") as process:
        assert wait_for(record)["canonical"]
        os.write(master, b"hello\n")
        read_until(master, b"got hello")
        assert process.wait(20) == len("hello\n")
    assert termios.tcgetattr(slave) == before


def test_ctrl_c_ends_the_child_and_not_us(
    tmp_path: Path, record: Path, monkeypatch: pytest.MonkeyPatch, pty_pair: tuple[int, int]
) -> None:
    stub(
        tmp_path,
        monkeypatch,
        "signal.signal(signal.SIGINT, lambda *_: sys.exit(5))\nprint('up', flush=True)\nsignal.pause()",
    )
    master, slave = pty_pair
    with start_on(slave, f"run({ARGV!r}, {{}}) + 100") as process:
        read_until(master, b"up")
        os.write(master, b"\x03")
        assert process.wait(20) == 105


def test_a_tmux_window_is_asked_for_without_a_shell(
    tmp_path: Path, record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub(tmp_path, monkeypatch)
    stub(tmp_path, monkeypatch, name="tmux")
    monkeypatch.setenv("TMUX", "/tmp/tmux,1,0")
    monkeypatch.setenv("HERMES_TUI_THEME", "light")
    monkeypatch.delenv("HERMES_HOME")
    handover.in_tmux_window(ARGV, {}, "Fix #(touch owned) \x1b[31m now")
    argv = seen(record)["argv"]
    assert argv[0] == "new-window"
    assert argv[-len(ARGV) :] == ARGV
    title = argv[argv.index("-n") + 1]
    assert "#" not in title
    assert title.isprintable()
    env = argv[argv.index("env") : -len(ARGV)]
    assert env[env.index("HERMES_HOME") - 1 : env.index("HERMES_HOME") + 1] == ["-u", "HERMES_HOME"]
    assert "HERMES_TUI_THEME" in env
    assert f"PATH={os.environ['PATH']}" in env


def test_outside_tmux_and_when_tmux_refuses_there_is_a_reason(
    tmp_path: Path, record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub(tmp_path, monkeypatch)
    with pytest.raises(Unsupported, match="no tmux"):
        handover.in_tmux_window(ARGV, {}, "x")
    monkeypatch.setenv("TMUX", "/tmp/tmux,1,0")
    stub(tmp_path, monkeypatch, "print('no space for a new pane', file=sys.stderr)\nsys.exit(1)", name="tmux")
    with pytest.raises(Unsupported, match="no space for a new pane"):
        handover.in_tmux_window(ARGV, {}, "x")


@pytest.mark.tmux
@pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")
def test_a_real_tmux_opens_a_window_and_runs_nothing_else(
    tmp_path: Path, record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub(tmp_path, monkeypatch)
    home = tmp_path / "a #(touch owned) dir"
    home.mkdir()
    argv = [*ARGV[:-1], "id with 'quotes' $(touch owned2) #{pid}"]
    inside = f"in_tmux_window({argv!r}, {{'HERMES_HOME': '/x y'}}, '#(touch {tmp_path}/owned3)')"
    tmux = ["tmux", "-L", f"hermes-tui-test-{os.getpid()}", "-f", "/dev/null"]
    start = [*tmux, "new-session", "-d", "-x", "80", "-y", "24", *driver(inside)]
    subprocess.run(start, cwd=home, check=True)
    try:
        found = wait_for(record)
    finally:
        subprocess.run([*tmux, "kill-server"], check=False, capture_output=True)
    assert found["argv"] == argv[1:]
    assert found["env"]["HERMES_HOME"] == "/x y"
    assert found["cwd"] == str(home)
    assert not [path for path in (*tmp_path.rglob("owned*"), *home.rglob("owned*"))]
