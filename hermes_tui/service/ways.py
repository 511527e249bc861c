"""Ways out of finding nothing: the same question, less strict, and what it would find."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hermes_tui.domain.profiles import StoreRef
from hermes_tui.domain.queries import SearchQuery, WayOut
from hermes_tui.domain.querytext import ParsedQuery, Piece, parse_query
from hermes_tui.domain.sessions import UNASKED_SOURCES
from hermes_tui.errors import BadQuery
from hermes_tui.service.completing import sources
from hermes_tui.service.reader import Reader
from hermes_tui.service.searching import CatalogueOf, count_matches
from hermes_tui.times import now
from hermes_tui.values import replace

_MOST = 8
"""Ways that are tried."""
_SECONDS = 5.0
"""A way that takes longer than this to count is not offered."""
_SOURCE = "source"


async def ways_out(
    reader: Reader, stores: Sequence[StoreRef], catalogue_of: CatalogueOf, query: SearchQuery
) -> tuple[WayOut, ...]:
    """Less strict forms of a query, those that find most first; only such as find something. Raises `BadQuery`."""
    parsed = parse_query(query.text, present=now())
    found: list[WayOut] = []
    meant = await _meant_sources(stores, catalogue_of, parsed) if _SOURCE in parsed.filters.wanted else ()
    for label, text in [*meant, *_variants(parsed)][:_MOST]:
        try:
            counting = count_matches(reader, stores, catalogue_of, replace(query, text=text))
            total, matches = await reader.within(_SECONDS, counting)
        except (BadQuery, TimeoutError):
            continue
        if total:
            found.append(WayOut(label, text, total, matches))
    return tuple(sorted(found, key=lambda way: -way.conversations))


async def _meant_sources(
    stores: Sequence[StoreRef], catalogue_of: CatalogueOf, parsed: ParsedQuery
) -> list[tuple[str, str]]:
    """As `_variants`: sources that are none, each replaced by the one there is that is written nearly so."""
    from difflib import get_close_matches  # only for the few who need it

    there = {source.casefold() for source in await sources(stores, catalogue_of)}
    found: list[tuple[str, str]] = []
    for piece in parsed.pieces:
        key, _, value = piece.text.partition(":")
        if piece.filter and key.casefold() == _SOURCE:
            typed = value.casefold().split(",")
            near = [get_close_matches(each, there, 1) if each not in there else [each] for each in typed]
            meant = f"{key}:{','.join(each for some in near for each in some)}"
            if all(near) and meant.casefold() != piece.text.casefold():
                found.append((f"{meant} instead of {piece.text}", _replaced(parsed.text, piece, meant)))
    return found


def _variants(parsed: ParsedQuery) -> Iterator[tuple[str, str]]:
    """(what is given up, the query without it)."""
    filters = [piece for piece in parsed.pieces if piece.filter]
    words = [piece for piece in parsed.pieces if not piece.filter and parsed.link is None]
    for piece in filters:
        yield f"without {piece.text}", _taken_away(parsed.text, (piece,))
    if len(filters) > 1 and parsed.plain:
        yield "without any filter", _taken_away(parsed.text, filters)
    for piece in words:
        if piece.text.startswith('"') and " " in piece.text:
            yield f"{piece.text} as single words", _replaced(parsed.text, piece, piece.text.strip('"* '))
    for piece in words if len(parsed.pieces) > 1 else ():
        yield f"without {piece.text}", _taken_away(parsed.text, (piece,))
    asks = parsed.filters
    if parsed.link is None and _SOURCE not in asks.wanted and not any(map(asks.asks_for, UNASKED_SOURCES)):
        yield "in kanban, subagent and tool sessions", f"{parsed.text} source:{','.join(sorted(UNASKED_SOURCES))}"


def _taken_away(text: str, pieces: Sequence[Piece]) -> str:
    for piece in sorted(pieces, key=lambda piece: -piece.start):
        text = text[: piece.start] + text[piece.end :]
    return " ".join(text.split())


def _replaced(text: str, piece: Piece, instead: str) -> str:
    return text[: piece.start] + instead + text[piece.end :]
