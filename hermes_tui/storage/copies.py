"""Find the messages of a conversation that may be copies, and fold them. The indexes are asked first: texts
are read only of rows that already share everything else."""

from __future__ import annotations

import sqlite3
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from hermes_tui.domain.calls import parse_stored_calls
from hermes_tui.domain.contents import as_text, decode_content, decode_metadata
from hermes_tui.domain.copies import Edge, Folds, Row, fold, repeated
from hermes_tui.domain.families import Chain
from hermes_tui.domain.scaffolds import read, split_handoff, typed_words
from hermes_tui.storage.connection import Store
from hermes_tui.storage.rows import BY_ACTIVE, BY_TIME, BY_UID, by_ids, fetch, in_order, listed, pinned, walk_ids
from hermes_tui.storage.schema import Schema
from hermes_tui.storage.visibility import visible
from hermes_tui.times import epoch

REMEMBERED = 200
"""Conversations; a search for a common word looks at all that may hold copies, again and again."""
_STEP = 64
_EDGE = 4
"""Rows at the end of a segment that are looked at first: prompts and their answer are mostly among them."""


def load_folds(store: Store, chain: Chain) -> Folds:
    """The copies of this conversation; remembered until the store is written."""
    key = tuple(segment.id for segment in chain.segments)
    version = store.version()
    kept = store.memory.pop(key, None)
    known = kept[1] if kept is not None and kept[0] == version else None
    folds = known if isinstance(known, Folds) else _load(store, key)
    store.memory[key] = (version, folds)
    while len(store.memory) > REMEMBERED:
        del store.memory[next(iter(store.memory))]
    return folds


def _load(store: Store, sessions: Sequence[str]) -> Folds:
    segments = {session_id: index for index, session_id in enumerate(sessions)}
    try:
        rows = {row.id: row for row in _candidates(store, segments)}
    except sqlite3.DatabaseError as error:
        store.forgive(error)
        return Folds()  # a page that cannot be read: better every copy than no transcript
    known: dict[int, Hashable] = {}

    def texts(ids: Sequence[int]) -> Mapping[int, Hashable]:
        missing = [each for each in ids if each not in known]
        known.update(_texts(store, missing))
        return known

    folds = fold(rows.values(), texts)
    if len(sessions) < 2:
        return folds
    try:
        repeats = repeated(_edges(store, sessions, folds))
    except sqlite3.DatabaseError as error:
        store.forgive(error)
        return folds
    return fold(rows.values(), texts, repeats) if repeats else folds


def _row_columns(schema: Schema) -> str:
    active = f"coalesce({schema.message('active', default='1')}, 1) <> 0"
    return f"""
        m.id,
        m.session_id,
        cast(m.role as text),
        m.timestamp,
        cast(m.tool_call_id as text),
        cast(m.tool_name as text),
        nullif(cast({schema.message("message_uid")} as text), ''),
        {active}
    """


def _row(cells: tuple[Any, ...], segment: int) -> Row:
    role, timestamp, call_id, tool_name, uid, active = cells[2:8]
    return Row(cells[0], segment, role or "", epoch(timestamp), call_id, tool_name, uid, bool(active))


def _candidates(store: Store, segments: Mapping[str, int]) -> Iterator[Row]:
    """Visible rows that share their time, or their uid, with another row of the conversation."""
    ids = listed(segments)
    asked = [same_time_sql(store.schema, len(segments))]
    if "message_uid" in store.schema.messages:
        asked.append(same_uid_sql(store, segments))
    for sql in asked:
        for cells in fetch(store, sql, *_bound(segments, ids)):
            if cells[1] in segments:  # a damaged index may lead to rows of other sessions
                yield _row(cells, segments[cells[1]])


def _bound(segments: Mapping[str, int], ids: str) -> tuple[str, str]:
    only = next(iter(segments))
    return (only, only) if len(segments) == 1 else (ids, ids)


def _those(sessions: int) -> str:
    """One session is named plainly, so that its index is read in its own order."""
    return "= ?" if sessions == 1 else "in (select value from json_each(?))"


def same_time_sql(schema: Schema, sessions: int) -> str:
    """Rows whose time occurs twice."""
    those, hint = _those(sessions), pinned(schema, BY_TIME)
    return f"""
    select {_row_columns(schema)}
    from messages m {hint}
    where m.session_id {those}
    and m.timestamp in (
        select d.timestamp
        from messages d {hint}
        where d.session_id {those} and d.timestamp is not null
        group by d.timestamp
        having count(*) > 1
    )
    and {visible(schema)}
    """


