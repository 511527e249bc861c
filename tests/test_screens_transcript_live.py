"""A conversation that is being written, in the whole app: the list lies beneath, the store is a real file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hermes_tui.app import HermesApp
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.domain.sessions import ConversationKey
from hermes_tui.intents import OpenTranscript
from hermes_tui.screens.browse import BrowseScreen
from hermes_tui.screens.transcript import TranscriptScreen
from hermes_tui.service.sqlite import SqliteSessionService
from tests.builders import StoreBuilder
from tests.stage import seen, until


async def test_what_another_process_writes_appears_below_and_in_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hermes_tui.screens.filling.FOLLOW_SECONDS", 0.05)
    monkeypatch.setattr("hermes_tui.screens.transcript.FOLLOW_SECONDS", 0.05)
    monkeypatch.setattr(BrowseScreen, "FOLLOW_SECONDS", 0.05)
    store = StoreBuilder(tmp_path / "state.db")
    store.session("growing", title="Growing")
    for i in range(60):
        store.message("growing", "user" if i % 2 == 0 else "assistant", f"Old message {i}")
    store.conn.execute("commit")
    ref = StoreRef("default", store.path, tmp_path, tmp_path)
    opening = OpenTranscript(ConversationKey("default", "growing"))
    app = HermesApp(SqliteSessionService([ref]), opening=opening)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "message 60 of 60" in seen(app), 4_000)
        for n in range(5):
            store.conn.execute("begin")
            store.message("growing", "user", f"New message {n}")
            store.conn.execute("commit")
            await until(pilot, lambda n=n: f"New message {n}" in seen(app), 4_000)  # type: ignore[misc]  # bound now
        assert "of 65" in seen(app)
        await pilot.press("g")
        await until(pilot, lambda: "Old message 0" in seen(app), 4_000)
        store.conn.execute("begin")
        store.message("growing", "assistant", "Newest of all")
        store.conn.execute("commit")
        await until(pilot, lambda: "1 new message" in seen(app), 4_000)
        assert isinstance(app.screen, TranscriptScreen)
        await pilot.press("q")
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen) and " 66 " in seen(app), 4_000)
    store.close()


async def test_what_is_undone_goes_from_the_preview_and_the_count_beside_an_unchanged_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # R19
    monkeypatch.setattr(BrowseScreen, "FOLLOW_SECONDS", 0.05)
    monkeypatch.setattr("hermes_tui.screens.peeking.DOUBT_SECONDS", 0.0)
    store = StoreBuilder(tmp_path / "state.db")
    store.session("one")
    first = store.message("one", "user", "First words")
    undone = store.message("one", "user", "Never said")
    store.message("one", "assistant", "Later")
    store.conn.execute("commit")
    service = SqliteSessionService([StoreRef("default", store.path, tmp_path, tmp_path)])
    async with HermesApp(service).run_test(size=(120, 30)) as pilot:
        app = pilot.app
        await until(pilot, lambda: "Never said" in seen(app) and "3 messages" in seen(app), 4_000)
        store.conn.execute("update messages set active = 0 where id = ?", (undone,))
        await until(pilot, lambda: "Never said" not in seen(app) and "2 messages" in seen(app), 4_000)
        assert "First words" in seen(app)
        store.conn.execute("update messages set active = 0 where id = ?", (first,))
        await until(pilot, lambda: "First words" not in seen(app) and "1 message" in seen(app), 4_000)
    store.close()


async def test_what_nobody_wrote_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BrowseScreen, "FOLLOW_SECONDS", 0.01)
    monkeypatch.setattr("hermes_tui.screens.peeking.DOUBT_SECONDS", 0.0)
    with StoreBuilder(tmp_path / "state.db") as store:
        store.session("one")
        store.message("one", "user", "First words")
    asked = []

    class Counting(SqliteSessionService):
        async def details(self, keys: Any, **how: Any) -> Any:
            asked.append(how)
            return await super().details(keys, **how)

        async def changes(self) -> bool:
            asked.append(None)
            return await super().changes()

    service = Counting([StoreRef("default", store.path, tmp_path, tmp_path)])
    async with HermesApp(service).run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: "1 message" in seen(pilot.app), 4_000)
        looked = asked.count(None)
        await until(pilot, lambda: asked.count(None) > looked + 5, 4_000)
        assert [how for how in asked if how is not None] == [{"anew": False}]
