"""What comes from the terminal and is no key that somebody presses now: what was typed before the app was there, and
answers that come when nobody waits for them any more. To Textual's parser these are keys, `r` and `b` among them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from textual import events
from textual._xterm_parser import XTermParser
from textual.message import Message

_ANSWER = re.compile("\x1b\\]11;[^\x07\x1b]*(?:\x07|\x1b\\\\)|\x1b\\[\\?[0-9;]*c")
"""The colour of the background, and what a terminal says last (`terminal.background` asked)."""
_BEGUN = re.compile("\x1b(?:\\]1(?:1(?:;[^\x07\x1b]*\x1b?)?)?|\\[\\?[0-9;]*)\\Z")


class LateAnswers(XTermParser):
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


def pass_over_late_answers() -> None:
    """From now on Textual's driver reads what comes with a parser that knows such answers."""
    from textual.drivers import linux_driver  # which Windows lacks

    linux_driver.XTermParser = LateAnswers  # type: ignore[attr-defined]  # the driver can be given no other


def keys_of(typed: str) -> list[events.Key | events.Paste]:
    """What was typed, as keys; before the app had the terminal, `enter` was a new line."""
    parser = XTermParser()
    said = [*parser.feed(typed.replace("\n", "\r")), *parser.feed("")]
    return [each for each in said if isinstance(each, events.Key | events.Paste)]
