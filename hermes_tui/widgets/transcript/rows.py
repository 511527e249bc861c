"""Rows: what a line of the transcript is made of, and how text is broken into them.

A run is text, the name of its ink, and where it stands in the text it was made from; a row is runs and how they
lie on the page. Both are exact tuples of strings and numbers, which the garbage collector stops looking at: a
reader keeps thousands of them. An ink may carry marks after a `+`: b(old), i(talic), u(nderlined), s(truck).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from rich.cells import cell_len, get_character_cell_size, split_graphemes

Run = tuple[str, str, int]
"""Text, ink, offset of its first character in the source; -1 for what the page adds."""
Runs = tuple[Run, ...]
Row = tuple[Runs, Runs, str, int, int, int, int, int]
"""(runs, right, ground, indent, item, block, fixed, at)

right: runs at the right edge · ground, indent: as in `ink.Line` · item: index of the item that the row belongs to ·
block: number of the wide block that it scrolls with, or -1 · fixed: how many leading runs do not scroll ·
at: offset in the source where the row begins; it never falls from row to row of one message.
"""
Span = tuple[int, int]

GUTTER = 9
"""Time in cells 1–5, mark in 7; text begins here."""
MEASURE = 100
"""Prose ends after this many cells; tables and code may run to the edge."""
MARGIN: Run = (" " * GUTTER, "ink", -1)


def row(
    runs: Iterable[Run],
    at: int,
    *,
    right: Runs = (),
    ground: str = "",
    indent: int = 0,
    item: int = 0,
    block: int = -1,
    fixed: int = 1,
) -> Row:
    """A row of these runs, the gutter among them."""
    return (tuple(runs), right, ground, indent, item, block, fixed, at)


def text_of(each: Row) -> str:
    """What a row says, for tests."""
    return "".join(run[0] for run in each[0] + each[1])


def cells(text: str) -> int:
    """Width in cells."""
    return len(text) if text.isascii() else cell_len(text)


def measure(runs: Iterable[Run]) -> int:
    """Width of runs in cells."""
    return sum(cells(run[0]) for run in runs)


def cuts(text: str, width: int, hang: int = 0) -> list[int]:
    """Where to break `text`, so that each line has at most `width` cells and those after the first leave room
    for a hanging indent: after blanks, between wide characters, and anywhere in a word that is too long."""
    if text.isascii():
        return _plain_cuts(text, width, hang) if len(text) > width else []
    if cell_len(text) <= width:
        return []
    return _wide_cuts(text, width, hang)


def _plain_cuts(text: str, width: int, hang: int) -> list[int]:
    found: list[int] = []
    start, room, end = 0, max(1, width), len(text)
    while end - start > room:
        blank = text.rfind(" ", start + 1, start + room + 1)
        start = blank + 1 if blank > start and text[start:blank].strip() else start + room
        found.append(start)
        room = max(4, width - hang)
    return [at for at in found if at < end]


def _graphemes(text: str) -> Iterable[tuple[int, int]]:
    if "\u200d" in text or "\ufe0f" in text:
        return [(start, size) for start, _, size in split_graphemes(text)[0]]
    return [(i, get_character_cell_size(char)) for i, char in enumerate(text)]


def cluster_at(text: str, cell: int, *, within: bool = False) -> int:
    """Index of the first character that begins at this cell or beyond it; with `within`, of the first that ends
    beyond it: up to there the text fits."""
    if text.isascii():
        return max(0, min(cell, len(text)))
    used = 0
    for i, size in _graphemes(text):
        if used + size > cell if within else used >= cell:
            return i
        used += size
    return len(text)


def _wide_cuts(text: str, width: int, hang: int) -> list[int]:
    found: list[int] = []
    used = chance = since = start = 0
    room = max(2, width)
    for i, size in _graphemes(text):
        blank = text[i] == " "
        if size == 2 and i > start:
            chance, since = i, used
        if used + size > room and not blank and i > start:
            if chance > start:
                found.append(chance)
                start, used = chance, used - since
            else:
                found.append(i)
                start, used = i, 0
            room = max(4, width - hang)
        used += size
        if blank or size == 2:
            chance, since = i + 1, used
    return found


def wrap(runs: Sequence[Run], width: int, hang: int = 0) -> list[list[Run]]:
    """The runs in lines of at most `width` cells; blanks at a break are dropped."""
    points = cuts("".join([run[0] for run in runs]), width, hang)
    if not points:
        return [list(runs)]
    lines: list[list[Run]] = []
    present: list[Run] = []
    at = 0
    targets = iter((*points, -1))
    target = next(targets)
    for text, ink, source in runs:
        while target >= 0 and at + len(text) >= target:
            keep = target - at
            present.append((text[:keep], ink, source))
            lines.append(_trimmed(present))
            present = []
            text, at = text[keep:], target
            source = source + keep if source >= 0 else -1
            target = next(targets)
        if text:
            present.append((text, ink, source))
            at += len(text)
    if present:
        lines.append(_trimmed(present))
    return lines


def _trimmed(line: list[Run]) -> list[Run]:
    while line:
        text, ink, source = line[-1]
        kept = text.rstrip(" ")
        if kept or len(line) == 1:
            line[-1] = (kept or text, ink, source)
            break
        line.pop()
    return line


def overlay(runs: Iterable[Run], spans: Sequence[Span], ink: str) -> list[Run]:
    """The runs, with the places of the source that `spans` (sorted, apart) cover in another ink."""
    runs = list(runs)
    if not spans:
        return runs
    out: list[Run] = []
    for text, own, source in runs:
        if source < 0 or not text:
            out.append((text, own, source))
            continue
        end, at = source + len(text), source
        i = max(0, bisect_left(spans, (source, -1)) - 1)
        while i < len(spans) and spans[i][0] < end:
            a, b = max(at, spans[i][0]), min(end, spans[i][1])
            if b > a:
                if a > at:
                    out.append((text[at - source : a - source], own, at))
                out.append((text[a - source : b - source], ink, a))
                at = b
            i += 1
        if at < end:
            out.append((text[at - source :], own, at) if at > source else (text, own, source))
    return out


def tabbed(text: str, ink: str, source: int, column: int = 0) -> list[Run]:
    """One line as runs, its tabs as blanks up to the next stop of four; each blank stands for its tab."""
    if "\t" not in text:
        return [(text, ink, source)] if text else []
    out: list[Run] = []
    pieces = text.split("\t")
    for i, piece in enumerate(pieces):
        if piece:
            out.append((piece, ink, source))
            source += len(piece)
            column += cells(piece)
        if i < len(pieces) - 1:
            wide = 4 - column % 4
            out += [(" ", ink, source)] * wide
            source += 1
            column += wide
    return out


def inked(text: str, source: int, spans: Iterable[tuple[int, int, str]], ink: str) -> list[Run]:
    """One line as runs: `spans` are (start, end, ink) within it, sorted and apart; tabs are expanded."""
    out: list[Run] = []
    at = column = 0
    for start, end, own in (*spans, (len(text), len(text), ink)):
        for a, b, name in ((at, start, ink), (start, end, own)):
            if b > a:
                runs = tabbed(text[a:b], name, source + a, column)
                column += measure(runs)
                out += runs
        at = max(at, end)
    return out
