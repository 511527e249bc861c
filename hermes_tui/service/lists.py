"""Lists over one or several stores: each store selects in a job of its own, the last step puts them in order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hermes_tui.domain.filters import NO_FILTERS, Filters
from hermes_tui.domain.lists import (
    Everything,
    Expression,
    Haystack,
    Matches,
    Selection,
    Words,
    page,
    select,
    shown_title,
)
from hermes_tui.domain.sessions import ConversationPage, ListQuery, Order, StoreProblem
from hermes_tui.errors import QueryTimeout, StoreError
from hermes_tui.service.jobs import Lane
from hermes_tui.service.shelves import Shelf
from hermes_tui.storage.live import live_ids
from hermes_tui.text import count
from hermes_tui.times import now
from hermes_tui.values import dataclass, replace

if TYPE_CHECKING:
    from hermes_tui.domain.families import Catalogue
    from hermes_tui.domain.profiles import StoreRef
    from hermes_tui.domain.sessions import Conversation
    from hermes_tui.service.catalogues import Catalogues
    from hermes_tui.service.reader import Reader
    from hermes_tui.service.shelves import Memos
    from hermes_tui.storage.connection import Store

_OPERATORS = r'["*]|(?<!\S)(?:AND|OR|NOT)(?!\S)'


@dataclass(frozen=True, slots=True)
class Wanted:
    """A list query, read."""

    query: ListQuery
    words: Matches
    filters: Filters

    @property
    def by_itself(self) -> bool:
        """Whether it asks for what a list shows by itself: what is hidden as automation is only counted."""
        return not (self.words or self.filters or self.query.include_hidden)


def read_query(query: ListQuery, present: float) -> Wanted:
    """Without operators, words are taken as they stand, punctuation too, and each must occur. Raises `BadQuery`."""
    text = query.text.strip()
    if not any(char.isalnum() for char in text):
        begun = [word for word in text.split() if word.strip('"-*')]  # not yet a phrase, a negation
        return Wanted(query, Words(begun), NO_FILTERS)
    from hermes_tui.domain.querytext import parse_query

    parsed = parse_query(text, present=present)
    words: Matches = Words(parsed.plain.split())
    if parsed.expression is not None and re.search(_OPERATORS, parsed.plain):
        words = Expression(parsed.expression)
    return Wanted(query, words, parsed.filters)


class _Filtering:
    """Filter words together with the store that they may have to ask."""

    def __init__(self, filters: Filters, shelf: Shelf) -> None:
        self._filters, self._shelf = filters, shelf

    def accepts(self, conversation: Conversation) -> bool:
        return self._filters.accepts(conversation, facts=self._shelf)

    def lifts(self, conversation: Conversation) -> bool:
        return self._filters.lifts(conversation)


def select_from(shelf: Shelf, wanted: Wanted) -> Selection:
    """What one store adds to a list."""
    filters = _Filtering(wanted.filters, shelf) if wanted.filters else Everything()
    _read_ahead(shelf, wanted)
    selection = select(
        shelf.catalogue.conversations,
        filters=filters,
        words=wanted.words,
        haystack=shelf.haystack,
        include_hidden=wanted.query.include_hidden,
        stopped=shelf.store.stopped,
        aside=shelf.catalogue.aside,
    )
    if wanted.query.order is Order.TITLE:
        shelf.read_prompts(row for row in selection.rows if not (row.title or row.display_name))
        for row in selection.rows:
            if name := shown_title(row, shelf.preview):
                selection.names[row.key] = name
    return selection


def _read_ahead(shelf: Shelf, wanted: Wanted) -> None:
    """What will be asked of every conversation is read for many at once."""
    conversations = shelf.catalogue.conversations
    if wanted.words:
        shelf.read_prompts(conversations)
    if wanted.filters.ask_how_it_stands:
        others = wanted.filters.without("is", "role", "tool")
        shelf.read_statuses(each for each in conversations if others.accepts(each, facts=shelf))


@dataclass(frozen=True, slots=True)
class _Part:
    """One store's share of a list, or of a list of one store all of it."""

    selection: Selection
    notices: tuple[str, ...]


