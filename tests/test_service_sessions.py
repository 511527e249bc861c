"""The menu, the service that reads databases, and the one that tests hold by the hand: all the same."""

from __future__ import annotations

import asyncio
import inspect

import pytest

from hermes_tui.domain.queries import SearchQuery
from hermes_tui.domain.sessions import ListQuery
from hermes_tui.errors import StoreBusy
from hermes_tui.service.sessions import SessionService
from hermes_tui.service.sqlite import SqliteSessionService
from tests import values
from tests.fakes import GatedService

MENU = sorted(name for name in vars(SessionService) if not name.startswith("_"))


@pytest.mark.parametrize("service", [SqliteSessionService, GatedService])
@pytest.mark.parametrize("name", MENU)
def test_every_service_has_the_whole_menu(service: type, name: str) -> None:
    wanted, offered = getattr(SessionService, name), getattr(service, name, None)
    assert offered is not None
    if isinstance(wanted, property):
        assert isinstance(offered, property)
    else:
        assert list(inspect.signature(offered).parameters) == list(inspect.signature(wanted).parameters)


class TestGatedService:
    """The fake does what its users rely on."""

    async def test_the_test_decides_the_order_of_answers(self) -> None:
        service = GatedService()
        service.hold("conversations")
        first = asyncio.create_task(service.conversations(ListQuery("oauth")))
        second = asyncio.create_task(service.conversations(ListQuery("")))
        older, newer = await service.asked("conversations"), await service.asked("conversations")
        newer.answer()
        assert (await second).total == 5
        assert not first.done()
        older.answer()
        assert [row.title for row in (await first).rows] == ["OAuth refresh token race"]

    async def test_pages_come_when_told_and_cancelling_is_seen(self) -> None:
        service = GatedService()
        service.hold("search")
        shown = asyncio.Event()

        async def ask() -> None:
            async for _ in service.search(SearchQuery("oauth")):
                shown.set()

        asking = asyncio.create_task(ask())
        call = await service.asked("search")
        call.page(values.page(final=False))
        await shown.wait()
        asking.cancel()
        await asyncio.wait([asking])
        assert call.cancelled

    async def test_failures_are_raised(self) -> None:
        service = GatedService()
        service.failures["recap"] = StoreBusy("busy")
        with pytest.raises(StoreBusy):
            await service.recap(values.CONVERSATIONS[0].key)
