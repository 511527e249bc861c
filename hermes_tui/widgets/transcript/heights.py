"""How tall each message is, estimated until it has been set; sums over any number of them, quickly."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

_BLOCK = 256


class Heights:
    """Heights in lines with prefix sums: changing one is constant, finding a line reads about n / 256 sums."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._each = array("i", heights)
        self._blocks = array("q", (sum(self._each[i : i + _BLOCK]) for i in range(0, len(self._each), _BLOCK)))
        self.total = sum(self._blocks)

    def __len__(self) -> int:
        return len(self._each)

    def __getitem__(self, position: int) -> int:
        return self._each[position]

    def set(self, position: int, height: int) -> None:
        """Correct one height."""
        change = height - self._each[position]
        if change:
            self._each[position] = height
            self._blocks[position // _BLOCK] += change
            self.total += change

    def before(self, position: int) -> int:
        """Lines above this message."""
        block = position // _BLOCK
        return sum(self._blocks[:block]) + sum(self._each[block * _BLOCK : position])

    def find(self, line: int) -> tuple[int, int]:
        """The message that holds this line of the whole, and which of its lines that is."""
        if not self._each:
            return 0, 0
        line = max(0, min(line, self.total - 1))
        block = 0
        while block < len(self._blocks) - 1 and line >= self._blocks[block]:
            line -= self._blocks[block]
            block += 1
        position = block * _BLOCK
        while position < len(self._each) - 1 and line >= self._each[position]:
            line -= self._each[position]
            position += 1
        return position, max(0, line)
