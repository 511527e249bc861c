"""The same as `storage.sessions`, for many conversations at once: a few statements for hundreds of them.

What a statement for many cannot tell is asked of the conversation itself: where its messages may be copies, where
its last row is none that is shown, where its first prompt is very long. Damage is left to those questions too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hermes_tui.domain.families import Chain
from hermes_tui.domain.sessions import Status
from hermes_tui.storage.connection import Store
from hermes_tui.storage.rows import BY_ACTIVE, BY_TIME, BY_UID, Cells, fetch, in_order, listed, pinned
from hermes_tui.storage.schema import Schema
from hermes_tui.storage.sessions import chain_count, how_it_stands, load_prompt, load_status, status_of
from hermes_tui.storage.visibility import prompting, visible

_SHORT = 16_384
"""Bytes of a first prompt up to which it is read together with others."""


def load_prompts(store: Store, chains: Sequence[Chain]) -> dict[str, str | None]:
    """Root id → the first thing the person said, whole, on one line."""
    from hermes_tui.domain.scaffolds import preview_of

    found: dict[str, str | None] = {}
    said = _by_session(store, prompts_sql(store.schema), (chain.root.id for chain in chains))
    for chain in chains:
        cells = said.get(chain.root.id)
        short = None if cells is None else preview_of(cells[1], flagged=cells[2])
        alone = cells is None and len(chain.segments) == 1 and _plain(chain)
        found[chain.root.id] = short if short or alone else load_prompt(store, chain)
    return found


def load_statuses(store: Store, chains: Sequence[Chain]) -> dict[str, Status]:
    """Root id → how the conversation stands."""
    found = {}
    last = _by_session(store, last_sql(store.schema), (chain.tip.id for chain in chains))
    for chain in chains:
        cells = last.get(chain.tip.id)
        if cells is None and len(chain.segments) == 1 and _plain(chain):
            found[chain.root.id] = Status.EMPTY
        elif cells is None or not cells[1]:
            found[chain.root.id] = load_status(store, chain)
        else:
            found[chain.root.id] = status_of(*cells[2:])
    return found


def load_counts(store: Store, chains: Sequence[Chain]) -> dict[str, int]:
    """Root id → the messages of the transcript, copies once."""
    found = {}
    alone = [chain for chain in chains if len(chain.segments) == 1]
    counted = _by_session(store, counts_sql(store.schema), (chain.root.id for chain in alone))
    for chain in chains:
        cells = counted.get(chain.root.id)
        if len(chain.segments) > 1 or not _plain(chain) or (cells is not None and cells[2]):
            found[chain.root.id] = chain_count(store, chain)
        else:
            found[chain.root.id] = cells[1] if cells is not None else 0
    return found


def _plain(chain: Chain) -> bool:
    """Its ids survive being written as JSON and read by SQLite, which ends a text at a NUL."""
    return not any("\0" in segment.id or "\ufffd" in segment.id for segment in chain.segments)


def _by_session(store: Store, sql: str, ids: Iterable[str]) -> dict[str, Cells]:
    """The row of each session that has one, by its id."""
    return {cells[0]: cells for cells in fetch(store, sql, listed(ids))}


def prompts_sql(schema: Schema) -> str:
    """Of each session the first row of the person, unless it is very long."""
    return f"""
    select
        j.value,
        case when length(cast(p.content as blob)) <= {_SHORT} then p.content end,
        coalesce({schema.message("_compressed_summary", "p")}, 0) <> 0
    from json_each(?) j
    cross join messages p on p.id = (
        select m.id
        from messages m {pinned(schema, BY_TIME)}
        where m.session_id = j.value and {prompting(schema)}
        order by m.timestamp, m.id
        limit 1
    )
    """


def last_sql(schema: Schema) -> str:
    """Of each session the last row: is it shown, and what says how it stands."""
    return f"""
    select
        j.value,
        {visible(schema)},
        {how_it_stands(schema)}
    from json_each(?) j
    cross join messages m on m.id = (
        select max(d.id)
        from messages d {in_order(schema)}
        where d.session_id = j.value
    )
    """


def counts_sql(schema: Schema) -> str:
    """Of each session how many rows are shown, and whether two of its rows have a time or a uid in common. Times
    and uids come off indexes where these hold them."""
    return f"""
    select
        j.value,
        (select count(*) from messages m {in_order(schema)} where m.session_id = j.value and {visible(schema)}),
        exists (
            select 1
            from messages d {pinned(schema, BY_TIME)}
            where d.session_id = j.value and d.timestamp is not null
            group by d.timestamp
            having count(*) > 1
        )
        or {_uid_twice(schema)}
    from json_each(?) j
    """


def _uid_twice(schema: Schema) -> str:
    if "message_uid" not in schema.messages:
        return "0"
    twice = """exists (
            select 1
            from messages u {hint}
            where u.session_id = j.value and u.message_uid <> '' {only}
            group by u.message_uid
            having count(*) > 1
        )"""
    whole = twice.format(hint=in_order(schema), only="")
    if BY_UID not in schema.indexes or BY_ACTIVE not in schema.indexes:
        return whole
    inactive = f"""exists (
            select 1
            from messages a indexed by {BY_ACTIVE}
            where a.session_id = j.value and a.active is not 1
        )"""
    indexed = twice.format(hint=f"indexed by {BY_UID}", only="and u.active = 1")
    return f"case when {inactive} then {whole} else {indexed} end"
