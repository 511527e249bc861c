"""The program, with a task beside it that wakes every 5 ms: how late it wakes is how long the loop was busy.

    TICKS=FILE python ticking.py ARGUMENTS…

At the end FILE holds pairs of doubles: when a tick came, and how long after the one before.
"""

from __future__ import annotations

import array
import asyncio
import os
import sys
import time

import hermes_tui.app
from hermes_tui.cli import main

_SECONDS = 0.005


class Ticking(hermes_tui.app.HermesApp):
    """The app as it is; the task is its own."""

    async def on_mount(self) -> None:
        self.ticking = asyncio.create_task(self._tick())

    async def _tick(self) -> None:
        ticks = array.array("d")
        before = time.perf_counter()
        try:
            while True:
                await asyncio.sleep(_SECONDS)
                now = time.perf_counter()
                ticks.extend((now, now - before))
                before = now
        finally:
            with open(os.environ["TICKS"], "wb") as file:  # noqa: ASYNC230  # the app is over
                ticks.tofile(file)


hermes_tui.app.HermesApp = Ticking  # type: ignore[misc]  # the command line makes the app itself
sys.exit(main())
