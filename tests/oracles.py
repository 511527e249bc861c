"""What a search has to find, worked out the slow way: every visible message of a store is read in Python."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hermes_tui.domain.contents import decode_content
from hermes_tui.domain.families import Catalogue
from hermes_tui.domain.sessions import UNASKED_SOURCES
from hermes_tui.storage.catalogue import load_catalogue
from hermes_tui.storage.copies import load_folds
from tests.stores import opened

CUT = 8_192
_ESCAPE = re.compile(r"\\{1,2}u([0-9a-f]{4})")


@dataclass(frozen=True, slots=True)
class Seen:
    """One visible message."""

    id: int
    session_id: str
    role: str
    text: str
    calls: str
    """As stored, escapes read."""
    raw: str
    """Text, tool name and calls as stored, joined."""
    name: str
    """Of the tool."""
    at: float


@dataclass(slots=True)
class Oracle:
    """All that can be seen of one store."""

    rows: list[Seen]
    catalogue: Catalogue
    aliases: dict[int, int] = field(default_factory=dict)
    _index: sqlite3.Connection | None = None

    @classmethod
    def of(cls, db: Path, *, whole_output: bool = False) -> Oracle:
        """`whole_output`: tool output beyond 8 KB is seen too, where an index would cut it."""
        conn = sqlite3.connect(f"{db.resolve().as_uri()}?mode=ro", uri=True)
        conn.row_factory = sqlite3.Row
        conn.text_factory = lambda raw: raw.decode("utf-8", "replace")
        try:
            cut = not whole_output and bool(
                conn.execute("select 1 from sqlite_master where name = 'messages_fts_src'").fetchone()
            )
            rows = [_seen(row, cut) for row in conn.execute("select * from messages") if _visible(dict(row))]
        finally:
            conn.close()
        with opened(db) as store:
            catalogue = load_catalogue(store)
            aliases: dict[int, int] = {}
            for chain in catalogue.all_chains():
                aliases |= load_folds(store, chain).aliases
        asked = [row for row in rows if _source(catalogue, row.session_id) not in UNASKED_SOURCES]
        return cls([row for row in asked if catalogue.owner(row.session_id)], catalogue, aliases)

    def words(self, expression: str) -> set[int]:
        """Messages that FTS5 finds, by an index of nothing else than what is seen."""
        if self._index is None:
            self._index = sqlite3.connect(":memory:", check_same_thread=False)
            self._index.execute("create virtual table t using fts5(body)")
            bodies = ((row.id, row.raw.replace("\x00", " ").encode("utf-8", "replace")) for row in self.rows)
            self._index.executemany("insert into t(rowid, body) values (?, cast(? as text))", bodies)
        return {row[0] for row in self._index.execute("select rowid from t where t match ?", (expression,))}

    def among(self, passes: Callable[[Seen], bool]) -> Oracle:
        """The same of these messages only."""
        return Oracle([row for row in self.rows if passes(row)], self.catalogue, self.aliases)

    def __del__(self) -> None:
        if self._index is not None:
            self._index.close()

    def substring(self, run: str) -> set[int]:
        """Messages in which these characters stand side by side."""
        run = run.lower()
        return {row.id for row in self.rows if any(run in text.lower() for text in (row.text, row.name, row.calls))}

    def counted(self, messages: Iterable[int]) -> dict[str, int]:
        """Root id → how many messages that are shown are among these, copies once."""
        where = {row.id: row.session_id for row in self.rows}
        found: dict[str, set[int]] = defaultdict(set)
        for message in messages:
            owner = self.catalogue.owner(where[message])
            assert owner is not None
            found[owner[0].root_id].add(self.aliases.get(message, message))
        return {root_id: len(shown) for root_id, shown in found.items()}


def _source(catalogue: Catalogue, session_id: str) -> str:
    chain = catalogue.chains.get(session_id)
    return next((each.source for each in chain.segments if each.id == session_id), "") if chain else ""


def _visible(row: dict[str, Any]) -> bool:
    if row["role"] == "session_meta" or row.get("display_kind") == "hidden":
        return False
    if "active" in row and row["active"] == 0 and not row.get("compacted"):
        return False
    content = row["content"]
    if row["role"] == "user" and not row.get("display_kind") and str(content or "").startswith("[System:"):
        return False
    try:
        metadata = json.loads(row.get("display_metadata") or "{}")
    except ValueError:
        return True
    return not (isinstance(metadata, dict) and metadata.get("model_only"))


def _seen(row: sqlite3.Row, cut: bool) -> Seen:
    content, calls = row["content"] or "", row["tool_calls"] or ""
    structured = str(content).startswith("\x00json:")
    text = decode_content(content) if structured else str(content)
    if cut and row["role"] == "tool" and not structured:
        text = text[:CUT]
    name = row["tool_name"] or ""
    return Seen(
        row["id"],
        row["session_id"],
        row["role"],
        text,
        _unescaped(calls),
        f"{text} {name} {calls}",
        name,
        row["timestamp"],
    )


def _unescaped(calls: str) -> str:
    def units(found: re.Match[str]) -> str:
        return chr(int(found[1], 16))

    return _ESCAPE.sub(units, calls).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
