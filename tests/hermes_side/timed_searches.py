"""Run inside an environment of Hermes: time its `search_messages`, question by question.

python timed_searches.py STATE_DB

Each line of input is JSON: the query, and the roles to look in. Each line of output is JSON: milliseconds, and how
many messages were found.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from hermes_state import SessionDB

db = SessionDB(Path(sys.argv[1]), read_only=True)
for line in sys.stdin:
    query, roles = json.loads(line)
    began = time.perf_counter()
    found = db.search_messages(
        query,
        role_filter=roles,
        exclude_sources=["kanban", "subagent", "tool"],
        limit=300,
        fields=["id", "session_id", "role", "snippet"],
    )
    took = (time.perf_counter() - began) * 1_000
    print(json.dumps([took, len(found)]), flush=True)
