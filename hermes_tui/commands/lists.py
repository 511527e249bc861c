"""`hermes-tui list`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hermes_tui import text
from hermes_tui.commands import output, plain
from hermes_tui.commands.answers import FOUND, NOTHING, Answer, Asked, details_of
from hermes_tui.commands.looks import Fitting, Look
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.domain.sessions import ConversationKey, ConversationPage, Details, HiddenReason, ListQuery, Order
from hermes_tui.service.sources import no_source

_FITTING = Fitting(
    least=(("TITLE", 20), ("ID", 24), ("WORKSPACE", 12)),
    dropped=("WORKSPACE", "STATE", "SOURCE", "MESSAGES", "PROFILE", "ACTIVE"),
    ends=("WORKSPACE",),
)
"""On a narrow terminal; an id that is cut is still the beginning of one."""


async def run(asked: Asked) -> Answer:
    """Conversations, newest activity first unless told otherwise."""
    arguments, service = asked.arguments, asked.service
    query = ListQuery(
        text=text.storable(arguments.filters),
        order=Order(arguments.sort or Order.ACTIVE),
        reverse=arguments.reverse,
        include_hidden=arguments.all,
        limit=arguments.limit,
        offset=arguments.offset or 0,
    )
    page = await service.conversations(query)
    details = await details_of(service, [row.key for row in page.rows])
    errors = (*asked.problems, *page.errors)
    notices = [*page.notices, *_unread(service.stores, details)]
    if not page.total and (said := await no_source(service, query.text)):
        notices.append(said)

    def document() -> output.Json:
        about = output.meta(
            service.stores,
            total=page.total,
            returned=len(page.rows),
            offset=query.offset,
            limit=query.limit,
            hidden={reason.value: page.hidden.get(reason, 0) for reason in HiddenReason},
            notices=notices,
            errors=errors,
        )
        rows = [output.conversation(row, details.get(row.key)) for row in page.rows]
        return output.document(about, "conversations", rows)

    def lines() -> Iterator[str]:
        if page.rows:
            yield from _table(page, details, asked.look, several=len(service.stores) > 1)
            yield ""
        yield from asked.look.sentences([*_summary(query, page), *notices])

    nothing = page.total == 0 and bool(query.text)
    return Answer(document, lines, NOTHING if nothing else FOUND, errors)


def _table(
    page: ConversationPage, details: dict[ConversationKey, Details], look: Look, *, several: bool
) -> Iterator[str]:
    head = ["ACTIVE", "MESSAGES", "SOURCE", "STATE", "WORKSPACE", "ID", "TITLE"]
    rows = []
    for row in page.rows:
        known = details.get(row.key)
        cells = [
            plain.day(row.last_active),
            f"{known.message_count if known else row.stored_messages:,}",
            text.one_line(row.source),
            plain.marks(row, known),
            plain.place(row.workspace),
            text.one_line(row.id),
            plain.name(row, known, look),
        ]
        rows.append([*cells[:2], row.profile, *cells[2:]] if several else cells)
    if several:
        head.insert(2, "PROFILE")
    yield from plain.columns(head, rows, right=(1,), look=look, fitting=_FITTING)


def _summary(query: ListQuery, page: ConversationPage) -> Iterator[str]:
    """N of M, and what is hidden by which rule."""
    of, first, count = text.count(page.of, "conversation"), query.offset + 1, len(page.rows)
    said = f"{count:,} of {of}."
    if count < page.total:
        some = (
            f"Rows {first:,} to {query.offset + count:,} of {page.total:,}" if count else f"No rows of {page.total:,}"
        )
        said = f"{some}; {of} in all."
    yield " ".join(part for part in (said, plain.left_out(page.hidden)) if part)


def _unread(stores: Sequence[StoreRef], details: Mapping[ConversationKey, Details]) -> Iterator[str]:
    """What was found out only by looking at the messages of these rows."""
    for ref in stores:
        lost = sum(found.unread for key, found in details.items() if key.profile == ref.profile)
        if lost:
            some = text.count(lost, "conversation")
            yield f"{ref.db} is damaged where messages of {some} listed lie. What can be read is shown."
