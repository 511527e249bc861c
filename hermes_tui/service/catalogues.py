"""What is known of each store between two questions: its catalogue, until it is written."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from hermes_tui.domain.families import Catalogue
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.errors import StoreError
from hermes_tui.service.jobs import Lane
from hermes_tui.service.reader import Reader
from hermes_tui.storage.aside import bring, load_bystanders, load_shown
from hermes_tui.storage.catalogue import Loaded, load
from hermes_tui.storage.connection import Store, is_damage
from hermes_tui.storage.live import live_ids
from hermes_tui.values import dataclass, field

if TYPE_CHECKING:
    from hermes_tui.domain.querytext import ParsedQuery


@dataclass(frozen=True, slots=True)
class _Kept:
    store: Store
    version: int
    loaded: Loaded
    live: frozenset[str]
    """The sessions that were live when it was read: they do not stand aside."""

    def serves(self, live: frozenset[str], *, partly: bool) -> bool:
        """Whether it answers what is asked, with these sessions live; `partly`: some may stand aside."""
        catalogue = self.loaded.catalogue
        came = live - self.live
        here = all(each in catalogue.chains and each not in catalogue.bystanders for each in came)
        return not catalogue.aside or (partly and here)


@dataclass(slots=True)
class Catalogues:
    """One catalogue a store, with marks for what is live. Thread 0 alone reads them, so `data_version` of its
    connection tells exactly when another process has written."""

    reader: Reader
    _kept: dict[StoreRef, _Kept] = field(default_factory=dict)
    _seen: dict[StoreRef, object] = field(default_factory=dict)
    """How each store looked when it was last asked whether it has changed."""

    async def of(self, ref: StoreRef) -> Catalogue:
        """The catalogue of this store as it is now. Raises `StoreError`."""
        return await self.reader.run(ref, self.read, lane=Lane.CATALOGUE)

    async def shown(self, ref: StoreRef) -> Catalogue:
        """The same, perhaps without the conversations that stand `aside` of what a list shows by itself: who needs
        one of them asks `of`."""
        return await self.reader.run(ref, self.read_shown, lane=Lane.CATALOGUE)

    async def searched(self, parsed: ParsedQuery, ref: StoreRef) -> Catalogue:
        """The same, and of what stands aside enough to find it; all of it where this query finds much."""
        return await self.reader.run(ref, lambda store: self.read_searched(parsed, store), lane=Lane.CATALOGUE)

    async def holding(self, ref: StoreRef, session_ids: Iterable[str]) -> Catalogue:
        """One that holds these sessions and their families, if there are such."""
        catalogue, wanted = await self.shown(ref), list(session_ids)
        if catalogue.bystanders and any(each not in catalogue.chains for each in wanted):
            await self.reader.run(ref, lambda store: bring(store, catalogue, wanted))
        if catalogue.aside and any(each not in catalogue.chains for each in wanted):
            return await self.of(ref)
        return catalogue

    def read(self, store: Store) -> Catalogue:
        """As `of`, for what runs on thread 0 already."""
        return self._read(store, lambda live, before: load(store, before), partly=False)

    def read_shown(self, store: Store) -> Catalogue:
        """As `shown`."""

        def part(live: frozenset[str], before: Loaded | None) -> Loaded:
            if before is not None:
                return load(store, before)
            return load_shown(store, live) or load(store)

        return self._read(store, part, partly=True)

    def read_searched(self, parsed: ParsedQuery, store: Store) -> Catalogue:
        """As `searched`."""
        from hermes_tui.storage.naming import titles_of  # a list does without
        from hermes_tui.storage.preparing import few

        known = self.known(store.ref)
        if (known is not None and not known.aside) or not few(parsed, store):
            return self.read(store)
        catalogue, version = self.read_shown(store), self._kept[store.ref].version
        if not catalogue.aside or catalogue.bystanders:
            return catalogue
        try:
            bystanders = load_bystanders(store, catalogue)
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            return self.read(store)
        if store.version() != version:  # not of one moment
            return self.read(store)
        catalogue.bystanders = bystanders
        titles_of(catalogue)  # meanwhile others read what else a search needs
        return catalogue

    def _read(
        self, store: Store, load: Callable[[frozenset[str], Loaded | None], Loaded], *, partly: bool
    ) -> Catalogue:
        """What was kept, where it is still true and enough; else what is loaded, given the live sessions and what was
        kept before."""
        ref, version, live = store.ref, store.version(), live_ids(store.ref.home)
        kept = self._kept.get(ref)
        if kept is not None and kept.store is not store:
            kept = None
        if kept is not None and kept.version == version and kept.serves(live, partly=partly):
            loaded, counted = kept.loaded, kept.live
        else:
            # what stood aside may have gone since: what is left would look unchanged
            before = None if kept is None or kept.loaded.catalogue.aside else kept.loaded
            loaded, counted = load(live, before), live
        loaded = loaded._replace(catalogue=loaded.catalogue.marked(live))
        self._kept[ref] = _Kept(store, version, loaded, counted)
        self._seen.setdefault(ref, _mark(store, version, live))
        return loaded.catalogue

    def known(self, ref: StoreRef) -> Catalogue | None:
        """The catalogue as it was when somebody last asked for it."""
        kept = self._kept.get(ref)
        return None if kept is None else kept.loaded.catalogue

    async def changed(self, ref: StoreRef) -> bool:
        """Whether this store, or what is live in it, looks different from when this was last asked."""

        def job(store: Store) -> object:
            return _mark(store, store.version(), live_ids(ref.home))

        mark: object
        try:
            mark = await self.reader.run(ref, job, lane=Lane.CATALOGUE)
        except StoreError as failure:
            mark = str(failure)
        before = self._seen.setdefault(ref, mark)
        self._seen[ref] = mark
        return before != mark


def _mark(store: Store, version: int, live: frozenset[str]) -> object:
    return (store.identity, version, live)
