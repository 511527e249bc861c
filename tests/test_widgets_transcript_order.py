"""What is written above the messages of a transcript."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from hermes_tui import times
from hermes_tui.domain.messages import Message, SegmentMark, Window
from hermes_tui.widgets.transcript.order import Order, outline_order, window_order
from tests import values

DAY = 86_400.0


@pytest.fixture(autouse=True)
def _noon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_TUI_NOW", str(values.NOW))


def said_at(*talk: tuple[str, float | None]) -> list[Message]:
    """Messages of these roles, at so many days after a noon."""
    noon = times.midnight(values.NOW) + DAY / 2
    return [
        Message(i, "s", role, None if at is None else noon + at * DAY, "text", 4)
        for i, (role, at) in enumerate(talk, 1)
    ]


def days(order: Order) -> dict[int, tuple[str, ...]]:
    return {order.ids[place]: order.seams(place) for place in order.seamed}


def both(messages: Sequence[Message]) -> list[Order]:
    return [outline_order(values.outline(list(messages))), window_order(Window(tuple(messages), 0, 0))]


def test_a_line_tells_where_another_day_begins() -> None:
    talk = said_at(("user", -2.0), ("assistant", -1.9), ("user", -1.0), ("assistant", -0.9), ("user", -1.9))
    before, after = (times.day(message.timestamp or 0.0) for message in (talk[0], talk[2]))
    for order in both(talk):
        assert days(order) == {3: (after,), 5: (before,)}


def test_results_stay_with_their_calls_and_what_has_no_time_is_of_no_day() -> None:
    talk = said_at(
        ("user", 0.0), ("assistant", 0.4), ("tool", 0.6), ("tool", 0.7), ("assistant", None), ("user", 0.8)
    )
    for order in both(talk):
        assert days(order) == {6: (times.day(talk[-1].timestamp or 0.0),)}


def test_the_first_message_is_told_by_the_header() -> None:
    for order in both(said_at(("user", 0.0), ("assistant", 0.1))):
        assert days(order) == {}
    for order in both(said_at(("tool", -3.0), ("user", None), ("user", 0.0), ("user", 0.1))):
        assert days(order) == {}


def test_a_day_stands_above_the_segment_that_begins_with_it() -> None:
    talk = said_at(("user", -1.0), ("user", 0.0))
    marks = (SegmentMark("a", 0, talk[0].timestamp, None), SegmentMark("b", 1, talk[1].timestamp, None))
    order = outline_order(replace(values.outline(talk), segments=marks))
    day, segment = order.seams(1)
    assert day == times.day(talk[1].timestamp or 0.0)
    assert segment.startswith("compacted 12:00 · segment 2 of 2")


def test_a_day_of_another_year_names_it() -> None:
    talk = said_at(("user", -801.0), ("user", -800.0), ("user", 0.0))
    order = outline_order(values.outline(talk))
    assert [said.split()[-1] for said in (*order.seams(1), *order.seams(2))] == ["2024", "Nov"]
