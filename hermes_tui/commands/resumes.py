"""`hermes-tui resume` and `hermes-tui link`: what continues a session, and what names it."""

from __future__ import annotations

from hermes_tui import text
from hermes_tui.commands import output
from hermes_tui.commands.answers import Answer, Asked
from hermes_tui.domain.links import Candidate
from hermes_tui.domain.resume import ResumePlan
from hermes_tui.domain.sessions import ConversationKey
from hermes_tui.errors import Unsupported


async def run(asked: Asked) -> tuple[ResumePlan, Answer]:
    """The plan for the target, and how it is printed. Raises `Unsupported` with the reason where there is no
    resuming."""
    target = await asked.service.target(asked.arguments.target)
    plan = await asked.service.resume_plan(target.profile, target.session_id)
    if plan.refused:
        raise Unsupported(plan.refused)
    notices = [*plan.notices, *await asked.service.notices(target.profile)]

    def document() -> output.Json:
        about = output.meta(asked.service.stores, total=1, notices=notices, errors=asked.problems)
        return output.document(about, "resume", output.plan(plan))

    return plan, Answer(document, lambda: [plan.command], errors=asked.problems)


async def link(asked: Asked) -> Answer:
    """The link of the session asked for."""
    target = await asked.service.target(asked.arguments.target)
    row = await asked.service.conversation(ConversationKey(target.profile, target.root_id))
    found = Candidate(target.profile, target.session_id, row.title)
    notices = [*([target.notice] if target.notice else []), *await asked.service.notices(target.profile)]

    def document() -> output.Json:
        about = output.meta(asked.service.stores, total=1, notices=notices, errors=asked.problems)
        return output.document(about, "links", [output.candidate(found)])

    return Answer(document, lambda: [text.one_line(found.link)], errors=asked.problems)
