"""`hermes-tui doctor`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from hermes_tui import paths, text
from hermes_tui.commands import output, plain
from hermes_tui.commands.answers import FAILED, FOUND, NOTHING, Answer, Asked
from hermes_tui.commands.arguments import Arguments
from hermes_tui.commands.looks import Look, look_of
from hermes_tui.commands.surroundings import at_home, surroundings
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.domain.resume import Check, State
from hermes_tui.domain.sessions import StoreProblem
from hermes_tui.errors import HermesTuiError
from hermes_tui.storage.checks import check_profiles
from hermes_tui.storage.resume import check_program
from hermes_tui.values import replace


async def run(asked: Asked) -> Answer:
    """What the stores say of themselves, and what lies beside them that is none."""
    stores = await asked.service.checks()
    checks = [*stores, *_folders(asked.service.stores[0].root), *surroundings(os.environ)]
    checks += [Check(f"{each.profile}: database", State.ERROR, each.error) for each in asked.problems]
    fine = all(each.state is State.OK for each in checks)
    return _answer(checks, asked.service.stores, asked.problems, FOUND if fine else NOTHING, asked.look)


def without(arguments: Arguments, problems: Sequence[StoreProblem]) -> Answer:
    """Where it looked, what is there instead, and what surrounds it, when no store can be read."""
    from hermes_tui.commands import stores

    checks = [Check("database", State.ERROR, each.error) for each in problems]
    checks += [Check("home", State.WARNING, f"{ref.home}: {_there(ref)}") for ref in arguments.stores]
    with contextlib.suppress(HermesTuiError):  # what says where the root is may be what is wrong; that is told above
        root = arguments.stores[0].root if arguments.stores else stores.root(arguments)
        checks += [check_profiles(root), *_folders(root)]
    checks += [check_program(State.WARNING), *surroundings(os.environ)]
    look = look_of(os.environ, ascii=arguments.ascii, no_color=arguments.no_color)
    return _answer(checks, arguments.stores, problems, FAILED, look)


def _there(ref: StoreRef) -> str:
    if not os.path.isdir(ref.home):  # pathlib raises for names that are too long, or that may not be looked at
        return "does not exist"
    return f"exists and holds {'' if os.path.lexists(ref.db) else 'no '}{ref.db.name}"


def _answer(
    found: list[Check], stores: Sequence[StoreRef], problems: Sequence[StoreProblem], code: int, look: Look
) -> Answer:
    checks = [replace(each, detail=at_home(each.detail)) for each in found]

    def document() -> output.Json:
        errors = [StoreProblem(each.profile, at_home(each.db), at_home(each.error)) for each in problems]
        about = output.meta(stores, total=len(checks), errors=errors)
        about["dbs"] = [at_home(each) for each in about["dbs"]]
        return output.document(about, "checks", [output.check(each) for each in checks])

    def lines() -> Iterator[str]:
        rows = [[each.state.value, text.one_line(each.name), text.one_line(each.detail)] for each in checks]
        table = [*plain.columns(["STATE", "CHECK", "DETAIL"], rows)]
        indent = " " * table[0].index("DETAIL")
        for line in table:
            yield from look.broken(line, indent)

    return Answer(document, lines, code)


def _folders(root: Path) -> list[Check]:
    return [
        Check("profiles", State.WARNING, f"{each.home} holds no profile: {each.name!r} is no profile name.")
        for each in paths.list_profiles(root)
        if not each.valid
    ]
