"""Words to find: which places of a text they cover, however long it is."""

from __future__ import annotations

import re

from hermes_tui.domain.finds import find_pattern, parse_find
from hermes_tui.widgets.transcript.rows import Span

_WINDOW = 65_536
_OVERLAP = 512
_MOST = 100
"""Words that are lit: a pasted page need not all be."""


def needles(words: str) -> list[str]:
    """The words and `"phrases"` that are looked for, the longest first."""
    return sorted(parse_find(words)[:_MOST], key=len, reverse=True)


def pattern_of(words: str) -> re.Pattern[str] | None:
    """What lights them up, also inside other words; None for none."""
    wanted = needles(words)
    return re.compile("|".join(find_pattern(each).pattern for each in wanted), re.IGNORECASE) if wanted else None


class Lights:
    """The places of one text that a pattern covers, found as far as somebody reads."""

    def __init__(self, pattern: re.Pattern[str], text: str) -> None:
        self._pattern, self._text = pattern, text
        self._done = 0
        self.spans: list[Span] = []

    def up_to(self, offset: int) -> list[Span]:
        """Spans, sorted and apart, complete at least up to this offset."""
        while self._done < min(offset + _OVERLAP, len(self._text)):
            end = min(self._done + _WINDOW, len(self._text))
            start = max(0, self._done - _OVERLAP)
            last = self.spans[-1][1] if self.spans else 0
            for found in self._pattern.finditer(self._text, max(start, last), end):
                self.spans.append(found.span())
            self._done = end
        return self.spans
