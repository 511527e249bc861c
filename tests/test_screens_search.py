"""The search screen, with a service whose answers the test times."""

from __future__ import annotations

import asyncio
import gc
import random
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from textual.css.stylesheet import Stylesheet
from textual.pilot import Pilot
from textual.widget import Widget

from hermes_tui.domain.links import Candidate
from hermes_tui.domain.queries import (
    LOST,
    UNREAD,
    Hit,
    Match,
    SearchOrder,
    SearchPage,
    SearchQuery,
    Span,
    Tier,
    WayOut,
)
from hermes_tui.domain.querytext import parse_query
from hermes_tui.domain.sessions import StoreProblem
from hermes_tui.errors import BadQuery, StoreBusy, StoreUnreadable, TargetAmbiguous
from hermes_tui.intents import CopyText, OpenLineage, OpenProfiles, OpenResume, OpenTarget, OpenTranscript
from hermes_tui.screens.search import SearchScreen
from hermes_tui.state import RecentQueries
from hermes_tui.widgets.answers import counts, nothing_found
from tests import values
from tests.fakes import GatedService
from tests.stage import Stage, frames, on_stage, seen, until

HOSTILE = "[/] [red]hi[/blue] \x1b[2J\x1b]0;pwned\x07 \u202eabc"
SAFE = "[/] [red]hi[/blue]"


@pytest.fixture(autouse=True)
def _a_fixed_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_TUI_NOW", str(values.NOW))


class Remembered(RecentQueries):
    """Recent queries that no file holds."""

    def __init__(self, *queries: str) -> None:
        super().__init__(Path("/nonexistent/recent.json"))
        self._queries = list(queries)
        self.added: list[str] = []

    def add(self, text: str) -> None:
        self.added.append(text)


class Unread(GatedService):
    """Its tools said more than an index holds."""

    async def search(self, query: SearchQuery) -> AsyncIterator[SearchPage]:
        async for page in super().search(query):
            yield page if query.scan else replace(page, notices=(UNREAD,))


@asynccontextmanager
async def searching(
    service: GatedService, text: str = "", *recent: str, size: tuple[int, int] = (120, 36)
) -> AsyncIterator[tuple[SearchScreen, Stage, Pilot[None]]]:
    async with on_stage(SearchScreen(service, text, recent=Remembered(*recent)), size) as stage:
        yield stage


async def type_in(pilot: Pilot[None], text: str) -> None:
    names = {" ": "space", "/": "slash", "?": "question_mark", ":": "colon", "-": "minus"}
    await pilot.press(*(names.get(char, char) for char in text))


def query_of(service: GatedService) -> SearchQuery:
    """What was asked last."""
    query = [call for call in service.calls if call.name == "search"][-1].arguments[0]
    assert isinstance(query, SearchQuery)
    return query


def status(app: Stage) -> str:
    return seen(app).splitlines()[-2]


async def test_letters_go_into_the_box_and_escape_clears_before_it_leaves() -> None:
    async with searching(GatedService()) as (screen, app, pilot):
        await type_in(pilot, "qdjknx/?")
        assert screen.box.text == "qdjknx/?"
        assert app.is_running
        await pilot.press("escape")
        assert screen.box.text == ""
        assert app.screen is screen
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is not screen)


async def test_each_key_asks_and_late_answers_are_dropped() -> None:
    service = GatedService()
    service.hold("search")
    async with searching(service) as (screen, _app, pilot):
        await type_in(pilot, "oa")
        first, second = await service.asked("search"), await service.asked("search")
        assert [call.arguments[0].text for call in (first, second)] == ["o", "oa"]
        assert second.arguments[0].typing_at == 2
        await until(pilot, lambda: first.cancelled)
        first.page(values.page("o", values.HITS[2:]))
        second.page(values.page("oa", values.HITS[:1]))
        await until(pilot, lambda: screen.hits.hits)
        assert [hit.conversation.title for hit in screen.hits.hits] == ["OAuth refresh token race"]


async def test_pages_replace_each_other_and_the_cursor_stays_on_its_conversation() -> None:
    service = GatedService()
    service.hold("search")
    async with searching(service, "oauth") as (screen, app, pilot):
        call = await service.asked("search")
        assert "searching…" in status(app)
        call.page(values.page("oauth", values.HITS, final=False))
        await until(pilot, lambda: screen.hits.hits)
        assert "searching…" in status(app)
        await pilot.press("down")
        assert screen.current is not None
        chosen = screen.current.conversation.key
        for order in ((2, 0, 1), (1, 2, 0)):
            call.page(values.page("oauth", [values.HITS[i] for i in order], final=order == (1, 2, 0)))
            await until(pilot, lambda order=order: screen.hits.hits[0] is values.HITS[order[0]])
            assert screen.current.conversation.key == chosen
        assert "searching" not in status(app)
        assert "3 conversations · 4 matches" in seen(app)


