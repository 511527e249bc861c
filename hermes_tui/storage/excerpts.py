"""Of a very long text the part in which the words of a query stand close together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from hermes_tui.domain.querytrees import Leaf

_LONG = 60_000
"""Characters from which on only the neighbourhood of the words is read."""
_AROUND = 3_000
_MANY = 1_000
"""Places of one word that are looked at."""
_TRIED = 50_000
"""Places where a word may begin that are looked at."""
_RUNS = re.compile(r"[^\W_]+")


def excerpt(text: str, wanted: Sequence[Leaf]) -> tuple[int, str]:
    """Of a very long text the part around the first place where most of the words are near each other."""
    if len(text) <= _LONG:
        return 0, text
    places: list[tuple[int, int]] = []
    for which, leaf in enumerate(wanted):
        places += ((at, which) for at in islice(_standing(leaf, text), _MANY))
    if not places:
        return 0, text
    places.sort()
    middle = _densest(places)
    start = max(0, middle - _AROUND)
    return start, text[start : middle + _AROUND]


def _standing(leaf: Leaf, text: str) -> Iterator[int]:
    """Where a leaf stands in a text, as it is written: what only begins or ends so would lead away from it."""
    runs = _RUNS.findall(leaf.text)
    if not runs:
        return
    end = "" if leaf.substring or leaf.prefix else r"(?![^\W_])"
    whole = re.compile(r"[\W_]+".join(map(re.escape, runs)) + end, re.IGNORECASE)
    for at in islice(_begun(runs[0], text), _TRIED):
        apart = leaf.substring or not text[at - 1 : at].isalnum()
        if apart and whole.match(text, at):
            yield at


def _begun(run: str, text: str) -> Iterator[int]:
    """Where a run of characters begins in a text, in whatever case."""
    if not run.isascii() or not text.isascii():
        yield from (found.start() for found in re.finditer(re.escape(run), text, re.IGNORECASE))
        return
    run, text = run.lower(), text.lower()  # many times faster to look through
    at = text.find(run)
    while at >= 0:
        yield at
        at = text.find(run, at + len(run))


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
