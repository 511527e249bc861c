"""Lists and the line beside them, without an app where none is needed."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from hermes_tui.paths import styles_dir
from hermes_tui.widgets import themes
from hermes_tui.widgets.ink import Ink, Line, crop, cut, fit, line, measure, wrap
from hermes_tui.widgets.rail import Rail, rail_lines
from hermes_tui.widgets.rows import Rows
from tests.stage import until


class Listed(App[None]):
    """A list of numbers under a head, and its rail."""

    CSS_PATH = [str(styles_dir() / "widgets.tcss")]  # noqa: RUF012  # as Textual declares it

    def __init__(self) -> None:
        super().__init__()
        self.drawn: list[int] = []
        self.told: list[Any] = []
        self.rows: Rows[int] = Rows(self._draw, lambda n: n, lambda width: line(("head", "aside")))

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return {f"h-{role}": colour for role, colour in themes.DARK.items()}

    def _draw(self, n: int, width: int, on: bool) -> Line:
        self.drawn.append(n)
        return line((f"{'>' if on else ' '} row {n}", "ink"))

    def compose(self) -> ComposeResult:
        yield self.rows

    def on_rows_highlighted(self, event: Rows.Highlighted) -> None:
        self.told.append(event.item)


@asynccontextmanager
async def listed(n: int) -> AsyncIterator[tuple[Rows[int], Listed, Pilot[None]]]:
    app = Listed()
    async with app.run_test(size=(40, 11)) as pilot:
        app.rows.show(range(n))
        await pilot.pause()
        yield app.rows, app, pilot


async def test_only_rows_in_sight_are_ever_drawn() -> None:
    async with listed(1_000_000) as (rows, app, pilot):
        assert set(app.drawn) <= set(range(11))
        app.drawn.clear()
        rows.last()
        await pilot.pause()
        assert set(app.drawn) <= set(range(999_985, 1_000_000))
        assert rows.current == 999_999
        assert list(rows.in_sight)[-1] == 999_999


async def test_moving_one_row_draws_two() -> None:
    async with listed(100) as (rows, app, pilot):
        app.drawn.clear()
        rows.move(1)
        await pilot.pause()
        assert sorted(app.drawn) == [0, 1]
        app.drawn.clear()
        rows.move(-1)
        await pilot.pause()
        assert app.drawn == []


async def test_the_cursor_is_always_in_sight_and_never_outside() -> None:
    rng = random.Random(5)
    async with listed(57) as (rows, _, pilot):
        for _ in range(200):
            rng.choice([rows.move, rows.page, rows.half, lambda n: rows.first(), lambda n: rows.last(), rows.choose])(
                rng.randrange(-70, 70)
            )
            assert 0 <= rows.cursor < 57
            assert rows.top <= rows.cursor < rows.top + rows.room
        await pilot.pause()


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_comes_and_goes_the_cursor_keeps_its_item(seed: int) -> None:
    rng = random.Random(seed)
    async with listed(0) as (rows, _, pilot):
        items = rng.sample(range(1_000), 60)
        rows.show(tuple(items))
        for _ in range(40):
            rows.choose(rng.randrange(len(items)))
            held, offset = rows.current, rows.cursor - rows.top
            kept = [item for item in items if item == held or rng.random() > 0.1]
            items = [*kept, *rng.sample(range(1_000, 9_000), rng.randrange(20))]
            items = list(dict.fromkeys(items))
            if rng.random() < 0.5:
                rng.shuffle(items)
            rows.show(tuple(items))
            assert rows.current == held
            assert rows.top <= rows.cursor < rows.top + rows.room
            steady = rows.cursor - rows.top == offset
            assert steady or rows.top in (0, rows.bottom)
        await pilot.pause()


async def test_another_list_keeps_the_item_and_begins_at_its_first_row_without_it() -> None:
    async with listed(30) as (rows, _, _pilot):
        rows.show(tuple(reversed(range(30))), anew=True)
        assert rows.current == 0
        rows.choose(5)
        held = rows.current
        rows.show(tuple(range(30)), anew=True)
        assert rows.current == held
        rows.show((99, 98), anew=True)
        assert rows.current == 99


async def test_what_was_chosen_last_comes_back_with_the_whole_list_and_stands_where_it_stood() -> None:
    async with listed(300) as (rows, _, _pilot):
        rows.choose(200)
        rows.move(-4)
        top = rows.top
        for fewer in ((3, 5, 8), (), (5,)):
            rows.show(fewer, anew=True)
            assert rows.current == (fewer[0] if fewer else None)
        rows.show((5, 8), anew=False)
        assert rows.current == 5
        rows.show(range(300), anew=True)
        assert (rows.current, rows.top) == (196, top)


async def test_what_is_chosen_in_a_shorter_list_is_held_in_the_whole_one() -> None:
    async with listed(300) as (rows, _, _pilot):
        rows.choose(200)
        rows.show((3, 5, 8), anew=True)
        rows.hold()
        rows.show(range(300), anew=True)
        assert rows.current == 3
        rows.show((7, 9), anew=True)
        rows.move(1)
        rows.show(range(300), anew=True)
        assert rows.current == 9


async def test_an_empty_list_has_no_row_and_says_so() -> None:
    async with listed(3) as (rows, app, pilot):
        rows.show(())
        rows.move(1)
        rows.last()
        await until(pilot, lambda: app.told[-1] is None)
        assert rows.current is None


def rail(height: int, total: int, visible: int, top: int, ticks: tuple[float, ...] = ()) -> str:
    return "".join(each.text for each in rail_lines(height, total, visible, top, ticks))


def test_the_thumb_is_as_long_as_what_is_seen_of_all_and_reaches_both_ends() -> None:
    assert rail(10, 20, 10, 0) == "┃" * 5 + "│" * 5
    assert rail(10, 20, 10, 10) == "│" * 5 + "┃" * 5
    assert rail(10, 10, 10, 0) == "│" * 10
    assert rail(10, 1_000_000, 10, 0).count("┃") == 1
    assert rail(10, 1_000_000, 10, 999_990)[-1] == "┃"
    assert rail(0, 5, 1, 0) == ""


def test_ticks_stand_on_the_line_and_on_the_thumb() -> None:
    assert rail(10, 20, 10, 0, (0.0, 1.0)) == "┿┃┃┃┃││││━"


async def test_dragging_the_thumb_goes_there() -> None:
    class Railed(Listed):
        def compose(self) -> ComposeResult:
            self.rail = Rail()
            yield self.rail

        def on_rail_moved(self, event: Rail.Moved) -> None:
            self.told.append(event.top)

    app = Railed()
    async with app.run_test(size=(40, 11)) as pilot:
        app.rail.show(110, 11, 0)
        await pilot.mouse_down(Rail, offset=(0, 10))
        await until(pilot, lambda: app.told == [99])
        await pilot.hover(Rail, offset=(0, 0))
        await until(pilot, lambda: app.told[-1] == 0)
        await pilot.mouse_up(Rail, offset=(0, 0))


@pytest.mark.parametrize("text", ["中文标题", "a中b", "👨‍👩‍👧‍👦 fam", "❄️ x", "e\u0301e\u0301", "", "plain", "🇩🇪🇫🇷"])
@pytest.mark.parametrize("width", range(0, 9))
def test_cutting_keeps_to_the_width_and_never_halves_a_character(text: str, width: int) -> None:
    assert measure(((cut(text, width), ""),)) <= width
    assert text.startswith(cut(text, width))
    assert measure(((fit(text, width), ""),)) == width
    assert measure(crop(((text, "ink"), (text, "soft")), width)) <= max(1, width)


def test_wrapping_loses_no_word_and_keeps_to_the_width() -> None:
    rng = random.Random(2)
    for _ in range(100):
        words = [
            rng.choice(["the", "中文字", "a-very-long-word-indeed", "x", "👍🏽"]) for _ in range(rng.randrange(1, 30))
        ]
        rows = wrap([(" ".join(words), "ink")], 12)
        assert all(measure(row) <= 12 for row in rows)
        joined = "".join(text for row in rows for text, _ in row)
        assert joined.replace(" ", "") == "".join(words)


async def test_what_is_selected_in_a_pane_is_what_it_says() -> None:
    class Paned(Listed):
        def compose(self) -> ComposeResult:
            yield Ink(lambda width, height: [line(("   first words", "ink")), line(("   and 中文 more", "ink"))])

    app = Paned()
    async with app.run_test(size=(40, 11)) as pilot:
        await pilot.mouse_down(Ink, offset=(3, 0))
        await pilot.hover(Ink, offset=(11, 1))
        await pilot.mouse_up(Ink, offset=(11, 1))
        assert app.screen.get_selected_text() == "first words\n   and 中文"
