"""Rows of `messages` as a reader meets them: decoded, told apart, calls and results paired, long texts cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from hermes_tui.domain.calls import (
    Paired,
    StoredCall,
    Turned,
    pair,
    parse_stored_calls,
)
from hermes_tui.domain.contents import (
    decode_content,
    decode_items,
    decode_metadata,
    decode_reasoning,
)
from hermes_tui.domain.families import Chain
from hermes_tui.domain.messages import UNREADABLE, Message
from hermes_tui.domain.scaffolds import Reading, read
from hermes_tui.errors import TargetNotFound
from hermes_tui.storage.connection import Store
from hermes_tui.storage.rows import by_ids, fetch, next_ids, one_by_one
from hermes_tui.storage.schema import Schema
from hermes_tui.storage.visibility import visible
from hermes_tui.times import epoch

PAGE_TEXT = 16_384
"""Characters of a message that a page holds; `load_text` gives the rest."""
_LONG = 4 * PAGE_TEXT
"""Bytes from which on a content is fetched alone, so that a page of long ones does not lie in memory."""
_DAMAGED = "This message cannot be read: the database is damaged here."
_BEFORE, _AFTER = 48, 160
"""Rows around a message in which its call or its results are looked for first."""
_FURTHEST = 4_096
_MARGIN = 80
"""Rows at the end of such a stretch whose results may lie beyond it."""


def load_rows(
    store: Store, chain: Chain, ids: Sequence[int], shown: Callable[[int], int]
) -> tuple[Message, ...]:
    """These messages, in this order; those that have gone are left out, unreadable ones say so.

    `shown` gives the id under which a message is shown, for the ids of calls and results.
    """
    segments = {segment.id for segment in chain.segments}
    found = by_ids(store, _rows_sql(store.schema), ids)
    rows = {each: cells for each, cells in found.items() if cells is None or cells[1] in segments}
    paired = _Pairs(store, shown)
    for cells in rows.values():
        if cells is not None and (cells[2] == "tool" or cells[7]):
            paired.cover(cells[1], cells[0])
    messages = []
    for message_id in ids:
        if message_id in rows and not store.stopped():
            cells = rows[message_id]
            messages.append(_unreadable(chain, message_id) if cells is None else _message(store, cells, paired))
    return tuple(messages)


def load_text(store: Store, message_id: int) -> str:
    """The whole text of one message. Raises `TargetNotFound` when it is no longer shown."""
    cells = by_ids(store, _rows_sql(store.schema), [message_id]).get(message_id)
    if cells is None:
        raise TargetNotFound(f"Message {message_id} is not there any more, or cannot be read.")
    return _reading(cells, _content(store, cells)).text


def read_kinds(store: Store, ids: Sequence[int]) -> dict[int, Reading]:
    """What these rows are, their texts whole; for the few rows whose kind must be known."""
    found = {}
    for message_id, cells in by_ids(store, _rows_sql(store.schema), ids).items():
        if cells is not None:
            found[message_id] = _reading(cells, _content(store, cells))
    return found


def _rows_sql(schema: Schema) -> str:
    def text(column: str) -> str:
        return f"cast({schema.message(column)} as text)"

    return f"""
    select
        m.id,
        cast(m.session_id as text),
        coalesce(cast(m.role as text), ''),
        m.timestamp,
        case when length(cast(m.content as blob)) <= {_LONG} then m.content end,
        coalesce(length(cast(m.content as blob)), 0) > {_LONG},
        nullif({text("tool_name")}, ''),
        nullif({text("tool_calls")}, ''),
        nullif({text("tool_call_id")}, ''),
        {text("reasoning")},
        {schema.message("reasoning_content")},
        {text("reasoning_details")},
        {text("codex_reasoning_items")},
        {text("codex_message_items")},
        coalesce({text("display_kind")}, ''),
        {schema.message("display_metadata")},
        coalesce({schema.message("_compressed_summary")}, 0) <> 0,
        nullif({text("finish_reason")}, '')
    from messages m
    where {{ids}} and {visible(schema)}
    """


def _content(store: Store, cells: Sequence[Any]) -> object:
    if not cells[5]:
        content: object = cells[4]
        return content
    sql = "select m.content from messages m where m.id = ?"
    for _, row in one_by_one(store, sql, [cells[0]]):
        return _DAMAGED if row is None else row[0]
    return None


def _reading(cells: Sequence[Any], content: object) -> Reading:
    role, kind, metadata, flagged = cells[2], cells[14], cells[15], bool(cells[16])
    text = decode_content(content)
    if role == "assistant" and not text.strip() and cells[13]:
        text = decode_items(cells[13])[0]
    return read(role, text, display_kind=kind, metadata=decode_metadata(metadata), summary=flagged)


def _message(store: Store, cells: Sequence[Any], paired: _Pairs) -> Message:
    message_id, session_id, role = cells[:3]
    reading = _reading(cells, _content(store, cells))
    stored = parse_stored_calls(cells[7])
    reasoning = decode_reasoning(*cells[9:13])
    commentary = _commentary(cells[13], reading.text)
    if commentary and reasoning and commentary in reasoning:
        reasoning = reasoning.replace(commentary, "").strip() or None
    calls = None
    if stored is not None:
        calls = tuple(
            replace(each.call, result_id=paired.result_of(message_id, index)) for index, each in enumerate(stored)
        )
    return Message(
        id=message_id,
        session_id=session_id,
        role=role,
        timestamp=epoch(cells[3]),
        text=reading.text[:PAGE_TEXT],
        chars=len(reading.text),
        kind=reading.kind,
        label=None if reading.label is None else reading.label[:PAGE_TEXT],
        tool_name=cells[6],
        tool_call_id=cells[8],
        tool_calls=calls,
        tool_calls_raw=cells[7] if calls is None else None,
        call=paired.call_of(message_id),
        reasoning=reasoning,
        commentary=commentary,
        finish_reason=cells[17],
    )


def _commentary(items: object, text: str) -> str | None:
    said = decode_items(items)[1] if items else ""
    return said if said and said.strip() != text.strip() else None


def _unreadable(chain: Chain, message_id: int) -> Message:
    return Message(
        id=message_id,
        session_id=chain.tip.id,
        role="unknown",
        timestamp=None,
        text=_DAMAGED,
        chars=len(_DAMAGED),
        kind=UNREADABLE,
        label=_DAMAGED,
    )


class _Pairs:
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

    def call_of(self, message_id: int) -> Any:
        """The call that this result answers, if it is one."""
        where = self._paired.get(message_id)
        if where is None or where.message_id not in self._calls:
            return None
        return replace(self._calls[where.message_id][where.index].call, result_id=self._shown(message_id))

    def result_of(self, message_id: int, index: int) -> int | None:
        """The shown message that answers this call."""
        return self._results.get((message_id, index))

    def _add(self, rows: Sequence[Turned]) -> None:
        self._calls.update((row.id, row.calls) for row in rows if row.calls)
        found = pair(rows)
        self._paired.update(found)
        for result, where in found.items():
            self._results[(self._shown(where.message_id), where.index)] = self._shown(result)

    def _around(self, session_id: str, message_id: int, before: int) -> tuple[list[Turned], bool, bool]:
        """Rows around a message, whether the prompt before it is among them, and whether the last row is."""
        store = self._store
        back = fetch(store, next_ids(store.schema, "desc"), session_id, message_id, before)
        ahead = fetch(store, next_ids(store.schema, "asc"), session_id, message_id, _AFTER)
        ids = [*(cells[0] for cells in reversed(back)), message_id, *(cells[0] for cells in ahead)]
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
        for (message_id,) in fetch(self._store, sql, session_id, result.id, result.uid):
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
