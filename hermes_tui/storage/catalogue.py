"""All sessions of a store, put together into conversations. One look a store; the service keeps the result until the
store is written."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from operator import attrgetter

from hermes_tui.domain.families import Catalogue, build_chains
from hermes_tui.domain.sessions import Segment
from hermes_tui.storage.connection import Store, is_damage
from hermes_tui.storage.segments import believable, newest_of, segments_of, session_rows, uncollected
from hermes_tui.values import NamedTuple

_PLACING = attrgetter(
    "source",
    "parent_id",
    "started_at",
    "ended_at",
    "end_reason",
    "session_key",
    "branched_from",
    "delegate_from",
    "reset_from",
)
"""What decides what a session is to its parent and children."""


class Loaded(NamedTuple):
    """A catalogue, and what tells whether another look at the store would give the same families."""

    catalogue: Catalogue
    segments: dict[str, Segment]
    contested: dict[str, float]
    """Sessions that compete to continue another, and what decides between them beside their rows."""
    whole: bool
    """All rows could be read."""


def load_catalogue(store: Store) -> Catalogue:
    """Every session of this store. A row that cannot be read costs that row and is counted."""
    return load(store).catalogue


def load(store: Store, before: Loaded | None = None) -> Loaded:
    """The catalogue of this store. Families that are as they were `before` are not put together anew, unless what
    hangs off what may have changed."""
    with uncollected():
        rows, damaged, mute = session_rows(store)
        read = len(rows)
        segments = segments_of(store, rows)
        damaged += read - len(segments)
        if before is not None and before.whole and not damaged and not mute and _decided(store, before):
            changed = _changed(before.segments, segments)
            if changed is not None:
                catalogue = before.catalogue.with_segments(changed) if changed else before.catalogue
                return Loaded(catalogue, segments, before.contested, True)
        return assembled(store, segments, damaged=damaged, mute=mute)


def assembled(store: Store, segments: dict[str, Segment], *, damaged: int = 0, mute: int = 0) -> Loaded:
    """What these sessions make together: all of a store, or whole families of it."""
    contested: dict[str, float] = {}

    def freshest(segment: Segment) -> float:
        contested[segment.id] = found = _freshest(store, segment)
        return found

    has_session_key = "session_key" in store.schema.sessions
    chains = build_chains(segments.values(), has_session_key=has_session_key, freshest=freshest)
    catalogue = Catalogue.of(chains, store.ref.profile, damaged=damaged, mute=mute)
    return Loaded(catalogue, segments, contested, not (damaged or mute))


def _decided(store: Store, before: Loaded) -> bool:
    """Whether sessions that compete to continue another would still be chosen between alike."""
    return all(_freshest(store, before.segments[id]) == freshest for id, freshest in before.contested.items())


def _changed(before: Mapping[str, Segment], now: Mapping[str, Segment]) -> list[Segment] | None:
    """Sessions that look different; None when families may have changed: a session came or went, or one differs
    in what decides over its place."""
    if before.keys() != now.keys():
        return None
    changed = [segment for id, segment in now.items() if before[id] != segment]
    return None if any(_PLACING(before[each.id]) != _PLACING(each) for each in changed) else changed


def _freshest(store: Store, segment: Segment) -> float:
    """Recency as Hermes compares continuations: all messages count, undone ones too; the start if there are none."""
    schema = store.schema
    sql = f"""
    select {newest_of(schema, "1")}, {believable(schema.session("last_activity_at"))}
    from sessions s
    where s.id = ?
    """
    try:
        found = store.conn.execute(sql, (segment.id,)).fetchone() or ()
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        found = ()
    return max((at for at in found if at is not None), default=segment.started_at or 0.0)
