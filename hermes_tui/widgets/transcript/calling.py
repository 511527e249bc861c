"""Calls and their results: a line each, and below an open one what it was given and what it brought."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hermes_tui.domain.contents import without_payloads
from hermes_tui.domain.messages import ToolCall
from hermes_tui.text import clean, one_line, size
from hermes_tui.values import dataclass, replace
from hermes_tui.widgets.transcript.ansi import decode
from hermes_tui.widgets.transcript.folds import GUIDE, Fold, guided, output_rows
from hermes_tui.widgets.transcript.leaves import ItemKind, Piece
from hermes_tui.widgets.transcript.markdown import plain_lines
from hermes_tui.widgets.transcript.outcomes import Arguments, Outcome, read_arguments, read_outcome
from hermes_tui.widgets.transcript.rows import GUTTER, MARGIN, Row, Runs, row
from hermes_tui.widgets.transcript.setter import CLOSED, WHOLE, Setter

CUT = 24
"""Lines of output that an open call shows; a few more are shown rather than counted."""
_FEW = 4
_RAW = 2_000
"""Characters shown of calls that cannot be read."""
_CODE = frozenset({"content", "code", "new_string", "old_string", "patch"})
"""Arguments that hold code of the file or language that the call is about."""
_READ = "read_file"
"""The tool whose output is the file that it was asked for."""


@dataclass(frozen=True, slots=True)
class Brought:
    """What came back, ready to be shown."""

    outcome: Outcome
    text: str = ""
    spans: Sequence[tuple[int, int, str]] = ()


UNANSWERED = Brought(Outcome("", "", "no result"))


class CallSetter(Setter):
    """Sets calls."""

    __slots__ = ()

    def result(self) -> None:
        """What a call brought, under the line of that call."""
        message = self.message
        call = message.call or ToolCall(message.tool_call_id or "", message.tool_name or "tool", "")
        if self.whole is not None and self.level("call") == WHOLE:
            outcome = replace(self.whole.outcome or Outcome(""), amount=size(message.chars))
            brought = Brought(outcome, self.whole.text, self.whole.spans)
        else:
            outcome = read_outcome(message.text, message.chars)
            brought = Brought(outcome, *decode(outcome.text.rstrip("\n")))
        self.call(call, "call", brought)

    def call(self, call: ToolCall, key: str, brought: Brought = UNANSWERED) -> None:
        """One call."""
        level = self.level(key, self.setting.tools)
        item = self.item(ItemKind.CALL, key, level)
        given = read_arguments(call.arguments)
        name = one_line(call.name, 60) or "tool"
        if name == _READ and not brought.outcome.language:
            brought = replace(brought, outcome=replace(brought.outcome, language=given.language))
        fold = Fold(name, given.summary, _notes(brought.outcome), level > CLOSED)
        self.pieces.append(Piece(self._called(fold, given, brought, key, item), tight=level == CLOSED))

    def _called(self, fold: Fold, given: Arguments, brought: Brought, key: str, item: int) -> Iterator[Row]:
        yield self.head(fold, item)
        if not fold.opened:
            return
        yield from self._given(given, item)
        if brought.text.strip():
            if given.details:
                yield row((MARGIN, GUIDE), self.page("", "quiet", item=item).part, item=item, fixed=2)
            yield from self._brought(brought, key, item)

    def _given(self, given: Arguments, item: int) -> Iterator[Row]:
        """Arguments that the line had no room for."""
        for name, value in given.details:
            shown = clean(value)
            label = f"{one_line(name, 40)}: " if name else ""
            if "\n" not in shown and len(shown) <= _RAW:
                page = self.page(label + shown, "quiet", item=item, narrower=2)
                yield from guided(plain_lines(label + shown, page))
                continue
            if label:
                page = self.page(label.strip(), "quiet", item=item, narrower=2)
                yield from guided(plain_lines(label.strip(), page))
            language = given.language if name in _CODE else "shell" if name == "command" else ""
            yield from output_rows(shown, [], self.page(shown, "quiet", item=item), language)

    def _brought(self, brought: Brought, key: str, item: int) -> Iterator[Row]:
        """The output, cut after a screenful unless all of it was asked for."""
        message, text = self.message, brought.text
        level = self.level(key, self.setting.tools)
        lines = text.count("\n") + 1
        limit = 0 if level == WHOLE or lines <= CUT + _FEW else CUT
        shown = "\n".join(text.split("\n", limit)[:limit]) if limit else text
        page = self.page(shown, "quiet", item=item)
        yield from output_rows(shown, list(brought.spans), page, brought.outcome.language, limit)
        if message.cut and (self.whole is None or level != WHOLE):
            yield self.more(f"show all ({size(message.chars)})", key, lead=GUIDE, waiting=level == WHOLE)
        elif limit:
            yield self.more(f"{lines - limit:,} more lines", key, lead=GUIDE)

    def unreadable(self) -> None:
        """Calls that are no list of calls: as they are stored, with a warning."""
        self.pieces.append(Piece(self._unreadable(self.message_item("raw"))))

    def _unreadable(self, item: int) -> Iterator[Row]:
        said = "tool calls that cannot be read"
        page = self.page(said, "aside", item=item)
        lead: Runs = ((" " * (GUTTER - 2), "ink", -1), ("!", "gold", -1), (" ", "ink", -1))
        yield row((*lead, (said, "aside", page.part)), page.part, item=item)
        text = clean(without_payloads(self.message.tool_calls_raw or ""))
        shown = text[:_RAW] + ("…" if len(text) > _RAW else "")
        yield from plain_lines(shown, self.page(shown, "quiet", item=item))


def _notes(outcome: Outcome) -> Runs:
    """`exit 1 · 14 lines`."""
    failed: Runs = ((clean(outcome.failed), "bad", -1),) if outcome.failed else ()
    amount: Runs = ((outcome.amount, "quiet", -1),) if outcome.amount else ()
    return (*failed, (" · ", "quiet", -1), *amount) if failed and amount else failed or amount
