"""From scripts to rows."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from hermes_tui.demo.scripts import CODEX, DEEPSEEK, HAIKU, OPUS, SONNET, Line, Session
from hermes_tui.times import iso, local

_HOME = "/home/ada"
_PROMPT = "You are Hermes, Ada's assistant. Be brief, look before you answer, and say when you are not sure."
_TOOLS = json.dumps(["terminal", "read_file", "patch", "web_search", "delegate_task"])
_PRICES = {SONNET: (3.0, 15.0), HAIKU: (1.0, 5.0), OPUS: (5.0, 25.0), CODEX: (1.75, 14.0), DEEPSEEK: (0.3, 1.2)}
"""Dollars for a million tokens in and out."""
_CONTEXT = 2_600
"""Tokens that every request carries, whatever was said."""
_MESSAGE_COLUMNS = (
    "session_id role content tool_call_id tool_calls tool_name timestamp finish_reason reasoning codex_message_items"
    " _compressed_summary active compacted display_kind display_metadata message_uid tool_call_uids tool_call_uid"
).split()
_SESSION_COLUMNS = (
    "id source created_source user_id session_key chat_id chat_type display_name origin_json model model_config"
    " system_prompt_hash parent_session_id started_at ended_at end_reason message_count tool_call_count input_tokens"
    " output_tokens cwd git_branch git_repo_root billing_provider estimated_cost_usd cost_status title title_source"
    " last_activity_at api_call_count rewind_count archived auto_archived pinned hidden tool_names"
).split()

Row = dict[str, Any]


def _digest(*parts: object) -> str:
    return hashlib.sha256("/".join(map(str, parts)).encode()).hexdigest()


class Writer:
    """Writes sessions one after another, parents before children."""

    def __init__(self, conn: sqlite3.Connection, present: float) -> None:
        self.conn, self.present = conn, present
        self.ids: dict[str, str] = {}
        """Name → session id."""
        self._configs: dict[str, str | None] = {}
        self._said: dict[str, Row] = {}
        self._hash = _digest(_PROMPT)
        self._tools = _digest(_TOOLS)
        prompts = ((self._hash, _PROMPT), (self._tools, _TOOLS))
        conn.executemany("insert into system_prompts (hash, prompt) values (?, ?)", prompts)

    def write(self, sessions: Iterable[Session]) -> None:
        """All of them, in the order given."""
        for session in sessions:
            start = session.start(self.present)
            self.ids[session.name] = _session_id(session, start)
            messages = self._messages(session, start)
            self._insert("sessions", _SESSION_COLUMNS, [self._session(session, start, messages)])
            self._insert("messages", _MESSAGE_COLUMNS, messages)

    def _insert(self, table: str, columns: list[str], rows: list[Row]) -> None:
        holes = ", ".join("?" * len(columns))
        self.conn.executemany(
            f"insert into {table} ({', '.join(columns)}) values ({holes})",
            [tuple(row.get(column) for column in columns) for row in rows],
        )

    def _messages(self, session: Session, start: float) -> list[Row]:
        rows: list[Row] = []
        at = start
        for number, line in enumerate(session.lines):
            if line.again:
                rows.append(
                    {**self._said[line.again], "session_id": self.ids[session.name], "active": 1, "compacted": 0}
                )
                continue
            at += line.pause
            uid = _digest(session.name, number)[:32]
            row = self._row(session, line, at, uid)
            rows.append(row)
            if line.key:
                self._said[line.key] = row
            if line.calls:
                made, at = self._results(row, line, at, uid)
                rows += made
        return rows

    def _row(self, session: Session, line: Line, at: float, uid: str) -> Row:
        text = line.text if line.text is None or isinstance(line.text, str) else "\x00json:" + json.dumps(line.text)
        return {
            "session_id": self.ids[session.name],
            "role": line.role,
            "content": text,
            "timestamp": at,
            "message_uid": uid,
            "active": 1,
            "compacted": 0,
            "_compressed_summary": 0,
            **line.columns,
        }

    def _results(self, row: Row, line: Line, at: float, uid: str) -> tuple[list[Row], float]:
        """The rows that answer the calls of a line; the calls are written into its row."""
        calls, pairs, rows = [], {}, []
        for number, call in enumerate(line.calls):
            call_id, call_uid = f"call_{_digest(uid, number)[:12]}", _digest(uid, number, "call")[:32]
            function = {"name": call.tool, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
            calls.append({"id": call_id, "type": "function", "function": function})
            pairs[call_id] = call_uid
            if call.result is None:
                continue
            at += call.pause
            answer = {"content": call.result, "tool_call_id": call_id, "tool_name": call.tool, "timestamp": at}
            same = {name: row[name] for name in ("session_id", "active", "compacted", "_compressed_summary")}
            own = {"role": "tool", "message_uid": _digest(uid, number, "result")[:32], "tool_call_uid": call_uid}
            rows.append({**same, **answer, **own})
        row["tool_calls"] = json.dumps(calls, ensure_ascii=False)
        row["tool_call_uids"] = json.dumps(pairs)
        return rows, at

    def _session(self, session: Session, start: float, messages: list[Row]) -> Row:
        own = [row for row in messages if row["timestamp"] >= start] or messages
        last = own[-1]["timestamp"] if own else start
        ended = None if session.end is None else last + 1.0
        parent = None if session.parent is None else self.ids.get(session.parent, f"{session.parent}")
        spent_in, spent_out, turns = _usage(messages)
        price_in, price_out = _PRICES[session.model]
        place = session.cwd and session.cwd.replace("~", _HOME, 1)
        return {
            "id": self.ids[session.name],
            "source": session.source,
            "created_source": session.source,
            **self._peer(session),
            "model": session.model,
            "model_config": self._config(session, parent),
            "system_prompt_hash": self._hash,
            "parent_session_id": parent,
            "started_at": start,
            "ended_at": ended,
            "end_reason": session.end,
            "message_count": sum(row["active"] for row in messages),
            "tool_call_count": sum(row["role"] == "tool" for row in messages),
            "input_tokens": spent_in,
            "output_tokens": spent_out,
            "cwd": place,
            "git_branch": session.branch,
            "git_repo_root": place if session.branch else None,
            "billing_provider": "openrouter",
            "estimated_cost_usd": round((spent_in * price_in + spent_out * price_out) / 1_000_000, 6),
            "cost_status": "estimated",
            "title": session.title,
            "title_source": "llm" if session.title else None,
            "last_activity_at": last,
            "api_call_count": turns,
            **dict.fromkeys(("rewind_count", "archived", "auto_archived", "pinned", "hidden"), 0),
            "tool_names": self._tools,
            **session.columns,
        }

    def _config(self, session: Session, parent: str | None) -> str | None:
        """A continuation carries its parent's configuration on, markers included."""
        config = self._configs.get(session.parent or "")
        if session.marker:
            config = json.dumps({"max_iterations": 90, f"_{session.marker}_from": parent})
        self._configs[session.name] = config
        return config

    def _peer(self, session: Session) -> Row:
        if session.chat is None:
            return {}
        chat = str(int(_digest(session.source, session.chat)[:8], 16))
        origin = {"platform": session.source, "chat_id": chat, "chat_name": session.chat}
        return {
            "user_id": chat,
            "session_key": f"agent:main:{session.source}:dm:{chat}",
            "chat_id": chat,
            "chat_type": "dm",
            "display_name": session.chat,
            "origin_json": json.dumps(origin),
        }


