"""Folded lines, and the output below an open one: a guide line at its left, long lines cut or wrapped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hermes_tui.values import dataclass
from hermes_tui.widgets.ink import cut
from hermes_tui.widgets.transcript.codes import Spans, by_line, colours, family_of, looks_like_diff
from hermes_tui.widgets.transcript.markdown import Page
from hermes_tui.widgets.transcript.rows import GUTTER, MARGIN, Row, Run, Runs, cells, inked, measure, row, wrap

GUIDE: Run = ("│ ", "guide", -1)
_CHUNK_LINES, _CHUNK_CHARS = 100, 12_000
_TOO_WIDE = 4
"""A line that is so many times as long as there is room is wrapped: nobody scrolls that far sideways."""


@dataclass(frozen=True, slots=True)
class Fold:
    """A line that opens."""

    name: str
    arguments: str
    """Safe, on one line, of any length."""
    notes: Runs
    """Stand at the right end of the measure."""
    opened: bool


def fold_words(fold: Fold) -> str:
    """What a folded line says, for whoever selects it."""
    return f"{fold.name}  {fold.arguments}" if fold.arguments else fold.name


def fold_line(fold: Fold, page: Page) -> Row:
    """`▸ name  arguments … notes`; `page.part` is where `fold_words` stands in the message."""
    room = page.room
    taken = measure(fold.notes)
    runs = _cut(fold.name, "lit", 0, room - taken - 2)
    rest = room - measure(runs) - taken - 4
    if fold.arguments and rest > 1:
        at = len(fold.name)
        runs += [("  ", "quiet", at), *_cut(fold.arguments, "quiet", at + 2, rest)]
    blank = max(1, room - measure(runs) - taken)
    mark: Run = ("▾" if fold.opened else "▸", "quiet", -1)
    left: tuple[Run, ...] = ((" " * (GUTTER - 2), "ink", -1), mark, (" ", "ink", -1))
    tail: tuple[Run, ...] = ((" " * blank, "ink", -1), *fold.notes) if fold.notes else ()
    return row((*left, *page.runs(runs), *tail), page.part, item=page.item)


def _cut(text: str, ink: str, source: int, room: int) -> list[Run]:
    """At most `room` cells of a text."""
    if cells(text) <= room:
        return [(text, ink, source)]
    kept = cut(text, room - 1).rstrip()
    return [(kept, ink, source), ("…", "quiet", -1)]


def guided(rows: Iterator[Row]) -> Iterator[Row]:
    """Rows set on a page two cells narrower, with the line that shows what they belong to."""
    for each in rows:
        runs = each[0] or (MARGIN,)
        yield ((runs[0], GUIDE, *runs[1:]), *each[1:6], each[6] + 1, each[7])


def output_rows(text: str, spans: Spans, page: Page, language: str = "", limit: int = 0) -> Iterator[Row]:
    """What a tool said, at most `limit` lines of it; `spans` in other inks, or the colours of its language."""
    block, page.blocks = page.blocks, page.blocks + 1
    coloured = not spans and (family_of(language) is not None or looks_like_diff(text))
    at = count = first = 0
    while at <= len(text) and not (limit and count >= limit):
        lines: list[str] = []
        begin = at
        size = 0
        while (
            at <= len(text) and len(lines) < _CHUNK_LINES and size < _CHUNK_CHARS and not (limit and count >= limit)
        ):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            lines.append(text[at:end])
            size += end - at
            at, count = end + 1, count + 1
        while first < len(spans) and spans[first][1] <= begin:
            first += 1
        own = _within(spans, first, begin, at)
        if coloured and size <= 2 * _CHUNK_CHARS:
            own = colours("\n".join(lines), language)
        yield from _output_chunk(lines, begin, own, page, block)


def _within(spans: Spans, first: int, begin: int, end: int) -> Spans:
    found: Spans = []
    while first < len(spans) and spans[first][0] < end:
        start, stop, ink = spans[first]
        found.append((max(0, start - begin), stop - begin, ink))
        first += 1
    return found


def _output_chunk(lines: Sequence[str], begin: int, spans: Spans, page: Page, block: int) -> Iterator[Row]:
    room = max(1, page.width - GUTTER - 3)
    for line, own in zip(lines, by_line(lines, spans), strict=True):
        runs = inked(line, begin, own, page.ink)
        if len(line) > _TOO_WIDE * room or (not line.isascii() and cells(line) > _TOO_WIDE * room):
            for broken in wrap(runs, max(1, min(page.room - 2, room))):
                yield row((MARGIN, GUIDE, *page.runs(broken)), page.part + broken[0][2], item=page.item, fixed=2)
        else:
            yield row((MARGIN, GUIDE, *page.runs(runs)), page.part + begin, item=page.item, block=block, fixed=2)
        begin += len(line) + 1
