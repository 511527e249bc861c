"""A conversation as one text: what is in it, in which order, at what cost (R9, R17, R19 to R22, R33)."""

from __future__ import annotations

import contextlib
import itertools
import json
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hermes_tui.domain.messages import HANDOFF, MESSAGE, NOT_A_PROMPT, ROLE_CODES, UNREADABLE, Message, Outline
from hermes_tui.errors import TargetNotFound
from hermes_tui.storage.connection import Store
from hermes_tui.storage.transcripts import (
    exact_count,
    load_messages,
    load_outline,
    load_text,
    load_window,
)
from tests import real_stores
from tests.builders import SCHEMAS, StoreBuilder
from tests.stores import all_chains, chain_of, opened

SUMMARY = "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted: " + "word " * 700
END = "--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---"


@pytest.fixture(params=SCHEMAS, ids=lambda schema: f"schema{schema}")
def schema(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


@pytest.fixture
def word() -> Iterator[Any]:
    """Words that nobody else uses, new ones each time."""
    rng = random.Random(5)
    return iter(lambda: "".join(rng.choice("bcdfghklmnprstvz") + rng.choice("aeiou") for _ in range(5)), None)


def outline(store: Store, session_id: str) -> Outline:
    found = load_outline(store, chain_of(store, session_id))
    assert len(found) == exact_count(store, chain_of(store, session_id))
    return found


def messages(store: Store, session_id: str) -> tuple[Message, ...]:
    """The whole transcript."""
    chain = chain_of(store, session_id)
    found = load_outline(store, chain)
    shown = load_messages(store, chain, list(found.ids), outline=found)
    assert [message.id for message in shown] == list(found.ids)
    assert load_messages(store, chain, list(found.ids)) == shown
    return shown


def texts(store: Store, session_id: str) -> list[str]:
    return [message.text for message in messages(store, session_id)]


# what is in it


def test_a_chain_reads_root_to_tip_with_its_seams(db: Path, schema: int) -> None:
    with StoreBuilder(db, schema) as made:
        made.session("r", end_reason="compression", ended_at=made.tick(), title="x")
        made.session("m", parent="r", end_reason="compression", ended_at=made.tick())
        made.session("t", parent="m")
        for number in range(82):
            made.message("r" if number < 40 else "m" if number < 70 else "t", "user", f"message {number}")
    with opened(db) as store:
        for session_id in ("r", "m", "t"):
            found = outline(store, session_id)
            assert texts(store, session_id) == [f"message {number}" for number in range(82)]
            assert [(mark.session_id, mark.first) for mark in found.segments] == [("r", 0), ("m", 40), ("t", 70)]
            assert [found.segment_at(position) for position in (0, 39, 40, 69, 70, 81)] == [0, 0, 1, 1, 2, 2]


def test_undone_messages_never_come_back(db: Path, word: Iterator[str]) -> None:
    keep, undone, later, null = (next(word) for _ in range(4))
    with StoreBuilder(db, 31) as made:
        made.session("s")
        made.message("s", "user", keep)
        gone = made.message("s", "user", undone, active=0, compacted=0)
        made.message("s", "assistant", undone, active=0, compacted=0, tool_calls=[{"id": "c", "function": {}}])
        made.message("s", "user", later)
        made.message("s", "assistant", null, active=None)
        made.message("s", "assistant", "archived", active=0, compacted=1)
    with opened(db) as store:
        chain = chain_of(store, "s")
        assert texts(store, "s") == [keep, later, null, "archived"]
        window = load_window(store, chain, None, 100, 100)
        assert undone not in repr(window)
        assert load_messages(store, chain, [gone]) == ()
        with pytest.raises(TargetNotFound):
            load_window(store, chain, gone, 5, 5)
        with pytest.raises(TargetNotFound):
            load_text(store, gone)


@pytest.mark.parametrize(("of", "shown"), [(11, 2), (14, 1), (22, 2)])
def test_older_stores_show_what_they_know_to_be_shown(db: Path, of: int, shown: int) -> None:
    with StoreBuilder(db, of) as made:
        made.session("s")
        made.message("s", "user", "one")
        made.message("s", "user", "two", active=0, compacted=1)
    with opened(db) as store:
        assert len(outline(store, "s")) == shown


def test_what_is_for_the_model_alone_is_left_out(db: Path) -> None:
    with StoreBuilder(db, 31) as made:
        made.session("s")
        made.message("s", "user", SUMMARY)
        made.message("s", "user", "hidden row", display_kind="hidden")
        made.message("s", "user", "[System: the skills changed]")
        made.message("s", "session_meta", "{}")
        made.message("s", "user", "merged", display_metadata=json.dumps(json.dumps({"model_only": True})))
        made.message("s", "user", "real question")
        made.message(
            "s", "user", "[System: The active model … changed to x-9 via provider y. Go]", display_kind="model_switch"
        )
    with opened(db) as store:
        shown = messages(store, "s")
        assert [(message.kind, message.label) for message in shown] == [
            (HANDOFF, "context compacted"),
            (MESSAGE, None),
            ("model_switch", "model switched to x-9 (y)"),
        ]
        assert bytes(outline(store, "s").roles) == bytes([NOT_A_PROMPT, ROLE_CODES["user"], NOT_A_PROMPT])


def test_the_live_words_of_a_carrier_survive(db: Path, schema: int, word: Iterator[str]) -> None:
    live = f"{next(word)} {next(word)}"
    with StoreBuilder(db, schema) as made:
        made.session("s")
        carrier = made.message("s", "user", f"{SUMMARY}\n\n{END}\n\n{live}")
    with opened(db) as store:
        (message,) = messages(store, "s")
        assert (message.kind, message.text, message.chars) == (MESSAGE, live, len(live))
        assert load_text(store, carrier) == live
        assert outline(store, "s").roles == bytes([ROLE_CODES["user"]])


def test_roles_and_prompts_of_the_outline(db: Path) -> None:
    with StoreBuilder(db, 31) as made:
        made.session("s")
        rows: list[tuple[str, Any, int]] = [
            ("user", "a prompt", 1),
            ("assistant", "an answer", 2),
            ("tool", "an output", 3),
            ("system", "a note", 4),
            ("oracle", "a role of tomorrow", 0),
            ("user", [{"type": "text", "text": "with a picture"}, {"type": "image_url"}], 1),
            ("user", " [leading blank]", 1),
            ("user", "[System note: only for the model]", NOT_A_PROMPT),
            ("user", "", NOT_A_PROMPT),
            ("user", None, NOT_A_PROMPT),
            ("user", b"bytes", 1),
        ]
        for role, content, _ in rows:
            made.message("s", role, content)
        made.message(
            "s", "user", "[OUT-OF-BAND USER MESSAGE …]\nleft\n[/OUT-OF-BAND USER MESSAGE]", display_kind="steer"
        )
        made.message("s", "user", "someday", display_kind="someday")
    with opened(db) as store:
        assert list(outline(store, "s").roles) == [code for _, _, code in rows] + [1, NOT_A_PROMPT]


def test_nonsense_times_are_no_times(db: Path) -> None:
    with StoreBuilder(db, 31) as made:
        made.session("s")
        for at in (1_780_000_000.5, "yesterday", b"x", -1.0, 9e12, None, 0):
            made.message("s", "user", "x", timestamp=at)
    with opened(db) as store:
        at = outline(store, "s").timestamps
        assert [each if each == each else None for each in at] == [1_780_000_000.5, None, None, None, None, None, 0.0]
        assert [message.timestamp for message in messages(store, "s")] == [1_780_000_000.5, *[None] * 5, 0.0]


# copies


def test_a_message_carried_over_stands_once_and_its_alias_finds_it(db: Path) -> None:
    with StoreBuilder(db, 31) as made:
        made.session("s")
        first = made.message("s", "user", "hold this", message_uid="u1", active=0, compacted=1)
        made.message("s", "assistant", "held", message_uid="u2", active=0, compacted=1)
        made.message("s", "user", SUMMARY, _compressed_summary=1)
        copy = made.message("s", "user", "hold this", message_uid="u1")
        made.message("s", "user", "next", message_uid="u3")
    with opened(db) as store:
        found = outline(store, "s")
        assert found.ids[0] == copy
        assert found.aliases == {first: copy}
        assert found.position(first) == found.position(copy) == 0
        assert [message.text for message in messages(store, "s")][:2] == ["hold this", "held"]
        window = load_window(store, chain_of(store, "s"), first, 0, 1)
        assert [message.id for message in window.messages] == list(found.ids[:2])
        assert (window.before, window.after) == (0, 2)
        assert load_messages(store, chain_of(store, "s"), [first])[0].id == copy


def test_without_uids_time_and_text_decide(db: Path, schema: int) -> None:
    with StoreBuilder(db, schema) as made:
        made.session("r", end_reason="compression", ended_at=made.tick())
        made.session("t", parent="r")
        at = made.tick()
        made.message("r", "user", "the same", timestamp=at)
        made.message("r", "user", "another", timestamp=at)
        made.message("t", "user", "the same", timestamp=at)
        made.message("t", "assistant", "answered")
        made.message("t", "user", "the same")
    with opened(db) as store:
        assert texts(store, "t") == ["the same", "another", "answered", "the same"]


def test_a_turn_whose_arguments_were_pruned_is_the_same_turn(db: Path) -> None:
    def called(arguments: str) -> list[dict[str, Any]]:
        return [{"id": "c1", "type": "function", "function": {"name": "t", "arguments": arguments}}]

    with StoreBuilder(db, 31) as made:
        made.session("s")
        at = made.tick()
        made.message("s", "assistant", "on it", timestamp=at, tool_calls=called("long" * 90), active=0, compacted=1)
        made.message("s", "assistant", "", timestamp=at, tool_calls=called("…"))
        made.message("s", "tool", "full", timestamp=at + 1, tool_call_id="c1", active=0, compacted=1)
        made.message("s", "tool", "pruned", timestamp=at + 1, tool_call_id="c1")
    with opened(db) as store:
        assert [message.text for message in messages(store, "s")] == ["", "full", "pruned"]


def test_a_carrier_is_a_copy_of_the_prompt_it_carries(db: Path) -> None:
    with StoreBuilder(db, 22) as made:
        made.session("r", end_reason="compression", ended_at=made.tick())
        made.session("t", parent="r")
        at = made.tick()
        made.message("r", "user", "go on", timestamp=at)
        made.message("t", "user", f"{SUMMARY}\n\n{END}\n\ngo on", timestamp=at)
    with opened(db) as store:
        assert texts(store, "t") == ["go on"]


@pytest.mark.parametrize("between", [None, "assistant", "calls", "tool", "silent", "other prompt"])
def test_a_prompt_repeated_after_a_seam_with_nothing_between(db: Path, schema: int, between: str | None) -> None:
    with StoreBuilder(db, schema) as made:
        made.session("r", end_reason="compression", ended_at=made.tick())
        made.session("t", parent="r")
        made.message("r", "user", "do it")
        made.message("t", "user", SUMMARY)
        if between == "calls":
            made.message("t", "assistant", "", tool_calls=[{"id": "c", "function": {"name": "x"}}])
        elif between == "other prompt":
            made.message("t", "user", "something else")
        elif between is not None:
            made.message("t", "tool" if between == "tool" else "assistant", "" if between == "silent" else "words")
        made.message("t", "user", "do it")
        made.message("t", "assistant", "done")
    with opened(db) as store:
        times = texts(store, "t").count("do it")
        assert times == (2 if between in ("assistant", "calls") else 1)
        if times == 1:
            assert outline(store, "t").segments[1].first == 1


def test_a_prompt_said_twice_in_one_segment_was_said_twice(db: Path) -> None:
    with StoreBuilder(db, 31) as made:
        made.session("s")
        made.message("s", "user", "hello?")
        made.message("s", "user", "hello?")
    with opened(db) as store:
        assert texts(store, "s") == ["hello?", "hello?"]


# windows


def test_every_window_is_the_same_stretch_of_the_outline(db: Path, schema: int) -> None:
    rng = random.Random(schema)
    with StoreBuilder(db, schema) as made:
        made.session("r", end_reason="compression", ended_at=made.tick())
        made.session("m", parent="r", end_reason="compression", ended_at=made.tick())
        made.session("t", parent="m")
        made.session("other")
        for number in range(120):
            at = made.clock if rng.random() < 0.2 else made.tick()
            segment = "rmt"[number // 40]
            for session_id in (segment, "other"):
                made.message(
                    session_id,
                    rng.choice(["user", "assistant", "tool", "session_meta"]),
                    rng.choice("ab"),
                    timestamp=at,
                    active=rng.choice([0, 1, 1, None]),
                    compacted=rng.choice([0, 1]),
                    message_uid=rng.choice(["u", "v", None, None]),
                )
    with opened(db) as store:
        chain, found = chain_of(store, "t"), outline(store, "t")
        assert len(found) < 120
        for position, message_id in enumerate(found.ids):
            before, after = rng.randrange(5), rng.randrange(5)
            window = load_window(store, chain, message_id, before, after)
            first = max(0, position - before)
            assert [message.id for message in window.messages] == list(found.ids[first : position + after + 1])
            assert window.before == first
            assert window.before + len(window.messages) + window.after == len(found)
        for alias, shown in found.aliases.items():
            assert load_window(store, chain, alias, 0, 0).messages[0].id == shown
        end = load_window(store, chain, None, 3, 9)
        assert [message.id for message in end.messages] == list(found.ids[-4:])
        assert (end.before, end.after) == (len(found) - 4, 0)


@pytest.mark.parametrize("anchor", [0, -3, 99, 10**17, 10**40, -(10**40)])
def test_an_anchor_that_is_not_there_says_so(db: Path, anchor: int) -> None:
    with StoreBuilder(db, 31) as made:
        made.session("s")
        made.message("s", "user", "hello")
        made.session("other")
    with opened(db) as store:
        with pytest.raises(TargetNotFound, match=str(anchor)):
            load_window(store, chain_of(store, "s"), anchor, 3, 3)
        with pytest.raises(TargetNotFound):
            load_window(store, chain_of(store, "other"), 1, 3, 3)
        assert load_messages(store, chain_of(store, "s"), [anchor]) == ()


def test_an_empty_conversation(db: Path, schema: int) -> None:
    with StoreBuilder(db, schema) as made:
        made.session("s")
    with opened(db) as store:
        assert len(outline(store, "s")) == 0
        window = load_window(store, chain_of(store, "s"), None, 5, 5)
        assert (window.messages, window.before, window.after) == ((), 0, 0)


# messages


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
        shown = messages(store, "s")
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
        first, structured, with_nul = messages(store, "s")
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
        shown = messages(store, "s")
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
        shown = messages(store, "s")
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
        shown = {message.id: message for message in messages(store, "s")}
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
        whole = {message.id: message for message in messages(store, "s")}
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
        shown = messages(store, "t")
        assert [message.id for message in shown] == [1, asked, answered, 4]
        assert [each.result_id for each in shown[1].tool_calls or ()] == [answered]
        assert outline(store, "t").segments[1].first == 3
        assert [message.session_id for message in shown] == ["r", "r", "r", "t"]
        window = load_window(store, chain_of(store, "t"), asked, 1, 9)
        assert [message.session_id for message in window.messages] == ["r", "r", "r", "t"]


# damage


@contextlib.contextmanager
def damaged(db: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy with one leaf page of `messages` overwritten."""
    conn = sqlite3.connect(db)
    conn.execute("pragma journal_mode = delete")
    size = conn.execute("pragma page_size").fetchone()[0]
    row = conn.execute("select content from messages where id = 60").fetchone()
    conn.close()
    raw = bytearray(db.read_bytes())
    at = raw.index(row[0].encode()) // size * size
    raw[at : at + size] = b"\xaa" * size
    copy = tmp_path / "damaged.db"
    copy.write_bytes(raw)
    yield copy


def test_a_damaged_page_costs_its_rows(db: Path, schema: int, tmp_path: Path) -> None:
    with StoreBuilder(db, schema, fts=False) as made:
        made.session("s")
        for number in range(1, 121):
            made.message("s", "user", f"unique{number} " + "x" * 400)
    with damaged(db, tmp_path) as broken, opened(broken) as store:
        chain = chain_of(store, "s")
        found = load_outline(store, chain)
        shown = load_messages(store, chain, list(found.ids), outline=found)
        lost = [message.id for message in shown if message.kind == UNREADABLE]
        assert 60 in lost
        assert len(lost) < 20
        assert len(shown) == 120
        assert all(message.text.startswith(f"unique{message.id} ") for message in shown if message.id not in lost)
        assert all("cannot be read" in message.text for message in shown if message.id in lost)
        assert exact_count(store, chain) == 120
        window = load_window(store, chain, 60, 2, 2)
        assert [message.id for message in window.messages] == [58, 59, 60, 61, 62]
        assert (window.before, window.after) == (57, 58)


# cost


class Plans:
    """What SQLite did: the statements that ran, and how each would be carried out."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.statements: list[str] = []

    def __enter__(self) -> Plans:
        self._store.conn.set_trace_callback(self.statements.append)
        return self

    def __exit__(self, *exc: object) -> None:
        self._store.conn.set_trace_callback(None)

    def steps(self) -> list[str]:
        asked = [sql for sql in self.statements if sql.lstrip().lower().startswith(("select", "with"))]
        return [
            f"{row[3]}   ⟵ {sql}"
            for sql in dict.fromkeys(asked)
            for row in self._store.conn.execute(f"explain query plan {sql}").fetchall()
        ]


@pytest.mark.real
def test_outline_and_window_search_by_index_and_read_no_texts(real_home: Path) -> None:
    with opened(real_home / "state.db") as store:
        longest = max(all_chains(store), key=lambda chain: sum(each.message_count for each in chain.segments))
        with Plans(store) as whole:
            found = load_outline(store, longest)
            exact_count(store, longest)
        with Plans(store) as part:
            load_window(store, longest, found.ids[len(found) // 2], 5, 5)
        for step in whole.steps() + part.steps():
            assert not step.startswith(("SCAN m ", "SCAN d ", "SCAN u ")), step
            assert not step.startswith(("SCAN m\n", "SCAN messages")), step
        reading = [sql for sql in whole.statements if "m.content" in sql.partition("from messages")[0]]
        for sql in reading:  # only the first character of a person's row, or rows that were named by id
            head = sql.partition("from messages")[0]
            assert "substr(m.content, 1, 1)" in head or "m.id in" in sql, sql


def test_the_outline_does_not_read_the_texts(db: Path, tmp_path: Path) -> None:
    """Long texts lie on pages of their own; here all of these are destroyed."""
    with StoreBuilder(db, 31, fts=False, journal="delete") as made:
        made.session("s")
        for number in range(60):
            role = ("user", "assistant", "tool")[number % 3]
            made.message("s", role, f"{number} " + "long " * (9_000 if number % 3 else 9))
    raw = bytearray(db.read_bytes())
    size = int.from_bytes(raw[16:18], "big")
    destroyed = 0
    for at in range(0, len(raw), size):
        if raw[at + 4 : at + size].count(b"long ") > (size - 4) // 5 - 2:
            raw[at : at + 4] = b"\xff" * 4
            destroyed += 1
    assert destroyed > 300
    broken = tmp_path / "broken.db"
    broken.write_bytes(raw)
    with opened(broken) as store:
        found = outline(store, "s")
        assert list(found.roles) == [1, 2, 3] * 20
        assert all(at > 0 for at in found.timestamps)


@pytest.mark.parametrize("size", [50, 5_000])
def test_a_window_asks_for_as_many_rows_however_long_the_rest_is(db: Path, size: int) -> None:
    with StoreBuilder(db, 31, fts=False) as made:
        made.session("s")
        for number in range(size):
            made.message("s", ("user", "assistant")[number % 2], f"words {number}")
    with opened(db) as store:
        chain = chain_of(store, "s")
        with Plans(store) as plans:
            window = load_window(store, chain, size // 2, 5, 5)
        assert [message.text for message in window.messages] == [
            f"words {n}" for n in range(size // 2 - 6, size // 2 + 5)
        ]
        assert len(plans.statements) < 20


def test_what_was_folded_is_remembered_until_the_store_is_written(db: Path) -> None:
    with StoreBuilder(db, 31) as made:
        made.session("s")
        made.message("s", "user", "one", message_uid="u")
    with opened(db) as store, contextlib.closing(sqlite3.connect(db)) as writer:
        chain = chain_of(store, "s")
        assert exact_count(store, chain) == 1
        with Plans(store) as plans:
            exact_count(store, chain)
        assert not any("group by" in sql for sql in plans.statements)
        writer.execute(
            "insert into messages (session_id, role, content, message_uid) values ('s', 'user', 'one', 'u')"
        )
        writer.commit()
        assert exact_count(store, chain) == 1
        assert load_outline(store, chain).aliases == {1: 2}


def test_a_transcript_of_many_conversations_keeps_no_more_than_a_few(db: Path) -> None:
    with StoreBuilder(db, 31) as made:
        for number in range(40):
            made.session(f"s{number}")
            made.message(f"s{number}", "user", "x")
    with opened(db) as store:
        for chain in all_chains(store):
            exact_count(store, chain)
        assert len(store.memory) <= 16


@pytest.mark.real
def test_real_stores_of_every_release_read_whole(real_home: Path) -> None:
    with opened(real_home / "state.db") as store:
        for chain in all_chains(store):
            found = load_outline(store, chain)
            shown = load_messages(store, chain, list(found.ids), outline=found)
            assert [message.id for message in shown] == list(found.ids)
            assert len(found) == exact_count(store, chain)
            assert not any("base64," in message.text for message in shown)
            structured = [message.text for message in shown if message.text.startswith("\x00json:")]
            assert all("a literal that starts with the reserved prefix" in text for text in structured)
            seams = [at for at in range(1, len(shown)) if shown[at].session_id != shown[at - 1].session_id]
            assert seams == [mark.first for mark in found.segments[1:]]
            for position in range(0, len(found), 17):
                window = load_window(store, chain, found.ids[position], 2, 3)
                assert window.before == max(0, position - 2)
                assert window.messages == shown[window.before : position + 4]


@pytest.mark.real
def test_planted_words_are_where_the_manifest_says(real_home: Path, release: str) -> None:
    manifest = json.loads((real_home / "gen-manifest.json").read_text("utf-8"))
    needles = manifest["needles"]
    with opened(real_home / "state.db") as store:
        whole = {message.id: message for chain in all_chains(store) for message in messages(store, chain.tip.id)}
        said = "\n".join(message.text for message in whole.values())
        for word in ("rewoundling", "scaffoldium"):
            assert word not in said
        for word in ("quokkaflux", "zephyrine", "compactonyx"):
            if needles.get(word):
                assert word in said
        for _, message_id in itertools.chain(needles["reasonarium"]):
            assert "reasonarium" in (whole[message_id].reasoning or "")
        for _, message_id in needles["argzilla"]:
            calls = whole[message_id].tool_calls or ()
            assert any("argzilla" in each.arguments for each in calls)
            assert all(each.result_id for each in calls)
    assert real_stores.SCHEMAS[release] in SCHEMAS