async def test_messages_that_did_not_come_with_the_answer_are_read_when_they_are_in_sight() -> None:
    service = GatedService()
    service.hits = (values.HITS[0], *map(values.unread, values.HITS[1:]))
    service.hold("read")
    async with searching(service, "oauth") as (screen, app, pilot):
        call = await service.asked("read")
        assert [hit.conversation for hit in call.arguments[0]] == [hit.conversation for hit in values.HITS[1:]]
        assert "grep -r oauth src" not in seen(app)
        call.answer()
        await until(pilot, lambda: tuple(screen.hits.hits) == values.HITS)
        assert "grep -r oauth src" in seen(app)


async def test_while_more_may_come_the_position_counts_what_the_header_counts() -> None:
    service = GatedService()
    service.hold("search")
    async with searching(service, "oauth") as (_, app, pilot):
        page = values.page("oauth", values.HITS[:2], final=False)
        (await service.asked("search")).page(replace(page, total=151))
        await until(pilot, lambda: "151+ conversations" in seen(app))
        assert "matches" not in seen(app).splitlines()[0]
        assert status(app).endswith("1 of 151+")


async def test_the_header_counts_conversations_first_and_matches_where_there_is_room() -> None:
    service = GatedService()
    service.hold("search")
    async with searching(service, "oauth", size=(60, 24)) as (_, app, pilot):
        call = await service.asked("search")
        call.page(values.page("oauth", final=False))
        await until(pilot, lambda: "3+ conversations" in seen(app).splitlines()[0])
        call.page(values.page("oauth", final=True))
        await until(pilot, lambda: "3+" not in seen(app))
        assert "3 conversations" in seen(app).splitlines()[0]
    for page, said in (
        (values.page("oauth"), ("3 conversations · 4 matches", "3 conversations")),
        (values.page("oauth", final=False), ("3+ conversations", "3+ conversations")),
    ):
        assert counts(page) == said


async def test_a_route_is_told_once_it_is_known() -> None:
    service = GatedService()
    service.hold("search")
    async with searching(service, "oauth") as (screen, app, pilot):
        call = await service.asked("search")
        call.page(values.page("oauth", (), final=False, route=""))
        await until(pilot, lambda: screen._page is not None)
        assert status(app).strip() == "12 ms · searching…"
        call.page(values.page("oauth", final=False))
        await until(pilot, lambda: "fts · 12 ms · searching…" in status(app))


async def test_the_four_pictures_are_distinct() -> None:
    service = GatedService()
    service.hold("search")
    async with searching(service, "walnut") as (screen, app, pilot):
        running = await service.asked("search")
        pictures = {"running": status(app)}
        running.page(values.page("walnut", (), searched=242))
        await until(pilot, lambda: screen.has_class("-page"))
        pictures["none"] = status(app)
        assert "No matches for walnut in 242 conversations." in seen(app)
        await type_in(pilot, " NOT")
        for _ in range(4):
            call = await service.asked("search")
        call.fail(BadQuery("walnut NOT", "nothing follows NOT"))
        await until(pilot, lambda: "annot parse" in seen(app))
        pictures["unparsable"] = status(app)
        assert "walnut NOT: nothing follows NOT" in seen(app)
        await type_in(pilot, "x")
        call = await service.asked("search")
        call.page(values.page("walnut NOTx", notices=("index damaged: its part was read row by row",), route="mixed"))
        await until(pilot, lambda: screen.hits.hits)
        pictures["trouble"] = status(app)
        call.end()
        assert "searching…" in pictures["running"]
        assert "no matches for walnut in 242 conversations" in pictures["none"]
        assert "cannot parse walnut NOT: nothing follows NOT" in pictures["unparsable"]
        assert "mixed · 12 ms · index damaged: its part was read row by row" in pictures["trouble"]


async def test_notices_that_do_not_fit_stand_above_the_status_line_whole() -> None:
    service = GatedService()
    notice = "kanban, subagent and tool sessions are left out unless asked for with source: or is:automation"
    service.hold("search")
    async with searching(service, "oauth", size=(60, 24)) as (screen, app, pilot):
        call = await service.asked("search")
        broken = StoreProblem("work", "/x/state.db", f"file is not a database {HOSTILE}")
        call.page(values.page("oauth", notices=(notice,), errors=(broken,)))
        await until(pilot, lambda: screen.hits.hits)
        await until(pilot, lambda: "work: file is not a database" in seen(app))
        assert notice in " ".join(seen(app).split())
        assert SAFE in " ".join(seen(app).split())


