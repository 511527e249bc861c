"""The cheap condition of a reading, in SQL: it lets through at least every row that matches, and few others."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from hermes_tui.domain.querytrees import And, Leaf, Node, Or, Without, leaves, positive
from hermes_tui.storage.ends import HELD_WHOLE, ends_of, rarest, with_end
from hermes_tui.storage.fts import Index, express
from hermes_tui.storage.judging import UNICODE
from hermes_tui.storage.sieve import Sieve, needle_of, sieve_of

TESTED = 24
"""Parts of a long query that are tested; the judge tests them all."""
_LITERAL, _ESCAPED = re.compile(r"[%_\\]"), r"\\\g<0>"
"""What means something to `like`."""


class Test:
    """Turns a tree into SQL that lets through at least every row that matches."""

    def __init__(self, index: Index | None, *, structured: bool) -> None:
        self.index, self.structured = index, structured
        self.params: dict[str, Any] = {}
        self.sieves: list[Sieve] = []

    def sql(self, node: Node) -> str:
        """The test of a node."""
        if isinstance(node, Without):
            return self.sql(node.base)
        if isinstance(node, And):
            return "(" + " and ".join(map(self.sql, node.children[:TESTED])) + ")"
        children = node.children if isinstance(node, Or) else (node,)
        if len(children) > TESTED:
            return "1"
        tests = self._leaves([child for child in children if isinstance(child, Leaf)])
        tests += [self.sql(child) for child in children if not isinstance(child, Leaf)]
        return "(" + " or ".join(tests) + ")"

    def _leaves(self, leaves: Sequence[Leaf]) -> list[str]:
        """Tests of which a row must pass one to hold any of these."""
        held = [leaf for leaf in leaves if self.index is not None and not leaf.substring]
        tests = [self._held(self.index, leaf) for leaf in held if self.index is not None]
        if len(held) < len(leaves) or self.structured:
            tests.append(self._worth([leaf for leaf in leaves if leaf not in held]))
        return tests

    def _bind(self, value: Any) -> str:
        name = f"test{len(self.params)}"
        self.params[name] = value
        return f":{name}"

    def _worth(self, leaves: Sequence[Leaf]) -> str:
        """However many words, the row is looked at once."""
        sieve = sieve_of(leaves, structured=self.structured)
        return "1" if sieve is None else self._sieved(sieve)

    def _sieved(self, sieve: Sieve) -> str:
        self.sieves.append(sieve)
        texts = (f"cast(m.{column} as blob)" for column in ("content", "tool_name", "tool_calls"))
        return f"worth{len(self.sieves) - 1}({', '.join(texts)})"

    def among(self, words: Sequence[Leaf], ids: Sequence[int]) -> str:
        """These messages, and those that the index tells of when it is asked for these words."""
        return f"m.id in (select value from json_each({self._bind(json.dumps(ids))}))"

    def _held(self, index: Index, leaf: Leaf) -> str:
        """The index knows where whole words are."""
        asked = self._bind(express(leaf))
        return f"""m.id in (
            select rowid from {index.name} where {index.name} match {asked} and rowid > :low and rowid <= :high
        )"""


def ends_suffice(index: Index, tree: Node) -> bool:
    """Whether `EndsTest` can tell for each word of a tree."""
    known = index.cut_as_known and index.columns == ("content", "tool_name", "tool_calls")
    return known and index.tokenizer == UNICODE and all(map(with_end, leaves(tree)))


class EndsTest(Test):
    """The same for tool output of which the index holds the beginning: only what it lacks is looked at."""

    def __init__(self, index: Index) -> None:
        super().__init__(index, structured=False)
        self._base = index

    def _leaves(self, leaves: Sequence[Leaf]) -> list[str]:
        if not leaves:
            return []
        ends = f"not ({HELD_WHOLE}) and {self._sieved(ends_of(leaves))}"
        return [*(self._held(self._base, leaf) for leaf in leaves), ends]

    def among(self, words: Sequence[Leaf], ids: Sequence[int]) -> str:
        listed, asked = self._bind(json.dumps(ids)), self._bind(express(Or(tuple(words))))
        return f"""m.id in (
            select value from json_each({listed})
            union select rowid from {self._base.name} where {self._base.name} match {asked}
            and rowid > :low and rowid <= :high
        )"""


def pieces_of(tree: Node) -> list[str] | None:
    """What stands in each text in which one of the words of a tree occurs, as SQLite's `like` finds it; None where it
    does not find all of them."""
    words = list(positive(tree))
    if len(words) > TESTED or not all(leaf.substring and leaf.text.isascii() for leaf in words):
        return None
    pieces = [needle_of(leaf) for leaf in words]
    return [piece for piece in pieces if piece] if all(pieces) else None


def holding(pieces: Sequence[str]) -> tuple[str, dict[str, str]]:
    """SQL, with its parameters: whether a message may hold one of these pieces. Slower than a sieve, but threads that
    ask it do not wait for each other."""
    params = {f"piece{number}": f"%{_LITERAL.sub(_ESCAPED, rarest(piece))}%" for number, piece in enumerate(pieces)}
    tests = []
    for column in ("m.content", "m.tool_name", "m.tool_calls"):
        likes = [f"{column} like :{name} escape '\\'" for name in params]
        likes += [f"{column} like '%\\u%'"] if column == "m.tool_calls" else []
        # `like` sees no blob, and of a text nothing behind a NUL
        unseen = f"typeof({column}) is not 'text' or printf('%s', {column}) is not {column}"
        tests.append(f"{column} is not null and ({' or '.join(likes)} or {unseen})")
    return " or ".join(f"({test})" for test in tests), params
