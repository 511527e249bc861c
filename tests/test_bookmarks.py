"""Bookmarks: kept in a small file of our own, whatever happens to it."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from hermes_tui.bookmarks import Bookmark, Bookmarks

MARK = Bookmark("/h/state.db", "default", "root", 7, "Title [x]", "words \u202e", 5.0)


def test_a_bookmark_is_added_and_taken_away_again(tmp_path: Path) -> None:
    marks = Bookmarks(tmp_path / "new" / "bookmarks.json")
    other = replace(MARK, message_id=8)
    assert marks() == ()
    assert marks.toggle(MARK)
    assert marks.toggle(other)
    assert Bookmarks(marks.path)() == (other, MARK)
    assert not marks.toggle(replace(MARK, title="renamed since"))
    assert marks() == (other,)
    assert stat.S_IMODE(marks.path.stat().st_mode) == 0o600


def test_another_store_has_bookmarks_of_its_own(tmp_path: Path) -> None:
    marks = Bookmarks(tmp_path / "bookmarks.json")
    marks.toggle(MARK)
    assert marks.toggle(replace(MARK, db="/other/state.db"))
    assert len(marks()) == 2


@pytest.mark.parametrize("text", ["", "{", "null", "[1, null, {}]", '[{"db": 1}]', '{"a": []}', "\x00\xff"])
def test_a_file_that_is_damaged_holds_no_bookmarks_and_takes_new_ones(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bookmarks.json"
    path.write_text(text, "utf-8")
    marks = Bookmarks(path)
    assert marks() == ()
    marks.toggle(MARK)
    assert marks() == (MARK,)
    assert json.loads(path.read_text("utf-8"))


def test_where_nothing_can_be_kept_it_says_so(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", "utf-8")
    with pytest.raises(OSError, match="file"):
        Bookmarks(blocked / "bookmarks.json").toggle(MARK)


@pytest.mark.parametrize("at", ["NaN", "1e999", "-5", "1" + "0" * 400, "true", '"5"', "[]", "null"])
def test_a_time_that_makes_no_sense_is_none(tmp_path: Path, at: str) -> None:
    marks = Bookmarks(tmp_path / "bookmarks.json")
    marks.toggle(MARK)
    marks.path.write_text(marks.path.read_text("utf-8").replace("5.0", at), "utf-8")
    assert marks() == (replace(MARK, timestamp=None),)


@pytest.mark.parametrize("number", [-1, 10**30])
def test_a_number_that_no_message_has_is_no_place(tmp_path: Path, number: int) -> None:
    marks = Bookmarks(tmp_path / "bookmarks.json")
    marks.toggle(replace(MARK, message_id=number))
    assert marks() == ()