async def test_on_a_low_screen_notices_leave_the_hits_their_room() -> None:
    service = GatedService()
    service.hold("search")
    async with searching(service, "oauth", size=(40, 10)) as (screen, app, pilot):
        notice = "Left out: 2 kanban, 1 subagent, 4 delegate runs (source: asks for them)."
        (await service.asked("search")).page(values.page("oauth", notices=(notice,)))
        await until(pilot, lambda: screen.hits.hits)
        assert "   left out: 2 kanban, 1 subagent, 4…" in seen(app).splitlines()
        assert screen.hits.size.height >= 5


@pytest.mark.parametrize(("unread", "size"), [(False, (80, 24)), (True, (120, 36))])
async def test_what_was_left_out_stands_in_the_status_line_where_it_fits(unread: bool, size: tuple[int, int]) -> None:
    service = GatedService()
    service.hold("search")
    async with searching(service, "oauth", size=size) as (screen, app, pilot):
        notices = (
            "Left out: 1 kanban, 1 tool, 1 delegate run (source: asks for them).",
            *([UNREAD] if unread else []),
        )
        (await service.asked("search")).page(values.page("oauth", notices=notices))
        await until(pilot, lambda: screen.hits.hits)
        assert " · left out: 1 kanban, 1 tool, 1 delegate run" in seen(app).splitlines()[-2]
        assert "Left out" not in seen(app)
        assert ("X scans" in seen(app)) == unread


async def test_the_footer_tells_the_key_that_takes_the_completion_shown() -> None:
    async with searching(GatedService(), "oauth ", size=(80, 24)) as (screen, app, pilot):
        await until(pilot, lambda: screen.hits.hits)
        await pilot.press(*"source:te")
        await until(pilot, lambda: "→ complete" in seen(app).splitlines()[-1])
        await pilot.press("right")
        assert screen.box.text == "oauth source:telegram "
        await until(pilot, lambda: "complete" not in seen(app).splitlines()[-1])


async def test_the_expression_is_shown_on_demand() -> None:
    async with searching(GatedService(), "oauth") as (screen, app, pilot):
        await until(pilot, lambda: screen.hits.hits)
        await pilot.press("tab", "E")
        assert 'expression: "oauth"' in seen(app)
        await pilot.press("E")
        assert "expression:" not in seen(app)


async def test_enter_reads_at_the_match_with_all_hits_at_hand() -> None:
    async with searching(GatedService(), "oauth") as (screen, app, pilot):
        await until(pilot, lambda: screen.hits.hits)
        await pilot.press("ctrl+n", "enter")
        await until(pilot, lambda: app.intents)
        opened = app.last(OpenTranscript)
        assert (opened.key, opened.anchor) == (values.CONVERSATIONS[1].key, 3)
        assert (opened.words, opened.hit, len(opened.hits)) == ("oauth", 1, 3)
        assert screen.focused is screen.box
        assert isinstance(screen._recent, Remembered)
        assert screen._recent.added == ["oauth"]
        await pilot.press("ctrl+p", "enter")
        await until(pilot, lambda: len(app.intents) == 2)
        assert app.last(OpenTranscript).anchor == 1


async def test_enter_before_the_first_hit_reads_it_when_it_comes() -> None:
    service = GatedService()
    service.hold("search")
    async with searching(service) as (screen, app, pilot):
        await type_in(pilot, "o")
        call = await service.asked("search")
        await pilot.press("enter")
        call.page(values.page("o", (), final=False))
        await pilot.pause()
        assert not app.intents
        call.page(values.page("o", values.HITS[1:]))
        await until(pilot, lambda: app.intents)
        assert app.last(OpenTranscript).key == values.HITS[1].conversation.key
        assert isinstance(screen._recent, Remembered)
        assert screen._recent.added == ["o"]


async def test_enter_means_what_is_typed_not_what_the_letters_before_it_found() -> None:
    service = GatedService()
    service.hold("search")
    async with searching(service) as (screen, app, pilot):
        await type_in(pilot, "o")
        (await service.asked("search")).page(values.page("o", values.HITS))
        await until(pilot, lambda: screen.hits.hits)
        await type_in(pilot, "a")
        call = await service.asked("search")
        await pilot.press("enter")
        assert not app.intents
        call.page(values.page("oa", values.HITS[2:]))
        await until(pilot, lambda: app.intents)
        assert app.last(OpenTranscript).key == values.HITS[2].conversation.key


