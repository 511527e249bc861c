"""What the help says: the same table as the bindings, joined where several keys are one thing to remember."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hermes_tui.keys import EVERY_LIST, JOINED, MOVING, PLACES, Key, shown_as
from hermes_tui.values import dataclass
from hermes_tui.widgets.ink import AXIS, Line, Part, View, crop, gap, line, measure

Row = tuple[Part, ...]
BROWSE = "browse"
"""The list that one leaves by quitting."""
KEY = 9
"""Cells for a key."""
_LONGEST = 14
"""Cells for it at most in what was found: a list of filters may be longer."""
_MOVES = frozenset(name for name, *_ in MOVING)
_MOVED: tuple[tuple[str, str], ...] = (
    ("↑ ↓ j k", "next, previous"),
    ("g G", "first, last"),
    ("page keys", "ctrl+d ctrl+u: half a page"),
)
_BACK = ("esc q", "back, but not in browse")
FILTERS: tuple[tuple[str, str], ...] = (
    ("source: role: tool: model: provider: end:", ""),
    ("title: cwd: workspace: branch: profile:", ""),
    ("user: chat: before: after:", "7d 2026-11-30"),
    ("messages: tokens: cost: tools:", ">50 <5"),
    ("is:", "pinned live error interrupted"),
    ("is:", "branch reset automation"),
    ("is:", "archived hidden empty"),
    ('- OR * " "', "not, either, begins with, phrase"),
    ("typed last", "a beginning, from 3 letters on"),
    ("several words", "all; if nowhere, some of them"),
)
NOTE = "reasoning, codex items: / in a transcript, not search"
SIGNS: tuple[tuple[str, str], ...] = (
    ("▌", "the cursor: what keys act on"),
    ("◉", "live now, here or elsewhere"),
    ("✗", "ended in an error; failed; missing"),
    ("◐", "interrupted"),
    ("★", "pinned"),
    ("▫", "archived"),
    ("○", "empty: nothing was said"),
    ("§3", "one conversation in 3 segments"),
    ("“ ”", "no title: the first words"),
    ("…", "cut, or still being read"),
    ("↑ ↓", "sorted by this column"),
    ("┃", "how much of all is in sight"),
    ("●", "a person; in a tree, a segment"),
    ("◆", "the assistant"),
    ("◈", "an event"),
    ("▸ ▾", "a call or a thought, folded, open"),
    ("━ ┿", "matches, at a transcript's edge"),
    ("├ └", "what hangs off a segment"),
    ("✓ !", "checked; to be looked at"),
)
"""What is drawn instead of written."""
ROUTES: tuple[tuple[str, str], ...] = (
    ("fts", "by Hermes' index of words"),
    ("trigram", "by its index of letters, in threes"),
    ("scan", "by reading the messages"),
    ("mixed", "by more than one of these"),
    ("filter", "by filter words alone"),
)
"""The first word of the search's status line."""
_ALIKE = frozenset({"resume", "lineage", "copy_link", "copy_command", "copy_id", "preview", "back", "close", "quit"})
"""Actions that are told once for all lists, or go without saying."""
_SAME = frozenset(
    {
        "lineage.search",
        "lineage.read",
        "search.box",
        "search.profiles",
    }
)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its rows: key, what it does."""

    name: str
    rows: Sequence[tuple[str, str]]


def place_rows(place: str, rebound: Mapping[str, str]) -> list[tuple[str, str]]:
    """Every key of a place but those that move; joined keys once, where the first of them stands."""
    return _told([key for key in PLACES[place] if not _moves(key)], rebound)


def _moves(key: Key) -> bool:
    return key.id.partition(".")[2] in _MOVES


def special_rows(place: str, rebound: Mapping[str, str]) -> list[tuple[str, str]]:
    """The same without what is told once for all lists, and what goes without saying."""
    keys = [key for key in PLACES[place] if not _moves(key) and key.id not in _SAME]
    if place == "everywhere":
        return _told(keys, rebound)
    own = {
        "browse": {"quit"},
        "transcript": {"copy_link"},
        "resume": {"copy_link", "copy_command", "copy_id"},
    }
    alike = _ALIKE - own.get(place, set())
    return _told([key for key in keys if key.action not in alike], rebound)


def _told(keys: Sequence[Key], rebound: Mapping[str, str]) -> list[tuple[str, str]]:
    by_id = {key.id: key for place in PLACES.values() for key in place}
    joined = {ids[0]: (ids, text) for ids, text in JOINED}
    told = {name for ids, _ in JOINED for name in ids}
    rows = []
    for key in keys:
        if key.id in joined:
            ids, text = joined[key.id]
            rows.append((" ".join(shown_as(by_id[name], rebound) for name in ids), text))
        elif key.id not in told:
            rows.append((shown_as(key, rebound), key.help))
    return rows


def sections(here: str, rebound: Mapping[str, str]) -> list[Section]:
    """Every section, the one of the screen one came from first."""
    by_id = {key.id: key for place in PLACES.values() for key in place}
    back = () if here == BROWSE else (_BACK,)
    lists = Section("every list", [*_MOVED, *_told([by_id[name] for name in EVERY_LIST], rebound), *back])
    names = [here] if here in PLACES else []
    names += [name for name in PLACES if name not in (here, "everywhere")]
    places = [Section(name, special_rows(name, rebound)) for name in names]
    everywhere = Section("everywhere", special_rows("everywhere", rebound))
    return [*places[:1], lists, everywhere, *_WORDS, *places[1:]]


_WORDS = (
    Section("words that filter", FILTERS),
    Section("signs", SIGNS),
    Section("how it was searched", ROUTES),
)


def matching_words(words: str) -> list[tuple[str, str, str]]:
    """The same for what is no key: filters, signs, ways of searching; as written, its heading, what it means."""
    wanted = words.casefold().split()
    return [
        (written, section.name, text)
        for section in _WORDS
        for written, text in section.rows
        if all(word in f"{section.name} {written} {text}".casefold() for word in wanted)
    ]


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
    return sorted(found, key=lambda each: _nearness(words.strip(), each[1]))


def _nearness(typed: str, written: str) -> int:
    """0 for the very key that was typed, 1 for it but for its case, 2 for all others."""
    names = {written, *written.split()}
    return 0 if typed in names else 1 if typed.casefold() in {name.casefold() for name in names} else 2


def _rows(section: Section, *, here: bool) -> list[Row]:
    head: Row = ((section.name, "gold" if here else "aside"),)
    if here:
        head = (*head, ("  you are here", "aside"))
    return [head, *(_row(key, text) for key, text in section.rows)]


def _row(key: str, text: str) -> Row:
    wide = measure(((key, ""),))
    return ((key, "strong"), gap(max(2, KEY - wide)), (text, "quiet"))


def help_lines(here: str, typed: str, rebound: Mapping[str, str], width: int) -> list[Line]:
    """Everything, in two columns where no text is cut by it; or what matches the typed words."""
    if typed.strip():
        return _found(typed, rebound)
    blocks = [_rows(section, here=section.name == here) for section in sections(here, rebound)]
    half = (width - 6) // 2
    if any(measure(row) > half - 2 for block in blocks for row in block):
        flat = [row for block in blocks for row in (*block, ())]
        return [line(AXIS, *crop(row, width - 4)) for row in flat]
    left, right = _balanced(blocks)
    lines = []
    for i in range(max(len(left), len(right))):
        a = left[i] if i < len(left) else ()
        b = right[i] if i < len(right) else ()
        lines.append(line(AXIS, *a, gap(half - measure(a)), *b))
    return lines


def _balanced(blocks: Sequence[Sequence[Row]]) -> tuple[list[Row], list[Row]]:
    """The blocks in two columns, in order, parted where the longer one is shortest; a blank between blocks."""

    def column(chosen: Sequence[Sequence[Row]]) -> list[Row]:
        return [row for i, block in enumerate(chosen) for row in ([(), *block] if i else block)]

    parted = [(column(blocks[:i]), column(blocks[i:])) for i in range(1, len(blocks))]
    return min(parted, key=lambda pair: max(map(len, pair)))


def _found(typed: str, rebound: Mapping[str, str]) -> list[Line]:
    found = [(written, key.place, key.help) for key, written in matching(typed, rebound)]
    found += matching_words(typed)
    if not found:
        return [line(AXIS, ("no key does that, and no sign means it", "aside"))]
    keys = min(_LONGEST, max(measure(((written, ""),)) for written, _, _ in found))
    places = max(len(place) for _, place, _ in found)
    return [
        line(
            AXIS,
            (written, "strong"),
            gap(max(2, keys + 2 - measure(((written, ""),)))),
            (place.ljust(places + 2), "aside"),
            (text, "quiet"),
        )
        for written, place, text in found
    ]


def search_view(typed: str, *, more: bool = False) -> View:
    """The panel's first line: what is typed, and how to leave; `more`: there is more than fits."""

    def view(width: int, height: int) -> list[Line]:
        leave = "esc clears" if typed else "esc closes"
        right: Row = ((("↓ more   " if more else "") + leave, "quiet"), gap(2))
        said: Row = ((typed, "ink"), (" ", "now")) if typed else (("type to find", "aside"),)
        if not typed and measure((*said, (NOTE, ""), *right)) + 10 <= width:
            said = (*said, gap(3), (NOTE, "aside"))
        return [line(gap(1), ("?", "gold"), gap(1), *said, right=right), line()]

    return view
