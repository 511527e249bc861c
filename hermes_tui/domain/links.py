"""`@session:` links: reading them in all their forms, writing them in one (FACTS 2)."""

from __future__ import annotations

import re

from hermes_tui.values import dataclass

PREFIX = "@session:"
_TOKEN = r"""(?<![A-Za-z0-9_/])(?<!\]\()@session:(`[^`]+`|"[^"]+"|'[^']+'|\S+)"""
TRAILING = ",.;:!?)]}…，。、；：！？）】》」』\u200b\u200c\u200d\u2060\ufeff"
"""What a sentence puts behind a link; also what does not show."""
_QUOTES = "`\"'"
_ANCHOR = r"(?s)\A(?P<rest>.*[^/])#(?P<anchor>0|[1-9][0-9]{0,17})\Z"
"""As a message id is written, so that nothing is lost when the two are put together again."""


@dataclass(frozen=True, slots=True)
class Link:
    """A reference to a session. `profile` None: the present one."""

    profile: str | None
    id: str
    anchor: int | None = None
    """Message id."""

    @property
    def whole(self) -> str:
        """Id and anchor as they were written: a title, and even an id, may end like an anchor."""
        return self.id if self.anchor is None else f"{self.id}#{self.anchor}"

    def __str__(self) -> str:
        return PREFIX + (self.whole if self.profile in (None, "custom") else f"{self.profile}/{self.whole}")


@dataclass(frozen=True, slots=True)
class FoundLink:
    """A link inside a longer text, and where it stands."""

    link: Link
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """One of several sessions that an ambiguous name could mean."""

    profile: str
    id: str
    title: str | None
    name: str | None = None
    """What it is called where people see it."""
    last_active: float | None = None
    source: str = ""

    @property
    def link(self) -> str:
        return str(Link(self.profile, self.id))


def link_to(profile: str, session_id: str, anchor: int | None = None) -> str:
    """The link that opens this session."""
    return str(Link(profile, session_id, anchor))


def _read(value: str, *, quoted: bool) -> Link | None:
    if not quoted:
        value = value.rstrip(TRAILING)
    value = value.strip()
    anchor = None
    if found := re.match(_ANCHOR, value):
        value, anchor = found["rest"], int(found["anchor"])
    profile, slash, rest = value.partition("/")
    if slash and rest:
        return Link(profile, rest, anchor)
    return Link(None, value, anchor) if value else None


def parse_link(text: str) -> Link | None:
    """The one link that `text` is, surrounding quotes and punctuation dropped; None when it is something else.

    An empty suffix (`@session:`) is a link to nothing: `Link(None, "")`, so that the caller can say so.
    """
    text = text.strip().lstrip("([{<" + _QUOTES)
    if not text.startswith(PREFIX):
        return None
    value = text[len(PREFIX) :]
    end = value.find(value[0], 1) if value[:1] and value[0] in _QUOTES else -1
    if end > 1 and not value[end + 1 :].strip(TRAILING + _QUOTES + ">"):
        return _read(value[1:end], quoted=True) or Link(None, "")
    return _read(value.rstrip(TRAILING + _QUOTES + ">"), quoted=False) or Link(None, "")


def only_link(text: str) -> Link | None:
    """The link that `text` is and nothing else, in any form in which one is pasted; None for a link among other
    words. Words after an unquoted link are no part of it, as they are none inside a message."""
    text = text.strip()
    link = parse_link(text)
    if link is None:
        found = find_links(text)
        alone = len(found) == 1 and not any(map(str.isalnum, text[: found[0].start] + text[found[0].end :]))
        return found[0].link if alone else None
    value = text[text.index(PREFIX) + len(PREFIX) :]
    quoted = text[0] in _QUOTES or value[:1] in tuple(_QUOTES)
    return link if quoted or not any(map(str.isspace, link.id)) else None


def find_links(text: str) -> list[FoundLink]:
    """Every link inside `text`, in order."""
    found = []
    for token in re.finditer(_TOKEN, text):
        value = token[1]
        quoted = value[0] in "`\"'" and len(value) > 2 and value[-1] == value[0]
        bare = value.rstrip(TRAILING + _QUOTES)
        link = _read(value[1:-1], quoted=True) if quoted else _read(bare, quoted=False)
        if link is not None:
            end = token.end() if quoted else token.start(1) + len(bare)
            found.append(FoundLink(link, token.start(), end))
    return found


@dataclass(frozen=True, slots=True)
class Target:
    """What a name turned out to mean."""

    profile: str
    session_id: str
    """The session asked for; may be any segment, or a delegate's run."""
    root_id: str
    """Root of the conversation that holds it (of the run itself, for a delegate's)."""
    anchor: int | None = None
    """Message to open at."""
    notice: str | None = None
    """What should be said: the anchor lies in another session of the family, or does not exist."""
