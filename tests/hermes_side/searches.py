"""Run inside an environment of Hermes: what its search finds, for each of many queries.

    python searches.py STATE_DB < queries.json > answers.json

For each query: the rows of `search_messages` in order, as [message, session, whether the text alone matches];
whether Hermes had to relax the query; and what its `session_search` tool gives, in order, as [message, session].
"""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

from hermes_state import SessionDB
from tools.session_search_tool import session_search

LEFT_OUT = ["kanban", "subagent", "tool", "cron"]
ROLES = ["user", "assistant"]


def in_text(db: Any, query: str, inline: bool) -> set[int] | None:
    """Rows whose text alone matches, where the index keeps texts apart."""
    if inline:
        return None
    try:
        sql = "select rowid from messages_fts where messages_fts match ?"
        return {row[0] for row in db._read_all(sql, [f"{{content}} : ({db._sanitize_fts5_query(query)})"])}
    except sqlite3.OperationalError:
        return None


def texts_match(db: Any, query: str, rows: list[dict[str, Any]]) -> set[int]:
    """The same for a one-column index: the texts are indexed anew."""
    conn = sqlite3.connect(":memory:")
    conn.execute("create virtual table t using fts5(content)")
    for row in rows:
        text = db._read_one("select content from messages where id = ?", [row["id"]])[0]
        conn.execute("insert into t(rowid, content) values (?, ?)", (row["id"], text))
    try:
        found = conn.execute("select rowid from t where t match ?", (db._sanitize_fts5_query(query),)).fetchall()
    except sqlite3.OperationalError:
        found = []
    return {row[0] for row in found}


def seen(hits: list[dict[str, Any]], said: set[int] | None) -> list[list[Any]] | None:
    """What the tool gives, where all of it matches in its text."""
    found = [[hit["match_message_id"], hit["session_id"]] for hit in hits]
    return found if said is not None and all(message in said for message, _ in found) else None


def answer(db: Any, query: str, inline: bool) -> dict[str, Any]:
    rows = db.search_messages(
        query, role_filter=ROLES, exclude_sources=LEFT_OUT, limit=1_000_000, fields=["id", "session_id"]
    )
    said = in_text(db, query, inline)
    if said is None:
        said = texts_match(db, query, rows)
    plain = db._sanitize_fts5_query(query)
    try:
        exact = bool(db._read_all("select 1 from messages_fts where messages_fts match ? limit 1", [plain]))
    except sqlite3.OperationalError:
        exact = False
    tool = json.loads(session_search(query, limit=10, db=db))
    hits = [hit for hit in tool.get("results", []) if hit.get("matched_role") != "session_title"]
    everything = db.search_messages(
        query, role_filter=ROLES, exclude_sources=LEFT_OUT[:3], limit=300, fields=["id", "session_id"]
    )
    sure = None if inline else said
    return {
        "rows": [[row["id"], row["session_id"], row["id"] in said] for row in rows],
        "exact": exact,
        "tool": seen(hits, sure) if len(everything) < 300 else None,
    }


def main() -> None:
    path = Path(sys.argv[1])
    SessionDB(path).close()  # an older store is migrated when it is opened
    db = SessionDB(path, read_only=True)
    columns = db._read_all("select count(*) from pragma_table_info('messages_fts')", [])[0][0]
    json.dump([answer(db, query, columns == 1) for query in json.load(sys.stdin)], sys.stdout)


main()
