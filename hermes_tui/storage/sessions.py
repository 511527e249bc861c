"""What a list shows of a conversation beyond its row of `sessions`: first prompt, exact count, how it stands.
Asked for rows in sight, or one by one while a filter needs them; a query here touches the messages of the
sessions that it names and no others. What only some of it needs is imported with it: a search is there sooner."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any

from hermes_tui.domain.families import Chain
from hermes_tui.domain.sessions import Details, Status
from hermes_tui.storage.connection import Store
from hermes_tui.storage.rows import BY_TIME, in_order, pinned
from hermes_tui.storage.schema import Schema
from hermes_tui.storage.visibility import prompting, visible

PREVIEW_CHARACTERS = 60
"""Hermes cuts a preview to these and three dots (FACTS 6.5)."""
_ERRORS = frozenset({"error", "agent_error", "content_filter"})


def load_details(store: Store, chains: Iterable[Chain]) -> dict[str, Details]:
    """Root id → preview, exact count and status. What lies on a damaged page costs that one answer."""
    found = {}
    for chain in chains:
        if store.stopped():
            break
        preview, count, status = load_preview(store, chain), chain_count(store, chain), load_status(store, chain)
        found[chain.root.id] = Details(preview, count, status)
    return found


def chain_count(store: Store, chain: Chain) -> int:
    """The messages of the transcript; the stored count where they cannot be read."""
    from hermes_tui.storage.transcripts import exact_count

    try:
        return exact_count(store, chain)
    except sqlite3.DatabaseError as error:
        store.forgive(error)
        return sum(segment.message_count for segment in chain.segments)


def load_preview(store: Store, chain: Chain) -> str | None:
    """The first thing the person said in this conversation, cut as Hermes cuts it; None if nothing."""
    said = load_prompt(store, chain)
    return None if said is None else cut(said)


def cut(text: str) -> str:
    """At most 63 characters."""
    return text[:PREVIEW_CHARACTERS] + "..." if len(text) > PREVIEW_CHARACTERS else text


def load_prompt(store: Store, chain: Chain) -> str | None:
    """The first thing the person said, whole, on one line."""
    for segment in chain.segments:
        if (said := _first_prompt(store, segment.id)) is not None:
            return said
    return None


def _first_prompt(store: Store, session_id: str) -> str | None:
    """Rows are taken one at a time from an index that has them in order, and no more than are needed."""
    from hermes_tui.domain.scaffolds import preview_of

    cursor = store.conn.cursor()
    try:
        cursor.execute(_prompts_sql(store.schema), (session_id,))
        for content, flagged in cursor:
            if said := preview_of(content, flagged=flagged):
                return said
    except sqlite3.DatabaseError as error:
        store.forgive(error)
    finally:
        cursor.close()
    return None


def _prompts_sql(schema: Schema) -> str:
    return f"""
    select m.content, coalesce({schema.message("_compressed_summary")}, 0) <> 0
    from messages m {pinned(schema, BY_TIME)}
    where m.session_id = ? and {prompting(schema)}
    order by m.timestamp, m.id
    """


def load_status(store: Store, chain: Chain) -> Status:
    """How a conversation stands, off the last visible message of its tip; of an empty tip, of the segment
    before it."""
    for segment in reversed(chain.segments):
        if (status := session_status(store, segment.id)) is not Status.EMPTY:
            return status
    return Status.EMPTY


def session_status(store: Store, session_id: str) -> Status:
    """How one session stands, off its last visible message. Ids come off an index, newest first, so that no
    more rows than needed are read, however long the session is."""
    schema = store.schema
    ids = f"select m.id from messages m {in_order(schema)} where m.session_id = ? order by m.id desc"
    last = f"""
    select {how_it_stands(schema)}
    from messages m
    where m.id = ? and {visible(schema)}
    """
    cursor = store.conn.cursor()
    try:
        for (message_id,) in cursor.execute(ids, (session_id,)):
            if (row := store.conn.execute(last, (message_id,)).fetchone()) is not None:
                return status_of(*row)
    except sqlite3.DatabaseError as error:
        store.forgive(error)
        return Status.UNKNOWN
    finally:
        cursor.close()
    return Status.EMPTY


def how_it_stands(schema: Schema) -> str:
    """SQL: what of a session's last row `status_of` takes."""
    columns = ("m.role", "m.tool_calls", schema.message("finish_reason"))
    return ", ".join(f"cast({column} as text)" for column in columns)


def status_of(role: Any, tool_calls: Any, finish_reason: Any) -> Status:
    """How a session stands whose last visible row is this one."""
    if str(finish_reason or "").strip().lower() in _ERRORS:
        return Status.ERROR
    who = str(role or "").strip().lower()
    if who in ("user", "tool") or (who == "assistant" and _has_calls(tool_calls)):
        return Status.INTERRUPTED
    return Status.COMPLETE


def _has_calls(stored: Any) -> bool:
    return stored is not None and str(stored).strip() not in ("", "[]", "null")
