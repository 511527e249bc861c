"""Rows of the list: which columns fit, and that they stand where they should (R38)."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from rich.cells import cell_len

from hermes_tui.domain.sessions import Conversation, Details, Order, Status
from hermes_tui.widgets.conversations import ListStyle, columns, head_line, row_line
from hermes_tui.widgets.ink import ASCII, measure
from hermes_tui.widgets.wording import fit_place, mark_part, number, states
from tests import values

ODD = [
    "中文标题测试",
    "한국어",
    "👨‍👩‍👧‍👦 fam",
    "❄️ VS16",
    "e\u0301 combining",
    "plain",
    "🇩🇪 flag",
    "👍🏽 tone",
    "\u200d",
    "ｆｕｌｌ",
]


def names(width: int) -> list[str]:
    return [column.name for column in columns(width, ListStyle())]


def drawn(row: Conversation, width: int, style: ListStyle, *, on: bool = False) -> str:
    """A row as it is laid out, before anything is cut off it."""
    return row_line(row, width, style, on=on).text


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (36, ["active"]),
        (59, ["active"]),
        (60, ["source", "msgs", "active"]),
        (89, ["source", "msgs", "active"]),
        (90, ["workspace", "source", "msgs", "active"]),
        (111, ["workspace", "source", "msgs", "active"]),
        (112, ["workspace", "model", "source", "msgs", "active"]),
    ],
)
def test_columns_come_with_the_room_for_them(width: int, expected: list[str]) -> None:
    assert names(width) == expected


@pytest.mark.parametrize("width", [36, 70, 100, 140])
@pytest.mark.parametrize("order", list(Order))
def test_the_column_of_the_order_is_there_at_any_width_and_carries_the_arrow(width: int, order: Order) -> None:
    shown = {Order.ACTIVE: "active", Order.STARTED: "started", Order.MESSAGES: "msgs"}
    name = shown.get(order, "conversation" if order is Order.TITLE else order.value)
    up, down = ("↓", "↑") if order is Order.TITLE else ("↑", "↓")
    assert f"{name} {down}" in head_line(width, ListStyle(order=order)).text
    assert f"{name} {up}" in head_line(width, ListStyle(order=order, reverse=True)).text


@pytest.mark.parametrize("width", [36, 60, 90, 112, 160])
def test_with_several_profiles_every_row_says_which_is_its_own(width: int) -> None:
    style = ListStyle(values.NOW, profiles=True)
    row = values.conversation("a", "title", profile="work")
    assert "work" in drawn(row, width, style)
    assert "profile" in head_line(width, style).text


@pytest.mark.parametrize("width", [36, 61, 90, 112, 160])
@pytest.mark.parametrize("on", [False, True])
def test_columns_start_at_the_same_cell_whatever_the_title_is_made_of(width: int, on: bool) -> None:
    rng = random.Random(width)
    style = ListStyle(values.NOW)
    titles = [*ODD, *("".join(rng.choice(ODD) for _ in range(rng.randrange(1, 30))) for _ in range(60))]
    for title in titles:
        line = row_line(values.conversation("a", title, hours=30), width, style, on=on)
        assert measure((*line.left, *line.right)) == width, title
        before = line.text[: line.text.rindex("yesterday")]
        assert cell_len(before) == width - 10, title
    assert cell_len(head_line(width, style).text) in (width - 1, width)


def test_a_cut_title_is_never_cut_inside_a_wide_character_or_a_cluster() -> None:
    for width in range(36, 60):
        text = drawn(values.conversation("a", "中文标题测试" * 9), width, ListStyle(values.NOW))
        assert "…" in text
        family = drawn(values.conversation("a", "👨‍👩‍👧‍👦" * 30), width, ListStyle(values.NOW))
        assert not family.split("…")[0].endswith("\u200d")


def test_segments_are_counted_after_the_title_and_never_cut() -> None:
    row = values.conversation("c", "Refactoring the whole of authentication again #3", segment_ids=("a", "b", "c"))
    text = drawn(row, 60, ListStyle(values.NOW))
    assert "… §3 " in text
    assert "… §3 hidden " in drawn(row._replace(hidden=True), 60, ListStyle(values.NOW))
    assert "#3" not in text
    assert "#4" in drawn(row._replace(title="Bug #4"), 60, ListStyle(values.NOW))


def test_numbers_are_exact_where_they_are_known_and_never_too_wide() -> None:
    row = values.conversation("a", "t", stored_messages=9)
    style = ListStyle(values.NOW, details={row.key: Details(None, 1_204, Status.COMPLETE)})
    assert "  1,204  " in drawn(row, 80, style)
    assert [number(n) for n in (0, 9_999, 12_345, 999_999, 25_000_000)] == ["0", "9,999", "12k", "1.0M", "25M"]


@pytest.mark.parametrize("on", [False, True])
def test_a_number_that_nobody_has_counted_yet_looks_so_and_nothing_else_does(on: bool) -> None:
    row = values.conversation("a", "t", stored_messages=138)
    unsure, plain = ListStyle(values.NOW), ListStyle(values.NOW, plain=True)
    sure = ListStyle(values.NOW, details={row.key: Details(None, 138, Status.COMPLETE)})
    before, after = row_line(row, 80, unsure, on=on), row_line(row, 80, sure, on=on)
    assert before.text == after.text
    assert [each for each in before.left if each not in after.left] == [("  138", "unsure")]
    assert " 138… " in row_line(row, 80, plain, on=on).text
    assert "…" not in row_line(row, 80, replace(plain, details=sure.details), on=on).text
    assert "  12k… " in row_line(row._replace(stored_messages=12_345), 80, plain, on=on).text
    assert "   1k… " in row_line(row._replace(stored_messages=1_204), 80, plain, on=on).text


@pytest.mark.parametrize(
    ("changes", "status", "mark"),
    [
        ({"live": True, "pinned": True, "archived": True}, Status.ERROR, "◉"),
        ({"pinned": True, "archived": True}, Status.ERROR, "✗"),
        ({"pinned": True}, Status.INTERRUPTED, "◐"),
        ({"pinned": True, "archived": True}, Status.COMPLETE, "★"),
        ({"archived": True, "empty": True}, Status.EMPTY, "▫"),
        ({"empty": True}, Status.EMPTY, "○"),
        ({}, Status.COMPLETE, " "),
        ({}, Status.UNKNOWN, " "),
    ],
)
def test_a_row_has_one_mark_the_most_urgent(changes: dict[str, bool], status: Status, mark: str) -> None:
    row = values.conversation("a", "t", **changes)
    assert mark_part(row, Details(None, 1, status))[0] == mark


def test_what_is_special_is_said_in_words() -> None:
    row = values.conversation("a", "t", archived=True, hidden=True, live=True)
    assert states(row, Details(None, 1, Status.INTERRUPTED)) == ["live now", "archived", "hidden"]


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ("~/code/app", "~/code/app     "),
        ("/home/ada/code/images", "…/code/images  "),
        ("/averyveryverylongfolder", "…verylongfolder"),
        ("/home/ada/日本語/x", "…/ada/日本語/x "),
    ],
)
def test_a_workspace_keeps_its_end_and_breaks_between_folders(place: str, shown: str) -> None:
    assert fit_place(place, 15) == shown
    assert cell_len(shown) == 15


def test_every_glyph_has_a_letter_of_one_cell() -> None:
    for glyph, letter in ASCII.items():
        assert isinstance(letter, str)
        assert letter.isascii()
        assert len(letter) == 1 == cell_len(chr(glyph))
