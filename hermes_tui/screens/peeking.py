"""What the list of conversations shows of its rows: each as a line, details of those in sight, a preview of the one
under the cursor. None of it is waited for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import on, work

from hermes_tui.errors import HermesTuiError
from hermes_tui.screens.base import WIDE, BaseScreen, Movable, Moving, told_late
from hermes_tui.screens.known import Known, Stamped, stamp
from hermes_tui.widgets.browsing import READING, Notice
from hermes_tui.widgets.conversations import ListStyle, head_line, row_line
from hermes_tui.widgets.ink import Ink, Line
from hermes_tui.widgets.preview import Previewed, preview_view
from hermes_tui.widgets.rail import Rail
from hermes_tui.widgets.rows import Rows
from hermes_tui.widgets.ways import Ways

if TYPE_CHECKING:
    from hermes_tui.domain.messages import Recap
    from hermes_tui.domain.sessions import Conversation, ConversationPage, Provenance
    from hermes_tui.service.sessions import SessionService


DOUBT_SECONDS = 2.0
"""How often what is shown of the rows in sight is read again while a store is written …"""
PATIENCE = 20
"""… and how many times as long as that takes it is left at that."""


class Peeking(Moving, BaseScreen):
    """Rows with a preview, or a page in place of both."""

    def __init__(self, service: SessionService, *, preview: bool) -> None:
        """`preview`: whether it is wanted where there is room."""
        super().__init__(service)
        self._preview_wanted = preview
        self._page: ConversationPage | None = None
        self._notice: Notice | None = READING
        """The page in place of rows."""
        self._known = Known()
        self._style = ListStyle(profiles=len(service.stores) > 1, details=self._known.details)
        self.rows: Rows[Conversation] = Rows(self._draw, lambda row: row.key, self._head, id="rows", classes="list")
        self.ways = Ways(id="page", classes="list")
        self._rail = Rail(id="rail", classes="rail")
        self._preview = Ink(id="preview", classes="preview")
        self._looking: set[Stamped] = set()
        self._peeking: Stamped | None = None
        """The rows whose details, and the one whose recap, is being asked for."""
        self._said = ""
        """In place of the recap."""
        self._cost = 0.0
        """What it took to read the details of the rows in sight."""
        self._written = False
        """The store was written since all that is known was doubted …"""
        self._doubted = 0.0
        """… when that was."""

    @property
    def moved(self) -> Movable:
        return self.rows if self._notice is None else self.ways

    @property
    def current(self) -> Conversation | None:
        """The conversation under the cursor."""
        return self.rows.current if self._notice is None else None

    @property
    def previewing(self) -> bool:
        """There is room for the preview, and it is wanted."""
        return self._preview_wanted and self.size.width >= WIDE

    @property
    def _begun(self) -> bool:
        """Only the first rows of the list are here; what is known of them beside comes with the others."""
        return self._page is not None and not self._page.whole

    def _draw(self, row: Conversation, width: int, on: bool) -> Line:
        return row_line(row, width, self._style, on=on)

    def _head(self, width: int) -> Line:
        return head_line(width, self._style)

    def _say_status(self) -> None:
        """What the line below the list says, the position of the cursor too."""
        raise NotImplementedError

    @on(Rows.Scrolled, "#rows")
    def _scrolled(self, event: Rows.Scrolled) -> None:
        if self._notice is None:
            self._rail.show(event.total, event.height, event.top)
            self._look()

    @on(Ways.Scrolled, "#page")
    def _chosen(self) -> None:
        """Each way out is told by what it does."""
        if self._notice is not None:
            self.show_keys()

    @on(Rail.Moved)
    def _dragged(self, event: Rail.Moved) -> None:
        self.rows.go(event.top)

    def _look(self) -> None:
        """Names for untitled rows, exact counts and marks, for the rows in sight. A list that is read again while
        they are asked for does not ask again: a store that is written all the time would never answer."""
        rows = [] if self._begun else self._known.unknown(self.rows.in_sight)
        wanted = {(row.key, stamp(row)) for row in rows}
        if not wanted <= self._looking:
            self._learn(rows, wanted)

    def _doubt(self) -> None:
        """Read again what is shown of the rows in sight, if the store was written: rarely, where that takes long."""
        present = time.monotonic()
        if self._written and present >= self._doubted + max(DOUBT_SECONDS, PATIENCE * self._cost):
            self._written, self._doubted = False, present
            self._known.doubt()
            self._look()
            self._peek()

    @work(exclusive=True, group="details", description="details")
    async def _learn(self, rows: Sequence[Conversation], wanted: set[Stamped]) -> None:
        self._looking = wanted
        try:
            await self.wait_for_refresh()  # the rows come first
            started = time.monotonic()
            found = await self.service.details([row.key for row in rows], anew=self._known.doubts(rows))
            self._cost = time.monotonic() - started
        except HermesTuiError:
            return  # the rows say what they can, and the list itself what is wrong with its store
        finally:
            if self._looking is wanted:
                self._looking = set()
        self._known.learn(rows, found)
        self.rows.redraw()
        self._show_preview()

    @on(Rows.Highlighted)
    def _highlighted(self) -> None:
        self._say_status()
        self._peek()

    def _show_preview(self) -> None:
        row = self.current
        shown = None
        if row is not None:
            recap, provenance = self._known.recap(row) or (None, None)
            details = self._known.details.get(row.key)
            shown = Previewed(row, details, recap, provenance, self._style.profiles, self._said)
        self._preview.show(preview_view(shown))

    def _peek(self) -> None:
        """The preview of the row under the cursor: what is known at once, the rest when it is; the cursor never
        waits for it."""
        row = self.current if self.previewing else None
        wanted = None if row is None or self._known.holds(row) else (row.key, stamp(row))
        if wanted != self._peeking or wanted is None:
            self._said = ""
        if row is not None:
            self._show_preview()
        if wanted != self._peeking and not self._begun:
            self.workers.cancel_group(self, "preview")
            self._peeking = wanted
            if row is not None and wanted is not None:
                self._read_recap(row)

    async def _ask_about(self, row: Conversation) -> tuple[Recap, Provenance]:
        """A coroutine, not a bare `gather`: asyncio complains about one of these that is cancelled unseen."""
        return await asyncio.gather(self.service.recap(row.key), self.service.provenance(row.key))

    @work(exclusive=True, group="preview", description="preview")
    async def _read_recap(self, row: Conversation) -> None:
        await self.wait_for_refresh()  # the row comes first

        def late() -> None:
            if self._known.recap(row) is None:
                self._said = "reading …"
                self._show_preview()

        try:
            recap, provenance = await told_late(self._ask_about(row), late)
        except HermesTuiError as error:
            self._said = str(error)
        else:
            self._said = ""
            self._known.learn_recap(row, recap, provenance)
        self._peeking = None
        self._show_preview()
