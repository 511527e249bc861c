"""How sessions hang together: chains, conversations, delegates (SPEC 2, FACTS 4.2 and 6.3). Pure rules.

A compression continuation copies its parent's `model_config`, markers included. So where the parent ended by
compression, a marker says something about this edge only if it names this very parent; elsewhere its
presence is enough.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from hermes_tui.domain.sessions import Conversation, Kind, Segment

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
    for segment in by_id.values():
        kind = kinds.get(segment.id) or edge(segment, None, has_session_key=has_session_key)
        if kind is Kind.SEGMENT:
            continue
        chain = [segment]
        while (after := following.get(chain[-1].id)) is not None:
            chain.append(after)
        yield Chain(tuple(chain), kind)


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


def conversation_of(chain: Chain, profile: str) -> Conversation:
    """A chain as one row of a list."""
    root, tip = chain.segments[0], chain.segments[-1]
    if len(chain.segments) == 1:
        segment_ids: tuple[str, ...] = (tip.id,)
        messages, calls, tokens_in, tokens_out = (
            tip.message_count,
            tip.tool_call_count,
            tip.input_tokens,
            tip.output_tokens,
        )
        cost, empty, title = tip.cost_usd, tip.empty, tip.title
    else:
        segment_ids = tuple(segment.id for segment in chain.segments)
        messages = sum(segment.message_count for segment in chain.segments)
        calls = sum(segment.tool_call_count for segment in chain.segments)
        tokens_in = sum(segment.input_tokens for segment in chain.segments)
        tokens_out = sum(segment.output_tokens for segment in chain.segments)
        costs = [segment.cost_usd for segment in chain.segments if segment.cost_usd is not None]
        cost = sum(costs) if costs else None
        empty = all(segment.empty for segment in chain.segments)
        title = tip.title or root.title
    return Conversation(
        profile=profile,
        segment_ids=segment_ids,
        kind=chain.kind,
        title=title,
        display_name=tip.display_name,
        source=tip.source,
        model=tip.model,
        provider=tip.provider,
        cwd=tip.cwd,
        git_branch=tip.git_branch,
        git_repo_root=tip.git_repo_root,
        started_at=root.started_at,
        ended_at=tip.ended_at,
        last_active=tip.last_active,
        stored_messages=messages,
        tool_call_count=calls,
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        cost_usd=cost,
        end_reason=tip.end_reason,
        pinned=tip.pinned,
        archived=tip.archived,
        hidden=tip.hidden,
        empty=empty,
        live=False,
        parent_id=root.parent_id,
    )


@dataclass(slots=True)
class Catalogue:
    """All sessions of one store, as chains and conversations. Built once, then only read."""

    profile: str
    chains: dict[str, Chain]
    """Session id → the chain that it is a segment of."""
    conversations: tuple[Conversation, ...]
    """All but delegates' runs."""
    damaged: int = 0
    """Rows of `sessions` that could not be read."""
    mute: int = 0
    """Sessions whose newest messages could not be read."""
    live: frozenset[str] = frozenset()
    """Sessions that are open somewhere, as far as is known."""
    _by_root: dict[str, Conversation] = field(default_factory=dict)
    _hanging: dict[str, list[Chain]] = field(default_factory=dict)

    @classmethod
    def of(cls, chains: Iterable[Chain], profile: str, *, damaged: int = 0, mute: int = 0) -> Catalogue:
        by_session: dict[str, Chain] = {}
        conversations = []
        for chain in chains:
            for segment in chain.segments:
                by_session[segment.id] = chain
            if chain.kind is not Kind.DELEGATE:
                conversations.append(conversation_of(chain, profile))
        by_root = {conversation.segment_ids[0]: conversation for conversation in conversations}
        return cls(profile, by_session, tuple(conversations), damaged, mute, _by_root=by_root)

    def marked(self, live: frozenset[str]) -> Catalogue:
        """The same, with the conversations of these sessions marked as live."""
        if live == self.live:
            return self
        chains = (self.chains.get(session_id) for session_id in live | self.live)
        by_root = dict(self._by_root)
        for root_id in {chain.root.id for chain in chains if chain is not None} & by_root.keys():
            now = by_root[root_id]
            by_root[root_id] = now._replace(live=not live.isdisjoint(now.segment_ids))
        return replace(self, conversations=tuple(by_root.values()), live=live, _by_root=by_root)

    def __len__(self) -> int:
        """How many sessions there are."""
        return len(self.chains)

    def all_chains(self) -> Iterator[Chain]:
        """Every chain once, delegates' runs too."""
        return (chain for session_id, chain in self.chains.items() if chain.segments[0].id == session_id)

    def hanging(self) -> dict[str, list[Chain]]:
        """Session id → the chains that hang off it, oldest first: branches, resets, delegates and the like."""
        if not self._hanging:
            found: dict[str, list[Chain]] = defaultdict(list)
            for chain in self.all_chains():
                if chain.root.parent_id is not None:
                    found[chain.root.parent_id].append(chain)
            for chains in found.values():
                chains.sort(key=lambda chain: (chain.root.started_at or 0.0, chain.root.id))
            self._hanging = dict(found)
        return self._hanging

    def by_root(self, root_id: str) -> Conversation | None:
        """The conversation with this root; a delegate's run too, as one of its own."""
        found = self._by_root.get(root_id)
        if found is None and (chain := self.chains.get(root_id)) is not None and chain.root.id == root_id:
            alone = conversation_of(chain, self.profile)
            return alone._replace(live=not self.live.isdisjoint(alone.segment_ids))
        return found

    def holding(self, session_id: str) -> Conversation | None:
        """The conversation whose transcript holds this session: a delegate's run stands for itself."""
        chain = self.chains.get(session_id)
        return None if chain is None else self.by_root(chain.root.id)

    def owner(self, session_id: str) -> tuple[Conversation, bool] | None:
        """The conversation that this session counts for, and whether it does so as a delegate's run."""
        chain = self.chains.get(session_id)
        seen: set[str] = set()
        delegate = False
        while chain is not None and chain.kind is Kind.DELEGATE and chain.root.id not in seen:
            delegate = True
            seen.add(chain.root.id)
            chain = self.chains.get(chain.root.parent_id or "")
        found = None if chain is None else self._by_root.get(chain.root.id)
        return None if found is None else (found, delegate)

    def family_top(self, session_id: str) -> Chain:
        """The chain that the whole family of this session hangs off. Raises KeyError for an unknown session."""
        at = self.chains[session_id]
        path: dict[str, Chain] = {}
        while at.root.id not in path:
            path[at.root.id] = at
            above = self.chains.get(at.root.parent_id or "")
            if above is None:
                return at
            at = above
        ids = list(path)
        loop = [path[each] for each in ids[ids.index(at.root.id) :]]
        return next((chain for chain in loop if chain.kind is Kind.ORPHAN), at)
