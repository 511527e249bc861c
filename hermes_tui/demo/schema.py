"""The tables of a store of schema 31, in words of our own: same columns, indexes and behaviour of triggers as
Hermes 0.22.2, so that everything that reads a real store reads this one."""

from __future__ import annotations

VERSION = 31

_TABLES = {
    "schema_version": "version integer not null",
    "state_meta": "key text primary key, value text",
    "system_prompts": "hash text primary key, prompt text not null",
    "sessions": """
        id text primary key, source text not null, created_source text, user_id text, session_key text, chat_id text,
        chat_type text, thread_id text, display_name text, origin_json text, expiry_finalized integer default 0,
        model text, model_config text, system_prompt text, system_prompt_hash text, parent_session_id text,
        started_at real not null, ended_at real, end_reason text, message_count integer default 0,
        tool_call_count integer default 0, input_tokens integer default 0, output_tokens integer default 0,
        cache_read_tokens integer default 0, cache_write_tokens integer default 0,
        reasoning_tokens integer default 0, cwd text, git_branch text, git_repo_root text,
        git_metadata_generation integer not null default 0, billing_provider text, billing_base_url text,
        billing_mode text, estimated_cost_usd real, actual_cost_usd real, cost_status text, cost_source text,
        pricing_version text, title text, title_source text, last_activity_at real, last_activity_description text,
        last_activity_provenance text, api_call_count integer default 0, handoff_state text, handoff_platform text,
        handoff_error text, compression_failure_cooldown_until real, compression_failure_error text,
        compression_fallback_streak integer not null default 0,
        compression_ineffective_count integer not null default 0, compression_recovery_deadline real,
        compression_overload_streak integer not null default 0,
        profile_name text, transport_profile text, rewind_count integer not null default 0,
        archived integer not null default 0, auto_archived integer not null default 0,
        pinned integer not null default 0, hidden integer not null default 0, last_read_at real, tool_names text,
        foreign key (parent_session_id) references sessions(id),
        foreign key (system_prompt_hash) references system_prompts(hash)""",
    "messages": """
        id integer primary key autoincrement, session_id text not null references sessions(id), role text not null,
        content text, tool_call_id text, tool_calls text, tool_name text, effect_disposition text,
        timestamp real not null, token_count integer, finish_reason text, reasoning text, reasoning_content text,
        reasoning_details text, codex_reasoning_items text, codex_message_items text, platform_message_id text,
        observed integer default 0, _compressed_summary integer not null default 0,
        active integer not null default 1, compacted integer not null default 0, api_content text,
        display_kind text, display_metadata text, display_identity blob, display_order integer, message_uid text,
        absorbed_message_uids text, tool_call_uids text, tool_call_uid text""",
    "session_model_usage": """
        session_id text not null references sessions(id) on delete cascade, model text not null,
        billing_provider text not null default '', billing_base_url text not null default '',
        billing_mode text not null default '', task text not null default '',
        api_call_count integer not null default 0, input_tokens integer not null default 0,
        output_tokens integer not null default 0, cache_read_tokens integer not null default 0,
        cache_write_tokens integer not null default 0, reasoning_tokens integer not null default 0,
        estimated_cost_usd real not null default 0, actual_cost_usd real not null default 0, cost_status text,
        cost_source text, first_seen real, last_seen real,
        primary key (session_id, model, billing_provider, billing_base_url, billing_mode, task)""",
    "async_delegations": """
        delegation_id text primary key, origin_session text not null,
        origin_ui_session_id text not null default '', parent_session_id text, state text not null,
        dispatched_at real not null, completed_at real, updated_at real not null, event_json text, result_json text,
        delivery_state text not null default 'pending', delivery_attempts integer not null default 0,
        delivered_at real, owner_pid integer, owner_started_at integer, task_json text, delivery_claim text,
        delivery_claimed_at real, origin_session_id text not null default ''""",
    "compression_locks": """
        session_id text primary key, holder text not null, acquired_at real not null, expires_at real not null""",
    "session_turn_leases": """
        conversation_id text primary key, holder text not null, acquired_at real not null,
        expires_at real not null""",
    "conversation_generations": """
        source text not null, session_key text not null, generation integer not null default 0,
        primary key (source, session_key)""",
    "gateway_routing": """
        scope text not null default '', session_key text not null, entry_json text not null,
        updated_at real not null, primary key (scope, session_key)""",
    "gateway_heartbeats": """
        backend_id text primary key, pid integer not null, started_at real not null, last_heartbeat real not null,
        profile text not null default '', host text not null default ''""",
    "gateway_hygiene_state": "session_key text primary key, failure_streak integer not null default 0",
}

