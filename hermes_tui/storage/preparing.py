"""What a search asks of a store whatever its sessions are: read while these are put together."""

from __future__ import annotations

from hermes_tui.domain.queries import SearchQuery
from hermes_tui.domain.querytext import ParsedQuery
from hermes_tui.storage import folding, matches
from hermes_tui.storage.connection import Store
from hermes_tui.storage.fts import look, structured_ids, words_only


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
