"""The least that a Textual app can be: one label. Given a database, it holds what a list of sessions is made of."""

import sqlite3
import sys

from rows import SESSIONS
from textual.app import App, ComposeResult
from textual.widgets import Label


class One(App[None]):
    def compose(self) -> ComposeResult:
        yield Label("READY")


held = [sqlite3.connect(f"file:{db}?mode=ro", uri=True).execute(SESSIONS).fetchall() for db in sys.argv[1:]]
One().run()
