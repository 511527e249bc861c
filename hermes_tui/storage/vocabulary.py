"""Which words of a full-text index hold a piece of writing without blanks, and so which messages may.

To FTS5 a run of Chinese is one word, and it cannot be asked for what stands inside words. But the index lists every
word once, in a third of the room that the texts take, and most pages of that list are passed over by one byte.

A page of the list: four bytes, of which the last two say where its foot begins; words, each with where it stands;
the foot: how far it is from each word to the next. Every word but the first of a page is stored as the number of
bytes that it has in common with the one before it, the number of those that follow, and these.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from operator import methodcaller

from hermes_tui.domain.querytrees import Form, Leaf
from hermes_tui.storage.connection import Store
from hermes_tui.storage.fts import Index, express
from hermes_tui.storage.judging import UNICODE, Words
from hermes_tui.storage.sieve import needle_of

_LETTERS = "[\u3041-\u3096\u30a1-\u30fa\u3400-\u4db5\u4e00-\u9fa5\uac00-\ud7a3]+"
"""Letters to every FTS5, which it neither folds nor leaves out."""
_LOOKED_FOR = 4
"""Characters of a piece: more would cost more, and hardly tell more."""
_MOST_WORDS = 400
"""Words up to which asking for each is cheaper than reading the messages."""
_MOST_ROWS = 5_000
_ASKED_AT_ONCE = 100
_PAGES_AT_ONCE = 1_000
_FEW_PAGES, _PART = 200, 20
"""Pages of which the words are gone through: so many, and of those that were looked at one in so many."""
_SOME_PAGES, _WRITTEN_SO = 3_000, 2
"""The same of pages that hold such writing at all: in a store that is full of it the messages are read faster."""
_LONGEST = 32_768
"""Bytes of a word: of longer ones FTS5 leaves out the end."""
_WHOLE_WORD = b"0"
"""With which each word is stored, in front of it; beginnings that are indexed for themselves have other marks."""
_STRUCTURE = 10
"""Where FTS5 keeps of which parts an index is made."""
_NOWHERE = (1, 0)
_LEAST_FOOT = "x'0004'"
"""Where the foot of a page begins at the earliest."""
_FORMAT = 4
"""Of the tables in which FTS5 keeps an index."""
_TRIES = 2
_END = (1 << 62, b"")
"""Behind every segment of an index."""
_REMEMBERED = 16
Vocabulary = dict[str, frozenset[str]]
"""Piece → the words that hold it."""


def rows_with(store: Store, index: Index, leaves: Sequence[Leaf]) -> list[int] | None:
    """Of the messages that an index holds, all in which any of these may occur and few others, the newest first; None
    where it cannot tell, or not cheaply. Raises sqlite3.Error as it comes."""
    pieces = {leaf: _piece(leaf) for leaf in leaves if leaf.substring}
    if None in pieces.values() or not _holds_all(index):
        return None
    wanted = tuple(dict.fromkeys(piece for piece in pieces.values() if piece))
    found = words_with(store, index, wanted)
    if found is None:
        return None
    expressions = [express(leaf) for leaf in leaves if leaf not in pieces]
    expressions += [express(_in_numbers(piece)) for piece in wanted]
    words = sorted(frozenset[str]().union(*found.values()))
    for start in range(0, len(words), _ASKED_AT_ONCE):
        expressions.append(" OR ".join(express(Leaf(word)) for word in words[start : start + _ASKED_AT_ONCE]))
    ids: set[int] = set()
    sql = f"select rowid from {index.name} where {index.name} match ? limit ?"
    for expression in expressions:
        ids.update(row[0] for row in store.conn.execute(sql, (expression, _MOST_ROWS + 1)))
        if len(ids) > _MOST_ROWS:
            return None
    return sorted(ids, reverse=True)


def _holds_all(index: Index) -> bool:
    """Whether it holds all that is searched of a message, by letters that are known."""
    known = index.inline or index.columns == ("content", "tool_name", "tool_calls")
    return known and index.tokenizer == UNICODE and (index.cut_as_known or not index.cut)


def _piece(leaf: Leaf) -> str | None:
    """What a text, or the way in which JSON writes it in numbers, must hold if the leaf occurs in it."""
    runs = re.findall(_LETTERS, needle_of(leaf) or "")
    return max(runs, key=len)[:_LOOKED_FOR] if runs else None


def _in_numbers(piece: str) -> Leaf:
    r"""How FTS5 reads `\u90e8\u7f72`, and what may go on behind it."""
    return Leaf(" ".join(f"u{ord(char):04x}" for char in piece), Form.PREFIX)


def words_with(store: Store, index: Index, pieces: Sequence[str]) -> Vocabulary | None:
    """Piece → the words of an index that hold it; None where that cannot be told, or they are very many. Remembered
    until a write, also for longer pieces: whoever types asks for one after the other."""
    version = store.version()
    kept = store.searching.get("vocabulary")
    known: Vocabulary = kept[1] if kept is not None and kept[0] == version and isinstance(kept[1], dict) else {}
    found = {piece: words for piece in pieces if (words := _narrowed(known, piece)) is not None}
    lacking = [piece for piece in pieces if piece not in found]
    if lacking:
        read = _read(store, index, lacking)
        if read is None:
            return None
        found |= read
        if store.version() == version:
            store.searching["vocabulary"] = (version, dict([*known.items(), *read.items()][-_REMEMBERED:]))
    return found


def _narrowed(known: Vocabulary, piece: str) -> frozenset[str] | None:
    """The words that hold a piece, out of those that hold a part of it."""
    for shorter, words in known.items():
        if shorter in piece:
            return frozenset(word for word in words if piece in word or _is_cut(word.encode()))
    return None


def _read(store: Store, index: Index, pieces: Sequence[str]) -> Vocabulary | None:
    """The same, from the pages of the index. While somebody writes, words move from one to another: then again."""
    if not _is_known(store, index):
        return None
    for _ in range(_TRIES):
        version = store.version()
        try:
            found = _gathered(store, index, [piece.encode() for piece in pieces])
        except IndexError:  # no page of words looks like that, unless somebody is moving them
            if store.version() == version:
                return None
            continue
        if found is None or store.stopped():
            return None
        if store.version() == version:
            return found if _are_asked_as_they_are(frozenset[str]().union(*found.values())) else None
    return None


def _is_known(store: Store, index: Index) -> bool:
    rows = store.conn.execute(f"select v from {index.name}_config where k = 'version'").fetchall()
    return rows == [(_FORMAT,)]


def _are_asked_as_they_are(words: frozenset[str]) -> bool:
    """Whether FTS5 reads each of these as the one word that the index holds."""
    if not words:
        return True
    listed = sorted(words)
    with closing(Words()) as table:
        table.fill((number, word, "", "") for number, word in enumerate(listed))
        read, lengths = table.first_words(), table.lengths()
    return all(read.get(number) == word and lengths[number] == 1 for number, word in enumerate(listed))


def _gathered(store: Store, index: Index, pieces: Sequence[bytes]) -> Vocabulary | None:
    """Goes through the whole list; None when a piece is in so many words, or pages, that it is not worth it."""
    found: dict[bytes, set[bytes]] = {piece: set() for piece in pieces}
    gone_through = 0
    for given, (looked_at, page) in enumerate(_pages(store, index, {piece[:1] for piece in pieces})):
        if given > _SOME_PAGES + looked_at // _WRITTEN_SO:
            return None
        if len(page) < _LONGEST and not any(may_hold(page, piece) for piece in pieces):
            continue
        gone_through += 1
        for word in words_of(page):
            for piece in pieces:
                if word.find(piece) >= 0 or _is_cut(word):
                    found[piece].add(word)
        if gone_through > _FEW_PAGES + looked_at // _PART or max(map(len, found.values())) > _MOST_WORDS:
            return None
    return {
        piece.decode(): frozenset(word.decode("utf-8", "replace") for word in words) for piece, words in found.items()
    }


def _is_cut(word: bytes) -> bool:
    return len(word) >= _LONGEST


def _pages(store: Store, index: Index, any_of: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Of the pages that hold words those that hold any of these bytes, or what may be cut, each with how many were
    looked at up to there, about. In statements that do not take long: a writer may wait for each. Raises IndexError
    for one that is missing, or is none."""
    tests = [f"length(d.block) >= {_LONGEST}", "d.block is null", f"substr(d.block, 3, 2) < {_LEAST_FOOT}"]
    for number, byte in enumerate(any_of):
        # no function of Python's own: most pages end here
        store.conn.create_function(f"first{number}", 1, methodcaller("find", byte), deterministic=True)
        tests.append(f"first{number}(d.block) >= 0")
    last = f"""
    select segid, term from {index.name}_idx where (segid, term) > (?, ?) order by segid, term limit 1 offset ?
    """
    some = f"""
    select i.segid, i.pgno >> 1, d.block
    from {index.name}_idx i
    left join {index.name}_data d on d.id = (i.segid << 37) + (i.pgno >> 1)
    where (i.segid, i.term) > (?, ?) and (i.segid, i.term) <= (?, ?) and ({" or ".join(tests)})
    """
    parts = _parts(store, index)
    at: tuple[int, bytes] | None = (-1, b"")
    looked_at = 0
    while at is not None and not store.stopped():
        begun, at = at, store.conn.execute(last, (*at, _PAGES_AT_ONCE - 1)).fetchone()
        looked_at += _PAGES_AT_ONCE
        for part, number, page in store.conn.execute(some, (*begun, *(at or _END))):
            first, end = parts.get(part, _NOWHERE)
            if number is not None and (number < first or first > end):
                continue  # what was merged into another part leaves no more than this line behind
            if number is None or number > end or not _is_page(page):
                raise IndexError
            yield looked_at, page


def _is_page(block: object) -> bool:
    return isinstance(block, bytes) and 4 <= (block[2] << 8 | block[3]) < len(block)


def _parts(store: Store, index: Index) -> dict[int, tuple[int, int]]:
    """The parts that an index is made of, and the first and last page of each. Raises IndexError for a record that
    does not look like that."""
    found = store.conn.execute(f"select block from {index.name}_data where id = {_STRUCTURE}").fetchone()
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
