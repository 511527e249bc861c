"""The search screen: a query that answers as it is typed, hits in tiers, the match in its conversation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events, on, work
from textual.binding import BindingType

from hermes_tui.domain.links import link_to, parse_link
from hermes_tui.domain.queries import Hit, SearchOrder, SearchPage, SearchQuery, Tier
from hermes_tui.domain.sessions import ConversationKey
from hermes_tui.errors import HermesTuiError, TargetAmbiguous
from hermes_tui.intents import OpenLineage, OpenProfiles, OpenResume, OpenTranscript
from hermes_tui.keys import SEARCH
from hermes_tui.screens.acting import Acting, Place
from hermes_tui.screens.base import WIDE, bindings
from hermes_tui.screens.searching import Searching
from hermes_tui.service.sessions import SessionService
from hermes_tui.state import RecentQueries
from hermes_tui.text import one_line
from hermes_tui.widgets import answers
from hermes_tui.widgets.hits import Hits
from hermes_tui.widgets.rail import Rail
from hermes_tui.widgets.ways import Ways
from hermes_tui.widgets.window import Context, Drawn, window_view

OWN = frozenset(key.action.partition("(")[0] for key in SEARCH)
IN_BOX = frozenset({"move", "page", "read", "switch", "recent", "back"})
"""Actions whose keys are no text: they work while someone types."""
ON_A_HIT = frozenset({"resume", "lineage", "copy_link", "copy_command", "copy_id", "preview"})
"""Actions that need a hit under the cursor."""


LOW = 16
"""Rows below which hits need the room that notices and blanks would take."""


def _place(hit: Hit) -> tuple[ConversationKey, int | None]:
    """What the context of a hit depends on."""
    return hit.conversation.key, hit.best.message_id if hit.best else None


class SearchScreen(Searching, Acting):
    """Focus stays in the box; arrows, page keys and enter act on the hits from there."""

    PLACE = "search"
    BINDINGS: ClassVar[list[BindingType]] = bindings("search")

    def __init__(
        self,
        service: SessionService,
        text: str = "",
        *,
        order: SearchOrder = SearchOrder.RELEVANCE,
        scan: bool = False,
        recent: RecentQueries | None = None,
    ) -> None:
        super().__init__(service, text, order=order, scan=scan, recent=recent)
        self._told: Context | None = None
        """What the pane shows …"""
        self._told_of: tuple[ConversationKey, int | None] | None = None
        """… of which match …"""
        self._drawn: Drawn = {}
        """… and how that looks."""

    @property
    def current(self) -> Hit | None:
        """The hit under the cursor."""
        return None if self.has_class("-page") else self.hits.current

    def point_at(self, hit: Hit) -> None:
        """Put the cursor on this conversation, if it is among the hits."""
        at = self.hits.position(hit.conversation.key)
        if at is not None:
            self.hits.choose(at)

    @property
    def acted(self) -> Place | None:
        hit = self.current
        return None if hit is None else Place(hit.conversation.profile, hit.conversation.id)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action not in OWN:
            return super().check_action(action, parameters)
        if self.focused is self.box:
            return action in IN_BOX
        if action in ON_A_HIT:
            return self.current is not None and (action != "preview" or self.size.width >= WIDE)
        if action == "scan":
            return self.scannable
        if action == "read":
            return self.current is not None or self.page.current is not None
        if action == "move":
            return self.has_class("-page") or len(self.hits.hits) > 1
        return action not in ("order", "expression") or self._answered is not None

    def on_descendant_focus(self) -> None:
        self.show_keys()
        if self._page is not None:
            self._show_status()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.height < LOW, "-low")
        if self._page is not None:
            self._show_status()
        if self.current is not None:
            self._look(self.current)

    # the hit under the cursor

    @on(Hits.Selected)
    def _selected(self, event: Hits.Selected) -> None:
        self._show_status()
        self.show_keys()
        if event.hit is not None:
            self._look(event.hit)
        else:
            self.workers.cancel_group(self, "context")
            self._told_of, self._told, self._drawn = None, None, {}
            self.pane.show(lambda width, height: [])

    def _look(self, hit: Hit) -> None:
        """Show the hit in its conversation, where there is a pane to show it in."""
        if self.size.width < WIDE or self.has_class("-alone"):
            return
        if self._told_of == _place(hit):
            self._show_context(hit)  # another page of the answer: counts and words may have changed
        else:
            self._find_context(hit)

    @work(exclusive=True, group="context", description="context")
    async def _find_context(self, hit: Hit) -> None:
        failed = ""
        self._told_of, self._told, self._drawn = None, None, {}
        try:
            self._told = await self.service.context(hit.conversation.key, hit)
            self._told_of = _place(hit)
        except HermesTuiError as error:
            failed = one_line(str(error))
        self._show_context(hit, failed)

    def _show_context(self, hit: Hit, failed: str = "") -> None:
        view = window_view(
            hit,
            self._told,
            self._page.words if self._page else (),
            details=self.hits.details(hit.conversation.key),
            failed=failed,
            profile=len(self.service.stores) > 1,
            drawn=self._drawn,
        )
        self.pane.show(view)

    @on(Hits.Wanted)
    def _wanted(self, event: Hits.Wanted) -> None:
        self._describe(event.keys)

    @work(group="details", description="details")
    async def _describe(self, keys: tuple[ConversationKey, ...]) -> None:
        try:
            details = await self.service.details(keys)
        except HermesTuiError:
            return  # the hits stand as they are, by their titles
        self.hits.show_details(details)
        if self.current is not None and self.current.conversation.key in details:
            self._look(self.current)

    @on(Hits.Unread)
    def _unread(self, event: Hits.Unread) -> None:
        if self._page is not None:
            self._read_on(event.hits, self._page)

    @work(group="messages", description="messages")
    async def _read_on(self, hits: Sequence[Hit], page: SearchPage) -> None:
        try:
            read = await self.service.read(hits, page.tree)
        except HermesTuiError:
            return  # the hits stand as they are, without what was said
        self.hits.show_read(read)
        if self.current is not None and self.current in read:
            self._look(self.current)

    @on(Hits.Scrolled, "#hits")
    def _scrolled(self) -> None:
        hits = self.hits
        self.rail.show(hits.total, hits.size.height, hits.top)

    @on(Rail.Moved)
    def _dragged(self, event: Rail.Moved) -> None:
        self.hits.go(event.top)

    # reading

    @on(Hits.Opened)
    def _opened(self, event: Hits.Opened) -> None:
        self._read(event.match)

    @on(Ways.Taken)
    def _taken(self) -> None:
        self.action_read()

    def action_read(self) -> None:
        if self._unanswered:
            self._awaited = self._query
        elif not self.has_class("-page"):
            self._read()
        elif self.page.current is not None:
            self._takes[self.page.cursor]()

    @property
    def _unanswered(self) -> bool:
        """What is typed has found nothing yet, and nobody has chosen among what was found before."""
        if not self._busy or self._query is None or self.focused is not self.box or self.moved.chosen:
            return False
        return self._answered is None or self._answered.text != self._query.text

    def _show_answer(self, query: SearchQuery, page: SearchPage, *, fresh: bool) -> None:
        super()._show_answer(query, page, fresh=fresh)
        if self._awaited is not None and self._awaited is query and (page.hits or page.final):
            self._awaited = None
            if self.is_current:
                self._read()

    def _read(self, match: int = 0) -> None:
        """Open the conversation under the cursor at one of its matches."""
        hit, query = self.current, self._answered
        if hit is None or query is None:
            return
        self._remember(query.text)
        found = hit.matches[match] if match < len(hit.matches) else hit.best
        if hit.tier is Tier.TARGET and parse_link(query.text) is not None:
            self._open(hit, query.text, None)
        elif hit.in_delegate and found is not None:
            self._open(hit, link_to(hit.conversation.profile, found.session_id), found.message_id)
        else:
            self._post(hit, hit.conversation.key, found.message_id if found else None)

    @work(exclusive=True, group="open", description="open")
    async def _open(self, hit: Hit, target: str, anchor: int | None) -> None:
        """Open what a link or a delegate's run means: only the store can say which conversation that is."""
        key, notice = hit.conversation.key, None
        try:
            found = await self.service.target(target)
        except TargetAmbiguous:
            link = parse_link(target)
            anchor = link.anchor if link is not None and anchor is None else anchor
        except HermesTuiError as error:
            notice = one_line(str(error))
        else:
            key, notice = ConversationKey(found.profile, found.root_id), found.notice
            anchor = found.anchor if anchor is None else anchor
        self._post(hit, key, anchor, notice)

    def _post(self, hit: Hit, key: ConversationKey, anchor: int | None, notice: str | None = None) -> None:
        hits = tuple(self.hits.hits)
        at = self.hits.position(hit.conversation.key) or 0
        words = self._page.words if self._page else ()
        lit = " ".join(f'"{word}"' if " " in word else word for word in words)
        self.post_message(OpenTranscript(key, anchor, words=lit, notice=notice, hits=hits, hit=at))

    def _remember(self, text: str) -> None:
        try:
            self._recent.add(text)
        except OSError as error:
            self.notify(one_line(f"Recent queries could not be kept: {error}"), severity="warning", markup=False)

    # other keys

    def action_order(self) -> None:
        orders = list(SearchOrder)
        self._order = orders[(orders.index(self._order) + 1) % len(orders)]
        self.box.show_order(answers.ORDERS[self._order])
        self._ask_again()

    def action_scan(self) -> None:
        self._ask_again(scan=True)

    def action_expression(self) -> None:
        self._expression = not self._expression
        self._show_status()

    def action_recent(self) -> None:
        self._recalling = True
        self._show_recent()

    def action_box(self) -> None:
        self.box.focus()

    def action_switch(self) -> None:
        self.set_focus(self.moved if self.focused is self.box else self.box)

    def action_preview(self) -> None:
        self.toggle_class("-alone")
        if self.current is not None:
            self._look(self.current)

    def action_resume(self) -> None:
        if hit := self.current:
            self.post_message(OpenResume(hit.conversation))

    def action_lineage(self) -> None:
        if hit := self.current:
            session_id = hit.best.session_id if hit.best else hit.conversation.id
            self.post_message(OpenLineage(hit.conversation.profile, session_id))

    def action_profiles(self) -> None:
        self.post_message(OpenProfiles())

    def action_back(self) -> None:
        """Stop a scan, else leave what stands over an answer, else clear the box, else leave."""
        if self._busy and self._query is not None and self._query.scan:
            self._stop()
        elif self._recalling and self._page is not None and self._answered is not None:
            self._recalling = False
            self._show_answer(self._answered, self._page, fresh=False)
        elif self.focused is self.box and self.box.text:
            self.box.clear()
        else:
            self.dismiss()
