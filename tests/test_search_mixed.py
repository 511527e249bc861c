"""Queries of words that an index holds beside such as stand inside words, which none does: on stores that Hermes
itself wrote, of all four schemas, the answer is that of reading every visible message."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from hermes_tui.domain.queries import SearchOrder, SearchPage
from hermes_tui.domain.querytext import parse_query
from hermes_tui.domain.querytrees import leaves, positive
from hermes_tui.storage.fts import express
from hermes_tui.storage.judging import evaluate
from hermes_tui.storage.parts import parts_of, with_inside
from hermes_tui.times import local
from tests.oracles import Oracle, Seen
from tests.searches import all_pages, searches
from tests.seeds import SEED

pytestmark = pytest.mark.real

_EACH = 2
"""Queries of every shape."""
_WORD = re.compile("[A-Za-z]{5,}")
_HAN = re.compile("[\u4e00-\u9fff\uac00-\ud7a3]{2,}")
_SHAPES = (
    "{word} {piece}",
    "{word} {other} {piece}",
    "{word} OR {piece}",
    "{word} {nowhere}",
    "{word} OR {nowhere}",
    "{word} {han}",
    "{word} OR {han}",
    "{word} NOT {han}",
    "{word} {other} NOT {han}",
    "{word} NOT ({other} {han})",
    "{word} {piece} NOT {other}",
    "{piece} NOT {word}",
    "{piece} {han} OR {word}",
    "({word} OR {han}) {piece}",
    "({word} {han}) OR ({other} {piece})",
    '"{phrase}" {piece}',
    '"{phrase}" OR {han}',
    "{start}* {piece}",
    "{word} {piece} role:user",
    "{word} OR {piece} role:tool",
    "{word} OR {han} role:assistant",
    "{word} {piece} after:{day}",
    "{word} OR {han} before:{day}",
    "{word} OR {piece} source:cron",
    "{word} {han} source:cron",
)


@dataclass(slots=True)
class Expected:
    """Root of a conversation → how many of its messages match: all of the query, or a part of it."""

    whole: dict[str, int]
    spread: dict[str, int]
    partial: dict[str, int]
    messages: set[int]
    """All these, as they are shown."""


def _drawn(oracle: Oracle, rng: random.Random) -> Callable[[], dict[str, str]]:
    rows = [row for row in oracle.rows if len(_WORD.findall(row.text)) > 4]
    written = [run for row in oracle.rows for run in _HAN.findall(row.text)]

    def draw() -> dict[str, str]:
        row = rng.choice(rows)
        word, other, long = (rng.choice(_WORD.findall(each.text)) for each in (row, rng.choice(rows), row))
        tokens = re.findall(r"[^\W_]+", row.text)
        at = rng.randrange(len(tokens) - 1)
        phrase = " ".join(tokens[at : at + 2])
        return {
            "word": word.lower(),
            "other": other.lower(),
            "piece": long.lower()[1:-1],
            "nowhere": "zq" + "".join(rng.choices("xjqz", k=6)),
            "han": rng.choice(written)[: rng.choice((1, 2))],
            "phrase": phrase if phrase.isascii() else f"{word} {other}",
            "start": word.lower()[:4],
            "day": local(rng.choice(rows).at).date().isoformat(),
        }

    return draw


def _expected(oracle: Oracle, query: str) -> Expected:
    parsed = parse_query(query, present=0)
    filters = parsed.filters
    sources = {segment.id: segment.source for chain in oracle.catalogue.all_chains() for segment in chain.segments}

    def passes(row: Seen) -> bool:
        return (
            row.role in filters.wanted.get("role", {row.role})
            and sources[row.session_id] in filters.wanted.get("source", {sources[row.session_id]})
            and (filters.after is None or row.at >= filters.after)
            and (filters.before is None or row.at < filters.before)
        )

    seen = oracle.among(passes) if filters else oracle
    tree = parsed.expression
    assert tree is not None
    absent = {leaf for leaf in positive(tree) if leaf.plain and not leaf.substring and not seen.words(express(leaf))}
    tree = with_inside(tree, frozenset(absent))
    parts = parts_of(tree)
    held = {leaf: seen.substring(leaf.text) if leaf.substring else seen.words(express(leaf)) for leaf in leaves(tree)}
    held |= {leaf: held[leaf] for unit in parts.units for leaf in leaves(unit)}
    whole = evaluate(tree, held)
    barred = evaluate(parts.barred, held) if parts.barred is not None else set()
    units = [evaluate(unit, held) - barred for unit in parts.units]
    some = set[int]().union(*units)
    roots = [set(seen.counted(unit)) for unit in units]
    counted, found = seen.counted(some), seen.counted(whole)
    spread = {root for way in parts.branches for root in set.intersection(*(roots[each] for each in way))}
    shown = {oracle.aliases.get(each, each) for each in whole | some}
    return Expected(found, {root: counted[root] for root in spread - found.keys()}, counted, shown)


def _agrees(page: SearchPage, expected: Expected, query: str) -> None:
    told = f"{query!r}, drawn with seed {SEED}"
    named = {hit.conversation.root_id for hit in page.hits if not hit.count}
    hits = {hit.conversation.root_id: hit for hit in page.hits if hit.count}
    spread = {root: number for root, number in expected.spread.items() if root not in named}
    partial = {} if expected.whole or spread or named else expected.partial
    counts = {root: hit.count for root, hit in hits.items()}
    assert counts == {**partial, **spread, **expected.whole}, told
    for root, hit in hits.items():
        loose = "spread" if root in spread else "partial"
        tiers = {"conversation", "tool", "title"} if root in expected.whole else {loose}
        assert str(hit.tier) in tiers | {"automation", "target"}, told
        shown = [match.message_id for match in hit.matches]
        assert shown, told
        assert len({*shown} & expected.messages) == len(shown), told


def _told(page: SearchPage) -> list[tuple[object, ...]]:
    return [(hit.conversation.root_id, hit.tier, hit.count, [m.message_id for m in hit.matches]) for hit in page.hits]


async def test_words_beside_such_as_no_index_holds_are_found_as_by_reading_all(real_home: Path) -> None:
    db = real_home / "state.db"
    oracle = await asyncio.to_thread(Oracle.of, db)
    deep = await asyncio.to_thread(Oracle.of, db, whole_output=True)
    draw = _drawn(oracle, random.Random(SEED))
    queries = [shape.format(**draw()) for shape in _SHAPES for _ in range(_EACH)]
    for query, page in zip(queries, await searches(db, queries, order=SearchOrder.NEWEST), strict=True):
        seen = deep if "role:tool" in query else oracle
        _agrees(page, await asyncio.to_thread(_expected, seen, query), query)


@pytest.mark.parametrize("shape", ["{word} OR {piece}", "{word} NOT {han}", "({word} {han}) OR {other}"])
async def test_steps_come_to_the_same_as_going_all_the_way(real_home: Path, shape: str) -> None:
    db = real_home / "state.db"
    draw = _drawn(await asyncio.to_thread(Oracle.of, db), random.Random(SEED))
    query = shape.format(**draw())
    in_steps, at_once = [(await all_pages(db, query, steps=steps))[-1] for steps in (True, False)]
    assert _told(in_steps) == _told(at_once) != []


async def test_what_stands_nowhere_changes_nothing_of_what_an_index_answers(real_home: Path) -> None:
    """Not even how good a match is: both are measured alike."""
    db = real_home / "state.db"
    words = _drawn(await asyncio.to_thread(Oracle.of, db), random.Random(SEED))()
    same = ["{word}", "{word} OR {nowhere}", "{word} NOT {nowhere}龘", "{word} NOT ({other} {nowhere}龘)"]
    less = ["{word} {other} {nowhere}*", "{word} {other} {nowhere}"]
    for queries in (same, less):
        pages: Iterable[SearchPage] = await searches(db, [query.format(**words) for query in queries])
        first, *others = map(_told, pages)
        assert first
        assert all(other == first for other in others), (words, SEED)
