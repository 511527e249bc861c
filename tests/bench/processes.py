"""Whole processes, beside those of Hermes: from their start to their end, or to the first rows painted."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from hermes_tui import paths
from hermes_tui.domain.sessions import ListQuery
from hermes_tui.service.sqlite import SqliteSessionService
from tests import real_stores
from tests.bench.measuring import Result, few, wall
from tests.bench.ptyperf import PtyApp
from tests.bench.stores import Bench

INSIDE = Path(__file__).parent / "inside"
_IMPORTED = (
    "import hermes_tui.cli, hermes_tui.commands.searches, hermes_tui.service.direct, hermes_tui.service.searching"
)
ONE_SEARCH = Path(__file__).parent.parent / "hermes_side" / "one_search.py"


def _hermes_list(bench: Bench) -> float:
    hermes = real_stores.hermes_python().parent / "hermes"
    return wall([hermes, "-p", "default", "sessions", "list", "--limit", "20"], bench.env)


def lists(bench: Bench) -> Iterator[Result]:
    """`hermes-tui list` beside `hermes sessions list`."""
    least = [bench.python, str(INSIDE / "least_list.py"), str(bench.db), "20"]
    ours, theirs, floor = bench.in_turn(
        partial(wall, [*bench.tui, "list", "--limit", "20"], bench.env),
        partial(_hermes_list, bench),
        partial(wall, least, bench.env),
    )
    yield Result(
        "`hermes-tui list --limit 20`",
        ours,
        "`hermes sessions list`, 20 rows",
        theirs,
        0.15,
        floor=floor,
        floor_is="the same start, the columns of all sessions, sorted and written as they are",
    )


def searches(bench: Bench) -> Iterator[Result]:
    """`hermes-tui search` beside a process that imports Hermes and runs its `session_search`."""
    python = real_stores.hermes_python()
    for kind, query in bench.queries.items():
        mine = [*bench.tui, "search", query]
        other = [str(python), str(ONE_SEARCH), str(bench.db), query]
        least = [bench.python, str(INSIDE / "least_search.py"), str(bench.db), query]
        ours, theirs, ten, least_of_all, least_of_ten, imports = bench.in_turn(
            partial(wall, mine, bench.env),
            partial(wall, other, bench.env),
            partial(wall, [*mine, "--limit", "10"], bench.env),
            partial(wall, least, bench.env),
            partial(wall, [*least, "10"], bench.env),
            partial(wall, [bench.python, "-c", _IMPORTED], bench.env),
        )
        median = statistics.median
        few_rows = f"with `--limit 10`, as many rows as `session_search` gives: {median(ten):.1f} ms"
        few_rows += f" ({median(ten) / median(theirs):.2f}), of which the least is {median(least_of_ten):.1f} ms"
        start = f"Python with the modules of the command, and nothing asked: {median(imports):.1f} ms"
        yield Result(
            f"`hermes-tui search`, {kind}: `{query}`",
            ours,
            "a process that runs `session_search`",
            theirs,
            0.35,
            remark="; ".join(filter(None, (few(ours, bench.rounds), few_rows, start))),
            floor=least_of_all,
            floor_is="the same start, the columns of all sessions, one statement that scores what an index finds, "
            "the best message of each session written as it is",
        )


def starts(bench: Bench) -> Iterator[Result]:
    """The screen's first rows, beside the least of Textual and beside `hermes sessions list`."""
    title = newest_title(bench)
    label, lines = ([bench.python, str(INSIDE / name)] for name in ("one_label.py", "bare_lines.py"))
    rows, least, hermes, floor = bench.in_turn(
        partial(first_painted, bench, bench.tui, title),
        partial(first_painted, bench, label, "READY"),
        partial(_hermes_list, bench),
        partial(first_painted, bench, lines, "READY"),
    )
    floor_is = "a Textual app that draws an input and as many lines made beforehand"
    for against, theirs, limit in (
        ("a Textual app with one label", least, 1.3),
        ("`hermes sessions list`, 20 rows", hermes, 0.5),
    ):
        yield Result("screen: start → first rows", rows, against, theirs, limit, floor=floor, floor_is=floor_is)


def first_painted(bench: Bench, argv: list[str], needle: str) -> float:
    """Milliseconds until this text is painted."""
    with PtyApp(argv, size=(120, 40), env=bench.env) as app:
        painted = app.wait_for(needle) * 1_000
        app.wait_quiet(0.05)
        app.send("ctrl+q")
        app.wait_exit()
    return painted


def newest_title(bench: Bench) -> str:
    """A piece of the title of one of the first rows of the list."""

    async def ask() -> str:
        service = SqliteSessionService([paths.home_store(bench.home)])
        try:
            page = await service.conversations(ListQuery())
            return next(row.title for row in page.rows[:10] if row.title and row.title.isascii())[:16]
        finally:
            await service.close()

    return asyncio.run(ask())
