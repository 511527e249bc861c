"""The drawing half of the reader: sets what is in sight within the time there is, asks for what it lacks, paints."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator, Iterable
from dataclasses import dataclass, replace

from rich.style import Style
from textual import events
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.message import Message as Event
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from hermes_tui.domain.messages import Message
from hermes_tui.widgets.ink import Inked
from hermes_tui.widgets.transcript.layout import ALL, Cell, Layout
from hermes_tui.widgets.transcript.leaves import ItemKind, Leaf
from hermes_tui.widgets.transcript.painting import Brush, paint
from hermes_tui.widgets.transcript.rows import Row, row
from hermes_tui.widgets.transcript.selecting import selected_text
from hermes_tui.widgets.transcript.shelf import Shelf
from hermes_tui.widgets.transcript.walking import Walker
from hermes_tui.widgets.transcript.wholes import Whole, prepare

SLICE = 0.003
"""Seconds of setting text at a time; between slices the loop is free."""
AHEAD = 24
"""Messages beyond either edge whose texts are asked for before they are needed."""
MOST = 160
"""Texts asked for at a time."""
WHEEL = 3
"""Lines per notch of the wheel."""
_MARKS = {"b": Style(bold=True), "i": Style(italic=True), "u": Style(underline=True), "s": Style(strike=True)}
_BLANK: Row = row((), 0, item=-1)


class Canvas(Inked, can_focus=True, inherit_bindings=False):
    """Shows the frame of a layout; the screen answers what it asks for."""

    @dataclass
    class Wanted(Event):
        """The texts of these messages are needed."""

        ids: tuple[int, ...]

    @dataclass
    class WantedWhole(Event):
        """The whole text of this message is needed."""

        message_id: int

    class Moved(Event):
        """Something else is in sight, or the current item is another one."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.shelf = Shelf()
        self.plan = Layout(self.shelf)
        self.walker = Walker(self.plan)
        self._asked: set[int] = set()
        self._asked_whole: set[int] = set()
        self._preparing: dict[int, Generator[None, None, Whole]] = {}
        self._shifts: dict[tuple[int, int, int], int] = {}
        self._painted: LRUCache[tuple[object, ...], Strip] = LRUCache(1024)
        self._drawing = False
        self._unfinished = False
        self._pumping = False

    # texts

    def put(self, asked: Iterable[int], messages: Iterable[Message]) -> None:
        """The answer to `Wanted`: what was asked for and is not among `messages` is gone."""
        arrived = tuple(messages)
        known = {message.id for message in arrived}
        for each in asked:
            self._asked.discard(each)
            if each not in known:
                self.shelf.gone.add(each)
        if any(self.shelf.differs(message) for message in arrived):
            self.plan.keep()
        if self.shelf.put(arrived):
            self._painted.clear()
        self.relay()

    def release(self, ids: Iterable[int]) -> None:
        """These could not be had now; they may be asked for again."""
        self._asked.difference_update(ids)
        self._asked_whole.difference_update(ids)

    def put_text(self, message_id: int, text: str) -> None:
        """The answer to `WantedWhole`; it is made ready in slices."""
        message = self.shelf.message(message_id)
        if message is not None:
            self._preparing[message_id] = prepare(text, output=message.role == "tool")
            self._pump_on()

    # laying out

    def relay(self) -> None:
        """Lay out anew and repaint: after anything that may have changed the frame."""
        if self.size.height and len(self.plan.order):
            self._lay()
        self.refresh()
        if self._unfinished or not self._settled_around():
            self._pump_on()

    def _lay(self) -> None:
        deadline = time.perf_counter() + SLICE
        self.plan.height = self.size.height
        arrived = self.walker.step(deadline)
        self.plan.lay(self.size.height, deadline)
        self._unfinished = self.plan.late or not arrived
        self.walker.follow_frame()
        self._ask()
        self.set_reactive(Widget.scroll_y, float(self.plan.top))
        self.post_message(self.Moved())

    def _ask(self) -> None:
        """Ask for texts that are in sight, or soon may be."""
        plan, shelf = self.plan, self.shelf
        if plan.frame:
            first, last = plan.frame[0][0], plan.frame[-1][0]
            for position in range(max(0, first - AHEAD), min(len(plan.order), last + AHEAD + 1)):
                if not shelf.has(plan.order.ids[position]):
                    shelf.missing[plan.order.ids[position]] = None
        wanted = [each for each in shelf.missing if each not in self._asked][:MOST]
        shelf.missing.clear()
        if wanted:
            self._asked.update(wanted)
            self.post_message(self.Wanted(tuple(wanted)))
        if self.walker.wanted is not None:
            self.ask_whole(self.walker.wanted)
            self.walker.wanted = None

    def ask_whole(self, message_id: int) -> None:
        """Ask for all of a text, once."""
        if message_id not in self._asked_whole:
            self._asked_whole.add(message_id)
            self.post_message(self.WantedWhole(message_id))

    # slices

    @property
    def settled(self) -> bool:
        """Nothing is being set or waited for."""
        return not (self._pumping or self._unfinished or self._asked or self._preparing)

    def _pump_on(self) -> None:
        if not self._pumping and self.is_attached:
            self._pumping = True
            self.run_worker(self._pump(), group="pump", description="set")

    async def _pump(self) -> None:
        """Work in slices until there is nothing left to set in or near the frame."""
        try:
            while self.is_attached and self._work():
                await asyncio.sleep(0)
        finally:
            self._pumping = False

    def _work(self) -> bool:
        """One slice; whether another one is needed."""
        if self._unfinished:
            self._lay()
            self.refresh()
            return True
        if self._preparing:
            self._prepare()
            return True
        return not self._set_around(time.perf_counter() + SLICE)

    def _prepare(self) -> None:
        message_id, steps = next(iter(self._preparing.items()))
        deadline = time.perf_counter() + SLICE
        try:
            while time.perf_counter() < deadline:
                next(steps)
        except StopIteration as finished:
            del self._preparing[message_id]
            self._asked_whole.discard(message_id)
            self.plan.keep()
            self.shelf.put_whole(message_id, finished.value)
            self._painted.clear()
            self._lay()
            self.refresh()

    def _around(self) -> Iterable[int]:
        """Positions beside the frame, near ones first, a screenful either way."""
        if self.plan.frame:
            first, last = self.plan.frame[0][0], self.plan.frame[-1][0]
            for step in range(1, AHEAD):
                if last + step < len(self.plan.order):
                    yield last + step
                if first - step >= 0:
                    yield first - step

    def _set_around(self, deadline: float) -> bool:
        """Set what scrolling would bring into sight; False when there was too little time."""
        height = self.size.height
        if self.plan.frame:
            position, line = self.plan.frame[-1]
            leaf = self.shelf.peek(self.plan.order.ids[position])
            if leaf is not None and not leaf.pull(line + 2 * height, deadline):
                return False
        for position in self._around():
            message_id = self.plan.order.ids[position]
            if self.shelf.peek(message_id) is None and not self.shelf.has(message_id):
                continue
            leaf = self.plan.leaf(position)
            if leaf is not None and not leaf.pull(ALL, deadline):
                return False
            if time.perf_counter() > deadline:
                return False
        return True

    def _settled_around(self) -> bool:
        for position in self._around():
            leaf = self.shelf.peek(self.plan.order.ids[position])
            if leaf is None or not leaf.done:
                return False
        return True

    # size and looks

    def on_resize(self, event: events.Resize) -> None:
        if event.size.width != self.shelf.setting.width:
            self.reset(width=event.size.width)
        self.relay()

    def reset(self, **changes: object) -> None:
        """All messages are set by other rules from now on; the pin stays where it is."""
        self.plan.keep()
        self.shelf.setting = replace(self.shelf.setting, **changes)  # type: ignore[arg-type]  # fields by name
        self.shelf.drop()
        self.plan.estimate()
        self._painted.clear()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._painted.clear()

    def ink(self, name: str, ground: str = "") -> Style:
        base, _, marks = name.partition("+")
        style = super().ink(base, ground)
        for mark in marks:
            style += _MARKS[mark]
        return style

    # painting

    def render_lines(self, crop: Region) -> list[Strip]:
        self._drawing = True
        try:
            return super().render_lines(crop)
        finally:
            self._drawing = False

    def render_line(self, y: int) -> Strip:
        """For the eye when painting; otherwise for the mouse, which wants to know what lies where."""
        frame = self.plan.frame
        if y >= len(frame):
            return Strip.blank(self.size.width, self.ink("ink"))
        cell = frame[y]
        leaf, each = self._row(cell)
        if each is None:
            return paint(_BLANK, Brush(self.ink, self.size.width, -1 if self._drawing else self.number(cell[0])))
        return self._paint(cell, leaf, each)

    def _row(self, cell: Cell) -> tuple[Leaf | None, Row | None]:
        position, line = cell
        leaf = self.shelf.peek(self.plan.order.ids[position])
        if leaf is None or not 0 <= line < len(leaf.rows):
            return leaf, None
        return leaf, leaf.rows[line]

    def number(self, position: int) -> int:
        """The message's number in the whole transcript: what a selection counts by."""
        return self.plan.order.before + position

    def _paint(self, cell: Cell, leaf: Leaf | None, each: Row) -> Strip:
        position, line = cell
        message_id = self.plan.order.ids[position]
        current, link = self._current(message_id, leaf, line)
        now = message_id == self.walker.match and leaf is not None and leaf.lit[:1] == [line]
        shift = self._shifts.get((message_id, each[7] >> 26, each[5]), 0) if each[5] >= 0 else 0
        selection = self.text_selection
        number = self.number(position)
        span = None if selection is None else selection.get_span(number)
        key = (message_id, line, current, now, shift, link, self.size.width)
        if self._drawing and span is None and (painted := self._painted.get(key)) is not None:
            return painted
        brush = Brush(
            self.ink,
            self.size.width,
            number=-1 if self._drawing else number,
            current=current,
            now=now,
            shift=shift,
            link=link,
            selected=span,
            tint=None if span is None else self.screen.get_component_rich_style("screen--selection"),
            ascii_only=bool(getattr(self.app, "ascii_only", False)),
        )
        strip = paint(each, brush)
        if self._drawing and span is None:
            self._painted[key] = strip
        return strip

    def _current(self, message_id: int, leaf: Leaf | None, line: int) -> tuple[bool, tuple[int, int] | None]:
        """(whether the bar stands at this row, the link that is current)."""
        current = self.walker.current
        if current is None or leaf is None or current.message_id != message_id or not self.has_focus_within_screen:
            return False, None
        index = leaf.find(current.key)
        if index is None:
            return False, None
        item = leaf.items[index]
        if item.kind is ItemKind.LINK:
            return item.row == line, (item.start, item.end)
        return leaf.rows[line][4] == index, None

    @property
    def has_focus_within_screen(self) -> bool:
        """The bar is drawn whether or not an input has the focus."""
        return True

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

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return container.height
