"""`hermes-tui config`: the settings in force, and who decided each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from hermes_tui import settings, text
from hermes_tui.commands import output, plain
from hermes_tui.commands.answers import Answer
from hermes_tui.commands.arguments import Arguments


def run(arguments: Arguments) -> Answer:
    """Needs no store."""
    path = settings.config_file()
    _, entries = settings.load(arguments.settings, path=path)
    there = settings.Entry("config_file", str(path), "file" if os.path.exists(path) else "default")
    rows = [there, *entries]

    def document() -> output.Json:
        items = [{"key": each.key, "value": each.value, "source": each.source} for each in rows]
        return output.document(output.meta((), total=len(rows)), "config", items)

    def lines() -> Iterator[str]:
        cells = [[each.key, each.source, text.one_line(_said(each.value))] for each in rows]
        yield from plain.columns(["SETTING", "SOURCE", "VALUE"], cells)

    return Answer(document, lines)


def _said(value: Any) -> str:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value) or '""'
