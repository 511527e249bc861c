"""Find words in one conversation. SQLite narrows the rows down, without reading more than text, calls and
reasoning; where a stored cell is not what is shown of it, the decoded text decides."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence

from hermes_tui.domain.contents import PAYLOAD_MARKS
from hermes_tui.domain.copies import Place
from hermes_tui.domain.families import Chain
from hermes_tui.domain.finds import find_pattern, parse_find
from hermes_tui.storage.connection import Store, is_damage
from hermes_tui.storage.copies import load_folds
from hermes_tui.storage.messages import load_searchable
from hermes_tui.storage.rows import fetch, in_order, session_ids
from hermes_tui.storage.schema import Schema
from hermes_tui.storage.visibility import visible

_STEP = 64
_ENCODED = ("tool_calls", "reasoning_details", "codex_reasoning_items", "codex_message_items")
"""Columns of JSON: what is found in them may be a key, and what is written with escapes is not found."""
_PLAIN = re.compile(r"[A-Za-z0-9_.,:;!?@#$%&*()+=<>|~^'/ -]+")
"""A needle that JSON writes as it is."""


def find(store: Store, chain: Chain, words: str) -> tuple[int, ...]:
    """Ids of the shown messages that contain all of `words`, in the order of the transcript."""
    needles = parse_find(words)
    if not needles:
        return ()
    folds = load_folds(store, chain)
    found: list[tuple[Place, int]] = []
    for index, segment in enumerate(chain.segments):
        ids = [each for each in _matching(store, segment.id, needles) if each not in folds.aliases]
        found += [(folds.firsts.get(message_id, (index, message_id)), message_id) for message_id in ids]
    return tuple(message_id for _, message_id in sorted(found))


def _matching(store: Store, session_id: str, needles: Sequence[str]) -> Iterator[int]:
    doubtful = []
    for message_id, sure in _likely(store, session_id, needles):
        if sure:
            yield message_id
        else:
            doubtful.append(message_id)
    patterns = [find_pattern(needle) for needle in needles]
    for start in range(0, len(doubtful), _STEP):
        if store.stopped():
            return
        for message_id, texts in load_searchable(store, doubtful[start : start + _STEP]).items():
            if all(any(pattern.search(text) for text in texts) for pattern in patterns):
                yield message_id


def _likely(store: Store, session_id: str, needles: Sequence[str]) -> list[tuple[int, int]]:
    """(id, certain) of the rows that may contain all needles, none left out."""
    sql, parameters = likely_sql(store.schema, needles)
    try:
        return [(row[0], row[1]) for row in fetch(store, sql, *parameters, session_id)]
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
    return [(message_id, 0) for message_id in session_ids(store, session_id)]


def likely_sql(schema: Schema, needles: Sequence[str]) -> tuple[str, list[str]]:
    """The statement, and the patterns that it names `?1`, `?2` … in order; the session comes last."""
    patterns = [_like(needle) for needle in needles]
    columns = [each for each in ("content", "reasoning", "reasoning_content", *_ENCODED) if each in schema.messages]
    clauses, certain = [], []
    for number, needle in enumerate(needles, start=1):
        ways = [f"m.{column} like ?{number} escape '\\'" for column in columns if column not in _ENCODED]
        ways.append(_odd("m"))
        for column in columns:
            if column in _ENCODED:
                plain = _PLAIN.fullmatch(needle)
                ways.append(f"m.{column} like ?{number} escape '\\'" if plain else f"m.{column} <> ''")
        clauses.append(f"({' or '.join(ways)})")
        exact = needle.isascii() and len(needle.split()) == 1
        certain.append(f"coalesce(m.content like ?{number} escape '\\', 0)" if exact else "0")
    sql = f"""
    select m.id, {" and ".join(certain)} and not {_rewritten(schema)}
    from messages m {in_order(schema)}
    where m.session_id = ?{len(needles) + 1} and {visible(schema)} and {" and ".join(clauses)}
    """
    return sql, patterns


def _like(needle: str) -> str:
    """Letters whose case SQLite does not know stand for any letter; the decoded text decides then."""
    out = []
    for char in needle:
        if char.isspace():
            out.append("%")
        elif char in "%_\\":
            out.append("\\" + char)
        elif not char.isascii() and len({char.lower(), char.upper(), char.casefold(), char}) > 1:
            out.append("_")
        else:
            out.append(char)
    return f"%{''.join(out)}%"


def _odd(m: str) -> str:
    """Structured content and bytes, which SQLite's text functions do not see into."""
    return f"(typeof({m}.content) = 'blob' or instr({m}.content, char(0)) > 0)"


def _rewritten(schema: Schema) -> str:
    """Rows that are shown otherwise than they are stored."""
    marks = (*PAYLOAD_MARKS, "[CONTEXT", "[END OF PRIOR", "MEDIA:", "@image:", "[Image attached", "[screenshot]")
    ways = [_odd("m"), *(f"instr(m.content, '{mark}') > 0" for mark in marks)]
    if "_compressed_summary" in schema.messages:
        ways.append("coalesce(m._compressed_summary, 0) <> 0")
    return f"({' or '.join(ways)})"
