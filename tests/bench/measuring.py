"""Two things measured in turn, again and again: machines are noisy, so what counts is the ratio of two sides."""

from __future__ import annotations

import math
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

RUNS = 7
"""Rounds that count; one more before them warms the caches."""
SLOW = 20_000.0
"""Milliseconds from which on one side is measured fewer times …"""
FLOOR = 3
"""… but never fewer than these."""


def percentile(values: Sequence[float], share: float) -> float:
    """The value that this share of all values do not exceed."""
    ordered = sorted(values)
    return ordered[max(math.ceil(len(ordered) * share) - 1, 0)]


STATISTICS: dict[str, Callable[[Sequence[float]], float]] = {
    "median": statistics.median,
    "95th percentile": lambda values: percentile(values, 0.95),
    "longest": max,
}


@dataclass(frozen=True, slots=True)
class Result:
    """One line of the report, with everything that was measured for it."""

    what: str
    ours: Sequence[float]
    against: str
    theirs: Sequence[float]
    bound: float | None = None
    """The largest ratio that is good enough; None for what is only told."""
    plus: float = 0.0
    """What may be added to the bound, in the unit of the values."""
    ceiling: float | None = None
    """The largest value that is good enough, whatever the ratio."""
    statistic: str = "median"
    against_statistic: str = ""
    """When it is not the same on the other side."""
    unit: str = "ms"
    remark: str = ""
    floor: Sequence[float] = ()
    """The least that any program must do for it, measured in the same rounds."""
    floor_is: str = ""
    """What that is, in words."""

    @property
    def our_value(self) -> float:
        return STATISTICS[self.statistic](self.ours)

    @property
    def their_value(self) -> float:
        return STATISTICS[self.against_statistic or self.statistic](self.theirs)

    @property
    def ratio(self) -> float:
        return self.our_value / self.their_value if self.their_value else math.inf

    @property
    def floor_value(self) -> float | None:
        """None where no floor was measured."""
        return STATISTICS[self.statistic](self.floor) if self.floor else None

    @property
    def met(self) -> bool | None:
        """Whether the bound holds; None without one."""
        if self.bound is None and self.ceiling is None:
            return None
        within = self.bound is None or self.our_value <= self.bound * self.their_value + self.plus
        return within and (self.ceiling is None or self.our_value <= self.ceiling)

    def kept(self) -> dict[str, Any]:
        """For the file of raw numbers."""
        found = asdict(self)
        sides = {"ours": self.ours, "theirs": self.theirs, "floor": self.floor}
        return {**found, **{name: _rounded(values) for name, values in sides.items()}}


def _rounded(values: Sequence[float]) -> list[float]:
    return [round(value, 4) for value in values]


def in_turn(runs: int, *sides: Callable[[], float], warm: bool = True) -> list[list[float]]:
    """Every side `runs` times, the order turned round each time, after a round that does not count unless `warm`
    is False; each gives its milliseconds. When one side is very slow all are measured less often."""
    found: list[list[float]] = [[] for _ in sides]
    done = -1 if warm else 0
    while done < runs:
        order = range(len(sides)) if done % 2 == 0 else reversed(range(len(sides)))
        for index in order:
            value = sides[index]()
            if done >= 0:
                found[index].append(value)
            elif value > SLOW:
                runs = min(runs, FLOOR)
        done += 1
    return found


def few(values: Sequence[float], runs: int, why: str = f"one takes over {SLOW / 1_000:g} s") -> str:
    """The remark that says that there are fewer runs than asked for."""
    many = len(values)
    return f"{many} run{'s' * (many > 1)}: {why}" if many < runs else ""


def wall(argv: Sequence[str | Path], env: Mapping[str, str], codes: Sequence[int] = (0,)) -> float:
    """Milliseconds from the start of a process to its end."""
    words = [str(word) for word in argv]
    return timed(lambda: ran(words, env, codes))


def ran(words: Sequence[str], env: Mapping[str, str], codes: Sequence[int] = (0,)) -> str:
    """What a process wrote. Raises when it ended otherwise than it should."""
    done = subprocess.run(words, env=dict(env), capture_output=True, text=True, check=False)
    if done.returncode not in codes:
        raise RuntimeError(f"{words} ended with {done.returncode}: {done.stderr[-500:]}")
    return done.stdout


def timed(work: Callable[[], object]) -> float:
    """Milliseconds that this takes."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1_000
