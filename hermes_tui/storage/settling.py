"""In a one-column index the text and the calls of a message are one: read messages to tell which of them match
in what was said. No more are read than it takes to know the best of each session."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hermes_tui.domain.queries import SearchOrder
from hermes_tui.domain.querytrees import Node
from hermes_tui.storage import ranking
from hermes_tui.storage.conditions import Conditions
from hermes_tui.storage.connection import Store
from hermes_tui.storage.fts import Index
from hermes_tui.storage.judging import Judge, judge_ids
from hermes_tui.storage.matches import BEST, CALLED, SAID, UNSURE, Group, Groups, Top, by_order
from hermes_tui.values import dataclass

Said = Callable[[Sequence[int]], set[int]]
"""Of these messages, those whose text alone matches."""
Others = Callable[[Sequence[str]], dict[str, list[Top]]]
"""All unsure messages of these sessions."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the index was asked."""

    index: Index
    tree: Node
    where: Conditions
    order: SearchOrder
    tokenizer: str


def settled_by_reading(store: Store, asked: Asked, groups: Groups) -> Groups:
    """What the index answered, nothing unsure among it."""
    judge = Judge(asked.tree, tokenizer=asked.tokenizer)

    def said(ids: Sequence[int]) -> set[int]:
        return {row.id for row, verdict in judge_ids(store, judge, ids) if verdict.said}

    def others(session_ids: Sequence[str]) -> dict[str, list[Top]]:
        found: dict[str, list[Top]] = {}
        where = asked.where.in_sessions(list(session_ids))
        for kind, top in ranking.every(store, asked.index, asked.tree, where, asked.order):
            if kind == UNSURE:
                found.setdefault(top.session_id, []).append(top)
        return found

    return settled(groups, asked.order, said, others)


def settled(groups: Groups, order: SearchOrder, said: Said, others: Others) -> Groups:
    """The same matches, nothing unsure among them."""
    best = by_order(order)
    unsure = {session_id: kinds[UNSURE] for session_id, kinds in groups.items() if UNSURE in kinds}
    waiting = {session_id: list(group.tops) for session_id, group in unsure.items()}
    whole = {session_id for session_id, group in unsure.items() if group.count <= len(group.tops)}
    found: dict[str, Top] = {}
    passed: dict[str, list[Top]] = {}
    """Those before it, by session, which do not match in their text."""
    while waiting:
        verdicts = said([tops[0].id for tops in waiting.values()])
        empty = []
        for session_id, tops in list(waiting.items()):
            top = tops.pop(0)
            if top.id in verdicts:
                found[session_id] = top
                del waiting[session_id]
                continue
            passed.setdefault(session_id, []).append(top)
            if not tops:
                del waiting[session_id]
                if session_id not in whole:
                    empty.append(session_id)
        if empty:
            whole.update(empty)
            tried = {top.id for session_id in empty for top in unsure[session_id].tops}
            for session_id, tops in others(empty).items():
                left = sorted((top for top in tops if top.id not in tried), key=best)
                if left:
                    waiting[session_id] = left
    return {
        session_id: _told_apart(kinds, found.get(session_id), passed.get(session_id, []), order)
        for session_id, kinds in groups.items()
    }


def _told_apart(
    kinds: dict[int, Group], said: Top | None, passed: Sequence[Top], order: SearchOrder
) -> dict[int, Group]:
    """One session's matches: those that were unsure go where the best of them belongs, the better ones that were
    `passed` on the way where they belong."""
    group = kinds.get(UNSURE)
    if group is None:
        return kinds
    kept = {kind: each for kind, each in kinds.items() if kind != UNSURE}
    called = Group(group.count, list(passed))
    if said is not None:
        called.count = len(passed)
        _join(kept, SAID, Group(group.count - len(passed), [said]), order)
    if called.count:
        _join(kept, CALLED, called, order)
    return kept


def _join(kept: dict[int, Group], kind: int, group: Group, order: SearchOrder) -> None:
    there = kept.get(kind, Group(0))
    tops = sorted([*there.tops, *group.tops], key=by_order(order))[:BEST]
    kept[kind] = Group(there.count + group.count, tops)
