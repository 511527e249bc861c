"""The least that opening and leaving a screen can be: `o` pushes one of empty widgets, `c` pops it; with a clock.

TICKS=FILE python pushing.py
"""

from __future__ import annotations

from clock import Clock
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Label


class Empty(Widget):
    """Nothing to be seen."""

    DEFAULT_CSS = "Empty { height: 1; } Horizontal Empty { height: 1fr; }"


class Pushed(Screen[None]):
    """As many parts as the search screen has."""

    BINDINGS = [Binding("c", "app.pop_screen", "")]  # noqa: RUF012  # as Textual declares it

    def compose(self) -> ComposeResult:
        yield Empty()
        yield Empty()
        with Horizontal():
            yield Empty()
            yield Empty()
            yield Empty()
        yield Empty()
        yield Empty()
        yield Empty()
        yield Label("PUSHED")


class Pushing(Clock, App[None]):
    BINDINGS = [Binding("o", "open", "")]  # noqa: RUF012  # as Textual declares it

    def compose(self) -> ComposeResult:
        yield Label("READY")

    def action_open(self) -> None:
        self.push_screen(Pushed())


Pushing().run()
