"""What is typed into a query box, and what it is taken for."""

from __future__ import annotations

import random
import re
import sqlite3
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_tui.domain import querytrees
from hermes_tui.domain.querytext import ParsedQuery, parse_query
from hermes_tui.domain.querytrees import And, Form, Leaf, Node, Or, Without, leaves
from hermes_tui.errors import BadQuery
from hermes_tui.storage.fts import column, express

PRESENT = 1_780_000_000.0


def parse(text: str, typing_at: int | None = None) -> ParsedQuery:
    return parse_query(text, present=PRESENT, typing_at=typing_at)


def shown(node: Node | None) -> str:
    """A tree on one line: `a & b`, `a | b`, `a - b`, phrases quoted, prefixes starred, what is typed with `~`."""
    if node is None:
        return ""
    if isinstance(node, Leaf):
        text = f'"{node.text}"' if node.form is Form.PHRASE else node.text
        return text + ("*" if node.form is Form.PREFIX else "") + ("~" if node.typing else "")
    if isinstance(node, Without):
        return f"({shown(node.base)} - {shown(node.barred)})"
    return f"({(' & ' if isinstance(node, And) else ' | ').join(map(shown, node.children))})"


def test_what_is_written_without_blanks_is_told_without_an_expression(monkeypatch: pytest.MonkeyPatch) -> None:
    """To compile one of so many characters takes longer than most queries."""
    expected = re.compile(f"[{querytrees._CJK}]")
    monkeypatch.setattr(re, "_compile", lambda *_: pytest.fail("an expression was compiled"))
    querytrees._has_cjk.cache_clear()
    every = [char for char in map(chr, range(0x110000)) if not char.isascii()]
    assert [*filter(querytrees.has_cjk, every)] == [*filter(expected.match, every)]
    assert querytrees.has_cjk("deploy 部署")
    assert not querytrees.has_cjk("café")
    assert not querytrees.has_cjk("")


@pytest.mark.parametrize(
    ("typed", "taken"),
    [
        ("docker deployment", "(docker & deployment)"),
        ('"exact phrase"', '"exact phrase"'),
        ("docker OR kubernetes", "(docker | kubernetes)"),
        ("python NOT java", "(python - java)"),
        ("deploy*", "deploy*"),
        ("chat-send", "chat-send"),
        ("my-app.config.ts", "my-app.config.ts"),
        ("TODO: fix", "(TODO & fix)"),
        ("deploy *prod", "(deploy & prod)"),
        ("AND leading", "leading"),
        ('"unterminated', "unterminated"),
        ("docker OR", "docker"),
        ("docker AND AND compose", "(docker & compose)"),
        ("docker AND OR kubernetes", "(docker & kubernetes)"),
        ("python AND NOT java", "(python - java)"),
        ("python OR NOT java", "(python - java)"),
        ("a b NOT c", "((a & b) - c)"),
        ("a NOT b c", "(a - (b & c))"),
        ("a NOT b NOT c", "(a - (b | c))"),
        ("a AND b NOT c", "(a & (b - c))"),
        ("a b OR c AND d", "((a & b) | (c & d))"),
        ("a and b or not c", "(a & and & b & or & not & c)"),
        ("NEAR me", "(NEAR & me)"),
        ("-word", "word"),
        (".NET", "NET"),
        ("`x`", "x"),
        ("C++", "C"),
        ("#123", "123"),
        ("don't stop", "((don & t) & stop)"),
        ("a@b", "(a & b)"),
        ("/etc/nginx/nginx.conf", "(etc & nginx & nginx.conf)"),
        ("https://x.example/a?b=c", "(https & x.example & a & b & c)"),
        ("(foo OR bar)", "(foo | bar)"),
        ("foo/AND/bar", "(foo & AND & bar)"),
        ("de**", "de*"),
        ("de*ploy", "(de* & ploy)"),
        ('"a b"*', "a b*"),
        ('foo"bar baz"qux', '(foo & "bar baz" & qux)'),
        ("修改youer服务端", "修改youer服务端"),
        ("数据库，部署。", "(数据库 & 部署)"),
        ("cafe\u0301", "cafe\u0301"),
        ("foo\x00bar\x07baz", "(foo & bar & baz)"),
        ("foo\ud800bar", "(foo & bar)"),
        ("one\u3000two\u00a0three", "(one & two & three)"),
        ("source:cli deploy", "deploy"),
        ("source: cli", "(source & cli)"),
        ("http:x and nokey:y", "((http & x) & and & (nokey & y))"),
    ],
)
def test_what_is_typed_is_taken_for(typed: str, taken: str) -> None:
    assert shown(parse(typed).expression) == taken


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("", "nothing to search for"),
        (" \t\n\x00", "nothing to search for"),
        ("AND", "only operators"),
        ("OR OR", "only operators"),
        ('"', "only punctuation"),
        ("-- ... !!", "only punctuation"),
        ('""', "only punctuation"),
        ("*", "only punctuation"),
        ("NOT docker", "must not occur"),
        ("AND NOT docker", "must not occur"),
        ("NOT a OR NOT b", "must not occur"),
        ("after:2026-13-01", "'2026-13-01'"),
        ("before:soon x", "'soon'"),
        ("after:2026-02-02 before:2026-02-01", "no time in between"),
        ("after:today before:today", "no time in between"),
        ("messages:many", "'many'"),
        ("messages:>50 messages:<5", "no number in between"),
        ("is:open", "'open'"),
        ("role:robot", "'robot'"),
        ("-role:robot", "'robot'"),
    ],
)
def test_what_cannot_be_read_says_why(typed: str, why: str) -> None:
    with pytest.raises(BadQuery) as raised:
        parse(typed)
    assert why in raised.value.reason
    assert raised.value.query == typed


