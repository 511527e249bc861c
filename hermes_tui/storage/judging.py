"""Judge rows that no index answers for: the same words, by the same rules, in a table in memory.

Words are told apart by FTS5 itself, so a scan finds what an index would have found. What is written without
blanks matches wherever its characters stand.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from hermes_tui.domain.contents import STRUCTURED, as_text, decode_content
from hermes_tui.domain.querytrees import And, Leaf, Node, Or, Without, has_cjk, leaves
from hermes_tui.storage.connection import Store
from hermes_tui.storage.fts import express, varints
from hermes_tui.storage.parts import all_needed
from hermes_tui.storage.rows import by_ids
from hermes_tui.values import NamedTuple, dataclass

UNICODE = "unicode61"
_ESCAPED = re.compile(r"(?:\\{1,2}u[0-9a-fA-F]{4})+")
_UNIT = re.compile(r"u([0-9a-fA-F]{4})")
_FIELDS = ("said", "name", "calls")
_MARK, _OPENED, _CLOSED = "\ue000", "\ue001", "\ue002"
_LIT = re.compile(f"{_OPENED}[^{_CLOSED}]*{_CLOSED}")
_OURS = {"\x00": " ", _OPENED: _MARK, _CLOSED: _MARK}
_AT_ONCE = 400
"""Messages that are read, and judged, together."""
_RUNS = re.compile(r"[^\W_]+")
_STRETCHES = re.compile("[\x00-\x7f]+|[\u0130\u0131]")
"""What Python's own tables of letters have no say in."""


class Row(NamedTuple):
    """A message as it is searched."""

    id: int
    session_id: str
    role: str
    timestamp: Any
    said: str
    """Decoded content, faithful to what is stored where that is plain text."""
    name: str
    """Of the tool, on its result."""
    calls: str
    """As stored, with characters that JSON wrote as numbers put back."""


@dataclass(slots=True)
class Verdict:
    """What a row has to do with a tree."""

    whole: bool = False
    """It matches, in all it holds."""
    said: bool = False
    """It matches, and its text alone does too."""
    units: int = 0
    """Bit by bit, the parts of the query that occur in it; 0 for what the query excludes."""
    counts: tuple[int, ...] = ()
    """How often each leaf occurs."""
    length: int = 0
    """Words in it."""


def said_of(content: object) -> str:
    """The text of a content cell as it is searched."""
    text = as_text(content)
    return decode_content(text) if text.startswith(STRUCTURED) else text


def calls_of(stored: object) -> str:
    """A `tool_calls` cell as it is searched. Writers escape all but ASCII, some of them twice."""
    text = as_text(stored)
    return _ESCAPED.sub(_unescape, text) if "\\u" in text else text


def _unescape(found: re.Match[str]) -> str:
    units = b"".join(int(unit, 16).to_bytes(2, "little") for unit in _UNIT.findall(found[0]))
    return units.decode("utf-16-le", "replace")


def pattern(leaf: Leaf) -> re.Pattern[str]:
    """Where a leaf that matches inside words stands in a text."""
    if leaf.inside:
        return re.compile(_any_case(leaf.text), re.IGNORECASE)
    runs = _RUNS.findall(leaf.text)
    between = r"[\W_]+".join(map(_any_case, runs))
    before = "" if has_cjk(runs[0]) else r"(?<![^\W_])"
    after = "" if has_cjk(runs[-1]) or leaf.prefix else r"(?![^\W_])"
    return re.compile(before + between + after, re.IGNORECASE)


def _any_case(text: str) -> str:
    """What finds a text in either case as an index of its characters would: Python holds `i`, `ı` and `İ` to be the
    same letter."""
    return _STRETCHES.sub(lambda found: f"(?{'a' if found[0].isascii() else '-i'}:{re.escape(found[0])})", text)


def stored(text: str) -> str:
    """Text of the same length as the table in memory takes it: a NUL would end it, half a surrogate pair cannot
    be written, and our own marks must not be in it."""
    for char, instead in _OURS.items():
        if char in text:
            text = text.replace(char, instead)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text


