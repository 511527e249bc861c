"""Messages as leaves: what is shown of each kind, and what is folded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from hermes_tui import times
from hermes_tui.domain.messages import EVENTS, HANDOFF, MESSAGE, Message, ToolCall
from hermes_tui.text import clean, one_line, size
from hermes_tui.widgets.transcript.ansi import decode
from hermes_tui.widgets.transcript.codes import Spans
from hermes_tui.widgets.transcript.folds import GUIDE, Fold, fold_line, fold_words, guided, output_rows
from hermes_tui.widgets.transcript.leaves import PART, Item, ItemKind, Leaf, Piece
from hermes_tui.widgets.transcript.lights import Lights
from hermes_tui.widgets.transcript.markdown import Page, plain_lines, set_text
from hermes_tui.widgets.transcript.outcomes import Arguments, Outcome, read_arguments, read_outcome
from hermes_tui.widgets.transcript.rows import GUTTER, MARGIN, Row, Run, Runs, row
from hermes_tui.widgets.transcript.wholes import Whole

CLOSED, OPEN, WHOLE = 0, 1, 2
"""How far something that folds is open."""
PLAIN = 1_500_000
"""Characters from which a text that was asked for whole is shown as it is: Markdown of that size is none."""
CUT = 24
"""Lines of output that an open call shows; a few more are shown rather than counted."""
RAW = 2_000
"""Characters shown of calls that cannot be read."""
CODE = frozenset({"content", "code", "new_string", "old_string", "patch"})
"""Arguments that hold code of the file or language that the call is about."""
UNANSWERED = Outcome("", "", "no result")
_MORE: Run = ("▸ ", "quiet", -1)
_MARKS: dict[str, Run] = {
    "user": ("●", "gold", -1),
    "assistant": ("◆", "good", -1),
    "event": ("◈", "quiet", -1),
    "bad": ("!", "gold", -1),
}
_ENDED_BADLY = frozenset({"error", "agent_error", "content_filter"})


@dataclass(frozen=True, slots=True)
class Setting:
    """What all messages are set by."""

    width: int
    pattern: re.Pattern[str] | None = None
    """Words to light."""
    tools: int = CLOSED
    """How far calls are open where nobody said otherwise …"""
    thoughts: int = CLOSED
    """… and reasoning."""


@dataclass(slots=True)
class _Setter:
    """Sets one message."""

    message: Message
    setting: Setting
    opens: Mapping[str, int]
    seams: Sequence[str]
    whole: Whole | None
    """The whole text, when it was asked for and is here."""
    pieces: list[Piece] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    links: list[tuple[int, int, str]] = field(default_factory=list)

    def leaf(self) -> Leaf:
        for seam in self.seams:
            self.pieces.append(Piece(self._seam(seam)))
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

    # parts and items

    def part(self, text: str) -> int:
        """Add a shown text; where its offsets begin."""
        self.parts.append(text)
        return (len(self.parts) - 1) * PART

    def page(self, text: str, ink: str, *, ground: str = "", item: int = 0, narrower: int = 0) -> Page:
        """What this text is set on; from now on it is one of the message's shown texts."""
        pattern = self.setting.pattern
        lights = Lights(pattern, text) if pattern is not None else None
        return Page(self.setting.width - narrower, self.part(text), ink, ground, item, lights, self.links)

    def item(self, kind: ItemKind, key: str, level: int = CLOSED) -> int:
        self.items.append(Item(kind, key, level))
        return len(self.items) - 1

    def level(self, key: str, default: int = CLOSED) -> int:
        return self.opens.get(key, default)

    def _seam(self, text: str) -> Iterator[Row]:
        base = self.part(text)
        room = Page(self.setting.width).room
        said = f" {one_line(text)} "
        while len(said) > room - 4 and " · " in said:
            said = said.rpartition(" · ")[0] + " "
        rule = "─" * max(0, room - len(said) - 2)
        yield row([(" " * GUTTER, "ink", -1), ("──", "guide", -1), (said, "aside", -1), (rule, "guide", -1)], base, item=-1)

    # turns

    def turn(self) -> None:
        """Somebody's words, with what was thought before and called after."""
        message = self.message
        calls = message.tool_calls
        alone = not message.text.strip() and calls == () and not message.commentary and message.label is None
        if message.reasoning:
            default = max(self.setting.thoughts, OPEN if alone else CLOSED)
            self.folded("thought", message.reasoning, "reasoning", ItemKind.REASONING, default)
        if message.commentary:
            self.folded("aside", message.commentary, "commentary", ItemKind.FOLD)
        if message.text.strip() or message.label is not None:
            self.words()
        elif alone and not message.reasoning:
            self.note("no text" if message.role in ("user", "assistant") else one_line(message.role, 40) or "no role")
        if calls is None:
            self.unreadable()
        for index, call in enumerate(calls or ()):
            if call.result_id is None:
                self.call(call, f"call:{index}")
        if message.finish_reason in _ENDED_BADLY:
            self.note(f"ended: {one_line(message.finish_reason or '', 60)}", "bad")

    def words(self) -> None:
        """The text of a turn, its beginning hung with time and mark."""
        message = self.message
        person = message.role == "user"
        known = person or message.role == "assistant"
        ink = "ink" if person else "soft" if known else "quiet"
        item = self.item(ItemKind.MESSAGE, "message", self.level("message"))
        cut = message.cut and message.label is None
        if cut and self.level("message") == WHOLE and self.whole is not None:
            text, cut = self.whole.text, False
        else:
            text = clean(message.label if message.label is not None else message.text)
        page = self.page(text, ink, ground="raised" if person else "", item=item)
        rows = plain_lines(text, page) if len(text) > PLAIN else set_text(text, page)
        mark = _MARKS["user" if person else "assistant" if known else "event"]
        head = "" if known else one_line(message.role, 40) or "no role"
        self.pieces.append(Piece(self._hung(rows, mark, page, head)))
        if cut:
            waiting = self.level("message") == WHOLE
            line = self.more(f"show all ({size(message.chars)})", "message", lead=_MORE, waiting=waiting)
            self.pieces.append(Piece(iter([line]), tight=True))
        if message.label is not None and message.kind == MESSAGE and message.text.strip() != message.label.strip():
            self.folded("as it was sent", message.text, "sent", ItemKind.FOLD)

    def _hung(self, rows: Iterator[Row], mark: Run, page: Page, head: str = "") -> Iterator[Row]:
        clock = f" {times.clock(self.message.timestamp):>5} "
        lead = ((clock, "quiet", -1), mark, (" ", "ink", -1))
        if head:
            yield row((*lead, (head, "aside", -1)), page.part, ground=page.ground, item=page.item)
            yield from rows
            return
        for each in rows:
            yield ((*lead, *each[0][1:]), *each[1:6], each[6] + 2, each[7])
            yield from rows

    def note(self, text: str, ink: str = "aside") -> None:
        """One dim line of ours in a message's place."""
        item = self.item(ItemKind.MESSAGE, "message" if self.find("message") is None else f"note:{len(self.items)}")
        page = self.page(text, ink, item=item)
        mark = _MARKS.get(self.message.role, _MARKS["event"])
        rows = iter([page.row([(text, ink, 0)], 0)])
        hung = ink == "aside" and self.message.role != "tool"
        self.pieces.append(Piece(self._hung(rows, mark, page) if hung else rows))

    def find(self, key: str) -> int | None:
        return next((i for i, item in enumerate(self.items) if item.key == key), None)

    def event(self) -> None:
        """A model switch, a finished process, a steer: one dim line, that opens when there is more to it."""
        message = self.message
        label = message.label if message.label is not None else message.text
        said = one_line(label, 600) or message.kind.replace("_", " ")
        more = message.text.strip() and one_line(message.text, 600) != said
        opened = bool(more) and self.level("event") > CLOSED
        item = self.item(ItemKind.FOLD if more else ItemKind.MESSAGE, "event", OPEN if opened else CLOSED)
        page = self.page(said, "quiet", item=item)
        rows = self._hung(plain_lines(said, page), _MARKS["event"], page)
        if opened:
            text = clean(message.text).strip("\n")
            rows = chain(rows, guided(set_text(text, self.page(text, "quiet", item=item, narrower=2))))
        self.pieces.append(Piece(rows))

    # what folds

    def head(self, fold: Fold, item: int) -> Row:
        """The line of something that folds."""
        return fold_line(fold, self.page(fold_words(fold), "quiet", item=item))

    def folded(self, name: str, text: str, key: str, kind: ItemKind, default: int = CLOSED) -> None:
        """Something that is one line until it is opened, and Markdown then."""
        opened = self.level(key, default) > CLOSED
        item = self.item(kind, key, OPEN if opened else CLOSED)
        text = clean(text).strip("\n")
        head = self.head(Fold(name, "", ((size(len(text)), "quiet", -1),), opened), item)
        if opened:
            page = self.page(text, "quiet", item=item, narrower=2)
            self.pieces.append(Piece(chain([head], guided(set_text(text, page)))))
        else:
            self.pieces.append(Piece(iter([head]), tight=True))

    def more(self, said: str, key: str, *, lead: Run, waiting: bool = False) -> Row:
        """The line that stands for the rest of something."""
        item = self.item(ItemKind.MORE, f"more:{key}")
        said = "reading…" if waiting else said
        page = self.page(said, "aside", item=item)
        left = GUTTER if lead is GUIDE else GUTTER - 2
        return row([(" " * left, "ink", -1), lead, (said, "aside", page.part)], page.part, item=item)

    # calls

    def result(self) -> None:
        """What a call brought, under the line of that call."""
        message = self.message
        call = message.call or ToolCall(message.tool_call_id or "", message.tool_name or "tool", "")
        text, spans, outcome = self.output()
        self.call(call, "call", text, spans, outcome)

    def output(self) -> tuple[str, Spans, Outcome]:
        """(safe text, its colours, what is known of it): of the whole, when that is here."""
        message = self.message
        if self.whole is not None and self.level("call") == WHOLE:
            outcome = self.whole.outcome or Outcome("")
            return self.whole.text, self.whole.spans, replace(outcome, amount=size(message.chars))
        outcome = read_outcome(message.text, message.chars)
        text, spans = decode(outcome.text.rstrip("\n"))
        return text, spans, outcome

    def call(self, call: ToolCall, key: str, text: str = "", spans: Spans = (), outcome: Outcome = UNANSWERED) -> None:
        """One call: folded, a line; open, what it was given and what it brought."""
        level = self.level(key, self.setting.tools)
        item = self.item(ItemKind.CALL, key, level)
        given = read_arguments(call.arguments)
        failed: Runs = ((clean(outcome.failed), "bad", -1),) if outcome.failed else ()
        amount: Runs = ((outcome.amount, "quiet", -1),) if outcome.amount else ()
        notes: Runs = (*failed, (" · ", "quiet", -1), *amount) if failed and amount else failed or amount
        fold = Fold(one_line(call.name, 60) or "tool", given.summary, notes, level > CLOSED)
        head = self.head(fold, item)
        if level == CLOSED:
            self.pieces.append(Piece(iter([head]), tight=True))
        else:
            brought = self._brought(text, spans, outcome, key, item, apart=bool(given.details))
            self.pieces.append(Piece(chain([head], self._given(given, item), brought)))

    def _given(self, given: Arguments, item: int) -> Iterator[Row]:
        """Arguments that the line had no room for."""
        for name, value in given.details:
            shown = clean(value)
            label = f"{one_line(name, 40)}: " if name else ""
            if "\n" not in shown and len(shown) <= 2_000:
                page = self.page(label + shown, "quiet", item=item, narrower=2)
                yield from guided(plain_lines(label + shown, page))
                continue
            if label:
                page = self.page(label.strip(), "quiet", item=item, narrower=2)
                yield from guided(plain_lines(label.strip(), page))
            language = given.language if name in CODE else "shell" if name == "command" else ""
            yield from output_rows(shown, [], self.page(shown, "quiet", item=item), language)

    def _brought(
        self, text: str, spans: Spans, outcome: Outcome, key: str, item: int, *, apart: bool
    ) -> Iterator[Row]:
        """The output, below a blank when arguments stand above it."""
        message = self.message
        level = self.level(key, self.setting.tools)
        if not text.strip():
            return
        if apart:
            page = self.page("", "quiet", item=item)
            yield row((MARGIN, GUIDE), page.part, item=item, fixed=2)
        lines = text.count("\n") + 1
        limit = 0 if level == WHOLE or lines <= CUT + 4 else CUT
        shown = text if not limit else "\n".join(text.split("\n", CUT)[:CUT])
        yield from output_rows(shown, spans, self.page(shown, "quiet", item=item), outcome.language, limit)
        cut = message.cut and (self.whole is None or level != WHOLE)
        if cut:
            yield self.more(f"show all ({size(message.chars)})", key, lead=GUIDE, waiting=level == WHOLE)
        elif limit:
            yield self.more(f"{lines - CUT:,} more lines", key, lead=GUIDE)

    def unreadable(self) -> None:
        """Calls that are no list of calls: as they are stored, with a warning."""
        item = self.item(ItemKind.MESSAGE, "message" if self.find("message") is None else "raw")
        said = "tool calls that cannot be read"
        page = self.page(said, "aside", item=item)
        lead: Runs = ((" " * (GUTTER - 2), "ink", -1), _MARKS["bad"], (" ", "ink", -1))
        head = row((*lead, (said, "aside", page.part)), page.part, item=item)
        text = clean(self.message.tool_calls_raw or "")[:RAW]
        self.pieces.append(Piece(chain([head], plain_lines(text, self.page(text, "quiet", item=item)))))


