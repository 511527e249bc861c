"""A task beside an app that wakes every 5 ms: how late it wakes is how long the loop was busy.

At the end the file that `TICKS` names holds pairs of doubles: when a tick came, and how long after the one before.
"""

from __future__ import annotations

import array
import asyncio
import os
import time

_SECONDS = 0.005


class Clock:
    """For an app to be made of; the task is its own."""

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
