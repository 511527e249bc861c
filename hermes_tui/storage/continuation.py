"""The session that `hermes --resume ID` goes on with, by the rule of Hermes 0.22.2 (FACTS 4.2).

First along compressions to the tip, then, from there, to the deepest descendant that holds messages. It reads
the markers by their presence, not by what they name, so it may stop earlier than a conversation does. Hermes
migrates an old store when it opens it; what that changes for this rule is reckoned in.
"""

from __future__ import annotations

from hermes_tui.domain.families import RESET_REASONS
from hermes_tui.storage.connection import Store
from hermes_tui.storage.schema import Schema
from hermes_tui.times import EPOCH_MAX

_CHAIN_CAP = 1_000
_DESCENT_CAP = 32
_MARKED_SINCE = 16
"""A store older than this schema gets its delegates marked as such when Hermes opens it."""


def continuation(store: Store, session_id: str) -> str:
    """What `hermes --resume <session_id>` continues; the id itself when nothing better has messages."""
    at = _tip(store, session_id)
    best = None
    seen = {at}
    step = _descent_sql(store.schema)
    tip = at
    for _ in range(_DESCENT_CAP):
        if store.conn.execute("select 1 from messages m where m.session_id = ? limit 1", (at,)).fetchone():
            best = at
        row = store.conn.execute(step, (at,)).fetchone()
        if row is None or not row[0] or row[0] in seen:
            break
        at = row[0]
        seen.add(at)
    return tip if best is None else best


def _tip(store: Store, session_id: str) -> str:
    step = _chain_sql(store.schema)
    seen = {session_id}
    for _ in range(_CHAIN_CAP):
        row = store.conn.execute(step, (session_id,)).fetchone()
        if row is None or not row[0] or row[0] in seen:
            break
        session_id = row[0]
        seen.add(session_id)
    return session_id


def _marker(schema: Schema, name: str) -> str:
    config = schema.session("model_config", "c")
    return f"json_extract(case when json_valid({config}) then {config} else '{{}}' end, '$.{name}')"


def _old_reset(schema: Schema) -> str:
    """A reset from before there were markers: same routing key, parent ended at a boundary."""
    if "session_key" not in schema.sessions:
        return "0"
    reasons = ", ".join(f"'{reason}'" for reason in sorted(RESET_REASONS))
    return f"""exists (
        select 1 from sessions p
        where p.id = c.parent_session_id and p.end_reason in ({reasons})
        and coalesce(c.session_key, '') <> '' and c.session_key = p.session_key
    )"""


def _helper(schema: Schema) -> str:
    """A child that Hermes will mark as a delegate before it looks: not continued, not branched off, not reset."""
    if schema.version is None or schema.version >= _MARKED_SINCE:
        return "0"
    return f"""not exists (
        select 1 from sessions p
        where p.id = c.parent_session_id
        and (p.end_reason = 'compression' or (p.end_reason = 'branched' and c.started_at >= p.ended_at))
    ) and not {_old_reset(schema)}"""


def _recency(schema: Schema) -> str:
    def believable(expression: str) -> str:
        return f"case when {expression} between 0.0 and {EPOCH_MAX!r} then {expression} end"

    newest = f"""(
        select max(m.timestamp) from messages m
        where m.session_id = c.id and m.timestamp between 0.0 and {EPOCH_MAX!r}
    )"""
    activity = believable(schema.session("last_activity_at", "c"))
    return f"coalesce(max({activity}, {newest}), {activity}, {newest}, {believable('c.started_at')})"


def _chain_sql(schema: Schema) -> str:
    return f"""
    select c.id
    from sessions p
    join sessions c on c.parent_session_id = p.id
    where p.id = ?
    and p.end_reason = 'compression'
    and {_marker(schema, "_branched_from")} is null
    and {_marker(schema, "_delegate_from")} is null
    and {_marker(schema, "_reset_from")} is null
    and not {_old_reset(schema)}
    and coalesce(c.source, '') <> 'tool'
    order by
        case when c.end_reason = 'compression' then 0 when c.ended_at is null then 1 else 2 end,
        {_recency(schema)} desc,
        c.started_at desc,
        c.id desc
    limit 1
    """


def _descent_sql(schema: Schema) -> str:
    return f"""
    select c.id
    from sessions c
    where c.parent_session_id = ?
    and {_marker(schema, "_branched_from")} is null
    and {_marker(schema, "_delegate_from")} is null
    and {_marker(schema, "_reset_from")} is null
    and not {_old_reset(schema)}
    and not ({_helper(schema)})
    and coalesce(c.source, '') <> 'tool'
    order by c.started_at desc, c.id desc
    limit 1
    """
