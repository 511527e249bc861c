"""Two things measured in turn, again and again: machines are noisy, so what counts is the ratio of medians."""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

RUNS = 9
"""Rounds that count; one more before them warms the caches."""


@dataclass(frozen=True, slots=True)
class Result:
    """One line of the report; milliseconds."""

    what: str
    ours: Sequence[float]
    against: str
    theirs: Sequence[float]
    wanted: float | None = None
    """The ratio that is aimed at."""

    @property
    def ratio(self) -> float:
        return statistics.median(self.ours) / statistics.median(self.theirs)

    def row(self) -> str:
        """A line of the table."""
        ours, theirs = statistics.median(self.ours), statistics.median(self.theirs)
        wanted = "" if self.wanted is None else f"{self.wanted:g}"
        return f"| {self.what} | {ours:,.1f} | {self.against} | {theirs:,.1f} | {self.ratio:.2f} | {wanted} |"


def in_turn(
    what: str,
    ours: Callable[[], float],
    against: str,
    theirs: Callable[[], float],
    wanted: float | None = None,
) -> Result:
    """Both, `RUNS` times in turn; each gives its milliseconds."""
    found: tuple[list[float], list[float]] = ([], [])
    for run in range(RUNS + 1):
        pair = (ours(), theirs()) if run % 2 else (theirs(), ours())[::-1]
        if run:
            found[0].append(pair[0])
            found[1].append(pair[1])
    return Result(what, found[0], against, found[1], wanted)


def wall(argv: Sequence[str | Path], env: Mapping[str, str], codes: Sequence[int] = (0,)) -> float:
    """Milliseconds from the start of a process to its end."""
    began = time.perf_counter()
    done = subprocess.run([str(word) for word in argv], env=dict(env), capture_output=True, check=False)
    took = (time.perf_counter() - began) * 1_000
    if done.returncode not in codes:
        raise RuntimeError(f"{argv} ended with {done.returncode}: {done.stderr.decode('utf-8', 'replace')[-500:]}")
    return took
