"""Transcript: one conversation from its first word to its last, read at the message one came for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from typing import ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.events import ScreenResume
from textual.widget import Widget

from hermes_tui.domain.links import link_to
from hermes_tui.domain.messages import Outline
from hermes_tui.domain.sessions import Details
from hermes_tui.errors import HermesTuiError, StoreBusy, TargetNotFound
from hermes_tui.intents import CopyText, OpenLineage, OpenResume, OpenTranscript
from hermes_tui.screens.acting import Place as Session
from hermes_tui.screens.base import Movable, bindings
from hermes_tui.screens.finding import FIND_HINT, Finding
from hermes_tui.screens.leading import Leading
from hermes_tui.service.sessions import SessionService
from hermes_tui.text import count, one_line
from hermes_tui.widgets.ink import Part
from hermes_tui.widgets.query import QueryLine
from hermes_tui.widgets.rail import Rail
from hermes_tui.widgets.transcript import saying
from hermes_tui.widgets.transcript.outcomes import read_outcome
from hermes_tui.widgets.transcript.view import Reader
from hermes_tui.widgets.ways import Paragraph, Ways
from hermes_tui.widgets.wording import title_part

BEFORE = AFTER = 48
"""Messages around the anchor that are read before anything else."""
FOLLOW_SECONDS = 1.0
"""How often the store is asked whether it was written …"""
PATIENCE = 4
"""… and how many times as long as the last look took it is left in peace."""
REREAD = 40
"""How many of the last messages are read again when the store was written: calls get their results."""
READS = frozenset(
    {
        *("find", "match", "prompt", "message", "item", "tools", "reasoning", "goto", "bookmark", "sideways"),
        *("copy_message", "copy_code", "copy_link"),
    }
)
"""Actions that need a transcript in sight."""


class TranscriptScreen(Finding, Leading, inherit_bindings=False):
    """The reader, its rail, its lines."""

    PLACE = "transcript"
    BINDINGS: ClassVar[list[BindingType]] = bindings("transcript")
    AUTO_FOCUS = "#reader"

    def __init__(self, service: SessionService, opening: OpenTranscript) -> None:
        super().__init__(service, opening)
        self._details: Details | None = None
        self._looked = 0.0
        """When the store was last looked at, and how long that took."""
        self._cost = 0.0

    def compose_body(self) -> Iterable[Widget]:
        with Horizontal(classes="body"):
            yield Reader(id="reader", classes="reader")
            yield Rail(hair=" ", id="rail", classes="rail")
        yield Ways(id="page", classes="body")
        yield QueryLine(hint=FIND_HINT, id="box", classes="query")

    def on_mount(self) -> None:
        super().on_mount()
        self._show_page(saying.READING)
        self.show_header("")
        self._open()
        self.set_interval(FOLLOW_SECONDS, self._follow)

    # opening

    @work(exclusive=True, group="open", description="open")
    async def _open(self) -> None:
        """First the messages around the anchor, then all the rest."""
        while True:
            try:
                await self._read()
            except StoreBusy as error:
                self.say(f"{one_line(str(error))}; trying again")
                await asyncio.sleep(FOLLOW_SECONDS)
            except HermesTuiError as error:
                self._show_page(saying.failure_page(str(error)))
                return
            else:
                return

    async def _read(self) -> None:
        opening, reader = self.opening, self.reader
        window = await self.service.window(self.key, opening.anchor, before=BEFORE, after=AFTER)
        reader.light(opening.words)
        self.words = opening.words.strip()
        reader.show_window(window, opening.anchor)
        if window.messages:
            self._show_reader()
        self.conversation = await self.service.conversation(self.key)
        self._show_head()
        self._show_outline(await self.service.outline(self.key))
        if opening.anchor is not None and not self._reached(opening.anchor):
            self.say(f"message {opening.anchor} is not shown in this conversation")
        elif opening.notice:
            self.say(one_line(opening.notice, 300))
        self._details = (await self.service.details((self.key,))).get(self.key)
        self._show_head()
        if self.words:
            self.look_for(self.words, opening.anchor if opening.anchor is not None else -1)

    def _reached(self, anchor: int) -> bool:
        """Whether the anchor, or the copy of it that is shown, is where the reader is or was brought."""
        order = self.reader.plan.order
        position = order.position(anchor)
        if position is not None and order.ids[position] != anchor:
            self.reader.start_at(anchor)
        return position is not None

    def _show_outline(self, outline: Outline) -> None:
        self.outline = outline
        self.reader.show_outline(outline)
        if len(outline):
            self._show_reader()
        else:
            self._show_page(saying.EMPTY_PAGE)
        self._show_head()

    def _show_reader(self) -> None:
        if self.has_class("-page"):
            self.remove_class("-page")
            self.reader.focus()
        self.show_place()
        self.show_keys()

    def _show_page(self, page: tuple[Paragraph, ...]) -> None:
        self.add_class("-page")
        self.page.show(page)
        self.show_place()
        self.show_keys()

    def _show_head(self) -> None:
        conversation = self.conversation
        if conversation is None:
            return
        total = len(self.outline) if self.outline is not None else None
        name = title_part(conversation, self._details)[0]
        facts = saying.fact_lines(conversation, self._details)
        self.show_header(name, *saying.amounts(conversation, total), facts=facts)

    # texts

    @on(Reader.Wanted)
    def _wanted(self, event: Reader.Wanted) -> None:
        self._fetch(event.ids)

    @work(group="texts", description="texts")
    async def _fetch(self, ids: tuple[int, ...]) -> None:
        try:
            messages = await self.service.messages(self.key, ids)
        except HermesTuiError as error:
            self.say(one_line(str(error)))
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
            self.say(one_line(str(error)))
        else:
            self.reader.put_text(message_id, text)

    # following what is written

    def _follow(self) -> None:
        pause = max(FOLLOW_SECONDS, PATIENCE * self._cost)
        if self.is_current and self.outline is not None and time.monotonic() >= self._looked + pause - 0.1:
            self._look()

    @on(ScreenResume)
    def _resumed(self) -> None:
        if self.outline is not None:
            self._look(anyhow=True)

    @work(exclusive=True, group="follow", description="follow")
    async def _look(self, *, anyhow: bool = False) -> None:
        """What the store says now, if it was written."""
        self._looked = started = time.monotonic()
        try:
            if not (await self.service.changes() or anyhow):
                return
            self.conversation = await self.service.conversation(self.key)
            outline = await self.service.outline(self.key)
        except TargetNotFound:
            self.say("this session is no longer in the store")
            return
        except HermesTuiError as error:
            self.say(one_line(str(error)))
            return
        self._cost = time.monotonic() - started
        self._grow(outline)

    def _grow(self, outline: Outline) -> None:
        """Show what is new; the last messages may read otherwise by now."""
        before = len(self.outline) if self.outline is not None else 0
        reader = self.reader
        if len(outline) > before and not reader.plan.sees_end:
            self.fresh += len(outline) - before
        reader.refetch(REREAD)
        self._show_outline(outline)
        if self.words and len(outline) != before and not self.typing:
            self.refind()

    # lines around the reader

    @on(Reader.Moved)
    def _moved(self) -> None:
        reader = self.reader
        if reader.plan.sees_end:
            self.fresh = 0
        self.query_one("#rail", Rail).show(*reader.scroll_state(), reader.ticks())
        self.show_place()

    @on(Rail.Moved)
    def _dragged(self, event: Rail.Moved) -> None:
        self.reader.go_to_line(event.top)

    def show_place(self) -> None:
        reader = self.reader
        words: tuple[Part, ...] = ()
        if self.words:
            words = saying.find_parts(self.words, reader.match_number, self.found)
            self.box.show_order(saying.found_words(reader.match_number, self.found))
        note: Part = (self.note, "aside")
        if self.fresh and not self.note:
            note = (f"{count(self.fresh, 'new message')}", "gold")
        place = reader.place if self.reads else None
        self.show_status(*saying.position_forms(place, words=words, note=note), mark="/" if words else " ")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what works now is told in the footer."""
        if action in READS and not self.reads:
            return False
        if action == "act":
            return self.reads or self.choosing
        if action == "match":
            return bool(self.reader.matches)
        if action == "hit":
            return len(self.opening.hits) > 1
        return True

    # keys

    @property
    def moved(self) -> Movable:
        return self.page if self.choosing or self.has_class("-page") else self.reader

    @property
    def acted(self) -> Session | None:
        conversation = self.conversation
        return Session(conversation.profile, conversation.id) if conversation is not None else None

    def action_act(self) -> None:
        if self.typing:
            self.accept_line()
        elif self.choosing:
            self.take()
        else:
            self.reader.act()

    def action_back(self) -> None:
        """What was opened last is closed first."""
        if self.typing:
            self.leave_line()
        elif self.choosing:
            self.end_choosing()
        elif self._typed and self.words:
            self.close_find()
        else:
            self.dismiss()

    def action_leave(self) -> None:
        if self.choosing:
            self.end_choosing()
        else:
            self.dismiss()

    def action_prompt(self, step: int) -> None:
        if not self.reader.prompt(step):
            self.say("no prompt after this one" if step > 0 else "no prompt before this one")

    def action_message(self, step: int) -> None:
        self.reader.message(step)

    def action_item(self, step: int) -> None:
        self.reader.item(step)

    def action_tools(self) -> None:
        self.reader.fold_tools()

    def action_reasoning(self) -> None:
        self.reader.fold_thoughts()

    def action_sideways(self, step: int) -> None:
        if not self.reader.sideways(step):
            self.say("nothing here is wider than the screen")

    def action_resume(self) -> None:
        if self.conversation is not None:
            self.post_message(OpenResume(self.conversation))

    def action_lineage(self) -> None:
        self.post_message(OpenLineage(self.key.profile, self._session_here() or self.key.root_id))

    def _session_here(self) -> str | None:
        """The segment that holds the current message."""
        place = self.reader.place
        if place is None:
            return None
        message = self.reader.shelf.message(place.message_id)
        return message.session_id if message is not None else None

    # copying

    def action_copy_link(self) -> None:
        """With the message as its anchor."""
        place, session = self.reader.place, self._session_here()
        if place is not None and session is not None:
            self.post_message(CopyText(link_to(self.key.profile, session, place.message_id), "link"))

    def action_copy_message(self) -> None:
        source = self.reader.source()
        if source is None:
            return
        if source.text is not None:
            self.post_message(CopyText(source.text, source.what))
        else:
            self._copy_whole(source.message_id, source.what)

    @work(exclusive=True, group="copy", description="copy")
    async def _copy_whole(self, message_id: int, what: str) -> None:
        try:
            text = await self.service.message_text(self.key, message_id)
        except HermesTuiError as error:
            self.notify(one_line(str(error)), severity="warning", markup=False)
        else:
            self.post_message(CopyText(read_outcome(text, len(text)).text if what == "output" else text, what))

    def action_copy_code(self) -> None:
        found = self.reader.next_code()
        if found is None:
            self.say("no code block in this message")
            return
        code, number, of = found
        self.post_message(CopyText(code, f"code block {number} of {of}" if of > 1 else "code block"))
