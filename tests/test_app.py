"""The app around the screens: what they ask for, keys of every place, and its end."""

from __future__ import annotations

import asyncio
import gc
import platform
import subprocess
import sys
import weakref
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.style import Style
from textual import events
from textual.command import CommandList, CommandPalette, DiscoveryHit
from textual.css.scalar import Scalar
from textual.pilot import Pilot
from textual.widgets import OptionList
from textual.widgets._toast import Toast

from hermes_tui import handover, tidying
from hermes_tui.app import SHEETS_OF, HermesApp, connect_to_sqlite
from hermes_tui.bookmarks import Bookmark, Bookmarks
from hermes_tui.domain.links import Candidate
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.domain.queries import SearchOrder
from hermes_tui.errors import QueryTimeout, StoreMissing, StoreUnreadable, TargetAmbiguous, Unsupported
from hermes_tui.intents import HandOver, OpenSearch, OpenTarget, OpenTranscript, PrintAndQuit
from hermes_tui.keys import EVERYWHERE, PLACES, SMALL_PLACES
from hermes_tui.palette import Commands, Palette
from hermes_tui.paths import home_store
from hermes_tui.running import _kept_theme
from hermes_tui.screens.base import bindings
from hermes_tui.screens.bookmarked import BookmarksScreen
from hermes_tui.screens.browse import BrowseScreen
from hermes_tui.screens.help import HelpScreen, HelpText
from hermes_tui.screens.missing import MissingScreen
from hermes_tui.screens.profiles import ProfilesScreen
from hermes_tui.screens.search import SearchScreen
from hermes_tui.screens.transcript import TranscriptScreen
from hermes_tui.settings import Settings
from hermes_tui.widgets import themes
from hermes_tui.widgets.helping import ROUTES, SIGNS
from hermes_tui.widgets.ink import Line
from tests import values
from tests.fakes import GatedService
from tests.stage import seen, until

Piloted = tuple[HermesApp, Pilot[Any]]
RESUME = HandOver(("hermes", "-p", "default", "--resume", "x"), {})


@pytest.fixture(autouse=True)
def _a_fixed_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_TUI_NOW", str(values.NOW))
    monkeypatch.setattr(BrowseScreen, "FOLLOW_SECONDS", 0.005)
    monkeypatch.setattr(MissingScreen, "FOLLOW_SECONDS", 0.005)


@asynccontextmanager
async def running(
    service: GatedService | None = None, size: tuple[int, int] = (120, 36), **options: Any
) -> AsyncIterator[Piloted]:
    app = HermesApp(service or GatedService(), **options)
    async with app.run_test(size=size, notifications=True) as pilot:
        await pilot.pause()
        yield app, pilot


@contextmanager
def lent() -> Iterator[None]:
    """The terminal, lent to another program; as Textual does it, a failure inside would be the end."""
    yield
    ended.append(True)


ended: list[bool] = []


def told(app: HermesApp) -> list[str]:
    return [each.message for each in app._notifications]


# links


async def test_a_link_opens_the_conversation_that_holds_it() -> None:
    async with running() as (app, pilot):
        app.post_message(OpenTarget("@session:default/20261129_090000_bbbb02#3"))
        await until(pilot, lambda: isinstance(app.screen, TranscriptScreen))
        assert isinstance(app.screen, TranscriptScreen)
        assert app.screen.key == values.CONVERSATIONS[1].key
        assert app.screen.opening.anchor == 3


async def test_a_search_begins_in_the_order_and_with_the_scan_that_it_was_asked_for() -> None:
    async with running(opening=OpenSearch("oauth", order=SearchOrder.OLDEST, scan=True)) as (app, pilot):
        await until(pilot, lambda: isinstance(app.screen, SearchScreen))
        search = app.screen
        assert isinstance(search, SearchScreen)
        await until(pilot, lambda: search.hits.hits)
        assert "oldest" in seen(app)
        assert search._answered is not None
        assert (search._answered.order, search._answered.scan) == (SearchOrder.OLDEST, True)
        await pilot.press("space", "x")
        await until(pilot, lambda: search._answered is not None and search._answered.text == "oauth x")
        assert (search._answered.order, search._answered.scan) == (SearchOrder.OLDEST, False)


async def test_back_from_the_next_hit_the_search_stands_on_it() -> None:
    async with running(opening=OpenSearch("oauth")) as (app, pilot):
        await until(pilot, lambda: isinstance(app.screen, SearchScreen))
        search = app.screen
        assert isinstance(search, SearchScreen)
        await until(pilot, lambda: len(search.hits.hits) > 1)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, TranscriptScreen) and "1/" in seen(app))
        await pilot.press("ctrl+n")
        await until(pilot, lambda: search.hits.cursor == 1)
        await pilot.press("q")
        await until(pilot, lambda: app.screen is search)
        assert search.current == search.hits.hits[1]


async def test_a_link_to_nothing_is_a_sentence_and_nothing_else() -> None:
    async with running() as (app, pilot):
        here = app.screen
        app.post_message(OpenTarget("@session:default/[/]nothing"))
        await until(pilot, lambda: told(app))
        assert "[/]nothing" in told(app)[0]
        assert app.screen is here


async def test_a_name_that_several_could_mean_is_asked_of_the_search() -> None:
    service = GatedService()
    service.failures["target"] = TargetAmbiguous("several", [Candidate("default", "a", "x")])
    async with running(service) as (app, pilot):
        app.post_message(OpenTarget("2026"))
        await until(pilot, lambda: isinstance(app.screen, SearchScreen) and app.screen.box.text == "2026")


