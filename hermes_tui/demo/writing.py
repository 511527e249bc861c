"""From scripts to rows."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from hermes_tui.demo.scripts import Line, Session
from hermes_tui.times import local

_PROMPT = "You are Hermes, Ada's assistant. Be brief, look before you answer, and say when you are not sure."
_TOOLS = json.dumps(["terminal", "read_file", "patch", "web_search", "delegate_task"])
_MODELS = {
    "sonnet": ("anthropic/claude-sonnet-4.6", 3.0, 15.0),
    "haiku": ("anthropic/claude-haiku-4.5", 1.0, 5.0),
    "opus": ("anthropic/claude-opus-4.5", 5.0, 25.0),
    "codex": ("gpt-5.2-codex", 1.75, 14.0),
    "deepseek": ("deepseek/deepseek-v4", 0.3, 1.2),
}
"""Short name → model, dollars for a million tokens in and out."""
_CONTEXT = 2_600
"""Tokens that every request carries, whatever was said."""
_OWN = frozenset({"start", "clock", "model", "cwd", "branch", "end", "parent", "marker", "chat", "job", "source"})
"""What the head of a script says that is no column, or not as it stands there."""

_LINK = re.compile(r"@session:\{([\w-]+)\}")

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
            self._insert("sessions", self._session(session, start, messages))
            for row in messages:
                self._insert("messages", row)

    def _insert(self, table: str, row: Row) -> None:
        holes = ", ".join("?" * len(row))
        self.conn.execute(f"insert into {table} ({', '.join(row)}) values ({holes})", tuple(row.values()))

    def _messages(self, session: Session, start: float) -> list[Row]:
        rows: list[Row] = []
        at = start
        for number, line in enumerate(session.lines):
            if line.again:
                carried = {"session_id": self.ids[session.name], "active": 1, "compacted": 0}
                rows.append({**self._said[line.again], **carried})
                continue
            at += line.pause
            uid = _digest(session.name, number)[:32]
            row = self._row(session, line, at, uid)
            rows.append(row)
            if line.key:
                self._said[line.key] = row
            if line.calls:
                made, at = _results(row, line, at, uid)
                rows += made
        return rows

    def _row(self, session: Session, line: Line, at: float, uid: str) -> Row:
        said = line.text
        if isinstance(said, str):
            said = _LINK.sub(lambda found: f"@session:default/{self.ids[found[1]]}", said)
        return {
            "session_id": self.ids[session.name],
            "role": line.role,
            "content": said if said is None or isinstance(said, str) else "\x00json:" + json.dumps(said),
            "timestamp": at,
            "message_uid": uid,
            "active": 1,
            "compacted": 0,
            **line.columns,
        }

    def _session(self, session: Session, start: float, messages: list[Row]) -> Row:
        about = session.about
        last = max((row["timestamp"] for row in messages), default=start)
        end = about.get("end", "user_exit")
        parent = about.get("parent")
        parent_id = None if parent is None else self.ids.get(parent, parent)
        model, price_in, price_out = _MODELS[about.get("model", "sonnet")]
        spent_in, spent_out, turns = _usage(messages)
        place = about["cwd"].replace("~", os.path.expanduser("~"), 1) if "cwd" in about else None
        return {
            "id": self.ids[session.name],
            "source": about.get("source", "cli"),
            "created_source": about.get("source", "cli"),
            **_peer(about),
            "model": model,
            "model_config": self._config(session, parent_id),
            "system_prompt_hash": self._hash,
            "tool_names": self._tools,
            "parent_session_id": parent_id,
            "started_at": start,
            "ended_at": None if end == "none" else last + 1.0,
            "end_reason": None if end == "none" else end,
            "message_count": sum(row["active"] for row in messages),
            "tool_call_count": sum(row["role"] == "tool" for row in messages),
            "input_tokens": spent_in,
            "output_tokens": spent_out,
            "api_call_count": turns,
            "cwd": place,
            "git_branch": about.get("branch"),
            "git_repo_root": place if "branch" in about else None,
            "billing_provider": "openrouter",
            "estimated_cost_usd": round((spent_in * price_in + spent_out * price_out) / 1_000_000, 6),
            "cost_status": "estimated",
            "title_source": "llm" if "title" in about else None,
            "last_activity_at": last,
            **{name: value for name, value in about.items() if name not in _OWN},
        }

    def _config(self, session: Session, parent_id: str | None) -> str | None:
        """A continuation carries its parent's configuration on, markers included."""
        config = self._configs.get(session.about.get("parent", ""))
        if marker := session.about.get("marker"):
            config = json.dumps({"max_iterations": 90, f"_{marker}_from": parent_id})
        self._configs[session.name] = config
        return config


def _results(row: Row, line: Line, at: float, uid: str) -> tuple[list[Row], float]:
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
        same = {name: row[name] for name in ("session_id", "active", "compacted")}
        told = {"content": call.result, "tool_call_id": call_id, "tool_name": call.tool, "timestamp": at}
        own = {"role": "tool", "message_uid": _digest(uid, number, "result")[:32], "tool_call_uid": call_uid}
        rows.append({**same, **told, **own})
    row["tool_calls"] = json.dumps(calls, ensure_ascii=False)
    row["tool_call_uids"] = json.dumps(pairs)
    return rows, at


def _peer(about: Mapping[str, str]) -> Row:
    """Who is at the other end, on a messaging platform."""
    chat, source = about.get("chat"), about.get("source", "cli")
    if chat is None:
        return {}
    number = str(int(_digest(source, chat)[:8], 16))
    return {
        "user_id": number,
        "session_key": f"agent:main:{source}:dm:{number}",
        "chat_id": number,
        "chat_type": "dm",
        "origin_json": json.dumps({"platform": source, "chat_id": number, "chat_name": chat}),
    }


def _session_id(session: Session, start: float) -> str:
    """As Hermes makes them: local time and hex digits, more of them on messaging platforms."""
    clock = session.about.get("clock", f"{local(start):%H:%M:%S}").replace(":", "")
    stamp = f"{local(start):%Y%m%d}_{clock}"
    if "job" in session.about:
        return f"cron_{_digest(session.about['job'])[:12]}_{stamp}"
    return f"{stamp}_{_digest(session.name)[: 8 if 'chat' in session.about else 6]}"


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
