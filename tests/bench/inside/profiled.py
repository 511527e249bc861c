"""The program under a sampling profiler: what each of its threads was at, looked at every millisecond.

    profiled.py FILE command WORD…       a command line
    profiled.py FILE answer DB QUERY     the service's complete answer, the third time it is asked

FILE is written: JSON, part of the program → how often a thread was seen there.
"""

from __future__ import annotations

import json
import linecache
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

PAUSE = 0.001
_WAITS = {"threading.py", "selectors.py"}
_ASKS = (".execute(", ".fetchall(", ".fetchone(", ".fetchmany(", "sqlite3.connect(")


def place(frame: FrameType) -> str | None:
    """What a thread is told to be at; None where it waits for another."""
    if Path(frame.f_code.co_filename).name in _WAITS:
        return None
    stack = list(_up(frame))
    if any("importlib" in each.f_code.co_filename for each in stack):
        return "imports"
    for each in stack:
        parts = Path(each.f_code.co_filename).parts
        if "hermes_tui" in parts:
            file = "/".join(parts[len(parts) - parts[::-1].index("hermes_tui") :])
            line = linecache.getline(each.f_code.co_filename, each.f_lineno or 0)
            asks = any(word in line for word in _ASKS)
            return f"SQLite for {file}" if asks and each is frame else file
    return "Python's own"


def _up(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def sampled(work: Callable[[], object], seen: Counter[str]) -> None:
    """Do it, and look meanwhile."""
    over, own = threading.Event(), set[int]()

    def look() -> None:
        own.add(threading.get_ident())
        while not over.wait(PAUSE):
            for thread, frame in sys._current_frames().items():
                if thread not in own and (at := place(frame)) is not None:
                    seen[at] += 1

    looking = threading.Thread(target=look)
    looking.start()
    try:
        work()
    finally:
        over.set()
        looking.join()


def command(seen: Counter[str]) -> None:
    """From the first import on."""

    def work() -> None:
        from hermes_tui.cli import main

        main(sys.argv[3:])

    sampled(work, seen)


def answer(seen: Counter[str]) -> None:
    """With everything imported, and remembered that is remembered."""
    import asyncio

    from hermes_tui import paths
    from hermes_tui.domain.queries import SearchQuery
    from hermes_tui.service.sqlite import SqliteSessionService

    with asyncio.Runner() as runner:
        service = SqliteSessionService([paths.file_store(Path(sys.argv[3]))])

        async def ask() -> None:
            async for _ in service.search(SearchQuery(sys.argv[4])):
                pass

        runner.run(ask())
        runner.run(ask())
        began = time.perf_counter()
        while time.perf_counter() - began < 1:  # a short one is asked until enough was seen
            sampled(lambda: runner.run(ask()), seen)
        runner.run(service.close())


sys.setswitchinterval(PAUSE / 2)  # else who looks would wait for whoever counts
found: Counter[str] = Counter()
(answer if sys.argv[2] == "answer" else command)(found)
Path(sys.argv[1]).write_text(json.dumps(found), "utf-8")
