"""The cheap condition of a reading, in SQL: it lets through at least every row that matches, and few others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hermes_tui.domain.querytrees import And, Leaf, Node, Or, Without, leaves
from hermes_tui.storage.fts import CUT_AT, Index, express
from hermes_tui.storage.judging import UNICODE
from hermes_tui.storage.sieve import Sieve, ends_of, sieve_of, with_end

_TESTED = 24
"""Parts of a long query that are tested; the judge tests them all."""
_WHOLE = f"""
m.tool_calls is null and typeof(m.content) is 'text'
and length(cast(m.content as blob)) <= {CUT_AT} and printf('%s', m.content) is m.content
"""
"""Tool output that the index holds to its end, also where there is a NUL in it, at which SQLite cuts a text."""


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
            return "(" + " and ".join(map(self.sql, node.children[:_TESTED])) + ")"
        children = node.children if isinstance(node, Or) else (node,)
        if len(children) > _TESTED:
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
        ends = f"not ({_WHOLE}) and {self._sieved(ends_of(leaves))}"
        return [*(self._held(self._base, leaf) for leaf in leaves), ends]
