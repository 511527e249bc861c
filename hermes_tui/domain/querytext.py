"""Read what was typed into a query box: words, phrases, operators, prefixes, filter words. Pure.

Any text at all is read, or refused with a reason. The boolean tree follows FTS5's own rules: words that stand
side by side bind tightest, then NOT, then AND, then OR.

    a b NOT c OR "d e" f*   →   Or(Without(And(a, b), c), And("d e", f*))
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from hermes_tui.domain.filters import KEYS, Filters, FilterWord, Wrong, combine
from hermes_tui.errors import BadQuery

PREFIX_FROM = 3
"""Letters that a word being typed needs to be taken for the beginning of one: below, FTS5 merges so many lists
that the first row takes a third of a second."""


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

    @property
    def cjk(self) -> bool:
        """It holds Chinese, Japanese or Korean writing, which knows no blanks: then it matches inside words."""
        return has_cjk(self.text)

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


@dataclass(frozen=True, slots=True)
class Piece:
    """One part of the text that can be taken away, and where it stands; for ways out of finding nothing."""

    start: int
    end: int
    text: str
    filter: bool


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query, read."""

    text: str
    filters: Filters
    expression: Node | None
    """None: the query has filter words only."""
    words: tuple[str, ...]
    """What must or may occur, without operators, what stands under NOT, and filters."""
    plain: str
    """The text without its filter words: what a link, an id or a title was pasted as."""
    pieces: tuple[Piece, ...]