def _session_id(session: Session, start: float) -> str:
    """As Hermes makes them: local time, and hex digits, more of them on messaging platforms."""
    stamp = f"{local(start):%Y%m%d_%H%M%S}"
    if session.source == "cron":
        return f"cron_{_digest(session.title)[:12]}_{stamp}"
    return f"{stamp}_{_digest(session.name)[: 8 if session.chat else 6]}"


def _usage(messages: list[Row]) -> tuple[int, int, int]:
    """Tokens in, tokens out, requests: about what such a conversation costs, each request with all before it."""
    context, spent_in, spent_out, turns = _CONTEXT, 0, 0, 0
    for row in messages:
        tokens = (len(row["content"] or "") + len(row.get("tool_calls") or "") + len(row.get("reasoning") or "")) // 4
        if row["role"] == "assistant":
            spent_in += context
            spent_out += tokens + 20
            turns += 1
        context += tokens
    return spent_in, spent_out, turns


def usage_rows(conn: sqlite3.Connection) -> None:
    """What each session spent, by model, as Hermes keeps it beside the sessions."""
    conn.execute(
        """
        insert into session_model_usage (session_id, model, billing_provider, api_call_count, input_tokens,
            output_tokens, estimated_cost_usd, cost_status, first_seen, last_seen)
        select id, model, billing_provider, api_call_count, input_tokens, output_tokens, estimated_cost_usd,
            cost_status, started_at, last_activity_at
        from sessions where api_call_count > 0
        """
    )


def notes(present: float) -> Mapping[str, str]:
    """Rows of `state_meta`."""
    return {"fts_storage_version": "3", "hermes_tui_demo": "1", "store_created_at_utc": iso(present) or ""}
