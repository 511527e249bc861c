"""The footer: what fits, and what a click on it does."""

from __future__ import annotations

import pytest
from textual.keys import _character_to_key

from hermes_tui.app import HermesApp
from hermes_tui.keys import EVERYWHERE, PLACES, SMALL_PLACES, typed_as
from hermes_tui.screens.browse import BrowseScreen
from hermes_tui.widgets.keyline import KeyLine, fitting_keys
from tests import values
from tests.fakes import GatedService
from tests.stage import seen, until

PAIRS = (("enter", "read"), ("/", "search"), ("esc", "clear"), ("?", "keys"))


def test_what_does_not_fit_gives_way_the_way_back_last() -> None:
    assert fitting_keys(PAIRS, 80) == list(PAIRS)
    assert fitting_keys(PAIRS, 36) == [PAIRS[0], PAIRS[2], PAIRS[3]]
    assert fitting_keys(PAIRS, 21) == [PAIRS[2], PAIRS[3]]
    assert fitting_keys(PAIRS, 1) == [PAIRS[3]]


def test_every_key_of_a_footer_can_be_pressed_by_what_is_written() -> None:
    told = [key for keys in (*PLACES.values(), *SMALL_PLACES.values(), EVERYWHERE) for key in keys if key.footer]
    assert len(told) > 30
    for key in told:
        assert typed_as(key.shown) in [name.strip() for name in key.keys.split(",")], key.id
    assert typed_as("?") == _character_to_key("?")


@pytest.mark.parametrize("shown", ["↑ ↓", "← →", ""])
def test_two_keys_that_do_different_things_are_no_button(shown: str) -> None:
    assert typed_as(shown) is None


async def test_a_click_on_a_key_is_like_pressing_it() -> None:
    app = HermesApp(GatedService(values.CONVERSATIONS))
    async with app.run_test(size=(120, 36)) as pilot:
        screen = app.screen
        assert isinstance(screen, BrowseScreen)
        await until(pilot, lambda: len(screen.rows.items) > 1)
        footer = seen(app).splitlines()[-1]
        for word, place in (("filter", ""), ("clear", ""), ("lineage", "lineage"), ("back", "")):
            footer = seen(app).splitlines()[-1]
            await pilot.click(app.screen.query_one(KeyLine), offset=(footer.index(word), 0))
            if place:
                await until(pilot, lambda place=place: getattr(app.screen, "PLACE", "") == place)
            elif word == "filter":
                await until(pilot, lambda: screen.typing)
                await pilot.press("z", "z")
            elif word == "clear":
                await until(pilot, lambda: screen.box.text == "")
                await pilot.press("escape")
                await until(pilot, lambda: not screen.typing)
            else:
                await until(pilot, lambda: app.screen is screen)


async def test_a_click_beside_the_keys_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    app = HermesApp(GatedService(values.CONVERSATIONS))
    async with app.run_test(size=(120, 36)) as pilot:
        keys = app.screen.query_one(KeyLine)
        last = len(seen(app).splitlines()[-1].rstrip())
        assert keys.key_at(last - 1) == "question_mark"
        assert [keys.key_at(x) for x in (0, 1, 2, last, 119)] == [None] * 5
        pressed: list[str] = []
        monkeypatch.setattr(app, "simulate_key", pressed.append)
        await pilot.click(keys, offset=(last + 1, 0))
        assert pressed == []
        await pilot.click(keys, offset=(last - 1, 0))
        assert pressed == ["question_mark"]
