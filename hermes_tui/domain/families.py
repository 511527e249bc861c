"""Families of sessions: chains as conversations, and all sessions of a store together. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from hermes_tui.domain.chains import COMPRESSION, RESET_REASONS, Chain, build_chains, edge
from hermes_tui.domain.sessions import Conversation, Kind, Segment

__all__ = ["COMPRESSION", "RESET_REASONS", "Catalogue", "Chain", "build_chains", "conversation_of", "edge"]


class _Sums(NamedTuple):
    """What a conversation has of all its segments."""

    messages: int
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    empty: bool


def _sums(segments: tuple[Segment, ...]) -> _Sums:
    if len(segments) == 1:
        (s,) = segments
        return _Sums(s.message_count, s.tool_call_count, s.input_tokens, s.output_tokens, s.cost_usd, s.empty)
    costs = [segment.cost_usd for segment in segments if segment.cost_usd is not None]
    return _Sums(
        sum(segment.message_count for segment in segments),
        sum(segment.tool_call_count for segment in segments),
        sum(segment.input_tokens for segment in segments),
        sum(segment.output_tokens for segment in segments),
        sum(costs) if costs else None,
        all(segment.empty for segment in segments),
    )


def conversation_of(chain: Chain, profile: str) -> Conversation:
    """A chain as one row of a list."""
    root, tip, sums = chain.segments[0], chain.segments[-1], _sums(chain.segments)
    return Conversation(
        profile=profile,
        segment_ids=(tip.id,) if root is tip else tuple(segment.id for segment in chain.segments),
        kind=chain.kind,
        title=tip.title or root.title,
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
        stored_messages=sums.messages,
        tool_call_count=sums.calls,
        input_tokens=sums.tokens_in,
        output_tokens=sums.tokens_out,
        cost_usd=sums.cost,
        end_reason=tip.end_reason,
        pinned=tip.pinned,
        archived=tip.archived,
        hidden=tip.hidden,
        empty=sums.empty,
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
