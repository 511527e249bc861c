"""Tool calls of every shape, and which result answers which call (R22, FACTS 6.10)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.domain.calls import Turned, pair, parse_stored_calls, parse_tool_calls, readable_arguments
from hermes_tui.domain.messages import ToolCall


def call(id: str, name: str = "terminal", arguments: Any = "{}") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize("raw", [None, "", "  ", "null", "[]", '""', b""])
def test_no_calls(raw: object) -> None:
    assert parse_tool_calls(raw) == ()


@pytest.mark.parametrize(
    "raw", ["{", "[Calling tool: terminal …]", '{"a": 1}', "7", "true", "[1]", '["x"]', "[" * 99_999]
)
def test_what_is_no_list_of_calls_is_told_apart(raw: str) -> None:
    assert parse_tool_calls(raw) is None


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (call("c1", "read_file", '{"path": "a"}'), ToolCall("c1", "read_file", '{"path": "a"}')),
        (call("c1", arguments="{not json"), ToolCall("c1", "terminal", "{not json")),
        (call("c1", arguments={"path": "ü"}), ToolCall("c1", "terminal", '{"path": "ü"}')),
        (call("c1", arguments=None), ToolCall("c1", "terminal", "")),
        ({"id": "c1", "function": {"name": "x"}}, ToolCall("c1", "x", "")),
        ({"id": "c1", "function": {"arguments": "{}"}}, ToolCall("c1", "unknown", "{}")),
        ({"id": "c1"}, ToolCall("c1", "unknown", '{"id": "c1"}')),
        ({"id": "c1", "function": "odd"}, ToolCall("c1", "unknown", '{"id": "c1", "function": "odd"}')),
        ({}, ToolCall("", "unknown", "{}")),
        ({"id": "t1", "name": "search", "input": {"q": "a"}}, ToolCall("t1", "search", '{"q": "a"}')),
        ({"call_id": "call_9", "function": {"name": "x", "arguments": ""}}, ToolCall("call_9", "x", "")),
        ({"id": 7, "function": {"name": 8, "arguments": "1"}}, ToolCall("7", "unknown", "1")),
        ({"function": {"name": "x", "parameters": {"q": 1}}}, ToolCall("", "x", '{"q": 1}')),
        ({"function": {"name": "x"}, "input": {"q": 1}}, ToolCall("", "x", '{"q": 1}')),
        ({"function": {"arguments": "{}"}, "name": "x"}, ToolCall("", "x", "{}")),
        ({"type": "custom", "custom": {"name": "x", "input": "words"}}, ToolCall("", "x", "words")),
        ({"functionCall": {"name": "x", "args": {"q": 1}}}, ToolCall("", "x", '{"q": 1}')),
        ({"function": {"name": "x", "query": "words"}}, ToolCall("", "x", '{"query": "words"}')),
        ({"tool": "x", "args": {"q": 1}}, ToolCall("", "unknown", '{"tool": "x", "args": {"q": 1}}')),
    ],
)
def test_a_call_reads_as_far_as_it_can(item: dict[str, Any], expected: ToolCall) -> None:
    assert parse_tool_calls(json.dumps([item])) == (expected,)


def test_a_list_encoded_twice_and_a_call_alone() -> None:
    assert parse_tool_calls(json.dumps(json.dumps([call("c1")]))) == (ToolCall("c1", "terminal", "{}"),)
    assert parse_tool_calls(json.dumps(call("c1"))) == (ToolCall("c1", "terminal", "{}"),)


@given(st.one_of(st.text(), st.binary(), st.integers(), st.none()))
def test_no_cell_raises(raw: object) -> None:
    parse_tool_calls(raw)


def test_arguments_are_readable_without_escapes() -> None:
    assert readable_arguments(json.dumps({"q": "Grüße", "n": ['a"b', 3]})) == 'Grüße\na"b'
    assert readable_arguments('{"q": "plain"}') == ""
    assert readable_arguments("{\\") == ""


class Talk:
    """Rows of a conversation, one after the other."""

    def __init__(self) -> None:
        self.rows: list[Turned] = []

    def prompt(self) -> Talk:
        return self._add(Turned(len(self.rows), "user", True))

    def note(self) -> Talk:
        """A row in the person's name that is none of their words."""
        return self._add(Turned(len(self.rows), "user", False))

    def calls(self, *items: dict[str, Any], uids: Any = None) -> Talk:
        stored = parse_stored_calls(json.dumps(items)) or ()
        return self._add(Turned(len(self.rows), "assistant", False, stored, json.dumps(uids) if uids else None))

    def result(self, call_id: str, uid: str = "") -> Talk:
        return self._add(Turned(len(self.rows), "tool", False, call_id=call_id, uid=uid))

    def _add(self, row: Turned) -> Talk:
        self.rows.append(row)
        return self

    def paired(self) -> dict[int, tuple[int, int]]:
        return {result: tuple(where) for result, where in pair(self.rows).items()}


