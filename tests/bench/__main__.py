"""`python -m tests.bench`: the program beside Hermes, beside bare SQL and beside the least of Textual, on stores
that Hermes wrote.

Measured and reported, never asserted. Writes `results.json` and `RESULTS.md` beside this file; what a run leaves
out (`--stores`, `--only`) stays as the last run found it. `--quick` writes nothing and only shows that every part
works.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests import real_stores
from tests.bench import answers, loop, memory, painting, processes, profiling, report, writers
from tests.bench.measuring import RUNS, Result
from tests.bench.stores import STORES, Bench, beside, copied, installed

PARTS: dict[str, Callable[[Bench], Iterator[Result]]] = {
    "list": processes.lists,
    "search": processes.searches,
    "start": processes.starts,
    "hits": painting.hits,
    "open": painting.transcripts,
    "keys": painting.moves,
    "quit": painting.quits,
    "loop": loop.gaps,
    "memory": memory.peaks,
    "complete": answers.complete,
    "scans": answers.scans,
    "browse": answers.browse,
    "writer": writers.commits,
}
"""In the order of the report; the last one writes to the copy of the store."""
PROFILES = "profiles"
"""A part that holds nothing against anything: where the time goes. First, while the store is as Hermes left it."""
_SCREENS = frozenset({"start", "hits", "open", "keys", "quit", "loop", "memory"})
"""A quick look takes these on its first store only."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stores", nargs="+", default=["small", "seed"], choices=[*STORES, "all"])
    parser.add_argument(
        "--only",
        nargs="+",
        default=[PROFILES, *PARTS],
        choices=[PROFILES, *PARTS],
        metavar="PART",
        help=", ".join([PROFILES, *PARTS]),
    )
    parser.add_argument("--runs", type=int, default=RUNS, help=f"rounds that count; a report takes {RUNS} or more")
    parser.add_argument(
        "--quick", action="store_true", help="everything once, the program beside this Python, no report"
    )
    parser.add_argument("--render", action="store_true", help="measure nothing, write the report again")
    return parser


def _as_a_user() -> None:
    """What a developer's shell sets must not slow the programs down, nor lead Hermes elsewhere."""
    for name in list(os.environ):
        if name.startswith(("PYTHON", "HERMES", "TEXTUAL")) and name != "HERMES_TUI_TEST_CACHE":
            del os.environ[name]


def _measure(bench: Bench, only: Sequence[str], kept: report.Kept) -> list[str]:
    """Each part, told as soon as it is there; gives those that did not work. One that does not leaves what an
    earlier run found, and the next one is tried."""
    failed = []
    if PROFILES in only and not bench.quick:
        report.profiled(kept, bench, dict(profiling.profiles(bench)))
    for part in (name for name in PARTS if name in only):
        began = time.perf_counter()
        results = []
        try:
            for each in PARTS[part](bench):
                print(report.row(each), flush=True)
                results.append(each)
        except (RuntimeError, TimeoutError, subprocess.TimeoutExpired) as error:
            failed.append(part)
            print(f"  {bench.name}, {part} does not work: {error}", file=sys.stderr, flush=True)
            continue
        print(f"  {bench.name}, {part}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
        report.merge(kept, bench, part, results, real_stores.LATEST)
        if not bench.quick:
            report.save(kept)
    return failed


def _run(args: argparse.Namespace, kept: report.Kept) -> int:
    """Store by store; the number of parts that did not work."""
    names = list(STORES) if "all" in args.stores else [name for name in STORES if name in args.stores]
    failures = 0
    with tempfile.TemporaryDirectory(prefix="hermes-tui-bench-") as folder:
        scratch = Path(folder)
        bin = beside() if args.quick else installed(scratch)
        for name in names:
            only = [part for part in args.only if not (args.quick and name != names[0] and part in _SCREENS)]
            home = copied(name, scratch / "homes")
            failures += len(_measure(Bench(name, home, scratch, bin, args.runs, args.quick), only, kept))
            shutil.rmtree(home)
    return failures


def main() -> int:
    """Measure, print, write; the exit code says whether everything could be measured."""
    parser = _parser()
    args = parser.parse_args()
    if args.runs < RUNS:
        parser.error(f"a report takes medians of at least {RUNS} runs")
    _as_a_user()
    kept = {} if args.quick else report.load()
    failures = 0 if args.render else _run(args, kept)
    if not args.quick:
        report.RESULTS.write_text(report.render(kept, list(PARTS)), "utf-8")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
