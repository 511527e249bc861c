"""`doctor`: every store, and what surrounds them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hermes_tui.domain.families import Catalogue
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.domain.resume import Check, State
from hermes_tui.errors import QueryTimeout, StoreBusy, StoreError
from hermes_tui.service.catalogues import Catalogues
from hermes_tui.service.reader import Reader
from hermes_tui.storage.checks import LOOKS, Look, check_profiles
from hermes_tui.storage.connection import Store
from hermes_tui.storage.resume import check_program

look_seconds = 5.0
"""No look is worth a longer wait; tests wait less."""


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
    found.append(_program(stores))
    return tuple(found)


def _program(stores: Sequence[StoreRef]) -> Check:
    """Without a `hermes` nothing can be resumed: a warning, unless nothing could be anyhow."""
    if any(ref.resumable for ref in stores):
        return check_program(missing=State.WARNING)
    return check_program(missing=State.OK)


async def _store(reader: Reader, ref: StoreRef, catalogues: Catalogues) -> list[Check]:
    catalogue = await catalogues.of(ref)
    found: list[Check] = []
    for name, look in LOOKS:
        try:
            found += await reader.run(ref, _looking(look, catalogue), seconds=look_seconds)
        except QueryTimeout:
            unseen = f"not looked at: in a store of this size it takes longer than {look_seconds:.0f} s"
            found.append(Check(name, State.OK, unseen))
        except StoreBusy:
            raise
        except StoreError as failure:
            found.append(Check(name, State.ERROR, str(failure)))
    return found


def _looking(look: Look, catalogue: Catalogue) -> Callable[[Store], list[Check]]:
    return lambda store: list(look(store, catalogue))
