"""The boolean tree of a query, and which characters make words. Pure."""

from __future__ import annotations

import unicodedata
from bisect import bisect
from collections.abc import Iterator
from enum import Enum
from functools import lru_cache

from hermes_tui.values import dataclass, replace

# Writing without blanks: Han, kana, bopomofo, hangul, with their extensions and half-width forms.
_CJK = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\uff66-\uffdc\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)


_FIRST, _LAST = _CJK[::3], _CJK[2::3]


def has_cjk(text: str) -> bool:
    """Whether any of it is written in Chinese, Japanese or Korean."""
    return not text.isascii() and _has_cjk(text)


@lru_cache(256)
def _has_cjk(text: str) -> bool:
    """Without an expression: to compile one of so many characters takes longer than most queries."""
    places = ((char, bisect(_FIRST, char)) for char in text)
    return any(at and char <= _LAST[at - 1] for char, at in places)


def in_token(char: str) -> bool:
    """Whether a character may be part of a word. Of symbols only FTS5 itself knows, by its old tables."""
    if char.isascii():
        return char.isalnum()
    kind = unicodedata.category(char)
    return kind[0] in "LNSM" or kind in ("Co", "Cn")


class Form(Enum):
    """How a leaf was written."""

    WORD = "word"
    PHRASE = "phrase"
    PREFIX = "prefix"


@dataclass(frozen=True, slots=True)
class Leaf:
    """What must occur: one word, one phrase, one beginning of a word."""

    text: str
    """As typed, without quotes, stars and outer punctuation; may hold punctuation inside (`chat-send`)."""
    form: Form = Form.WORD
    typing: bool = False
    """A word that is still being typed: taken for a prefix, and otherwise a plain word."""
    inside: bool = False
    """It occurs nowhere as a word, and is therefore looked for inside words."""

    @property
    def cjk(self) -> bool:
        """It holds Chinese, Japanese or Korean writing, which knows no blanks: then it matches inside words."""
        return has_cjk(self.text)

    @property
    def substring(self) -> bool:
        """It matches wherever its characters stand, inside words too."""
        return self.inside or self.cjk

    @property
    def prefix(self) -> bool:
        """Its last word may go on."""
        return self.form is Form.PREFIX or self.typing

    @property
    def plain(self) -> bool:
        """A word as people type it, neither phrase nor explicit prefix."""
        return self.form is Form.WORD


@dataclass(frozen=True, slots=True)
class And:
    """All of these occur."""

    children: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Any of these occurs."""

    children: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Without:
    """`base` holds and `barred` does not."""

    base: Node
    barred: Node


Node = Leaf | And | Or | Without


def leaves(node: Node) -> Iterator[Leaf]:
    """Every leaf, what stands under NOT included, in order."""
    if isinstance(node, Leaf):
        yield node
    elif isinstance(node, Without):
        yield from leaves(node.base)
        yield from leaves(node.barred)
    else:
        for child in node.children:
            yield from leaves(child)


def positive(node: Node) -> Iterator[Leaf]:
    """Every leaf that does not stand under NOT, in order."""
    if isinstance(node, Leaf):
        yield node
    elif isinstance(node, Without):
        yield from positive(node.base)
    else:
        for child in node.children:
            yield from positive(child)


def as_it_stands(node: Node) -> Node:
    """The same where the word that is being typed does not go on: whatever this finds, the other finds too."""
    if isinstance(node, Leaf):
        return replace(node, typing=False) if node.typing else node
    if isinstance(node, Without):
        return Without(as_it_stands(node.base), node.barred)
    return type(node)(tuple(map(as_it_stands, node.children)))
