"""Searching as people do it, on stores made for one case each (CASES R10 to R18), with words drawn by lot."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hermes_tui.domain.queries import SearchOrder
from hermes_tui.domain.querytrees import Leaf
from hermes_tui.errors import BadQuery
from hermes_tui.storage.fts import serves_trigram
from tests.builders import SCHEMAS, StoreBuilder
from tests.searches import all_pages, hit_of, ids, lit, ref_of, search, searches, tiers
from tests.seeds import SEED

_SEED = SEED


class Lot:
    """Words that nobody has thought of."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self._drawn: set[str] = set()

    def word(self, length: int = 9) -> str:
        while True:
            word = "".join(self.rng.choice("bcdfghjklmnpqrstvwz" if i % 2 else "aeiou") for i in range(length))
            if word not in self._drawn:
                self._drawn.add(word)
                return word

    def words(self, number: int) -> list[str]:
        return [self.word() for _ in range(number)]

    def han(self, length: int) -> str:
        return "".join(chr(self.rng.randrange(0x4E00, 0x9FA5)) for _ in range(length))


@pytest.fixture
def lot() -> Lot:
    print(f"words drawn with seed {_SEED}")
    return Lot(_SEED)


@pytest.fixture(params=SCHEMAS, ids=lambda schema: f"schema{schema}")
def schema(request: pytest.FixtureRequest) -> int:
    return int(request.param)


Made = Callable[..., Path]


@pytest.fixture
def made(tmp_path: Path, schema: int) -> Made:
    """Write a store: session id → messages, each a text or (role, text) or (role, text, columns)."""

    def make(
        sessions: dict[str, list[Any]], columns: dict[str, dict[str, Any]] | None = None, **options: Any
    ) -> Path:
        with StoreBuilder(tmp_path / "state.db", schema, **options) as store:
            for session_id, messages in sessions.items():
                store.session(session_id, **(columns or {}).get(session_id, {}))
                for message in messages:
                    role, text, more = (
                        message if len(message) == 3 and isinstance(message, tuple) else (*_pair(message), {})
                    )
                    store.message(session_id, role, text, **more)
        return tmp_path / "state.db"

    return make


