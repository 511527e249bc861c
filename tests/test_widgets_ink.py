"""Lines of inked parts: no more is drawn again than has changed."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Region, Size

from hermes_tui.widgets.ink import Ink, Inked, View, line, measure, shortened, wrap


class Lazy(str):
    """A text that counts how many of its characters were looked at."""

    seen = 0

    def __iter__(self) -> Iterator[str]:
        for char in super().__iter__():
            self.seen += 1
            yield char


def said(*rows: str) -> View:
    return lambda width, height: [line((row, "ink")) for row in rows]


class One(App[None]):
    CSS = """
    Ink { height: 3; color: #aaaaaa; background: #000000; }
    Ink > .ink--gold { color: #ffcc00; }
    Screen.-bright Ink > .ink--gold { color: #ffff00; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.ink = Ink(said("one", "two", "three"))

    def compose(self) -> ComposeResult:
        yield self.ink
        yield Ink(said("below"), id="below")


def repainted(ink: Inked) -> set[Region]:
    """What is to be painted again; asked before it is."""
    return set(ink._repaint_regions)


async def test_only_lines_that_say_something_else_are_drawn_again() -> None:
    app = One()
    async with app.run_test(size=(20, 8)) as pilot:
        await pilot.pause()
        app.ink.show(said("one", "TWO", "three"))
        assert repainted(app.ink) == {Region(0, 1, 20, 1)}
        await pilot.pause()
        app.ink.show(said("one", "TWO", "three"))
        assert repainted(app.ink) == set()
        assert [each.text for each in app.ink.lines] == ["one", "TWO", "three"]


async def test_other_numbers_of_lines_are_drawn_whole() -> None:
    app = One()
    async with app.run_test(size=(20, 8)) as pilot:
        await pilot.pause()
        app.ink.show(said("one"))
        assert repainted(app.ink) == {Region(0, 0, 20, 3)}


async def test_styles_that_are_found_to_be_the_same_leave_everything_as_it_is_drawn() -> None:
    app = One()
    async with app.run_test(size=(20, 8)) as pilot:
        app.ink.show(lambda width, height: [line(("one", "gold"))])
        await pilot.pause()
        gold = app.ink.ink("gold")
        app.screen.add_class("-other")
        assert repainted(app.ink) == set()
        app.screen.add_class("-bright")
        assert repainted(app.ink) == {Region(0, 0, 20, 3)}
        assert app.ink.ink("gold") != gold


async def test_widgets_of_which_the_sheets_say_the_same_are_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    app = One()
    async with app.run_test(size=(20, 8)) as pilot:
        await pilot.pause()
        twins = [Ink(said("twin")), Ink(said("twin"))]
        await app.mount(*twins)
        asked: list[object] = []
        apply = app.stylesheet.apply
        monkeypatch.setattr(app.stylesheet, "apply", lambda node: (asked.append(node), apply(node)))
        assert twins[0].ink("gold") == twins[1].ink("gold")
        assert len(asked) == 1


def test_of_a_long_text_no_more_is_looked_at_than_there_is_room_for() -> None:
    text = Lazy("word " * 10_000)
    assert len(wrap([(text, "ink")], 20, 3)) == 3
    assert text.seen <= 5 * 20


async def test_a_hidden_line_that_was_told_something_else_says_it_when_it_is_seen_again() -> None:
    app = One()
    async with app.run_test(size=(20, 8)) as pilot:
        await pilot.pause()
        app.ink.display = False
        await pilot.pause()
        app.ink.show(said("new", "words"))
        app.ink.display = True
        await pilot.pause()
        assert app.ink.size == Size(20, 3)
        assert app.ink.render_line(0).text.strip() == "new"


def test_fewer_rows_of_a_text_are_the_first_of_more() -> None:
    rng = random.Random(7)
    for _ in range(300):
        words = rng.choices(("fox", "部署脚本", "a-very-long-word-indeed", "x", "👍🏽"), k=rng.randrange(1, 60))
        parts = [(f"{word} ", rng.choice(("ink", "match"))) for word in words]
        width, limit = rng.randrange(5, 40), rng.randrange(1, 9)
        rows = wrap(parts, width, limit)
        assert shortened(wrap(parts, width, 9), width, limit) == rows
        said = "".join(text for text, _ in rows[-1])
        assert said.count("…") <= 1, "one says that there is more"
        assert measure(rows[-1]) <= width or width < 9


async def test_places_are_told_to_the_mouse_alone() -> None:
    app = One()
    async with app.run_test(size=(20, 8)):
        painted = app.ink.render_lines(Region(0, 0, 20, 3))
        assert [strip.text.rstrip() for strip in painted] == ["one", "two", "three"]
        assert not any(segment.style and segment.style.meta for strip in painted for segment in strip)
        _, offset = app.screen.get_widget_and_offset_at(2, 1)
        assert offset == (2, 1)
