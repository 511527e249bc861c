"""How tall each message is, estimated until it has been set; sums over any number of them, quickly."""

from __future__ import annotations

from array import array

_BLOCK = 256
_TALL = 255
"""Heights from here on are kept apart: almost all fit a byte."""


class Heights:
    """Heights in lines with prefix sums: made and summed at the speed of bytes, changed one at a time."""

    def __init__(self, estimates: bytes = b"") -> None:
        """`estimates`: one for each message, below 255."""
        self._each = bytearray(estimates)
        self._tall: dict[int, int] = {}
        self._blocks = array("q", (sum(estimates[i : i + _BLOCK]) for i in range(0, len(estimates), _BLOCK)))
        self.total = sum(self._blocks)

    def __len__(self) -> int:
        return len(self._each)

    def __getitem__(self, position: int) -> int:
        height = self._each[position]
        return height if height < _TALL else self._tall[position]

    def set(self, position: int, height: int) -> None:
        """Correct one height."""
        change = height - self[position]
        if change:
            self._each[position] = min(height, _TALL)
            if height >= _TALL:
                self._tall[position] = height
            self._blocks[position // _BLOCK] += change
            self.total += change

    def before(self, position: int) -> int:
        """Lines above this message."""
        block = position // _BLOCK
        begin = block * _BLOCK
        piece = self._each[begin:position]
        lines = sum(self._blocks[:block]) + sum(piece)
        at = piece.find(_TALL)
        while at >= 0:
            lines += self._tall[begin + at] - _TALL
            at = piece.find(_TALL, at + 1)
        return lines

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
        while position < len(self._each) - 1 and line >= self[position]:
            line -= self[position]
            position += 1
        return position, max(0, line)
