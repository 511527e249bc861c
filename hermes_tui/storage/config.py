"""What Hermes' own `config.yaml` says: the few settings that decide what a resume will do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hermes_tui.paths import read_short

FILE = "config.yaml"
MAX_RESUME_MESSAGES = 20_000
"""What Hermes assumes when nothing is set."""
_LARGEST = 4_000_000
_ENDLESS = 10**15
"""More messages than any store holds, and a number that SQLite knows."""


def read_config(home: Path) -> dict[str, Any]:
    """The settings of a home; empty when there are none or they cannot be read: Hermes' defaults hold then."""
    path = home / FILE
    try:
        text = read_short(path, _LARGEST).decode("utf-8-sig", "replace")
    except OSError:
        return {}
    import yaml  # PyYAML takes longer to import than most questions take to answer

    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def section(config: dict[str, Any], name: str) -> dict[str, Any]:
    """One section of it."""
    found = config.get(name)
    return found if isinstance(found, dict) else {}


def max_resume_messages(config: dict[str, Any]) -> tuple[int, bool]:
    """How many messages Hermes reloads at most (0: any number), and whether that was set or is its default."""
    value = section(config, "sessions").get("max_resume_messages")
    try:
        limit = -1 if value is None else int(value)
    except (TypeError, ValueError, OverflowError):
        limit = -1
    return (min(limit, _ENDLESS), True) if limit >= 0 else (MAX_RESUME_MESSAGES, False)


def other_backend(config: dict[str, Any]) -> str | None:
    """The database that is configured instead of SQLite, if one is."""
    backend = section(config, "database").get("backend")
    return str(backend) if backend and str(backend).lower() not in ("sqlite", "sqlite3") else None
