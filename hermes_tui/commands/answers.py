"""What passes between the command line and a command: a question with its service, and an answer in two forms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from hermes_tui.commands.arguments import Arguments
from hermes_tui.commands.looks import PIPED, Look
from hermes_tui.commands.output import Json
from hermes_tui.domain.sessions import Conversation, ConversationKey, Details, StoreProblem
from hermes_tui.errors import TargetNotFound
from hermes_tui.service.sessions import SessionService
from hermes_tui.values import dataclass

FOUND, NOTHING, FAILED = 0, 1, 3


@dataclass(frozen=True, slots=True)
class Asked:
    """A command line and the stores that answer it."""

    arguments: Arguments
    service: SessionService
    problems: tuple[StoreProblem, ...] = ()
    """Stores that were named and cannot be asked."""
    look: Look = PIPED
    """What text may look like where it goes."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found; only the form that is asked for is made."""

    document: Callable[[], Json]
    lines: Callable[[], Iterable[str]]
    """For people; whatever comes from a store has been made safe."""
    code: int = FOUND
    errors: tuple[StoreProblem, ...] = ()
    """Stores that could not be read; the others answered."""


async def details_of(
    service: SessionService, keys: Sequence[ConversationKey], *, brief: bool = False
) -> dict[ConversationKey, Details]:
    """A look at the messages of each; `brief`: without the exact count of them."""
    return await service.details(keys, brief=brief) if keys else {}


async def one(service: SessionService, key: ConversationKey) -> tuple[Conversation, Details]:
    """One conversation with its details. Raises `TargetNotFound` when it has just gone."""
    row = await service.conversation(key)
    found = (await service.details([key])).get(key)
    if found is None:
        raise TargetNotFound(f"Session {row.id} has gone.")
    return row, found
