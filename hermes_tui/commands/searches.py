"""`hermes-tui search`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hermes_tui import text
from hermes_tui.commands import looks, output, plain
from hermes_tui.commands.answers import FOUND, NOTHING, Answer, Asked, details_of
from hermes_tui.commands.arguments import Arguments
from hermes_tui.commands.looks import Look
from hermes_tui.domain.filters import NO_FILTERS
from hermes_tui.domain.hints import hints
from hermes_tui.domain.links import link_to
from hermes_tui.domain.queries import Hit, SearchOrder, SearchPage, SearchQuery, WayOut
from hermes_tui.domain.querytext import parse_query
from hermes_tui.domain.sessions import ConversationKey, Details, ListQuery
from hermes_tui.service.sessions import SessionService
from hermes_tui.service.sources import no_source
from hermes_tui.times import now

_TURNED = {SearchOrder.NEWEST: SearchOrder.OLDEST, SearchOrder.OLDEST: SearchOrder.NEWEST}


def query_text(arguments: Arguments) -> str:
    """The filter options as filter words, then the words as typed: an open quote takes in all that follows."""
    words = " ".join(text.storable(word) for word in arguments.words)
    return " ".join(part for part in (text.storable(arguments.filters), words) if part)


def query_of(arguments: Arguments) -> SearchQuery:
    """The question that a command line asks."""
    order = SearchOrder(arguments.sort or SearchOrder.RELEVANCE)
    return SearchQuery(
        text=query_text(arguments),
        order=_TURNED[order] if arguments.reverse else order,
        scan=arguments.scan,
        include_hidden=arguments.all,
        limit=arguments.limit,
        offset=arguments.offset or 0,
        reads=None,
        steps=False,
    )


async def run(asked: Asked) -> Answer:
    """One line a conversation and its best matches; the last, best page only."""
    service = asked.service
    query = query_of(asked.arguments)
    found = SearchPage((), 0, 0, "", "", 0.0, final=True)
    async for page in service.search(query):
        found = page  # each replaces the one before
    details = await details_of(service, [hit.conversation.key for hit in found.hits], brief=not asked.arguments.json)
    errors = (*asked.problems, *found.errors)
    doubts = list(hints(query.text))
    notices = [*doubts, *found.notices]
    if not found.total and (said := await no_source(service, query.text)):
        notices.insert(0, said)
    told = not found.total and not asked.arguments.json
    of = await _all(service, query) if told else 0
    ways = await service.ways_out(query) if told else ()

    def document() -> output.Json:
        about = output.meta(
            service.stores,
            total=found.total,
            returned=len(found.hits),
            offset=query.offset,
            limit=query.limit,
            notices=notices,
            errors=errors,
        )
        about |= {
            "query": query.text,
            "expression": found.expression,
            "route": found.route,
            "elapsed_ms": round(found.elapsed_ms, 1),
        }
        hits = [output.hit(hit, details.get(hit.conversation.key)) for hit in found.hits]
        return output.document(about, "hits", hits)

    def lines() -> Iterator[str]:
        if doubts:  # at the end of a long answer nobody sees them
            yield from asked.look.sentences([*doubts, ""])
        for hit in found.hits:
            yield from _hit(hit, details, asked.look, several=len(service.stores) > 1)
            yield ""
        for line in _summary(query, found, ways, of):
            yield from asked.look.broken(line, plain.INDENT * 2)
        yield from asked.look.sentences(each for each in notices if each not in doubts)

    return Answer(document, lines, FOUND if found.total else NOTHING, errors)


def _hit(hit: Hit, details: dict[ConversationKey, Details], look: Look, *, several: bool) -> Iterator[str]:
    row = hit.conversation
    known = details.get(row.key)
    yield from look.broken(look.strong(plain.name(row, known, look)), "")
    facts = [
        row.profile if several else "",
        text.one_line(row.source),
        plain.day(row.last_active),
        plain.marks(row, known).replace(",", ", "),
        hit.tier.label,
        text.count(hit.count, "match", "matches") if hit.count else "",
        "in a delegate's run" if hit.in_delegate else "",
        text.one_line(link_to(row.profile, row.id)),
    ]
    yield from look.broken(plain.INDENT + ", ".join(filter(None, facts)), plain.INDENT * 2)
    marks = looks.STRONG if look.bold else (output.OPEN, output.CLOSE)
    for match in hit.matches:
        where = [text.one_line(match.role), text.one_line(match.tool or ""), plain.day(match.timestamp)]
        snippet = text.clean(match.snippet).replace("\n", " ")  # as long as before: the spans still fit
        said = output.marked(snippet, match.spans, *marks)
        whole = f"{plain.INDENT}{', '.join(filter(None, where))}, message {match.message_id}: {said}"
        yield from look.broken(whole, plain.INDENT * 2)


async def _all(service: SessionService, query: SearchQuery) -> int:
    """How many conversations there are, beside those that pass the filters."""
    if parse_query(query.text, present=now()).filters == NO_FILTERS:
        return 0
    return (await service.conversations(ListQuery(include_hidden=True, limit=0))).of


def _summary(query: SearchQuery, page: SearchPage, ways: Sequence[WayOut], of: int) -> Iterator[str]:
    searched = text.count(page.searched, "conversation")
    if of > page.searched:
        searched = f"{page.searched:,} of {text.count(of, 'conversation')}"
    how = ", ".join(part for part in (page.route, f"{page.elapsed_ms:,.0f} ms") if part)
    if not page.total:
        yield f"no matches for {text.one_line(query.text)} in {searched} ({how})."
        for way in ways:
            matches = [text.count(way.matches, "match", "matches")] if way.matches else []  # none where no words are
            counts = ", ".join([text.count(way.conversations, "conversation"), *matches])
            yield f"{plain.INDENT}{text.one_line(way.label)}: {counts}"
    else:
        shown = f"{len(page.hits):,} of " if len(page.hits) < page.total else ""
        yield f"{shown}{text.count(page.total, 'conversation')} found, {searched} searched ({how})."
