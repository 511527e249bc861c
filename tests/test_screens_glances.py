"""A glance into a profile tells what its whole list would."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes_tui.domain.sessions import ListQuery
from hermes_tui.screens.glances import Glance, glance
from hermes_tui.service.sqlite import SqliteSessionService
from hermes_tui.storage import catalogue
from hermes_tui.storage.connection import Store
from tests.test_storage_newest import many, ref_of


async def told(db: Path) -> Glance:
    """As a list that leaves nothing out would have it."""
    service = SqliteSessionService([ref_of(db)])
    try:
        page = await service.conversations(ListQuery(include_hidden=True))
    finally:
        await service.close()
    return Glance(page.of, page.rows[0].last_active if page.rows else None)


@pytest.mark.parametrize("sessions", [0, 1, 20, 1_200])
async def test_a_glance_tells_how_many_there_are_and_how_old_they_are(tmp_path: Path, sessions: int) -> None:
    db = many(tmp_path / "state.db", sessions=sessions)
    assert await glance(SqliteSessionService, ref_of(db)) == await told(db)


async def test_what_was_active_last_counts_also_where_a_list_leaves_it_out(tmp_path: Path) -> None:
    db = many(tmp_path / "state.db", sessions=1_201)  # the last of them is nobody's
    service = SqliteSessionService([ref_of(db)])
    try:
        shown = (await service.conversations(ListQuery())).rows[0].last_active
    finally:
        await service.close()
    found = await glance(SqliteSessionService, ref_of(db))
    assert found == await told(db)
    assert found.last_active != shown


async def test_of_very_many_sessions_a_glance_reads_none_that_a_list_only_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = many(tmp_path / "state.db")

    def whole(store: Store) -> None:
        raise AssertionError("all sessions are read")

    monkeypatch.setattr(catalogue, "session_rows", whole)
    assert (await glance(SqliteSessionService, ref_of(db))).conversations > 1_000


async def test_a_glance_says_why_a_store_cannot_be_read(tmp_path: Path) -> None:
    found = await glance(SqliteSessionService, ref_of(tmp_path / "state.db"))
    assert "no such file" in found.error
