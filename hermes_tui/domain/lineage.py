"""The family of a conversation as a tree of plain data; painting it comes second."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from hermes_tui.domain.families import Catalogue, Chain
from hermes_tui.domain.names import named, plain_title
from hermes_tui.domain.sessions import Kind, Segment, Status
from hermes_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class LineageNode:
    """One session of a family."""

    id: str
    parent_id: str | None
    kind: Kind
    title: str | None
    source: str
    model: str | None
    started_at: float | None
    ended_at: float | None
    end_reason: str | None
    message_count: int
    tokens: int
    is_tip: bool
    """The tip of the conversation that the tree was asked for, or of any other chain in it."""
    is_current: bool
    """The session that the tree was asked for."""
    depth: int
    """Segments of a chain share the depth of its root; what hangs off a segment is one deeper."""
    root_id: str
    """Root of the chain that it belongs to."""
    segment: tuple[int, int]
    """(n, of): which segment of its chain."""
    archived: bool
    pinned: bool
    live: bool
    status: Status
    display_name: str | None = None
    """What the platform calls it."""


@dataclass(frozen=True, slots=True)
class Lineage:
    """A family in the order in which it is drawn: each session, what hangs off it, then the next segment."""

    profile: str
    nodes: tuple[LineageNode, ...]


def chain_names(nodes: Iterable[LineageNode]) -> dict[str, str]:
    """What a list calls each conversation that has a name, by its root's id."""
    roots: dict[str, LineageNode] = {}
    names: dict[str, str] = {}
    for node in nodes:  # the tip of a chain comes last
        root = roots.setdefault(node.root_id, node)
        if node.is_tip and (name := named(node.title or root.title, node.display_name, node.segment[1])):
            names[node.root_id] = name
    return names


def node_name(node: LineageNode, names: Mapping[str, str]) -> str:
    """Its own title, else what its conversation is called; empty where that has no name."""
    return plain_title(node.title or "", node.segment[1]) or names.get(node.root_id, "")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a session stands in the tree of its family."""

    chain: Chain
    index: int
    """Which segment of its chain, from 0."""
    depth: int

    @property
    def segment(self) -> Segment:
        return self.chain.segments[self.index]


def family_places(catalogue: Catalogue, session_id: str) -> list[Place]:
    """Every session of the family of `session_id`, in drawing order. Loops and long lines do no harm: each
    chain stands once, and nothing here calls itself. Raises KeyError for an unknown session."""
    hanging = catalogue.hanging()
    top = catalogue.family_top(session_id)
    drawn = {top.root.id}
    places: list[Place] = []
    open_chains = [(top, 0, 0)]
    while open_chains:
        chain, index, depth = open_chains.pop()
        places.append(Place(chain, index, depth))
        if index + 1 < len(chain.segments):
            open_chains.append((chain, index + 1, depth))
        for child in reversed(hanging.get(chain.segments[index].id, [])):
            if child.root.id not in drawn:
                drawn.add(child.root.id)
                open_chains.append((child, 0, depth + 1))
    return places


def build_lineage(
    catalogue: Catalogue,
    session_id: str,
    *,
    counts: Mapping[str, int],
    statuses: Mapping[str, Status],
    live: Collection[str] = (),
) -> Lineage:
    """The family as nodes. `counts` and `statuses` are by session id; without a count the stored one stands."""
    nodes = []
    for place in family_places(catalogue, session_id):
        segment, chain = place.segment, place.chain
        nodes.append(
            LineageNode(
                id=segment.id,
                parent_id=segment.parent_id,
                kind=chain.kind if place.index == 0 else Kind.SEGMENT,
                title=segment.title,
                source=segment.source,
                model=segment.model,
                started_at=segment.started_at,
                ended_at=segment.ended_at,
                end_reason=segment.end_reason,
                message_count=counts.get(segment.id, segment.message_count),
                tokens=segment.input_tokens + segment.output_tokens,
                is_tip=place.index == len(chain.segments) - 1,
                is_current=segment.id == session_id,
                depth=place.depth,
                root_id=chain.root.id,
                segment=(place.index + 1, len(chain.segments)),
                archived=segment.archived,
                pinned=segment.pinned,
                live=segment.id in live,
                status=statuses.get(segment.id, Status.UNKNOWN),
                display_name=segment.display_name,
            )
        )
    return Lineage(catalogue.profile, tuple(nodes))
