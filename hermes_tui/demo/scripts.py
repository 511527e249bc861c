"""How the sample conversations are written down, and reading them.

== auth-1                          a session, by a name of its own
start: 2d 14:02                    days before the present and local time, or `68m`: minutes before it
clock: 14:02:00                    what its id says, where the id should be the same whenever the demo is begun
title: Refactoring auth            any column of `sessions`, and cwd, parent, marker, chat, end …

-- you +3                          a line: who, seconds since the line before, further columns
The login test fails …
-- hermes key=race
-- thought                         what the assistant thought before it said that
-- call +9 terminal pytest -q      a tool call; below it what it gave
-- pending terminal make           one that never came back
-- event model_switch …  -- handoff  -- again race
-- undone  -- archived  -- live    what the lines from here on are
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hermes_tui.times import midnight
from hermes_tui.values import dataclass, field

_STORIES = Path(__file__).parent / "stories"
HANDOFF = "[CONTEXT COMPACTION — REFERENCE ONLY]"
HANDOFF_END = "--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---"
"""What Hermes writes around a summary for the model."""
_DIRECTIVE = re.compile(r"-- (?P<word>[a-z]+)(?: \+(?P<pause>\d+))?(?: (?P<rest>.*))?")
_COLUMN = re.compile(r"(\w+)=(\S+)")
_MODES: dict[str, dict[str, int]] = {
    "live": {},
    "undone": {"active": 0},
    "archived": {"active": 0, "compacted": 1},
}
_ARGUMENT = {"terminal": "command", "delegate_task": "goal", "web_search": "query"}
"""Tool → what its one argument is called; for the others it is a path."""
_PIXEL = "data:image/jpeg;base64,/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////2Q=="


@dataclass(slots=True)
class Call:
    """A tool call and what it gave."""

    tool: str
    arguments: dict[str, str]
    result: str | None
    """None: it never came back."""
    pause: float


@dataclass(slots=True)
class Line:
    """One row of `messages`, and the results of the calls in it."""

    role: str
    text: Any
    pause: float
    """Seconds since the line before."""
    calls: list[Call] = field(default_factory=list)
    key: str = ""
    """What a copy names it by."""
    again: str = ""
    """It is a copy of the line with this key: same words, same time, same message."""
    columns: dict[str, Any] = field(default_factory=dict)
    """Further columns of the row."""


@dataclass(slots=True)
class Session:
    """One row of `sessions` and its messages."""

    name: str
    """Unique; the id is made of it."""
    about: dict[str, str]
    """Its head: start, parent, marker, chat, and columns."""
    lines: list[Line] = field(default_factory=list)

    def start(self, present: float) -> float:
        """When it began, epoch seconds."""
        return moment(self.about["start"], present)


def moment(when: str, present: float) -> float:
    """`2d 14:02` or `68m` before the present."""
    back, _, clock = when.partition(" ")
    if not clock:
        return present - 60 * float(back.removesuffix("m"))
    hours, minutes = clock.split(":")
    return midnight(present, -int(back.removesuffix("d"))) + int(hours) * 3_600 + int(minutes) * 60


def stories(fillings: Mapping[str, str]) -> list[Session]:
    """Every written session, parents before children. `fillings`: texts too long to write down, by placeholder."""
    found: list[Session] = []
    for path in sorted(_STORIES.glob("*.txt")):
        for part in ("\n" + path.read_text("utf-8").replace("␛", "\x1b")).split("\n== ")[1:]:
            head, _, body = part.strip("\n").partition("\n\n")
            name, *pairs = head.split("\n")
            about = dict(pair.split(": ", 1) for pair in pairs)
            found.append(Session(name, about, _lines(body, fillings)))
    return found


def _lines(body: str, fillings: Mapping[str, str]) -> list[Line]:
    lines: list[Line] = []
    mode: dict[str, int] = {}
    for directive, text in _parts(body):
        word, rest = directive["word"], directive["rest"] or ""
        pause = float(directive["pause"] or 0)
        text = fillings.get(text, text)
        if word in _MODES:
            mode = _MODES[word]
        elif word == "thought":
            lines[-1].columns["reasoning"] = text
        elif word in ("call", "pending"):
            lines[-1].calls.append(_call(rest, text if word == "call" else None, pause or 4.0))
            lines[-1].columns["finish_reason"] = "tool_calls"
        else:
            lines.append(_line(word, rest, text, pause))
            lines[-1].columns |= mode
    return lines


def _parts(body: str) -> list[tuple[re.Match[str], str]]:
    """Each directive with the text below it."""
    found: list[tuple[re.Match[str], list[str]]] = []
    for line in body.rstrip("\n").split("\n"):
        directive = _DIRECTIVE.fullmatch(line)
        if directive is not None:
            found.append((directive, []))
        elif found:
            found[-1][1].append(line)
    return [(directive, "\n".join(text)) for directive, text in found]


def _line(word: str, rest: str, text: str, pause: float) -> Line:
    if word == "again":
        return Line("", None, 0.0, again=rest)
    if word == "handoff":
        columns = {"_compressed_summary": 1}
        return Line("user", f"{HANDOFF}\n{text}\n{HANDOFF_END}", pause or 2.0, columns=columns)
    if word == "event":
        kind, _, said = rest.partition(" ")
        told = {"display_kind": kind, "display_metadata": json.dumps({"display_text": said})}
        return Line("user", said, pause or 5.0, columns=told)
    if word == "nudge":
        return Line("user", text, pause or 2.0, columns={"display_kind": "hidden"})
    if word == "meta":
        return Line("session_meta", text, pause)
    if word == "codex":
        return Line("assistant", None, pause or 9.0, columns={"codex_message_items": _codex(rest, text)})
    more: dict[str, str] = dict(_COLUMN.findall(rest))
    key, image = more.pop("key", ""), more.pop("image", "")
    if word == "hermes":
        return Line("assistant", text or None, pause or 9.0, key=key, columns={"finish_reason": "stop", **more})
    picture = {"type": "image_url", "image_url": {"url": _PIXEL}}
    words = [{"type": "text", "text": text}, picture] if image else text
    return Line("user", words, pause or 70.0, key=key, columns={**more})


def _codex(commentary: str, answer: str) -> str:
    """An answer as Codex models give it, beside the content."""

    def item(phase: str, text: str) -> dict[str, Any]:
        content = [{"type": "output_text", "text": text}]
        return {"type": "message", "role": "assistant", "phase": phase, "content": content}

    return json.dumps([item("commentary", commentary), item("final_answer", answer)])


def _call(rest: str, result: str | None, pause: float) -> Call:
    tool, _, argument = rest.partition(" ")
    arguments = {_ARGUMENT.get(tool, "path"): argument}
    if tool == "patch" and result is not None:
        arguments["patch"] = result
        signs = [line[:1] for line in result.split("\n") if line[:3] not in ("+++", "---")]
        result = f"{argument}: +{signs.count('+')} −{signs.count('-')}"
    return Call(tool, arguments, result, pause)
