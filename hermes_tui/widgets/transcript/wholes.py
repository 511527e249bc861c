"""Long texts made ready to be shown, a little at a time: whoever waits takes steps of a millisecond or two."""

from __future__ import annotations

import re
from collections.abc import Generator

from hermes_tui.text import clean
from hermes_tui.values import dataclass
from hermes_tui.widgets.transcript.ansi import State, decode
from hermes_tui.widgets.transcript.codes import Spans
from hermes_tui.widgets.transcript.outcomes import Outcome, main_text_at, read_outcome, unescaped

_STEP = 64_000
_SMALL = 100_000
_PAIR = r"\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}"
_STRING = re.compile(rf'(?:[^"\\]|{_PAIR}|\\u[\da-fA-F]{{4}}|\\.){{1,60000}}+', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Whole:
    """A text that was asked for whole, safe to show."""

    text: str
    spans: Spans
    """Places in other inks, of output only."""
    outcome: Outcome | None = None
    """Of output: what else is known of it; its own text is not used."""


def prepare(text: str, *, output: bool) -> Generator[None, None, Whole]:
    """Steps to a `Whole`. `output`: a tool's, which may be JSON and may be coloured."""
    if not output:
        pieces = []
        for start, end in _steps(text):
            pieces.append(clean(text[start:end]))
            yield
        return Whole("".join(pieces), [])
    outcome = read_outcome(text, len(text)) if len(text) <= _SMALL else None
    if outcome is None:
        begin = main_text_at(text)
        if begin is not None:
            text = yield from _unpacked(text, begin)
        outcome = Outcome("", "", "")
    else:
        text = outcome.text
    return (yield from _decoded(text, outcome))


def _steps(text: str) -> list[tuple[int, int]]:
    """Stretches that end with a line where there is one."""
    found = []
    at = 0
    while at < len(text):
        end = at + _STEP
        if end < len(text):
            end = (text.rfind("\n", at, end) + 1) or end
        found.append((at, min(end, len(text))))
        at = end
    return found


def _unpacked(text: str, at: int) -> Generator[None, None, str]:
    """The JSON string that begins here, and what follows it."""
    pieces = []
    while found := _STRING.match(text, at):
        pieces.append(unescaped(found[0]))
        at = found.end()
        yield
    rest = text[at + 1 :].strip().strip("{},").strip()
    return "".join(pieces) + (f"\n{rest}" if rest else "")


def _decoded(text: str, outcome: Outcome) -> Generator[None, None, Whole]:
    state = State()
    pieces: list[str] = []
    spans: Spans = []
    length = 0
    for start, end in _steps(text):
        piece, own = decode(text[start:end], state)
        pieces.append(piece)
        spans += [(a + length, b + length, ink) for a, b, ink in own]
        length += len(piece)
        yield
    return Whole("".join(pieces).rstrip("\n"), spans, outcome)
