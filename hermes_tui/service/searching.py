"""A search over one or several stores: each takes its steps on reader threads, the answers are put together here.

Words that no store knows as words, and conversations that hold but some of the words, are a matter of all
stores: the phases of their searches go side by side.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any

from hermes_tui.domain.families import Catalogue
from hermes_tui.domain.links import Link
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.domain.queries import LEFT_OUT, LOST, Hit, Match, SearchPage, SearchQuery
from hermes_tui.domain.querytext import ParsedQuery, parse_query
from hermes_tui.domain.querytrees import Node
from hermes_tui.domain.sessions import StoreProblem
from hermes_tui.errors import HermesTuiError, QueryTimeout, StoreError, TargetNotFound
from hermes_tui.service.jobs import Lane
from hermes_tui.service.lists import store_notices
from hermes_tui.service.reader import Reader
from hermes_tui.storage.connection import Store
from hermes_tui.storage.fts import look
from hermes_tui.storage.judging import UNICODE
from hermes_tui.storage.notices import left_out
from hermes_tui.storage.preparing import Preparation
from hermes_tui.storage.search import StorePage, StoreSearch
from hermes_tui.storage.snippets import load_matches
from hermes_tui.storage.tallies import SortKey
from hermes_tui.text import one_line
from hermes_tui.times import now
from hermes_tui.values import dataclass, replace

_READ_FOR_A_PAGE = 4
"""So many times as long as a page takes, messages are read before the next one."""

CatalogueOf = Callable[[StoreRef], Coroutine[Any, Any, Catalogue]]
LeanCatalogueOf = Callable[[ParsedQuery, StoreRef], Coroutine[Any, Any, Catalogue]]
StoresOf = Callable[[Link], Sequence[StoreRef]]


@dataclass(slots=True)
class _Side:
    """One store's search."""

    ref: StoreRef
    catalogue: Catalogue
    search: StoreSearch
    page: StorePage | None = None
    total: int = 0
    """Conversations that it has found."""
    said: tuple[str, ...] = ()
    """What is to be known of the store itself."""
    paged: tuple[float, float] = (0.0, 0.0)
    """When the page was made, and how long that took."""

    @property
    def due(self) -> bool:
        """Whether what is read may be shown again: of very many matches that takes long."""
        made, took = self.paged
        return time.monotonic() - made >= took * _READ_FOR_A_PAGE


async def run_search(
    reader: Reader,
    stores: Sequence[StoreRef],
    catalogue_of: CatalogueOf,
    query: SearchQuery,
    *,
    lean_of: LeanCatalogueOf | None = None,
    stores_of: StoresOf | None = None,
) -> AsyncIterator[SearchPage]:
    """Pages of growing goodness; the last has `final` set. `lean_of`: a catalogue of which some may stand aside
    where words without filters find few messages. `stores_of`: where a link leads, beside `stores`; raises
    `TargetNotFound` for a profile that does not exist. Raises `BadQuery`; `StoreError` only when no store at all
    can be read."""
    began = time.monotonic()
    parsed = parse_query(query.text, present=now(), typing_at=query.typing_at)
    lost = ""
    if parsed.link is not None:
        stores, lost = _led(stores, parsed.link, stores_of)
    if lean_of is not None and parsed.link is None and not parsed.filters:
        catalogue_of = partial(lean_of, parsed)
    sides, problems = await _open(reader, stores, catalogue_of, query, parsed)
    running = Running(reader, parsed, query, sides, problems, began, lost)
    async with aclosing(running.pages()) as pages:
        async for page in pages:
            yield page


def _led(stores: Sequence[StoreRef], link: Link, stores_of: StoresOf | None) -> tuple[Sequence[StoreRef], str]:
    """The stores in which this link can mean something, and what to say when nothing answers to it there."""
    if not link.id:
        return stores, "The link names no session."
    try:
        stores = stores if stores_of is None else stores_of(link)
    except TargetNotFound as failure:
        return stores, f"{LOST}{failure}"
    return stores, f"{LOST}no session answers to “{one_line(link.id, 80)}”."


