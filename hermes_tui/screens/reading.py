"""What the parts of the transcript screen share: the reader, the lines around it, what stands in its place."""

from __future__ import annotations

from hermes_tui.domain.messages import Outline
from hermes_tui.domain.sessions import Conversation
from hermes_tui.intents import OpenTranscript
from hermes_tui.screens.acting import Acting
from hermes_tui.screens.base import BaseScreen, Moving
from hermes_tui.service.sessions import SessionService
from hermes_tui.widgets.query import QueryLine
from hermes_tui.widgets.rail import Rail
from hermes_tui.widgets.transcript.view import Reader
from hermes_tui.widgets.transcript.walking import Current
from hermes_tui.widgets.ways import Ways

FIND_HINT = 'words, or "a phrase"'


class Reading(Moving, Acting, BaseScreen, inherit_bindings=False):
    """One conversation on the screen."""

    def __init__(self, service: SessionService, opening: OpenTranscript) -> None:
        super().__init__(service)
        # Held rather than looked for, like header and status: answers may come when they have gone.
        self.reader = Reader(id="reader", classes="reader")
        self.rail = Rail(hair=" ", id="rail", classes="rail")
        self.page = Ways(id="page", classes="body")
        """What stands in place of the reader: nothing yet, a failure, a list to choose from."""
        self.box = QueryLine(hint=FIND_HINT, id="box", classes="query")
        """The line in place of the status, to find words or to go somewhere."""
        self.opening = opening
        self.key = opening.key
        self.conversation: Conversation | None = None
        self.outline: Outline | None = None
        self.words = ""
        """What is looked for."""
        self.found: int | None = None
        """How many messages hold it; None while nobody has looked."""
        self.looking_for = False
        """Somebody is looking, and it takes a while."""
        self.note = ""
        """What should be said now …"""
        self._kept = False
        """… also after another key, …"""
        self._said_at: Current | None = None
        """… as long as this is the current item."""
        self.fresh = 0
        """Messages that came while the reader was elsewhere."""

    @property
    def typing(self) -> bool:
        """The line has the keys."""
        return self.has_class("-typing")

    @property
    def choosing(self) -> bool:
        """A list or a question stands in place of the reader."""
        return self.has_class("-choosing")

    @property
    def reads(self) -> bool:
        """The reader is in sight and has something to show."""
        return not (self.choosing or self.has_class("-page"))

    def say(self, note: str, *, keep: bool = False) -> None:
        """Something to be told in the status line, until something else is; until the next key, unless one is to
        `keep` it."""
        self.note, self._said_at, self._kept = note, None, keep
        self.show_place()

    def on_key(self) -> None:
        """What the key before led to has been read."""
        if self.note and not self._kept:
            self.say("")

    def noted(self) -> str:
        """What should be said, unless the reader has gone on since."""
        walker = self.reader.walker
        current = walker.current if walker.seek is None else None
        if self.note and current is not None:
            self._said_at = self._said_at or current
            if current != self._said_at:
                self.note = ""
        return self.note

    def show_place(self) -> None:
        """Draw the status line."""
        raise NotImplementedError
