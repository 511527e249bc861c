"""What filter words may ask about a conversation that its row of `sessions` alone does not say."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from hermes_tui.domain.families import Catalogue
from hermes_tui.domain.filters import Origin
from hermes_tui.domain.sessions import Conversation, Status
from hermes_tui.storage.connection import Store, is_damage
from hermes_tui.storage.schema import Schema
from hermes_tui.storage.sessions import load_status
from hermes_tui.storage.visibility import visible
from hermes_tui.values import dataclass, field

_USERS = ("user_id",)
_CHATS = ("chat_id", "display_name")


@dataclass(slots=True)
class StoreFacts:
    """Answers `domain.filters.Facts` from one store; lives as long as one job."""

    store: Store
    catalogue: Catalogue
    _origins: dict[str, Origin] | None = field(default=None)

    def status(self, conversation: Conversation) -> Status:
        """How it stands, off its last message."""
        return load_status(self.store, self.catalogue.chains[conversation.segment_ids[0]])

    def origin(self, conversation: Conversation) -> Origin:
        """Every name under which its sessions know who spoke, and where."""
        if self._origins is None:
            self._origins = load_origins(self.store)
        known = [self._origins[each] for each in conversation.segment_ids if each in self._origins]
        return Origin(
            frozenset().union(*(each.users for each in known)), frozenset().union(*(each.chats for each in known))
        )

    def holds(self, conversation: Conversation, roles: frozenset[str], tools: frozenset[str]) -> bool:
        """Whether a visible message of it is of one of these roles and of one of these tools."""
        clauses, params = message_clauses(roles, tools)
        sql = f"""
        select 1
        from messages m
        where m.session_id in (select value from json_each(:sessions))
        and {visible(self.store.schema)} and {" and ".join(clauses or ["1"])}
        limit 1
        """
        bound = {**params, "sessions": json.dumps(list(conversation.segment_ids))}
        try:
            return self.store.conn.execute(sql, bound).fetchone() is not None
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            return False


_CALLS = """
case
    when not json_valid(m.tool_calls) then '[]'
    when json_type(m.tool_calls) = 'object' then json_array(json(m.tool_calls))
    when json_type(m.tool_calls) <> 'text' then m.tool_calls
    when json_valid(json_extract(m.tool_calls, '$')) then json_extract(m.tool_calls, '$')
    else '[]'
end
"""
"""The calls of a row as a list: some writers encoded it twice, or stored a single call bare."""


def message_clauses(
    roles: frozenset[str], tools: frozenset[str], name: str = "some"
) -> tuple[list[str], dict[str, str]]:
    """Conditions on a row `m`: it is of one of these roles; it calls, or answers, one of these tools.

    `name` keeps the parameters of several such conditions in one statement apart.
    """
    clauses, params = [], {}
    if roles:
        clauses.append(f"coalesce(m.role, '') in (select value from json_each(:{name}_roles))")
        params[f"{name}_roles"] = json.dumps(sorted(roles))
    if tools:
        these = f"(select value from json_each(:{name}_tools))"
        called = "case when c.type = 'object' then c.value else '{}' end"
        clauses.append(f"""(
            lower(coalesce(m.tool_name, '')) in {these}
            or coalesce(m.tool_calls, '') <> '' and exists (
                select 1
                from json_each({_CALLS}) c
                where lower(coalesce(
                    json_extract({called}, '$.function.name'), json_extract({called}, '$.name'), ''
                )) in {these}
            )
        )""")
        params[f"{name}_tools"] = json.dumps(sorted(tools))
    return clauses, params


def load_origins(store: Store) -> dict[str, Origin]:
    """Session id → who spoke and where, for sessions that know."""
    rows = store.conn.execute(_origins_sql(store.schema)).fetchall()
    found = {}
    for session_id, origin_json, *names in rows:
        origin = _object(origin_json)
        users = [*names[: len(_USERS)], origin.get("user_name"), origin.get("user_id")]
        chats = [*names[len(_USERS) :], origin.get("chat_name"), origin.get("chat_id")]
        found[session_id] = Origin(_folded(users), _folded(chats))
    return found


def _origins_sql(schema: Schema) -> str:
    names = ", ".join(f"cast({schema.session(column)} as text)" for column in (*_USERS, *_CHATS))
    return f"select cast(s.id as text), cast({schema.session('origin_json')} as text), {names} from sessions s"


def _folded(names: list[Any]) -> frozenset[str]:
    return frozenset(str(name).casefold() for name in names if name not in (None, ""))


def _object(stored: Any) -> dict[str, Any]:
    try:
        value = json.loads(stored) if stored else {}
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


_RECENT = 50_000
"""Messages that are looked through for values to offer."""


def recent_roles(store: Store) -> dict[str, int]:
    """Role → how many of the newest messages."""
    sql = f"""
    select cast(role as text), count(*)
    from (select role from messages order by id desc limit {_RECENT})
    group by 1
    """
    return {role: n for role, n in store.conn.execute(sql).fetchall() if role}


def recent_tools(store: Store) -> dict[str, int]:
    """Tool → how many of the newest results."""
    sql = f"""
    select cast(tool_name as text), count(*)
    from (select tool_name from messages where role = 'tool' order by id desc limit {_RECENT // 10})
    group by 1
    """
    return {name: n for name, n in store.conn.execute(sql).fetchall() if name}
