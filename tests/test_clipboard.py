"""What reaches the terminal when something is copied, and what is said about it (R37)."""

from __future__ import annotations

import base64
import random
import threading

import pytest

from hermes_tui.app import HermesApp
from hermes_tui.clipboard import LARGEST, Clipboard, How, osc52
from hermes_tui.intents import CopyText
from tests import values
from tests.fakes import GatedService
from tests.stage import seen, until

SSH = {"SSH_CONNECTION": "10.0.0.1 5 10.0.0.2 22"}


def no_system(text: str) -> bool:
    return False


def taken(written: str) -> str:
    """The text that a terminal would take from an OSC 52."""
    start = written.index("\x1b]52;c;") + len("\x1b]52;c;")
    return base64.b64decode(written[start : written.index("\x07", start)]).decode()


async def test_a_system_clipboard_that_took_it_is_all_there_is_to_it() -> None:
    written: list[str] = []
    copied = await Clipboard(written.append, system=lambda text: text == "id", env={}).copy("id")
    assert (copied.how, copied.sentence, written) == (How.COPIED, "copied", [])


async def test_over_ssh_the_clipboard_of_this_machine_is_left_alone() -> None:
    written: list[str] = []

    def wrong(text: str) -> bool:
        raise AssertionError("the person sits elsewhere")

    copied = await Clipboard(written.append, system=wrong, env=SSH).copy("20261130_110000_aaaaaa")
    assert copied.sentence == "sent to the terminal"
    assert written == ["\x1b]52;c;" + base64.b64encode(b"20261130_110000_aaaaaa").decode() + "\x07"]


@pytest.mark.parametrize("text", ["ü" * 100_000, "🧨 emoji " * 10_000, "x" * 40, "", "a\nb\x1b[2J"])
async def test_inside_tmux_the_sequence_is_wrapped_with_its_escapes_doubled(text: str) -> None:
    written: list[str] = []
    copied = await Clipboard(written.append, system=no_system, env={"TMUX": "/tmp/tmux-0/default,1,0"}).copy(text)
    assert copied.how is How.SENT
    (sent,) = written
    encoded = base64.b64encode(text.encode()).decode()
    assert sent == f"\x1bPtmux;\x1b\x1b]52;c;{encoded}\x07\x1b\\"


async def test_what_some_terminals_refuse_is_sent_with_a_word_about_it() -> None:
    written: list[str] = []
    copied = await Clipboard(written.append, system=no_system, env={}).copy("x" * 200_000)
    assert taken(written[0]) == "x" * 200_000
    assert copied.sentence == "sent to the terminal; 200 KB is too large for some"


async def test_what_no_terminal_takes_is_not_sent_and_said_to_be_too_large() -> None:
    written: list[str] = []
    copied = await Clipboard(written.append, system=no_system, env={}).copy("ü" * (LARGEST // 2 + 1))
    assert (copied.how, written) == (How.TOO_LARGE, [])
    assert copied.sentence.startswith("too large")


async def test_lone_surrogates_are_no_reason_to_fail() -> None:
    written: list[str] = []
    await Clipboard(written.append, system=no_system, env={}).copy("a\ud800b")
    assert taken(written[0]) == "a?b"


async def test_a_display_that_stopped_answering_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hermes_tui.clipboard.PATIENCE", 0.01)
    free, written = threading.Event(), list[str]()
    copied = await Clipboard(written.append, system=lambda text: free.wait(20), env={}).copy("id")
    free.set()
    assert copied.how is How.SENT
    assert taken(written[0]) == "id"


def test_any_text_survives_the_way_to_the_terminal() -> None:
    rng = random.Random(3)
    for _ in range(50):
        text = "".join(
            chr(rng.choice([*range(1, 0xD7FF), *range(0xE000, 0x2FFFF)])) for _ in range(rng.randrange(60))
        )
        assert taken(osc52(text)) == text


async def test_the_toast_says_where_it_went_and_shows_the_text_letter_by_letter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSH_TTY", "/dev/pts/3")
    monkeypatch.setenv("TMUX", "/tmp/tmux-0/default,1,0")
    app = HermesApp(GatedService())
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        sent: list[str] = []
        assert app._driver is not None
        monkeypatch.setattr(app._driver, "write", sent.append)
        text = f"[bold]{values.CONVERSATIONS[0].id}[/] \x1b[31m" + "ü🧨" * 20
        app.post_message(CopyText(text, "message"))
        await until(pilot, lambda: "message sent to the terminal" in seen(app))
        encoded = base64.b64encode(text.encode()).decode()
        assert f"\x1bPtmux;\x1b\x1b]52;c;{encoded}\x07\x1b\\" in "".join(sent)
        assert f"[bold]{values.CONVERSATIONS[0].id}[/]" in seen(app)
        assert "\ufffd[31mü" in seen(app)
