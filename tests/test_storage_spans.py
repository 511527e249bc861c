"""Where words stand, told without FTS5: the same places as FTS5 tells, or none."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing

import pytest

from hermes_tui.domain.querytrees import Form, Leaf
from hermes_tui.storage.judging import UNICODE, Words
from hermes_tui.storage.spans import FOLDING, Finder, words_of
from tests.seeds import SEED

_LETTERS = [
    *("a", "b", "A", "ab", "x", "9", "-", " ", " ", " ", ".", "_", "\x00", "`"),
    *("—", "…", "→", "漢", "字", "\u00a0", "😀", "Ж", "’", "\ue000", "\u200b", "ⅷ", "²"),
]
_FOLDED = [*"üéÅİıſŁ×ßøỆ", "\u212a", "\u2126"]
_MARKED = ["e\u0301", "\u0308"]
_LEAVES = ["a", "ab", "a b", "a-b", "b9", "b a 9", "x", "a_b", "e", "k", "a a"]


def test_the_places_are_those_of_fts5_where_any_are_told() -> None:
    rng = random.Random(SEED)
    told = folded = 0
    for _ in range(150):
        letters = (_LETTERS, _LETTERS + _FOLDED, _LETTERS + _FOLDED + _MARKED)
        drawn = (rng.choices(letters[number % 3], k=rng.randrange(1, 30)) for number in range(60))
        texts = dict(enumerate(map("".join, drawn)))
        leaf = Leaf(rng.choice(_LEAVES), rng.choice(list(Form)))
        finder = Finder(leaf, UNICODE)
        if not finder.able:
            continue
        with closing(Words()) as words:
            words.fill((number, text, "", "") for number, text in texts.items())
            expected = words.spans(leaf)
        for number, text in texts.items():
            places = finder.spans(text)
            assert places is None or places == expected.get(number, []), (leaf, text, SEED)
            if text.isascii():
                assert finder.spans(text, words_of(text)) == places, (leaf, text, SEED)
            told += bool(places)
            folded += bool(places and FOLDING.search(text))
    assert told > 100
    assert folded > 20, "letters with accents too"


def test_every_character_that_fts5_folds_to_ascii_is_left_to_it() -> None:
    """All of Unicode, each character between two letters."""
    conn = sqlite3.connect(":memory:")
    conn.execute("create virtual table t using fts5(x)")
    conn.execute("create virtual table v using fts5vocab(t, 'instance')")
    chars = (number for number in range(0x80, 0x110000) if not 0xD800 <= number < 0xE000)
    conn.executemany("insert into t(rowid, x) values (?, ?)", ((each, f"x{chr(each)}x") for each in chars))
    folded = [(chr(row), term) for term, row in conn.execute("select term, doc from v") if term.isascii()]
    assert {term for _, term in folded} > {"x", "xax", "xkx", "xx"}
    missed = [(char, term) for char, term in folded if term != "x" and not FOLDING.match(char)]
    conn.close()
    assert missed == []


@pytest.mark.parametrize(
    "leaf",
    [
        Leaf("a a"),
        Leaf("ab a", Form.PREFIX),
        Leaf("café"),
        Leaf("漢字"),
        Leaf("abc", inside=True),
        Leaf("--"),
    ],
)
def test_what_only_fts5_can_tell_is_not_tried(leaf: Leaf) -> None:
    assert not Finder(leaf, UNICODE).able


def test_another_tokenizer_has_other_words() -> None:
    assert not Finder(Leaf("a"), "unicode61 tokenchars '-'").able
