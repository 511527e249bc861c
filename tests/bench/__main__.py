"""`python -m tests.bench`: the program beside Hermes and beside bare SQL, on a store that Hermes wrote.

Measured and reported, never asserted. Writes `RESULTS.md` beside this file. The store is the seed-size one (237
sessions, 25,563 messages); `--sessions` and `--messages` ask for another, made on first use and kept.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import time
import venv
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from hermes_tui import paths
from hermes_tui.domain.queries import SearchQuery
from hermes_tui.service.sqlite import SqliteSessionService
from tests import real_stores
from tests.bench.measuring import RUNS, Result, in_turn, wall
from tests.bench.ptyperf import PtyApp
from tests.tools import ROOT

RESULTS = Path(__file__).parent / "RESULTS.md"
SEED = {"sessions": 237, "messages": 25_563, "cron": 0.8186, "tool_bytes": 5_750, "seed": 1}
_QUERIES = {
    "a rare word": "quokkaflux",
    "a word in seven messages": "zephyrine",
    "a medium word": "rollback",
    "a common word": "deploy",
    "two words": "deploy session",
    "a phrase": '"harbour lights"',
}
_LABEL = """
from textual.app import App
from textual.widgets import Label

class One(App):
    def compose(self):
        yield Label("READY")

One().run()
"""
_BARE = """
select m.id, m.session_id, m.role, m.timestamp, snippet(messages_fts, -1, '>>>', '<<<', '…', 40)
from messages_fts
join messages m on m.id = messages_fts.rowid
join sessions s on s.id = m.session_id
where messages_fts match ? and m.role in ('user', 'assistant')
order by rank
limit 300
"""


def installed(scratch: Path) -> Path:
    """The `bin` of an environment with the program as users have it: from its wheel, compiled."""
    folder = scratch / "venv"
    venv.create(folder, with_pip=True)
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [str(folder / "bin" / "pip"), "install", "-q", "--compile", str(ROOT)]
    subprocess.run(command, env=env, check=True, stderr=subprocess.DEVNULL)
    return folder / "bin"


def first_rows(argv: list[str], env: dict[str, str], needle: str) -> float:
    """Milliseconds until this text is painted."""
    with PtyApp(argv, size=(120, 40), env=env) as app:
        painted = app.wait_for(needle) * 1_000
        app.wait_quiet(0.05)
        app.send("ctrl+q")
        app.wait_exit()
    return painted


def processes(home: Path, scratch: Path) -> list[Result]:
    """Whole processes, from start to end or to the first rows."""
    bin = installed(scratch)
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "HERMES"))}
    env["HERMES_HOME"] = str(home)
    hermes = real_stores.hermes_python().parent / "hermes"
    title = newest_title(home)

    def sessions_list() -> float:
        return wall([hermes, "-p", "default", "sessions", "list"], env)

    def label() -> float:
        return first_rows([str(bin / "python"), "-c", _LABEL], env, "READY")

    def rows() -> float:
        return first_rows([str(bin / "hermes-tui"), "--home", str(home)], env, title)

    tui = bin / "hermes-tui"
    everything: list[str | Path] = [tui, "list", "--home", home]
    listing = [*everything, "--limit", "20"]
    hermes_name, label_name = "`hermes sessions list`", "a Textual app with one label"
    return [
        in_turn("`hermes-tui list --limit 20`", lambda: wall(listing, env), hermes_name, sessions_list, 0.25),
        in_turn("`hermes-tui list`", lambda: wall(everything, env), hermes_name, sessions_list),
        in_turn("the screen: start → first rows", rows, hermes_name, sessions_list, 1.0),
        in_turn("the screen: start → first rows", rows, label_name, label),
    ]


def newest_title(home: Path) -> str:
    """A piece of the title in the first row of the list."""

    async def ask() -> str:
        from hermes_tui.domain.sessions import ListQuery

        service = SqliteSessionService([paths.home_store(home)])
        try:
            page = await service.conversations(ListQuery())
            return next(row.title for row in page.rows[:10] if row.title and row.title.isascii())[:16]
        finally:
            await service.close()

    return asyncio.run(ask())


def searches(home: Path) -> list[Result]:
    """The service in this process, to its last page, beside the bare SQL: rank, join, snippet, limit 300."""
    with asyncio.Runner() as runner:
        service = SqliteSessionService([paths.home_store(home)])
        conn = sqlite3.connect(f"{(home / 'state.db').as_uri()}?mode=ro", uri=True)

        async def ask(text: str, whole: bool) -> None:
            async for page in service.search(SearchQuery(text)):
                if page.hits and not whole:
                    break

        def ours(text: str, whole: bool) -> Callable[[], float]:
            return lambda: _timed(lambda: runner.run(ask(text, whole)))

        def bare(text: str) -> Callable[[], float]:
            return lambda: _timed(lambda: conn.execute(_BARE, (text,)).fetchall())

        found = [
            in_turn(f"search, {part}, {name}: `{text}`", ours(text, whole), "bare SQL", bare(text), wanted)
            for part, whole, wanted in (("first hits", False, None), ("whole answer", True, 1.5))
            for name, text in _QUERIES.items()
        ]
        runner.run(service.close())
        conn.close()
    return found


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1_000


def report(results: list[Result], store: str) -> str:
    """The table, with what it was measured on."""
    spread = statistics.median(max(each.ours) / min(each.ours) for each in results)
    return "\n".join(
        [
            "# Measured",
            "",
            f"By `python -m tests.bench` on {datetime.now(UTC):%Y-%m-%d}; {store}.",
            f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
            f"SQLite {sqlite3.sqlite_version}. Medians of {RUNS} runs, both sides in turn; milliseconds. Look at the "
            f"ratios: the slowest run took {spread:.1f} times the quickest (median over the lines).",
            "",
            "| what | ms | against | ms | ratio | wanted |",
            "|---|--:|---|--:|--:|--:|",
            *(each.row() for each in results),
            "",
        ]
    )


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=SEED["sessions"])
    parser.add_argument("--messages", type=int, default=SEED["messages"])
    parser.add_argument("--to", type=Path, default=RESULTS)
    args = parser.parse_args()
    bulk = {"bulk": True} if args.messages > 100_000 else {}
    kept = real_stores.store_home(**{**SEED, "sessions": args.sessions, "messages": args.messages, **bulk})
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        shutil.copytree(kept, home)
        size = (home / "state.db").stat().st_size / 1e6
        store = (
            f"a store of {args.sessions:,} sessions, {args.messages:,} messages, {size:,.0f} MB, written by Hermes"
        )
        results = processes(home, Path(folder)) + searches(home)
    text = report(results, f"{store} {real_stores.LATEST}")
    print(text)
    args.to.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
