"""`hermes-tui doctor`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from hermes_tui import paths, text
from hermes_tui.commands import output, plain
from hermes_tui.commands.answers import FOUND, NOTHING, Answer, Asked
from hermes_tui.commands.surroundings import at_home, surroundings
from hermes_tui.domain.resume import Check, State
from hermes_tui.domain.sessions import StoreProblem
from hermes_tui.values import replace


async def run(asked: Asked) -> Answer:
    """What the stores say of themselves, and what lies beside them that is none."""
    stores = await asked.service.checks()
    checks = [*stores, *_folders(asked.service.stores[0].root), *surroundings(os.environ)]
    checks += [Check(f"{each.profile}: database", State.ERROR, each.error) for each in asked.problems]
    checks = [replace(each, detail=at_home(each.detail)) for each in checks]

    def document() -> output.Json:
        problems = [StoreProblem(each.profile, at_home(each.db), at_home(each.error)) for each in asked.problems]
        about = output.meta(asked.service.stores, total=len(checks), errors=problems)
        about["dbs"] = [at_home(each) for each in about["dbs"]]
        return output.document(about, "checks", [output.check(each) for each in checks])

    def lines() -> Iterator[str]:
        rows = [[each.state.value, text.one_line(each.name), text.one_line(each.detail)] for each in checks]
        yield from plain.columns(["STATE", "CHECK", "DETAIL"], rows)

    fine = all(each.state is State.OK for each in checks)
    return Answer(document, lines, FOUND if fine else NOTHING)


def _folders(root: Path) -> list[Check]:
    return [
        Check("profiles", State.WARNING, f"{each.home} holds no profile: {each.name!r} is no profile name.")
        for each in paths.list_profiles(root)
        if not each.valid
    ]
