"""From a name to a place to open: the session that answers to it, and the message in it, if one was named."""

from __future__ import annotations

import sqlite3

from hermes_tui.domain.families import Catalogue, Chain
from hermes_tui.domain.links import Target
from hermes_tui.domain.targets import Named
from hermes_tui.storage.connection import Store
from hermes_tui.storage.rows import one_by_one, session_ids
from hermes_tui.storage.visibility import visible
from hermes_tui.text import one_line


def locate(store: Store, named: Named) -> Target:
    """Where to open. A message of another session of the family opens that one and says so; one that does not
    exist, or belongs to strangers, opens the conversation at its end and says so."""
    catalogue, session_id, anchor = named.catalogue, named.segment.id, named.anchor
    chain = catalogue.chains[session_id]
    here = Target(named.profile, session_id, chain.root.id)
    if anchor is None:
        return here
    found = _session_of(store, catalogue, chain, anchor)
    there = None if found is None else catalogue.chains.get(found)
    if found is None or there is None or not _related(catalogue, chain, there):
        return _at_end(here, f"Message {anchor} is not in this conversation; this is its end.")
    shown = _shown(store, there, anchor)
    if shown is None:
        return _at_end(here, f"Message {anchor} was undone or is hidden, and is not shown; this is the end.")
    if there is chain:
        return Target(named.profile, session_id, chain.root.id, shown)
    title = there.tip.title or there.root.title
    name = f"“{one_line(title, 60)}”" if title else one_line(found, 60)
    notice = f"Message {anchor} is in another session of the family, {name}: this is that one."
    return Target(named.profile, found, there.root.id, shown, notice)


def _at_end(target: Target, notice: str) -> Target:
    return Target(target.profile, target.session_id, target.root_id, None, notice)


def _related(catalogue: Catalogue, one: Chain, other: Chain) -> bool:
    return one is other or catalogue.family_top(one.root.id) is catalogue.family_top(other.root.id)


def _session_of(store: Store, catalogue: Catalogue, chain: Chain, message_id: int) -> str | None:
    """Whose message this is. Where its row is damaged, an index still says whether it belongs to this chain."""
    sql = "select cast(m.session_id as text) from messages m where m.id = ?"
    for _, cells in one_by_one(store, sql, [message_id]):
        if cells is not None and cells[0] in catalogue.chains:
            found: str = cells[0]
            return found
        return next((each.id for each in chain.segments if message_id in session_ids(store, each.id)), None)
    return None


def _shown(store: Store, chain: Chain, message_id: int) -> int | None:
    """This message if it is visible, else a visible copy of it in the same conversation, the newest one. Which
    of several visible copies stands in the transcript, the transcript knows."""
    schema = store.schema
    if list(one_by_one(store, f"select 1 from messages m where m.id = ? and {visible(schema)}", [message_id])):
        return message_id  # also one that cannot be read: it stands there, saying so
    same = " and ".join(
        f"{schema.message(column)} is {schema.message(column, 'o')}"
        for column in ("role", "content", "timestamp", "tool_call_id", "tool_calls", "tool_name")
    )
    if "message_uid" in schema.messages:
        same = f"((o.message_uid is not null and m.message_uid = o.message_uid) or ({same}))"
    sql = f"""
    select max(m.id)
    from messages o
    join messages m on m.session_id = ? and {same} and {visible(schema)}
    where o.id = ?
    """
    try:
        copies = [store.conn.execute(sql, (segment.id, message_id)).fetchone()[0] for segment in chain.segments]
    except sqlite3.DatabaseError as error:
        store.forgive(error)
        return None
    return max((each for each in copies if each is not None), default=None)
