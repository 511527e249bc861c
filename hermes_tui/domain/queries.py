"""What a search asks and what it answers.

Reading the query text is `domain.querytext`; its boolean expression is the tree below, which storage turns
into an FTS5 expression or evaluates by itself where no index serves.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from hermes_tui.domain.sessions import Conversation, StoreProblem
from hermes_tui.values import NamedTuple, dataclass

if TYPE_CHECKING:
    from hermes_tui.domain.querytrees import Node


class Tier(StrEnum):
    """Why a conversation is in the answer, best first; the value is the JSON's name."""

    TARGET = "target"
    TITLE = "title"
    CONVERSATION = "conversation"
    AUTOMATION = "automation"
    TOOL = "tool"
    SPREAD = "spread"
    PARTIAL = "partial"
    FILTER = "filter"
    """The query has filter words only."""

    @property
    def label(self) -> str:
        """What the screen writes above the tier's first hit; empty for tiers that need no words."""
        return _LABELS.get(self.value, "")


_LABELS = {
    "title": "in titles",
    "automation": "in automation",
    "tool": "in tool calls and output",
    "spread": "all words, in different messages",
    "partial": "some of the words",
}


class SearchOrder(StrEnum):
    """Inside each tier; by time means the time of the match."""

    RELEVANCE = "relevance"
    NEWEST = "newest"
    OLDEST = "oldest"


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """One question."""

    text: str
    """As typed."""
    order: SearchOrder = SearchOrder.RELEVANCE
    scan: bool = False
    """Also read what no index holds (tool output beyond 8 KB)."""
    include_hidden: bool = False
    """`--all`: also sources that are left out unless asked for."""
    typing_at: int | None = None
    """Position of the text cursor while someone types: the word there is a prefix from its third letter on.
    None (the command line) implies no prefix."""
    limit: int | None = None
    offset: int = 0
    reads: int | None = 20
    """Hits whose messages come with the answer: a screenful. Those of the others `SessionService.read` gives when
    they are wanted. None: all."""
    steps: bool = True
    """The answer comes in steps, the newest at once. Without them the final page is there sooner."""


class Span(NamedTuple):
    """Where a matched word stands in a snippet, in characters; `end` is exclusive."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Match:
    """One message that matches, with the place that shows it best."""

    message_id: int
    session_id: str
    role: str
    timestamp: float | None
    snippet: str
    """At most 300 characters on one line, whitespace folded; faithful otherwise."""
    spans: tuple[Span, ...]
    tool: str | None = None
    """The tool, when the match is in a call or in its output."""
    read: bool = True
    """False: only which message it is is known so far."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One conversation of an answer."""

    conversation: Conversation
    tier: Tier
    matches: tuple[Match, ...]
    """The best first, at most three; none when only its title or id brought it."""
    count: int | None
    """How many shown messages match; None while nobody has counted."""
    in_delegate: bool = False
    """The match lies in a delegate's run that this conversation started."""

    @property
    def best(self) -> Match | None:
        return self.matches[0] if self.matches else None

    @property
    def unread(self) -> bool:
        """Some of its messages are still to be read."""
        return not all(match.read for match in self.matches)


LEFT_OUT = "Left out: "
"""Begins the notice of what is not searched unless a filter word asks for it."""
LOST = "The link leads nowhere: "
"""Begins the notice of a link that nothing answers to."""
UNREAD = "Tool output beyond 8 KB was not searched."
"""The notice of an answer that a scan could add to."""


@dataclass(frozen=True, slots=True)
class SearchPage:
    """What is known of the answer so far; each page of one search replaces the one before."""

    hits: tuple[Hit, ...]
    total: int
    """Conversations that match, before limit; a floor while `final` is False."""
    searched: int
    """Conversations that were searched: those that pass the filters."""
    expression: str
    """The FTS5 expression, or "" for a query of filter words alone."""
    route: str
    """`fts`, `trigram`, `scan`, `mixed`, or `filter`."""
    elapsed_ms: float
    final: bool
    """Nothing better will come."""
    progress: float | None = None
    """0 to 1, while a scan runs."""
    notices: tuple[str, ...] = ()
    errors: tuple[StoreProblem, ...] = ()
    words: tuple[str, ...] = ()
    """The words of the query without operators, NOT and filters: what a transcript lights up."""
    tree: Node | None = None
    """What was looked for, as `SessionService.read` needs it."""


@dataclass(frozen=True, slots=True)
class WayOut:
    """Offered when nothing was found: the same question, less strict, and what it would find."""

    label: str
    """`without source:slack`."""
    text: str
    """The query to ask instead."""
    conversations: int
    matches: int


@dataclass(frozen=True, slots=True)
class Completion:
    """One value that a filter word can take, from this store."""

    text: str
    count: int
