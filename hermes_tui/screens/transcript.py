"""Transcript: one conversation from its first word to its last, read at the message one came for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widget import Widget

from hermes_tui.domain.links import link_to
from hermes_tui.errors import HermesTuiError
from hermes_tui.intents import CopyText, OpenLineage, OpenResume, OpenTranscript
from hermes_tui.keys import TRANSCRIPT
from hermes_tui.screens.acting import Place as Session
from hermes_tui.screens.base import HELP, Movable, bindings, works, written
from hermes_tui.screens.filling import FOLLOW_SECONDS, Filling
from hermes_tui.screens.leading import Leading
from hermes_tui.service.sessions import SessionService
from hermes_tui.text import count, one_line
from hermes_tui.widgets.ink import Part
from hermes_tui.widgets.rail import Rail
from hermes_tui.widgets.transcript import saying
from hermes_tui.widgets.transcript.outcomes import read_outcome
from hermes_tui.widgets.transcript.view import Reader
from hermes_tui.widgets.ways import Paragraph
from hermes_tui.widgets.wording import title_part

READS = frozenset(
    {
        *("find", "match", "prompt", "message", "item", "tools", "reasoning", "goto", "bookmark", "sideways"),
        *("copy_message", "copy_code", "copy_link"),
    }
)
"""Actions that need a transcript in sight."""
OF_IT = frozenset({"resume", "copy_command", "copy_id"})
"""Actions that need to know the conversation."""


ON_A_PAGE = ("transcript.resume", "transcript.lineage", "transcript.back")
"""What the footer tells where there is no transcript."""


class TranscriptScreen(Filling, Leading, inherit_bindings=False):
    """The reader, its rail, its lines."""

    PLACE = "transcript"
    BINDINGS: ClassVar[list[BindingType]] = bindings("transcript")
    AUTO_FOCUS = "#reader"

    def __init__(self, service: SessionService, opening: OpenTranscript) -> None:
        super().__init__(service, opening)
        self._footer: tuple[tuple[str, str], ...] = ()
        """The keys that are shown, so that they are drawn only when they change."""
        self._let_go = False
        """Escape has just let go of a selection."""

    def compose_body(self) -> Iterable[Widget]:
        with Horizontal(classes="body"):
            yield self.reader
            yield self.rail
        yield self.page
        yield self.box

    def on_mount(self) -> None:
        super().on_mount()
        self.show_page(saying.READING)
        self.show_header(saying.first_name(self.opening))
        self.open()
        self.set_interval(FOLLOW_SECONDS, self.follow)

    # what stands in place of what

    def show_reader(self) -> None:
        if self.has_class("-page"):
            self.remove_class("-page")
            self.reader.focus()
        self.show_place()
        self.show_keys()

    def show_page(self, page: tuple[Paragraph, ...]) -> None:
        self.add_class("-page")
        self.page.show(page)
        self.show_place()
        self.show_keys()

    def show_head(self) -> None:
        conversation = self.conversation
        if conversation is None:
            return
        total = len(self.outline) if self.outline is not None else None
        name = title_part(conversation, self.details)[0]
        facts = saying.fact_lines(conversation, self.details)
        self.show_header(name, *saying.amounts(conversation, total), facts=facts)

    # lines around the reader

    @on(Reader.Moved)
    def follow_up(self) -> None:
        """Something else is in sight: what stands around the reader is drawn with it, whether or not the message that
        says so has come."""
        reader = self.reader
        if not reader.moved:
            return
        reader.moved = False
        if reader.plan.sees_end:
            self.fresh = 0
        self.rail.show(*reader.scroll_state(), reader.ticks())
        self.show_place()
        if self.reads:
            self.show_keys()

    @on(Rail.Moved)
    def _dragged(self, event: Rail.Moved) -> None:
        self.reader.go_to_line(event.top)

    def show_place(self) -> None:
        reader = self.reader
        words: tuple[Part, ...] = ()
        counted = ""
        if self.words:
            counted = saying.found_words(reader.match_number, self.found, looking=self.looking_for)
            if self.found == 0 and self.words == self.brought and self.titled:
                counted = saying.IN_TITLE
            words = saying.find_parts(self.words, counted, found=bool(self.found))
        self.box.show_order(counted if self.box.text and not self._going else "")
        note: Part = (self.noted(), "aside")
        if self.fresh and not self.note:
            note = (f"{count(self.fresh, 'new message')}", "gold")
        place = reader.place if self.reads else None
        self.show_status(*saying.position_forms(place, words=words, note=note), mark="/" if words else " ")

    def show_keys(self, *instead: tuple[str, str]) -> None:
        if not instead and (self.typing or self.choosing):
            return  # the keys of the line, or of what is chosen from, stand there until it is left
        if not instead and not self.reads:
            instead = tuple(written(self, [key for key in TRANSCRIPT if key.id in ON_A_PAGE and works(self, key)]))
            instead += tuple(written(self, [HELP]))
        if instead:
            self._footer = instead
            super().show_keys(*instead)
            return
        place = self.reader.place
        pairs = saying.footer(
            getattr(self.app, "rebound", {}),
            place.kind if place is not None else None,
            matches=len(self.reader.matches) > 0,
            hits=len(self.opening.hits) > 1,
            tools=self.reader.plan.order.called,
            finding=self._typed and bool(self.words),
        )
        if pairs != self._footer:
            self._footer = pairs
            super().show_keys(*pairs)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what works now is told in the footer."""
        if action == "bookmark" and self.choosing:
            return bool(self._listed)
        if action in READS and not self.reads:
            return False
        if action == "act":
            return self.typing or self.choosing or self.reads
        if action in OF_IT:
            return self.conversation is not None
        if action == "match":
            return len(self.reader.matches) > 0
        if action == "hit":
            return len(self.opening.hits) > 0
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

    def _key_escape(self) -> None:
        """Textual lets go of a selection before bindings are looked at: then that is all that escape does."""
        self._let_go = bool(self.selections)
        super()._key_escape()

    def action_back(self) -> None:
        """What was opened last is closed first."""
        if self.typing:
            self.leave_line()
        elif self.choosing:
            self.end_choosing()
        elif self._let_go or self.selections:
            self._let_go = False
            self.clear_selection()
        elif self._typed and self.words:
            self.stop_finding()
        else:
            self.dismiss()

    def action_leave(self) -> None:
        if self.choosing:
            self.end_choosing()
        else:
            self.dismiss()

    def action_prompt(self, step: int) -> None:
        if not self.reader.prompt(step):
            self.say(saying.at_end("prompt", step))

    def action_message(self, step: int) -> None:
        if not self.reader.message(step):
            self.say(saying.at_end("message", step))

    def action_item(self, step: int) -> None:
        if not self.reader.item(step):
            self.say(saying.at_end("item", step))

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
