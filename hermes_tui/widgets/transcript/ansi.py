"""Terminal output as it was meant: the colours it asked for become inks of ours, everything else of its escape
sequences is left out. No byte of it reaches the screen."""

from __future__ import annotations

import colorsys
import re

from hermes_tui.text import clean

_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)(?P<sgr>[\d;:]{0,64})m"
    r"|(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,4}[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]{0,4}[0-OQ-WYZ\\`-~]"
    r"|.\x08"
)
_ANY = re.compile("[\x1b\x08\x90\x98\x9b\x9d-\x9f]")
_COLOURS = ("quiet", "bad", "good", "code", "code-text", "code-number", "code-text", "soft")
_MARKS = {1: "b", 3: "i", 4: "u", 7: "b", 9: "s"}
_OFF = {22: "b", 23: "i", 24: "u", 27: "b", 29: "s"}


def decode(text: str, state: State | None = None) -> tuple[str, list[tuple[int, int, str]]]:
    """(text without escape sequences, safe to show; spans of it in another ink than the base).

    `state` carries colours from one piece of a long text to the next.
    """
    state = state or State()
    if state.ink == state.base and not _ANY.search(text):
        return clean(text), []
    out: list[str] = []
    spans: list[tuple[int, int, str]] = []
    at = length = begun = 0
    for found in _SEQUENCE.finditer(text):
        piece = clean(text[at : found.start()])
        out.append(piece)
        length += len(piece)
        at = found.end()
        codes = found["sgr"]
        if codes is None:
            continue
        if state.ink != state.base and length > begun:
            spans.append((begun, length, state.ink))
        begun = length
        state.read(codes)
    out.append(clean(text[at:]))
    length += len(out[-1])
    if state.ink != state.base and length > begun:
        spans.append((begun, length, state.ink))
    return "".join(out), spans


class State:
    """What the last sequences asked for."""

    def __init__(self, base: str = "quiet") -> None:
        self.base = base
        self.colour = ""
        self.marks: set[str] = set()

    @property
    def ink(self) -> str:
        colour = self.colour or self.base
        return f"{colour}+{''.join(sorted(self.marks))}" if self.marks else colour

    def read(self, codes: str) -> None:
        """One SGR sequence; numbers that mean nothing to us change nothing."""
        numbers = [int(code[:4] or 0) for code in re.split("[;:]", codes)]
        while numbers:
            code = numbers.pop(0)
            if code == 0:
                self.colour = ""
                self.marks.clear()
            elif code in _MARKS:
                self.marks.add(_MARKS[code])
            elif code in _OFF:
                self.marks.discard(_OFF[code])
            elif 30 <= code <= 37 or 90 <= code <= 97:
                self.colour = "quiet" if code == 90 else _COLOURS[code % 10]
            elif code == 39:
                self.colour = ""
            elif code in (38, 48):
                colour = _extended(numbers)
                if code == 38 and colour is not None:
                    self.colour = colour


def _extended(numbers: list[int]) -> str | None:
    """The ink nearest to a 256-colour or true-colour request; takes its numbers off the list."""
    kind = numbers.pop(0) if numbers else 0
    if kind == 5 and numbers:
        index = numbers.pop(0) % 256
        if index < 16:
            return _COLOURS[index % 8] if index != 8 else "quiet"
        if index >= 232:
            return "quiet" if index < 244 else "soft"
        index -= 16
        return _nearest(index // 36 / 5, index // 6 % 6 / 5, index % 6 / 5)
    if kind == 2 and len(numbers) >= 3:
        red, green, blue = (min(255, numbers.pop(0)) / 255 for _ in range(3))
        return _nearest(red, green, blue)
    return None


def _nearest(red: float, green: float, blue: float) -> str:
    hue, _, vivid = colorsys.rgb_to_hls(red, green, blue)
    if vivid < 0.25 or max(red, green, blue) - min(red, green, blue) < 0.15:
        return "soft" if max(red, green, blue) > 0.6 else "quiet"
    degrees = hue * 360
    for limit, ink in ((20, "bad"), (70, "code"), (165, "good"), (255, "code-text"), (330, "code-number")):
        if degrees < limit:
            return ink
    return "bad"