class Words:
    """A table in memory that tells words as FTS5 tells them."""

    def __init__(self, tokenizer: str = UNICODE) -> None:
        kind = tokenizer if re.fullmatch(r"[\w ]+", tokenizer) else UNICODE
        self.conn = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self.conn.text_factory = lambda raw: raw.decode("utf-8", "replace")
        self.conn.execute(f'create virtual table t using fts5({", ".join(_FIELDS)}, tokenize="{kind}")')

    def close(self) -> None:
        self.conn.close()

    def fill(self, rows: Iterable[tuple[int, str, str, str]]) -> None:
        """Hold these rows and no others: number, then the fields."""
        self.conn.execute("begin")
        self.conn.execute("delete from t")
        held = ((number, stored(said), stored(name), stored(calls)) for number, said, name, calls in rows)
        self.conn.executemany("insert into t(rowid, said, name, calls) values (?, ?, ?, ?)", held)
        self.conn.execute("commit")

    def counts(self, leaf: Leaf) -> dict[int, tuple[int, int]]:
        """Row → how often a leaf occurs in it, and how often in its text."""
        marked = ", ".join(
            f"length(highlight(t, {i}, '{_MARK}', '')) - length({name})" for i, name in enumerate(_FIELDS)
        )
        rows = self.conn.execute(f"select rowid, {marked} from t where t match ?", (express(leaf),)).fetchall()
        return {row[0]: (row[1] + row[2] + row[3], row[1]) for row in rows}

    def lengths(self) -> dict[int, int]:
        """Row → words in it."""
        rows = self.conn.execute("select id, sz from t_docsize").fetchall()
        return {row[0]: sum(varints(row[1])) for row in rows}

    def first_words(self) -> dict[int, str]:
        """Row → the first word of its text, as it is compared."""
        self.conn.execute("create virtual table if not exists v using fts5vocab(t, 'instance')")
        sql = "select doc, term from v where col = 'said' and offset = 0"
        return dict(self.conn.execute(sql).fetchall())

    def spans(self, leaf: Leaf) -> dict[int, list[tuple[int, int]]]:
        """Row → where a leaf stands in its text."""
        sql = "select rowid, highlight(t, 0, ?, ?) from t where t match ?"
        rows = self.conn.execute(sql, (_OPENED, _CLOSED, "{said} : " + express(leaf))).fetchall()
        return {number: list(_places(marked)) for number, marked in rows}


def _places(marked: str) -> Iterator[tuple[int, int]]:
    """Read the marks off a text: where they stood without them."""
    for nth, found in enumerate(_LIT.finditer(marked)):
        start = found.start() - 2 * nth
        yield start, start + len(found[0]) - 2


class Judge:
    """Judges batches of rows by one tree; `units` are the parts of it whose presence is noted by themselves."""

    def __init__(
        self,
        tree: Node,
        units: Sequence[Node] = (),
        barred: Node | None = None,
        *,
        tokenizer: str,
    ) -> None:
        self.tree, self.units, self.barred = tree, tuple(units), barred
        everywhere = [*leaves(tree), *(leaf for unit in units for leaf in leaves(unit))]
        self.leaves = tuple(dict.fromkeys(everywhere))
        self._patterns = {leaf: pattern(leaf) for leaf in self.leaves if leaf.substring}
        self._tokenizer = tokenizer
        self._needles = [longest for leaf in self.leaves if (longest := _longest_run(leaf))]
        self._strict = not units and all_needed(tree)
        """A row that lacks one word is out: the others are not looked for in it, unless an index knows at once."""

    def judge(self, rows: Sequence[Row]) -> dict[int, Verdict]:
        """Row's id → verdict, for rows in which any of the words occurs."""
        numbered = dict(enumerate(rows))
        occurs = self._occurrences(numbered)
        alone = {leaf: {number for number, (_, said) in found.items() if said} for leaf, found in occurs[0].items()}
        whole = {leaf: set(found) for leaf, found in occurs[0].items()}
        matching = evaluate(self.tree, whole)
        said = matching & evaluate(self.tree, alone)
        excluded = evaluate(self.barred, whole) if self.barred is not None else set()
        verdicts = {number: Verdict(number in matching, number in said) for number in set().union(*whole.values())}
        for bit, unit in enumerate(self.units):
            for number in evaluate(unit, whole) - excluded:
                verdicts[number].units |= 1 << bit
        by_leaf = [occurs[0][leaf] for leaf in self.leaves]
        for number, verdict in verdicts.items():
            verdict.counts = tuple(found[number][0] if number in found else 0 for found in by_leaf)
            verdict.length = occurs[1].get(number, 0)
        return {numbered[number].id: verdict for number, verdict in verdicts.items()}

    def _occurrences(self, rows: Mapping[int, Row]) -> tuple[dict[Leaf, dict[int, tuple[int, int]]], dict[int, int]]:
        """Leaf → row → (how often, how often in its text); row → words in it."""
        from hermes_tui.storage.counting import Counter, number_of_words  # they need this module

        found: dict[Leaf, dict[int, tuple[int, int]]] = {leaf: {} for leaf in self.leaves}
        lengths: dict[int, int] = {}
        exact = [leaf for leaf in self.leaves if leaf not in self._patterns]
        counter = Counter(exact, self._tokenizer)
        left = dict(rows)
        for number, row in rows.items() if counter.able else ():
            if (counts := counter.counts(row)) is not None:
                del left[number]
                for leaf, often in counts.items():
                    found[leaf][number] = often
        if len(self._needles) == len(self.leaves):
            left = {number: row for number, row in left.items() if self._worth(row)}
        if exact and left:  # a table to find nothing in would cost the most
            with closing(Words(self._tokenizer)) as words:
                words.fill((number, row.said, row.name, row.calls) for number, row in left.items())
                for leaf in exact:
                    found[leaf] |= words.counts(leaf)
                lengths = words.lengths()
        judged = set(rows).intersection(*(found[leaf] for leaf in exact)) if self._strict else rows.keys()
        for leaf, regex in self._patterns.items():
            here = found[leaf]
            for number in judged:
                row = rows[number]
                said = sum(1 for _ in regex.finditer(row.said))
                elsewhere = sum(1 for text in (row.name, row.calls) if text for _ in regex.finditer(text))
                if said or elsewhere:
                    here[number] = (said + elsewhere, said)
            if self._strict:
                judged = here.keys()
        measure = number_of_words if exact else len
        for number in set[int]().union(*found.values()) - lengths.keys():
            row = rows[number]
            lengths[number] = measure(row.said) + measure(row.name) + measure(row.calls)
        return found, lengths

    def _worth(self, row: Row) -> bool:
        """Whether any of the words may occur in a row: FTS5 reads ASCII as it stands, and few others as ASCII."""
        from hermes_tui.storage.spans import FOLDING  # it needs this module

        for text in (row.said, row.name, row.calls):
            if not text.isascii() and FOLDING.search(text):
                return True
            lowered = text.lower()
            if any(needle in lowered for needle in self._needles):
                return True
        return False


