"""Read what was typed into a query box: words, phrases, operators, prefixes, filter words. Pure.

Any text at all is read, or refused with a reason. The boolean tree follows FTS5's own rules: words that stand
side by side bind tightest, then NOT, then AND, then OR.

    a b NOT c OR "d e" f*   →   Or(Without(And(a, b), c), And("d e", f*))
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from hermes_tui.domain.filters import KEYS, Filters
from hermes_tui.domain.filterwords import FilterWord, Wrong, combine
from hermes_tui.domain.links import Link, only_link
from hermes_tui.domain.querytrees import And, Form, Leaf, Node, Or, Without, in_token, positive
from hermes_tui.errors import BadQuery
from hermes_tui.values import dataclass

PREFIX_FROM = 3
"""Letters that a word being typed needs to be taken for the beginning of one: below, FTS5 merges so many lists
that the first row takes a third of a second."""


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

    @property
    def link(self) -> Link | None:
        """The link that the query is, filter words aside: it means a session, and its words are not searched."""
        return only_link(self.plain)


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


@dataclass(frozen=True, slots=True)
class _Read:
    """A word, the words of one stretch without blanks, or an operator, with its place in the text."""

    item: Leaf | And | str
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
    pieces = [
        Piece(each.start, each.end, readable[each.start : each.end], False)
        for each in read
        if not isinstance(each.item, str)
    ]
    return ParsedQuery(text, filters, expression, words, rest, (*filter_pieces, *pieces))


def beside_filters(text: str) -> str:
    """What is left of a query without its filter words, whether or not it can be read."""
    return _lex(_UNREADABLE.sub(" ", text), None)[3]


def _lex(text: str, typing_at: int | None) -> tuple[list[_Read], list[FilterWord], list[Piece], str]:
    """Leaves and operators, filter words, where the latter stand, and the text without them."""
    read: list[_Read] = []
    filters: list[FilterWord] = []
    pieces: list[Piece] = []
    rest, at = [], 0
    for token in _TOKEN.finditer(text):
        if token["filter"] and (values := _values(token["value"])):
            start, negated = token.start(), bool(token["negated"])
            if read and read[-1].item == "NOT" and not text[read[-1].end : start].strip():
                start, negated = read.pop().start, not negated  # as if it were a word
            said = text[start : token.end()]
            filters.append(FilterWord(token["key"].lower(), values, negated, said))
            pieces.append(Piece(start, token.end(), said, True))
            rest.append(text[at:start])
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
    """The words of a stretch without blanks, or the operator that it is."""
    parts = [found for found in (_part(part, start, typing_at) for part in _PARTS.finditer(chunk)) if found]
    if len(parts) == 1:
        only = parts[0]
        text = only.item.text if isinstance(only.item, Leaf) and only.item.form is Form.WORD else ""
        yield _Read(text, only.start, only.end) if text in _OPERATORS else only
    elif parts:
        words = tuple(each.item for each in parts if isinstance(each.item, Leaf))
        yield _Read(And(words), parts[0].start, parts[-1].end)


def _part(part: re.Match[str], start: int, typing_at: int | None) -> _Read | None:
    """A stretch without the punctuation that parts words; None when it has no letters."""
    bare = part[0].rstrip("*")
    starred = len(bare) < len(part[0])
    first = next((i for i, char in enumerate(bare) if in_token(char)), None)
    if first is None:
        return None
    last = next(i for i in range(len(bare) - 1, -1, -1) if in_token(bare[i]) or unicodedata.combining(bare[i]))
    word = bare[first : last + 1]
    begins, ends = start + part.start() + first, start + part.start() + last + 1
    touched = typing_at is not None and begins < typing_at <= ends and last == len(bare) - 1
    typing = touched and not starred and _last_letters(word) >= PREFIX_FROM
    return _Read(Leaf(word, Form.PREFIX if starred else Form.WORD, typing), begins, start + part.end())


def _last_letters(word: str) -> int:
    """How many letters the last word in `word` has."""
    n = 0
    for char in reversed(word):
        if not (in_token(char) or unicodedata.combining(char)):
            break
        n += 1
    return n


def _build(text: str, items: Sequence[Leaf | And | str]) -> Node | None:
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


def _groups(items: Sequence[Leaf | And | str]) -> Iterator[tuple[str, list[Node]]]:
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
