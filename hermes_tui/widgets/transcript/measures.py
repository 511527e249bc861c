"""What is known of the messages of a transcript: their leaves, the blanks between them, how tall they are."""

from __future__ import annotations

import time

from hermes_tui.widgets.transcript.heights import Heights
from hermes_tui.widgets.transcript.leaves import Leaf
from hermes_tui.widgets.transcript.order import TOOL, Order
from hermes_tui.widgets.transcript.setter import CLOSED
from hermes_tui.widgets.transcript.shelf import Shelf

ALL = 1 << 60
"""More rows than any message has."""


class Measures:
    """Sets messages as far as it is asked to, and as there is time."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        self.order = Order()
        self.heights = Heights()
        self.deadline: float | None = None
        """When the present slice ends; None takes all the time it needs."""
        self.late = False
        """Something was not set because there was no time."""

    @property
    def tools_open(self) -> bool:
        return self.shelf.setting.tools > CLOSED

    def leaf(self, position: int) -> Leaf | None:
        """The leaf at this position; None while its text is not here."""
        return self.shelf.leaf(self.order.ids[position], self.order.seams(position))

    def set(self, position: int, count: int = ALL) -> Leaf | None:
        """The leaf with `count` rows, or all; None when it is not here or there is no time left for it."""
        leaf = self.shelf.peek(self.order.ids[position])
        if leaf is None:
            if self._late():
                self.late = True
                return None
            leaf = self.leaf(position)
            if leaf is None:
                return None
        self.shelf.touch(self.order.ids[position])
        if not leaf.pull(count, self.deadline):
            self.late = True
            return None
        return leaf

    def _late(self) -> bool:
        return self.deadline is not None and time.perf_counter() > self.deadline

    def gap(self, position: int) -> int:
        """Blank lines above a message: one, but none at the top, above nothing, and between folded lines."""
        leaf = self.shelf.peek(self.order.ids[position])
        if position == 0 or (leaf is not None and leaf.done and not leaf.rows):
            return 0
        tight = leaf.top if leaf is not None else self._folded_tool(position)
        return 0 if tight and self._ends_tight(position - 1) else 1

    def _folded_tool(self, position: int) -> bool:
        return self.order.roles[position] == TOOL and not self.tools_open

    def _ends_tight(self, position: int) -> bool:
        for at in range(position, max(-1, position - 64), -1):
            leaf = self.shelf.peek(self.order.ids[at]) or (None if self._late() else self.leaf(at))
            if leaf is None:
                return self._folded_tool(at)
            if not leaf.done or leaf.rows:
                return leaf.bottom
        return True

    def lines(self, position: int) -> int:
        """Lines of a message without the blank above it, as far as known."""
        leaf = self.shelf.peek(self.order.ids[position])
        if leaf is not None and leaf.done:
            return len(leaf.rows)
        guess = self.order.estimate(position, tools_open=self.tools_open) - self.gap(position)
        return max(1, guess, len(leaf.rows) + 1 if leaf is not None else 0)

    def settle(self, position: int, leaf: Leaf) -> None:
        """Correct the height of a message that is set."""
        if leaf.done:
            self.heights.set(position, len(leaf.rows) + self.gap(position))

    def estimate(self) -> None:
        """Guess all heights anew, and correct those of the messages that are set."""
        self.heights = Heights(self.order.estimates(tools_open=self.tools_open))
        for message_id, leaf in self.shelf.leaves():
            position = self.order.position(message_id)
            if leaf.done and position is not None:
                self.heights.set(position, len(leaf.rows) + (0 if leaf.top else 1))
