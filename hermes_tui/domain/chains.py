"""Which session continues which (SPEC 2, FACTS 4.2 and 6.3). Pure rules.

A compression continuation copies its parent's `model_config`, markers included. So where the parent ended by
compression, a marker says something about this edge only if it names this very parent; elsewhere its
presence is enough.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from hermes_tui.domain.sessions import Kind, Segment
from hermes_tui.values import NamedTuple, made

COMPRESSION = "compression"
RESET_REASONS = frozenset({"session_reset", "session_switch", "idle", "daily", "suspended", "resume_pending_expired"})
"""End reasons after which Hermes starts a conversation of its own under the same parent."""
ORPHANED = "__orphaned__"
"""What Hermes writes as a delegate's origin once that is deleted."""


class Chain(NamedTuple):
    """Segments that continue each other, root to tip."""

    segments: tuple[Segment, ...]
    kind: Kind
    """What the first one is to its parent."""

    @property
    def root(self) -> Segment:
        return self.segments[0]

    @property
    def tip(self) -> Segment:
        return self.segments[-1]


def edge(child: Segment, parent: Segment | None, *, has_session_key: bool = True) -> Kind:
    """What `child` is to `parent`; `SEGMENT` for a candidate of continuation, of which one will be chosen.

    `has_session_key`: False below schema 22, where a child of a parent that was reset can only be its reset.
    """
    if child.delegate_from == ORPHANED:
        return Kind.ORPHAN
    if parent is None:
        missing = child.parent_id is not None or child.delegate_from is not None
        return Kind.ORPHAN if missing else Kind.ROOT
    compressed = parent.end_reason == COMPRESSION
    if (marked := _marked(child, parent, inherits=compressed)) is not None:
        return marked
    if compressed:
        helper = child.source == "tool" or (child.source == "subagent" and parent.source != "subagent")
        return Kind.DELEGATE if helper else Kind.SEGMENT
    if parent.end_reason == "branched" and _not_before(child.started_at, parent.ended_at):
        return Kind.BRANCH
    if parent.end_reason in RESET_REASONS and (
        not has_session_key or (child.session_key and child.session_key == parent.session_key)
    ):
        return Kind.RESET
    return Kind.DELEGATE


def _marked(child: Segment, parent: Segment, *, inherits: bool) -> Kind | None:
    """What the markers say. One that names this very parent counts first; one that names another session is a
    copy from further up where the parent was compressed, and counts where it was not."""
    markers = (
        (child.delegate_from, Kind.DELEGATE),
        (child.branched_from, Kind.BRANCH),
        (child.reset_from, Kind.RESET),
    )
    for origin, kind in markers:
        if origin == parent.id:
            return kind
    if inherits:
        return None
    return next((kind for origin, kind in markers if origin is not None), None)


def _not_before(start: float | None, end: float | None) -> bool:
    return start is not None and end is not None and start >= end


def _preference(child: Segment, freshest: float) -> tuple[int, float, float, str]:
    """Order among continuations of one parent, smallest first reversed: the best compares largest."""
    rank = 2 if child.end_reason == COMPRESSION else 1 if child.ended_at is None else 0
    return (rank, freshest, child.started_at or 0.0, child.id)


def build_chains(
    segments: Iterable[Segment],
    *,
    has_session_key: bool = True,
    freshest: Callable[[Segment], float] = lambda segment: segment.last_active or 0.0,
) -> Iterator[Chain]:
    """Every session in exactly one chain.

    `freshest` gives the recency that decides among several continuations; it is asked only for those.
    """
    by_id = {segment.id: segment for segment in segments}
    children: dict[str, list[Segment]] = defaultdict(list)
    for segment in by_id.values():
        if segment.parent_id in by_id:
            children[segment.parent_id].append(segment)
    loops = _loops(by_id, children)
    kinds = dict.fromkeys(loops, Kind.ORPHAN)
    following: dict[str, Segment] = {}
    for parent_id, found in children.items():
        parent = by_id[parent_id]
        going_on = []
        for child in found:
            if child.id in loops:
                continue
            kind = kinds[child.id] = edge(child, parent, has_session_key=has_session_key)
            if kind is Kind.SEGMENT:
                going_on.append(child)
        if going_on:
            best = going_on[0]
            if len(going_on) > 1:
                best = max(going_on, key=lambda child: _preference(child, freshest(child)))
                kinds.update((child.id, Kind.SIBLING) for child in going_on if child is not best)
            following[parent_id] = best
    for id, segment in by_id.items():
        kind = kinds.get(id) or edge(segment, None, has_session_key=has_session_key)
        if kind is Kind.SEGMENT:
            continue
        chain: tuple[Segment, ...] = (segment,)
        while id in following:
            id = following[id].id
            chain += (by_id[id],)
        yield made(Chain, (chain, kind))


def _loops(by_id: dict[str, Segment], children: dict[str, list[Segment]]) -> set[str]:
    """One session of each loop of parents, the oldest: there the loop is cut. Its own parent is the least loop."""
    if not children:
        return set()
    cut: set[str] = set()
    settled: set[str] = set()
    for start in children:
        path: dict[str, None] = {}
        at: str | None = start
        while at is not None and at in by_id and at not in settled and at not in path:
            path[at] = None
            at = by_id[at].parent_id
        if at is not None and at in path:
            ids = list(path)
            loop = [by_id[each] for each in ids[ids.index(at) :]]
            cut.add(min(loop, key=lambda each: (each.started_at or 0.0, each.id)).id)
        settled.update(path)
    return cut
