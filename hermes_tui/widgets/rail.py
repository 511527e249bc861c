"""The one vertical line: hairline between two panes, scroll thumb, and ticks where matches are."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.message import Message
from textual.strip import Strip

from hermes_tui.values import dataclass
from hermes_tui.widgets.ink import Inked, Line, Part, line


def rail_lines(
    height: int, total: int, visible: int, top: int, ticks: Sequence[float] = (), hair: str = "│"
) -> list[Line]:
    """One cell wide. The thumb shows `visible` of `total` lines from `top` on; nothing when all fit.

    `ticks` are places from 0 to 1.
    """
    size, first = 0, 0
    if total > visible > 0:
        size = max(1, round(height * visible / total))
        first = round((height - size) * min(1.0, top / max(1, total - visible)))
    marks = {round(tick * (height - 1)) for tick in ticks}
    lines = []
    for y in range(height):
        thumb = first <= y < first + size
        part: Part = ("┃", "guide") if thumb else (hair, "faint")
        if y in marks:
            part = ("┿" if thumb else "━", "gold")
        lines.append(line(part))
    return lines


class Rail(Inked):
    """Shows where one is; dragging or clicking it goes there."""

    ALLOW_SELECT = False

    @dataclass
    class Moved(Message):
        """The thumb was dragged: go to this line."""

        top: int

    def __init__(self, *, hair: str = "│", id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._hair = hair
        self._scroll = (0, 0, 0)
        self._ticks: tuple[float, ...] = ()
        self._lines: list[Line] | None = None
        self._held = False

    def show(self, total: int, visible: int, top: int, ticks: Sequence[float] | None = None) -> None:
        """Draw this scroll position; `ticks` None leaves those there are."""
        scroll = (total, visible, top)
        marks = self._ticks if ticks is None else tuple(ticks)
        if (scroll, marks) != (self._scroll, self._ticks):
            self._scroll, self._ticks = scroll, marks
            if (lines := self._drawn_lines()) != self._lines:  # a place that is a little lower may look the same
                self._lines = lines
                self.refresh()

    def _drawn_lines(self) -> list[Line]:
        return rail_lines(self.size.height, *self._scroll, self._ticks, self._hair)

    def render_line(self, y: int) -> Strip:
        if self._lines is None or len(self._lines) != self.size.height:
            self._lines = self._drawn_lines()
        return self.strip(self._lines[y], self.size.width)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._held = True
        self.capture_mouse()
        self._drag(event.y)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self._held = False
        self.release_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._held:
            self._drag(event.y)

    def _drag(self, y: int) -> None:
        total, visible, _ = self._scroll
        height = self.size.height
        if total <= visible or height < 2:
            return
        size = max(1, round(height * visible / total))
        at = min(1.0, max(0.0, (y - (size - 1) / 2) / max(1, height - size)))
        self.post_message(self.Moved(round(at * (total - visible))))
