"""Markdown as rows: what a reader sees of headings, lists, tables, code, links, and of text that means harm."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from rich.cells import cell_len

from hermes_tui.text import clean
from hermes_tui.widgets.transcript import markdown
from hermes_tui.widgets.transcript.inline import Inline
from hermes_tui.widgets.transcript.lights import Lights, pattern_of
from hermes_tui.widgets.transcript.markdown import Page, code_blocks, plain_lines, set_text
from hermes_tui.widgets.transcript.rows import GUTTER, Row, Run, cuts, measure, text_of, wrap


def rows_of(text: str, width: int = 80, words: str = "") -> list[Row]:
    pattern = pattern_of(words)
    page = Page(width, lights=Lights(pattern, text) if pattern else None)
    return list(set_text(text, page))


def said(text: str, width: int = 80) -> list[str]:
    """Each row without gutter and filling blanks."""
    return [text_of(row)[GUTTER:].rstrip() for row in rows_of(text, width)]


def inks(text: str, width: int = 80) -> dict[str, str]:
    """Words → ink, of all runs."""
    return {run[0].strip(): run[1] for row in rows_of(text, width) for run in row[0] if run[0].strip()}


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("plain", ["plain"]),
        ("one\ntwo", ["one", "two"]),  # a line break stays where it was typed
        ("one\n\n\n\ntwo\n\n", ["one", "", "two"]),
        ("# Title\ntext", ["Title", "text"]),
        ("###### Deep #", ["Deep"]),
        ("#hashtag and #include", ["#hashtag and #include"]),
        ("- a\n- b", ["• a", "• b"]),
        ("* a\n  + b\n    1. c", ["• a", "  • b", "    1. c"]),
        ("> said\n> > deeper", ["│ said", "│ │ deeper"]),
        ("a\n---\nb", ["a", "─" * 69, "b"]),
        ("**bold** and *em* and `code` and ~~gone~~", ["bold and em and code and gone"]),
        ("***both*** and **bold *in* it**", ["both and bold in it"]),
        ("`a*b*c` and ``a`b``", ["a*b*c and a`b"]),
        (r"\*not\* and C:\new\_dir", ["*not* and C:\\new_dir"]),
        ("[label](https://example.org/a_(b)) end", ["label end"]),
        ("[file](src/a.py) end", ["file (src/a.py) end"]),
        ("![shot](https://x.example/a.png)", ["[image: shot]"]),
        ("![](data:image/png;base64,iVBORw0KGgoAAAANSUhEUg==)", ["[image]"]),
        ("<https://example.org>.", ["https://example.org."]),
        ("| a | b |\n|---|---|\n| 1 | x |\n| 20 | yy |", [" a   b", "───────", " 1   x", "20   yy"]),
        ("text\n| a |\n|---|\n| é |\nmore", ["text", "", "a", "─", "é", "", "more"]),
        ("| a | b |\n| not a table |", ["| a | b |", "| not a table |"]),
        ("| a \\| b | `c|d` |\n|--|:-:|\n| x | y |", ["a | b   c|d", "───────────", "x       y"]),
        ("```\nx\n```", ["x"]),
        ("- item\n  ```py\n  x = 1\n  ```\n- next", ["• item", "", "x = 1py", "", "• next"]),
        ("```python\nnever closed", ["never closedpython"]),
        ("~~~\n```\n~~~", ["```"]),
    ],
)
def test_it_reads_as_it_was_meant(text: str, rows: list[str]) -> None:
    assert said(text) == rows


@pytest.mark.parametrize(
    "text",
    [
        "[/]",
        "[/some/path] yield from f[b]",
        "[red]hi[/blue]",
        "[link=https://e.example]x[/link]",
        "[bold]x",
        '{"a": [true, false]}',
        "see [b open",
        "array[0]",
        "__init__ and snake_case_name",
        "2*3*4 and x**2 + y**2",
        "a_b_c _ * ** lone",
        "unclosed `code and **bold",
        "foo\\.bar \\d+ \\(x\\)",
        "TODO: fix, a:b",
        "5 > 3 < 7 & <tag>",
        "~/dir and ~5",
    ],
)
def test_what_is_no_markdown_stands_as_it_was_typed(text: str) -> None:
    assert said(text) == [text]


def test_a_table_is_measured_in_cells_and_numbers_stand_right() -> None:
    rows = said("| 名前 | n |\n|---|---|\n| 桂林 | 7 |\n| x | 1,200 |")
    assert rows == ["名前       n", "────────────", "桂林       7", "x      1,200"]
    assert len({cell_len(row) for row in rows}) == 1


def test_code_is_raised_and_its_words_stand_out() -> None:
    text = "```python\ndef f():  # note\n    return 'text', 42\n```"
    rows = rows_of(text)
    assert {row[2] for row in rows} == {"raised"}
    assert {row[3] for row in rows} == {GUTTER - 1}
    seen = inks(text)
    assert seen["def"] == "strong"
    assert seen["# note"] == "code-note"
    assert seen["'text'"] == "code-text"
    assert seen["42"] == "code-number"


def test_a_diff_shows_what_was_added_and_removed() -> None:
    seen = inks("```diff\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same\n```")
    assert seen["-old"] == "bad"
    assert seen["+new"] == "good"
    assert seen["same"] == "soft"


def test_links_are_found_with_where_they_lead() -> None:
    text = "See [docs](https://a.example/x), https://b.example/y. and `@session:work/20261128_120000_abcdef`"
    page = Page(80)
    list(set_text(text, page))
    assert [target for _, _, target in page.links] == [
        "https://a.example/x",
        "https://b.example/y",
        "@session:work/20261128_120000_abcdef",
    ]
    for start, end, _ in page.links:
        assert text[start:end]


_FRAMES = (
    "{}",
    "# {}",
    "### {}",
    "##### **{}**",
    "> {}",
    "> > {}",
    "> # {}",
    "> ### {}",
    "> *{}*",
    "> ### ~~{}~~",
    "> - {}",
)
_LINKS = "https://a.example/x", "<https://a.example>", "[label](https://a.example)", "@session:work/x"


@pytest.mark.parametrize("frame", _FRAMES)
@pytest.mark.parametrize("within", [*_LINKS, "word", "`code`"])
def test_what_stands_in_something_has_the_marks_of_both(frame: str, within: str) -> None:
    found = [ink.partition("+")[2] for ink in inks(frame.format(f"a {within} b")).values()]
    assert all(set(marks) <= set("bius") for marks in found), found
    lit = [marks for marks in found if "u" in marks]
    assert bool(lit) is (within in _LINKS)
    if frame.removeprefix("> ").startswith("### "):
        assert all("b" in marks for marks in lit)
    if frame.startswith(">") and "#" not in frame:
        assert all("i" in marks for marks in lit)


@pytest.mark.parametrize(("opening", "closing"), ["()", "[]", "{}"])
def test_an_address_keeps_the_brackets_that_it_opens(opening: str, closing: str) -> None:
    address = f"https://a.example/x{opening}1{closing}"
    page = Page(80)
    list(set_text(f"See {address}, or {opening}{address}{closing}.", page))
    assert [target for _, _, target in page.links] == [address, address]


def test_every_run_stands_where_it_says() -> None:
    text = "# Head **x**\n- item `code` [l](https://a.example)\n\n| a | b |\n|---|---|\n| 1\t| 桂 |\n\n"
    text += "```py\n\tx = 1\n```\nlast"
    for row in rows_of(text, 40):
        for shown, _, source in row[0]:
            if source >= 0 and shown.strip():
                original = text[source : source + len(shown)]
                assert shown in (original, "•") or original == "\t", (shown, original)


def test_rows_begin_ever_further_on_in_the_text() -> None:
    text = "a\n\n- b\n\n```\nc\n\nd\n```\n\n| x |\n|---|\n| y |\n\n> q\n\n" + "long words " * 60
    places = [row[7] for row in rows_of(text, 50)]
    assert places == sorted(places)


def test_matches_are_lit_across_markup_and_line_ends() -> None:
    rows = rows_of("the token\nrefresh, and **Token** `refresh`", 80, '"token refresh" token')
    lit = [run[0] for row in rows for run in row[0] if run[1] == "match"]
    assert lit == ["token", "refresh", "Token"]


@pytest.mark.parametrize("width", [12, 20, 41, 100])
def test_no_row_of_prose_is_wider_than_there_is_room_for(width: int) -> None:
    chance = random.Random(width)
    alphabet = ["word", "a", "桂林", "レシピ", "👨‍👩‍👧‍👦", "❄️", "é", "averyverylongwordindeed" * 3, " ", "\t", "  "]
    for _ in range(60):
        runs: list[Run] = []
        at = 0
        for _ in range(chance.randint(1, 12)):
            text = "".join(chance.choice(alphabet) for _ in range(chance.randint(1, 6))).replace("\t", " ")
            runs.append((text, "soft", at))
            at += len(text)
        lines = wrap(runs, width)
        for line in lines:
            assert measure(line) <= max(width, 11), line  # a family is one cluster, however narrow the page
        whole = "".join(run[0] for run in runs)
        assert "".join(run[0] for line in lines for run in line).replace(" ", "") == whole.replace(" ", "")


def test_a_wide_character_is_never_halved() -> None:
    assert cuts("桂" * 10, 7) == [3, 6, 9]
    assert cuts("ab 桂桂 cd", 6) == [4]


_HOSTILE: dict[str, Callable[[int], str]] = {
    "brackets": lambda n: "[" * n,
    "bracket pairs": lambda n: "[a](" * (n // 4),
    "stars": lambda n: "*a " * (n // 3),
    "closers": lambda n: "a** " * (n // 4),
    "openers": lambda n: "**a " * (n // 4),
    "ticks": lambda n: "`" * n,
    "tick pairs": lambda n: "``a" * (n // 3),
    "quotes": lambda n: "> " * (n // 2),
    "bars": lambda n: "|" * n + "\n" + "|-" * (n // 2),
    "dashes": lambda n: "- " * (n // 2) + "x",
    "hashes": lambda n: "# " + "#" * n + " x",
    "blanks": lambda n: "# a" + " " * n + "b",
    "addresses": lambda n: "http://" * (n // 7),
    "sessions": lambda n: "@session:" * (n // 9),
    "underscores": lambda n: "_a_" * (n // 3),
    "data": lambda n: "data:image/png;base64," + "A" * n,
    "fences": lambda n: "```\n" * (n // 4),
    "strings": lambda n: "```js\n" + '"\\' * (n // 2) + "\n```",
    "comments": lambda n: "```c\n" + "/*" * (n // 2) + "\n```",
    "tables": lambda n: "| a |\n|---|\n" + "| b |\n" * (n // 6),
    "one line": lambda n: "word " * (n // 5),
    "one word": lambda n: "w" * n,
    "wide word": lambda n: "桂" * n,
    "tabs": lambda n: "\t" * n,
    "newlines": lambda n: "\n" * n,
    "clusters": lambda n: "👨‍👩‍👧‍👦" * (n // 7),
}


@pytest.mark.parametrize("shape", _HOSTILE)
def test_hostile_text_is_set_to_its_end(shape: str) -> None:
    """A pattern that went back over what it has read would need hours for this."""
    text = clean(_HOSTILE[shape](200_000))
    rows = sum(1 for _ in set_text(text, Page(100)))
    assert rows <= text.count("\n") + 2 + len(text) // 40 * 2


def test_a_long_line_is_broken_piece_by_piece_and_nothing_of_it_is_lost() -> None:
    chance = random.Random(7)
    text = " ".join("x" * chance.randint(1, 12) for _ in range(4_000))
    rows = [text_of(row)[GUTTER:] for row in plain_lines(text, Page(80))]
    assert " ".join(row.strip() for row in rows).split() == text.split()
    assert max(map(len, rows)) <= 69


def test_only_what_is_looked_at_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    real = markdown.set_inline

    def counted(line: str, at: int, ink: str) -> Inline:
        made.append(line)
        return real(line, at, ink)

    monkeypatch.setattr(markdown, "set_inline", counted)
    rows = set_text("one line\n" * 100_000, Page(80))
    for _ in range(40):
        next(rows)
    assert len(made) == 40


def test_code_blocks_are_copied_as_they_were_written() -> None:
    text = "a\n```py\nx\t= 1\n\n```\nb\n  - c\n    ```\n    y\n      z\n    ```\n~~~\nopen"
    assert code_blocks(text) == ["x\t= 1\n", "y\n  z", "open"]
