"""Markdown inside a line: code, strong, emphasis, links. One pass over bounded patterns, so hostile text is no
slower than any other."""

from __future__ import annotations

import re

from hermes_tui.domain.links import find_links
from hermes_tui.values import dataclass, field
from hermes_tui.widgets.transcript.rows import Run, overlay

_SPECIAL = re.compile(r"[\\`*_~<\[]|://|@session:|;base64,")
_TOKEN = re.compile(
    r"(?P<escape>\\[*_~`|#<>])"
    r"|(?P<code>``(?:[^`]|`(?!`)){1,999}``|`[^`]{1,999}`)"
    r"|(?P<data>data:[\w/+.-]{1,60};base64,[\w+/=-]*)"
    r"|!?\[(?P<label>[^\[\]]{0,500})\]\((?P<href>[^()\s]{0,1900}(?:\([^()\s]{0,400}\)[^()\s]{0,400})?)"
    r"(?:[ ]{1,4}\"[^\"]{0,300}\")?\)"
    r"|<(?P<auto>(?:https?|file)://[^\s<>]{1,1900})>"
    r"|(?P<url>(?:https?|file)://[^\s<>\"`]{1,1900})"
    r"|(?P<mark>\*{1,3}|~~|_{1,2})"
)
_AFTER_URL = ".,;:!?'*_>"
_CLOSING = {")": "(", "]": "[", "}": "{"}
"""Brackets that belong to an address when it opens them itself."""
_EFFECTS = {"*": "i", "_": "i", "**": "b", "__": "b", "***": "bi", "~~": "s"}


@dataclass(slots=True)
class Inline:
    """A line, set: its runs, and the links in it."""

    runs: list[Run] = field(default_factory=list)
    links: list[tuple[int, int, str]] = field(default_factory=list)
    """(start, end, where to), offsets in the source."""


@dataclass(slots=True)
class _Mark:
    """A run of `*`, `_` or `~` that may open or close something; literal until it finds its partner."""

    index: int
    """Of its run."""
    text: str
    opens: bool
    closes: bool


def _word(char: str) -> bool:
    return char.isalnum() or char == "_"


