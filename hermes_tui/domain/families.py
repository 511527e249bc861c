"""Families of sessions: chains as conversations, and all sessions of a store together. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from threading import Lock

from hermes_tui.domain.chains import COMPRESSION, RESET_REASONS, Chain, build_chains, edge
from hermes_tui.domain.sessions import Conversation, Kind, Segment
from hermes_tui.values import dataclass, field, made, replace

__all__ = [
    "COMPRESSION",
    "RESET_REASONS",
    "Bystander",
    "Catalogue",
    "Chain",
    "build_chains",
    "conversation_of",
    "edge",
    "lying_beside",
]
_TAKING_IN = Lock()


Bystander = tuple[str, str, str]
"""What has to be known of a session that stands aside, so as to find it: id, source, title or else display name."""


def conversation_of(chain: Chain, profile: str) -> Conversation:
    """A chain as one row of a list. Its fields are given by place: a store may hold tens of thousands."""
    segments = chain[0]
    root, tip = segments[0], segments[-1]
    (
        tip_id, source, parent_id, started_at, ended_at, end_reason, title, display_name, model, provider, cwd,
        git_branch, git_repo_root, messages, calls, tokens_in, tokens_out, cost, pinned, archived, hidden,
        last_active, empty, *_,
    ) = tip  # fmt: skip
    ids: tuple[str, ...] = (tip_id,)
    if root is not tip:
        ids = tuple(segment.id for segment in segments)
        parent_id, started_at = root.parent_id, root.started_at
        title = title or root.title
        messages = sum(segment.message_count for segment in segments)
        calls = sum(segment.tool_call_count for segment in segments)
        tokens_in = sum(segment.input_tokens for segment in segments)
        tokens_out = sum(segment.output_tokens for segment in segments)
        costs = [segment.cost_usd for segment in segments if segment.cost_usd is not None]
        cost = sum(costs) if costs else None
        empty = all(segment.empty for segment in segments)
    return made(
        Conversation,
        (
            profile,
            ids,
            chain[1],
            title,
            display_name,
            source,
            model,
            provider,
            cwd,
            git_branch,
            git_repo_root,
            started_at,
            ended_at,
            last_active,
            messages,
            calls,
            tokens_in,
            tokens_out,
            cost,
            end_reason,
            pinned,
            archived,
            hidden,
            empty,
            False,  # live: known to nobody yet
            parent_id,
        ),
    )


def lying_beside(ordered: Sequence[str], text: str) -> slice:
    """Where those stand that begin so."""
    first = last = bisect_left(ordered, text)
    while last < len(ordered) and ordered[last].startswith(text):
        last += 1
    return slice(first, last)


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
    aside: int = 0
    """Conversations, hidden as automation and hanging together with nothing, that are counted and not in here."""
    bystanders: Mapping[str, Bystander] = field(default_factory=dict)
    """The same by id; empty until somebody wants to find them."""
    live: frozenset[str] = frozenset()
    """Sessions that are open somewhere, as far as is known."""
    made: dict[str, object] = field(default_factory=dict)
    """What searches have made of it, for the next one: by whichever thread."""
    _by_root: dict[str, Conversation] = field(default_factory=dict)
    _hanging: dict[str, list[Chain]] = field(default_factory=dict)
    _titled: list[Segment] = field(default_factory=list)
    """Sessions that have a title, in the order of these."""
    _ordered: dict[str, list[str]] = field(default_factory=dict)
    """Ids, and titles, in order: those that begin alike lie side by side."""

    @classmethod
    def of(cls, chains: Iterable[Chain], profile: str, *, damaged: int = 0, mute: int = 0) -> Catalogue:
        by_session: dict[str, Chain] = {}
        by_root: dict[str, Conversation] = {}
        for chain in chains:
            for segment in chain[0]:
                by_session[segment[0]] = chain
            if chain[1] is not Kind.DELEGATE:
                by_root[chain[0][0][0]] = conversation_of(chain, profile)
        return cls(profile, by_session, tuple(by_root.values()), damaged, mute, _by_root=by_root)

    def with_segments(self, changed: Iterable[Segment]) -> Catalogue:
        """The same families, in which these sessions look different now; what hangs off what has not changed."""
        fresh = {segment.id: segment for segment in changed}
        chains, by_root = dict(self.chains), dict(self._by_root)
        for before in {id(chain): chain for chain in map(self.chains.__getitem__, fresh)}.values():
            chain = Chain(tuple(fresh.get(segment.id, segment) for segment in before.segments), before.kind)
            chains.update((segment.id, chain) for segment in chain.segments)
            if chain.root.id in by_root:
                row = conversation_of(chain, self.profile)
                by_root[chain.root.id] = row._replace(live=not self.live.isdisjoint(row.segment_ids))
        conversations = tuple(by_root.values())
        return replace(
            self,
            chains=chains,
            conversations=conversations,
            made={},
            _by_root=by_root,
            _hanging={},
            _titled=[],
            _ordered={},
        )

    def marked(self, live: frozenset[str]) -> Catalogue:
        """The same, with the conversations of these sessions marked as live."""
        if live == self.live:
            return self
        chains = (self.chains.get(session_id) for session_id in live | self.live)
        by_root = dict(self._by_root)
        for root_id in {chain.root.id for chain in chains if chain is not None} & by_root.keys():
            now = by_root[root_id]
            by_root[root_id] = now._replace(live=not live.isdisjoint(now.segment_ids))
        conversations = tuple(row for root_id, row in by_root.items() if root_id not in self.bystanders)
        return replace(self, conversations=conversations, live=live, made={}, _by_root=by_root)

    def take_in(self, other: Catalogue) -> None:
        """Know these families too: some that stand aside were found. They stay out of `conversations`, where they are
        counted already. Whoever is reading goes on with what there was."""
        with _TAKING_IN:
            self.chains = {**self.chains, **other.chains}
            self._by_root = {**self._by_root, **other._by_root}
            self._hanging, self._titled, self._ordered = {}, [], {}

    def __len__(self) -> int:
        """How many sessions there are."""
        return len(self.chains)

    def titled(self, beginning: str) -> list[Segment]:
        """Sessions whose title begins so."""
        if "titles" not in self._ordered:
            named = [
                segment for chain in self.all_chains() for segment in chain.segments if segment.title is not None
            ]
            self._titled = sorted(named, key=lambda segment: segment.title or "")
            self._ordered["titles"] = [segment.title or "" for segment in self._titled]
        return self._titled[lying_beside(self._ordered["titles"], beginning)]

    def called(self, beginning: str) -> list[Segment]:
        """Sessions whose id begins so."""
        if "ids" not in self._ordered:
            self._ordered["ids"] = sorted(self.chains)
        ids = self._ordered["ids"][lying_beside(self._ordered["ids"], beginning)]
        return [segment for id in ids for segment in self.chains[id].segments if segment.id == id]

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

    def _above(self, chain: Chain) -> Chain | None:
        """The chain that this one hangs off. No parent is none: a session may be called by an empty id."""
        parent_id = chain.root.parent_id
        return None if parent_id is None else self.chains.get(parent_id)

    def owner(self, session_id: str) -> tuple[Conversation, bool] | None:
        """The conversation that this session counts for, and whether it does so as a delegate's run."""
        chain = self.chains.get(session_id)
        seen: set[str] = set()
        delegate = False
        while chain is not None and chain.kind is Kind.DELEGATE and chain.root.id not in seen:
            delegate = True
            seen.add(chain.root.id)
            chain = self._above(chain)
        found = None if chain is None else self._by_root.get(chain.root.id)
        return None if found is None else (found, delegate)

    def family_top(self, session_id: str) -> Chain:
        """The chain that the whole family of this session hangs off. Raises KeyError for an unknown session."""
        at = self.chains[session_id]
        path: dict[str, Chain] = {}
        while at.root.id not in path:
            path[at.root.id] = at
            above = self._above(at)
            if above is None:
                return at
            at = above
        ids = list(path)
        loop = [path[each] for each in ids[ids.index(at.root.id) :]]
        return next((chain for chain in loop if chain.kind is Kind.ORPHAN), at)
