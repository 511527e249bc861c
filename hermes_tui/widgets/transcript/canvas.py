"""The drawing half of the reader: rows as strips, for the eye and for the mouse."""

from __future__ import annotations

from rich.style import Style
from textual import events
from textual.cache import LRUCache
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from hermes_tui.widgets.transcript.items import BlockKey, block_key
from hermes_tui.widgets.transcript.layout import Cell
from hermes_tui.widgets.transcript.leaves import ItemKind, Leaf
from hermes_tui.widgets.transcript.painting import Brush, paint, shift_to_match
from hermes_tui.widgets.transcript.rows import Row, row
from hermes_tui.widgets.transcript.selecting import selected_text
from hermes_tui.widgets.transcript.supply import Supply

WHEEL = 3
"""Lines per notch of the wheel."""
_MARKS = {"b": Style(bold=True), "i": Style(italic=True), "u": Style(underline=True), "s": Style(strike=True)}
_BLANK: Row = row((), 0, item=-1)


class Canvas(Supply, inherit_bindings=False):
    """Draws the frame."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.shifts: dict[BlockKey, int] = {}
        """How far wide blocks are scrolled sideways, in cells."""
        self._painted: LRUCache[tuple[object, ...], Strip] = LRUCache(1024)

    def inks_changed(self) -> None:
        self._painted.clear()

    def ink(self, name: str, ground: str = "") -> Style:
        base, _, marks = name.partition("+")
        style = super().ink(base, ground)
        for mark in marks:
            style += _MARKS[mark]
        return style

    # painting

    def render_line(self, y: int) -> Strip:
        """For the eye when painting; otherwise for the mouse, which wants to know what lies where."""
        frame = self.plan.frame
        if y >= len(frame):
            return Strip.blank(self.size.width, self.ink("ink"))
        cell = frame[y]
        leaf, each = self._row(cell)
        if each is None:
            return paint(_BLANK, Brush(self.ink, self.size.width, -1 if self.drawing else self.number(cell[0])))
        return self._paint(cell, leaf, each, first=y == 0)

    def _row(self, cell: Cell) -> tuple[Leaf | None, Row | None]:
        position, line = cell
        leaf = self.shelf.peek(self.plan.order.ids[position])
        if leaf is None or not 0 <= line < len(leaf.rows):
            return leaf, None
        return leaf, leaf.rows[line]

    def number(self, position: int) -> int:
        """The message's number in the whole transcript: what a selection counts by."""
        return self.plan.order.before + position

    def _paint(self, cell: Cell, leaf: Leaf | None, each: Row, *, first: bool) -> Strip:
        position, line = cell
        message_id = self.plan.order.ids[position]
        current, link = self._current(cell, leaf, first=first)
        now = message_id == self.walker.match and leaf is not None and leaf.match == line
        block = block_key(message_id, each)
        shift = 0 if block is None else self.shift_of(block)
        selection = self.text_selection
        number = self.number(position)
        span = None if selection is None else selection.get_span(number)
        key = (leaf.serial if leaf is not None else -1, line, current, now, shift, link, self.size.width)
        if self.drawing and span is None and (painted := self._painted.get(key)) is not None:
            return painted
        brush = Brush(
            self.ink,
            self.size.width,
            number=-1 if self.drawing else number,
            current=current,
            now=now,
            shift=shift,
            link=link,
            selected=span,
            tint=None if span is None else self.screen.get_component_rich_style("screen--selection"),
            ascii_only=bool(getattr(self.app, "ascii_only", False)),
        )
        strip = paint(each, brush)
        if self.drawing and span is None:
            self._painted[key] = strip
        return strip

    def shift_of(self, block: BlockKey) -> int:
        """How far a wide block is scrolled: as the reader left it, else so far that the match one is at is seen."""
        if block in self.shifts or block[0] != self.walker.match:
            return self.shifts.get(block, 0)
        leaf = self.shelf.peek(block[0])
        if leaf is None or leaf.match < 0:
            return 0
        lit = leaf.rows[leaf.match]
        return shift_to_match(lit, self.size.width) if block_key(block[0], lit) == block else 0

    def _current(self, cell: Cell, leaf: Leaf | None, *, first: bool) -> tuple[bool, tuple[int, int] | None]:
        """(whether the bar stands at this row, the link that is current): the bar marks where the item begins, or
        the first line in sight of one that began above."""
        current, line = self.walker.current, cell[1]
        if current is None or leaf is None or current.message_id != self.plan.order.ids[cell[0]]:
            return False, None
        index = leaf.find(current.key)
        if index is None:
            return False, None
        item = leaf.items[index]
        if item.kind is ItemKind.LINK:
            return item.row == line, (item.start, item.end)
        return item.row == line or (first and leaf.rows[line][4] == index and item.row < line), None

    # scrolling by others: the wheel, and a selection dragged over the edge

    @property
    def allow_vertical_scroll(self) -> bool:
        return True

    @property
    def max_scroll_y(self) -> int:
        return max(0, self.plan.heights.total - self.size.height)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        moved = int(new_value) - int(old_value)
        if moved:
            self.plan.scroll(moved)
            self.relay()
            self.set_reactive(Widget.scroll_y, self.plan.top + new_value % 1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        event.prevent_default()
        self.plan.scroll(WHEEL)
        self.relay()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        event.prevent_default()
        self.plan.scroll(-WHEEL)
        self.relay()

    # selecting with the mouse

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """What was selected, from the texts themselves."""
        return selected_text(selection, self.plan), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()
