"""What a person may choose: option, else environment, else `config.toml`, else default.

    theme = "auto"          # auto, dark, light, or a theme's name
    preview = true          # the pane beside the list
    enter = "read"          # what enter does in the list: read or resume
    filter = "-source:slack"
    [keys]
    "browse.filter" = "ctrl+f"

A file that cannot be understood is refused with the line at fault, never half obeyed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from stat import S_ISREG
from typing import Any

from hermes_tui import themenames
from hermes_tui.domain.sessions import ListQuery, Order
from hermes_tui.errors import BadQuery, UsageError
from hermes_tui.keys import PLACES
from hermes_tui.text import one_line
from hermes_tui.times import now
from hermes_tui.values import dataclass, field

FILE = "config.toml"
READ, RESUME = "read", "resume"
_VARIABLES = {"theme": themenames.VARIABLE, "no_color": "NO_COLOR"}
"""Setting → the variable of the environment that sets it."""
_PART = r"""([\w-]+)|("[^"]*"|'[^']*')"""
_NAME = r"""(?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*"""
_TABLE = rf"\s*\[+\s*({_NAME})\s*\]"
_KEY = rf"\s*({_NAME})\s*="
_AT = r"line (\d+)"
"""Where in a file something is wrong; most files have nothing wrong, so none of these is compiled at the start."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The choices in force."""

    theme: str = "auto"
    """auto, dark, light, or the name of a theme."""
    mouse: bool = True
    """False leaves the mouse to the terminal."""
    ascii: bool = False
    """Draw with letters instead of glyphs."""
    no_color: bool = False
    """Bold, italic and greys only."""
    preview: bool = True
    """Whether the pane beside the list is open at the start."""
    enter: str = READ
    """What enter does in the list: `read` or `resume`."""
    order: Order = Order.ACTIVE
    reverse: bool = False
    hidden: bool = False
    """Whether the list begins with the rows that it would leave out."""
    filter: str = ""
    """Words and filter words that the list begins with."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Binding id → keys, comma-separated, in Textual's names."""

    @property
    def query(self) -> ListQuery:
        """What the list begins with."""
        return ListQuery(self.filter, self.order, self.reverse, self.hidden)


@dataclass(frozen=True, slots=True)
class Entry:
    """One setting in force, and who decided it."""

    key: str
    value: Any
    source: str
    """option, environment, file or default."""


def config_file() -> Path:
    """Where the settings file is looked for: nowhere, for a user of whom nothing says where their home is."""
    import platformdirs

    try:
        return Path(platformdirs.user_config_dir("hermes-tui", appauthor=False)) / FILE
    except RuntimeError:
        return Path(os.devnull)


def load(options: Mapping[str, Any] | None = None, *, path: Path | None = None) -> tuple[Settings, list[Entry]]:
    """The settings in force and where each comes from. `options`: fields set on the command line.

    Raises `UsageError` that names file and line.
    """
    layers = (
        ("file", read_file(path or config_file())),
        ("environment", _environment()),
        ("option", dict(options or {})),
    )
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for source, layer in layers:
        values |= layer
        sources |= dict.fromkeys(layer, source)
    settings = Settings(**values)
    entries = []
    for each in fields(Settings):
        value, source = getattr(settings, each.name), sources.get(each.name, "default")
        if each.name == "keys":
            entries += [Entry(f"keys.{name}", keys, source) for name, keys in value.items()]
        else:
            entries.append(Entry(each.name, value.value if isinstance(value, Order) else value, source))
    return settings, entries


def _environment() -> dict[str, Any]:
    found: dict[str, Any] = {}
    if theme := os.environ.get(_VARIABLES["theme"], "").strip():
        found["theme"] = theme
    if os.environ.get(_VARIABLES["no_color"]):
        found["no_color"] = True
    return found


def read_file(path: Path) -> dict[str, Any]:
    """What the file sets, checked; nothing when there is no file."""
    try:
        if not (S_ISREG(path.stat().st_mode) or path == Path(os.devnull)):  # to read a pipe would be to wait
            raise UsageError(f"{path} is not a file")
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UsageError(f"{path}, line {line}: it cannot be read, this is no UTF-8 text") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    import tomllib

    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        why, _, where = str(error).rpartition(" (at ")
        at = re.match(_AT, where)
        line = int(at[1]) if at else text.count("\n") + 1  # at the end of the document
        raise UsageError(f"{path}, line {line}: {_meaning(text, line, why)}") from error
    return {name: _checked(path, text, name, value) for name, value in document.items()}


