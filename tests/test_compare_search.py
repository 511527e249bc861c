"""Hermes' own search and ours agree, query for query; `python -m tests.compare_search` asks many more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compare_search import compare, report, stores
from tests.seeds import SEED

pytestmark = pytest.mark.real


def test_what_people_said_is_found_and_ordered_as_hermes_does(tmp_path: Path) -> None:
    seed = SEED
    for name, db in stores([5], tmp_path, sessions=64, messages=3_000, old=True):
        found = report(compare(db, 96, seed))
        parted = [f"{kind}: {line}" for kind, each in found.items() for line in each.parted]
        assert not parted, f"{name}, queries drawn with seed {seed}"
        assert sum(each.asked for each in found.values()) > 60
        assert sum(each.hits for each in found.values()) > 200
