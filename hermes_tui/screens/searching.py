"""From the text in the box to what the search screen shows: hits, or the page that says why there are none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from textual import on, work
from textual.containers import Horizontal
from textual.widget import Widget

from hermes_tui.domain.hints import hints
from hermes_tui.domain.links import only_link
from hermes_tui.domain.queries import UNREAD, SearchOrder, SearchPage, SearchQuery, WayOut
from hermes_tui.domain.querytext import parse_query
from hermes_tui.errors import BadQuery, HermesTuiError, StoreBusy
from hermes_tui.intents import OpenProfiles, OpenTarget
from hermes_tui.keys import SEARCH
from hermes_tui.screens.base import HELP, BaseScreen, Moving, written
from hermes_tui.service.sessions import SessionService
from hermes_tui.service.sources import no_source
from hermes_tui.state import RecentQueries
from hermes_tui.text import one_line
from hermes_tui.times import now
from hermes_tui.values import replace
from hermes_tui.widgets import answers
from hermes_tui.widgets.hits import Hits
from hermes_tui.widgets.ink import Form, Ink
from hermes_tui.widgets.query import QueryLine, begins_filter, near_filter
from hermes_tui.widgets.rail import Rail
from hermes_tui.widgets.ways import Paragraph, Way, Ways, prose_view

Take = Callable[[], object]
_BOX = [key for key in SEARCH if key.action == "box"]


class Searching(Moving, BaseScreen):
    """A box, and below it always one of: hits, nothing found, cannot parse, failed, recent queries."""

    AGAIN_SECONDS: ClassVar[float] = 1.0
    """How long a store that was busy is left in peace."""

    def __init__(
        self,
        service: SessionService,
        text: str = "",
        *,
        order: SearchOrder = SearchOrder.RELEVANCE,
        scan: bool = False,
        recent: RecentQueries | None = None,
    ) -> None:
        """`scan`: read at once what no index holds, for the text that is given."""
        super().__init__(service)
        # Held rather than looked for, like header and status: answers may come when they have gone.
        self.box = QueryLine(text, id="query", classes="query")
        self.hits = Hits(profiles=len(service.stores) > 1, id="hits", classes="list")
        self.rail = Rail(id="rail", classes="rail")
        self.pane = Ink(id="preview", classes="preview")
        self._answer = Horizontal(self.hits, self.rail, self.pane, id="answer", classes="body")
        self.page = Ways(id="page", classes="body")
        """What stands in place of hits when there are none."""
        self._notices = Ink(id="notices", classes="notices")
        self._given, self._scan = text, scan
        self._recent = recent or RecentQueries()
        self._order = order
        self._query: SearchQuery | None = None
        """What was asked last; None while the box is empty."""
        self._busy = False
        self._page: SearchPage | None = None
        """The best answer there is …"""
        self._answered: SearchQuery | None = None
        """… and what it answers: the question before, until the first hits of the present one are there."""
        self._ways: tuple[WayOut, ...] = ()
        self._unknown = ""
        self._takes: tuple[Take, ...] = ()
        """What each row of the page does."""
        self._expression = False
        """The expression that was asked is shown."""
        self._awaited: SearchQuery | None = None
        """The question whose first hit is to be read as soon as it is there."""
        self._recalling = False
        """Recent queries stand in place of an answer that can come back."""

    def compose_body(self) -> Iterable[Widget]:
        yield self.box
        yield self._answer
        yield self.page
        yield self._notices

    def on_mount(self) -> None:
        super().on_mount()
        self.box.focus()
        self._ask(self._given, scan=self._scan)

    def on_unmount(self) -> None:
        """Ten thousand hits go at once, and not when what is left of this screen is looked for."""
        self._page = None
        self.hits.forget()

    @property
    def moved(self) -> Hits | Ways:
        """Whichever of the two is in sight."""
        return self.page if self.has_class("-page") else self.hits

    # asking

    @on(QueryLine.Changed)
    def _typed(self, event: QueryLine.Changed) -> None:
        self._ask(event.text, typing_at=event.cursor)
        if begins_filter(self.box.begun):
            self._complete(self.box.begun)

    def _ask(self, text: str, *, typing_at: int | None = None, scan: bool = False) -> None:
        """A new question; blank text asks nothing."""
        if text.strip():
            self._start(SearchQuery(text, self._order, scan=scan, typing_at=typing_at), fresh=True)
            return
        self.workers.cancel_group(self, "search")
        self.workers.cancel_group(self, "ways")
        self._query, self._page, self._answered, self._busy = None, None, None, False
        self._awaited = None
        self._show_recent()

    def _ask_again(self, *, scan: bool | None = None) -> None:
        """The same question, asked otherwise: the cursor stays where it is."""
        if self._query is not None:
            scan = self._query.scan if scan is None else scan
            self._start(replace(self._query, order=self._order, scan=scan), fresh=False)

    def _start(self, query: SearchQuery, *, fresh: bool) -> None:
        self.workers.cancel_group(self, "ways")
        try:  # known at once, so that the page stays while someone types on
            parse_query(query.text, present=now(), typing_at=query.typing_at)
        except BadQuery as wrong:
            self.workers.cancel_group(self, "search")
            self._refuse(query, wrong)
            return
        self._query, self._busy, self._recalling, self._awaited = query, True, False, None
        if self._answered is None:
            self._turn_page(False)
            self.hits.clear()
            self.show_header("Search", "searching…")
            self._settle()
        self._show_status()
        self.show_keys()
        self._search(query, fresh)

    @work(exclusive=True, group="search", description="search")
    async def _search(self, query: SearchQuery, fresh: bool) -> None:
        """Show each page as it comes; a busy store is asked again. Being cancelled by the next search is the end."""
        try:
            await self._show_pages(query, fresh)
        except asyncio.CancelledError as given_up:
            # The way it came through the search holds all that was found, in a circle that only the collector breaks.
            raise given_up.with_traceback(None) from None
        except BadQuery as error:
            self._refuse(query, error)
        except HermesTuiError as error:
            busy, said = isinstance(error, StoreBusy), one_line(str(error))
            right = "trying again …" if busy else "failed"
            self._show_failure(answers.failed(said), answers.failed_status(said), right, query.text)
            if busy:
                await asyncio.sleep(self.AGAIN_SECONDS)
                self._search(query, True)

    async def _show_pages(self, query: SearchQuery, fresh: bool) -> None:
        async for page in self.service.search(query):
            self._busy = not page.final
            self._show_answer(query, page, fresh=fresh)
            if fresh and page.hits:
                await self.painted(self.hits)
            fresh = False

    def _refuse(self, query: SearchQuery, error: BadQuery) -> None:
        """Say why this cannot be asked."""
        self._query, self._recalling = query, False
        status = answers.unparsable_status(query.text, error.reason)
        self._show_failure(answers.unparsable(query.text, error.reason), status)

    def _stop(self) -> None:
        """Give up the rest of an answer, and keep what there is of it."""
        self.workers.cancel_group(self, "search")
        self._busy, self._awaited = False, None
        if self._query is not None and self._query is not self._answered:
            self._query = self._answered
        self._show_status()
        self.show_keys()

    @work(exclusive=True, group="ways", description="ways out")
    async def _find_ways(self, query: SearchQuery, page: SearchPage) -> None:
        try:
            self._ways = await self.service.ways_out(query)
            self._unknown = await no_source(self.service, query.text)
        except HermesTuiError:
            return  # the page already says what was searched; a way out that cannot be counted is not offered
        self._show_nothing(query, page, looked=True)

    @work(exclusive=True, group="complete", description="complete")
    async def _complete(self, word: str) -> None:
        try:
            completions = await self.service.complete(word)
        except HermesTuiError:
            return  # a completion is a convenience; the search itself says what is wrong
        self.box.offer(word, completions)
        self.show_keys()

    @property
    def scannable(self) -> bool:
        """There is something that no index holds and that nobody has read for this answer."""
        page, query = self._page, self._answered
        if page is None or query is None or self._busy:
            return False
        stopped = query.scan and not page.final
        return stopped or any(notice.endswith(UNREAD) for notice in page.notices)

    # showing

    def _show_answer(self, query: SearchQuery, page: SearchPage, *, fresh: bool) -> None:
        self._answered, self._page = query, page
        if page.hits or not page.final:
            self._turn_page(False)
            self.box.show_order(answers.ORDERS[query.order])
            self.hits.show(page, fresh=fresh)
            self.show_header("Search", *(answers.counts(page) if page.hits else ("searching…",)))
            self._settle()
        else:
            self._ways, self._unknown = (), ""
            self._show_nothing(query, page)
            self._find_ways(query, page)
        self._show_status()

    def _show_nothing(self, query: SearchQuery, page: SearchPage, *, looked: bool = False) -> None:
        """`looked`: all ways out that find something are known."""
        head, tail = answers.nothing_found(query.text, page, scanned=query.scan)
        rows: list[tuple[Way, Take]] = []
        if hint := self._unknown or next(hints(query.text), ""):
            head.append(answers.hint_line(hint))
        if meant := near_filter(query.text)[1]:
            rows.append((answers.corrected_row(meant), self._asking(meant)))
        if (link := only_link(query.text)) is not None and link.id:
            intent = OpenProfiles() if answers.leads_nowhere(page) else OpenTarget(query.text)
            rows.append((answers.link_row(link, page), lambda: self.post_message(intent)))
        rows += [(answers.way_row(way), self._asking(way.text)) for way in self._ways]
        if self.scannable:
            rows.append((answers.SCAN, lambda: self._ask_again(scan=True)))
        if looked and not rows:
            rows.append((answers.CLEAR, self._asking("")))
        self._show_page(head, rows, tail)
        self.show_header("Search", "no match")

    def _asking(self, text: str) -> Take:
        """Puts this query into the box, and asks it."""

        def take() -> None:
            self.box.show(text)
            self._ask(text)

        return take

    def _show_failure(
        self, head: Sequence[Paragraph], status: Sequence[Form], right: str = "", again: str = ""
    ) -> None:
        """The page of a question without an answer; `again`: it may be asked once more."""
        self._busy, self._page, self._answered, self._awaited = False, None, None, None
        self._show_page(head, [(answers.AGAIN, self._asking(again))] if again else [], answers.GRAMMAR)
        self.show_header("Search", right)
        self.show_status(*status, mark="!")
        self._show_notices()

    def _show_recent(self) -> None:
        recent = self._recent()
        head, ways = answers.recent_page(recent)
        rows = [(way, self._asking(text)) for way, text in zip(ways, recent, strict=True)]
        self._show_page(head, rows, answers.GRAMMAR)
        self.show_header("Search")
        self.show_status()
        self._show_notices()

    def _show_page(
        self, head: Sequence[Paragraph], rows: Sequence[tuple[Way, Take]], tail: Sequence[Paragraph]
    ) -> None:
        self._takes = tuple(take for _, take in rows)
        self._turn_page(True)
        self.box.show_order("")
        self.page.show(head, [way for way, _ in rows], tail)
        self._settle()

    def _turn_page(self, on: bool) -> None:
        """The page in place of the hits, or the hits again."""
        self.turn("-page", on, self.page, self._answer)

    def _settle(self) -> None:
        """The focus leaves a list that is out of sight now; the footer tells the keys that work here."""
        if self.focused is not None and self.focused is not self.box and self.focused is not self.moved:
            self.set_focus(self.moved)
        self.show_keys()

    def _show_status(self) -> None:
        """The status line; what does not fit on it stands above, each on a line of its own."""
        if self._query is None or (self._answered is None and not self._busy):
            return  # nothing was asked, or the status line says why there is no answer
        page = self._page if self._query is self._answered else None
        key = ("tab, then X" if self.focused is self.box else "X") if self.scannable else ""
        forms = answers.status_forms(self._query, page, running=self._busy, at=self.hits.cursor, scan_key=key)
        self.show_status(*forms)
        if page is None and self._page is not None:
            return  # the answer before is still in sight, and so is what is to be known of it
        self._show_notices(*answers.told_above(forms, page, self.size.width))

    def _show_notices(self, whole: bool = False, told: bool = False) -> None:
        found_none = self._page is not None and not self._page.hits and self._page.final
        text = self._query.text if self._query is not None and not found_none else ""
        hint = next(hints(text), "")
        lines = answers.notice_lines(self._page, whole=whole, told=told, expression=self._expression, hint=hint)
        self.turn("-noticed", bool(lines), self._notices, self._status)
        self._notices.show(prose_view(lines, low=self.has_class("-low")))

    def show_keys(self, *instead: tuple[str, str]) -> None:
        ways, at = self.page.ways if self.has_class("-page") else (), self.page.cursor
        if not instead and (self.focused is None or self.focused is self.box):
            instead = answers.box_keys(
                hits=0 if self.has_class("-page") else len(self.hits.hits),
                taking=answers.way_keys(ways, at),
                offer=bool(self.box.offered),
                recent=bool(self._recent()) and self._query is not None and not self._recalling,
                escape=self._escape(),
            )
        elif not instead and (self.has_class("-page") or not self.hits.hits):
            back = ("esc", self._escape())
            instead = (*answers.way_keys(ways, at), *written(self, _BOX), back, *written(self, [HELP]))
        elif not instead:
            keys = [*self.footer_keys(), HELP]
            told = zip(keys, written(self, keys), strict=True)
            instead = tuple((pair[0], self._escape() if key.action == "back" else pair[1]) for key, pair in told)
        super().show_keys(*instead)

    @on(Ways.Scrolled, "#page")
    def _chosen(self) -> None:
        """Each way out is told by what it does."""
        if self.has_class("-page"):
            self.show_keys()

    def _escape(self) -> str:
        """What escape would do now."""
        if self._busy and self._query is not None and self._query.scan:
            return "stop"
        if self._recalling and self._page is not None and self._answered is not None:
            return "back"
        return "clear" if self.box.text and (self.focused is None or self.focused is self.box) else "back"
