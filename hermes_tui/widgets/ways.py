"""A page in place of a list: what happened, the ways out as rows that can be taken, what else to know."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from hermes_tui.values import dataclass
from hermes_tui.widgets.ink import BLANK_CELL, Line, Part, View, fit, gap, line, wrap
from hermes_tui.widgets.scrolling import Scrolling

Paragraph = tuple[Part, ...]
MARKS = frozenset("✗◐!◉")
_LABEL = 26
"""Cells of a row's label at least, so that rows of one kind of page stand alike …"""
_LEAST = 16
"""… unless an amount would not fit beside it: then so few."""
_COLUMNS = (18, 16)
"""Cells of what stands beside a label at least, the gap before it among them."""


@dataclass(frozen=True, slots=True)
class Way:
    """One row. Texts are safe."""

    label: str
    middle: str = ""
    right: str = ""
    does: str = "take"
    """What the footer calls taking it."""


class Ways(Scrolling, can_focus=True):
    """Paragraphs, rows with the usual cursor, more paragraphs."""

    @dataclass
    class Taken(Message):
        """A row was clicked twice."""

        position: int

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._head: Sequence[Paragraph] = ()
        self._ways: Sequence[Way] = ()
        self._tail: Sequence[Paragraph] = ()
        self._cursor = 0
        self._moved = False
        """The reader has chosen the row under the cursor."""
        self._laid: tuple[Size, list[Line], int] | None = None
        """For which size, the lines, and which of them is the first row."""

    def show(self, head: Sequence[Paragraph], ways: Sequence[Way] = (), tail: Sequence[Paragraph] = ()) -> None:
        """Show this page; the cursor stays on a row of the same label, if there is one, and the same text where it
        was scrolled to."""
        before = self.current if self._moved else None
        stays = list(head) == list(self._head)
        self._head, self._ways, self._tail = head, ways, tail
        labels = [way.label for way in ways]
        self._moved = before is not None and before.label in labels
        self._cursor = labels.index(before.label) if before is not None and self._moved else 0
        self._laid = None
        self.go(self.top if self._moved or stays else 0)

    @property
    def cursor(self) -> int:
        """Position of the row under the cursor."""
        return self._cursor

    @property
    def chosen(self) -> bool:
        """The reader has put the cursor where it is."""
        return self._moved

    @property
    def current(self) -> Way | None:
        """The row under the cursor."""
        return self._ways[self._cursor] if self._ways else None

    @property
    def ways(self) -> Sequence[Way]:
        return self._ways

    def move(self, step: int) -> None:
        """The cursor `step` rows on; where there is no such row the text."""
        wanted = max(0, min(self._cursor + step, len(self._ways) - 1))
        if self._ways and wanted != self._cursor:
            self.choose(wanted)
        else:
            self.go(self.top + step)

    def page(self, step: int) -> None:
        """A screen on or back."""
        self.move(step * max(1, self.size.height - 2))

    def half(self, step: int) -> None:
        """Half a screen on or back."""
        self.move(step * max(1, self.size.height // 2))

    def first(self) -> None:
        """To the first row."""
        self.move(-self.total)

    def last(self) -> None:
        """To the last row."""
        self.move(self.total)

    def choose(self, position: int) -> None:
        """The cursor on this row, or the nearest one there is."""
        self._cursor, self._moved = max(0, min(position, len(self._ways) - 1)), True
        self._laid = None
        at = self._layout()[2] + self._cursor
        # The sentence above the rows comes into sight with the first, what follows them with the last.
        first = 0 if self._cursor == 0 else at
        self.reveal(first, self.total - 1 if self._cursor == len(self._ways) - 1 and at > self.size.height else at)

    @property
    def lines(self) -> list[Line]:
        """What the page says at its present width."""
        return self._layout()[1]

    @property
    def total(self) -> int:
        return len(self.lines)

    def _layout(self) -> tuple[Size, list[Line], int]:
        size = self.size
        if self._laid is None or self._laid[0] != size:
            width = size.width
            head = [prose(paragraph, width) for paragraph in self._head]
            above, below = head, []
            if self._ways and sum(map(len, head)) + 2 > size.height:
                above, below = head[:1], [each for each in head[1:] if any(row.text.strip() for row in each)]
            lines = [each for paragraph in above for each in paragraph]
            if self._ways and lines and not below:
                lines.append(line())
            first = len(lines)
            columns = self._columns(width)
            lines += [self._row(i, way, columns) for i, way in enumerate(self._ways)]
            lines += [line()] * bool(below) + [each for paragraph in below for each in paragraph]
            for paragraph in self._tail:
                lines += [line(), *prose(paragraph, width)]
            self._laid = (size, lines, first)
        return self._laid

    def _columns(self, width: int) -> tuple[int, int, int]:
        """Cells of label, middle and right, of which the last give way, whole, before the label is cut short."""
        beside = [
            max(least, 2 + max(map(cell_len, texts))) if any(texts) else 0
            for least, texts in zip(
                _COLUMNS, ([way.middle for way in self._ways], [way.right for way in self._ways]), strict=True
            )
        ]
        longest = max((cell_len(way.label) for way in self._ways), default=0)
        for middle, right, least in ((*beside, _LABEL), (beside[0], 0, _LEAST)):
            if (room := width - 4 - middle - right) >= least:
                return min(room, max(_LABEL, longest)), middle, right
        return width - 4, 0, 0

    def _row(self, position: int, way: Way, columns: tuple[int, int, int]) -> Line:
        on = position == self._cursor
        bar: Part = ("▌", "gold") if on else BLANK_CELL
        label, middle, right = columns
        parts: tuple[Part, ...] = (
            (fit(way.label, label), "title" if on else "ink"),
            (fit(way.middle, middle, "right"), "soft"),
            (fit(way.right, right, "right"), "quiet"),
        )
        return line(bar, gap(2), *parts, ground="cursor" if on else "")

    def draw(self, y: int, width: int) -> Strip:
        return self.placed(self.strip(self.lines[y], width), y)

    def spoken(self, y: int) -> str | None:
        return self.strip(self.lines[y], self.size.width).text if y < self.total else None

    def on_resize(self) -> None:
        self.go(self.top)

    def on_click(self, event: events.Click) -> None:
        position = self.top + event.y - self._layout()[2]
        if 0 <= position < len(self._ways):
            self.focus()
            self.choose(position)
            if event.chain == 2:
                self.post_message(self.Taken(position))


def prose(paragraph: Paragraph, width: int) -> list[Line]:
    """A paragraph, wrapped; an empty one is a blank line. A mark that it begins with hangs in the margin."""
    mark: Part = BLANK_CELL
    if paragraph and paragraph[0][0] in MARKS:
        mark, paragraph = paragraph[0], paragraph[1:]
    rows = wrap(paragraph, max(10, min(width, 104) - 5))
    return [line(gap(1), mark if i == 0 else BLANK_CELL, BLANK_CELL, *row) for i, row in enumerate(rows)]


def prose_view(paragraphs: Sequence[Paragraph], *, low: bool = False) -> View:
    """Paragraphs without blank lines between them; on a `low` screen each on one line, cut where it must be."""

    def view(width: int, height: int) -> list[Line]:
        lines = [prose(paragraph, width) for paragraph in paragraphs]
        if not low:
            return [each for paragraph in lines for each in paragraph]
        return [Line((*rows[0].left, ("…", "quiet"))) if len(rows) > 1 else rows[0] for rows in lines if rows]

    return view
