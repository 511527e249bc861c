"""The end of a conversation as Hermes tells it when a session is resumed (FACTS 5). Pure.

We differ in this: a hand-off, a skill's scaffold or a steering mark is told as what it is and never put into
the person's mouth, and structured content is read instead of printed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hermes_tui.domain.messages import EVENTS, HANDOFF, Message, RecapEntry
from hermes_tui.values import dataclass

_THOUGHTS = ("think", "thinking", "reasoning", "thought", "reasoning_scratchpad", "思考", "反思", "推理", "推敲")
_CALLS = ("tool_call", "tool_calls", "tool_result", "function_call", "function_calls")
_BLOCKS = tuple(
    (re.compile(rf"<{opening}>", re.IGNORECASE), re.compile(rf"</{closing}>\s*", re.IGNORECASE), cut)
    for opening, closing, cut in (
        *((name, name, True) for name in _THOUGHTS),
        *((rf"(?:[\w.-]{{1,40}}:)?{name}\b[^<>]{{0,500}}", rf"(?:[\w.-]{{1,40}}:)?{name}", False) for name in _CALLS),
    )
)
"""Beginning and end of what leaks into answers, and whether one without an end reaches to the end of the text."""
_STRAY = re.compile(
    rf"</?(?:[\w.-]{{1,40}}:)?(?:{'|'.join((*_THOUGHTS, *_CALLS))})\b[^<>]{{0,500}}>\s*", re.IGNORECASE
)
_SEQUENCES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]?|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])|\x9b[0-?]*[ -/]*[@-~]?"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class RecapSettings:
    """Hermes' `display.resume_*`, with its defaults."""

    shown: bool = True
    """False for `resume_display: minimal`: no recap is wanted."""
    exchanges: int = 10
    """Half the number of entries."""
    user_characters: int = 300
    assistant_characters: int = 200
    assistant_lines: int = 3
    skip_tool_only: bool = True
    """Turns that only called tools are no entries."""

    @property
    def entries(self) -> int:
        return max(0, 2 * self.exchanges)


def recap_settings(display: Mapping[str, Any]) -> RecapSettings:
    """The settings in the section `display` of Hermes' configuration; nonsense reads as the default."""
    default = RecapSettings()

    def number(name: str, otherwise: int) -> int:
        value = display.get(name, otherwise)
        try:
            return int(value)
        except (TypeError, ValueError, OverflowError):
            return otherwise

    return RecapSettings(
        shown=display.get("resume_display") != "minimal",
        exchanges=number("resume_exchanges", default.exchanges),
        user_characters=max(0, number("resume_max_user_chars", default.user_characters)),
        assistant_characters=max(0, number("resume_max_assistant_chars", default.assistant_characters)),
        assistant_lines=max(0, number("resume_max_assistant_lines", default.assistant_lines)),
        skip_tool_only=bool(display.get("resume_skip_tool_only", True)),
    )


def plain(text: str) -> str:
    """Text without terminal sequences and control characters, a carriage return as a line break."""
    if text.isprintable():
        return text
    return _CONTROLS.sub("", _SEQUENCES.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def spoken(text: str) -> str:
    """What an answer says once thoughts and calls that leaked into it are taken out."""
    if "<" in text:
        for opening, closing, cut in _BLOCKS:
            text = _without_blocks(text, opening, closing, cut=cut)
        text = _STRAY.sub("", text)
    return plain(text).strip()


def _without_blocks(text: str, opening: re.Pattern[str], closing: re.Pattern[str], *, cut: bool) -> str:
    """`text` without what stands between such marks; in one pass, however many marks there are."""
    kept: list[str] = []
    at = 0
    while (begun := opening.search(text, at)) is not None:
        ended = closing.search(text, begun.end())
        if ended is None:
            return "".join([*kept, text[at : begun.start()] if cut else text[at:]])
        kept.append(text[at : begun.start()])
        at = ended.end()
    return "".join([*kept, text[at:]]) if kept else text


def entry_of(message: Message, settings: RecapSettings, *, whole: bool = False) -> RecapEntry | None:
    """A message as an entry, shortened unless `whole`; None for what a recap leaves out."""
    if message.kind == HANDOFF or (message.kind in EVENTS and message.kind != "steer"):
        if message.role in ("user", "assistant"):
            return RecapEntry("event", plain(message.label or message.text), timestamp=message.timestamp)
        return None
    if message.role == "user":
        text = plain(message.label or message.text).strip()
        return RecapEntry("user", _cut(text, settings.user_characters), timestamp=message.timestamp)
    if message.role != "assistant":
        return None
    text = spoken(message.text)
    calls = message.tool_calls or ()
    if not text and (settings.skip_tool_only or not calls):
        return None
    names = tuple(dict.fromkeys(plain(call.name) for call in calls))
    return RecapEntry("assistant", text if whole else _shorten(text, settings), names, len(calls), message.timestamp)


def _shorten(text: str, settings: RecapSettings) -> str:
    lines = text.splitlines()
    if len(lines) > settings.assistant_lines:
        text = "\n".join(lines[: settings.assistant_lines]) + " ..."
    return _cut(text, settings.assistant_characters)


def _cut(text: str, limit: int) -> str:
    return text[:limit] + "..." if len(text) > limit else text


def worth_showing(message: Message) -> bool:
    """Whether a message helps to see what a conversation was about: somebody's words, no hand-off, no event."""
    if message.role not in ("user", "assistant") or message.kind == HANDOFF:
        return False
    return (message.kind not in EVENTS or message.kind == "steer") and bool(message.text.strip())
