"""What is longer than the screen: any number of lines, of which only those in sight are ever drawn.

The place in the text is a line number of our own, not Textual's scroll offset: it can be set before the first
layout, it does not animate, and no scroll bar takes room (the hairline between the panes is one).
"""

from __future__ import annotations

from textual import events
from textual.message import Message
from textual.strip import Strip

from hermes_tui.values import dataclass
from hermes_tui.widgets.ink import Inked

WHEEL = 3
"""Lines per notch of the mouse wheel."""


class Scrolling(Inked, inherit_bindings=False):
    """Lines `0 … total - 1`, of which those from `top` on are in sight. Subclasses say how many there are and
    draw them."""

    @dataclass
    class Scrolled(Message):
        """Other lines are in sight, or there are more or fewer of them."""

        top: int
        height: int
        total: int
        widget: Scrolling

        @property
        def control(self) -> Scrolling:
            """The widget that scrolled, for handlers that name one."""
            return self.widget

    top: int = 0
    """The first line in sight."""

    @property
    def total(self) -> int:
        """How many lines there are."""
        raise NotImplementedError

    def draw(self, y: int, width: int) -> Strip:
        """Line `y`, counted from the first one there is, exactly `width` cells wide."""
        raise NotImplementedError

    @property
    def bottom(self) -> int:
        """The largest `top` there can be."""
        return max(0, self.total - self.size.height)

    def go(self, top: int) -> None:
        """Bring line `top` to the upper edge, as far as there are lines below it."""
        self.top = max(0, min(top, self.bottom))
        self.refresh()
        self.post_message(self.Scrolled(self.top, self.size.height, self.total, self))

    def reveal(self, first: int, last: int) -> None:
        """Scroll as little as brings lines `first` to `last` into sight; the beginning, if not all fit."""
        top = self.top
        if last >= top + self.size.height:
            top = last - self.size.height + 1
        self.go(min(top, first))

    def render_line(self, y: int) -> Strip:
        width, at = self.size.width, self.top + y
        return self.draw(at, width) if at < self.total else Strip.blank(width, self.rich_style)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.go(self.top + WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.go(self.top - WHEEL)
