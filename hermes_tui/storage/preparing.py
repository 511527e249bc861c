"""What a search asks of a store whatever its sessions are: read while these are put together."""

from __future__ import annotations

from contextlib import suppress
from threading import Event

from hermes_tui.domain.queries import SearchQuery
from hermes_tui.domain.querytext import ParsedQuery
from hermes_tui.domain.querytrees import Node, positive
from hermes_tui.storage import folding, matches, vocabulary
from hermes_tui.storage.connection import Store
from hermes_tui.storage.fts import BASE, TROUBLE, Index, express, is_index_trouble, look, structured_ids, words_only

FEW = 1_000
"""Matches of which it pays to read the conversations that they bring, and no others."""
_PATIENCE = 1.0
"""Seconds that whoever helps waits until there is something to help with: as a rule it is there."""


def few(parsed: ParsedQuery, store: Store) -> bool:
    """Whether an index finds few messages, as far as it can be asked so: what is looked for by reading brings few."""
    tree = parsed.expression
    if tree is None or not words_only(tree) or BASE not in store.schema.fts:
        return True
    sql = f"select count(*) from (select 1 from {BASE} where {BASE} match ? limit {FEW})"
    try:
        return int(store.conn.execute(sql, (express(tree),)).fetchone()[0]) < FEW
    except TROUBLE as error:
        if not is_index_trouble(error):
            raise
        return True  # then it is not asked either


class Preparation:
    """What a search asks of a store whatever its sessions are. Several threads share what takes long of it, each with
    a connection of its own."""

    def __init__(self, query: SearchQuery, parsed: ParsedQuery) -> None:
        self._query, self._parsed = query, parsed
        self._words: vocabulary.Reading | None = None
        self._known = Event()
        """What is to be shared is known."""

    def ready(self, store: Store) -> None:
        """Have the store remember it."""
        try:
            self._ready(store)
        finally:
            self._known.set()

    def _ready(self, store: Store) -> None:
        tree, query = self._parsed.expression, self._query
        if tree is None or self._parsed.link is not None:
            return
        base = look(store).base
        if base is None:
            return
        structured_ids(store, base)
        if not words_only(tree):
            self._look_for_words(store, base, tree)
            return
        limited = query.limit is not None and query.offset + query.limit <= folding.FEW
        if not limited and matches.count(store, base, tree) > folding.FEW:
            folding.suspicious(store)

    def _look_for_words(self, store: Store, base: Index, tree: Node) -> None:
        try:
            words = self._words = vocabulary.lacking(store, base, tuple(dict.fromkeys(positive(tree))))
            self._known.set()
            if words is not None:
                words.share(store)
        except IndexError:
            return  # whoever asks finds out why
        if words is not None and words.ended(store):
            words.keep(store)

    def help(self, store: Store) -> None:
        """Take part in it, on another thread than `ready`."""
        self._known.wait(_PATIENCE)
        if self._words is not None:
            with suppress(IndexError):
                self._words.share(store)