def _part_of(shelf: Shelf, wanted: Wanted, *, named: bool) -> _Part:
    return _Part(select_from(shelf, wanted), tuple(store_notices(shelf.store, shelf.catalogue, named=named)))


async def list_page(
    reader: Reader, stores: Sequence[StoreRef], catalogues: Catalogues, memos: Memos, query: ListQuery
) -> ConversationPage:
    """Raises `BadQuery`, and a `StoreError` when no store at all can be read."""
    wanted = read_query(query, now())
    several = len(stores) > 1

    async def part(ref: StoreRef) -> _Part:
        catalogue = await (catalogues.shown(ref) if wanted.by_itself else catalogues.of(ref))
        return await reader.run(ref, lambda store: _part_of(Shelf(store, catalogue, memos), wanted, named=several))

    answers = await reader.together([part(ref) for ref in stores])
    parts: list[_Part] = []
    good: list[StoreRef] = []
    errors: list[StoreProblem] = []
    for ref, answer in zip(stores, answers, strict=True):
        if isinstance(answer, _Part):
            parts.append(answer)
            good.append(ref)
        elif isinstance(answer, StoreError | QueryTimeout) and several:
            errors.append(StoreProblem(ref.profile, str(ref.db), str(answer)))
        else:
            raise answer
    if not good:
        raise next(answer for answer in answers if isinstance(answer, BaseException))
    notices = [notice for each in parts for notice in each.notices]

    def assemble(store: Store) -> ConversationPage:
        return page([each.selection for each in parts], query, errors=errors, notices=notices)

    return await reader.run(good[0], assemble)


async def first_page(
    reader: Reader, stores: Sequence[StoreRef], catalogues: Catalogues, memos: Memos, query: ListQuery
) -> ConversationPage | None:
    """The list that a screen begins with, of one store in one go: whoever asks may be too busy to come back for its
    parts. Of very many sessions the first rows. None where `list_page` has to be asked: several stores, words, titles
    that are read from messages."""
    if len(stores) != 1 or query.text or query.order is Order.TITLE:
        return None

    def job(store: Store) -> ConversationPage:
        if (begun := _first_rows(store, query)) is not None:
            return begun
        wanted = read_query(query, now())
        catalogue = catalogues.read_shown(store) if wanted.by_itself else catalogues.read(store)
        part = _part_of(Shelf(store, catalogue, memos), wanted, named=False)
        return page([part.selection], query, notices=part.notices)

    return await reader.run(stores[0], job, lane=Lane.CATALOGUE)


def _first_rows(store: Store, query: ListQuery) -> ConversationPage | None:
    """The first rows of a list of which reading all takes a while. None where that is here as soon, where first rows
    cannot be known without it, and where it is sorted otherwise."""
    if query != ListQuery(include_hidden=query.include_hidden):
        return None
    from hermes_tui.storage.newest import newest

    live = live_ids(store.ref.home)
    found = newest(store, live, include_hidden=query.include_hidden)
    if found is None:
        return None
    selection = select(
        found.catalogue.marked(live).conversations,
        filters=Everything(),
        words=Words(()),
        haystack=Haystack,
        include_hidden=query.include_hidden,
    )
    rows = [row for row in selection.rows if row.last_active is not None and row.last_active > found.since]
    found_page = page([Selection(rows, len(rows))], query, notices=store.notices)
    return replace(found_page, whole=False) if rows else None


def store_notices(store: Store, catalogue: Catalogue, *, named: bool) -> list[str]:
    """How the store was opened and what of it cannot be read; `named` says whose notice it is."""
    found = list(store.notices)
    lost = []
    if catalogue.damaged:
        lost.append(f"{count(catalogue.damaged, 'session')} cannot be read")
    if catalogue.mute:
        lost.append(f"messages of {count(catalogue.mute, 'session')} cannot be read")
    if lost:
        found.append(f"{store.ref.db} is damaged: {', '.join(lost)}. Reading goes on with the rest.")
    return [f"{store.ref.profile}: {notice}" if named else notice for notice in found]
