"""Questions on an event loop, for commands that ask several things at once. A signal breaks them off in order."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


def run(asked: Callable[[], Awaitable[T]], ended: Callable[[int], BaseException]) -> T:
    """The answer. Raises what `ended` makes of the number of a signal that came meanwhile.

    A handler that raises would do so wherever the loop is, and leave tasks behind that complain about it; here
    the loop is told, and everything that waits is given up and closed.
    """
    told: list[int] = []
    names = ("SIGINT", "SIGTERM", "SIGHUP") if os.name != "nt" else ()
    handlers = {number: signal.getsignal(number) for number in (getattr(signal, name) for name in names)}
    handlers = {number: handler for number, handler in handlers.items() if handler is not signal.SIG_IGN}

    async def asking() -> T:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def end(number: int) -> None:
            told.append(number)
            task.cancel()

        for number in handlers:
            loop.add_signal_handler(number, end, number)
        return await asked()

    try:
        answer = asyncio.run(asking())
    except asyncio.CancelledError:
        if not told:
            raise
        raise ended(told[0]) from None
    finally:
        for number, handler in handlers.items():  # closing the loop has put the system's own there
            signal.signal(number, handler)
    if told:
        raise ended(told[0])
    return answer
