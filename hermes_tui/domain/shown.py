"""Names as the program shows them: who a conversation is with, what was said first, a title cut or in another case.
Asked only where a name answers to nothing as an id or a title. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from hermes_tui.domain.families import Catalogue, Chain
from hermes_tui.domain.links import Link
from hermes_tui.domain.names import named
from hermes_tui.domain.sessions import Segment
from hermes_tui.domain.targets import AS_SHOWN, QUOTES, Named, by_title, only, readings, unquoted
from hermes_tui.text import one_line
from hermes_tui.values import NamedTuple

_CUT = ("…", "~")
"""What stands at the end of a name that was cut, and its letter."""

Said = Mapping[str, str | None]
"""Root id → the first thing the person said, as short as it is shown; of conversations that have no other name."""


class _Wanted(NamedTuple):
    """A name as typed."""

    name: str
    anchor: int | None = None
    segments: int | None = None
    """How many the conversation has, where the name says so."""
    cut: bool = False
    """Whether it is only the beginning of the name."""


class _Name(NamedTuple):
    """A name under which a chain may be shown."""

    name: str
    chain: Chain
    title: str | None
    """The stored title that it is or stands for; None for what a row of the list shows."""
    own: bool = False
    """Whether a chain without any title is shown so."""

    def fits(self, wanted: _Wanted) -> bool:
        if wanted.segments not in (None, len(self.chain.segments)):
            return False
        return self.title is None if wanted.cut else self.title is not None or self.own


def nameless(catalogue: Catalogue) -> list[Chain]:
    """Conversations and runs that are called by what was said first."""
    return [chain for chain in catalogue.all_chains() if not _called(chain)]


def shown_as(catalogues: Sequence[tuple[Catalogue, Said]], link: Link) -> Named | None:
    """The one session that is shown under this name; where there is none, the one that would be but for case.
    Raises `TargetAmbiguous`."""
    every = [(catalogue, list(_names(catalogue, said))) for catalogue, said in catalogues]
    for fold in (str, str.casefold):
        by_name = [(catalogue, _by_name(names, fold)) for catalogue, names in every]
        for wanted in _wanted(link, fold):
            found: dict[tuple[str, str], Named] = {}
            for catalogue, names in by_name:
                for segment in _meant(catalogue, names, wanted):
                    found[catalogue.profile, segment.id] = Named(catalogue, segment, wanted.anchor)
            if found:
                return only(link.id, list(found.values()))
    return None


def _wanted(link: Link, fold: Callable[[str], str]) -> Iterator[_Wanted]:
    for name, anchor in readings(link):
        name = fold(one_line(name))
        yield _Wanted(name, anchor)
        if (row := AS_SHOWN.match(name)) is not None:
            yield _Wanted(row["title"].strip(QUOTES), anchor, int(row["segments"]))
    said, row = one_line(link.id), AS_SHOWN.match(one_line(link.id))
    for each, segments in ((said, None), *(((row["title"], int(row["segments"])),) if row is not None else ())):
        if each.endswith(_CUT):
            for name in filter(None, dict.fromkeys(unquoted(each[:-1].strip(), cut=True))):
                yield _Wanted(fold(name), link.anchor, segments, cut=True)


def _called(chain: Chain) -> str:
    """The title of a conversation, else what the platform calls it."""
    return named(chain.tip.title or chain.root.title, chain.tip.display_name, len(chain.segments))


def _names(catalogue: Catalogue, said: Said) -> Iterator[_Name]:
    for chain in catalogue.all_chains():
        titles = {each for segment in chain.segments if segment.title for each in _readable(segment.title)}
        yield from (_Name(one_line(title), chain, title) for title in titles)
        if shown := _called(chain) or one_line(said.get(chain.root.id) or ""):
            yield _Name(shown, chain, None, own=not titles)


def _readable(title: str) -> Iterable[str]:
    """A title, and the one that it numbers."""
    base, sign, number = title.rpartition(" #")
    return (title, base) if sign and base and number.isdecimal() else (title,)


def _by_name(names: Iterable[_Name], fold: Callable[[str], str]) -> dict[str, list[_Name]]:
    found: dict[str, list[_Name]] = {}
    for each in names:
        found.setdefault(fold(each.name), []).append(each)
    return found


def _meant(catalogue: Catalogue, names: Mapping[str, list[_Name]], wanted: _Wanted) -> Iterator[Segment]:
    if wanted.cut:
        yield from catalogue.called(wanted.name)
    begun = (each for shown, some in names.items() if shown.startswith(wanted.name) for each in some)
    for each in begun if wanted.cut else names.get(wanted.name, ()):
        if each.fits(wanted):
            yield from (each.chain.tip,) if each.title is None else by_title(catalogue, each.title)
