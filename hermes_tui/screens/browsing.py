"""The list of conversations behind the browse screen: its filter, its order, and how it follows its stores."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual import work
from textual.containers import Horizontal
from textual.widget import Widget

from hermes_tui import times
from hermes_tui.domain.sessions import ListQuery
from hermes_tui.errors import BadQuery, HermesTuiError, StoreBusy, StoreMissing
from hermes_tui.intents import OpenMissing
from hermes_tui.screens.base import SLOW_SECONDS
from hermes_tui.screens.peeking import Peeking
from hermes_tui.settings import Settings
from hermes_tui.text import one_line
from hermes_tui.values import dataclass, replace
from hermes_tui.widgets.browsing import (
    READING,
    Notice,
    amount,
    awaited_form,
    failed,
    nothing,
    problems,
    problems_view,
    status_forms,
)
from hermes_tui.widgets.ink import Ink
from hermes_tui.widgets.query import QueryLine, near_filter

if TYPE_CHECKING:
    from textual.timer import Timer

    from hermes_tui.domain.sessions import ConversationKey, ConversationPage
    from hermes_tui.service.sessions import SessionService

REFRESH_TICKS = 30
"""Every so many looks at the store the list is read again anyhow: what is live changes without a write."""
FILTERING = "filtering…"
STATUS = 7
"""Cells of the status line beside what it says."""
HINT = "title, first words, id, source, model, workspace, or is:pinned after:7d"


@dataclass(frozen=True, slots=True)
class ListPlace:
    """Where one was in a list, for coming back to it."""

    key: ConversationKey | None = None
    """The conversation under the cursor."""
    query: ListQuery | None = None
    """Filter and order; None: those of the settings."""


class Browsing(Peeking):
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
        settings, place = settings or Settings(), place or ListPlace()
        super().__init__(service, preview=settings.preview)
        self._query = place.query or settings.query
        self._answers = self._query
        """The question that the rows in sight answer."""
        self._slow: Timer | None = None
        """Runs from the first question without an answer on …"""
        self._awaited = False
        """… and has run out: what is asked for is said to be on its way."""
        self._error: HermesTuiError | None = None
        """Why the list could not be read when it was last asked for, or the filter not understood."""
        self.rows.hold(place.key)
        self.box = QueryLine(self._query.text, mark="f", hint=HINT, id="filter", classes="query")
        self._problems = Ink(id="problems", classes="problems")
        self._asked = 0
        self._answered = 0
        """How often the list was asked for, and which of these was answered last."""
        self._first, self._left = page, False  # `_left`: for another screen
        self._to_end = False
        """Someone went to the end of a list that is not all here yet."""

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
        if self._first is None or self._begun:
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
    def typing(self) -> bool:
        """The filter has the keys."""
        return self.focused is not None and self.focused is self.box

    def action_last(self) -> None:
        super().action_last()
        self._to_end = self._begun

    # the list

    @work(exclusive=True, group="list")
    async def _load(self, *, anew: bool = False) -> None:
        """Ask for the list; `anew`: another one than before was asked for, and its first row may be wanted."""
        self._asked += 1
        asked, query = self._asked, self._query
        try:
            await self._read(query, anew=anew)
        except HermesTuiError as error:
            self._fail(error)
        self._answered = asked

    async def _read(self, query: ListQuery, *, anew: bool) -> None:
        """Show the list; where that takes a while and no place in it is wanted, its first rows before."""
        if self._page is None and self.rows.held is None:
            page = await self.service.first_page(query)
            self._show(page, query, anew=anew)
            if not self._begun:
                return
        if self._begun:
            await self.wait_for_refresh()  # the first rows come first
        self._show(await self.service.conversations(query), query, anew=anew)

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
            self._written = self._written or changed
            self._doubt()
            failing = self._error is not None and not isinstance(self._error, BadQuery)
            if changed or failing or ticks % REFRESH_TICKS == 0:
                self._load()

    def _show(self, page: ConversationPage, query: ListQuery, *, anew: bool) -> None:
        begun, self._page, self._error, self._answers = self._begun, page, None, query
        self._await(False)
        plain, present = self.app.no_color, times.now()
        self._style = replace(self._style, present=present, order=query.order, reverse=query.reverse, plain=plain)
        self._show_notice(None if page.rows else nothing(page, query.text))
        to_end = self._to_end and self.rows.cursor == self.rows.total - 1
        self.rows.show(page.rows, anew=anew or begun)
        if begun and to_end:
            self.rows.last()
        self._to_end = False
        self._say()

    def _fail(self, error: HermesTuiError) -> None:
        """Rows that are there stay, and the reason is said beside them; without rows it takes their place."""
        self._error = error
        self._await(False)
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
        page = self._page
        how_much = ("",) if page is None else (self._waits_for,) if self._awaited else amount(page)
        self.show_header("Hermes history", *how_much)
        error = self._error
        told = "" if error is None or isinstance(error, BadQuery) or self._notice is not None else str(error)
        told = self._wrong if cell_len(self._wrong) + STATUS > self.size.width else told
        hint = "" if self._notice is not None else near_filter(self._query.text)[0]
        self.set_class(bool(problems(self._page, told, hint)), "-problems")
        self._problems.show(problems_view(self._page, told, hint))
        self._say_status()
        self.show_keys()

    @property
    def _wrong(self) -> str:
        """Why the filter cannot be understood."""
        error = self._error
        if not isinstance(error, BadQuery):
            return ""
        return f"cannot parse {one_line(self._query.text, 40)}: {one_line(error.reason, 300)}"

    @property
    def _waits_for(self) -> str:
        """What is done for an answer that is not here yet."""
        return FILTERING if self._query.text.strip() and self._query.text != self._answers.text else "reading …"

    def _await(self, waits: bool) -> None:
        """An answer is waited for, or is here; what takes a while says so, however often it is asked otherwise."""
        if waits and self._slow is None:
            self._slow = self.set_timer(SLOW_SECONDS, self._tell_awaited)
        elif not waits:
            if self._slow is not None:
                self._slow.stop()
            self._slow, self._awaited = None, False

    def _tell_awaited(self) -> None:
        self._awaited = True
        self._say()

    def _say_status(self) -> None:
        if self._awaited and self._page is not None:
            self.show_status(awaited_form(self._waits_for))
        elif wrong := self._wrong:
            short = f"cannot parse {one_line(self._query.text, 40)}"
            self.show_status((((wrong, "bad"),), ""), (((short, "bad"),), ""), mark="!")
        elif self._page is not None:
            page, cursor, query = self._page, self.rows.cursor, self._answers
            self.show_status(*status_forms(page, cursor, shown=query.include_hidden, filtered=bool(query.text)))
        else:
            self.show_status()

    def _ask(self, **changes: object) -> None:
        """Another list."""
        self._query = replace(self._query, **changes)  # type: ignore[arg-type]  # fields of a ListQuery
        self._await(True)
        self._load(anew=True)
        self._say()
