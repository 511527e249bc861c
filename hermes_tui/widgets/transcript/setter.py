"""What setting any message needs: its texts numbered in the order in which they are drawn, its items, its folds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from hermes_tui.domain.messages import Message
from hermes_tui.text import clean, one_line, size
from hermes_tui.values import dataclass, field
from hermes_tui.widgets.transcript.folds import GUIDE, Fold, fold_line, fold_words, guided
from hermes_tui.widgets.transcript.leaves import PART, Item, ItemKind, Piece
from hermes_tui.widgets.transcript.lights import Lights
from hermes_tui.widgets.transcript.markdown import Page, set_text
from hermes_tui.widgets.transcript.rows import GUTTER, MARGIN, Row, Run, row
from hermes_tui.widgets.transcript.wholes import Whole

CLOSED, OPEN, WHOLE = 0, 1, 2
"""How far something that folds is open."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What all messages are set by."""

    width: int
    pattern: re.Pattern[str] | None = None
    """Words to light …"""
    words: int = 0
    """… and how many they are."""
    tools: int = CLOSED
    """How far calls are open where nobody said otherwise …"""
    thoughts: int = CLOSED
    """… and reasoning."""


@dataclass(slots=True)
class Setter:
    """Sets one message. Items are made at once, texts when their rows are: `Piece.rows` are generators."""

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

    def page(self, text: str, ink: str, *, ground: str = "", item: int = 0, narrower: int = 0) -> Page:
        """What this text is set on; from now on it is the last of the message's shown texts."""
        self.parts.append(text)
        pattern = self.setting.pattern
        lights = Lights(pattern, text) if pattern is not None else None
        part = (len(self.parts) - 1) * PART
        return Page(self.setting.width - narrower, part, ink, ground, item, lights, self.links)

    def item(self, kind: ItemKind, key: str, level: int = CLOSED) -> int:
        """A new item; its index."""
        self.items.append(Item(kind, key, level))
        return len(self.items) - 1

    def message_item(self, otherwise: str) -> int:
        """The item of the message itself, or one of another name when there is that already."""
        taken = any(item.key == "message" for item in self.items)
        return self.item(ItemKind.MESSAGE, otherwise if taken else "message", self.level("message"))

    def level(self, key: str, default: int = CLOSED) -> int:
        """How far something is open."""
        return self.opens.get(key, default)

    def seam(self, text: str) -> Iterator[Row]:
        """A rule with words in it: a segment begins."""
        page = self.page(text, "aside")
        said = f" {one_line(text)} "
        while len(said) > page.room - 4 and " · " in said:
            said = said.rpartition(" · ")[0] + " "
        rule = "─" * max(0, page.room - len(said) - 2)
        yield row([MARGIN, ("──", "guide", -1), (said, "aside", -1), (rule, "guide", -1)], page.part, item=-1)

    def head(self, fold: Fold, item: int) -> Row:
        """The line of something that folds."""
        return fold_line(fold, self.page(fold_words(fold), "quiet", item=item))

    def folded(self, name: str, text: str, key: str, kind: ItemKind, default: int = CLOSED) -> None:
        """Something that is one line until it is opened, and Markdown then."""
        opened = self.level(key, default) > CLOSED
        item = self.item(kind, key, OPEN if opened else CLOSED)
        self.pieces.append(Piece(self._folded(name, text, item, opened=opened), tight=not opened))

    def _folded(self, name: str, text: str, item: int, *, opened: bool) -> Iterator[Row]:
        yield self.head(Fold(name, "", ((size(len(text.strip("\n"))), "quiet", -1),), opened), item)
        if opened:
            yield from self.unfolded(text, item)

    def unfolded(self, text: str, item: int) -> Iterator[Row]:
        """A text below the line that stood for it."""
        text = clean(text).strip("\n")
        yield from guided(set_text(text, self.page(text, "quiet", item=item, narrower=2)))

    def more(self, said: str, key: str, *, lead: Run, waiting: bool = False) -> Row:
        """The line that stands for the rest of something."""
        item = self.item(ItemKind.MORE, f"more:{key}")
        said = "reading…" if waiting else said
        page = self.page(said, "aside", item=item)
        left = GUTTER if lead is GUIDE else GUTTER - 2
        return row([(" " * left, "ink", -1), lead, (said, "aside", page.part)], page.part, item=item)
