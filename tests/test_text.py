"""Stored text is made safe to show; JSON stays faithful."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tui import text

ESC = "\x1b"
HOSTILE = {
    "colours": f"{ESC}[31mred{ESC}[0m",
    "a title": f"{ESC}]0;owned\x07",
    "the clipboard": f"{ESC}]52;c;cHduZWQ=\x07",
    "C1 codes": "\x9b31m and \x9d0;t\x9c",
    "deletes": "abc\x08\x08\x7f",
    "NULs": "a\x00b",
    "right to left": "\u202egpj.exe\u202c \u2066x\u2069 \u061c",
    "half characters": "\ud83d and \udc00",
    "invisible ones": "\u200b\u2060\ufeff\u00ad\u2063",
    "tags": "a\U000e0041\U000e0042\U000e007f",
}
any_text = st.text(st.characters(codec=None, exclude_categories=()), max_size=60) | st.text(
    st.sampled_from("\r\n\t \x1b\x00\x9b\u202e\u2028\ufeff\ud800a[]🏴\U000e0067\U000e007f"), max_size=40
)


def acts_on_a_terminal(char: str) -> bool:
    """Controls, surrogates, private direction marks: by Unicode's own categories, not by the program's list."""
    category = unicodedata.category(char)
    return (
        category in ("Cc", "Cs", "Cf", "Zl", "Zp") and char not in "\n\t\u200c\u200d"
    ) or "\u2028" <= char <= "\u2029"


@pytest.mark.parametrize("kind", HOSTILE)
def test_nothing_that_acts_on_a_terminal_stays(kind: str) -> None:
    shown = text.clean(HOSTILE[kind])
    assert not [char for char in shown if acts_on_a_terminal(char)]
    assert len(shown) == len(HOSTILE[kind])


@given(any_text)
def test_cleaning_keeps_length_and_removes_every_control(stored: str) -> None:
    shown = text.clean(stored)
    assert len(shown) == len(stored)
    assert not [char for char in shown if unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\t"]
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u2028\u2029")
    assert text.clean(shown) == shown
    shown.encode("utf-8")


@pytest.mark.parametrize(
    "kept",
    [
        "plain",
        "tabs\tand\nlines",
        "naïve Übergröße",
        "桂林旅行计划",
        "👩‍👩‍👧‍👦",
        "❤️‍🔥",
        "🏴󠁧󠁢󠁳󠁣󠁴󠁿 flag",
        "e\u0301",
        "[bold]x[/]",
    ],
)
def test_what_people_write_stays(kept: str) -> None:
    assert text.clean(kept) == kept


def test_carriage_returns_become_lines() -> None:
    assert text.clean("one\r\ntwo\rthree") == "one \ntwo\nthree"


class TestOneLine:
    def test_whitespace_is_folded(self) -> None:
        assert text.one_line("  a\n\n b\t c  ") == "a b c"

    def test_a_cut_is_marked(self) -> None:
        assert text.one_line("abcdefghij", 5) == "abcd…"
        assert text.one_line("abcde", 5) == "abcde"
        assert text.one_line("abc  defgh", 5) == "abc…"

    def test_a_long_run_of_blanks_hides_nothing(self) -> None:
        assert text.one_line("\n" * 10_000 + "first words", 20) == "first words"
        assert text.one_line("first" + " " * 10_000 + "last", 20) == "first…"
        assert text.one_line("first" + " " * 10_000, 20) == "first"

    @given(any_text, st.integers(2, 30))
    def test_never_longer_and_never_two_lines(self, stored: str, limit: int) -> None:
        line = text.one_line(stored, limit)
        assert len(line) <= limit
        assert "\n" not in line
        assert line == line.strip()


class TestJson:
    @given(st.dictionaries(any_text, any_text, max_size=4))
    def test_it_reads_back_as_it_was(self, value: dict[str, str]) -> None:
        written = text.to_json(value)
        assert json.loads(written) == value
        written.encode("utf-8")

    @pytest.mark.parametrize("kind", HOSTILE)
    def test_hostile_characters_are_written_as_escapes(self, kind: str) -> None:
        written = text.to_json([HOSTILE[kind]], indent=None)
        assert not [char for char in written if acts_on_a_terminal(char)]

    def test_people_s_words_stay_readable(self) -> None:
        assert text.to_json("桂林 naïve 👍", indent=None) == '"桂林 naïve 👍"'

    def test_there_is_no_nan(self) -> None:
        with pytest.raises(ValueError, match="not JSON compliant"):
            text.to_json({"at": float("nan")})


def test_half_characters_are_storable() -> None:
    assert text.storable("a\ud83db").encode("utf-8") == b"a?b"


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0, "0"),
        (999, "999"),
        (1_000, "1k"),
        (182_400, "182k"),
        (999_499, "999k"),
        (999_500, "1.0M"),
        (1_240_000, "1.2M"),
    ],
)
def test_tokens_are_short(number: int, shown: str) -> None:
    assert text.short(number) == shown


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_200, "1.2 KB"),
        (9_949, "9.9 KB"),
        (10_000, "10 KB"),
        (999_499, "999 KB"),
        (999_600, "1.0 MB"),
        (3_400_000, "3.4 MB"),
        (5_000_000_000_000, "5000 GB"),
    ],
)
def test_sizes_are_short(size: int, shown: str) -> None:
    assert text.size(size) == shown


def test_counts_agree_with_their_noun() -> None:
    assert text.count(1, "message") == "1 message"
    assert text.count(1_204, "message") == "1,204 messages"
    assert text.count(2, "match", "matches") == "2 matches"
