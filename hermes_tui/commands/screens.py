"""From the command line to the screen and back: what to open, the app, and what it leaves to be done."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_tui import handover, settings, state
from hermes_tui.commands import output
from hermes_tui.commands.arguments import Arguments
from hermes_tui.commands.configs import options_of
from hermes_tui.commands.searches import query_of
from hermes_tui.commands.stores import Chosen, opened
from hermes_tui.domain.links import link_to
from hermes_tui.domain.sessions import ConversationKey
from hermes_tui.errors import StoreMissing, ThemeMissing
from hermes_tui.service.sessions import SessionService

if TYPE_CHECKING:
    from hermes_tui.intents import HandOver, Intent, PrintAndQuit


def run(arguments: Arguments, choice: Chosen) -> int:
    """Open the screen; afterwards become `hermes` or print a line, if that is how it was left."""
    chosen, entries = settings.load(options_of(arguments))
    _look(choice)
    gc.enable()
    try:
        result, code = asyncio.run(_show(arguments, choice, chosen))
    except ThemeMissing as error:
        raise settings.blamed(entries, "theme", str(error)) from error
    from hermes_tui.intents import HandOver, PrintAndQuit

    if isinstance(result, HandOver):
        return handover.become(result.argv, result.env)
    if isinstance(result, PrintAndQuit):
        output.write_lines([result.line])
    return code


def _look(choice: Chosen) -> None:
    """Whether there is anything to open. Raises the first `StoreError` when there is not, except for a store
    that nobody named and that is not there: the screen has a page for that."""
    found, failures = opened(choice)
    if not found and (choice.named or not isinstance(failures[0], StoreMissing)):
        raise failures[0]


async def _show(
    arguments: Arguments, choice: Chosen, chosen: settings.Settings
) -> tuple[HandOver | PrintAndQuit | None, int]:
    """Run the app; its result and the exit code."""
    from hermes_tui.app import HermesApp, connect_to_sqlite

    service = connect_to_sqlite(choice.stores)
    passing = contextlib.ExitStack()
    if arguments.demo or arguments.demo_dir:
        folder = tempfile.TemporaryDirectory(prefix="hermes-tui-state-", ignore_cleanup_errors=True)
        state.keep_in(Path(passing.enter_context(folder)))
        passing.callback(state.keep_in, None)
    try:
        opening = await _opening(arguments, service)
        app = HermesApp(service, settings=chosen, opening=opening)
        result = await app.run_async(mouse=chosen.mouse)
        return result, app.return_code or 0
    finally:
        await service.close()
        passing.close()


async def _opening(arguments: Arguments, service: SessionService) -> Intent | None:
    """The first screen, when it is not the list. A target is resolved here, so that an unknown one is an error
    line and not a screen."""
    from hermes_tui.intents import OpenSearch, OpenTranscript

    if arguments.command == "search":
        query = query_of(arguments)
        return OpenSearch(query.text, order=query.order, scan=query.scan)
    if arguments.command != "open":
        return None
    target = await service.target(arguments.target)
    if arguments.at is not None:
        target = await service.target(link_to(target.profile, target.session_id, arguments.at))
    key = ConversationKey(target.profile, target.root_id)
    return OpenTranscript(key, anchor=target.anchor, notice=target.notice)
