"""Run inside an environment of Hermes: ask its search tool one question.

python one_search.py STATE_DB QUERY
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from hermes_state import SessionDB
from tools.session_search_tool import session_search

answer = session_search(sys.argv[2], limit=10, db=SessionDB(Path(sys.argv[1]), read_only=True))
json.loads(answer)
print(answer)
