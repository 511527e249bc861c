"""The least that a command can do which finds every conversation that holds a word, how often, and best first: start,
read what a list of sessions is made of, score every match that can be seen, read the best message of each
conversation, write. Nothing is put together, cut, lit, counted without copies or made safe.

    python least_search.py DATABASE QUERY [LIMIT]
"""

import json
import sys
import time
from pathlib import Path

from rows import SESSIONS

import hermes_tui.cli
import hermes_tui.commands.searches
import hermes_tui.service.direct
import hermes_tui.service.searching  # noqa: F401  # what the command imports
from hermes_tui import paths
from hermes_tui.domain.filters import NO_FILTERS
from hermes_tui.domain.queries import SearchOrder
from hermes_tui.domain.querytext import parse_query
from hermes_tui.storage import ranking
from hermes_tui.storage.conditions import conditions
from hermes_tui.storage.connection import open_store
from hermes_tui.storage.fts import look, trigrams_only, words_only

TEXTS = "select session_id, role, timestamp, content from messages where id in (select value from json_each(?))"


def main(db: Path, query: str, limit: int | None) -> None:
    store = open_store(paths.home_store(db.parent))
    store.conn.execute(SESSIONS).fetchall()
    tree, indexes = parse_query(query, present=time.time()).expression, look(store)
    assert tree is not None
    index = indexes.base if words_only(tree) else indexes.trigram if trigrams_only(tree) else None
    best: dict[str, tuple[float, int]] = {}
    if index is not None:
        where = conditions(store.schema, NO_FILTERS)
        sql = ranking.hits_sql(index, where, SearchOrder.RELEVANCE)
        for score, message_id, session_id, *_ in store.conn.execute(sql, ranking.hits_params(index, tree, where)):
            if session_id not in best or best[session_id] > (score, message_id):
                best[session_id] = (score, message_id)
    shown = sorted(best.values())[:limit]
    for row in store.conn.execute(TEXTS, (json.dumps([message_id for _, message_id in shown]),)).fetchall():
        sys.stdout.write(f"{row[:3]} {str(row[3])[:300]}\n")


main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else None)
