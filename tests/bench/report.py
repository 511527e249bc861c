"""`results.json`, the raw numbers of each store's last run, and `RESULTS.md`, which is made of it."""

from __future__ import annotations

import json
import os
import platform
import re
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.bench.measuring import Result
from tests.bench.profiling import Profile, told
from tests.bench.stores import STORES, Bench

RAW = Path(__file__).parent / "results.json"
RESULTS = Path(__file__).parent / "RESULTS.md"
Kept = dict[str, Any]
_NUMBERS = re.compile(r"\[\s[-\d.,e\s]+\]")


def load(path: Path = RAW) -> Kept:
    """What earlier runs measured."""
    found: Kept = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return found


def merge(kept: Kept, bench: Bench, part: str, results: Sequence[Result], hermes: str) -> None:
    """Put the results of one part of one store in the place of earlier ones."""
    store = kept.setdefault(bench.name, {"parts": {}})
    store["about"] = f"{bench.about()}, written by Hermes {hermes}"
    store["parts"][part] = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": machine(),
        "results": [each.kept() for each in results],
    }


def profiled(kept: Kept, bench: Bench, found: dict[str, Profile]) -> None:
    """Put the profiles of one store in the place of earlier ones."""
    kept.setdefault(bench.name, {"parts": {}})["profiles"] = found


def save(kept: Kept, path: Path = RAW) -> None:
    """The numbers of one side on one line, so that a difference can be read."""
    text = json.dumps(kept, ensure_ascii=False, indent=1)
    text = _NUMBERS.sub(lambda found: " ".join(found[0].split()), text)
    path.write_text(text + "\n", "utf-8")


def machine() -> str:
    """What it was measured on."""
    python, sqlite = platform.python_version(), sqlite3.sqlite_version
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {python}, SQLite {sqlite}"


def render(kept: Kept, parts: Sequence[str]) -> str:
    """The whole report."""
    lines = [
        "# Measured",
        "",
        "By `python -m tests.bench`. Both sides of a line are measured in turn in one run; look at the ratios, the",
        "milliseconds belong to a machine. Values are medians unless the line says otherwise. *Growth* compares",
        "stores. The raw numbers are in `results.json`.",
        "",
    ]
    names = [name for name in STORES if name in kept]
    for name in names:
        lines += [*_store(name, kept[name], parts), ""]
    if len(names) > 1:
        lines += [*_growth({name: kept[name] for name in names if name != "small"}, parts), ""]
    return "\n".join(lines)


def results_of(store: Kept, parts: Sequence[str]) -> Iterator[Result]:
    """In the order of the parts."""
    for part in parts:
        for each in store["parts"].get(part, {}).get("results", []):
            yield Result(**each)


def _store(name: str, store: Kept, parts: Sequence[str]) -> Iterator[str]:
    yield f"## {name}: {store['about']}"
    yield ""
    runs: dict[tuple[str, str], list[str]] = {}
    for part in parts:
        if (found := store["parts"].get(part)) is not None:
            runs.setdefault((found["date"], found["machine"]), []).append(part)
    for (date, where), measured in runs.items():
        yield f"{date}, {where}" + (f" ({', '.join(measured)})." if len(runs) > 1 else ".")
    results = list(results_of(store, parts))
    judged = [each.met for each in results if each.met is not None]
    yield f"{sum(judged)} of {len(judged)} bounds are met."
    yield ""
    yield "| what | ours | against | theirs | ratio | bound | met | floor | ours : floor | runs |"
    yield "|---|--:|---|--:|--:|--:|---|--:|--:|--:|"
    for each in results:
        yield row(each)
    if notes := [f"- {each.what}, against {each.against}: {text}." for each in results if (text := remarks(each))]:
        yield ""
        yield from notes
    if found := store.get("profiles"):
        yield ""
        yield "Where the time goes, as looks at every thread see it, one a millisecond:"
        yield ""
        yield from (f"- {what}: {told(profile)}." for what, profile in found.items())


def row(each: Result) -> str:
    """One line of the table."""
    what = each.what if each.statistic == "median" else f"{each.what} ({each.statistic})"
    other = each.against_statistic or each.statistic
    against = each.against if other == each.statistic else f"{each.against} ({other})"
    met = {None: "", True: "yes", False: "**no**"}[each.met]
    ours, theirs = _value(each.our_value, each.unit), _value(each.their_value, each.unit)
    runs = len(each.ours)
    ratio = f"{each.ratio:.2f}" if each.their_value else ""
    least = each.floor_value
    floor = f"{_value(least, each.unit)} | {each.our_value / least:.2f}" if least else " | "
    return f"| {what} | {ours} | {against} | {theirs} | {ratio} | {bound(each)} | {met} | {floor} | {runs} |"


def remarks(each: Result) -> str:
    """What is said of a line below the table."""
    value = each.floor_value
    if value is None:
        return each.remark
    share = f" ({value / each.their_value:.2f} of theirs)" if each.their_value else ""
    return "; ".join(filter(None, (each.remark, f"floor: {each.floor_is}{share}")))


def bound(each: Result) -> str:
    """What is good enough, in words."""
    words = "" if each.bound is None else f"{each.bound:g}"
    if each.plus:
        words += f" + {each.plus:g} {each.unit}"
    if each.ceiling is not None:
        words += f"{', ' if words else ''}{each.ceiling:g} {each.unit}"
    return words


def _value(value: float, unit: str) -> str:
    return f"{value:,.1f}" if unit == "ms" else f"{value:,.1f} {unit}"


def _growth(stores: Kept, parts: Sequence[str]) -> Iterator[str]:
    """How each cost grows from store to store, and how the other side's does."""
    values: dict[tuple[str, str], dict[str, Result]] = {}
    for name, store in stores.items():
        for each in results_of(store, parts):
            values.setdefault((each.what, each.against), {})[name] = each
    names = list(stores)
    yield "## Growth"
    yield ""
    yield "Ours on each store, and how many times the first store's value that is; in brackets the other side's."
    yield ""
    yield "| what | " + " | ".join(names) + " | against |"
    yield "|---|" + "--:|" * len(names) + "---|"
    for (what, against), found in values.items():
        first = next(iter(found.values()))
        cells = [_grown(found[name], first) if name in found else "" for name in names]
        yield f"| {what} | " + " | ".join(cells) + f" | {against} |"


def _grown(each: Result, first: Result) -> str:
    text = _value(each.our_value, each.unit)
    if each is first or not first.our_value or not first.their_value:
        return text
    ours, theirs = each.our_value / first.our_value, each.their_value / first.their_value
    return f"{text} ×{ours:.1f} (×{theirs:.1f})"
