"""The palette: every ink can be read on whatever it lies on, in every theme."""

from __future__ import annotations

import pytest
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from hermes_tui import themenames
from hermes_tui.app import HermesApp
from hermes_tui.errors import UsageError
from hermes_tui.settings import Settings
from hermes_tui.widgets import themes
from hermes_tui.widgets.rows import Rows
from tests import values
from tests.fakes import GatedService
from tests.stage import seen, until

LIES_ON = {
    "ink": "ground raised cursor",
    "soft": "ground raised cursor",
    "quiet": "ground raised",
    "lit": "raised cursor hairline",
    "gold": "ground raised cursor",
    "match": "match-ground",
    "now": "now-ground",
    "good": "ground raised cursor",
    "bad": "ground",
    "bad-lit": "raised cursor",
    "code": "ground raised cursor",
    "code-text": "raised",
    "code-number": "raised",
}
COLOURED = sorted(name for name, theme in BUILTIN_THEMES.items() if not theme.ansi)
PALETTES = {
    "dark": themes.DARK,
    "light": themes.LIGHT,
    "dark-256": themes.DARK_256,
    "light-256": themes.LIGHT_256,
    **{name: themes.roles(BUILTIN_THEMES[name]) for name in COLOURED},
    **{f"{name}-256": themes.in_256(themes.roles(BUILTIN_THEMES[name])) for name in COLOURED},
}


@pytest.mark.parametrize("name", PALETTES)
def test_every_ink_can_be_read_on_every_ground_it_lies_on(name: str) -> None:
    colours = {role: Color.parse(value) for role, value in PALETTES[name].items()}
    assert set(colours) == set(themes.DARK)
    for ink, grounds in LIES_ON.items():
        for ground in grounds.split():
            assert themes.contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
    assert themes.contrast(colours["guide"], colours["ground"]) >= 2.5
    assert len({colours[ground].hex6 for ground in ("ground", "raised", "cursor")}) == 3


@pytest.mark.parametrize(
    "theme", [*COLOURED, "ansi-dark", "ansi-light", "hermes-dark", "hermes-light", "hermes-ansi"]
)
async def test_every_theme_can_be_chosen(theme: str) -> None:
    app = HermesApp(GatedService(), settings=Settings(theme=theme))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "OAuth refresh" in seen(app))
        assert app.theme == theme


async def test_a_theme_can_be_changed_while_the_app_runs() -> None:
    app = HermesApp(GatedService())
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: "OAuth refresh" in seen(app))
        rows = app.screen.query_one("#rows", Rows)
        before = rows.ink("gold")
        app.theme = "dracula"
        await until(pilot, lambda: rows.ink("gold") != before)


def test_a_theme_that_does_not_exist_is_named_with_those_that_do() -> None:
    with pytest.raises(UsageError, match=r"no theme 'drakula'.*dracula"):
        HermesApp(GatedService(), settings=Settings(theme="drakula"))


async def test_without_colour_everything_is_grey() -> None:
    app = HermesApp(GatedService(), settings=Settings(no_color=True))
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: "OAuth refresh" in seen(app))
        used = set()
        filters = app.get_line_filters()
        for strip in app.screen._compositor.render_strips(app.screen.size):
            segments = list(strip)
            for line_filter in filters:
                segments = line_filter.apply(segments, Color(0, 0, 0))
            used |= {each.style.color.triplet for each in segments if each.style and each.style.color}
        assert len(used) > 2
        assert all(each is None or each.red == each.green == each.blue for each in used)


async def test_with_letters_instead_of_glyphs_the_screen_is_ascii() -> None:
    rows = [row for row in values.CONVERSATIONS if row.title is None or row.title.isascii()]
    app = HermesApp(GatedService(rows), settings=Settings(ascii=True))
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: ">* OAuth refresh" in seen(app))
        assert seen(app).isascii()


def test_the_names_that_are_known_without_textual_are_names_of_themes() -> None:
    for name in themenames.KNOWN:
        themes.require(name)
    assert {each.name for each in themes.OWN} | set(themes.MEANT) == themenames.OURS
