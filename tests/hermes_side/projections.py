"""Run inside an environment of Hermes: what Hermes itself would show of the sessions of a store, as JSON.

    python projections.py DIR/state.db < ids.json

The store is opened for writing, so give it a copy: an older one is migrated first, as Hermes does.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def generations(db: Any, session_id: str) -> list[dict[str, Any]]:
    """Rows after Hermes has folded its copies by look, before it drops repeated prompts: in the order of the
    first copies, each with what Hermes takes for the person's own words."""
    from agent.context_compressor import user_originated_turn_view
    from hermes_state_messages import _DISPLAY_ACTIVE_CLAUSE

    rows = db._fetch_conversation_rows(
        db._resume_lineage_ids(session_id), _DISPLAY_ACTIVE_CLAUSE, with_session_id=True
    )
    firsts: dict[Any, Any] = {}
    for row in rows:
        firsts.setdefault(db._display_dedupe_key(row), row)
    found = []
    for row in db._dedupe_display_generations(rows):
        content = db._decode_content(row["content"])
        message = {
            "role": row["role"],
            "content": content.strip() if isinstance(content, str) else content,
            "display_kind": row["display_kind"],
            "_compressed_summary": bool(row["_compressed_summary"]),
        }
        view = user_originated_turn_view(message)
        found.append(
            {
                "id": row["id"],
                "session": row["session_id"],
                "stands_in": firsts[db._display_dedupe_key(row)]["session_id"],
                "active": bool(row["active"]),
                "role": row["role"],
                "kind": row["display_kind"] or "",
                "uid": row["message_uid"],
                "said": None if view is None else json.dumps(view.get("content"), sort_keys=True),
                "answers": row["role"] == "assistant" and bool(message["content"] or row["tool_calls"]),
                "untyped_system": isinstance(content, str) and content.startswith("[System:"),
            }
        )
    return found


def recap(shown: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Every entry of the recap, none cut from the front."""
    from cli import _strip_reasoning_tags
    from hermes_cli.cli_agent_setup_mixin import _collect_resume_entries
    from tools.ansi_strip import sanitize_display_text

    entries, last, whole = _collect_resume_entries(
        [row for row in shown if row.get("role") != "session_meta"],
        {},
        lambda text: sanitize_display_text(_strip_reasoning_tags(text)),
    )
    if last is not None:
        entries[last] = ("assistant", whole)
    return entries  # type: ignore[no-any-return]  # Hermes' own list


def main() -> None:
    from hermes_state import SessionDB

    db = SessionDB(db_path=Path(sys.argv[1]))
    found: dict[str, Any] = {}
    for session_id in json.load(sys.stdin):
        _, shown = db.get_resume_conversations(session_id)
        found[session_id] = {
            "rows": [[row["_row_id"], row["role"], row.get("display_kind")] for row in shown],
            "lineage": db._resume_lineage_ids(session_id),
            "generations": generations(db, session_id),
            "recap": recap(shown),
        }
    db.close()
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
