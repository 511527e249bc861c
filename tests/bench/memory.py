"""How much memory the program takes when everything was opened once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tests.bench.measuring import Result, few
from tests.bench.painting import INSIDE, SIZE, at_list, left, opened
from tests.bench.ptyperf import PtyApp
from tests.bench.stores import Bench, copied
from tests.bench.touring import Tour

_SEED: list[float] = []
"""What was measured of the seed-size store in this run."""


def peaks(bench: Bench) -> Iterator[Result]:
    """The largest resident size, beside the same on the seed-size store. A tour of everything takes its time, and
    the peak hardly varies: so there is one run."""
    ours = [_peak(bench)]
    if bench.quick or bench.name == "seed":
        _SEED[:] = ours
    if not _SEED:
        _SEED.append(_peak(replace(bench, name="seed", home=copied("seed", bench.scratch / "beside"))))
    what = "peak resident memory, everything opened once"
    told = "" if bench.quick else few(ours, bench.rounds, "a tour takes a minute and more, and peaks hardly differ")
    against = "the same on the seed-size store"
    least = [_least(bench)]
    yield Result(
        what,
        ours,
        against,
        list(_SEED),
        1.25,
        ceiling=90,
        unit="MB",
        remark=told,
        floor=least,
        floor_is="a Textual app with one label that holds the columns of all sessions, once",
    )


def _least(bench: Bench) -> float:
    with PtyApp([bench.python, str(INSIDE / "one_label.py"), str(bench.db)], SIZE, bench.env) as app:
        app.wait_for("READY")
        app.wait_quiet(0.5)
        peak = app.rss()["Peak"] / 1_024
        left(app)
    return peak


def _peak(bench: Bench) -> float:
    with opened(bench) as app:
        at_list(app)
        Tour(app, bench).all()
        app.wait_quiet(0.5)
        peak = app.rss()["Peak"] / 1_024
        left(app)
    return peak
