"""What a search asks of a store whatever its sessions are: read while these are put together."""

from __future__ import annotations

from hermes_tui.domain.queries import SearchQuery
from hermes_tui.domain.querytext import ParsedQuery
from hermes_tui.storage import folding, matches
from hermes_tui.storage.connection import Store
from hermes_tui.storage.fts import BASE, TROUBLE, express, is_index_trouble, look, structured_ids, words_only

FEW = 1_000
"""Matches of which it pays to read the conversations that they bring, and no others."""


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


def ready(query: SearchQuery, parsed: ParsedQuery, store: Store) -> None:
    """Have the store remember what a search will ask of it whatever its sessions are."""
    tree = parsed.expression
    if tree is None or parsed.link is not None:
        return
    base = look(store).base
    if base is None:
        return
    structured_ids(store, base)
    limited = query.limit is not None and query.offset + query.limit <= folding.FEW
    if not limited and words_only(tree) and matches.count(store, base, tree) > folding.FEW:
        folding.suspicious(store)
