"""Find in one conversation: everything that is shown and nothing else, in the order of the transcript (R17, R18)."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hermes_tui.domain.finds import find_pattern, parse_find
from hermes_tui.domain.messages import Message
from hermes_tui.storage.find import find
from hermes_tui.storage.transcripts import load_messages, load_outline, load_text
from tests.builders import SCHEMAS, StoreBuilder
from tests.stores import all_chains, chain_of, opened


@pytest.fixture(params=SCHEMAS, ids=lambda schema: f"schema{schema}")
def schema(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


def call(arguments: Any, name: str = "terminal") -> list[dict[str, Any]]:
    return [{"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}]


def found(db: Path, words: str, session_id: str = "s") -> list[int]:
    with opened(db) as store:
        return list(find(store, chain_of(store, session_id), words))


def test_a_needle_in_a_long_conversation(db: Path, schema: int) -> None:
    with StoreBuilder(db, schema, fts=False) as made:
        made.session("s")
        for number in range(1, 2_001):
            made.message("s", "user", f"needle-4711 {number}" if number in (37, 1_500) else f"hay {number}")
    assert found(db, "needle-4711") == [37, 1_500]
    assert found(db, "NEEDLE") == [37, 1_500]
    assert found(db, "eedle-47") == [37, 1_500]
    assert found(db, "hay needle") == []
    assert found(db, "") == []


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        ("quokka", [1, 2, 3, 4, 5, 6]),
        ('"quokka burrow"', [1]),
        ("quokka burrow", [1, 2]),
        ("100% _x_", [7]),
        ("%", [7]),
        ("übermut", [8]),
        ("ÜBERMUT", [8]),
        ("привет", [9]),
        ("昨晚", [10]),
        ('"said:"', [11]),
        ("c:\\temp", [12]),
        ("größe", [13]),
        ("function", []),
        ("arguments", []),
        ("tool_calls", []),
        ("json", []),
        ("base64", []),
        ("QUJD", []),
        ("compacted", [15]),
        ("live words", [16]),
        ("[calling", [18]),
        ("caption", [14]),
    ],
)
def test_where_words_are_found(db: Path, words: str, rows: Sequence[int]) -> None:
    parts = [
        {"type": "text", "text": "a caption"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
    ]
    end = "--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---"
    with StoreBuilder(db, 31) as made:
        made.session("s")
        made.message("s", "user", "the quokka\n  burrow")
        made.message("s", "tool", "burrow, then Quokka")
        made.message("s", "assistant", "", tool_calls=call('{"q": "quokka"}'))
        made.message("s", "assistant", "", tool_calls=call("{}", name="quokka_find"))
        made.message("s", "assistant", "", reasoning="a quokka perhaps")
        made.message("s", "assistant", "", reasoning_details=[{"type": "reasoning.text", "text": "quokka"}])
        made.message("s", "user", "100% of _x_")
        made.message("s", "user", "Übermut")
        made.message("s", "user", "ПриВет")
        made.message("s", "user", "我昨晚去")
        made.message("s", "assistant", "", tool_calls=call(json.dumps({"q": 'he said: "no"'})))
        made.message("s", "assistant", "", tool_calls=call(json.dumps({"path": "C:\\Temp\\a"})))
        made.message("s", "assistant", "", tool_calls=call(json.dumps({"q": "Größe"})))
        made.message("s", "user", parts)
        made.message("s", "user", "[CONTEXT COMPACTION — REFERENCE ONLY] compacted things")
        made.message("s", "user", f"[CONTEXT COMPACTION — REFERENCE ONLY] old quokka\n{end}\n\nlive words")
        made.message("s", "user", "quokka undone", active=0, compacted=0)
        made.message("s", "assistant", "", tool_calls="[Calling tool: x]")
        made.message("s", "user", "quokka hidden", display_kind="hidden")
        made.session("other")
        made.message("other", "user", "quokka übermut 昨晚")
    assert found(db, words) == list(rows)


def test_a_copy_is_found_where_it_is_shown(db: Path) -> None:
    with StoreBuilder(db, 31) as made:
        made.session("r", end_reason="compression", ended_at=made.tick())
        made.session("t", parent="r")
        made.message("r", "user", "hold the amber", message_uid="u")
        made.message("r", "assistant", "amber held")
        made.message("t", "user", "amber too")
        copy = made.message("t", "user", "hold the amber", message_uid="u")
    assert found(db, "amber", "t") == [copy, 2, 3]


def shown_text(store: Any, message: Message) -> list[str]:
    calls = [part for each in message.tool_calls or () for part in (each.name, each.arguments)]
    whole = load_text(store, message.id) if message.cut else message.text
    return [whole, message.reasoning or "", message.commentary or "", message.tool_calls_raw or "", *calls]


@pytest.mark.real
def test_find_equals_reading_everything(real_home: Path, release: str) -> None:
    rng = random.Random(release)
    with opened(real_home / "state.db") as store:
        for chain in rng.sample(all_chains(store), 20):
            outline = load_outline(store, chain)
            shown = load_messages(store, chain, list(outline.ids), outline=outline)
            said = {message.id: shown_text(store, message) for message in shown}
            vocabulary = sorted({word for texts in said.values() for text in texts for word in text[:3_000].split()})
            asked = ["the", "e", "terminal", "桂林", "Ü", "{", '"a b"', "nobodysaysthis"]
            asked += [word.replace('"', "")[:12] for word in rng.sample(vocabulary, min(8, len(vocabulary)))]
            for words in asked:
                patterns = [find_pattern(needle) for needle in parse_find(words)]
                expected = [
                    message.id
                    for message in shown
                    if patterns and all(any(each.search(text) for text in said[message.id]) for each in patterns)
                ]
                assert list(find(store, chain, words)) == expected, words
