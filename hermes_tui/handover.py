"""Hand the terminal to `hermes`, for good or for a while. An argument list, never a shell.

The child gets our environment without what belongs to another session or to a test run (FACTS 4.6), default
signal dispositions, and the directory we are in: Hermes goes to the recorded one by itself.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

from hermes_tui.errors import Unsupported

_DROPPED = ("HERMES_TUI_", "PYTEST_")
_DROPPED_NAMES = frozenset({"HERMES_SESSION_SOURCE"})
_DROPPED_IN_TMUX = ("HERMES_SESSION_SOURCE", "HERMES_TUI_RESUME")
"""What a tmux server started by Hermes may hand to its windows, whatever our own environment says."""
_PLACES = ("HERMES_HOME", "HERMES_DATA_DIR_SUFFIX", "PATH")
"""What decides which Hermes and which root: a tmux server may have other values than we have."""
_ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
_KEYBOARD = tuple(getattr(signal, name) for name in ("SIGINT", "SIGQUIT") if hasattr(signal, name))
_JOB = tuple(getattr(signal, name) for name in ("SIGTSTP", "SIGCONT", "SIGTTIN", "SIGTTOU") if hasattr(signal, name))


def environment(additions: Mapping[str, str]) -> dict[str, str]:
    """The child's environment."""
    kept = {name: value for name, value in os.environ.items() if not _foreign(name)}
    return {**kept, **additions}


def _foreign(name: str) -> bool:
    return name.startswith(_DROPPED) or name in _DROPPED_NAMES


def command_line(argv: Sequence[str], env: Mapping[str, str]) -> str:
    """A line for `sh` that does the same."""
    return " ".join([*(f"{name}={shlex.quote(value)}" for name, value in env.items()), shlex.join(argv)])


def program(argv: Sequence[str], env: Mapping[str, str]) -> str:
    """Path of the program. Raises `Unsupported` with the command to copy."""
    found = shutil.which(argv[0], path=environment(env).get("PATH"))
    if found is None:
        raise Unsupported(f"{argv[0]} is not on PATH; install it, or run where it is: {command_line(argv, env)}")
    if os.name == "nt" and found.lower().endswith((".bat", ".cmd")):
        raise Unsupported(
            f"{found} is a batch file, which cannot be given ids safely; run: {command_line(argv, env)}"
        )
    return found


def become(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Replace this process; the terminal must be as it was found. On Windows: run it and return its code.

    Raises `Unsupported` when it cannot be started; otherwise does not return on POSIX.
    """
    path = program(argv, env)
    if os.name == "nt":
        return run(argv, env)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    for name in ("SIGPIPE", "SIGXFSZ"):  # Python ignores these, and what is ignored stays so across exec
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    try:
        os.execve(path, list(argv), environment(env))
    except (OSError, ValueError) as error:
        raise _failed(argv, env, error) from error


def run(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Run it in this terminal, wait, and give back terminal and signals as they were.

    Returns its exit code; 128 + n when signal n ended it. Raises `Unsupported` when it cannot be started.
    """
    path = program(argv, env)
    with _terminal(), _signals() as children:
        try:
            child = subprocess.Popen(list(argv), executable=path, env=environment(env))
        except (OSError, ValueError) as error:
            raise _failed(argv, env, error) from error
        children.append(child)
        code = child.wait()
    return code if code >= 0 else 128 - code


def _failed(argv: Sequence[str], env: Mapping[str, str], error: Exception) -> Unsupported:
    return Unsupported(f"{argv[0]} could not be started ({error}); to try it yourself: {command_line(argv, env)}")


@contextmanager
def _signals() -> Iterator[list[subprocess.Popen[bytes]]]:
    """While a child has the terminal: ctrl+c is the child's alone, an order to end is passed on to it, and
    stopping works as without us. Handlers rather than SIG_IGN, which the child would inherit."""
    children: list[subprocess.Popen[bytes]] = []

    def leave(number: int, frame: FrameType | None) -> None:
        """The child has it too."""

    def pass_on(number: int, frame: FrameType | None) -> None:
        for child in children:
            child.send_signal(number)

    wanted: dict[int, Any] = dict.fromkeys(_KEYBOARD, leave)
    wanted |= dict.fromkeys(_ENDING, pass_on)
    wanted |= dict.fromkeys(_JOB, signal.SIG_DFL)
    before = {number: signal.signal(number, handler) for number, handler in wanted.items()}
    try:
        yield children
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


@contextmanager
def _terminal() -> Iterator[None]:
    """Give back the modes of the terminal and its foreground group, whatever the child did to them."""
    if os.name == "nt" or not os.isatty(0):
        yield
        return
    import termios

    modes = termios.tcgetattr(0)
    try:
        yield
    finally:
        before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # a child may have left us in the background
        try:
            os.tcsetpgrp(0, os.getpgrp())
            termios.tcsetattr(0, termios.TCSADRAIN, modes)
        except (OSError, termios.error):
            return  # the terminal has gone; whoever reads from it next will notice
        finally:
            signal.signal(signal.SIGTTOU, before)


def in_tmux_window(argv: Sequence[str], env: Mapping[str, str], name: str) -> None:
    """Start it in a new window of the tmux that we are in, in the present directory.

    Given as several words, tmux runs a command without a shell. Names and directories are formats to tmux
    (`#(…)` would run), so every `#` goes. Raises `Unsupported` with the reason.
    """
    program(argv, env)
    if not os.environ.get("TMUX"):
        raise Unsupported("There is no tmux around this terminal to open a window in.")
    places = {place: os.environ[place] for place in _PLACES if place in os.environ} | dict(env)
    unset = [word for place in _PLACES if place not in places for word in ("-u", place)]
    foreign = {*_DROPPED_IN_TMUX, *filter(_foreign, os.environ)}
    unset += [word for each in sorted(foreign) for word in ("-u", each)]
    settings = [f"{place}={value}" for place, value in places.items()]
    title = "".join(char for char in name if char.isprintable() and char != "#")[:30].strip() or argv[0]
    here = os.getcwd().replace("#", "##")
    order = ["tmux", "new-window", "-n", title, "-c", here, "--", "env", *unset, *settings, *argv]
    try:
        done = subprocess.run(order, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    except (OSError, ValueError) as error:
        raise _failed(argv, env, error) from error
    if done.returncode:
        raise Unsupported(f"tmux opened no window: {done.stderr.strip() or 'it did not say why'}")
