"""What a screen wants to happen next. Screens post these; the app turns them into screens, so that screens
do not know each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

from hermes_tui.domain.queries import SearchOrder
from hermes_tui.values import dataclass

if TYPE_CHECKING:
    from hermes_tui.domain.profiles import StoreRef
    from hermes_tui.domain.queries import Hit
    from hermes_tui.domain.sessions import Conversation, ConversationKey


class Intent(Message):
    """Base of all intents; bubbles up to the app."""


@dataclass
class OpenTranscript(Intent):
    """Read this conversation, at `anchor` (a message id) or at its end."""

    key: ConversationKey
    anchor: int | None = None
    words: str = ""
    """What to light up and step through."""
    notice: str | None = None
    hits: tuple[Hit, ...] = ()
    """The hits of the search it was opened from, for `ctrl+n` and `ctrl+p`."""
    hit: int = 0
    """Position of the present one in `hits`."""


@dataclass
class OpenTarget(Intent):
    """Follow a link, an id or a title."""

    text: str


@dataclass
class OpenLineage(Intent):
    """Show the family of this session."""

    profile: str
    session_id: str


@dataclass
class OpenResume(Intent):
    """Show the resume panel for this session."""

    conversation: Conversation
    session_id: str | None = None
    """The very session asked for, when it is not the tip."""


@dataclass
class OpenSearch(Intent):
    """Search, with this text in the box."""

    text: str = ""
    order: SearchOrder = SearchOrder.RELEVANCE
    scan: bool = False
    """Read at once what no index holds, for this text."""


class OpenHelp(Intent):
    """Show the keys."""


class OpenProfiles(Intent):
    """Choose which profiles to see."""


@dataclass
class CopyText(Intent):
    """Put this on the clipboard and say so."""

    text: str
    what: str
    """`link`, `message`, `command` …: for the toast."""


@dataclass
class HandOver(Intent):
    """Leave the terminal as it was found and run this command."""

    argv: tuple[str, ...]
    env: dict[str, str]
    back: bool = False
    """Come back afterwards; otherwise the app becomes the command."""
    window: str = ""
    """Instead of leaving: run it in a new tmux window of this name."""


@dataclass
class PrintAndQuit(Intent):
    """End the app and leave this line on the terminal."""

    line: str


@dataclass
class UseStores(Intent):
    """Look into these stores from now on."""

    stores: tuple[StoreRef, ...]


class OpenMissing(Intent):
    """No store is where one was looked for: say so, and what there is instead."""


class OpenDemo(Intent):
    """Write the sample store and look into that."""
