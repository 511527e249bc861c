"""Watching what the program does to SQLite: where it opens databases, and which statements it runs."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import hermes_tui

_PACKAGE = str(Path(hermes_tui.__file__).parent)
opened_on_a_loop: list[str] = []
"""What the program has opened on a thread that runs an event loop; tests may open what they like."""


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "sqlite3.connect" and asyncio._get_running_loop() is not None and _ours(sys._getframe(1)):
        opened_on_a_loop.append(str(arguments[0]))


def _ours(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith(_PACKAGE):
            return True
        frame = frame.f_back
    return False


sys.addaudithook(_watch)

_NESTED = "-- "
"""SQLite reports what runs inside another statement, triggers and index shadow tables, as a comment."""
_READING = re.compile(r"\s*(?:select|with|explain)\b", re.IGNORECASE)
_PRAGMA = re.compile(r"\s*pragma\s+(?:'?\w+'?\.)?(\w+)\s*(.*?)\s*;?\s*\Z", re.IGNORECASE | re.DOTALL)
_TELLING = {"data_version", "schema_version", "page_count", "page_size", "freelist_count", "journal_mode", "encoding"}
_TELLING |= {"user_version", "application_id", "compile_options", "database_list", "table_list"}
"""Pragmas that tell something, and change something when they are given a value."""
_ABOUT = {"table_info", "table_xinfo", "index_list", "index_info", "index_xinfo", "integrity_check", "quick_check"}
"""Pragmas that tell something about the table or index that they are given."""
_SETTING = {"cache_size", "mmap_size", "temp_store", "threads"}
"""Settings of this connection alone."""


def is_reading(statement: str) -> bool:
    """Whether a statement can change nothing in the database."""
    statement = statement.removeprefix(_NESTED)
    found = _PRAGMA.match(statement)
    if found is None:
        return _READING.match(statement) is not None
    name, value = found[1].lower(), found[2].lower()
    if name == "query_only":
        return value.lstrip("= ") in ("on", "1", "")
    return name in _ABOUT | _SETTING or (name in _TELLING and not value)


class Statements:
    """A `storage.connection.trace` that keeps what it is told."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self.writing: list[str] = []

    def __call__(self, statement: str) -> None:
        statement = statement[:2_000]
        self.all.append(statement)
        if not is_reading(statement):
            self.writing.append(statement)
