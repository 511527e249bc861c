"""Where ASCII words stand in a text as FTS5 would say, without FTS5: it takes much longer to cut a text into words
than to find a few of them. What only FTS5 can tell is left to it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import closing

from hermes_tui.domain.querytrees import Leaf
from hermes_tui.storage.judging import UNICODE, Words

FOLDING = re.compile("[\u00c0-\u024f\u0300-\u036f\u1dc0-\u1eff\u2126-\u212b]")
"""Every character that FTS5 may fold into an ASCII letter, or leave out of a word."""
_WORD = re.compile("[A-Za-z0-9]+")
_NO_WORD = "[^A-Za-z0-9]+"
_parting: dict[str, bool] = {}
"""Character beyond ASCII → whether it parts words, as far as FTS5 was asked."""


class Finder:
    """Finds the places of one leaf; `able` tells for which leaves that is possible at all."""

    def __init__(self, leaf: Leaf, tokenizer: str) -> None:
        words = _WORD.findall(leaf.text)
        distinct = len({word.lower() for word in words}) == len(words)
        # of words that come again, or that may go on, places may overlap
        simple = distinct and (not leaf.prefix or len(words) == 1)
        self.able = bool(words) and simple and tokenizer == UNICODE and leaf.text.isascii() and not leaf.substring
        end = "[A-Za-z0-9]*" if leaf.prefix else ""
        self._regex = re.compile(
            f"(?<![A-Za-z0-9]){_NO_WORD.join(words)}{end}(?![A-Za-z0-9])", re.IGNORECASE | re.ASCII
        )
        self._prefix = leaf.prefix
        self._several = len(words) > 1

    def spans(self, text: str) -> list[tuple[int, int]] | None:
        """In order; None where only FTS5 can tell."""
        if text.isascii():
            return [found.span() for found in self._regex.finditer(text)]
        if FOLDING.search(text):
            return None
        places = [found.span() for found in self._regex.finditer(text)]
        edges = {char for start, end in places for char in (text[start - 1 : start], text[end : end + 1])}
        between = {char for start, end in places for char in text[start:end]} if self._several else set()
        parting = _part_words({char for char in edges | between if not char.isascii()})
        if not all(parting[char] for char in between if not char.isascii()):
            return None  # what was taken for one place may hide another
        found = []
        for start, end in places:
            before, after = text[start - 1 : start], text[end : end + 1]
            if self._prefix and not parting.get(after, True):
                return None
            if parting.get(before, True) and parting.get(after, True):
                found.append((start, end))
        return found


def _part_words(chars: Iterable[str]) -> dict[str, bool]:
    """Which of these characters part words; FTS5 goes by tables of its own."""
    unknown = [char for char in chars if char not in _parting]
    if unknown:
        with closing(Words()) as words:
            words.fill((number, f"x{char}x", "", "") for number, char in enumerate(unknown))
            parted = words.spans(Leaf("x"))
        _parting.update({char: number in parted for number, char in enumerate(unknown)})
    return _parting
