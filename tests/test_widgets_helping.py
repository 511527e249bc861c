"""What the help tells: everything that can be typed, in lines that fit."""

from __future__ import annotations

from hermes_tui.domain.filters import KEYS, MARKS
from hermes_tui.keys import PLACES
from hermes_tui.widgets.helping import FILTERS, help_lines, matching, sections


def test_every_filter_and_every_mark_is_told() -> None:
    told = " ".join(written for written, _ in FILTERS).split()
    assert {f"{key}:" for key in KEYS} <= set(told)
    assert {word for written, text in FILTERS if written == "is:" for word in text.split()} == set(MARKS)


def test_back_is_told_of_each_list_as_it_is() -> None:
    """The list of conversations is not gone back from: it is quit, and escape clears its filter."""
    for here in PLACES:
        lists, own = (
            next((section.rows for section in sections(here, {}) if section.name == name), ())
            for name in ("every list", here)
        )
        back = [text for key, text in lists if "esc" in key or "q" in key.split()]
        assert back == ([] if here == "browse" else ["back, but not in browse"])
        assert ("esc", "clear the filter") in own if here == "browse" else True
    browse = next(section.rows for section in sections("search", {}) if section.name == "browse")
    assert {("esc", "clear the filter"), ("q", "quit")} <= set(browse)


def test_two_columns_fit_a_wide_terminal() -> None:
    """As wide as the panel is on a terminal of 120 columns."""
    assert len(help_lines("browse", "", {}, 102)) < len(help_lines("browse", "", {}, 60)) - 20


def test_the_key_that_was_typed_comes_first_and_no_two_lines_are_alike() -> None:
    assert matching("G", {})[0][1] == "G end"
    assert matching("l", {})[0][1] == "l"
    assert [written for _, written in matching("t", {})][:2] == ["t", "T"]
    told = [line.text for line in help_lines("browse", "page", {}, 100)]
    assert len(told) == len(set(told))
    assert len({(key.place, written, key.help) for key, written in matching("page", {})}) == len(matching("page", {}))
    assert {written for key, written in matching("page", {}) if key.help == "page up"} == {"pgup"}
