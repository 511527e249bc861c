"""Every failure that a user can meet; `str(error)` is the sentence to show.

HermesTuiError
├── StoreError                 the store as a whole; exit code 3
│   ├── StoreMissing           there is no such file, or no such profile
│   ├── StoreUnreadable        there is one, and it is not (or no longer) a readable Hermes store
│   └── StoreBusy              another process holds it; asking again helps
├── QueryError                 the question; exit code 2
│   └── BadQuery               it cannot be understood, and `reason` says which word and why
├── TargetError                what was asked for by name; exit code 1
│   ├── TargetNotFound         `candidates` lists what has a title like it
│   └── TargetAmbiguous        `candidates` lists what it could mean
├── QueryTimeout               it took longer than its deadline
├── Unsupported                it cannot be done here, and the sentence says why; exit code 1
└── UsageError                 wrong use of the command line; exit code 2
    └── ThemeMissing           the theme that was chosen does not exist
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from hermes_tui.domain.links import Candidate


class HermesTuiError(Exception):
    """Base of all failures that are shown rather than raised as bugs."""

    exit_code: ClassVar[int] = 1


class StoreError(HermesTuiError):
    """A store cannot be used. `db` is the path tried, `profile` its name."""

    exit_code = 3

    def __init__(self, message: str, *, db: Path | None = None, profile: str | None = None) -> None:
        super().__init__(message)
        self.db = db
        self.profile = profile


class StoreMissing(StoreError):
    """No database file, or no profile of that name."""


class StoreUnreadable(StoreError):
    """A file is there, and cannot be read as a Hermes store."""


class StoreBusy(StoreError):
    """Another process holds the store; the same question may succeed later. `holder` says who, as far as known."""

    def __init__(
        self,
        message: str,
        *,
        db: Path | None = None,
        profile: str | None = None,
        holder: str = "another process",
    ) -> None:
        super().__init__(message, db=db, profile=profile)
        self.holder = holder


class QueryError(HermesTuiError):
    """The question cannot be asked."""

    exit_code = 2


class BadQuery(QueryError):
    """A query that cannot be understood. `reason` is the second half of "cannot parse …: why"."""

    def __init__(self, query: str, reason: str) -> None:
        super().__init__(f"cannot parse {query!r}: {reason}")
        self.query = query
        self.reason = reason


class TargetError(HermesTuiError):
    """A conversation was asked for by link, id or title and cannot be given."""

    def __init__(self, message: str, candidates: Sequence[Candidate] = ()) -> None:
        super().__init__(message)
        self.candidates = tuple(candidates)


class TargetNotFound(TargetError):
    """Nothing answers to that name; `candidates` have a title like it."""


class TargetAmbiguous(TargetError):
    """Several do."""


class QueryTimeout(HermesTuiError):
    """A query reached its deadline and was stopped."""

    exit_code = 3


class Unsupported(HermesTuiError):
    """It cannot be done with this store or on this machine."""


class UsageError(HermesTuiError):
    """The command line does not make sense."""

    exit_code = 2


class ThemeMissing(UsageError):
    """There is no theme of that name."""
