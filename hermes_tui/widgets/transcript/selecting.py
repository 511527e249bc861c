"""A selection as text: from what messages say, not from what the screen shows; lines are not broken, nothing is
hidden that was read over."""

from __future__ import annotations

from textual.geometry import Offset
from textual.selection import Selection

from hermes_tui.widgets.transcript.layout import Layout
from hermes_tui.widgets.transcript.leaves import PART, Leaf

MISSING = "[…]"
"""Stands for a message that is not at hand."""

_DEEP = 2_000
"""Rows of a message that are set to know which of its texts are shown."""


def selected_text(selection: Selection, plan: Layout) -> str:
    """The selected stretch; an end that lies outside the reader is the edge of the screen."""
    if not plan.frame:
        return ""
    before = plan.order.before
    first, last = plan.frame[0], plan.frame[-1]
    start = selection.start or Offset(_at(plan, first), before + first[0])
    end = selection.end or Offset(PART << 20, before + last[0])
    pieces: list[str] = []
    for position in range(max(0, start.y - before), min(len(plan.order) - 1, end.y - before) + 1):
        leaf = plan.leaf(position)
        number = position + before
        if leaf is not None and number < end.y:
            leaf.pull(_DEEP)
        low = start.x if number == start.y else 0
        high = end.x if number == end.y else PART << 20
        text = MISSING if leaf is None else _stretch(leaf, low, high)
        if text:
            pieces += ["\n\n" if plan.gap(position) else "\n", text] if pieces else [text]
    return "".join(pieces)


def _at(plan: Layout, cell: tuple[int, int]) -> int:
    """Where a line of the frame begins in its message."""
    leaf = plan.shelf.peek(plan.order.ids[cell[0]])
    return leaf.rows[cell[1]][7] if leaf is not None and 0 <= cell[1] < len(leaf.rows) else 0


def _stretch(leaf: Leaf, low: int, high: int) -> str:
    """From offset to offset, over all texts of a message that are shown."""
    found = []
    for i, text in enumerate(leaf.parts):
        begin = max(0, low - i * PART)
        end = min(len(text), high - i * PART)
        if begin < end:
            found.append(text[begin:end])
    return "\n".join(found)
