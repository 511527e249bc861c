"""The full-text indexes of a store: which of them can be trusted, for which rows, and how to ask them.

Three layouts are in the wild (FACTS 7): one column inline; three columns over the table; three columns over a
view that cuts tool output. What an index holds is read off its DDL and its `docsize` table, never assumed.
`messages_fts_cjk` needs an extension and is never touched.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Sequence

from hermes_tui.domain.querytrees import And, Leaf, Node, Without, leaves
from hermes_tui.storage.connection import Store, is_busy, is_damage, is_interrupt
from hermes_tui.storage.holes import Gap, holes
from hermes_tui.storage.rows import FIRST, LAST, extent
from hermes_tui.storage.schema import FtsTable
from hermes_tui.values import dataclass

BASE = "messages_fts"
TRIGRAM = "messages_fts_trigram"
CUT_AT = 8_192
"""Characters of tool output that the newest layout indexes."""
_SHORTEST = 3
"""Characters that a trigram needs."""
_LONGEST = 200
"""A run of n characters is a phrase of n trigrams to FTS5, which holds the places of each at once: in a text that
repeats itself, gigabytes. Longer ones are looked for by reading."""

_CUT = re.compile(rf"substr\(.*, 1, {CUT_AT}\)", re.IGNORECASE)
_PLAIN_WORD = re.compile(r"(?<![^ ])[A-Za-z]{3,20}(?= )")


@dataclass(frozen=True, slots=True)
class Index:
    """An index that can be asked."""

    name: str
    columns: tuple[str, ...]
    inline: bool
    """One column that holds content, tool name and calls, joined."""
    tokenizer: str
    gaps: tuple[Gap, ...] = ()
    cut: bool = False
    """It holds only the beginning of tool output …"""
    cut_as_known: bool = False
    """… which is `CUT_AT` characters long."""

    @property
    def has_calls(self) -> bool:
        """Whether arguments of tool calls are in it."""
        return self.inline or "tool_calls" in self.columns


@dataclass(frozen=True, slots=True)
class Indexes:
    """What a store can be asked, and what the person should know about it."""

    base: Index | None
    trigram: Index | None
    notices: tuple[str, ...] = ()


def express(node: Node) -> str:
    """The FTS5 expression of a tree: every word in quotes, so that nothing in it can be an operator."""
    if isinstance(node, Leaf):
        star = "*" if node.prefix and not node.substring else ""
        return '"' + node.text.replace('"', '""') + '"' + star
    if isinstance(node, Without):
        return f"{_inner(node.base)} NOT {_inner(node.barred)}"
    return (" AND " if isinstance(node, And) else " OR ").join(map(_inner, node.children))


def _inner(node: Node) -> str:
    return express(node) if isinstance(node, Leaf) else f"({express(node)})"


def words_only(node: Node) -> bool:
    """Whether every leaf is whole words, or beginnings: what `unicode61` answers."""
    return not any(leaf.substring for leaf in leaves(node))


def trigrams_only(node: Node) -> bool:
    """Whether every leaf is one run of characters long enough for a trigram index."""
    return all(serves_trigram(leaf) for leaf in leaves(node))


def serves_trigram(leaf: Leaf) -> bool:
    """Whether a trigram index finds this leaf, and nothing else, at a bearable price."""
    whole = leaf.inside or all(char.isalnum() for char in leaf.text)
    return leaf.substring and whole and _SHORTEST <= len(leaf.text) <= _LONGEST


def look(store: Store) -> Indexes:
    """Go through what makes an index trustworthy; remembered until a write. Raises sqlite3.Error only for a store
    that is busy."""
    made_of = (store.version(), store.schema.cookie)
    kept = store.searching.get("indexes")
    if kept is not None and kept[0] == made_of and isinstance(kept[1], Indexes):
        return kept[1]
    base, notices = _trust(store, BASE)
    trigram = None if base is None else _trust(store, TRIGRAM)[0]
    indexes = Indexes(base, trigram, notices)
    store.searching["indexes"] = (made_of, indexes)
    return indexes


def _trust(store: Store, name: str) -> tuple[Index | None, tuple[str, ...]]:
    """The index, if it can be asked, and what the person should know."""
    try:
        return _trusted(store, name)
    except MemoryError:
        return None, ("The search index is damaged: the messages themselves were read.",)


def _trusted(store: Store, name: str) -> tuple[Index | None, tuple[str, ...]]:
    table = store.schema.fts.get(name)
    if table is None:
        return None, ("There is no search index: the messages themselves were read.",)
    known = "trigram" if name == TRIGRAM else "unicode61"
    if table.tokenizer.split()[:1] != [known]:
        return None, ("The search index is of an unknown kind: the messages themselves were read.",)
    if (trouble := _trouble(store, name)) is not None:
        return None, (f"The search index {trouble}: the messages themselves were read.",)
    meta = _meta(store)
    if "fts_stale" in meta or not table.complete_triggers:
        return None, ("The search index is out of date: the messages themselves were read.",)
    return _with_gaps(store, table, meta)


def _trouble(store: Store, name: str) -> str | None:
    """Why the table cannot be asked, if it cannot."""
    try:
        store.conn.execute(f"select rowid from {name} where {name} match '\"a\"' limit 1").fetchall()
        store.conn.execute(f"select id from {name}_docsize limit 1").fetchall()
    except sqlite3.DatabaseError as error:
        if is_busy(error) or is_interrupt(error):
            raise
        return "is damaged" if is_damage(error) else "cannot be read"
    return None


TROUBLE = (sqlite3.DatabaseError, MemoryError)
"""What a question to an index may end with: a damaged page can ask for more memory than there is."""


def is_index_trouble(error: Exception) -> bool:
    """What FTS5 says of an index that it cannot read: damage, or nothing more than that something is wrong."""
    if not isinstance(error, sqlite3.Error):
        return isinstance(error, MemoryError)
    return is_damage(error) or getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_ERROR


def _meta(store: Store) -> dict[str, str]:
    if "state_meta" not in store.schema.tables:
        return {}
    try:
        rows = store.conn.execute("select key, value from state_meta where key glob 'fts_*'").fetchall()
    except sqlite3.DatabaseError as error:
        store.forgive(error)
        return {"fts_stale": "it cannot be known"}
    return {str(key): str(value) for key, value in rows}


def _number(value: str | None) -> int | None:
    try:
        number = None if value is None else int(float(value))
    except (ValueError, OverflowError):
        return None
    return number if number is not None and FIRST <= number < LAST else None


def _with_gaps(store: Store, table: FtsTable, meta: dict[str, str]) -> tuple[Index | None, tuple[str, ...]]:
    """Message ids that are still to be indexed by a rebuild under way, and newer ones that a writer without
    triggers left behind."""
    try:
        held = store.conn.execute(f"select max(id) from {table.name}_docsize").fetchone()[0]
    except sqlite3.DatabaseError as error:
        store.forgive(error)
        return None, ("The search index is damaged: the messages themselves were read.",)
    newest = extent(store)[1]
    gaps: list[Gap] = []
    notices: list[str] = []
    high = _number(meta.get("fts_rebuild_high_water"))
    if high is not None and high > 0:
        progress = max(_number(meta.get("fts_rebuild_progress")) or 0, 0)
        if progress < high:
            gaps.append((progress, high))
            notices.append(f"Index {100 * progress // high} % built: what it lacks was read.")
    elif newest and held is None and table.name == BASE:
        return None, ("The search index is empty: the messages themselves were read.",)
    indexed = max(held or 0, high or 0)
    if table.name == BASE and newest > indexed:
        gaps.append((indexed, newest))
        notices.append("The search index lacks the newest messages: they were read.")
    if table.name == BASE and not high and held and (lost := holes(store, table.name, held)):
        gaps += lost
        notices.append("The search index lacks messages that nothing marks: they were read.")
    if table.name == BASE and not _keeps_its_word(store, gaps):
        return None, ("The search index is damaged: the messages themselves were read.",)
    index = Index(
        name=table.name,
        columns=table.columns,
        inline=len(table.columns) == 1,
        tokenizer=table.tokenizer,
        gaps=tuple(gaps),
        cut="substr" in table.view_sql.lower(),
        cut_as_known=_CUT.search(table.view_sql) is not None,
    )
    return index, tuple(notices)


def _keeps_its_word(store: Store, gaps: Sequence[Gap]) -> bool:
    """Whether the index finds words of the newest messages in those messages: a damaged one may be silent."""
    sql = """
    select m.id, substr(m.content, 1, 400)
    from messages m
    where m.role in ('user', 'assistant') and typeof(m.content) = 'text' and m.content <> ''
    order by m.id desc
    limit 3
    """
    ask = f"select 1 from {BASE} where {BASE} match ? and rowid = ?"
    try:
        for message_id, text in store.conn.execute(sql).fetchall():
            word = _PLAIN_WORD.search(text or "")
            if word is None or any(low < message_id <= high for low, high in gaps):
                continue
            if store.conn.execute(ask, (f'"{word[0]}"', message_id)).fetchone() is None:
                return False
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        return False
    return True


def structured_ids(store: Store, base: Index) -> tuple[int, ...]:
    """Rows whose content is structured: the index holds its JSON, or nothing. Remembered until a write."""
    version = store.version()
    kept = store.searching.get("structured")
    if kept is not None and kept[0] == version and isinstance(kept[1], tuple):
        return kept[1]
    found = set(_first_word_json(store, base))
    if base.cut:
        found.update(_silent_tools(store, base))
    ids = tuple(sorted(found))
    store.searching["structured"] = (version, ids)
    return ids


def look_ahead(store: Store) -> None:
    """Have the store remember what a search asks of its indexes whatever its words are."""
    if (base := look(store).base) is not None:
        structured_ids(store, base)


STRUCTURED = "substr(cast(m.content as blob), 1, 6) = x'006a736f6e3a'"
"""The content is a NUL, `json:` and JSON: as text, SQL would see nothing of it."""


def _first_word_json(store: Store, base: Index) -> Iterable[int]:
    expression = '^ "json"' if base.inline else '{content} : ^ "json"'
    sql = f"""
    select m.id
    from {base.name} f
    cross join messages m on m.id = f.rowid
    where {base.name} match ? and {STRUCTURED}
    """
    return (row[0] for row in store.conn.execute(sql, (expression,)).fetchall())


def _silent_tools(store: Store, base: Index) -> Iterable[int]:
    """Where the view cuts tool output, SQL's `substr` leaves nothing of structured content: such rows have no
    words of content and none of calls."""
    size = ["d.sz < x'01'"]  # the first number is 0: compared, not cut out, for it is asked of every row
    if base.columns == ("content", "tool_name", "tool_calls"):
        size.append("substr(d.sz, -1) = x'00'")
    sql = f"""
    select m.id
    from {base.name}_docsize d
    cross join messages m on m.id = d.id
    where {" and ".join(size)} and m.role = 'tool' and {STRUCTURED}
    """
    return (row[0] for row in store.conn.execute(sql).fetchall())


@dataclass(frozen=True, slots=True)
class Scale:
    """What BM25 needs to know of a whole index, so that rows outside of it can be measured alike."""

    rows: int
    average: float
    """Words in a row."""


def scale(store: Store, index: Index) -> Scale:
    """FTS5 keeps the sums in a record of its own: rows, then words by column."""
    found = store.conn.execute(f"select block from {index.name}_data where id = 1").fetchone()
    numbers = list(varints(found[0])) if found and isinstance(found[0], bytes) else []
    if not numbers or not numbers[0]:
        return Scale(1, 1.0)
    return Scale(numbers[0], max(sum(numbers[1:]) / numbers[0], 1.0))


def varints(blob: bytes) -> Iterable[int]:
    """SQLite's variable-length integers, one after the other; the ninth byte of one counts whole."""
    value, length = 0, 0
    for byte in blob:
        length += 1
        if length == 9:
            yield (value << 8) | byte
        elif byte & 0x80:
            value = (value << 7) | (byte & 0x7F)
            continue
        else:
            yield (value << 7) | byte
        value, length = 0, 0


def column(expression: str, name: str = "content") -> str:
    """The same, in one column only."""
    return f"{{{name}}} : ({expression})"
