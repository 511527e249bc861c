"""One key at a time: a key is delivered only when the one before has done all it does.

Textual hands keys out as they come. Of `f`, `q`, `u` typed in one breath the list would get all three, before `f`
has opened the filter, and `q` would quit. Here a marker follows each key through the same queues; when it
has come back, so has everything that the key set off: a moved focus, an intent and the screen it opens.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import TypeVar

from textual import events
from textual.app import App, ScreenStackError
from textual.message import Message
from textual.message_pump import MessagePump

R = TypeVar("R")
PATIENCE = 1.0
"""Seconds after which the next key no longer waits: a marker is lost when its widget is removed."""


class KeyDone(Message):
    """Follows key number `serial`; on its second way it follows what that key's action has posted."""

    def __init__(self, serial: int, *, second: bool = False) -> None:
        super().__init__()
        self.serial = serial
        self.second = second


class OneKeyAtATime(App[R]):
    """Keys and pasted texts, in order."""

    def __init__(self) -> None:
        super().__init__()
        self._keys: deque[events.Key | events.Paste] = deque()
        self._serial = 0
        self._under_way: asyncio.TimerHandle | None = None
        """Set while a key is at work: the end of our patience."""
        self._key_at = 0.0
        """When the last key came, by the loop's clock."""
        self._listening = False
        """Keys that come before there is a screen for them wait."""

    @property
    def seconds_since_key(self) -> float:
        """How long nothing was pressed."""
        return asyncio.get_running_loop().time() - self._key_at

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            self._keys.append(event)
            self._key_at = asyncio.get_running_loop().time()
            await self._deliver()
        else:
            await super().on_event(event)

    async def on_ready(self) -> None:
        """There is something that keys can be meant for."""
        self._listening = True
        await self._deliver()

    def put_first(self, typed: Sequence[events.Key | events.Paste]) -> None:
        """What was typed before anybody could take it comes before what waits."""
        self._keys.extendleft(reversed(typed))

    async def _deliver(self) -> None:
        """Give out the next key, unless one is at work."""
        if self._under_way is not None or not self._keys or not self._listening:
            return
        self._serial += 1
        serial = self._serial
        loop = asyncio.get_running_loop()
        self._under_way = loop.call_later(PATIENCE, lambda: self.post_message(KeyDone(serial, second=True)))
        receiver = self._receiver()
        await super().on_event(self._keys.popleft())
        if receiver is None or not receiver.post_message(KeyDone(serial)):
            self.post_message(KeyDone(serial))

    def _receiver(self) -> MessagePump | None:
        """Who gets keys now."""
        try:
            return self.focused or self.screen
        except ScreenStackError:
            return None

    async def on_key_done(self, message: KeyDone) -> None:
        message.stop()
        if message.serial != self._serial or self._under_way is None:
            return
        if not message.second:
            try:
                on_its_way = self.screen.post_message(KeyDone(message.serial, second=True))
            except ScreenStackError:
                on_its_way = False
            if on_its_way:
                return
        self._under_way.cancel()
        self._under_way = None
        await self._deliver()
