"""Filter words (SPEC 4): `source:telegram`, `-tool:terminal`, `after:7d`, `messages:>50`, `is:pinned`. Pure.

The same key twice, or `a,b`, is any of them; negated, none of them; number and date keys must all hold;
different keys all. A search tests `source: role: tool:` and dates on the message that holds the match, all
other keys on the conversation; a list tests everything on the conversation.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from hermes_tui.domain.sessions import Conversation, Kind, Status
from hermes_tui.values import dataclass, field, replace

EQUAL = ("source", "tool", "model", "provider", "profile", "end", "user", "chat", "role")
"""Keys whose value is the whole of what they name, without case."""
CONTAIN = ("title", "cwd", "workspace", "branch")
"""Keys whose value occurs in what they name, without case."""
NUMBERS = ("messages", "tokens", "cost", "tools")
DATES = ("after", "before")
KEYS = (*EQUAL, *CONTAIN, *DATES, *NUMBERS, "is")
ROLES = ("user", "assistant", "tool", "system")
MARKS = ("pinned", "archived", "hidden", "live", "empty", "automation", "error", "interrupted", "branch", "reset")
"""What may follow `is:`."""
_ON_MESSAGES = frozenset({"source", "role", "tool"})
"""Keys that a search tests on the row that holds the match."""
_LIFTING = frozenset({"archived", "hidden", "empty", "automation"})


@dataclass(frozen=True, slots=True)
class Origin:
    """Who spoke and where, under every name that the store knows for it; without case."""

    users: frozenset[str] = frozenset()
    chats: frozenset[str] = frozenset()


class Facts(Protocol):
    """What only the store can say about a conversation; asked late, and only for the keys that need it."""

    def status(self, conversation: Conversation) -> Status:
        """How it stands."""

    def origin(self, conversation: Conversation) -> Origin:
        """Where it came from."""

    def holds(self, conversation: Conversation, roles: frozenset[str], tools: frozenset[str]) -> bool:
        """Whether it has a visible message of one of these roles, and of one of these tools; an empty set asks
        nothing."""


@dataclass(frozen=True, slots=True)
class Bound:
    """`messages:>50`."""

    key: str
    sign: str
    """One of `> < >= <= =`."""
    value: float
    negated: bool

    def holds(self, number: float | None) -> bool:
        """An unknown number is above and below nothing."""
        if number is None:
            return self.negated
        found = {
            ">": number > self.value,
            "<": number < self.value,
            ">=": number >= self.value,
            "<=": number <= self.value,
            "=": number == self.value,
        }[self.sign]
        return found is not self.negated


@dataclass(frozen=True, slots=True)
class Filters:
    """All filter words of a query, put together. Values are without case."""

    wanted: dict[str, frozenset[str]] = field(default_factory=dict)
    """Key → any of these."""
    barred: dict[str, frozenset[str]] = field(default_factory=dict)
    """Key → none of these."""
    bounds: tuple[Bound, ...] = ()
    after: float | None = None
    """Epoch seconds; this instant is included."""
    before: float | None = None
    """Epoch seconds; this instant is not."""

    def __bool__(self) -> bool:
        return bool(self.wanted or self.barred or self.bounds or self.dated)

    @property
    def dated(self) -> bool:
        return self.after is not None or self.before is not None

    @property
    def ask_how_it_stands(self) -> bool:
        """Whether the last message of each conversation must be looked at."""
        return any(map(_late, (*self.wanted.get("is", ()), *self.barred.get("is", ()))))

    def without(self, *keys: str) -> Filters:
        """The same, less the words for these keys."""
        wanted, barred = (
            {key: values for key, values in those.items() if key not in keys} for those in (self.wanted, self.barred)
        )
        return replace(self, wanted=wanted, barred=barred)

    def barring_none(self, *keys: str) -> Filters:
        """The same, less the negated words for these keys."""
        return replace(self, barred={key: values for key, values in self.barred.items() if key not in keys})

    def within(self, at: float | None) -> bool:
        """Whether this time lies in the bounds; no time lies in none."""
        if not self.dated:
            return True
        return (
            at is not None and (self.after is None or at >= self.after) and (self.before is None or at < self.before)
        )

    def takes(self, key: str, values: Iterable[str]) -> bool:
        """Whether something that goes by all these names passes the words for `key`."""
        names = {value.casefold() for value in values}
        wanted, barred = self.wanted.get(key), self.barred.get(key)
        return (wanted is None or not wanted.isdisjoint(names)) and (barred is None or barred.isdisjoint(names))

    def asks_for(self, source: str) -> bool:
        """Whether these words ask for a source that is left out unless asked for."""
        return source.casefold() in self.wanted.get("source", ()) or "automation" in self.wanted.get("is", ())

    def accepts(self, conversation: Conversation, *, facts: Facts | None = None) -> bool:
        """Whether a list shows this conversation: every key tests the conversation, dates its last activity.

        What only the store knows is asked of `facts`; without them it is taken for unknown.
        """
        if not self.takes("source", (conversation.source,)) or not self.within(conversation.last_active):
            return False
        return self.passes(conversation, facts=facts) and self._holds(conversation, facts)

    def passes(self, conversation: Conversation, *, facts: Facts | None = None) -> bool:
        """Whether a search may look into this conversation: the keys that do not test messages."""
        c = conversation
        if not all(bound.holds(_number(bound.key, c)) for bound in self.bounds):
            return False
        for key in (*self.wanted, *self.barred):
            if key in _ON_MESSAGES:
                continue
            if key in CONTAIN:
                passed = self._contains(key, c)
            elif key == "is":
                passed = self._marked(c, facts)
            else:
                passed = self.takes(key, _names(key, c, facts))
            if not passed:
                return False
        return True

    def lifts(self, conversation: Conversation) -> bool:
        """Whether a word names this very row, so that no reason hides it from a list."""
        if conversation.source.casefold() in self.wanted.get("source", ()):
            return True
        return any(mark in _LIFTING and _is(mark, conversation, None) for mark in self.wanted.get("is", ()))

    def _contains(self, key: str, conversation: Conversation) -> bool:
        text = _text(key, conversation).casefold()
        wanted, barred = self.wanted.get(key), self.barred.get(key, ())
        return (wanted is None or any(value in text for value in wanted)) and not any(
            value in text for value in barred
        )

    def _marked(self, c: Conversation, facts: Facts | None) -> bool:
        wanted, barred = self.wanted.get("is"), self.barred.get("is", ())
        if wanted is not None and not any(_is(mark, c, facts) for mark in sorted(wanted, key=_late)):
            return False
        return not any(_is(mark, c, facts) for mark in sorted(barred, key=_late))

    def _holds(self, conversation: Conversation, facts: Facts | None) -> bool:
        """`role:` and `tool:` in a list."""
        nothing: frozenset[str] = frozenset()
        roles, tools = self.wanted.get("role", nothing), self.wanted.get("tool", nothing)
        if (roles or tools) and not (facts is not None and facts.holds(conversation, roles, tools)):
            return False
        barred = [(self.barred.get("role", nothing), nothing), (nothing, self.barred.get("tool", nothing))]
        return not any((r or t) and facts is not None and facts.holds(conversation, r, t) for r, t in barred)


NO_FILTERS = Filters()


def _late(mark: str) -> bool:
    """Marks that cost a look at the messages are asked last."""
    return mark in ("error", "interrupted")


def _is(mark: str, c: Conversation, facts: Facts | None) -> bool:
    if mark in ("error", "interrupted"):
        return facts is not None and facts.status(c).value == mark
    if mark in ("branch", "reset"):
        return c.kind is Kind(mark)
    return bool(getattr(c, mark))


def _number(key: str, c: Conversation) -> float | None:
    return {
        "messages": c.stored_messages,
        "tokens": c.tokens,
        "cost": c.cost_usd,
        "tools": c.tool_call_count,
    }[key]


def _text(key: str, c: Conversation) -> str:
    if key == "title":
        return c.title or c.display_name or ""
    return {"cwd": c.cwd, "workspace": c.workspace, "branch": c.git_branch}[key] or ""


def _names(key: str, c: Conversation, facts: Facts | None) -> Iterable[str]:
    if key in ("user", "chat"):
        origin = facts.origin(c) if facts is not None else Origin()
        return origin.users if key == "user" else origin.chats
    value = {"model": c.model, "provider": c.provider, "profile": c.profile, "end": c.end_reason}[key]
    return (value or "",)
