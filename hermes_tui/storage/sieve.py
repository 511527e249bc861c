"""Let through the rows that are worth judging: at least each in which a word occurs, and few others.

SQLite would load a long text anew for every condition that looks at it, and its `like` sees no accents and nothing
behind a NUL. So one function looks at a row once, in bytes: cutting a text into words takes many times longer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from hermes_tui.domain.querytrees import Leaf
from hermes_tui.storage.connection import Store
from hermes_tui.storage.judging import calls_of
from hermes_tui.storage.spans import FOLDING

NEEDLE = 60
"""Characters of a word that are looked for."""
_STRUCTURED = b"\0json:"
LEADING = bytes([*range(0xC3, 0xCE), 0xE1, 0xE2])
"""How the characters of `FOLDING` begin in UTF-8, and some others …"""
TRAILING = bytes(range(0x80, 0xC0))
"""… and how all characters go on there."""
Worth = Callable[[bytes | None, bytes | None, bytes | None], bool]
"""Whether a row may hold any of what is asked for: its text, the name of its tool, its calls."""
ANY = b"\x01"
"""Stands for a character that FTS5 may read as a letter of ASCII, or leave out."""
READ = bytes(ANY[0] if byte in LEADING else ord(" ") if byte > 127 else byte for byte in range(256)).lower()
DASHES, SIGNS = b"\xe2", b"\xe2\x84"
"""How dashes, quotes, ticks and frames begin, of which texts are full, and how the few signs do that fold …"""
_READ_DASHES = bytes(ord(" ") if byte == DASHES[0] else READ[byte] for byte in range(256))
"""… which stand in hardly any of them."""


def teach(store: Store, sieves: Sequence[Sieve]) -> None:
    """Give this connection the SQL functions `worth0`, `worth1` … of these sieves: one each, because a function
    that was told with every row what to look for would take twice as long."""
    for number, sieve in enumerate(sieves):
        name = f"worth{number}"
        if store.searching.get(name, (None, None))[0] is not sieve:
            store.conn.create_function(name, 3, sieve.worth, deterministic=True)
            store.searching[name] = (sieve, None)


def sieve_of(leaves: Iterable[Leaf], *, structured: bool) -> Sieve | None:
    """Lets through what may hold any of these; None where every row is worth judging. `structured`: what is stored
    as JSON too, whatever it holds."""
    words: dict[str, None] = {}
    pieces: dict[str, None] = {}
    beyond = False
    for leaf in leaves:
        needle = needle_of(leaf)
        if needle is not None:
            (pieces if leaf.substring else words)[needle] = None
        elif any(not char.isascii() and char.isalnum() and not FOLDING.match(char) for char in leaf.text):
            beyond = True
        else:
            return None
    return _sieve(tuple(words), tuple(pieces), beyond, structured)


class Sieve:
    """Looks for words, which may be written with accents, and for pieces, which may not."""

    def __init__(self, words: Iterable[str], pieces: Iterable[str], beyond: bool, structured: bool) -> None:
        """`beyond`: anything that is not ASCII is worth it."""
        self.words = [word.encode() for word in words]
        self.pieces = [piece.encode() for piece in pieces if piece.isascii()]
        self.foreign = [(piece.encode(), _rare(piece)) for piece in pieces if not piece.isascii()]
        self.in_calls = [form.encode() for piece in pieces for form in _forms(piece)]
        self.beyond, self.structured = beyond, structured
        self._beginnings = _beginnings(self.words)
        self._spellings = [_Spelling(word) for word in self.words]
        self.worth: Worth = self._worth
        """What SQL calls."""
        if len(self.foreign) == 1 and not (self.words or self.pieces or beyond or structured):
            self.worth = _foreign(*self.foreign[0], self.in_calls)

    def _worth(self, said: bytes | None, name: bytes | None, calls: bytes | None) -> bool:
        """SQL: whether a row may hold any of what is asked for; its texts as blobs."""
        if said is not None and (self.holds(said) or (self.structured and said.startswith(_STRUCTURED))):
            return True
        if name is not None and self.holds(name):
            return True
        return calls is not None and self.holds_in_calls(calls)

    def holds(self, raw: bytes) -> bool:
        """Whether a text may hold any of it."""
        if raw.isascii():
            lowered = raw.lower() if self.words or self.pieces else b""
            return _any_in(self.words, lowered) or _any_in(self.pieces, lowered)
        if self.beyond or (self.pieces and _any_in(self.pieces, raw.lower())):
            return True
        for piece, rare in self.foreign:
            # one byte is found many times faster than several
            if rare in raw and raw.lower().find(piece) >= 0:
                return True
        return bool(self.words) and self.holds_words(raw)

    def holds_words(self, raw: bytes) -> bool:
        """Whether a text may hold any of the words."""
        signs = DASHES[0] not in raw or raw.find(SIGNS) >= 0
        text = raw.translate(READ if signs else _READ_DASHES, TRAILING)
        return _any_in(self.words, text) or (ANY[0] in text and self._accented(text))

    def _accented(self, text: bytes) -> bool:
        places = (found.start() for found in self._beginnings.finditer(text))
        return any(spelling.stands(text, at) for at in places for spelling in self._spellings)

    def holds_in_calls(self, raw: bytes) -> bool:
        """The same of calls, in which writers spell what is not ASCII in numbers."""
        if raw.find(b"\\u") < 0:
            return self.holds(raw)
        if _any_in(self.in_calls, raw.lower()):
            return True
        read = calls_of(raw.decode("utf-8", "replace")) if self.words or self.beyond else ""
        return self.holds(read.encode("utf-8", "replace"))


_sieve = lru_cache(16)(Sieve)


def _foreign(piece: bytes, rare: int, in_calls: list[bytes]) -> Worth:
    """The same for one piece that is not ASCII, in one go: most texts lack even its rare byte."""

    def worth(said: bytes | None, name: bytes | None, calls: bytes | None) -> bool:
        if said is not None and rare in said and said.lower().find(piece) >= 0:
            return True
        if name is not None and rare in name and name.lower().find(piece) >= 0:
            return True
        return calls is not None and (rare in calls or calls.find(b"\\u") >= 0) and _any_in(in_calls, calls.lower())

    return worth


def _any_in(needles: list[bytes], text: bytes) -> bool:
    for needle in needles:  # noqa: SIM110  # a generator would take longer than most of the texts
        if text.find(needle) >= 0:  # Python takes the pattern of `in` for a number first, and fails
            return True
    return False


def _rare(piece: str) -> int:
    """A byte with which a character begins that is not ASCII."""
    return next(char for char in piece if not char.isascii()).encode()[0]


def _beginnings(words: list[bytes]) -> re.Pattern[bytes]:
    """Where the first character of any of these words may be that stands for a letter, or for none: what is before it
    begins the word, and what is behind it may go on. Nothing is tried more than one way, so that a text full of such
    characters takes no longer than others."""
    first, others = [], []
    for word in words:
        letters = [re.escape(word[at : at + 1]) for at in range(len(word))]
        for at in range(len(letters)):
            may_follow = (b"".join(letters[at : at + 2 + more]) for more in range(min(4, len(letters) - at - 1)))
            behind = b"(?=" + b"".join(b"[" + ANY + some + b"]" for some in may_follow) + b")"
            if at == 0:
                first.append(behind)
            else:
                others.append(b"(?<=" + b"".join(letters[:at]) + ANY + b")" + behind)
    if others:
        # most of them are behind none of the letters
        some = b"".join(re.escape(bytes([letter])) for letter in sorted({*b"".join(word[:-1] for word in words)}))
        first.append(b"(?<=[" + some + b"]" + ANY + b")(?:" + b"|".join(others) + b")")
    return re.compile(ANY + b"(?:" + b"|".join(first) + b")")


class _Spelling:
    """A word of which each letter may be itself or `ANY`, with any number of these between them."""

    def __init__(self, word: bytes) -> None:
        self._length = len(word)
        self._after: dict[int, int] = {}
        """Letter → bit by bit, how many letters of the word have come when it has."""
        for at, letter in enumerate(word):
            self._after[letter] = self._after.get(letter, 0) | 2 << at

    def stands(self, text: bytes, at: int) -> bool:
        """Whether the word is here, `at` being in it."""
        begun = max(0, at - self._length + 1)
        come = 0
        for place, letter in enumerate(text[begun : at + 2 * self._length], begun):
            if place <= at:
                come |= 1
            if letter == ANY[0]:
                come |= come << 1
            else:
                come = come << 1 & self._after.get(letter, 0)
            if come >> self._length:
                return True
            if not come and place >= at:
                return False
        return False


def needle_of(leaf: Leaf) -> str | None:
    """A piece, its ASCII in lower case, that every text holds in which the leaf occurs, as far as can be told
    without Python's own tables of letters; None when there is none."""
    pieces: list[str] = [""]
    for char in leaf.text:
        foldable = not char.isascii() and (char.lower() != char.upper())
        accented = not char.isascii() and not leaf.substring
        parting = not char.isalnum() and not leaf.inside
        if foldable or accented or parting:
            pieces.append("")
        else:
            pieces[-1] += char.lower() if char.isascii() else char
    # `İ` and `K` (Kelvin) are folded to ASCII letters by Python, never here
    return max(pieces, key=len)[:NEEDLE] or None


def _forms(piece: str) -> list[str]:
    """How calls hold a piece."""
    return list(dict.fromkeys([piece, _escaped(piece, "\\u"), _escaped(piece, "\\\\u")]))


def _escaped(text: str, mark: str) -> str:
    """`text` as JSON writers spell it in ASCII."""
    out = []
    for char in text:
        if char.isascii():
            out.append(char)
            continue
        units = char.encode("utf-16-be")
        out += [f"{mark}{int.from_bytes(units[i : i + 2], 'big'):04x}" for i in range(0, len(units), 2)]
    return "".join(out)
