"""The bookmarks of the open stores, to read from: what `'` shows in a transcript, without one."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen

from hermes_tui.bookmarks import Bookmark, Bookmarks
from hermes_tui.intents import OpenTranscript
from hermes_tui.screens.base import (
    HELP,
    Moving,
    Steady,
    app_bindings,
    bindings,
    toggle_bookmark,
    working_keys,
    written,
)
from hermes_tui.service.sessions import SessionService
from hermes_tui.widgets.keyline import KeyLine
from hermes_tui.widgets.rail import Rail
from hermes_tui.widgets.transcript.saying import bookmarks_page
from hermes_tui.widgets.ways import Ways

ABOVE = 2
"""Lines of the list before its first row."""


class BookmarksScreen(Moving, ModalScreen[None], Steady, inherit_bindings=False):
    """A panel with one row a bookmark, the newest first."""

    PLACE = "bookmarks"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("bookmarks"), *app_bindings()]
    AUTO_FOCUS = "#marks"
    bookmarks = Bookmarks()

    def __init__(self, service: SessionService) -> None:
        super().__init__()
        self._stores = frozenset((str(store.db), store.profile) for store in service.stores)
        self._marks: tuple[Bookmark, ...] = ()
        self._list = Ways(id="marks")
        self._rail = Rail(hair=" ", id="rail", classes="rail")
        self._body = Horizontal(self._list, self._rail, id="body")
        self._keys = KeyLine(above=1, id="keys")

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel"):
            yield self._body
            yield self._keys

    def on_mount(self) -> None:
        self._show()

    @property
    def moved(self) -> Ways:
        return self._list

    def _show(self) -> None:
        self._marks = tuple(mark for mark in self.bookmarks() if (mark.db, mark.profile) in self._stores)
        self._list.show(*bookmarks_page(self._marks))
        self._body.styles.height = ABOVE + max(1, len(self._marks))
        self._keys.show_keys(written(self, [*working_keys(self, self.PLACE), HELP]))

    @on(Ways.Scrolled)
    def _scrolled(self) -> None:
        self._rail.show(self._list.total, self._list.size.height, self._list.top)

    @on(Rail.Moved)
    def _dragged(self, event: Rail.Moved) -> None:
        self._list.go(event.top)

    @property
    def _mark(self) -> Bookmark | None:
        """The one under the cursor."""
        return self._marks[self._list.cursor] if self._list.cursor < len(self._marks) else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self._mark is not None if action in ("read", "remove") else super().check_action(action, parameters)

    @on(Ways.Taken)
    def action_read(self) -> None:
        """Close first: whoever comes back finds what was below."""
        if (mark := self._mark) is not None:
            self.dismiss()
            self.app.post_message(OpenTranscript(mark.key, mark.message_id))

    def action_remove(self) -> None:
        if (mark := self._mark) is not None:
            toggle_bookmark(self, self.bookmarks, mark)
            self._show()

    def action_close(self) -> None:
        self.dismiss()
