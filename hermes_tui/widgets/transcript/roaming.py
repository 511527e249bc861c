"""Going about in a conversation: by line, page, item, message, prompt, match, and from window to whole."""

from __future__ import annotations

from collections.abc import Sequence

from hermes_tui.domain.messages import Window
from hermes_tui.values import dataclass
from hermes_tui.widgets.transcript.canvas import Canvas
from hermes_tui.widgets.transcript.leaves import ItemKind
from hermes_tui.widgets.transcript.lights import needles, pattern_of
from hermes_tui.widgets.transcript.matches import Matches
from hermes_tui.widgets.transcript.order import Order, window_order
from hermes_tui.widgets.transcript.walking import Seek

_PARALLEL = 64
"""So many results may stand below the turn that called for them."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the reader is."""

    number: int
    """Of the current message, counted from 1 …"""
    total: int
    """… among so many."""
    message_id: int
    timestamp: float | None
    segment: tuple[int, int] | None
    """(number, of how many); None while unknown."""
    kind: ItemKind | None
    """What the current item is; None while nothing is set."""


class Roaming(Canvas, inherit_bindings=False):
    """Shows conversations and goes about in them."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.matches = Matches()

    # showing

    def show_window(self, window: Window, anchor: int | None) -> None:
        """Show these messages, at the anchor or at their end, while all that there is is being read."""
        self.shelf.put(window.messages)
        self._show(window_order(window))
        self.start_at(anchor)

    def show_order(self, order: Order) -> None:
        """All there is, which includes what was shown: nothing in sight moves."""
        follows = self.plan.sees_end and bool(self.plan.frame)
        self.walker.look()
        self._show(order)
        if follows and self.walker.seek is None:
            self.plan.at_end = True
        self.relay()

    def _show(self, order: Order) -> None:
        self.walker.carry(order)
        self.plan.show(order)
        self.shelf.gone.clear()

    def start_at(self, anchor: int | None) -> None:
        """Go to a message, or to the end."""
        position = None if anchor is None else self.plan.order.position(anchor)
        if position is None:
            self.last()
        else:
            self.walker.go(Seek(position, match=self.shelf.setting.pattern is not None, always=True))
            self.relay()

    def refetch(self, count: int) -> None:
        """The last messages may read otherwise now: ask for them again, showing them meanwhile."""
        ids = tuple(each for each in self.plan.order.ids[-count:] if self.shelf.has(each) and each not in self._asked)
        if ids:
            self._asked.update(ids)
            self.post_message(self.Wanted(ids))

    @property
    def place(self) -> Place | None:
        """Where the reader is; None while there is nothing to read."""
        order = self.plan.order
        position = self.walker.position
        if position is None:
            position = self.plan.frame[0][0] if self.plan.frame else None
        if position is None or not len(order):
            return None
        at = order.timestamps[position]
        item = self.walker.item()
        return Place(
            number=order.before + position + 1,
            total=order.total,
            message_id=order.ids[position],
            timestamp=None if at != at else at,
            segment=order.segment(position),
            kind=item.kind if item is not None else None,
        )

    def scroll_state(self) -> tuple[int, int, int]:
        """(lines of the whole, lines in sight, first of them), for the rail."""
        plan = self.plan
        shown = max(1, plan.heights.total)
        count = max(1, len(plan.order))
        before = round(plan.order.before * shown / count)
        after = round(plan.order.after * shown / count)
        return before + shown + after, self.size.height, before + plan.top

    def ticks(self) -> tuple[float, ...]:
        """Where the matches are on the rail."""
        return self.matches.ticks(self.plan.order, self.plan.heights, self.scroll_state())

    # moving

    def move(self, step: int) -> None:
        """So many lines."""
        self.plan.scroll(step)
        self.relay()

    def page(self, step: int) -> None:
        self.move(step * max(1, self.size.height - 2))

    def half(self, step: int) -> None:
        self.move(step * max(1, self.size.height // 2))

    def first(self) -> None:
        self.walker.restart(from_end=False)
        self.plan.go(0)
        self.relay()

    def last(self) -> None:
        self.walker.restart(from_end=True)
        self.plan.at_end = True
        self.relay()

    def go_to_line(self, line: int) -> None:
        """Bring this line of the whole, as `scroll_state` counts, to the top."""
        before = self.scroll_state()[2] - self.plan.top
        self.plan.go_to_line(line - before)
        self.relay()

    def go_to(self, message_id: int) -> bool:
        """Go to a message; False when it is not shown."""
        position = self.plan.order.position(message_id)
        if position is None:
            return False
        self.walker.go(Seek(position, always=True))
        self.relay()
        return True

    def item(self, step: int) -> bool:
        """To the next item; False when there is none."""
        self.walker.item_step(step)
        self.relay()
        return not self.walker.stuck

    def message(self, step: int) -> bool:
        """To the next message; False when there is none."""
        self.walker.message_step(step)
        self.relay()
        return not self.walker.stuck

    def prompt(self, step: int) -> bool:
        found = self.walker.prompt_step(step)
        self.relay()
        return found

    # finding

    def light(self, words: str) -> None:
        """Light these words wherever they stand."""
        pattern = pattern_of(words)
        if pattern != self.shelf.setting.pattern:
            self.reset(pattern=pattern, words=len(needles(words)))
            self.relay()

    def show_matches(self, ids: Sequence[int], at: int | None) -> None:
        """The messages that match, and which of them the reader is at."""
        self.matches = Matches(ids)
        self.walker.match = at
        self.refresh()
        self.tell_moved()

    @property
    def match_number(self) -> int | None:
        """Which of the matches the reader is at, counted from 1."""
        at = self.walker.match
        order = self.plan.order
        index = self.matches.at(order, order.position(at)) if at is not None else None
        return None if index is None else index + 1

    def match(self, step: int) -> bool:
        """To the next match, from the one the reader is at or from where the current item is; True when that led
        round an end."""
        if not len(self.matches):
            return False
        order, here, number = self.plan.order, self.walker.position or 0, self.match_number
        if number is not None and self._beside_match(number):
            here = order.position(self.matches.ids[number - 1]) or 0
        found = self.matches.ids[self.matches.beside(order, here, step)]
        there = order.position(found) or 0
        self.go_to_match(found)
        return there <= here if step > 0 else there >= here

    def _beside_match(self, number: int) -> bool:
        """The reader has not gone on from that match: it may be shown in the line of a call further down."""
        at = self.walker.position
        place = self.plan.order.position(self.matches.ids[number - 1])
        return at is not None and place is not None and place <= at <= place + _PARALLEL

    def go_to_match(self, message_id: int) -> None:
        """To the match in this message."""
        position = self.plan.order.position(message_id)
        if position is not None:
            self.walker.match = message_id
            self.walker.go(Seek(position, match=True))
            self.relay()