async def test_a_hit_that_was_chosen_is_read_though_another_answer_is_on_its_way() -> None:
    service = GatedService()
    service.hold("search")
    async with searching(service) as (screen, app, pilot):
        await type_in(pilot, "o")
        (await service.asked("search")).page(values.page("o", values.HITS))
        await until(pilot, lambda: screen.hits.hits)
        await type_in(pilot, "a")
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.intents)
        assert app.last(OpenTranscript).key == values.HITS[1].conversation.key


async def test_typing_on_after_enter_reads_nothing() -> None:
    service = GatedService()
    service.hold("search")
    async with searching(service) as (screen, app, pilot):
        await type_in(pilot, "o")
        await pilot.press("enter")
        await type_in(pilot, "a")
        await service.asked("search")
        (await service.asked("search")).page(values.page("oa", values.HITS))
        await until(pilot, lambda: screen.hits.hits)
        await pilot.pause()
        assert not app.intents


async def test_tab_goes_to_the_hits_where_letters_are_commands() -> None:
    async with searching(GatedService(), "oauth") as (screen, app, pilot):
        await until(pilot, lambda: screen.hits.hits)
        assert "? keys" not in seen(app)
        await pilot.press("tab", "j")
        assert screen.hits.cursor == 1
        assert "? keys" in seen(app)
        await pilot.press("y")
        assert app.last(CopyText).text == f"@session:default/{values.CONVERSATIONS[1].id}"
        await pilot.press("i")
        assert app.last(CopyText).text == values.CONVERSATIONS[1].id
        await pilot.press("Y")
        await until(pilot, lambda: len(app.intents) == 3)
        assert app.last(CopyText).text == service_command()
        await pilot.press("r")
        assert app.last(OpenResume).conversation == values.CONVERSATIONS[1]
        await pilot.press("l")
        assert app.last(OpenLineage).session_id == values.HITS[1].matches[0].session_id
        await pilot.press("slash", "j")
        assert screen.box.text == "oauthj"
        await pilot.press("tab", "tab", "k")
        assert screen.box.text == "oauthjk"


def service_command() -> str:
    return values.PLAN.command


async def test_the_order_goes_round_and_asks_again_with_the_cursor_held() -> None:
    service = GatedService()
    async with searching(service, "oauth") as (screen, app, pilot):
        await until(pilot, lambda: screen.hits.hits)
        await pilot.press("tab", "down")
        chosen = screen.current
        for order, words in (
            (SearchOrder.NEWEST, "newest first"),
            (SearchOrder.OLDEST, "oldest first"),
            (SearchOrder.RELEVANCE, "best first"),
        ):
            await pilot.press("o")
            await until(pilot, lambda order=order: query_of(service).order is order)
            assert words in seen(app)
            assert screen.current is chosen


async def test_x_scans_with_progress_and_escape_stops_it() -> None:
    service = Unread()
    async with searching(service, "oauth") as (screen, app, pilot):
        await until(pilot, lambda: screen.hits.hits)
        await pilot.press("tab")
        assert "fts · 12 ms · Tool output beyond 8 KB was not searched   X scans it" in status(app)
        service.hold("search")
        await pilot.press("X")
        await until(pilot, lambda: query_of(service).scan)
        assert "scanning…" in status(app)
        call = service.calls[-1] if service.calls[-1].name == "search" else None
        call = call or [each for each in service.calls if each.name == "search"][-1]
        call.page(values.page("oauth", values.HITS[:2], final=False, progress=0.4))
        await until(pilot, lambda: "scanning… 40%" in status(app))
        await pilot.press("escape")
        await until(pilot, lambda: call.cancelled)
        assert "stopped at 40%" in status(app)
        assert len(screen.hits.hits) == 2
        assert app.screen is screen
        assert "X scans" in status(app)


@pytest.mark.parametrize(
    ("word", "width", "said"),
    [
        ("tok", 160, "12 ms · tok… as a beginning"),
        ("gateways", 80, "fts · gateways… as a beginning   tab, then X scans long output"),
        ("gateways", 60, "fts · gateways…   tab, then X scans long output"),
    ],
)
async def test_the_word_that_is_still_typed_is_said_to_be_a_beginning(word: str, width: int, said: str) -> None:
    service = GatedService()
    service.hold("search")
    async with searching(service, f"refresh {word}", size=(width, 48)) as (screen, app, pilot):
        tree = parse_query(f"refresh {word}", present=values.NOW, typing_at=11).expression
        (await service.asked("search")).page(replace(values.page("refresh", notices=(UNREAD,)), tree=tree))
        await until(pilot, lambda: screen.hits.hits)
        assert said in status(app)