async def test_a_link_that_names_a_profile_opens_that_profile(tmp_path: Path) -> None:
    (tmp_path / "profiles" / "work").mkdir(parents=True)
    (tmp_path / "profiles" / "work" / "config.yaml").touch()
    home = StoreRef("default", tmp_path / "state.db", tmp_path, tmp_path)
    elsewhere = values.conversation("id-at-work", "Quarterly plan", profile="work")
    opened: list[Sequence[StoreRef]] = []

    def connect(stores: Sequence[StoreRef]) -> GatedService:
        opened.append(stores)
        return GatedService([elsewhere], stores=stores)

    async with running(GatedService(stores=[home]), connect=connect) as (app, pilot):
        app.post_message(OpenTarget("@session:work/id-at-work"))
        await until(pilot, lambda: isinstance(app.screen, TranscriptScreen))
        assert [ref.profile for (ref,) in opened] == ["work"]
        await until(pilot, lambda: "Quarterly plan" in seen(app))
        app.post_message(OpenTarget("@session:work/id-at-work"))
        await pilot.pause()
        assert len(opened) == 1
        app.post_message(OpenTarget("@session:nowhere/x"))
        await until(pilot, lambda: "nowhere" in " ".join(told(app)))


async def test_what_the_command_line_asked_for_is_open_above_the_list() -> None:
    opening = OpenTranscript(values.CONVERSATIONS[0].key, anchor=3)
    async with running(opening=opening) as (app, pilot):
        await until(pilot, lambda: isinstance(app.screen, TranscriptScreen))
        await pilot.press("q")
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen) and app.screen.rows.items)


async def test_back_from_what_the_command_line_asked_for_the_list_stands_on_it() -> None:
    key = values.CONVERSATIONS[1].key
    async with running(opening=OpenTranscript(key)) as (app, pilot):
        await until(pilot, lambda: isinstance(app.screen, TranscriptScreen))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen) and app.screen.rows.items)
        assert isinstance(app.screen, BrowseScreen)
        assert app.screen.rows.cursor > 0
        assert app.screen.rows.current is not None
        assert app.screen.rows.current.key == key


# handing over


async def test_becoming_hermes_is_left_to_the_command_line() -> None:
    app = HermesApp(GatedService())
    async with app.run_test() as pilot:
        app.post_message(RESUME)
        await until(pilot, lambda: app._exit)
    assert app.return_value == RESUME


async def test_a_line_to_print_is_left_to_the_command_line() -> None:
    app = HermesApp(GatedService())
    async with app.run_test() as pilot:
        app.post_message(PrintAndQuit("hermes -p default --resume x"))
        await until(pilot, lambda: app._exit)
    assert app.return_value == PrintAndQuit("hermes -p default --resume x")


async def test_coming_back_from_hermes_one_is_on_the_same_row(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[object] = []
    monkeypatch.setattr(handover, "run", lambda argv, env: ran.append(argv) or 3)
    async with running() as (app, pilot):
        screen = app.screen
        assert isinstance(screen, BrowseScreen)
        await until(pilot, lambda: screen.rows.items)
        await pilot.press("down", "down")
        held = screen.current

        monkeypatch.setattr(app, "suspend", lent)
        app.post_message(HandOver(RESUME.argv, {}, back=True))
        await until(pilot, lambda: told(app))
        assert ran == [RESUME.argv]
        assert told(app) == ["hermes ended with code 3"]
        assert screen.current == held


async def test_a_hermes_that_cannot_be_started_is_a_sentence_with_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended.clear()

    def missing(argv: object, env: object) -> int:
        raise Unsupported("hermes is not on PATH; run: hermes --resume [x]")

    monkeypatch.setattr(handover, "run", missing)
    async with running() as (app, pilot):
        monkeypatch.setattr(app, "suspend", lent)
        app.post_message(HandOver(RESUME.argv, {}, back=True))
        await until(pilot, lambda: told(app))
        assert told(app) == ["hermes is not on PATH; run: hermes --resume [x]"]
        assert ended == [True]


# keys


def test_every_key_is_bound_once_in_its_place_and_every_id_is_its_own() -> None:
    every = [key for place in (*PLACES.values(), *SMALL_PLACES.values()) for key in place]
    assert len({key.id for key in every}) == len(every)
    for place, keys in {**PLACES, **SMALL_PLACES}.items():
        names = [name for key in keys for name in key.keys.split(",")]
        assert len(names) == len(set(names)), place
        assert len(bindings(place)) == len(keys)


def test_every_key_leads_to_an_action() -> None:
    screens = {
        "browse": BrowseScreen,
        "search": SearchScreen,
        "transcript": TranscriptScreen,
        "profiles": ProfilesScreen,
        "bookmarks": BookmarksScreen,
        "missing": MissingScreen,
    }
    for place, screen in screens.items():
        for key in {**PLACES, **SMALL_PLACES}[place]:
            assert hasattr(screen, f"action_{key.action.partition('(')[0]}"), key.id
    for key in EVERYWHERE:
        assert hasattr(HermesApp, f"action_{key.action}"), key.id


@asynccontextmanager
async def over_the_list() -> AsyncIterator[tuple[BrowseScreen, HermesApp, Pilot[Any]]]:
    """The palette, open over the list of conversations."""
    async with running() as (app, pilot):
        screen = app.screen
        assert isinstance(screen, BrowseScreen)
        await until(pilot, lambda: screen.rows.items)
        await pilot.press("colon")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        yield screen, app, pilot


async def test_the_palette_runs_commands_of_the_screen_by_name() -> None:
    async with over_the_list() as (screen, app, pilot):
        await pilot.press(*"reverse")
        await until(pilot, lambda: "reverse the order" in seen(app))
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is screen and "active ↑" in seen(app))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("lineage", "how sessions descend"),
        ("hidden", "show or hide what is left out"),
        ("quit", "ctrl+q"),
        ("help", "these keys"),
    ],
)
async def test_the_palette_finds_a_command_by_the_word_of_the_footer_too(name: str, said: str) -> None:
    async with over_the_list() as (_, app, pilot):
        await pilot.press(*name)
        await until(pilot, lambda: said in seen(app) and "read the conversation" not in seen(app))


