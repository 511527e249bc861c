"""`doctor`: every store, and what surrounds them."""

from __future__ import annotations

from collections.abc import Sequence

from hermes_tui.domain.profiles import StoreRef
from hermes_tui.domain.resume import Check, State
from hermes_tui.errors import QueryTimeout, StoreError
from hermes_tui.service.catalogues import Catalogues
from hermes_tui.service.reader import Reader
from hermes_tui.storage.checks import check_integrity, check_profiles, check_store
from hermes_tui.storage.resume import check_program

_INTEGRITY_SECONDS = 5.0
"""A look at every page is worth no longer wait."""


async def run_checks(reader: Reader, stores: Sequence[StoreRef], catalogues: Catalogues) -> tuple[Check, ...]:
    """The lines of `doctor`. A store that cannot be read is one of them. Raises `StoreError` when none can be."""
    found: list[Check] = []
    failures: list[StoreError] = []
    for ref in stores:
        name = f"{ref.profile}: " if len(stores) > 1 else ""
        try:
            said = await _store(reader, ref, catalogues)
        except StoreError as failure:
            failures.append(failure)
            said = [Check("database", State.ERROR, str(failure))]
        found += [Check(name + check.name, check.state, check.detail) for check in said]
    if len(failures) == len(stores):
        raise failures[0]
    for root in dict.fromkeys(ref.root for ref in stores):
        found.append(check_profiles(root))
    found.append(check_program(missing=State.WARNING))
    return tuple(found)


async def _store(reader: Reader, ref: StoreRef, catalogues: Catalogues) -> list[Check]:
    catalogue = await catalogues.of(ref)
    found = await reader.run(ref, lambda store: check_store(store, catalogue))
    try:
        return [*found, await reader.run(ref, check_integrity, seconds=_INTEGRITY_SECONDS)]
    except QueryTimeout:
        return [*found, Check("integrity", State.OK, "not looked at whole: it is too large for a quick look")]
    except StoreError as failure:
        return [*found, Check("integrity", State.ERROR, str(failure))]
