"""What comes from the terminal and is no key that somebody presses now: what was typed before the app was there,
answers that come when nobody waits for them any more, and its end. To Textual's parser answers are keys, `r` and `b`
among them; and of a terminal that has gone its driver reads nothing, for ever and as fast as it can."""

from __future__ import annotations

import os
import re
import select
import sys
import time
from collections.abc import Iterable, Iterator

from textual import events
from textual._xterm_parser import XTermParser
from textual.message import Message

_ANSWER = re.compile("\x1b\\]11;[^\x07\x1b]*(?:\x07|\x1b\\\\)|\x1b\\[\\?[0-9;]*c")
"""The colour of the background, and what a terminal says last (`terminal.background` asked)."""
_BEGUN = re.compile("\x1b(?:\\]1(?:1(?:;[^\x07\x1b]*\x1b?)?)?|\\[\\?[0-9;]*)\\Z")
_NAP = 0.1
"""Seconds between two looks at a terminal that has gone."""


class HungUp(Message):
    """The terminal has gone. Whoever started us may have kept the signal from us that says so."""


class Listening(XTermParser):
    """Tells once that the terminal has gone."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._told = False

    def tick(self) -> Iterator[Message]:
        yield from super().tick()
        if _hung_up():
            if not self._told:
                self._told = True
                yield HungUp()
            time.sleep(_NAP)


def _hung_up() -> bool:
    """Whether there is no terminal any more."""
    if sys.__stdin__ is None:
        return True
    line = select.poll()
    line.register(sys.__stdin__.fileno(), 0)  # a hang-up is told unasked
    return any(event & (select.POLLHUP | select.POLLERR) for _, event in line.poll(0))


class LateAnswers(Listening):
    """Passes over an answer, also one that comes in pieces."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._begun = ""

    def feed(self, data: str) -> Iterable[Message]:
        text = _ANSWER.sub("", self._begun + data)
        begun = _BEGUN.search(text) if data else None  # no data: nothing comes any more
        self._begun = begun[0] if begun else ""
        text = text[: len(text) - len(self._begun)]
        return super().feed(text) if text or not data else ()


def listen(*, late: bool) -> None:
    """From now on Textual's driver reads with a parser that knows a hang-up, and answers that come `late`."""
    if os.name != "nt":
        from textual.drivers import linux_driver

        parser = LateAnswers if late else Listening
        linux_driver.XTermParser = parser  # type: ignore[attr-defined]  # the driver can be given no other


def keys_of(typed: str) -> list[events.Key | events.Paste]:
    """What was typed, as keys; before the app had the terminal, `enter` was a new line."""
    parser = XTermParser()
    said = [*parser.feed(typed.replace("\n", "\r")), *parser.feed("")]
    return [each for each in said if isinstance(each, events.Key | events.Paste)]
