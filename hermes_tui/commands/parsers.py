"""Help texts and shell completion, made of the table of commands and options."""

from __future__ import annotations

import argparse
from typing import Any

from hermes_tui.commands.options import BARE, BROWSE, COMMANDS, OPTIONS, Command, orders, told

_PROGRAM = "hermes-tui"
_INTRO = "Browse, search, read and resume your Hermes Agent sessions. Reads Hermes' state.db and never writes to it."
_CODES = """exit codes:
  0 found or done; 1 nothing found, or a target that is unknown or ambiguous;
  2 wrong usage, or a query that cannot be understood; 3 a store that cannot be read
"""


def help_text(command: str) -> str:
    """`hermes-tui --help`, or that of one command."""
    if command == BROWSE:
        return parser().format_help()
    made = argparse.ArgumentParser(prog=f"{_PROGRAM} {command}", allow_abbrev=False)
    _fill(made, COMMANDS[command])
    made.description = f"{COMMANDS[command].help}."
    return made.format_help()


def completion(shell: str) -> str:
    """A script for this shell."""
    import shtab

    made = parser()
    _complete_paths(made, {"PATH": shtab.FILE, "DIR": shtab.DIRECTORY})
    return str(shtab.complete(made, shell=shell))


def _complete_paths(made: argparse.ArgumentParser, how: dict[str, Any]) -> None:
    """Let the shell complete values that are files or folders."""
    for action in made._actions:  # argparse has no public way to its arguments
        if isinstance(action, argparse._SubParsersAction):
            for each in action.choices.values():
                _complete_paths(each, how)
        elif action.metavar in how:
            action.complete = how[str(action.metavar)]  # type: ignore[attr-defined]  # what shtab looks for


def parser() -> argparse.ArgumentParser:
    """The whole command line for argparse: it writes the help, and shtab reads it. It parses nothing."""
    made = argparse.ArgumentParser(
        prog=_PROGRAM,
        description=_INTRO,
        epilog=_CODES,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--version", action="store_true", help="the version")
    _fill(made, BARE)
    commands = made.add_subparsers(title="commands", metavar="COMMAND")
    for command in COMMANDS.values():
        _fill(commands.add_parser(command.name, help=command.help, allow_abbrev=False), command)
    return made


def _fill(made: argparse.ArgumentParser, command: Command) -> None:
    if command.word:
        made.add_argument(
            command.word,
            nargs="+" if command.many else None,
            choices=command.choices or None,
            help=command.word_help.replace("%", "%%"),
        )
    for option in OPTIONS.values():
        if not told(option, command.name):
            continue
        flags = [option.short, option.flag] if option.short else [option.flag]
        text = option.help.replace("%", "%%")
        if option.flag == "--sort":
            known = orders(command.name)
            made.add_argument(*flags, metavar=option.value, help=f"{text}: {', '.join(known)}", choices=known)
        elif option.value:
            made.add_argument(*flags, metavar=option.value, help=text)
        else:
            made.add_argument(*flags, action="store_true", help=text)
