"""Read every row of `sessions`, lightly, and project it to conversations. One look a store; the service keeps
the result until the store is written."""

from __future__ import annotations

import gc
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from operator import attrgetter
from typing import Any

from hermes_tui.domain.families import Catalogue, build_chains
from hermes_tui.domain.sessions import Segment
from hermes_tui.storage.connection import Store, is_damage, is_undecoded
from hermes_tui.storage.rows import BY_TIME, Cells, batches, listed, pinned
from hermes_tui.storage.schema import Schema
from hermes_tui.storage.visibility import visible
from hermes_tui.times import EPOCH_MAX
from hermes_tui.values import NamedTuple

_MARKERS = ("_branched_from", "_delegate_from", "_reset_from")
_UNMARKED = (None, None, None)
_NEWEST = 24
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


def believable(expression: str) -> str:
    return (
        f"case when typeof({expression}) in ('real', 'integer') "
        f"and {expression} between 0 and {EPOCH_MAX!r} then {expression} + 0.0 end"
    )


def _text(schema: Schema, column: str) -> str:
    return f"nullif(cast({schema.session(column)} as text), '')"


def _count(schema: Schema, column: str) -> str:
    cell = schema.session(column)
    finite = f"case when typeof({cell}) <> 'real' or abs({cell}) < 1e18 then cast({cell} as integer) end"
    return f"max(coalesce({finite}, 0), 0)"


def _cost(schema: Schema, column: str) -> str:
    """A number of which even the sum over all segments is one: an infinite cost is none."""
    cell = schema.session(column)
    return (
        f"case when typeof({cell}) in ('real', 'integer') and {cell} between -1e300 and 1e300 then {cell} + 0.0 end"
    )


def flag(schema: Schema, column: str) -> str:
    return f"coalesce({schema.session(column)}, 0) <> 0"


def _newest(schema: Schema, condition: str) -> str:
    """The newest believable timestamp of a session's messages; pinned to the index that ends the search at
    its first row, because a planner with old statistics may sort the whole session instead."""
    return f"""(
        select m.timestamp + 0.0 from messages m {pinned(schema, BY_TIME)}
        where m.session_id = s.id and m.timestamp between 0 and {EPOCH_MAX!r} and {condition}
        order by m.timestamp desc limit 1
    )"""


def segments_sql(schema: Schema, where: str = "", *, messages: bool = True) -> str:
    """One row a session, in the order of the fields of `Segment` up to `hidden`, then what the rest is made of:
    heartbeat, key, the markers' JSON, newest message. `messages=False` leaves the messages alone."""
    config = schema.session("model_config")
    return f"""
    select
        cast(s.id as text),
        coalesce(cast(s.source as text), ''),
        {_text(schema, "parent_session_id")},
        {believable("s.started_at")},
        {believable(schema.session("ended_at"))},
        {_text(schema, "end_reason")},
        {_text(schema, "title")},
        {_text(schema, "display_name")},
        {_text(schema, "model")},
        {_text(schema, "billing_provider")},
        {_text(schema, "cwd")},
        {_text(schema, "git_branch")},
        {_text(schema, "git_repo_root")},
        {_count(schema, "message_count")},
        {_count(schema, "tool_call_count")},
        {_count(schema, "input_tokens")},
        {_count(schema, "output_tokens")},
        coalesce({_cost(schema, "actual_cost_usd")}, {_cost(schema, "estimated_cost_usd")}),
        {flag(schema, "pinned")},
        {flag(schema, "archived")},
        {flag(schema, "hidden")},
        {believable(schema.session("last_activity_at"))},
        {_text(schema, "session_key")},
        case when instr({config}, '_from"') > 0 then cast({config} as text) end,
        {_newest(schema, visible(schema)) if messages else "null"}
    from sessions s
    {where}
    """


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
        rows, damaged, mute = _rows(store)
        segments = segments_of(store, rows)
        damaged += len(rows) - len(segments)
        if before is not None and before.whole and not damaged and not mute and _decided(store, before):
            changed = _changed(before.segments, segments)
            if changed is not None:
                catalogue = before.catalogue.with_segments(changed) if changed else before.catalogue
                return Loaded(catalogue, segments, before.contested, True)
        return assembled(store, segments, damaged=damaged, mute=mute)


