"""From a matching message to what a hit shows of it: the place where the words stand together, and which
characters of it to light up."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import NamedTuple

from hermes_tui.domain.calls import parse_stored_calls
from hermes_tui.domain.contents import as_text, decode_content, load_json
from hermes_tui.domain.queries import Match, Span
from hermes_tui.domain.querytrees import Leaf, Node, positive
from hermes_tui.storage.connection import Store
from hermes_tui.storage.judging import UNICODE, Words, calls_of, pattern, said_of
from hermes_tui.storage.rows import by_ids
from hermes_tui.times import epoch

LONGEST = 300
"""Characters of a snippet."""
_TOGETHER = 220
"""Words further apart than this do not stand together."""
_LONG = 60_000
"""Characters from which on only the neighbourhood of the words is read."""
_AROUND = 3_000
_MANY = 1_000
"""Places of one word that are looked at."""
_BLANKS = re.compile(r"\s+")
_FIRST_RUN = re.compile(r"[^\W_]+")


class Spot(NamedTuple):
    """Where one of the words stands in a text."""

    start: int
    end: int
    leaf: int
    """Which word."""


class _Source(NamedTuple):
    """A text that a snippet could be cut from."""

    message_id: int
    text: str
    tool: str | None


def load_matches(store: Store, ids: Sequence[int], tree: Node | None, tokenizer: str = UNICODE) -> dict[int, Match]:
    """Message id → match, for those that can be read."""
    sql = """
    select m.id, cast(m.session_id as text), cast(m.role as text), m.timestamp, m.content, m.tool_name, m.tool_calls
    from messages m
    where {ids}
    """
    rows = {key: cells for key, cells in by_ids(store, sql, ids).items() if cells is not None}
    sources = [source for cells in rows.values() for source in _sources(*cells)]
    wanted = tuple(dict.fromkeys(positive(tree))) if tree is not None else ()
    spots = _spots(wanted, sources, tokenizer)
    best: dict[int, tuple[int, _Source, list[Spot]]] = {}
    for source, found in zip(sources, spots, strict=True):
        distinct = len({spot.leaf for spot in found})
        if source.message_id not in best or distinct > best[source.message_id][0]:
            best[source.message_id] = (distinct, source, found)
    matches = {}
    for message_id, (_, source, found) in best.items():
        _, session_id, role, timestamp = rows[message_id][:4]
        snippet, spans = cut(source.text, found)
        matches[message_id] = Match(message_id, session_id, role or "", epoch(timestamp), snippet, spans, source.tool)
    return matches


def _sources(
    message_id: int,
    session_id: str,
    role: str | None,
    timestamp: object,
    content: object,
    name: object,
    calls: object,
) -> Iterable[_Source]:
    """The texts of a message, what was said first; without a match anywhere the first one stands for it."""
    answers = as_text(name) or None
    said = said_of(content)
    shown = decode_content(content) if "base64," in said else said
    yield _Source(message_id, shown, answers)
    if not as_text(calls).strip():
        return
    stored = parse_stored_calls(calls)
    if stored is None:
        yield _Source(message_id, calls_of(calls), None)
        return
    for each in stored:
        arguments = _spoken(each.call.arguments)
        yield _Source(message_id, arguments or each.call.name, each.call.name)
        yield _Source(message_id, f"{each.call.name} {arguments}", each.call.name)


def _spoken(arguments: str) -> str:
    """Arguments as `name: value`, where they are such an object."""
    try:
        value = load_json(arguments)
    except ValueError:
        return calls_of(arguments)
    if not isinstance(value, dict):
        return calls_of(arguments)
    parts = (
        f"{name}: {each if isinstance(each, str) else json.dumps(each, ensure_ascii=False)}"
        for name, each in value.items()
    )
    return ", ".join(parts)


def _spots(wanted: Sequence[Leaf], sources: Sequence[_Source], tokenizer: str) -> list[list[Spot]]:
    """For each text, where the words stand, in order."""
    spots: list[list[Spot]] = [[] for _ in sources]
    excerpts = {number: _excerpt(source.text, wanted) for number, source in enumerate(sources)}
    texts = {number: text for number, (_, text) in excerpts.items()}
    with closing(Words(tokenizer)) as words:
        if any(not leaf.substring for leaf in wanted):
            words.fill((number, text, "", "") for number, text in texts.items())
        for which, leaf in enumerate(wanted):
            if leaf.substring:
                regex = pattern(leaf)
                found = {number: [each.span() for each in regex.finditer(text)] for number, text in texts.items()}
            else:
                found = words.spans(leaf, texts)
            for number, places in found.items():
                offset = excerpts[number][0]
                spots[number] += [Spot(start + offset, end + offset, which) for start, end in places[:_MANY]]
    for each in spots:
        each.sort()
    return spots


def _excerpt(text: str, wanted: Sequence[Leaf]) -> tuple[int, str]:
    """Of a very long text the part around the first place where most of the words are near each other."""
    if len(text) <= _LONG:
        return 0, text
    places: list[tuple[int, int]] = []
    for which, leaf in enumerate(wanted):
        run = _FIRST_RUN.search(leaf.text)
        if run is None:
            continue
        for found in re.finditer(re.escape(run[0]), text, re.IGNORECASE):
            places.append((found.start(), which))
            if len(places) > (which + 1) * _MANY:
                break
    if not places:
        return 0, text
    places.sort()
    middle = _densest(places)
    start = max(0, middle - _AROUND)
    return start, text[start : middle + _AROUND]


def _densest(places: Sequence[tuple[int, int]]) -> int:
    """The place from which on most different words follow soon."""
    best, middle = 0, places[0][0]
    within: Counter[int] = Counter()
    end = 0
    for at, which in places:
        while end < len(places) and places[end][0] < at + _AROUND // 2:
            within[places[end][1]] += 1
            end += 1
        if len(within) > best:
            best, middle = len(within), at
        within[which] -= 1
        if not within[which]:
            del within[which]
    return middle


def cut(text: str, spots: Sequence[Spot]) -> tuple[str, tuple[Span, ...]]:
    """At most 300 characters on one line around the best place, and the lit words in them."""
    first, last = _best_place(spots)
    middle = (first + last) // 2
    start, end = max(0, middle - 2 * LONGEST), min(len(text), middle + 2 * LONGEST)
    folded, where = _fold(text[start:end])

    def place(at: int) -> int:
        return where[min(max(at - start, 0), len(where) - 1)]

    begin, stop = _frame(folded, place(first), place(last))
    spans: list[Span] = []
    for spot in spots:
        left, right = max(place(spot.start), begin), min(place(spot.end), stop)
        if spot.end > start and spot.start < end and left < right:
            if spans and left - begin < spans[-1].end:
                spans[-1] = Span(spans[-1].start, max(spans[-1].end, right - begin))
            else:
                spans.append(Span(left - begin, right - begin))
    return folded[begin:stop], tuple(spans)


def _best_place(spots: Sequence[Spot]) -> tuple[int, int]:
    """Start and end of the stretch in which the most, and the rarest, of the words stand closest together."""
    if not spots:
        return 0, 0
    often = Counter(spot.leaf for spot in spots)
    best = (-1.0, spots[0].start, spots[0].end)
    within: Counter[int] = Counter()
    end = 0
    for number, first in enumerate(spots):
        while end < len(spots) and spots[end].end <= max(first.start + _TOGETHER, first.end):
            within[spots[end].leaf] += 1
            end += 1
        last = _reach(spots, number, end, len(within))
        worth = sum(1.0 + 1.0 / often[leaf] for leaf in within) - (last - first.start) / (4.0 * _TOGETHER)
        if worth > best[0] + 1e-9:
            best = (worth, first.start, last)
        within[first.leaf] -= 1
        if not within[first.leaf]:
            del within[first.leaf]
    return best[1], best[2]


def _reach(spots: Sequence[Spot], start: int, end: int, words: int) -> int:
    """Where the stretch from a spot on has met each of its words once."""
    met: set[int] = set()
    reach = spots[start].end
    for spot in spots[start:end]:
        if spot.leaf not in met:
            met.add(spot.leaf)
            reach = max(reach, spot.end)
            if len(met) == words:
                break
    return reach


def _fold(text: str) -> tuple[str, list[int]]:
    """Runs of white space as one blank; for each character, and the end, where it went."""
    out: list[str] = []
    where: list[int] = []
    length = 0
    at = 0
    for found in _BLANKS.finditer(text):
        kept = text[at : found.start()]
        out.append(kept)
        where.extend(range(length, length + len(kept)))
        length += len(kept)
        where.extend([length] * (found.end() - found.start()))
        out.append(" ")
        length += 1
        at = found.end()
    kept = text[at:]
    out.append(kept)
    where.extend(range(length, length + len(kept) + 1))
    return "".join(out), where


def _frame(text: str, first: int, last: int) -> tuple[int, int]:
    """Begin and end of the snippet: the place in the middle, cut between words where one is near."""
    room = max(LONGEST - (last - first), 0)
    begin = max(0, first - room // 2)
    begin = max(0, min(begin, len(text) - LONGEST))
    stop = min(len(text), begin + LONGEST)
    if begin > 0:
        blank = text.find(" ", begin, min(begin + 24, first))
        begin = blank + 1 if blank >= 0 else begin
    if stop < len(text):
        blank = text.rfind(" ", max(stop - 24, last, begin), stop)
        stop = blank if blank > begin else stop
    while begin < stop and text[begin] == " ":
        begin += 1
    while stop > begin and text[stop - 1] == " ":
        stop -= 1
    return begin, stop
