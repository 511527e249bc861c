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
_BY_NUMBER = tuple(Tier)
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
        conversation, tops, tier = self.conversation, self.tops, self.tier
        active, root_id = conversation.last_active or 0.0, conversation.segment_ids[0]
        by_time = not tops or tier in BY_TIME
        if order is SearchOrder.RELEVANCE:
            worth = -active if by_time else tops[0].score
            return (_TIERS[tier], self.inner, -self.parts, worth, -active, root_id)
        at = conversation.last_active if by_time else tops[0].at
        worth = math.inf if at is None else at if order is SearchOrder.OLDEST else -at
        return (_TIERS[tier], 0, 0, worth, -active, root_id)


def tally(scope: Scope, groups: Groups, ranks: Ranks, order: SearchOrder) -> dict[str, Tally]:
    """Root id → tally, for every conversation that these matches bring."""
    places, conversations = scope.places, scope.conversations
    # by time a tier is one: prose, output and parts of the query stand among each other
    by_relevance = order is SearchOrder.RELEVANCE
    spoken = {kind: (_TIERS[tier], 0) for kind, (tier, _) in ranks.items()}
    demoted = {kind: (_TIERS[Tier.AUTOMATION], inner if by_relevance else 0) for kind, (_, inner) in ranks.items()}
    found: dict[str, Tally] = {}
    several: dict[str, list[tuple[tuple[int, int], list[Top]]]] = {}
    once: dict[tuple[int, int], tuple[int, int]] = {}
    for session_id, kinds in groups.items():
        place = places.get(session_id)
        if place is None:
            continue
        root_id, levels = place.root_id, demoted if place.automation else spoken
        for kind, group in kinds.items():
            level, known = levels[kind], found.get(root_id)
            if known is None:
                if (conversation := conversations.get(root_id)) is not None:  # else it has gone
                    tier = _BY_NUMBER[level[0]]
                    found[root_id] = Tally(conversation, tier, level[1], group.tops, group.count, place.delegate)
                continue
            if root_id not in several:
                first = (_TIERS[known.tier], known.inner)
                several[root_id] = [(once.setdefault(first, first), known.tops)]
            several[root_id].append((level, group.tops))
            known.count += group.count
    for root_id, parts in several.items():
        _join(found[root_id], parts, scope, order)
    return found


def _join(known: Tally, parts: Sequence[tuple[tuple[int, int], list[Top]]], scope: Scope, order: SearchOrder) -> None:
    """Matches of several sessions, or in several places of one: those of the first tier lead."""
    best, levels = by_order(order), sorted({level for level, _ in parts})
    known.tier, known.inner = _BY_NUMBER[levels[0][0]], levels[0][1]
    known.tops = []
    for level in levels:
        known.tops += sorted((top for each, tops in parts if each == level for top in tops), key=best)
        if len(known.tops) >= BEST:
            break
    del known.tops[BEST:]
    known.delegate = bool(known.tops) and scope.places[known.tops[0].session_id].delegate


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
