"""Search a store without pause, until the input is closed; each complete answer is a line of output.

python searching.py HOME QUERY…
"""

from __future__ import annotations

import asyncio
import itertools
import sys
import threading
from pathlib import Path

from hermes_tui import paths
from hermes_tui.domain.queries import SearchQuery
from hermes_tui.service.sqlite import SqliteSessionService


async def main(home: Path, queries: list[str]) -> None:
    """One query after the other; what runs when the input ends is stopped."""
    service = SqliteSessionService([paths.home_store(home)])

    async def search() -> None:
        for text in itertools.cycle(queries):
            async for _ in service.search(SearchQuery(text)):
                pass
            print(text, flush=True)

    loop = asyncio.get_running_loop()
    searching = asyncio.create_task(search())

    def wait_for_the_end() -> None:
        sys.stdin.read()
        loop.call_soon_threadsafe(searching.cancel)

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    try:
        await searching
    except asyncio.CancelledError:
        await service.close()


asyncio.run(main(Path(sys.argv[1]), sys.argv[2:]))
