"""The family of a session, with what only the messages tell: exact counts, and how each session stands."""

from __future__ import annotations

from hermes_tui.domain.families import Catalogue, Chain
from hermes_tui.domain.lineage import Lineage, build_lineage, family_places
from hermes_tui.storage.connection import Store
from hermes_tui.storage.sessions import chain_count, session_status


def load_lineage(store: Store, catalogue: Catalogue, session_id: str) -> Lineage:
    """The family as a tree. Each session is counted by itself: what it holds in copy of an earlier one counts
    in both. Raises KeyError for an unknown session."""
    counts, statuses = {}, {}
    for place in family_places(catalogue, session_id):
        if store.stopped():
            break
        alone = Chain((place.segment,), place.chain.kind)
        counts[place.segment.id] = chain_count(store, alone)
        statuses[place.segment.id] = session_status(store, place.segment.id)
    return build_lineage(catalogue, session_id, counts=counts, statuses=statuses, live=catalogue.live)