@pytest.mark.parametrize(("text", "said"), [('oauth "refresh', "A quote is open"), ("(oauth OR x", "Brackets group")])
async def test_what_is_open_is_said(text: str, said: str) -> None:
    async with searching(GatedService(), text) as (screen, app, pilot):
        await until(pilot, lambda: screen.hits.hits)
        assert f"! {said}" in seen(app)


async def test_a_scan_without_a_match_says_so_and_leaves_a_way_out() -> None:
    service = GatedService()
    service.ways = ()
    service.hold("search")
    async with searching(service, "walnut") as (screen, app, pilot):
        unread = values.page("walnut", (), notices=(UNREAD,))
        call = await service.asked("search")
        call.page(unread)
        call.end()
        await until(pilot, lambda: "read tool output beyond 8 KB" in seen(app))
        assert "tab, then X scans" in status(app)
        assert "however long" not in " ".join(seen(app).split())
        await pilot.press("enter")
        call = await service.asked("search")
        call.page(values.page("walnut", ()))
        call.end()
        await until(pilot, lambda: "clear the query" in seen(app))
        assert "All tool output was read too, however long." in " ".join(seen(app).split())
        await pilot.press("enter")
        await until(pilot, lambda: screen.box.text == "")


async def test_the_footer_tells_only_what_works_in_every_state() -> None:
    service = GatedService()
    service.hold("search")

    def footer() -> str:
        return seen(app).splitlines()[-1].strip()

    async with searching(service, "", "oauth", "atlas") as (_screen, app, pilot):
        assert footer() == "enter search like this   ↑ ↓ choose   esc back"
        await type_in(pilot, "o")
        call = await service.asked("search")
        await until(pilot, lambda: footer() == "ctrl+r recent   esc clear")
        call.page(values.page("o", values.HITS[:1], final=False))
        await until(pilot, lambda: footer() == "enter read   tab to the hits   ctrl+r recent   esc clear")
        call.page(values.page("o", values.HITS))
        call.end()
        await until(pilot, lambda: footer().startswith("enter read   ↑ ↓ hits   tab to the hits"))
        await pilot.press("tab")
        assert footer().startswith("enter read   ctrl+n next hit   ctrl+p previous")
        assert footer().endswith("esc back   ? keys")
        await pilot.press("slash")
        await type_in(pilot, "x")
        (await service.asked("search")).fail(StoreUnreadable("state.db is gone"))
        await until(pilot, lambda: footer() == "enter try again   ctrl+r recent   esc clear")
        await pilot.press("tab")
        await until(pilot, lambda: footer() == "enter try again   / query   esc back   ? keys")
        await pilot.press("slash")
        await type_in(pilot, "x")
        (await service.asked("search")).fail(BadQuery("oxx", "a bad date"))
        await until(pilot, lambda: footer() == "ctrl+r recent   esc clear")


async def test_while_a_scan_runs_escape_is_said_to_stop_it() -> None:
    service = Unread()
    async with searching(service, "oauth") as (screen, app, pilot):
        await until(pilot, lambda: screen.hits.hits)
        service.hold("search")
        await pilot.press("tab", "X")
        await until(pilot, lambda: "esc stop" in seen(app).splitlines()[-1])
        await pilot.press("escape")
        await until(pilot, lambda: "esc back" in seen(app).splitlines()[-1])


async def test_while_an_unparsable_query_is_typed_on_nothing_is_asked_and_the_page_stays() -> None:
    service = GatedService()
    async with searching(service, "after:soon") as (screen, app, pilot):
        await until(pilot, lambda: "after:soon:" in seen(app))
        await type_in(pilot, " oauth")
        assert "after:soon oauth:" in seen(app)
        assert not [call for call in service.calls if call.name == "search"]
        await pilot.press("home", *["delete"] * len("after:soon "))
        await until(pilot, lambda: screen.hits.hits and not screen.has_class("-page"))


async def test_first_hits_are_painted_before_more_is_asked_for() -> None:
    class Stepping(GatedService):
        drawn: list[str] = []  # noqa: RUF012  # of this test alone
        shown: list[bool] = []  # noqa: RUF012  # likewise

        async def search(self, query: SearchQuery) -> AsyncIterator[SearchPage]:
            self.drawn.clear()
            yield values.page(query.text, values.HITS[:1], final=False)
            self.shown.append(any("The OAuth refresh races" in each for each in self.drawn))
            yield values.page(query.text, values.HITS[:2])

    service = Stepping()
    async with searching(service) as (screen, app, pilot):
        with frames(screen) as service.drawn:
            for letter in "oauth":
                await type_in(pilot, letter)
                await until(pilot, lambda: "1 of 2" in status(app))
        assert service.shown == [True] * 5