async def test_the_palette_says_at_once_that_there_is_no_such_command() -> None:
    async with over_the_list() as (_, app, pilot):
        palette = app.screen
        assert isinstance(palette, Palette)
        said = "there is no such command"
        await pilot.press(*"zebra")
        await until(pilot, lambda: said in seen(app))
        assert palette._no_matches_timer is None  # nothing is waited for
        await pilot.press("enter", "down", "enter")
        assert app.screen is palette
        await pilot.press(*["backspace"] * 5, *"reverse")
        await until(pilot, lambda: "reverse the order" in seen(app) and said not in seen(app))


async def test_of_two_choices_in_one_breath_the_palette_takes_one_and_closes_once() -> None:
    async with over_the_list() as (screen, app, pilot):
        await pilot.press(*"reverse")
        await until(pilot, lambda: "reverse the order" in seen(app))
        results = app.screen.query_one(CommandList)
        results.highlighted = 0
        results.action_select()
        results.action_select()
        await until(pilot, lambda: app.screen is screen and "active ↑" in seen(app))
        await pilot.pause()
        assert app.screen is screen
        assert "active ↑" in seen(app)


async def test_what_a_palette_would_show_in_a_moment_is_for_nobody_once_its_parts_are_gone() -> None:
    async with running() as (app, pilot):
        await pilot.press("colon", *"reverse")
        await until(pilot, lambda: "reverse the order" in seen(app))
        palette, results = app.screen, app.screen.query_one(CommandList)
        assert isinstance(palette, Palette)
        option = OptionList.OptionSelected(results, results.get_option_at_index(0), 0)
        await palette.query("*").remove()
        palette._show_busy = not palette._show_busy
        palette._list_visible = not palette._list_visible
        palette.post_message(option)
        await pilot.pause()
        palette._start_no_matches_countdown("zebra")
        palette.dismiss()
        await until(pilot, lambda: palette._busy_timer is None)
        assert isinstance(app.screen, BrowseScreen)


async def test_a_click_on_a_command_that_is_no_longer_listed_does_nothing() -> None:
    async with running() as (app, pilot):
        await pilot.press("colon", *"reverse")
        await until(pilot, lambda: "reverse the order" in seen(app))
        results = app.screen.query_one(CommandList)
        at = {"x": 1, "y": 0, "screen_x": 30, "screen_y": 5}
        where = Style.from_meta({"option": results.option_count})
        keys = {"shift": False, "meta": False, "ctrl": False}
        results.post_message(events.Click(results, **at, delta_x=0, delta_y=0, button=1, **keys, style=where))
        await pilot.pause()
        assert isinstance(app.screen, CommandPalette)
        results.post_message(
            events.Click(results, **at, delta_x=0, delta_y=0, button=1, **keys, style=Style.from_meta({"option": 0}))
        )
        await until(pilot, lambda: "active ↑" in seen(app))


async def test_a_click_from_before_the_terminal_became_smaller_leaves_the_palette_open() -> None:
    async with running() as (app, pilot):
        await pilot.press("colon")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        palette = app.screen
        at = {"x": 300, "y": 20, "screen_x": 300, "screen_y": 20}
        click = events.Click(palette, **at, delta_x=0, delta_y=0, button=1, shift=False, meta=False, ctrl=False)
        palette.post_message(click)
        await pilot.pause()
        assert app.screen is palette
        await pilot.click(offset=(1, 30))
        await until(pilot, lambda: app.screen is not palette)


async def commands(app: HermesApp) -> dict[str, str]:
    """What the palette lists on the present screen: the sentence, and what stands beside it."""
    hits = [hit async for hit in Commands(app.screen).discover()]
    shown = [(str(hit.text), str(hit.display)) for hit in hits if isinstance(hit, DiscoveryHit)]
    assert len(shown) == len({said for said, _ in shown}), shown
    return {said: line.removeprefix(said).strip() for said, line in shown}


async def test_of_the_themes_that_match_our_own_come_first_in_the_palette() -> None:
    async with running() as (_app, pilot):
        for word in ("light", "dark"):
            await pilot.press("colon", *word)
            results = pilot.app.screen.query_one(CommandList)
            await until(pilot, lambda results=results: results.option_count > 1 and results.get_option_at_index(0))
            await until(pilot, lambda r=results, w=word: f"theme hermes-{w}" in str(r.get_option_at_index(0).prompt))
            await pilot.press("escape")


async def test_a_newer_toast_takes_the_place_of_an_older_one_of_its_kind_and_leaves_the_footer() -> None:
    async with running(size=(80, 24)) as (app, pilot):
        await until(pilot, lambda: "OAuth refresh" in seen(app))
        app._say("first")
        app._say("a warning", severity="warning")
        app._say("second")
        await until(pilot, lambda: len(told(app)) == 2 and "second" in told(app))
        assert told(app) == ["a warning", "second"]
        await until(pilot, lambda: "second" in seen(app))
        assert "first" not in seen(app)
        assert seen(app).splitlines()[-1].endswith("? keys")


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_toasts_stand_below_the_header_once_and_leave_status_and_commands_in_sight(
    size: tuple[int, int],
) -> None:
    async with running(size=size) as (app, pilot):
        await until(pilot, lambda: "OAuth refresh" in seen(app))
        app._say("a code", severity="warning")
        await until(pilot, lambda: "a code" in seen(app))
        assert "a code" in seen(app).splitlines()[1]
        assert "1/" in seen(app) or "1 of" in seen(app)
        await pilot.press("r")
        await until(pilot, lambda: "--resume" in seen(app))
        for _ in range(2):
            app._say("a code", severity="warning")
            await pilot.pause()
        await until(pilot, lambda: "a code" in seen(app))
        assert seen(app).count("a code") == 1
        assert [len(screen.query(Toast)) for screen in app.screen_stack] == [0, 1]
        await pilot.press("c")
        await until(pilot, lambda: "sent to the terminal" in seen(app))
        assert "    hermes -p default --resume" in seen(app)