async def _open(
    reader: Reader, stores: Sequence[StoreRef], catalogue_of: CatalogueOf, query: SearchQuery, parsed: ParsedQuery
) -> tuple[list[_Side], list[StoreProblem]]:
    """The stores that can be read, and why the others cannot."""
    preparation = Preparation(query, parsed)
    if len(stores) == 1:
        reader.meanwhile(stores[0], preparation.ready)
    found = await reader.together([catalogue_of(ref) for ref in stores])
    if len(stores) == 1 and not isinstance(found[0], BaseException):
        await reader.lend(stores[0], preparation.help)
    sides: list[_Side] = []
    problems: list[StoreProblem] = []
    failures: list[StoreError] = []
    for ref, catalogue in zip(stores, found, strict=True):
        if isinstance(catalogue, StoreError):
            failures.append(catalogue)
            problems.append(_problem(ref, catalogue))
        elif isinstance(catalogue, BaseException):
            raise catalogue
        else:
            # of several stores, each has its own thread already
            abreast = reader.abreast if len(stores) == 1 else 1
            sides.append(_Side(ref, catalogue, StoreSearch(query, parsed, catalogue, abreast)))
    if failures and not sides:
        raise failures[0]
    return sides, problems


async def count_matches(
    reader: Reader, stores: Sequence[StoreRef], catalogue_of: CatalogueOf, query: SearchQuery
) -> tuple[int, int]:
    """How many conversations hold all the words, and how many messages in them match."""
    counted = replace(query, limit=0, offset=0, typing_at=None, steps=False)
    parsed = parse_query(counted.text, present=now())
    sides, problems = await _open(reader, stores, catalogue_of, counted, parsed)
    running = Running(reader, parsed, counted, sides, problems, time.monotonic())
    async for _ in running.pages(strict=True):
        pass
    pages = [side.page for side in running.sides if side.page is not None]
    return sum(page.total for page in pages), sum(page.matches for page in pages)


async def read_hits(
    reader: Reader, where: Callable[[Hit], Awaitable[StoreRef]], hits: Sequence[Hit], tree: Node | None
) -> tuple[Hit, ...]:
    """These hits with their messages read, those left out that cannot be."""
    wanted: dict[StoreRef, list[int]] = {}
    stores = [await where(hit) for hit in hits]
    for ref, hit in zip(stores, hits, strict=True):
        wanted.setdefault(ref, []).extend(match.message_id for match in hit.matches if not match.read)
    found = {ref: await _read(reader, ref, ids, tree) for ref, ids in wanted.items()}
    return tuple(
        replace(hit, matches=tuple(_as_read(hit, found[ref]))) for ref, hit in zip(stores, hits, strict=True)
    )


async def _read(reader: Reader, ref: StoreRef, ids: Sequence[int], tree: Node | None) -> dict[int, Match]:
    def job(store: Store) -> dict[int, Match]:
        base = look(store).base
        return load_matches(store, ids, tree, base.tokenizer if base is not None else UNICODE)

    return await reader.run(ref, job)


def _as_read(hit: Hit, found: Mapping[int, Match]) -> Iterator[Match]:
    for match in hit.matches:
        if match.read:
            yield match
        elif match.message_id in found:
            yield found[match.message_id]


def _problem(ref: StoreRef, error: HermesTuiError) -> StoreProblem:
    return StoreProblem(ref.profile, str(ref.db), str(error))


