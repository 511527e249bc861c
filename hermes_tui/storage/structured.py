"""Structured messages are in no index as what they say, and have to be read for every query: unless what they say,
kept in memory, cannot hold any of its words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hermes_tui.domain.querytrees import Leaf
from hermes_tui.storage.connection import Store
from hermes_tui.storage.judging import row_of
from hermes_tui.storage.rows import by_ids
from hermes_tui.storage.sieve import sieve_of

MOST = 2_000
"""Structured messages of which that is kept."""
LONGEST = 1_000_000
"""Bytes that are kept."""


def may_hold(store: Store, ids: Sequence[int], wanted: Iterable[Leaf]) -> bool:
    """Whether one of these messages may hold one of these words."""
    if not ids:
        return False
    sieve = sieve_of(wanted, structured=False)
    said = _said(store, ids)
    return sieve is None or said is None or sieve.holds(said)


def _said(store: Store, ids: Sequence[int]) -> bytes | None:
    """All that they say, or None where that is too much, or cannot be read; remembered until a write."""
    version = store.version()
    kept = store.searching.get("said by structured")
    if kept is not None and kept[0] == (version, ids):
        return kept[1] if isinstance(kept[1], bytes) else None
    said = _read(store, ids) if len(ids) <= MOST else None
    store.searching["said by structured"] = ((version, ids), said)
    return said


def _read(store: Store, ids: Sequence[int]) -> bytes | None:
    sql = """
    select m.id, cast(m.session_id as text), cast(m.role as text), m.timestamp, m.content, m.tool_name, m.tool_calls
    from messages m
    where {ids}
    """
    parts: list[bytes] = []
    length = 0
    for cells in by_ids(store, sql, ids).values():
        if cells is None:
            return None
        row = row_of(cells)
        parts += (text.encode("utf-8", "surrogatepass") for text in (row.said, row.name, row.calls))
        length += sum(map(len, parts[-3:]))
        if length > LONGEST:
            return None
    return b"\n".join(parts)
