"""Rows of `messages` as a reader meets them: decoded, told apart, calls and results paired, long texts cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hermes_tui.domain.calls import parse_stored_calls, readable_arguments
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
from hermes_tui.storage.pairs import Pairs
from hermes_tui.storage.rows import batches, by_ids, one_by_one
from hermes_tui.storage.schema import Schema
from hermes_tui.storage.visibility import visible
from hermes_tui.times import epoch
from hermes_tui.values import dataclass, replace

PAGE_TEXT = 16_384
"""Characters of a message that a page holds; `load_text` gives the rest."""
_LONG = 4 * PAGE_TEXT
"""Bytes from which on a content is fetched alone, so that a page of long ones does not lie in memory."""
_DAMAGED = "This message cannot be read: the database is damaged here."


@dataclass(frozen=True, slots=True)
class Standing:
    """How the copies of a conversation are shown."""

    aliases: Mapping[int, int]
    """Id of a copy that is not shown → id of the one that is."""
    sessions: Mapping[int, str]
    """Id of a copy that is shown in another segment than its own → that segment."""

    def shown(self, message_id: int) -> int:
        """The id under which this message is shown."""
        return self.aliases.get(message_id, message_id)


def load_rows(
    store: Store, chain: Chain, ids: Sequence[int], standing: Standing, *, paired: bool = True
) -> tuple[Message, ...]:
    """These messages, in this order; those that have gone are left out, unreadable ones say so. Without `paired`
    which result answers which call stays unknown."""
    segments = {segment.id for segment in chain.segments}
    pairs = Pairs(store, standing.shown)
    messages: list[Message] = []
    for some in batches(ids):
        found = by_ids(store, _rows_sql(store.schema), some)
        rows = {each: cells for each, cells in found.items() if cells is None or cells[1] in segments}
        for cells in rows.values() if paired else ():
            if cells is not None and (cells[2] == "tool" or cells[7]):
                pairs.cover(cells[1], cells[0])
        for message_id in some:
            if message_id in rows and not store.stopped():
                cells = rows[message_id]
                message = _unreadable(chain, message_id) if cells is None else _message(store, cells, pairs)
                session_id = standing.sessions.get(message_id)
                messages.append(message if session_id is None else replace(message, session_id=session_id))
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


def load_searchable(store: Store, ids: Sequence[int]) -> dict[int, list[str]]:
    """What may be found in these rows: texts as they are shown, calls, reasoning, all of it whole."""
    found = {}
    for message_id, cells in by_ids(store, _rows_sql(store.schema), ids).items():
        if cells is None:
            continue
        text = _reading(cells, _content(store, cells)).text
        texts = [text, decode_reasoning(*cells[9:13]) or "", decode_items(cells[13])[1]]
        stored = parse_stored_calls(cells[7])
        if stored is None:
            texts.append(cells[7])
        for each in stored or ():
            texts += [each.call.name, each.call.arguments, readable_arguments(each.call.arguments)]
        found[message_id] = texts
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


def _message(store: Store, cells: Sequence[Any], pairs: Pairs) -> Message:
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
            replace(each.call, result_id=pairs.result_of(message_id, index)) for index, each in enumerate(stored)
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
        call=pairs.call_of(message_id),
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
