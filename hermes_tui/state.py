"""What the program remembers between runs, beside the store and never in it: recent queries.

One small JSON file in the state folder of this user, readable by nobody else, written whole or not at all.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

from hermes_tui.paths import read_short

KEPT = 100
"""Queries that are remembered."""
_LARGEST = 64_000_000


_elsewhere: list[Path] = []


def keep_in(folder: Path | None) -> None:
    """Keep state in this folder until told otherwise: what is done in the sample store is no history of the
    user's. None: in the usual place again."""
    _elsewhere[:] = [] if folder is None else [folder]


def state_dir() -> Path:
    """Where this user's programs keep their state, unless told otherwise; for a user without a home a place in which
    nothing can be kept."""
    if _elsewhere:
        return _elsewhere[0]
    import platformdirs

    try:
        return Path(platformdirs.user_state_dir("hermes-tui", appauthor=False))
    except RuntimeError:
        return Path(os.devnull) / "hermes-tui"


def read_json(path: Path) -> Any:
    """What the file holds; None when there is none or it holds no JSON: state is worth no failure."""
    try:
        text = read_short(path, _LARGEST).decode("utf-8")
        import json

        return json.loads(text)
    except (OSError, ValueError, RecursionError):
        return None


def write_json(path: Path, value: Any) -> None:
    """Replace the file by this value at once. Raises `OSError` when the folder cannot be written."""
    import json
    import tempfile

    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)  # made with mode 0600
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(value, file)
        os.replace(name, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


class RecentQueries:
    """The queries that led somewhere, newest first. The file is read when they are first asked for."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._queries: list[str] | None = None

    @property
    def path(self) -> Path:
        return self._path or state_dir() / "recent.json"

    def __call__(self) -> tuple[str, ...]:
        if self._queries is None:
            found = read_json(self.path)
            kept = found if isinstance(found, list) else []
            self._queries = [text for text in kept if isinstance(text, str) and text.strip()][:KEPT]
        return tuple(self._queries)

    def add(self, text: str) -> None:
        """Remember this one as the newest. Raises `OSError` when it cannot be written; it is remembered all
        the same as long as the program runs."""
        text = " ".join(text.split())
        before = self()
        if not text or before[:1] == (text,):
            return
        # What another window has added in the meantime is kept.
        stored = read_json(self.path)
        others = [each for each in stored if isinstance(each, str)] if isinstance(stored, list) else []
        self._queries = list(dict.fromkeys((text, *others, *before)))[:KEPT]
        write_json(self.path, self._queries)
