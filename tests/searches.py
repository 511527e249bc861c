"""Searching in tests: the whole way through reader threads, as the program does it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from hermes_tui.domain.profiles import StoreRef
from hermes_tui.domain.queries import Hit, SearchPage, SearchQuery
from hermes_tui.service.catalogues import Catalogues
from hermes_tui.service.reader import Reader
from hermes_tui.service.searching import run_search


def ref_of(db: Path, profile: str = "default") -> StoreRef:
    """A store that a test has made."""
    return StoreRef(profile, db, db.parent, db.parent)


def pages_of(
    reader: Reader, catalogues: Catalogues, refs: Sequence[StoreRef], query: SearchQuery
) -> AsyncIterator[SearchPage]:
    """The pages of one search, as the service has them made."""
    return run_search(reader, refs, catalogues.of, query, lean_of=catalogues.searched)


async def all_pages(dbs: Path | Sequence[StoreRef], text: str, **options: Any) -> list[SearchPage]:
    """Every page of one search; `options` are those of `SearchQuery`."""
    refs = [ref_of(dbs)] if isinstance(dbs, Path) else list(dbs)
    reader = Reader()
    try:
        query = SearchQuery(text, **{"reads": None, **options})
        return [page async for page in pages_of(reader, Catalogues(reader), refs, query)]
    finally:
        await asyncio.to_thread(reader.close)


async def searches(db: Path, texts: Sequence[str], **options: Any) -> list[SearchPage]:
    """The last page of each of many searches, by one set of threads."""
    reader = Reader()
    try:
        catalogues, ref = Catalogues(reader), ref_of(db)
        answers = []
        for text in texts:
            query = SearchQuery(text, **{"reads": None, **options})
            answers.append([page async for page in pages_of(reader, catalogues, [ref], query)][-1])
        return answers
    finally:
        await asyncio.to_thread(reader.close)


async def search(db: Path, text: str, **options: Any) -> SearchPage:
    """The last page of one search."""
    return (await all_pages(db, text, **options))[-1]


def ids(page: SearchPage) -> list[str]:
    """The conversations of a page, in order, by the id that a list shows."""
    return [hit.conversation.id for hit in page.hits]


def tiers(page: SearchPage) -> dict[str, str]:
    """Conversation → tier."""
    return {hit.conversation.id: str(hit.tier) for hit in page.hits}


def hit_of(page: SearchPage, session_id: str) -> Hit:
    """The hit of the conversation that holds this session."""
    return next(hit for hit in page.hits if session_id in hit.conversation.segment_ids)


def lit(hit: Hit) -> list[str]:
    """The words that are lit up in the best match."""
    assert hit.best is not None
    return [hit.best.snippet[span.start : span.end] for span in hit.best.spans]
