"""What stands around the accents of a text: few texts have many, and from a little around each it can be told that it
belongs to none of the words that are looked for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import pairwise

from hermes_tui.storage.sieve import ANY, DASHES, LEADING, READ, SIGNS, TRAILING
from hermes_tui.storage.spans import FOLDING, MARK, folded

_LEADS = [(byte, bytes([byte])) for byte in LEADING]
_BEFORE, _BEHIND = 3, 5
"""Bytes around the beginning of such a character: at least those of the one before it, its own, and the first of the
one behind it."""
_APART = 128
"""Bytes to such a character, on average, from which on looking around each is faster than reading the whole text."""
_THREE_BYTES = 0xE0
"""How characters of so many begin, or of more."""


def around_accents(raw: bytes) -> bytes | None:
    """Of each character that FTS5 reads as a letter of ASCII, or leaves out: the one before it, that letter or `ANY`,
    and the one behind it. Each three once, in lines; None where they are many."""
    most = len(raw) // _APART + 1
    if not raw[:_BEFORE].isascii():
        raw = b" " * _BEFORE + raw
    places: list[bytes] = []
    for byte, lead in _LEADS:
        if byte not in raw:  # told many times faster than where it is
            continue
        if byte == DASHES[0]:
            if raw.find(SIGNS) >= 0:
                return None
            continue
        at = raw.find(lead, _BEFORE)
        for _ in range(most):
            if at < 0:
                break
            places.append(raw[at - _BEFORE : at + _BEHIND])
            at = raw.find(lead, at + 1)
        else:
            return None
    return b"".join(sorted({*map(_three, {*places})}))


def beside(words: Iterable[bytes]) -> re.Pattern[bytes]:
    """Finds, in `around_accents`, what may be in one of these words."""
    found: set[bytes] = set()
    for word in words:
        letters = [word[at : at + 1] for at in range(len(word))]
        beside = [b".", *(b"[" + ANY + letter + b"]" for letter in letters), b"."]
        found.update(b"".join(three) for three in zip(beside, letters, beside[2:], strict=False))
        found.update(before + ANY + behind for before, behind in pairwise(beside[1:-1]))
    return re.compile(b"^(?:" + b"|".join(sorted(found)) + b")$", re.MULTILINE)


@lru_cache(16_384)
def _three(place: bytes) -> bytes:
    """A line of `around_accents`; nothing for a character that is none of these."""
    end = _BEFORE + (3 if place[_BEFORE] >= _THREE_BYTES else 2)
    letter = _letters().get(place[_BEFORE:end].decode("utf-8", "replace"))
    if letter is None:
        return b""
    before = place[:_BEFORE].translate(READ, TRAILING)[-1:]
    behind = place[end:].translate(READ, TRAILING)[:1]
    return b"".join(beside if beside.strip() else b" " for beside in (before, letter, behind)) + b"\n"


@cache
def _letters() -> dict[str, bytes]:
    """What FTS5 reads such a character as: a letter of ASCII, or else a part of the one before it."""
    chars = [char for char in map(chr, range(0xC0, 0x212C)) if FOLDING.match(char)]
    read = {char: letter.encode() for char, letter in folded(chars).items() if letter.isascii()}
    return {**dict.fromkeys(filter(MARK.match, chars), ANY), **read}
