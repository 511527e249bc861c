"""Opening a store in a test the way a reader thread does."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from hermes_tui.domain.families import Chain
from hermes_tui.domain.messages import Message, Outline
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.storage.catalogue import load_catalogue
from hermes_tui.storage.connection import Store, open_store
from hermes_tui.storage.transcripts import exact_count, load_messages, load_outline

SUMMARY = "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted: " + "word " * 700
END = "--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---"


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


def outlined(store: Store, session_id: str) -> Outline:
    """The outline of the conversation that holds this session; it counts as many as the count says."""
    chain = chain_of(store, session_id)
    found = load_outline(store, chain)
    assert len(found) == exact_count(store, chain)
    return found


def transcript(store: Store, session_id: str) -> tuple[Message, ...]:
    """All its messages, which are the same with and without an outline at hand."""
    chain = chain_of(store, session_id)
    ids = list(load_outline(store, chain).ids)
    shown = load_messages(store, chain, ids, outline=load_outline(store, chain))
    assert [message.id for message in shown] == ids
    assert load_messages(store, chain, ids) == shown
    return shown


def texts(store: Store, session_id: str) -> list[str]:
    """What they say."""
    return [message.text for message in transcript(store, session_id)]
