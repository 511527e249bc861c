"""Filter words that are nearly right: `sorce:slack` is a word like any other, and probably not meant as one. Pure."""

from __future__ import annotations

import re

from hermes_tui.domain.filters import KEYS

_OTHERS = {
    "from": "source",
    "platform": "source",
    "since": "after",
    "until": "before",
    "folder": "cwd",
    "project": "workspace",
    "channel": "chat",
}
"""What other programs call our filters."""
_MEANT = {**{key: key for key in KEYS}, **_OTHERS}
_PHRASE = re.compile(r'(?<![^\s:])"[^"]*"?')
_WORD = re.compile(r"(?<!\S)-?([A-Za-z]{3,20}):(?=\S|\s*\Z)(?!//)")
_BARE = re.compile(rf"(?<!\S)-?({'|'.join(KEYS)}):(?=\s|\Z)", re.IGNORECASE)
_KEY, _VALUE = f"(?i:{'|'.join(KEYS)})", r':(?:"[^"]*"?|[^\s"])+'
_EITHER = re.compile(rf"(?<!\S)({_KEY}){_VALUE}\s+OR\s+(?=(?i:\1):)")
_BESIDE_OR = re.compile(rf"(?<!\S)(?:OR\s+(?:NOT\s+)?-?{_KEY}:\S|-?{_KEY}{_VALUE}\s+OR(?!\S))")
_LONG = 6
"""Letters from which on two may be wrong."""


def misspelt(text: str) -> tuple[tuple[str, str], ...]:
    """(key as typed, filter that was probably meant) for each word of the query that looks like a filter and is none.

    Only a key directly before a value, or with nothing behind it yet, and a letter or two away from a real one:
    `TODO: fix`, `http://x`, `note:` and what stands between quotes are words that were meant as words.
    """
    found: dict[str, str] = {}
    for word in _WORD.finditer(_unquoted(text)):
        typed = word[1]
        if typed.lower() not in KEYS and not typed.isupper() and (meant := _nearest(typed.lower())):
            found[typed] = meant
    return tuple(found.items())


def _unquoted(text: str) -> str:
    return _PHRASE.sub(lambda phrase: "x" * len(phrase[0]), text)


def hint(text: str) -> str:
    """A sentence about the first of them, else about a filter without a value or beside OR; empty if none is."""
    if near := misspelt(text):
        return f"{near[0][0]}: is no filter; did you mean {near[0][1]}:?"
    for word in _BARE.findall(_unquoted(text)):
        if not word.isupper():
            return f"{word}: has no value directly behind it, so it is searched as a word."
    if _BESIDE_OR.search(_EITHER.sub("", _unquoted(text))):
        return "Filter words hold for the whole query, also beside OR; a,b behind one is either of the two."
    return ""


def corrected(text: str) -> str:
    """The query with the filters that were probably meant."""
    for typed, meant in misspelt(text):
        text = re.sub(rf"(?<!\S)(-?){typed}:", rf"\g<1>{meant}:", text)
    return text


def _nearest(typed: str) -> str:
    """The filter whose name differs least; empty when none is near, or when it begins with another letter."""
    allowed = 1 if len(typed) < _LONG else 2
    near = [(_apart(typed, name), name) for name in _MEANT if name[0] == typed[0] and len(name) > 2]
    distance, name = min(near, default=(allowed + 1, ""))
    return _MEANT[name] if distance <= allowed else ""


def _apart(a: str, b: str) -> int:
    """How many letters were left out, added, mistaken or exchanged with their neighbour."""
    rows = [list(range(len(b) + 1))]
    for i, char in enumerate(a, 1):
        row = [i]
        for j, other in enumerate(b, 1):
            steps = [rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (char != other)]
            if i > 1 and j > 1 and char == b[j - 2] and a[i - 2] == other:
                steps.append(rows[-2][j - 2] + 1)
            row.append(min(steps))
        rows.append(row)
    return rows[-1][-1]
