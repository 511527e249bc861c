"""The messages that hold what is looked for: which of them one is at, which is next, where they are on the rail."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from hermes_tui.widgets.transcript.heights import Heights
from hermes_tui.widgets.transcript.order import Order

_EXACT = 300
"""So many matches are placed on the rail one by one; more are looked for line by line of the rail."""


class Matches:
    """Ids of messages in transcript order; nothing here looks at all of them."""

    def __init__(self, ids: Sequence[int] = ()) -> None:
        self.ids = tuple(ids)
        self._drawn: tuple[tuple[int, int, int], tuple[float, ...]] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def index(self, order: Order, position: int) -> int:
        """How many matches stand before this position."""
        return bisect_left(self.ids, position, key=lambda each: _place(order, each))

    def at(self, order: Order, position: int | None) -> int | None:
        """The match that stands at this position: its index."""
        if position is None:
            return None
        index = self.index(order, position)
        return index if index < len(self.ids) and _place(order, self.ids[index]) == position else None

    def beside(self, order: Order, position: int, step: int) -> int:
        """Index of the next match from a position, down or up, round the ends."""
        if step > 0:
            return bisect_right(self.ids, position, key=lambda each: _place(order, each)) % len(self.ids)
        return (self.index(order, position) - 1) % len(self.ids)

    def ticks(self, order: Order, heights: Heights, scroll: tuple[int, int, int]) -> tuple[float, ...]:
        """Their places on a rail that shows `scroll` (lines, lines in sight, first of them), from 0 to 1: those in
        sight lie on its thumb."""
        total, visible, _ = scroll
        key = (len(order), heights.total, visible)
        if self._drawn is None or self._drawn[0] != key:
            thumb = max(1, round(visible * visible / max(1, total)))
            scale = (visible - thumb) / max(1, visible - 1)
            room = max(1, total - visible)
            if len(self.ids) <= _EXACT:
                lines = [heights.before(place) for each in self.ids if (place := order.position(each)) is not None]
            else:
                lines = self._sampled(order, heights, visible)
            self._drawn = (key, tuple(sorted({min(1.0, line / room) * scale for line in lines})))
        return self._drawn[1]

    def _sampled(self, order: Order, heights: Heights, rows: int) -> list[int]:
        """For each line of the rail, the first line of its stretch, if a match stands in it."""
        lines = [y * heights.total // max(1, rows) for y in range(rows)]
        bounds = [*(heights.find(line)[0] for line in lines), len(order)]
        counts = [self.index(order, bound) for bound in bounds]
        return [line for line, here, after in zip(lines, counts, counts[1:], strict=False) if after > here]


def _place(order: Order, message_id: int) -> int:
    """Position of a match; one that has gone since stands nowhere, which is before all."""
    place = order.position(message_id)
    return -1 if place is None else place
