"""What `hermes` would be asked to do, and what is known about it beforehand."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from enum import StrEnum


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
        """A line for `sh` that runs exactly `argv` with `env` added."""
        names = [f"{name}={shlex.quote(value)}" for name, value in self.env.items()]
        return " ".join([*names, *(shlex.quote(word) for word in self.argv)])
