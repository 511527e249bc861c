"""What surrounds the stores, for `doctor`: this program, the terminal, the clipboard. Of the environment only what
a terminal is called and whether something is set; nothing of what a person has called or written."""

from __future__ import annotations

import os
import platform
import re
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from importlib import metadata

from hermes_tui import __version__, clipboard, text
from hermes_tui.domain.resume import Check, State
from hermes_tui.paths import user_home

_LIBRARIES = ("textual", "rich")
_LONGEST = 40
"""Characters of a value of the environment."""
_SET = {
    "TMUX": "tmux",
    "STY": "screen",
    "SSH_CONNECTION": "SSH",
    "WT_SESSION": "Windows Terminal",
    "NO_COLOR": "NO_COLOR",
    "HERMES_HOME": "HERMES_HOME",
    "HERMES_TUI_NOW": "HERMES_TUI_NOW",
}
"""Variables of which it is told that they are set, and not what they say."""


def surroundings(env: Mapping[str, str]) -> Iterator[Check]:
    """What the answers above depend on."""
    yield Check("program", State.OK, _program())
    yield Check("terminal", State.OK, _terminal(env))
    yield Check("clipboard", State.OK, clipboard.route(env))


def _program() -> str:
    libraries = [f"{name} {_version(name)}" for name in _LIBRARIES]
    python = f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    return f"hermes-tui {__version__}, {python}, {', '.join(libraries)}, {platform.system()} {platform.machine()}"


def _version(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return "of an unknown version"


def _terminal(env: Mapping[str, str]) -> str:
    said = [f"TERM {_value(env, 'TERM')}", f"COLORTERM {_value(env, 'COLORTERM')}"]
    said += [_size(), f"output in {text.one_line(getattr(sys.stdout, 'encoding', None) or 'no encoding', _LONGEST)}"]
    if there := [word for name, word in _SET.items() if env.get(name)]:
        said.append(f"set: {', '.join(there)}")
    return ", ".join(said)


def _value(env: Mapping[str, str], name: str) -> str:
    return text.one_line(env.get(name, ""), _LONGEST) or "not set"


def _size() -> str:
    """Of the terminal that somebody sits at."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        try:
            width, height = os.get_terminal_size(stream.fileno())
        except (AttributeError, OSError, ValueError):
            continue
        return f"{width}×{height}"
    return "no terminal"


def at_home(said: str) -> str:
    """With `~` for the person's home, whose name is often their own."""
    for home in {str(user_home()), os.path.realpath(user_home())} - {"/", "~"}:
        said = re.sub(rf"(?<![\w.-]){re.escape(home)}(?![\w.-])", "~", said)
    return said
