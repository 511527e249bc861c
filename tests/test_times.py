"""Times are local, absolute ones name their zone, and nonsense shows as nonsense (R44)."""

from __future__ import annotations

import math
import time
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tui import times
from hermes_tui.domain.filterwords import read_moment
from hermes_tui.errors import UsageError
from hermes_tui.screens.finding import moment_of

INSTANT = 1_789_550_806.0
ZONES = {
    "UTC0": 0.0,
    "IST-5:30": 5.5,
    "EST5EDT,M3.2.0,M11.1.0": -4.0,
    "CET-1CEST,M3.5.0,M10.5.0/3": 2.0,
    "<+13>-13": 13.0,
    "<+0545>-5:45": 5.75,
}
"""Zone by its rules, so that no time zone database is needed → hours ahead of UTC at `INSTANT`."""
NEW_YORK = "EST5EDT,M3.2.0,M11.1.0"


def live_in(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()


@pytest.mark.parametrize("zone", ZONES)
def test_every_form_shows_the_same_wall_time(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    live_in(zone, monkeypatch)
    there = datetime.fromtimestamp(INSTANT, timezone(timedelta(hours=ZONES[zone])))
    assert times.clock(INSTANT) == f"{there:%H:%M}"
    assert f"{there.day} {there:%b} {there:%H:%M} " in times.moment(INSTANT, year=False)
    assert f"{there:%Y %H:%M:%S} " in times.moment(INSTANT, seconds=True, year=True)
    iso = times.iso(INSTANT)
    assert iso == there.isoformat(timespec="milliseconds")


@pytest.mark.parametrize("zone", ["UTC+99", "UTC-99"])
def test_a_zone_that_is_a_day_off_counts_as_none(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    live_in(zone, monkeypatch)
    assert times.local(INSTANT).timestamp() == INSTANT
    assert times.ago(INSTANT, INSTANT + 60) == "1m"
    times.midnight(INSTANT)


@pytest.mark.parametrize("hours", [-2, -1, 0, 1, 2])
def test_both_sides_of_a_change_of_clocks_are_told_apart(hours: int, monkeypatch: pytest.MonkeyPatch) -> None:
    live_in(NEW_YORK, monkeypatch)
    change = datetime(2026, 11, 1, 6, tzinfo=UTC).timestamp()
    at = change + 3_600 * hours
    assert times.moment(at).endswith("EDT" if hours < 0 else "EST")
    assert times.clock(at) == f"{(1 if hours >= 0 else 2) + hours:02}:00"


@pytest.mark.parametrize("zone", ZONES)
@given(at=st.floats(86_400 * 400, times.EPOCH_MAX - 86_400 * 400), days=st.integers(-40, 40))
def test_midnight_begins_a_local_day(zone: str, at: float, days: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        live_in(zone, patch)
        start = times.midnight(at, days)
        assert (times.local(start).date() - times.local(at).date()).days == days
        assert times.local(start - 1).date() < times.local(start).date()


HAVANA, BEIRUT = "CST5CDT,M3.2.0/0,M11.1.0/1", "EET-2EEST,M3.5.0/0,M10.5.0/0"
"""Where clocks skip midnight, or show it twice."""


@pytest.mark.parametrize("zone", [HAVANA, BEIRUT])
def test_a_day_without_a_midnight_begins_with_its_first_second(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    live_in(zone, monkeypatch)
    noon = datetime(2026, 1, 1, 17, tzinfo=UTC).timestamp()
    for day in range(365):
        start = times.midnight(noon, day)
        before, after = times.local(start - 1).date(), times.local(start).date()
        assert (before, after) == (date(2025, 12, 31) + timedelta(day), date(2026, 1, 1) + timedelta(day))
        assert read_moment(after.isoformat(), noon) == start
        assert moment_of(after.isoformat(), noon) == start


class TestAgo:
    PRESENT = datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp()

    @pytest.mark.parametrize(
        ("seconds", "shown"),
        [
            (0, "now"),
            (-30, "now"),
            (59, "now"),
            (60, "1m"),
            (3_599, "59m"),
            (3_600, "1h"),
            (86_399, "23h"),
            (86_400, "yesterday"),
            (2 * 86_400, "2d"),
            (6 * 86_400, "6d"),
            (7 * 86_400, "23 Nov"),
            (300 * 86_400, "3 Feb"),
            (400 * 86_400, "Oct 2025"),
        ],
    )
    def test_it_is_short_and_counts_calendar_days(self, seconds: float, shown: str) -> None:
        assert times.ago(self.PRESENT - seconds, self.PRESENT) == shown

    def test_the_future_is_absolute(self) -> None:
        assert times.ago(self.PRESENT + 3 * 3_600, self.PRESENT) == "30 Nov"
        assert times.ago(self.PRESENT + 400 * 86_400, self.PRESENT) == "Jan 2028"

    def test_yesterday_is_the_day_before_by_local_midnight(self, monkeypatch: pytest.MonkeyPatch) -> None:
        live_in("IST-5:30", monkeypatch)
        present = datetime(2026, 11, 30, 18, 20, tzinfo=UTC).timestamp()  # ten minutes before midnight there
        assert times.ago(present - 26 * 3_600, present) == "yesterday"
        assert times.ago(present - 47.9 * 3_600, present) == "2d"

    @given(st.floats(0, times.EPOCH_MAX), st.floats(0, times.EPOCH_MAX))
    def test_it_fits_nine_cells(self, at: float, present: float) -> None:
        assert 1 <= len(times.ago(at, present)) <= 9


@pytest.mark.parametrize("cell", [None, "", "2026", b"1", True, math.nan, math.inf, -1.0, -1, 5e9, 2**62])
def test_nonsense_is_no_time(cell: object) -> None:
    assert times.epoch(cell) is None


@pytest.mark.parametrize("cell", [0, 0.0, 1, INSTANT, times.EPOCH_MAX])
def test_a_number_in_reach_is_a_time(cell: float) -> None:
    assert times.epoch(cell) == float(cell)


def test_no_time_shows_a_question_mark() -> None:
    assert times.ago(None, INSTANT) == times.clock(None) == times.moment(None) == times.stretch(None, None) == "?"
    assert times.iso(None) is None


def test_a_stretch_names_the_zone_once() -> None:
    shown = times.stretch(INSTANT, INSTANT + 7_200)
    assert shown.count("UTC") == 1
    assert "→" in shown
    assert times.stretch(INSTANT, INSTANT) == times.stretch(None, INSTANT) == times.moment(INSTANT)


class TestFixedClock:
    @pytest.mark.parametrize(
        "fixed", ["1796040000", "2026-11-30T12:00:00+00:00", "2026-11-30T12:00", " 1796040000.0 "]
    )
    def test_it_can_be_fixed(self, fixed: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HERMES_TUI_NOW", fixed)
        assert times.now() == 1_796_040_000.0

    @pytest.mark.parametrize("fixed", ["", "  "])
    def test_it_runs_otherwise(self, fixed: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HERMES_TUI_NOW", fixed)
        before = time.time()
        assert before <= times.now() <= time.time()

    @pytest.mark.parametrize("fixed", ["soon", "nan", "-5", "1e300", "2026-13-01", "0001-01-01"])
    def test_nonsense_is_wrong_use(self, fixed: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HERMES_TUI_NOW", fixed)
        with pytest.raises(UsageError, match="HERMES_TUI_NOW"):
            times.now()
