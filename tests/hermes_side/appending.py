"""Run inside an environment of Hermes: append messages to a store and time each commit.

    python appending.py STATE_DB

Each line of input is a number of messages; each line of output is JSON: the milliseconds of each commit, the
largest size of the WAL file meanwhile, and its frames and those that a checkpoint could copy at the end. Give it a
copy of a store.
"""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path

from hermes_state import SessionDB

WORDS = [
    "amber",
    "birch",
    "cedar",
    "deploy",
    "ember",
    "fjord",
    "grove",
    "heron",
    "rollback",
    "inlet",
    "kelp",
    "larch",
]
path = Path(sys.argv[1])
wal = Path(f"{path}-wal")
db = SessionDB(path)
mode = db._conn.execute("pragma journal_mode").fetchone()[0]
session = "20261101_120000_abcdef"
db.create_session(session, "cli")
rng = random.Random(1)
for line in sys.stdin:
    took, largest = [], 0
    for number in range(int(line)):
        role = "assistant" if number % 2 else "user"
        text = " ".join(rng.choice(WORDS) for _ in range(60))
        began = time.perf_counter()
        db.append_message(session, role, content=text)
        took.append((time.perf_counter() - began) * 1_000)
        largest = max(largest, wal.stat().st_size if wal.exists() else 0)
        time.sleep(0.005)  # as somebody would who has something to say first
    _, frames, copied = db._conn.execute("pragma wal_checkpoint(passive)").fetchone()
    print(json.dumps({"mode": mode, "took": took, "wal": largest, "frames": frames, "copied": copied}), flush=True)
db.close()
