"""The longest that the event loop keeps everybody waiting, over much use in little time, beside an idle one."""

from __future__ import annotations

import array
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.bench.measuring import Result, percentile
from tests.bench.painting import INSIDE, SIZE, at_list
from tests.bench.ptyperf import PtyApp
from tests.bench.stores import Bench
from tests.bench.touring import Tour

_IDLE = 3.0
"""Seconds of idleness before each round."""
_FLOOR_IS = "a Textual app that opens and leaves screens of as many empty widgets"
_PUSHES = 24
"""Screens that the bare app opens and leaves in a round, about as many as the use does."""
_TOURS = 2
"""That are made at least: each has some hundred keys."""
_PATIENCE = 60.0
"""Seconds after which there are no more than a few rounds."""


def gaps(bench: Bench) -> Iterator[Result]:
    """Ticks of 5 ms; rounds of idleness and of use in turn, in one process."""
    file = bench.scratch / "ticks"
    argv = [bench.python, str(INSIDE / "ticking.py"), "--home", str(bench.home)]
    idle: list[tuple[float, float]] = []
    busy: list[tuple[float, float]] = []
    least: list[list[float]] = []
    with PtyApp(argv, SIZE, {**bench.env, "TICKS": str(file)}) as app:
        at_list(app)
        time.sleep(0.5)
        tour = Tour(app, bench)
        ends = time.perf_counter() + _PATIENCE
        while len(busy) < min(bench.rounds, _TOURS) or (len(busy) < bench.rounds and time.perf_counter() < ends):
            idle.append(_during(lambda: time.sleep(_IDLE)))
            busy.append(_during(tour.all))
            least.append(_pushed(bench))
        app.wait_quiet(0.5)
        app.send("ctrl+q")
        app.wait_exit(60)
    ticks = _read(file)
    ours = [[gap for _, gap in _within(ticks, span)] for span in busy]
    longest = [max(gap for _, gap in _within(ticks, span)) for span in idle]
    worst = [max(_within(ticks, span), key=lambda tick: tick[1]) for span in busy]
    told = "; ".join(
        f"{gap:.0f} ms after {tour.told(at)}" for at, gap in sorted(worst, key=lambda tick: -tick[1])[:3]
    )
    whole = sum(map(len, ours))
    remark = f"{len(tour.keys):,} keys in {len(ours)} rounds, {whole:,} ticks; the longest: {told}"
    yield Result(
        "longest gap of the loop, a scripted use in fast motion",
        [max(each) for each in ours],
        "idle gap",
        longest,
        4,
        statistic="longest",
        against_statistic="median",
        remark=remark,
        floor=[max(each) for each in least],
        floor_is=_FLOOR_IS,
    )
    what = "gap of the loop, 99.9th percentile of a round"
    floor = [percentile(each, 0.999) for each in least]
    yield Result(
        what,
        [percentile(each, 0.999) for each in ours],
        "idle gap",
        longest,
        2,
        floor=floor,
        floor_is=_FLOOR_IS,
    )


def _pushed(bench: Bench) -> list[float]:
    """The gaps of a bare app in which screens of empty widgets are opened and left, as fast as they come."""
    file = bench.scratch / "least"
    argv = [bench.python, str(INSIDE / "pushing.py")]
    with PtyApp(argv, SIZE, {**bench.env, "TICKS": str(file)}) as app:
        app.wait_for("READY")
        app.wait_quiet(0.5)

        def push() -> None:
            for _ in range(_PUSHES):
                for key, seen in (("o", "PUSHED"), ("c", "READY")):
                    mark = app.mark()
                    app.send(key)
                    app.wait_for(seen, 60, mark)
                    app.wait_quiet(0.15, timeout=2)

        span = _during(push)
        app.send("ctrl+q")
        app.wait_exit(60)
    return [gap for _, gap in _within(_read(file), span)]


def _during(work: Callable[[], object]) -> tuple[float, float]:
    began = time.perf_counter()
    work()
    return began, time.perf_counter()


def _read(file: Path) -> list[tuple[float, float]]:
    ticks = array.array("d")
    ticks.frombytes(file.read_bytes())
    return list(zip(ticks[::2], ticks[1::2], strict=True))


def _within(ticks: list[tuple[float, float]], span: tuple[float, float]) -> list[tuple[float, float]]:
    """When each gap of this time ended, and its milliseconds."""
    found = [(at, gap * 1_000) for at, gap in ticks if span[0] <= at <= span[1]]
    if not found:
        raise RuntimeError("the loop did not tick at all")
    return found
