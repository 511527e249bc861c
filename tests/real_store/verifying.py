"""Check a store: Hermes' own probe where the release has one, SQLite's and FTS5's checks always."""

from __future__ import annotations

import argparse
import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

_CONTENT = (
    ("sessions", "id"),
    ("messages", "id"),
    ("session_model_usage", "session_id, model, billing_provider, task"),
)
_HEALTHY = ("ok", "n/a in this version")
_UPSTREAM_FLUSH = "fts5 write probe failed: SQL logic error"
_NO_FLUSH_BEFORE = (3, 44)
_COUNTS_UP_TO = 300_000
"""Above this many messages the stored counts are not recounted: it would take minutes."""


def content_hash(conn: sqlite3.Connection) -> str:
    """Hash of the logical rows (not of the file): equal for two equal builds."""
    digest = hashlib.sha256()
    for table, order in _CONTENT:
        if conn.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():
            for row in conn.execute(f"SELECT * FROM {table} ORDER BY {order}"):
                digest.update(repr(row).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _upstream_probe(path: Path) -> str:
    probe: Callable[[Path], str | None]
    try:
        from hermes_state_repair import _db_opens_cleanly as probe
    except ImportError:
        try:
            from hermes_state import _db_opens_cleanly as probe
        except ImportError:
            return "n/a in this version"
    said = probe(path) or "healthy"
    if sqlite3.sqlite_version_info < _NO_FLUSH_BEFORE and said == _UPSTREAM_FLUSH:
        # The probe ends with FTS5's 'flush' command, which older SQLite does not know; all before it passed.
        return f"healthy up to 'flush' (unknown to SQLite {sqlite3.sqlite_version})"
    return said


def _check_indexes(conn: sqlite3.Connection) -> dict[str, Any]:
    report: dict[str, Any] = {}
    for table, sql in conn.execute(
        "SELECT name, sql FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%'"
    ).fetchall():
        external = "content=" in sql
        check = f"INSERT INTO {table}({table}, rank) VALUES('integrity-check', {1 if external else 0})"
        try:
            conn.execute(check)
            report[table] = "ok"
        except sqlite3.DatabaseError as error:
            report[table] = f"{type(error).__name__}: {error}"
        conn.rollback()
        report[f"{table} rows"] = conn.execute(f"SELECT COUNT(*) FROM {table}_docsize").fetchone()[0]
    return report


def _chain_lengths(conn: sqlite3.Connection) -> dict[int, int]:
    parent = dict(
        conn.execute(
            "SELECT c.id, c.parent_session_id FROM sessions c JOIN sessions p ON p.id = c.parent_session_id"
            " WHERE p.end_reason = 'compression'"
        )
    )
    chains: Counter[int] = Counter()
    for tip in set(parent) - set(parent.values()):
        length, at = 1, tip
        while at in parent:
            length, at = length + 1, parent[at]
        chains[length] += 1
    return dict(sorted(chains.items()))


def _drifted(conn: sqlite3.Connection, messages: int, columns: set[str]) -> Any:
    if messages >= _COUNTS_UP_TO:
        return "not checked"
    active = " AND m.active = 1" if "active" in columns else ""
    counted = f"(SELECT COUNT(*) FROM messages m WHERE m.session_id = s.id{active})"
    return conn.execute(f"SELECT COUNT(*) FROM sessions s WHERE message_count <> {counted}").fetchone()[0]


def _statistics(conn: sqlite3.Connection) -> dict[str, Any]:
    def one(sql: str) -> Any:
        return conn.execute(sql).fetchone()[0]

    def by(table: str, column: str) -> dict[str, int]:
        rows = conn.execute(f"SELECT {column}, COUNT(*) FROM {table} GROUP BY 1 ORDER BY 2 DESC")
        return {str(name): count for name, count in rows}

    report = {
        "journal_mode": one("PRAGMA journal_mode"),
        "sessions": one("SELECT COUNT(*) FROM sessions"),
        "messages": one("SELECT COUNT(*) FROM messages"),
        "by_source": by("sessions", "source"),
        "by_role": by("messages", "role"),
        "end_reasons": by("sessions", "end_reason"),
    }
    columns = {row[1] for row in conn.execute("PRAGMA table_info(messages)")}
    if "compacted" in columns:
        report["active/compacted"] = by("messages", "active || '/' || compacted")
    elif "active" in columns:
        report["active"] = by("messages", "active")
    report["compression chain lengths"] = _chain_lengths(conn)
    report["largest session"] = one("SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM messages GROUP BY session_id)")
    report["largest content"] = one("SELECT MAX(LENGTH(CAST(content AS BLOB))) FROM messages")
    report["content bytes"] = one("SELECT SUM(LENGTH(CAST(content AS BLOB))) FROM messages")
    report["drifted message_count"] = _drifted(conn, report["messages"], columns)
    return report


def verify(args: argparse.Namespace) -> None:
    """Print a report; exit with what is not healthy."""
    path = Path(args.home) / "state.db"
    report: dict[str, Any] = {
        "path": str(path),
        "bytes": path.stat().st_size,
        "upstream_probe": _upstream_probe(path),
    }
    conn = sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True)
    conn.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
    check = "quick_check" if args.quick else "integrity_check"
    report[check] = conn.execute(f"PRAGMA {check}").fetchone()[0]
    report.update(_check_indexes(conn))
    report.update(_statistics(conn))
    if not args.quick:
        report["content_sha256"] = content_hash(conn)
    conn.rollback()
    conn.close()
    text = json.dumps(report, ensure_ascii=False, indent=1)
    if args.json:
        Path(args.json).write_text(text + "\n", encoding="utf-8")
    print(text)
    checked = ("upstream_probe", "quick", "integrity", "messages_fts")
    said = [value for name, value in report.items() if name.startswith(checked) and isinstance(value, str)]
    if bad := [value for value in said if value not in _HEALTHY and not value.startswith("healthy")]:
        raise SystemExit(f"not healthy: {bad}")
