"""The reader: one widget that shows a conversation of any length, of which only what is in sight is ever set."""

from __future__ import annotations

from textual import events
from textual.message import Message as Event

from hermes_tui.values import dataclass
from hermes_tui.widgets.transcript.items import Source, item_at, source_of, wide_blocks
from hermes_tui.widgets.transcript.leaves import ItemKind
from hermes_tui.widgets.transcript.markdown import code_blocks
from hermes_tui.widgets.transcript.roaming import Roaming
from hermes_tui.widgets.transcript.setter import CLOSED, OPEN, WHOLE

_SIDEWAYS = 16
"""Cells per step of a wide block."""


class Reader(Roaming, inherit_bindings=False):
    """What keys and the mouse do in a transcript."""

    @dataclass
    class Followed(Event):
        """A link was chosen."""

        target: str

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._code: tuple[int, int] = (0, -1)
        """Message and number of the code block that was copied last."""

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
        if key:
            self.walker.choose(position, leaf, index)
        if self.plan.look_at(position, line):
            self.plan.at_end = False
        elif key and line >= 0:  # its first line is above the screen
            self.plan.go(position, line)
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
        wide = wide_blocks(self.plan, self.shifts, self.size.width)
        if not wide:
            return False
        current = self.walker.current
        key = next((key for key in wide if current is not None and key[0] == current.message_id), next(iter(wide)))
        self.shifts[key] = max(0, min(self.shift_of(key) + step * _SIDEWAYS, wide[key]))
        self.refresh()
        return True

    # copying

    def source(self) -> Source | None:
        """What the current item was made of, as it was written."""
        current, item = self.walker.current, self.walker.item()
        message = None if current is None else self.shelf.message(current.message_id)
        return None if item is None or message is None else source_of(message, item)

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
        index = item_at(leaf, line, event.x) if leaf is not None else None
        if leaf is None or index is None:
            return
        item = leaf.items[index]
        again = self.walker.item() is item
        self.walker.choose(position, leaf, index)
        folds = item.kind not in (ItemKind.MESSAGE, ItemKind.LINK) and item.row == line and event.chain == 1
        if folds or (item.kind is ItemKind.LINK and (again or event.chain == 2)):
            self.act()
        else:
            self.refresh()
            self.tell_moved()
