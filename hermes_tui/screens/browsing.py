"""The list of conversations behind the browse screen: it follows its stores, and learns of what is in sight."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.containers import Horizontal
from textual.widget import Widget

from hermes_tui import times
from hermes_tui.domain.sessions import ListQuery
from hermes_tui.errors import BadQuery, HermesTuiError, StoreBusy, StoreMissing
from hermes_tui.intents import OpenMissing
from hermes_tui.screens.base import BaseScreen, Movable, Moving
from hermes_tui.screens.known import Known, Stamped, stamp
from hermes_tui.settings import Settings
from hermes_tui.text import one_line
from hermes_tui.values import dataclass, replace
from hermes_tui.widgets.browsing import (
    READING,
    Notice,
    amount,
    failed,
    nothing,
    problems,
    problems_view,
    status_forms,
)
from hermes_tui.widgets.conversations import ListStyle, head_line, row_line
from hermes_tui.widgets.ink import Ink, Line
from hermes_tui.widgets.preview import Previewed, preview_view
from hermes_tui.widgets.query import QueryLine, near_filter
from hermes_tui.widgets.rail import Rail
from hermes_tui.widgets.rows import Rows
from hermes_tui.widgets.ways import Ways

if TYPE_CHECKING:
    from hermes_tui.domain.messages import Recap
    from hermes_tui.domain.sessions import Conversation, ConversationKey, ConversationPage, Provenance
    from hermes_tui.service.sessions import SessionService

REFRESH_TICKS = 30
"""Every so many looks at the store the list is read again anyhow: what is live changes without a write."""
SLOW_SECONDS = 0.15
"""A recap that takes longer says that it is being read."""
HINT = "title, first words, id, source, model, workspace, or is:pinned after:7d"


@dataclass(frozen=True, slots=True)
class ListPlace:
    """Where one was in a list, for coming back to it."""

    key: ConversationKey | None = None
    """The conversation under the cursor."""
    query: ListQuery | None = None
    """Filter and order; None: those of the settings."""


class Browsing(Moving, BaseScreen):
    """A filter, below it always one of: rows with a preview, or the page that says why there are none."""

    FOLLOW_SECONDS: ClassVar[float] = 1.0
    """How often the store is asked whether it was written."""

    def __init__(
        self,
        service: SessionService,
        *,
        settings: Settings | None = None,
        place: ListPlace | None = None,
        page: ConversationPage | None = None,
    ) -> None:
        """`place`: where to begin, if one was in this list before. `page`: the answer to the query that it
        begins with, where that is known already: then the first picture holds its rows."""
        super().__init__(service)
        settings, place = settings or Settings(), place or ListPlace()
        self._query = place.query or settings.query
        self._preview_wanted = settings.preview
        self._page: ConversationPage | None = None
        self._error: HermesTuiError | None = None
        """Why the list could not be read when it was last asked for, or the filter not understood."""
        self._notice: Notice | None = READING
        """The page in place of rows."""
        self._known = Known()
        self._style = ListStyle(profiles=len(service.stores) > 1, details=self._known.details)
        self.rows: Rows[Conversation] = Rows(self._draw, lambda row: row.key, self._head, id="rows", classes="list")
        self.rows.hold(place.key)
        self.ways = Ways(id="page", classes="list")
        self.box = QueryLine(self._query.text, mark="f", hint=HINT, id="filter", classes="query")
        self._rail = Rail(id="rail", classes="rail")
        self._preview = Ink(id="preview", classes="preview")
        self._problems = Ink(id="problems", classes="problems")
        self._looking: set[Stamped] = set()
        self._peeking: Stamped | None = None
        """The rows whose details, and the one whose recap, is being asked for."""
        self._said = ""
        """In place of the recap."""
        self._asked = 0
        self._answered = 0
        """How often the list was asked for, and which of these was answered last."""
        self._first, self._left = page, False  # `_left`: for another screen

    def compose_body(self) -> Iterable[Widget]:
        yield self.box
        with Horizontal(classes="body"):
            yield self.rows
            yield self.ways
            yield self._rail
            yield self._preview
        yield self._problems

    def on_mount(self) -> None:
        if self._first is not None:
            self._show(self._first, self._query, anew=False)
        else:
            self._show_notice(READING)
            self._say()
            self._load()
        self._follow()

    def on_screen_resume(self) -> None:
        """Back from another screen: the cursor is where it was, and what changed meanwhile appears."""
        if self._left and self._page is not None:
            self._load()

    def on_screen_suspend(self) -> None:
        """Whatever is opened from here, the conversation under the cursor is the one to come back to."""
        self._left = True
        self.rows.hold()

    def on_resize(self) -> None:
        self.show_keys()
        self._peek()

    # parts

    @property
    def place(self) -> ListPlace:
        """Where one is, for another list of the same stores."""
        row = self.rows.current
        return ListPlace(row.key if row is not None else None, self._query)

    @property
    def moved(self) -> Movable:
        return self.rows if self._notice is None else self.ways

    @property
    def current(self) -> Conversation | None:
        """The conversation under the cursor."""
        return self.rows.current if self._notice is None else None

    @property
    def typing(self) -> bool:
        """The filter has the keys."""
        return self.focused is not None and self.focused is self.box

    @property
    def previewing(self) -> bool:
        """There is room for the preview, and it is wanted."""
        return self._preview_wanted and self.size.width >= 100

    def _draw(self, row: Conversation, width: int, on: bool) -> Line:
        return row_line(row, width, self._style, on=on)

    def _head(self, width: int) -> Line:
        return head_line(width, self._style)

    # the list

    @work(exclusive=True, group="list")
    async def _load(self, *, anew: bool = False) -> None:
        """Ask for the list; `anew`: another one than before was asked for, and its first row may be wanted."""
        self._asked += 1
        asked, query = self._asked, self._query
        try:
            page = await self.service.conversations(query)
        except HermesTuiError as error:
            self._fail(error)
        else:
            self._show(page, query, anew=anew)
        self._answered = asked

    @work(exclusive=True, group="follow")
    async def _follow(self) -> None:
        """The list follows the store, as long as it can be seen."""
        ticks = 0
        while True:
            await asyncio.sleep(self.FOLLOW_SECONDS)
            if not self.is_active or self._asked != self._answered:
                continue
            ticks += 1
            try:
                changed = await self.service.changes()
            except HermesTuiError:
                changed = True  # the list is asked for, and says what is wrong
            failing = self._error is not None and not isinstance(self._error, BadQuery)
            if changed or failing or ticks % REFRESH_TICKS == 0:
                self._load()

    def _show(self, page: ConversationPage, query: ListQuery, *, anew: bool) -> None:
        self._page, self._error = page, None
        self._style = replace(self._style, present=times.now(), order=query.order, reverse=query.reverse)
        self._show_notice(None if page.rows else nothing(page, query.text))
        self.rows.show(page.rows, anew=anew)
        self._say()

    def _fail(self, error: HermesTuiError) -> None:
        """Rows that are there stay, and the reason is said beside them; without rows it takes their place."""
        self._error = error
        if isinstance(error, StoreMissing) and self._page is None:
            self.workers.cancel_group(self, "follow")  # whatever comes next, it is not this list
            self.post_message(OpenMissing())
        if not isinstance(error, BadQuery) and (self._page is None or not self._page.rows):
            self._show_notice(failed(str(error), busy=isinstance(error, StoreBusy)))
        self._say()

    def _show_notice(self, notice: Notice | None) -> None:
        self._notice = notice
        self.set_class(notice is not None, "-page")
        if notice is not None:
            self.ways.show(notice.head, [way for _, way in notice.ways], notice.tail)
            self._rail.show(0, 0, 0)
        self._peek()

    def _say(self) -> None:
        """Everything around the list."""
        self.set_class(self.typing or bool(self._query.text), "-filtering")
        self.set_class(not self._preview_wanted, "-alone")
        self.show_header("Hermes history", *(amount(self._page) if self._page is not None else ("",)))
        error = self._error
        told = "" if error is None or isinstance(error, BadQuery) or self._notice is not None else str(error)
        hint = "" if self._notice is not None else near_filter(self._query.text)[0]
        self.set_class(bool(problems(self._page, told, hint)), "-problems")
        self._problems.show(problems_view(self._page, told, hint))
        self._say_status()
        self.show_keys()

    def _say_status(self) -> None:
        if isinstance(self._error, BadQuery):
            reason = one_line(self._error.reason)
            long = ((f"cannot parse {one_line(self._query.text, 40)}: {reason}", "bad"),)
            self.show_status((long, ""), (((reason, "bad"),), ""), mark="!")
        elif self._page is not None:
            page, cursor, query = self._page, self.rows.cursor, self._query
            self.show_status(*status_forms(page, cursor, shown=query.include_hidden, filtered=bool(query.text)))
        else:
            self.show_status()

    def _ask(self, **changes: object) -> None:
        """Another list."""
        self._query = replace(self._query, **changes)  # type: ignore[arg-type]  # fields of a ListQuery
        self._load(anew=True)
        self._say()

    # what is known of the rows in sight

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
        rows = self._known.unknown(self.rows.in_sight)
        wanted = {(row.key, stamp(row)) for row in rows}
        if not wanted <= self._looking:
            self._learn(rows, wanted)

    @work(exclusive=True, group="details", description="details")
    async def _learn(self, rows: Sequence[Conversation], wanted: set[Stamped]) -> None:
        self._looking = wanted
        try:
            await self.wait_for_refresh()  # the rows come first
            found = await self.service.details([row.key for row in rows])
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
        if wanted != self._peeking:
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
        asking = asyncio.create_task(self._ask_about(row))
        try:
            await asyncio.wait({asking}, timeout=SLOW_SECONDS)
            if not asking.done() and self._known.recap(row) is None:
                self._said = "reading …"
                self._show_preview()
            recap, provenance = await asking
        except HermesTuiError as error:
            self._said = str(error)
        else:
            self._said = ""
            self._known.learn_recap(row, recap, provenance)
        finally:
            asking.cancel()
        self._peeking = None
        self._show_preview()
