"""What a terminal says about its background, and what was typed meanwhile."""

from __future__ import annotations

import pytest

from hermes_tui.terminal import Answer, background, from_environment, read_answer

ATTRIBUTES = b"\x1b[?62;22c"


@pytest.mark.parametrize(
    ("answer", "dark"),
    [
        (b"\x1b]11;rgb:1212/1010/0c0c\x1b\\", True),
        (b"\x1b]11;rgb:fbfb/f8f8/efef\x07", False),
        (b"\x1b]11;rgb:ff/ff/ff\x07", False),
        (b"\x1b]11;rgba:0000/0000/0000/ffff\x1b\\", True),
        (b"\x1b]11;rgb:0/8/0\x07", True),
        (b"", None),
        (b"\x1b]11;?\x07", None),
    ],
)
def test_the_background_is_read_off_the_answer(answer: bytes, dark: bool | None) -> None:
    assert read_answer(answer + ATTRIBUTES).dark is dark


def test_what_was_typed_meanwhile_is_kept_for_the_app() -> None:
    said = b"/\x1b]11;rgb:1212/1010/0c0c\x1b\\to" + ATTRIBUTES + "kén".encode() + b"\x1b[B"
    assert read_answer(said) == Answer(True, "/tokén\x1b[B")


@pytest.mark.parametrize(
    ("value", "dark"),
    [("15;0", True), ("0;15", False), ("0;default;15", False), ("12;8", True), ("", None), ("x", None)],
)
def test_some_terminals_say_it_in_the_environment(value: str, dark: bool | None) -> None:
    assert from_environment({"COLORFGBG": value}) is dark


def test_where_there_is_no_terminal_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("COLORFGBG", raising=False)
    monkeypatch.setattr("sys.__stdin__", None)
    assert background() == Answer(None)
