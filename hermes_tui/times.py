"""Points in time as Hermes stores them (epoch seconds) and as people read them (local time)."""

from __future__ import annotations

import os
import time
from datetime import UTC, date, datetime, timedelta
from datetime import time as wall_time
from typing import Any

from hermes_tui.errors import UsageError

EPOCH_MAX = 4_200_000_000.0
"""Hermes takes no time outside 0 … this for one (FACTS 6.5)."""
UNKNOWN = "?"
DAY = 86_400.0


def now() -> float:
    """The present; `HERMES_TUI_NOW` (epoch seconds or ISO) fixes it, for pictures and tests."""
    fixed = os.environ.get("HERMES_TUI_NOW", "").strip()
    if not fixed:
        return time.time()
    try:
        at = epoch(float(fixed))
    except ValueError:
        try:
            at = epoch(datetime.fromisoformat(fixed).timestamp())
        except (ValueError, OverflowError):
            at = None
    if at is None:
        raise UsageError(f"HERMES_TUI_NOW is {fixed!r}: give epoch seconds or an ISO time, such as 2026-11-30T12:00.")
    return at


def epoch(value: Any) -> float | None:
    """A stored cell as a time; None for what Hermes does not take for one: NaN, text, bytes, far away."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0.0 <= value <= EPOCH_MAX else None


def local(at: float) -> datetime:
    """This instant in local time, with its zone; in UTC where the zone that is set is a day off or more."""
    there = datetime.fromtimestamp(at, UTC)
    try:
        return there.astimezone()
    except ValueError:
        return there


def fields(at: float) -> time.struct_time:
    """The same to the second, in a fraction of the time: a search prints tens of thousands."""
    there = time.localtime(at)
    return there if abs(there.tm_gmtoff) < DAY else time.gmtime(at)


def iso(at: float | None) -> str | None:
    """Local ISO time with offset, to the millisecond; None for None."""
    return None if at is None else local(at).isoformat(timespec="milliseconds")


def midnight(at: float, days: int = 0) -> float:
    """The local midnight that begins the day of `at`, `days` days later."""
    day = local(at).date() + timedelta(days=days)
    return instant(day)


def instant(day: date, at: wall_time = wall_time()) -> float:
    """When clocks here show this: the first time where they show it twice; where they skip it, the moment of the
    skip and on from there, so that a day without a midnight begins with its first second."""
    return datetime.combine(day, at).timestamp()


def ago(at: float | None, present: float) -> str:
    """At most nine cells for a list: `now 2m 12h yesterday 3d`, `22 Nov`, `Dec 2025`; `?` for no time.

    Days are calendar days of local time. What lies ahead is absolute.
    """
    if at is None:
        return UNKNOWN
    elapsed = present - at
    there, here = local(at), local(present)
    if elapsed < -60:
        return f"{there.day} {there:%b}" if there.year == here.year else f"{there:%b} {there.year}"
    if elapsed < 60:
        return "now"
    if elapsed < 3_600:
        return f"{int(elapsed // 60)}m"
    if elapsed < DAY:
        return f"{int(elapsed // 3_600)}h"
    days = (here.date() - there.date()).days
    if days == 1:
        return "yesterday"
    if days < 7:
        return f"{days}d"
    return f"{there.day} {there:%b}" if there.year == here.year else f"{there:%b} {there.year}"


def clock(at: float | None) -> str:
    """`15:14`."""
    return UNKNOWN if at is None else f"{local(at):%H:%M}"


def day(at: float, *, year: bool | None = None) -> str:
    """`Sat 28 Nov`; the year is named when it is not this one, or as told."""
    there = local(at)
    named = there.year != local(now()).year if year is None else year
    return f"{there:%a} {there.day} {there:%b}" + (f" {there.year}" if named else "")


def moment(at: float | None, *, seconds: bool = False, zone: bool = True, year: bool | None = None) -> str:
    """`Sat 28 Nov 15:14 CET`; the year is named when it is not this one, or as told."""
    if at is None:
        return UNKNOWN
    there = local(at)
    clock_time = f"{there:%H:%M:%S}" if seconds else f"{there:%H:%M}"
    parts = [day(at, year=year), clock_time, there.tzname() or "" if zone else ""]
    return " ".join(part for part in parts if part)


def stretch(start: float | None, end: float | None) -> str:
    """`Sat 28 Nov 14:02 → Sun 29 Nov 09:15 CET`."""
    if start is None or end is None or start == end:
        return moment(start if start is not None else end)
    return f"{moment(start, zone=False)} → {moment(end)}"
