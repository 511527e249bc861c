"""The family of a conversation as a tree of plain data; painting it comes second."""

from __future__ import annotations

from dataclasses import dataclass

from hermes_tui.domain.sessions import Kind, Status


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


@dataclass(frozen=True, slots=True)
class Lineage:
    """A family in the order in which it is drawn: each session, what hangs off it, then the next segment."""

    profile: str
    nodes: tuple[LineageNode, ...]
