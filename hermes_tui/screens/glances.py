"""A glance into profiles that are not open: how much there is, and how old it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hermes_tui.domain.profiles import StoreRef
from hermes_tui.domain.sessions import ListQuery
from hermes_tui.errors import HermesTuiError
from hermes_tui.service.sessions import SessionService
from hermes_tui.values import dataclass

Connect = Callable[[Sequence[StoreRef]], SessionService]


@dataclass(frozen=True, slots=True)
class Glance:
    """What one store holds."""

    conversations: int = 0
    last_active: float | None = None
    error: str = ""
    """Why it cannot be read."""


async def glance(connect: Connect, store: StoreRef) -> Glance:
    """Look into one store; what goes wrong there is part of the answer."""
    service = connect((store,))
    try:
        page = await service.first_page(ListQuery(include_hidden=True))
        # of very many, those that a list leaves out need not be read to be counted
        every = page.of if page.whole else (await service.conversations(ListQuery(limit=1))).of
    except HermesTuiError as error:
        return Glance(error=str(error))
    finally:
        await service.close()
    return Glance(every, page.rows[0].last_active if page.rows else None)