async def test_the_palette_lists_each_command_that_works_here_once_and_marks_the_theme_in_force() -> None:
    async with running() as (app, pilot):
        screen = app.screen
        assert isinstance(screen, BrowseScreen)
        await until(pilot, lambda: screen.rows.items)
        found = await commands(app)
        assert found["quit"] == "q ctrl+q"
        assert [said for said, beside in found.items() if beside == "in use"] == ["theme hermes-dark"]
        assert "clear the filter" not in found
        assert "copy the selection" not in found
        app.theme = "hermes-light"
        assert (await commands(app))["theme hermes-light"] == "in use"
        await pilot.press("f", *"zebra", "enter")
        await until(pilot, lambda: screen.current is None)
        found = await commands(app)
        assert "clear the filter" in found
        assert "resume in Hermes" not in found


@pytest.mark.parametrize("size", [(60, 18), (120, 36)])
async def test_bookmarks_are_reached_from_the_list_by_the_palette(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kept = Bookmarks(tmp_path / "bookmarks.json")
    monkeypatch.setattr(BookmarksScreen, "bookmarks", kept)
    row = values.CONVERSATIONS[1]
    here = Bookmark(str(values.STORE.db), "default", row.root_id, 3, "Atlas [/]", "a word", values.NOW)
    for mark in (replace(here, message_id=2, words="another"), replace(here, db="/elsewhere/state.db"), here):
        kept.toggle(mark)
    async with running(size=size) as (app, pilot):
        browse = app.screen
        assert isinstance(browse, BrowseScreen)
        await until(pilot, lambda: browse.rows.items)
        await pilot.press("colon", *"bookm")
        await until(pilot, lambda: "list of bookmarks" in seen(app))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, BookmarksScreen) and "enter read   m remove" in seen(app))
        assert seen(app).count("Atlas [/]  ") == 2
        await pilot.press("down", "m")
        await until(pilot, lambda: "another" not in seen(app))
        assert [mark.db for mark in kept()] == [here.db, "/elsewhere/state.db"]
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, TranscriptScreen))
        assert isinstance(app.screen, TranscriptScreen)
        assert (app.screen.key, app.screen.opening.anchor) == (row.key, 3)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is browse)


async def test_many_bookmarks_scroll_show_that_they_do_and_leave_the_keys_in_sight(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kept = Bookmarks(tmp_path / "bookmarks.json")
    monkeypatch.setattr(BookmarksScreen, "bookmarks", kept)
    for number in range(1, 41):
        kept.toggle(Bookmark(str(values.STORE.db), "default", "r", number, "Talk", f"word{number}", values.NOW))
    async with running(size=(60, 18)) as (app, pilot):
        await app.action_bookmarks()
        await until(pilot, lambda: "word40" in seen(app) and "┃" in seen(app))
        await pilot.press("G")
        await until(pilot, lambda: "word1 " in seen(app))
        assert "enter read   m remove   esc close   ? keys" in seen(app)


@pytest.mark.parametrize("plain", [False, True])
async def test_in_the_palette_keys_stand_in_a_column_and_a_long_list_shows_its_thumb(plain: bool) -> None:
    app = HermesApp(GatedService(), settings=Settings(ascii=plain))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen) and app.screen.rows.items)
        await pilot.press("colon")
        await until(pilot, lambda: "search every word" in seen(app) and "quit" in seen(app))
        lines = seen(app).splitlines()
        ends = {"read the conversation": "enter", "search every word": "/", "quit": "q ctrl+q"}
        at = {row.index(f" {key}") for said, key in ends.items() for row in lines if row.startswith(f"  {said}  ")}
        assert len(at) == 1
        assert sum(row.rstrip().endswith("#" if plain else "┃") for row in lines[5:-2]) >= 3
        await pilot.press(*"reverse")
        await until(pilot, lambda: "read the conversation" not in seen(app))
        assert not any(row.rstrip().endswith("#" if plain else "┃") for row in seen(app).splitlines()[5:7])


async def test_a_colon_in_the_filter_is_text() -> None:
    async with running() as (app, pilot):
        await pilot.press("f", "i", "s", "colon", "question_mark")
        screen = app.screen
        assert isinstance(screen, BrowseScreen)
        assert screen.box.text == "is:?"


async def test_help_begins_with_the_screen_one_came_from_and_finds_what_is_typed() -> None:
    async with running(size=(120, 40)) as (app, pilot):
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen) and "you are here" in seen(app))
        assert "browse  you are here" in seen(app)
        assert "reasoning, codex items: / in a transcript, not search" in seen(app)
        await pilot.press(*"copy", "space", *"qlink")
        await pilot.press(*["left"] * 3, *["backspace"] * 5)
        await until(pilot, lambda: "? copy" in seen(app))
        assert "copy the @session link" in seen(app)
        assert "change the order" not in seen(app)
        await pilot.press(*"zzz")
        await until(pilot, lambda: "no key does that" in seen(app))
        await pilot.press("escape")
        await until(pilot, lambda: "you are here" in seen(app))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))