def same_uid_sql(store: Store, segments: Iterable[str]) -> str:
    """Rows whose uid occurs twice. As long as no row is inactive, an index holds all uids."""
    schema, sessions = store.schema, list(segments)
    covered = BY_UID in schema.indexes and not _any_inactive(store, sessions)
    those, hint = _those(len(sessions)), f"indexed by {BY_UID}" if covered else in_order(schema)
    only = "and {}.active = 1" if covered else ""
    return f"""
    select {_row_columns(schema)}
    from messages m {hint}
    where m.session_id {those} {only.format("m")}
    and m.message_uid in (
        select u.message_uid
        from messages u {hint}
        where u.session_id {those} and u.message_uid <> '' {only.format("u")}
        group by u.message_uid
        having count(*) > 1
    )
    and {visible(schema)}
    """


def _any_inactive(store: Store, sessions: Iterable[str]) -> bool:
    if BY_ACTIVE not in store.schema.indexes:
        return True
    base = f"select 1 from messages m indexed by {BY_ACTIVE} where m.session_id = :id and m.active"
    sql = "select " + " or ".join(f"exists ({base} {how})" for how in ("< 1", "> 1", "is null"))
    return any(store.conn.execute(sql, {"id": session_id}).fetchone()[0] for session_id in sessions)


def _texts(store: Store, ids: Sequence[int]) -> dict[int, Hashable]:
    """What stands for a row's text and calls, so that equal rows have equal values."""
    schema = store.schema
    sql = f"""
    select
        m.id,
        m.role,
        m.content,
        m.tool_calls,
        coalesce(cast({schema.message("display_kind")} as text), ''),
        coalesce({schema.message("_compressed_summary")}, 0) <> 0
    from messages m
    where {{ids}}
    """
    found: dict[int, Hashable] = {}
    for start in range(0, len(ids), _STEP):
        for message_id, cells in by_ids(store, sql, ids[start : start + _STEP]).items():
            if cells is not None:
                found[message_id] = _what_it_says(*cells[1:])
    return found


def _what_it_says(role: object, content: object, calls: object, kind: str, flagged: bool) -> Hashable:
    """A turn with calls is known by their ids, since pruning rewrites arguments and text; a prompt that
    carries a hand-off, by the words of the person."""
    if role == "assistant" and calls:
        stored = parse_stored_calls(calls)
        if stored and all(each.keys for each in stored):
            return ("calls", tuple(min(each.keys) for each in stored))
    if role == "user" and kind in ("", "hidden"):
        handoff, live = split_handoff(decode_content(content), flagged=flagged)
        if handoff and live:
            content = live
    return (_digest(content), _digest(calls))


def _digest(cell: object) -> Hashable:
    """Short texts as they are, long ones by their hash: copies of a long output need not lie in memory."""
    if isinstance(cell, str):
        cell = cell.strip()
    if isinstance(cell, str | bytes) and len(cell) > 512:
        return (len(cell), hash(cell))
    return cell or None


def _edges(store: Store, sessions: Sequence[str], folds: Folds) -> Iterator[Edge]:
    """The prompts at both ends of each segment; rows that stand elsewhere are stepped over."""
    for index, session_id in enumerate(sessions):
        opening, answered = _prompts(store, session_id, index, folds, "asc")
        closing = opening
        if answered:
            closing, _ = _prompts(store, session_id, index, folds, "desc")
            closing.reverse()
        yield Edge(opening, closing, answered)


def _prompts(
    store: Store, session_id: str, index: int, folds: Folds, direction: str
) -> tuple[list[tuple[Row, Hashable]], bool]:
    """Prompts from one end of a segment up to the first answer, and whether there is one."""
    sql = edge_sql(store.schema, direction)
    found: list[tuple[Row, Hashable]] = []
    for ids in walk_ids(store, session_id, direction, step=_EDGE):
        for cells in fetch(store, sql, listed(ids)):
            if cells[0] in folds.gone:
                continue
            if cells[8]:
                return found, True
            if cells[2] == "user" and (said := _prompt(*cells[9:])):
                found.append((_row(cells, index), said))
    return found, False


def edge_sql(schema: Schema, direction: str) -> str:
    """Of some rows of a session: is it an answer, and for the person's rows, what they say."""
    return f"""
    select
        {_row_columns(schema)},
        m.role = 'assistant' and (
            coalesce(m.tool_calls, '') not in ('', '[]', 'null')
            or trim(coalesce(m.content, ''), ' ' || char(9, 10, 13)) <> ''
        ),
        case when m.role = 'user' then m.content end,
        case when m.role = 'user' then cast({schema.message("display_kind")} as text) end,
        case when m.role = 'user' then {schema.message("display_metadata")} end,
        coalesce({schema.message("_compressed_summary")}, 0) <> 0
    from messages m
    where m.id in (select value from json_each(?)) and {visible(schema)}
    order by m.id {direction}
    """


def _prompt(content: object, kind: str | None, metadata: object, flagged: bool) -> Hashable:
    """What a person's row says, as repetitions are compared; None for what is no prompt."""
    text = decode_content(content)
    reading = read("user", text, display_kind=kind or "", metadata=decode_metadata(metadata), summary=flagged)
    said = typed_words(reading.text).strip() if reading.prompt else ""
    return _digest(said or None) if as_text(content) else None
