"""Reading the command line by the rules of SPEC 10.

Options stand before or after the command. After `search`, a word with one leading `-` that is not exactly
`-p` is query text; after `--` every word is. No option is abbreviated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hermes_tui.commands.options import (
    BARE,
    BROWSE,
    COMMANDS,
    EXCLUDING,
    NOT_ON_THE_SCREEN,
    OPTIONS,
    SHORT,
    Command,
    Option,
    orders,
)
from hermes_tui.domain.sessions import Order
from hermes_tui.errors import BadQuery, UsageError

if TYPE_CHECKING:
    from hermes_tui.domain.profiles import StoreRef
    from hermes_tui.domain.sessions import StoreProblem


class Arguments:
    """A command line that makes sense. Written out, because it is made at every start."""

    def __init__(self) -> None:
        self.command: str = BROWSE
        self.words: list[str] = []
        self.help: bool = False
        self.version: bool = False
        self.db: str | None = None
        self.home: str | None = None
        self.profile: list[str] = []
        self.all_profiles: bool = False
        self.demo: bool = False
        self.demo_dir: str | None = None
        self.limit: int | None = None
        self.offset: int | None = None
        self.all: bool = False
        self.sort: str | None = None
        self.reverse: bool = False
        self.scan: bool = False
        self.source: list[str] = []
        self.role: list[str] = []
        self.workspace: list[str] = []
        self.before: list[str] = []
        self.after: list[str] = []
        self.tui: bool = False
        self.at: int | None = None
        self.around: int | None = None
        self.window: int | None = None
        self.head: int | None = None
        self.tail: int | None = None
        self.print: bool = False
        self.json: bool = False
        self.theme: str | None = None
        self.no_mouse: bool = False
        self.ascii: bool = False
        self.no_color: bool = False
        self.given: list[str] = []
        """Flags, in the order in which they stood."""
        self.store: StoreRef | None = None
        """The sample store, once it is written."""
        self.stores: tuple[StoreRef, ...] = ()
        """What is asked, once that is known …"""
        self.problems: tuple[StoreProblem, ...] = ()
        """… and what was named and cannot be."""

    @property
    def screen(self) -> bool:
        """Whether it opens the full-screen program."""
        return self.tui or (COMMANDS.get(self.command) or BARE).screen

    @property
    def target(self) -> str:
        return self.words[0]

    @property
    def settings(self) -> dict[str, Any]:
        """What the command line says about settings."""
        found: dict[str, Any] = {}
        if self.theme is not None:
            found["theme"] = self.theme
        if self.no_mouse:
            found["mouse"] = False
        if self.ascii:
            found["ascii"] = True
        if self.no_color:
            found["no_color"] = True
        if self.command == "browse":
            if self.sort is not None:
                found["order"] = Order(self.sort)
            if self.reverse:
                found["reverse"] = True
            if self.all:
                found["hidden"] = True
            if self.filters:
                found["filter"] = self.filters
        return found

    @property
    def filters(self) -> str:
        """The filter options as filter words."""
        pairs = [
            (key, value) for key in ("source", "role", "workspace", "before", "after") for value in getattr(self, key)
        ]
        return " ".join(f"{key}:{_quoted(value)}" for key, value in pairs)


def _quoted(value: str) -> str:
    value = value.replace('"', " ").strip()
    return value if value and not any(char.isspace() for char in value) else f'"{value}"'


def read(argv: Sequence[str]) -> Arguments:
    """Raises `UsageError` that names the word at fault."""
    found = Arguments()
    words: list[str] = []
    at = 0
    while at < len(argv):
        word = argv[at]
        at += 1
        if word == "--":
            words += argv[at:]
            break
        option, glued = _option(word, searching=words[:1] == ["search"])
        if option is None:
            words.append(word)
        elif option.value and glued is None:
            if at == len(argv) or argv[at].startswith("--"):
                raise UsageError(f"{word} needs a value: {word} {option.value}")
            _set(found, option, argv[at])
            at += 1
        else:
            _set(found, option, glued)
    if found.help or found.version:
        found.command = words[0] if words and words[0] in COMMANDS else BROWSE
        return found
    _command(found, words)
    _check(found)
    return found


_HELP = Option("--help", "this text", short="-h")
_VERSION = Option("--version", "the version")


def _option(word: str, *, searching: bool) -> tuple[Option | None, str | None]:
    """The option that this word is, and the value glued to it; no option for a plain word."""
    if not word.startswith("-") or word == "-":
        return None, None
    if word.startswith("--"):
        flag, equals, value = word.partition("=")
        option = {**OPTIONS, "--help": _HELP, "--version": _VERSION}.get(flag)
        if option is None:
            raise UsageError(f"there is no option {flag}; see hermes-tui --help" + _or_text(searching))
        if equals and not option.value:
            raise UsageError(f"{flag} takes no value")
        return option, value if equals else None
    if word in SHORT:
        return SHORT[word], None
    if searching:
        return None, None
    if word == _HELP.short:
        return _HELP, None
    if word[:2] in SHORT:
        return SHORT[word[:2]], word[2:].removeprefix("=")
    raise UsageError(f"there is no option {word}; see hermes-tui --help" + _or_text(True))


def _or_text(possible: bool) -> str:
    return ", or put -- before text that begins with a dash" if possible else ""


def _set(found: Arguments, option: Option, value: str | None) -> None:
    found.given.append(option.flag)
    if not option.value:
        setattr(found, option.name, True)
        return
    if not value or not value.strip():
        raise UsageError(f"{option.flag} needs a value: {option.flag} {option.value}")
    if option.repeats:
        getattr(found, option.name).append(value)
    elif option.number:
        setattr(found, option.name, _number(option, value))
    else:
        setattr(found, option.name, value)


def _number(option: Option, value: str) -> int:
    if value[:1] == "-" and value[1:].isdigit():
        raise UsageError(f"{option.flag} must not be negative, as {value} is")
    if not (value.isascii() and value.isdigit()) or len(value) > 18:
        raise UsageError(f"{option.flag} needs a number, not {value!r}")
    return int(value)


def _command(found: Arguments, words: list[str]) -> None:
    if not words:
        return
    first, *rest = words
    if first in COMMANDS:
        found.command, found.words = first, rest
    elif _is_link(first):
        found.command, found.words = "open", words
    else:
        raise UsageError(f"there is no command {first!r}; there are {', '.join(COMMANDS)}")
    command = COMMANDS[found.command]
    if command.word and not found.words and found.command != "search":
        raise UsageError(f"{command.name} needs a {command.word}")
    if len(found.words) > (1 if command.word else 0) and not command.many:
        raise UsageError(
            f"{command.name} does not know what to do with {found.words[-1]!r}" + _instead(command, found)
        )
    if command.choices and found.words[0] not in command.choices:
        raise UsageError(f"{command.name} knows {', '.join(command.choices)}, not {found.words[0]!r}")


def _is_link(word: str) -> bool:
    from hermes_tui.domain.links import parse_link

    return parse_link(word) is not None


def _instead(command: Command, found: Arguments) -> str:
    """What to do with words that a command has no use for."""
    if command.word == "TARGET":
        return "; a title of several words needs quotes"
    return _filtering(found.words) if command.name == "list" else ""


def _filtering(words: list[str]) -> str:
    """How to ask a list for what filter words ask, as far as options can; a search takes them all."""
    import shlex

    from hermes_tui.domain.filters import KEYS

    options, typed = list[str](), " ".join(map(shlex.quote, words))
    for word in words:
        key, _, value = word.partition(":")
        option = OPTIONS.get(f"--{key}")
        if key not in KEYS or not value or option is None:
            return f"; words are for a search: hermes-tui search {typed}"
        options += [f"{option.flag} {shlex.quote(each)}" for each in value.split(",") if each]
    return f"; it takes {' '.join(options)}, and hermes-tui search {typed} takes filter words"


_MEANT = {("--at", "show"): "--around", ("--around", "open"): "--at"}
"""What was probably meant by an option that means nothing to a command."""


def _check(found: Arguments) -> None:
    for flag in found.given:
        allowed = OPTIONS[flag].commands
        if allowed and found.command not in allowed:
            use = " and ".join(name for name in allowed if name != BROWSE)
            other = _MEANT.get((flag, found.command))
            meant = f", and {found.command} takes {other}" if other else ""
            raise UsageError(f"{flag} means nothing to {found.command}; it is for {use}{meant}")
    for one, other in EXCLUDING:
        if one in found.given and other in found.given:
            raise UsageError(f"{one} and {other} exclude each other")
    for flag, why in NOT_ON_THE_SCREEN.items() if found.tui else ():
        if flag in found.given:
            raise UsageError(f"{flag} means nothing with --tui: {why}")
    if found.window is not None and found.around is None:
        raise UsageError("--window needs --around")
    if found.sort is not None and found.sort not in (known := orders(found.command)):
        raise UsageError(f"--sort knows {', '.join(known)}, not {found.sort!r}")
    if found.command == "search" and found.reverse and found.sort in (None, "relevance"):
        raise UsageError("--reverse needs --sort newest or --sort oldest here")
    if found.role or found.before or found.after:
        _check_filters(found)
    if found.command == "search" and not found.tui and not found.filters and not "".join(found.words).strip():
        raise UsageError("search needs WORDS: what to look for, or a filter such as source:cli")


def _check_filters(found: Arguments) -> None:
    """What an option says wrongly is the option's fault, not that of a query that nobody has typed."""
    from hermes_tui.domain.querytext import parse_query
    from hermes_tui.times import now

    present = now()
    for key in ("role", "before", "after"):
        for value in getattr(found, key):
            try:
                parse_query(f"{key}:{_quoted(value)}", present=present)
            except BadQuery as refused:
                raise UsageError("--" + refused.reason.replace(f"{key}: ", f"{key} ", 1)) from refused
    try:
        parse_query(found.filters, present=present)
    except BadQuery as refused:
        raise UsageError(f"--after and --before: {refused.reason}") from refused
