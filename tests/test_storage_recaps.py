"""How a conversation ended, and what a match in it was about (FACTS 5, R21)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hermes_tui.domain.messages import Recap, RecapEntry, Window
from hermes_tui.storage.recaps import load_context, load_recap
from hermes_tui.storage.transcripts import load_outline
from tests.builders import SCHEMAS, StoreBuilder
from tests.stores import all_chains, chain_of, opened

SUMMARY = "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted: " + "word " * 700


@pytest.fixture(params=SCHEMAS, ids=lambda schema: f"schema{schema}")
def schema(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


def call(name: str) -> dict[str, Any]:
    return {"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}}


def recap(db: Path, session_id: str = "s") -> Recap:
    with opened(db) as store:
        return load_recap(store, chain_of(store, session_id))


def said(found: Recap) -> list[tuple[str, str]]:
    return [(entry.who, entry.text) for entry in found.entries]


def test_the_end_of_a_chain_is_told_across_its_seam(db: Path, schema: int) -> None:
    with StoreBuilder(db, schema) as made:
        made.session("r", end_reason="compression", ended_at=made.tick())
        made.session("s", parent="r")
        made.message("r", "user", "first")
        made.message("r", "assistant", "", tool_calls=[call("a")])
        made.message("r", "tool", "output", tool_call_id="a")
        made.message("r", "assistant", "answer " * 60, tool_calls=[call("a"), call("b"), call("a")])
        made.message("s", "user", SUMMARY)
        made.message("s", "assistant", None)
        made.message("s", "user", "second")
        made.message("s", "assistant", "the last answer stands whole\n" * 40)
        made.message("s", "user", "[System: not shown]")
    found = recap(db)
    assert said(found) == [
        ("user", "first"),
        ("assistant", ("answer " * 60)[:200] + "..."),
        ("event", "context compacted"),
        ("user", "second"),
        ("assistant", ("the last answer stands whole\n" * 40).strip()),
    ]
    assert (found.entries[1].tools, found.entries[1].calls) == (("a", "b"), 3)
    assert found.earlier == 0


def test_earlier_entries_are_counted_as_entries(db: Path) -> None:
    with StoreBuilder(db, 31) as made:
        made.session("s")
        for number in range(30):
            made.message("s", "user", f"prompt {number}", message_uid=f"p{number}")
            made.message("s", "assistant", "", tool_calls=[call("a")])
            made.message("s", "tool", "output", tool_call_id="a")
            made.message("s", "assistant", "<think>nothing said</think>" if number % 2 else " answer ")
        made.message("s", "user", "x", display_kind="model_switch")
        made.message("s", "user", "prompt 3", message_uid="p3")
        made.message("s", "assistant", "", codex_message_items=[{"content": [{"text": "said elsewhere"}]}])
        made.message("s", "user", "hidden", display_kind="hidden")
    found = recap(db)
    assert len(found.entries) == 20
    assert said(found)[-1] == ("assistant", "said elsewhere")
    assert said(found)[-2] == ("event", "model switched")
    assert found.earlier == 30 + 15 + 2 - 20


def test_a_very_long_last_answer_is_whole_all_the_same(db: Path) -> None:
    long = "a long line of words\n" * 3_000
    with StoreBuilder(db, 31) as made:
        made.session("s")
        made.message("s", "user", "go")
        made.message("s", "assistant", long)
    assert said(recap(db))[-1] == ("assistant", long.strip())


@pytest.mark.parametrize(
    ("config", "entries", "earlier"),
    [
        ("display:\n  resume_exchanges: 2\n", 4, 4),
        ("display:\n  resume_display: minimal\n", 0, 0),
        ("display:\n  resume_exchanges: 0\n", 0, 0),
        ("display: nonsense\n", 8, 0),
        ("display: [\n", 8, 0),
        ("", 8, 0),
        ("display:\n  resume_skip_tool_only: false\n", 12, 0),
    ],
)
def test_hermes_own_settings_decide(db: Path, config: str, entries: int, earlier: int) -> None:
    (db.parent / "config.yaml").write_text(config, "utf-8")
    with StoreBuilder(db, 31) as made:
        made.session("s")
        for number in range(4):
            made.message("s", "user", f"prompt {number}")
            made.message("s", "assistant", "", tool_calls=[call("a")])
            made.message("s", "assistant", f"answer {number}")
    found = recap(db)
    assert (len(found.entries), found.earlier) == (entries, earlier)


def test_an_empty_conversation_has_no_recap(db: Path, schema: int) -> None:
    with StoreBuilder(db, schema) as made:
        made.session("s")
    assert recap(db) == Recap((), 0)


def test_a_long_conversation_is_read_from_its_end(db: Path) -> None:
    with StoreBuilder(db, 31, fts=False) as made:
        made.session("s")
        for number in range(3_000):
            made.message("s", ("user", "assistant")[number % 2], f"words {number}")
    found = recap(db)
    assert found.earlier == 2_980
    assert found.entries[0] == RecapEntry("user", "words 2980", timestamp=found.entries[0].timestamp)


# goal, match, resolution


def context(db: Path, message_id: int | None, session_id: str = "s") -> tuple[Window, Window, Window]:
    with opened(db) as store:
        return load_context(store, chain_of(store, session_id), message_id)


def texts(window: Window) -> list[str]:
    return [message.text for message in window.messages]


@pytest.fixture
def talk(db: Path) -> Path:
    """Forty prompts and answers, each answer after a call of its own and a result."""
    with StoreBuilder(db, 31) as made:
        made.session("s")
        made.message("s", "user", SUMMARY)
        for number in range(20):
            made.message("s", "user", f"prompt {number}")
            made.message("s", "assistant", "", tool_calls=[call("a")])
            made.message("s", "tool", f"output {number}", tool_call_id="a")
            made.message("s", "assistant", f"answer {number}")
            made.message("s", "user", "note", display_kind="model_switch")
        made.message("s", "user", "undone", active=0)
    return db


def test_goal_match_and_resolution(talk: Path) -> None:
    with opened(talk) as store:
        ids = load_outline(store, chain_of(store, "s")).ids
    match_id = ids[1 + 10 * 5 + 3]
    goal, match, resolution = context(talk, match_id)
    assert texts(goal) == ["prompt 0", "answer 0", "prompt 1"]
    assert texts(match) == [
        "prompt 8", "answer 8", "prompt 9", "answer 9", "prompt 10",
        "answer 10",
        "prompt 11", "answer 11", "prompt 12", "answer 12", "prompt 13",
    ]  # fmt: skip
    assert texts(resolution) == ["answer 18", "prompt 19", "answer 19"]
    assert (goal.before, resolution.after) == (1, 1)
    assert ids[match.before] == match.messages[0].id
    assert len(ids) - match.after - 1 == list(ids).index(match.messages[-1].id)


def test_a_match_in_a_result_or_a_call_is_kept_as_it_is(talk: Path) -> None:
    with opened(talk) as store:
        ids = load_outline(store, chain_of(store, "s")).ids
    for offset, text in ((1, ""), (2, "output 10")):
        _, match, _ = context(talk, ids[1 + 10 * 5 + offset])
        assert texts(match)[5] == text
        assert texts(match)[4] == "prompt 10"
        assert texts(match)[6] == "answer 10"
        assert match.messages[5].call is not None or match.messages[5].tool_calls


def test_without_a_match_the_two_ends(talk: Path) -> None:
    goal, match, resolution = context(talk, None)
    assert texts(goal) == ["prompt 0", "answer 0", "prompt 1"]
    assert match.messages == ()
    assert texts(resolution) == ["answer 18", "prompt 19", "answer 19"]
    assert context(talk, 10_000)[1].messages == ()


@pytest.mark.parametrize("count", range(12))
def test_nothing_is_shown_twice(db: Path, count: int) -> None:
    with StoreBuilder(db, 31) as made:
        made.session("s")
        ids = [made.message("s", ("user", "assistant")[number % 2], f"words {number}") for number in range(count)]
    for at in [None, *ids]:
        windows = context(db, at)
        shown = [message.id for window in windows for message in window.messages]
        assert shown == sorted(set(shown))
        if at is not None:
            assert at in [message.id for message in windows[1].messages]
            assert count > 9 or set(shown) == set(ids)


@pytest.mark.real
def test_ends_of_real_conversations(real_home: Path) -> None:
    with opened(real_home / "state.db") as store:
        for chain in all_chains(store):
            found = load_recap(store, chain)
            assert len(found.entries) <= 20
            assert not any("CONTEXT COMPACTION" in entry.text for entry in found.entries)
            goal, _, resolution = load_context(store, chain, None)
            for message in goal.messages + resolution.messages:
                assert message.role in ("user", "assistant")
                assert message.text.strip()
