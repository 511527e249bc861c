"""Where the words of a query stand in a text, so that they can be lit."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hermes_tui.domain.queries import Hit
from hermes_tui.widgets.ink import Part

_LETTER = r"(?=[^\W_])(?-i:[\0-\u2e7f])"
"""A letter or digit of a script that writes words apart: what a whole word must not be followed by. The range must
not ignore case: it would hold what it excludes, and compiling it would take a third of a key press."""
_MOST = 200
"""Forms that a pattern holds at most: a pasted page of words need not all be lit."""


class Lights:
    """The forms that matched, ready to be found again in other texts."""

    def __init__(self, words: Iterable[str], hit: Hit | None = None) -> None:
        """`words` of the query; `hit` shows what they matched in fact: `deploy*` matched `deployed`."""
        forms = {word.casefold().strip(): None for word in words}
        for match in hit.matches if hit else ():
            forms |= {match.snippet[start:end].casefold(): None for start, end in match.spans}
        chosen = sorted((form for form in list(forms)[:_MOST] if form), key=len, reverse=True)
        self.forms = tuple(chosen)
        self._inside = re.compile("|".join(re.escape(form) for form in chosen), re.IGNORECASE) if chosen else None
        whole = "|".join(_bounded(form) for form in chosen)
        self._whole = re.compile(whole, re.IGNORECASE) if chosen else None

    def spans(self, text: str, *, surely: bool = False) -> list[tuple[int, int]]:
        """Whole words; where there are none and one is there `surely`, parts of words too."""
        if self._whole is None or self._inside is None:
            return []
        found = [each.span() for each in self._whole.finditer(text)]
        return found or ([each.span() for each in self._inside.finditer(text)] if surely else [])

    def parts(self, text: str, ink: str, lit: str = "match", *, surely: bool = False) -> list[Part]:
        """The text, safe already, with its matches in another ink."""
        parts: list[Part] = []
        at = 0
        for start, end in self.spans(text, surely=surely):
            parts += [(text[at:start], ink), (text[start:end], lit)]
            at = end
        parts.append((text[at:], ink))
        return [part for part in parts if part[0]]


def _bounded(form: str) -> str:
    before = f"(?<!{_LETTER})" if re.match(_LETTER, form[0]) else ""
    after = f"(?!{_LETTER})" if re.match(_LETTER, form[-1]) else ""
    return f"{before}{re.escape(form)}{after}"
