"""The footer: keys that work now; a click on one is like pressing it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual import events

from hermes_tui.keys import typed_as
from hermes_tui.widgets.ink import AXIS, Ink, Line, Part, gap, line

_APART = 3
"""Cells between two keys."""
_MARGIN = cell_len(AXIS[0])
Pair = tuple[str, str]
"""A key as people write it, and what it does."""


def fitting_keys(shown: Sequence[Pair], width: int) -> list[Pair]:
    """Those of the pairs that fit: those before the last give way, the way back after all others."""
    pairs = list(shown)
    while sum(cell_len(key) + cell_len(label) + 1 + _APART for key, label in pairs) > width and len(pairs) > 1:
        del pairs[next((i for i in range(len(pairs) - 2, -1, -1) if pairs[i][0] != "esc"), 0)]
    return pairs


class KeyLine(Ink):
    """`key label`, side by side; `above` lines are left blank."""

    ALLOW_SELECT = False

    def __init__(self, *, above: int = 0, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._above = above
        self._pairs: tuple[Pair, ...] = ()

    def show_keys(self, pairs: Sequence[Pair]) -> None:
        """Draw these; on a narrow screen as many as fit."""
        self._pairs = tuple(pairs)
        self.show(self._written)

    def _written(self, width: int, height: int) -> list[Line]:
        parts: list[Part] = []
        for key, label in fitting_keys(self._pairs, width):
            parts += [(key, "strong"), (f" {label}", "quiet"), gap(_APART)]
        return [*[line()] * self._above, line(AXIS, *parts[:-1])]

    def key_at(self, x: int) -> str | None:
        """Textual's name of the key that stands at this column; None beside all of them, and for keys in pairs,
        which do two things."""
        start = _MARGIN
        for key, label in fitting_keys(self._pairs, self.size.width):
            end = start + cell_len(key) + 1 + cell_len(label)
            if start <= x < end:
                return typed_as(key)
            start = end + _APART
        return None

    def on_click(self, event: events.Click) -> None:
        event.stop()
        key = self.key_at(event.x) if event.y == self._above else None
        if key is not None:
            self.app.simulate_key(key)
