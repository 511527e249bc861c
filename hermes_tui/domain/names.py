"""What a conversation is called where people see it (SPEC 2): its title, else who it is with, else what was said
first. Pure."""

from __future__ import annotations

import re

from hermes_tui.text import one_line

_NUMBER = r"(?s)(?P<title>.*\S) #(?P<number>[2-9]|[1-9]\d{1,5})\Z"


def plain_title(title: str, segments: int, longest: int | None = None) -> str:
    """A title made safe, without the ` #N` that only counts the segments of a conversation."""
    found = re.fullmatch(_NUMBER, title) if segments > 1 else None
    counts = found is not None and int(found["number"]) <= segments
    return one_line(found["title"] if found is not None and counts else title, longest)


def named(title: str | None, display_name: str | None, segments: int, longest: int | None = None) -> str:
    """Its title, else what the platform calls it; empty where it has neither."""
    return plain_title(title or "", segments, longest) or one_line(display_name or "", longest)
