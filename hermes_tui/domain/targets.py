"""What a name means: id, unique id prefix, exact title, `latest`. Pure, over the catalogues of the stores.

The order in which a name is tried: whole id, title (where the newest `T #N` stands for `T`, as in Hermes),
beginning of an id, title with the number of segments that the list shows beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hermes_tui.domain.families import Catalogue
from hermes_tui.domain.links import PREFIX, TRAILING, Candidate, Link, find_links, parse_link
from hermes_tui.domain.sessions import Segment
from hermes_tui.domain.titles import plain_words
from hermes_tui.errors import TargetAmbiguous, TargetNotFound
from hermes_tui.text import count, one_line
from hermes_tui.values import dataclass

LATEST = "latest"
_ANCHORED = re.compile(r"\A(?P<name>.*\S)#(?P<anchor>\d{1,18})\Z", re.DOTALL)
_NUMBER = re.compile(r" #\d+")
AS_SHOWN = re.compile(r"\A(?P<title>.*\S) [§x](?P<segments>\d{1,6})\Z", re.DOTALL)
QUOTES = "`\"'“”‘’«»*"
_STOPS = TRAILING
_BOT_CHAT = "Bot Chat"
"""Its exact title is its identity: no numbered title stands for it."""


@dataclass(frozen=True, slots=True)
class Named:
    """A session that answers to a name, and the place in it that was asked for."""

    catalogue: Catalogue
    segment: Segment
    anchor: int | None = None

    @property
    def profile(self) -> str:
        return self.catalogue.profile


def read_name(text: str) -> Link:
    """What was typed or pasted, as profile, name and anchor: a link in any form, or a plain name.

    A plain name has no profile and keeps its `#N`, which may be part of a title. Raises `TargetNotFound`
    for a name or a link of nothing.
    """
    link = _with_stops(text, parse_link(text))
    if link is None and len(found := find_links(text)) == 1:
        link = found[0].link
    if link is None:
        link = Link(None, text.strip())
    if not link.id:
        raise TargetNotFound("The link names no session." if PREFIX in text else "Nothing was named.")
    return link


def _with_stops(text: str, link: Link | None) -> Link | None:
    """The same with the stops behind it: an id may end in some, and a link is written without quotes."""
    value = text.strip()
    bare = value.rstrip(_STOPS)
    if link is None or bare == value or str(link) != bare or link.id.lower() == LATEST:
        return link
    return Link(link.profile, link.whole + value[len(bare) :])


def beginnings(link: Link) -> set[str]:
    """With one of these begins the id or the title of whatever answers to a name."""
    row = AS_SHOWN.match(link.id.strip(QUOTES).strip())
    return {link.whole, *(name for name, _ in readings(link)), *((row["title"],) if row is not None else ())}


def resolve(catalogues: Sequence[Catalogue], link: Link) -> Named:
    """The session that `link` names among these stores. Raises `TargetNotFound`, `TargetAmbiguous`."""
    whole = [] if link.anchor is None else [(link.whole, None, (_by_id, by_title))]
    exact = [(name, anchor, (_by_id, by_title)) for name, anchor in readings(link)]
    begun = [(name, anchor, (Catalogue.called,)) for name, anchor in readings(link)]
    for name, anchor, rules in (*whole, *exact, *begun):
        for rule in rules:
            found = [
                Named(catalogue, segment, anchor) for catalogue in catalogues for segment in rule(catalogue, name)
            ]
            if found:
                return only(name, found)
    if len(found := [Named(catalogue, segment) for catalogue in catalogues for segment in _by_row(catalogue, link)]):
        return only(link.id, found)
    lost = sum(catalogue.damaged for catalogue in catalogues)
    unread = f" {count(lost, 'session')} cannot be read: the database is damaged." if lost else ""
    raise TargetNotFound(
        f"No session answers to {quoted(link.id)}: it is no id, no beginning of one and no exact title.{unread}"
    )


def near(catalogues: Sequence[Catalogue], name: str) -> list[Candidate]:
    """Conversations in one of whose titles all words of this name occur, or begin a word; newest first. For a name
    that nothing answers to: it was probably half a title."""
    wanted = plain_words(name)
    found: list[Named] = []
    for catalogue in catalogues if wanted else ():
        for chain in catalogue.all_chains():
            titles = (segment.title or segment.display_name for segment in chain.segments)
            if any(_holds(wanted, plain_words(title)) for title in titles if title):
                found.append(Named(catalogue, chain.tip))
    return _candidates(found)


def _holds(wanted: Sequence[str], words: Sequence[str]) -> bool:
    return all(any(word.startswith(each) for word in words) for each in wanted)


def unquoted(name: str, *, cut: bool = False) -> tuple[str, str, str]:
    """As it stands, without one pair of quotes, for it may have some of its own, and without all. `cut`: its end is
    gone, and the quotes there with it."""
    paired = name[:1] in QUOTES and (cut or name[-1:] in QUOTES)
    inner = name[1 : None if cut else -1].strip() if paired else name
    return name, inner, name.strip(QUOTES).strip()


def readings(link: Link) -> Iterator[tuple[str, int | None]]:
    """As it stands; without the quotes and stops that a paste brings along; with a message id at its end."""
    names = [name for name in dict.fromkeys((link.id, *unquoted(link.id.rstrip(_STOPS)))) if name]
    for name in names:
        yield name, link.anchor
    if link.anchor is None:
        for name in names:
            if anchored := _ANCHORED.match(name):
                yield anchored["name"].strip(QUOTES), int(anchored["anchor"])


def _by_id(catalogue: Catalogue, name: str) -> list[Segment]:
    chain = catalogue.chains.get(name)
    return [] if chain is None else [segment for segment in chain.segments if segment.id == name]


def by_title(catalogue: Catalogue, name: str) -> list[Segment]:
    """Of one store at most one, unless the store itself holds the title twice."""
    exact: list[Segment] = []
    numbered: list[Segment] = []
    for segment in catalogue.titled(name):
        if segment.title == name:
            exact.append(segment)
        elif segment.title is not None and _NUMBER.fullmatch(segment.title, len(name)):
            numbered.append(segment)
    if numbered and not (exact and name == _BOT_CHAT):
        return [max(numbered, key=lambda segment: (segment.started_at or 0.0, segment.id))]
    return exact


def _by_row(catalogue: Catalogue, link: Link) -> list[Segment]:
    """A title as a row of the list shows it, followed by how many segments the conversation has."""
    row = AS_SHOWN.match(link.id.strip(QUOTES).strip())
    found = by_title(catalogue, row["title"]) if row is not None else []
    return [each for each in found if row and len(catalogue.chains[each.id].segments) == int(row["segments"])]


def quoted(name: str) -> str:
    """A name as typed, for a sentence; one that was pasted with its quotes gets no others."""
    shown = one_line(name, 80)
    return shown if len(shown) > 1 and shown[0] in QUOTES and shown[-1] in QUOTES else f"“{shown}”"


def only(name: str, found: list[Named]) -> Named:
    """The one session found. Raises `TargetAmbiguous` for several."""
    if len(found) == 1:
        return found[0]
    raise TargetAmbiguous(f"{quoted(name)} could mean {len(found):,} sessions.", _candidates(found))


def _candidates(found: Sequence[Named]) -> list[Candidate]:
    ordered = sorted(found, key=lambda each: (-(each.segment.last_active or 0.0), each.segment.id))
    return [_candidate(each) for each in ordered]


def _candidate(named: Named) -> Candidate:
    segment, chain = named.segment, named.catalogue.chains[named.segment.id]
    title = segment.title or chain.tip.title or chain.root.title
    name = title or chain.tip.display_name
    return Candidate(named.profile, segment.id, title, name, segment.last_active, segment.source)


def latest(catalogues: Sequence[Catalogue]) -> Named:
    """The tip of the conversation that stands first in a list: the newest that is not left out."""
    newest = None
    for catalogue in catalogues:
        for each in catalogue.conversations:
            if each.hidden_reason is None and each.last_active is not None:
                order = (-each.last_active, each.id)
                if newest is None or order < newest[0]:
                    newest = (order, catalogue, each)
    if newest is None:
        raise TargetNotFound("There is no conversation yet that could be the latest.")
    _, catalogue, found = newest
    return Named(catalogue, catalogue.chains[found.id].tip)
