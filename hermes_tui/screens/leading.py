"""Ways out of a transcript: links in it, bookmarks, the hits before and after this one."""

from __future__ import annotations

import asyncio

from textual import on, work

from hermes_tui.bookmarks import Bookmark, Bookmarks
from hermes_tui.domain.links import PREFIX, link_to
from hermes_tui.domain.sessions import ConversationKey
from hermes_tui.errors import HermesTuiError
from hermes_tui.intents import CopyText, OpenTarget, OpenTranscript
from hermes_tui.keys import TRANSCRIPT
from hermes_tui.screens.base import HELP, toggle_bookmark, written
from hermes_tui.screens.reading import Reading
from hermes_tui.text import clean, one_line
from hermes_tui.widgets.transcript import saying
from hermes_tui.widgets.transcript.view import Reader
from hermes_tui.widgets.ways import Paragraph, Way, Ways
from hermes_tui.widgets.wording import title_part

OPENED = frozenset({"http", "https", "file"})
"""Schemes of links that are handed to a browser, and only after a yes."""
_MARK = [key for key in TRANSCRIPT if key.action == "bookmark"]
_IN_TERMINAL = frozenset({"lynx", "w3m", "links", "elinks", "www-browser", "browsh", "links2"})
"""Browsers that would draw over us."""


def browse(target: str) -> bool:
    """Show this address in a browser with a window of its own; False when there is none."""
    import webbrowser

    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return False
    name = str(getattr(browser, "name", "")).rpartition("/")[2]
    return name not in _IN_TERMINAL and bool(browser.open(target))


class Leading(Reading, inherit_bindings=False):
    """Links, bookmarks, hits."""

    bookmarks = Bookmarks()
    _asked = ""
    """The link that stands in question."""
    _listed: tuple[Bookmark, ...] = ()
    """The bookmarks that stand to choose from."""

    # a question or a list in place of the reader

    def choose_from(self, head: tuple[Paragraph, ...], ways: tuple[Way, ...]) -> None:
        """Show rows to choose from."""
        self.page.show(head, ways)
        self.note = ""  # it was of what stood there before
        self.add_class("-choosing")
        self.page.focus()
        self.show_place()
        self._show_choices()

    def _show_choices(self) -> None:
        """The keys of a list to choose from; enter is told by what it does to the row under the cursor."""
        row = self.page.current
        taking = [] if row is None else [("enter", row.does)]
        taking += [("↑ ↓", "choose")] if len(self.page.ways) > 1 else []
        taking += [(key, "remove") for key, _ in written(self, _MARK)] if self._listed else []
        self.show_keys(*taking, ("esc", "back"), *written(self, [HELP]))

    @on(Ways.Scrolled, "#page")
    def _chosen(self) -> None:
        if self.choosing:
            self._show_choices()

    def end_choosing(self) -> None:
        """The reader again, where it was."""
        self._asked, self._listed = "", ()
        self.remove_class("-choosing")
        self.reader.focus()
        self.show_place()
        self.show_keys()

    @on(Ways.Taken)
    def _taken(self) -> None:
        self.take()

    def take(self) -> None:
        """Enter on a row."""
        at, asked, listed = self.page.cursor, self._asked, self._listed
        row = self.page.current
        self.end_choosing()
        if row is None:
            return
        if asked:
            if at == 0:
                self._browse(asked)
            elif at == 1:
                self.post_message(CopyText(asked, "link"))
        elif at < len(listed):
            self._go_to_bookmark(listed[at])

    # links

    @on(Reader.Followed)
    def _followed(self, event: Reader.Followed) -> None:
        event.stop()
        target = event.target
        if target.startswith(PREFIX):
            self.post_message(OpenTarget(target))
        elif target.partition(":")[0].lower() not in OPENED or clean(target) != target:
            self.notify("This link is not one that can be opened safely.", severity="warning", markup=False)
        else:
            self._asked = target
            self.choose_from(*saying.link_page(target))

    @work(group="browser", description="browser")
    async def _browse(self, target: str) -> None:
        if not await asyncio.to_thread(browse, target):
            self.notify("There is no browser here to open it in.", severity="warning", markup=False)

    # bookmarks

    def _remove_bookmark(self) -> None:
        """Of the list, the one under the cursor."""
        at = self.page.cursor
        if at < len(self._listed) and toggle_bookmark(self, self.bookmarks, self._listed[at]) is not None:
            self.action_bookmarks()

    def action_bookmark(self) -> None:
        if self.choosing:
            self._remove_bookmark()
            return
        place, reader = self.reader.place, self.reader
        if place is None:
            return
        message = reader.shelf.message(place.message_id)
        title = title_part(self.conversation)[0] if self.conversation is not None else self.key.root_id
        mark = Bookmark(
            db=self._db(),
            profile=self.key.profile,
            root_id=self.key.root_id,
            message_id=place.message_id,
            title=title,
            words=saying.bookmark_words(message) if message is not None else "",
            timestamp=place.timestamp,
        )
        added = toggle_bookmark(self, self.bookmarks, mark)
        if added is not None:
            self.say("bookmarked" if added else "bookmark removed")

    def _db(self) -> str:
        return next((str(store.db) for store in self.service.stores if store.profile == self.key.profile), "")

    def action_bookmarks(self) -> None:
        """Those of this store, of this conversation first."""
        marks = [mark for mark in self.bookmarks() if mark.db == self._db()]
        self._listed = tuple(sorted(marks, key=lambda mark: mark.key != self.key))
        self.choose_from(*saying.bookmarks_page(self._listed))

    def _go_to_bookmark(self, mark: Bookmark) -> None:
        if mark.key != self.key:
            self.post_message(OpenTranscript(mark.key, mark.message_id))
        elif not self.reader.go_to(mark.message_id):
            self.say("that message is no longer shown")

    # hits

    def action_hit(self, step: int) -> None:
        """The next conversation that the search found, at its best match."""
        opening = self.opening
        at = opening.hit + step
        if 0 <= at < len(opening.hits):
            self._open_hit(at)
        else:
            self.say("that was the last conversation found" if step > 0 else "that was the first conversation found")

    @work(exclusive=True, group="hit", description="hit")
    async def _open_hit(self, at: int) -> None:
        opening = self.opening
        hit = opening.hits[at]
        key, notice = hit.conversation.key, None
        best = hit.best
        if hit.in_delegate and best is not None:
            try:
                target = await self.service.target(link_to(hit.conversation.profile, best.session_id))
            except HermesTuiError as error:
                notice = one_line(str(error))
            else:
                key, notice = ConversationKey(target.profile, target.root_id), target.notice
        anchor = best.message_id if best is not None else None
        self.post_message(OpenTranscript(key, anchor, opening.words, notice, opening.hits, at))