async def test_help_tells_signs_filters_and_ways_of_searching() -> None:
    async with running(size=(120, 90)) as (app, pilot):
        await pilot.press("question_mark")
        await until(pilot, lambda: "you are here" in seen(app))
        names = {line.split()[0] for line in seen(app).splitlines() if line.split()}
        assert not {"search", "transcript", "lineage"} <= names, "one column where two have room"
        for sign, said in (*SIGNS, *ROUTES):
            assert any(sign in line and said in line for line in seen(app).splitlines()), sign
        await pilot.press(*"trigram")
        await until(pilot, lambda: "how it was searched" in seen(app) and "interrupted" not in seen(app))
        await pilot.press("escape", *"pinned")
        await until(pilot, lambda: any("★" in line and "signs" in line for line in seen(app).splitlines()))


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (200, 60)])
async def test_all_of_the_help_can_be_scrolled_into_sight(size: tuple[int, int]) -> None:
    async with running(size=size) as (app, pilot):
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        screen = app.screen
        assert isinstance(screen, HelpScreen)
        read = seen(app)
        while screen.text.top < screen.text.bottom:
            await pilot.press("pagedown")
            read += seen(app)
        for words in ("browse", "every command", "resume", "bookmark", "before: after:", "fold, unfold"):
            assert words in read


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_a_panel_is_never_laid_out_for_another_size_than_the_screen_has(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    lines = HelpText._lines

    def recorded(self: HelpText, width: int) -> list[Line]:
        asked.append(width)
        return lines(self, width)

    monkeypatch.setattr(HelpText, "_lines", recorded)
    async with running(size=size) as (app, pilot):
        await pilot.press("question_mark")
        await until(pilot, lambda: "you are here" in seen(app))
        assert set(asked) - {0} == {min(size[0], 104) - 2}


async def test_keys_of_the_settings_work_and_are_shown_in_footer_and_help() -> None:
    async with running(settings=Settings(keys={"browse.filter": "ctrl+f", "browse.lineage": "L"})) as (app, pilot):
        screen = app.screen
        assert isinstance(screen, BrowseScreen)
        await until(pilot, lambda: screen.rows.items)
        assert "ctrl+f filter" in seen(app)
        assert "L lineage" in seen(app)
        await pilot.press("f")
        assert not screen.typing
        await pilot.press("ctrl+f")
        assert screen.typing
        await pilot.press("escape", "question_mark")
        await until(pilot, lambda: "ctrl+f" in seen(app).split("you are here")[-1])


# profiles and stores


def _profiles(root: Path, *names: str) -> StoreRef:
    for name in names:
        home = root if name == "default" else root / "profiles" / name
        home.mkdir(parents=True, exist_ok=True)
        (home / "state.db").touch()
    return StoreRef("default", root / "state.db", root, root)


async def test_profiles_are_chosen_from_a_list_that_says_how_much_each_holds(tmp_path: Path) -> None:
    store = _profiles(tmp_path, "default", "work", "coder")
    made: list[GatedService] = []

    def connect(stores: Sequence[StoreRef]) -> GatedService:
        rows = [
            values.conversation(f"{ref.profile}{i}", f"{ref.profile} talk", profile=ref.profile)
            for ref in stores
            for i in range(3)
        ]
        made.append(GatedService(rows, stores=stores))
        return made[-1]

    first = GatedService(stores=[store])
    async with running(first, connect=connect) as (app, pilot):
        await pilot.press("P")
        await until(
            pilot, lambda: isinstance(app.screen, ProfilesScreen) and seen(app).count(" 3 conversations") >= 3
        )
        await pilot.press("down", "enter")
        await until(pilot, lambda: "coder talk" in seen(app))
        assert first.closed
        assert len(app.screen_stack) == 1
        await pilot.press("P")
        await until(
            pilot, lambda: isinstance(app.screen, ProfilesScreen) and seen(app).count(" 3 conversations") >= 3
        )
        await pilot.press("a", "enter")
        await until(pilot, lambda: "9 of 9" in seen(app))
        assert "work talk" in seen(app)
        assert "coder" in seen(app)
        assert all(service.closed for service in made[:-1])


async def test_a_profile_that_cannot_be_read_says_why_before_where_and_has_no_tick(tmp_path: Path) -> None:
    store = _profiles(tmp_path, "default", "work")
    work = StoreRef("work", tmp_path / "profiles/work/state.db", tmp_path / "profiles/work", tmp_path)

    def connect(stores: Sequence[StoreRef]) -> GatedService:
        service = GatedService(stores=stores)
        if stores[0].profile == "work":
            error = StoreUnreadable(f"{stores[0].db} is not a database. Name another with --db or --home.")
            service.failures |= {"first_page": error, "conversations": error}
        return service

    async with running(GatedService(stores=[store, work]), connect=connect, size=(120, 36)) as (app, pilot):
        await pilot.press("P")
        await until(pilot, lambda: "is not a database" in seen(app))
        rows = {name: row for row in seen(app).splitlines() for name in ("default", "work") if f" {name}  " in row}
        assert "✗ work" in rows["work"]
        assert "here  state.db is not a database   …" in rows["work"]
        assert "✓ default" in rows["default"]


async def test_back_in_a_profile_one_is_where_one_was(tmp_path: Path) -> None:
    store = _profiles(tmp_path, "default", "work")

    def connect(stores: Sequence[StoreRef]) -> GatedService:
        names = [(ref.profile, i) for ref in stores for i in range(40)]
        rows = [
            values.conversation(f"{name}{i}", f"{name} talk {i}", profile=name, hours=1.0 + i) for name, i in names
        ]
        return GatedService(rows, stores=stores)

    def current() -> tuple[str, ...]:
        screen = app.screen
        row = screen.current if isinstance(screen, BrowseScreen) else None
        return () if row is None else tuple(row.key)

    async with running(connect([store]), connect=connect) as (app, pilot):

        async def switch(*keys: str) -> None:
            await pilot.press("P")
            await until(
                pilot, lambda: isinstance(app.screen, ProfilesScreen) and seen(app).count("40 conversations") >= 2
            )
            await pilot.press(*keys)

        await until(pilot, lambda: current() == ("default", "default0"))
        await pilot.press(*["down"] * 7)
        await switch("down", "enter")
        await until(pilot, lambda: current() == ("work", "work0"))
        await pilot.press("down")
        await switch("up", "enter")
        await until(pilot, lambda: current() == ("default", "default7"))
        await switch("a", "enter")
        await until(pilot, lambda: "80 of 80" in seen(app))
        assert current() == ("default", "default7")


async def test_without_a_store_one_learns_where_it_was_looked_for_and_what_there_is(tmp_path: Path) -> None:
    _profiles(tmp_path, "coder")
    (tmp_path / "state.db").unlink(missing_ok=True)
    store = StoreRef("default", tmp_path / "state.db", tmp_path, tmp_path)
    service = GatedService(stores=[store])
    service.failures["conversations"] = StoreMissing(f"{store.db} does not exist")

    def connect(stores: Sequence[StoreRef]) -> GatedService:
        return GatedService(stores=stores)

    async with running(service, connect=connect) as (app, pilot):
        await until(pilot, lambda: isinstance(app.screen, MissingScreen) and "8 conversations" in seen(app))
        assert "✗ No history here yet:" in seen(app)
        assert "1 profile with a store" in " ".join(seen(app).split())
        assert "look around in a sample store" in seen(app)
        assert "hermes-tui --db PATH" in seen(app)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen) and app.screen.rows.items)


