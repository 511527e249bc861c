"""The pane beside the hits: goal, match, resolution, and words that are lit."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from hermes_tui.domain.messages import Message, ToolCall, Window
from hermes_tui.domain.queries import Hit, Match, Span, Tier
from hermes_tui.widgets.ink import measure
from hermes_tui.widgets.lit import Lights
from hermes_tui.widgets.window import Context, window_view
from tests import values

ROW = values.CONVERSATIONS[0]


def message(number: int, text: str, role: str = "user", **changes: object) -> Message:
    plain = Message(number, ROW.id, role, values.NOW - 3_600 + number, text, len(text))
    return replace(plain, **changes)  # type: ignore[arg-type]  # the test names fields of the right kind


def hit(number: int, snippet: str, *words: str, count: int = 1) -> Hit:
    spans = tuple(Span(snippet.index(word), snippet.index(word) + len(word)) for word in words)
    return Hit(ROW, Tier.CONVERSATION, (Match(number, ROW.id, "user", values.NOW, snippet, spans),), count)


def context(rng: random.Random, needle: str, sizes: tuple[int, int, int] = (3, 11, 3)) -> tuple[Context, int]:
    """Three windows of messages of random lengths, and the id of the one in the middle that holds the needle."""
    windows, number = [], 0
    for size in sizes:
        messages = []
        for _ in range(size):
            number += 1
            text = " ".join(rng.choices(("quick", "brown", "部署脚本", "fox\n\n", "`code`"), k=rng.randint(1, 200)))
            messages.append(message(number, text, rng.choice(("user", "assistant"))))
        windows.append(messages)
    middle = windows[1][len(windows[1]) // 2]
    at = rng.randint(0, len(middle.text))
    windows[1][len(windows[1]) // 2] = message(
        middle.id, f"{middle.text[:at]} {needle} {middle.text[at:]}", middle.role
    )
    goal, match, end = (Window(tuple(messages), 0, 0) for messages in windows)
    return (goal, match, end), middle.id


@pytest.mark.parametrize("seed", range(25))
def test_the_match_is_in_sight_whatever_the_lengths(seed: int) -> None:
    rng = random.Random(seed)
    shown, number = context(rng, "walnut")
    width, height = rng.randint(38, 60), rng.randint(20, 50)
    lines = window_view(hit(number, "a walnut here", "walnut"), shown, ("walnut",))(width, height)
    assert len(lines) <= height
    assert all(measure((*each.left, *each.right)) <= width for each in lines)
    assert any(part == ("walnut", "now") for each in lines for part in each.left)
    labels = [part for each in lines for part, ink in each.left if ink == "aside"]
    assert [label for label in labels if label in ("goal", "match", "resolution")] == ["goal", "match", "resolution"]


def test_sections_name_their_times_and_calls_are_one_line() -> None:
    call = ToolCall("c", "read_file", "{}")
    shown = (
        Window((message(1, "find out why"),), 0, 9),
        Window(
            (
                message(2, "", "assistant", tool_calls=(call, replace(call, name="terminal"))),
                message(3, "raw output", "tool", tool_name="read_file"),
                message(4, "it is a walnut race", "assistant"),
                message(5, "the model was switched", "user", kind="model_switch", label="now hermes-4"),
            ),
            1,
            5,
        ),
        Window((), 0, 0),
    )
    lines = window_view(hit(4, "a walnut race", "walnut", count=17), shown, ("walnut",))(60, 40)
    text = "\n".join(each.text.rstrip() for each in lines)
    assert "best of 17 matches" in text
    assert "Mon 30 Nov 11:00" in text
    assert " ▸ 2 calls: read_file, terminal" in text
    assert "raw output" not in text
    assert " ◈ now hermes-4" in text
    assert "resolution" not in text


def test_a_match_in_tool_output_is_shown_with_its_tool() -> None:
    shown = (
        Window((), 0, 0),
        Window((message(3, "x " * 900 + "walnut", "tool", tool_name="terminal"),), 0, 0),
        Window((), 0, 0),
    )
    text = "\n".join(each.text for each in window_view(hit(3, "walnut", "walnut"), shown, ("walnut",))(60, 40))
    assert " ▸ terminal  … x" in text
    assert "walnut" in text


def test_tables_and_code_are_told_without_the_lines_around_them() -> None:
    said = "a walnut:\n```sh title=x\nls\n```\n| ms | tab |\n|---:|:--|\n| 12 | A |"
    shown = (Window((), 0, 0), Window((message(3, said, "assistant"),), 0, 0), Window((), 0, 0))
    text = "\n".join(each.text for each in window_view(hit(3, "walnut", "walnut"), shown, ("walnut",))(80, 40))
    assert "a walnut: ls | ms | tab | | 12 | A |" in text


def test_failing_and_waiting() -> None:
    assert "locked" in "".join(each.text for each in window_view(hit(1, "x"), None, (), failed="locked")(60, 20))
    assert next(each.text.strip() for each in window_view(hit(1, "x"), None, ())(60, 20)) == ROW.title


@pytest.mark.parametrize(
    ("words", "text", "lit"),
    [
        (("token",), "Token tokens broken-token, token.", ["Token", "token", "token"]),
        (("部署",), "为部署脚本 deploy", ["部署"]),
        (("c++",), "C++ and c+", ["C++"]),
        (("a b",), "a b, ab, xa b", ["a b"]),
        (("naïve",), "naïve naïvely", ["naïve"]),
        ((), "nothing", []),
        (("",), "nothing", []),
        (("[/]",), "literal [/] here", ["[/]"]),
    ],
)
def test_whole_words_are_lit(words: tuple[str, ...], text: str, lit: list[str]) -> None:
    assert [part for part, ink in Lights(words).parts(text, "soft") if ink == "match"] == lit


def test_what_a_prefix_matched_is_lit_too() -> None:
    lights = Lights(("deploy",), hit(1, "it deployed twice", "deployed"))
    assert [part for part, ink in lights.parts("deployed, deploy, deploying", "soft") if ink == "match"] == [
        "deployed",
        "deploy",
    ]


def test_inside_words_only_where_there_surely_is_a_match() -> None:
    lights = Lights(("fresh",))
    assert lights.spans("refreshing") == []
    assert lights.spans("refreshing", surely=True) == [(2, 7)]
