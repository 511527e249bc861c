"""Messages as leaves: what is shown of each kind, and what is folded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from hermes_tui import times
from hermes_tui.domain.messages import EVENTS, HANDOFF, MESSAGE, Message
from hermes_tui.text import clean, one_line, size
from hermes_tui.widgets.transcript.calling import CUT, CallSetter
from hermes_tui.widgets.transcript.leaves import ItemKind, Leaf, Piece
from hermes_tui.widgets.transcript.markdown import Page, plain_lines, set_text
from hermes_tui.widgets.transcript.outcomes import read_outcome
from hermes_tui.widgets.transcript.rows import Row, Run, row
from hermes_tui.widgets.transcript.setter import CLOSED, OPEN, WHOLE, Setting
from hermes_tui.widgets.transcript.wholes import Whole

PLAIN = 1_500_000
"""Characters from which a text that was asked for whole is shown as it is: Markdown of that size is none."""
_MORE: Run = ("▸ ", "quiet", -1)
_MARKS: dict[str, Run] = {"user": ("●", "gold", -1), "assistant": ("◆", "good", -1)}
_EVENT: Run = ("◈", "quiet", -1)
_ENDED_BADLY = frozenset({"error", "agent_error", "content_filter"})


class _MessageSetter(CallSetter):
    """Sets messages of every kind."""

    __slots__ = ()

    def leaf(self) -> Leaf:
        for seam in self.seams:
            self.pieces.append(Piece(self.seam(seam)))
        message = self.message
        if message.role == "tool":
            self.result()
        elif message.kind == HANDOFF:
            self.folded("context compacted", message.text, "handoff", ItemKind.FOLD)
        elif message.kind in EVENTS or (message.kind != MESSAGE and message.label is not None):
            self.event()
        else:
            self.turn()
        return Leaf(self.pieces, items=self.items, parts=self.parts, links=self.links)

    def turn(self) -> None:
        """Somebody's words, with what was thought before and called after."""
        message, calls = self.message, self.message.tool_calls
        words = bool(message.text.strip()) or message.label is not None
        alone = not words and calls == () and not message.commentary
        if message.reasoning:
            default = max(self.setting.thoughts, OPEN if alone else CLOSED)
            self.folded("thought", message.reasoning, "reasoning", ItemKind.REASONING, default)
        if message.commentary:
            self.folded("aside", message.commentary, "commentary", ItemKind.FOLD)
        if words:
            self.words()
        elif alone and not message.reasoning:
            self.pieces.append(Piece(self._note("no text", self.message_item("note"))))
        if calls is None:
            self.unreadable()
        for index, call in enumerate(calls or ()):
            if call.result_id is None:
                self.call(call, f"call:{index}")
        if message.finish_reason in _ENDED_BADLY:
            said = f"ended: {one_line(message.finish_reason or '', 60)}"
            self.pieces.append(Piece(self._failure(said, self.message_item("failure"))))

    def words(self) -> None:
        """The text of a turn."""
        message = self.message
        item = self.message_item("text")
        cut = message.cut and message.label is None
        waiting = cut and self.level("message") == WHOLE
        if waiting and self.whole is not None:
            cut = False
        self.pieces.append(Piece(self._words(item)))
        if cut:
            self.pieces.append(Piece(self._rest(waiting=waiting), tight=True))
        if message.label is not None and message.kind == MESSAGE and message.text.strip() != message.label.strip():
            self.folded("as it was sent", message.text, "sent", ItemKind.FOLD)

    def _words(self, item: int) -> Iterator[Row]:
        message = self.message
        person, known = message.role == "user", message.role in _MARKS
        if message.label is not None:
            text = clean(message.label)
        elif self.whole is not None and self.level("message") == WHOLE:
            text = self.whole.text
        else:
            text = clean(message.text)
        text = text.strip("\n")
        ink = "ink" if person else "soft" if known else "quiet"
        page = self.page(text, ink, ground="raised" if person else "", item=item)
        rows = plain_lines(text, page) if len(text) > PLAIN else set_text(text, page)
        head = "" if known else one_line(message.role, 40) or "no role"
        yield from self._hung(rows, page, head)

    def _rest(self, *, waiting: bool) -> Iterator[Row]:
        yield self.more(f"show all ({size(self.message.chars)})", "message", lead=_MORE, waiting=waiting)

    def _hung(self, rows: Iterator[Row], page: Page, head: str = "", mark: Run | None = None) -> Iterator[Row]:
        """Rows, the first of them hung with time and mark; `head` is a line of its own above them."""
        clock: Run = (f" {times.clock(self.message.timestamp):>5} ", "quiet", -1)
        lead = (clock, mark or _MARKS.get(self.message.role, _EVENT), (" ", "ink", -1))
        if head:
            yield row((*lead, (head, "aside", -1)), page.part, ground=page.ground, item=page.item)
            yield from rows
            return
        for each in rows:
            yield ((*lead, *each[0][1:]), *each[1:6], each[6] + 2, each[7])
            yield from rows

    def _note(self, text: str, item: int) -> Iterator[Row]:
        """One dim line of ours in a message's place."""
        page = self.page(text, "aside", item=item)
        head = "" if self.message.role in _MARKS else one_line(self.message.role, 40) or "no role"
        yield from self._hung(iter([page.row([(text, "aside", 0)], 0)]), page, head)

    def _failure(self, text: str, item: int) -> Iterator[Row]:
        page = self.page(text, "bad", item=item)
        yield page.row([(text, "bad", 0)], 0)

    def event(self) -> None:
        """A model switch, a finished process, a steer: one dim line, that opens when there is more to it."""
        message = self.message
        label = message.label if message.label is not None else message.text
        said = one_line(label, 600) or one_line(message.kind.replace("_", " "), 60)
        more = bool(message.text.strip()) and one_line(message.text, 600) != said
        opened = more and self.level("event") > CLOSED
        item = self.item(ItemKind.FOLD if more else ItemKind.MESSAGE, "event", OPEN if opened else CLOSED)
        self.pieces.append(Piece(self._event(said, item, opened=opened)))

    def _event(self, said: str, item: int, *, opened: bool) -> Iterator[Row]:
        page = self.page(said, "quiet", item=item)
        yield from self._hung(plain_lines(said, page), page, mark=_EVENT)
        if opened:
            yield from self.unfolded(self.message.text, item)


