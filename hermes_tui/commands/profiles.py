"""`hermes-tui profiles`: every profile of the root, and whether its database can be read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hermes_tui import paths, text
from hermes_tui.commands import output, plain
from hermes_tui.commands.answers import Answer
from hermes_tui.domain.profiles import ProfileInfo, StoreRef
from hermes_tui.errors import StoreError
from hermes_tui.storage.connection import open_store
from hermes_tui.values import replace


def run(root: Path) -> Answer:
    """Needs no service: it looks at files, and opens each database once."""
    found = [_looked_at(each, root) for each in paths.list_profiles(root)]
    stores = [StoreRef(each.name, each.db, each.home, root) for each in found]

    def document() -> output.Json:
        return output.document(output.meta(stores, total=len(found)), "profiles", [output.profile(p) for p in found])

    def lines() -> Iterator[str]:
        head = ["PROFILE", "ACTIVE", "DATABASE", "STATE"]
        yield from plain.columns(head, [_cells(each) for each in found])

    return Answer(document, lines)


def _looked_at(profile: ProfileInfo, root: Path) -> ProfileInfo:
    if not profile.exists:
        return profile
    try:
        open_store(StoreRef(profile.name, profile.db, profile.home, root)).conn.close()
    except StoreError as failure:
        return replace(profile, error=str(failure))
    return profile


def _fault(profile: ProfileInfo) -> str:
    """What is wrong, in a table that has the path already."""
    said = (profile.error or "").removeprefix(str(profile.db)).removeprefix(":")
    return text.one_line(said.partition(". ")[0].rstrip("."))


def _cells(profile: ProfileInfo) -> list[str]:
    state = "ok" if profile.exists else "no database"
    if profile.error:
        state = f"error: {_fault(profile)}"
    if not profile.valid:
        state = "no profile name; Hermes ignores this folder"
    return [text.one_line(profile.name), "yes" if profile.active else "", plain.place(str(profile.db)), state]
