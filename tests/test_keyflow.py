"""Keys that come faster than they are handled."""

from __future__ import annotations

import random

import pytest
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.keys import _character_to_key
from textual.screen import Screen
from textual.widgets import Input, Static

from hermes_tui.keyflow import KeyDone, OneKeyAtATime
from tests.stage import until


class Page(Screen[None]):
    """`f` goes to the box, escape leaves it; `o` opens another page."""

    AUTO_FOCUS = ""
    BINDINGS = [Binding("f", "box"), Binding("escape", "leave"), Binding("o", "open"), Binding("q", "app.quit")]  # noqa: RUF012  # as Textual declares it

    def compose(self) -> ComposeResult:
        yield Static()
        yield Input(select_on_focus=False)

    def action_box(self) -> None:
        self.set_focus(self.query_one(Input))

    def action_leave(self) -> None:
        self.set_focus(None)

    async def action_open(self) -> None:
        await self.app.push_screen(Page())


class Keyed(OneKeyAtATime[None]):
    """Notes which commands ran."""

    def get_default_screen(self) -> Screen[None]:
        return Page()


def type_at_once(app: Keyed, text: str) -> None:
    named = {"\x1b": "escape"}
    for char in text:
        key = named.get(char) or (char if char.isalnum() else _character_to_key(char))
        app.post_message(events.Key(key, char))


async def test_each_key_meets_what_the_one_before_has_left() -> None:
    app = Keyed()
    async with app.run_test() as pilot:
        first = app.screen
        type_at_once(app, "fqoq\x1bofx q")
        await until(pilot, lambda: app.screen is not first and app.screen.query_one(Input).value == "x q")
        assert first.query_one(Input).value == "qoq"


async def test_keys_wait_until_there_is_a_screen_and_come_after_those_of_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Early(Keyed):
        async def on_mount(self) -> None:
            type_at_once(self, "oqx q")

        def on_ready(self) -> None:
            self.put_first([events.Key("f", "f"), events.Key("q", "q")])

    app = Early()
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.screen.query_one(Input).value == "qoqx q")


async def test_any_mixture_of_typing_and_commands_comes_out_in_order() -> None:
    rng = random.Random(11)
    app = Keyed()
    async with app.run_test() as pilot:
        box = app.screen.query_one(Input)
        expected = ""
        for _ in range(20):
            word = "".join(rng.choice("qof xyz") for _ in range(rng.randrange(8)))
            expected += word
            type_at_once(app, f"f{word}\x1b")
        await until(pilot, lambda: box.value == expected)


async def test_a_marker_that_is_lost_with_its_widget_does_not_stop_the_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Keyed()
    async with app.run_test() as pilot:
        monkeypatch.setattr("hermes_tui.keyflow.PATIENCE", 0.01)
        with monkeypatch.context() as lossy:
            lossy.setattr(Page, "post_message", lambda page, message: isinstance(message, KeyDone) or None)
            app.post_message(events.Key("x", "x"))
            await pilot.pause()
        type_at_once(app, "fab")
        await until(pilot, lambda: app.screen.query_one(Input).value == "ab")


async def test_a_stale_marker_does_not_let_the_next_key_out_early() -> None:
    app = Keyed()
    async with app.run_test() as pilot:
        for serial in range(5):
            app.post_message(KeyDone(serial, second=True))
        type_at_once(app, "fab")
        await until(pilot, lambda: app.screen.query_one(Input).value == "ab")
