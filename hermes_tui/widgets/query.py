"""The query line: what is typed, its filter words tinted, a completion dim behind the text cursor."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events
from textual.message import Message
from textual.strip import Strip

from hermes_tui.text import clean, one_line
from hermes_tui.values import dataclass
from hermes_tui.widgets.ink import BLANK_CELL, Inked, Part, cut, gap, line, measure

if TYPE_CHECKING:
    from hermes_tui.domain.queries import Completion

MARGIN = 3
"""Cells of the margin, where the gold `/` hangs."""
HINT = 'words, "a phrase", deploy*, source:telegram, after:7d'
"""What an empty box says."""
COMPLETE = ("→", "complete")
"""The key that takes the completion shown, and what it does."""
_BREAKS = r"[\r\n\t\v\f\u0085\u2028\u2029]+"
_WORD = re.compile(r"\w+\W*|\W+")


@cache
def _filter_pattern() -> re.Pattern[str]:
    """Made when something is typed, not at the start."""
    from hermes_tui.domain.filters import KEYS

    return re.compile(rf"""(?<!\S)(-?(?:{"|".join(KEYS)}):)(?:"[^"]*(?:"|\Z)|[^\s"])+""", re.IGNORECASE)


def filter_words(text: str) -> list[tuple[int, int, int]]:
    """The filter words of a query: where each begins, where its value does, where it ends."""
    return [(found.start(), found.end(1), found.end()) for found in _filter_pattern().finditer(text)]


def begins_filter(word: str) -> bool:
    """Whether a value could follow: `source:` or `-source:te`."""
    from hermes_tui.domain.filters import KEYS

    key, colon, _ = word.removeprefix("-").partition(":")
    return bool(colon) and key.lower() in KEYS


def near_filter(text: str) -> tuple[str, str]:
    """A sentence about a word that is nearly a filter, and the query as it was probably meant; empty without one."""
    if ":" not in text:
        return "", ""
    from hermes_tui.domain.nearkeys import corrected, hint  # only for the few who need it

    said = hint(text)
    return (said, corrected(text)) if said else ("", "")


class QueryLine(Inked, can_focus=True, inherit_bindings=False):
    """One line to type a query in. Every printable key is text; what it does not use bubbles to the screen."""

    @dataclass
    class Changed(Message):
        """The text is another one now."""

        text: str
        cursor: int

    def __init__(
        self,
        text: str = "",
        *,
        mark: str = "/",
        hint: str = HINT,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        """`mark` hangs in the margin; `hint` is what the empty box says."""
        super().__init__(id=id, classes=classes)
        self._mark = mark
        self._hint = hint
        self._text = text
        self._cursor = len(text)
        self._first = 0
        """The first character in sight: a text longer than the line slides under the cursor."""
        self._right = ""
        self._offered: tuple[str, tuple[Completion, ...]] = ("", ())

    # what it holds

    @property
    def text(self) -> str:
        return self._text

    @property
    def cursor(self) -> int:
        """Position of the text cursor, 0 to the length of the text."""
        return self._cursor

    def show(self, text: str) -> None:
        """Hold this text, the cursor at its end, without saying that it changed."""
        self._text, self._cursor, self._first = text, len(text), 0
        self._offered = ("", ())
        self.refresh()

    def show_hint(self, hint: str, mark: str) -> None:
        """What the empty box says, and what hangs in its margin."""
        self._hint, self._mark = hint, mark
        self.refresh()

    def show_order(self, words: str) -> None:
        """What stands at the right end."""
        self._right = words
        self.refresh()

    # completion

    @property
    def begun(self) -> str:
        """The word that ends at the cursor, if the cursor stands at the end of the text; else nothing."""
        if self._cursor != len(self._text):
            return ""
        return self._text[max(self._text.rfind(" "), self._text.rfind("\u3000")) + 1 :]

    def offer(self, word: str, completions: Sequence[Completion]) -> None:
        """Show these behind the cursor, as long as `word` is still the one being typed; the first is what
        `right` takes."""
        self._offered = (word, tuple(each for each in completions if each.text != word))
        self.refresh()

    @property
    def offered(self) -> tuple[Completion, ...]:
        """The completions that fit what is typed now."""
        word, completions = self._offered
        begun = self.begun
        if not begun or not begun.startswith(word):
            return ()
        return tuple(each for each in completions if each.text.casefold().startswith(begun.casefold()))

    def _accept(self) -> bool:
        offered = self.offered
        if not offered:
            return False
        start = len(self._text) - len(self.begun)
        self._replace(start, len(self._text), offered[0].text + " ")
        return True

    # editing

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Keys that are text here, whatever they mean elsewhere."""
        return key in _EDITS or (character is not None and character.isprintable())

    def on_key(self, event: events.Key) -> None:
        edit = _EDITS.get(event.key)
        if edit is not None:
            edit(self)
        elif event.character is not None and event.is_printable:
            self._insert(event.character)
        else:
            return
        event.stop()
        event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self._insert(re.sub(_BREAKS, " ", event.text.strip("\r\n")))

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.focus()
        at, x = self._first, MARGIN
        while at < len(self._text) and x + cell_len(self._text[at]) <= event.x:
            x += cell_len(self._text[at])
            at += 1
        self._move(at)

    def clear(self) -> None:
        """Empty the box, as someone who typed would."""
        self._replace(0, len(self._text), "")

    def _insert(self, typed: str) -> None:
        self._replace(self._cursor, self._cursor, typed)

    def _replace(self, start: int, end: int, by: str) -> None:
        text = self._text[:start] + by + self._text[end:]
        self._move(start + len(by))
        if text == self._text:
            return
        self._text = text
        self._cursor = start + len(by)
        self.refresh()
        self.post_message(self.Changed(text, self._cursor))

    def _move(self, to: int) -> None:
        self._cursor = max(0, min(to, len(self._text)))
        self.refresh()

    def _beside(self, step: int) -> int:
        """The next place for the cursor: marks that combine with a character are passed with it."""
        at = self._cursor + step
        while 0 < at < len(self._text) and cell_len(self._text[at]) == 0:
            at += step
        return max(0, min(at, len(self._text)))

    def _word_before(self) -> int:
        starts = [found.start() for found in _WORD.finditer(self._text, 0, self._cursor)]
        return starts[-1] if starts else 0

    def _word_after(self) -> int:
        found = _WORD.match(self._text, self._cursor)
        return found.end() if found else self._cursor

    def _right_or_accept(self) -> None:
        if self._cursor < len(self._text) or not self._accept():
            self._move(self._beside(1))

    # drawing

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y:
            return Strip.blank(width, self.rich_style)
        right: tuple[Part, ...] = ((self._right, "soft"), BLANK_CELL) if self._right and width >= 60 else ()
        room = width - MARGIN - measure(right) - (1 if right else 0)
        parts = self._typed(max(1, room))
        margin = (gap(1), (self._mark, "gold"), BLANK_CELL)
        return self.strip(line(*margin, *parts, right=right, ground="raised"), width)

    def _typed(self, room: int) -> tuple[Part, ...]:
        """The text in sight, at most `room` cells, with cursor and completion."""
        if not self._text:
            hint = cut(self._hint, room - 2)
            return ((" ", "now") if self.has_focus else BLANK_CELL, (" " + hint, "aside"))
        self._slide(room)
        end, used = self._first, 0
        while end < len(self._text) and used + cell_len(self._text[end]) <= room:
            used += cell_len(self._text[end])
            end += 1
        parts = self._inked(self._first, end)
        if self._cursor == len(self._text) and self.has_focus:
            parts += [*self._ghost(room - used)]
        return tuple(parts)

    def _slide(self, room: int) -> None:
        """Choose the first character in sight so that the cursor is."""
        self._first = min(self._first, self._cursor)
        at, used = self._cursor, 1
        if at < len(self._text):
            used = max(1, cell_len(self._text[at]))
        while at > self._first and used + cell_len(self._text[at - 1]) <= room:
            at -= 1
            used += cell_len(self._text[at])
        self._first = at
        if not self._text[at:] or at == 0:
            return
        # Room that deleting has freed at the end is given back to the front.
        rest = cell_len(self._text[at : at + room])
        while self._first > 0 and rest + cell_len(self._text[self._first - 1]) < room:
            self._first -= 1
            rest += cell_len(self._text[self._first])

    def _inked(self, start: int, end: int) -> list[Part]:
        inks = ["ink"] * (end - start)
        for begin, value, stop in filter_words(self._text):
            for at in range(max(begin, start), min(stop, end)):
                inks[at - start] = "chip-key" if at < value else "chip"
        if self.has_focus and start <= self._cursor < end:
            inks[self._cursor - start] = "now"
        parts: list[Part] = []
        for char, ink in zip(clean(self._text[start:end]).replace("\n", " ").replace("\t", " "), inks, strict=True):
            if parts and parts[-1][1] == ink:
                parts[-1] = (parts[-1][0] + char, ink)
            else:
                parts.append((char, ink))
        return parts

    def _ghost(self, room: int) -> list[Part]:
        """The cursor behind the text, and what could come next with how often it occurs."""
        offered = self.offered
        if not offered or room < 2:
            return [(" ", "now")][:room]
        rest = one_line(offered[0].text[len(self.begun) :]) or " "
        ghost = cut(rest, room)
        parts = [(ghost[:1], "now"), (ghost[1:], "quiet")]
        others = [f"{one_line(each.text).partition(':')[2]} {each.count:,}" for each in offered[1:6]]
        for said in (f"  {offered[0].count:,}", *(f" · {other}" for other in others)):
            if measure(parts) + cell_len(said) > room:
                break
            parts.append((said, "aside"))
        return parts


_EDITS: dict[str, Callable[[QueryLine], None]] = {
    "backspace": lambda box: box._replace(box._beside(-1), box._cursor, ""),
    "ctrl+h": lambda box: box._replace(box._beside(-1), box._cursor, ""),
    "delete": lambda box: box._replace(box._cursor, box._beside(1), ""),
    "ctrl+d": lambda box: box._replace(box._cursor, box._beside(1), ""),
    "ctrl+u": lambda box: box._replace(0, box._cursor, ""),
    "ctrl+k": lambda box: box._replace(box._cursor, len(box._text), ""),
    "ctrl+w": lambda box: box._replace(box._word_before(), box._cursor, ""),
    "left": lambda box: box._move(box._beside(-1)),
    "right": lambda box: box._right_or_accept(),
    "ctrl+left": lambda box: box._move(box._word_before()),
    "ctrl+right": lambda box: box._move(box._word_after()),
    "home": lambda box: box._move(0),
    "ctrl+a": lambda box: box._move(0),
    "end": lambda box: box._move(len(box._text)),
    "ctrl+e": lambda box: box._move(len(box._text)),
}
"""Editing keys, as shells and editors have them."""