def _longest_run(leaf: Leaf) -> str:
    """Letters that stand as they are, but for their case, in every ASCII text in which a leaf occurs; empty where
    that cannot be told."""
    if leaf.substring or not leaf.text.isascii():
        return ""
    return max(_RUNS.findall(leaf.text.lower()), key=len, default="")


def empty_leaves(wanted: Sequence[Leaf]) -> frozenset[Leaf]:
    """Those in which FTS5 finds no word at all: of symbols, its tables know some as letters and some not."""
    doubtful = [leaf for leaf in wanted if not leaf.text.isascii() and not leaf.substring]
    if not doubtful:
        return frozenset()
    with closing(Words()) as words:
        words.fill((number, leaf.text, "", "") for number, leaf in enumerate(doubtful))
        lengths = words.lengths()
    return frozenset(leaf for number, leaf in enumerate(doubtful) if not lengths.get(number))


def judge_ids(store: Store, judge: Judge, ids: Sequence[int]) -> Iterator[tuple[Row, Verdict]]:
    """Verdicts on these messages, for those that can be read and in which any of the words occurs."""
    sql = """
    select m.id, cast(m.session_id as text), cast(m.role as text), m.timestamp, m.content, m.tool_name, m.tool_calls
    from messages m
    where {ids}
    """
    for start in range(0, len(ids), _AT_ONCE):
        cells = by_ids(store, sql, ids[start : start + _AT_ONCE]).values()
        rows = {row.id: row for row in (row_of(each) for each in cells if each is not None)}
        for message_id, verdict in judge.judge(list(rows.values())).items():
            yield rows[message_id], verdict


def row_of(cells: Sequence[Any]) -> Row:
    """A row as read: id, session, role, time, content, tool name, calls."""
    message_id, session_id, role, timestamp, content, name, calls = cells
    return Row(message_id, session_id, role or "", timestamp, said_of(content), as_text(name), calls_of(calls))


def evaluate(node: Node, present: Mapping[Leaf, set[Any]]) -> set[Any]:
    """The rows for which a tree holds, from the rows in which each leaf occurs."""
    if isinstance(node, Leaf):
        return present[node]
    if isinstance(node, Without):
        return evaluate(node.base, present) - evaluate(node.barred, present)
    parts = [evaluate(child, present) for child in node.children]
    assert isinstance(node, And | Or)
    return set.intersection(*parts) if isinstance(node, And) else set.union(*parts)
