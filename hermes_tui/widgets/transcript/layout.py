"""Where everything stands. The truth is the pin: one line of one message at one line of the screen. All else is
laid out from it, so a height that turns out otherwise moves what is out of sight and nothing else."""

from __future__ import annotations

from hermes_tui.values import dataclass
from hermes_tui.widgets.transcript.holding import Hold, hold_of, line_of
from hermes_tui.widgets.transcript.measures import Measures
from hermes_tui.widgets.transcript.order import Order, other_seams, survivor
from hermes_tui.widgets.transcript.shelf import Shelf

Cell = tuple[int, int]
"""(position, line of that message); line -1 is the blank above it."""


@dataclass(slots=True)
class Pin:
    """One line that stays where it is."""

    position: int = 0
    line: int = 0
    y: int = 0
    """Line of the screen; may lie outside of it."""


class Layout(Measures):
    """Lays out the frame: which line of which message is drawn where."""

    def __init__(self, shelf: Shelf) -> None:
        super().__init__(shelf)
        self.pin = Pin()
        self.hold: Hold | None = None
        self.at_end = False
        """The last line stays at the bottom, whatever comes."""
        self.height = 0
        self.frame: list[Cell] = []
        """As laid out last; shorter than the screen when the transcript is."""

    # laying out

    def show(self, order: Order) -> None:
        """Another order, of which messages that are here keep their place on the screen."""
        old = self.order
        changed = other_seams(old, order)
        if len(old) and len(order):
            if old.ids[self.pin.position] in changed:
                self.keep()
            place, same = survivor(old, self.pin.position, order)
            self.pin.position = place
            if not same:
                self.pin.line, self.hold = 0, None
        else:
            self.pin, self.hold = Pin(), None
        self.order = order
        self.shelf.drop(changed)
        self.estimate()

    def keep(self) -> None:
        """Hold on to what the pin means: its message will be set anew."""
        leaf = self.shelf.peek(self.order.ids[self.pin.position]) if len(self.order) else None
        self.hold = hold_of(leaf, self.pin.line) if leaf is not None else None

    def _recover(self) -> None:
        """Find what was held in the leaf that was set anew, as soon as there is one."""
        if self.hold is None:
            return
        leaf = self.set(self.pin.position, 1)
        if leaf is None:
            return
        looked, line = line_of(self.hold, leaf, self.deadline)
        if looked:
            self.hold = None
            self.pin.line = line if line is not None else self.pin.line
        else:
            self.late = True

    def lay(self, height: int, deadline: float | None = None) -> list[Cell]:
        """The frame for a screen of this height. What cannot be set by `deadline` is left blank: `late` says so."""
        self.height, self.deadline = height, deadline
        self.late = False
        self.frame = []
        if not len(self.order) or height < 1:
            return self.frame
        self.pin.position = max(0, min(self.pin.position, len(self.order) - 1))
        self._recover()
        for _ in range(4):
            if self.at_end:
                self._pin_end()
            frame, top, bottom = self._fill()
            shift = self._shift(top, bottom)
            if not shift:
                break
            self.at_end = False
            self.pin.y += shift
        else:
            frame, _, _ = self._fill()
        self.frame = frame
        self.at_end = self.at_end or (self.sees_end and not self.sees_all)
        self._choose()
        self.deadline = None
        return frame

    def _shift(self, top: int | None, bottom: int | None) -> int:
        """How far everything must move so that no room is left above the first line, or below the last."""
        if top is not None and (top > 0 or (bottom is not None and bottom - top <= self.height)):
            return -top
        if bottom is not None and bottom < self.height:
            return self.height - bottom
        return 0

    def _pin_end(self) -> None:
        position = len(self.order) - 1
        leaf = self.set(position)
        while leaf is not None and leaf.done and not leaf.rows and position > 0:
            position -= 1
            leaf = self.set(position)
        self.hold = None
        self.pin = Pin(position, self.lines(position) - 1, self.height - 1)

    def _fill(self) -> tuple[list[Cell], int | None, int | None]:
        """(the frame, where the first message begins, where the last one ends): None for what is out of sight."""
        self.set(self.pin.position, max(1, self.pin.line + 1))  # what is above it depends on how it begins
        above, top = self._upward()
        below, bottom = self._downward()
        return [*above, *below], top, bottom

    def _downward(self) -> tuple[list[Cell], int | None]:
        cells: list[Cell] = []
        position, line, y = self.pin.position, self.pin.line, self.pin.y
        count = len(self.order)
        while y < self.height and position < count:
            leaf = self.set(position, max(0, line) + self.height - y)
            if position != self.pin.position:  # only now is it known what it begins with
                line = -self.gap(position)
            if leaf is not None:
                self.settle(position, leaf)
                if leaf.done:
                    line = min(line, len(leaf.rows) - 1)
            if line < 0 and not self.gap(position):
                line = 0
            end = self.lines(position)
            last = min(end, line + self.height - y)
            if y < 0:
                skipped = min(-y, last - line)
                line, y = line + skipped, y + skipped
            cells += [(position, i) for i in range(line, last)]
            y += max(0, last - line)
            if last < end:
                break
            position, line = position + 1, 0
        return cells, (y if position >= count else None)

    def _upward(self) -> tuple[list[Cell], int | None]:
        cells: list[Cell] = []
        position, line, y = self.pin.position, self.pin.line, self.pin.y
        while True:
            first = -self.gap(position)
            take = max(0, min(line - first, y))
            low = max(first, line - take) if y > 0 else line
            for i in range(line - 1, low - 1, -1):
                y -= 1
                if y < self.height:
                    cells.append((position, i))
            line = low
            if y <= 0 and line > first:
                return cells[::-1], None
            if position == 0:
                return cells[::-1], y - (line - first)
            if y <= 0:
                return cells[::-1], None
            position -= 1
            leaf = self.set(position)
            if leaf is not None:
                self.settle(position, leaf)
            line = self.lines(position)

    def _choose(self) -> None:
        """The pin becomes the first line in sight that is set for good."""
        for y, (position, line) in enumerate(self.frame):
            leaf = self.shelf.peek(self.order.ids[position])
            if leaf is not None and 0 <= line < len(leaf.rows):
                if self.hold is None:
                    self.pin = Pin(position, line, y)
                return

    # where one is

    @property
    def sees_end(self) -> bool:
        """The last line of the last message is in sight."""
        if not self.frame or not len(self.order):
            return True
        position, line = self.frame[-1]
        rest = range(position + 1, len(self.order))
        return line >= self.lines(position) - 1 and (
            not rest or (len(rest) < 64 and all(self.lines(i) + self.gap(i) == 0 for i in rest))
        )

    @property
    def sees_all(self) -> bool:
        """Everything there is fits the screen."""
        return bool(self.frame) and self.frame[0] == (0, 0) and len(self.frame) < self.height

    @property
    def top(self) -> int:
        """The line of the whole that is the first in sight, as far as heights are known."""
        if not self.frame:
            return 0
        position, line = self.frame[0]
        return self.heights.before(position) + line + self.gap(position)

    # moving

    def scroll(self, lines: int) -> None:
        """Down by so many lines, or up."""
        if lines < 0:
            self.at_end = False
        self.pin.y -= lines

    def go(self, position: int, line: int = 0, y: int = 0) -> None:
        """Bring this line of this message to line `y` of the screen."""
        self.hold, self.at_end = None, False
        self.pin = Pin(position, line, y)

    def look_at(self, position: int, line: int) -> bool:
        """Of all lines in sight, this is the one that must stay; False when it is out of sight."""
        y = self.y_of(position, line)
        if y is not None:
            self.pin, self.hold = Pin(position, line, y), None
        return y is not None

    def go_to_line(self, line: int) -> None:
        """Bring this line of the whole to the top."""
        position, inner = self.heights.find(line)
        self.go(position, inner - self.gap(position), 0)

    def y_of(self, position: int, line: int) -> int | None:
        """Where this line is on the screen."""
        try:
            return self.frame.index((position, line))
        except ValueError:
            return None
