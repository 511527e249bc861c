"""The reader: one widget that shows a conversation of any length, of which only what is in sight is ever set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.message import Message as Event

from hermes_tui.domain.messages import Message, Outline, Window
from hermes_tui.widgets.transcript.canvas import Canvas
from hermes_tui.widgets.transcript.layout import Pin
from hermes_tui.widgets.transcript.leaves import Item, ItemKind
from hermes_tui.widgets.transcript.lights import pattern_of
from hermes_tui.widgets.transcript.markdown import code_blocks
from hermes_tui.widgets.transcript.order import Order, outline_order, window_order
from hermes_tui.widgets.transcript.outcomes import read_outcome
from hermes_tui.widgets.transcript.rendering import CLOSED, OPEN, WHOLE
from hermes_tui.widgets.transcript.rows import GUTTER, cells, measure
from hermes_tui.widgets.transcript.walking import Seek

_SIDEWAYS = 16
"""Cells per step of a wide block."""
_EXACT_TICKS = 300


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


@dataclass(frozen=True, slots=True)
class Source:
    """What `y` copies."""

    text: str | None
    """None: only the whole text of the message will do, and it is not here."""
    what: str
    message_id: int


class Reader(Canvas):
    """What keys and the mouse do in a transcript."""

    @dataclass
    class Followed(Event):
        """A link was chosen."""

        target: str

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.matches: tuple[int, ...] = ()
        """Ids of the messages that match, in transcript order."""
        self._code: tuple[int, int] = (0, -1)
        """Message and number of the code block that was copied last."""
        self._ticks: tuple[tuple[int, int, tuple[int, ...]], tuple[float, ...]] | None = None

    # showing

    def show_window(self, window: Window, anchor: int | None) -> None:
        """Show these messages, at the anchor or at their end, while all that there is is being read."""
        self.shelf.put(window.messages)
        self._show(window_order(window))
        self.start_at(anchor)

    def show_outline(self, outline: Outline) -> None:
        """All there is, which now includes what was shown: nothing in sight moves."""
        follows = self.plan.sees_end and bool(self.plan.frame)
        self._show(outline_order(outline))
        if follows and self.walker.seek is None:
            self.plan.at_end = True
        self.relay()

    def _show(self, order: Order) -> None:
        self.plan.show(order)
        self.shelf.gone.clear()
        self._painted.clear()

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
        """Where the matches are, from 0 to 1."""
        heights, order = self.plan.heights, self.plan.order
        key = (len(order), heights.total if len(self.matches) <= _EXACT_TICKS else 0, self.matches)
        if self._ticks is None or self._ticks[0] != key:
            places = [place for place in map(order.position, self.matches) if place is not None]
            if len(places) <= _EXACT_TICKS:
                found = tuple(heights.before(place) / max(1, heights.total) for place in places)
            else:
                found = tuple(sorted({round(place / max(1, len(order)), 3) for place in places}))
            self._ticks = (key, found)
        return self._ticks[1]

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
        self.walker.seek = None
        self.plan.go(0)
        self._choose_edge(0)

    def last(self) -> None:
        self.walker.seek = None
        self.plan.at_end = True
        self._choose_edge(len(self.plan.order) - 1)

    def _choose_edge(self, position: int) -> None:
        """The first or last item becomes the current one as soon as it is there."""
        self.walker.current = None
        self.relay()
        if position > 0:
            seen = self.walker.seen()
            if seen:
                self.walker.choose(seen[-1][0], seen[-1][2], seen[-1][3])
                self.refresh()
                self.post_message(self.Moved())

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

    def item(self, step: int) -> None:
        self.walker.item_step(step)
        self.relay()

    def message(self, step: int) -> None:
        self.walker.message_step(step)
        self.relay()

    def prompt(self, step: int) -> bool:
        found = self.walker.prompt_step(step)
        self.relay()
        return found

    # finding

    def light(self, words: str) -> None:
        """Light these words wherever they stand."""
        pattern = pattern_of(words)
        if pattern != self.shelf.setting.pattern:
            self.reset(pattern=pattern)
            self.relay()

    def show_matches(self, ids: Sequence[int], at: int | None) -> None:
        """The messages that match, and which of them the reader is at."""
        self.matches = tuple(ids)
        self.walker.match = at
        self.refresh()
        self.post_message(self.Moved())

    @property
    def match_number(self) -> int | None:
        """Which of the matches the reader is at, counted from 1."""
        at = self.walker.match
        return self.matches.index(at) + 1 if at is not None and at in self.matches else None

    def match(self, step: int) -> None:
        """To the next match, from the one the reader is at or from where the current item is; round the ends."""
        if not self.matches:
            return
        number = self.match_number
        if number is None or self.walker.position != self.plan.order.position(self.matches[number - 1]):
            at = self.walker.position or 0
            places = [self.plan.order.position(each) or 0 for each in self.matches]
            if step > 0:
                target = next((i for i, place in enumerate(places) if place > at), 0)
            else:
                target = next((i for i in range(len(places) - 1, -1, -1) if places[i] < at), len(places) - 1)
        else:
            target = (number - 1 + step) % len(self.matches)
        self.go_to_match(self.matches[target])

    def go_to_match(self, message_id: int) -> None:
        """To the match in this message."""
        position = self.plan.order.position(message_id)
        if position is not None:
            self.walker.match = message_id
            self.walker.go(Seek(position, match=True))
            self.relay()

    # folding

    def act(self) -> None:
        """What `enter` does to the current item."""
        current, item = self.walker.current, self.walker.item()
        if current is None or item is None:
            return
        if item.kind is ItemKind.LINK:
            self.post_message(self.Followed(item.target))
        elif item.kind is ItemKind.MORE:
            self._open(current.message_id, item.key.partition(":")[2], WHOLE)
        elif item.kind is ItemKind.MESSAGE:
            message = self.shelf.message(current.message_id)
            if message is not None and message.cut and message.label is None:
                self._open(current.message_id, "message", CLOSED if item.level == WHOLE else WHOLE)
        else:
            self._open(current.message_id, item.key, CLOSED if item.level > CLOSED else OPEN)

    def _open(self, message_id: int, key: str, level: int) -> None:
        self._hold(key)
        self.shelf.open(message_id, key, level)
        message = self.shelf.message(message_id)
        if level == WHOLE and message is not None and message.cut and self.shelf.whole(message_id) is None:
            self.ask_whole(message_id)
        self._painted.clear()
        self.relay()

    def _hold(self, key: str = "") -> None:
        """What stays where it is while things fold: the current item."""
        position, leaf = self.walker.position, self.walker.leaf()
        current = self.walker.current
        index = leaf.find(key or current.key) if leaf is not None and current is not None else None
        if position is None or leaf is None or current is None or index is None:
            self.plan.keep()
            return
        line = leaf.items[index].row
        y = self.plan.y_of(position, line)
        if key:
            self.walker.choose(position, leaf, index)
        if y is None:  # its first line is above the screen
            y = 0 if key and line >= 0 else None
        if y is not None:
            self.plan.at_end = False
            self.plan.pin = Pin(position, line, y)
        self.plan.keep()

    def fold_tools(self) -> bool:
        """Fold all calls, or unfold them; whether they are open now."""
        level = CLOSED if self.shelf.setting.tools > CLOSED else OPEN
        self._hold()
        self.shelf.forget_opens(("call",))
        self.reset(tools=level)
        self.relay()
        return level > CLOSED

    def fold_thoughts(self) -> bool:
        """Fold all reasoning, or unfold it; whether it is open now."""
        level = CLOSED if self.shelf.setting.thoughts > CLOSED else OPEN
        self._hold()
        self.shelf.forget_opens(("reasoning",))
        self.reset(thoughts=level)
        self.relay()
        return level > CLOSED

    # wide blocks

    def sideways(self, step: int) -> bool:
        """Scroll a table or code that is wider than the page: the one of the current message, else the first in
        sight; False when there is none."""
        wide = self._wide_blocks()
        if not wide:
            return False
        current = self.walker.current
        key = next((key for key in wide if current is not None and key[0] == current.message_id), next(iter(wide)))
        shift = self._shifts.get(key, 0) + step * _SIDEWAYS
        self._shifts[key] = max(0, min(shift, wide[key]))
        self.refresh()
        return True

    def _wide_blocks(self) -> dict[tuple[int, int, int], int]:
        """Blocks in sight that do not fit, and how far they can go."""
        found: dict[tuple[int, int, int], int] = {}
        for position, line in self.plan.frame:
            leaf = self.shelf.peek(self.plan.order.ids[position])
            if leaf is None or not 0 <= line < len(leaf.rows) or leaf.rows[line][5] < 0:
                continue
            row = leaf.rows[line]
            over = measure(row[0]) + measure(row[1]) + 1 - self.size.width
            key = (self.plan.order.ids[position], row[7] >> 26, row[5])
            if over > 0 or self._shifts.get(key):
                found[key] = max(found.get(key, 0), over)
        return found

    # copying

    def source(self) -> Source | None:
        """What the current item was made of, as it was written."""
        current, item = self.walker.current, self.walker.item()
        message = None if current is None else self.shelf.message(current.message_id)
        if item is None or message is None:
            return None
        if item.kind is ItemKind.LINK:
            return Source(item.target, "link", message.id)
        key = item.key.removeprefix("more:")
        if key == "reasoning":
            return Source(message.reasoning, "reasoning", message.id)
        if key == "commentary":
            return Source(message.commentary, "aside", message.id)
        if key.startswith("call:"):
            call = (message.tool_calls or ())[int(key[5:])]
            return Source(call.arguments, "call", message.id)
        if key == "raw" or (not message.text and message.tool_calls_raw):
            return Source(message.tool_calls_raw, "calls", message.id)
        what = "output" if message.role == "tool" else "message"
        if message.cut:
            return Source(None, what, message.id)
        if message.role == "tool":
            return Source(read_outcome(message.text, message.chars).text, what, message.id)
        return Source(message.label if message.label and key == "message" else message.text, what, message.id)

    def next_code(self) -> tuple[str, int, int] | None:
        """(code, its number, of how many): the first block of the current message, then the next one."""
        current = self.walker.current
        message = None if current is None else self.shelf.message(current.message_id)
        blocks = code_blocks(message.text) if message is not None and message.role != "tool" else []
        if message is None or not blocks:
            return None
        last_id, last = self._code
        number = (last + 1) % len(blocks) if last_id == message.id else 0
        self._code = (message.id, number)
        return blocks[number], number + 1, len(blocks)

    # the mouse

    def on_click(self, event: events.Click) -> None:
        event.prevent_default()
        if self.text_selection is not None or not 0 <= event.y < len(self.plan.frame):
            return
        position, line = self.plan.frame[event.y]
        leaf = self.shelf.peek(self.plan.order.ids[position])
        if leaf is None or not 0 <= line < len(leaf.rows):
            return
        row = leaf.rows[line]
        link = self._link_at(leaf.items, row[0], event.x)
        index = link if link is not None else row[4]
        if index < 0:
            return
        again = self.walker.item() is leaf.items[index]
        self.walker.choose(position, leaf, index)
        kind = leaf.items[index].kind
        first = leaf.items[index].row == line
        folds = kind in (ItemKind.CALL, ItemKind.REASONING, ItemKind.FOLD, ItemKind.MORE) and first
        if folds or (kind is ItemKind.LINK and (again or event.chain == 2)):
            self.act()
        else:
            self.refresh()
            self.post_message(self.Moved())

    def _link_at(self, items: Sequence[Item], runs: Sequence[tuple[str, str, int]], x: int) -> int | None:
        """Index of the link under this cell."""
        column = 0
        for text, _, source in runs:
            wide = cells(text)
            if column <= x < column + wide and source >= 0 and x >= GUTTER - 2:
                at = source + min(len(text) - 1, x - column)
                return next((i for i, item in enumerate(items) if item.kind is ItemKind.LINK and item.start <= at < item.end), None)
            column += wide
        return None
