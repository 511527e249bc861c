"""What the help tells: everything that can be typed, in lines that fit."""

from __future__ import annotations

from hermes_tui.domain.filters import KEYS, MARKS
from hermes_tui.widgets.helping import FILTERS, help_lines


def test_every_filter_and_every_mark_is_told() -> None:
    told = " ".join(written for written, _ in FILTERS).split()
    assert {f"{key}:" for key in KEYS} <= set(told)
    assert {word for written, text in FILTERS if written == "is:" for word in text.split()} == set(MARKS)


def test_two_columns_fit_a_wide_terminal() -> None:
    """As wide as the panel is on a terminal of 120 columns."""
    assert len(help_lines("browse", "", {}, 102)) < len(help_lines("browse", "", {}, 60)) - 20
