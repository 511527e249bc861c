"""Help texts and shell completion, made of the table of commands and options."""

from __future__ import annotations

import argparse
import re
from typing import Any

from hermes_tui import themenames
from hermes_tui.commands.options import BARE, BROWSE, COMMANDS, OPTIONS, Command, Option, orders, told
from hermes_tui.domain.filters import ROLES

_PROGRAM = "hermes-tui"
_INTRO = "Browse, search, read and resume your Hermes Agent sessions. Reads Hermes' state.db and never writes to it."
_CODES = """exit codes:
  0 found or done; 1 nothing found, or a target that is unknown or ambiguous;
  2 wrong usage, or a query that cannot be understood; 3 a store that cannot be read
"""

_PROFILE_FUNCTIONS = {"bash": "_hermes_tui_profiles", "zsh": "_hermes_tui_profiles"}
_NAMES = r"hermes-tui profiles 2>/dev/null | sed -n 's/^\([a-z0-9][a-z0-9_-]*\)  .*/\1/p'"
"""The first column of the table; what is no profile name, and could mean something to a shell, is left out."""
_PROFILES = {
    "bash": f"""_hermes_tui_profiles() {{
  compgen -W "$({_NAMES})" -- "$1"
}}""",
    "zsh": f"""_hermes_tui_profiles() {{
  compadd -- ${{(f)"$({_NAMES})"}}
}}""",
}
_AFTER_EQUALS = """
# bash takes --sort=title apart: as if it were --sort title
_hermes_tui() {
  local words=() at=$COMP_CWORD i
  for i in "${!COMP_WORDS[@]}"; do
    if [[ "${COMP_WORDS[i]}" == "=" && $i -gt 0 && "${COMP_WORDS[i-1]}" == --* ]]; then
      if [[ $i -eq $COMP_CWORD ]]; then words+=(""); fi
      if [[ $i -lt $COMP_CWORD ]]; then at=$((at - 1)); fi
    else
      words+=("${COMP_WORDS[i]}")
    fi
  done
  local COMP_WORDS=("${words[@]}") COMP_CWORD=$at
  _shtab_hermes_tui "$@"
}
complete -o bashdefault -F _hermes_tui hermes-tui
"""
_VALUED = r'(?m)^(\s*"--[a-z-]+)\[(.*?[^\\])\]:'
"""An option of `_arguments` that takes a value: zsh is told that the value may follow after `=`."""


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
    _complete_values(made, {"PATH": shtab.FILE, "DIR": shtab.DIRECTORY, "--profile": _PROFILE_FUNCTIONS})
    script = str(shtab.complete(made, shell=shell, preamble=_PROFILES.get(shell, "")))
    if shell == "zsh":
        return re.sub(_VALUED, r"\1=[\2]:", script)
    return script + _AFTER_EQUALS if shell == "bash" else script


def _complete_values(made: argparse.ArgumentParser, how: dict[str, Any]) -> None:
    """Let the shell complete values that are files, folders or profiles."""
    for action in made._actions:  # argparse has no public way to its arguments
        if isinstance(action, argparse._SubParsersAction):
            for each in action.choices.values():
                _complete_values(each, how)
            continue
        for name in (action.metavar, *action.option_strings):
            if name in how:
                action.complete = how[str(name)]  # type: ignore[attr-defined]  # what shtab looks for


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


def _known(option: Option, command: str) -> list[str]:
    """What its value may be, where that is known without a store."""
    if option.flag == "--sort":
        return orders(command)
    if option.flag == "--role":
        return list(ROLES)
    return sorted(themenames.KNOWN) if option.flag == "--theme" else []


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
        known = _known(option, command.name)
        if option.flag == "--sort":
            text = f"{text}: {', '.join(known)}"
        if known:
            made.add_argument(*flags, metavar=option.value, help=text, choices=known)
        elif option.value:
            made.add_argument(*flags, metavar=option.value, help=text)
        else:
            made.add_argument(*flags, action="store_true", help=text)
