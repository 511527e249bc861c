"""What a list of sessions is made of."""

SESSIONS = """
select
    id, source, parent_session_id, started_at, ended_at, end_reason, title, display_name, model, billing_provider,
    cwd, git_branch, git_repo_root, message_count, tool_call_count, input_tokens, output_tokens, actual_cost_usd,
    estimated_cost_usd, pinned, archived, hidden, last_activity_at, session_key
from sessions
"""
ACTIVE = 3
"""The column to sort by: when it started, which every session has."""