@pytest.mark.parametrize("size", [(80, 24), (40, 10)])
async def test_without_a_store_the_way_into_the_sample_is_in_sight_at_once(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    store = StoreRef("default", tmp_path / "state.db", tmp_path, tmp_path)
    service = GatedService(stores=[store])
    service.failures["conversations"] = StoreMissing(f"{store.db} does not exist")
    async with running(service, size) as (app, pilot):
        await until(pilot, lambda: "enter sample store" in seen(app))
        row = next(each for each in seen(app).splitlines() if each.startswith("▌"))
        assert row.startswith("▌  look around in a sample store")
        assert "…" not in row
        assert ("  about 60 conversations" in row) is (size[0] == 80)
        await pilot.press("end")
        await until(pilot, lambda: "--home DIR" in seen(app))


async def test_a_store_that_appears_is_opened_without_a_key(tmp_path: Path) -> None:
    store = StoreRef("default", tmp_path / "state.db", tmp_path, tmp_path)
    service = GatedService(stores=[store])
    service.failures["conversations"] = StoreMissing(f"{store.db} does not exist")
    async with running(service, connect=lambda stores: GatedService(stores=stores)) as (app, pilot):
        await until(pilot, lambda: "No history here yet" in seen(app))
        store.db.touch()
        await until(pilot, lambda: "OAuth refresh" in seen(app), turns=4_000)


async def test_the_sample_store_opens_and_is_gone_afterwards(tmp_path: Path) -> None:
    store = StoreRef("default", tmp_path / "state.db", tmp_path, tmp_path)
    service = GatedService(stores=[store])
    service.failures["conversations"] = StoreMissing(f"{store.db} does not exist")
    opened: list[StoreRef] = []

    def connect(stores: Sequence[StoreRef]) -> GatedService:
        opened.extend(stores)
        return GatedService(stores=stores)

    async with running(service, connect=connect) as (app, pilot):
        await until(pilot, lambda: "sample store" in seen(app))
        await pilot.press("enter")
        await until(pilot, lambda: "OAuth refresh" in seen(app), turns=4_000)
        assert opened[0].db.is_file()
        assert app._demo is not None
        app._demo.cleanup()
        assert not opened[0].db.exists()


# failures and the end


async def test_a_failure_that_nobody_caught_is_said_and_the_app_goes_on() -> None:
    async with running() as (app, pilot):

        async def fails() -> None:
            raise QueryTimeout("it took longer than 5 s [/]")

        app.run_worker(fails())
        await until(pilot, lambda: told(app) == ["it took longer than 5 s [/]"])
        assert app.is_running


async def test_a_crash_tells_where_but_not_what_people_wrote(monkeypatch: pytest.MonkeyPatch) -> None:
    app = HermesApp(GatedService())
    printed: list[str] = []
    monkeypatch.setattr(app.error_console, "print", lambda what, **options: printed.append(str(what)))

    async def fails() -> None:
        secret = "what people wrote"
        assert secret
        raise RuntimeError("a bug \x1b[2J[/]")

    async def crash(pilot: Pilot[Any]) -> None:
        app.run_worker(fails())
        await pilot.pause()

    await asyncio.wait_for(app.run_async(headless=True, size=(80, 24), auto_pilot=crash), 20)
    assert app.return_code == 1
    (told,) = printed
    assert "RuntimeError: a bug \ufffd[2J[/]" in told
    assert "in fails" in told
    assert "what people wrote'" not in told.replace('secret = "what people wrote"', "")


def test_the_styles_are_found_and_every_sheet_is_used() -> None:
    folder = Path(HermesApp.CSS_PATH[0]).parent
    used = {*(Path(path).stem for path in HermesApp.CSS_PATH), *SHEETS_OF.values(), "panel", "toast"}
    assert used == {path.stem for path in folder.glob("*.tcss")}


async def test_a_sheet_is_read_with_the_first_screen_that_it_is_for() -> None:
    def read(app: HermesApp) -> set[str]:
        return {Path(path).stem for path, _ in app.stylesheet.source if path.endswith(".tcss")}

    async with running() as (app, pilot):
        assert read(app) == {"app", "widgets", "browse"}
        await pilot.press("slash")
        await until(pilot, lambda: isinstance(app.screen, SearchScreen))
        assert app.screen.query_one(".query").styles.margin.bottom == 1
        app.notify("said", markup=False)
        await until(pilot, lambda: bool(app.screen.query(Toast)))
        assert app.screen.query_one(Toast).styles.max_width == Scalar.from_number(60)
        assert read(app) == {"app", "widgets", "browse", "search", "toast"}


def test_listing_needs_no_textual() -> None:
    code = "import sys, hermes_tui.clipboard, hermes_tui.terminal; sys.exit('textual' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_services_are_closed_when_the_app_ends() -> None:
    service = GatedService()
    app = HermesApp(service, settings=Settings(theme="hermes-dark"))

    async def leave(pilot: Pilot[Any]) -> None:
        await pilot.press("q")

    await asyncio.wait_for(app.run_async(headless=True, auto_pilot=leave), 20)
    assert service.closed


async def test_a_theme_chosen_by_name_is_there_again_the_next_time() -> None:
    async with running() as (app, pilot):
        await pilot.press("colon", *"dracula")
        await until(pilot, lambda: "theme dracula" in seen(app))
        await pilot.press("enter")
        await until(pilot, lambda: app.theme == "dracula")
    async with running() as (app, _):
        assert app.theme == "dracula"
    async with running(settings=Settings(theme="light")) as (app, _):
        assert app.theme == "hermes-light"


@pytest.mark.parametrize("kept", ["[]", '{"a": 1}', "5", "[" * 100_000, '"no such theme"'])
async def test_a_kept_theme_that_is_none_is_passed_over(kept: str) -> None:
    _kept_theme().parent.mkdir(parents=True, exist_ok=True)
    _kept_theme().write_text(kept, "utf-8")
    assert HermesApp(GatedService(), settings=Settings()).theme in themes.MEANT.values()


@pytest.mark.real
async def test_on_a_store_that_hermes_wrote_one_finds_reads_and_comes_back(real_home: Path) -> None:
    """From the list into a conversation and back; what opens a database on the loop's thread fails any test."""
    service = connect_to_sqlite((home_store(real_home),))
    app = HermesApp(service)
    try:
        async with app.run_test(size=(120, 36)) as pilot:
            screen = app.screen
            assert isinstance(screen, BrowseScreen)
            await until(pilot, lambda: screen.rows.items, turns=4_000)
            await until(pilot, lambda: "…”" not in seen(app) and "@session" in seen(app), turns=4_000)
            await pilot.press("f", *"retry", "enter")
            await until(pilot, lambda: screen.current and "retry" in (screen.current.title or ""), turns=4_000)
            held = screen.current
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(app.screen, TranscriptScreen), turns=4_000)
            await pilot.press("q")
            await until(pilot, lambda: app.screen is screen)
            assert screen.current == held
    finally:
        await service.close()


