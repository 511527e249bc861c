"""The terminal before the app has it: what it says of itself, whether its background is dark, and what is typed
meanwhile, of which nothing may be lost, shown, or taken for something else."""

from __future__ import annotations

import os
import re
import select
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from hermes_tui.clipboard import over_ssh
from hermes_tui.values import NamedTuple

_ASK = b"\x1b]11;?\x1b\\\x1b[c"
"""Background, and a question that every terminal answers, so that nobody waits for one that knows no colours."""
_PART = rb"([0-9a-fA-F]{1,4})"
_COLOUR = re.compile(rb"\x1b\]11;rgba?:" + rb"/".join([_PART] * 3) + rb"[^\x07\x1b]*(?:\x07|\x1b\\)")
_LAST = re.compile(rb"\x1b\[\?[0-9;]*c")
NEAR, FAR = 0.3, 1.0
"""Seconds to wait for a terminal here, and for one at the other end of a network."""


class Answer(NamedTuple):
    """What came back."""

    dark: bool | None
    """None when the terminal does not say."""
    typed: str = ""
    """What the person typed meanwhile: it is for the app."""
    whole: bool = True
    """Nothing is to come any more."""


def is_dark(red: float, green: float, blue: float) -> bool:
    """Whether a background (parts from 0 to 1) wants light text."""
    return 0.299 * red + 0.587 * green + 0.114 * blue < 0.5


def from_environment(env: Mapping[str, str]) -> bool | None:
    """COLORFGBG, which some terminals set: `15;0`, the background last."""
    last = env.get("COLORFGBG", "").rpartition(";")[2]
    return int(last) in (*range(7), 8) if last.isascii() and last.isdigit() else None


def read_answer(data: bytes) -> Answer:
    """The answers in `data`; the rest was typed."""
    found, whole = _COLOUR.search(data), _LAST.search(data) is not None
    typed = _LAST.sub(b"", _COLOUR.sub(b"", data)).decode("utf-8", "replace")
    if found is None:
        return Answer(None, typed, whole)
    red, green, blue = (int(part, 16) / (16 ** len(part) - 1) for part in found.groups())
    return Answer(is_dark(red, green, blue), typed, whole)


@contextmanager
def unechoed() -> Iterator[list[Any] | None]:
    """From here on keys are for the app: they do not appear on the terminal, and `enter` stays `enter`. Gives its
    modes as they were, which are restored at the end; None where there are none."""
    if os.name == "nt" or sys.__stdin__ is None or not sys.__stdin__.isatty():
        yield None
        return
    import termios
    import tty

    source = sys.__stdin__.fileno()
    try:
        before = termios.tcgetattr(source)
        ours = [*before]
        ours[tty.LFLAG] &= ~(termios.ECHO | termios.ICANON)
        ours[tty.IFLAG] &= ~termios.ICRNL
        ours[tty.CC] = [*before[tty.CC]]
        ours[tty.CC][termios.VMIN], ours[tty.CC][termios.VTIME] = 1, 0  # where it is read, each key as it comes
        termios.tcsetattr(source, termios.TCSANOW, ours)
    except termios.error:
        yield None  # a terminal that has gone, or is not ours to change: who needs it says so
        return
    try:
        yield before
    finally:
        with suppress(termios.error):
            termios.tcsetattr(source, termios.TCSANOW, before)


def background() -> Answer:
    """Ask the terminal, for a moment. Changes nothing that it does not put back."""
    known = from_environment(os.environ)
    if known is not None or os.name == "nt" or os.environ.get("TERM", "dumb") in ("dumb", "linux"):
        return Answer(known)
    if sys.__stdin__ is None or not sys.__stdin__.isatty() or sys.__stderr__ is None or not sys.__stderr__.isatty():
        return Answer(None)
    source, sink = sys.__stdin__.fileno(), sys.__stderr__.fileno()
    try:
        with unechoed():
            os.write(sink, _ASK)
            return read_answer(_until_answered(source, FAR if over_ssh(os.environ) else NEAR))
    except OSError:
        return Answer(None)


def _until_answered(source: int, seconds: float) -> bytes:
    """What arrives until the last answer is there, or time is up."""
    data, end = b"", time.monotonic() + seconds
    while not _LAST.search(data):
        left = end - time.monotonic()
        if left <= 0 or not select.select([source], [], [], left)[0]:
            break
        chunk = os.read(source, 4096)
        if not chunk:
            break
        data += chunk
    return data
