"""Colours of code and diffs: a light reading of many languages, four inks. It is no parser, and need not be one:
what a reader looks for is where strings, comments, numbers and keywords are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from hermes_tui.widgets.transcript.languages import LANGUAGES, WORDS

Spans = list[tuple[int, int, str]]
"""(start, end, ink) within the code, sorted and apart."""

_DIFFS = frozenset({"diff", "patch", "udiff"})
_HASH_NOTES = frozenset({"python", "shell", "ruby", "data"})
_DASH_NOTES = frozenset({"sql", "lua", "haskell"})
_QUOTED = {  # none of these can fail once begun: what is never closed ends with its line, or with the code
    "double": r'"(?:[^"\\\n]|\\.)*+"?',
    "single": r"(?<!\w)[rbfuRBFU]{0,2}'(?:[^'\\\n]|\\.)*+'?",
    "back": r"`(?:[^`\\]|\\.)*+`?",
    "triple": r"\"\"\"[\s\S]*?(?:\"\"\"|\Z)|'''[\s\S]*?(?:'''|\Z)",
}
_NUMBER = r"\b(?:0[xob][\da-f_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:e[+-]?\d+)?)[a-z%]{0,3}\b"
_INKS = {"note": "code-note", "name": "soft", "text": "code-text", "word": "strong", "number": "code-number"}


@cache
def _pattern(family: str) -> re.Pattern[str]:
    """One pattern per family: comments, strings, keywords, numbers, in this order at each place."""
    if family in _HASH_NOTES:
        note = r"(?:(?<=\s)|^)#[^\n]*" if family != "data" else r"(?:(?<=\s)|^)[#;][^\n]*"
    elif family in _DASH_NOTES:
        note = r"--[^\n]*"
    else:
        note = r"//[^\n]*"
    if family in ("c", "rust", "go", "sql"):
        note += r"|/\*[\s\S]*?(?:\*/|\Z)"
    strings = [_QUOTED["triple"]] if family == "python" else []
    names = r'"[^"\\\n]{0,200}"(?=\s{0,4}:)' if family == "data" else "(?!)"
    strings.append(_QUOTED["double"])
    if family == "rust":
        strings.append(r"'(?:[^'\\\n]|\\.)'")  # a lone ' is a lifetime
    elif family != "haskell":
        strings.append(_QUOTED["single"])
    if family in ("c", "go"):
        strings.append(_QUOTED["back"])
    words = "|".join(sorted(WORDS[family].split(), key=len, reverse=True))
    flags = re.MULTILINE | (re.IGNORECASE if family == "sql" else 0)
    return re.compile(
        f"(?P<note>{note})|(?P<name>{names})|(?P<text>{'|'.join(strings)})|(?P<word>\\b(?:{words})\\b)|(?P<number>{_NUMBER})",
        flags,
    )


def family_of(language: str) -> str | None:
    """What a fence's first word or a file's ending names; None for what is not known."""
    name = language.strip().lower().lstrip(".{").partition(" ")[0].rstrip("}")
    return "diff" if name in _DIFFS else LANGUAGES.get(name)


def colours(code: str, language: str) -> Spans:
    """What stands out in `code`."""
    family = family_of(language)
    if family is None:
        return diff_colours(code) if looks_like_diff(code) else []
    if family == "diff":
        return diff_colours(code)
    return [(*found.span(), _INKS[found.lastgroup or ""]) for found in _pattern(family).finditer(code)]


def by_line(lines: Sequence[str], spans: Sequence[tuple[int, int, str]]) -> Iterator[Spans]:
    """The spans of a text for each of its lines, offsets in the line."""
    begin = first = 0
    for line in lines:
        end = begin + len(line)
        while first < len(spans) and spans[first][1] <= begin:
            first += 1
        own: Spans = []
        i = first
        while i < len(spans) and spans[i][0] < end:
            own.append((max(0, spans[i][0] - begin), min(len(line), spans[i][1] - begin), spans[i][2]))
            i += 1
        yield own
        begin = end + 1


_DIFF_HEAD = re.compile(r"^(?:diff --git |@@ -\d+|--- \S.{0,300}\n\+\+\+ )", re.MULTILINE)
_DIFF_LINE = re.compile(
    r"^(?:(?P<head>diff --git |index |--- |\+\+\+ )|(?P<at>@@ )|(?P<new>\+)|(?P<old>-)).*$", re.MULTILINE
)
_DIFF_INKS = {"head": "strong", "at": "aside", "new": "good", "old": "bad"}


def looks_like_diff(text: str) -> bool:
    """Whether the beginning of a text is a patch that nobody named so."""
    return bool(_DIFF_HEAD.search(text[:4000]))


def diff_colours(text: str) -> Spans:
    """Added lines good, removed ones bad."""
    return [(*found.span(), _DIFF_INKS[found.lastgroup or ""]) for found in _DIFF_LINE.finditer(text)]
