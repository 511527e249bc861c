"""Stores and the profiles they belong to."""

from __future__ import annotations

from pathlib import Path

from hermes_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class StoreRef:
    """One database to read, and what a link or a resume needs to know of where it lies."""

    profile: str
    """`default`, a profile's name, or `custom` for a home that is neither a root nor a profile of one."""
    db: Path
    home: Path
    """The Hermes home that holds the database (its folder, for a file named by `--db`)."""
    root: Path
    """The root that `home` belongs to: where `profiles/` lies."""
    resumable: bool = True
    """False for a file not called `state.db` and for the demo: `hermes` could not open it."""
    why_not: str = ""
    """The sentence that says why it is not resumable."""

    @property
    def key(self) -> tuple[str, str]:
        """(profile, path): two stores may share the name `custom`."""
        return (self.profile, str(self.db))


@dataclass(frozen=True, slots=True)
class ProfileInfo:
    """One line of `hermes-tui profiles`."""

    name: str
    home: Path
    db: Path
    exists: bool
    """The database file is there."""
    active: bool
    """Hermes itself would use this one."""
    valid: bool
    """The folder's name is a profile name."""
    error: str | None = None
    """Why the store cannot be read, when it was looked at and cannot."""
