"""Rows as strips, exactly as wide as the pane; and the same with the place in the text that the mouse finds at
each cell, which only the one line under the mouse needs."""

from __future__ import annotations

from collections.abc import Callable

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from hermes_tui.values import dataclass
from hermes_tui.widgets.ink import ASCII
from hermes_tui.widgets.transcript.rows import GUTTER, Row, Run, cells, cluster_at, measure

_CUT: Run = ("…", "quiet", -1)


@dataclass(frozen=True, slots=True)
class Brush:
    """How a row is drawn this time."""

    style: Callable[[str, str], Style]
    """(ink, ground) → how that looks."""
    width: int
    number: int = -1
    """For the mouse: which message this is; -1 draws for the eye."""
    current: bool = False
    """It belongs to the current item: the bar."""
    now: bool = False
    """The match that the reader is at."""
    shift: int = 0
    """Cells that a wide block is scrolled sideways."""
    link: tuple[int, int] | None = None
    """Place of the link that is the current item."""
    selected: tuple[int, int] | None = None
    """Offsets that the mouse has selected; an end of -1 is the message's."""
    tint: Style | None = None
    """How a selection looks."""
    ascii_only: bool = False


def scrolled(runs: tuple[Run, ...], shift: int, room: int) -> list[Run]:
    """What stands in the cells `shift` to `shift + room` of these runs; a quiet `…` where there is more."""
    total = measure(runs)
    if not shift and total <= room:
        return list(runs)
    first = shift + 1 if shift else 0
    last = shift + room - 1 if total > shift + room else shift + room
    out: list[Run] = [_CUT] if shift else []
    column = 0
    for text, ink, source in runs:
        wide = cells(text)
        begin, end = cluster_at(text, first - column), cluster_at(text, last - column, within=True)
        if end > begin:
            out.append((text[begin:end], ink, source + begin if source >= 0 else -1))
        column += wide
    return [*out, _CUT] if total > shift + room else out


def room_of(row: Row, width: int) -> int:
    """Cells for the runs of a row on a page of this width."""
    taken = measure(row[1])
    return width - 1 - taken - (1 if row[1] else 0)


def shift_to_match(row: Row, width: int) -> int:
    """How far a row of a wide block must be scrolled for its first match to be seen; 0 when it is."""
    runs, fixed = row[0], row[6]
    room = room_of(row, width) - measure(runs[:fixed])
    start = 0
    for text, ink, _ in runs[fixed:]:
        end = start + cells(text)
        if ink == "match":
            return 0 if end < room else max(0, min(start - 2, end + room // 3 - room))
        start = end
    return 0


def paint(row: Row, brush: Brush) -> Strip:
    """One row of the transcript."""
    runs, right, ground, indent, _, block, fixed, at = row
    room = room_of(row, brush.width)
    if not runs:
        runs = ((" " * GUTTER, "ink", -1),)
    if block >= 0:
        lead = runs[:fixed]
        runs = (*lead, *scrolled(runs[fixed:], brush.shift, room - measure(lead)))
    pencil = _Pencil(brush, ground, indent, at)
    if brush.current:
        pencil.draw("▌", "gold", -1)
        runs = ((runs[0][0][1:], *runs[0][1:]), *runs[1:])
    for text, ink, source in runs:
        pencil.draw(text, ink, source)
    pencil.fill(brush.width - 1 - measure(right))
    for text, ink, _ in right:
        pencil.draw(text, ink, -1)
    pencil.fill(brush.width)
    return Strip(pencil.segments).adjust_cell_length(brush.width, brush.style("ink", ""))


class _Pencil:
    """Draws segments from left to right."""

    def __init__(self, brush: Brush, ground: str, indent: int, at: int) -> None:
        self.brush, self.ground, self.indent, self.at = brush, ground, indent, at
        self.segments: list[Segment] = []
        self.column = 0

    def fill(self, column: int) -> None:
        """Blanks up to this column; the ground ends one cell before the edge."""
        edge = self.brush.width - 1
        if self.column < min(column, edge):
            self.draw(" " * (min(column, edge) - self.column), "ink", -1)
        if self.column < column:
            self._segment(" " * (column - self.column), "ink", -1, "")

    def draw(self, text: str, ink: str, source: int) -> None:
        if not text:
            return
        if self.ground and self.column < self.indent:
            bare = self.indent - self.column
            self._segment(text[:bare], ink, source, "")
            text = text[bare:]
            source = source + bare if source >= 0 else -1
        if text:
            self._link(text, ink, source)

    def _link(self, text: str, ink: str, source: int) -> None:
        link = self.brush.link
        if link is not None and link[0] <= source < link[1]:
            inside = link[1] - source
            self._segment(text[:inside], ink, source, "cursor")
            if text[inside:]:
                self._segment(text[inside:], ink, link[1], self.ground)
        else:
            self._segment(text, ink, source, self.ground)

    def _segment(self, text: str, ink: str, source: int, ground: str) -> None:
        brush = self.brush
        if ink == "match" and brush.now:
            ink = "now"
        style = brush.style(ink, ground)
        self.column += cells(text)
        if brush.number >= 0:
            self._mark(text, source)
        elif brush.selected is not None and brush.tint is not None and source >= 0:
            first, last = brush.selected
            begin = max(0, first - source)
            end = len(text) if last < 0 else max(begin, last - source)
            self._add(text[:begin], style)
            self._add(text[begin:end], style + brush.tint)
            self._add(text[end:], style)
        else:
            self._add(text, style)

    def _add(self, text: str, style: Style | None) -> None:
        if text:
            self.segments.append(Segment(text.translate(ASCII) if self.brush.ascii_only else text, style))

    def _mark(self, text: str, source: int) -> None:
        """Text leads to its source, cell by cell; what the page adds leads to where the text before it ends."""
        number = self.brush.number
        if source >= 0:
            self._add(text, Style.from_meta({"offset": (source, number)}))
            self.at = source + len(text)
        else:
            place = Style.from_meta({"offset": (self.at, number)})
            for char in text:
                self._add(char, place)
