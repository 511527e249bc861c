"""What a hit shows of a message: the right place, the right characters lit, never more than a line."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_tui.domain.queries import Match
from hermes_tui.domain.querytext import parse_query
from hermes_tui.storage.snippets import LONGEST, Spot, cut, load_matches
from tests.builders import StoreBuilder
from tests.seeds import SEED
from tests.stores import opened

_SEED = SEED


def match(tmp_path: Path, query: str, content: Any, role: str = "assistant", **columns: Any) -> Match:
    """How the one message of a store is shown for a query."""
    db = tmp_path / "state.db"
    db.unlink(missing_ok=True)
    with StoreBuilder(db) as store:
        store.session("s1")
        message = store.message("s1", role, content, **columns)
    with opened(db) as store:
        return load_matches(store, [message], parse_query(query, present=0).expression)[message]


def lit(found: Match) -> list[str]:
    return [found.snippet[span.start : span.end] for span in found.spans]


def test_the_place_is_where_the_words_stand_together(tmp_path: Path) -> None:
    rng = random.Random(_SEED)
    filler = ["the", "of", "and", "build"] * 200
    rng.shuffle(filler)
    text = f"deploy {' '.join(filler)} post {' '.join(filler)} the deploy post of friday {' '.join(filler)} deploy"
    found = match(tmp_path, "deploy post", text)
    assert "the deploy post of friday" in found.snippet, _SEED
    assert lit(found) == ["deploy", "post"]
    middle = found.snippet.index("deploy post") + 5
    assert abs(middle - len(found.snippet) / 2) < 30, "in the middle of the snippet"


def test_a_rare_word_counts_for_more_than_a_common_one(tmp_path: Path) -> None:
    text = "the cat " * 200 + "one quokka here " + "the cat " * 200
    found = match(tmp_path, "the OR quokka", text)
    assert "quokka" in lit(found)


def test_a_short_message_is_shown_whole_on_one_line(tmp_path: Path) -> None:
    found = match(tmp_path, "needle", "  a\n\n\tneedle \r\n here  ", role="user")
    assert found.snippet == "a needle here"
    assert lit(found) == ["needle"]
    assert (found.role, found.tool) == ("user", None)


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("chat-send", "use chat-send now", ["chat-send"]),
        ('"two words"', "Two  words, two words", ["Two words", "two words"]),
        ("depl*", "deploy deployed redeploy", ["deploy", "deployed"]),
        ("café", "Cafe CAFÉ cafés", ["Cafe", "CAFÉ"]),
        ("数据", "修改数据库的数据", ["数据", "数据"]),
        ("youer服", "修改Youer服务", ["Youer服"]),
        ("one NOT two", "one is one", ["one", "one"]),
        ("need", "needle without it", []),
    ],
)
def test_what_is_lit_is_what_matches(tmp_path: Path, query: str, text: str, expected: list[str]) -> None:
    assert lit(match(tmp_path, query, text)) == expected


def test_no_json_shows_of_structured_content(tmp_path: Path) -> None:
    parts = [
        {"type": "text", "text": "what is\nthis é needle?"},
        {"type": "image_url", "image_url": {"url": "data:x"}},
    ]
    found = match(tmp_path, "needle", parts, role="user")
    assert found.snippet == "what is this é needle? [image]"
    assert lit(found) == ["needle"]


def test_a_call_is_shown_by_its_arguments_and_named(tmp_path: Path) -> None:
    calls = [
        {"id": "1", "function": {"name": "read_file", "arguments": json.dumps({"path": "a/b.py"})}},
        {"id": "2", "function": {"name": "terminal", "arguments": json.dumps({"command": "grep é\nneedle", "n": 3})}},
    ]
    found = match(tmp_path, "needle", "", tool_calls=calls)
    assert (found.snippet, found.tool) == ("command: grep é needle, n: 3", "terminal")
    assert lit(found) == ["needle"]
    assert match(tmp_path, "read_file", "", tool_calls=calls).tool == "read_file"
    assert match(tmp_path, "needle", "a needle in words", tool_calls=calls).tool is None
    broken = match(tmp_path, "needle", "", tool_calls="{not json but a needle")
    assert (broken.snippet, broken.tool) == ("{not json but a needle", None)


def test_no_payload_shows_of_a_call(tmp_path: Path) -> None:
    url = "data:image/png;base64," + "iVBORw0KGgo" * 100
    call = {"id": "c", "function": {"name": "paint", "arguments": json.dumps({"picture": url, "of": "quokka"})}}
    found = match(tmp_path, "quokka", "", tool_calls=[call])
    assert found.snippet == "picture: [image], of: quokka"
    assert lit(found) == ["quokka"]


@pytest.mark.parametrize("word", ["function", "arguments", "call_77", "type"])
def test_what_matches_around_a_call_is_lit_where_it_stands(tmp_path: Path, word: str) -> None:
    function = {"name": "look", "arguments": json.dumps({"q": "é"})}
    calls = [{"id": "call_77", "type": "function", "function": function}]
    found = match(tmp_path, word, "nothing of it in here", tool_calls=calls)
    assert set(lit(found)) == {word}
    assert "é" in found.snippet
    assert found.tool is None
    found = match(tmp_path, f"{word} nothing", "nothing of it in here", tool_calls=calls)
    assert (lit(found), found.snippet) == (["nothing"], "nothing of it in here"), "there is something better to show"


def test_a_result_names_its_tool_and_hides_no_match_far_down(tmp_path: Path) -> None:
    text = "\n".join(f"{i} noise" for i in range(20_000)) + "\nneedle at last\n" + "\n".join(map(str, range(9_000)))
    found = match(tmp_path, "needle", text, role="tool", tool_name="terminal")
    assert found.tool == "terminal"
    assert lit(found) == ["needle"]
    assert len(found.snippet) <= LONGEST


def test_a_result_that_matches_by_its_tool_alone_shows_that_name_lit(tmp_path: Path) -> None:
    found = match(tmp_path, "read_file", "nothing of it in here", role="tool", tool_name="read_file")
    assert lit(found) == ["read_file"]
    assert found.snippet == "read_file nothing of it in here"
    found = match(tmp_path, "read_file nothing", "nothing of it in here", role="tool", tool_name="read_file")
    assert lit(found) == ["nothing"], "the text itself has a word to show"


def test_hostile_text_stays_as_it_is_and_in_step_with_its_spans(tmp_path: Path) -> None:
    text = "\x1b[31m\ue001\ue002 needle\x00 \ue000 \u202eneedle\u202c [bold]x[/]"
    found = match(tmp_path, "needle", text)
    assert lit(found) == ["needle", "needle"]
    assert found.snippet == text


@given(
    st.text(st.sampled_from("ab \n\té漢\u3000\U0001f44d"), max_size=1_500),
    st.lists(st.tuples(st.integers(0, 1_500), st.integers(1, 40), st.integers(0, 3)), max_size=30),
)
@settings(max_examples=300, deadline=None)
def test_a_snippet_is_a_piece_of_its_message_whatever_matched(text: str, places: list[tuple[int, int, int]]) -> None:
    spots = sorted(
        Spot(start, min(start + length, len(text)), leaf)
        for start, length, leaf in places
        if start < len(text) and text[start : start + length].strip() == text[start : start + length]
    )
    snippet, spans = cut(text, spots)
    folded = " ".join(text.split())
    assert len(snippet) <= LONGEST
    assert snippet in folded
    assert all(0 <= span.start < span.end <= len(snippet) for span in spans)
    assert all(one.end <= other.start for one, other in itertools.pairwise(spans))
    assert bool(spans) == bool(spots)


@pytest.mark.parametrize(
    ("query", "before", "stands"),
    [
        ("port", "import portable ", "port"),
        ('"light house"', "light and light houses, house light ", "light house"),
        ("my-app.config", "my own app, my-app.configs ", "my-app.config"),
        ("port*", "import ", "portable"),
    ],
)
def test_in_a_very_long_text_what_only_looks_like_the_words_leads_nowhere(
    tmp_path: Path, query: str, before: str, stands: str
) -> None:
    found = match(tmp_path, query, f"{before}{'x ' * 40_000}{stands} there")
    assert lit(found) == [stands]
