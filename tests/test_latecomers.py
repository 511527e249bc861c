"""What comes from the terminal and is no key that somebody presses now."""

from __future__ import annotations

import random

import pytest
from textual import events

from hermes_tui.latecomers import LateAnswers, keys_of

COLOURS = ("\x1b]11;rgb:1212/1010/0c0c\x1b\\", "\x1b]11;rgb:ffff/ffff/ffff\x07", "")
LAST = "\x1b[?62;22c"


def fed(*pieces: str) -> list[str]:
    """The keys that these pieces are to the parser, the last key too."""
    parser = LateAnswers()
    found = [each for piece in pieces if piece for each in parser.feed(piece)]
    found += parser.feed("")
    return [each.key for each in found if isinstance(each, events.Key)]


@pytest.mark.parametrize("colour", COLOURS)
def test_a_late_answer_is_no_key(colour: str) -> None:
    assert fed(f"a{colour}{LAST}b") == ["a", "b"]


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("seed", range(20))
def test_also_in_pieces(seed: int, colour: str) -> None:
    rng = random.Random(seed)
    text = f"a{colour}b{LAST}c"
    # two characters of an answer begin keys as well, and are given out
    whole = {text.rindex("\x1b[") + 1, text.rindex("\x1b[") + 2, 2, 3}
    cuts = sorted(rng.sample([at for at in range(1, len(text)) if at not in whole], 4))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert fed(*pieces) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("said", "keys"),
    [
        ("\x1b", ["escape"]),
        ("\x1b[A\x1b[B", ["up", "down"]),
        ("\r", ["enter"]),
        ("\x1b[?2026;2$y", []),
        ("x\x1b[1;2A", ["x", "shift+up"]),
    ],
)
def test_keys_and_other_answers_are_what_they_were(said: str, keys: list[str]) -> None:
    assert fed(said) == keys
    assert fed(said[:3], said[3:]) == keys


def test_what_was_typed_before_is_keys_and_a_new_line_is_enter() -> None:
    told = keys_of("/a\n\x1b[A\x1b[I\x1b")
    assert [each.key for each in told if isinstance(each, events.Key)] == ["slash", "a", "enter", "up", "escape"]
    assert len(told) == 5
