"""Filling a transcript: what is around the anchor first, then all of it, then what is written meanwhile."""

from __future__ import annotations

import asyncio
import time

from textual import on, work
from textual.events import ScreenResume

from hermes_tui.domain.messages import Outline, Window
from hermes_tui.domain.queries import Tier
from hermes_tui.domain.sessions import Details
from hermes_tui.errors import HermesTuiError, StoreBusy, TargetNotFound
from hermes_tui.intents import OpenTranscript
from hermes_tui.screens.finding import Finding
from hermes_tui.service.sessions import SessionService
from hermes_tui.text import one_line
from hermes_tui.widgets.transcript import saying
from hermes_tui.widgets.transcript.order import outline_order
from hermes_tui.widgets.transcript.view import Reader
from hermes_tui.widgets.ways import Paragraph

BEFORE = AFTER = 48
"""Messages around the anchor that are read before anything else."""
FOLLOW_SECONDS = 1.0
"""How often the store is asked whether it was written …"""
PATIENCE = 4
"""… and how many times as long as the last look took it is left in peace."""
REREAD = 40
"""How many of the last messages are read again when the store was written: calls get their results."""


class Filling(Finding, inherit_bindings=False):
    """Asks the service for all that the reader shows."""

    def __init__(self, service: SessionService, opening: OpenTranscript) -> None:
        super().__init__(service, opening)
        self.details: Details | None = None
        self._looked = 0.0
        """When the store was last looked at …"""
        self._cost = 0.0
        """… how long that took …"""
        self._looking = False
        """… and whether somebody is looking now."""

    def show_reader(self) -> None:
        """The reader has something to show."""
        raise NotImplementedError

    def show_page(self, page: tuple[Paragraph, ...]) -> None:
        """It has not, and this is why."""
        raise NotImplementedError

    def show_head(self) -> None:
        """What is known of the conversation has changed."""
        raise NotImplementedError

    # opening

    @work(exclusive=True, group="open", description="open")
    async def open(self) -> None:
        """Read until all is here; a busy store is asked again."""
        while True:
            try:
                await self._read()
            except StoreBusy as error:
                self.say(one_line(f"{error.holder} holds the store; trying again …"), keep=True)
                await asyncio.sleep(FOLLOW_SECONDS)
            except HermesTuiError as error:
                self.show_page(saying.failure_page(str(error)))
                return
            else:
                return

    async def _read(self) -> None:
        opening, reader = self.opening, self.reader
        try:
            window = await self._window(opening.anchor)
        except TargetNotFound:  # undone or pruned since somebody saw it there, unless all of it has gone
            window = await self._window(None)
        self.note = ""  # of a store that was busy
        self.words = self.brought = "" if self._by_name() else opening.words.strip()
        reader.light(self.words)
        reader.show_window(window, opening.anchor)
        if window.messages:
            self.show_reader()
        self.conversation = await self.service.conversation(self.key)
        self.show_head()
        await self._show_outline(await self.service.outline(self.key))
        if self.titled and not self.words:
            self.say(saying.BY_TITLE, keep=True)
        if arrived := self._arrived():
            self.say(arrived, keep=True)
        self.details = (await self.service.details((self.key,))).get(self.key)
        self.show_head()
        if self.words:
            self.look_for(self.words, opening.anchor if opening.anchor is not None else -1)

    async def _window(self, anchor: int | None) -> Window:
        return await self.service.window(self.key, anchor, before=BEFORE, after=AFTER, rough=True)

    @property
    def titled(self) -> bool:
        """The search found it by its title, and nobody has found more."""
        hits, at = self.opening.hits, self.opening.hit
        return at < len(hits) and hits[at].tier is Tier.TITLE and hits[at].best is None

    def _by_name(self) -> bool:
        """It was found by its link, id or title alone: the words of the query name it and are not in it. Of a title
        that is sure only once its messages were counted."""
        hits, at = self.opening.hits, self.opening.hit
        if at >= len(hits) or hits[at].best is not None:
            return False
        return hits[at].tier is Tier.TARGET or (hits[at].tier is Tier.TITLE and hits[at].count == 0)

    def _arrived(self) -> str:
        """What is to be said of the place: the anchor may be a copy of the message that is shown, or not be here."""
        anchor, order = self.opening.anchor, self.reader.plan.order
        if anchor is not None:
            position = order.position(anchor)
            if position is None:
                return self.opening.notice or f"message {anchor} is not (or no longer) shown here: this is the end"
            if order.ids[position] != anchor:
                self.reader.start_at(anchor)
        return one_line(self.opening.notice or "", 300)

    async def _show_outline(self, outline: Outline) -> None:
        order = await asyncio.to_thread(outline_order, outline)
        self.outline = outline
        self.reader.show_order(order)
        if len(outline):
            self.show_reader()
        else:
            self.show_page(saying.EMPTY_PAGE)
        self.show_head()

    # texts

    @on(Reader.Wanted)
    def _wanted(self, event: Reader.Wanted) -> None:
        self._fetch(event.ids)

    @work(group="texts", description="texts")
    async def _fetch(self, ids: tuple[int, ...]) -> None:
        try:
            messages = await self.service.messages(self.key, ids)
        except HermesTuiError as error:
            self.say(one_line(str(error)), keep=True)
            await asyncio.sleep(FOLLOW_SECONDS)
            self.reader.release(ids)
            self.reader.relay()
        else:
            self.reader.put(ids, messages)

    @on(Reader.WantedWhole)
    def _wanted_whole(self, event: Reader.WantedWhole) -> None:
        self._fetch_whole(event.message_id)

    @work(group="texts", description="text")
    async def _fetch_whole(self, message_id: int) -> None:
        try:
            text = await self.service.message_text(self.key, message_id)
        except HermesTuiError as error:
            self.reader.release((message_id,))
            self.say(one_line(str(error)), keep=True)
        else:
            self.reader.put_text(message_id, text)

    # following what is written

    def follow(self) -> None:
        """Look whether the store was written, unless that was done a moment ago."""
        pause = max(FOLLOW_SECONDS, PATIENCE * self._cost)
        rested = time.monotonic() >= self._looked + pause - 0.1
        if rested and self.is_active and self.outline is not None and not self._looking:
            self.look_again()

    @on(ScreenResume)
    def _resumed(self) -> None:
        if self.outline is not None:
            self.look_again(anyhow=True)

    @work(exclusive=True, group="follow", description="follow")
    async def look_again(self, *, anyhow: bool = False) -> None:
        """What the store says now, if it was written."""
        started = time.monotonic()
        self._looking = True
        try:
            if await self.service.changes() or anyhow:
                self.conversation = await self.service.conversation(self.key)
                await self._grow(await self.service.outline(self.key))
                self._cost = time.monotonic() - started
        except TargetNotFound:
            self.say("this session is no longer in the store", keep=True)
        except HermesTuiError as error:
            self.say(one_line(str(error)), keep=True)
        finally:
            self._looked, self._looking = time.monotonic(), False

    async def _grow(self, outline: Outline) -> None:
        """Show what is new; the last messages may read otherwise by now."""
        before = len(self.outline) if self.outline is not None else 0
        reader = self.reader
        if len(outline) > before and not reader.plan.sees_end:
            self.fresh += len(outline) - before
        reader.refetch(REREAD)
        await self._show_outline(outline)
        if self.words and len(outline) != before and not self.typing:
            self.refind()
