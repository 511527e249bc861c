"""`hermes-tui tree`."""

from __future__ import annotations

from collections.abc import Iterator

from hermes_tui import text
from hermes_tui.commands import output, plain
from hermes_tui.commands.answers import Answer, Asked
from hermes_tui.domain.lineage import LineageNode
from hermes_tui.domain.sessions import Kind

_REPEATED = "Each segment counts what a compression repeated in it; the conversation counts and shows it once."


async def run(asked: Asked) -> Answer:
    """The family of a session: what hangs off what."""
    service = asked.service
    target = await service.target(asked.arguments.target)
    family = await service.lineage(target.profile, target.session_id)
    notices = [*([target.notice] if target.notice else []), *await service.notices(target.profile)]

    def document() -> output.Json:
        about = output.meta(service.stores, total=len(family.nodes), notices=notices, errors=asked.problems)
        return output.document(about, "nodes", [output.node(each) for each in family.nodes])

    def lines() -> Iterator[str]:
        head = ["KIND", "STARTED", "MESSAGES", "TOKENS", "ENDED BY", "ID", "TITLE"]
        rows = [_cells(each) for each in family.nodes]
        yield from plain.columns(head, rows, right=(2, 3))
        if any(each.segment[1] > 1 for each in family.nodes):
            yield _REPEATED
        yield from map(text.one_line, notices)

    return Answer(document, lines, errors=asked.problems)


def _cells(node: LineageNode) -> list[str]:
    number, of = node.segment
    kind = f"segment {number} of {of}" if of > 1 and node.kind in (Kind.ROOT, Kind.SEGMENT) else node.kind.value
    flags = {
        "here": node.is_current,
        "tip": node.is_tip and of > 1,
        "live": node.live,
        "pinned": node.pinned,
        "archived": node.archived,
    }
    said = [word for word, holds in flags.items() if holds]
    title = text.one_line(node.title or "") or "untitled"
    return [
        plain.INDENT * node.depth + kind,
        plain.day(node.started_at),
        f"{node.message_count:,}",
        text.short(node.tokens),
        text.one_line(node.end_reason or ""),
        text.one_line(node.id),
        f"{title} ({', '.join(said)})" if said else title,
    ]
