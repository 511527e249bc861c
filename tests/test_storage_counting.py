"""Words counted without FTS5: as many as it counts, or it is asked."""

from __future__ import annotations

import random
from contextlib import closing

import pytest

from hermes_tui.domain.querytrees import And, Form, Leaf
from hermes_tui.storage import judging
from hermes_tui.storage.counting import Counter, number_of_words
from hermes_tui.storage.judging import UNICODE, Judge, Row, Words
from tests.seeds import SEED

_LETTERS = [
    *(
        "a",
        "b",
        "A",
        "ab",
        "x",
        "9",
        "-",
        " ",
        " ",
        " ",
        ".",
        "_",
        "\x00",
        "`",
        "é",
        "É",
        "ſ",
        "ß",
        "e\u0301",
        "\u0308",
    ),
    *(
        "—",
        "…",
        "→",
        "漢",
        "字",
        "か",
        "한",
        "\u00a0",
        "😀",
        "Ж",
        "’",
        "\ue000",
        "\ue001",
        "\u200b",
        "ⅷ",
        "²",
        "\ud800",
    ),
]
_LEAVES = ["a", "ab", "a b", "a-b", "b9", "x", "a_b", "e"]


def texts(rng: random.Random, number: int) -> list[str]:
    """Half of them hold nothing that only FTS5 can tell."""
    plain = [letter for letter in _LETTERS if "\u0301" not in letter and letter != "\u0308"]
    return ["".join(rng.choices((plain, _LETTERS)[at % 2], k=rng.randrange(40))) for at in range(number)]


def test_as_many_words_are_counted_as_fts5_puts_into_its_index() -> None:
    said = texts(random.Random(SEED), 3_000)
    said += ["漢字 " * 50 + "".join(map(chr, range(0x4E00, 0x4F00))), "", "\u0301", "\u0301a", "a" * 40_000]
    with closing(Words()) as words:
        words.fill((number, text, "", "") for number, text in enumerate(said))
        lengths = words.lengths()
    assert [number_of_words(text) for text in said] == [lengths[number] for number in range(len(said))]


def test_every_character_is_taken_for_what_fts5_takes_it_for() -> None:
    chars = [chr(code) for code in range(0x80, 0x30000) if not 0xD800 <= code < 0xE000]
    said = ["".join(f" x{char}x {char}" for char in chars[at : at + 50]) for at in range(0, len(chars), 50)]
    with closing(Words()) as words:
        words.fill((number, text, "", "") for number, text in enumerate(said))
        lengths = words.lengths()
    assert [number_of_words(text) for text in said] == [lengths[number] for number in range(len(said))]


def test_words_are_counted_as_fts5_counts_them_where_they_are_counted_at_all() -> None:
    rng = random.Random(SEED)
    told = left = 0
    for text in _LEAVES:
        leaf = Leaf(text, rng.choice(list(Form)))
        counter = Counter([leaf], UNICODE)
        said, names = texts(rng, 400), texts(rng, 400)
        rows = [Row(number, "s", "tool", 0, *each, "") for number, each in enumerate(zip(said, names, strict=True))]
        with closing(Words()) as words:
            words.fill((row.id, row.said, row.name, row.calls) for row in rows)
            expected = words.counts(leaf)
        for row in rows if counter.able else ():
            counts = counter.counts(row)
            if counts is None:
                left += 1
            else:
                assert counts.get(leaf) == expected.get(row.id), (leaf, row)
                told += leaf in counts
    assert told > 200
    assert left > 200


def test_a_judge_makes_no_table_for_words_that_can_be_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        Row(1, "s", "tool", 0, "harbour lights, harbour — ✓ naïve café", "terminal", ""),
        Row(2, "s", "tool", 0, "lights harbour", "harbour", ""),
        Row(3, "s", "tool", 0, "nothing", "", ""),
    ]
    tree = And((Leaf("harbour lights", Form.PHRASE), Leaf("cafe")))
    expected = Judge(tree, tokenizer="unicode61 tokenchars '_'").judge(rows)
    number_of_words(rows[0].said)
    Judge(tree, tokenizer=UNICODE).judge(rows)  # FTS5 is asked for characters that are new
    monkeypatch.setattr(judging, "Words", None)
    verdicts = Judge(tree, tokenizer=UNICODE).judge(rows)
    assert verdicts == expected
    assert verdicts[1].counts == (1, 1)
    assert verdicts[1].length == 6
    assert verdicts[1].whole
