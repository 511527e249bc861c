"""What the resume panel says: how the conversation ended, what was checked, the command."""

from __future__ import annotations

from collections.abc import Sequence

from hermes_tui.domain.messages import Recap, RecapEntry
from hermes_tui.domain.resume import ResumePlan, State
from hermes_tui.domain.sessions import Conversation
from hermes_tui.text import clean, count, one_line
from hermes_tui.times import ago, moment, now
from hermes_tui.values import dataclass
from hermes_tui.widgets.ink import AXIS, BLANK_CELL, Line, Part, fit, gap, line, wrap
from hermes_tui.widgets.keyline import fitting_keys
from hermes_tui.widgets.names import shown_name
from hermes_tui.widgets.panel import LOWEST
from hermes_tui.widgets.preview import joined, recap_blocks

MARKS: dict[State, Part] = {State.OK: ("✓", "good"), State.WARNING: ("!", "gold"), State.ERROR: ("✗", "bad-lit")}
RECAP = 16
"""Lines of recap at most, unless the last exchange has more: the panel is for deciding, not for reading."""
NARROW = 60
"""Cells below which the time in the head is told in a word."""
HERMES = "hermes"
"""Name of the check for the program itself."""
LABEL = 12
"""Cells of a fact's name."""
GIVES_WAY = ("print", "copy", "tmux window")
"""Keys that a narrow panel does without, in this order, before the others give way from the end."""


@dataclass(frozen=True, slots=True)
class Resuming:
    """What is known so far."""

    conversation: Conversation
    recap: Recap | None = None
    plan: ResumePlan | None = None
    failed: str = ""
    """Why there is no plan."""
    preview: str | None = None
    """The first thing the person said: what names it where there is no title."""


def head_lines(shown: Resuming, width: int) -> list[Line]:
    """Which conversation, and when it was last active."""
    name, _ = shown_name(shown.conversation, shown.preview)
    at = shown.conversation.last_active
    when = moment(at, zone=False) if width >= NARROW else ago(at, now())
    return [line(AXIS, ("Resume  ", "quiet"), (name, "title"), right=((when, "quiet"), gap(2))), line()]


def body_lines(
    shown: Resuming, keys: Sequence[tuple[str, str]], width: int, height: int
) -> tuple[list[Line], list[Line]]:
    """What may scroll, and what stays below it, in `height` lines. What was checked and the command come first: of
    the recap there are fewer lines where these need the room. Where its last exchange is too long, the recap alone
    scrolls; where hardly a line is left for it, it goes on below what was checked. On a lower screen what stands in
    the way comes first of all, and on a very low one only the keys stay where they are."""
    told, foot = _facts(shown, width), foot_lines(shown, keys, width)
    facts = [each for _, lines in told for each in lines]
    room = height - len(facts) - len(foot)
    recap = _recap(shown.recap, width, min(RECAP, room))
    if len(recap) <= room:
        return [*recap, *facts], foot
    if recap and room > LOWEST:
        return recap[:-1], [line(), *facts, *foot]
    below = [line(), *_recap(shown.recap, width, RECAP)][:-1]
    if room >= 0:
        return [*facts, *below], foot
    urgent = [each for state, lines in told if state is not State.OK for each in lines]
    fine = [each for state, lines in told if state is State.OK for each in lines]
    if height - len(foot) >= max(LOWEST, len(urgent)):
        return [*urgent, *fine, *below], foot
    return [*urgent, *_command(shown.plan, width), line(), *fine, *below], foot[-1:]


def _recap(recap: Recap | None, width: int, room: int) -> list[Line]:
    if recap is None:
        return []
    blocks = recap_blocks(recap.entries, width)
    earlier, told = recap.earlier, _last_exchange(recap.entries)
    while True:
        lead: list[Line] = [line(AXIS, (count(earlier, "earlier message"), "aside")), line()] if earlier else []
        lines = [*lead, *joined(blocks)]
        if not blocks:
            return [*lead, line(AXIS, ("nothing was said", "aside")), line()] if not earlier else lead
        if len(lines) < room:
            return [*lines, line()]
        if len(blocks) <= told:  # that it is whole is worth the blank above it
            return [*lead[: 1 if len(lines) == room else 2], *joined(blocks), line()]
        del blocks[0]
        earlier += 1


def _last_exchange(entries: Sequence[RecapEntry]) -> int:
    """How many entries there are from the last words of the person on."""
    back = next((i for i, entry in enumerate(reversed(entries)) if entry.who == "user"), len(entries) - 1)
    return back + 1


def _facts(shown: Resuming, width: int) -> list[tuple[State, list[Line]]]:
    """What was checked: how it stands, and its lines."""
    if shown.failed:
        return [(State.ERROR, _fact(MARKS[State.ERROR], "", shown.failed, "ink", width))]
    plan = shown.plan
    if plan is None:
        return [(State.OK, [line(AXIS, ("looking …", "aside"))])]
    told: list[tuple[State, list[Line]]] = []
    if plan.refused:
        told.append((State.ERROR, [*_fact(MARKS[State.ERROR], "", plan.refused, "ink", width), line()]))
    for check in plan.checks:
        if check.detail == plan.refused or (plan.refused and check.name == HERMES):
            continue  # said above; of no use where nothing can be run
        ink = "soft" if check.state is State.OK else "ink"
        told.append((check.state, _fact(MARKS[check.state], one_line(check.name, 40), check.detail, ink, width)))
    for notice in plan.notices if not plan.checks else ():  # they say in a sentence what checks say in a line
        told.append((State.WARNING, _fact(MARKS[State.WARNING], "", notice, "ink", width)))
    return told


def _fact(mark: Part, label: str, text: str, ink: str, width: int) -> list[Line]:
    """A fact is never cut: it goes on in its column."""
    start = LABEL if label else 0
    rows = wrap([(one_line(text), ink)], max(10, width - start - 5))
    lead: list[Part] = [(fit(label, start), "quiet")] if label else []
    lines = [line(gap(1), mark, BLANK_CELL, *lead, *rows[0])]
    return [*lines, *(line(gap(3 + start), *row) for row in rows[1:])]


def _command(plan: ResumePlan | None, width: int) -> list[Line]:
    """The command in a well of page colour, whole, however long."""
    if plan is None:
        return []
    rows = wrap([(clean(plan.command).replace("\n", "\ufffd"), "strong")], max(10, width - 6))
    ink = "quiet" if plan.refused else "strong"
    inked = [tuple((text, ink) for text, _ in row) for row in rows]
    said = "an example of the command, not to be run here:" if width >= 50 else "an example, not to be run here:"
    head = [line(AXIS, (said, "aside"))] if plan.refused else []
    return [line(), *head, *(line(AXIS, *row, ground="well", indent=2, inset=2) for row in inked)]


def foot_lines(shown: Resuming, keys: Sequence[tuple[str, str]], width: int) -> list[Line]:
    """The command, and the keys."""
    return [*_command(shown.plan, width), line(), key_line(keys, width)]


def key_line(keys: Sequence[tuple[str, str]], width: int) -> Line:
    """As many keys as one line has room for; the help tells all of them."""
    shown = list(keys)
    for label in GIVES_WAY:
        if len(fitting_keys(shown, width)) < len(shown):
            shown = [pair for pair in shown if pair[1] != label]
    parts: list[Part] = []
    for key, label in fitting_keys(shown, width):
        parts += [gap(3), (key, "strong"), (f" {label}", "quiet")]
    return line(AXIS, *parts[1:])
