"""`hermes-tui tree`."""

from __future__ import annotations

from collections.abc import Iterator

from hermes_tui import text
from hermes_tui.commands import output, plain
from hermes_tui.commands.answers import Answer, Asked, details_of
from hermes_tui.commands.looks import Fitting, ended
from hermes_tui.domain.lineage import LineageNode, chain_names, node_name
from hermes_tui.domain.sessions import ConversationKey

_REPEATED = "Each segment counts what a compression repeated in it; the conversation counts and shows it once."

_FITTING = Fitting(
    least=(("TITLE", 20), ("ID", 24)), dropped=("TOKENS", "ENDED BY", "MESSAGES", "STARTED"), last=("KIND",)
)


async def run(asked: Asked) -> Answer:
    """The family of a session: what hangs off what."""
    service = asked.service
    target = await service.target(asked.arguments.target)
    family = await service.lineage(target.profile, target.session_id)
    names = chain_names(family.nodes)
    unnamed = {ConversationKey(target.profile, each.root_id) for each in family.nodes if each.root_id not in names}
    details = {} if asked.arguments.json else await details_of(service, sorted(unnamed), brief=True)
    said = {key.root_id: known for key, known in details.items()}
    notices = [*([target.notice] if target.notice else []), *await service.notices(target.profile)]

    def document() -> output.Json:
        about = output.meta(service.stores, total=len(family.nodes), notices=notices, errors=asked.problems)
        return output.document(about, "nodes", [output.node(each) for each in family.nodes])

    def lines() -> Iterator[str]:
        head = ["KIND", "STARTED", "MESSAGES", "TOKENS", "ENDED BY", "ID", "TITLE"]
        rows = [
            _cells(each, plain.called(node_name(each, names), said.get(each.root_id), asked.look))
            for each in family.nodes
        ]
        yield from plain.columns(head, rows, right=(2, 3), look=asked.look, fitting=_FITTING)
        repeated = [_REPEATED] if any(each.segment[1] > 1 for each in family.nodes) else []
        yield from asked.look.sentences([*repeated, *notices])

    return Answer(document, lines, errors=asked.problems)


def _cells(node: LineageNode, title: str) -> list[str]:
    number, of = node.segment
    kind = f"{node.kind.value} ({number} of {of})" if of > 1 else node.kind.value
    flags = {
        "here": node.is_current,
        "tip": node.is_tip and of > 1,
        "live": node.live,
        "pinned": node.pinned,
        "archived": node.archived,
    }
    said = [word for word, holds in flags.items() if holds]
    return [
        plain.INDENT * node.depth + kind,
        plain.day(node.started_at),
        f"{node.message_count:,}",
        text.short(node.tokens),
        text.one_line(node.end_reason or ""),
        text.one_line(node.id),
        ended(title, f" ({', '.join(said)})" if said else ""),
    ]
