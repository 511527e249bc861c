"""A real Hermes that appends to a copy of the store: its commits while we search without pause, and without us."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from tests import real_stores
from tests.bench.measuring import Result, percentile
from tests.bench.stores import QUERIES, Bench

APPENDING = Path(__file__).parent.parent / "hermes_side" / "appending.py"
INSIDE = Path(__file__).parent / "inside"
SEARCHING = INSIDE / "searching.py"
_COMMITS = 300
"""In each round, on each side."""


@contextmanager
def _piped(argv: Sequence[str], env: dict[str, str]) -> Iterator[tuple[IO[str], IO[str]]]:
    """A process that is talked to in lines; closing its input ends it."""
    process = subprocess.Popen(
        argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.stdin, process.stdout
    finally:
        process.stdin.close()
        process.stdout.read()
        process.wait(60)


def _round(pipes: tuple[IO[str], IO[str]], commits: int) -> dict[str, Any]:
    pipes[0].write(f"{commits}\n")
    pipes[0].flush()
    line = pipes[1].readline()
    if not line:
        raise RuntimeError("the writer ended; it may not be able to open the store")
    found: dict[str, Any] = json.loads(line)
    if found["mode"] != "wal":
        raise RuntimeError(f"the store is in journal mode {found['mode']}, so there is no WAL to look at")
    return found


def commits(bench: Bench) -> Iterator[Result]:
    """Rounds beside our searches, alone, and beside a process that only computes, in turn."""
    number = 60 if bench.quick else _COMMITS
    beside: list[dict[str, Any]] = []
    alone: list[dict[str, Any]] = []
    computed: list[dict[str, Any]] = []
    searching = [bench.python, str(SEARCHING), str(bench.home), *QUERIES.values()]
    computing = [bench.python, str(INSIDE / "computing.py")]
    with _piped([str(real_stores.hermes_python()), str(APPENDING), str(bench.db)], bench.env) as writer:
        _round(writer, number)
        for _ in range(bench.rounds):
            for argv, rounds in ((searching, beside), (computing, computed)):
                with _piped(argv, bench.env) as (_, answers):
                    answers.readline()  # it has begun, and found something
                    rounds.append(_round(writer, number))
            alone.append(_round(writer, number))
    for name, share, limit in (("99th percentile", 0.99, 1.15), ("median", 0.5, None)):
        ours, theirs, floor = (
            [percentile(found["took"], share) for found in rounds] for rounds in (beside, alone, computed)
        )
        yield Result(
            f"a writer's commit, {name} of a round, beside our searches",
            ours,
            "without us",
            theirs,
            limit,
            remark=f"{number} commits a round",
            floor=floor,
            floor_is="beside a process that only computes and never looks at the store",
        )
    yield Result(
        "the WAL, its largest size in a round, beside our searches",
        [found["wal"] / 1e6 for found in beside],
        "without us",
        [found["wal"] / 1e6 for found in alone],
        1.15,
        unit="MB",
    )
    yield Result(
        "the WAL, frames that a checkpoint after the round left behind, beside our searches",
        [found["frames"] - found["copied"] for found in beside],
        "without us",
        [found["frames"] - found["copied"] for found in alone],
        unit="frames",
        remark="whoever reads at that moment keeps some back; what counts is that the file does not grow",
    )