def set_message(
    message: Message,
    setting: Setting,
    opens: Mapping[str, int],
    seams: Sequence[str] = (),
    whole: Whole | None = None,
) -> Leaf:
    """The leaf of a message. `opens`: how far what folds is open, by the keys of items; `seams`: what is written
    above it; `whole`: its whole text, when `message.text` is cut."""
    return _MessageSetter(message, setting, opens, seams, whole).leaf()


def matching_keys(message: Message, pattern: re.Pattern[str], whole: Whole | None) -> dict[str, int]:
    """How far which items must be open for the matches of this message to be seen."""
    if message.role == "tool":
        return _matching_result(message, pattern, whole)
    if message.kind == HANDOFF:
        return {"handoff": OPEN} if pattern.search(message.text) else {}
    found: dict[str, int] = {}
    for key, text in (("reasoning", message.reasoning), ("commentary", message.commentary)):
        if text and pattern.search(text):
            found[key] = OPEN
    if message.label is not None and not pattern.search(message.label) and pattern.search(message.text):
        found["sent" if message.kind == MESSAGE else "event"] = OPEN
    for index, call in enumerate(message.tool_calls or ()):
        if call.result_id is None and pattern.search(call.arguments):
            found[f"call:{index}"] = OPEN
    return found


def _matching_result(message: Message, pattern: re.Pattern[str], whole: Whole | None) -> dict[str, int]:
    if whole is not None:
        return {"call": WHOLE}
    text = read_outcome(message.text, message.chars).text
    place = pattern.search(text)
    if place is not None:
        return {"call": WHOLE if text.count("\n", 0, place.start()) >= CUT else OPEN}
    if message.call is not None and pattern.search(message.call.arguments):
        return {"call": OPEN}
    return {}
