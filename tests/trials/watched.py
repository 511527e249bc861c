"""The program with eyes on it, for trials that drive it from outside: `python -m tests.trials.watched REPORT ARGS…`

Every SIGUSR1 appends a line of JSON to REPORT, written by the app itself between two messages, so that a line also
proves that it still answers. SIGUSR2 lets it end: before that, when HERMES_TUI_TRIAL_STAY is set, whatever would
leave the app is counted and not done, so that a run of random keys has one life.
"""

from __future__ import annotations

import asyncio
import faulthandler
import json
import os
import signal
import sys
import threading
import time
import traceback
from pathlib import Path
from types import FrameType
from typing import Any

from textual import events
from textual.screen import Screen

from hermes_tui.app import HermesApp
from hermes_tui.cli import main
from hermes_tui.storage import connection
from tests.watching import is_reading

_LOST = ("state.db", "state.db-wal", "state.db-shm", "state.db-journal")
"""Files that our process must never open but through SQLite."""


class Watch:
    """What was seen so far."""

    def __init__(self, report: Path, *, stay: bool) -> None:
        self.report, self.stay = report, stay
        self.app: HermesApp | None = None
        self.lines = 0
        self.exits = 0
        self.opened_raw: list[str] = []
        self.errors: list[str] = []
        self.said: list[str] = []
        self.screens: set[str] = set()
        self.statements = 0
        self.writing: list[str] = []

    def install(self) -> None:
        """Look at everything from here on."""
        connection.trace = self._statement
        sys.addaudithook(self._audit)
        sys.unraisablehook = lambda told: self._failed("unraisable", told.exc_value)
        threading.excepthook = lambda told: self._failed("thread", told.exc_value)
        signal.signal(signal.SIGUSR1, self._asked)
        signal.signal(signal.SIGUSR2, self._released)
        self._wrap()

    def _wrap(self) -> None:
        watch = self
        made, ended, failed, shown = (
            HermesApp.__init__,
            HermesApp.exit,
            HermesApp._handle_exception,
            Screen._on_screen_resume,
        )
        say = HermesApp.notify

        def init(app: HermesApp, *args: Any, **options: Any) -> None:
            made(app, *args, **options)
            watch.app = app

        def leave(app: HermesApp, *args: Any, **options: Any) -> None:
            watch.exits += 1
            if not watch.stay:
                ended(app, *args, **options)

        def handle(app: HermesApp, error: Exception) -> None:
            watch._failed("app", error)
            failed(app, error)

        def resume(screen: Screen[Any], event: events.ScreenResume) -> None:
            watch.screens.add(type(screen).__name__)
            shown(screen, event)

        def notify(app: HermesApp, message: str, **options: Any) -> None:
            if options.get("severity") in ("error", "warning"):
                watch.said.append(message[:300])
            say(app, message, **options)

        for name, wrapped in (("__init__", init), ("exit", leave), ("_handle_exception", handle), ("notify", notify)):
            setattr(HermesApp, name, wrapped)
        Screen._on_screen_resume = resume  # type: ignore[method-assign]  # watched, then done as ever

    def _statement(self, statement: str) -> None:
        self.statements += 1
        if not is_reading(statement[:2_000]):
            self.writing.append(statement[:2_000])

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | bytes) and os.fsdecode(arguments[0]).endswith(_LOST):
            self.opened_raw.append(os.fsdecode(arguments[0]))

    def _failed(self, where: str, error: BaseException | None) -> None:
        told = "".join(traceback.format_exception(error)) if error is not None else "?"
        self.errors.append(f"{where}: {told[-4_000:]}")
        self._write()  # there may be no next time

    def _asked(self, number: int, frame: FrameType | None) -> None:
        if self.app is not None and self.app._loop is not None:
            self.app._loop.call_soon_threadsafe(self.app.call_later, self._write)

    def _released(self, number: int, frame: FrameType | None) -> None:
        self.stay = False

    def _write(self) -> None:
        self.lines += 1
        app = self.app
        assert app is not None
        loop = app._loop
        if loop is not None and loop.get_exception_handler() is None:
            loop.set_exception_handler(lambda _, told: self._failed(str(told.get("message")), told.get("exception")))
        told = {
            "line": self.lines,
            "workers": len(app.workers),
            "threads": sorted(thread.name for thread in threading.enumerate()),
            "tasks": len(asyncio.all_tasks(loop)) if loop is not None else 0,
            "pending": len(app._keys),
            "depth": len(app.screen_stack),
            "screen": type(app.screen_stack[-1]).__name__ if app.screen_stack else "",
            "focus": type(app.focused).__name__ if app.screen_stack else "",
            "screens": sorted(self.screens),
            "exits": self.exits,
            "statements": self.statements,
            "writing": self.writing,
            "opened_raw": self.opened_raw,
            "errors": self.errors,
            "said": self.said[-20:],
            "at": time.time(),
        }
        with self.report.open("a", encoding="utf-8") as file:
            file.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    faulthandler.enable()
    watch = Watch(Path(sys.argv[1]), stay=bool(os.environ.get("HERMES_TUI_TRIAL_STAY")))
    watch.install()
    sys.exit(main(sys.argv[2:]))
