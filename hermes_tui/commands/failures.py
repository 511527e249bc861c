"""What a command says when it fails: a line on stderr, what may help below it, and in JSON an object all the same."""

from __future__ import annotations

from hermes_tui.commands import output, plain
from hermes_tui.commands.arguments import Arguments
from hermes_tui.domain.sessions import StoreProblem
from hermes_tui.errors import HermesTuiError, StoreError, TargetError, Unsupported

_LISTS = {
    "list": "conversations",
    "search": "hits",
    "show": "messages",
    "tree": "nodes",
    "resume": "resume",
    "link": "links",
    "doctor": "checks",
}
"""What the list of each answer is called in JSON."""


def told(given: Arguments | None, failure: HermesTuiError) -> int:
    """Say it; the exit code. `given` None: the command line itself could not be read."""
    _say(str(failure))
    if isinstance(failure, TargetError):
        for each in failure.candidates:
            output.say(*plain.choice(each))
    if given is None:
        return failure.exit_code
    for store in given.problems:
        _say(store.error)  # perhaps it is there
    if given.command == "doctor" and isinstance(failure, StoreError):
        _undiagnosed(given, failure)
    elif given.json:
        _write_json(given, failure)
    return failure.exit_code


def _say(message: str) -> None:
    output.say(f"hermes-tui: {message}")


def _undiagnosed(given: Arguments, failure: StoreError) -> None:
    """Where there is no store to look into, what surrounds it is all the more of use."""
    from hermes_tui.commands import checkups, stores

    answer = checkups.without(given, [stores.problem(failure), *given.problems])
    if given.json:
        output.write_json(answer.document())
    else:
        output.write_lines(answer.lines())


def _write_json(given: Arguments, failure: HermesTuiError) -> None:
    """A reader of JSON gets its object also when a store or a target is missing."""
    from hermes_tui.commands import stores

    if isinstance(failure, TargetError):
        items = [output.candidate(each) for each in failure.candidates]
        about = output.meta(given.stores, total=len(items), errors=given.problems)
        output.write_json(output.document(about, "candidates", items))
    elif isinstance(failure, StoreError) and given.command in _LISTS:
        about = output.meta(given.stores, errors=[stores.problem(failure), *given.problems])
        found = output.document(about, _LISTS[given.command], None if given.command == "resume" else [])
        output.write_json(found)
    elif isinstance(failure, Unsupported) and given.command == "resume":
        errors = [StoreProblem(ref.profile, str(ref.db), str(failure)) for ref in given.stores[:1]]
        output.write_json(output.document(output.meta(given.stores, errors=errors), "resume", None))