async def test_a_search_that_is_given_up_leaves_nothing_for_the_collector() -> None:
    class Found:
        """What a search holds on its way."""

    class Endless(GatedService):
        held: list[weakref.ref[Found]] = []  # noqa: RUF012  # of this test alone

        async def search(self, query: SearchQuery) -> AsyncIterator[SearchPage]:
            found = Found()
            self.held.append(weakref.ref(found))
            yield values.page(query.text, values.HITS[:1], final=False)
            await asyncio.Event().wait()
            del found

    service = Endless()
    async with searching(service) as (screen, _, pilot):
        gc.disable()
        try:
            await type_in(pilot, "o")
            await until(pilot, lambda: screen.hits.hits)
            await type_in(pilot, "a")
            await until(pilot, lambda: len(service.held) == 2 and service.held[0]() is None)
        finally:
            gc.enable()


async def test_hits_in_place_of_the_page_are_a_matter_of_two_widgets(monkeypatch: pytest.MonkeyPatch) -> None:
    service = GatedService()
    service.hits = ()
    async with searching(service, "walnut") as (screen, app, pilot):
        await until(pilot, lambda: "No matches for walnut" in seen(app))
        applied: list[object] = []
        apply = Stylesheet.apply

        def count(self: Stylesheet, node: object, **options: object) -> None:
            nonlocal applied
            applied += [node] * isinstance(node, Widget)
            apply(self, node, **options)  # type: ignore[arg-type]  # as Textual calls it

        monkeypatch.setattr(Stylesheet, "apply", count)
        screen._turn_page(False)
        assert applied == [screen.page, screen._answer]
        assert not screen.page.display
        assert screen._answer.display
        screen._turn_page(True)
        assert screen.page.display
        assert not screen._answer.display


async def test_a_word_that_is_nearly_a_filter_is_asked_about() -> None:
    service = GatedService()
    async with searching(service, "oauth sorce:slack") as (screen, app, pilot):
        await until(pilot, lambda: screen.hits.hits)
        assert "! sorce: is no filter; did you mean source:?" in seen(app)
        service.hits = ()
        await type_in(pilot, "x")
        await until(pilot, lambda: "No matches for oauth sorce:slackx" in seen(app))
        assert seen(app).count("sorce: is no filter; did you mean source:?") == 1
        await pilot.press("enter")
        await until(pilot, lambda: query_of(service).text == "oauth source:slackx")
        assert "is no filter" not in seen(app)
        screen.box.clear()
        await type_in(pilot, "TODO: http://x")
        await until(pilot, lambda: query_of(service).text == "TODO: http://x")
        await until(pilot, lambda: "No matches for TODO" in seen(app))
        assert "is no filter" not in seen(app)


async def test_a_source_that_is_none_is_told_from_those_there_are() -> None:
    service = GatedService()
    service.hits = ()
    async with searching(service, "source:nowhere") as (screen, app, pilot):
        await until(pilot, lambda: "There is no source nowhere; there are" in seen(app))
        screen.box.clear()
        await type_in(pilot, "walnut")
        await until(pilot, lambda: "No matches for walnut" in seen(app))
        assert "There is no source" not in seen(app)


async def test_ways_out_are_rows_that_enter_takes() -> None:
    service = GatedService()
    service.hits = ()
    service.ways = (
        WayOut("without source:slack", "kubernetes quota", 2, 6),
        WayOut("without quota", "kubernetes source:slack", 5, 19),
    )
    async with searching(service, "kubernetes quota source:slack") as (screen, app, pilot):
        await until(pilot, lambda: "without quota" in seen(app))
        assert "without source:slack 2 conversations 6 matches" in " ".join(seen(app).split())
        assert "All words must occur;" in seen(app)
        await pilot.press("down", "enter")
        await until(pilot, lambda: query_of(service).text == "kubernetes source:slack")
        assert screen.box.text == "kubernetes source:slack"


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("walnut", "No matches for walnut in 242 conversations."),
        ("walnut source:cli", "No matches for walnut in 242 conversations that pass the filters."),
        ("walnut before:2024-01-01", "No matches for walnut with before:2024-01-01 in 242 conversations."),
        (
            "source:cli -role:tool walnut after:7d",
            "No matches for walnut with -role:tool after:7d in 242 conversations that pass the other filters.",
        ),
    ],
)
def test_conversations_are_not_said_to_pass_what_their_messages_would_have_to(query: str, said: str) -> None:
    page = SearchPage((), 0, 242, "", "fts", 1.0, final=True)
    head, _ = nothing_found(query, page)
    assert "".join(text for text, _ in head[0]) == said
    alone, _ = nothing_found(query, replace(page, searched=1))
    of_one = head[0][-1][0].replace("242 conversations", "1 conversation").replace(" pass ", " passes ")
    assert alone[0][-1][0] == of_one