def test_parallel_results_find_their_calls_in_any_order() -> None:
    talk = Talk().prompt().calls(call("a"), call("b"), call("c")).result("c").result("a").result("b")
    assert talk.paired() == {2: (1, 2), 3: (1, 0), 4: (1, 1)}


def test_ids_are_compared_up_to_the_bar() -> None:
    talk = Talk().prompt().calls({**call("fc_1"), "call_id": "call_1|fc_1"}).result("call_1|other").result("fc_1|x")
    assert talk.paired() == {2: (1, 0), 3: (1, 0)}


def test_a_repeated_id_means_the_nearest_turn_that_names_it() -> None:
    talk = Talk().prompt().calls(call("call_0")).result("call_0").calls(call("call_0")).result("call_0")
    assert talk.paired() == {2: (1, 0), 4: (3, 0)}


def test_a_result_may_come_after_a_later_call() -> None:
    talk = Talk().prompt().calls(call("a")).calls(call("b")).result("b").result("a")
    assert talk.paired() == {3: (2, 0), 4: (1, 0)}


def test_no_result_reaches_over_a_prompt_but_over_a_note() -> None:
    assert Talk().prompt().calls(call("a")).prompt().result("a").paired() == {}
    assert Talk().prompt().calls(call("a")).note().result("a").paired() == {3: (1, 0)}


def test_an_orphan_and_an_unnamed_result_answer_nothing() -> None:
    assert Talk().prompt().calls(call("a")).result("zz").result("").paired() == {}


def test_the_same_id_twice_in_one_turn_is_answered_in_order() -> None:
    talk = Talk().prompt().calls(call("a", "first"), call("a", "second")).result("a").result("a")
    assert talk.paired() == {2: (1, 0), 3: (1, 1)}


def test_a_uid_says_which_occurrence_is_meant() -> None:
    talk = Talk().prompt().calls(call("a"), uids={"a": "u1"}).calls(call("a"), uids={"a": "u2"})
    assert talk.result("a", "u1").result("a", "u2").paired() == {3: (1, 0), 4: (2, 0)}


def test_a_uid_holds_across_a_prompt_and_within_one_row() -> None:
    talk = Talk().prompt().calls(call("a"), call("a"), uids={"a": ["u1", "u2"]}).prompt()
    assert talk.result("a", "u2").result("a", "u1").paired() == {3: (1, 1), 4: (1, 0)}


def test_a_uid_that_no_call_has_does_not_fall_back_on_another_occurrence() -> None:
    assert Talk().prompt().calls(call("a"), uids={"a": "u1"}).result("a", "u9").paired() == {}


def test_without_a_uid_on_either_side_the_id_decides() -> None:
    assert Talk().prompt().calls(call("a")).result("a", "u1").paired() == {2: (1, 0)}
    assert Talk().prompt().calls(call("a"), uids={"a": "u1"}).result("a").paired() == {2: (1, 0)}


@pytest.mark.parametrize("uids", ["nonsense", "[]", '{"a": 3}', '{"a": [null]}'])
def test_a_broken_map_of_uids_is_none(uids: str) -> None:
    talk = Talk().prompt().calls(call("a"))
    talk.rows[-1] = talk.rows[-1]._replace(uids=uids)
    assert talk.result("a").paired() == {2: (1, 0)}
