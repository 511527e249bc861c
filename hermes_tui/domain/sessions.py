"""Sessions as Hermes stores them, and conversations as people know them.

A *segment* is a row of `sessions`; a *conversation* is a compression chain of them, root to tip. The tip
speaks for the conversation; what began it, the root, is what does not change when the chain grows, so a
conversation is known by (profile, root id).
"""

from __future__ import annotations

from enum import StrEnum

from hermes_tui.values import NamedTuple, dataclass

AUTOMATION_SOURCES = frozenset({"cron", "subagent", "kanban", "tool", "oneshot"})
"""Sources of sessions that no person typed in."""
UNASKED_SOURCES = frozenset({"kanban", "subagent", "tool"})
"""Sources that a search leaves out unless they are asked for."""


class Status(StrEnum):
    """How a conversation stands, read off its last message (FACTS 6.5)."""

    COMPLETE = "complete"
    INTERRUPTED = "interrupted"
    ERROR = "error"
    EMPTY = "empty"
    UNKNOWN = "unknown"


class HiddenReason(StrEnum):
    """Why a list leaves a conversation out; the first that holds counts, in this order."""

    AUTOMATION = "automation"
    ARCHIVED = "archived"
    HIDDEN = "hidden"
    EMPTY = "empty"


class Order(StrEnum):
    """Orders of a list: descending, title from A to Z; ties newest first, then by id."""

    ACTIVE = "active"
    STARTED = "started"
    MESSAGES = "messages"
    TOKENS = "tokens"
    COST = "cost"
    TITLE = "title"


class ConversationKey(NamedTuple):
    """What a cursor holds on to: it stays the same when the conversation gains a segment."""

    profile: str
    root_id: str


class Segment(NamedTuple):
    """One row of `sessions`, without its long texts. Nonsense in a cell reads as None or 0.

    A tuple, as is `Conversation`: a store may hold tens of thousands, and they are made all at once.
    """

    id: str
    source: str
    parent_id: str | None
    started_at: float | None
    ended_at: float | None
    end_reason: str | None
    title: str | None
    display_name: str | None
    model: str | None
    provider: str | None
    cwd: str | None
    git_branch: str | None
    git_repo_root: str | None
    message_count: int
    """As stored: active rows only."""
    tool_call_count: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    """Actual, else estimated."""
    pinned: bool
    archived: bool
    hidden: bool
    last_active: float | None
    """Newest visible message or heartbeat, else the start; epoch seconds."""
    empty: bool
    """It has no visible message."""
    session_key: str | None
    branched_from: str | None
    delegate_from: str | None
    reset_from: str | None


class Kind(StrEnum):
    """What a session is to its parent."""

    ROOT = "root"
    SEGMENT = "segment"
    BRANCH = "branch"
    RESET = "reset"
    DELEGATE = "delegate"
    SIBLING = "sibling"
    """A compression child that lost against the one the chain went on with."""
    ORPHAN = "orphan"
    """Its parent is missing, or its parents form a loop."""


class Conversation(NamedTuple):
    """A chain of segments, as one row of a list.

    `started_at` and `parent_id` are the root's; tool calls, tokens and cost are summed; every other
    column is the tip's.
    """

    profile: str
    segment_ids: tuple[str, ...]
    """Root to tip."""
    kind: Kind
    """What its root is to its parent; `delegate` only for a run that is looked at by itself."""
    title: str | None
    """The tip's stored title, else the root's, verbatim."""
    display_name: str | None
    source: str
    model: str | None
    provider: str | None
    cwd: str | None
    git_branch: str | None
    git_repo_root: str | None
    started_at: float | None
    ended_at: float | None
    last_active: float | None
    stored_messages: int
    """The stored counts, summed: what filters and orders use, and what a screen shows until it knows better."""
    tool_call_count: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    end_reason: str | None
    pinned: bool
    archived: bool
    hidden: bool
    """The column of that name, not whether a list leaves it out."""
    empty: bool
    """No segment has a visible message."""
    live: bool
    parent_id: str | None

    @property
    def id(self) -> str:
        """The tip's id: what `hermes --resume` continues."""
        return self.segment_ids[-1]

    @property
    def root_id(self) -> str:
        return self.segment_ids[0]

    @property
    def key(self) -> ConversationKey:
        return ConversationKey(self.profile, self.segment_ids[0])

    @property
    def workspace(self) -> str | None:
        return self.git_repo_root or self.cwd

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @property
    def automation(self) -> bool:
        return self.source in AUTOMATION_SOURCES

    @property
    def hidden_reason(self) -> HiddenReason | None:
        """Why a list leaves it out by default; a live or pinned conversation is never left out."""
        if self.live or self.pinned:
            return None
        if self.automation:
            return HiddenReason.AUTOMATION
        if self.archived:
            return HiddenReason.ARCHIVED
        if self.hidden:
            return HiddenReason.HIDDEN
        return HiddenReason.EMPTY if self.empty else None


@dataclass(frozen=True, slots=True)
class Details:
    """What costs a look at the messages: asked for the rows in sight only."""

    preview: str | None
    """The first thing the person said, at most 63 characters, without scaffolding."""
    message_count: int
    """Exact: the messages of the transcript, copies once."""
    status: Status
    unread: bool = False
    """Some of it could not be read, because the database is damaged there."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a conversation came from, as far as the store knows; for the preview pane."""

    created_source: str | None = None
    user: str | None = None
    chat: str | None = None
    thread: str | None = None
    handoff: str | None = None


@dataclass(frozen=True, slots=True)
class StoreProblem:
    """One store of several that could not be read; the others still answer."""

    profile: str
    db: str
    error: str


@dataclass(frozen=True, slots=True)
class ListQuery:
    """What a list is asked for; empty words and defaults mean all of it."""

    text: str = ""
    """Words and filter words (SPEC 4) for the filter in place."""
    order: Order = Order.ACTIVE
    reverse: bool = False
    include_hidden: bool = False
    limit: int | None = None
    offset: int = 0


@dataclass(frozen=True, slots=True)
class ConversationPage:
    """The answer to a `ListQuery`."""

    rows: tuple[Conversation, ...]
    total: int
    """How many match, before limit and offset."""
    of: int
    """How many conversations there are at all."""
    hidden: dict[HiddenReason, int]
    """How many matching conversations are left out, by the first reason that holds."""
    errors: tuple[StoreProblem, ...] = ()
    notices: tuple[str, ...] = ()
    whole: bool = True
    """False: only the first rows of a list that takes a while; nothing has been counted yet."""
