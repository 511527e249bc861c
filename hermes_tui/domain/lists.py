"""A list of conversations: which match, which are left out and why, in which order. Pure, over what the
catalogue holds; what costs a look at the messages (first prompts, status) is asked of the caller, late."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, Self

from hermes_tui.domain.sessions import (
    Conversation,
    ConversationKey,
    ConversationPage,
    HiddenReason,
    ListQuery,
    Order,
    StoreProblem,
)
from hermes_tui.values import dataclass, field

if TYPE_CHECKING:
    from hermes_tui.domain.querytrees import Node

_PUNCTUATION = r"[^\w\s]|_"
_DROPPED = dict.fromkeys(code for code in range(128) if not (chr(code).isalnum() or chr(code).isspace()))
"""The same of ASCII, for `translate`, which is faster by far."""


class Selects(Protocol):
    """What a query's filter words decide."""

    def accepts(self, conversation: Conversation) -> bool:
        """Whether it passes every filter word."""

    def lifts(self, conversation: Conversation) -> bool:
        """Whether a filter word names this very row, so that no reason hides it."""


class Everything:
    """No filter words."""

    def accepts(self, conversation: Conversation) -> bool:
        return True

    def lifts(self, conversation: Conversation) -> bool:
        return False


@dataclass(slots=True)
class Selection:
    """What one store adds to a list, before order and limit."""

    rows: list[Conversation] = field(default_factory=list)
    of: int = 0
    hidden: dict[HiddenReason, int] = field(default_factory=dict)
    names: dict[ConversationKey, str] = field(default_factory=dict)
    """What stands as the title of each row, where the order asks for it."""


def fold(text: str) -> str:
    """Without case and punctuation, on one line: what `an94` and `AN-94` have in common."""
    return " ".join(_unpunctuated(plain(text)).split())


def _unpunctuated(text: str) -> str:
    return text.translate(_DROPPED) if text.isascii() else re.sub(_PUNCTUATION, "", text)


def plain(text: str) -> str:
    """Without case."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text).casefold()


@dataclass(slots=True)
class Haystack:
    """All that a filter's plain words are looked for in, of one conversation. A store has tens of thousands: no more
    is kept than what nearly all words ask for."""

    of: Conversation
    prompt: str | None = None
    """The first thing the person said, up to some thousand characters."""
    folded: str = ""
    """Without case and punctuation, each part on a line; once that was made."""

    @property
    def plain(self) -> str:
        """The same with punctuation."""
        c = self.of
        parts = [c.title, c.display_name, self.prompt, *c.segment_ids, c.source, c.model, c.workspace]
        return plain("\n".join(" ".join(each.splitlines()) for each in parts if each))

    def fold(self) -> Self:
        """Make it ready to be looked into."""
        self.folded = "\n".join(" ".join(line.split()) for line in _unpunctuated(self.plain).split("\n"))
        return self


class Matches(Protocol):
    """What the words of a filter ask of a conversation."""

    def __bool__(self) -> bool:
        """Whether they ask anything."""

    def match(self, hay: Haystack) -> bool:
        """Whether they are found."""


class Words:
    """Plain words, each of which must occur somewhere, inside words too."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = [_Word(word) for word in words if word.strip()]

    def __bool__(self) -> bool:
        return bool(self._words)

    def match(self, hay: Haystack) -> bool:
        return all(word.occurs(hay) for word in self._words)


