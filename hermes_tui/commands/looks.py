"""How text looks where it goes: in a pipe nothing is cut or coloured, on a terminal it fits, and signs of ours can be
letters."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.cells import cell_len, set_cell_size

from hermes_tui.text import one_line
from hermes_tui.values import NamedTuple, dataclass

GAP = "  "
"""Between two columns."""
STRONG = "\x1b[1m", "\x1b[0m"
"""What begins and ends bold letters."""
_OURS = "“”§…"
"""Signs that have a letter instead (`widgets.themes` has those of the screen)."""
_ASCII = str.maketrans(dict(zip(_OURS, '""x~', strict=True)))
_NARROW = 20
"""Cells below which lines are not broken at words any more."""
_LEAST = 8
"""Cells of a column that has become very short."""
_WORD = re.compile(r"\s*\S+")
_STYLES = re.compile(r"\x1b\[\d*m")


class Ended(str):
    """A cell of which the end stays when it is cut."""

    __slots__ = ("tail",)
    tail: str


def ended(value: str, tail: str) -> str:
    """A text and what stays behind it."""
    if not tail:
        return value
    made = Ended(value + tail)
    made.tail = tail
    return made


@dataclass(frozen=True, slots=True)
class Look:
    """What whoever reads it can show."""

    bold: bool = False
    ascii: bool = False
    """Letters instead of signs."""
    width: int | None = None
    """Cells of the terminal; None in a pipe."""

    def sign(self, ours: str) -> str:
        """A sign of ours; never give it stored text."""
        return ours.translate(_ASCII) if self.ascii else ours

    def strong(self, line: str) -> str:
        """For a terminal; in a pipe nothing but the text."""
        return f"{STRONG[0]}{line}{STRONG[1]}" if self.bold else line

    def quoted(self, said: str) -> str:
        """What is no title."""
        return f"{self.sign('“')}{said}{self.sign('”')}"

    def cropped(self, value: str, cells: int, *, left: bool = False) -> str:
        """At most so many cells of it; `left`: of its end."""
        if cell_len(value) <= cells:
            return value
        tail = value.tail if isinstance(value, Ended) else ""
        if tail and cells - cell_len(tail) >= _LEAST:
            return self.cropped(str(value[: -len(tail)]), cells - cell_len(tail)) + tail
        cut = self.sign("…")
        if not left:
            return (set_cell_size(value, cells - 1).rstrip() + cut)[: max(cells, 0)]
        kept = value[-cells:]  # no character is narrower than nothing
        while kept and cell_len(kept) > cells - 1:
            kept = kept[1:]
        return cut + kept

    def broken(self, line: str, indent: str) -> Iterator[str]:
        """A line as several, broken at blanks; what follows the first begins with `indent`."""
        width = self.width
        if width is None or width < _NARROW + len(indent) or cell_len(_STYLES.sub("", line)) <= width:
            yield line
            return
        begun, at = "", 0
        for word in _WORD.findall(line):
            cells = cell_len(_STYLES.sub("", word))
            if begun.strip() and at + cells > width:
                yield begun
                begun, at = indent, len(indent)
                word = word.lstrip()
                cells = cell_len(_STYLES.sub("", word))
            begun += word
            at = (at + cells - 1) % width + 1  # the terminal breaks what is longer
        yield begun

    def sentences(self, said: Iterable[str]) -> Iterator[str]:
        """What we say about an answer; the words in it may be anybody's."""
        for each in said:
            yield from self.broken(one_line(each), "")


PIPED = Look()
"""What is right wherever nothing is known."""


def look_of(env: Mapping[str, str], *, ascii: bool, no_color: bool) -> Look:
    """That of stdout."""
    terminal = sys.stdout is not None and sys.stdout.isatty()
    plain = no_color or bool(env.get("NO_COLOR")) or env.get("TERM") == "dumb" or os.name == "nt"
    return Look(terminal and not plain, ascii or not _says_signs(env), _width() if terminal else None)


def _says_signs(env: Mapping[str, str]) -> bool:
    """Whether signs arrive where text is written so; in the locale `C` Python writes UTF-8 all the same."""
    if env.get("LC_ALL") in ("C", "POSIX"):
        return False
    try:
        _OURS.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def _width() -> int | None:
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except (OSError, ValueError):
        return None


class Fitting(NamedTuple):
    """What becomes of columns for which a terminal is too narrow."""

    least: tuple[tuple[str, int], ...] = ()
    """Cells to which a column may be shortened; those first that get what is left over."""
    dropped: tuple[str, ...] = ()
    """Columns that are left out where shortening is not enough, one after the other."""
    last: tuple[str, ...] = ()
    """Columns that are left out only when the first that can be shortened has become very short."""
    ends: tuple[str, ...] = ()
    """Columns of which the end says more."""

    def fitted(self, head: Sequence[str], widths: Sequence[int], room: int) -> tuple[list[int], list[int]]:
        """The width of each column, and which of them are kept."""
        least = [min(width, dict(self.least).get(name, width)) for name, width in zip(head, widths, strict=True)]
        kept = list(range(len(head)))

        def spare() -> int:
            return room - sum(least[i] for i in kept) - len(GAP) * (len(kept) - 1)

        for name in self.dropped:
            if spare() < 0 and name in head:
                kept.remove(head.index(name))
        for name in reversed(self.dropped):  # a narrow one may have been left out before a wide one made room for it
            if name in head and (i := head.index(name)) not in kept and spare() >= least[i] + len(GAP):
                kept = sorted([*kept, i])
        if self.last and spare() < 0 and self.least:
            i = head.index(self.least[0][0])
            least[i] = max(_LEAST, least[i] + spare())
        for name in self.last:
            if spare() < 0 and name in head:
                kept.remove(head.index(name))
        for name in (each for each, _ in self.least if each in head):
            i = head.index(name)
            if i in kept:
                least[i] = max(1, min(widths[i], least[i] + spare()))
        return least, kept
