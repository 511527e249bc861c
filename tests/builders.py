"""Make a `state.db` from code: the shapes of schemas 11, 14, 22 and 31, with triggers that fill the indexes."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any, Self

_MESSAGES = {
    11: "id session_id role content tool_call_id tool_calls tool_name timestamp token_count finish_reason reasoning"
    " reasoning_content reasoning_details codex_reasoning_items codex_message_items",
    14: "platform_message_id observed active",
    22: "effect_disposition compacted api_content",
    31: "_compressed_summary display_kind display_metadata display_identity display_order message_uid"
    " absorbed_message_uids tool_call_uids tool_call_uid",
}
_SESSIONS = {
    11: "id source user_id model model_config system_prompt parent_session_id started_at ended_at end_reason"
    " message_count tool_call_count input_tokens output_tokens cache_read_tokens cache_write_tokens reasoning_tokens"
    " billing_provider billing_base_url billing_mode estimated_cost_usd actual_cost_usd cost_status cost_source"
    " pricing_version title api_call_count handoff_state handoff_platform handoff_error",
    14: "cwd rewind_count archived",
    22: "session_key chat_id chat_type thread_id display_name origin_json git_branch git_repo_root profile_name",
    31: "created_source title_source last_activity_at auto_archived pinned hidden last_read_at tool_names",
}
_AFFINITY = {"timestamp": "real", "started_at": "real", "ended_at": "real", "last_activity_at": "real"}
_AFFINITY |= dict.fromkeys(("estimated_cost_usd", "actual_cost_usd"), "real")
_FLAGS = ("active", "compacted", "archived", "pinned", "hidden")
_DEFAULTS = {"active": "1", **dict.fromkeys(("compacted", "archived", "pinned", "hidden", "message_count"), "0")}
SCHEMAS = (11, 14, 22, 31)


def _columns(of: dict[int, str], schema: int) -> list[str]:
    return [name for since, names in of.items() if since <= schema for name in names.split()]


def _table(name: str, columns: list[str]) -> str:
    described = []
    for column in columns:
        kind = _AFFINITY.get(column) or (
            "integer" if column in _FLAGS or column.endswith(("_count", "_tokens")) else "text"
        )
        if column == "id":
            kind = "integer primary key autoincrement" if name == "messages" else "text primary key"
        described.append(f"{column} {kind}" + (f" default {_DEFAULTS[column]}" if column in _DEFAULTS else ""))
    return f"create table {name} ({', '.join(described)})"


_INLINE = """
create virtual table messages_fts using fts5(content);
create virtual table messages_fts_trigram using fts5(content, tokenize='trigram');
"""
_WHOLE = "coalesce({r}.content, '') || ' ' || coalesce({r}.tool_name, '') || ' ' || coalesce({r}.tool_calls, '')"
_EXTERNAL = """
create view messages_fts_src as
    select id, case when role = 'tool' then substr(coalesce(content, ''), 1, 8192) else content end as content,
        tool_name, tool_calls from messages;
create view messages_fts_trigram_src as
    select m.id, m.role, m.content, m.tool_name from messages m join sessions s on s.id = m.session_id
    where m.role <> 'tool' and s.source not in ('cron', 'subagent')
    and json_extract(iif(json_valid(s.model_config), s.model_config, '{}'), '$._delegate_from') is null;
create virtual table messages_fts using fts5(
    content, tool_name, tool_calls, content='messages_fts_src', content_rowid='id');
create virtual table messages_fts_trigram using fts5(
    content, tool_name, content='messages_fts_trigram_src', content_rowid='id', tokenize='trigram');
