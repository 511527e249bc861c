"""Tool calls as stored, and which result answers which call (FACTS 6.6 and 6.10). Pure rules."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from hermes_tui.domain.contents import as_text, load_json
from hermes_tui.domain.messages import ToolCall
from hermes_tui.values import NamedTuple, dataclass

UNNAMED = "unknown"
_HOLDERS = ("function", "custom", "function_call", "functionCall")
"""What holds a call's name and arguments, where these do not stand in the call itself."""
_ARGUMENTS = ("arguments", "input", "args", "parameters")
_ASIDE = frozenset(
    {"id", "call_id", "type", "name", "index", *_HOLDERS, *_ARGUMENTS, "response_item_id", "extra_content"}
)
"""What is no argument of a call that has none of these."""


class StoredCall(NamedTuple):
    """A call, and every id that a result may know it by."""

    call: ToolCall
    keys: frozenset[str]


def key_of(call_id: object) -> str:
    """An id as results are compared by it: up to the first `|`."""
    text = as_text(call_id).strip()
    return text.partition("|")[0].strip() or text


def parse_stored_calls(raw: object) -> tuple[StoredCall, ...] | None:
    """The calls of a `tool_calls` cell; None when something is stored that is no list of calls."""
    text = as_text(raw)
    if not text.strip():
        return ()
    value: Any = text
    try:
        for _ in range(2):  # some builds encoded the list twice
            if isinstance(value, str):
                value = load_json(value) if value.strip() else None
    except ValueError:
        return None
    if value is None:
        return ()
    if isinstance(value, dict) and isinstance(value.get("function"), dict):
        value = [value]
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        return None
    return tuple(_stored(item) for item in value)


def parse_tool_calls(raw: object) -> tuple[ToolCall, ...] | None:
    """The calls of a `tool_calls` cell, results unknown; None for what is no list of calls."""
    stored = parse_stored_calls(raw)
    return None if stored is None else tuple(each.call for each in stored)


def readable_arguments(arguments: str) -> str:
    """JSON arguments with their escapes resolved; "" where that changes nothing or they are no JSON."""
    if "\\" not in arguments:
        return ""
    try:
        value = load_json(arguments)
    except ValueError:
        return ""
    return "\n".join(_strings(value, 8))


def _strings(value: object, depth: int) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict) and depth:
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each, depth - 1)


def _stored(item: dict[str, Any]) -> StoredCall:
    held = next((item[key] for key in _HOLDERS if isinstance(item.get(key), dict)), None)
    holders = (item,) if held is None else (held, item)
    name = next((each["name"] for each in holders if isinstance(each.get("name"), str)), None)
    keys = _ARGUMENTS if held is not None or name is not None else _ARGUMENTS[:2]
    arguments = next((each[key] for each in holders for key in keys if each.get(key) is not None), None)
    if arguments is None:
        rest = {key: value for key, value in holders[0].items() if key not in _ASIDE and value is not None}
        # nothing of a call in it: what is there stands where the arguments would
        arguments = item if held is None and name is None else rest or None
    ids = [as_text(item.get(key)).strip() for key in ("call_id", "id") if item.get(key) is not None]
    ids = [each for each in ids if each]
    shown = as_text(item.get("id")).strip() or (ids[0] if ids else "")
    call = ToolCall(
        id=shown,
        name=name if isinstance(name, str) and name else UNNAMED,
        arguments=arguments if isinstance(arguments, str) else _json(arguments),
    )
    return StoredCall(call, frozenset(key_of(each) for each in ids))


def _json(value: object) -> str:
    return "" if value is None else json.dumps(value, ensure_ascii=False)


class Turned(NamedTuple):
    """What pairing needs to know of one message."""

    id: int
    role: str
    prompt: bool
    """The person's words: no result answers a call from before them."""
    calls: tuple[StoredCall, ...] = ()
    uids: object = None
    """`tool_call_uids` as stored: call id → uid, or a list of them."""
    call_id: str = ""
    uid: str = ""
    """`tool_call_uid` of a result."""


class Paired(NamedTuple):
    """The call that a result answers."""

    message_id: int
    nth: int
    """Which of that message's calls, from 0 on."""


@dataclass(slots=True)
class _Asked:
    where: Paired
    uid: str | None
    answered: bool = False


def pair(rows: Iterable[Turned]) -> dict[int, Paired]:
    """Result's message id → call. By the uid of the occurrence where the store has one, else by id within
    the nearest preceding assistant row that names it, never across a prompt; equal ids in order."""
    by_uid: dict[str, list[_Asked]] = {}
    by_key: dict[str, list[_Asked]] = {}
    found: dict[int, Paired] = {}
    for row in rows:
        if row.prompt:
            by_key.clear()
        elif row.role == "tool":
            known = by_uid.get(row.uid, []) if row.uid else []
            asked = known or _by_id(by_key.get(key_of(row.call_id), []) if row.call_id else [], row.uid)
            call = next((each for each in asked if not each.answered), asked[-1] if asked else None)
            if call is not None:
                call.answered = True
                found[row.id] = call.where
        elif row.calls:
            named: dict[str, list[_Asked]] = {}
            for asked_now, keys in _asked(row):
                if asked_now.uid:
                    by_uid.setdefault(asked_now.uid, []).append(asked_now)
                for key in keys:
                    named.setdefault(key, []).append(asked_now)
            by_key.update(named)
    return found


def _by_id(asked: Sequence[_Asked], uid: str) -> list[_Asked]:
    """Calls of that id; where both sides have a uid and they differ, it is another occurrence."""
    return [each for each in asked if not (uid and each.uid)]


def _asked(row: Turned) -> Iterable[tuple[_Asked, frozenset[str]]]:
    uids = _uids(row.uids)
    used: dict[str, int] = {}
    for index, stored in enumerate(row.calls):
        uid: str | None = None
        for key in sorted(stored.keys):
            known = uids.get(key)
            if known:
                nth = used[key] = used.get(key, -1) + 1
                uid = known[min(nth, len(known) - 1)]
                break
        yield _Asked(Paired(row.id, index), uid), stored.keys


def _uids(raw: object) -> dict[str, list[str]]:
    if raw is None or raw == "":
        return {}
    try:
        value = load_json(as_text(raw))
    except ValueError:
        return {}
    if not isinstance(value, dict):
        return {}
    found = {}
    for call_id, uid in value.items():
        each = [one for one in (uid if isinstance(uid, list) else [uid]) if isinstance(one, str) and one]
        if each:
            found[key_of(call_id)] = each
    return found
