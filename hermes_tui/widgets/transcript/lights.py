"""Words to find: which places of a text they cover, however long it is."""

from __future__ import annotations

import re

from hermes_tui.widgets.transcript.rows import Span

_QUOTED = re.compile(r'"([^"]+)"|(\S+)')
_WINDOW = 65_536
_OVERLAP = 512
_MOST = 100


def words_of(text: str) -> list[str]:
    """Words and `"quoted phrases"` of what was typed, without empty ones; an unfinished quote is a word's."""
    found = [(phrase or word).strip() for phrase, word in _QUOTED.findall(text)]
    return [word for word in (each.strip('"').strip() for each in found) if word][:_MOST]


def pattern_of(text: str) -> re.Pattern[str] | None:
    """What lights these words up, also inside other words; None when there are none."""
    words = sorted(set(words_of(text)), key=len, reverse=True)
    if not words:
        return None
    forms = (r"\s{1,8}".join(re.escape(part) for part in word.split()) for word in words)
    return re.compile("|".join(forms), re.IGNORECASE)


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
