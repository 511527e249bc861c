"""The current item, and the ways to another one: by item, by message, by prompt, by match, by id."""

from __future__ import annotations

import re

from hermes_tui.values import dataclass
from hermes_tui.widgets.transcript.layout import Layout
from hermes_tui.widgets.transcript.leaves import Item, ItemKind, Leaf
from hermes_tui.widgets.transcript.measures import ALL
from hermes_tui.widgets.transcript.order import Order
from hermes_tui.widgets.transcript.rendering import matching_keys
from hermes_tui.widgets.transcript.setter import WHOLE

_FAR = 400
"""Messages that a step to another item looks at: those without a line of their own are passed over."""

_DEEP = 4_000
"""Rows of one message that are set to find the next item in it."""


@dataclass(frozen=True, slots=True)
class Current:
    """What keys act on."""

    message_id: int
    key: str


@dataclass(slots=True)
class Seek:
    """Where to go, as soon as what is there has been set."""

    position: int
    key: str = ""
    """Item to make the current one; the first by default."""
    after: str = ""
    """The item after this one instead, be it in the next message."""
    last: bool = False
    """The last item instead of the first."""
    match: bool = False
    """The first match instead."""
    always: bool = False
    """Move even when it is in sight already."""
    unfolded: bool = False
    """What holds the match has been opened."""


def _held(pattern: re.Pattern[str], text: str) -> int:
    """How many of the words stand in a text."""
    return len({found.group().casefold() for found in pattern.finditer(text)})


