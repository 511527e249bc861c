"""The clipboard: the system's own where one answers, else the terminal's (OSC 52), and the truth about which."""

from __future__ import annotations

import asyncio
import base64
import os
import threading
from collections.abc import Callable, Mapping
from enum import StrEnum

from hermes_tui.text import size, storable
from hermes_tui.values import dataclass

TERMINAL_TAKES = 74_994
"""Bytes of text that every terminal with OSC 52 takes; some take no more."""
LARGEST = 750_000
"""Bytes that some terminal takes: beyond, the sequence passes the megabyte at which tmux gives up."""

PATIENCE = 2.0
"""Seconds that a system clipboard may take."""


class How(StrEnum):
    """What became of a text."""

    COPIED = "copied"
    SENT = "sent to the terminal"
    TOO_LARGE = "too large"
    NOWHERE = "no clipboard"


@dataclass(frozen=True, slots=True)
class Copied:
    """What became of a text, and the sentence that says so."""

    how: How
    sentence: str


def osc52(text: str, *, tmux: bool = False) -> str:
    """The sequence that asks a terminal to take `text`; inside tmux wrapped, so that tmux passes it on."""
    encoded = base64.b64encode(storable(text).encode()).decode("ascii")
    sequence = f"\x1b]52;c;{encoded}\x07"
    if not tmux:
        return sequence
    doubled = sequence.replace("\x1b", "\x1b\x1b")
    return f"\x1bPtmux;{doubled}\x1b\\"


def over_ssh(env: Mapping[str, str]) -> bool:
    """Whether the person sits elsewhere: then the clipboard of this machine is not theirs."""
    return any(env.get(name) for name in ("SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"))


def copy_to_system(text: str) -> bool:
    """Whether a system clipboard took it: it is asked for it back, as some programs fail in silence."""
    import pyperclip

    try:
        pyperclip.copy(text)
        return bool(pyperclip.paste().replace("\r\n", "\n") == text.replace("\r\n", "\n"))
    except (pyperclip.PyperclipException, OSError, UnicodeError):
        return False


def system_clipboard() -> str:
    """What of this machine would be asked to take a text, by name; "" when there is nothing. Nothing is copied."""
    import pyperclip

    try:
        copy, _ = pyperclip.determine_clipboard()
    except (pyperclip.PyperclipException, OSError):
        return ""
    name = getattr(copy, "__name__", "")  # one that is missing is an object, and no function
    return name.removeprefix("copy_").replace("_", " ")


def route(env: Mapping[str, str], system: Callable[[], str] = system_clipboard) -> str:
    """Which way a copied text would take."""
    wrapped = ", wrapped for tmux" if env.get("TMUX") else ""
    terminal = f"by the terminal (OSC 52{wrapped})"
    if over_ssh(env):
        return f"{terminal}, as this is an SSH session"
    found = system()
    return f"by the system ({found}), else {terminal}" if found else f"{terminal}: no system clipboard was found"


async def _within(seconds: float, ask: Callable[[str], bool], text: str) -> bool:
    """What `ask` says, on a thread that nobody waits for longer than this: a display may have stopped answering."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[bool] = loop.create_future()

    def tell(said: bool) -> None:
        if not answer.done():
            answer.set_result(said)

    def run() -> None:
        said = ask(text)
        if not loop.is_closed():
            loop.call_soon_threadsafe(tell, said)

    threading.Thread(target=run, name="clipboard", daemon=True).start()
    try:
        async with asyncio.timeout(seconds):
            return await answer
    except TimeoutError:
        return False


class Clipboard:
    """Copies texts. `write` reaches the terminal; `system` tries the system's clipboard."""

    def __init__(
        self,
        write: Callable[[str], None] | None,
        *,
        system: Callable[[str], bool] = copy_to_system,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._write = write
        self._system = system
        self._env = os.environ if env is None else env

    async def copy(self, text: str) -> Copied:
        """Copy `text`, in whatever way works."""
        text = storable(text)
        if not over_ssh(self._env) and await _within(PATIENCE, self._system, text):
            return Copied(How.COPIED, "copied")
        length = len(text.encode())
        if length > LARGEST:
            limit = size(LARGEST)
            return Copied(How.TOO_LARGE, f"too large for the terminal's clipboard: {size(length)} of {limit}")
        if self._write is None:
            return Copied(How.NOWHERE, "there is no clipboard here")
        self._write(osc52(text, tmux=bool(self._env.get("TMUX"))))
        if length > TERMINAL_TAKES:
            return Copied(How.SENT, f"sent to the terminal; {size(length)} is too large for some")
        return Copied(How.SENT, "sent to the terminal")
