"""Markdown as rows, block by block: whoever shows them takes as many as there is room for, and the rest is not
made. Line breaks stay where they were typed; long lines are wrapped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from hermes_tui.values import dataclass, field
from hermes_tui.widgets.transcript.codes import Spans, by_line, colours, family_of
from hermes_tui.widgets.transcript.inline import Inline, marked, set_inline
from hermes_tui.widgets.transcript.lights import Lights
from hermes_tui.widgets.transcript.rows import GUTTER, MARGIN, MEASURE, Row, Run, inked, overlay, row, tabbed, wrap
from hermes_tui.widgets.transcript.tables import GAP, Table, is_rule, measured, padded

_FENCE = re.compile(
    r"(?P<indent>[ \t]{0,40})(?:[-*+>] {1,3})?(?P<fence>`{3,20}|~{3,20})[ \t]{0,8}(?P<info>[^`\n]{0,200})"
)
_HEADING = re.compile(r"[ ]{0,3}(?P<level>#{1,6})[ \t]+(?=\S)")
_RULE = re.compile(r"[ ]{0,3}(?:(?:-[ \t]*){3,400}|(?:\*[ \t]*){3,400}|(?:_[ \t]*){3,400})")
_LIST = re.compile(r"(?P<indent>[ \t]{0,60})(?P<mark>[-*+•]|\d{1,9}[.)])(?P<gap>[ \t]{1,4})(?=\S)")
_QUOTE = re.compile(r"[ ]{0,3}(?:> ?){1,20}")
_INDENT = re.compile(r"[ \t]{0,200}")
_LONG = 4_000
"""A line longer than this is words and nothing else: it is broken piece by piece."""
_CODE_LINES, _CODE_CHARS = 200, 12_000
"""How much of a code block is coloured at a time."""
_TABLE_ROWS = 400
"""How many rows of a table are measured together."""


@dataclass(slots=True)
class Page:
    """What a text is set on: measures, base ink, and what was found on the way."""

    width: int
    """Of the pane."""
    part: int = 0
    """Where the text's offsets begin in the message's."""
    ink: str = "soft"
    ground: str = ""
    item: int = 0
    lights: Lights | None = None
    """Places to light."""
    links: list[tuple[int, int, str]] = field(default_factory=list)
    """(start, end, where to), offsets in the message, of links on rows already made or being made."""
    blocks: int = 0
    """Wide blocks so far."""

    @property
    def room(self) -> int:
        """Cells for prose."""
        return max(8, min(MEASURE, self.width - GUTTER - 2))

    def runs(self, runs: list[Run]) -> list[Run]:
        """Offsets from the text's to the message's, matches lit."""
        if self.lights is not None and runs:
            end = max(source + len(text) for text, _, source in runs)
            runs = overlay(runs, self.lights.up_to(end), "match")
        if self.part:
            return [(text, ink, source + self.part if source >= 0 else -1) for text, ink, source in runs]
        return runs

    def row(self, runs: list[Run], at: int, lead: tuple[Run, ...] = ()) -> Row:
        """A row of prose."""
        return row((MARGIN, *lead, *self.runs(runs)), self.part + at, ground=self.ground, item=self.item)


class _Lines:
    """A text line by line, with a look at the next ones; the text is never copied whole."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.line = ""
        self.more = True
        self._read(0)

    def _read(self, at: int) -> None:
        self.more = at <= len(self.text)
        if self.more:
            self.at, self.line = at, self.peek(at)

    def peek(self, at: int) -> str:
        """The line that begins at this offset."""
        end = self.text.find("\n", at)
        return self.text[at:] if end < 0 else self.text[at:end]

    def skip(self) -> None:
        """On to the next line."""
        self._read(self.at + len(self.line) + 1)


def set_text(text: str, page: Page) -> Iterator[Row]:
    """The rows of a Markdown text; blank lines at its ends are dropped, several in a row are one."""
    lines = _Lines(text)
    blank = started = False
    while lines.more:
        line, at = lines.line, lines.at
        if not line or line.isspace():
            blank = started
            lines.skip()
            continue
        fence = _FENCE.fullmatch(line)
        table = fence is None and _is_table(lines)
        boxed = table or fence is not None
        if started and (blank or boxed):
            yield page.row([], at - 1)
        blank, started = boxed, True
        if fence is not None:
            yield from _code(lines, fence, page)
        elif table:
            yield from _table(lines, page)
        else:
            lines.skip()
            yield from _line(line, at, page)