class Walker:
    """Keeps the current item, and moves it together with the layout."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.current: Current | None = None
        self.seek: Seek | None = None
        self.match: int | None = None
        """Id of the message whose match the reader is at."""
        self.from_end = False
        """The last item in sight is to be the current one, when there is none yet."""
        self.stuck = False
        """There was no next item or message to step to."""
        self.wanted: int | None = None
        """Id of a message whose whole text is needed to go on."""

    # where one is

    @property
    def position(self) -> int | None:
        """Of the message that holds the current item."""
        return None if self.current is None else self.layout.order.position(self.current.message_id)

    def leaf(self) -> Leaf | None:
        """The leaf that holds the current item."""
        return None if self.current is None else self.layout.shelf.peek(self.current.message_id)

    def item(self) -> Item | None:
        """The current item itself."""
        leaf = self.leaf()
        index = leaf.find(self.current.key) if leaf is not None and self.current is not None else None
        return leaf.items[index] if leaf is not None and index is not None else None

    def choose(self, position: int, leaf: Leaf, index: int) -> None:
        """Make this item the current one."""
        self.current = Current(self.layout.order.ids[position], leaf.items[index].key)

    def follow_frame(self) -> None:
        """Keep the current item in sight: when it has left, the nearest that is in sight takes its place."""
        if self.seek is not None:
            return
        at = self.position
        seen = self.seen()
        if not seen:
            return
        if self.current is not None and at is not None:
            if any(position == at and self._holds(leaf, line) for position, line, leaf, _ in seen):
                return
            if self.layout.shelf.peek(self.layout.order.ids[at]) is None and seen[0][0] <= at <= seen[-1][0]:
                return  # it is being set anew
        below = at is not None and (at > seen[-1][0] or (at == seen[-1][0] and at != seen[0][0]))
        if self.current is None:
            below = self.from_end
        position, _, leaf, index = seen[-1] if below else seen[0]
        self.choose(position, leaf, index)

    def _holds(self, leaf: Leaf, line: int) -> bool:
        index = leaf.find(self.current.key) if self.current is not None else None
        if index is None:
            return False
        item = leaf.items[index]
        return item.row == line if item.kind is ItemKind.LINK else leaf.rows[line][4] == index

    def seen(self) -> list[tuple[int, int, Leaf, int]]:
        """(position, line, leaf, index of the item) of the lines in sight that belong to one."""
        found = []
        for position, line in self.layout.frame:
            leaf = self.layout.shelf.peek(self.layout.order.ids[position])
            if leaf is not None and 0 <= line < len(leaf.rows) and leaf.rows[line][4] >= 0:
                found.append((position, line, leaf, leaf.rows[line][4]))
        return found

    def look(self) -> bool:
        """Of all lines in sight, that of the current item must stay; False when it is out of sight."""
        position, item = self.position, self.item()
        return position is not None and item is not None and self.layout.look_at(position, item.row)

    # going somewhere

    def restart(self, *, from_end: bool) -> None:
        """Take the first or the last item of what comes into sight."""
        self.seek, self.current, self.from_end = None, None, from_end

    def go(self, seek: Seek) -> None:
        """Go there; `step` does it."""
        self.seek, self.stuck = seek, False

    def carry(self, order: Order) -> None:
        """The layout is about to get another order: what is gone to stays the same message."""
        if self.seek is not None:
            position = order.position(self.layout.order.ids[self.seek.position])
            if position is None:
                self.seek = None
            else:
                self.seek.position = position

    def step(self, deadline: float | None) -> bool:
        """Do as much of the way as there is time for; False when there was too little. Where a text is missing,
        the rest of the way waits for it."""
        layout = self.layout
        while self.seek is not None and len(layout.order):
            seek = self.seek
            seek.position = max(0, min(seek.position, len(layout.order) - 1))
            if seek.match and not seek.unfolded:
                seek.unfolded = self._unfold(layout.order.ids[seek.position])
            leaf = layout.leaf(seek.position)
            if leaf is None or (seek.match and leaf.match < 0 and self._needs_whole(seek.position, leaf)):
                if layout.y_of(seek.position, 0) is None:
                    layout.go(seek.position, 0, layout.height // 3)
                return True
            if not leaf.pull(ALL if seek.last else 8, deadline) or not self._set_target(leaf, seek, deadline):
                return False
            if seek.match and self._called_below(seek, leaf):
                continue
            if not leaf.rows:
                self._pass_over(seek)
                continue
            line, index = self._target(leaf, seek)
            if seek.after and index is None:  # that was the last one of its message
                self.stuck = seek.position + 1 >= len(layout.order)
                self.seek = None if self.stuck else Seek(seek.position + 1)
                continue
            if index is not None:
                self.choose(seek.position, leaf, index)
            self.seek = None
            self._reveal(seek, line)
        return True

    def _set_target(self, leaf: Leaf, seek: Seek, deadline: float | None) -> bool:
        """Set rows until what is looked for is among them, or all are; False when there was no time."""
        while not leaf.done:
            if seek.match:
                there = leaf.matched(self.layout.shelf.setting.words)
            elif seek.after:
                there = self._next(leaf, seek.after) is not None or len(leaf.rows) > _DEEP
            elif seek.key:
                index = leaf.find(seek.key)
                there = index is not None and leaf.items[index].row >= 0
            else:
                there = bool(leaf.ordered())
            if there:
                break
            if not leaf.pull(len(leaf.rows) + 64, deadline):
                return False
        return True

    def _target(self, leaf: Leaf, seek: Seek) -> tuple[int, int | None]:
        """(line to show, index of the item there)."""
        if seek.match and leaf.match >= 0:
            owner = leaf.rows[leaf.match][4]
            return leaf.match, owner if owner >= 0 else None
        if seek.after:
            index = self._next(leaf, seek.after)
            return (0, None) if index is None else (leaf.items[index].row, index)
        index = leaf.find(seek.key) if seek.key else None
        if index is None or leaf.items[index].row < 0:
            order = leaf.ordered()
            if not order:
                return 0, None
            index = order[-1] if seek.last else order[0]
        return leaf.items[index].row, index

    @staticmethod
    def _next(leaf: Leaf, key: str) -> int | None:
        """Index of the item after this one, as far as the leaf is set."""
        order = leaf.ordered()
        index = leaf.find(key)
        place = order.index(index) if index in order else len(order)
        return order[place + 1] if place + 1 < len(order) else None

    def _called_below(self, seek: Seek, leaf: Leaf) -> bool:
        """Whether a call holds more of the words than the message that made it: then on to what answered it, where it
        is shown."""
        layout = self.layout
        message = layout.shelf.message(layout.order.ids[seek.position])
        pattern = layout.shelf.setting.pattern
        if message is None or pattern is None:
            return False
        most = _held(pattern, f"{message.text}\n{message.reasoning or ''}") if leaf.match >= 0 else 0
        best = None
        for call in message.tool_calls or ():
            place = None if call.result_id is None else layout.order.position(call.result_id)
            held = _held(pattern, f"{call.name} {call.arguments}")
            if place is not None and place > seek.position and held > most:
                most, best = held, place
        if best is None:
            return False
        seek.position, seek.unfolded = best, False
        return True

    def _pass_over(self, seek: Seek) -> None:
        """A message without a line of its own."""
        step = -1 if seek.last else 1
        if not 0 <= seek.position + step < len(self.layout.order):
            self.seek, self.stuck = None, True
            return
        seek.position += step
        seek.unfolded = False

    def _needs_whole(self, position: int, leaf: Leaf) -> bool:
        """The match lies beyond what is here of the text: ask for all of it."""
        message_id = self.layout.order.ids[position]
        message = self.layout.shelf.message(message_id)
        pattern = self.layout.shelf.setting.pattern
        if message is None or not message.cut or pattern is None or leaf.match >= 0:
            return False
        if self.layout.shelf.whole(message_id) is not None or pattern.search(message.text):
            return False
        self.layout.shelf.open(message_id, "call" if message.role == "tool" else "message", WHOLE)
        self.wanted = message_id
        return True

    def _unfold(self, message_id: int) -> bool:
        """Open what holds a match and is folded; False while the message is not here."""
        shelf = self.layout.shelf
        message = shelf.message(message_id)
        if message is None or shelf.setting.pattern is None:
            return False
        for key, level in matching_keys(message, shelf.setting.pattern, shelf.whole(message_id)).items():
            known = shelf.level(message_id, key)
            if (known if known is not None else 0) < level:
                shelf.open(message_id, key, level)
        return True

    def _reveal(self, seek: Seek, line: int) -> None:
        """Move as little as shows the line with some room around it; of a match in a call with the call's line."""
        layout = self.layout
        y = layout.y_of(seek.position, line)
        room = min(3, layout.height // 4)
        if y is not None and room <= y < layout.height - room and not seek.always:
            return
        if seek.match or seek.always or y is None:
            at = layout.height // 3 if not seek.last else layout.height // 2
            item = self.item() if seek.match else None
            if item is not None and item.kind is ItemKind.CALL and line - item.row < layout.height - room:
                at = max(at, line - item.row)
            layout.go(seek.position, line, at)
        else:
            layout.go(seek.position, line, room if y < room else layout.height - room - 1)

    def item_step(self, step: int) -> None:
        """To the next item, in this message or a following one."""
        at, leaf = self.position, self.leaf()
        if at is None or leaf is None or self.current is None:
            return
        if step > 0:
            self.go(Seek(at, after=self.current.key))
            return
        order = leaf.ordered()
        index = leaf.find(self.current.key)
        place = order.index(index) if index in order else 0
        if place > 0:
            self.go(Seek(at, leaf.items[order[place - 1]].key))
        else:
            self.message_step(step, last=True)

    def message_step(self, step: int, *, last: bool = False) -> None:
        """To the next message that has something to show."""
        at = self.position
        if at is None:
            return
        self.stuck = False
        for place in range(at + step, at + step * _FAR, step):
            if not 0 <= place < len(self.layout.order):
                self.stuck = True
                return
            leaf = self.layout.leaf(place)
            if leaf is None or not leaf.done or leaf.rows:
                self.go(Seek(place, last=last))
                return

    def prompt_step(self, step: int) -> bool:
        """To the next message of the person; False when there is none."""
        at = self.position
        found = None if at is None else self.layout.order.prompt(at, step)
        if found is not None:
            self.go(Seek(found))
        return found is not None
