"""The words of "find in this conversation": what is looked for, and what is lit."""

from __future__ import annotations

import re

_PIECE = re.compile(r'"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+)')


def parse_find(words: str) -> tuple[str, ...]:
    """The words and `"phrases"` that a message must all contain; an open quote reaches to the end."""
    found = []
    for piece in _PIECE.finditer(words):
        text = piece["word"] if piece["phrase"] is None else " ".join(piece["phrase"].split())
        if text and text not in found:
            found.append(text)
    return tuple(found)


def find_pattern(needle: str) -> re.Pattern[str]:
    """Where `needle` stands in a text: without case, inside words, any white space for a blank."""
    return re.compile(r"\s+".join(re.escape(part) for part in needle.split()), re.IGNORECASE)