@contextmanager
def uncollected() -> Iterator[None]:
    """Tens of thousands of tuples are made that all stay: the collector would go through them again and again."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def strange(store: Store) -> bool:
    """Whether there are ids that are no texts: they sort after all texts."""
    return any(
        store.conn.execute(f"select 1 from sessions where {column} >= x'' limit 1").fetchone()
        for column in ("id", "parent_session_id")
    )


def segments_of(store: Store, rows: Iterable[Cells]) -> dict[str, Segment]:
    """Sessions by their ids; a row without one is none."""
    by_id = {row[0]: row for row in rows if row[0] is not None}
    spoken = _spoken(store, [id for id, row in by_id.items() if row[_NEWEST] is None])
    return {id: _segment(row, spoken) for id, row in by_id.items()}


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


def _rows(store: Store) -> tuple[list[Cells], int, int]:
    """What could be read, how many sessions could not, and of how many the messages could not."""
    sql, kept = segments_sql(store.schema), store.conn.text_factory
    for decoding in (str, kept):  # the first is faster by a tenth, and ends where a text is not UTF-8
        store.conn.text_factory = decoding
        try:
            return store.conn.execute(sql).fetchall(), 0, 0
        except sqlite3.DatabaseError as error:
            if not (is_damage(error) or is_undecoded(error)):
                raise
        finally:
            store.conn.text_factory = kept
    return _rows_one_by_one(store)


def _rows_one_by_one(store: Store) -> tuple[list[Cells], int, int]:
    """By rowid, stepping over what cannot be read: first a session's messages, then the session itself."""
    whole = segments_sql(store.schema, "where s.rowid = ?")
    alone = segments_sql(store.schema, "where s.rowid = ?", messages=False)
    rows, damaged, mute = [], 0, 0
    for rowid in _rowids(store):
        for sql in (whole, alone):
            try:
                rows += store.conn.execute(sql, (rowid,)).fetchall()
                mute += sql is alone
                break
            except sqlite3.DatabaseError as error:
                if not is_damage(error):
                    raise
        else:
            damaged += 1
    return rows, damaged, mute


def _rowids(store: Store) -> list[int]:
    """Every rowid of `sessions` that the table or one of its indexes still knows."""
    found: set[int] = set()
    for ask in (
        "select rowid from sessions not indexed",
        "select rowid from sessions indexed by idx_sessions_source",
        "select rowid from sessions indexed by idx_sessions_parent",
        "select rowid from sessions order by id",
    ):
        cursor = store.conn.cursor()
        try:
            for (rowid,) in cursor.execute(ask):
                found.add(rowid)
        except sqlite3.OperationalError:
            continue  # that index does not exist; the next question covers it
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
        finally:
            cursor.close()
    return sorted(found)


def _spoken(store: Store, session_ids: Sequence[str]) -> set[str]:
    shown = visible(store.schema)
    many = f"""
    select j.value
    from json_each(?) j
    where exists (select 1 from messages m where m.session_id = j.value and {shown})
    """
    one = f"select 1 from messages m where m.session_id = ? and {shown} limit 1"
    found: set[str] = set()
    for some in batches(session_ids):
        odd = [each for each in some if "\0" in each]  # would end there in a list
        try:
            found.update(row[0] for row in store.conn.execute(many, (listed(some),)) if "\0" not in row[0])
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            odd = list(some)
        for session_id in odd:
            try:
                if store.conn.execute(one, (session_id,)).fetchone():
                    found.add(session_id)
            except sqlite3.DatabaseError as error:
                if not is_damage(error):
                    raise
                found.add(session_id)  # not known to be empty
    return found & set(session_ids)


def _segment(row: Cells, spoken: Set[str]) -> Segment:
    activity, key, config, newest = row[21:]
    last = newest if activity is None or (newest is not None and newest > activity) else activity
    return Segment._make(
        (
            *row[:18],
            row[18] == 1,
            row[19] == 1,
            row[20] == 1,
            row[3] if last is None else last,
            newest is None and row[0] not in spoken,
            key,
            *(_UNMARKED if config is None else _markers(config)),
        )
    )


def _markers(config: Any) -> tuple[str | None, str | None, str | None]:
    import json

    try:
        value = json.loads(str(config))
    except (ValueError, RecursionError):
        return _UNMARKED
    if not isinstance(value, dict):
        return _UNMARKED
    branched, delegate, reset = (value.get(name) for name in _MARKERS)
    return (_marker(branched), _marker(delegate), _marker(reset))


def _marker(value: Any) -> str | None:
    return str(value) if value is not None else None


def _freshest(store: Store, segment: Segment) -> float:
    """Recency as Hermes compares continuations: all messages count, undone ones too; the start if there are none."""
    schema = store.schema
    sql = f"""
    select {_newest(schema, "1")}, {believable(schema.session("last_activity_at"))}
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
