"""Every command and every option, once: the reader of the command line, the help and shell completion are made
of these tables."""

from __future__ import annotations

from hermes_tui.domain.sessions import Order
from hermes_tui.values import NamedTuple

BROWSE = "browse"
"""The bare command; it has no word of its own."""
SHELLS = ("bash", "zsh", "fish")


_WORDS = {
    "TARGET": "a session: its @session link, its id or the beginning of it, a title, also as the list shows it, "
    "or `latest`",
    "WORDS": 'words, which must all occur; "phrases", prefix*, AND OR NOT in capitals, and filters: source:cli '
    "after:7d is:pinned …; a link or an id finds its conversation",
    "SHELL": "the shell that is to complete",
}
"""What the argument of a command may be."""


class Command(NamedTuple):
    """One command and what stands after it. A tuple, as is `Option`: dozens are made at every start."""

    name: str
    help: str
    word: str = ""
    """What its argument is called; empty for none."""
    many: bool = False
    """Whether it takes several words."""
    choices: tuple[str, ...] = ()
    screen: bool = False
    """It opens the full-screen program."""

    @property
    def word_help(self) -> str:
        """What may stand there."""
        return _WORDS.get(self.word, "")


COMMANDS = {
    command.name: command
    for command in (
        Command("open", "read a conversation on the screen", "TARGET", screen=True),
        Command("list", "list conversations"),
        Command("search", "search every word", "WORDS", many=True),
        Command("show", "print a conversation", "TARGET"),
        Command("tree", "print the family of a session", "TARGET"),
        Command("resume", "continue a session in hermes", "TARGET"),
        Command("link", "print the @session link of a session", "TARGET"),
        Command("profiles", "list profiles and their databases"),
        Command("config", "show the settings in force"),
        Command("completion", "print a shell completion script", "SHELL", choices=SHELLS),
        Command("doctor", "check stores and indexes"),
    )
}
BARE = Command(BROWSE, "browse every session", screen=True)
_DATA = ("list", "search", "show", "tree", "resume", "link", "profiles", "config", "doctor")
_ROWS = (BROWSE, "list", "search")
_LOOKING = (BROWSE, "open", "search", "config")
"""Commands that have a screen, or tell how it will look."""
_SIGNS = ("list", "search", "show", "tree")
"""Commands that print signs of ours."""


class Option(NamedTuple):
    """One option."""

    flag: str
    help: str
    value: str = ""
    """What its value is called; empty for a switch."""
    number: bool = False
    repeats: bool = False
    commands: tuple[str, ...] = ()
    """Those it means something to; empty for all."""
    short: str = ""
    looks: bool = False
    """It changes what is drawn and nothing that is printed: accepted everywhere, told where there is a screen."""

    @property
    def name(self) -> str:
        """Its field in `Arguments`."""
        return self.flag[2:].replace("-", "_")


OPTIONS = {
    option.flag: option
    for option in (
        Option("--db", "a database file", "PATH"),
        Option("--home", "a Hermes home", "DIR"),
        Option("--profile", "a profile; may be given several times", "NAME", repeats=True, short="-p"),
        Option("--all-profiles", "every profile"),
        Option("--demo", "a sample store, removed at exit"),
        Option("--demo-dir", "a sample store in DIR, which stays", "DIR"),
        Option("--limit", "at most N rows", "N", number=True, commands=("list", "search")),
        Option("--offset", "leave out the first N rows", "N", number=True, commands=("list", "search")),
        Option("--all", "also what is hidden by default", commands=_ROWS),
        Option("--sort", "order of the rows", "ORDER", commands=_ROWS),
        Option("--reverse", "the other way round", commands=_ROWS),
        Option("--scan", "also read tool output that no index holds", commands=("search",)),
        Option("--source", "only from this source", "NAME", repeats=True, commands=_ROWS),
        Option(
            "--role",
            "only messages of this role: user, assistant, tool or system",
            "ROLE",
            repeats=True,
            commands=_ROWS,
        ),
        Option("--workspace", "only where the workspace contains this", "TEXT", repeats=True, commands=_ROWS),
        Option("--before", "only before this date or time", "DATE", repeats=True, commands=_ROWS),
        Option(
            "--after",
            "only from then on: 2026-11-30, 2026-11-30T14:00, 24h, 7d, today, yesterday",
            "DATE",
            repeats=True,
            commands=_ROWS,
        ),
        Option("--tui", "open the search on the screen", commands=("search",)),
        Option("--at", "open at this message", "ID", number=True, commands=("open",)),
        Option("--around", "only the messages around this one", "ID", number=True, commands=("show",)),
        Option("--window", "how many on each side of it (5)", "N", number=True, commands=("show",)),
        Option("--head", "only the first N messages", "N", number=True, commands=("show",)),
        Option("--tail", "only the last N messages", "N", number=True, commands=("show",)),
        Option("--print", "print the command instead of running it", commands=("resume",)),
        Option("--json", "JSON instead of text", commands=_DATA),
        Option("--theme", "auto, dark, light, or the name of a theme", "NAME", looks=True),
        Option("--no-mouse", "leave the mouse to the terminal", looks=True),
        Option("--ascii", "letters instead of glyphs", looks=True),
        Option("--no-color", "no colours"),
    )
}
SHORT = {option.short: option for option in OPTIONS.values() if option.short}

EXCLUDING = (
    *(
        (one, other)
        for one in ("--db", "--demo", "--demo-dir")
        for other in ("--home", "--profile", "--all-profiles")
    ),
    ("--db", "--demo"),
    ("--db", "--demo-dir"),
    ("--profile", "--all-profiles"),
    ("--around", "--head"),
    ("--around", "--tail"),
)
"""Pairs that make no sense together."""

NOT_ON_THE_SCREEN = {
    "--json": "it is for what is printed",
    "--limit": "the screen lists every conversation that matches",
    "--offset": "the screen lists every conversation that matches",
    "--all": "the screen says which sources it leaves out, and source:NAME or is:automation brings them in",
}
"""Options of `search` that mean nothing with `--tui`, and why."""


def told(option: Option, command: str) -> bool:
    """Whether the help of a command has this option."""
    if option.looks:
        return command in _LOOKING or (option.flag == "--ascii" and command in _SIGNS)
    return not option.commands or command in option.commands


def orders(command: str) -> list[str]:
    """What `--sort` may say."""
    if command == "search":
        from hermes_tui.domain.queries import SearchOrder

        return [each.value for each in SearchOrder]
    return [each.value for each in Order]
