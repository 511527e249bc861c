"""What a list has already learned about its conversations, and whether it still holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from hermes_tui.domain.messages import Recap
    from hermes_tui.domain.sessions import Conversation, ConversationKey, Details, Provenance

KEPT = 2_000
"""Conversations that are remembered: many screens full."""

Stamped: TypeAlias = "tuple[ConversationKey, tuple[Any, ...]]"


def stamp(row: Conversation) -> tuple[Any, ...]:
    """What was learned of the messages of a row holds until one of these changes."""
    return (row.segment_ids, row.last_active, row.stored_messages, row.end_reason, row.live)


class Known:
    """Details and recaps by conversation. What no longer holds is still given until something newer is learned,
    so that nothing flickers."""

    def __init__(self) -> None:
        self.details: dict[ConversationKey, Details] = {}
        self._details_of: dict[ConversationKey, tuple[Any, ...]] = {}
        self._doubted: set[ConversationKey] = set()
        """What may have changed though the row has not."""
        self._recaps: dict[ConversationKey, tuple[tuple[Any, ...], Recap, Provenance]] = {}

    def unknown(self, rows: Iterable[Conversation]) -> list[Conversation]:
        """Those of these rows whose details should be asked for."""
        return [row for row in rows if self._details_of.get(row.key) != stamp(row)]

    def learn(self, rows: Iterable[Conversation], found: Mapping[ConversationKey, Details]) -> None:
        """These were asked for, and this was said; a conversation that has gone is not asked for again."""
        if len(self._details_of) > KEPT:
            self.details.clear()
            self._details_of.clear()
        self.details.update(found)
        self._details_of.update((row.key, stamp(row)) for row in rows)
        self._doubted.difference_update(row.key for row in rows)

    def doubt(self) -> None:
        """Messages were written: an undone one changes no row, perhaps. All is to be asked for again in its time."""
        self._doubted.update(self._details_of)
        self._details_of.clear()
        self._recaps = {key: ((), *known[1:]) for key, known in self._recaps.items()}

    def doubts(self, rows: Iterable[Conversation]) -> bool:
        """Whether what is known of these must be read anew, whatever their rows say."""
        return any(row.key in self._doubted for row in rows)

    def recap(self, row: Conversation) -> tuple[Recap, Provenance] | None:
        """The last that is known of how it ended, and of where it came from."""
        found = self._recaps.get(row.key)
        return None if found is None else found[1:]

    def holds(self, row: Conversation) -> bool:
        """Whether that is up to date."""
        found = self._recaps.get(row.key)
        return found is not None and found[0] == stamp(row)

    def learn_recap(self, row: Conversation, recap: Recap, provenance: Provenance) -> None:
        if len(self._recaps) > KEPT:
            self._recaps.clear()
        self._recaps[row.key] = (stamp(row), recap, provenance)
