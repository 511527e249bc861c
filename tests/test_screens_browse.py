"""Browse, in the whole app, with a service whose answers the test times."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest
from textual import events
from textual.geometry import Size
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.screen import Screen

from hermes_tui.app import HermesApp
from hermes_tui.domain.messages import Recap, RecapEntry
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.domain.sessions import (
    Conversation,
    ConversationPage,
    Details,
    HiddenReason,
    ListQuery,
    Order,
    Status,
    StoreProblem,
)
from hermes_tui.errors import BadQuery, StoreBusy, StoreUnreadable
from hermes_tui.intents import HandOver, PrintAndQuit
from hermes_tui.paths import user_home
from hermes_tui.screens.browse import BrowseScreen
from hermes_tui.screens.browsing import Browsing
from hermes_tui.screens.search import SearchScreen
from hermes_tui.settings import Settings
from hermes_tui.widgets.browsing import hidden_words
from tests import values
from tests.fakes import Call, GatedService
from tests.stage import seen, until

Opened = tuple[BrowseScreen, HermesApp, Pilot[HandOver | PrintAndQuit | None]]
HOSTILE = "[/] [red]hi[/blue] \x1b[2J\x1b]0;pwned\x07 \u202eabc"


@pytest.fixture(autouse=True)
def _a_fixed_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_TUI_NOW", str(values.NOW))
    monkeypatch.setattr(Browsing, "FOLLOW_SECONDS", 0.005)


@asynccontextmanager
async def browsing(
    service: GatedService, size: tuple[int, int] = (120, 36), settings: Settings | None = None
) -> AsyncIterator[Opened]:
    app = HermesApp(service, settings=settings)
    async with app.run_test(size=size, notifications=True) as pilot:
        screen = app.screen
        assert isinstance(screen, BrowseScreen)
        yield screen, app, pilot


@asynccontextmanager
async def listed(
    service: GatedService, size: tuple[int, int] = (120, 36), settings: Settings | None = None
) -> AsyncIterator[Opened]:
    """The same, once there are rows."""
    async with browsing(service, size, settings) as (screen, app, pilot):
        await until(pilot, lambda: screen.rows.items)
        yield screen, app, pilot


def conversations(n: int, **changes: object) -> list[Conversation]:
    return [values.conversation(f"20261130_{i:06d}_abcdef", f"talk {i}", hours=1.0 + i, **changes) for i in range(n)]


def latest(service: GatedService, name: str) -> Call:
    """The last question of this name: those before it were given up."""
    return [call for call in service.calls if call.name == name][-1]


def asked(service: GatedService) -> ListQuery:
    """Which list was asked for last."""
    query = latest(service, "conversations").arguments[0]
    assert isinstance(query, ListQuery)
    return query


def heads(app: HermesApp, name: str) -> bool:
    """Whether the columns are headed so."""
    return name in seen(app).splitlines()[2]


def status(app: HermesApp) -> str:
    return seen(app).splitlines()[-2]


def in_one_breath(app: HermesApp, text: str) -> None:
    """As a terminal delivers what is typed fast: all keys before the first is handled."""
    for char in text:
        app.post_message(events.Key(char if char.isalnum() else _character_to_key(char), char))


async def test_the_list_says_how_much_is_hidden_and_a_shows_it() -> None:
    human = conversations(1)
    noise = [("cron", 400), ("subagent", 50), ("kanban", 3), ("tool", 2), ("oneshot", 1)]
    rows = [values.conversation(f"{source}_{i}", source, source=source) for source, n in noise for i in range(n)]
    async with listed(GatedService([*human, *rows])) as (screen, app, pilot):
        assert [row.id for row in screen.rows.items] == [human[0].id]
        assert "left out: 456 automation" in status(app)
        assert "1 of 457 conversations" in seen(app)
        await pilot.press("a")
        await until(pilot, lambda: len(screen.rows.items) == 457)
        assert "all are shown" in status(app)
        await pilot.press("a")
        await until(pilot, lambda: len(screen.rows.items) == 1)


async def test_end_reaches_the_last_of_many_rows_and_the_counter_counts_all() -> None:
    async with listed(GatedService(conversations(50_000))) as (screen, app, pilot):
        assert "50,000 of 50,000 conversations" in seen(app)
        await pilot.press("end")
        await until(pilot, lambda: "50,000 of 50,000" in status(app))
        assert "talk 49999" in seen(app)
        await pilot.press("g", "j", "j", "pagedown")
        await until(pilot, lambda: screen.rows.cursor == 2 + screen.rows.room - 1)


async def test_first_rows_stand_there_while_the_list_is_counted_and_claim_nothing() -> None:
    service = GatedService(conversations(500))
    service.begins_with = 80
    service.hold("conversations")
    async with listed(service) as (screen, app, pilot):
        assert "talk 0" in seen(app)
        assert "reading …" in seen(app).splitlines()[0]
        assert "all others are being read" in status(app)
        assert " of " not in seen(app).splitlines()[0] + status(app)
        await pilot.press("j", "j", "j")
        assert not [call for call in service.calls if call.name in ("details", "recap")]
        service.release("conversations")
        await until(pilot, lambda: "500 of 500 conversations" in seen(app))
        assert screen.current is not None
        assert screen.current.title == "talk 3", "the cursor stays on its conversation"
        await service.asked("details")


async def test_the_end_that_was_gone_to_before_the_list_was_counted_is_its_end() -> None:
    service = GatedService(conversations(500))
    service.begins_with = 80
    service.hold("conversations")
    async with listed(service) as (screen, app, pilot):
        await pilot.press("end")
        await until(pilot, lambda: screen.rows.cursor == 79)
        service.release("conversations")
        await until(pilot, lambda: "500 of 500" in status(app))
        assert "talk 499" in seen(app)


async def test_a_list_that_cannot_be_counted_keeps_its_first_rows_and_says_why() -> None:
    service = GatedService(conversations(500))
    service.begins_with = 80
    service.failures["conversations"] = StoreUnreadable("It is damaged.")
    async with listed(service) as (screen, app, pilot):
        await until(pilot, lambda: "It is damaged." in seen(app))
        assert "reading …" in seen(app).splitlines()[0]
        assert "talk 0" in seen(app)
        del service.failures["conversations"]
        await until(pilot, lambda: "500 of 500 conversations" in seen(app))
        assert "It is damaged." not in seen(app)
        assert screen.rows.total == 500


@pytest.mark.parametrize("key", ["a", "s", "S"])
async def test_another_list_is_described_when_it_is_there_and_not_before(key: str) -> None:
    rows = [*conversations(3), values.conversation("cron_1", "nightly", source="cron")]
    service = GatedService(rows)
    async with listed(service) as (_, app, pilot):
        before = status(app)
        service.hold("conversations")
        await pilot.press(key)
        await service.asked("conversations")
        assert "all are shown" not in status(app)
        await until(pilot, lambda: status(app).strip() == "reading …")
        assert "reading …" in seen(app).splitlines()[0]
        assert " of 4 conversations" not in seen(app), "that is the list before"
        await pilot.press("j")
        assert status(app).strip() == "reading …", "the cursor moves on in the rows that are there"
        service.release("conversations")
        await until(pilot, lambda: " of 4 conversations" in seen(app))
        assert ("all are shown" in status(app)) == (key == "a")
        assert "reading" not in seen(app)
        assert "left out: 1 automation" in before


async def test_a_filter_that_takes_a_while_says_that_it_filters_whatever_is_typed_on() -> None:
    service = GatedService(conversations(30))
    async with listed(service) as (_, app, pilot):
        service.hold("conversations")
        await pilot.press("f", "t")
        await until(pilot, lambda: status(app).strip() == "filtering…")
        assert "30 of 30" not in seen(app)
        await pilot.press("a")
        assert status(app).strip() == "filtering…", "another letter does not take it back"
        service.release("conversations")
        await until(pilot, lambda: "filtering…" not in seen(app))
        assert "30 of 30 conversations" in seen(app)
        service.hold("conversations")
        await pilot.press("backspace", "backspace")
        await until(pilot, lambda: status(app).strip() == "reading …")
        service.release("conversations")
        await until(pilot, lambda: "30 of 30 conversations" in seen(app))


async def test_a_filter_that_is_refused_or_fails_waits_no_longer() -> None:
    service = GatedService(conversations(3))
    async with listed(service) as (_, app, pilot):
        service.hold("conversations")
        await pilot.press("f", *"t")
        await until(pilot, lambda: "filtering…" in status(app))
        latest(service, "conversations").fail(BadQuery("t", "this is no filter"))
        await until(pilot, lambda: "this is no filter" in status(app))
        assert "3 of 3 conversations" in seen(app), "the rows before are still there, and so is their count"
        assert "filtering…" not in seen(app)


async def test_what_is_typed_fast_into_the_filter_is_text_and_no_command() -> None:
    async with listed(GatedService()) as (screen, app, pilot):
        in_one_breath(app, "fqdjknx/?:aP")
        await until(pilot, lambda: screen.box.text == "qdjknx/?:aP")
        assert app.screen is screen
        assert app.is_running


async def test_what_is_typed_fast_after_the_search_key_reaches_the_search_box() -> None:
    async with listed(GatedService()) as (_, app, pilot):
        in_one_breath(app, "/qdjknx/?")
        await until(pilot, lambda: isinstance(app.screen, SearchScreen) and app.screen.box.text == "qdjknx/?")
        assert app.is_running


async def test_a_text_pasted_right_after_the_key_of_the_filter_lands_in_it() -> None:
    async with listed(GatedService()) as (screen, app, pilot):
        app.post_message(events.Key("f", "f"))
        app.post_message(events.Paste("quit now\x1b[2J"))
        await until(pilot, lambda: screen.box.text.startswith("quit now"))
        assert "\x1b" not in seen(app)


async def test_escape_clears_the_filter_then_leaves_it() -> None:
    async with listed(GatedService()) as (screen, app, pilot):
        await pilot.press("f", "o", "a", "u")
        await until(pilot, lambda: len(screen.rows.items) == 1)
        await pilot.press("escape")
        await until(pilot, lambda: len(screen.rows.items) > 1)
        assert screen.typing
        await pilot.press("escape")
        assert not screen.typing
        await pilot.press("q")
        await until(pilot, lambda: app._exit)


async def test_enter_keeps_the_filter_and_the_list_gets_its_keys_back() -> None:
    async with listed(GatedService()) as (screen, app, pilot):
        in_one_breath(app, "foauth")
        await pilot.press("enter")
        await until(pilot, lambda: not screen.typing and len(screen.rows.items) == 1)
        assert screen.box.text == "oauth"
        assert "f oauth" in seen(app)
        await pilot.press("backspace")
        await until(pilot, lambda: screen.box.text == "" and len(screen.rows.items) > 1)


async def test_arrows_move_the_list_while_the_filter_is_typed() -> None:
    async with listed(GatedService(conversations(30))) as (screen, _, pilot):
        await pilot.press("f", "t", "down", "down", "a")
        await until(pilot, lambda: screen.box.text == "ta")
        assert screen.rows.cursor == 2


async def test_what_was_found_by_the_filter_and_read_is_under_the_cursor_in_the_whole_list() -> None:
    rows = conversations(200)
    async with listed(GatedService(rows)) as (screen, app, pilot):
        in_one_breath(app, "ftalk 150")
        await until(pilot, lambda: [row.title for row in screen.rows.items] == ["talk 150"])
        await pilot.press("enter", "enter")
        await until(pilot, lambda: app.screen is not screen)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        await pilot.press("escape")
        await until(pilot, lambda: len(screen.rows.items) == 200)
        assert screen.current == rows[150]
        assert "talk 150" in seen(app)


async def test_a_filter_that_is_given_up_leads_back_to_where_one_was() -> None:
    rows = conversations(200)
    async with listed(GatedService(rows)) as (screen, app, pilot):
        screen.rows.choose(130)
        screen.rows.move(-10)
        top = screen.rows.top
        in_one_breath(app, "ftalk 15")
        await until(pilot, lambda: screen.rows.items[0].title == "talk 15")
        in_one_breath(app, "zebra")
        await until(pilot, lambda: "No conversation passes" in seen(app))
        await pilot.press("escape")
        await until(pilot, lambda: len(screen.rows.items) == 200)
        assert screen.current == rows[120]
        await pilot.press("escape")
        assert not screen.typing
        assert (screen.current, screen.rows.top) == (rows[120], top)


@pytest.mark.parametrize("at", [0, 1, 150])
async def test_order_hidden_rows_and_theme_leave_the_cursor_on_its_conversation(at: int) -> None:
    noise = [values.conversation(f"cron_{i}", f"tick {i}", source="cron", hours=0.5 + i) for i in range(200)]
    async with listed(GatedService([*conversations(200), *noise])) as (screen, app, pilot):
        screen.rows.choose(at)
        held = screen.current
        assert held is not None
        for key, n in (("s", 200), ("S", 200), ("a", 400), ("s", 400), ("a", 200)):
            before = screen.rows.items
            await pilot.press(key)
            await until(pilot, lambda n=n, before=before: screen.rows.items is not before and screen.rows.total == n)
            assert screen.current == held, key
        app.theme = "hermes-light"
        await pilot.pause()
        assert screen.current == held


async def test_a_filter_that_cannot_be_understood_says_so_and_leaves_the_rows() -> None:
    service = GatedService()
    async with listed(service) as (screen, app, pilot):
        before = len(screen.rows.items)
        service.failures["conversations"] = BadQuery("after:soon", "soon is no date")
        await pilot.press("f", "x")
        await until(pilot, lambda: "soon is no date" in status(app))
        assert "cannot parse" in status(app)
        assert len(screen.rows.items) == before
        del service.failures["conversations"]
        await pilot.press("escape")
        await until(pilot, lambda: "soon" not in status(app))


@pytest.mark.parametrize("size", [(60, 18), (80, 24)])
async def test_a_long_answer_to_a_wrong_filter_wraps(size: tuple[int, int]) -> None:
    service = GatedService()
    why = "is: takes pinned, archived, hidden, live, empty, automation, error, interrupted, branch, reset, not 'foo'"
    async with listed(service, size=size) as (_screen, app, pilot):
        service.failures["conversations"] = BadQuery("is:foo", why)
        await pilot.press("f", *"is:foo")
        await until(pilot, lambda: f"cannot parse is:foo: {why}" in " ".join(seen(app).replace("│", "").split()))
        assert status(app).split() == ["!", "cannot", "parse", "is:foo"]
        del service.failures["conversations"]
        await pilot.press("escape")
        await until(pilot, lambda: "cannot" not in seen(app))


async def test_the_footer_tells_the_key_that_takes_the_completion_shown() -> None:
    async with listed(GatedService()) as (screen, app, pilot):
        await pilot.press("f", *"source:te")
        await until(pilot, lambda: "→ complete" in seen(app).splitlines()[-1])
        await pilot.press("right")
        assert screen.box.text == "source:telegram "
        await until(pilot, lambda: "complete" not in seen(app).splitlines()[-1])


async def test_a_filter_that_finds_nothing_offers_to_show_hidden_ones_and_to_search() -> None:
    async with listed(GatedService()) as (screen, app, pilot):
        in_one_breath(app, "fdeploy post")
        await until(pilot, lambda: "No conversation passes deploy post" in seen(app))
        await pilot.press("enter")
        assert "show those left out that do" in seen(app)
        assert "search what was said for deploy post" in seen(app)
        await pilot.press("enter")
        await until(pilot, lambda: [row.source for row in screen.rows.items] == ["cron"])


@pytest.mark.parametrize("barred", ["-source:x,cli", "NOT source:x,cli"])
async def test_a_filter_of_filter_words_alone_offers_no_search_that_would_find_as_little(barred: str) -> None:
    async with listed(GatedService()) as (_, app, pilot):
        in_one_breath(app, f"fis:live {barred}")
        await until(pilot, lambda: f"No conversation passes is:live {barred}" in seen(app))
        assert "search what was said" not in seen(app)
        assert "▌  clear the filter" in seen(app)
        in_one_breath(app, " word")
        await until(pilot, lambda: f"search what was said for is:live {barred} word" in seen(app))


async def test_a_word_that_is_nearly_a_filter_is_asked_about_and_put_right() -> None:
    rows = [*conversations(3), values.conversation("s", "sorce:cli", hours=9.0)]
    service = GatedService(rows)
    async with listed(service) as (screen, app, pilot):
        in_one_breath(app, "fsorce:cli")
        await until(pilot, lambda: screen.rows.total == 1)
        await until(pilot, lambda: "! sorce: is no filter; did you mean source:?" in seen(app))
        in_one_breath(app, "x")
        await until(pilot, lambda: "No conversation passes sorce:clix" in seen(app))
        assert seen(app).count("sorce: is no filter; did you mean source:?") == 1
        await pilot.press("enter")
        await until(pilot, lambda: "enter filter" in seen(app).splitlines()[-1])
        await pilot.press("enter")
        await until(pilot, lambda: asked(service).text == screen.box.text == "source:clix")


async def test_nothing_found_can_be_searched_for_instead() -> None:
    async with listed(GatedService()) as (_, app, pilot):
        in_one_breath(app, "fzebra")
        await until(pilot, lambda: "No conversation passes zebra" in seen(app))
        await pilot.press("enter", "enter")
        await until(pilot, lambda: isinstance(app.screen, SearchScreen) and app.screen.box.text == "zebra")


async def test_the_footer_tells_what_enter_and_escape_do_to_a_filter() -> None:
    async with listed(GatedService(), (80, 24)) as (_, app, pilot):

        def footer() -> str:
            return seen(app).splitlines()[-1]

        in_one_breath(app, "fzebra")
        await until(pilot, lambda: "No conversation passes zebra" in seen(app))
        await pilot.resize_terminal(90, 24)
        await until(pilot, lambda: "enter keep" in footer())
        await pilot.press("enter")
        await until(pilot, lambda: "enter search" in footer() and "esc clear" in footer())
        await pilot.press("down")
        await until(pilot, lambda: "enter clear" in footer())
        await pilot.press("escape")
        await until(pilot, lambda: "enter read" in footer() and "esc clear" not in footer())
        in_one_breath(app, "fatlas")
        await until(pilot, lambda: "enter keep" in footer())
        await pilot.press("enter")
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: "enter read" in footer() and "esc clear" in footer())


async def test_the_footer_of_a_list_without_rows_tells_only_what_works() -> None:
    service = GatedService([])
    service.hold("conversations")

    def footer() -> str:
        return seen(app).splitlines()[-1].strip()

    async with browsing(service) as (_, app, pilot):
        await until(pilot, lambda: footer() == "/ search   f filter   ? keys")
        (await service.asked("conversations")).fail(StoreUnreadable("/x/state.db is not a database"))
        await until(pilot, lambda: footer() == "enter try again   / search   ? keys")
        await pilot.press("down")
        await until(pilot, lambda: footer() == "enter profiles   / search   ? keys")
        service.release("conversations")
        await until(pilot, lambda: "No conversations yet." in seen(app))
        assert footer() == "enter profiles   / search   ? keys"


async def test_what_is_shown_hidden_and_filtered_out_adds_up_to_what_there_is() -> None:
    noise = [values.conversation(f"cron_{i}", f"talk {i}", source="cron") for i in range(5)]
    async with listed(GatedService([*conversations(30), *noise])) as (screen, app, pilot):
        assert "30 of 35 conversations" in seen(app)
        assert "left out: 5 automation   a shows them" in status(app)
        in_one_breath(app, "ftalk 2")
        await until(pilot, lambda: screen.rows.total == 12)
        assert "12 of 35 conversations" in seen(app)
        assert "22 do not pass the filter · left out: 1 automation   a shows what is left out" in status(app)
        await pilot.press("enter", "a")
        await until(pilot, lambda: screen.rows.total == 13)
        assert "13 of 35 conversations" in seen(app)
        assert "22 do not pass the filter   a hides what is left out by default" in status(app)
        await pilot.press("a", "escape")
        in_one_breath(app, "f29")
        await until(pilot, lambda: screen.rows.total == 1)
        assert "34 do not pass the filter" in status(app)
        assert "nothing is left out" not in status(app)


async def test_the_cursor_stays_on_its_conversation_when_others_come_and_go() -> None:
    rows = conversations(40)
    service = GatedService(rows)
    async with listed(service) as (screen, app, pilot):
        await pilot.press(*["down"] * 4)
        held = screen.current
        fresh = [values.conversation(f"fresh{i}", f"new {i}", hours=0.1 * i) for i in range(3)]
        service.rows[:] = [*fresh, *rows[:2], *rows[3:]]
        service.changed = True
        await until(pilot, lambda: len(screen.rows.items) == 42)
        assert screen.current == held
        assert "new 0" in seen(app)
        assert "talk 2 " not in seen(app)


async def test_far_down_nothing_moves_on_the_screen_when_rows_are_added_above() -> None:
    rng = random.Random(7)
    rows = conversations(300)
    service = GatedService(rows)
    async with listed(service) as (screen, app, pilot):
        screen.rows.choose(rng.randrange(100, 250))
        await pilot.pause()
        before, held = seen(app).splitlines()[3:20], screen.current
        service.rows[:0] = [values.conversation(f"fresh{i}", "new", hours=0.0) for i in range(rng.randrange(1, 60))]
        service.changed = True
        await until(pilot, lambda: len(screen.rows.items) > 300)
        assert screen.current == held
        assert seen(app).splitlines()[3:20] == before


async def test_a_conversation_that_gains_a_segment_keeps_the_cursor() -> None:
    rows = conversations(10)
    service = GatedService(rows)
    async with listed(service) as (screen, _, pilot):
        await pilot.press("down", "down")
        grown = rows[2]._replace(segment_ids=(rows[2].id, "tip"), last_active=values.NOW)
        service.rows[2] = grown
        service.changed = True
        await until(pilot, lambda: screen.rows.items[0] == grown)
        assert screen.current == grown


async def test_a_deleted_conversation_gives_its_place_to_the_next() -> None:
    rows = conversations(10)
    service = GatedService(rows)
    async with listed(service) as (screen, _, pilot):
        await pilot.press("down", "down")
        del service.rows[2]
        service.changed = True
        await until(pilot, lambda: len(screen.rows.items) == 9)
        assert screen.current == rows[3]


async def test_a_slow_recap_never_keeps_the_cursor_waiting() -> None:
    service = GatedService(conversations(20))
    service.hold("recap")
    async with listed(service) as (screen, app, pilot):
        first = await service.asked("recap")
        await pilot.press(*["down"] * 5)
        assert screen.rows.cursor == 5
        await until(pilot, lambda: first.cancelled)
        await until(pilot, lambda: screen.current and latest(service, "recap").arguments == (screen.current.key,))
        await until(pilot, lambda: "reading …" in seen(app), turns=4_000)
        latest(service, "recap").answer(Recap((RecapEntry("user", "the words of number five"),), 0))
        await until(pilot, lambda: "the words of number five" in seen(app))


async def test_a_late_recap_is_not_shown_beside_another_conversation() -> None:
    service = GatedService(conversations(20))
    service.hold("recap")
    async with listed(service) as (_, app, pilot):
        first = await service.asked("recap")
        await pilot.press("down")
        await until(pilot, lambda: first.cancelled)
        await until(pilot, lambda: "talk 1" in seen(app).splitlines()[2])
        assert "first answer" not in seen(app)


async def test_loading_failed_busy_and_empty_are_different_pictures() -> None:
    pictures = []
    service = GatedService([])
    service.hold("conversations")
    async with browsing(service) as (screen, app, pilot):
        await until(pilot, lambda: "reading …" in seen(app))
        pictures.append(seen(app))
        (await service.asked("conversations")).fail(StoreUnreadable("/x/state.db is not a database"))
        await until(pilot, lambda: "is not a database" in seen(app))
        pictures.append(seen(app))
        (await service.asked("conversations")).fail(StoreBusy("/x/state.db is locked"))
        await until(pilot, lambda: "Trying again" in seen(app))
        pictures.append(seen(app))
        service.release("conversations")
        await until(pilot, lambda: "No conversations yet." in seen(app))
        pictures.append(seen(app))
        assert len(set(pictures)) == 4
        assert screen.current is None


async def test_a_broken_store_is_named_as_people_write_it() -> None:
    service = GatedService()
    service.failures["conversations"] = StoreUnreadable(f"{user_home()}/x/state.db is not a database")
    async with browsing(service) as (_, app, pilot):
        await until(pilot, lambda: "   ~/x/state.db is not a database" in seen(app))


async def test_a_store_that_fails_later_leaves_its_rows_and_is_asked_again() -> None:
    service = GatedService()
    async with listed(service) as (screen, app, pilot):
        service.failures["conversations"] = StoreBusy("state.db is locked by another program")
        service.changed = True
        await until(pilot, lambda: "locked by another program" in seen(app))
        assert screen.rows.items
        assert "OAuth refresh" in seen(app)
        del service.failures["conversations"]
        await until(pilot, lambda: "locked by" not in seen(app))


async def test_only_hidden_conversations_are_said_to_be_there_and_enter_shows_them() -> None:
    rows = [values.conversation(f"cron_{i}", "tick", source="cron") for i in range(7)]
    async with browsing(GatedService(rows)) as (screen, app, pilot):
        await until(pilot, lambda: "All conversations are left out: 7 automation." in seen(app))
        await pilot.press("enter")
        await until(pilot, lambda: len(screen.rows.items) == 7)


async def test_one_bad_store_is_a_line_and_hides_no_other() -> None:
    stores = (values.STORE, StoreRef("work", values.STORE.db, values.STORE.home, values.STORE.root))
    service = GatedService(stores=stores)
    page = await GatedService(stores=stores).conversations(ListQuery())
    service.hold("conversations")
    async with browsing(service) as (_, app, pilot):
        broken = StoreProblem("work", "/w/state.db", f"not a database {HOSTILE}")
        answer = ConversationPage(
            page.rows, page.total, page.of, page.hidden, (broken,), ("recent messages may miss",)
        )
        (await service.asked("conversations")).answer(answer)
        await until(pilot, lambda: "✗ work: not a database [/] [red]hi" in seen(app))
        assert "! recent messages may miss" in seen(app)
        assert "OAuth refresh" in seen(app)
        assert "profile" in seen(app).splitlines()[2]


async def test_hostile_texts_stand_there_letter_by_letter_and_do_nothing() -> None:
    rows = [
        values.conversation(
            "a1", HOSTILE, source="[bold]x", model="[/", cwd="/[/some/path] yield", git_repo_root=None
        ),
        values.conversation("b[/]", None, display_name="array[0]", profile="[link=https://e.example]x[/link]"),
        values.conversation("c", None, source=""),
    ]
    service = GatedService(rows)
    async with listed(service, (200, 40)) as (screen, app, pilot):
        await until(pilot, lambda: "“first words of c”" in seen(app))
        text = seen(app)
        assert "[/] [red]hi[/blue] \ufffd[2J\ufffd]0;pwned\ufffd \ufffdabc" in text
        assert "[bold]x" in text
        assert "array[0]" in text
        assert "(none)" in text
        assert not [char for char in text if char != "\n" and not char.isprintable()]
        for keys, copied in (("y", "@session:default/a1"), ("i", "a1"), ("down", ""), ("i", "b[/]")):
            await pilot.press(keys)
            await until(
                pilot, lambda copied=copied: copied in [each.message for each in app._notifications] or not copied
            )
        assert screen.is_running


async def test_untitled_rows_get_their_names_and_marks_once_they_are_in_sight() -> None:
    rows = [values.conversation(f"id{i:03}", None, hours=float(i + 1)) for i in range(200)]
    service = GatedService(rows)
    service.hold("details")
    async with listed(service) as (screen, app, pilot):
        await service.asked("details")
        await pilot.pause()
        call = latest(service, "details")
        assert set(call.arguments[0]) == {row.key for row in rows[: screen.rows.room]}
        call.answer({row.key: Details(f"hello {row.id}", 7, Status.ERROR) for row in rows[: screen.rows.room]})
        await until(pilot, lambda: "✗ “hello id003”" in seen(app))
        await pilot.press("end")
        await until(pilot, lambda: rows[-1].key in latest(service, "details").arguments[0])
        assert rows[0].key not in latest(service, "details").arguments[0]


@pytest.mark.parametrize("theme", ["dark", "light", "nord", "hermes-ansi"])
async def test_what_is_not_counted_yet_is_muted_also_under_the_cursor(theme: str) -> None:
    async with listed(GatedService(conversations(3)), settings=Settings(theme=theme)) as (screen, _, _pilot):
        rows = screen.rows
        for ground, sure in (("", "quiet"), ("cursor", "quiet")):
            assert rows.ink("unsure", ground) != rows.ink(sure, ground)


@pytest.mark.parametrize("no_color", [False, True])
async def test_a_count_that_is_not_exact_says_so_without_colours_too(no_color: bool) -> None:
    service = GatedService(conversations(3, stored_messages=138))
    service.hold("details")
    async with listed(service, settings=Settings(no_color=no_color)) as (_, app, pilot):
        await service.asked("details")
        assert ("138…" in seen(app)) == no_color
        service.release("details")
        await until(pilot, lambda: "138…" not in seen(app))


async def test_s_cycles_the_orders_and_the_head_names_the_one_in_force() -> None:
    service = GatedService(conversations(5))
    async with listed(service) as (_, app, pilot):
        names = ("started ↓", "msgs ↓", "tokens ↓", "cost ↓", "conversation ↑", "active ↓")
        for order, name in zip((*list(Order)[1:], Order.ACTIVE), names, strict=True):
            await pilot.press("s")
            await until(pilot, partial(heads, app, name))
            assert asked(service).order is order
        await pilot.press("S")
        await until(pilot, lambda: "active ↑" in seen(app))
        assert asked(service).reverse


async def test_space_shows_and_hides_the_preview_where_there_is_room_for_it() -> None:
    async with listed(GatedService()) as (screen, app, pilot):
        link = "@session:default/20261130_110000_aaaaaa"
        await until(pilot, lambda: link in seen(app))
        await pilot.press("space")
        await until(pilot, lambda: link not in seen(app))
        assert "workspace" in seen(app).splitlines()[2]
        await pilot.press("space")
        await until(pilot, lambda: link in seen(app))
        await pilot.resize_terminal(90, 30)
        await until(pilot, lambda: link not in seen(app))
        assert not screen.check_action("preview", ())


async def test_settings_decide_how_the_list_begins() -> None:
    service = GatedService()
    begin = Settings(order=Order.TITLE, reverse=True, hidden=True, filter="o", preview=False)
    async with listed(service, settings=begin) as (screen, app, _):
        assert asked(service) == ListQuery("o", Order.TITLE, reverse=True, include_hidden=True)
        assert screen.box.text == "o"
        assert "@session" not in seen(app)


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (120, 36), (160, 48), (200, 60)])
@pytest.mark.parametrize("theme", ["hermes-dark", "hermes-light"])
async def test_every_size_shows_where_one_is_what_is_selected_and_how_to_get_help(
    size: tuple[int, int], theme: str
) -> None:
    async with listed(GatedService(), size, Settings(theme=theme)) as (_, app, pilot):
        await until(pilot, lambda: "…" not in seen(app).splitlines()[2])
        lines = seen(app).splitlines()
        assert lines[0].startswith("   Hermes history")
        assert any(each.startswith("▌") for each in lines)
        assert lines[-1].endswith("? keys")
        assert "left out" in lines[-2]
        assert lines[-2].endswith(("1 of 5", "1/5"))
        assert max(map(len, lines)) <= size[0]


async def test_live_rows_say_so_in_place_of_a_time() -> None:
    async with listed(GatedService()) as (_, app, _):
        row = next(each for each in seen(app).splitlines() if each.startswith("▌"))
        assert row.startswith("▌◉ OAuth")
        assert " live" in row


async def test_y_copies_the_link_and_says_what_became_of_it() -> None:
    async with listed(GatedService()) as (_, app, pilot):
        await pilot.press("y")
        await until(pilot, lambda: "@session:default/20261130_110000_aaaaaa" in app.clipboard)
        await until(pilot, lambda: len(app._notifications) == 1)
        toast = next(iter(app._notifications))
        assert toast.title == "link sent to the terminal"
        assert toast.message == app.clipboard


async def test_hidden_reasons_stand_in_a_fixed_order() -> None:
    counts = dict.fromkeys(reversed(list(HiddenReason)), 1_000)
    assert hidden_words(counts) == "1,000 automation · 1,000 archived · 1,000 hidden · 1,000 empty"


async def test_a_click_selects_and_a_double_click_reads() -> None:
    async with listed(GatedService(conversations(10))) as (screen, app, pilot):
        await pilot.click("#rows", offset=(10, 4))
        await until(pilot, lambda: screen.rows.cursor == 3)
        await pilot.click("#rows", offset=(10, 4), times=2)
        await until(pilot, lambda: app.screen is not screen)
        here: Screen[object] = app.screen
        assert getattr(here, "PLACE", "") == "transcript"


async def test_a_click_on_the_head_of_a_column_sorts_by_it_and_another_turns_it_round() -> None:
    service = GatedService(conversations(10))
    async with listed(service) as (screen, _, pilot):
        for word, order, reverse in (
            ("msgs", Order.MESSAGES, False),
            ("msgs", Order.MESSAGES, True),
            ("active", Order.ACTIVE, False),
            ("source", Order.ACTIVE, False),
            ("conversation", Order.TITLE, False),
        ):
            head = screen.rows.render_line(0).text
            await pilot.click(screen.rows, offset=(head.index(word), 0))
            wanted = (order, reverse)
            await until(pilot, lambda wanted=wanted: (screen._query.order, screen._query.reverse) == wanted)


async def test_the_wheel_scrolls_and_leaves_the_cursor() -> None:
    async with listed(GatedService(conversations(100))) as (screen, _, pilot):
        await pilot._post_mouse_events([events.MouseScrollDown], widget="#rows", offset=(5, 5))
        await until(pilot, lambda: screen.rows.top == 3)
        assert screen.rows.cursor == 0


async def test_selected_text_is_what_ctrl_c_copies_and_without_it_one_learns_how_to_quit() -> None:
    async with listed(GatedService(conversations(10))) as (_, app, pilot):
        await pilot.press("ctrl+c")
        await until(pilot, lambda: any("quits" in each.message for each in app._notifications))
        await pilot.mouse_down("#rows", offset=(3, 2))
        await pilot.hover("#rows", offset=(9, 2))
        await pilot.mouse_up("#rows", offset=(9, 2))
        await pilot.press("ctrl+c")
        await until(pilot, lambda: app.clipboard == "talk 1")


async def test_a_size_that_is_overtaken_by_its_predecessor_is_not_lost() -> None:
    async with listed(GatedService([values.conversation("a1", "One")]), (120, 36)) as (screen, app, pilot):
        before, after = app.size, Size(90, 30)
        app._size = after  # what the app does first when the terminal says so
        screen.post_message(events.Resize(after, after))
        screen.post_message(events.Resize(before, before))  # replaces the one that waits
        await until(pilot, lambda: screen.outer_size == after)
