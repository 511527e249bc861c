"""Where the time goes of what a bound is set for: what the program's threads are at, looked at every millisecond."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from tests.bench.measuring import ran
from tests.bench.processes import INSIDE
from tests.bench.stores import Bench

_ENOUGH = 300
"""Looks that tell how the time is shared out …"""
_AT_MOST = 5
"""… and how often something short is done anew to have as many."""
_TOLD = 6
"""Parts that are told of each."""
Profile = dict[str, int]
"""A part of the program → how often a thread was seen there."""


def profiles(bench: Bench) -> Iterator[tuple[str, Profile]]:
    """What, and its profile."""
    yield "`hermes-tui list --limit 20`", _profile(bench, "command", ["list", "--limit", "20"])
    for kind, query in bench.queries.items():
        yield f"`hermes-tui search`, {kind}", _profile(bench, "command", ["search", query])
    for kind, query in bench.queries.items():
        yield f"complete answer, {kind}", _profile(bench, "answer", [str(bench.db), query])


def _profile(bench: Bench, how: str, words: Sequence[str]) -> Profile:
    file, found = bench.scratch / "profile.json", Counter[str]()
    for _ in range(_AT_MOST):
        ran([bench.python, str(INSIDE / "profiled.py"), str(file), how, *words], bench.env)
        found.update(json.loads(file.read_text("utf-8")))
        if found.total() >= _ENOUGH:
            break
    return dict(found)


def told(profile: Profile) -> str:
    """The largest shares."""
    counted = Counter(profile)
    shares = [f"{each} {100 * many / counted.total():.0f} %" for each, many in counted.most_common(_TOLD)]
    return ", ".join(shares)
