"""What is known of each store between two questions: its catalogue, until it is written."""

from __future__ import annotations

from dataclasses import dataclass, field

from hermes_tui.domain.families import Catalogue
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.errors import StoreError
from hermes_tui.service.reader import Lane, Reader
from hermes_tui.storage.catalogue import load_catalogue
from hermes_tui.storage.connection import Store
from hermes_tui.storage.live import live_ids


@dataclass(frozen=True, slots=True)
class _Kept:
    store: Store
    version: int
    catalogue: Catalogue


@dataclass(slots=True)
class Catalogues:
    """One catalogue a store. Thread 0 alone reads them, so `data_version` of its connection tells exactly when
    another process has written."""

    reader: Reader
    _kept: dict[StoreRef, _Kept] = field(default_factory=dict)
    _seen: dict[StoreRef, object] = field(default_factory=dict)
    """How each store looked when it was last asked whether it has changed."""

    async def of(self, ref: StoreRef) -> Catalogue:
        """The catalogue of this store as it is now. Raises `StoreError`."""

        def job(store: Store) -> Catalogue:
            version = _version(store)
            kept = self._kept.get(ref)
            if kept is None or kept.store is not store or kept.version != version:
                kept = self._kept[ref] = _Kept(store, version, load_catalogue(store))
            self._seen.setdefault(ref, _mark(store, version))
            return kept.catalogue

        return await self.reader.run(ref, job, lane=Lane.CATALOGUE)

    def known(self, ref: StoreRef) -> Catalogue | None:
        """The catalogue as it was when somebody last asked for it."""
        kept = self._kept.get(ref)
        return None if kept is None else kept.catalogue

    async def changed(self, ref: StoreRef) -> bool:
        """Whether this store, or what is live in it, looks different from when this was last asked."""

        def job(store: Store) -> object:
            return _mark(store, _version(store))

        mark: object
        try:
            mark = await self.reader.run(ref, job, lane=Lane.CATALOGUE)
        except StoreError as failure:
            mark = str(failure)
        before = self._seen.setdefault(ref, mark)
        self._seen[ref] = mark
        return before != mark


def _version(store: Store) -> int:
    return int(store.conn.execute("pragma data_version").fetchone()[0])


def _mark(store: Store, version: int) -> object:
    return (store.identity, version, live_ids(store.ref.home))