"""


def _triggers(schema: int) -> str:
    if schema < 31:
        made = []
        for table in ("messages_fts", "messages_fts_trigram"):
            new, old = _WHOLE.format(r="new"), f"delete from {table} where rowid = old.id;"
            add = f"insert into {table}(rowid, content) values (new.id, {new});"
            made += [
                f"create trigger {table}_insert after insert on messages begin {add} end;",
                f"create trigger {table}_delete after delete on messages begin {old} end;",
                f"create trigger {table}_update after update on messages begin {old} {add} end;",
            ]
        return "\n".join(made)
    made = []
    for table, columns in (
        ("messages_fts", "content, tool_name, tool_calls"),
        ("messages_fts_trigram", "content, tool_name"),
    ):
        source = f"{table}_src"
        add = f"insert into {table}(rowid, {columns}) select id, {columns} from {source} where id = new.id;"
        gone = ", ".join(
            "case when old.role = 'tool' then substr(coalesce(old.content, ''), 1, 8192) else old.content end"
            if column == "content" and table == "messages_fts"
            else f"old.{column}"
            for column in columns.split(", ")
        )
        here = "1" if table == "messages_fts" else f"old.id in (select rowid from {table}_docsize where id = old.id)"
        drop = f"insert into {table}({table}, rowid, {columns}) select 'delete', old.id, {gone} where {here};"
        made += [
            f"create trigger {table}_insert after insert on messages begin {add} end;",
            f"create trigger {table}_delete before delete on messages begin {drop} end;",
            f"create trigger {table}_update after update on messages begin {drop} {add} end;",
        ]
    return "\n".join(made)


class StoreBuilder:
    """Writes one store; a context manager that commits and closes.

    with StoreBuilder(home / "state.db", schema=31) as store:
        store.session("s1", title="Auth")
        store.message("s1", "user", "hello")
    """

    def __init__(self, path: Path, schema: int = 31, *, fts: bool = True, journal: str = "wal") -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path, self.schema = path, schema
        self.conn = sqlite3.connect(path, isolation_level=None)
        self.conn.execute(f"pragma journal_mode = {journal}")
        self.session_columns = _columns(_SESSIONS, schema)
        self.message_columns = _columns(_MESSAGES, schema)
        self.conn.executescript(
            f"""
            create table schema_version (version integer not null);
            insert into schema_version values ({schema});
            create table state_meta (key text primary key, value text);
            {_table("sessions", self.session_columns)};
            {_table("messages", self.message_columns)};
            create index idx_sessions_source on sessions(source);
            create index idx_sessions_parent on sessions(parent_session_id);
            create index idx_sessions_started on sessions(started_at desc);
            create unique index idx_sessions_title_unique on sessions(title) where title is not null;
            create index idx_messages_session on messages(session_id, timestamp);
            """
        )
        if schema >= 14:
            self.conn.execute("create index idx_messages_session_active on messages(session_id, active, timestamp)")
        if schema >= 31:
            self.conn.execute("create index idx_messages_session_id on messages(session_id, id)")
        if fts:
            self.conn.executescript(_INLINE if schema < 31 else _EXTERNAL)
            self.conn.executescript(_triggers(schema))
            if schema >= 31:
                self.meta("fts_storage_version", "3")
        self.conn.execute("begin")
        self.clock = 1_780_000_000.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        if self.conn.in_transaction:
            self.conn.execute("commit")
        self.conn.close()

    def tick(self, seconds: float = 10.0) -> float:
        """The time of the next row."""
        self.clock += seconds
        return self.clock

    def session(self, id: str, source: str = "cli", *, parent: str | None = None, **columns: Any) -> str:
        """One row of `sessions`; columns that the schema lacks are left out, dicts become JSON."""
        columns = {"started_at": self.tick(), "parent_session_id": parent, **columns}
        self._insert("sessions", self.session_columns, {"id": id, "source": source, **columns})
        return id

    def message(self, session_id: str, role: str, content: Any = "", **columns: Any) -> int:
        """One row of `messages`; lists and dicts as content are stored as Hermes stores them."""
        if isinstance(content, list | dict):
            content = "\x00json:" + json.dumps(content)
        row = {"timestamp": self.tick(), **columns, "session_id": session_id, "role": role, "content": content}
        row["tool_calls"] = self._json(row.get("tool_calls"))
        found = self._insert("messages", self.message_columns, row)
        if row.get("active", 1) != 0:
            self.conn.execute("update sessions set message_count = message_count + 1 where id = ?", (session_id,))
        return found

    def meta(self, key: str, value: str) -> None:
        self.conn.execute("insert or replace into state_meta values (?, ?)", (key, value))

    @staticmethod
    def _json(value: Any) -> Any:
        return json.dumps(value) if isinstance(value, list | dict) else value

    def _insert(self, table: str, known: list[str], row: dict[str, Any]) -> int:
        kept = {name: self._json(value) for name, value in row.items() if name in known}
        holes = ", ".join("?" * len(kept))
        done = self.conn.execute(f"insert into {table} ({', '.join(kept)}) values ({holes})", tuple(kept.values()))
        return int(done.lastrowid or 0)