def set_message(
    message: Message,
    setting: Setting,
    opens: Mapping[str, int],
    seams: Sequence[str] = (),
    whole: Whole | None = None,
) -> Leaf:
    """The leaf of a message. `opens`: how far what folds is open, by the keys of items; `seams`: what is written
    above it; `whole`: its whole text, when `message.text` is cut."""
    return _Setter(message, setting, opens, seams, whole).leaf()


def matching_keys(message: Message, pattern: re.Pattern[str], whole: Whole | None) -> dict[str, int]:
    """How far which items must be open for the matches of this message to be seen."""
    found: dict[str, int] = {}
    if message.role == "tool":
        if whole is not None:
            return {"call": WHOLE}
        text = read_outcome(message.text, message.chars).text
        place = pattern.search(text)
        if place is not None:
            found["call"] = WHOLE if text.count("\n", 0, place.start()) >= CUT else OPEN
        elif message.call is not None and pattern.search(message.call.arguments):
            found["call"] = OPEN
        return found
    if message.kind == HANDOFF:
        return {"handoff": OPEN} if pattern.search(message.text) else {}
    for key, text in (("reasoning", message.reasoning), ("commentary", message.commentary)):
        if text and pattern.search(text):
            found[key] = OPEN
    shown = message.label if message.label is not None else message.text
    if message.label is not None and not pattern.search(shown) and pattern.search(message.text):
        found["sent" if message.kind == MESSAGE else "event"] = OPEN
    for index, call in enumerate(message.tool_calls or ()):
        if call.result_id is None and pattern.search(call.arguments):
            found[f"call:{index}"] = OPEN
    return found
