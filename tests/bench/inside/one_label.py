"""The least that a Textual app can be: one label."""

from textual.app import App, ComposeResult
from textual.widgets import Label


class One(App[None]):
    def compose(self) -> ComposeResult:
        yield Label("READY")


One().run()
