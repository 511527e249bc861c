"""The least that a Textual app needs to echo a key: one input."""

from textual.app import App, ComposeResult
from textual.widgets import Input


class One(App[None]):
    def compose(self) -> ComposeResult:
        yield Input(placeholder="READY")


One().run()
