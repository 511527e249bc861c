"""Part the messages of a store for one question: those that an index is asked about, and those that are read.

Read are structured content, what an index lacks or is blind for, long tool output when asked for; and, of all that an
index of words holds, what may hold something that stands inside words.
"""

from __future__ import annotations

import json

from hermes_tui.domain.queries import SearchOrder
from hermes_tui.domain.querytrees import And, Node, Or, leaves, positive
from hermes_tui.storage import matches, vocabulary
from hermes_tui.storage.conditions import Conditions
from hermes_tui.storage.connection import Store
from hermes_tui.storage.fts import Index, Indexes, structured_ids, trigrams_only, words_only
from hermes_tui.storage.judging import UNICODE
from hermes_tui.storage.scan import Stretch, everything, gaps_of, listed
from hermes_tui.storage.scopes import Scope
from hermes_tui.storage.structured import may_hold
from hermes_tui.values import dataclass

_TOOLS = "m.role is 'tool'"
_CALLS = "coalesce(m.tool_calls, '') not in ('', '[]')"
_ESCAPED_CALLS = "coalesce(m.tool_calls, '') like '%\\u%'"


@dataclass(frozen=True, slots=True)
class Ground:
    """Where and how to look; the same for everything that one search asks of one store."""

    indexes: Indexes
    scope: Scope
    where: Conditions
    order: SearchOrder
    deep: bool
    """Tool output is read to its end."""
    anywhere: Conditions | None = None
    """`where` without the sessions, when most are searched."""
    steps: bool = True
    """Common words are answered in steps."""
    abreast: int = 1
    """Slices that may be read at the same time."""

    @property
    def cut(self) -> bool:
        """Only the beginning of tool output is looked at."""
        return self.indexes.base is not None and self.indexes.base.cut and not self.deep

    @property
    def tokenizer(self) -> str:
        return self.indexes.base.tokenizer if self.indexes.base is not None else UNICODE


@dataclass(frozen=True, slots=True)
class Division:
    """Who looks where."""

    index: Index | None
    """The one that is asked …"""
    within: Conditions
    """… and what the messages are that it is asked about."""
    stretches: list[Stretch]
    """What is read …"""
    inside: Node | None = None
    """… and what for, where the index of words holds it: a message without this is a matter of the index alone."""
    listed: bool = False
    """An index tells in which few messages that may be."""


def divide(store: Store, tree: Node, ground: Ground) -> Division:
    """How one question is answered."""
    base, trigram, where = ground.indexes.base, ground.indexes.trigram, ground.where
    if base is None:
        return Division(None, where, everything(store, held=False))
    words, every = tuple(dict.fromkeys(positive(tree))), tuple(dict.fromkeys(leaves(tree)))
    structured, escaped = structured_ids(store, base), matches.escaped_ids(store, base, every)
    output = everything(store, _TOOLS, held=False, begun=True) if ground.deep and base.cut else []
    apart = [*output, *gaps_of(base.gaps), *(listed(structured) if may_hold(store, structured, words) else ())]
    apart += listed(escaped)
    unmeant = json.dumps([*structured, *escaped])
    within = where.also("m.id not in (select value from json_each(:structured))", structured=unmeant)
    for number, (low, high) in enumerate(base.gaps):
        bounds = {f"gap{number}": low, f"gap{number}_end": high}
        within = within.also(f"not (m.id > :gap{number} and m.id <= :gap{number}_end)", **bounds)
    if output:
        within = within.also(f"not ({_TOOLS})")
    if words_only(tree):
        return Division(base, within, apart)
    index, only, inside, telling = None, f"not ({_TOOLS})" if output else "1", None, words
    if trigram is not None and trigrams_only(tree):
        blind = f"not exists (select 1 from {trigram.name}_docsize d where d.id = m.id)"
        blind += f" or {_ESCAPED_CALLS if trigram.has_calls else _CALLS}"
        index, within, only = trigram, within.also(f"not ({blind})"), f"({blind}) and {only}"
    elif not all(leaf.substring for leaf in words):
        index, inside = base, worth_reading(tree)
        if any(leaf.substring for leaf in words):
            telling = tuple(leaf for leaf in every if leaf.substring)
    rows = vocabulary.rows_with(store, base, telling)
    read = everything(store, only) if rows is None else listed(rows, only, held=True)
    return Division(index, within, [*read, *apart], inside, rows is not None)


def worth_reading(tree: Node) -> Node:
    """What a message must hold to be no matter of an index of words alone: something that stands inside words, under
    NOT beside a word that would bring it."""
    wanted = tuple(dict.fromkeys(positive(tree)))
    pieces = tuple(leaf for leaf in wanted if leaf.substring)
    words = tuple(leaf for leaf in wanted if not leaf.substring)
    barred = tuple(leaf for leaf in dict.fromkeys(leaves(tree)) if leaf.substring and leaf not in pieces)
    return Or((*pieces, And((Or(words), Or(barred))))) if barred else Or(pieces)
