"""What a place means while its message is set anew: an item, and how far into it."""

from __future__ import annotations

from hermes_tui.values import dataclass
from hermes_tui.widgets.transcript.leaves import Leaf


@dataclass(frozen=True, slots=True)
class Hold:
    """A place that outlives the rows it was found at."""

    key: str
    """Of the item."""
    into: int
    """Offset in the message's texts, from where the item begins."""


def hold_of(leaf: Leaf, line: int) -> Hold | None:
    """The place of this line; None where it belongs to no item."""
    if not 0 <= line < len(leaf.rows):
        return None
    row = leaf.rows[line]
    if not 0 <= row[4] < len(leaf.items):
        return None
    item = leaf.items[row[4]]
    begin = leaf.rows[item.row][7] if item.row >= 0 else row[7]
    return Hold(item.key, row[7] - begin)


def line_of(hold: Hold, leaf: Leaf, deadline: float | None) -> tuple[bool, int | None]:
    """(whether there was time to look, the line where that place is now): None when it is no more."""
    index = leaf.find(hold.key)
    while (index is None or leaf.items[index].row < 0) and not leaf.done:
        if not leaf.pull(len(leaf.rows) + 32, deadline):
            return False, None
        index = leaf.find(hold.key)
    if index is None or leaf.items[index].row < 0:
        return True, None
    found = at = leaf.items[index].row
    target = leaf.rows[found][7] + hold.into
    while True:
        if at + 1 >= len(leaf.rows) and not leaf.pull(at + 2, deadline):
            return False, None
        if at + 1 >= len(leaf.rows) or leaf.rows[at + 1][7] > target:
            return True, found
        at += 1
        if leaf.rows[at][4] == index:
            found = at
