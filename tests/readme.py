"""The tables of the README that are made of the program's own: `python -m tests.readme` writes them again."""

from __future__ import annotations

import re

from hermes_tui.commands.arguments import COMMANDS, OPTIONS
from hermes_tui.keys import PLACES
from hermes_tui.widgets.helping import ROUTES, SIGNS, place_rows
from hermes_tui.widgets.ink import ASCII
from tests.store_table import TABLE
from tests.tools import ROOT

README = ROOT / "README.md"


def _code(words: str) -> str:
    return " ".join(f"`{word}`" for word in words.split())


def _table(head: tuple[str, str], rows: list[tuple[str, str]]) -> str:
    lines = [f"| {head[0]} | {head[1]} |", "|---|---|", *(f"| {left} | {right} |" for left, right in rows)]
    return "\n".join(lines)


def keys_table() -> str:
    """Every key, place by place; those that move are the same in every list and stand once."""
    moving = [
        ("`↑` `↓` `j` `k`", "next, previous"),
        ("`g` `G` `home` `end`", "first, last"),
        ("page keys `ctrl+d` `ctrl+u`", "a page, half a page"),
    ]
    parts = []
    for place in ["everywhere", *(name for name in PLACES if name != "everywhere")]:
        rows = [(_code(shown), text) for shown, text in place_rows(place, {})]
        parts.append(_table((place, ""), [*moving, *rows] if place == "everywhere" else rows))
    return "\n\n".join(parts)


def _cell(text: str) -> str:
    """As code in a table, whatever it holds."""
    text = text.replace("|", "\\|")
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def signs_table() -> str:
    """What is drawn instead of written, with its letters of `--ascii`."""
    rows = [f"| {_cell(sign)} | {_cell(sign.translate(ASCII))} | {text} |" for sign, text in SIGNS]
    return "\n".join(["| sign | `--ascii` | meaning |", "|---|---|---|", *rows])


def routes_table() -> str:
    """What the first word of the search's status line means."""
    return _table(("status line", "it was searched"), [(f"`{name}`", text) for name, text in ROUTES])


def commands_table() -> str:
    """Every command and every option."""
    commands = []
    for command in COMMANDS.values():
        word = f" {command.word}{'…' if command.many else ''}" if command.word else ""
        commands.append((f"`{command.name}{word}`", command.help))
    options = []
    for option in OPTIONS.values():
        value = f" {option.value}" if option.value else ""
        flags = f"`{option.short}`, `{option.flag}{value}`" if option.short else f"`{option.flag}{value}`"
        options.append((flags, option.help))
    return f"{_table(('command', ''), commands)}\n\n{_table(('option', ''), options)}"


def states_table() -> str:
    """What a store can be like, what one sees of it, and two exit codes."""
    head = "| the store | you see | exit code of `list` | of `doctor` |\n|---|---|---|---|\n"
    rows = (
        f"| {state.name} | {state.sees} | {state.code} | {state.code or int(bool(state.doctor))} |" for state in TABLE
    )
    return head + "\n".join(rows)


def rewritten(text: str) -> str:
    """The README with its tables as they are now."""
    tables = {"keys": keys_table, "signs": signs_table, "routes": routes_table, "commands": commands_table}
    tables["states"] = states_table
    for name, table in ((name, make()) for name, make in tables.items()):
        between = re.compile(rf"(<!-- {name}: [^\n]*-->\n).*?(<!-- /{name} -->)", re.DOTALL)
        text = between.sub(lambda found, table=table: f"{found[1]}\n{table}\n\n{found[2]}", text)  # type: ignore[misc]  # a default binds the loop's value
    return text


if __name__ == "__main__":
    README.write_text(rewritten(README.read_text("utf-8")), "utf-8")
