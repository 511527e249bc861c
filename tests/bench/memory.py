"""How much memory the program takes when everything was opened once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tests.bench.measuring import Result
from tests.bench.painting import at_list, left, opened
from tests.bench.stores import Bench, copied
from tests.bench.touring import Tour


def peaks(bench: Bench) -> Iterator[Result]:
    """The largest resident size, beside the same on the seed-size store."""
    seed = replace(bench, name="seed", home=copied("seed", bench.scratch / "beside"))
    found: tuple[list[float], list[float]] = ([], [])
    for _ in range(bench.rounds):
        found[0].append(_peak(bench))
        found[1].append(found[0][-1] if bench.quick else _peak(seed))
    what = "peak resident memory, everything opened once"
    yield Result(what, found[0], "the same on the seed-size store", found[1], 1.25, ceiling=90, unit="MB")


def _peak(bench: Bench) -> float:
    with opened(bench) as app:
        at_list(app)
        Tour(app, bench).all()
        app.wait_quiet(0.5)
        peak = app.rss()["Peak"] / 1_024
        left(app)
    return peak
