"""From what somebody typed or pasted to a place to open, over the opened stores and the profiles beside them."""

from __future__ import annotations

from collections.abc import Sequence

from hermes_tui import paths
from hermes_tui.domain.families import Catalogue, Chain
from hermes_tui.domain.links import Candidate, Link, Target
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.domain.targets import LATEST, Named, latest, near, read_name, resolve
from hermes_tui.errors import StoreError, StoreMissing, TargetError, TargetNotFound, UsageError
from hermes_tui.service.catalogues import Catalogues
from hermes_tui.service.reader import Reader
from hermes_tui.service.shelves import Memos, Shelf
from hermes_tui.storage.connection import Store
from hermes_tui.storage.targets import locate
from hermes_tui.text import count, one_line
from hermes_tui.values import dataclass, replace


@dataclass(frozen=True, slots=True)
class Asked:
    """Where to look."""

    reader: Reader
    stores: Sequence[StoreRef]
    catalogues: Catalogues
    memos: Memos
    visited: dict[str, StoreRef]
    """Profiles that links have led to; a link adds to it."""


async def find_target(asked: Asked, text: str) -> Target:
    """Raises `TargetNotFound`, `TargetAmbiguous`, and `StoreError` when no store that could hold it can be read."""
    link = read_name(text)
    refs = stores_of(asked.stores, link)
    known = await _catalogues(asked, refs)
    catalogues = [catalogue for _, catalogue in known]
    try:
        if link.profile is None and link.id.lower() == LATEST:
            named = await asked.reader.run(known[0][0], lambda store: latest(catalogues))
        else:
            named = await _named(asked, known, link)
    except TargetError as failure:
        if not failure.candidates:
            raise
        raise type(failure)(str(failure), await _told(asked, known, failure.candidates)) from failure
    ref = next(ref for ref, catalogue in known if catalogue is named.catalogue)
    target = await asked.reader.run(ref, lambda store: locate(store, named))
    if ref not in asked.stores:
        asked.visited[ref.profile] = ref
    return target


_Known = Sequence[tuple[StoreRef, Catalogue]]


async def _named(asked: Asked, known: _Known, link: Link) -> Named:
    """What answers to a name; where nothing does, what is shown under it."""
    ref, catalogues = known[0][0], [catalogue for _, catalogue in known]
    try:
        return await asked.reader.run(ref, lambda store: resolve(catalogues, link))
    except TargetNotFound as failure:
        from hermes_tui.domain.shown import nameless, shown_as  # only for the few who need it

        said = [(each, await _said(asked, at, each, nameless(each))) for at, each in known]
        shown = await asked.reader.run(ref, lambda store: shown_as(said, link))
        if shown is not None:
            return shown
        candidates = await asked.reader.run(ref, lambda store: near(catalogues, link.id))
        if not candidates:
            raise
        titles = count(len(candidates), "title holds its words", "titles hold its words")
        raise TargetNotFound(f"{failure} {titles}.", candidates) from failure


async def _said(asked: Asked, ref: StoreRef, catalogue: Catalogue, chains: Sequence[Chain]) -> dict[str, str | None]:
    """Root id → the first thing the person said, as short as it is shown."""

    def job(store: Store) -> dict[str, str | None]:
        shelf = Shelf(store, catalogue, asked.memos)
        rows = [row for chain in chains if (row := catalogue.by_root(chain.root.id)) is not None]
        shelf.read_prompts(rows)
        return {row.root_id: shelf.preview(row) for row in rows if not store.stopped()}

    return await asked.reader.run(ref, job) if chains else {}


async def _told(asked: Asked, known: _Known, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The same, those without a name called by what was said first."""
    found = list(candidates)
    for ref, catalogue in known:
        mine = [
            (at, catalogue.chains[each.id])
            for at, each in enumerate(found)
            if not each.name and each.profile == ref.profile and each.id in catalogue.chains
        ]
        said = await _said(asked, ref, catalogue, [chain for _, chain in mine])
        for at, chain in mine:
            if words := said.get(chain.root.id):
                found[at] = replace(found[at], name=f"“{words}”")
    return found


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
