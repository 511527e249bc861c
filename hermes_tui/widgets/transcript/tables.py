"""Markdown tables: measured columns, one rule under the heads."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hermes_tui.values import dataclass
from hermes_tui.widgets.transcript.inline import Inline, set_inline
from hermes_tui.widgets.transcript.rows import Run, measure

_RULE = re.compile(
    r"[ \t]{0,20}\|?[ \t]{0,20}:?-{1,400}:?[ \t]{0,20}(?:\|[ \t]{0,20}:?-{1,400}:?[ \t]{0,20}){0,200}\|?[ \t]*"
)
_NUMBER = re.compile(r"[-+~≈<>]?[$€£¥]?\d[\d,.]{0,30}(?:\s?[%a-zA-Zµ°/]{1,5})?")
GAP = "   "
WIDEST = 200
"""No column is wider than this; what is cut shows as `…`, and the whole is one `enter` or `y` away."""


def is_rule(line: str) -> bool:
    """Whether this line parts a table's heads from its body."""
    return "-" in line and "|" in line and _RULE.fullmatch(line) is not None


def split_cells(line: str) -> list[tuple[int, str]]:
    """(offset in the line, text) of each cell; a bar inside code or after a backslash parts nothing."""
    cells: list[tuple[int, str]] = []
    start, code = 0, ""
    i, end = 0, len(line)
    while i < end:
        char = line[i]
        if char == "\\" and i + 1 < end:
            i += 2
            continue
        if char == "`":
            code = "" if code else ("`" if line.find("`", i + 1) > 0 else "")
        elif char == "|" and not code:
            cells.append((start, line[start:i]))
            start = i + 1
        i += 1
    cells.append((start, line[start:]))
    if cells and not cells[0][1].strip() and len(cells) > 1:
        del cells[0]
    if cells and not cells[-1][1].strip() and len(cells) > 1:
        del cells[-1]
    return [(at + len(text) - len(text.lstrip()), text.strip()) for at, text in cells]


@dataclass(slots=True)
class Table:
    """A table's cells, set and measured."""

    widths: list[int]
    rights: list[bool]
    """Columns that are set to the right: told so, or all numbers."""
    head: list[Inline]
    body: list[list[Inline]]


def measured(head: tuple[str, int], rule: str, body: Sequence[tuple[str, int]], ink: str) -> Table:
    """A table of source lines, each with the offset where it stands; cells beyond the heads are kept."""
    heads = _set(head, "strong")
    rows = [_set(line, ink) for line in body]
    count = max([len(heads), *(len(each) for each in rows)])
    widths, rights = [], []
    told = [text for _, text in split_cells(rule)]
    for i in range(count):
        column = [each[i] for each in (heads, *rows) if i < len(each)]
        widths.append(min(WIDEST, max(measure(cell.runs) for cell in column)))
        mark = told[i] if i < len(told) else ""
        texts = ["".join(run[0] for run in each[i].runs) for each in rows if i < len(each)]
        numbers = [text for text in texts if text]
        digits = bool(numbers) and all(_NUMBER.fullmatch(text) for text in numbers)
        rights.append(mark.endswith(":") and not mark.startswith(":") if ":" in mark else digits)
    return Table(widths, rights, heads, rows)


def _set(line: tuple[str, int], ink: str) -> list[Inline]:
    text, at = line
    return [set_inline(cell, at + offset, ink) for offset, cell in split_cells(text)]


def padded(cells: Sequence[Inline], table: Table) -> list[Run]:
    """One line of the table."""
    out: list[Run] = []
    for i, width in enumerate(table.widths):
        runs = cells[i].runs if i < len(cells) else []
        blank = width - measure(runs)
        if blank < 0:
            runs, blank = _cut(runs, width), 0
        pad: Run = (" " * blank, "ink", -1)
        out += [pad, *runs] if table.rights[i] else [*runs, pad]
        out.append((GAP, "ink", -1))
    return [run for run in out[:-1] if run[0]]


def _cut(runs: list[Run], width: int) -> list[Run]:
    out: list[Run] = []
    room = width - 1
    for text, ink, source in runs:
        if room <= 0:
            break
        kept = text[:room]
        while measure([(kept, ink, source)]) > room:
            kept = kept[:-1]
        out.append((kept, ink, source))
        room -= measure(out[-1:])
    return [*out, ("…", "quiet", -1), (" " * max(0, room), "ink", -1)]
