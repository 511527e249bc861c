"""The recap's entries as Hermes shortens them, and the words of "find here" (FACTS 5)."""

from __future__ import annotations

from typing import Any

import pytest

from hermes_tui.domain.finds import find_pattern, parse_find
from hermes_tui.domain.messages import HANDOFF, Message, RecapEntry, ToolCall
from hermes_tui.domain.recaps import RecapSettings, entry_of, plain, recap_settings, spoken, worth_showing


def message(role: str, text: str = "", **columns: Any) -> Message:
    return Message(id=1, session_id="s", role=role, timestamp=5.0, text=text, chars=len(text), **columns)


def calls(*names: str) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(str(number), name, "{}") for number, name in enumerate(names))


DEFAULT = RecapSettings()


@pytest.mark.parametrize(
    ("given", "entry"),
    [
        (message("user", "hello"), RecapEntry("user", "hello", timestamp=5.0)),
        (message("user", ""), RecapEntry("user", "", timestamp=5.0)),
        (message("user", "u" * 301), RecapEntry("user", "u" * 300 + "...", timestamp=5.0)),
        (message("user", "scaffold", label="/work — go"), RecapEntry("user", "/work — go", timestamp=5.0)),
        (message("user", "marks", label="left", kind="steer"), RecapEntry("user", "left", timestamp=5.0)),
        (message("assistant", "done"), RecapEntry("assistant", "done", timestamp=5.0)),
        (message("assistant", "a" * 201), RecapEntry("assistant", "a" * 200 + "...", timestamp=5.0)),
        (message("assistant", "1\n2\n3\n4\n5"), RecapEntry("assistant", "1\n2\n3 ...", timestamp=5.0)),
        (
            message("assistant", "on it", tool_calls=calls("a", "b", "a")),
            RecapEntry("assistant", "on it", ("a", "b"), 3, 5.0),
        ),
        (message("assistant", "", tool_calls=calls("a")), None),
        (message("assistant", "<think>only thoughts</think>\n"), None),
        (message("assistant", "", tool_calls=None), None),
        (message("tool", "output"), None),
        (message("system", "be kind"), None),
        (
            message("user", "summary", kind=HANDOFF, label="context compacted"),
            RecapEntry("event", "context compacted", timestamp=5.0),
        ),
        (
            message("user", "x", kind="model_switch", label="model switched"),
            RecapEntry("event", "model switched", timestamp=5.0),
        ),
        (message("user", "shown plainly", kind="someday"), RecapEntry("user", "shown plainly", timestamp=5.0)),
    ],
)
def test_a_message_becomes_an_entry_or_none(given: Message, entry: RecapEntry | None) -> None:
    assert entry_of(given, DEFAULT) == entry


def test_turns_of_tools_alone_are_entries_when_hermes_is_told_so() -> None:
    settings = RecapSettings(skip_tool_only=False)
    assert entry_of(message("assistant", "", tool_calls=calls("a", "b")), settings) == RecapEntry(
        "assistant", "", ("a", "b"), 2, 5.0
    )
    assert entry_of(message("assistant", ""), settings) is None


def test_the_last_answer_stands_whole() -> None:
    long = "line\n" * 50
    entry = entry_of(message("assistant", long), DEFAULT, whole=True)
    assert entry is not None
    assert entry.text == long.strip()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<think>a\nb</think> answer", "answer"),
        ("<Reasoning>a</Reasoning>answer<thought>never closed", "answer"),
        ("answer </think>more", "answer more"),
        ("<tool_call>{}</tool_call>answer", "answer"),
        ('<ns:function_calls x="1">{}</ns:function_calls>answer', "answer"),
        ("a < b and <b>bold</b>", "a < b and <b>bold</b>"),
        ("\x1b[31mred\x1b[0m \x1b]0;title\x07and\x9b2J plain\rnext\x00", "red and plain\nnext"),
    ],
)
def test_thoughts_and_terminal_sequences_are_taken_out(text: str, said: str) -> None:
    assert spoken(text) == said


@pytest.mark.parametrize(
    "piece", ["<think>", "<tool_call", "<tool_call>", "</think>", "\x1b]", "\x1b[", "<a:tool_call "]
)
def test_long_hostile_answers_are_read_in_one_go(piece: str) -> None:
    spoken(piece * (2_000_000 // len(piece)))


def test_plain_text_is_left_alone() -> None:
    assert plain("tab\tand\nline ü") == "tab\tand\nline ü"


@pytest.mark.parametrize(
    ("display", "expected"),
    [
        ({}, RecapSettings()),
        ({"resume_display": "minimal"}, RecapSettings(shown=False)),
        ({"resume_display": "full"}, RecapSettings()),
        ({"resume_display": "Minimal"}, RecapSettings()),
        ({"resume_exchanges": 3, "resume_max_user_chars": "40"}, RecapSettings(exchanges=3, user_characters=40)),
        ({"resume_exchanges": "many", "resume_max_assistant_chars": None}, RecapSettings()),
        ({"resume_exchanges": float("inf")}, RecapSettings()),
        (
            {"resume_max_assistant_lines": 1, "resume_skip_tool_only": False},
            RecapSettings(assistant_lines=1, skip_tool_only=False),
        ),
        ({"resume_exchanges": -2}, RecapSettings(exchanges=-2)),
    ],
)
def test_hermes_settings_are_honoured_and_nonsense_is_the_default(
    display: dict[str, Any], expected: RecapSettings
) -> None:
    assert recap_settings(display) == expected


def test_a_negative_number_of_exchanges_is_no_entry() -> None:
    assert RecapSettings(exchanges=-2).entries == 0


def test_what_helps_to_see_what_it_was_about() -> None:
    assert worth_showing(message("user", "x"))
    assert worth_showing(message("assistant", "x"))
    assert worth_showing(message("user", "x", kind="steer"))
    assert not worth_showing(message("assistant", " \n", tool_calls=calls("a")))
    assert not worth_showing(message("user", "x", kind=HANDOFF))
    assert not worth_showing(message("user", "x", kind="model_switch"))
    assert not worth_showing(message("tool", "x"))


@pytest.mark.parametrize(
    ("words", "needles"),
    [
        ("", ()),
        ("  ", ()),
        ("one two", ("one", "two")),
        ('"one  two" three', ("one two", "three")),
        ('"open to the end', ("open to the end",)),
        ('say "" now', ("say", "now")),
        ("twice twice", ("twice",)),
        ('a"b c"d', ("a", "b c", "d")),
        ("[/] 100% _x_", ("[/]", "100%", "_x_")),
    ],
)
def test_find_words_and_phrases(words: str, needles: tuple[str, ...]) -> None:
    assert parse_find(words) == needles


@pytest.mark.parametrize(
    ("needle", "text", "found"),
    [
        ("err", "An ERROR", True),
        ("a.c", "abc", False),
        ("two words", "TWO\n   words", True),
        ("übermut", "ÜBERMUT", True),
        ("привет", "ПРИВЕТ", True),
        ("昨晚", "我昨晚去", True),
    ],
)
def test_find_ignores_case_and_reaches_inside_words(needle: str, text: str, found: bool) -> None:
    assert bool(find_pattern(needle).search(text)) is found
