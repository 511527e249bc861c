"""Messages of every kind, decoded and paired; whatever is broken costs itself alone (R20, R22)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hermes_tui.domain.messages import Message
from hermes_tui.storage.transcripts import load_messages, load_text, load_window
from tests.builders import StoreBuilder
from tests.stores import SUMMARY, chain_of, opened, outlined, texts, transcript


def test_malformed_rows_cost_nothing_but_themselves(db: Path, schema: int) -> None:
    broken = ["", "null", "[]", "{", "[Calling tool: terminal …]", '{"a":1}', '[{"id": "c"}]', '[{"function": 3}]']
    with StoreBuilder(db, schema) as made:
        made.session("s")
        for raw in broken:
            made.message("s", "assistant", "words", tool_calls=raw)
        for content in (None, b"\x00\xff bytes", 17, 2.5, "\x00json:{", "a\x00b"):
            made.message("s", "user", content)
        made.message("s", "assistant", "last", reasoning=b"\xff", finish_reason=3)
    with opened(db) as store:
        shown = transcript(store, "s")
        assert [message.tool_calls is None for message in shown[: len(broken)]] == [
            raw in ("{", "[Calling tool: terminal …]", '{"a":1}') for raw in broken
        ]
        assert [message.tool_calls_raw for message in shown[3:6]] == broken[3:6]
        assert [message.text for message in shown[len(broken) : -1]] == [
            "", "\x00\ufffd bytes", "17", "2.5", "json:{", "a\x00b",
        ]  # fmt: skip
        assert (shown[-1].text, shown[-1].finish_reason) == ("last", "3")


def test_an_image_turn_shows_its_text_and_a_count(db: Path, schema: int, word: Iterator[str]) -> None:
    said, told = next(word), next(word)
    url = {"url": "data:image/png;base64," + "QUJD" * 2_000}
    picture = {"type": "image_url", "image_url": url}
    with StoreBuilder(db, schema) as made:
        made.session("s")
        made.message("s", "user", [{"type": "text", "text": said}, picture, picture])
        made.message("s", "tool", [picture, {"type": "text", "text": told}], tool_call_id="c")
        made.message("s", "tool", json.dumps({"screenshot": url["url"]}), tool_call_id="d")
    with opened(db) as store:
        shown = texts(store, "s")
        assert shown[:2] == [f"{said}\n[image ×2]", f"[image]\n{told}"]
        assert "base64," not in "".join(shown)


@pytest.mark.parametrize("size", [16_384, 16_385, 70_000, 1_200_000])
def test_long_texts_are_cut_and_their_length_is_known(db: Path, size: int) -> None:
    text = ("é" + "0123456789" * (size // 10 + 1))[:size]
    with StoreBuilder(db, 31) as made:
        made.session("s")
        plain = made.message("s", "tool", text)
        made.message("s", "user", [{"type": "text", "text": text}, {"type": "image_url"}])
        made.message("s", "tool", text[:-1] + "\x00")
    with opened(db) as store:
        first, structured, with_nul = transcript(store, "s")
        assert (first.text, first.chars, first.cut) == (text[:16_384], size, size > 16_384)
        assert load_text(store, plain) == text
        assert structured.chars == size + len("\n[image]")
        assert structured.text == (text + "\n[image]")[:16_384]
        assert with_nul.chars == size


def test_an_answer_that_lives_in_another_column(db: Path) -> None:
    def said(phase: str, text: str) -> dict[str, Any]:
        content = [{"type": "output_text", "text": text}]
        return {"type": "message", "role": "assistant", "phase": phase, "content": content}

    items = [said("commentary", "looking around"), said("final_answer", "the answer")]
    with StoreBuilder(db, 31) as made:
        made.session("s")
        made.message("s", "assistant", "", codex_message_items=items, reasoning="looking around\n\nthought")
        made.message("s", "assistant", "the answer", codex_message_items=items)
        made.message("s", "assistant", "looking around", codex_message_items=items[:1])
        made.message("s", "assistant", None, reasoning_details=[{"type": "reasoning.text", "text": "only thought"}])
    with opened(db) as store:
        shown = transcript(store, "s")
        assert [(message.text, message.commentary, message.reasoning) for message in shown] == [
            ("the answer", "looking around", "thought"),
            ("the answer", "looking around", None),
            ("looking around", None, None),
            ("", None, "only thought"),
        ]


def call(id: str, name: str = "terminal") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}}


def links(shown: tuple[Message, ...]) -> list[tuple[Any, ...]]:
    """For each message: the results of its calls, or the id of the call that it answers."""
    return [
        tuple(each.result_id for each in message.tool_calls or ()) or (message.call.id if message.call else None,)
        for message in shown
    ]


def test_calls_and_results_are_paired(db: Path, schema: int) -> None:
    with StoreBuilder(db, schema) as made:
        made.session("s")
        made.message("s", "user", "go")
        made.message("s", "assistant", "", tool_calls=[call("a|x"), call("b")])
        second = made.message("s", "tool", "b's", tool_call_id="b")
        first = made.message("s", "tool", "a's", tool_call_id="a|other", tool_name="terminal")
        made.message("s", "tool", "orphan", tool_call_id="call_missing")
        made.message("s", "assistant", "", tool_calls=[call("b", "again")])
        third = made.message("s", "tool", "b's again", tool_call_id="b")
        made.message("s", "user", "next")
        made.message("s", "tool", "too late", tool_call_id="b")
    with opened(db) as store:
        shown = transcript(store, "s")
        assert links(shown) == [
            (None,),
            (first, second),
            ("b",),
            ("a|x",),
            (None,),
            (third,),
            ("b",),
            (None,),
            (None,),
        ]
        assert shown[6].call is not None
        assert (shown[6].call.name, shown[6].call.result_id) == ("again", third)
        for message in shown:  # a page of one knows the same
            assert load_messages(store, chain_of(store, "s"), [message.id]) == (message,)


def test_a_uid_pairs_what_ids_cannot(db: Path) -> None:
    with StoreBuilder(db, 31) as made:
        made.session("s")
        one = made.message("s", "assistant", "", tool_calls=[call("c")], tool_call_uids='{"c": "u1"}')
        two = made.message("s", "assistant", "", tool_calls=[call("c")], tool_call_uids='{"c": "u2"}')
        made.message("s", "user", "in between")
        made.message("s", "tool", "first", tool_call_id="c", tool_call_uid="u1")
        made.message("s", "tool", "second", tool_call_id="c", tool_call_uid="u2")
    with opened(db) as store:
        shown = {message.id: message for message in transcript(store, "s")}
        assert shown[one].tool_calls is not None
        assert [each.call is not None for each in list(shown.values())[3:]] == [True, True]
        assert [each.result_id for message_id in (one, two) for each in shown[message_id].tool_calls or ()] == [4, 5]


def test_far_away_calls_and_many_parallel_ones_are_found(db: Path) -> None:
    names = [f"c{number}" for number in range(300)]
    with StoreBuilder(db, 31) as made:
        made.session("s")
        made.message("s", "user", "go")
        asked = made.message("s", "assistant", "", tool_calls=[call(name) for name in names])
        results = [made.message("s", "tool", name, tool_call_id=name) for name in names]
    with opened(db) as store:
        last = load_messages(store, chain_of(store, "s"), [results[-1]])[0]
        assert last.call is not None
        assert last.call.id == "c299"
        whole = {message.id: message for message in transcript(store, "s")}
        assert [each.result_id for each in whole[asked].tool_calls or ()] == results


def test_a_result_is_linked_by_the_id_that_is_shown(db: Path) -> None:
    with StoreBuilder(db, 31) as made:
        made.session("r", end_reason="compression", ended_at=made.tick())
        made.session("t", parent="r")
        made.message("r", "user", "go", message_uid="p")
        made.message("r", "assistant", "", tool_calls=[call("c")], message_uid="a")
        made.message("r", "tool", "out", tool_call_id="c", message_uid="b")
        made.message("t", "user", SUMMARY, _compressed_summary=1)
        asked = made.message("t", "assistant", "", tool_calls=[call("c")], message_uid="a")
        answered = made.message("t", "tool", "out", tool_call_id="c", message_uid="b")
    with opened(db) as store:
        shown = transcript(store, "t")
        assert [message.id for message in shown] == [1, asked, answered, 4]
        assert [each.result_id for each in shown[1].tool_calls or ()] == [answered]
        assert outlined(store, "t").segments[1].first == 3
        assert [message.session_id for message in shown] == ["r", "r", "r", "t"]
        window = load_window(store, chain_of(store, "t"), asked, 1, 9)
        assert [message.session_id for message in window.messages] == ["r", "r", "r", "t"]
