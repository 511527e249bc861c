"""Conversations that hold the words in different messages, all of them or, failing that, some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from hermes_tui.domain.querytrees import Node
from hermes_tui.storage import matches, ranking
from hermes_tui.storage.connection import Store
from hermes_tui.storage.finding import Finding
from hermes_tui.storage.judging import Judge, judge_ids
from hermes_tui.storage.matches import FEW_SESSIONS, Groups
from hermes_tui.storage.scan import Judged
from hermes_tui.storage.tallies import grouped, merged
from hermes_tui.times import epoch

_FEW_MESSAGES = 1_000
"""Messages that are read and measured rather than asked for by rank, for which all that match must be ranked."""


def spread(store: Store, finding: Finding, found: Iterable[str]) -> Groups:
    """Messages with any of the words, of conversations that hold all of them; `found`: roots that need no
    looking at, because they are in the answer already."""
    roots: set[str] = set()
    for way in finding.parts.branches:
        if len(way) > 1 and not store.stopped():
            roots |= _with_all(store, finding, way, frozenset(found) | roots)
    return _any(store, finding, roots) if roots else {}


def partial(store: Store, finding: Finding) -> tuple[Groups, Counter[str]]:
    """Messages with any of the words, and how many of the words each conversation holds, by its root."""
    parts: Counter[str] = Counter()
    for number in range(len(finding.parts.units)):
        parts.update(_holders(store, finding, number, None))
    return (_any(store, finding, None), parts) if parts else ({}, parts)


def _with_all(store: Store, finding: Finding, way: tuple[int, ...], found: frozenset[str]) -> set[str]:
    """Roots of the conversations that hold all these parts; the rarest part is asked for first."""
    rarest = sorted(way, key=lambda number: _number(store, finding, finding.parts.units[number]))
    places = finding.ground.scope.places.values()
    roots = {place.root_id for place in places} - found
    for number in rarest:
        few = _sessions(finding, roots)
        roots &= _holders(store, finding, number, few if len(few) <= FEW_SESSIONS else None)
        if not roots:
            break
    return roots


def _number(store: Store, finding: Finding, unit: Node) -> int:
    """In how many messages the index finds a part: one that stands inside words in none."""
    asked = finding.of_index(unit)
    return 0 if asked is None else finding.count(store, asked)


def _holders(store: Store, finding: Finding, number: int, few: list[str] | None) -> set[str]:
    """Roots of the conversations in which this part occurs; `few`: of these sessions only."""
    places = finding.ground.scope.places
    bit = 1 << number
    sessions = {row.session_id for row in finding.partly.values() if row.verdict.units & bit}
    asked = finding.of_index(finding.parts.one(number))
    if finding.index is not None and asked is not None:
        sessions |= matches.sessions_with(store, finding.index, asked, finding.within, few)
    return {places[session_id].root_id for session_id in sessions if session_id in places}


def _sessions(finding: Finding, roots: Iterable[str]) -> list[str]:
    scope = finding.ground.scope
    return [session_id for root_id in roots for session_id in scope.sessions_of(root_id)]


def _any(store: Store, finding: Finding, roots: set[str] | None) -> Groups:
    """Messages with any part, of these conversations or of all."""
    sessions = list(finding.ground.scope.places) if roots is None else _sessions(finding, roots)
    read = finding.holding(store, sessions)
    tree, order = finding.of_index(finding.parts.any_allowed), finding.ground.order
    if finding.index is None or tree is None:
        return read
    if roots is not None and len(sessions) <= FEW_SESSIONS:
        ids = [each for each, _ in matches.ids(store, finding.index, tree, finding.within, sessions)]
        if len(ids) <= _FEW_MESSAGES:
            return merged(_measured(store, finding, ids), read, order)
    within = finding.within if roots is None else finding.within.in_sessions(sessions)
    return merged(ranking.ranked(store, finding.index, tree, within, order), read, order)


def _measured(store: Store, finding: Finding, ids: Sequence[int]) -> Groups:
    judge = Judge(finding.tree, finding.parts.units, finding.parts.barred, tokenizer=finding.ground.tokenizer)
    rows = [
        Judged(row.id, row.session_id, row.role, epoch(row.timestamp), verdict)
        for row, verdict in judge_ids(store, judge, ids)
    ]
    return grouped(rows, finding.scorer(store), finding.ground.order)
