"""What stands around accents must be enough to tell every text that holds a word with accents."""

from __future__ import annotations

import random
from contextlib import closing

from hermes_tui.domain.querytrees import Leaf
from hermes_tui.storage import accents
from hermes_tui.storage.accents import around_accents, beside
from hermes_tui.storage.judging import Words
from hermes_tui.storage.spans import FOLDING
from tests.seeds import SEED

_JUNK = [
    *"abekx",
    "A",
    "9",
    " ",
    " ",
    "-",
    "\n",
    "é",
    "Ế",
    "ü",
    "ø",
    "Å",
    "ǻ",
    "ſ",
    "ß",
    "\u0301",
    "\u0308",
    "\u1dc4",
]
_OTHERS = ["漢", "🧨", "Ж", "—", "\x00", "\u0378", "\u1200"]
_SPELT = {"a": "áÀåǻA", "b": "ḃB", "e": "éẾệE", "k": "ḱǨK", "x": "ẍẊX"}


def accented(rng: random.Random, word: str) -> str:
    """The word as somebody may write it."""
    letters = (rng.choice(_SPELT.get(letter, letter)) if rng.random() < 0.4 else letter for letter in word)
    return "".join(letter + "\u0301" * (rng.random() < 0.2) for letter in letters)


def may_hold(text: str, word: str) -> bool:
    around = around_accents((text + " " * 8_000).encode())  # few, for so long a text
    return around is None or beside([word.encode()]).search(around) is not None


def test_every_character_that_fts5_folds_is_told_by_what_stands_beside_it() -> None:
    chars = [char for char in map(chr, range(0x80, 0x2FFFF)) if not 0xD800 <= ord(char) < 0xE000]
    told = 0
    with closing(Words()) as words:
        words.fill((ord(char), f"ax{char}kb {char}xk xk{char}", "", "") for char in chars)
        for folded in ("x", "", *"abcdefghijklmnopqrstuvwyz0123456789"):
            for word in (f"ax{folded}kb", f"{folded}xk", f"xk{folded}"):
                for number in words.counts(Leaf(word)):
                    char = chr(number)
                    if FOLDING.match(char) and word not in ("xk",):
                        assert may_hold(f"ax{char}kb {char}xk xk{char}", word), (char, word)
                        told += 1
    assert told > 1_000


def test_no_text_that_holds_a_word_with_accents_is_passed_over() -> None:
    rng = random.Random(SEED)
    held = passed = 0
    for number in range(200):
        junk = _JUNK + _OTHERS if number % 2 else _JUNK
        word = "".join(rng.choices("abekx9", k=rng.randrange(1, 6)))
        texts = {}
        for at in range(60):
            before, behind = ("".join(rng.choices(junk, k=rng.randrange(6))) for _ in range(2))
            texts[at] = before + accented(rng, word if at % 2 else word[::-1]) + behind
        with closing(Words()) as words:
            words.fill((at, text, "", "") for at, text in texts.items())
            found = words.counts(Leaf(word))
        for at, text in texts.items():
            if word in text.lower():
                continue
            if at in found:
                assert may_hold(text, word), (text, word)
                held += 1
            else:
                passed += not may_hold(text, word)
    assert held > 300
    assert passed > 1_000


def test_an_accent_that_is_none_of_the_word_does_not_tell_of_it() -> None:
    text = "Zoë, Šimon, Łukasz, Müller: naïve × ½ Ж \u1200 部署 e\u0301t"
    for word in ("zoe", "simon", "muller", "naive", "et", "ull"):
        assert may_hold(text, word), word
    for word in ("lukasz", "zero", "smell", "quokkaflux", "deeptoolite", "task", "values", "bot"):
        assert not may_hold(text, word), word


def test_each_place_is_told_once_however_often_it_comes() -> None:
    once = around_accents(("Müller and Šimon" + " " * 2_000).encode())
    assert once is not None
    assert around_accents(("Müller and Šimon" + " " * 2_000).encode() * 50) == once
    assert once.count(b"\n") == 2


def test_texts_full_of_accents_and_signs_are_left_to_who_reads_all() -> None:
    assert around_accents("é".encode() * 100) is None
    assert around_accents(("\u212a" + " " * 2_000).encode()) is None
    assert around_accents(("— ✓ “”" + " " * 2_000).encode()) == b""
    assert around_accents(b"") == b""


def test_what_is_no_utf8_is_passed_over() -> None:
    for raw in (b"\xc3", b"a\xc3", b"\xc3(", b"\xe1\xbb", b"ab\xe1", b"\xa9\xa9\xa9", b"a\xc3\xa9\xa9\xa9\xa9b"):
        assert around_accents(raw + b" " * 2_000) is not None


def test_fts5_is_asked_for_the_letters_once() -> None:
    letters = accents._letters()
    assert accents._letters() is letters
    assert letters["ü"] == b"u"
    assert letters["\u0301"] == b"\x01"
    assert "ø" not in letters
