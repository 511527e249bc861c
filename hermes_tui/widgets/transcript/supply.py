"""The half of the reader that sets what is in sight within the time there is, and asks for what it lacks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator, Iterable

from textual import events
from textual.message import Message as Event
from textual.widget import Widget

from hermes_tui.domain.messages import Message
from hermes_tui.values import dataclass, replace
from hermes_tui.widgets.frames import Framing
from hermes_tui.widgets.ink import Inked
from hermes_tui.widgets.transcript.layout import Layout
from hermes_tui.widgets.transcript.measures import ALL
from hermes_tui.widgets.transcript.shelf import Shelf
from hermes_tui.widgets.transcript.walking import Walker
from hermes_tui.widgets.transcript.wholes import Whole, prepare

SLICE = 0.003
"""Seconds of setting text at a time; between slices the loop is free."""
PAUSE = 0.002
"""Seconds that others have between two slices for what is out of sight."""
AHEAD = 24
"""Messages beyond either edge whose texts are asked for and set before they are needed; more where they are low, …"""
FAR = 120
"""… but no more than this."""
MOST = 2 * FAR
"""Texts asked for at a time."""


class Supply(Inked, can_focus=True, inherit_bindings=False):
    """Keeps a layout up to date; the screen answers what it asks for."""

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
        self._unfinished = False
        self._pumping = False
        self._told = (0, 0)
        """(lines of the whole, the first in sight), as told last."""
        self.moved = False
        """Nobody has yet followed up what is in sight now."""

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
        self.shelf.put(arrived)
        if self.size.height and len(self.plan.order):
            self._lay_on()
        self._go_on()

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
            self.tell_moved()
        self.refresh()
        self._go_on()

    def _go_on(self) -> None:
        """Set what is left to be set, in or near the frame."""
        if self._unfinished or not self._settled_around():
            self._pump_on()

    def _picture(self) -> tuple[object, ...]:
        """What the frame looks like depends on this alone, as long as nobody moves or folds."""
        leaves = {position: self.shelf.peek(self.plan.order.ids[position]) for position, _ in self.plan.frame}
        made = tuple((leaf.serial, len(leaf.rows)) if leaf is not None else None for leaf in leaves.values())
        return tuple(self.plan.frame), made, self.walker.current, self.walker.match, self.plan.sees_end

    def _lay_on(self) -> None:
        """Lay out what has come since; if that is in sight it is repainted, and at once when all of it is there."""
        before = self._picture()
        self._lay()
        if self._picture() != before:
            self.tell_moved()
            self.refresh()
            if not self._unfinished and isinstance(screen := self.screen, Framing):
                screen.hurry(self)

    def _drifted(self) -> bool:
        """Heights out of sight have turned out so far from what was guessed that one is elsewhere on the rail, by a
        line of it or more; what is less waits until the reader moves."""
        (was, first), total, height = self._told, self.plan.heights.total, self.size.height
        if not (was and total):
            return was != total
        return max(abs(self.plan.top / total - first / was), abs(height / total - height / was)) * height >= 1

    def _lay(self) -> None:
        deadline = time.perf_counter() + SLICE
        self.plan.height = self.size.height
        arrived = self.walker.step(deadline)
        self.plan.lay(self.size.height, deadline)
        self._unfinished = self.plan.late or not arrived
        if not self._unfinished or self.walker.current is None:  # what is in sight is not known before
            self.walker.follow_frame()
        self._ask()
        self.set_reactive(Widget.scroll_y, float(self.plan.top))

    def tell_moved(self) -> None:
        """Something else is in sight, or the current item is another one."""
        self.moved = True
        self._told = (self.plan.heights.total, self.plan.top)
        self.post_message(self.Moved())

    def _ask(self) -> None:
        """Ask for texts that are in sight, or soon may be."""
        plan, shelf = self.plan, self.shelf
        if plan.frame:
            for position in range(plan.frame[0][0] - self._reach(-1), plan.frame[-1][0] + self._reach(1) + 1):
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
            while self.is_attached and self._work():  # noqa: ASYNC110  # it waits for nothing: others have their turn
                await asyncio.sleep(0 if self._unfinished else PAUSE)
        finally:
            self._pumping = False

    def _work(self) -> bool:
        """One slice; whether another one is needed."""
        if self._unfinished:
            self._lay_on()
            return True
        if self._preparing:
            self._prepare()
            return True
        if not self._set_around(time.perf_counter() + SLICE):
            return True
        if self._drifted():
            self.tell_moved()
        return False

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
            self._lay()
            self.tell_moved()
            self.refresh()

    def _reach(self, step: int) -> int:
        """How many messages beyond this edge of the frame are made ready: two pages of them, as many turn out lower
        than was guessed, and at least some, however high they are."""
        heights, edge = self.plan.heights, self.plan.frame[0 if step < 0 else -1][0]
        room = edge if step < 0 else len(heights) - 1 - edge
        count, lines = min(AHEAD, room), 0
        for away in range(1, min(FAR, room) + 1):
            lines += heights[edge + step * away]
            if lines >= 2 * self.size.height:
                return max(count, away)
        return max(count, min(FAR, room))

    def _around(self) -> Iterable[int]:
        """Positions beside the frame, near ones first, as far as `_reach` on either side."""
        if self.plan.frame:
            first, last = self.plan.frame[0][0], self.plan.frame[-1][0]
            above, below = self._reach(-1), self._reach(1)
            for step in range(1, max(above, below) + 1):
                if step <= below:
                    yield last + step
                if step <= above:
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
            if leaf is not None:
                self.plan.settle(position, leaf)
            if time.perf_counter() > deadline:
                return False
        return True

    def _settled_around(self) -> bool:
        for position in self._around():
            leaf = self.shelf.peek(self.plan.order.ids[position])
            if leaf is None or not leaf.done:
                return False
        return True

    # other measures

    def on_resize(self, event: events.Resize) -> None:
        before = self.plan.height
        if before and not self.plan.at_end and self.walker.look():
            self.plan.pin.y = self.plan.pin.y * event.size.height // before
        if event.size.width != self.shelf.setting.width:
            self.reset(width=event.size.width)
        self.relay()

    def reset(self, **changes: object) -> None:
        """All messages are set by other rules from now on; the pin stays where it is."""
        self.plan.keep()
        self.shelf.setting = replace(self.shelf.setting, **changes)  # type: ignore[arg-type]  # fields by name
        self.shelf.drop()
        self.plan.estimate()
