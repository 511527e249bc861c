"""The command `hermes-tui`: arguments → stores → service → screen, text or JSON → exit code.

Nothing heavy is imported before it is known to be needed: a command that prints takes no Textual.
"""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, TypeVar

from hermes_tui.errors import HermesTuiError, ThemeMissing, UsageError

if TYPE_CHECKING:
    from hermes_tui.commands.answers import Answer, Asked
    from hermes_tui.commands.arguments import Arguments
    from hermes_tui.commands.stores import Chosen
    from hermes_tui.service.reader import Reader

_INTERRUPTED = 130
_COMMANDS = {
    "list": ("lists", "run"),
    "search": ("searches", "run"),
    "show": ("transcripts", "run"),
    "tree": ("families", "run"),
    "link": ("resumes", "link"),
    "doctor": ("checkups", "run"),
}
"""Command → module of `commands` and its function."""
_LOOPLESS = frozenset({"list", "search", "show", "tree", "link"})
"""Commands that ask one thing after the other."""
T = TypeVar("T")


class _Ended(SystemExit):
    """Told to end by a signal; a SystemExit, so that asyncio lets it through."""


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the command line says; the result is the exit code (SPEC 10)."""
    try:
        with _ending(), _uncollected(last=argv is None):
            return _main(sys.argv[1:] if argv is None else list(argv))
    except KeyboardInterrupt:
        return _INTERRUPTED
    except _Ended as ended:
        return int(ended.code or 0)
    except BrokenPipeError:
        return 0  # whoever read our output has seen enough
    except RuntimeError as error:
        # Before Python 3.12, what a signal raises while a class is being made arrives wrapped.
        if isinstance(error.__cause__, _Ended):
            return int(error.__cause__.code or 0)
        if isinstance(error.__cause__, KeyboardInterrupt):
            return _INTERRUPTED
        raise


@contextmanager
def _ending() -> Iterator[None]:
    """SIGTERM and SIGHUP end us in order: threads joined, temporary files removed, terminal restored."""

    def end(number: int, frame: FrameType | None) -> None:
        raise _Ended(128 + number)

    before = {}
    for number in (getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup leaves it
            before[number] = signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _uncollected(*, last: bool) -> Iterator[None]:
    """A command keeps nearly all that it makes until its end: looking for rubbish meanwhile is a tenth of its
    time. The screen turns the collector on again. `last`: the process ends here, and Python need not go through
    all that is left once more."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if last:
            gc.freeze()
            _last_words()
        if was:
            gc.enable()


