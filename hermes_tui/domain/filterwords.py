"""Filter words as typed, read into `Filters`: dates, numbers, known values, ranges that leave something. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from hermes_tui.domain.filters import DATES, MARKS, NO_FILTERS, NUMBERS, ROLES, Bound, Filters
from hermes_tui.times import DAY, midnight
from hermes_tui.values import dataclass

_NUMBER = re.compile(r"(>=|<=|>|<|=|)\s*(-?(?:\d+(?:\.\d+)?|\.\d+))([kKmM]?)")
_SPAN = re.compile(r"(\d+)([mhdw]?)", re.IGNORECASE)
_SECONDS = {"m": 60.0, "h": 3_600.0, "d": DAY, "": DAY, "w": 7 * DAY}
_TIMES = {"k": 1e3, "m": 1e6, "": 1.0}


class Wrong(ValueError):
    """A filter word that cannot be understood; the message says which one and why."""


@dataclass(frozen=True, slots=True)
class FilterWord:
    """One filter word as typed."""

    key: str
    values: tuple[str, ...]
    """Any of these; as typed, for all but dates and numbers."""
    negated: bool
    text: str
    """The whole word, for sentences."""


def combine(words: Sequence[FilterWord], present: float) -> Filters:
    """Put filter words together. `present`: what relative dates count from. Raises `Wrong`."""
    if not words:
        return NO_FILTERS
    wanted: dict[str, frozenset[str]] = {}
    barred: dict[str, frozenset[str]] = {}
    bounds: list[Bound] = []
    after: float | None = None
    before: float | None = None
    for word in words:
        if word.key in DATES:
            at = _date(word, present)
            if (word.key == "after") is not word.negated:
                after = at if after is None else max(after, at)
            else:
                before = at if before is None else min(before, at)
        elif word.key in NUMBERS:
            bounds.append(_bound(word))
        else:
            values = frozenset(_known(word, value.casefold()) for value in word.values)
            these = barred if word.negated else wanted
            these[word.key] = these.get(word.key, frozenset()) | values
    if after is not None and before is not None and after >= before:
        dates = " ".join(word.text for word in words if word.key in DATES)
        raise Wrong(f"{dates} leaves no time in between")
    _check_bounds(words, bounds)
    return Filters(wanted, barred, tuple(bounds), after, before)


def _known(word: FilterWord, value: str) -> str:
    known = ROLES if word.key == "role" else MARKS if word.key == "is" else None
    if known is not None and value not in known:
        raise Wrong(f"{word.key}: takes {', '.join(known)}, not {value!r}")
    return value


def _date(word: FilterWord, present: float) -> float:
    value = word.values[0] if len(word.values) == 1 else ",".join(word.values)
    try:
        return read_moment(value, present)
    except (ValueError, OverflowError, OSError) as error:
        raise Wrong(
            f"{word.key}: takes a day such as 2026-07-05, a time such as 2026-07-05T14:30, "
            f"30m, 24h, 7d, 2w, today or yesterday, not {value!r}"
        ) from error


def read_moment(value: str, present: float) -> float:
    """A day or time, or how long before `present`, as epoch seconds; days begin at local midnight.

    Raises `ValueError`, `OverflowError` or `OSError` for what is none.
    """
    value = value.strip()
    day = {"today": 0, "yesterday": -1}.get(value.casefold())
    if day is not None:
        return midnight(present, day)
    span = _SPAN.fullmatch(value)
    if span and (span[2] or len(span[1]) < 8):
        return present - float(span[1]) * _SECONDS[span[2].lower()]
    return datetime.fromisoformat(value).timestamp()


def _bound(word: FilterWord) -> Bound:
    value = ",".join(word.values)
    found = _NUMBER.fullmatch(value.strip())
    if found is None:
        raise Wrong(f"{word.key}: takes a number such as >50 or <5, not {value!r}")
    return Bound(word.key, found[1] or "=", float(found[2]) * _TIMES[found[3].lower()], word.negated)


def _check_bounds(words: Sequence[FilterWord], bounds: Sequence[Bound]) -> None:
    """Refuse `messages:>50 messages:<5`."""
    for key in {bound.key for bound in bounds}:
        those = [bound for bound in bounds if bound.key == key and not bound.negated]
        lows = [bound for bound in those if bound.sign in (">", ">=", "=")]
        highs = [bound for bound in those if bound.sign in ("<", "<=", "=")]
        for low in lows:
            for high in highs:
                touching = low.sign != ">" and high.sign != "<"
                if low.value > high.value or (low.value == high.value and not touching):
                    named = " ".join(word.text for word in words if word.key == key)
                    raise Wrong(f"{named} leaves no number in between")
