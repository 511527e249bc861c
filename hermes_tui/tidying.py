"""What was left is thrown away, at moments when nobody waits for a frame.

Parts of a screen hold each other, so that only the collector finds them once it is left; and the collector is what
makes a frame late. So it is told to be rare, and is called here when it is quiet.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from textual import events
from textual._styles_cache import StylesCache
from textual.await_complete import AwaitComplete
from textual.screen import Screen
from textual.strip import Strip
from textual.timer import Timer

from hermes_tui.freeing import give_back
from hermes_tui.keyflow import OneKeyAtATime

R = TypeVar("R")
COLLECTED_AFTER = 8
"""Screens that may be left on the way from one to the next before what they were made of is looked for."""
OVERDUE = 32
"""… and after which it is looked for although keys come without a pause."""
QUIET = 0.7
"""Seconds after the last key when nobody waits for a frame."""
SETTLED = 0.1
"""The same where one has just gone back to the beginning: what was left can be thrown away before the next key."""
GENERATIONS = (8_000, 10, 1_000_000)
"""When the collector looks by itself: often at few objects, rarely at more, at all of them never."""
YOUNG = 3
"""Of its looks at few after which it looks at more, when it is quiet."""
GROWN, GROWN_MUCH = 1.25, 2.5
"""How much more there may be of what is not looked at before all of it is: with nobody there, and with somebody."""
AWAY = 5.0
"""Seconds after the last key when nobody seems to be there: to look at all there is takes as long as many frames."""
HOLDING = (StylesCache.get_inner_outer, Strip.render_ansi)
"""What Textual remembers of widgets that are gone: the lines of a thousand, and a style for each of sixteen thousand
places where something stood."""
PAUSE = 0.005
"""Seconds between two parts of throwing away."""
BASE = 1
"""Screens on the stack where one begins."""


class Keeping:
    """What is there to stay and need not be looked at again. Some of it goes all the same, rows that were written
    anew and notices that were shown; once there is a quarter more of it, all is looked at."""

    def __init__(self) -> None:
        self._kept = 0
        """Objects after all was last looked at."""

    def begin(self) -> None:
        """All that is there now stays."""
        gc.freeze()
        self._kept = gc.get_freeze_count()

    def give_up(self) -> None:
        """Nothing is sure to stay."""
        gc.unfreeze()
        self._kept = 0

    def grown(self, times: float) -> bool:
        """Whether what is not looked at has become so many times as much."""
        return gc.get_freeze_count() > times * self._kept

    def look(self, *, at_all: bool) -> None:
        """Throw away what nothing leads to any more, and keep the rest."""
        if at_all:
            gc.unfreeze()
        gc.collect()
        gc.freeze()
        if at_all:
            self._kept = gc.get_freeze_count()


class Tidying(OneKeyAtATime[R]):
    """When it is quiet enough, and what is looked at then."""

    _left = 0
    """Screens that were left since it was last looked for them."""
    _tidying: Timer | None = None
    """Set until it is quiet enough to look."""

    def __init__(self) -> None:
        super().__init__()
        self._keeping: Keeping | None = None

    def collect_rarely(self) -> None:
        """What has been made so far stays, and collections of what comes are rare."""
        self._keeping = Keeping()
        self._keeping.begin()
        gc.set_threshold(*GENERATIONS)
        gc.enable()  # what starts the program leaves it off

    def pop_screen(self) -> AwaitComplete:
        """Back to the screen below; when it is quiet, what the one that was left was made of is thrown away."""
        self._leave_one()
        return super().pop_screen()

    def switch_screen(self, screen: Screen[Any] | str) -> AwaitComplete:
        """Another screen in place of this one, which is left too."""
        self._leave_one()
        return super().switch_screen(screen)

    def _leave_one(self) -> None:
        self._left += 1
        if self._left > OVERDUE:
            return  # to begin to wait again would be to wait for ever
        if self._tidying is not None:
            self._tidying.stop()
            self._tidying = None
        self._tidy_later(SETTLED)

    async def on_event(self, event: events.Event) -> None:
        await super().on_event(event)
        if isinstance(event, events.Key) and not event.is_forwarded:
            self._tidy_later()

    def _tidy_later(self, seconds: float = QUIET) -> None:
        if self._tidying is None:
            self._tidying = self.set_timer(seconds, self._tidy)

    def _tidy(self) -> None:
        """Once it is quiet, look for what was left, often, so that there is never much. Where one began nearly
        everything that is still there stays: it is not looked at again before there is much more of it, so that
        looking takes as long as what was opened since, not as all there is."""
        self._tidying = None
        based = len(self.screen_stack) <= BASE
        keeping = self._keeping if based else None
        early = (SETTLED if based and self._left else QUIET) - self.seconds_since_key
        if early > 0 and self._left < OVERDUE:
            self._tidy_later(early)
        elif self._left >= (1 if based else COLLECTED_AFTER):
            self._throw_away()
        else:
            if gc.get_count()[1] >= YOUNG:
                gc.collect(1)
            if keeping is not None and keeping.grown(GROWN):
                self._look_when_away(keeping)

    def _look_when_away(self, keeping: Keeping) -> None:
        if (rest := AWAY - self.seconds_since_key) > 0:
            self._tidy_later(rest)
        else:
            keeping.look(at_all=True)

    def _throw_away(self) -> None:
        """The screens that were left."""
        self._left = 0
        self.run_worker(self._in_turn(*self._steps()), group="tidy", description="tidy")

    def _steps(self) -> Iterator[Callable[[], object]]:
        """What is to be done, in parts that take as long as a frame or less: what was made last is looked at first,
        most of it is of the screens that were left, and then there is less to look at."""
        yield from (function.cache_clear for function in HOLDING)
        yield lambda: gc.collect(1)
        yield self._look
        yield give_back

    async def _in_turn(self, *steps: Callable[[], object]) -> None:
        """One after the other; between them others have their turn."""
        for step in steps:
            step()
            await asyncio.sleep(PAUSE)

    def _look(self) -> None:
        """At all that may have been left."""
        keeping = self._keeping if len(self.screen_stack) <= BASE else None
        if keeping is not None:
            keeping.look(at_all=keeping.grown(GROWN_MUCH))
        else:
            gc.collect()

    def keep_what_is_there(self) -> bool:
        """What was loaded since the start stays too, and does not count as grown; False while that cannot be told
        from a screen that will be left, or was."""
        if self._keeping is None or self._left or len(self.screen_stack) > BASE:
            return self._keeping is None
        self._keeping.begin()
        return True

    def begin_anew(self) -> None:
        """What has been there since the start goes too, and may be looked for again."""
        if self._keeping is not None:
            self._keeping.give_up()
