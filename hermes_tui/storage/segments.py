"""Every row of `sessions`, read lightly, as a `Segment`. What a cell should not hold reads as nothing."""

from __future__ import annotations

import gc
import sqlite3
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from typing import Any

from hermes_tui.domain.sessions import AUTOMATION_SOURCES, Segment
from hermes_tui.storage.connection import Store, decoding, is_damage, is_undecoded
from hermes_tui.storage.rows import BY_TIME, Cells, batches, listed, pinned
from hermes_tui.storage.schema import Schema
from hermes_tui.storage.visibility import visible
from hermes_tui.times import EPOCH_MAX
from hermes_tui.values import made

_MARKERS = ("_branched_from", "_delegate_from", "_reset_from")
_SOURCES = ", ".join(f"'{source}'" for source in sorted(AUTOMATION_SOURCES))
AUTOMATIC = f"coalesce(cast(s.source as text), '') in ({_SOURCES})"
"""SQL: nobody typed in a session."""
_UNMARKED = (None, None, None)
_NEWEST = 24


def believable(expression: str) -> str:
    return (
        f"case when typeof({expression}) in ('real', 'integer') "
        f"and {expression} between 0 and {EPOCH_MAX!r} then {expression} + 0.0 end"
    )


def _text(schema: Schema, column: str) -> str:
    return f"nullif(cast({schema.session(column)} as text), '')"


def named(schema: Schema) -> str:
    """SQL: source, and title or else display name of a session; empty for none."""
    names = f"coalesce({_text(schema, 'title')}, {_text(schema, 'display_name')}, '')"
    return f"coalesce(cast(s.source as text), ''), {names}"


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


def newest_of(schema: Schema, condition: str) -> str:
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
        {newest_of(schema, visible(schema)) if messages else "null"}
    from sessions s
    {where}
    """


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


def session_rows(store: Store) -> tuple[list[Cells], int, int]:
    """What could be read, how many sessions could not, and of how many the messages could not."""
    sql = segments_sql(store.schema)
    for how in (str, store.conn.text_factory):  # the first is faster by a tenth
        try:
            with decoding(store, how):
                return store.conn.execute(sql).fetchall(), 0, 0
        except sqlite3.DatabaseError as error:
            if not (is_damage(error) or is_undecoded(error)):
                raise
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


def _segment(row: Cells, spoken: Set[str], shared: Callable[[Any, Any], Any]) -> Segment:
    """`shared`: gives the first of what is equal. Sources, models, places and the like are few."""
    (
        id, source, parent_id, started_at, ended_at, end_reason, title, display_name, model, provider, cwd,
        git_branch, git_repo_root, messages, calls, tokens_in, tokens_out, cost, pinned, archived, hidden,
        activity, key, config, newest,
    ) = row  # fmt: skip
    last = newest if activity is None or (newest is not None and newest > activity) else activity
    return made(
        Segment,
        (
            id,
            shared(source, source),
            parent_id,
            started_at,
            ended_at,
            shared(end_reason, end_reason),
            title,
            display_name,
            shared(model, model),
            shared(provider, provider),
            shared(cwd, cwd),
            shared(git_branch, git_branch),
            shared(git_repo_root, git_repo_root),
            messages,
            calls,
            tokens_in,
            tokens_out,
            cost,
            pinned == 1,
            archived == 1,
            hidden == 1,
            started_at if last is None else last,
            newest is None and id not in spoken,
            key,
            *(_UNMARKED if config is None else _markers(config)),
        ),
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


def strange(store: Store) -> bool:
    """Whether there are ids that are no texts: they sort after all texts."""
    return any(
        store.conn.execute(f"select 1 from sessions where {column} >= x'' limit 1").fetchone()
        for column in ("id", "parent_session_id")
    )


def segments_of(store: Store, rows: list[Cells]) -> dict[str, Segment]:
    """Sessions by their ids; a row without one is none. Empties the list: there is no room for all of it twice."""
    by_id: dict[str, Any] = {row[0]: row for row in rows if row[0] is not None}
    rows.clear()
    spoken = _spoken(store, [id for id, row in by_id.items() if row[_NEWEST] is None])
    once: dict[Any, Any] = {}
    for id, row in by_id.items():
        by_id[id] = _segment(row, spoken, once.setdefault)
    return by_id
