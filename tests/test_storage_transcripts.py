"""A conversation as one text: what is in it, in which order, copies once (R9, R19, R21)."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hermes_tui.domain.messages import HANDOFF, MESSAGE, NOT_A_PROMPT, ROLE_CODES
from hermes_tui.errors import TargetNotFound
from hermes_tui.storage.transcripts import exact_count, load_messages, load_outline, load_text, load_window
from tests.builders import StoreBuilder
from tests.stores import END, SUMMARY, all_chains, chain_of, opened, outlined, texts, transcript


def test_a_chain_reads_root_to_tip_with_its_seams(db: Path, schema: int) -> None:
    with StoreBuilder(db, schema) as made:
        made.session("r", end_reason="compression", ended_at=made.tick(), title="x")
        made.session("m", parent="r", end_reason="compression", ended_at=made.tick())
        made.session("t", parent="m")
        for number in range(82):
            made.message("r" if number < 40 else "m" if number < 70 else "t", "user", f"message {number}")
    with opened(db) as store:
        for session_id in ("r", "m", "t"):
            found = outlined(store, session_id)
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
        assert len(outlined(store, "s")) == shown


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
        shown = transcript(store, "s")
        assert [(message.kind, message.label) for message in shown] == [
            (HANDOFF, "context compacted"),
            (MESSAGE, None),
            ("model_switch", "model switched to x-9 (y)"),
        ]
        assert bytes(outlined(store, "s").roles) == bytes([NOT_A_PROMPT, ROLE_CODES["user"], NOT_A_PROMPT])


def test_the_live_words_of_a_carrier_survive(db: Path, schema: int, word: Iterator[str]) -> None:
    live = f"{next(word)} {next(word)}"
    with StoreBuilder(db, schema) as made:
        made.session("s")
        carrier = made.message("s", "user", f"{SUMMARY}\n\n{END}\n\n{live}")
    with opened(db) as store:
        (message,) = transcript(store, "s")
        assert (message.kind, message.text, message.chars) == (MESSAGE, live, len(live))
        assert load_text(store, carrier) == live
        assert outlined(store, "s").roles == bytes([ROLE_CODES["user"]])


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
        assert list(outlined(store, "s").roles) == [code for _, _, code in rows] + [1, NOT_A_PROMPT]


def test_nonsense_times_are_no_times(db: Path) -> None:
    with StoreBuilder(db, 31) as made:
        made.session("s")
        for at in (1_780_000_000.5, "yesterday", b"x", -1.0, 9e12, None, 0):
            made.message("s", "user", "x", timestamp=at)
    with opened(db) as store:
        at = outlined(store, "s").timestamps
        assert [each if each == each else None for each in at] == [1_780_000_000.5, None, None, None, None, None, 0.0]
        assert [message.timestamp for message in transcript(store, "s")] == [1_780_000_000.5, *[None] * 5, 0.0]


def test_a_message_carried_over_stands_once_and_its_alias_finds_it(db: Path) -> None:
    with StoreBuilder(db, 31) as made:
        made.session("s")
        first = made.message("s", "user", "hold this", message_uid="u1", active=0, compacted=1)
        made.message("s", "assistant", "held", message_uid="u2", active=0, compacted=1)
        made.message("s", "user", SUMMARY, _compressed_summary=1)
        copy = made.message("s", "user", "hold this", message_uid="u1")
        made.message("s", "user", "next", message_uid="u3")
    with opened(db) as store:
        found = outlined(store, "s")
        assert found.ids[0] == copy
        assert found.aliases == {first: copy}
        assert found.position(first) == found.position(copy) == 0
        assert [message.text for message in transcript(store, "s")][:2] == ["hold this", "held"]
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
        assert [message.text for message in transcript(store, "s")] == ["", "full", "pruned"]


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
            assert outlined(store, "t").segments[1].first == 1


def test_a_prompt_said_twice_in_one_segment_was_said_twice(db: Path) -> None:
    with StoreBuilder(db, 31) as made:
        made.session("s")
        made.message("s", "user", "hello?")
        made.message("s", "user", "hello?")
    with opened(db) as store:
        assert texts(store, "s") == ["hello?", "hello?"]


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
def test_planted_words_are_where_the_manifest_says(real_home: Path) -> None:
    manifest = json.loads((real_home / "gen-manifest.json").read_text("utf-8"))
    needles = manifest["needles"]
    with opened(real_home / "state.db") as store:
        whole = {message.id: message for chain in all_chains(store) for message in transcript(store, chain.tip.id)}
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


def test_the_least_and_the_greatest_number_are_messages_too(db: Path) -> None:
    numbers = [-(1 << 63), -7, 0, 5, (1 << 63) - 1]
    with StoreBuilder(db, 31) as made:
        made.session("s")
        for number in numbers:
            made.message("s", "user", f"number {number}", id=number)
    with opened(db) as store:
        assert list(outlined(store, "s").ids) == numbers
        assert texts(store, "s") == [f"number {number}" for number in numbers]
        assert exact_count(store, chain_of(store, "s")) == len(numbers)
