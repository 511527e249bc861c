"""Items under the mouse, what copies of them are made from, and blocks that are wider than the page."""

from __future__ import annotations

from collections.abc import Mapping

from hermes_tui.domain.messages import Message
from hermes_tui.values import dataclass
from hermes_tui.widgets.transcript.layout import Layout
from hermes_tui.widgets.transcript.leaves import PART, Item, ItemKind, Leaf
from hermes_tui.widgets.transcript.outcomes import read_outcome
from hermes_tui.widgets.transcript.rows import Row, cells, measure

BlockKey = tuple[int, int, int]
"""(message, part, block)"""


@dataclass(frozen=True, slots=True)
class Source:
    """What `y` copies."""

    text: str | None
    """None: only the whole text of the message will do, and it is not here."""
    what: str
    message_id: int


def source_of(message: Message, item: Item) -> Source:
    """What an item was made of, as it was written."""
    key = item.key.removeprefix("more:")
    if item.kind is ItemKind.LINK:
        return Source(item.target, "link", message.id)
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
    if key == "message" and message.label:
        return Source(message.label, what, message.id)
    if message.cut:
        return Source(None, what, message.id)
    text = read_outcome(message.text, message.chars).text if message.role == "tool" else message.text
    return Source(text, what, message.id)


def item_at(leaf: Leaf, line: int, x: int) -> int | None:
    """Index of the item at this cell of a line: a link, else what the line belongs to."""
    if not 0 <= line < len(leaf.rows):
        return None
    row = leaf.rows[line]
    column = 0
    for text, _, source in row[0]:
        wide = cells(text)
        if column <= x < column + wide and source >= 0:
            at = source + min(len(text) - 1, x - column)
            for i, item in enumerate(leaf.items):
                if item.kind is ItemKind.LINK and item.start <= at < item.end:
                    return i
        column += wide
    return row[4] if row[4] >= 0 else None


def block_key(message_id: int, row: Row) -> BlockKey | None:
    """The wide block that a row scrolls with."""
    return (message_id, row[7] // PART, row[5]) if row[5] >= 0 else None


def wide_blocks(plan: Layout, shifts: Mapping[BlockKey, int], width: int) -> dict[BlockKey, int]:
    """Blocks in sight that do not fit, in order, and how many cells they can be scrolled."""
    found: dict[BlockKey, int] = {}
    for position, line in plan.frame:
        message_id = plan.order.ids[position]
        leaf = plan.shelf.peek(message_id)
        if leaf is None or not 0 <= line < len(leaf.rows):
            continue
        row = leaf.rows[line]
        key = block_key(message_id, row)
        if key is not None:
            over = measure(row[0]) + measure(row[1]) + (2 if row[1] else 1) - width
            found[key] = max(found.get(key, 0), over)
    return {key: over for key, over in found.items() if over > 0 or shifts.get(key)}
