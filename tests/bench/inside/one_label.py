"""The least that a Textual app can be: one label. Given a database, it holds what a list of sessions is made of."""

import sqlite3
import sys

from textual.app import App, ComposeResult
from textual.widgets import Label

SESSIONS = """
select
    id, source, parent_session_id, started_at, ended_at, end_reason, title, display_name, model, billing_provider,
    cwd, git_branch, git_repo_root, message_count, tool_call_count, input_tokens, output_tokens, actual_cost_usd,
    estimated_cost_usd, pinned, archived, hidden, last_activity_at, session_key
from sessions
"""


class One(App[None]):
    def compose(self) -> ComposeResult:
        yield Label("READY")


held = [sqlite3.connect(f"file:{db}?mode=ro", uri=True).execute(SESSIONS).fetchall() for db in sys.argv[1:]]
One().run()
