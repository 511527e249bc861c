"""What is known of each store between two questions: its catalogue, until it is written."""

from __future__ import annotations

from hermes_tui.domain.families import Catalogue
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.errors import StoreError
from hermes_tui.service.reader import Lane, Reader
from hermes_tui.storage.catalogue import Loaded, load
from hermes_tui.storage.connection import Store
from hermes_tui.storage.live import live_ids
from hermes_tui.values import dataclass, field


@dataclass(frozen=True, slots=True)
class _Kept:
    store: Store
    version: int
    loaded: Loaded


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

    def read(self, store: Store) -> Catalogue:
        """The same, for what runs on thread 0 already."""
        ref = store.ref
        version, live = store.version(), live_ids(ref.home)
        kept = self._kept.get(ref)
        before = kept.loaded if kept is not None and kept.store is store else None
        same = kept is not None and kept.version == version
        loaded = before if before is not None and same else load(store, before)
        loaded = loaded._replace(catalogue=loaded.catalogue.marked(live))
        self._kept[ref] = _Kept(store, version, loaded)
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