def plain_lines(text: str, page: Page) -> Iterator[Row]:
    """The rows of a text that is no Markdown: as it is, wrapped."""
    lines = _Lines(text)
    while lines.more:
        line, at = lines.line, lines.at
        lines.skip()
        yield from _long_line(line, at, page)


def _is_table(lines: _Lines) -> bool:
    head = lines.line
    if "|" not in head or len(head) > _LONG:
        return False
    after = lines.at + len(head) + 1
    return after < len(lines.text) and is_rule(lines.peek(after)[:_LONG])


def _line(line: str, at: int, page: Page, lead: tuple[Run, ...] = (), ink: str = "") -> Iterator[Row]:
    """One line of prose: a heading, an item of a list, a quote, a rule, or just words."""
    ink = ink or page.ink
    if len(line) > _LONG:
        yield from _long_line(line, at, page, lead)
    elif (first := line.lstrip()[:1]) == "#" and (heading := _HEADING.match(line)):
        text = line[heading.end() :].rstrip()
        text = text.rstrip("#").rstrip() if text.endswith(" " + "#" * (len(text) - len(text.rstrip("#")))) else text
        bold = "strong" if heading.end("level") < 3 else marked(ink, "b")
        yield from _words(text, at + heading.end(), page, lead, bold)
    elif first == ">" and (quote := _QUOTE.match(line)):
        bars = (("│ " * quote[0].count(">"), "guide", -1),)
        yield from _line(line[quote.end() :], at + quote.end(), page, (*lead, *bars), marked(page.ink, "i"))
    elif first in "-*_" and _RULE.fullmatch(line):
        used = sum(len(run[0]) for run in lead)
        yield page.row([("─" * (page.room - used), "guide", -1)], at, lead)
    else:
        yield from _words(line, at, page, lead, ink)


