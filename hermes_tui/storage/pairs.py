"""Which call a result answers, and which result answers a call: looked for in the rows around a message, so that
a page of a long conversation costs what a page of a short one does."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from hermes_tui.domain.calls import Paired, StoredCall, Turned, pair, parse_stored_calls
from hermes_tui.domain.messages import ToolCall
from hermes_tui.storage.connection import Store
from hermes_tui.storage.rows import by_ids, fetch, ids_beside
from hermes_tui.storage.schema import Schema
from hermes_tui.storage.visibility import visible
from hermes_tui.values import replace

_BEFORE, _AFTER = 48, 160
"""Rows around a message in which its call or its results are looked for first."""
_FURTHEST = 4_096
_MARGIN = 80
"""Rows at the end of such a stretch whose results may lie beyond it."""


class Pairs:
    """Calls and results of the messages that are asked about, found in the rows around them."""

    def __init__(self, store: Store, shown: Callable[[int], int]) -> None:
        self._store = store
        self._shown = shown
        self._seen: set[int] = set()
        self._calls: dict[int, tuple[StoredCall, ...]] = {}
        self._paired: dict[int, Paired] = {}
        self._results: dict[tuple[int, int], int] = {}

    def cover(self, session_id: str, message_id: int) -> None:
        """Pair what lies around this message, further back if its call is not found at once."""
        if message_id in self._seen:
            return
        before = _BEFORE
        while True:
            rows, whole, ended = self._around(session_id, message_id, before)
            self._add(rows)
            turn = next((row for row in rows if row.id == message_id), None)
            lost = turn is not None and self._lost(turn)
            if not lost or whole or before >= _FURTHEST:
                break
            before *= 8
        if lost and turn is not None and turn.uid:
            self._by_uid(session_id, turn)
        self._seen.add(message_id)
        near = rows if ended else rows[:-_MARGIN]
        self._seen.update(row.id for row in near if row.id > message_id and not self._lost(row))

    def _lost(self, row: Turned) -> bool:
        return row.role == "tool" and bool(row.call_id) and row.id not in self._paired

    def call_of(self, message_id: int) -> ToolCall | None:
        """The call that this result answers, if it is one."""
        where = self._paired.get(message_id)
        if where is None or where.message_id not in self._calls:
            return None
        return replace(self._calls[where.message_id][where.nth].call, result_id=self._shown(message_id))

    def result_of(self, message_id: int, nth: int) -> int | None:
        """The shown message that answers this call."""
        return self._results.get((message_id, nth))

    def _add(self, rows: Sequence[Turned]) -> None:
        self._calls.update((row.id, row.calls) for row in rows if row.calls)
        found = pair(rows)
        self._paired.update(found)
        for result, where in found.items():
            self._results[(self._shown(where.message_id), where.nth)] = self._shown(result)

    def _around(self, session_id: str, message_id: int, before: int) -> tuple[list[Turned], bool, bool]:
        """Rows around a message, whether the prompt before it is among them, and whether the last row is."""
        store = self._store
        back = ids_beside(store, session_id, "desc", message_id, before)
        ahead = ids_beside(store, session_id, "asc", message_id, _AFTER)
        ids = [*reversed(back), message_id, *ahead]
        found = by_ids(store, turns_sql(store.schema), ids)
        rows = [_turned(cells) for each in ids if (cells := found.get(each)) is not None]
        prompt = any(row.prompt for row in rows if row.id < message_id)
        return rows, prompt or len(back) < before, len(ahead) < _AFTER

    def _by_uid(self, session_id: str, result: Turned) -> None:
        """The call of a result that came after the next prompt: only its uid still says which."""
        schema = self._store.schema
        sql = f"""
        select m.id
        from messages m
        where m.session_id = ? and m.id < ? and m.role = 'assistant' and m.tool_calls is not null
        and instr(m.tool_call_uids, ?) > 0 and {visible(schema)}
        order by m.id desc
        limit 1
        """
        try:
            callers = fetch(self._store, sql, session_id, result.id, result.uid)
        except sqlite3.DatabaseError as error:
            self._store.forgive(error)
            return  # the result stands without its call
        for (message_id,) in callers:
            cells = by_ids(self._store, turns_sql(schema), [message_id]).get(message_id)
            if cells is not None:
                self._add([_turned(cells), result])


def turns_sql(schema: Schema) -> str:
    """What pairing needs of some rows. A person's row in brackets is a note or a steer: it parts nothing."""
    return f"""
    select
        m.id,
        coalesce(cast(m.role as text), ''),
        m.role = 'user' and coalesce({schema.message("display_kind")}, '') = '' and substr(m.content, 1, 1) <> '[',
        case when m.role is not 'tool' then nullif(cast(m.tool_calls as text), '') end,
        cast({schema.message("tool_call_uids")} as text),
        coalesce(cast(m.tool_call_id as text), ''),
        coalesce(cast({schema.message("tool_call_uid")} as text), '')
    from messages m
    where {{ids}} and {visible(schema)}
    """


def _turned(cells: Sequence[Any]) -> Turned:
    message_id, role, prompt, calls, uids, call_id, uid = cells
    return Turned(message_id, role, bool(prompt), parse_stored_calls(calls) or (), uids, call_id, uid)
