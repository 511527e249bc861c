"""A panel over the page: a head and a foot that stay, and between them what may be longer than the screen."""

from __future__ import annotations

from collections.abc import Callable

from textual.geometry import Size
from textual.strip import Strip

from hermes_tui.widgets.ink import Line, line
from hermes_tui.widgets.rail import rail_lines
from hermes_tui.widgets.scrolling import Scrolling

Lines = Callable[[int], list[Line]]
"""What a part says at a width."""
LOWEST = 3
"""Lines of the middle that make a head and a foot worth their room."""


class Panel(Scrolling, can_focus=True):
    """Three parts, of which the middle one scrolls when not all fit."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._parts: tuple[Lines, Lines, Lines] = ((lambda width: []),) * 3
        self._laid: tuple[int, int, list[Line], list[Line], list[Line]] | None = None

    def show(self, head: Lines, middle: Lines, foot: Lines) -> None:
        """Say this from now on."""
        self._parts, self._laid = (head, middle, foot), None
        self.refresh(layout=True)

    def _lay_out(self) -> tuple[list[Line], list[Line], list[Line]]:
        width, height = self.size
        if self._laid is None or self._laid[:2] != (width, height):
            head, middle, foot = (part(width) for part in self._parts)
            if len(head) + len(middle) + len(foot) > height and height - len(head) - len(foot) < LOWEST:
                head, middle, foot = [], [*head, *middle, *foot], []
            self._laid = (width, height, head, middle, foot)
        return self._laid[2:]

    @property
    def lines(self) -> list[Line]:
        """All that it says, in sight or not."""
        return [each for part in self._parts for each in part(self.size.width)]

    @property
    def total(self) -> int:
        return len(self._lay_out()[1])

    @property
    def room(self) -> int:
        """Lines of the middle that fit."""
        head, _, foot = self._lay_out()
        return max(0, self.size.height - len(head) - len(foot))

    @property
    def bottom(self) -> int:
        return max(0, self.total - self.room)

    # moving

    def move(self, step: int) -> None:
        """Some lines on or back."""
        self.go(self.top + step)

    def page(self, step: int) -> None:
        """A screen on or back."""
        self.move(step * max(1, self.room - 1))

    def half(self, step: int) -> None:
        """Half a screen on or back."""
        self.move(step * max(1, self.room // 2))

    def first(self) -> None:
        """To the beginning."""
        self.go(0)

    def last(self) -> None:
        """To the end."""
        self.go(self.total)

    # drawing

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        head, middle, foot = self._lay_out()
        if y < len(head):
            return self.placed(self.strip(head[y], width), y)
        at = y - len(head)
        if self.bottom == 0:
            rest = [*middle, *foot]
            return self.placed(self.strip(rest[at] if at < len(rest) else line(), width), y)
        if at >= self.room:
            below = at - self.room
            return self.placed(self.strip(foot[below] if below < len(foot) else line(), width), y)
        top = min(self.top, self.bottom)  # a new size is drawn before the panel hears of it
        thumb = rail_lines(self.room, self.total, self.room, top, hair=" ")[at]
        text = self.strip(middle[top + at], width).crop(0, width - 1)
        return self.placed(Strip.join([text, self.strip(thumb, 1)]), y)

    def spoken(self, y: int) -> str | None:
        return self.render_line(y).text if y < self.size.height else None

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return sum(len(part(width)) for part in self._parts)

    def on_resize(self) -> None:
        self.go(self.top)
