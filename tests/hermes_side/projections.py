"""Run inside an environment of Hermes: what Hermes itself would show of the sessions of a store, as JSON.

    python projections.py DIR/state.db < ids.json

The store is opened for writing, so give it a copy: an older one is migrated first, as Hermes does.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    from hermes_cli.cli_agent_setup_mixin import _collect_resume_entries
    from hermes_state import SessionDB

    from cli import _strip_reasoning_tags
    from tools.ansi_strip import sanitize_display_text

    db = SessionDB(db_path=Path(sys.argv[1]))
    found: dict[str, Any] = {}
    for session_id in json.load(sys.stdin):
        _, shown = db.get_resume_conversations(session_id)
        entries, last, whole = _collect_resume_entries(
            [row for row in shown if row.get("role") != "session_meta"],
            {},
            lambda text: sanitize_display_text(_strip_reasoning_tags(text)),
        )
        if last is not None:
            entries[last] = ("assistant", whole)
        found[session_id] = {
            "rows": [[row["_row_id"], row["role"], row.get("display_kind")] for row in shown],
            "lineage": db._resume_lineage_ids(session_id),
            "recap": entries,
        }
    db.close()
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
