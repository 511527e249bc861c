"""Which words of a full-text index hold a piece of writing without blanks, and so which messages may.

To FTS5 a run of Chinese is one word, and it cannot be asked for what stands inside words. But the index lists every
word once, and its pages can be looked through (`wordpages`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from threading import Condition

from hermes_tui.domain.querytrees import Form, Leaf
from hermes_tui.storage.connection import Store
from hermes_tui.storage.fts import Index, express
from hermes_tui.storage.judging import UNICODE, Words
from hermes_tui.storage.sieve import needle_of
from hermes_tui.storage.wordpages import LONGEST, Span, Walk, may_hold, pages_with, rarest, words_of

_LETTERS = ("\u3041\u3096", "\u30a1\u30fa", "\u3400\u4db5", "\u4e00\u9fa5", "\uac00\ud7a3")
"""From one to another, letters to every FTS5, which it neither folds nor leaves out; each is three bytes."""
_LOOKED_FOR = 4
"""Characters of a piece: more would cost more, and hardly tell more."""
_MOST_WORDS = 400
"""Words up to which asking for each is cheaper than reading the messages."""
_MOST_ROWS = 5_000
_ASKED_AT_ONCE = 100
_FEW_PAGES, _PART = 200, 20
"""Pages of which the words are gone through: so many, and of those that were looked at one in so many."""
_SOME_PAGES, _WRITTEN_SO = 3_000, 2
"""The same of pages that hold such writing at all: in a store that is full of it the messages are read faster."""
_FORMAT = 4
"""Of the tables in which FTS5 keeps an index."""
_TRIES = 2
_LOOK_UP = 0.1
"""Seconds after which whoever waits for others looks whether anybody waits for it."""
_REMEMBERED = 16
Vocabulary = dict[str, frozenset[str]]
"""Piece → the words that hold it."""


def rows_with(store: Store, index: Index, leaves: Sequence[Leaf]) -> list[int] | None:
    """Of the messages that an index holds, all in which any of these may occur and few others, the newest first; None
    where it cannot tell, or not cheaply. Raises sqlite3.Error as it comes."""
    pieces = pieces_of(index, leaves)
    if pieces is None:
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


def pieces_of(index: Index, leaves: Iterable[Leaf]) -> dict[Leaf, str] | None:
    """What is looked for inside words, and what of it in the list; None where that would not tell."""
    pieces = {leaf: _piece(leaf) for leaf in leaves if leaf.substring}
    if not _holds_all(index):
        return None
    found = {leaf: piece for leaf, piece in pieces.items() if piece is not None}
    return found if len(found) == len(pieces) else None


def _holds_all(index: Index) -> bool:
    """Whether it holds all that is searched of a message, by letters that are known."""
    known = index.inline or index.columns == ("content", "tool_name", "tool_calls")
    return known and index.tokenizer == UNICODE and (index.cut_as_known or not index.cut)


def _piece(leaf: Leaf) -> str | None:
    """What a text, or the way in which JSON writes it in numbers, must hold if the leaf occurs in it."""
    runs = "".join(char if _is_letter(char) else " " for char in needle_of(leaf) or "").split()
    return max(runs, key=len)[:_LOOKED_FOR] if runs else None


def _is_letter(char: str) -> bool:
    return any(ends[0] <= char <= ends[1] for ends in _LETTERS)


def _in_numbers(piece: str) -> Leaf:
    r"""How FTS5 reads `\u90e8\u7f72`, and what may go on behind it."""
    return Leaf(" ".join(f"u{ord(char):04x}" for char in piece), Form.PREFIX)


def words_with(store: Store, index: Index, pieces: Sequence[str]) -> Vocabulary | None:
    """Piece → the words of an index that hold it; None where that cannot be told, or they are very many. Remembered
    until a write, also for longer pieces: whoever types asks for one after the other."""
    found = _found(store, pieces)
    lacking = [piece for piece in pieces if piece not in found]
    if lacking:
        read = _read(store, index, lacking)
        if read is None:
            return None
        found |= read
    return found


def lacking(store: Store, index: Index, leaves: Sequence[Leaf]) -> Reading | None:
    """What `rows_with` would have to read for these; None if nothing, or if that would be no help. Raises
    sqlite3.Error as it comes, and IndexError as `Reading` does."""
    pieces = dict.fromkeys((pieces_of(index, leaves) or {}).values())
    found = _found(store, tuple(pieces))
    wanted = [piece for piece in pieces if piece not in found]
    if not wanted or _is_too_much(store, wanted) or not _is_format_known(store, index):
        return None
    return Reading(store, index, wanted)


def _is_too_much(store: Store, pieces: Sequence[str]) -> bool:
    """Whether it was found out before."""
    return store.searching.get("too many words") == (store.version(), tuple(pieces))


def _found(store: Store, pieces: Sequence[str]) -> Vocabulary:
    """What is remembered of these."""
    known = _known(store, store.version())
    return {piece: words for piece in pieces if (words := _narrowed(known, piece)) is not None}


def _known(store: Store, version: int) -> Vocabulary:
    kept = store.searching.get("vocabulary")
    return kept[1] if kept is not None and kept[0] == version and isinstance(kept[1], dict) else {}


def _narrowed(known: Vocabulary, piece: str) -> frozenset[str] | None:
    """The words that hold a piece, out of those that hold a part of it."""
    for shorter, words in known.items():
        if shorter in piece:
            return frozenset(word for word in words if piece in word or _is_cut(word.encode()))
    return None


def _read(store: Store, index: Index, pieces: Sequence[str]) -> Vocabulary | None:
    """The same, from the pages of the index. While somebody writes, words move from one to another: then again."""
    if _is_too_much(store, pieces) or not _is_format_known(store, index):
        return None
    for _ in range(_TRIES):
        version = store.version()
        try:
            reading = Reading(store, index, pieces)
            reading.share(store)
        except IndexError:  # no page of words looks like that, unless somebody is moving them
            if store.version() == version:
                return None
            continue
        if store.stopped():
            return None
        if store.version() == version:
            return reading.keep(store)
    return None


def _is_format_known(store: Store, index: Index) -> bool:
    """Whether its tables are of the format that is known."""
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


class Reading:
    """Goes through the whole list. Several threads may share it, each with a connection of its own. Raises IndexError
    for what does not look like such a list."""

    def __init__(self, store: Store, index: Index, pieces: Sequence[str]) -> None:
        self.version = store.version()
        self.hopeless = False
        """A piece is in so many words, or pages, that it is not worth it."""
        self._index, self._pieces = index.name, tuple(pieces)
        self._words: dict[bytes, set[bytes]] = {piece.encode(): set() for piece in pieces}
        self._chars = frozenset(map(rarest, pieces))
        self._walk = Walk(store, index.name)
        self._looked_at = self._given = self._gone_through = 0
        self._sharing, self._torn = 0, False
        self._left = Condition()

    def share(self, store: Store) -> None:
        """Look through what nobody else has looked through, until nothing is left."""
        with self._left:
            self._sharing += 1
        whole = False
        try:
            while (span := self._next(store)) is not None:
                self._look_at(store, span)
            whole = not store.stopped()
        finally:
            with self._left:
                self._sharing -= 1
                self._torn |= not whole
                self._left.notify_all()

    def ended(self, store: Store) -> bool:
        """Wait for whoever still looks at some; whether all was looked at, and nobody wrote meanwhile."""
        with self._left:
            while self._sharing and not store.stopped():
                self._left.wait(_LOOK_UP)
            whole = not self._sharing and not self._torn
        return whole and store.version() == self.version

    def _next(self, store: Store) -> Span | None:
        return None if self.hopeless or self._torn or store.stopped() else self._walk.next(store)

    def _look_at(self, store: Store, span: Span) -> None:
        self._looked_at += span.number
        for page in pages_with(store, self._index, span, self._chars):
            self._given += 1
            self._look_through(page)
            if self._is_much():
                self.hopeless = True
                return

    def _look_through(self, page: bytes) -> None:
        if len(page) < LONGEST and not any(may_hold(page, piece) for piece in self._words):
            return
        self._gone_through += 1
        for word in words_of(page):
            for piece, words in self._words.items():
                if word.find(piece) >= 0 or _is_cut(word):
                    words.add(word)

    def _is_much(self) -> bool:
        return (
            self._given > _SOME_PAGES + self._looked_at // _WRITTEN_SO
            or self._gone_through > _FEW_PAGES + self._looked_at // _PART
            or any(len(words) > _MOST_WORDS for words in self._words.values())
        )

    def keep(self, store: Store) -> Vocabulary | None:
        """What was found, remembered until a write; None where it is too much, or FTS5 cannot be asked for it."""
        if self.hopeless:
            store.searching["too many words"] = (self.version, self._pieces)
            return None
        found = {
            piece.decode(): frozenset(word.decode("utf-8", "replace") for word in words)
            for piece, words in self._words.items()
        }
        if not _are_asked_as_they_are(frozenset[str]().union(*found.values())):
            return None
        known = _known(store, self.version)
        store.searching["vocabulary"] = (self.version, dict([*known.items(), *found.items()][-_REMEMBERED:]))
        return found


def _is_cut(word: bytes) -> bool:
    return len(word) >= LONGEST
