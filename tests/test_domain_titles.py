"""Words in titles: as in messages, and also without the punctuation between them."""

from __future__ import annotations

import random

import pytest

from hermes_tui.domain import titles
from hermes_tui.domain.querytext import parse_query
from hermes_tui.domain.querytrees import Form, Leaf
from hermes_tui.domain.titles import holder, squeezed, squeezed_each
from tests.seeds import SEED


@pytest.mark.parametrize(
    ("query", "title", "matches"),
    [
        ("springfield", "Harbor Deli, Springfield", True),
        ("deli springfield", "Harbor Deli, Springfield", True),
        ("deli chicago", "Harbor Deli, Springfield", False),
        ("deli OR chicago", "Harbor Deli, Springfield", True),
        ("deli NOT harbor", "Harbor Deli, Springfield", False),
        ("field", "Harbor Deli, Springfield", False),
        ("spring*", "Harbor Deli, Springfield", True),
        ('"deli springfield"', "Harbor Deli, Springfield", True),
        ('"springfield deli"', "Harbor Deli, Springfield", False),
        ("an94", "AN-94 manual", True),
        ("an-94", "AN94 manual", True),
        ("AN-94", "AN 94 manual", True),
        ("an94", "AN 94 manual", False),
        ("an9", "AN-94 manual", False),
        ("an9*", "AN-94 manual", True),
        ("a94", "AN-94 manual", False),
        ("94", "AN-94 manual", True),
        ("my_app_config", "100% of my-app.config.ts", True),
        ("myappconfigts", "100% of my-app.config.ts", True),
        ("cafe", "Le Café", True),
        ("CAFÉ", "le cafe", True),
        ("旅行", "桂林旅行计划", True),
        ("旅桂", "桂林旅行计划", False),
        ("x", "", False),
    ],
)
def test_a_title_matches(query: str, title: str, matches: bool) -> None:
    tree = parse_query(query, present=0).expression
    assert tree is not None
    assert bool(holder(tree)(title, squeezed(title))) is matches


def test_a_word_that_is_still_being_typed_may_go_on() -> None:
    tree = parse_query("spri", present=0, typing_at=4).expression
    assert tree is not None
    assert holder(tree)("Springfield", squeezed("Springfield"))


def test_many_titles_are_squeezed_like_each(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [
        "Le Café · 9",
        "\u0301a\nb",
        "",
        "my_app",
        "ﬁn…",
        "STRASSE ß",
        "桂林 – 旅行",
        "e\u0301\u0323x",
        "tab\tin",
        "ΑΣ ς",
    ]
    alone = [squeezed(text) for text in texts]
    assert alone[:4] == ["lecafe9", "ab", "", "myapp"]
    assert squeezed_each(texts) == alone
    monkeypatch.setattr(titles, "_MANY_KINDS", 1)
    assert squeezed_each(texts) == alone, "also where they hold all sorts of signs"
    assert squeezed_each([]) == []


def test_a_word_that_is_looked_for_in_haste_is_one_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, letters = random.Random(SEED), "ab_-·. \u0301\u0308éÉKkſsİıi²ⓐA1\u212b\u00b4ﬁ"
    drawn = [
        (
            text,
            Leaf("".join(rng.choices("abksi1", k=rng.randint(1, 3))), rng.choice([Form.WORD, Form.PREFIX])),
        )
        for text in ("".join(rng.choices(letters, k=rng.randint(1, 8))) for _ in range(20_000))
    ]
    hasty = [bool(holder(leaf)(text, squeezed(text))) for text, leaf in drawn]
    monkeypatch.setattr(titles, "_word", lambda *_: lambda _: None)
    assert hasty == [bool(holder(leaf)(text, squeezed(text))) for text, leaf in drawn]
    assert 500 < sum(hasty) < 19_500
