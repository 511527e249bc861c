"""A tmux of one's own with one program in it, and a `hermes` that only takes notes."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

COMMAND = [str(Path(sys.executable).parent / "hermes-tui")]
"""The installed command."""
_PATIENCE = 30.0
_LOOK_EVERY = 0.03


class Tmux:
    """A program in a tmux window; a context manager that ends its server."""

    def __init__(
        self, argv: Sequence[str], size: tuple[int, int], *, env: Mapping[str, str], cwd: Path, output: Path
    ) -> None:
        """`env`: added to the environment; `output`: a file that gets every byte that the program writes."""
        self._server = f"hermes-tui-test-{uuid.uuid4().hex[:12]}"
        self._argv, self._size, self._env, self._cwd = list(argv), size, dict(env), cwd
        self.output = output

    def __enter__(self) -> Self:
        width, height = self._size
        window = ["-x", str(width), "-y", str(height), "-c", str(self._cwd)]
        # The window waits until its bytes are being written down, and says at last how the program ended.
        program = shlex.join(["env", *(f"{name}={value}" for name, value in self._env.items()), *self._argv])
        line = f"read -r start; {program}; echo ended with $?; read -r end"
        self._tmux("new-session", "-d", *window, "sh", "-c", line)
        self._tmux("set-option", "-g", "status", "off")
        self._tmux("pipe-pane", "-O", f"cat >> {shlex.quote(str(self.output))}")
        self.press("Enter")
        return self

    def __exit__(self, *exc: object) -> None:
        self._tmux("kill-server", check=False)

    def _tmux(self, *words: str, check: bool = True) -> str:
        outside = {name: value for name, value in os.environ.items() if name not in ("TMUX", "TMUX_PANE")}
        argv = ["tmux", "-L", self._server, "-f", "/dev/null", *words]
        return subprocess.run(argv, env=outside, capture_output=True, text=True, check=check).stdout

    def press(self, *keys: str) -> None:
        """Keys by tmux's names."""
        self._tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        """Text as it stands."""
        self._tmux("send-keys", "-l", text)

    def text(self) -> str:
        """The screen."""
        return self._tmux("capture-pane", "-p")

    def wait(self, pattern: str, *, gone: bool = False) -> str:
        """The screen as soon as it shows this (a regular expression; `gone`: no longer shows it)."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            shown = self.text()
            if bool(re.search(pattern, shown)) != gone:
                return shown
            time.sleep(_LOOK_EVERY)
        raise AssertionError(f"{pattern!r} {'still' if gone else 'not'} seen; screen:\n{self.text()}")

    def wait_written(self, wanted: bytes) -> None:
        """Until the program has written these bytes."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            if self.output.exists() and wanted in self.output.read_bytes():
                return
            time.sleep(_LOOK_EVERY)
        raise AssertionError(f"{wanted!r} was not written")

    def flags(self) -> str:
        """Whether the window is in the alternate screen or takes the mouse."""
        return self._tmux("display-message", "-p", "#{alternate_on} #{mouse_any_flag} #{cursor_flag}").strip()


STUB = """#!/bin/sh
to="$RECORD"
printf '%s\\n' "$0" "$@" > "$to/argv"
env > "$to/env"
pwd > "$to/cwd"
stty -a > "$to/stty"
printf 'stub asks: '
read -r line
printf '%s\\n' "$line" > "$to/line"
exit 7
"""


class Hermes:
    """A command `hermes` in a folder of its own that writes down how it was run, and reads a line."""

    def __init__(self, folder: Path) -> None:
        self.bin, self.notes = folder / "bin", folder / "notes"
        self.bin.mkdir()
        self.notes.mkdir()
        stub = self.bin / "hermes"
        stub.write_text(STUB, "utf-8")
        stub.chmod(0o755)

    def environment(self) -> dict[str, str]:
        """What makes it the `hermes` that is found."""
        return {"PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}", "RECORD": str(self.notes)}

    def note(self, name: str) -> str:
        return (self.notes / name).read_text("utf-8")

    @property
    def argv(self) -> list[str]:
        return self.note("argv").splitlines()[1:]

    @property
    def env(self) -> dict[str, str]:
        pairs = (line.partition("=") for line in self.note("env").splitlines() if "=" in line)
        return {name: value for name, _, value in pairs}
