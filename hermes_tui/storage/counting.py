"""How often words occur in a message, and how many words it has, as FTS5 would say, without FTS5: it takes many times
longer to put a text into its table. What only FTS5 can tell is left to it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import closing

from hermes_tui.domain.querytrees import Leaf
from hermes_tui.storage.judging import Row, Words
from hermes_tui.storage.spans import Finder, beyond_ascii

_LETTER, _PARTING, _NOTHING = "a", " ", ""
_FEW = 32
"""Characters that are replaced one after the other: each takes a fraction of going through a text by characters."""
_READ = bytes(ord(_LETTER if byte < 128 and chr(byte).isalnum() else _PARTING) for byte in range(256))
_BY_WORDS = {1 + 2: _LETTER, 2 + 0: _PARTING, 1 + 0: _NOTHING}
"""By the number of words that there are with it between two letters, and where it stands alone twice."""
_kinds: dict[str, str] = {}
"""Character beyond ASCII → what FTS5 takes it for, as far as it was asked."""


class Counter:
    """Counts some leaves; `able` tells whether that is possible at all."""

    def __init__(self, leaves: Iterable[Leaf], tokenizer: str) -> None:
        self._finders = {leaf: Finder(leaf, tokenizer) for leaf in leaves}
        self.able = all(finder.able for finder in self._finders.values())

    def counts(self, row: Row) -> dict[Leaf, tuple[int, int]] | None:
        """How often each occurs that does, and how often in the text alone; None where only FTS5 can tell."""
        found: dict[Leaf, tuple[int, int]] = {}
        for leaf, finder in self._finders.items():
            places = [finder.spans(text) if text else [] for text in (row.said, row.name, row.calls)]
            if None in places:
                return None
            said, name, calls = (len(each or ()) for each in places)
            if said or name or calls:
                found[leaf] = (said + name + calls, said)
        return found


def number_of_words(text: str) -> int:
    """As many as FTS5 would put into its index."""
    if not text.isascii():
        kinds = _kinds_of(set(beyond_ascii(text)))
        if len(kinds) <= _FEW:
            for char, kind in kinds.items():
                text = text.replace(char, kind)
        else:
            text = text.translate({ord(char): kind for char, kind in kinds.items()})
    read = text.encode("ascii").translate(_READ)
    return read.count(b" a") + read.startswith(b"a")


def _kinds_of(chars: Collection[str]) -> dict[str, str]:
    """What these are to FTS5, which goes by tables of its own: letters, or what parts words, or a part of the letter
    before."""
    unknown = [char for char in chars if char not in _kinds]
    if unknown:
        with closing(Words()) as words:
            words.fill((number, f"x{char}x", f"{char} {char}", "") for number, char in enumerate(unknown))
            lengths = words.lengths()
        _kinds.update((char, _BY_WORDS[lengths[number]]) for number, char in enumerate(unknown))
    return {char: _kinds[char] for char in chars}