_SHOWN = "(active = 1 or compacted = 1)"

_INDEXES = {
    "idx_sessions_source": "sessions(source)",
    "idx_sessions_source_id": "sessions(source, id)",
    "idx_sessions_parent": "sessions(parent_session_id)",
    "idx_sessions_started": "sessions(started_at desc)",
    "idx_sessions_effective_activity": "sessions(coalesce(last_activity_at, started_at) desc, started_at desc)",
    "idx_sessions_session_key": "sessions(session_key, started_at desc)",
    "idx_sessions_gateway_peer": "sessions(source, user_id, chat_id, chat_type, thread_id, started_at desc)",
    "idx_sessions_handoff_state": "sessions(handoff_state, started_at)",
    "idx_sessions_system_prompt_hash": "sessions(system_prompt_hash)",
    "idx_sessions_tool_names": "sessions(tool_names)",
    "idx_messages_session": "messages(session_id, timestamp)",
    "idx_messages_session_id": "messages(session_id, id)",
    "idx_messages_session_active": "messages(session_id, active, timestamp)",
    "idx_messages_session_uid": "messages(session_id, message_uid) where active = 1",
    "idx_messages_active_null": "messages(active) where active is null",
    "idx_messages_platform_msg_id": "messages(session_id, platform_message_id) where platform_message_id is not null",
    "idx_messages_assistant_calls_by_session": (
        "messages(session_id) where role = 'assistant' and tool_calls is not null"
    ),
    "idx_messages_display_page": f"messages(session_id, display_order, active desc, id desc) where {_SHOWN}",
    "idx_messages_display_identity": (
        f"messages(session_id, display_identity, display_order) where display_identity is not null and {_SHOWN}"
    ),
    "idx_messages_display_backfill": (
        f"messages(session_id) where (display_order is null or display_identity is null) and {_SHOWN}"
    ),
    "idx_async_delegations_delivery": "async_delegations(delivery_state, completed_at)",
    "idx_compression_locks_expires": "compression_locks(expires_at)",
    "idx_session_turn_leases_expires": "session_turn_leases(expires_at)",
    "idx_session_model_usage_model": "session_model_usage(model)",
    "idx_session_model_usage_session": "session_model_usage(session_id)",
}

_HEAD = 8_192
"""Characters of a tool's output that the index holds."""


def _indexed(row: str) -> str:
    text = f"{row}content"
    return f"case when {row}role = 'tool' then substr(coalesce({text}, ''), 1, {_HEAD}) else {text} end"


def _in_trigram(session: str) -> str:
    """Which sessions the trigram index holds: neither cron nor delegates'."""
    config = f"case when json_valid({session}.model_config) then {session}.model_config else '{{}}' end"
    return f"{session}.source not in ('cron', 'subagent') and json_extract({config}, '$._delegate_from') is null"


_FULL_TEXT = f"""
create view messages_fts_src as
    select id, {_indexed("")} as content, tool_name, tool_calls from messages;
create view messages_fts_trigram_src as
    select m.id, m.role, m.content, m.tool_name from messages m join sessions s on s.id = m.session_id
    where m.role <> 'tool' and {_in_trigram("s")};
create virtual table messages_fts using fts5(
    content, tool_name, tool_calls, content='messages_fts_src', content_rowid='id');
create virtual table messages_fts_trigram using fts5(
    content, tool_name, content='messages_fts_trigram_src', content_rowid='id', tokenize='trigram');
"""


def _built(row: str) -> str:
    """Whether the index holds this row already: while it is rebuilt, those between progress and mark wait."""

    def mark(key: str) -> str:
        return f"coalesce((select cast(value as integer) from state_meta where key = 'fts_rebuild_{key}'), -1)"

    return f"({row}.id > {mark('high_water')} or {row}.id <= {mark('progress')})"


