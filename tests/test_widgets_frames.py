"""Frames: how often the screen is drawn for a key, and what is in each drawing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.screen import ModalScreen

from hermes_tui.widgets.frames import Framing
from hermes_tui.widgets.ink import Ink, line
from tests.stage import frames, on_stage, seen, sent, until
from tests.test_screens_transcript import screen_of, service_of, settled, talk


class Pair(Framing):
    """A text and a line that tells of it."""

    CSS = "Pair Ink { height: 1; }"

    def __init__(self) -> None:
        super().__init__()
        self.text, self.told, self.number = Ink(id="text"), Ink(id="told"), 0

    def compose(self) -> ComposeResult:
        yield self.text
        yield self.told

    def say(self, number: int) -> None:
        self.number = number
        self.text.show(lambda width, height: [line((f"text {number}", "ink"))])

    def follow_up(self) -> None:
        number = self.number
        self.told.show(lambda width, height: [line((f"told {number}", "ink"))])


async def test_what_follows_from_a_change_is_in_the_same_frame() -> None:
    app, screen = App[None](), Pair()
    async with app.run_test(size=(20, 6)) as pilot:
        await app.push_screen(screen)
        screen.say(1)
        await until(pilot, lambda: "told 1" in seen(app))
        await pilot.pause()
        with frames(screen) as drawn:
            screen.say(2)
            await until(pilot, lambda: bool(drawn))
            await pilot.pause(0.05)
        assert len(drawn) == 1
        assert "text 2" in drawn[0]
        assert "told 2" in drawn[0]


class Panel(ModalScreen[None], Framing, inherit_bindings=False):
    """A screen above another, which shows beside it."""

    CSS = "Panel Ink { width: 5; height: 1; }"

    def compose(self) -> ComposeResult:
        yield Ink(lambda width, height: [line(("panel", "ink"))])


async def test_what_changes_behind_a_panel_is_sent() -> None:
    app, screen = App[None](), Pair()
    async with app.run_test(size=(20, 6)) as pilot:
        await app.push_screen(screen)
        screen.say(1)
        await until(pilot, lambda: "told 1" in seen(app))
        await app.push_screen(Panel())
        await until(pilot, lambda: "panel" in seen(app) and "told 1" in seen(app))
        with sent(app) as sequences:
            screen.say(2)
            await until(pilot, lambda: "told 2" in "".join(sequences))


async def test_what_is_hurried_waits_for_no_tick(monkeypatch: pytest.MonkeyPatch) -> None:
    app, screen = App[None](), Pair()
    async with app.run_test(size=(20, 6)) as pilot:
        await app.push_screen(screen)
        screen.say(1)
        await until(pilot, lambda: "told 1" in seen(app))
        await pilot.pause()
        await pilot.pause(0.05)
        screen._update_timer.pause()
        monkeypatch.setattr(screen._update_timer, "resume", lambda: None)  # there are no ticks any more
        with frames(screen) as drawn:
            screen.say(2)
            await asyncio.sleep(0.05)  # a pause of the pilot would draw
            assert not drawn
            screen.say(3)
            await asyncio.wait_for(screen.painted(screen.text), 5)
            assert len(drawn) == 1
            assert "text 3" in drawn[0]


class Line(Ink):
    """Counts how often it was told that it is in sight."""

    def __init__(self) -> None:
        super().__init__(id="told")
        self.shows = 0

    def on_show(self) -> None:
        self.shows += 1


class Trio(Pair):
    """A box, in place of which there is a line."""

    CSS = "Trio Ink { height: 1; }"

    def __init__(self) -> None:
        super().__init__()
        self.box = Ink(lambda width, height: [line(("box", "ink"))], id="box")
        self.told: Line = Line()

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield self.box

    def follow_up(self) -> None:
        """Nothing follows: it is said by the test."""

    def swap(self, box: bool) -> None:
        self.box.display, self.told.display = box, not box


@asynccontextmanager
async def trio() -> AsyncIterator[tuple[App[None], Trio, Pilot[None]]]:
    """Drawn, with no ticks any more: tests say when there is a frame."""
    app, screen = App[None](), Trio()
    async with app.run_test(size=(20, 6)) as pilot:
        await app.push_screen(screen)
        screen.say(1)
        Pair.follow_up(screen)
        await until(pilot, lambda: "text 1\ntold 1\nbox" in seen(app))
        screen.swap(box=True)
        await until(pilot, lambda: "text 1\nbox" in seen(app))
        await pilot.pause()
        screen._update_timer.pause()
        screen._update_timer.resume = lambda: None  # type: ignore[method-assign]  # the screen goes with the test
        yield app, screen, pilot


def frame_before_layout(screen: Trio) -> None:
    """A frame comes after what is in sight has changed, and before the layout that follows from that."""
    screen.say(screen.number + 1)
    Pair.follow_up(screen)
    screen.told._check_refresh()
    assert screen.told in screen._dirty_widgets
    assert screen.told not in screen._compositor.visible_widgets
    screen._on_timer_update()


async def test_a_line_that_comes_into_sight_is_sent_also_when_a_frame_comes_before_the_layout() -> None:
    async with trio() as (app, screen, pilot):
        shows = screen.told.shows
        with sent(app) as sequences:
            screen.swap(box=False)
            frame_before_layout(screen)
            assert screen.told in screen._compositor._full_map  # Textual has forgotten that it was not there
            await pilot.pause()  # draws, and lays out what has to be
            await pilot.pause()
        assert "told 2" in seen(app)
        assert "told 2" in "".join(sequences)
        assert screen.told.shows == shows + 1


async def test_what_is_back_before_the_layout_is_sent_again() -> None:
    async with trio() as (app, screen, pilot):
        with sent(app) as sequences:
            screen.swap(box=False)
            frame_before_layout(screen)
            early = len(sequences)
            screen.swap(box=True)
            screen.box._repaint_required = False  # nothing but its place tells that it is to be drawn
            await pilot.pause()
            await pilot.pause()
        assert "box" in seen(app)
        assert "box" in "".join(sequences[early:])


async def test_what_is_drawn_while_drawings_are_held_back_is_sent_afterwards() -> None:
    async with trio() as (app, screen, pilot):
        with sent(app) as sequences:
            with app.batch_update():
                screen.say(2)
                screen.text._check_refresh()
                screen._refresh_layout()
                screen._compositor_refresh()  # as it comes then
            assert not sequences
            await pilot.pause()
        assert "text 2" in "".join(sequences)


def without_rail(text: str) -> str:
    """The same without the column at the right edge."""
    return "\n".join(line[:118].rstrip() for line in text.split("\n"))


@pytest.mark.parametrize("key", ["pagedown", "end", "]"])
async def test_a_key_in_a_transcript_moves_text_rail_and_status_in_one_frame(key: str) -> None:
    screen = screen_of(service_of(talk(60)), 1)
    async with on_stage(screen, size=(120, 40)) as (_, app, pilot):
        await settled(screen, pilot)
        await pilot.pause(0.05)
        before = seen(app)
        with frames(screen) as drawn:
            await pilot.press(key)
            await until(pilot, lambda: bool(drawn))
            await settled(screen, pilot)
            await pilot.pause(0.05)
        assert drawn[0] != before
        # heights that were guessed may move the rail's thumb once they are known, and nothing else
        assert [without_rail(each) for each in drawn] == [without_rail(seen(app))] * len(drawn)
        assert len(drawn) <= 2
        assert drawn[-1] == seen(app)
        assert f"message {screen.reader.place.number} of 60" in drawn[0]  # type: ignore[union-attr]  # it reads


async def test_texts_that_come_for_what_is_out_of_sight_draw_nothing() -> None:
    screen = screen_of(service_of(talk(400)), 1)
    async with on_stage(screen, size=(120, 40)) as (_, _, pilot):
        await settled(screen, pilot)
        reader = screen.reader
        far = reader.plan.order.ids[-1]
        assert not reader.shelf.has(far)
        await pilot.pause(0.05)
        with frames(screen) as drawn:
            reader.put((far,), await screen.service.messages(screen.key, (far,)))
            await settled(screen, pilot)
            await pilot.pause(0.05)
        assert reader.shelf.has(far)
        assert not drawn
