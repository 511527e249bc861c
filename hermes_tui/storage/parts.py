"""The parts of a query: what must occur for all of it to occur, in one message or spread over several."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hermes_tui.domain.querytrees import And, Leaf, Node, Or, Without
from hermes_tui.values import dataclass

MOST = 40
"""Parts from which on a query is a pasted text: whoever pastes one looks for that text, not for its words."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What may occur by itself. Empty for a query that has but one part."""

    units: tuple[Node, ...] = ()
    branches: tuple[tuple[int, ...], ...] = ()
    """Ways to have it all: indexes into `units`."""
    barred: Node | None = None
    """What must not occur in a message for its parts to count."""
    too_many: bool = False
    """It has more parts than are looked for one by one."""

    @property
    def any(self) -> Node:
        """Any part."""
        return self.units[0] if len(self.units) == 1 else Or(self.units)

    def one(self, number: int) -> Node:
        """One part, in messages that hold nothing barred."""
        return self._allowed(self.units[number])

    @property
    def any_allowed(self) -> Node:
        """Any part, in messages that hold nothing barred."""
        return self._allowed(self.any)

    def _allowed(self, node: Node) -> Node:
        return node if self.barred is None else Without(node, self.barred)


def parts_of(tree: Node) -> Parts:
    """The words that stand side by side; of alternatives, those of each."""
    base, barred = (tree.base, tree.barred) if isinstance(tree, Without) else (tree, None)
    branches = base.children if isinstance(base, Or) else (base,)
    units: dict[Node, int] = {}
    ways: list[tuple[int, ...]] = []
    for branch in branches:
        words = dict.fromkeys(_side_by_side(branch))
        if len(words) > 1:
            ways.append(tuple(units.setdefault(word, len(units)) for word in words))
    if len(units) > MOST:
        return Parts(too_many=True)
    return Parts(tuple(units), tuple(ways), barred) if units else Parts()


def _side_by_side(node: Node) -> Iterator[Node]:
    """What must all occur: `a b AND c/d` are four words however they were joined, each in messages without what
    stands under its NOT."""
    if isinstance(node, And):
        for child in node.children:
            yield from _side_by_side(child)
    elif isinstance(node, Without):
        for word in _side_by_side(node.base):
            yield Without(word, node.barred)
    else:
        yield node


def with_inside(node: Node, absent: frozenset[Leaf]) -> Node:
    """The same tree, these words looked for inside words; what is excluded stays as it is."""
    if isinstance(node, Leaf):
        if node not in absent:
            return node
        return Leaf(node.text, node.form, node.typing, inside=True)
    if isinstance(node, Without):
        return Without(with_inside(node.base, absent), node.barred)
    return type(node)(tuple(with_inside(child, absent) for child in node.children))


def without_empty(node: Node, empty: frozenset[Leaf]) -> Node | None:
    """The same tree without leaves in which FTS5 finds no word."""
    return _without(node, empty.__contains__, needed=False)


def of_words(node: Node) -> Node | None:
    """What is left of a tree in messages in which nothing occurs that may stand inside words; None if they cannot
    match."""
    return _without(node, lambda leaf: leaf.substring, needed=True)


def _without(node: Node, gone: Callable[[Leaf], bool], *, needed: bool) -> Node | None:
    """The same tree without some leaves; `needed`: without one of them, nothing is left of what needs them all."""
    if isinstance(node, Leaf):
        return None if gone(node) else node
    if isinstance(node, Without):
        base, barred = _without(node.base, gone, needed=needed), _without(node.barred, gone, needed=needed)
        return base if base is None or barred is None else Without(base, barred)
    left = [_without(child, gone, needed=needed) for child in node.children]
    kept = tuple(child for child in left if child is not None)
    if not kept or (needed and isinstance(node, And) and len(kept) < len(left)):
        return None
    return kept[0] if len(kept) == 1 else type(node)(kept)


def all_needed(node: Node) -> bool:
    """Whether a message that matches holds every word."""
    if isinstance(node, Leaf):
        return True
    return isinstance(node, And) and all(map(all_needed, node.children))