async def test_nothing_found_offers_to_read_what_no_index_holds() -> None:
    service = Unread()
    service.hits = ()
    async with searching(service, "kubernetes") as (_screen, app, pilot):
        await until(pilot, lambda: "read tool output beyond 8 KB" in seen(app))
        await pilot.press("enter")
        await until(pilot, lambda: query_of(service).scan)
        await until(pilot, lambda: "beyond 8 KB" not in seen(app))
        assert "No matches for kubernetes" in seen(app)


async def test_a_link_into_another_profile_can_be_opened() -> None:
    service = GatedService()
    service.hits = ()
    async with searching(service, "@session:work/20260101_000000_abcdef") as (_screen, app, pilot):
        await until(pilot, lambda: "open @session:work/20260101_000000_abcdef" in seen(app))
        assert "Looked for this id" in seen(app)
        assert "All words must occur" not in seen(app)
        await pilot.press("enter")
        assert app.last(OpenTarget).text == "@session:work/20260101_000000_abcdef"


async def test_of_a_link_that_leads_nowhere_the_profiles_are_the_way_out() -> None:
    service = GatedService()
    service.hits = ()
    service.said_of_store = (f"{LOST}there is no profile “work” here",)
    async with searching(service, "@session:work/20260101_000000_abcdef") as (_screen, app, pilot):
        await until(pilot, lambda: "choose profiles" in seen(app))
        assert "open @session:" not in seen(app)
        await pilot.press("enter")
        assert app.last(OpenProfiles)


async def test_an_empty_box_offers_recent_queries() -> None:
    service = GatedService()
    async with searching(service, "", "oauth source:cli", "walnut [/]") as (screen, app, pilot):
        assert "walnut [/]" in seen(app)
        assert not [call for call in service.calls if call.name == "search"]
        await pilot.press("enter")
        await until(pilot, lambda: screen.hits.hits)
        assert query_of(service).text == "oauth source:cli"
        await pilot.press("ctrl+r")
        assert "walnut [/]" in seen(app)
        await pilot.press("escape")
        assert screen.box.text == "oauth source:cli"
        assert "OAuth refresh token race" in seen(app)
        await pilot.press("ctrl+r", "down", "enter")
        await until(pilot, lambda: query_of(service).text == "walnut [/]")


async def test_a_pasted_link_opens_at_its_anchor() -> None:
    service = GatedService()
    row = values.CONVERSATIONS[1]
    service.hits = (Hit(row, Tier.TARGET, (), 0),)
    link = f"`@session:default/{row.segment_ids[0]}#4711`,"
    async with searching(service, link) as (screen, app, pilot):
        await until(pilot, lambda: screen.hits.hits)
        await pilot.press("enter")
        await until(pilot, lambda: app.intents)
        assert (app.last(OpenTranscript).key, app.last(OpenTranscript).anchor) == (row.key, 4711)


async def test_one_of_several_candidates_opens_by_itself() -> None:
    service = GatedService()
    rows = values.CONVERSATIONS[:2]
    service.hits = tuple(Hit(row, Tier.TARGET, (), 0) for row in rows)
    service.failures["target"] = TargetAmbiguous("two", [Candidate("default", row.id, None) for row in rows])
    async with searching(service, "@session:2026#12") as (screen, app, pilot):
        await until(pilot, lambda: screen.hits.hits)
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.intents)
        assert (app.last(OpenTranscript).key, app.last(OpenTranscript).anchor) == (rows[1].key, 12)


async def test_a_match_in_a_delegates_run_opens_that_run() -> None:
    run = values.conversation("20261130_111111_de1e6a", "Read the RFC", source="subagent")
    service = GatedService([*values.CONVERSATIONS, run])
    found = Match(9, run.id, "assistant", values.NOW, "oauth there", (Span(0, 5),))
    service.hits = (Hit(values.CONVERSATIONS[0], Tier.CONVERSATION, (found,), 1, in_delegate=True),)
    async with searching(service, "oauth") as (screen, app, pilot):
        await until(pilot, lambda: screen.hits.hits)
        await pilot.press("enter")
        await until(pilot, lambda: app.intents)
        assert (app.last(OpenTranscript).key, app.last(OpenTranscript).anchor) == (run.key, 9)


async def test_a_store_that_fails_says_so_and_can_be_asked_again() -> None:
    service = GatedService()
    service.failures["search"] = StoreUnreadable(f"the store is locked {HOSTILE}")
    async with searching(service, "oauth") as (screen, app, pilot):
        await until(pilot, lambda: "Could not search." in seen(app))
        assert f"the store is locked {SAFE}" in seen(app)
        del service.failures["search"]
        await pilot.press("enter")
        await until(pilot, lambda: screen.hits.hits)