# Writing without blanks: Han, kana, bopomofo, hangul, with their extensions and half-width forms.
_CJK = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\uff66-\uffdc\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
_HAS_CJK = re.compile(f"[{_CJK}]")
_UNREADABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_TOKEN = re.compile(
    rf"""
    (?P<filter>(?<!\S)(?P<negated>-?)(?P<key>{"|".join(KEYS)}):(?P<value>(?:"[^"]*(?:"|\Z)|[^\s"])+))
    | "(?P<phrase>[^"]*)"(?P<star>\**)
    | (?P<chunk>[^\s"]+)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_VALUE = re.compile(r'(?:"[^"]*(?:"|\Z)|[^,"])+')
# ASCII punctuation but . - _ parts words, as it does in Hermes; so does the punctuation of CJK writing.
_PARTS = re.compile(
    r"[^\s!-,/:-@\[-^`{-~\u3000-\u3004\u3008-\u3020\u302a-\u3030\u3036\u3037\u303d-\u303f\uff01-\uff0f\uff1a-\uff20"
    r"\uff3b-\uff40\uff5b-\uff65]+\**"
)
_OPERATORS = frozenset({"AND", "OR", "NOT"})


def has_cjk(text: str) -> bool:
    """Whether any of it is written in Chinese, Japanese or Korean."""
    return not text.isascii() and _HAS_CJK.search(text) is not None


def in_token(char: str) -> bool:
    """Whether FTS5's `unicode61` keeps this character: letters, numbers, private use."""
    return char.isalnum() or unicodedata.category(char) in ("Co", "No", "Nl")


@dataclass(frozen=True, slots=True)
class _Read:
    """A leaf or an operator, with its place in the text."""

    item: Leaf | str
    start: int
    end: int


def parse_query(text: str, *, present: float, typing_at: int | None = None) -> ParsedQuery:
    """Read a query. `present` is what relative dates count from; `typing_at` the position of the text cursor
    while someone types. Raises `BadQuery`."""
    readable = _UNREADABLE.sub(" ", text)
    if not readable.strip():
        raise BadQuery(text, "there is nothing to search for")
    read, found, filter_pieces, rest = _lex(readable, typing_at)
    try:
        filters = combine(found, present)
    except Wrong as error:
        raise BadQuery(text, str(error)) from error
    expression = _build(text, [each.item for each in read])
    if expression is None and not found:
        why = "only operators" if any(isinstance(each.item, str) for each in read) else "only punctuation"
        raise BadQuery(text, f"there is nothing to search for, {why}")
    words = tuple(dict.fromkeys(leaf.text for leaf in positive(expression))) if expression is not None else ()
    pieces = [Piece(each.start, each.end, readable[each.start : each.end], False) for each in _leaves(read)]
    return ParsedQuery(text, filters, expression, words, rest, tuple((*filter_pieces, *pieces)))


def _leaves(read: Sequence[_Read]) -> Iterator[_Read]:
    return (each for each in read if isinstance(each.item, Leaf))


def _lex(text: str, typing_at: int | None) -> tuple[list[_Read], list[FilterWord], list[Piece], str]:
    """Leaves and operators, filter words, where the latter stand, and the text without them."""
    read: list[_Read] = []
    filters: list[FilterWord] = []
    pieces: list[Piece] = []
    rest, at = [], 0
    for token in _TOKEN.finditer(text):
        if token["filter"] and (values := _values(token["value"])):
            filters.append(FilterWord(token["key"].lower(), values, bool(token["negated"]), token[0]))
            pieces.append(Piece(token.start(), token.end(), token[0], True))
            rest.append(text[at : token.start()])
            at = token.end()
        elif token["phrase"] is not None:
            read += _phrase(token)
        else:
            read += _chunk(token[0].replace('"', " "), token.start(), typing_at)
    return read, filters, pieces, " ".join("".join([*rest, text[at:]]).split())


def _values(raw: str) -> tuple[str, ...]:
    """The values of a filter word: parted by commas, quotes dropped; an empty one counts only in quotes."""
    found = []
    for value in _VALUE.findall(raw):
        bare = value.replace('"', "").strip()
        if bare or '"' in value:
            found.append(bare)
    return tuple(found)


def _phrase(token: re.Match[str]) -> Iterator[_Read]:
    text = " ".join(token["phrase"].split())
    if any(map(in_token, text)):
        yield _Read(Leaf(text, Form.PREFIX if token["star"] else Form.PHRASE), token.start(), token.end())


def _chunk(chunk: str, start: int, typing_at: int | None) -> Iterator[_Read]:
    """The words and operators of a stretch without blanks."""
    for part in _PARTS.finditer(chunk):
        bare = part[0].rstrip("*")
        starred = len(bare) < len(part[0])
        if bare in _OPERATORS and not starred:
            yield _Read(bare, start + part.start(), start + part.end())
            continue
        first = next((i for i, char in enumerate(bare) if in_token(char)), None)
        if first is None:
            continue
        last = next(i for i in range(len(bare) - 1, -1, -1) if in_token(bare[i]) or unicodedata.combining(bare[i]))
        word = bare[first : last + 1]
        begins, ends = start + part.start() + first, start + part.start() + last + 1
        typing = (
            typing_at is not None and begins < typing_at <= ends and not starred and last == len(bare) - 1
        ) and _last_letters(word) >= PREFIX_FROM
        yield _Read(Leaf(word, Form.PREFIX if starred else Form.WORD, typing), begins, start + part.end())


def _last_letters(word: str) -> int:
    """How many letters the last word in `word` has."""
    n = 0
    for char in reversed(word):
        if not (in_token(char) or unicodedata.combining(char)):
            break
        n += 1
    return n


def _build(text: str, items: Sequence[Leaf | str]) -> Node | None:
    """The boolean tree; of operators in a row NOT counts, else the first. Raises `BadQuery`."""
    branches: list[Node] = []
    conjunction: list[Node] = []
    base: list[Node] = []
    barred: list[Node] = []
    only_barred = False
    side = base

    def close_group() -> None:
        nonlocal base, barred, side, only_barred
        if base:
            one = _join(And, base)
            conjunction.append(Without(one, _join(Or, barred)) if barred else one)
        elif barred:
            only_barred = True
        base, barred = [], []
        side = base

    for operator, leaves in _groups(items):
        if operator == "NOT":
            barred.append(_join(And, leaves))
            continue
        close_group()
        if operator == "OR" and conjunction:
            branches.append(_join(And, conjunction))
            conjunction = []
        base = list(leaves)
    close_group()
    if conjunction:
        branches.append(_join(And, conjunction))
    if branches:
        return _join(Or, branches)
    if only_barred:
        raise BadQuery(text, "it only says what must not occur")
    return None


def _groups(items: Sequence[Leaf | str]) -> Iterator[tuple[str, list[Node]]]:
    """(operator before it, words that stand side by side)."""
    operators: list[str] = []
    leaves: list[Node] = []
    pending = ""
    for item in items:
        if isinstance(item, str):
            if leaves:
                yield pending, leaves
                leaves, operators = [], []
            operators.append(item)
            pending = "NOT" if "NOT" in operators else operators[0]
        else:
            leaves.append(item)
    if leaves:
        yield pending, leaves


def _join(kind: type[And] | type[Or], nodes: Sequence[Node]) -> Node:
    return nodes[0] if len(nodes) == 1 else kind(tuple(nodes))


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
