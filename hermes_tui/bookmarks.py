"""Bookmarks: places in conversations that a person marked, kept beside the store and never in it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from hermes_tui.domain.sessions import ConversationKey
from hermes_tui.state import read_json, state_dir, write_json
from hermes_tui.times import epoch
from hermes_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class Bookmark:
    """One message, and what it said when it was marked."""

    db: str
    """Path of the store: profiles of other homes may have the same name."""
    profile: str
    root_id: str
    message_id: int
    title: str
    words: str
    timestamp: float | None = None

    @property
    def key(self) -> ConversationKey:
        return ConversationKey(self.profile, self.root_id)


def _read(value: Any) -> Bookmark | None:
    """One entry of the file; None for what is none."""
    if not isinstance(value, dict):
        return None
    texts = [value.get(name) for name in ("db", "profile", "root_id", "title", "words")]
    number, at = value.get("message_id"), value.get("timestamp")
    if not isinstance(number, int) or not 0 <= number < 2**63 or not all(isinstance(text, str) for text in texts):
        return None
    db, profile, root_id, title, words = (str(text) for text in texts)
    return Bookmark(db, profile, root_id, number, title, words, epoch(at))


class Bookmarks:
    """All bookmarks, newest first. The file is read each time: another window may have written it."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path

    @property
    def path(self) -> Path:
        return self._path or state_dir() / "bookmarks.json"

    def __call__(self) -> tuple[Bookmark, ...]:
        found = read_json(self.path)
        entries = found if isinstance(found, list) else []
        return tuple(mark for mark in map(_read, entries) if mark is not None)

    def toggle(self, mark: Bookmark) -> bool:
        """Add it, or remove the one of the same message; whether it is there now. Raises `OSError`."""
        before = self()
        place = (mark.db, mark.profile, mark.message_id)
        kept = [each for each in before if (each.db, each.profile, each.message_id) != place]
        added = len(kept) == len(before)
        write_json(self.path, [asdict(each) for each in ([mark] if added else []) + kept])
        return added
