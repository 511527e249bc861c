"""What the help says: the same table as the bindings, joined where several keys are one thing to remember."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hermes_tui.keys import JOINED, MOVING, PLACES, Key, shown_as
from hermes_tui.widgets.ink import AXIS, Line, Part, View, crop, gap, line, measure

KEY = 10
"""Cells for a key."""
_MOVES = frozenset(name for name, *_ in MOVING)
_MOVED: tuple[tuple[str, str], ...] = (
    ("↑ ↓ j k", "next, previous"),
    ("g G", "first, last; home, end too"),
    ("pgup pgdn", "a page; ctrl+d ctrl+u half of one"),
)
FILTERS: tuple[tuple[str, str], ...] = (
    ("source: role: tool: model:", ""),
    ("title: cwd: branch: profile:", ""),
    ("provider: end: user: chat:", ""),
    ("before: after:", "7d today 2026-11-30"),
    ("messages: tokens: cost: tools:", ">50 <5"),
    ("is:", "pinned archived live empty branch …"),
    ("-", "not, as in -source:slack"),
    ('" " * AND OR', "as in Hermes"),
)
NOTE = "Reasoning is found with / in a transcript, not by the search."


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its rows: key, what it does."""

    name: str
    rows: Sequence[tuple[str, str]]


def place_rows(place: str, rebound: Mapping[str, str]) -> list[tuple[str, str]]:
    """The keys of a place but those that move; joined ones once, where the first of them stands."""
    by_id = {key.id: key for key in PLACES[place]}
    joined = {ids[0]: (ids, text) for ids, text in JOINED}
    told = {name for ids, _ in JOINED for name in ids}
    rows = []
    for key in PLACES[place]:
        if key.id in joined:
            ids, text = joined[key.id]
            rows.append((" ".join(shown_as(by_id[name], rebound) for name in ids if name in by_id), text))
        elif key.id not in told and key.id.partition(".")[2] not in _MOVES:
            rows.append((shown_as(key, rebound), key.help))
    return rows


def sections(here: str, rebound: Mapping[str, str]) -> list[Section]:
    """Every section, the one of the screen one came from first."""
    names = [here] if here in PLACES else []
    names += ["everywhere", *(name for name in PLACES if name not in (here, "everywhere"))]
    found = []
    for name in names:
        rows = place_rows(name, rebound)
        found.append(Section(name, [*_MOVED, *rows] if name == "everywhere" else rows))
    filters = Section("words that filter", FILTERS)
    return [*found[:2], filters, *found[2:]] if here in PLACES else [filters, *found]


def matching(words: str, rebound: Mapping[str, str]) -> list[tuple[Key, str]]:
    """Every single key whose text, name or place holds all these words; with the key as written."""
    wanted = words.casefold().split()
    found = []
    for keys in PLACES.values():
        for key in keys:
            written = shown_as(key, rebound)
            text = f"{key.place} {written} {key.label} {key.help}".casefold()
            if all(word in text for word in wanted):
                found.append((key, written))
    return found


def _rows(section: Section, *, here: bool) -> list[tuple[Part, ...]]:
    head: tuple[Part, ...] = ((section.name, "gold" if here else "aside"),)
    if here:
        head = (*head, ("  you are here", "aside"))
    return [head, *(_row(key, text) for key, text in section.rows)]


def _row(key: str, text: str) -> tuple[Part, ...]:
    wide = measure(((key, ""),))
    return ((key, "strong"), gap(max(2, KEY - wide)), (text, "quiet"))


def help_lines(here: str, typed: str, rebound: Mapping[str, str], width: int) -> list[Line]:
    """Everything in two columns where there is room for them; or what matches the typed words, in one."""
    if typed.strip():
        return _found(typed, rebound)
    blocks = [_rows(section, here=section.name == here) for section in sections(here, rebound)]
    if width < 76:
        flat = [row for block in blocks for row in (*block, ())]
        return [line(AXIS, *crop(row, width - 4)) for row in (*flat, ((NOTE, "aside"),))]
    left: list[tuple[Part, ...]] = []
    right: list[tuple[Part, ...]] = []
    half = sum(len(block) + 1 for block in blocks) // 2
    for block in blocks:
        column = left if len(left) + len(block) // 2 < half and not right else right
        column += [*block, ()]
    wide = (width - 6) // 2
    lines = []
    for i in range(max(len(left), len(right))):
        a = crop(left[i] if i < len(left) else (), wide - 2)
        b = crop(right[i] if i < len(right) else (), width - wide - 5)
        lines.append(line(AXIS, *a, gap(wide - measure(a)), *b))
    return [*lines, line(AXIS, (NOTE, "aside"))]


def _found(typed: str, rebound: Mapping[str, str]) -> list[Line]:
    found = matching(typed, rebound)
    if not found:
        return [line(AXIS, ("no key does that", "aside"))]
    keys = max(measure(((written, ""),)) for _, written in found)
    places = max(len(key.place) for key, _ in found)
    return [
        line(
            AXIS,
            (written, "strong"),
            gap(keys + 2 - measure(((written, ""),))),
            (key.place.ljust(places + 2), "aside"),
            (key.help, "quiet"),
        )
        for key, written in found
    ]


def search_view(typed: str) -> View:
    """The panel's first line: what is typed, and how to leave."""

    def view(width: int, height: int) -> list[Line]:
        leave = "esc clears" if typed else "esc closes"
        said: tuple[Part, ...] = ((typed, "ink"), (" ", "now")) if typed else (("type to find a key", "aside"),)
        return [line(gap(1), ("?", "gold"), gap(1), *said, right=((leave, "quiet"), gap(2))), line()]

    return view
