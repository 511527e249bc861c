"""Lines of inked parts, drawn by `render_line`: everything on every screen is made of these.

A *part* is text and the name of its ink; a *line* is parts from the left, parts to the right edge, and the
ground beneath. What to show is plain data, so tests compare lines; how an ink looks stands in `inks`.
Texts must be safe (`text.clean`) before they become parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby
from operator import itemgetter

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.selection import Selection
from textual.strip import Strip

from hermes_tui.values import dataclass
from hermes_tui.widgets.frames import Framed
from hermes_tui.widgets.inks import ruled

Part = tuple[str, str]
"""Text and the name of its ink."""

LIT = {"quiet": "lit", "unsure": "unsure-lit", "bad": "bad-lit"}
"""What an ink becomes on a ground that is not the page, so that it keeps its contrast."""
LIT_MATCHES = frozenset({"match", "now"})
_JOINER = "\u200d"
ASCII = str.maketrans(
    {
        **dict(zip("▌◉★✗◐○▫✓━┿●◆◈▸▾§↓↑←→│┃├└─", ">*^x/.av-+o+~+-xv^<>|#|`-", strict=True)),
        **dict(zip("…·•“”„‘’–—×", '~-*"""\'\'--x', strict=True)),
    }
)
"""What stands for a glyph where only letters can be trusted, or where these are two cells wide; each is one."""

