"""Messages of every kind as rows: what stands open, what is folded, what is neutralised."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Generator
from itertools import pairwise
from typing import Any

import pytest

from hermes_tui.domain.messages import Message, ToolCall
from hermes_tui.widgets.transcript.ansi import decode
from hermes_tui.widgets.transcript.items import source_of
from hermes_tui.widgets.transcript.leaves import PART, ItemKind, Leaf
from hermes_tui.widgets.transcript.lights import Lights, pattern_of
from hermes_tui.widgets.transcript.outcomes import read_arguments, read_outcome
from hermes_tui.widgets.transcript.rendering import matching_keys, set_message
from hermes_tui.widgets.transcript.rows import GUTTER, text_of
from hermes_tui.widgets.transcript.setter import OPEN, WHOLE, Setting
from hermes_tui.widgets.transcript.wholes import Whole, prepare

AT = 1_796_000_000.0
"""00:53 UTC."""
CALL = ToolCall("c", "terminal", json.dumps({"command": "ls -l"}), 2)


def message(role: str, text: str, **changes: Any) -> Message:
    fields: dict[str, Any] = {"timestamp": AT, "chars": len(text), **changes}
    return Message(id=1, session_id="s", role=role, text=text, **fields)


def set_whole(given: Message, *, width: int = 80, words: str = "", whole: Whole | None = None, **opens: int) -> Leaf:
    named = {key.replace("_", ":"): level for key, level in opens.items()}
    leaf = set_message(given, Setting(width, pattern_of(words)), named, (), whole)
    leaf.pull(1 << 30)
    return leaf


def said(given: Message, **options: Any) -> list[str]:
    return [text_of(row).rstrip() for row in set_whole(given, **options).rows]


def test_time_and_mark_hang_before_the_first_line() -> None:
    assert said(message("user", "one\ntwo")) == [" 00:53 ● one", "         two"]
    assert said(message("assistant", "one")) == [" 00:53 ◆ one"]
    assert said(message("user", "x", timestamp=None)) == ["     ? ● x"]
    assert {row[2] for row in set_whole(message("user", "a\n\nb")).rows} == {"raised"}


def test_an_unknown_role_is_named_and_its_words_shown() -> None:
    assert said(message("critic", "hm")) == [" 00:53 ◈ critic", "         hm"]
    assert said(message("", "hm")) == [" 00:53 ◈ no role", "         hm"]


def test_a_call_is_one_line_with_its_outcome_at_the_measure() -> None:
    result = json.dumps({"output": "a\nb\n", "exit_code": 1, "error": None})
    (line,) = said(message("tool", result, call=CALL), width=60)
    assert line.startswith("       ▸ terminal  ls -l")
    assert line.endswith("exit 1 · 2 lines")
    assert len(line) == GUTTER + 60 - GUTTER - 2
    inks = {run[0]: run[1] for run in set_whole(message("tool", result, call=CALL)).rows[0][0]}
    assert inks["terminal"] == "lit"
    assert inks["exit 1"] == "bad"


def test_an_open_call_shows_its_output_and_counts_what_it_cuts() -> None:
    result = message("tool", "\n".join(f"line {i}" for i in range(36)), call=CALL)
    rows = said(result, call=OPEN)
    assert rows[1] == "         │ line 0"
    assert rows[-1] == "         │ 12 more lines"
    assert len(rows) == 1 + 24 + 1
    assert said(result, call=WHOLE)[-1] == "         │ line 35"
    few = message("tool", "\n".join("x" for _ in range(27)), call=CALL)
    assert "more" not in said(few, call=OPEN)[-1]


def test_a_result_without_a_call_and_a_call_without_a_result_are_shown() -> None:
    assert said(message("tool", "out", tool_name="grep"))[0].startswith("       ▸ grep")
    asked = message("assistant", "", tool_calls=(ToolCall("c", "grep", '{"pattern": "x"}'),))
    (line,) = said(asked)
    assert line.startswith("       ▸ grep  x")
    assert line.endswith("no result")


def test_a_turn_whose_calls_were_all_answered_has_no_line_of_its_own() -> None:
    assert said(message("assistant", "", tool_calls=(CALL,))) == []


@pytest.mark.parametrize("raw", ["{", '"x', "[Calling tool: terminal", '{"a": 1', "\x1b]0;pwned\x07", "null null"])
def test_calls_that_cannot_be_read_stand_as_they_are_stored(raw: str) -> None:
    given = message("assistant", "", tool_calls=None, tool_calls_raw=raw)
    rows = said(given)
    assert rows[0] == "       ! tool calls that cannot be read"
    assert rows[1].strip() == raw.replace("\x1b", "\ufffd").replace("\x07", "\ufffd")
    assert source_of(given, set_whole(given).items[0]).text == raw


def test_reasoning_is_folded_unless_it_is_all_there_is() -> None:
    both = message("assistant", "Answer", reasoning="Because **x**")
    head, *rest = said(both)
    assert head.split() == ["▸", "thought", "13", "B"]
    assert rest == ["", " 00:53 ◆ Answer"]
    head, *rest = said(both, reasoning=OPEN)
    assert head.split() == ["▾", "thought", "13", "B"]
    assert rest == ["         │ Because x", "", " 00:53 ◆ Answer"]
    alone = message("assistant", "", reasoning="Because")
    assert [row.strip() for row in said(alone)][1] == "│ Because"
    with_calls = message("assistant", "", reasoning="Because", tool_calls=(CALL,))
    assert len(said(with_calls)) == 1


def test_commentary_and_handoffs_are_folded_to_one_line() -> None:
    rows = said(message("assistant", "Answer", commentary="Looking around"))
    assert rows[0].startswith("       ▸ aside")
    assert rows[-1] == " 00:53 ◆ Answer"
    (line,) = said(message("user", "[CONTEXT COMPACTION] " + "words " * 700, kind="handoff"))
    assert line.startswith("       ▸ context compacted")
    assert len(said(message("user", "summary", kind="handoff"), handoff=OPEN)) == 2


def test_an_event_is_one_dim_line() -> None:
    given = message("user", "[System: model switched]", kind="model_switch", label="model switched to x")
    assert said(given) == [" 00:53 ◈ model switched to x"]
    assert said(given, event=OPEN)[1] == "         │ [System: model switched]"
    assert said(message("user", "", kind="process_complete")) == [" 00:53 ◈ process complete"]


def test_a_skill_scaffold_is_what_was_typed() -> None:
    rows = said(message("user", "[IMPORTANT: The user has invoked the …", label="/plan — the trip"))
    assert rows[0] == " 00:53 ● /plan — the trip"
    assert rows[-1].startswith("       ▸ as it was sent")


def test_a_turn_that_ended_badly_says_so() -> None:
    assert said(message("assistant", "half", finish_reason="content_filter"))[-1].strip() == "ended: content_filter"


def test_long_texts_are_folded_with_their_size() -> None:
    given = message("user", "word " * 50, chars=1_200_000)
    assert said(given)[-1] == "       ▸ show all (1.2 MB)"
    assert said(given, message=WHOLE)[-1] == "       ▸ reading…"
    assert said(given, message=WHOLE, whole=Whole("all of it", [])) == [" 00:53 ● all of it"]


def test_what_a_terminal_must_not_get_never_becomes_a_row() -> None:
    evil = "\x1b[31m \x1b[2J \x1b]0;pwned\x07 \x1b]52;c;aGk=\x07 \x1b]8;;u\x1b\\x \x9b31m a\rb \x08\x08 "
    evil += "\x0b\x0c\x00 \u202e \u200b \u2066"
    chance = random.Random(4)
    for role in ("user", "assistant", "tool", "system", evil):
        words = " ".join(chance.sample(evil.split(" "), 8))
        given = message(
            role,
            words,
            reasoning=words,
            commentary=words,
            label=chance.choice([None, words]),
            kind=chance.choice(["message", "handoff", "steer", "odd" + evil]),
            tool_name=evil,
            call=chance.choice([None, ToolCall(evil, evil, evil)]),
            tool_calls=chance.choice([(), None, (ToolCall("x", evil, evil),)]),
            tool_calls_raw=evil,
            finish_reason="error",
        )
        opens = dict.fromkeys(("call", "call_0", "reasoning", "commentary", "handoff", "event", "sent"), WHOLE)
        for row in set_whole(given, **opens).rows:
            shown = text_of(row)
            assert not re.search("[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]", shown), shown


def test_colours_that_output_asked_for_become_our_inks() -> None:
    text, spans = decode(
        "a \x1b[31mred\x1b[0m b \x1b[1;32mok\x1b[22m still\x1b[39m \x1b[38;5;196mx\x1b[48;2;1;2;3m y"
    )
    assert text == "a red b ok still x y"
    assert [(text[start:end], ink) for start, end, ink in spans] == [
        ("red", "bad"),
        ("ok", "good+b"),
        (" still", "good"),
        ("x", "bad"),
        (" y", "bad"),
    ]


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b[2J\x1b[1;1Hhome", "home"),
        ("\x1bPq...\x1b\\after", "after"),
        ("\x9b31mred", "red"),
        ("N\x08NA\x08AM\x08M", "NAM"),
        ("10%\r20%", "10%\n20%"),
        ("cut \x1b[3", "cut \ufffd[3"),
        ("\x1b", "\ufffd"),
    ],
)
def test_everything_else_of_a_terminal_is_left_out(raw: str, shown: str) -> None:
    assert decode(raw)[0] == shown


@pytest.mark.parametrize(
    ("stored", "text", "failed", "amount"),
    [
        ("", "", "", "no output"),
        ("plain", "plain", "", "1 line"),
        ("a\nb", "a\nb", "", "2 lines"),
        ("x" * 5_000, "x" * 5_000, "", "5.0 KB"),
        ('{"output": "a\\nb", "exit_code": 0}', "a\nb", "", "2 lines"),
        ('{"output": "", "exit_code": 2, "error": "no such file"}', "no such file", "exit 2", "1 line"),
        ('{"output": "", "exit_code": 0, "error": null}', "", "", "no output"),
        ('{"content": "1|a", "total_lines": 9}', "1|a\ntotal_lines: 9", "", "1 line"),
        (
            '{"success": false, "error": "denied"}',
            '{\n  "success": false,\n  "error": "denied"\n}',
            "error",
            "4 lines",
        ),
        ('{"success": true, "diff": "-a\\n+b"}', "-a\n+b", "", "2 lines"),
        ("[1, 2]", "[\n  1,\n  2\n]", "", "4 lines"),
        ("Error: nope", "Error: nope", "error", "1 line"),
        ('{"broken', '{"broken', "", "1 line"),
        ("[" * 5_000, "[" * 5_000, "", "5.0 KB"),
        ("null", "null", "", "1 line"),
        ('{"output": 5}', '{\n  "output": 5\n}', "", "3 lines"),
    ],
)
def test_what_came_back_is_told_in_a_few_words(stored: str, text: str, failed: str, amount: str) -> None:
    outcome = read_outcome(stored, len(stored))
    assert (outcome.text, outcome.failed, outcome.amount) == (text, failed, amount)


def test_the_beginning_of_a_long_json_is_readable() -> None:
    stored = json.dumps({"output": 'first\n"second"\t\u00e9', "exit_code": 0})
    outcome = read_outcome(stored[:30], 1_000_000)
    assert outcome.text.startswith('first\n"second"')
    assert outcome.amount == "1.0 MB"


@pytest.mark.parametrize(
    ("stored", "summary"),
    [
        ('{"command": "ls -l"}', "ls -l"),
        ('{"limit": 3, "path": "a.py"}', "a.py"),
        ('{"a": 1, "b": [2]}', "a=1 b=[ 2 ]"),
        ('{"only": "text"}', "text"),
        ("", ""),
        ("not json", "not json"),
        ('{"command": 5}', "command=5"),
        ("[1]", "[1]"),
        ('{"command": "two\\nlines"}', "two lines"),
    ],
)
def test_arguments_are_told_on_one_line(stored: str, summary: str) -> None:
    assert read_arguments(stored).summary == summary


def test_no_payload_shows_of_a_call() -> None:
    url = "data:image/png;base64," + "iVBORw0KGgo" * 100
    given = read_arguments(json.dumps({"picture": url, "of": "quokka"}))
    assert given.summary == "picture=[image] of=quokka"
    assert given.details == (("picture", "[image]"), ("of", "quokka"))


def test_arguments_that_the_line_has_no_room_for_stand_below_it() -> None:
    call = ToolCall("c", "write_file", json.dumps({"path": "a.py", "content": "def f():\n    return 1"}), 2)
    leaf = set_whole(message("tool", "done", call=call), call=OPEN)
    rows = [text_of(row).rstrip() for row in leaf.rows]
    assert rows[1:] == [
        "         │ content:",
        "         │ def f():",
        "         │     return 1",
        "         │",
        "         │ done",
    ]
    assert any(run[:2] == ("def", "strong") for row in leaf.rows for run in row[0])


def test_offsets_lead_to_the_texts_that_are_shown() -> None:
    given = message(
        "assistant",
        "Answer **bold** [l](https://a.example)",
        reasoning="Because\nof it",
        tool_calls=(ToolCall("a", "one", '{"x": "1\\n2"}'), ToolCall("b", "two", '{"y": "3\\n4"}')),
    )
    leaf = set_whole(given, reasoning=OPEN, call_0=OPEN, call_1=OPEN)
    places = [row[7] for row in leaf.rows]
    assert places == sorted(places)
    for row in leaf.rows:
        for text, _, source in row[0]:
            if source >= 0:
                part = leaf.parts[source // PART]
                assert part[source % PART :].startswith(text), text


def test_items_stand_in_reading_order_and_links_among_them() -> None:
    given = message("assistant", "See https://a.example", reasoning="hm", tool_calls=(ToolCall("a", "one", "{}"),))
    leaf = set_whole(given)
    kinds = [leaf.items[i].kind for i in leaf.ordered()]
    assert kinds == [ItemKind.REASONING, ItemKind.MESSAGE, ItemKind.LINK, ItemKind.CALL]


def test_copies_are_what_was_written() -> None:
    given = message("assistant", "**bold**", reasoning="why", commentary="hm", tool_calls=(ToolCall("a", "x", "{}"),))
    found = {item.key: source_of(given, item).text for item in set_whole(given).items}
    assert found == {"reasoning": "why", "commentary": "hm", "message": "**bold**", "call:0": "{}"}
    result = message("tool", json.dumps({"output": "a\nb"}), call=CALL)
    assert source_of(result, set_whole(result).items[0]).text == "a\nb"
    cut = message("user", "half", chars=10_000)
    assert source_of(cut, set_whole(cut).items[0]).text is None


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (message("tool", "needle", call=CALL), {"call": OPEN}),
        (message("tool", "x\n" * 30 + "needle", call=CALL), {"call": WHOLE}),
        (message("tool", "x", call=ToolCall("c", "t", '{"command": "needle"}')), {"call": OPEN}),
        (message("tool", "x", call=CALL), {}),
        (message("assistant", "needle"), {}),
        (message("assistant", "x", reasoning="a Needle"), {"reasoning": OPEN}),
        (message("user", "needle", kind="handoff"), {"handoff": OPEN}),
        (message("user", "needle", label="/plan"), {"sent": OPEN}),
        (message("assistant", "", tool_calls=(ToolCall("c", "t", "needle"),)), {"call:0": OPEN}),
    ],
)
def test_what_holds_a_match_is_what_unfolds(given: Message, expected: dict[str, int]) -> None:
    pattern = pattern_of("needle")
    assert pattern is not None
    assert matching_keys(given, pattern, None) == expected


def test_words_and_phrases_to_light() -> None:
    pattern = pattern_of('fresh "two  words"')
    assert pattern is not None
    text = "reFRESHed two\nwords " * 9_000
    lights = Lights(pattern, text)
    assert len(lights.up_to(0)) < 8_000
    spans = lights.up_to(len(text))
    assert len(spans) == 18_000
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert pattern_of(' "" ') is None


def drained(steps: Generator[None, None, Whole]) -> tuple[Whole, int]:
    """What they lead to, and how many there were."""
    count = 0
    while True:
        try:
            next(steps)
        except StopIteration as finished:
            return finished.value, count
        count += 1


@pytest.mark.parametrize("seed", range(4))
def test_a_long_text_is_made_ready_in_steps(seed: int) -> None:
    chance = random.Random(seed)
    lines = [f'\x1b[3{chance.randint(1, 6)}mline {i}\x1b[0m "quoted" \\ é 😀' for i in range(30_000)]
    stored = json.dumps({"output": "\n".join(lines), "exit_code": 3})
    whole, count = drained(prepare(stored, output=True))
    assert count > 10
    assert whole.text.split("\n")[:30_000] == [f'line {i} "quoted" \\ é 😀' for i in range(30_000)]
    assert "exit_code" in whole.text[-30:]
    assert whole.text[slice(*whole.spans[-1][:2])] == "line 29999"


def test_a_long_prose_is_made_ready_as_it_is() -> None:
    text = "words and \x1b words\n" * 20_000
    whole, _ = drained(prepare(text, output=False))
    assert whole.text == text.replace("\x1b", "\ufffd")