class Running:
    """A search under way."""

    def __init__(
        self,
        reader: Reader,
        parsed: ParsedQuery,
        query: SearchQuery,
        sides: list[_Side],
        problems: list[StoreProblem],
        began: float,
        lost: str = "",
    ) -> None:
        """`lost`: what to say of a link that nothing answers to."""
        self._reader, self._parsed, self._query = reader, parsed, query
        self.sides, self._problems, self._began, self._lost = sides, problems, began, lost
        self._shown: tuple[Hit, ...] = ()
        """Of the last page that was given out."""
        self._alone = len(sides) == 1
        self._phases: list[Callable[[Running], None]] = []
        """Phases that are still to come; with one store alone its own thread goes from each to the next. Unbound, so
        that a search that is given up goes at once."""

    async def pages(self, *, strict: bool = False) -> AsyncGenerator[SearchPage, None]:
        """Every phase in turn; `strict`: settle for nothing less than all words."""
        less = () if strict else (Running._less,)
        self._phases = [Running._nothing, Running._inside, Running._wider, *less, Running._finish]
        while self._phases:
            self._phases.pop(0)(self)
            async with aclosing(self._advance()) as pages:
                async for page in pages:
                    yield page
        yield self._page(final=True)

    def _nothing(self) -> None:
        """The first phase is what a search begins with."""

    def _inside(self) -> None:
        absent = [side.search.absent for side in self.sides]
        everywhere = frozenset.intersection(*absent) if absent else frozenset()
        if everywhere:
            for side in self.sides:
                side.search.look_inside(everywhere)

    def _wider(self) -> None:
        for side in self.sides:
            side.search.look_wider()

    def _less(self) -> None:
        if not any(side.total for side in self.sides):
            for side in self.sides:
                side.search.settle_for_less()

    def _finish(self) -> None:
        for side in self.sides:
            side.search.finish()

    async def _advance(self) -> AsyncGenerator[SearchPage, None]:
        """Steps of this phase, of all stores at once; a page after each that found something new."""
        going = [partial(self._go_on, side) for side in self.sides if not side.search.resting]
        async with aclosing(self._reader.rounds(going)) as rounds:
            async for _ in rounds:
                if not self._query.steps:
                    continue
                page = self._page(final=False)
                if page.progress is not None or page.hits != self._shown:
                    self._shown = page.hits
                    yield page

    async def _go_on(self, side: _Side) -> bool:
        """One step of this store's search; whether there is another. A store that fails leaves the search, and hides
        no other."""
        try:
            side.page = await self._step(side)
        except (StoreError, QueryTimeout) as error:
            self.sides.remove(side)
            self._problems.append(_problem(side.ref, error))
            if not self.sides:
                raise
            return False
        return not side.search.resting

    async def _step(self, side: _Side) -> StorePage | None:
        await self._read_ahead(side)

        def job(store: Store) -> StorePage | None:
            side.search.advance(store)
            if side.search.ahead and not self._query.steps:
                return side.page  # nobody looks at it
            progress = side.search.progress
            if side.page is not None and progress is not None and not side.due:
                return replace(side.page, progress=progress)
            began = time.monotonic()
            side.total = side.search.total(store)
            while self._alone and self._phases and side.search.resting and not store.stopped():
                self._phases.pop(0)(self)
                side.search.advance(store)
                side.total = side.search.total(store)
            side.said = tuple(store_notices(store, side.catalogue, named=False))
            page = side.search.page(store)
            side.paged = (time.monotonic(), time.monotonic() - began)
            return page

        return await self._reader.run(side.ref, job, lane=Lane.SEARCH)

    async def _read_ahead(self, side: _Side) -> None:
        """Have the next slices read side by side, where that is worth it."""
        if jobs := side.search.ahead:
            side.search.take(await self._reader.side_by_side(side.ref, jobs))

    def _page(self, *, final: bool) -> SearchPage:
        pages = [side.page for side in self.sides if side.page is not None]
        hits = pages[0].hits if len(pages) == 1 else tuple(heapq.merge(*(page.hits for page in pages), key=_sort_key))
        offset, limit = self._query.offset, self._query.limit
        chosen = hits[offset : None if limit is None else offset + limit]
        going = [page.progress for page in pages if page.progress is not None]
        return SearchPage(
            hits=tuple(hit for _, hit in chosen),
            total=sum(page.total for page in pages),
            searched=sum(page.searched for page in pages),
            expression=next((page.expression for page in pages), ""),
            route=_route(frozenset().union(*(page.routes for page in pages))),
            elapsed_ms=(time.monotonic() - self._began) * 1_000,
            final=final,
            progress=min(going) if going and not final else None,
            notices=((self._lost,) if final and self._lost and not hits else ()) + self._notices(pages),
            errors=tuple(self._problems),
            words=() if self._parsed.link is not None else self._parsed.words,
            tree=next((side.search.sought for side in self.sides), None),
        )

    def _notices(self, pages: Sequence[StorePage]) -> tuple[str, ...]:
        """Of several stores each says what it has to say by its own name: of the search, then of itself. What all
        say is said once, and what they left out is added up."""
        if len(self.sides) < 2:
            whole = [*(notice for page in pages for notice in page.notices), *(self.sides[0].said if pages else ())]
            return tuple(dict.fromkeys(whole))
        told = [(side, (*side.page.notices, *side.said)) for side in self.sides if side.page]
        common = set.intersection(*(set(notices) for _, notices in told)) if told else set()
        said = [(side.ref.profile, notice) for side, notices in told for notice in notices]
        named = [
            notice if notice in common else f"{profile}: {notice}"
            for profile, notice in said
            if not notice.startswith(LEFT_OUT)
        ]
        leaving = [side.search.scope for side, notices in told if any(each.startswith(LEFT_OUT) for each in notices)]
        return tuple(dict.fromkeys((*left_out(leaving), *named)))


def _sort_key(ranked: tuple[SortKey, Hit]) -> SortKey:
    return ranked[0]


def _route(routes: frozenset[str]) -> str:
    """`fts`, `trigram`, `scan`, `mixed`, or `filter`."""
    found = routes - {"filter"} or routes
    return next(iter(found)) if len(found) == 1 else "mixed" if found else ""
