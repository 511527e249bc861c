"""Values that a filter word begun in the query box can take, from what the stores hold."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from hermes_tui.domain.families import Catalogue
from hermes_tui.domain.filters import KEYS, MARKS, ROLES, Filters
from hermes_tui.domain.filterwords import read_moment
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.domain.queries import Completion
from hermes_tui.domain.sessions import Conversation
from hermes_tui.errors import StoreError
from hermes_tui.service.jobs import Lane
from hermes_tui.service.reader import Reader
from hermes_tui.service.searching import CatalogueOf
from hermes_tui.storage.connection import Store
from hermes_tui.storage.facts import StoreFacts, load_origins, recent_roles, recent_tools
from hermes_tui.storage.live import live_ids
from hermes_tui.storage.scopes import marked
from hermes_tui.times import now

_MOST = 50
_SECONDS = 3.0
_FEW = 2_000
"""Conversations whose last message may be looked at, to count how they stand."""
_BEGUN = re.compile(rf"(?P<head>-?(?P<key>{'|'.join(KEYS)}):(?:[^,]*,)*)(?P<value>[^,]*)\Z", re.IGNORECASE)
_PERIODS = ("today", "yesterday", "24h", "7d", "2w", "30d", "90d", "365d")
_FIELDS: dict[str, Callable[[Conversation], str | None]] = {
    "model": lambda c: c.model,
    "provider": lambda c: c.provider,
    "profile": lambda c: c.profile,
    "end": lambda c: c.end_reason,
    "title": lambda c: c.title or c.display_name,
    "cwd": lambda c: c.cwd,
    "workspace": lambda c: c.workspace,
    "branch": lambda c: c.git_branch,
}


async def complete(
    reader: Reader, stores: Sequence[StoreRef], catalogue_of: CatalogueOf, word: str
) -> tuple[Completion, ...]:
    """The most frequent first; `text` is the whole word as it would stand in the box. Nothing for a word that
    is no filter word."""
    begun = _BEGUN.fullmatch(word)
    if begun is None:
        return ()
    key, value = begun["key"].lower(), begun["value"].lstrip('"').casefold()
    counts: Counter[str] = Counter()
    for ref in stores:
        try:
            catalogue = await catalogue_of(ref)

            def job(store: Store, catalogue: Catalogue = catalogue) -> Counter[str]:
                return _values(store, catalogue, key)

            counts += await reader.run(ref, job, lane=Lane.PAGES, seconds=_SECONDS)
        except StoreError:
            continue  # a store that cannot be read has no values to offer; the search itself will say so
    fitting = [(name, n) for name, n in counts.items() if name.casefold().startswith(value)]
    fitting.sort(key=lambda each: (-each[1], each[0]))
    return tuple(Completion(begun["head"] + _quoted(name), n) for name, n in fitting[:_MOST])


async def sources(stores: Sequence[StoreRef], catalogue_of: CatalogueOf) -> frozenset[str]:
    """Every source of a session, as it is written there; those of a store that cannot be read are missing."""
    there: set[str] = set()
    for ref in stores:
        try:
            there.update(_sources(await catalogue_of(ref)))
        except StoreError:
            continue  # the search itself says what cannot be read
    return frozenset(there - {""})


def _sources(catalogue: Catalogue) -> Iterable[str]:
    return (segment.source for chain in catalogue.all_chains() for segment in chain.segments)


def _quoted(value: str) -> str:
    plain = not any(char.isspace() or char in ',"' for char in value)
    return value if plain else '"' + value.replace('"', " ") + '"'


def _values(store: Store, catalogue: Catalogue, key: str) -> Counter[str]:
    """Value → how often, in one store."""
    conversations = marked(catalogue, live_ids(store.ref.home)).values()
    if key == "source":
        return _by_source(conversations, catalogue)
    if key in _FIELDS:
        return _counted(map(_FIELDS[key], conversations))
    if key == "is":
        facts = StoreFacts(store, catalogue)
        costly = () if len(conversations) <= _FEW else ("error", "interrupted")
        tests = {mark: Filters(wanted={"is": frozenset({mark})}) for mark in MARKS if mark not in costly}
        return Counter(
            {mark: sum(test.passes(each, facts=facts) for each in conversations) for mark, test in tests.items()}
        )
    if key in ("user", "chat"):
        origins = load_origins(store).values()
        return _counted(name for each in origins for name in (each.users if key == "user" else each.chats))
    if key in ("role", "tool"):
        found = recent_roles(store) if key == "role" else recent_tools(store)
        return Counter({name: n for name, n in found.items() if key == "tool" or name in ROLES})
    if key in ("after", "before"):
        return _periods(conversations, after=key == "after")
    return Counter()


def _counted(values: Iterable[str | None]) -> Counter[str]:
    return Counter(value for value in values if value)


def _by_source(conversations: Iterable[Conversation], catalogue: Catalogue) -> Counter[str]:
    """As many as the list has of each; of those that only a search finds, as many as there are sessions."""
    listed = _counted(each.source for each in conversations)
    return Counter({**_counted(_sources(catalogue)), **listed})


def _periods(conversations: Iterable[Conversation], *, after: bool) -> Counter[str]:
    present = now()
    times = [each.last_active for each in conversations if each.last_active is not None]
    bounds = {name: read_moment(name, present) for name in _PERIODS}
    return Counter({name: sum((at >= bound) is after for at in times) for name, bound in bounds.items()})
