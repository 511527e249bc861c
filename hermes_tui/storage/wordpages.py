"""The pages on which a full-text index lists its words: a third of the room that the texts take.

A page: four bytes, of which the last two say where its foot begins; words, each with where it stands; the foot: how
far it is from each word to the next. Every word but the first of a page is stored as the number of bytes that it has
in common with the one before it, the number of those that follow, and these.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from threading import Lock

from hermes_tui.storage.connection import Store
from hermes_tui.values import NamedTuple

LONGEST = 32_768
"""Bytes of a word: of longer ones FTS5 leaves out the end."""
_WHOLE_WORD = b"0"
"""With which each word is stored, in front of it; beginnings that are indexed for themselves have other marks."""
_STRUCTURE = 10
"""Where FTS5 keeps of which parts an index is made."""
_LEAST_FOOT = b"\x00\x04"
"""Where the foot of a page begins at the earliest."""
_PAGES_AT_ONCE = 128
"""Pages that are read as one piece: SQLite puts it together while other threads go on, and Python looks through half
a megabyte in a fraction of the time that it takes to be handed each page."""
_SPARSE = 200
"""Places of a byte up to which each is looked for by itself."""


class Span(NamedTuple):
    """Some neighbouring pages."""

    part: int
    first: int
    last: int
    """The first and last page of that part of the index."""
    low: bytes | None
    high: bytes | None
    """Above which word, and up to which, they begin; None: no bound."""
    number: int
    """As many as they are, about."""


class Walk:
    """Goes through all pages of an index, some at a time. Several threads may share it, each with a connection of its
    own. Raises IndexError where what FTS5 keeps of an index does not look like that."""

    def __init__(self, store: Store, index: str) -> None:
        self._index = index
        self._parts = [(part, *pages) for part, pages in _parts(store, index).items() if pages[0] <= pages[1]]
        self._low: bytes | None = None
        self._lock = Lock()

    def next(self, store: Store) -> Span | None:
        """The next pages; None when nothing is left."""
        with self._lock:
            if not self._parts:
                return None
            part, first, last = self._parts[-1]
            sql = f"select term from {self._index}_idx where segid = :part {_above(self._low)}"
            bound = {"part": part, "low": self._low, "skipped": _PAGES_AT_ONCE - 1}
            found = store.conn.execute(f"{sql} order by term limit 1 offset :skipped", bound).fetchone()
            span = Span(part, first, last, self._low, found[0] if found is not None else None, _PAGES_AT_ONCE)
            self._low = span.high
            if span.high is None:
                self._parts.pop()
            return span


def _above(low: bytes | None) -> str:
    return "" if low is None else "and term > :low"


def pages_with(store: Store, index: str, span: Span, chars: Iterable[str]) -> Iterator[bytes]:
    """Of these pages those that may hold one of some characters of three bytes each, and those that may hold a word
    that is cut. In a statement that does not take long: a writer may wait for it. Raises IndexError for one that is
    missing, or is none."""
    mark = os.urandom(8).hex().encode()  # nothing that is stored can know it
    within = f"{_above(span.low)} {'' if span.high is None else 'and term <= :high'}"
    # what was merged into another part leaves no more than its line behind
    pages = f"""
    from {index}_idx i
    left join {index}_data d on d.id = (i.segid << 37) + (i.pgno >> 1)
    where i.segid = :part {within} and (i.pgno >> 1 < :first) is not 1
    """
    bound = {**span._asdict(), "mark": mark, "longest": LONGEST}
    joined, there, known, foot, last, longest = store.conn.execute(
        f"""
        select
            cast(group_concat(case when length(d.block) < :longest then d.block end, :mark) as blob),
            count(*), count(d.block), min(substr(d.block, 3, 2)), max(i.pgno >> 1), max(length(d.block))
        {pages}
        """,
        bound,
    ).fetchone()
    if not there:
        return
    if known < there or last > span.last or not isinstance(foot, bytes) or foot < _LEAST_FOOT:
        raise IndexError
    found = list(_pages_in(joined or b"", mark, chars))
    if longest >= LONGEST:
        found += [
            row[0] for row in store.conn.execute(f"select d.block {pages} and length(d.block) >= :longest", bound)
        ]
    for page in dict.fromkeys(found):
        if not _is_page(page):
            raise IndexError
        yield page


def _pages_in(joined: bytes, mark: bytes, chars: Iterable[str]) -> Iterator[bytes]:
    """The pages with one of these characters, for each of them."""
    for char in chars:
        end = 0
        for at in _places(joined, char.encode()):
            if at >= end:
                start = joined.rfind(mark, 0, at)
                end = joined.find(mark, at)
                end = len(joined) if end < 0 else end
                yield joined[start + len(mark) if start >= 0 else 0 : end]


def _places(joined: bytes, char: bytes) -> Iterator[int]:
    """Where a character may be, or one that begins like it and comes before it: of a word behind such a one only what
    differs is stored. What begins a word that has some of it is on the same page, and stands there first."""
    pattern = _up_to(char)
    at = joined.find(char[:1])
    for _ in range(_SPARSE):
        if at < 0:
            return
        if pattern.match(joined, at):
            yield at
        at = joined.find(char[:1], at + 1)
    if at >= 0:  # Python's expressions find one byte slower than that, but many bytes faster
        yield from (found.start() for found in pattern.finditer(joined, at))


def _up_to(char: bytes) -> re.Pattern[bytes]:
    """Characters of three bytes with the same first one, up to this one."""
    first, second, third = (b"\\x%02x" % byte for byte in char)
    ways = [second + rb"[\x80-" + third + b"]"]
    if char[1] > 0x80:
        ways.append(rb"[\x80-" + b"\\x%02x" % (char[1] - 1) + rb"][\x80-\xbf]")
    return re.compile(first + b"(?:" + b"|".join(ways) + b")")


def rarest(piece: str) -> str:
    """The character of a piece to look for, of those of three bytes: the one that the fewest others come before."""
    return min((char for char in piece if len(char.encode()) == 3), key=lambda char: ord(char) & 0xFFF)


def _is_page(block: object) -> bool:
    return isinstance(block, bytes) and 4 <= (block[2] << 8 | block[3]) < len(block)


def _parts(store: Store, index: str) -> dict[int, tuple[int, int]]:
    """The parts that an index is made of, and the first and last page of each. Raises IndexError for a record that
    does not look like that."""
    found = store.conn.execute(f"select block from {index}_data where id = {_STRUCTURE}").fetchone()
    record = found[0] if found is not None else None
    if not isinstance(record, bytes):
        raise IndexError
    at, parts = 4, {}
    levels, at = _number(record, at)
    for _ in range(2):  # how many parts there are, and how much was ever written
        _, at = _number(record, at)
    for _ in range(levels):
        _, at = _number(record, at)
        number, at = _number(record, at)
        for _ in range(number):
            part, at = _number(record, at)
            first, at = _number(record, at)
            end, at = _number(record, at)
            parts[part] = (first, end)
    return parts


def may_hold(page: bytes, piece: bytes) -> bool:
    """Whether a word of this page may hold a piece: as it stands, or begun in what the word has in common with the
    one before it and ended in what is its own."""
    for byte in piece:
        if byte not in page:
            return False
    if piece in page:
        return True
    begun = [True]
    for end in range(2, len(piece) + 1):
        whole = piece[:end] in page
        begun.append(whole or any(begun[at - 1] and _begins_with(page, piece[at:end]) for at in range(1, end)))
    return begun[-1]


def _begins_with(page: bytes, rest: bytes) -> bool:
    """Whether this, the end of a character or of several, may begin what is a word's own: a number is before that."""
    at = page.find(rest)
    while at >= 0:
        if page[at - 1] < 128:
            return True
        at = page.find(rest, at + 1)
    return False


def words_of(page: bytes) -> Iterator[bytes]:
    """The words of a page, in order. Raises IndexError for what is none."""
    foot = page[2] << 8 | page[3]
    at, word, first = 0, b"", True
    while foot < len(page):
        # nearly all numbers are of one byte, and a call takes longer than reading it
        step, foot = (page[foot], foot + 1) if page[foot] < 128 else _number(page, foot)
        at += step
        if first:
            common, place, first = 0, at, False
        else:
            common, place = (page[at], at + 1) if page[at] < 128 else _number(page, at)
        own, place = (page[place], place + 1) if page[place] < 128 else _number(page, place)
        before, word = word, word[:common] + page[place : place + own]
        if word <= before:
            raise IndexError  # they stand in order
        if word[:1] == _WHOLE_WORD:
            yield word[1:]


def _number(page: bytes, at: int) -> tuple[int, int]:
    """A number of as many bytes as it needs, and where it ends."""
    number = 0
    while True:
        byte = page[at]
        at += 1
        number = number << 7 | byte & 127
        if byte < 128:
            return number, at
