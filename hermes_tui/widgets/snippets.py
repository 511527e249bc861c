"""A hit as lines: which conversation, and where in it the words stand."""

from __future__ import annotations

from collections.abc import Iterable

from hermes_tui.domain.queries import Hit, Match
from hermes_tui.domain.sessions import Details
from hermes_tui.text import clean, count, one_line
from hermes_tui.times import ago
from hermes_tui.values import dataclass
from hermes_tui.widgets.ink import BLANK_CELL, LIT_MATCHES, Line, Part, crop, cut, fit, gap, line, measure
from hermes_tui.widgets.wording import active_word, mark_part, source_word, title_part

MARKS: dict[str, Part] = {"user": ("●", "gold"), "assistant": ("◆", "good"), "tool": ("▸", "quiet")}
"""What hangs before a snippet: who said it. Any other role is an event."""
EVENT: Part = ("◈", "quiet")
SHOWN = 3
"""Matches of a hit that are shown."""
_FLAT = str.maketrans("\n\t", "  ")


def snippet(match: Match, width: int, ink: str) -> tuple[Part, ...]:
    """A match on one line of at most `width` cells, its words in `ink`, slid until they show."""
    text = clean(match.snippet).translate(_FLAT)
    lead: tuple[Part, ...] = ()
    if match.tool:
        name = cut(one_line(match.tool, 40), max(0, width - 24))
        lead = ((name, "lit"), gap(2)) if name else ()
        width -= measure(lead)
    parts: list[Part] = [("", "soft")]
    at = 0
    for start, end in sorted(match.spans):
        start, end = max(at, start), min(end, len(text))
        if start >= end:
            continue
        word = text[start:end]
        shown = cut(word, width - 7)
        parts += [(text[at:start], "soft"), (shown, ink)]
        if shown != word:
            parts.append(("…", "quiet"))
        at = end
    parts.append((text[at:], "soft"))
    kept = [part for part in parts if part[0]] or [("", "soft")]
    if kept[0][1] == ink:
        kept.insert(0, ("", "soft"))
    return (*lead, *around(kept, width))


def around(parts: Iterable[Part], width: int) -> tuple[Part, ...]:
    """A snippet on one line with as many matches in sight as fit: words give way at its front."""
    parts = tuple(parts)
    lit = [i for i, part in enumerate(parts) if part[1] in LIT_MATCHES]
    seen = [i for i in lit if measure(parts[lit[0] : i + 1]) <= width - 4]
    if not seen or measure(parts[: seen[-1] + 1]) < width - 1:
        return crop(parts, width)
    lead = parts[0][0]
    while lead and measure((("", ""), (lead, ""), *parts[1 : seen[-1] + 1])) > width - 4:
        lead = lead.split(" ", 1)[1] if " " in lead else lead[max(1, len(lead) // 4) :]
    return crop((("… ", "quiet"), (lead, parts[0][1]), *parts[1:]), width)


@dataclass(frozen=True, slots=True)
class HitStyle:
    """What the lines of a hit depend on beside the hit."""

    present: float
    profiles: bool = False
    """Several profiles are open: every hit says which is its own."""


def hit_lines(hit: Hit, width: int, style: HitStyle, *, on: bool, details: Details | None = None) -> list[Line]:
    """Title and snippets; `on`: under the cursor, where the best match is reversed."""
    ground = "cursor" if on else ""
    bar: Part = ("▌", "gold") if on else BLANK_CELL
    conversation = hit.conversation
    active = fit(active_word(conversation, style.present), 9, "right")
    facts: list[Part] = [(active, "good" if conversation.live else "quiet"), BLANK_CELL]
    if width >= 60:
        facts.insert(0, (fit(source_word(conversation.source), 8) + "  ", "quiet"))
    if style.profiles and width >= 50:
        facts.insert(0, (fit(one_line(conversation.profile, 40), 10) + "  ", "quiet"))
    tail: Part = ("".join(f"  {word}" for word in _words(hit)), "quiet")
    name, ink = title_part(conversation, details)
    room = max(6, width - 5 - measure(facts) - measure((tail,)))
    title = crop(((name, "title" if ink == "ink" else ink),), room)
    lines = [line(bar, mark_part(conversation, details), BLANK_CELL, *title, tail, right=tuple(facts), ground=ground)]
    for i, match in enumerate(hit.matches[:SHOWN]):
        role = MARKS["tool"] if match.tool else MARKS.get(match.role, EVENT)
        when = (fit(ago(match.timestamp, style.present), 9, "right"), "quiet")
        parts = snippet(match, width - 15, "now" if on and i == 0 else "match")
        lines.append(line(bar, role, BLANK_CELL, *parts, right=(when, BLANK_CELL), ground=ground))
    return lines


def _words(hit: Hit) -> list[str]:
    """What stands after the title: how many matches, and what one should know of the conversation."""
    words = [count(hit.count, "match", "matches")] if hit.count and hit.count > 1 else []
    if hit.in_delegate:
        words.append("in a delegate's run")
    if hit.conversation.archived:
        words.append("archived")
    if hit.conversation.hidden:
        words.append("hidden")
    return words
