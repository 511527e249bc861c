"""Messages as a reader meets them: decoded, paired with their results, in the order of the conversation."""

from __future__ import annotations

from array import array
from bisect import bisect_right

from hermes_tui.values import dataclass, field

MESSAGE = "message"
HANDOFF = "handoff"
"""A compaction summary: written for the model, folded for people."""
UNREADABLE = "unreadable"
"""A row on a damaged page: it is there, and that is all that can be said."""
EVENTS = frozenset(
    {
        "steer",
        "model_switch",
        "personality_switch",
        "async_delegation_complete",
        "process_complete",
        "auto_continue",
        "failed_turn",
        "internal_notification",
    }
)
"""Kinds that are one dim line instead of somebody's words (FACTS 6.7); the set is open."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that an assistant turn made."""

    id: str
    name: str
    arguments: str
    """JSON as stored; whatever was stored, when it is none."""
    result_id: int | None = None
    """The shown message that answers it, if one does."""


@dataclass(frozen=True, slots=True)
class Message:
    """One shown message. Texts are faithful: whoever shows them makes them safe first (`text.clean`)."""

    id: int
    session_id: str
    """The segment in which it stands: that of its first copy, where there are several."""
    role: str
    """user, assistant, tool, system, or whatever the store says."""
    timestamp: float | None
    text: str
    """Decoded content, images and media as placeholders; cut when `chars` is larger than its length."""
    chars: int
    """Length of the whole text in characters."""
    kind: str = MESSAGE
    """`message`, `handoff`, or the name of an event."""
    label: str | None = None
    """What a person typed or would be told, where that differs from `text`: `/name — instruction` for a
    skill scaffold, the line of an event."""
    tool_name: str | None = None
    tool_call_id: str | None = None
    tool_calls: tuple[ToolCall, ...] | None = ()
    """None when something is stored that is no list of calls: see `tool_calls_raw`."""
    tool_calls_raw: str | None = None
    call: ToolCall | None = None
    """On a result: the call that it answers."""
    reasoning: str | None = None
    commentary: str | None = None
    """What an answer said beside itself (`codex_message_items` of phase commentary)."""
    finish_reason: str | None = None

    @property
    def cut(self) -> bool:
        return self.chars > len(self.text)


@dataclass(frozen=True, slots=True)
class SegmentMark:
    """Where a segment begins in the transcript."""

    session_id: str
    first: int
    """Position of its first shown message."""
    started_at: float | None
    title: str | None


@dataclass(frozen=True, slots=True)
class Outline:
    """A whole transcript without its texts: what is shown, in which order. Position is an index into `ids`."""

    ids: array[int]
    """'q': the shown message ids, in order; they need not ascend."""
    roles: bytes
    """One of `ROLE_CODES` for each message."""
    timestamps: array[float]
    """'d': epoch seconds, NaN where there is none."""
    segments: tuple[SegmentMark, ...]
    aliases: dict[int, int] = field(default_factory=dict)
    """Message id of a copy that is not shown → id of the one that is."""
    _where: dict[int, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    def position(self, message_id: int) -> int | None:
        """Where this message, or the copy of it that is shown, stands."""
        if not self._where and self.ids:
            self._where.update((each, i) for i, each in enumerate(self.ids))
        return self._where.get(self.aliases.get(message_id, message_id))

    def segment_at(self, position: int) -> int:
        """Index into `segments` of the one that holds this position."""
        return max(0, bisect_right([mark.first for mark in self.segments], position) - 1)


ROLE_CODES = {"user": 1, "assistant": 2, "tool": 3, "system": 4}
"""`Outline.roles`; 0 is any other role, and user rows that are no prompt of a person are 5."""
NOT_A_PROMPT = 5


@dataclass(frozen=True, slots=True)
class Window:
    """A few consecutive messages of a transcript."""

    messages: tuple[Message, ...]
    before: int
    """How many shown messages come before the first one given."""
    after: int


@dataclass(frozen=True, slots=True)
class RecapEntry:
    """One entry of the recap that Hermes shows when a session is resumed (FACTS 5)."""

    who: str
    """`user`, `assistant` or `event`."""
    text: str
    """Shortened as Hermes shortens it, unless it is the last answer, which stands whole."""
    tools: tuple[str, ...] = ()
    """Names of the tools called in this turn, in order of first call."""
    calls: int = 0
    timestamp: float | None = None


@dataclass(frozen=True, slots=True)
class Recap:
    """The end of a conversation, as one would want it told."""

    entries: tuple[RecapEntry, ...]
    earlier: int
    """How many entries were cut from the front."""
