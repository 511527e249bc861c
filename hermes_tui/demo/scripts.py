"""How the sample conversations are written down: sessions of lines, with pauses instead of times.

Session("auth-1", day(2, "14:02"), title="Refactoring auth", lines=(
    you("The login test fails …"),
    hermes("I will look.", call("terminal", {"command": "pytest"}, "1 failed"), thought="…"),
))
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hermes_tui.times import midnight

When = Callable[[float], float]
"""The present → a time before it."""

SONNET, HAIKU, OPUS, CODEX, DEEPSEEK = (
    "anthropic/claude-sonnet-4.6",
    "anthropic/claude-haiku-4.5",
    "anthropic/claude-opus-4.5",
    "gpt-5.2-codex",
    "deepseek/deepseek-v4",
)
HANDOFF = "[CONTEXT COMPACTION — REFERENCE ONLY]"
HANDOFF_END = "--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---"


def day(days: int, clock: str) -> When:
    """That many calendar days before the present, at this local time."""
    hours, minutes = (int(part) for part in clock.split(":"))
    return lambda present: midnight(present, -days) + hours * 3_600 + minutes * 60


def minutes(before: float) -> When:
    """That many minutes before the present."""
    return lambda present: present - before * 60


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call and what it gave."""

    tool: str
    arguments: Mapping[str, Any]
    result: str | None
    """None: it never came back."""
    pause: float = 4.0


@dataclass(frozen=True, slots=True)
class Line:
    """One row of `messages`, and the results of the calls in it."""

    role: str
    text: Any
    pause: float
    """Seconds since the line before."""
    calls: tuple[Call, ...] = ()
    key: str = ""
    """What `again` names it by."""
    again: str = ""
    """It is a copy of the line with this key: same words, same time, same message."""
    columns: Mapping[str, Any] = field(default_factory=dict)
    """Further columns of the row."""


@dataclass(frozen=True, slots=True)
class Session:
    """One row of `sessions` and its messages."""

    name: str
    """Unique; the id is made of it."""
    start: When
    lines: tuple[Line, ...] = ()
    title: str | None = None
    source: str = "cli"
    model: str = SONNET
    cwd: str | None = None
    branch: str | None = None
    end: str | None = "user_exit"
    """How it ended; None: it has not."""
    parent: str | None = None
    """Name of the session that it descends from."""
    marker: str | None = None
    """branched, delegate or reset: what it is to its parent, where that did not end by compression."""
    chat: str | None = None
    """Who is at the other end, on a messaging platform."""
    columns: Mapping[str, Any] = field(default_factory=dict)
    """Further columns of the row."""


def you(text: Any, pause: float = 70.0, *, key: str = "", **columns: Any) -> Line:
    """What the person said."""
    return Line("user", text, pause, key=key, columns=columns)


def hermes(
    text: str | None, *calls: Call, pause: float = 9.0, thought: str | None = None, key: str = "", **columns: Any
) -> Line:
    """What the assistant said, thought and called."""
    told = {"finish_reason": "tool_calls" if calls else "stop", **columns}
    if thought:
        told["reasoning"] = thought
    return Line("assistant", text, pause, calls, key=key, columns=told)


def call(tool: str, arguments: Mapping[str, Any], result: str | None, pause: float = 4.0) -> Call:
    """A tool call inside `hermes(…)`."""
    return Call(tool, arguments, result, pause)


def run(command: str, result: str | None, pause: float = 4.0) -> Call:
    """A command in the terminal."""
    return Call("terminal", {"command": command}, result, pause)


def event(kind: str, text: str, pause: float = 5.0, **metadata: Any) -> Line:
    """What happened between two messages."""
    told = {"display_kind": kind, "display_metadata": json.dumps({"display_text": text, **metadata})}
    return Line("user", text, pause, columns=told)


def again(key: str) -> Line:
    """A line that was said before and was carried over."""
    return Line("", None, 0.0, again=key)


def handoff(summary: str) -> Line:
    """What a compaction leaves for the model in place of what it took away."""
    return Line("user", f"{HANDOFF}\n{summary}\n{HANDOFF_END}", 2.0, columns={"_compressed_summary": 1})


def undone(*lines: Line) -> tuple[Line, ...]:
    """Lines that were taken back."""
    return tuple(replace(line, columns={**line.columns, "active": 0}) for line in lines)


def archived(*lines: Line) -> tuple[Line, ...]:
    """Lines that a compaction in place put away; people still see them."""
    return tuple(replace(line, columns={**line.columns, "active": 0, "compacted": 1}) for line in lines)
