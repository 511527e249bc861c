"""A list of any length, one line a row: only rows in sight are ever drawn, and the cursor holds on to its item."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, TypeVar

from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from hermes_tui.values import dataclass
from hermes_tui.widgets.ink import Line
from hermes_tui.widgets.scrolling import Scrolling

T = TypeVar("T")
_KEPT = 400
"""Drawn rows that are kept: several screens full."""


class Rows(Scrolling, Generic[T], can_focus=True, inherit_bindings=False):
    """`draw` gives the line of an item at a width, under the cursor or not; `key` is what makes an item the same
    one after a refresh; `head` gives a line that stays above all rows."""

    @dataclass
    class Highlighted(Message):
        """The cursor stands on another item, or on what its item has become; None: there are no rows."""

        item: Any

    @dataclass
    class Opened(Message):
        """A row was clicked twice."""

        item: Any

    @dataclass
    class HeadClicked(Message):
        """The line above all rows was clicked, at this column."""

        x: int

    def __init__(
        self,
        draw: Callable[[T, int, bool], Line],
        key: Callable[[T], Hashable],
        head: Callable[[int], Line] | None = None,
        *,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._draw = draw
        self._key = key
        self._head = head
        self._items: Sequence[T] = ()
        self._cursor = 0
        self._held: Hashable = None
        """Key of the item that the reader chose last; it may be missing from a list that is filtered …"""
        self._offset = 0
        """… and where on the screen it stood."""
        self._strips: dict[tuple[int, bool], Strip] = {}
        self._width = 0

    # what it shows

    @property
    def items(self) -> Sequence[T]:
        return self._items

    @property
    def total(self) -> int:
        return len(self._items)

    @property
    def room(self) -> int:
        """Rows that fit."""
        return max(0, self.size.height - (self._head is not None))

    @property
    def bottom(self) -> int:
        return max(0, self.total - self.room)

    @property
    def cursor(self) -> int:
        """Position of the row under the cursor."""
        return self._cursor

    @property
    def current(self) -> T | None:
        """The item under the cursor."""
        return self._items[self._cursor] if self._items else None

    @property
    def in_sight(self) -> Sequence[T]:
        """The items in sight."""
        return self._items[self.top : self.top + self.room]

    @property
    def held(self) -> Hashable:
        """Key of the item that the reader chose last, whether or not it is in the list."""
        return self._held

    def hold(self, key: Hashable = None) -> None:
        """The item under the cursor is the reader's choice, or the one with this `key`, which may not be here yet."""
        if key is not None:
            self._held = key
        elif (current := self.current) is not None:
            self._held = self._key(current)

    def show(self, items: Sequence[T], *, anew: bool = False) -> None:
        """Show these instead. The cursor stays on its item and that item where it is on the screen, as far as
        that goes; if it has gone, on the row that took its place. At the upper edge, new rows push it down.

        `anew`: someone asked for another list. Then the cursor goes back to what the reader chose last as soon as
        that is in the list again, and begins at the first row of a list that holds neither that nor its item.
        """
        before, at, offset = self.current, self._cursor, self._cursor - self.top
        own = None if before is None else self._key(before)
        if own == self._held:
            self._offset = offset
        self._items = items
        self._strips.clear()
        found = self._where(self._held, at) if self._held is not None and (anew or own is None) else None
        if found is not None:
            offset = self._offset
        elif own is not None:
            found = self._where(own, at)
        if self._held is None or (found is None and own == self._held and not anew):
            self._held = self._key(items[min(at, len(items) - 1)]) if items else self._held
        if found is None:
            found = 0 if anew else at
        self._cursor = max(0, min(found, len(items) - 1))
        top = self._cursor - offset
        if self.top == 0 and self._cursor < max(1, self.room):
            top = 0
        self.top = max(0, min(top, self.bottom))
        self._keep_in_sight()
        self.post_message(self.Highlighted(self.current))

    def _where(self, key: Hashable, near: int) -> int | None:
        """Position of the item with this key, looked for from `near` outwards: rows rarely move far."""
        last = len(self._items) - 1
        near = max(0, min(near, last))
        for distance in range(max(near, last - near) + 1):
            for at in {near - distance, near + distance}:
                if 0 <= at <= last and self._key(self._items[at]) == key:
                    return at
        return None

    def redraw(self) -> None:
        """What the rows say has changed, though they are the same rows."""
        self._strips.clear()
        self.refresh()

    # moving

    def move(self, step: int) -> None:
        """The cursor `step` rows on, as far as there are any."""
        self.choose(self._cursor + step)

    def page(self, step: int) -> None:
        """A screen on or back."""
        self.move(step * max(1, self.room - 1))

    def half(self, step: int) -> None:
        """Half a screen on or back."""
        self.move(step * max(1, self.room // 2))

    def first(self) -> None:
        """To the first row."""
        self.choose(0)

    def last(self) -> None:
        """To the last row."""
        self.choose(self.total - 1)

    def choose(self, position: int) -> None:
        """The cursor on this row, or the nearest there is."""
        position = max(0, min(position, self.total - 1))
        if position == self._cursor:
            self.hold()
            self._keep_in_sight()
            return
        self._cursor, before = position, self._cursor
        self.hold()
        self._refresh_row(before)
        self._refresh_row(position)
        self._keep_in_sight()
        self.post_message(self.Highlighted(self.current))

    def _keep_in_sight(self) -> None:
        top = min(self.top, self._cursor)
        if self.room and self._cursor >= top + self.room:
            top = self._cursor - self.room + 1
        self.go(top)

    def go(self, top: int) -> None:
        before, self.top = self.top, max(0, min(top, self.bottom))
        if self.top != before or not self._strips:
            self.refresh()
        self.post_message(self.Scrolled(self.top, self.room, self.total, self))

    # drawing

    def _refresh_row(self, position: int) -> None:
        y = position - self.top + (self._head is not None)
        if 0 <= y < self.size.height:
            self.refresh(Region(0, y, self.size.width, 1))

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if self._head is not None:
            if y == 0:
                return self.strip(self._head(width), width)
            y -= 1
        at = self.top + y
        return self.placed(self.draw(at, width), at) if at < self.total else self.strip(Line(), width)

    def draw(self, y: int, width: int) -> Strip:
        if width != self._width:
            self._strips.clear()
            self._width = width
        on = y == self._cursor
        strip = self._strips.get((y, on))
        if strip is None:
            if len(self._strips) >= _KEPT:
                self._strips.clear()
            strip = self._strips[y, on] = self.strip(self._draw(self._items[y], width, on), width)
        return strip

    def spoken(self, y: int) -> str | None:
        return self.draw(y, self.size.width).text if y < self.total else None

    def inks_changed(self) -> None:
        self._strips.clear()

    def on_resize(self) -> None:
        self._keep_in_sight()

    def on_click(self, event: events.Click) -> None:
        if self._head is not None and event.y == 0:
            self.post_message(self.HeadClicked(event.x))
            return
        position = self.top + event.y - (self._head is not None)
        if not 0 <= position < self.total:
            return
        self.focus()
        self.choose(position)
        if event.chain == 2:
            self.post_message(self.Opened(self.current))