async def test_a_busy_store_is_searched_again_without_being_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SearchScreen, "AGAIN_SECONDS", 0.0)
    service = GatedService()
    service.failures["search"] = StoreBusy("another process is writing")
    async with searching(service, "oauth") as (screen, app, pilot):
        await until(pilot, lambda: "trying again" in seen(app) and "another process is writing" in seen(app))
        del service.failures["search"]
        await until(pilot, lambda: screen.hits.hits)


async def test_the_pane_shows_goal_match_and_resolution_with_the_words_lit() -> None:
    service = GatedService()
    async with searching(service, "oauth") as (_screen, app, pilot):
        await until(pilot, lambda: "resolution" in seen(app))
        assert "goal" in seen(app)
        assert "The OAuth refresh races when two tabs" in seen(app)
        service.failures["context"] = StoreBusy("locked")
        await pilot.press("down")
        await until(pilot, lambda: "locked" in seen(app))
        await pilot.press("tab", "space")
        assert "locked" not in seen(app)


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (99, 30)])
async def test_a_narrow_screen_has_no_pane_and_asks_for_none(size: tuple[int, int]) -> None:
    service = GatedService()
    async with searching(service, "oauth", size=size) as (screen, app, pilot):
        await until(pilot, lambda: screen.hits.hits)
        await pilot.press("down", "down", "up")
        assert "goal" not in seen(app)
        assert not [call for call in service.calls if call.name == "context"]
        await pilot.resize_terminal(120, 36)
        await until(pilot, lambda: "goal" in seen(app))


async def test_hostile_words_stand_literally_everywhere() -> None:
    row = values.conversation("x", HOSTILE, source="[bold]x")
    service = GatedService([row])
    at = HOSTILE.index("hi")
    service.hits = (Hit(row, Tier.CONVERSATION, (Match(1, "x", "user", None, HOSTILE, (Span(at, at + 2),)),), 1),)
    service.transcript = tuple(replace(message, text=HOSTILE) for message in values.MESSAGES[:2])
    async with searching(service, "[/] hi [b") as (_screen, app, pilot):
        await until(pilot, lambda: "goal" in seen(app))
        text = seen(app)
        assert text.count(SAFE) >= 4
        assert "[/] hi [b" in text.splitlines()[2]
        assert not {"\x1b", "\x07", "\u202e"} & set(text)


async def test_completions_come_from_the_store() -> None:
    service = GatedService()
    async with searching(service) as (screen, app, pilot):
        await type_in(pilot, "oauth source:te")
        await until(pilot, lambda: "source:telegram" in seen(app))
        await pilot.press("right")
        assert screen.box.text == "oauth source:telegram "


async def test_untitled_hits_are_named_by_what_was_said_first() -> None:
    row = values.conversation("20261130_080000_121212", None)
    service = GatedService([row])
    service.hits = (Hit(row, Tier.CONVERSATION, (values.match(1, "the OAuth", "OAuth"),), 1),)
    async with searching(service, "oauth") as (_screen, app, pilot):
        await until(pilot, lambda: f"“first words of {row.id}”" in seen(app))


@pytest.mark.parametrize("seed", range(3))
async def test_any_keys_in_the_box_only_edit(seed: int) -> None:
    rng = random.Random(seed)
    typed = "".join(rng.choices("abcdefghijklmnopqrstuvwxyzGJKLNPSTXY?:/#'[]", k=40))
    names = {"?": "question_mark", ":": "colon", "/": "slash", "#": "number_sign", "'": "apostrophe"}
    names |= {"[": "left_square_bracket", "]": "right_square_bracket"}
    async with searching(GatedService()) as (screen, app, pilot):
        await pilot.press(*(names.get(char, char) for char in typed))
        assert screen.box.text == typed
        assert not app.intents
        assert app.screen is screen


async def test_a_query_that_is_wrong_from_the_start_says_why_on_the_status_line() -> None:
    service = GatedService()
    service.hold("search")
    async with searching(service) as (_screen, app, pilot):
        await type_in(pilot, "o")
        call = await service.asked("search")
        call.fail(BadQuery("o", "nothing follows it"))
        await until(pilot, lambda: "cannot parse" in seen(app))
        await pilot.pause()
        assert "cannot parse o: nothing follows it" in status(app)
        await pilot.press("tab")
        await until(pilot, lambda: "/ query" in seen(app))
        assert "cannot parse o: nothing follows it" in status(app)
        assert "next hit" not in seen(app)
