"""From a matching message to what a hit shows of it: the place where the words stand together, and which
characters of it to light up."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing

from hermes_tui.domain.contents import as_text, load_json, without_payloads
from hermes_tui.domain.queries import Match, Span
from hermes_tui.domain.querytrees import Leaf, Node, positive
from hermes_tui.storage.connection import Store
from hermes_tui.storage.excerpts import excerpt
from hermes_tui.storage.judging import UNICODE, Words, calls_of, pattern, said_of
from hermes_tui.storage.rows import Cells, by_ids
from hermes_tui.storage.spans import Finder, Places, words_of
from hermes_tui.times import epoch
from hermes_tui.values import NamedTuple

LONGEST = 300
"""Characters of a snippet."""
_TOGETHER = 220
"""Words further apart than this do not stand together."""
_NEAR = 24
"""Characters that a snippet may be shorter, so as not to cut a word."""
_MANY = 1_000
"""Places of one word that are looked at."""
_MANY_WORDS = 24
"""Words from which on a text is gone through once for all of them; for few it takes less to look for each."""


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
    wanted = tuple(dict.fromkeys(positive(tree))) if tree is not None else ()
    best: dict[int, tuple[int, _Source, list[Spot]]] = {}
    _take_better(best, [_said(cells) for cells in rows.values()], wanted, tokenizer)
    silent = [cells for cells in rows.values() if cells[5] and not best[cells[0]][0]]
    _take_better(best, [_named(cells) for cells in silent], wanted, tokenizer)
    called = [cells for cells in rows.values() if cells[6] and best[cells[0]][0] < len(wanted)]
    _take_better(best, [source for cells in called for source in _calls(cells[0], cells[6])], wanted, tokenizer)
    # what an index found in an id, or in the JSON around a call, is shown there rather than nowhere
    unlit = [cells for cells in called if not best[cells[0]][0]]
    _take_better(
        best, [_Source(cells[0], without_payloads(calls_of(cells[6])), None) for cells in unlit], wanted, tokenizer
    )
    matches = {}
    for message_id, (_, source, found) in best.items():
        _, session_id, role, timestamp = rows[message_id][:4]
        snippet, spans = cut(source.text, found)
        matches[message_id] = Match(message_id, session_id, role or "", epoch(timestamp), snippet, spans, source.tool)
    return matches


def _take_better(
    best: dict[int, tuple[int, _Source, list[Spot]]],
    sources: Sequence[_Source],
    wanted: Sequence[Leaf],
    tokenizer: str,
) -> None:
    """Keep for each message the text that holds the most of the words; of equals, the first."""
    for source, found in zip(sources, _spots(wanted, sources, tokenizer), strict=True):
        distinct = len({spot[2] for spot in found})
        if source.message_id not in best or distinct > best[source.message_id][0]:
            best[source.message_id] = (distinct, source, found)


def _said(cells: Cells) -> _Source:
    """What a message says; a result names its tool."""
    said = said_of(cells[4])
    return _Source(cells[0], without_payloads(said), as_text(cells[5]) or None)


def _named(cells: Cells) -> _Source:
    """The same after the name of its tool, for what matches by that name alone."""
    source = _said(cells)
    return source._replace(text=f"{source.tool} {source.text}")


def _calls(message_id: int, raw: object) -> Iterator[_Source]:
    """The calls of a message, each with and without the name of its tool."""
    from hermes_tui.domain.calls import parse_stored_calls

    stored = parse_stored_calls(raw)
    if stored is None:
        yield _Source(message_id, without_payloads(calls_of(raw)), None)
        return
    for each in stored:
        arguments = _spoken(without_payloads(each.call.arguments))
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
    if not sources:
        return []  # of thousands of words it would take long to find them nowhere
    spots: list[list[Spot]] = [[] for _ in sources]
    excerpts = {number: excerpt(source.text, wanted) for number, source in enumerate(sources)}
    texts = {number: text for number, (_, text) in excerpts.items()}
    plain = {number: text for number, text in texts.items() if len(wanted) > _MANY_WORDS and text.isascii()}
    known = {number: words_of(text) for number, text in plain.items()}
    found = [_places(leaf, texts, known, tokenizer) for leaf in wanted]
    doubtful = {number for places in found for number in texts.keys() - places.keys()}
    if doubtful:
        with closing(Words(tokenizer)) as words:
            words.fill((number, texts[number], "", "") for number in doubtful)
            found = [words.spans(leaf) | places for leaf, places in zip(wanted, found, strict=True)]
    for which, places in enumerate(found):
        for number, there in places.items():
            offset = excerpts[number][0]
            spots[number] += [Spot(start + offset, end + offset, which) for start, end in there[:_MANY]]
    for each in spots:
        each.sort()
    return spots


def _places(
    leaf: Leaf, texts: Mapping[int, str], known: Mapping[int, Places], tokenizer: str
) -> dict[int, list[tuple[int, int]]]:
    """Text → where a leaf stands in it, for the texts of which that can be told without FTS5."""
    if leaf.substring:
        regex = pattern(leaf)
        return {number: [each.span() for each in regex.finditer(text)] for number, text in texts.items()}
    finder = Finder(leaf, tokenizer)
    found = ((number, finder.spans(text, known.get(number))) for number, text in texts.items()) if finder.able else ()
    return {number: places for number, places in found if places is not None}


def cut(text: str, spots: Sequence[Spot]) -> tuple[str, tuple[Span, ...]]:
    """At most 300 characters on one line around the best place, and the lit words in them."""
    first, last = _best_place(spots)
    middle = (first + last) // 2
    start, end = max(0, middle - 2 * LONGEST), min(len(text), middle + 2 * LONGEST)
    joined = _joined(spots, start, end)
    folded, lit = _fold(text, joined, start, end)
    place = [now for (left, right), now in zip(joined, lit, strict=True) if right > first and left < last]
    frame = _frame(folded, place[0][0], place[-1][1]) if place else _frame(folded, 0, 0)
    return folded[frame.start : frame.end], _framed(lit, frame)


def _joined(spots: Sequence[Spot], start: int, end: int) -> list[tuple[int, int]]:
    """The spots of a stretch, those that overlap made one."""
    joined: list[tuple[int, int]] = []
    for left, right, _ in spots:
        if right <= start or left >= end:
            continue
        left, right = max(left, start), min(right, end)
        if joined and left < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], right))
        elif left < right:
            joined.append((left, right))
    return joined


def _fold(text: str, spans: Sequence[tuple[int, int]], start: int, end: int) -> tuple[str, list[tuple[int, int]]]:
    """A stretch of text with every run of white space made one blank, and where each span is now."""
    parts: list[str] = []
    length, at = 0, start
    moved: list[tuple[int, int]] = []
    for left, right in spans:
        before, word = _squeezed(text[at:left]), text[left:right]
        if not word.isalnum():
            word = _squeezed(word)
        parts += (before, word)
        begin = length + len(before)
        length = begin + len(word)
        moved.append((begin, length))
        at = right
    parts.append(_squeezed(text[at:end]))
    return "".join(parts), moved


def _squeezed(text: str) -> str:
    """Every run of white space made one blank; a pattern would take several times as long."""
    words = text.split()
    if not words:
        return text[:1] and " "
    return f"{' ' * text[0].isspace()}{' '.join(words)}{' ' * text[-1].isspace()}"


def _framed(spans: Iterable[tuple[int, int]], frame: Span) -> tuple[Span, ...]:
    begin, stop = frame
    cropped = ((max(left, begin), min(right, stop)) for left, right in spans)
    return tuple(Span(left - begin, right - begin) for left, right in cropped if left < right)


def _best_place(spots: Sequence[Spot]) -> tuple[int, int]:
    """Start and end of the stretch in which the most, and the rarest, of the words stand closest together."""
    if not spots:
        return 0, 0
    if len({spot[2] for spot in spots}) == 1:  # each is as good as any other, the shorter the better
        start, end, _ = min(spots, key=lambda spot: spot[1] - spot[0])
        return start, end
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


def _frame(text: str, first: int, last: int) -> Span:
    """Where the snippet begins and ends: the place in the middle, cut between words where one is near."""
    room = max(LONGEST - (last - first), 0)
    begin = max(0, min(first - room // 2, len(text) - LONGEST))
    stop = min(len(text), begin + LONGEST)
    if begin > 0:
        blank = text.find(" ", begin, min(begin + _NEAR, first))
        begin = blank + 1 if blank >= 0 else begin
    if stop < len(text):
        blank = text.rfind(" ", max(stop - _NEAR, last, begin), stop)
        stop = blank if blank > begin else stop
    while begin < stop and text[begin] == " ":
        begin += 1
    while stop > begin and text[stop - 1] == " ":
        stop -= 1
    return Span(begin, stop)