def _index_triggers() -> list[str]:
    made = []
    for table, columns in (
        ("messages_fts", ("content", "tool_name", "tool_calls")),
        ("messages_fts_trigram", ("content", "tool_name")),
    ):
        trigram = table.endswith("trigram")
        names = ", ".join(columns)

        def values(row: str, columns: tuple[str, ...] = columns, trigram: bool = trigram) -> str:
            return ", ".join(
                _indexed(f"{row}.") if column == "content" and not trigram else f"{row}.{column}"
                for column in columns
            )

        def belongs(row: str, trigram: bool = trigram) -> str:
            if not trigram:
                return "1"
            held = f"exists (select 1 from sessions s where s.id = {row}.session_id and {_in_trigram('s')})"
            return f"{row}.role <> 'tool' and {held}"

        gone = (
            f"insert into {table}({table}, rowid, {names}) select 'delete', old.id, {values('old')} "
            f"where {belongs('old')};"
        )
        come = f"insert into {table}(rowid, {names}) select new.id, {values('new')} where {belongs('new')};"
        watched = (*columns, "role")
        moved = " or ".join(f"old.{column} is not new.{column}" for column in watched)
        made += [
            f"create trigger {table}_insert after insert on messages when {_built('new')} begin {come} end",
            f"create trigger {table}_delete after delete on messages when {_built('old')} begin {gone} end",
            f"create trigger {table}_update after update of {', '.join(watched)} on messages "
            f"when ({moved}) and {_built('old')} begin {gone} {come} end",
        ]
    return made


def _shown(row: str) -> str:
    return f"({row}.active = 1 or {row}.compacted = 1)"


_FIRST_OF_COPIES = f"""(
    select display_order from messages where session_id = new.session_id and id <> new.id and {_SHOWN}
    and display_identity = new.display_identity and display_order is not null order by display_order limit 1)"""
_FIRST_LEFT = f"""(
    select min(p.id) from messages p where p.session_id = old.session_id and {_shown("p")}
    and p.display_identity = old.display_identity)"""
_COPIES_OF_OLD = f"session_id = old.session_id and {_SHOWN} and display_identity = old.display_identity"
_TOLD = ("role", "content", "timestamp", "tool_call_id", "tool_calls", "tool_name", "display_kind")
"""What makes a message the message it is."""

_MESSAGE_TRIGGERS = [
    """create trigger messages_message_uid_insert after insert on messages when new.message_uid is null begin
        update messages set message_uid = lower(hex(randomblob(16))) where id = new.id; end""",
    f"""create trigger messages_display_order_insert after insert on messages when new.display_order is null begin
        update messages set display_order = coalesce({_FIRST_OF_COPIES}, new.id) where id = new.id; end""",
    f"""create trigger messages_display_identity_update after update of {", ".join(_TOLD)} on messages
        when {" or ".join(f"new.{column} is not old.{column}" for column in _TOLD)} begin
        update messages set display_identity = null, display_order = null
            where id = new.id or ({_COPIES_OF_OLD}); end""",
    f"""create trigger messages_display_identity_delete after delete on messages when {_shown("old")} begin
        update messages set display_order = {_FIRST_LEFT} where {_COPIES_OF_OLD}; end""",
    f"""create trigger messages_display_visibility_update after update of active, compacted on messages
        when {_shown("new")} <> {_shown("old")} begin
        update messages set display_order = min(new.id, coalesce({_FIRST_OF_COPIES}, new.id))
            where id = new.id and {_shown("new")};
        update messages set display_order = (select display_order from messages where id = new.id)
            where session_id = new.session_id and id <> new.id and {_SHOWN}
            and display_identity = new.display_identity and {_shown("new")};
        update messages set display_order = {_FIRST_LEFT} where {_COPIES_OF_OLD} and not {_shown("new")}; end""",
]


def statements() -> list[str]:
    """Everything but the rows, in an order that works."""
    return [
        *(f"create table {name} ({columns})" for name, columns in _TABLES.items()),
        *(f"create index {name} on {place}" for name, place in _INDEXES.items()),
        "create unique index idx_sessions_title_unique on sessions(title) where title is not null",
        *(part for part in _FULL_TEXT.split(";\n") if part.strip()),
        *_index_triggers(),
        *_MESSAGE_TRIGGERS,
    ]