async def test_an_answer_that_comes_while_its_screen_goes_is_for_nobody() -> None:
    service = GatedService()
    async with running(service) as (app, pilot):
        service.hold("resume_plan")
        await pilot.press("r")
        call = await service.asked("resume_plan")
        panel = app.screen
        leaving = app.pop_screen()
        while panel.query("#panel"):  # noqa: ASYNC110  # nothing tells when a part has gone
            await asyncio.sleep(0)
        if not call.cancelled:
            call.answer()
        await leaving
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        assert call.cancelled


async def test_an_answer_that_comes_while_the_app_ends_is_for_nobody() -> None:
    service = GatedService()
    async with running(service) as (app, pilot):
        service.hold("resume_plan")
        await pilot.press("r")
        call = await service.asked("resume_plan")
        app.exit()
        await asyncio.sleep(0)
        assert call.cancelled


async def test_screens_that_were_left_do_not_stay_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tidying, "QUIET", 0.01)
    was = gc.get_threshold()
    gc.disable()  # as rare as the app makes it
    try:
        async with running() as (app, pilot):
            left = weakref.WeakSet[Any]()
            for _ in range(3 * tidying.COLLECTED_AFTER):
                await pilot.press("r")
                await until(pilot, lambda: not isinstance(app.screen, BrowseScreen))
                left.add(app.screen)
                app.screen.dismiss()
                await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
            await until(pilot, lambda: len(left) <= 2 * tidying.COLLECTED_AFTER)
            await until(pilot, lambda: all(each.cache_info().currsize < 100 for each in tidying.HOLDING))
    finally:
        gc.enable()
        gc.set_threshold(*was)


async def test_what_was_left_is_looked_for_when_it_is_quiet_and_never_while_keys_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tidying, "QUIET", 3600.0)
    monkeypatch.setattr(tidying, "SETTLED", 3600.0)
    looked: list[tuple[int, ...]] = []
    monkeypatch.setattr(tidying.gc, "collect", lambda *generation: looked.append(generation))
    async with running() as (app, pilot):
        await pilot.press("r")
        await until(pilot, lambda: not isinstance(app.screen, BrowseScreen))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        app._tidy()
        assert looked == []
        monkeypatch.setattr(tidying, "QUIET", 0.0)
        monkeypatch.setattr(tidying, "SETTLED", 0.0)
        app._tidy()
        await until(pilot, lambda: looked == [(1,), ()])
        monkeypatch.setattr(tidying.gc, "get_count", lambda: (0, 0, 0))
        app._tidy()
        assert looked == [(1,), ()]
        monkeypatch.setattr(tidying.gc, "get_count", lambda: (0, tidying.YOUNG, 0))
        app._tidy()
        assert looked == [(1,), (), (1,)]


async def test_all_there_is_is_looked_at_when_nobody_seems_to_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[bool] = []
    waits: list[float] = []
    async with running() as (app, _):
        keeping = app._keeping = tidying.Keeping()
        monkeypatch.setattr(keeping, "grown", lambda times: times == tidying.GROWN)
        monkeypatch.setattr(keeping, "look", lambda *, at_all: looked.append(at_all))
        monkeypatch.setattr(app, "_tidy_later", waits.append)
        monkeypatch.setattr(HermesApp, "seconds_since_key", tidying.QUIET + 1.0)
        app._tidy()
        assert looked == []
        assert waits == [pytest.approx(tidying.AWAY - tidying.QUIET - 1.0)]
        monkeypatch.setattr(HermesApp, "seconds_since_key", tidying.AWAY)
        app._tidy()
        assert looked == [True]
        app._keeping = None


