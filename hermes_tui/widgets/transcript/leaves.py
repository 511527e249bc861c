"""Leaves: one message each, set in rows as far as somebody has looked, with the items that keys act on."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator
from enum import StrEnum

from hermes_tui.values import dataclass
from hermes_tui.widgets.transcript.rows import Row

NEAR = 300
"""Rows of a message among which the best match is looked for; behind them the first one counts."""
_SERIALS = itertools.count()
PART = 1 << 26
"""Offsets of a message: the number of its part times this, plus the offset in that part's text."""


class ItemKind(StrEnum):
    """What a key can act on."""

    MESSAGE = "message"
    CALL = "call"
    REASONING = "reasoning"
    FOLD = "fold"
    """Anything else that unfolds: a hand-off, an aside, what stood behind a prompt."""
    MORE = "more"
    """The rest of something long."""
    LINK = "link"


@dataclass(slots=True)
class Item:
    """One thing in a message that can be the current one."""

    kind: ItemKind
    key: str
    """Names it within its message, also after it was set anew; what folds by it."""
    level: int = 0
    """How far it is open, of what folds."""
    row: int = -1
    """Its first row, as soon as that is set."""
    start: int = 0
    end: int = 0
    """Of a link: offsets in the message."""
    target: str = ""
    """Of a link: where it leads."""


@dataclass(slots=True)
class Piece:
    """A stretch of rows with blank lines around it, unless it and its neighbour are both folded lines."""

    rows: Iterator[Row]
    tight: bool = False


class Leaf:
    """A message, set as far as was needed."""

    __slots__ = (
        "_keys",
        "_links",
        "_most",
        "_named",
        "_near",
        "_source",
        "bottom",
        "done",
        "items",
        "match",
        "parts",
        "rows",
        "serial",
        "top",
    )

    def __init__(
        self,
        pieces: Iterable[Piece],
        *,
        items: list[Item] | None = None,
        parts: list[str] | None = None,
        links: list[tuple[int, int, str]] | None = None,
    ) -> None:
        kept = list(pieces)
        self.rows: list[Row] = []
        self.items: list[Item] = items if items is not None else []
        self.parts: list[str] = parts if parts is not None else []
        """The texts that are shown, for selecting and copying: what is folded is not among them."""
        self.match = -1
        """The row to go to for the match, -1 without one: of the first `NEAR` that with most of the words, those of
        the row below counted in."""
        self.top = kept[0].tight if kept else True
        """It begins with a folded line, which needs no blank above it after another one …"""
        self.bottom = kept[-1].tight if kept else True
        """… and it ends with one."""
        self.done = not kept
        self.serial = next(_SERIALS)
        """Tells this leaf from those made before, of the same message: what was painted of them is out of date."""
        self._most = 0
        self._near: tuple[int, set[str]] = (-1, set())
        """The last lit row, and its words."""
        self._links = links if links is not None else []
        self._named = 0
        self._keys: dict[str, int] = {}
        self._source = _joined(kept)

    def pull(self, count: int, deadline: float | None = None) -> bool:
        """Set rows until there are `count` or the message ends; False when time ran out first."""
        rows, source = self.rows, self._source
        while not self.done and len(rows) < count:
            each = next(source, None)
            if each is None:
                self.done = True
                break
            self._note(each, len(rows))
            rows.append(each)
            if deadline is not None and not len(rows) & 3 and time.perf_counter() > deadline:
                return len(rows) >= count
        return True

    def _note(self, each: Row, at: int) -> None:
        """Where items begin, and what is lit."""
        index = each[4]
        if 0 <= index < len(self.items) and self.items[index].row < 0:
            self.items[index].row = at
        if words := {run[0].casefold() for run in each[0] if run[1] == "match"}:
            self._light(at, words)
        while self._named < len(self._links):
            start, end, target = self._links[self._named]
            if any(source <= start < source + len(text) for text, _, source in each[0] if source >= 0):
                self.items.append(Item(ItemKind.LINK, f"link:{start}", 0, at, start, end, target))
            elif start >= each[7]:
                break  # it stands on a row below
            self._named += 1

    def _light(self, at: int, words: set[str]) -> None:
        row, above = self._near
        self._near = at, words
        for start, held in ((at, len(words)), (row, len(words | above) if row == at - 1 else 0)):
            if held > self._most and (at < NEAR or not self._most):
                self._most, self.match = held, start

    def matched(self, words: int) -> bool:
        """Whether no better row will come for a match of so many words."""
        return self.done or self._most >= words or (self._most > 0 and len(self.rows) >= NEAR)

    def ordered(self) -> list[int]:
        """Indexes of the items whose rows are set, in reading order."""
        found = [i for i, item in enumerate(self.items) if item.row >= 0]
        return sorted(found, key=lambda i: (self.items[i].row, self.items[i].start))

    def find(self, key: str) -> int | None:
        """Index of the item of this name."""
        for i in range(len(self._keys), len(self.items)):
            self._keys[self.items[i].key] = i
        return self._keys.get(key)


def _joined(pieces: list[Piece]) -> Iterator[Row]:
    last: Piece | None = None
    for piece in pieces:
        if last is not None and not (last.tight and piece.tight):
            first = next(piece.rows, None)
            if first is None:
                continue
            yield ((), (), "", 0, -1, -1, 0, first[7])
            yield first
        yield from piece.rows
        last = piece
