"""One command for each trial; it prints seed, counts and result, and ends with 1 when something failed.

python -m tests.trials fuzz   [--seed N] [--minutes M] [--only NUMBER]
python -m tests.trials monkey [--seed N] [--keys N]
python -m tests.trials writer [--seed N] [--minutes M]
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from tests import real_stores
from tests.seeds import SEED
from tests.trials import fuzz, monkey, writer


class _Outcome(Protocol):
    failures: list[str]

    def told(self) -> str: ...


def _for(minutes: float) -> Callable[[object], bool]:
    end = time.monotonic() + minutes * 60
    return lambda done: time.monotonic() < end


def _say(line: str) -> None:
    print(line, flush=True)


def _outcomes(args: argparse.Namespace, folder: Path) -> list[_Outcome]:
    if args.trial == "fuzz":
        return [fuzz.run(args.seed, folder, more=_for(args.minutes), say=_say, only=args.only)]
    store = real_stores.store_home() / "state.db"
    if args.trial == "monkey":
        return [monkey.run(args.seed, args.keys, store, folder, say=_say)]
    found: list[_Outcome] = []
    for journal in ("wal", "delete"):
        place = folder / journal
        place.mkdir()
        found.append(writer.run(args.seed, store, place, journal=journal, more=_for(args.minutes / 2)))
    return found


def main() -> int:
    """Run one trial."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trial", choices=("fuzz", "monkey", "writer"))
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to fuzz, or to write")
    parser.add_argument("--keys", type=int, default=10_000, help="how many keys the monkey presses")
    parser.add_argument("--only", type=int, help="the damage of this number alone")
    args = parser.parse_args()
    for name in [name for name in os.environ if name.startswith("HERMES") and name != "HERMES_TUI_TEST_CACHE"]:
        del os.environ[name]
    with tempfile.TemporaryDirectory(prefix="hermes-tui-trials-", ignore_cleanup_errors=True) as scratch:
        began = time.monotonic()
        outcomes = _outcomes(args, Path(scratch))
        minutes = (time.monotonic() - began) / 60
        for outcome in outcomes:
            for failure in outcome.failures if args.trial != "fuzz" else ():
                _say(failure)
            _say(
                f"{time.strftime('%Y-%m-%d')} {args.trial} seed {args.seed}, {minutes:.1f} minutes: {outcome.told()}"
            )
    return int(any(outcome.failures for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
