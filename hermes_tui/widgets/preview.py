"""The pane beside a list: what a conversation is, and how it ended."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from hermes_tui.text import clean, count, one_line
from hermes_tui.values import dataclass
from hermes_tui.widgets.ink import AXIS, BLANK_CELL, Line, Part, View, crop, fit, gap, line, wrap
from hermes_tui.widgets.wording import facts, title_part

if TYPE_CHECKING:
    from hermes_tui.domain.messages import Recap, RecapEntry
    from hermes_tui.domain.sessions import Conversation, Details, Provenance

MARKS: dict[str, Part] = {"user": ("●", "gold"), "assistant": ("◆", "good")}
EVENT: Part = ("◈", "quiet")
CALLS: Part = ("▸", "quiet")
LIMIT = 4
"""Lines of an entry that is not the last answer."""
_MARKUP = r"\*\*(?P<strong>[^*\n]{1,300})\*\*|`(?P<code>[^`\n]{1,300})`"
_FENCE = r"(?m)^ {0,3}(?:`{3,}|~{3,})[^`\n]*?(?:\n|(?=\.{3}|\Z))"
"""The marks around a block of code: a recap shows the code."""
_RULE = r"(?m)^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*(?::?-+:?)?[ \t]*(?:\n|\Z|(?=\.{3}))"
"""What parts the head of a table from its rows."""
_BLANKS = r"\n[ \t]*(?:\n[ \t]*)+"


@dataclass(frozen=True, slots=True)
class Previewed:
    """What is known so far of the conversation under the cursor."""

    conversation: Conversation
    details: Details | None = None
    recap: Recap | None = None
    """None while it is being read."""
    provenance: Provenance | None = None
    profile: bool = False
    """Several profiles are open."""
    said: str = ""
    """In place of the recap: that it is being read, or why it could not be."""


def inline(text: str, ink: str) -> list[Part]:
    """Safe text with `code` and **strong** words, their marks dropped."""
    parts: list[Part] = []
    at = 0
    for found in re.finditer(_MARKUP, text):
        name = found.lastgroup or ink
        parts += [(text[at : found.start()], ink), (found[name], name)]
        at = found.end()
    parts.append((text[at:], ink))
    return [part for part in parts if part[0]]


def without_marks(text: str) -> str:
    """Without the lines that only say where code or a table begins."""
    return re.sub(_RULE, "", re.sub(_FENCE, "", text))


def _entry(entry: RecapEntry, width: int, limit: int, ink: str, seen: int) -> list[Line]:
    """An entry with its mark in the margin, its calls on a line of their own."""
    mark = MARKS.get(entry.who, EVENT)
    text = without_marks(clean(entry.text[:seen]).replace("\t", "    "))
    text = re.sub(_BLANKS, "\n", text).strip()
    lines: list[Line] = []
    if text:
        rows = wrap(inline(text, ink), width - 5, limit)
        lines = [line(gap(1), mark if i == 0 else BLANK_CELL, BLANK_CELL, *row) for i, row in enumerate(rows)]
    if entry.calls:
        names = ", ".join(one_line(name, 40) for name in entry.tools)
        said = f"{count(entry.calls, 'call')}: {names}" if names else count(entry.calls, "call")
        lines.append(line(gap(1), CALLS, BLANK_CELL, *crop(((said, "aside"),), width - 4)))
    return lines


def recap_blocks(
    entries: Sequence[RecapEntry], width: int, *, limit: int = LIMIT, height: int = 60
) -> list[list[Line]]:
    """The lines of each entry, where another comes before it; the last answer whole (as far as `height` lines go)
    and bright."""
    blocks: list[list[Line]] = []
    for i, entry in enumerate(entries):
        last = i == len(entries) - 1 and entry.who == "assistant"
        ink = {"user": "ink", "assistant": "ink" if last else "soft"}.get(entry.who, "aside")
        rows = height if last else limit
        lines = _entry(entry, width, max(1, rows), ink, max(1, width) * (rows + 1))
        parted = lines and entry.who in MARKS and entry.text.strip()
        blocks.append([line(), *lines] if parted else lines)
    return blocks


def joined(blocks: Sequence[list[Line]]) -> list[Line]:
    """Each exchange, a blank between them and none above the first."""
    lines = [each for block in blocks for each in block]
    return lines[1:] if lines and not lines[0].text else lines


def recap_lines(entries: Sequence[RecapEntry], width: int, *, limit: int = LIMIT, height: int = 60) -> list[Line]:
    """What was said last, exchange by exchange."""
    return joined(recap_blocks(entries, width, limit=limit, height=height))


def recap_fitting(recap: Recap, width: int, room: int) -> list[Line]:
    """As many of the last entries as fit, and how many there were before; it begins with a person or the
    assistant."""
    entries = recap.entries
    first, lines = len(entries), list[Line]()
    for start in range(len(entries) - 1, -1, -1):
        if entries[start].who not in MARKS and start:
            continue
        lead = 2 if start + recap.earlier else 0
        drawn = recap_lines(entries[start:], width, height=max(1, room - lead))
        if lines and len(drawn) + lead > room:
            break
        first, lines = start, drawn
    earlier = recap.earlier + first
    lead_lines = [line(AXIS, (count(earlier, "earlier message"), "aside")), line()] if earlier else []
    return [*lead_lines, *lines][:room]


def provenance_words(provenance: Provenance) -> str:
    """`from telegram · Mei · thread 4`, as far as known."""
    words = [f"began in {one_line(provenance.created_source, 40)}"] if provenance.created_source else []
    for label, value in (
        ("user", provenance.user),
        ("chat", provenance.chat),
        ("thread", provenance.thread),
        ("handoff", provenance.handoff),
    ):
        if value:
            words.append(f"{label} {one_line(value, 60)}")
    return " · ".join(words)


def packed(fact: str, width: int, limit: int) -> list[str]:
    """A line of facts on as many lines as it takes, broken between facts."""
    lines: list[str] = []
    for word in fact.split(" · "):
        if lines and cell_len(lines[-1]) + cell_len(word) + 3 <= width:
            lines[-1] = f"{lines[-1]} · {word}"
        elif cell_len(word) > width and " → " in word:
            start, _, end = word.partition(" → ")
            lines += [f"{start} →", end]
        else:
            lines.append(word)
    return [each if cell_len(each) <= width else fit(each, width) for each in lines[:limit]]


def preview_view(shown: Previewed | None) -> View:
    """Title, facts, as many of the last messages as fit, the link."""

    def view(width: int, height: int) -> list[Line]:
        if shown is None:
            return []
        from hermes_tui.domain.links import link_to

        row = shown.conversation
        title, _ = title_part(row, shown.details)
        top = [line(AXIS, *each) for each in wrap([(title, "title")], width - 5, 2)]
        said = facts(row, shown.details, profile=shown.profile)
        if shown.provenance is not None and (words := provenance_words(shown.provenance)):
            said.append(words)
        for fact in said:
            top += [line(AXIS, (each, "quiet")) for each in packed(fact, width - 5, 2)]
        top.append(line())
        foot = [line(), line(AXIS, *crop(((link_to(row.profile, one_line(row.id)), "quiet"),), width - 4))]
        room = height - len(top) - len(foot)
        if room < 3:
            return [*top, *foot[1:]][:height]
        body = _body(shown, width, room)
        return [*top, *body, *[line()] * (room - len(body)), *foot]

    return view


def _body(shown: Previewed, width: int, room: int) -> list[Line]:
    if shown.said:
        return [line(AXIS, *row) for row in wrap([(one_line(shown.said), "aside")], width - 5, room)]
    if shown.recap is None:
        return []
    if not shown.recap.entries:
        return [line(AXIS, ("nothing was said yet" if shown.conversation.live else "nothing was said", "aside"))]
    return recap_fitting(shown.recap, width, room)