AXIS: Part = ("   ", "ink")
"""Marks hang in a margin of three cells; all text starts on the fourth."""
BLANK_CELL: Part = (" ", "ink")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a screen."""

    left: tuple[Part, ...] = ()
    right: tuple[Part, ...] = ()
    ground: str = ""
    indent: int = 0
    """Cells on the left that the ground leaves out …"""
    inset: int = 0
    """… and on the right."""

    @property
    def text(self) -> str:
        """What it says, for tests and for reading aloud."""
        return "".join(text for text, _ in (*self.left, *self.right))


View = Callable[[int, int], list[Line]]
"""What a widget of (width, height) says."""


def line(*left: Part, right: tuple[Part, ...] = (), ground: str = "", indent: int = 0, inset: int = 0) -> Line:
    return Line(left, right, ground, indent, inset)


def gap(cells: int) -> Part:
    return (" " * max(0, cells), "ink")


def measure(parts: Iterable[Part]) -> int:
    """Width in cells."""
    return sum(len(text) if text.isascii() else cell_len(text) for text, _ in parts)


def cut(text: str, width: int) -> str:
    """The longest beginning of at most `width` cells; a wide character is never halved."""
    if text.isascii():
        return text[: max(0, width)]
    used, end = 0, 0
    for char in text:
        used += cell_len(char)
        if used > width:
            break
        end += 1
    # Joiners and variation selectors make a cluster wider or narrower than its characters.
    while end and cell_len(text[:end]) > width:
        end -= 1
    return text[:end].rstrip(_JOINER)


def fit(text: str, width: int, align: str = "left") -> str:
    """Cut or pad to exactly `width` cells; a cut shows as `…`."""
    if width <= 0:
        return ""
    if cell_len(text) > width:
        text = cut(text, width - 1).rstrip() + "…"
    pad = " " * (width - cell_len(text))
    return pad + text if align == "right" else text + pad


def crop(parts: Iterable[Part], width: int) -> tuple[Part, ...]:
    """The parts up to `width` cells, a quiet `…` after a cut; a match is never cut in two."""
    parts = tuple(parts)
    if measure(parts) <= width:
        return parts
    out: list[Part] = []
    used = 0
    for text, ink in parts:
        wide = cell_len(text)
        if used + wide >= width:
            kept = "" if ink in LIT_MATCHES else cut(text, width - 1 - used).rstrip()
            return (*out, (kept, ink), ("…", "quiet"))
        out.append((text, ink))
        used += wide
    return tuple(out)


def wrap(parts: Iterable[Part], width: int, limit: int = 0) -> list[tuple[Part, ...]]:
    """Break at blanks and between wide characters; past `limit` lines a quiet `…` ends the last."""
    width = max(1, width)
    cells: list[tuple[str, str, int]] = []
    rows: list[list[tuple[str, str, int]]] = []
    start = used = chance = 0
    # Cell by cell, so that of a long text no more is looked at than there is room for.
    for i, (char, ink) in enumerate((char, ink) for text, ink in parts for char in text):
        wide = 1 if " " <= char <= "~" else cell_len(char)
        cells.append((char, ink, wide))
        if char == "\n":
            rows.append(cells[start:i])
            start, used, chance = i + 1, 0, i + 1
            continue
        if char != " " and used + wide > width and i > start:
            end = chance if chance > start else i
            rows.append(cells[start:end])
            start, used = end, sum(cell[2] for cell in cells[end:i])
        used += wide
        if char == " " or wide == 2:
            chance = i + 1
        if limit and len(rows) > limit:
            break
    rows.append(cells[start:])
    if not limit:
        return [_merged(row) for row in rows]
    return shortened([*map(_merged, rows[:limit]), *[()] * (len(rows) > limit)], width, limit)


def shortened(rows: list[tuple[Part, ...]], width: int, limit: int) -> list[tuple[Part, ...]]:
    """The first `limit` of these rows; a quiet `…` ends the last when there are more."""
    if len(rows) <= limit:
        return rows
    last = crop(rows[limit - 1], width - 2)
    return [*rows[: limit - 1], last if last[-1:] and last[-1][0].endswith("…") else (*last, (" …", "quiet"))]


def _merged(row: list[tuple[str, str, int]]) -> tuple[Part, ...]:
    runs = groupby(row, itemgetter(1))
    merged: list[Part] = [("".join(cell[0] for cell in run), ink) for ink, run in runs]
    if merged:
        merged[-1] = (merged[-1][0].rstrip(), merged[-1][1])
    return tuple(merged)


Form = tuple[tuple[Part, ...], str]
"""What a line says on the left and on the right; given from long to short."""


def fitting(forms: Iterable[Form], width: int) -> Form:
    """The first form that fits; only the shortest may be cut."""
    last: Form = ((), "")
    for last in forms:
        if measure(last[0]) + cell_len(last[1]) + 7 <= width:
            return last
    return last


class Inked(Framed):
    """A widget that turns lines into strips; resolved styles are kept until the theme changes.

    Inks are none of Textual's component classes: of those it resolves every one, for every widget, whenever any
    style is looked at again. Here an ink is resolved when something is first drawn with it (`inks`).
    """

    _styles: dict[tuple[str, str], Style] | None = None
    _bare: Style | None = None
    """No ink on no ground."""
    drawing = False
    """Lines are drawn for the eye; otherwise a line is asked for by the mouse, to know what lies where."""

    def render_lines(self, crop: Region) -> list[Strip]:
        self.drawing = True
        try:
            return super().render_lines(crop)
        finally:
            self.drawing = False

    def notify_style_update(self) -> None:
        """Most often the styles of a widget are found again to be what they were: then it stays as it is drawn."""
        super().notify_style_update()
        before, self._styles, self._bare = self._styles, None, None
        if before is not None and any(self.ink(*named) != style for named, style in before.items()):
            self.inks_changed()
            self.refresh()

    def inks_changed(self) -> None:
        """What was drawn before must be drawn again; for widgets that keep it."""

    def on_unmount(self) -> None:
        """Let go of what was drawn: the widget itself stays in memory until it is looked for."""
        self.inks_changed()
        self._styles_cache.clear()

    def ink(self, name: str, ground: str = "") -> Style:
        """How this ink looks on this ground."""
        if self._styles is None:
            self._styles = {}
        style = self._styles.get((name, ground))
        if style is None:
            style = self._bare = self._bare or self.rich_style
            if ground:
                style += ruled(self, f"ground--{ground}")
            drawn = LIT.get(name, name) if ground else name
            style += ruled(self, f"ink--{drawn}")
            self._styles[name, ground] = style
        return style

    def strip(self, row: Line, width: int) -> Strip:
        """Exactly `width` cells."""
        taken = measure(row.right)
        left = crop(row.left, width - taken - 1 if row.right else width)
        parts = (*left, (" " * max(0, width - measure(left) - taken), "ink"), *row.right)
        inked = self._drawn(parts, row.ground, width)
        if not row.ground or not (row.indent or row.inset):
            return inked
        bare = self._drawn(parts, "", width)
        last = width - row.inset
        return Strip.join([bare.crop(0, row.indent), inked.crop(row.indent, last), bare.crop(last, width)])

    def _drawn(self, parts: Iterable[Part], ground: str, width: int) -> Strip:
        if getattr(self.app, "ascii_only", False):
            parts = [(text.translate(ASCII), ink) for text, ink in parts]
        segments = [Segment(text, self.ink(ink, ground)) for text, ink in parts if text]
        return Strip(segments).adjust_cell_length(width, self.ink("ink", ground))

    # selecting with the mouse: lines are counted from the first there is, so a selection outlives scrolling

    def spoken(self, y: int) -> str | None:
        """What line `y` says, for whoever selects it; None past the last one."""
        return None

    def placed(self, strip: Strip, y: int) -> Strip:
        """`strip` as line `y`: what is selected of it shows, and the mouse can find it. Only the mouse is told the
        places of what it finds: they would make of each piece of text a style of its own."""
        selection = self.text_selection
        span = None if selection is None else selection.get_span(y)
        if span is not None:
            start, end = span
            text = strip.text
            first = cell_len(text[:start])
            last = strip.cell_length if end == -1 else cell_len(text[:end])
            tint = self.screen.get_component_rich_style("screen--selection")
            lit = strip.crop(first, last).apply_style(tint)
            strip = Strip.join([strip.crop(0, first), lit, strip.crop(last)])
        return strip if self.drawing else strip.apply_offsets(0, y)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """What was selected, without the blanks that fill lines."""
        y = selection.start.y if selection.start is not None else 0
        last = selection.end.y if selection.end is not None else y + self.size.height
        found: list[str] = []
        while y <= last and (text := self.spoken(y)) is not None:
            start, end = selection.get_span(y) or (0, 0)
            found.append(text[start : None if end == -1 else end].rstrip())
            y += 1
        return ("\n".join(found), "\n") if found else None

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()


class Ink(Inked):
    """Shows the lines of a view; `show` gives it another."""

    def __init__(self, view: View | None = None, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._view: View = view or (lambda width, height: [])
        self._shown: tuple[Size, list[Line]] | None = None

    def show(self, view: View) -> None:
        """Draw this from now on, where it says something else than is drawn."""
        self._view = view
        if self._shown is None or self._shown[0] != self.size:
            self.refresh(layout=self.styles.auto_dimensions)
            self._shown = None
            return
        before, now = self._shown[1], view(*self.size)
        self._shown = (self.size, now)
        if len(before) != len(now):
            self.refresh(layout=self.styles.auto_dimensions)
            return
        width = self.size.width
        changed = [Region(0, y, width, 1) for y, (old, new) in enumerate(zip(before, now, strict=True)) if old != new]
        if changed:
            self.refresh(*changed)

    @property
    def lines(self) -> list[Line]:
        """What it says at its present size."""
        if self._shown is None or self._shown[0] != self.size:
            self._shown = (self.size, self._view(*self.size))
        return self._shown[1]

    def render_line(self, y: int) -> Strip:
        lines = self.lines
        return self.placed(self.strip(lines[y] if y < len(lines) else Line(), self.size.width), y)

    def spoken(self, y: int) -> str | None:
        return self.strip(self.lines[y], self.size.width).text if y < len(self.lines) else None

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return max(1, len(self._view(width, 0)))
