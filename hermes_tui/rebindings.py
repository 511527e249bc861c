"""Whether keys that a settings file gives to commands can work: known names, no two commands of one place on one
key, nothing that an input would take for text where a command must work while someone types."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping

from hermes_tui.keys import PLACES, SMALL_PLACES, Key
from hermes_tui.values import NamedTuple

_MODIFIERS = ("ctrl", "alt", "shift", "super", "hyper", "meta")
_NAMED = frozenset(
    {"up", "down", "left", "right", "home", "end", "pageup", "pagedown", "insert", "delete", "backspace"}
    | {"enter", "escape", "tab", "space", *(f"f{number}" for number in range(1, 25))}
)
_SHORT = {
    "SOLIDUS": "slash",
    "REVERSE SOLIDUS": "backslash",
    "COMMERCIAL AT": "at",
    "HYPHEN-MINUS": "minus",
    "PLUS SIGN": "plus",
    "LOW LINE": "underscore",
}
"""Punctuation that has a shorter name as a key than as a character."""
_PUNCTUATION = {
    char: _SHORT.get(unicodedata.name(char), re.sub("[ -]", "_", unicodedata.name(char).lower()))
    for char in map(chr, range(33, 127))
    if not char.isalnum()
}
_LETTERS = {name: char for char, name in _PUNCTUATION.items()}
_EDITING = frozenset(
    {"space", "backspace", "delete", "left", "right", "home", "end"} | {f"ctrl+{letter}" for letter in "acdefkuvwx"}
)
"""What an input takes for itself beside letters."""
_IN_BOX = frozenset({"move", "page", "read", "switch", "recent", "back"})
"""Commands of the search that work while someone types."""


class Fault(NamedTuple):
    """What is wrong with the keys of one command."""

    id: str
    why: str


def fault_in(rebound: Mapping[str, str]) -> Fault | None:
    """The first that cannot work, in the order of the file; None when all can."""
    for name, keys in rebound.items():
        for key in _split(keys):
            if (why := _unknown(key)) is not None:
                return Fault(name, f"{name}: {why}")
        if (why := _typed(name, keys)) is not None:
            return Fault(name, f"{name}: {why}")
    for name in rebound:
        if (why := _clash(name, rebound)) is not None:
            return Fault(name, why)
    return None


def _split(keys: str) -> list[str]:
    return [key.strip() for key in keys.split(",")]


def _normal(key: str) -> str:
    """`?` and `question_mark` are one key."""
    return _PUNCTUATION.get(key, key)


def _unknown(key: str) -> str | None:
    """Why there is no such key."""
    if not key:
        return "a key is missing between commas; the comma itself is written comma"
    *modifiers, base = [key] if key in ("+", "plus") else key.split("+")
    if wrong := next((each for each in modifiers if each not in _MODIFIERS), None):
        return f"there is no key {key!r}: {wrong!r} is none of {', '.join(_MODIFIERS)}"
    if len(base) == 1 and base.isprintable() and not base.isspace():
        if "shift" in modifiers and base.isalpha():
            return f"there is no key {key!r}; write the capital letter {base.upper()!r}"
        if "ctrl" in modifiers and base.isupper():
            return f"there is no key {key!r}; write {key.lower()!r}"
        return None
    if base in _NAMED or base in _LETTERS:
        return None
    return f"there is no key {key!r}; write a letter, ctrl+letter, f1, or a name such as slash, space, pagedown"


def _is_text(key: str) -> bool:
    """Whether an input takes it for itself."""
    base = _normal(key)
    return len(base) == 1 or base in _LETTERS or base in _EDITING


def _typed(name: str, keys: str) -> str | None:
    """Why the command could not be given while someone types, or would take a letter from whoever does."""
    text = [key for key in _split(keys) if _is_text(key)]
    if name == "everywhere.quit" and text:
        return f"{text[0]!r} is text in an input, and this command works there too; take one such as ctrl+q"
    key = next(key for key in _all() if key.id == name)
    in_box = key.place == "search" and key.action.partition("(")[0] in _IN_BOX
    if in_box and len(text) == len(_split(keys)) and not all(map(_is_text, _split(key.keys))):
        return f"{text[0]!r} is text in the query box, where this command is needed; add one such as f5 or ctrl+n"
    return None


def _all() -> Iterator[Key]:
    for place in (*PLACES.values(), *SMALL_PLACES.values()):
        yield from place


def _clash(name: str, rebound: Mapping[str, str]) -> str | None:
    """Which other command of the same place, or of every place, has one of its keys too."""
    own = next(key for key in _all() if key.id == name)
    mine = {_normal(key): key for key in _split(rebound[name])}
    for other in _all():
        near = other.place == own.place or "everywhere" in (other.place, own.place)
        if other.id == name or not near:
            continue
        for key in _split(rebound.get(other.id, other.keys)):
            if _normal(key) in mine:
                return f"{name} and {other.id} are both on {mine[_normal(key)]!r}; give one of them another key"
    return None
