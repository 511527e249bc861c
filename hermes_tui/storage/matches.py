"""Ask an index: which messages match, and where."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from unicodedata import normalize

from hermes_tui.domain.queries import SearchOrder
from hermes_tui.domain.querytrees import Leaf, Node
from hermes_tui.storage.conditions import Conditions
from hermes_tui.storage.connection import Store, is_damage
from hermes_tui.storage.fts import Index, express
from hermes_tui.values import NamedTuple, dataclass, field

BEST = 3
"""Matches that a hit shows."""
SAID, CALLED, UNSURE = 0, 1, 2
"""Where a message matches: in what people and the assistant said; in calls, output, or what other roles hold;
in one of the two, which only reading it tells."""


class Top(NamedTuple):
    """One of the best messages of a session."""

    id: int
    session_id: str
    score: float
    """BM25 as FTS5 gives it: the smaller the better."""
    at: float | None


@dataclass(slots=True)
class Group:
    """The matches of one session that are of one kind."""

    count: int
    tops: list[Top] = field(default_factory=list)
    """Best first, by the order asked for."""


FEW_SESSIONS = 1_000
"""Sessions whose messages are gone through rather than all that match anywhere."""
_MEASURED = 200
"""Rows outside of the answer of an index that it is asked about one by one."""

Groups = dict[str, dict[int, Group]]
"""Session id → kind → matches."""


def by_order(order: SearchOrder) -> Callable[[Top], tuple[float, int]]:
    """What sorts the messages of one conversation; of equals the earlier comes first."""
    if order is SearchOrder.RELEVANCE:
        return lambda top: (top.score, top.id)
    sign = -1.0 if order is SearchOrder.NEWEST else 1.0
    return lambda top: (math.inf if top.at is None else sign * top.at, top.id)


def ids(store: Store, index: Index, tree: Node, where: Conditions, session_ids: list[str]) -> list[tuple[int, str]]:
    """(message, session) for each matching message of these sessions."""
    matching = f"select rowid from {index.name} where {index.name} match :expression"
    where = where.in_sessions(session_ids)
    source = f"({matching} limit -1) f cross join messages m on m.id = f.rowid where"
    if len(session_ids) <= FEW_SESSIONS:
        source = f"messages m where +m.id in ({matching}) and"  # the plus: sessions lead, not all that matches
    sql = f"select m.id, cast(m.session_id as text) from {source} {where.sql}"
    return store.conn.execute(sql, {**where.params, "expression": express(tree)}).fetchall()


def scores(store: Store, index: Index, tree: Node, message_ids: Sequence[int]) -> dict[int, float]:
    """BM25 of those of these rows that the index finds; asked one by one, for they are few among very many."""
    sql = f"select bm25({index.name}) from {index.name} where {index.name} match ? and rowid = ?"
    found = {}
    for message_id in message_ids[:_MEASURED]:
        row = store.conn.execute(sql, (express(tree), message_id)).fetchone()
        if row is not None:
            found[message_id] = row[0]
    return found


def escaped_ids(store: Store, index: Index, words: tuple[Leaf, ...]) -> list[int]:
    """Rows that may hold one of these words as JSON writes what is not ASCII: `caf\\u00e9`, two words to FTS5. Pieces
    of words are found there without its help."""
    spelled = {
        json.dumps(text)[1:-1]
        for leaf in words
        if not (leaf.text.isascii() or leaf.substring)
        for form in (leaf.text, normalize("NFC", leaf.text), normalize("NFD", leaf.text))
        for text in (form, form.lower(), form.upper(), form.capitalize())
    }
    if not spelled:
        return []
    expression = " OR ".join(f'"{text}"' for text in sorted(spelled) if '"' not in text)
    sql = f"select rowid from {index.name} where {index.name} match ?"
    return [row[0] for row in store.conn.execute(sql, (expression,)).fetchall()]


def sessions_with(
    store: Store, index: Index, tree: Node, where: Conditions, few: list[str] | None = None
) -> set[str]:
    """The sessions that hold a matching message; `few`: of these only."""
    matching = f"select rowid from {index.name} where {index.name} match :expression"
    if few is None:
        sql = f"""
        select distinct cast(m.session_id as text)
        from ({matching} limit -1) f
        cross join messages m on m.id = f.rowid
        where {where.sql}
        """
    else:
        where = where.in_sessions(few)
        sql = (
            f"select distinct cast(m.session_id as text) from messages m where +m.id in ({matching}) and {where.sql}"
        )
    return {row[0] for row in store.conn.execute(sql, {**where.params, "expression": express(tree)}).fetchall()}


def sessions_where(store: Store, where: Conditions, session_ids: Iterable[str]) -> set[str]:
    """The sessions that hold a message of this kind, whatever it says; where pages are damaged, of these sessions
    those of which that can be seen."""
    sql = f"select distinct cast(m.session_id as text) from messages m where {where.sql}"
    try:
        return {row[0] for row in store.conn.execute(sql, where.params).fetchall()}
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
    return {session_id for session_id in session_ids if _holds_any(store, where.in_sessions([session_id]))}


def _holds_any(store: Store, where: Conditions) -> bool:
    try:
        found = store.conn.execute(f"select 1 from messages m where {where.sql} limit 1", where.params).fetchone()
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        return False
    return found is not None


def count(store: Store, index: Index, tree: Node) -> int:
    """How many rows of the index match, visible or not."""
    sql = f"select count(*) from {index.name} where {index.name} match ?"
    return int(store.conn.execute(sql, (express(tree),)).fetchone()[0])


def occurs(store: Store, index: Index, leaf: Leaf, where: Conditions, session_ids: set[str] | None) -> bool:
    """Whether any message that passes matches; `session_ids`: those that are searched, None for all."""
    sql = f"""
    select cast(m.session_id as text)
    from {index.name} f
    cross join messages m on m.id = f.rowid
    where f.{index.name} match :expression and {where.sql}
    """
    cursor = store.conn.cursor()
    try:
        found = cursor.execute(sql, {**where.params, "expression": express(leaf)})
        return any(session_ids is None or row[0] in session_ids for row in found)
    finally:
        cursor.close()
