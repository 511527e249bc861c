"""Which stores a command line means (SPEC 1)."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

from hermes_tui import paths
from hermes_tui.commands.arguments import Arguments
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.domain.sessions import StoreProblem
from hermes_tui.errors import StoreBusy, StoreError, StoreMissing, TargetNotFound, UsageError
from hermes_tui.storage import connection
from hermes_tui.storage.connection import open_store
from hermes_tui.values import dataclass

_BUSY_PAUSE = 0.1
"""How often a store that another process holds is tried."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The stores to ask, and those that were named and cannot be."""

    stores: tuple[StoreRef, ...]
    problems: tuple[StoreProblem, ...] = ()
    named: bool = False
    """Whether the person said which; otherwise it is the one that Hermes would use."""


def chosen(arguments: Arguments) -> Chosen:
    """Raises `UsageError`, or `StoreError` when nothing that was named exists."""
    try:
        return _chosen(arguments)
    except FileNotFoundError as error:  # a relative path is only asked where it starts
        where = arguments.db or arguments.home or ""
        raise StoreMissing(f"{where}: the present directory no longer exists; give the whole path.") from error


def _chosen(arguments: Arguments) -> Chosen:
    if arguments.store is not None:
        return Chosen((arguments.store,), named=True)
    if arguments.db is not None:
        return Chosen((paths.file_store(Path(arguments.db)),), named=True)
    home = None if arguments.home is None else paths.home_store(Path(arguments.home))
    if arguments.all_profiles:
        return _all(root(arguments), named=home is not None)
    if arguments.profile:
        return _named(root(arguments), arguments.profile)
    return Chosen((home or paths.default_store(),), named=home is not None)


def root(arguments: Arguments) -> Path:
    """The root whose profiles are meant."""
    if arguments.store is not None:
        return arguments.store.root
    if arguments.db is not None:
        return paths.file_store(Path(arguments.db)).root
    return paths.present_root() if arguments.home is None else paths.home_store(Path(arguments.home)).root


def _all(root: Path, *, named: bool) -> Chosen:
    """A profile without a database is no error, unless none has one."""
    every = paths.profile_stores(root)
    found = tuple(ref for ref in every if os.path.exists(ref.db))
    return Chosen(found or tuple(every[:1]), named=named or bool(found))


def _named(root: Path, names: Iterable[str]) -> Chosen:
    stores: dict[str, StoreRef] = {}
    failures: list[StoreError] = []
    for name in names:
        try:
            ref = paths.profile_store(root, name)
        except StoreMissing as failure:
            failures.append(failure)
        else:
            stores[ref.profile] = ref
    if not stores:
        raise failures[0]
    return Chosen(tuple(stores.values()), tuple(problem(failure) for failure in failures), named=True)


def opened(choice: Chosen) -> tuple[list[StoreRef], list[StoreError]]:
    """Which stores can be opened, and why the others cannot."""
    found: list[StoreRef] = []
    failures: list[StoreError] = []
    for ref in choice.stores:
        try:
            open_store(ref).conn.close()
        except StoreBusy:
            found.append(ref)  # the reader has more patience
        except StoreError as failure:
            failures.append(failure)
        else:
            found.append(ref)
    return found, failures


def readable(choice: Chosen, *, wait: bool) -> Chosen:
    """The stores that can be opened, the others as problems: for questions that one store answers alone, so that
    the answer says nothing of the others. `wait`: a busy one too is a problem, once patience has run out.
    Raises the first failure when none can be."""
    found, failures = opened(choice)
    deadline = time.monotonic() + (connection.busy_seconds if wait else 0.0)
    for ref in tuple(found) if wait else ():
        if (busy := _stays_busy(ref, deadline)) is not None:
            found.remove(ref)
            failures.append(busy)
    if not found:
        raise failures[0]
    return Chosen(tuple(found), (*choice.problems, *map(problem, failures)), choice.named)


def _stays_busy(ref: StoreRef, deadline: float) -> StoreBusy | None:
    """Why this store cannot be asked, if another process holds it until then."""
    while True:
        try:
            open_store(ref).conn.close()
        except StoreBusy as failure:
            if time.monotonic() > deadline:
                return failure
            time.sleep(_BUSY_PAUSE)
        except StoreError:
            return None  # it has changed just now; whoever asks it will say how
        else:
            return None


def problem(failure: StoreError) -> StoreProblem:
    """A store's failure as a line of `meta.errors`."""
    return StoreProblem(failure.profile or "", str(failure.db or ""), str(failure))


def for_target(choice: Chosen, text: str) -> Chosen:
    """The same choice, or the profile that a link names: of the same root, opened or not.

    Raises `TargetNotFound` for a profile that does not exist.
    """
    from hermes_tui.domain.links import parse_link

    link = parse_link(text)
    if link is None or link.profile is None:
        return choice
    wanted = paths.normalize_profile(link.profile)
    opened = tuple(ref for ref in choice.stores if ref.profile == wanted)
    if opened:
        return Chosen(opened, named=choice.named)
    try:
        return Chosen((paths.profile_store(choice.stores[0].root, wanted),), named=True)
    except (StoreMissing, UsageError) as failure:
        message = f"There is no profile {link.profile!r} to open {text!r} in; see: hermes-tui profiles"
        raise TargetNotFound(message) from failure


def for_words(choice: Chosen, arguments: Arguments) -> Chosen:
    """The same choice for a search, unless its words are a link: then the profile that it names, if there is one."""
    from hermes_tui.domain.links import only_link

    link = only_link(" ".join(arguments.words))
    if link is None or arguments.screen:
        return choice
    try:
        return for_target(choice, str(link))
    except TargetNotFound:
        return choice  # the search says that it leads nowhere
