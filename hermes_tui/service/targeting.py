"""From what somebody typed or pasted to a place to open, over the opened stores and the profiles beside them."""

from __future__ import annotations

from collections.abc import Sequence

from hermes_tui import paths
from hermes_tui.domain.families import Catalogue
from hermes_tui.domain.links import Link, Target
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.domain.targets import LATEST, Named, latest, near, read_name, resolve
from hermes_tui.errors import StoreError, StoreMissing, TargetNotFound, UsageError
from hermes_tui.service.catalogues import Catalogues
from hermes_tui.service.reader import Reader
from hermes_tui.storage.connection import Store
from hermes_tui.storage.targets import locate
from hermes_tui.text import count, one_line
from hermes_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class Asked:
    """Where to look."""

    reader: Reader
    stores: Sequence[StoreRef]
    catalogues: Catalogues
    visited: dict[str, StoreRef]
    """Profiles that links have led to; a link adds to it."""


async def find_target(asked: Asked, text: str) -> Target:
    """Raises `TargetNotFound`, `TargetAmbiguous`, and `StoreError` when no store that could hold it can be read."""
    link = read_name(text)
    refs = stores_of(asked.stores, link)
    known = await _catalogues(asked, refs)

    def naming(store: Store) -> Named:
        if link.profile is None and link.id.lower() == LATEST:
            return latest([catalogue for _, catalogue in known])
        try:
            return resolve([catalogue for _, catalogue in known], link)
        except TargetNotFound as failure:
            candidates = near([catalogue for _, catalogue in known], link.id)
            if not candidates:
                raise
            titles = count(len(candidates), "title holds its words", "titles hold its words")
            raise TargetNotFound(f"{failure} {titles}.", candidates) from failure

    named = await asked.reader.run(known[0][0], naming)
    ref = next(ref for ref, catalogue in known if catalogue is named.catalogue)
    target = await asked.reader.run(ref, lambda store: locate(store, named))
    if ref not in asked.stores:
        asked.visited[ref.profile] = ref
    return target


def stores_of(stores: Sequence[StoreRef], link: Link) -> list[StoreRef]:
    """A bare name is looked for in the opened stores; a link's profile is opened, if it lies beside one of them.
    Its name is compared with what exists and never becomes a path by itself. Raises `TargetNotFound`."""
    if link.profile is None:
        return list(stores)
    wanted = paths.normalize_profile(link.profile)
    if opened := [ref for ref in stores if ref.profile == wanted]:
        return opened
    for root in dict.fromkeys(ref.root for ref in stores):
        try:
            return [paths.profile_store(root, wanted)]
        except (StoreMissing, UsageError):
            continue  # not below this root, or no name at all
    shown = one_line(link.profile, 60)
    raise TargetNotFound(f"There is no profile “{shown}” here; see: hermes-tui profiles")


async def _catalogues(asked: Asked, refs: Sequence[StoreRef]) -> list[tuple[StoreRef, Catalogue]]:
    """Those that can be read."""
    answers = await asked.reader.together([asked.catalogues.of(ref) for ref in refs])
    known = []
    failures = []
    for ref, answer in zip(refs, answers, strict=True):
        if isinstance(answer, StoreError):
            failures.append(answer)
        elif isinstance(answer, BaseException):
            raise answer
        else:
            known.append((ref, answer))
    if not known and failures:
        raise failures[0]
    return known
