"""The measuring stick itself: what is compared with what, and what the report says of it."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench import report
from tests.bench.measuring import FLOOR, SLOW, Result, in_turn, percentile
from tests.bench.stores import STORES
from tests.builders import StoreBuilder
from tests.tools import ROOT


def test_both_sides_take_turns_and_the_first_round_does_not_count() -> None:
    order: list[str] = []
    ticks = itertools.count(1)

    def side(name: str) -> float:
        order.append(name)
        return float(next(ticks))

    ours, theirs = in_turn(3, lambda: side("a"), lambda: side("b"))
    assert order == ["b", "a", "a", "b", "b", "a", "a", "b"]
    assert ours == [3, 6, 7]
    assert theirs == [4, 5, 8]


def test_a_very_slow_side_is_measured_less_often_but_never_once() -> None:
    ours, theirs = in_turn(7, lambda: SLOW + 1, lambda: 1.0)
    assert len(ours) == len(theirs) == FLOOR


def test_percentiles_are_values_that_were_measured() -> None:
    values = [float(value) for value in range(1, 101)]
    assert percentile(values, 0.95) == 95
    assert percentile(values, 0.999) == 100
    assert percentile([4.0], 0.99) == 4


@pytest.mark.parametrize(
    ("result", "met"),
    [
        (Result("x", [10.0], "y", [10.0]), None),
        (Result("x", [10.0], "y", [10.0], 1.0), True),
        (Result("x", [11.0], "y", [10.0], 1.0), False),
        (Result("x", [40.0], "y", [10.0], 1.0, plus=30), True),
        (Result("x", [41.0], "y", [10.0], 1.0, plus=30), False),
        (Result("x", [91.0], "y", [90.0], 1.25, ceiling=90), False),
        (Result("x", [1.0, 1.0, 9.0], "y", [1.0], 4, statistic="longest"), False),
        (Result("x", [0.0], "y", [0.0], 1.0), True),
    ],
)
def test_a_bound_is_met_or_not(result: Result, met: bool | None) -> None:
    assert result.met is met


def _kept(value: float) -> report.Kept:
    made = [Result("cost", [value, value], "bare", [1.0, 2.0], 2.0, remark="two rounds").kept()]
    part = {"date": "2026-11-30", "machine": "a machine", "results": made}
    return {"about": "10 sessions", "parts": {"list": part}}


def test_the_report_has_both_sides_the_verdict_and_how_costs_grow(tmp_path: Path) -> None:
    report.save({"seed": _kept(2.0), "large": _kept(8.0)}, tmp_path / "raw.json")
    text = report.render(report.load(tmp_path / "raw.json"), ["list", "search"])
    assert "| cost | 2.0 | bare | 1.5 | 1.33 | 2 | yes |  |  | 2 |" in text
    assert "| cost | 8.0 | bare | 1.5 | 5.33 | 2 | **no** |  |  | 2 |" in text
    assert "| cost | 2.0 | 8.0 ×4.0 (×1.0) | bare |" in text
    assert "2026-11-30, a machine." in text
    assert "- cost, against bare: two rounds." in text


def test_the_report_tells_the_floor_of_a_line_where_one_was_measured() -> None:
    floor = Result(
        "cost", [2.0], "bare", [4.0], remark="two rounds", floor=[1.0, 3.0, 1.6], floor_is="reading it all"
    )
    kept = _kept(2.0)
    kept["parts"]["list"]["results"] += [floor.kept(), Result("weight", [2.0], "bare", [1.0]).kept()]
    text = report.render({"seed": kept}, ["list"])
    assert "| cost | 2.0 | bare | 4.0 | 0.50 |  |  | 1.6 | 1.25 | 1 |" in text
    assert "- cost, against bare: two rounds; floor: reading it all (0.40 of theirs)." in text
    assert text.count("floor:") == 1
    assert "- weight" not in text


def test_the_report_tells_where_the_time_goes() -> None:
    kept = _kept(2.0)
    kept["profiles"] = {"a search": {"SQLite for storage/ranking.py": 3, "imports": 1}}
    text = report.render({"seed": kept}, ["list"])
    assert "- a search: SQLite for storage/ranking.py 75 %, imports 25 %." in text


def test_a_profile_tells_what_threads_are_at(tmp_path: Path) -> None:
    with StoreBuilder(tmp_path / "state.db") as store:
        store.session("s")
        store.message("s", "user", "a harbour")
    script = Path(report.__file__).parent / "inside" / "profiled.py"
    argv = [sys.executable, str(script), str(tmp_path / "profile"), "command", "--home", str(tmp_path), "search", "x"]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=ROOT, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "no matches for x" in done.stdout
    seen = json.loads((tmp_path / "profile").read_text("utf-8"))
    assert seen["imports"] > 0
    assert not [each for each in seen if "bench" in each or "threading" in each]


def test_the_committed_report_is_made_of_the_committed_numbers() -> None:
    from tests.bench.__main__ import PARTS

    kept = report.load()
    assert set(kept) <= set(STORES)
    if kept:
        assert report.RESULTS.read_text("utf-8") == report.render(kept, list(PARTS))
