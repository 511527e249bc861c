"""The hit under the cursor in its conversation: how it began, the match with what stands around it, how it ended."""

from __future__ import annotations

from collections.abc import Sequence

from hermes_tui.domain.messages import EVENTS, Message, Window
from hermes_tui.domain.queries import Hit
from hermes_tui.domain.sessions import Details
from hermes_tui.text import clean, count, one_line
from hermes_tui.times import moment
from hermes_tui.values import dataclass
from hermes_tui.widgets.ink import AXIS, BLANK_CELL, Line, Part, View, crop, gap, line, shortened, wrap
from hermes_tui.widgets.lit import Lights
from hermes_tui.widgets.preview import inline, without_marks
from hermes_tui.widgets.snippets import EVENT, MARKS
from hermes_tui.widgets.wording import facts, title_part

Context = tuple[Window, Window, Window]
"""Goal, match, resolution."""
PLANS = ((8, 5), (5, 5), (4, 3), (3, 2), (2, 1), (2, 0), (1, 0))
"""Lines of a message and messages on each side of the match, from roomy to tight: the first that fits is drawn."""
MOST = PLANS[0][0]
Drawn = dict[tuple[object, ...], list[tuple[Part, ...]]]
"""Messages of one context as rows: an answer grows page by page, and nearly all that stands around its hit stays."""
CALL: Part = ("▸", "quiet")
_INKS = {"user": "ink", "assistant": "soft", "tool": "soft"}
_SEEN = 2_000
"""Characters of a message that a pane can hold at most."""
_NAMES = 4
"""Names of tools that one line of calls tells."""


def window_view(
    hit: Hit,
    context: Context | None,
    words: Sequence[str],
    *,
    details: Details | None = None,
    failed: str = "",
    profile: bool = False,
    drawn: Drawn | None = None,
) -> View:
    """What the pane says of this hit; without a context its title and facts, and why, when it `failed`. `drawn`: what
    was made of this context before."""
    kept: Drawn = {} if drawn is None else drawn
    lights = Lights(words, hit)

    def view(width: int, height: int) -> list[Line]:
        conversation = hit.conversation
        name, _ = title_part(conversation, details)
        head = [line(AXIS, *crop(((name, "title"),), width - 4))]
        head += [
            line(AXIS, *crop(((fact, "quiet"),), width - 4)) for fact in facts(conversation, profile=profile)[:1]
        ]
        if failed:
            return [*head, line(), *(line(AXIS, *row) for row in wrap(((failed, "bad"),), width - 5))]
        if context is None:
            return head
        sections = [_Section(*each, hit, lights, width, kept) for each in _labelled(hit, context)]
        sections = [section for section in sections if section.window.messages]
        for limit, around in PLANS:
            body = [each for section in sections for each in section.lines(limit, around)]
            if len(head) + len(body) <= height:
                break
        return [*head, *body][:height] if sections else [*head, line(), line(AXIS, ("no messages", "aside"))]

    return view


def _labelled(hit: Hit, context: Context) -> list[tuple[str, str, Window]]:
    goal, match, resolution = context
    of = f"best of {hit.count:,} matches" if hit.count and hit.count > 1 else "match"
    return [("goal", "goal", goal), ("match", of, match), ("resolution", "resolution", resolution)]


@dataclass(frozen=True, slots=True)
class _Section:
    """A few messages under a label."""

    name: str
    label: str
    window: Window
    hit: Hit
    lights: Lights
    width: int
    drawn: Drawn

    def lines(self, limit: int, around: int) -> list[Line]:
        """At most `limit` lines of each message, of the match's neighbours `around` on each side."""
        messages = self.window.messages
        best = self.hit.best
        at = next((i for i, each in enumerate(messages) if best and each.id == best.message_id), None)
        if at is not None:
            first, last = max(0, at - around), at + around + 1
        elif self.name == "goal":
            first, last = 0, max(1, around)
        else:
            first, last = max(0, len(messages) - max(1, around)), len(messages)
        shown = messages[first:last]
        when = messages[at] if at is not None else shown[0]
        time = (moment(when.timestamp, zone=False), "quiet")
        out = [line(), line(AXIS, (self.label, "aside"), right=(time, BLANK_CELL))]
        calls: list[str] = []
        for message in shown:
            is_match = best is not None and message.id == best.message_id
            if calls and (message.role != "tool" or is_match):
                out.append(calls_line(calls, self.width))
                calls = []
            if message.role != "tool" or is_match:
                out += self._message(message, is_match, 8 if is_match and limit > 3 else limit)
            calls += [call.name for call in message.tool_calls or ()]
        if calls:
            out.append(calls_line(calls, self.width))
        return out

    def _message(self, message: Message, is_match: bool, limit: int) -> list[Line]:
        # What begins where it always does is broken into rows once, for all plans.
        most = limit if is_match else MOST
        key = (self.name, message.id, is_match, most, self.width, self.lights.forms)
        rows = self.drawn.get(key)
        if rows is None:
            rows = self.drawn[key] = self._rows(message, is_match, most)
        mark = EVENT if _is_event(message) else MARKS[message.role]
        shown = shortened(rows, self.width - 5, limit) if limit < most else rows
        return [line(gap(1), mark if i == 0 else BLANK_CELL, BLANK_CELL, *row) for i, row in enumerate(shown)]

    def _rows(self, message: Message, is_match: bool, limit: int) -> list[tuple[Part, ...]]:
        event = _is_event(message)
        text = message.label or message.text if event else message.text
        text = clean(text if is_match else text[:_SEEN]).strip()
        if not text:
            return []
        room = self.width - 5
        if is_match and (spans := self.lights.spans(text, surely=True)):
            text = _from(text, spans[0][0], room * max(1, limit - 1))
        ink = "aside" if event else _INKS[message.role]
        lit = "now" if is_match else "match"
        parts = [
            part
            for piece, its_ink in inline(_folded(text[:_SEEN]), ink)
            for part in self.lights.parts(piece, its_ink, lit, surely=is_match)
        ]
        tool = message.tool_name or (message.call.name if message.call else None)
        if message.role == "tool" and tool:
            parts = [(one_line(tool, 40), "lit"), gap(2), *parts]
        return wrap(parts, room, limit)


def _is_event(message: Message) -> bool:
    return message.kind in EVENTS or message.role not in _INKS


def calls_line(names: Sequence[str], width: int) -> Line:
    """`3 calls: read_file, terminal, terminal`."""
    told = ", ".join(one_line(name, 40) for name in names[:_NAMES]) + (", …" if len(names) > _NAMES else "")
    parts = crop(((f"{count(len(names), 'call')}: {told}", "aside"),), width - 4)
    return line(gap(1), CALL, BLANK_CELL, *parts)


def _folded(text: str) -> str:
    """Paragraphs run on: a pane is too narrow for blank lines."""
    return " ".join(without_marks(text).split())


def _from(text: str, match: int, room: int) -> str:
    """The text from a little before the match, when the match would not be in sight otherwise."""
    if match < room // 2:
        return text
    start = max(0, match - room // 3)
    blank = text.find(" ", start, match)
    return "… " + text[blank + 1 if blank >= 0 else start :]