async def test_what_is_thrown_away_leaves_others_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[str] = []
    collect = tidying.gc.collect
    monkeypatch.setattr(tidying.gc, "collect", lambda *generation: turns.append("looked") or collect(*generation))
    async with running() as (app, pilot):
        loop = asyncio.get_running_loop()

        def other() -> None:
            if turns and turns[-1] != "another":
                turns.append("another")
            ticking.append(loop.call_later(0.001, other))

        ticking = [loop.call_soon(other)]
        app._left = 1
        app._throw_away()
        await until(pilot, lambda: turns.count("looked") == 2 and turns[-1] == "another")
        ticking[-1].cancel()
        assert turns == ["looked", "another"] * 2


async def test_what_is_imported_beforehand_does_not_count_as_grown() -> None:
    was = gc.get_threshold()
    try:
        async with running() as (app, pilot):
            app.collect_rarely()
            keeping = app._keeping
            assert keeping is not None
            lasting = [[number] for number in range(2 * gc.get_freeze_count())]
            await pilot.press("r")
            await until(pilot, lambda: not isinstance(app.screen, BrowseScreen))
            assert not app.keep_what_is_there()  # nor is a screen that will be left
            app.screen.dismiss()
            await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
            assert not app.keep_what_is_there()  # nor one that was
            app._left = 0
            gc.freeze()
            assert keeping.grown(tidying.GROWN_MUCH)
            assert app.keep_what_is_there()
            assert not keeping.grown(tidying.GROWN)
            assert lasting
    finally:
        gc.unfreeze()
        gc.set_threshold(*was)


async def test_what_was_left_is_looked_for_in_the_end_although_keys_come_without_a_pause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tidying, "QUIET", 3600.0)
    monkeypatch.setattr(tidying, "SETTLED", 0.05)
    monkeypatch.setattr(HermesApp, "seconds_since_key", 0.0)
    looked: list[tuple[int, ...]] = []
    given: list[bool] = []
    give_back = tidying.give_back
    monkeypatch.setattr(tidying.gc, "collect", lambda *generation: looked.append(generation))
    monkeypatch.setattr(tidying, "give_back", lambda: given.append(give_back()))
    async with running() as (app, pilot):
        for _ in range(tidying.OVERDUE):
            assert looked == []
            await pilot.press("r")
            await until(pilot, lambda: not isinstance(app.screen, BrowseScreen))
            app.screen.dismiss()
            await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        for _ in range(3):  # the next ones do not put it off
            app._leave_one()
        await until(pilot, lambda: given)
        assert looked == [(1,), ()]
        assert given == [sys.platform == "linux" and platform.libc_ver()[0] == "glibc"]


class _Ring:
    """Something that only the collector finds once it is left, and the many things that hang on it."""

    def __init__(self, size: int = 0) -> None:
        self.own, self.hangs = self, [[self] for _ in range(size)]


def test_what_was_taken_for_lasting_and_was_not_is_thrown_away_before_there_is_much_of_it() -> None:
    keeping = tidying.Keeping()
    collected = gc.isenabled()
    gc.disable()
    try:
        gc.collect()
        ring = _Ring()
        first = weakref.ref(ring)
        keeping.begin()
        began = gc.get_freeze_count()
        del ring
        keeping.look(at_all=keeping.grown(tidying.GROWN_MUCH))
        assert first() is not None, "nothing was taken for lasting: the rest would show nothing"
        for _ in range(30):
            ring = _Ring(began // 10)  # in place of the one before, which is frozen by now
            keeping.look(at_all=keeping.grown(tidying.GROWN_MUCH))
            assert gc.get_freeze_count() < began * (tidying.GROWN_MUCH + 0.3)
        assert first() is None
        last = weakref.ref(ring)
        del ring
        keeping.look(at_all=True)
        assert last() is None
        assert not keeping.grown(tidying.GROWN)
    finally:
        gc.unfreeze()
        if collected:
            gc.enable()


def test_after_the_warming_nothing_is_imported_when_a_screen_is_opened(tmp_path: Path) -> None:
    code = """
import asyncio, sys, threading
from pathlib import Path
from hermes_tui import demo, times
from hermes_tui.app import HermesApp, connect_to_sqlite
from hermes_tui.warming import warm

async def main():
    app = HermesApp(connect_to_sqlite([demo.write_demo(Path(sys.argv[1]), times.now())]))
    async with app.run_test(size=(120, 36)) as pilot:
        async def press(*keys):
            for key in keys:
                await pilot.press(key)
                await pilot.pause()
        await press("down")
        await asyncio.to_thread(warm, threading.Event())
        known, opened = set(sys.modules), set()
        keys = "enter pagedown slash t enter n escape escape l down escape r escape question_mark escape P escape"
        for key in f"{keys} slash t h e tab escape".split():
            await press(key)
            opened.add(type(app.screen).__name__)
        print(sorted(name for name in set(sys.modules) - known if name.startswith("hermes_tui")), len(opened))

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["[]", "7"], done.stdout + done.stderr


async def test_a_screen_that_is_told_twice_to_go_takes_no_other_with_it() -> None:
    async with running() as (app, pilot):
        for key in ("r", "l", "P", "slash", "question_mark", "enter"):
            await pilot.press(key)
            await until(pilot, lambda: not isinstance(app.screen, BrowseScreen))
            going = app.screen
            going.dismiss()
            going.dismiss()
            await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
            assert len(app.screen_stack) == 1