class _Setter:
    """Sets one line."""

    def __init__(self, line: str, at: int, ink: str) -> None:
        self.line, self.at, self.ink = line, at, ink
        self.out = Inline()
        self.marks: list[_Mark] = []

    def plain(self, start: int, end: int, ink: str = "") -> None:
        if end > start:
            self.out.runs.append((self.line[start:end], ink or self.ink, self.at + start))

    def ours(self, text: str) -> None:
        """Words that stand for something that is not shown."""
        self.out.runs.append((text, "quiet", -1))

    def set(self) -> Inline:
        at = 0
        for token in _TOKEN.finditer(self.line):
            start, end = token.span()
            self.plain(at, start)
            at = end
            kind = token.lastgroup
            if kind == "escape":
                self.plain(start + 1, end)
            elif kind == "code":
                ticks = 2 if token[0].startswith("``") else 1
                self.plain(start + ticks, end - ticks, "code")
            elif kind == "data":
                self.ours("[data]")
            elif kind == "mark":
                self.mark(start, end)
            elif kind == "auto":
                self.link(start + 1, end - 1, token["auto"])
            elif kind == "url":
                at = self.url(start, end)
            else:
                self.labelled(token)
        self.plain(at, len(self.line))
        self._emphasise()
        return self.out

    def link(self, start: int, end: int, target: str) -> None:
        self.plain(start, end, marked(self.ink, "u"))
        self.out.links.append((self.at + start, self.at + end, target))

    def url(self, start: int, end: int) -> int:
        """A bare address: what punctuates the sentence is not part of it."""
        while end > start:
            last = self.line[end - 1]
            opening = _CLOSING.get(last)
            unopened = opening and self.line.count(opening, start, end) < self.line.count(last, start, end)
            if last in _AFTER_URL or unopened:
                end -= 1
            else:
                break
        self.link(start, end, self.line[start:end])
        return end

    def labelled(self, token: re.Match[str]) -> None:
        """`[label](where)`: the label, and where it leads when that cannot be opened from here."""
        label, href = token["label"], token["href"]
        start, end = token.span("label")
        image = token[0].startswith("!")
        data = href.startswith("data:")
        if image:
            self.ours("[image: " if label else "[image")
        follows = href.startswith(("http://", "https://", "file://", "@session:"))
        if follows and label.strip():
            self.link(start, end, href)
        elif follows and not image:
            self.link(*token.span("href"), href)
        else:
            self.plain(start, end)
            if href and not data:
                self.ours(" (")
                self.plain(*token.span("href"), "quiet")
                self.ours(")")
        if image:
            self.ours("]")

    def mark(self, start: int, end: int) -> None:
        text = self.line[start:end]
        before = self.line[start - 1] if start else " "
        after = self.line[end] if end < len(self.line) else " "
        opens, closes = not after.isspace(), not before.isspace()
        if text[0] == "_" or (before + after).isascii():  # inside a word it is a letter: 2*3, x**2, snake_case
            inside = _word(before) and _word(after)
            single = len(text) == 1 or text[0] == "_"
            opens = opens and not (inside or (single and _word(before)))
            closes = closes and not (inside or (single and _word(after)))
        self.marks.append(_Mark(len(self.out.runs), text, opens, closes))
        self.out.runs.append((text, self.ink, self.at + start))

    def _emphasise(self) -> None:
        """Pair the marks, innermost first; those left over stay as they were typed."""
        open_: list[_Mark] = []
        waiting: dict[str, int] = {}
        effects: list[tuple[int, int, str]] = []
        for mark in self.marks:
            if mark.closes and waiting.get(mark.text):
                while True:
                    partner = open_.pop()
                    waiting[partner.text] -= 1
                    if partner.text == mark.text:
                        break
                if partner.index + 1 < mark.index and not self._dunder(partner, mark):
                    effects.append((partner.index, mark.index, _EFFECTS[mark.text]))
            elif mark.opens:
                open_.append(mark)
                waiting[mark.text] = waiting.get(mark.text, 0) + 1
        if effects:
            self._apply(effects)

    def _dunder(self, partner: _Mark, mark: _Mark) -> bool:
        """`__init__` is a name."""
        alone = mark.text == "__" and mark.index == partner.index + 2
        return alone and self.out.runs[partner.index + 1][0].isidentifier()

    def _apply(self, effects: list[tuple[int, int, str]]) -> None:
        runs = self.out.runs
        changes: dict[int, list[tuple[int, str]]] = {}
        for start, end, effect in effects:
            changes.setdefault(start, []).append((1, effect))
            changes.setdefault(end, []).append((-1, effect))
        depth = {"b": 0, "i": 0, "s": 0}
        out: list[Run] = []
        for i, (text, ink, source) in enumerate(runs):
            if i in changes:
                for step, effect in changes[i]:
                    for each in effect:
                        depth[each] += step
                continue
            marks = "".join(each for each, n in depth.items() if n)
            out.append((text, _emphasised(ink, marks), source))
        self.out.runs = out


def _emphasised(ink: str, marks: str) -> str:
    """Bold words of prose stand out by their colour."""
    return "strong" if ink == "soft" and marks == "b" else marked(ink, marks)


def marked(ink: str, marks: str) -> str:
    """This ink with these marks, beside those that it has: a link in a quote has both."""
    if not marks:
        return ink
    base, _, own = ink.partition("+")
    return f"{base}+{own}{marks}"


def set_inline(line: str, at: int, ink: str) -> Inline:
    """One line of Markdown as runs in `ink`; `at` is where the line begins in its source."""
    if not _SPECIAL.search(line):
        return Inline([(line, ink, at)] if line else [])
    found = _Setter(line, at, ink).set()
    if "@session:" in line:
        for each in find_links(line):
            span = (at + each.start, at + each.end)
            if not any(start < span[1] and span[0] < end for start, end, _ in found.links):
                found.runs = overlay(found.runs, [span], marked(ink, "u"))
                found.links.append((*span, str(each.link)))
        found.links.sort()
    return found
