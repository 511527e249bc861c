"""An app around one screen: our themes and sheets, and what the screen asks for is kept instead of done."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TypeVar

from rich.console import RenderableType
from textual._compositor import CompositorUpdate
from textual.app import App
from textual.message import Message
from textual.pilot import Pilot
from textual.screen import Screen

from hermes_tui.intents import Intent
from hermes_tui.paths import styles_dir
from hermes_tui.widgets.themes import HERMES_DARK, HERMES_LIGHT

S = TypeVar("S", bound=Screen[None])
I = TypeVar("I", bound=Intent)  # noqa: E741  # the name of a type variable
FIRST = ("app.tcss", "widgets.tcss")


class Stage(App[None]):
    """Shows the screen that it is given, over an empty one."""

    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012  # as Textual declares it
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]  # noqa: RUF012  # the same

    def __init__(self, screen: Screen[None]) -> None:
        folder = styles_dir()
        rest = sorted(path.name for path in folder.glob("*.tcss") if path.name not in FIRST)
        super().__init__(css_path=[folder / name for name in (*FIRST, *rest)])
        for theme in (HERMES_DARK, HERMES_LIGHT):
            self.register_theme(theme)
        self.theme = HERMES_DARK.name
        self.shown = screen
        self.intents: list[Intent] = []

    def on_mount(self) -> None:
        self.push_screen(self.shown)

    def post_message(self, message: Message) -> bool:
        if isinstance(message, Intent):
            self.intents.append(message)
        return super().post_message(message)

    def last(self, kind: type[I]) -> I:
        """The latest intent, which is of this kind."""
        assert isinstance(self.intents[-1], kind), self.intents
        return self.intents[-1]


@asynccontextmanager
async def on_stage(screen: S, size: tuple[int, int] = (120, 36)) -> AsyncIterator[tuple[S, Stage, Pilot[None]]]:
    """The screen, its app and a pilot."""
    app = Stage(screen)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield screen, app, pilot


async def until(pilot: Pilot[None], holds: Callable[[], object], turns: int = 400) -> None:
    """Let the app work until this holds."""
    for _ in range(turns):
        if holds():
            return
        await pilot.pause()
    assert holds(), seen(pilot.app)


def seen(app: App[None]) -> str:
    """What is on the screen, as text."""
    strips = app.screen._compositor.render_strips(app.screen.size)
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)


@contextmanager
def frames(screen: Screen[None]) -> Iterator[list[str]]:
    """What the screen shows after each time that it is drawn."""
    drawn: list[str] = []
    refresh = screen._compositor_refresh

    def refreshed() -> None:
        refresh()
        drawn.append(seen(screen.app))

    screen._compositor_refresh = refreshed  # type: ignore[method-assign]  # taken back below
    try:
        yield drawn
    finally:
        del screen._compositor_refresh


@contextmanager
def sent(app: App[None]) -> Iterator[list[str]]:
    """What the terminal is sent, drawing by drawing."""
    sequences: list[str] = []
    display = app._display

    def displayed(screen: Screen[None], drawing: RenderableType | None) -> None:
        if isinstance(drawing, CompositorUpdate) and not app._batch_count:
            sequences.append(drawing.render_segments(app.console))
        display(screen, drawing)

    app._display = displayed  # type: ignore[assignment]  # taken back below
    try:
        yield sequences
    finally:
        del app._display