class Expression:
    """Words with operators, phrases or stars; a word is found inside words here too."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def __bool__(self) -> bool:
        return True

    def match(self, hay: Haystack) -> bool:
        return self._holds(self._node, hay)

    def _holds(self, node: Node, hay: Haystack) -> bool:
        from hermes_tui.domain.querytrees import And, Leaf, Or, Without

        match node:
            case Leaf(text=text):
                return _Word(text).occurs(hay)
            case And(children=children):
                return all(self._holds(child, hay) for child in children)
            case Or(children=children):
                return any(self._holds(child, hay) for child in children)
            case Without(base=base, barred=barred):
                return self._holds(base, hay) and not self._holds(barred, hay)


class _Word:
    """One word or phrase, ready to be looked for."""

    def __init__(self, text: str) -> None:
        self._plain, self._folded = plain(text), fold(text).strip()
        # Of `c++` a `c` is left, which is in everything: then punctuation counts.
        self._telling = len(self._folded) >= (1 if self._folded == self._plain else 2)

    def occurs(self, hay: Haystack) -> bool:
        """Without punctuation on either side, else as it stands."""
        return self._folded in hay.folded if self._telling else self._plain in hay.plain


def select(
    conversations: Iterable[Conversation],
    *,
    filters: Selects,
    words: Matches,
    haystack: Callable[[Conversation], Haystack],
    include_hidden: bool,
    stopped: Callable[[], bool] = lambda: False,
    aside: int = 0,
) -> Selection:
    """The conversations that match, less those that are left out by default, which are counted. `aside`: matching
    ones that are hidden as automation beside them.

    Breaks off when `stopped` says that nobody waits any more.
    """
    found = Selection()
    if aside:
        found.of, found.hidden[HiddenReason.AUTOMATION] = aside, aside
    for conversation in conversations:
        found.of += 1
        if not found.of % 256 and stopped():
            break
        if words and not words.match(haystack(conversation)):
            continue
        if not filters.accepts(conversation):
            continue
        reason = None if include_hidden else conversation.hidden_reason
        if reason is not None and not filters.lifts(conversation):
            found.hidden[reason] = found.hidden.get(reason, 0) + 1
        else:
            found.rows.append(conversation)
    return found


def _tie(conversation: Conversation) -> tuple[float, str, str]:
    at = conversation.last_active
    return (1.0 if at is None else -at, conversation.id, conversation.profile)


_NUMBERS: dict[Order, Callable[[Conversation], float | None]] = {
    Order.ACTIVE: lambda c: c.last_active,
    Order.STARTED: lambda c: c.started_at,
    Order.MESSAGES: lambda c: c.stored_messages,
    Order.TOKENS: lambda c: c.tokens,
    Order.COST: lambda c: c.cost_usd,
}


def ordered(
    rows: Iterable[Conversation], order: Order, *, reverse: bool, names: Mapping[ConversationKey, str]
) -> list[Conversation]:
    """Descending, titles from A to Z, or the other way round; what has no value stands last either way, ties
    are newest first, then by id. `names` are the titles, for that order."""
    if order is Order.ACTIVE and not reverse:  # as ties are, but for what has no time
        rows = list(rows)
        timed = [row for row in rows if row.last_active is not None]
        return sorted(timed, key=_tie) + sorted((row for row in rows if row.last_active is None), key=_tie)
    rows = sorted(rows, key=_tie)
    if order is Order.TITLE:
        folded = {row.key: plain(names.get(row.key, "")) for row in rows}
        named = [row for row in rows if folded[row.key]]
        named.sort(key=lambda row: folded[row.key], reverse=reverse)
        return named + [row for row in rows if not folded[row.key]]
    value = _NUMBERS[order]
    valued = [row for row in rows if value(row) is not None]
    valued.sort(key=lambda row: value(row) or 0.0, reverse=not reverse)
    return valued + [row for row in rows if value(row) is None]


def shown_title(conversation: Conversation, preview: Callable[[Conversation], str | None]) -> str | None:
    """The title, else the display name, else the first thing the person said."""
    return conversation.title or conversation.display_name or preview(conversation)


def page(
    selections: Sequence[Selection],
    query: ListQuery,
    *,
    errors: Sequence[StoreProblem] = (),
    notices: Sequence[str] = (),
) -> ConversationPage:
    """One list out of what the stores give."""
    hidden: Counter[HiddenReason] = Counter()
    names: dict[ConversationKey, str] = {}
    for selection in selections:
        hidden.update(selection.hidden)
        names.update(selection.names)
    rows = [row for selection in selections for row in selection.rows]
    rows = ordered(rows, query.order, reverse=query.reverse, names=names)
    end = None if query.limit is None else query.offset + query.limit
    return ConversationPage(
        rows=tuple(rows[query.offset : end]),
        total=len(rows),
        of=sum(selection.of for selection in selections),
        hidden={reason: hidden[reason] for reason in HiddenReason if hidden[reason]},
        errors=tuple(errors),
        notices=tuple(notices),
    )
