"""The least that a command can do which lists the conversations that were active last: start, read what a list of
sessions is made of, sort, write. Nothing is joined to conversations, hidden, counted, named or made safe.

    python least_list.py DATABASE LIMIT
"""

import sys
from operator import itemgetter
from pathlib import Path

from rows import ACTIVE, SESSIONS

import hermes_tui.cli
import hermes_tui.commands.answers
import hermes_tui.service.direct
import hermes_tui.service.lists  # noqa: F401  # what the command imports
from hermes_tui import paths
from hermes_tui.storage.connection import open_store


def main(db: Path, limit: int) -> None:
    store = open_store(paths.home_store(db.parent))
    rows = store.conn.execute(SESSIONS).fetchall()
    for row in sorted(rows, key=itemgetter(ACTIVE), reverse=True)[:limit]:
        sys.stdout.write(f"{row}\n")


main(Path(sys.argv[1]), int(sys.argv[2]))
