"""Opening a store in a test the way a reader thread does."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from hermes_tui.domain.families import Chain
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.storage.catalogue import load_catalogue
from hermes_tui.storage.connection import Store, open_store


@contextlib.contextmanager
def opened(db: Path) -> Iterator[Store]:
    """The store at `db`, closed afterwards."""
    store = open_store(StoreRef("default", db, db.parent, db.parent))
    try:
        yield store
    finally:
        store.conn.close()


def chain_of(store: Store, session_id: str) -> Chain:
    """The chain that this session is a segment of, as the catalogue has it now."""
    return load_catalogue(store).chains[session_id]


def all_chains(store: Store) -> list[Chain]:
    """Every chain of the store, delegates' runs too."""
    return list({chain.root.id: chain for chain in load_catalogue(store).chains.values()}.values())