def _last_words() -> None:
    """Send what is still to be sent, unless nobody takes it any more, as when the terminal was closed."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            from hermes_tui.commands import output

            output.let_go(stream)


def _main(argv: Sequence[str]) -> int:
    from hermes_tui import times
    from hermes_tui.commands import arguments

    given = None
    try:
        given = arguments.read(argv)
        times.now()  # a fixed present that is none is refused here, not in the middle of something
        return _do(given)
    except HermesTuiError as failure:
        from hermes_tui.commands import failures

        return failures.told(given, failure)


def _do(given: Arguments) -> int:
    if given.help or given.version:
        from hermes_tui.commands import output

        output.write_lines([_about(given)])
        return 0
    _check_theme(given)
    if given.command == "completion":
        from hermes_tui.commands import output, parsers

        output.write_lines([parsers.completion(given.words[0])])
        return 0
    if given.command == "config":
        from hermes_tui.commands import configs

        return _give(given, configs.run(given))
    if given.screen:
        _require_terminal(given)
    with _demo(given):
        return _with_stores(given)


def _check_theme(given: Arguments) -> None:
    """A theme that does not exist is wrong wherever it is named, by option or in the environment, drawn or not; the
    file is read where it matters. Names that are known need no Textual."""
    import os

    from hermes_tui import themenames

    theme = given.theme if given.theme is not None else os.environ.get(themenames.VARIABLE, "").strip() or "auto"
    if theme in themenames.KNOWN and given.command != "config":
        return
    from hermes_tui import settings

    chosen, entries = settings.load(given.settings, path=None if given.command == "config" else Path(os.devnull))
    if chosen.theme in themenames.KNOWN:
        return
    from hermes_tui.widgets import themes

    try:
        themes.require(chosen.theme)
    except ThemeMissing as missing:
        raise settings.blamed(entries, "theme", str(missing)) from missing


def _about(given: Arguments) -> str:
    if given.version:
        from hermes_tui import __version__

        return f"hermes-tui {__version__}"
    from hermes_tui.commands import parsers

    return parsers.help_text(given.command).rstrip()


def _require_terminal(given: Arguments) -> None:
    import os

    for stream, name in ((sys.stdin, "input"), (sys.stdout, "output")):
        if stream is None or not stream.isatty():
            raise UsageError(f"{name} is no terminal; for text use list, search or show (see hermes-tui --help)")
    if os.environ.get("TERM") == "dumb":
        raise UsageError("TERM=dumb has no screen; for text use list, search or show (see hermes-tui --help)")


@contextmanager
def _demo(given: Arguments) -> Iterator[None]:
    """Write the sample store where one is asked for, and point the arguments at it."""
    if not given.demo and given.demo_dir is None:
        yield
        return
    import os
    import tempfile

    from hermes_tui import demo, times

    if given.demo_dir is not None:
        given.store = demo.write_demo(Path(os.path.expanduser(given.demo_dir)), times.now())
        yield
        return
    with tempfile.TemporaryDirectory(prefix="hermes-tui-demo-", ignore_cleanup_errors=True) as folder:
        given.store = demo.write_demo(Path(folder), times.now())
        yield


def _with_stores(given: Arguments) -> int:
    from hermes_tui.commands import stores

    if given.command == "profiles":
        from hermes_tui.commands import profiles

        return _give(given, profiles.run(stores.root(given)))
    choice = stores.chosen(given)
    if given.words and given.command == "search":
        choice = stores.for_words(choice, given)
    elif given.words:
        choice = stores.for_target(choice, given.target)
    given.stores, given.problems = choice.stores, choice.problems
    if given.command == "doctor" or (len(choice.stores) > 1 and given.words and given.command != "search"):
        choice = stores.readable(choice, wait=not given.screen)
    given.stores, given.problems = choice.stores, choice.problems
    if given.screen:
        from hermes_tui.commands import screens

        return screens.run(given, choice)
    if given.command == "resume":
        return _resume(given, choice)
    if given.command in _LOOPLESS:
        return _give(given, _ask_directly(given, choice))
    return _give(given, _ask(given, choice, _command(given.command)))


def _ask_directly(given: Arguments, choice: Chosen) -> Answer:
    """As `_ask`, without an event loop: importing asyncio would be a quarter of the time. A search begins with what
    every search asks, while Python is still importing the rest of it."""
    from hermes_tui.service.direct import DirectReader, drive

    reader = DirectReader()
    try:
        if given.command == "search" and len(choice.stores) == 1:
            from hermes_tui.storage.fts import look_ahead

            reader.meanwhile(choice.stores[0], look_ahead)
        return drive(_asking(given, choice, _command(given.command), reader))
    finally:
        reader.close()


def _ask(given: Arguments, choice: Chosen, run: Callable[[Asked], Awaitable[T]]) -> T:
    """Let a command ask its stores; threads and connections are gone afterwards."""
    from hermes_tui.commands import looping

    return looping.run(lambda: _asking(given, choice, run), lambda number: _Ended(128 + number))


async def _asking(
    given: Arguments, choice: Chosen, run: Callable[[Asked], Awaitable[T]], reader: Reader | None = None
) -> T:
    import os

    from hermes_tui.commands.answers import Asked
    from hermes_tui.commands.looks import look_of
    from hermes_tui.service.sqlite import SqliteSessionService

    look = look_of(os.environ, ascii=given.ascii, no_color=given.no_color)
    service = SqliteSessionService(choice.stores, reader=reader)
    try:
        return await run(Asked(given, service, choice.problems, look))
    finally:
        await service.close()


def _command(name: str) -> Callable[[Asked], Awaitable[Answer]]:
    """The command's function; only its own module is imported."""
    from importlib import import_module

    module, function = _COMMANDS[name]
    found: Callable[[Asked], Awaitable[Answer]] = getattr(import_module(f"hermes_tui.commands.{module}"), function)
    return found


def _give(given: Arguments, answer: Answer) -> int:
    """Failures of single stores to stderr, the answer to stdout."""
    from hermes_tui.commands import output

    for each in answer.errors:
        output.say(f"hermes-tui: {each.error}")
    if given.json:
        output.write_json(answer.document())
    else:
        output.write_lines(answer.lines())
    return answer.code


def _resume(given: Arguments, choice: Chosen) -> int:
    """Become `hermes`, or print how."""
    from hermes_tui import handover
    from hermes_tui.commands import output, resumes

    plan, answer = _ask(given, choice, resumes.run)
    if not (given.json or given.print):
        handover.program(plan.argv, plan.env)  # one that is missing is said once, with the command to copy
    for notice in plan.notices if not given.json else ():
        output.say(notice)
    if given.json or given.print:
        return _give(given, answer)
    return handover.become(plan.argv, plan.env)
