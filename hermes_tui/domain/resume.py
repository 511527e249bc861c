"""What `hermes` would be asked to do, and what is known about it beforehand."""

from __future__ import annotations

import shlex
from enum import StrEnum

from hermes_tui.text import clean
from hermes_tui.values import dataclass


class State(StrEnum):
    """Outcome of a check."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Check:
    """One fact of a preflight, or one line of `doctor`."""

    name: str
    state: State
    detail: str


@dataclass(frozen=True, slots=True)
class ResumePlan:
    """The command that continues a conversation."""

    argv: tuple[str, ...]
    """First word literally `hermes`; each id one argument."""
    env: dict[str, str]
    """Additions to the environment only."""
    cwd: str | None
    """The recorded directory: Hermes goes there itself; None when none is recorded."""
    target_id: str
    """The session that Hermes 0.22.2 will continue."""
    requested_id: str
    """The full id of the session asked for."""
    checks: tuple[Check, ...]
    notices: tuple[str, ...] = ()
    refused: str | None = None
    """The sentence that says why this cannot be resumed; then `argv` is only of use to read."""

    @property
    def command(self) -> str:
        """A line for `sh` that runs exactly `argv` with `env` added, and that a terminal can be shown."""
        names = [f"{name}={quoted(value)}" for name, value in self.env.items()]
        return " ".join([*names, *map(quoted, self.argv)])


def quoted(word: str) -> str:
    """The word for a shell. What could act on a terminal is written as its bytes, in `$'…'`, which bash, zsh and ksh
    read: there is no other way to write it on one line."""
    if not any(map(_acts, word)):
        return shlex.quote(word)
    return "$'" + "".join(_escaped(char) if _acts(char) else _ESCAPED.get(char, char) for char in word) + "'"


_ESCAPED = {"'": "\\'", "\\": "\\\\"}


def _acts(char: str) -> bool:
    return char in "\n\r\t" or clean(char) != char


def _escaped(char: str) -> str:
    undecoded = "\udc80" <= char <= "\udcff"  # a byte of a path that is no UTF-8
    return "".join(
        f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape" if undecoded else "surrogatepass")
    )