def _words(line: str, at: int, page: Page, lead: tuple[Run, ...], ink: str) -> Iterator[Row]:
    """Inline Markdown, wrapped under its own beginning."""
    indent = _INDENT.match(line)
    depth = len(indent[0].expandtabs(4)) if indent else 0
    begin = indent.end() if indent else 0
    head: list[Run] = [(" " * depth, ink, at)] if depth else []
    hang = depth
    if found := _LIST.match(line):
        mark = found["mark"]
        head += [
            ("•" if mark in "-*+" else mark, "quiet", at + found.start("mark")),
            (" ", ink, at + found.start("gap")),
        ]
        hang, begin = depth + len(mark) + 1, found.end()
    inline = set_inline(line[begin:].replace("\t", " "), at + begin, ink)
    page.links += [(start + page.part, end + page.part, target) for start, end, target in inline.links]
    used = sum(len(run[0]) for run in lead)
    room = page.room - used
    hang = min(hang, room // 2)
    for i, runs in enumerate(wrap([*head, *inline.runs], room, hang)):
        pad: tuple[Run, ...] = ((" " * hang, ink, -1),) if i and hang else ()
        source = next((run[2] for run in runs if run[2] >= 0), at)
        yield page.row(runs, source, (*lead, *pad))


def _long_line(line: str, at: int, page: Page, lead: tuple[Run, ...] = ()) -> Iterator[Row]:
    """A line of any length, a piece at a time, nothing in it read as Markdown."""
    room = page.room - sum(len(run[0]) for run in lead)
    start = 0
    while True:
        piece = line[start : start + _LONG]
        rows = wrap(tabbed(piece, page.ink, at + start), room)
        last = start + _LONG >= len(line)
        for runs in rows if last or len(rows) == 1 else rows[:-1]:
            yield page.row(runs, runs[0][2] if runs else at + start, lead)
        if last:
            return
        start = rows[-1][0][2] - at if len(rows) > 1 else start + _LONG


def _code(lines: _Lines, fence: re.Match[str], page: Page) -> Iterator[Row]:
    """A fenced block: raised, its language at the right; what was never closed runs to the end."""
    lines.skip()
    indent, mark = len(fence["indent"].expandtabs(4)), fence["fence"]
    language = fence["info"].strip().partition(" ")[0]
    block, page.blocks = page.blocks, page.blocks + 1
    tag: tuple[Run, ...] = ((language[:20], "quiet", -1), (" ", "ink", -1)) if language else ()
    closed = False
    while lines.more and not closed:
        chunk: list[tuple[int, str]] = []
        size = 0
        while lines.more and len(chunk) < _CODE_LINES and size < _CODE_CHARS:
            line, at = lines.line, lines.at
            lines.skip()
            bare = line.strip()
            if bare.startswith(mark) and not bare.strip(mark[0]):
                closed = True
                break
            drop = min(indent, len(line) - len(line.lstrip(" ")))
            chunk.append((at + drop, line[drop:]))
            size += len(line) + 1
        for each in code_rows(chunk, language, page, block):
            yield (*each[:1], tag, *each[2:])
            tag = ()
    if tag:  # an empty block
        yield row((MARGIN,), page.part + fence.start(), right=tag, **_box(page, block))


def _box(page: Page, block: int) -> dict[str, Any]:
    raised = page.ground == "raised"
    return {"ground": "raised", "indent": 0 if raised else GUTTER - 1, "item": page.item, "block": block}


def code_rows(chunk: list[tuple[int, str]], language: str, page: Page, block: int) -> Iterator[Row]:
    """(offset, line) of code as raised rows; long lines are not broken but scroll."""
    if not chunk:
        return
    spans: Spans = []
    if sum(len(line) for _, line in chunk) <= 2 * _CODE_CHARS and (family_of(language) or not language):
        spans = colours("\n".join(line for _, line in chunk), language)
    for (at, line), own in zip(chunk, by_line([line for _, line in chunk], spans), strict=True):
        runs = page.runs(inked(line, at, own, "soft"))
        yield row((MARGIN, *runs), page.part + at, **_box(page, block))


def _table(lines: _Lines, page: Page) -> Iterator[Row]:
    """Heads, a rule, the body; rows beyond the first few hundred are measured by themselves."""
    head, at = lines.line, lines.at
    lines.skip()
    rule = lines.line
    lines.skip()
    block, page.blocks = page.blocks, page.blocks + 1
    more = True
    started = False
    while more:
        body: list[tuple[str, int]] = []
        while lines.more and len(body) < _TABLE_ROWS and "|" in lines.line and len(lines.line) <= _LONG:
            body.append((lines.line, lines.at))
            lines.skip()
        more = len(body) == _TABLE_ROWS
        table = measured((head, at), rule, body, page.ink)
        if not started:
            yield _table_row(table.head, table, at, page, block)
            wide = sum(table.widths) + len(GAP) * (len(table.widths) - 1)
            yield row(
                (MARGIN, ("─" * wide, "guide", -1)), page.part + at, ground=page.ground, item=page.item, block=block
            )
            started = True
        for cells, (_, where) in zip(table.body, body, strict=True):
            yield _table_row(cells, table, where, page, block)


def _table_row(cells: list[Inline], table: Table, at: int, page: Page, block: int) -> Row:
    for cell in cells:
        page.links += [(start + page.part, end + page.part, target) for start, end, target in cell.links]
    runs = page.runs(padded(cells, table))
    return row((MARGIN, *runs), page.part + at, ground=page.ground, item=page.item, block=block)


def code_blocks(text: str) -> list[str]:
    """The fenced blocks of a text, as they were written, without their fences."""
    lines = _Lines(text)
    found: list[str] = []
    while lines.more:
        fence = _FENCE.fullmatch(lines.line)
        lines.skip()
        if fence is None:
            continue
        indent, mark = len(fence["indent"].expandtabs(4)), fence["fence"]
        code: list[str] = []
        while lines.more:
            line = lines.line
            lines.skip()
            bare = line.strip()
            if bare.startswith(mark) and not bare.strip(mark[0]):
                break
            code.append(line[min(indent, len(line) - len(line.lstrip(" "))) :])
        found.append("\n".join(code))
    return found
