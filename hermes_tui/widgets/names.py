"""What a conversation is called on the screen (SPEC 2): its title, else who it is with, else what was said first."""

from __future__ import annotations

from hermes_tui.domain.names import named
from hermes_tui.domain.sessions import Conversation
from hermes_tui.text import one_line

_LONGEST = 300
"""Characters of a title that can ever be seen on one line."""


def shown_name(conversation: Conversation, preview: str | None = None) -> tuple[str, str]:
    """The name and its ink. `preview`: the first thing the person said, quoted where there is no title."""
    row = conversation
    if name := named(row.title, row.display_name, len(row.segment_ids), _LONGEST):
        return name, "ink"
    said = one_line(preview or "", _LONGEST)
    return (f"“{said}”", "soft") if said else (one_line(conversation.id, _LONGEST), "soft")
