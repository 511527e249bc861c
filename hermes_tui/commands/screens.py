"""From the command line to the screen and back: what to open, the app, and what it leaves to be done."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_tui import settings, state
from hermes_tui.commands.stores import Chosen, opened
from hermes_tui.errors import StoreMissing, ThemeMissing
from hermes_tui.lean import without

with without("ssl"):  # nothing here speaks to a network, and to load OpenSSL is 3 % of a start
    import asyncio

if TYPE_CHECKING:
    from hermes_tui.commands.arguments import Arguments
    from hermes_tui.domain.sessions import ConversationPage
    from hermes_tui.intents import HandOver, Intent, PrintAndQuit
    from hermes_tui.service.sessions import SessionService

HEAD_START = 0.001
"""Seconds until the first question is surely on its way to a thread."""
TURN = 0.001
"""Seconds of Python after which a thread gives way to one that waits. A frame goes to the terminal in pieces, by a
thread of Textual's, which by Python's own 5 ms waits so long for each of them while another thread is busy."""


def run(arguments: Arguments, choice: Chosen) -> int:
    """Open the screen; afterwards become `hermes` or print a line, if that is how it was left."""
    from hermes_tui.terminal import unechoed

    chosen, entries = settings.load(arguments.settings)
    _look(choice)
    try:
        with _short_turns(), unechoed() as modes:
            result, code = asyncio.run(_show(arguments, choice, chosen, modes))
    except ThemeMissing as error:
        raise settings.blamed(entries, "theme", str(error)) from error
    if result is None:
        return code
    from hermes_tui import handover
    from hermes_tui.commands import output
    from hermes_tui.intents import HandOver, PrintAndQuit

    if isinstance(result, HandOver):
        return handover.become(result.argv, result.env)
    if isinstance(result, PrintAndQuit):
        output.write_lines([result.line])
    return code


@contextlib.contextmanager
def _short_turns() -> Iterator[None]:
    """Keys, frames and what readers find wait for nobody's turn to end."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(TURN)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def _look(choice: Chosen) -> None:
    """Whether there is anything to open. Raises the first `StoreError` when there is not, except for a store
    that nobody named and that is not there: the screen has a page for that."""
    found, failures = opened(choice)
    if not found and (choice.named or not isinstance(failures[0], StoreMissing)):
        raise failures[0]


async def _show(
    arguments: Arguments, choice: Chosen, chosen: settings.Settings, modes: list[Any] | None
) -> tuple[HandOver | PrintAndQuit | None, int]:
    """Run the app; its result and the exit code."""
    from hermes_tui.service.sqlite import SqliteSessionService

    service = SqliteSessionService(choice.stores)
    first = await _begun(service, chosen) if arguments.command == "browse" else None
    from hermes_tui.app import HermesApp

    passing = contextlib.ExitStack()
    if arguments.demo or arguments.demo_dir:
        folder = tempfile.TemporaryDirectory(prefix="hermes-tui-state-", ignore_cleanup_errors=True)
        state.keep_in(Path(passing.enter_context(folder)))
        passing.callback(state.keep_in, None)
    try:
        opening = await _opening(arguments, service)
        app = HermesApp(service, settings=chosen, opening=opening, first=first)
        app.modes = modes
        result = await app.run_async(mouse=chosen.mouse)
        return result, app.return_code or 0
    finally:
        if first is not None:
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)
        await service.close()
        passing.close()


async def _begun(service: SessionService, chosen: settings.Settings) -> asyncio.Task[ConversationPage]:
    """The list is asked for before Textual is imported: a thread reads while this one is busy with that."""
    first = asyncio.create_task(service.first_page(chosen.query))
    await asyncio.wait({first}, timeout=HEAD_START)
    return first


async def _opening(arguments: Arguments, service: SessionService) -> Intent | None:
    """The first screen, when it is not the list. A target is resolved here, so that an unknown one is an error
    line and not a screen."""
    if arguments.command not in ("search", "open"):
        return None
    from hermes_tui.commands.searches import query_of
    from hermes_tui.domain.links import link_to
    from hermes_tui.domain.sessions import ConversationKey
    from hermes_tui.intents import OpenSearch, OpenTranscript

    if arguments.command == "search":
        query = query_of(arguments)
        return OpenSearch(query.text, order=query.order, scan=query.scan)
    target = await service.target(arguments.target)
    if arguments.at is not None:
        target = await service.target(link_to(target.profile, target.session_id, arguments.at))
    key = ConversationKey(target.profile, target.root_id)
    return OpenTranscript(key, anchor=target.anchor, notice=target.notice)
