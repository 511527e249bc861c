"""`hermes-tui show`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hermes_tui import text
from hermes_tui.commands import output, plain
from hermes_tui.commands.answers import Answer, Asked, one
from hermes_tui.commands.arguments import Arguments
from hermes_tui.commands.looks import Look
from hermes_tui.domain.contents import without_payloads
from hermes_tui.domain.links import Target, link_to
from hermes_tui.domain.messages import MESSAGE, UNREADABLE, Message, Outline
from hermes_tui.domain.sessions import Conversation, ConversationKey, Details
from hermes_tui.errors import TargetNotFound
from hermes_tui.service.sessions import SessionService
from hermes_tui.values import dataclass, replace

_WINDOW = 5
_BATCH = 500
_WRITTEN = ("user", "assistant")
_FENCES = ("```", "~~~")


@dataclass(frozen=True, slots=True)
class _Part:
    """Which messages are given."""

    ids: Sequence[int]
    before: int
    after: int
    omitted: int = 0


async def run(asked: Asked) -> Answer:
    """A conversation, or a part of it."""
    arguments, service = asked.arguments, asked.service
    target = await _target(service, arguments)
    key = ConversationKey(target.profile, target.root_id)
    row, details = await one(service, key)
    outline = await service.outline(key)
    at = None if target.anchor is None else outline.position(target.anchor)
    anchor = None if at is None else outline.ids[at]
    part = _part(arguments, outline, at)
    messages = await _whole(service, key, part.ids)
    notices = [*([target.notice] if target.notice else []), *await service.notices(target.profile)]
    if lost := sum(each.kind == UNREADABLE for each in messages):
        notices.append(f"{text.count(lost, 'message')} cannot be read: the database is damaged there.")
    notices += [
        f"Message {each.id}: what is stored as its tool calls is no list of calls."
        for each in messages
        if each.tool_calls is None
    ]

    def document() -> output.Json:
        about = output.meta(
            service.stores, total=len(outline), returned=len(messages), notices=notices, errors=asked.problems
        )
        about |= {"before": part.before, "after": part.after, "omitted": part.omitted}
        said = [output.message(each, anchor=anchor) for each in messages]
        return output.document(about, "messages", said, conversation=output.conversation(row, details))

    def lines() -> Iterator[str]:
        yield from _head(row, details, look=asked.look)
        yield from asked.look.sentences(notices)
        yield from _body(messages, part, outline, anchor, head=arguments.head, look=asked.look)

    return Answer(document, lines, errors=asked.problems)


async def _target(service: SessionService, arguments: Arguments) -> Target:
    """What is asked for; `--around` is an anchor like that of a link."""
    target = await service.target(arguments.target)
    if arguments.around is None:
        return target
    wanted = arguments.around
    target = await service.target(link_to(target.profile, target.session_id, wanted))
    if target.anchor is None:
        ids = (await service.outline(ConversationKey(target.profile, target.root_id))).ids
        there = f"the first there is {ids[0]}, the last {ids[-1]}" if ids else "nothing is shown there"
        raise TargetNotFound(f"Message {wanted} is not shown in session {target.session_id}: {there}.")
    return target


def _part(arguments: Arguments, outline: Outline, at: int | None) -> _Part:
    count = len(outline)
    if arguments.around is not None and at is not None:
        window = _WINDOW if arguments.window is None else arguments.window
        first, last = max(0, at - window), min(count, at + window + 1)
        return _Part(outline.ids[first:last], first, count - last)
    if arguments.head is None and arguments.tail is None:
        return _Part(outline.ids, 0, 0)
    head = min(arguments.head or 0, count)
    tail = min(arguments.tail or 0, count - head)
    if not tail and arguments.head is not None:
        return _Part(outline.ids[:head], 0, count - head)
    if not head:
        return _Part(outline.ids[count - tail :], count - tail, 0)
    return _Part(outline.ids[:head] + outline.ids[count - tail :], 0, 0, count - head - tail)


async def _whole(service: SessionService, key: ConversationKey, ids: Sequence[int]) -> list[Message]:
    """These messages with their whole texts."""
    found: list[Message] = []
    for at in range(0, len(ids), _BATCH):
        for each in await service.messages(key, ids[at : at + _BATCH]):
            if each.cut:
                whole = await service.message_text(key, each.id)
                each = replace(each, text=whole, chars=len(whole))
            found.append(each)
    return found


def _head(row: Conversation, details: Details, *, look: Look) -> Iterator[str]:
    yield look.strong(plain.name(row, details, look, segments=False))
    branch = f"({text.one_line(row.git_branch)})" if row.git_branch else ""
    where = f"{plain.place(row.workspace)} {branch}".strip()
    facts = [
        fact for fact in (text.one_line(row.source).strip(), text.one_line(row.model or "").strip(), where) if fact
    ]
    if facts:
        yield ", ".join(facts)
    counts = [
        text.count(details.message_count, "message"),
        text.count(len(row.segment_ids), "segment"),
        f"{text.short(row.tokens)} tokens",
        plain.marks(row, details).replace(",", ", "),
    ]
    yield ", ".join(count for count in counts if count)
    yield f"{plain.day(row.started_at)} to {plain.day(row.last_active)}"
    yield text.one_line(link_to(row.profile, row.id))


def _body(
    messages: Sequence[Message], part: _Part, outline: Outline, anchor: int | None, *, head: int | None, look: Look
) -> Iterator[str]:
    if part.before:
        yield from ("", f"({text.count(part.before, 'earlier message')})")
    session = messages[0].session_id if messages else None
    for number, each in enumerate(messages):
        if part.omitted and number == head:
            yield from ("", f"({text.count(part.omitted, 'message')} left out)")
        if each.session_id != session:
            session = each.session_id
            yield from ("", _seam(session, outline))
        yield ""
        yield from _message(each, anchored=each.id == anchor, look=look)
    if part.after:
        yield from ("", f"({text.count(part.after, 'later message')})")


def _seam(session: str, outline: Outline) -> str:
    number = next((n for n, mark in enumerate(outline.segments, 1) if mark.session_id == session), 0)
    return f"(segment {number} of {len(outline.segments)}, {text.one_line(session)})"


def _prose(lines: Iterable[str], look: Look) -> Iterator[str]:
    """On a terminal broken at words; code as it is."""
    code = False
    for line in lines:
        stripped = line.lstrip()
        if stripped.startswith(_FENCES):
            code = not code
        if code:
            yield line
        else:
            yield from look.broken(line, line[: len(line) - len(stripped)])


def _message(each: Message, *, anchored: bool, look: Look) -> Iterator[str]:
    who = text.one_line(each.role if each.kind == MESSAGE else each.kind)
    tool = text.one_line(each.tool_name or (each.call.name if each.call else ""))
    about = [f"[{each.id}] {who} {tool}".rstrip(), plain.day(each.timestamp, seconds=True)]
    yield look.strong(", ".join([*about, "this one"] if anchored else about))
    if each.reasoning:
        yield f"{plain.INDENT}thought:"
        yield from plain.indented(each.reasoning, plain.INDENT * 2)
    if each.commentary:
        yield from plain.indented(each.commentary)
    said = each.text or each.label or ""
    if said:
        written = each.role in _WRITTEN and each.kind == MESSAGE
        yield from _prose(plain.indented(said), look) if written else plain.indented(said)
    for call in each.tool_calls or ():
        given = text.one_line(without_payloads(call.arguments))
        yield f"{plain.INDENT}calls {text.one_line(call.name)} {given}".rstrip()
    if each.tool_calls is None and each.tool_calls_raw:
        yield f"{plain.INDENT}calls, not understood: {text.one_line(without_payloads(each.tool_calls_raw))}"