def _meaning(text: str, line: int, why: str) -> str:
    """A fault of the file in words that say what is missing, where tomllib only says that something is wrong."""
    key, equals, value = "".join(text.split("\n")[line - 1 : line]).partition("=")
    name, value = key.strip(), value.partition("#")[0].strip()
    if why != "Invalid value" or not equals:
        return why
    if not value:
        return f"{name} has no value"
    return f"{name} = {one_line(value, 40)}: a value is true, false, or a text in quotes"


def _checked(path: Path, text: str, name: str, value: Any) -> Any:
    default = {each.name: getattr(Settings(), each.name) for each in fields(Settings)}

    def wrong(why: str, of: str = name) -> UsageError:
        return UsageError(f"{path}, line {_line_of(text, of)}: {why}")

    if name not in default:
        raise wrong(f"there is no setting {name!r}; there are {', '.join(default)}")
    if name == "keys":
        return _keys(value, wrong)
    expected = bool if isinstance(default[name], bool) else str
    if type(value) is not expected:
        raise wrong(f"{name} must be {'true or false' if expected is bool else 'a text in quotes'}")
    if name == "filter" and (why := _unreadable(str(value))):
        raise wrong(why)
    choices = {"enter": (READ, RESUME), "order": tuple(Order)}.get(name)
    if choices and value not in choices:
        raise wrong(f"{name} must be one of {', '.join(choices)}, not {value!r}")
    return Order(str(value)) if name == "order" else value


def _keys(value: Any, wrong: Callable[..., UsageError]) -> dict[str, str]:
    if not isinstance(value, dict):
        raise wrong("keys must be a table: [keys]")
    known = {key.id for place in PLACES.values() for key in place}
    found = {}
    for name, keys in _flat(value):
        if name not in known:
            raise wrong(f"there is no command {name!r}; {_commands_near(name)}", f"keys.{name}")
        if not isinstance(keys, str) or not keys.strip():
            raise wrong(f'{name} must be a text in quotes, such as "ctrl+f"', f"keys.{name}")
        found[name] = keys
    from hermes_tui.rebindings import fault_in

    if (fault := fault_in(found)) is not None:
        raise wrong(fault.why, f"keys.{fault.id}")
    return found


def _commands_near(name: str) -> str:
    """What can be named instead: the commands of the same place, or the places."""
    place = name.partition(".")[0]
    if place not in PLACES:
        return f"names begin with {', '.join(f'{each}.' for each in PLACES)}"
    return f"there are {', '.join(key.id for key in PLACES[place])}"


def _unreadable(words: str) -> str | None:
    """Why the list cannot begin with this filter."""
    from hermes_tui.domain.querytext import parse_query

    try:
        parse_query(words or "x", present=now())
    except BadQuery as error:
        return f"filter: {error.reason}"
    return None


def blamed(entries: Iterable[Entry], key: str, why: str, *, path: Path | None = None) -> UsageError:
    """The refusal of a setting that only the screen can judge, with the variable or the line that has set it."""
    source = next((each.source for each in entries if each.key == key), "default")
    if source == "environment":
        return UsageError(f"{_VARIABLES[key]}: {why}")
    if source != "file":
        return UsageError(why)
    path = path or config_file()
    return UsageError(f"{path}, line {_line_of(path.read_text('utf-8'), key)}: {why}")


def _flat(table: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """`browse.filter = …` and `"browse.filter" = …` alike."""
    found: list[tuple[str, Any]] = []
    for name, value in table.items():
        found += _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else [(prefix + name, value)]
    return found


def _line_of(text: str, name: str) -> int:
    """The line that sets `name`, or else the table that holds it, counted from 1: tomllib does not tell."""
    table = ""
    line, best = 1, ""
    for number, written in enumerate(text.splitlines(), 1):
        if header := re.match(_TABLE, written):
            found = table = _path(header[1])
        elif key := re.match(_KEY, written):
            found = ".".join(part for part in (table, _path(key[1])) if part)
        else:
            continue
        if len(found) > len(best) and f"{name}.".startswith(f"{found}."):
            line, best = number, found
    return line


def _path(dotted: str) -> str:
    """`keys."browse.filter"` as `keys.browse.filter`."""
    return ".".join(bare or quoted[1:-1] for bare, quoted in re.findall(_PART, dotted))
