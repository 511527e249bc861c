"""Browse: the keys of the list of conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import BindingType

from hermes_tui.domain.sessions import Order
from hermes_tui.errors import HermesTuiError
from hermes_tui.intents import OpenLineage, OpenProfiles, OpenResume, OpenSearch, OpenTranscript
from hermes_tui.keys import BROWSE, Key
from hermes_tui.screens.acting import Acting, Place
from hermes_tui.screens.base import HELP, WIDE, bindings, works, written
from hermes_tui.screens.browsing import Browsing, ListPlace
from hermes_tui.settings import RESUME, Settings
from hermes_tui.widgets.conversations import order_at
from hermes_tui.widgets.query import COMPLETE, QueryLine, near_filter
from hermes_tui.widgets.rows import Rows
from hermes_tui.widgets.ways import Ways

if TYPE_CHECKING:
    from hermes_tui.domain.sessions import ConversationPage
    from hermes_tui.service.sessions import SessionService

ORDERS = tuple(Order)
OF_A_ROW = frozenset({"resume", "lineage", "copy_link", "copy_command", "copy_id"})
"""Actions that need a conversation under the cursor."""
CLEAR_AFTER = 5
"""Keys of the footer that stand before the one that clears a filter."""


class BrowseScreen(Browsing, Acting):
    """The list, its filter, its preview."""

    PLACE = "browse"
    BINDINGS: ClassVar[list[BindingType]] = bindings("browse")
    AUTO_FOCUS = "#rows"

    def __init__(
        self,
        service: SessionService,
        *,
        settings: Settings | None = None,
        place: ListPlace | None = None,
        page: ConversationPage | None = None,
    ) -> None:
        super().__init__(service, settings=settings, place=place, page=page)
        self._enter_resumes = settings is not None and settings.enter == RESUME

    @property
    def acted(self) -> Place | None:
        row = self.current
        return None if row is None else Place(row.profile, row.id)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in OF_A_ROW:
            return self.current is not None
        if action == "read":
            return self.typing or bool(self._notice.ways if self._notice is not None else self.rows.items)
        if action == "preview":
            return self.size.width >= WIDE and self.current is not None
        if action == "clear":
            return self.typing or bool(self._query.text)
        return True

    def show_keys(self, *instead: tuple[str, str]) -> None:
        """While one types, what works in the filter; on a page `enter` takes a way out; a filter can be cleared."""
        if not instead and self.typing:
            instead = self._typing_keys()
        elif not instead and (self._notice is not None or self._query.text):
            keys = self.footer_keys()
            cleared = [key for key in BROWSE if key.action == "clear" and works(self, key)]
            shown = [*[*keys[:CLEAR_AFTER], *cleared, *keys[CLEAR_AFTER:]][:7], HELP]
            told = zip(shown, written(self, shown), strict=True)
            way = self.ways.current if self._notice is not None else None
            instead = tuple(
                (pair[0], way.does if way is not None and key.action == "read" else pair[1]) for key, pair in told
            )
        super().show_keys(*instead)

    def footer_keys(self) -> list[Key]:
        """Without rows that a filter could choose from, the filter is not told."""
        keys = super().footer_keys()
        page = self._page
        barren = page.of == 0 if page is not None else self._error is not None
        return [key for key in keys if key.action != "filter" or not barren]

    def _typing_keys(self) -> tuple[tuple[str, str], ...]:
        """What works while the filter takes all letters."""
        rows = len(self.ways.ways) if self._notice is not None else self.rows.total
        text = bool(self.box.text)
        moves = [("↑ ↓", "choose" if self._notice is not None else "move")] if rows > 1 else []
        taken = [COMPLETE] if self.box.offered else []
        return (("enter", "keep" if text else "to the list"), *moves, *taken, ("esc", "clear" if text else "close"))

    def action_read(self) -> None:
        """In the filter: keep it. On a page: take the way out. Else read (or resume, as the settings say)."""
        row = self.current
        if self.typing:
            self.rows.hold()
            self._leave_box()
        elif self._notice is not None:
            self._take(self.ways.cursor)
        elif row is not None and self._enter_resumes:
            self.action_resume()
        elif row is not None:
            self.post_message(OpenTranscript(row.key))

    @on(Rows.Opened)
    def _opened(self) -> None:
        self.action_read()

    @on(Ways.Taken)
    def _taken(self, event: Ways.Taken) -> None:
        self._take(event.position)

    def _take(self, position: int) -> None:
        """Take a way out of a page without rows."""
        if self._notice is None or not self._notice.ways:
            return
        name = self._notice.ways[position][0]
        if name == "search":
            self.post_message(OpenSearch(self._query.text))
        elif name == "mend":
            self.box.show(near_filter(self._query.text)[1])
            self._ask(text=self.box.text)
        else:
            taken = {"hidden": self.action_hidden, "clear": self.action_clear, "profiles": self.action_profiles}
            taken.get(name, self._load)()

    def action_search(self) -> None:
        self.post_message(OpenSearch())

    def action_filter(self) -> None:
        self.set_focus(self.box)
        self._say()

    @on(QueryLine.Changed)
    def _typed(self, event: QueryLine.Changed) -> None:
        self._ask(text=event.text)
        if ":" in self.box.begun:
            self._complete(self.box.begun)

    @work(exclusive=True, group="complete")
    async def _complete(self, word: str) -> None:
        """Offer the values that this store has for a filter word."""
        try:
            self.box.offer(word, await self.service.complete(word))
        except HermesTuiError:
            return  # one types on without an offer
        self.show_keys()

    def _leave_box(self) -> None:
        self.set_focus(self.rows if self._notice is None else self.ways)
        if self.typing:  # what should have the keys is not on the screen yet
            self.set_focus(None)
        self._say()

    def action_clear(self) -> None:
        """Escape clears what was typed, then leaves the box."""
        if self.box.text:
            self.box.clear()
        if not self.typing or not self._query.text:
            self._leave_box()

    def action_order(self) -> None:
        self._ask(order=ORDERS[(ORDERS.index(self._query.order) + 1) % len(ORDERS)], reverse=False)

    def action_reverse(self) -> None:
        self._ask(reverse=not self._query.reverse)

    @on(Rows.HeadClicked)
    def _sort_by(self, event: Rows.HeadClicked) -> None:
        """By the column that was clicked; by the one it is sorted by already, the other way round."""
        order = order_at(event.x, self.rows.size.width, self._style)
        if order is not None:
            self._ask(order=order, reverse=order is self._query.order and not self._query.reverse)

    def action_hidden(self) -> None:
        self._ask(include_hidden=not self._query.include_hidden)

    def action_preview(self) -> None:
        self._preview_wanted = not self._preview_wanted
        self._say()
        self._peek()

    def action_profiles(self) -> None:
        self.post_message(OpenProfiles())

    def action_quit(self) -> None:
        self.app.exit()

    # keys for the row under the cursor

    def action_resume(self) -> None:
        if (row := self.current) is not None:
            self.post_message(OpenResume(row))

    def action_lineage(self) -> None:
        if (row := self.current) is not None:
            self.post_message(OpenLineage(row.profile, row.id))
