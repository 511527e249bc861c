"""What the trials that drive the program from outside have in common: a copy of a store, a live writer, the
watched program in a pty of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from tests import real_stores
from tests.bench.ptyperf import PtyApp

_ROOT = Path(__file__).parents[2]
_WRITING = _ROOT / "tests" / "hermes_side" / "writing.py"
PATIENCE = 30.0
"""Seconds after which the program counts as hung; no bound on how fast it is."""


class LiveWriter:
    """Hermes' own `SessionDB`, in its own environment, writing to a copy of a store."""

    def __init__(self, db: Path, seed: int, *, steps: int = 0, pause: float = 0.0, journal: str = "wal") -> None:
        """`steps`: how many; 0 is until it is told to end."""
        self.db = db
        numbers = [str(seed), str(steps), str(pause), journal]
        argv = [str(real_stores.hermes_python()), str(_WRITING), str(db), *numbers]
        self.notes = db.with_name("writer.err")
        with self.notes.open("wb") as notes:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=notes,
                env=real_stores.hermes_environment(db.parent),
            )
        assert self._process.stdout is not None
        self._out = self._process.stdout
        if self._out.readline() != b"ready\n":
            raise RuntimeError(f"the writer did not start: {self._said()}")

    def _said(self) -> str:
        return self.notes.read_text("utf-8", "replace")[-2_000:]

    def go(self) -> None:
        """Let it write."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()

    @property
    def at_work(self) -> bool:
        return self._process.poll() is None

    def end(self, timeout: float = 120) -> dict[str, Any]:
        """Wait until its steps are done, or tell it to end where they have no number; what it tells."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        told = self._out.read()
        code = self._process.wait(timeout)
        self._out.close()
        if code or not told:
            raise RuntimeError(f"the writer ended with {code}: {self._said()}")
        found: dict[str, Any] = json.loads(told.splitlines()[-1])
        return found

    def finish(self, timeout: float = 120) -> dict[str, Any]:
        """Wait until all of its steps are done; what it tells."""
        end = time.monotonic() + timeout
        while self.at_work and time.monotonic() < end:
            time.sleep(0.05)
        return self.end()

    def kill(self) -> None:
        """When the trial fails."""
        if self.at_work:
            self._process.kill()
        self._process.wait()


def copied(source: Path, folder: Path) -> Path:
    """A fresh home with a copy of this store; its file."""
    folder.mkdir(parents=True)
    return Path(shutil.copy(source, folder / "state.db"))


class Watched:
    """The program in a pty, started through `watched.py`; a context manager that ends it."""

    def __init__(self, home: Path, report: Path, *, size: tuple[int, int] = (120, 36), stay: bool = False) -> None:
        tools = report.with_name("bin")
        tools.mkdir(exist_ok=True)
        stub = tools / "hermes"  # what resuming runs here comes back at once
        stub.write_text("#!/bin/sh\nexit 0\n", "utf-8")
        stub.chmod(0o755)
        env = {
            "HOME": str(report.parent),
            "HERMES_HOME": str(home),
            "XDG_STATE_HOME": str(report.with_name("state")),
            "XDG_CONFIG_HOME": str(report.with_name("config")),
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "BROWSER": "/bin/true",
            "TZ": "UTC",
            "HERMES_TUI_TRIAL_STAY": "1" if stay else "",
        }
        argv = [sys.executable, "-m", "tests.trials.watched", str(report), "--home", str(home)]
        unwanted = ("TMUX", "TMUX_PANE", "DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION", "NO_COLOR")
        self.report = report
        self.app = PtyApp(argv, size, {**env, **{name: "" for name in unwanted if name in os.environ}}, cwd=_ROOT)
        self.lines: list[dict[str, Any]] = []

    def __enter__(self) -> Self:
        self.app.__enter__()
        self.app.wait_for("Hermes history")
        return self

    def __exit__(self, *exc: object) -> None:
        self.app.__exit__(*exc)

    @property
    def pid(self) -> int:
        return self.app.process.pid

    def look(self) -> dict[str, Any]:
        """Ask how it is. Raises TimeoutError when it does not answer."""
        self.app.process.send_signal(signal.SIGUSR1)
        wanted, end = len(self.lines) + 1, time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.lines = self._told()
            if len(self.lines) >= wanted:
                return {**self.lines[-1], **self.app.rss()}
            if self.app.process.poll() is not None:
                raise RuntimeError(f"it ended with {self.app.process.returncode}; {self.screen()}")
            time.sleep(0.01)
        raise TimeoutError(f"it does not answer any more; {self.screen()}")

    def settled(self) -> dict[str, Any]:
        """How it is when every key that was sent has been dealt with. Raises TimeoutError when that never is."""
        end = time.monotonic() + 4 * PATIENCE
        while (told := self.look())["pending"]:
            if time.monotonic() > end:
                raise TimeoutError(f"keys are left lying: {told['pending']}; {self.screen()}")
            time.sleep(0.1)
        return told

    def _told(self) -> list[dict[str, Any]]:
        whole = self.report.read_text("utf-8").splitlines(keepends=True) if self.report.exists() else []
        return [json.loads(line) for line in whole if line.endswith("\n")]

    def screen(self) -> str:
        return f"screen:\n{self.app.text()}"

    def quit(self) -> int:
        """Leave by key, whatever is open; the exit code."""
        self.app.process.send_signal(signal.SIGUSR2)
        self.look()
        self.app.send("ctrl+q")
        self.app.wait_exit(PATIENCE)
        return int(self.app.process.returncode)


def complaints(told: dict[str, Any]) -> Sequence[str]:
    """What a report holds that must never be there."""
    found = [f"an exception: {error}" for error in told["errors"]]
    found += [f"no reading: {statement}" for statement in told["writing"]]
    found += [f"opened without SQLite: {path}" for path in told["opened_raw"]]
    return found
