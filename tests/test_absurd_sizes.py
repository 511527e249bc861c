"""Every screen, panel and line to type in, in terminals that are too small to hold any of it (R36)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot

from hermes_tui.app import HermesApp
from hermes_tui.palette import Palette
from hermes_tui.paths import home_store
from hermes_tui.screens.bookmarked import BookmarksScreen
from hermes_tui.screens.browse import BrowseScreen
from hermes_tui.screens.help import HelpScreen
from hermes_tui.screens.lineage import LineageScreen
from hermes_tui.screens.missing import MissingScreen
from hermes_tui.screens.profiles import ProfilesScreen
from hermes_tui.screens.resume import ResumeScreen
from hermes_tui.screens.search import SearchScreen
from hermes_tui.screens.transcript import TranscriptScreen
from hermes_tui.service.sqlite import SqliteSessionService
from hermes_tui.settings import Settings
from tests.builders import StoreBuilder
from tests.stage import seen, until

SIZES = ((1, 1), (1, 40), (200, 1), (3, 8), (5, 4), (8, 2))
MOVES = (
    *("down", "up", "pagedown", "pageup", "home", "end", "left", "right", "tab", "ctrl+d", "ctrl+u"),
    *("ctrl+home", "ctrl+end", "shift+left", "shift+right", "ctrl+n", "ctrl+p", "[", "]", "J", "K"),
)
TEXTS = (
    "a walnut\n\n| a | 中文 |\n|-|-|\n|1|" + "2" * 50 + "|",
    "# 中文\n\n> quoted\n\n- one\n  - 👨‍👩‍👧 two\n\n```python\ndef walnut(): pass\n\n```",
    "one",
)
ARGUMENTS = '{"command": "ls 中文\\n\\nwalnut", "deep": {"list": [1, 2]}}'
OUTPUT = "first\n\n  中文 walnut\n" + "x" * 900 + "\n\n--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n"
Shows = Callable[[HermesApp], bool]


def shows(text: str) -> Shows:
    return lambda app: text in seen(app)


def on(kind: type[object]) -> Shows:
    return lambda app: isinstance(app.screen, kind)


PLACES: dict[str, tuple[tuple[str, ...], Shows]] = {
    "list": ((), lambda app: True),
    "filter": (("f", *"talk"), lambda app: True),
    "search": (("slash", *"walnut"), on(SearchScreen)),
    "nothing found": (("slash", *"zebra"), on(SearchScreen)),
    "hits": (("slash", *"walnut", "tab"), on(SearchScreen)),
    "transcript": (("enter",), on(TranscriptScreen)),
    "unfolded": (("enter", "t", "T"), on(TranscriptScreen)),
    "find": (("enter", "slash", *"walnut"), on(TranscriptScreen)),
    "go to": (("enter", "number_sign", "1"), on(TranscriptScreen)),
    "bookmarks": (("enter", "m", "apostrophe"), on(TranscriptScreen)),
    "link": (("enter", "tab", "enter"), on(TranscriptScreen)),
    "lineage": (("l",), on(LineageScreen)),
    "resume": (("r",), on(ResumeScreen)),
    "help": (("question_mark",), on(HelpScreen)),
    "profiles": (("P",), on(ProfilesScreen)),
    "list of bookmarks": (("colon", *"bookmarks", "enter"), on(BookmarksScreen)),
    "palette": (("colon",), on(Palette)),
    "palette, some": (("colon", *"theme"), on(Palette)),
    "palette, none": (("colon", *"zebra"), on(Palette)),
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sizes") / "home"
    with StoreBuilder(folder / "state.db", journal="delete") as store:
        for number in range(30):
            store.session(f"s{number}", title=f"Talk {number}")
            for turn in range(8):
                store.message(f"s{number}", ("user", "assistant")[turn % 2], TEXTS[turn % len(TEXTS)])
            call = {"id": "c1", "type": "function", "function": {"name": "terminal", "arguments": ARGUMENTS}}
            store.message(
                f"s{number}", "assistant", "", tool_calls=[call], reasoning="thinking 中\n\nof walnuts " * 9
            )
            store.message(f"s{number}", "tool", OUTPUT, tool_call_id="c1", tool_name="terminal")
            store.message(f"s{number}", "assistant", "see https://example.org/walnut")
    return folder


async def open_place(app: HermesApp, pilot: Pilot[Any], place: str) -> None:
    first = app.screen
    assert isinstance(first, BrowseScreen)
    await until(pilot, lambda: first.rows.items, turns=4_000)
    keys, there = PLACES[place]
    for key in keys:
        await pilot.press(key)
        await until(pilot, lambda: key != "enter" or there(app))  # noqa: B023  # asked at once
    await until(pilot, lambda: there(app))


async def move(app: HermesApp, pilot: Pilot[Any]) -> None:
    """Every key that moves, as fast as a terminal may send them, and something to be told meanwhile."""
    app.notify("said 中 in words", markup=False)
    for key in MOVES:
        app.post_message(events.Key(key, key if len(key) == 1 else None))
    await pilot.pause()
    await until(pilot, lambda: not app._keys and app._under_way is None, turns=2_000)


def app_of(home: Path) -> HermesApp:
    return HermesApp(SqliteSessionService([home_store(home)]), settings=Settings(theme="hermes-dark"))


@pytest.mark.parametrize("place", PLACES)
async def test_a_place_lives_through_every_size_and_every_move(home: Path, place: str) -> None:
    app = app_of(home)
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await open_place(app, pilot, place)
        for size in SIZES:
            await pilot.resize_terminal(*size)
            assert app.size == size
            await move(app, pilot)
        await pilot.resize_terminal(120, 36)
        await until(pilot, lambda: seen(app).strip())


@pytest.mark.parametrize(
    "place", ["list", "hits", "find", "bookmarks", "lineage", "resume", "help", "profiles", "palette"]
)
async def test_a_place_may_be_opened_where_there_is_no_room_for_it(home: Path, place: str) -> None:
    app = app_of(home)
    async with app.run_test(size=(1, 1), notifications=True) as pilot:
        await open_place(app, pilot, place)
        await move(app, pilot)
        await pilot.resize_terminal(120, 36)
        await until(pilot, lambda: seen(app).strip())


async def test_without_a_store_too(tmp_path: Path) -> None:
    app = app_of(tmp_path / "none")
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, MissingScreen), turns=4_000)
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await move(app, pilot)
