"""What Hermes itself says about a store: asked of the newest release, in its own environment, on a copy."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

from tests.real_stores import hermes_environment, hermes_python

_ASK = """
import json, sys
from pathlib import Path
from hermes_state import SessionDB

store = Path(sys.argv[1])
SessionDB(store).close()  # an older store is migrated when it is opened
db = SessionDB(store, read_only=True)
ids = json.loads(sys.stdin.read())
json.dump(eval(sys.argv[2]), sys.stdout)
"""


def hermes_says(asked: str, db: Path, scratch: Path) -> Any:
    """The value of an expression over `db`, a read-only `SessionDB`, and `ids`, all session ids; of a copy of
    this store that Hermes 0.22.2 may migrate."""
    home = scratch / "asked"
    home.mkdir()
    copy = home / "state.db"
    for suffix in ("", "-wal"):
        if Path(f"{db}{suffix}").exists():
            shutil.copy(f"{db}{suffix}", f"{copy}{suffix}")
    done = subprocess.run(
        [str(hermes_python()), "-c", _ASK, str(copy), asked],
        input=json.dumps(session_ids(db)),
        env=hermes_environment(home),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def session_ids(db: Path) -> list[str]:
    """Every id in `sessions`."""
    conn = sqlite3.connect(f"{db.resolve().as_uri()}?mode=ro", uri=True)
    try:
        return [row[0] for row in conn.execute("select id from sessions order by id")]
    finally:
        conn.close()
