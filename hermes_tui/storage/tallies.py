"""From matching messages to conversations: in which tier, in which order, with which messages to show."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from hermes_tui.domain.queries import SearchOrder, Tier
from hermes_tui.domain.sessions import Conversation
from hermes_tui.storage.fts import Scale
from hermes_tui.storage.matches import BEST, CALLED, SAID, UNSURE, Group, Groups, Top, by_order
from hermes_tui.storage.scan import Judged
from hermes_tui.storage.scopes import Scope
from hermes_tui.values import dataclass, field

_TIERS = {tier: number for number, tier in enumerate(Tier)}
SortKey = tuple[float | str, ...]
Ranks = Mapping[int, tuple[Tier, int]]
"""Kind of match → tier, and place inside the tier of automation, which repeats the order of the tiers."""
WHOLE: Ranks = {SAID: (Tier.CONVERSATION, 0), CALLED: (Tier.TOOL, 2), UNSURE: (Tier.TOOL, 2)}
TITLED = 1
"""Place inside automation of a conversation that only its title brought."""
SPREAD: Ranks = dict.fromkeys((SAID, CALLED, UNSURE), (Tier.SPREAD, 3))
PARTIAL: Ranks = dict.fromkeys((SAID, CALLED, UNSURE), (Tier.PARTIAL, 4))
BY_TIME = frozenset({Tier.TARGET, Tier.TITLE, Tier.FILTER})
"""Tiers whose best is the newest."""
K1, B = 1.2, 0.75
"""BM25's constants, as FTS5 has them."""


@dataclass(slots=True)
class Tally:
    """One conversation of the answer, before its messages are read."""

    conversation: Conversation
    tier: Tier
    inner: int = 0
    """Place inside the tier by relevance, before anything else counts."""
    tops: list[Top] = field(default_factory=list)
    """Best first."""
    count: int = 0
    """Matching messages; copies may still be in it."""
    delegate: bool = False
    loose: bool = False
    """Its messages hold a part of the query each."""
    parts: int = 0
    """How many parts of the query occur in it, where not all of them do."""

    def key(self, order: SearchOrder) -> SortKey:
        """What sorts hits."""
        active = self.conversation.last_active or 0.0
        if order is SearchOrder.RELEVANCE:
            by_time = self.tier in BY_TIME or not self.tops
            worth = -active if by_time else self.tops[0].score
            return (_TIERS[self.tier], self.inner, -self.parts, worth, -active, self.conversation.root_id)
        at = self.tops[0].at if self.tops and self.tier not in BY_TIME else self.conversation.last_active
        worth = math.inf if at is None else at if order is SearchOrder.OLDEST else -at
        return (_TIERS[self.tier], 0, 0, worth, -active, self.conversation.root_id)


def tally(scope: Scope, groups: Groups, ranks: Ranks, order: SearchOrder) -> dict[str, Tally]:
    """Root id → tally, for every conversation that these matches bring."""
    found: dict[str, Tally] = {}
    levels: dict[str, dict[tuple[int, int], list[Top]]] = {}
    for session_id, kinds in groups.items():
        place = scope.places.get(session_id)
        if place is None:
            continue
        known = found.get(place.root_id)
        if known is None:
            known = found[place.root_id] = Tally(scope.conversations[place.root_id], Tier.FILTER)
        for kind, group in kinds.items():
            tier, inner = ranks[kind]
            # by time a tier is one: prose, output and parts of the query stand among each other
            inner = inner if order is SearchOrder.RELEVANCE else 0
            level = (_TIERS[Tier.AUTOMATION], inner) if place.automation else (_TIERS[tier], 0)
            levels.setdefault(place.root_id, {}).setdefault(level, []).extend(group.tops)
            known.count += group.count
    tiers, best = tuple(Tier), by_order(order)
    for root_id, known in found.items():
        ordered = sorted(levels[root_id].items())
        (number, known.inner), _ = ordered[0]
        known.tier = tiers[number]
        known.tops = [top for _, tops in ordered for top in sorted(tops, key=best)][:BEST]
        if known.tops:
            known.delegate = scope.places[known.tops[0].session_id].delegate
    return found


def merged(one: Groups, other: Groups, order: SearchOrder) -> Groups:
    """Both, where they are about different messages."""
    if not other:
        return one
    found: Groups = {session_id: dict(kinds) for session_id, kinds in one.items()}
    best = by_order(order)
    for session_id, kinds in other.items():
        here = found.setdefault(session_id, {})
        for kind, group in kinds.items():
            there = here.get(kind)
            if there is None:
                here[kind] = group
                continue
            tops = sorted([*there.tops, *group.tops], key=best)[:BEST]
            here[kind] = Group(there.count + group.count, tops)
    return found


@dataclass(frozen=True, slots=True)
class Scorer:
    """BM25 for rows that no index ranked, on the scale of one that did."""

    scale: Scale
    weights: tuple[float, ...]
    """For each leaf, how much it tells."""

    @classmethod
    def of(cls, scale: Scale, frequencies: Sequence[int]) -> Scorer:
        """`frequencies`: in how many rows each leaf occurs."""
        rows = max([scale.rows, *frequencies])
        weights = (math.log((rows - n + 0.5) / (n + 0.5)) for n in frequencies)
        return cls(scale, tuple(weight if weight > 0 else 1e-6 for weight in weights))

    def score(self, judged: Judged) -> float:
        """The smaller the better, as FTS5 has it."""
        length = K1 * (1 - B + B * judged.verdict.length / self.scale.average)
        return -sum(
            weight * often * (K1 + 1) / (often + length)
            for weight, often in zip(self.weights, judged.verdict.counts, strict=True)
        )


def grouped(
    judged: Iterable[Judged], scorer: Scorer, order: SearchOrder, measured: Mapping[int, float] | None = None
) -> Groups:
    """Rows that were read one by one, as an index would have given them. `measured`: what it does say of some."""
    known = measured or {}
    groups: Groups = {}
    for row in judged:
        kind = SAID if row.verdict.said and row.role in ("user", "assistant") else CALLED
        group = groups.setdefault(row.session_id, {}).setdefault(kind, Group(0))
        group.count += 1
        score = known.get(row.id)
        group.tops.append(Top(row.id, row.session_id, scorer.score(row) if score is None else score, row.at))
    best = by_order(order)
    for kinds in groups.values():
        for group in kinds.values():
            group.tops = sorted(group.tops, key=best)[:BEST]
    return groups