@pytest.mark.parametrize(
    ("typed", "at", "taken"),
    [
        ("depl", 4, "depl~"),
        ("de", 2, "de"),
        ("depl foo", 4, "(depl~ & foo)"),
        ("depl foo", 8, "(depl & foo~)"),
        ("depl foo", 5, "(depl & foo)"),
        ("sp_new", 6, "sp_new~"),
        ("sp_ne", 5, "sp_ne"),
        ("deploy*", 7, "deploy*"),
        ('"deploy pos"', 11, '"deploy pos"'),
        ('"deploy pos', 11, "(deploy & pos~)"),
        ("source:tele", 11, ""),
        ("a NOT depl", 10, "(a - depl~)"),
        ("x/depl", 6, "(x & depl~)"),
        ("deploy.", 7, "deploy"),
    ],
)
def test_the_word_at_the_cursor_is_the_beginning_of_one_from_its_third_letter_on(
    typed: str, at: int, taken: str
) -> None:
    assert shown(parse(typed, at).expression) == taken


def test_words_are_what_a_transcript_lights_up() -> None:
    parsed = parse('deploy "two words" -tool:terminal foo* NOT bar title:x')
    assert parsed.words == ("deploy", "two words", "foo")
    assert parsed.plain == 'deploy "two words" foo* NOT bar'


def test_every_part_that_can_be_given_up_knows_its_place() -> None:
    text = 'title:"my plan" deploy "two words" a@b -is:live'
    assert [(piece.text, piece.filter) for piece in parse(text).pieces] == [
        ('title:"my plan"', True),
        ("-is:live", True),
        ("deploy", False),
        ('"two words"', False),
        ("a@b", False),
    ]
    assert all(text[piece.start : piece.end] == piece.text for piece in parse(text).pieces)


@pytest.fixture(scope="module")
def fts() -> sqlite3.Connection:
    conn = sqlite3.connect(":memory:")
    conn.execute("create virtual table t using fts5(content, tool_name, tool_calls)")
    conn.execute("create virtual table i using fts5(content)")
    conn.execute("create virtual table g using fts5(content, tokenize='trigram')")
    return conn


def never_raises(fts: sqlite3.Connection, text: str) -> None:
    try:
        parsed = parse(text, len(text))
    except BadQuery:
        return
    if parsed.expression is None:
        return
    expression = express(parsed.expression)
    for table in "tig":
        fts.execute(f"select rowid from {table} where {table} match ?", (expression,)).fetchall()
        fts.execute(f"select rowid from {table} where {table} match ?", (column(expression),)).fetchall()
    for leaf in leaves(parsed.expression):
        fts.execute("select rowid from t where t match ?", (express(leaf),)).fetchall()


_PIECES = st.one_of(
    st.sampled_from(
        ["AND", "OR", "NOT", "NEAR", "NEAR(", '"', "*", "^", "-", "+", ":", "(", ")", "{", "}", "'", "\\"]
    ),
    st.sampled_from(["source:", "-tool:", "after:7d", "title:", "is:live", "content:", "rowid", "\x00", "\ud800"]),
    st.text(st.characters(exclude_categories=[]), max_size=8),
    st.text(string.punctuation + " ab漢字", max_size=12),
)


@given(st.lists(_PIECES, max_size=12), st.sampled_from(["", " "]))
@settings(max_examples=600, deadline=None)
def test_fts5_never_raises(fts: sqlite3.Connection, pieces: list[str], between: str) -> None:
    never_raises(fts, between.join(pieces))


@pytest.mark.parametrize(
    "unit",
    ['"', 'a"', 'title:"', "a ", "NOT ", "a NOT ", "a OR b ", "-", "source:", "x", "é", "title:,", "*a", ".", "漢，"],
)
def test_a_paste_of_50_kilobytes_is_read(fts: sqlite3.Connection, unit: str) -> None:
    never_raises(fts, (unit * 50_000)[:50_000])


def test_a_paste_of_twice_the_length_takes_no_more_than_its_share() -> None:
    """Not one of the parts of the reader may look again at what it has read: as many leaves come out as go in."""
    rng = random.Random()
    for number in (500, 4_000):
        words = ["".join(rng.choices(string.ascii_lowercase, k=6)) for _ in range(number)]
        tree = parse(" ".join(words)).expression
        assert tree is not None
        assert [leaf.text for leaf in leaves(tree)] == words


def test_operators_inside_a_phrase_and_in_lower_case_are_words() -> None:
    assert isinstance(parse('"a OR b"').expression, Leaf)
    assert not isinstance(parse("a or b").expression, Or)


@pytest.mark.parametrize(
    ("typed", "words", "wanted", "barred"),
    [
        ("fig NOT source:cron", ("fig",), "", "source"),
        ("NOT source:cron fig", ("fig",), "", "source"),
        ("fig AND NOT source:cron nut", ("fig", "nut"), "", "source"),
        ('NOT title:"a b"', (), "", "title"),
        ("fig NOT -source:cron", ("fig",), "source", ""),
        ("fig NOT nut source:cron", ("fig",), "source", ""),
        ('fig "NOT" source:cron', ("fig", "NOT"), "source", ""),
    ],
)
def test_not_before_a_filter_word_negates_it(typed: str, words: tuple[str, ...], wanted: str, barred: str) -> None:
    read = parse(typed)
    assert read.words == words
    assert [*read.filters.wanted] == [*filter(None, [wanted])]
    assert [*read.filters.barred] == [*filter(None, [barred])]


def test_a_filter_word_is_given_up_together_with_its_not() -> None:
    piece = next(each for each in parse("fig NOT source:cron nut").pieces if each.filter)
    assert (piece.start, piece.text) == (4, "NOT source:cron")
