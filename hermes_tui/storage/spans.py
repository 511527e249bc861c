"""Where ASCII words stand in a text as FTS5 would say, without FTS5: it takes much longer to cut a text into words
than to find a few of them. What only FTS5 can tell is left to it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from contextlib import closing
from functools import cached_property

from hermes_tui.domain.querytrees import Leaf
from hermes_tui.storage.judging import UNICODE, Words

FOLDING = re.compile("[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0300-\u036f\u1dc0-\u1eff\u2126-\u212b]")
"""Every character that FTS5 may fold into an ASCII letter, or leave out of a word."""
MARK = re.compile("[\u0300-\u036f\u1dc0-\u1dff]")
"""Of these, those that are no letters by themselves: a word goes on behind them, or without them."""
_ASCII = bytes(range(128))
_WORD = re.compile("[A-Za-z0-9]+")
_NO_WORD = "[^A-Za-z0-9]+"
Places = dict[str, list[tuple[int, int]]]
"""Word in lower case → where it stands."""
_parting: dict[str, bool] = {}
"""Character beyond ASCII → whether it parts words, as far as FTS5 was asked."""
_folded: dict[str, str] = {}
"""Character of `FOLDING` → the one letter that FTS5 reads it as, as far as it was asked."""


class Finder:
    """Finds the places of one leaf; `able` tells for which leaves that is possible at all."""

    def __init__(self, leaf: Leaf, tokenizer: str) -> None:
        words = _WORD.findall(leaf.text)
        distinct = len({word.lower() for word in words}) == len(words)
        # of words that come again, or that may go on, places may overlap
        simple = distinct and (not leaf.prefix or len(words) == 1)
        self.able = bool(words) and simple and tokenizer == UNICODE and leaf.text.isascii() and not leaf.substring
        self._words = words
        self._prefix = leaf.prefix
        self._several = len(words) > 1

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        end = "[A-Za-z0-9]*" if self._prefix else ""
        return re.compile(
            f"(?<![A-Za-z0-9]){_NO_WORD.join(self._words)}{end}(?![A-Za-z0-9])", re.IGNORECASE | re.ASCII
        )

    def _places(self, text: str) -> list[tuple[int, int]]:
        """Where the words stand in an ASCII text between characters that are no letters and digits. A string is
        found many times faster than a pattern."""
        lowered = text.lower()
        first = self._words[0].lower()
        places = []
        at = lowered.find(first)
        while at >= 0:
            if found := self._regex.match(text, at):
                places.append(found.span())
            at = lowered.find(first, found.end() if found else at + 1)
        return places

    def spans(self, text: str, known: Places | None = None) -> list[tuple[int, int]] | None:
        """In order; None where only FTS5 can tell. `known`: `words_of` an ASCII text."""
        if text.isascii():
            if known is not None and not self._several and not self._prefix:
                return known.get(self._words[0].lower(), [])
            return self._places(text)
        plain = _without_accents(text)
        if plain is None:
            return None
        text = plain
        places = self._places(_ascii_of(text))
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


def words_of(text: str) -> Places:
    """Where each word of an ASCII text stands: gone through once, however many are looked for."""
    found: Places = {}
    for word in _WORD.finditer(text.lower()):
        found.setdefault(word[0], []).append(word.span())
    return found


def _ascii_of(text: str) -> str:
    """The same with a question mark for each character beyond ASCII: made, and made lower case, many times faster
    than other texts are."""
    return text.encode("ascii", "replace").decode("ascii")


def beyond_ascii(text: str) -> str:
    """What of a text is none: where most of it is, a pattern has little to look through then."""
    return text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")


def _without_accents(text: str) -> str | None:
    """The same characters as FTS5 reads them, one for one; None where that depends on what stands beside them."""
    chars = set(FOLDING.findall(beyond_ascii(text)))
    if any(MARK.match(char) for char in chars):
        return None
    for char, read in folded(chars).items():
        text = text.replace(char, read)  # many times faster than `translate`
    return text


def folded(chars: Collection[str]) -> dict[str, str]:
    """Character of `FOLDING` → the one letter that FTS5 reads it as; itself where that is none of ASCII."""
    unknown = [char for char in chars if char not in _folded]
    if unknown:
        with closing(Words()) as words:
            words.fill((number, f"x{char}x", "", "") for number, char in enumerate(unknown))
            read = words.first_words()
        for number, char in enumerate(unknown):
            word = read[number]
            _folded[char] = word[1] if len(word) == len("xax") and word[1].isascii() else char
    return {char: _folded[char] for char in chars}


def _part_words(chars: Iterable[str]) -> dict[str, bool]:
    """Which of these characters part words; FTS5 goes by tables of its own."""
    unknown = [char for char in chars if char not in _parting]
    if unknown:
        with closing(Words()) as words:
            words.fill((number, f"x{char}x", "", "") for number, char in enumerate(unknown))
            parted = words.spans(Leaf("x"))
        _parting.update({char: number in parted for number, char in enumerate(unknown)})
    return _parting
