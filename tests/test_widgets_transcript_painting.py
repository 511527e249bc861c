"""Rows as strips: exactly as wide as the page, and every cell leads the mouse to its place in the text."""

from __future__ import annotations

import random

import pytest
from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip

from hermes_tui.widgets.transcript.markdown import Page, set_text
from hermes_tui.widgets.transcript.painting import Brush, paint, scrolled
from hermes_tui.widgets.transcript.rows import GUTTER, Row, Run, measure, row

MARKS: dict[str, Style] = {}


def style(ink: str, ground: str) -> Style:
    """A style that says which ink and ground it is."""
    return MARKS.setdefault(f"{ink}/{ground}", Style(meta={"ink": ink, "ground": ground}))


def brush(width: int, **changes: object) -> Brush:
    return Brush(style, width, **changes)  # type: ignore[arg-type]  # fields by name


def grounds(strip: Strip) -> str:
    """One letter per cell: r on raised ground, `.` on the page."""
    return "".join(("r" if (seg.style and seg.style.meta.get("ground")) else ".") * seg.cell_length for seg in strip)


def rows_of(text: str, width: int, **page: object) -> list[Row]:
    return list(set_text(text, Page(width, **page)))  # type: ignore[arg-type]  # fields by name


@pytest.mark.parametrize("width", [30, 31, 57, 120])
def test_every_strip_is_as_wide_as_the_page(width: int) -> None:
    chance = random.Random(width)
    pieces = ["word", "桂林", "👨‍👩‍👧‍👦", "❄️", "é", "\t", "`code`", "**b**", "https://a.example/x"]
    text = "\n".join(" ".join(chance.choices(pieces, k=chance.randint(0, 40))) for _ in range(40))
    text += "\n\n| a | 桂 |\n|--|--|\n| " + "wide " * 40 + " | 林 |\n\n```py\n" + "x = '桂' " * 30 + "\n```"
    for each in rows_of(text, width):
        for shift in (0, 1, 7, 400):
            for current in (False, True):
                strip = paint(each, brush(width, shift=shift, current=current))
                assert strip.cell_length == width
                assert sum(cell_len(segment.text) for segment in strip) == width


def test_the_bar_stands_in_the_first_cell_and_moves_nothing() -> None:
    (each,) = rows_of("text", 40)
    plain, current = paint(each, brush(40)), paint(each, brush(40, current=True))
    assert current.text == "▌" + plain.text[1:]


def test_a_prompt_is_raised_over_the_full_width_but_for_the_last_cell_and_code_from_the_eighth() -> None:
    (prompt,) = rows_of("text", 40, ground="raised")
    assert grounds(paint(prompt, brush(40))) == "r" * 39 + "."
    (code,) = rows_of("```py\nx\n```", 40)
    strip = paint(code, brush(40))
    assert grounds(strip) == "." * (GUTTER - 1) + "r" * (40 - GUTTER) + "."
    assert strip.text.rstrip().endswith("py")


def test_a_wide_block_is_cut_with_a_mark_and_scrolls() -> None:
    runs: tuple[Run, ...] = (("abcdef", "soft", 10), ("ghij", "code", 16))
    assert "".join(run[0] for run in scrolled(runs, 0, 20)) == "abcdefghij"
    assert "".join(run[0] for run in scrolled(runs, 0, 6)) == "abcde…"
    assert "".join(run[0] for run in scrolled(runs, 3, 5)) == "…efg…"
    assert "".join(run[0] for run in scrolled(runs, 5, 20)) == "…ghij"
    assert [run[2] for run in scrolled(runs, 3, 5)][1] == 14
    assert "".join(run[0] for run in scrolled(runs, 50, 5)) == "…"


@pytest.mark.parametrize("seed", range(5))
def test_no_cut_leaves_more_than_there_is_room_for(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(200):
        text = "".join(chance.choices(["a", "桂", "é", "❄️", " "], k=chance.randint(1, 30)))
        shift, room = chance.randint(0, 30), chance.randint(2, 20)
        out = scrolled(((text, "soft", 0),), shift, room)
        assert measure(out) <= room, (text, shift, room)


def test_the_match_one_is_at_is_drawn_otherwise() -> None:
    each = row([(" " * GUTTER, "ink", -1), ("hit", "match", 0)], 0)
    for now, ink in ((False, "match"), (True, "now")):
        strip = paint(each, brush(40, now=now))
        assert [segment.style.meta["ink"] for segment in strip if segment.text == "hit" and segment.style] == [ink]


def test_the_current_link_has_a_ground_of_its_own() -> None:
    page = Page(60)
    (each,) = set_text("see [one](https://a.example) and https://b.example", page)
    start, end, _ = page.links[1]
    strip = paint(each, brush(60, link=(start, end)))
    lit = [segment.text for segment in strip if segment.style and segment.style.meta.get("ground") == "cursor"]
    assert lit == ["https://b.example"]


def offsets(strip: Strip) -> list[tuple[int, int]]:
    """For each cell, where the mouse lands."""
    found: list[tuple[int, int]] = []
    for segment in strip:
        place = segment.style.meta.get("offset") if segment.style else None
        if place is not None:
            found += [(place[0] + i, place[1]) for i in range(len(segment.text))]
    return found


def test_every_cell_leads_to_its_place_in_the_text() -> None:
    text = "**one** two\n\n| a | b |\n|---|---|\n| long cell | x |"
    for each in rows_of(text, 60):
        places = offsets(paint(each, brush(60, number=7)))
        assert {number for _, number in places} == {7}
        spots = [spot for spot, _ in places]
        assert spots == sorted(spots)
        assert spots[:GUTTER] == [each[7]] * GUTTER
    first = offsets(paint(rows_of(text, 60)[0], brush(60, number=0)))
    assert [text[spot] for spot, _ in first[GUTTER : GUTTER + 7]] == list("one two")
    assert first[-1][0] == len("**one** two")


def test_what_is_selected_is_tinted_and_nothing_else() -> None:
    (each,) = rows_of("**one** two", 60)
    tint = Style(reverse=True)
    strip = paint(each, brush(60, selected=(3, 9), tint=tint))
    assert "".join(segment.text for segment in strip if segment.style and segment.style.reverse) == "ne t"
    strip = paint(each, brush(60, selected=(8, -1), tint=tint))
    assert "".join(segment.text for segment in strip if segment.style and segment.style.reverse) == "two"


def test_letters_stand_for_glyphs_where_only_letters_can_be_trusted() -> None:
    each = row([(" 12:00 ", "quiet", -1), ("◆", "good", -1), (" ", "ink", -1), ("▸ x", "soft", 0)], 0)
    assert paint(each, brush(30, ascii_only=True, current=True)).text.rstrip() == ">12:00 + + x"