def _pair(message: Any) -> tuple[str, Any]:
    return message if isinstance(message, tuple) else ("user", message)


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """Columns of an assistant's row that calls a tool."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"tool_calls": [{"id": "call_1", "type": "function", "function": function}]}


# R10, R11: grammar


async def test_r10_doubled_and_dangling_operators_do_no_harm(made: Made, lot: Lot) -> None:
    docker, compose, kube = lot.words(3)
    db = made({"s1": [f"{docker} {compose}"], "s2": [kube]})
    for text, found in {
        f"{docker} OR": ["s1"],
        f"{docker} AND AND {compose}": ["s1"],
        f"AND {kube}": ["s2"],
        f"{docker} OR OR {kube}": ["s1", "s2"],
        f"{docker} NOT": ["s1"],
        f'"{docker}': ["s1"],
        f"{docker} *{compose}": ["s1"],
    }.items():
        assert sorted(ids(await search(db, text))) == found, text
    page = await search(db, f"{docker} AND OR {kube}")
    assert set(tiers(page).values()) == {"partial"}
    for text in ("AND", "OR OR", f"AND NOT {docker}", "!!"):
        with pytest.raises(BadQuery):
            await search(db, text)


async def test_r10_what_the_grammar_promises(made: Made, lot: Lot) -> None:
    docker, deployment, kube, python, java = lot.words(5)
    db = made(
        {
            "both": [f"{docker} then {deployment}"],
            "apart": [f"{deployment}. Far away: {docker}"],
            "kube": [f"about {kube}"],
            "snake": [f"{python} alone"],
            "mixed": [f"{python} and {java}"],
            "longer": [f"{docker}ments and more"],
        }
    )
    for text, found in {
        f"{docker} {deployment}": {"both", "apart"},
        f'"{docker} then {deployment}"': {"both"},
        f"{docker} OR {kube}": {"both", "apart", "kube"},
        f"{python} NOT {java}": {"snake"},
        f"{docker}*": {"both", "apart", "longer"},
        docker: {"both", "apart"},
        docker.upper(): {"both", "apart"},
    }.items():
        page = await search(db, text)
        assert set(ids(page)) == found, text
        assert set(tiers(page).values()) == {"conversation"}


async def test_r11_punctuated_names_find_the_text_that_holds_them(made: Made, lot: Lot) -> None:
    a, b, c = lot.words(3)
    names = [
        f"{a}-{b}",
        f"{a}.{b}.ts",
        f"{a}_{b}",
        f"{a.upper()}-358",
        f"{b}@{c}.example",
        f"/etc/{b}/{c}.conf",
        f"https://{a}.example/{c}?q=1#x",
        f"#{lot.rng.randrange(10**7, 10**8)}",
        f".{c.upper()}",
        f"`{a}{b}`",
        f"{b}'t",
        f"{c}++",
        f"-{a}{c}",
        f"{a.upper()}: {c}",
    ]
    db = made({f"s{i}": [f"before {name} after"] for i, name in enumerate(names)})
    for i, name in enumerate(names):
        assert f"s{i}" in ids(await search(db, name)), name
    page = await search(db, f"{a}-{b}")
    assert lit(hit_of(page, "s0")) == [f"{a}-{b}"]
    assert f'"{a}-{b}"' in page.expression


async def test_r11_while_one_types_the_last_word_is_a_beginning(made: Made, lot: Lot) -> None:
    word = lot.word()
    db = made({"s1": [f"call {word}_new1 now"]})
    typed = f"{word}_new"
    page = await search(db, typed, typing_at=len(typed))
    assert ids(page) == ["s1"]
    assert lit(page.hits[0]) == [f"{word}_new1"]
    assert not [notice for notice in page.notices if "inside words" in notice]
    page = await search(db, typed)  # nobody is typing: no word is like that, so it is looked for inside words
    assert ids(page) == ["s1"]
    assert any("inside words" in notice and typed in notice for notice in page.notices)


# R12: four pictures


async def test_r12_nothing_found_and_nothing_understood_are_different_things(made: Made, lot: Lot) -> None:
    db = made({"s1": [lot.word()], "s2": ["more"]})
    page = await search(db, lot.word())
    assert page.hits == ()
    assert (page.total, page.searched, page.final) == (0, 2, True)
    with pytest.raises(BadQuery) as raised:
        await search(db, "after:never x")
    assert "never" in raised.value.reason


# R13: words in different messages


async def test_r13_words_may_stand_in_different_messages(made: Made, lot: Lot) -> None:
    one, two = lot.words(2)
    db = made(
        {
            "s1": [f"{one} war", "nothing", f"Helen of {two}"],
            "s2": [f"{one} and {two}"],
            "s3": [f"only {one}"],
            "s4": [f"{one} here", f"{two} there", f"{one} again"],
        }
    )
    page = await search(db, f"{one} {two}")
    assert ids(page)[0] == "s2"
    assert tiers(page) == {"s2": "conversation", "s1": "spread", "s4": "spread"}
    assert [hit_of(page, each).count for each in ("s1", "s2", "s4")] == [2, 1, 3]
    assert {match.message_id for match in hit_of(page, "s1").matches} == {1, 3}
    assert "s3" not in ids(page)


async def test_r13_some_of_the_words_only_when_nothing_else_is_found(made: Made, lot: Lot) -> None:
    one, two, three = lot.words(3)
    db = made({"s1": [f"{one} and {two}"], "s2": [one, one], "s3": ["none of them"]})
    page = await search(db, f"{one} {two} {three}")
    assert tiers(page) == {"s1": "partial", "s2": "partial"}
    assert ids(page)[0] == "s1", "it holds more of the words"
    assert hit_of(page, "s2").count == 2
    assert tiers(await search(db, f"{one} {two}")) == {"s1": "conversation"}


@pytest.mark.parametrize(
    "shape",
    ["{} {} AND {}", "{} AND {} {}", "{}/{} {}", "({},{}) AND {}", "{} {} AND {} NOT {no}", "{} NOT {no} AND {} {}"],
)
async def test_r13_words_are_words_however_they_were_joined(made: Made, lot: Lot, shape: str) -> None:
    one, two, three, no = lot.words(4)
    db = made({"apart": [one, two, three], "some": [two], "none": [no]})
    page = await search(db, shape.format(one, two, three, no=no))
    assert tiers(page) == {"apart": "spread"}
    assert hit_of(page, "apart").count == 3
    page = await search(db, shape.format(lot.word(), two, lot.word(), no=no))
    assert tiers(page) == {"apart": "partial", "some": "partial"}


async def test_r13_a_pasted_text_is_looked_for_as_a_whole_and_that_is_said(made: Made, lot: Lot) -> None:
    text = lot.words(41)
    db = made({"whole": [" ".join(text)], "apart": [text[0], " ".join(text[1:])]})
    page = await search(db, " ".join(text))
    assert tiers(page) == {"whole": "conversation"}
    assert any("More than 40 words" in notice for notice in page.notices)
    page = await search(db, " ".join(text[:2] * 30))
    assert tiers(page) == {"whole": "conversation", "apart": "spread"}, "a word said again is the same word"
    assert not any("More than 40 words" in notice for notice in page.notices)


async def test_r13_an_alternative_that_excludes_is_spread_as_well(made: Made, lot: Lot) -> None:
    one, two, no, other = lot.words(4)
    db = made({"clean": [one, two], "dirty": [one, f"{two} {no}"], "other": [other]})
    page = await search(db, f"{one} {two} NOT {no} OR {other}")
    assert tiers(page) == {"other": "conversation", "clean": "spread"}


async def test_r13_what_not_excludes_is_excluded_in_every_tier(made: Made, lot: Lot) -> None:
    one, two, bad = lot.words(3)
    db = made(
        {
            "clean": [one, two],
            "dirty": [f"{one} {bad}", two],
            "half": [one, f"{two} {bad}"],
            "whole": [f"{one} {two} {bad}"],
        }
    )
    assert tiers(await search(db, f"{one} {two} NOT {bad}")) == {"clean": "spread"}
    page = await search(db, f"{one} {lot.word()} NOT {bad}")
    assert tiers(page) == {"clean": "partial", "half": "partial"}


# R14: titles and ids


async def test_r14_titles_and_ids_are_searched_and_come_first(made: Made, lot: Lot, schema: int) -> None:
    town, deli = (word.capitalize() for word in lot.words(2))
    mine = "20260603_090200_exact1"
    db = made(
        {
            mine: ["nothing of the kind"],
            "20260603_090300_other1": [f"about {town} in passing"],
            "20260604_090300_other2": ["coffee"],
        },
        {
            mine: {"title": f"Harbor {deli}, {town}"},
            "20260604_090300_other2": {"title": "AN-94 manual"},
        },
    )
    page = await search(db, town)
    assert tiers(page) == {mine: "title", "20260603_090300_other1": "conversation"}
    assert (page.hits[0].count, page.hits[0].matches) == (0, ())
    assert tiers(await search(db, f"{town.lower()} {deli.upper()}")) == {mine: "title"}
    for text in (mine, f"@session:default/{mine}", f"`{mine}`", f"@session:{mine}.", "20260603_0902"):
        page = await search(db, text)
        assert (ids(page)[0], page.hits[0].tier) == (mine, "target"), text
    assert {*ids(await search(db, "20260603_09"))} >= {mine, "20260603_090300_other1"}
    for text in ("an94", "AN-94", "an-94", '"AN-94"', "an 94"):
        assert ids(await search(db, text))[0] == "20260604_090300_other2", text
    page = await search(db, f'"Harbor {deli}, {town}"')
    assert (ids(page)[0], page.hits[0].tier) == (mine, "target")


async def test_r14_the_newest_numbered_title_wins_over_the_title_itself(made: Made, lot: Lot) -> None:
    title = lot.word().capitalize()
    db = made(
        {"s1": ["a"], "s2": ["b"], "s3": ["c"]},
        {"s1": {"title": f"{title} #2"}, "s2": {"title": title}, "s3": {"title": f"{title} #3"}},
    )
    page = await search(db, title)
    assert tiers(page) == {"s3": "target", "s2": "title", "s1": "title"}
    assert ids(page) == ["s3", "s2", "s1"]


# R15: writing without blanks


async def test_r15_chinese_is_found_wherever_it_stands(made: Made, lot: Lot, schema: int) -> None:
    word, other, third = lot.han(2), lot.han(2), lot.han(4)
    sessions: dict[str, list[Any]] = {}
    columns: dict[str, dict[str, Any]] = {}
    holding: dict[str, set[str]] = {word: set(), other: set(), third: set(), word[0]: set()}
    for i in range(24):
        text = lot.han(6)
        source = lot.rng.choice(["cli", "telegram", "cron"])
        for run in lot.rng.sample([word, other, third], lot.rng.randrange(3)):
            text = f"{text}{run}{lot.han(5)}" if lot.rng.random() < 0.7 else f"{text} {run}，{lot.han(3)}"
        role = lot.rng.choice(["user", "assistant", "tool"])
        sessions[f"s{i}"] = [(role, text)]
        columns[f"s{i}"] = {"source": source}
        for run, where in holding.items():
            if run in text:
                where.add(f"s{i}")
    db = made(sessions, columns)
    for run, where in holding.items():
        assert set(ids(await search(db, run))) == where, run
    assert set(ids(await search(db, f"{word} OR {other}"))) == holding[word] | holding[other]
    both = holding[word] & holding[other]
    page = await search(db, f"{word} {other}")
    assert {each for each, tier in tiers(page).items() if tier not in ("spread", "partial")} == both
    assert set(ids(await search(db, f"{word} NOT {other}"))) == holding[word] - holding[other]


async def test_r15_latin_glued_to_chinese_is_one_run_with_it(made: Made, lot: Lot) -> None:
    han, latin = lot.han(2), lot.word()
    db = made({"s1": [f"{lot.han(2)}{han}{latin}{lot.han(3)}"], "s2": [f"{han} {latin}"]})
    page = await search(db, f"{han}{latin.upper()}")
    assert ids(page) == ["s1"]
    assert lit(page.hits[0]) == [f"{han}{latin}"]


async def test_r15_korean_is_found_inside_its_words(made: Made) -> None:
    db = made({"s1": ["내일 데이터베이스를 재검색하세요"], "s2": ["검 색"]})
    assert ids(await search(db, "검색")) == ["s1"]
    assert ids(await search(db, "데이터베이스 재검")) == ["s1"]


async def test_r15_chinese_in_arguments_of_calls_is_found_though_it_is_stored_as_numbers(
    made: Made, lot: Lot
) -> None:
    run = lot.han(3)
    db = made({"s1": [("assistant", "", call("web_search", query=f"{lot.han(2)}{run}{lot.han(1)}"))]})
    for text in (run, run[:2], run[1]):
        page = await search(db, text)
        assert tiers(page) == {"s1": "tool"}
        assert page.hits[0].best is not None
        assert page.hits[0].best.tool == "web_search"
        assert text in lit(page.hits[0])


async def test_accents_in_calls_are_found_beside_what_is_looked_for_inside_words(made: Made, lot: Lot) -> None:
    accented, han, word = f"{lot.word()}é", lot.han(2), lot.word()
    called = ("assistant", "", call("terminal", command=f"echo {accented}"))
    db = made({"call": [called], "other": [han], "part": [f"x{word}x"], "barred": [(*called[:1], han, called[2])]})
    for beside, where in ((han, "other"), (word, "part")):
        found = tiers(await search(db, f"{beside} OR {accented}"))
        assert {where, "call", "barred"} <= found.keys(), beside
        assert found["call"] == "tool"
    assert ids(await search(db, f"{han} NOT {accented}")) == ["other"]


async def test_accents_in_calls_are_found_in_whichever_form_they_are_written(made: Made, lot: Lot) -> None:
    word = lot.word()
    one, two = f"{word}é", f"{word}e\u0301"
    calls = {
        name: ("assistant", "", call("terminal", command=f"ls {each}")) for name, each in (("1", one), ("2", two))
    }
    db = made({name: [each] for name, each in calls.items()})
    for text in (one, two, one.upper(), two.upper(), f"{lot.han(2)} OR {two}"):
        assert set(ids(await search(db, text))) == {"1", "2"}, text


async def test_what_not_excludes_is_excluded_where_a_call_holds_it_in_numbers(made: Made, lot: Lot) -> None:
    accented, word = f"{lot.word()}é", lot.word()
    db = made({"s1": [("assistant", word, call("terminal", command=f"echo {accented}"))], "s2": [word]})
    assert ids(await search(db, f"{word} NOT {accented}")) == ["s2"]


async def test_i_with_a_dot_and_without_one_are_letters_of_their_own_inside_words(made: Made, lot: Lot) -> None:
    han = lot.han(3)
    db = made({"s1": [f"{han}istanbul"], "s2": [f"{han}İstanbul"], "s3": [f"{han}ıstanbul"]})
    for text, wanted in (("istan", "s1"), (f"{han}i", "s1"), (f"{han}İ", "s2"), (f"{han[1:]}ı", "s3")):
        assert tiers(await search(db, text)) == {wanted: "conversation"}, text
        assert tiers(await search(db, f"{text} {han[0]}")) == {wanted: "conversation"}, text


async def test_accents_and_case_make_no_difference(made: Made, lot: Lot) -> None:
    plain = lot.word()
    fancy = plain.replace("a", "á").replace("e", "ë").replace("o", "Ö").replace("u", "ü").replace("i", "î")
    db = made({"s1": [f"one {fancy}."], "s2": [f"one {plain.upper()}."]})
    for text in (plain, fancy, plain.capitalize()):
        assert set(ids(await search(db, text))) == {"s1", "s2"}
    assert lit(hit_of(await search(db, plain), "s1")) == [fancy]


# R16: automation


async def test_r16_automation_drowns_nobody_and_is_drowned_by_nobody(made: Made, lot: Lot) -> None:
    word, rare = lot.words(2)
    sessions: dict[str, list[Any]] = {"mine": [f"once I said {word}"]}
    columns: dict[str, dict[str, Any]] = {}
    for i in range(60):
        sessions[f"cron_{i}"] = [f"{word} {word} run {i}"] * 5
        columns[f"cron_{i}"] = {"source": "cron", "title": f"{word} run {i}"}
    sessions["cron_rare"], columns["cron_rare"] = [rare], {"source": "cron"}
    db = made(sessions, columns)
    page = await search(db, word)
    assert ids(page)[0] == "mine"
    assert page.total == 61
    assert {hit.tier for hit in page.hits[1:]} == {"automation"}
    assert {hit.count for hit in page.hits[1:]} == {5}
    assert tiers(await search(db, rare)) == {"cron_rare": "automation"}


async def test_r16_sources_that_nobody_asks_for_are_left_out_and_said_to_be(made: Made, lot: Lot) -> None:
    word = lot.word()
    db = made(
        {"mine": [word], "card": [word], "pinger": [word]},
        {"card": {"source": "kanban", "title": f"Card {word}"}, "pinger": {"source": "tool"}},
    )
    page = await search(db, word)
    assert ids(page) == ["mine"]
    assert any("1 kanban" in notice and "1 tool" in notice for notice in page.notices)
    assert tiers(await search(db, f"{word} source:kanban")) == {"card": "automation"}
    assert tiers(await search(db, f"{word} is:automation")) == {"card": "automation", "pinger": "automation"}
    assert set(ids(await search(db, word, include_hidden=True))) == {"mine", "card", "pinger"}
    assert tiers(await search(db, "card")) == {"card": "target"}, "an id is found whatever its source"


async def test_a_run_of_another_source_counts_for_the_conversation_that_started_it(made: Made, lot: Lot) -> None:
    word, inner, secret = lot.words(3)
    marked = {"model_config": {"_delegate_from": "boss"}, "parent": "boss"}
    db = made(
        {"boss": ["start"], "helper": [word], "hidden": [secret]},
        {"helper": {**marked, "title": f"Helper {inner}"}, "hidden": {**marked, "source": "subagent"}},
    )
    page = await search(db, word)
    assert ids(page) == ["boss"]
    assert page.hits[0].in_delegate
    assert page.hits[0].best is not None
    assert page.hits[0].best.session_id == "helper"
    page = await search(db, inner)
    assert (tiers(page), page.hits[0].in_delegate) == ({"boss": "title"}, True)
    assert ids(await search(db, secret)) == []
    page = await search(db, f"{secret} source:subagent")
    assert (tiers(page), page.hits[0].in_delegate) == ({"boss": "automation"}, True)
    page = await search(db, "helper")
    assert (tiers(page)["helper"], page.hits[0].conversation.segment_ids) == ("target", ("helper",))


# R17, R8: which message


async def test_r17_a_hit_names_its_message(made: Made, lot: Lot) -> None:
    needle = f"{lot.word()}-4711"
    texts = [f"message {i} " + " ".join(lot.words(4)) for i in range(300)]
    texts[36] += f" {needle}"
    texts[250] += f" {needle} " + " ".join(lot.words(40))
    db = made({"s1": texts})
    page = await search(db, needle)
    assert page.hits[0].count == 2
    assert [match.message_id for match in page.hits[0].matches] == [37, 251]
    assert lit(page.hits[0]) == [needle]
    newest = await search(db, needle, order=SearchOrder.NEWEST)
    assert [match.message_id for match in newest.hits[0].matches] == [251, 37]
    oldest = await search(db, needle, order=SearchOrder.OLDEST)
    assert [match.message_id for match in oldest.hits[0].matches] == [37, 251]


@pytest.mark.parametrize("order", [SearchOrder.NEWEST, SearchOrder.OLDEST])
async def test_by_time_nothing_but_the_time_of_the_match_counts_inside_a_tier(
    made: Made, lot: Lot, order: SearchOrder
) -> None:
    one = lot.word()
    cron = {"source": "cron"}
    sessions = {
        "prose": [one],
        "output": [("tool", one, {"tool_name": "x"})],
        "both": [("tool", one, {"tool_name": "x"}), one, ("tool", one, {"tool_name": "x"})],
        "later": [one],
        "titled": ["something else"],
    }
    db = made(sessions, {**dict.fromkeys(sessions, cron), "titled": {**cron, "title": f"{one} report"}})
    page = await search(db, one, order=order)
    newest = order is SearchOrder.NEWEST
    wanted = (
        ["titled", "later", "both", "output", "prose"] if newest else ["prose", "output", "both", "later", "titled"]
    )
    assert list(tiers(page).items()) == [(each, "automation") for each in wanted]
    assert [match.message_id for match in hit_of(page, "both").matches] == ([5, 4, 3] if newest else [3, 4, 5])


@pytest.mark.parametrize("order", [SearchOrder.NEWEST, SearchOrder.OLDEST])
async def test_by_time_a_call_in_automation_is_as_good_as_what_was_said(
    made: Made, lot: Lot, order: SearchOrder
) -> None:
    one = lot.word()
    called = ("assistant", "", call("terminal", command=f"grep {one} x"))
    said = ("assistant", one, call("terminal", command="ls"))
    db = made({"both": [called, said, called]}, {"both": {"source": "cron"}})
    hit = hit_of(await search(db, one, order=order), "both")
    assert [match.message_id for match in hit.matches][:2] == ([3, 2] if order is SearchOrder.NEWEST else [1, 2])
    assert (hit.count, str(hit.tier)) == (3, "automation")


@pytest.mark.parametrize("order", [SearchOrder.NEWEST, SearchOrder.OLDEST])
async def test_by_time_how_many_of_the_words_occur_does_not_count(made: Made, lot: Lot, order: SearchOrder) -> None:
    one, two, three = lot.words(3)
    db = made({"a": [one], "b": [f"{one} {two}"], "c": [two], "d": [f"{two} {one}"], "e": [one]})
    page = await search(db, f"{one} {two} {three}", order=order)
    wanted = list("abcde") if order is SearchOrder.OLDEST else list("edcba")
    assert list(tiers(page).items()) == [(each, "partial") for each in wanted]


async def test_r8_a_chain_is_one_row_with_the_matches_of_all_its_segments(made: Made, lot: Lot) -> None:
    word = lot.word()
    chain = [f"seg{i}" for i in range(6)]
    db = made(
        {each: [f"talk {i}", *([f"{word} in {each}"] if i % 2 else [])] for i, each in enumerate(chain)},
        {
            each: {
                "parent": chain[i - 1] if i else None,
                "title": f"Deck #{i + 1}" if i else "Deck",
                **({"end_reason": "compression"} if i < 5 else {}),
            }
            for i, each in enumerate(chain)
        },
    )
    page = await search(db, word)
    assert (ids(page), page.total, page.hits[0].count) == (["seg5"], 1, 3)
    assert {match.session_id for match in page.hits[0].matches} == {"seg1", "seg3", "seg5"}


# R18: tools


async def test_r18_matches_in_tools_are_found_named_and_below_what_people_said(made: Made, lot: Lot) -> None:
    word = lot.word()
    db = made(
        {
            "output": [("tool", f"found {word}", {"tool_name": "search_files"})],
            "call": [("assistant", "", call("terminal", command=f"grep {word} x"))],
            "said": [f"where is the {word}?"],
            "system": [("system", f"{word} rules")],
        }
    )
    page = await search(db, word)
    assert ids(page)[0] == "said"
    assert tiers(page) == {"said": "conversation", "output": "tool", "call": "tool", "system": "tool"}
    best = {each: hit_of(page, each).best for each in ("output", "call", "said")}
    assert [(best[each].role, best[each].tool) for each in best if best[each]] == [
        ("tool", "search_files"),
        ("assistant", "terminal"),
        ("user", None),
    ]
    assert lit(hit_of(page, "call")) == [word]
    assert "{" not in hit_of(page, "call").best.snippet  # type: ignore[union-attr]  # it has one
    assert ids(await search(db, f"{word} role:user,assistant tool:terminal")) == ["call"]
    assert ids(await search(db, f"{word} role:user")) == ["said"]
    assert set(ids(await search(db, f"{word} -role:tool,system"))) == {"said", "call"}
    assert ids(await search(db, f"{word} tool:search_files")) == ["output"]


async def test_r18_nobody_in_particular_is_no_person(made: Made, lot: Lot) -> None:
    word = lot.word()
    db = made({"nobody": [(None, word)], "odd": [("function", word)], "said": [word]})
    assert tiers(await search(db, word)) == {"said": "conversation", "odd": "tool", "nobody": "tool"}


async def test_r18_a_tool_is_found_however_its_call_was_stored(made: Made, lot: Lot) -> None:
    word = lot.word()
    calls = call("terminal", command=word)["tool_calls"]
    stored = {
        "list": json.dumps(calls),
        "twice": json.dumps(json.dumps(calls)),
        "bare": json.dumps(calls[0]),
        "text": json.dumps(f"terminal {word}"),
        "broken": f"[{{terminal {word}",
    }
    db = made({each: [("assistant", "", {"tool_calls": cell})] for each, cell in stored.items()})
    assert set(ids(await search(db, word))) == set(stored)
    for text in (f"tool:terminal {word}", f"tool:Terminal,{lot.word()} {word}"):
        assert set(ids(await search(db, text))) == {"list", "twice", "bare"}
    assert set(ids(await search(db, "tool:terminal"))) == {"list", "twice", "bare"}
    assert set(ids(await search(db, f"-tool:terminal {word}"))) == {"text", "broken"}


async def test_words_of_text_and_call_of_one_message_belong_together(made: Made, lot: Lot) -> None:
    one, two = lot.words(2)
    db = made({"s1": [("assistant", f"I try {one}", call("terminal", command=two))]})
    page = await search(db, f"{one} {two}")
    assert tiers(page) == {"s1": "tool"}
    assert tiers(await search(db, one)) == {"s1": "conversation"}
    assert ids(await search(db, f"{one} NOT {two}")) == []


async def test_tool_output_beyond_8_kb_is_read_when_asked_for_and_otherwise_said_not_to_be(
    made: Made, lot: Lot, schema: int
) -> None:
    word = lot.word()
    db = made({"s1": ["go", ("tool", "x " * 5_000 + word, {"tool_name": "terminal"})]})
    page = await search(db, word)
    if schema < 31:
        assert tiers(page) == {"s1": "tool"}
        assert not any("8 KB" in notice for notice in page.notices)
        return
    assert (ids(page), any("8 KB" in notice for notice in page.notices)) == ([], True)
    for options, text in (({"scan": True}, word), ({}, f"{word} role:tool")):
        page = await search(db, text, **options)
        assert tiers(page) == {"s1": "tool"}
        assert not any("8 KB" in notice for notice in page.notices)
        assert lit(page.hits[0]) == [word]


# what is seen


async def test_structured_content_is_searched_as_it_reads(made: Made, lot: Lot) -> None:
    plain, escaped, role_word = lot.word(), f"{lot.word()}é", lot.word()
    parts = [
        {"type": "text", "text": f"what is {plain}?\n{role_word}"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
    ]
    db = made(
        {
            "s1": [("user", parts)],
            "s2": [("tool", [{"type": "text", "text": f"{lot.han(1)} {escaped}"}])],
            "s3": [("user", "nothing")],
        }
    )
    for text in (plain, role_word, f'"{plain} {role_word}"', f"{plain[:5]}*"):
        page = await search(db, text)
        assert tiers(page) == {"s1": "conversation"}, text
        assert "{" not in page.hits[0].best.snippet  # type: ignore[union-attr]  # it has one
    assert tiers(await search(db, escaped)) == {"s2": "tool"}
    for text in ("json", "image_url", "QUJD", "type"):
        assert ids(await search(db, text)) == [], text


async def test_names_in_the_json_of_structured_content_are_no_words(made: Made, lot: Lot) -> None:
    han = lot.han(2)
    db = made({"s1": [("user", [{"type": "text", "text": "what is this?"}])], "s2": [f"{han} xtypes"]})
    for text in ("type", f"{han} type"):
        page = await search(db, text)
        assert tiers(page) == {"s2": "conversation"}, text
        assert any("inside words" in notice for notice in page.notices)


async def test_undone_hidden_and_model_only_rows_are_never_found(made: Made, lot: Lot, schema: int) -> None:
    undone, archived, hidden, model, system, meta = lot.words(6)
    db = made(
        {
            "s1": [
                "start",
                ("user", undone, {"active": 0, "compacted": 0}),
                ("user", archived, {"active": 0, "compacted": 1}),
                ("user", hidden, {"display_kind": "hidden"}),
                ("user", model, {"display_metadata": {"model_only": True}}),
                ("user", f"[System: {system}]"),
                ("session_meta", meta),
            ]
        }
    )
    known = {14: [undone], 22: [undone], 31: [undone, hidden, model]}.get(schema, [])
    for word in (*known, system, meta):
        assert ids(await search(db, word)) == [], word
    assert ids(await search(db, archived)) == ([] if schema == 14 else ["s1"])


async def test_copies_are_counted_once_and_shown_where_they_are_shown(made: Made, lot: Lot, schema: int) -> None:
    if schema < 22:
        pytest.skip("nothing is compacted in place there")
    word = lot.word()
    same = {"timestamp": 1_780_000_500.0}
    db = made({"s1": ["a", ("user", word, {**same, "active": 0, "compacted": 1}), "b", ("user", word, same), "c"]})
    page = await search(db, word)
    assert page.hits[0].count == 1
    assert [match.message_id for match in page.hits[0].matches] == [4]


async def test_hidden_archived_and_empty_conversations_are_found_and_marked(
    made: Made, lot: Lot, schema: int
) -> None:
    word = lot.word()
    db = made({"s1": [word], "s2": [word]}, {"s1": {"archived": 1}, "s2": {"hidden": 1}})
    page = await search(db, word)
    assert set(ids(page)) == {"s1", "s2"}
    assert hit_of(page, "s1").conversation.archived == (schema >= 14)
    assert hit_of(page, "s2").conversation.hidden == (schema >= 31)


# filters


async def test_filter_words_alone_list_what_passes_newest_first(made: Made, lot: Lot) -> None:
    db = made(
        {"s1": ["a"], "s2": [("tool", "b", {"tool_name": "terminal"})], "s3": ["c"], "s4": []},
        {"s2": {"source": "telegram"}, "s3": {"source": "telegram", "title": "Plan"}, "s4": {"source": "telegram"}},
    )
    page = await search(db, "source:telegram")
    assert ids(page) == ["s4", "s3", "s2"]
    assert set(tiers(page).values()) == {"filter"}
    assert page.route == "filter"
    assert all(hit.best is None for hit in page.hits)
    assert ids(await search(db, "source:telegram", order=SearchOrder.OLDEST)) == ["s2", "s3", "s4"]
    assert ids(await search(db, "role:tool")) == ["s2"]
    assert ids(await search(db, "tool:Terminal")) == ["s2"]
    assert ids(await search(db, "title:plan")) == ["s3"]
    assert ids(await search(db, "-title:plan -source:cli")) == ["s4", "s2"]
    assert ids(await search(db, "is:empty")) == ["s4"]


async def test_filter_words_alone_say_of_a_conversation_what_it_does_not_hold(made: Made, lot: Lot) -> None:
    ran = ("assistant", "", call("terminal", command="ls"))
    run = {"parent_session_id": "s3", "model_config": json.dumps({"_delegate_from": "s3"})}
    db = made(
        {
            "s1": ["a", ran, ("tool", "b", {"tool_name": "terminal"})],
            "s2": ["c", ("tool", "d", {"tool_name": "read_file"})],
            "s3": ["e"],
            "s4": [],
            "run": ["f", ran],
        },
        {"run": run},
    )
    for text, found in {
        "-tool:terminal": ["s4", "s3", "s2"],
        "-tool:terminal,read_file": ["s4", "s3"],
        "-role:tool": ["s4", "s3"],
        "role:tool -tool:terminal": ["s2"],
        "-role:tool after:2020-01-01": ["s3"],
    }.items():
        assert set(ids(await search(db, text))) == set(found), text


async def test_source_role_and_date_bind_the_message_other_keys_the_conversation(made: Made, lot: Lot) -> None:
    word = lot.word()
    early, late = 1_770_000_000.0, 1_779_000_000.0
    db = made(
        {
            "s1": [("user", word, {"timestamp": early}), ("assistant", word, {"timestamp": late})],
            "s2": [("user", word, {"timestamp": late})],
        },
        {"s1": {"title": "Old", "model": "m1"}, "s2": {"model": "m2"}},
    )
    page = await search(db, f"{word} before:2026-03-01")
    assert (ids(page), page.hits[0].count) == (["s1"], 1)
    assert [match.role for match in page.hits[0].matches] == ["user"]
    page = await search(db, f"{word} after:2026-03-01 role:assistant")
    assert [match.message_id for match in page.hits[0].matches] == [2]
    assert ids(await search(db, f"{word} model:M2")) == ["s2"]
    assert (await search(db, f"{word} model:M2")).searched == 1


async def test_user_and_chat_are_known_by_any_of_their_names(made: Made, lot: Lot, schema: int) -> None:
    word = lot.word()
    origin = json.dumps({"chat_name": "Ops Room", "user_name": "Mei"})
    db = made({"s1": [word], "s2": [word]}, {"s1": {"user_id": "4242", "chat_id": "-100", "origin_json": origin}})
    assert ids(await search(db, f"{word} user:4242")) == ["s1"]
    assert ids(await search(db, f"{word} -user:4242")) == ["s2"]
    if schema >= 22:
        for asked in ("user:mei", 'chat:"ops room"', "chat:-100"):
            assert ids(await search(db, f"{word} {asked}")) == ["s1"], asked


# several stores


async def test_several_stores_answer_as_one(tmp_path: Path, lot: Lot) -> None:
    word, other, third = lot.words(3)
    for name in ("work", "home"):
        with StoreBuilder(tmp_path / name / "state.db") as store:
            store.session("s1", title=f"In {name}")
            store.message("s1", "user", f"{word} {other if name == 'home' else 'x' + third + 'x'}")
    broken = tmp_path / "broken" / "state.db"
    broken.parent.mkdir()
    broken.write_bytes(b"not a database at all, not even close to one" * 40)
    refs = [ref_of(tmp_path / name / "state.db", name) for name in ("work", "home")] + [ref_of(broken, "broken")]
    page = (await all_pages(refs, word))[-1]
    assert {(hit.conversation.profile, hit.conversation.id) for hit in page.hits} == {("work", "s1"), ("home", "s1")}
    assert [problem.profile for problem in page.errors] == ["broken"]
    assert (await all_pages(refs, f"{word} profile:home"))[-1].total == 1
    page = (await all_pages(refs, other))[-1]
    assert not any("inside words" in notice for notice in page.notices), "one store knows it as a word"
    page = (await all_pages(refs, third))[-1]
    assert [hit.conversation.profile for hit in page.hits] == ["work"]
    page = (await all_pages(refs, f"{word} {other}"))[-1]
    assert [(hit.conversation.profile, hit.tier) for hit in page.hits] == [("home", "conversation")]


async def test_limit_and_offset_cut_after_everything_else(made: Made, lot: Lot) -> None:
    word = lot.word()
    db = made({f"s{i:02}": [f"{word} {'filler ' * i}"] for i in range(12)})
    whole = await search(db, word)
    assert ids(whole) == [f"s{i:02}" for i in range(12)], "the shorter the message, the more the word weighs"
    page = await search(db, word, limit=3, offset=4)
    assert ids(page) == ids(whole)[4:7]
    assert page.total == 12


async def test_equals_stand_the_newer_conversation_first_and_the_earlier_message_first(made: Made, lot: Lot) -> None:
    word = lot.word()
    db = made({"s1": [word, word], "s2": [word, word]})
    page = await search(db, word)
    assert ids(page) == ["s2", "s1"]
    assert [match.message_id for match in page.hits[0].matches] == [3, 4]


async def test_no_letter_of_50_kilobytes_is_too_many(made: Made, lot: Lot) -> None:
    paste = " ".join(lot.words(5_000))
    db = made({"s1": [paste], "s2": ["other"]})
    page = await search(db, paste)
    assert ids(page) == ["s1"]
    assert (await searches(db, [string.punctuation + lot.word()]))[0].hits == ()


async def test_a_word_of_thousands_of_letters_is_read_for_instead_of_asked_of_the_trigrams(tmp_path: Path) -> None:
    db = tmp_path / "state.db"
    with StoreBuilder(db, 14) as store:
        store.session("s1")
        store.message("s1", "tool", "abcdefghij" * 600, tool_name="terminal")
    asked = ("abcdefghij" * 600)[500:4_000]
    tree = Leaf(asked, inside=True)
    assert not serves_trigram(tree)
    assert serves_trigram(Leaf(asked[:50], inside=True))
    (page,) = await searches(db, [asked])
    assert [hit.conversation.root_id for hit in page.hits] == ["s1"]


# R42: a link means a session, and its words mean nothing


@pytest.mark.parametrize("form", ["{}", "({}).", "`{}`", "“{}”,", '"{}"', "**{}**"])
async def test_r42_a_link_that_leads_nowhere_is_not_answered_with_its_words(made: Made, form: str) -> None:
    db = made({"s1": ["a session of the default profile called nosuch"]}, {"s1": {"title": "session default nosuch"}})
    for link in ("@session:default/nosuch", "@session:nosuch", "@session:ghost/s1", "@session:../x/s1", "@session:"):
        page = await search(db, form.format(link))
        assert (page.hits, page.total, page.expression, page.words) == ((), 0, "", ()), link
        assert any("leads nowhere" in notice or "names no session" in notice for notice in page.notices), link
    page = await search(db, form.format("@session:default/s1"))
    assert tiers(page) == {"s1": "target"}
    assert page.notices == ()


async def test_r42_a_link_beside_words_is_searched_with_them(made: Made) -> None:
    db = made({"s1": ["see @session:default/nosuch there"], "s2": ["nothing"]})
    assert ids(await search(db, "see @session:default/nosuch")) == ["s1"]


async def test_r42_a_link_with_the_beginning_of_an_id_lists_all_that_begin_so(made: Made) -> None:
    db = made({"2026a": ["one"], "2026b": ["two"], "2025c": ["2026"]})
    assert tiers(await search(db, "@session:2026")) == {"2026a": "target", "2026b": "target"}
