"""A `SessionService` without a store: frozen values, and gates, so that a test decides when an answer comes.

    service = GatedService()
    service.hold("search")
    …
    call = await service.asked("search")     # the screen has asked, and waits
    call.page(values.page("oauth", final=True))
    call.end()

Methods that are not held answer at once with what `values` or the test's own attributes say.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from hermes_tui.domain.lineage import Lineage
from hermes_tui.domain.links import Target, parse_link
from hermes_tui.domain.messages import Message, Outline, Recap, Window
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.domain.queries import Completion, Hit, SearchPage, SearchQuery, WayOut
from hermes_tui.domain.querytrees import Node
from hermes_tui.domain.resume import Check, ResumePlan
from hermes_tui.domain.sessions import (
    Conversation,
    ConversationKey,
    ConversationPage,
    Details,
    HiddenReason,
    ListQuery,
    Order,
    Provenance,
)
from hermes_tui.errors import HermesTuiError, TargetNotFound
from tests import values

T = TypeVar("T")
_END = object()


@dataclass(eq=False)
class Call:
    """One question that waits for its answer."""

    name: str
    arguments: tuple[Any, ...]
    default: Any
    """What the service would have said by itself."""
    _answer: asyncio.Future[Any] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    _pages: asyncio.Queue[Any] = field(default_factory=asyncio.Queue)
    cancelled: bool = False
    """Whoever asked has stopped waiting."""

    def answer(self, value: Any = None) -> None:
        """Answer with `value`, or with what the service would have said by itself."""
        self._answer.set_result(self.default if value is None else value)

    def fail(self, error: HermesTuiError) -> None:
        """Answer with a failure."""
        if self.name == "search":
            self._pages.put_nowait(error)
        else:
            self._answer.set_exception(error)

    def page(self, page: SearchPage) -> None:
        """One more page of a search."""
        self._pages.put_nowait(page)

    def end(self) -> None:
        """No more pages."""
        self._pages.put_nowait(_END)

    async def wait(self) -> Any:
        try:
            return await self._answer
        except asyncio.CancelledError:
            self.cancelled = True
            raise

    async def pages(self) -> AsyncIterator[SearchPage]:
        while True:
            try:
                page = await self._pages.get()
            except (asyncio.CancelledError, GeneratorExit):
                self.cancelled = True
                raise
            if page is _END:
                return
            if isinstance(page, HermesTuiError):
                raise page
            yield page


def _told(message: Message) -> str:
    """What is looked through: its text and its calls."""
    return " ".join([message.text, *(call.arguments for call in message.tool_calls or ())]).casefold()


class GatedService:
    """The whole menu of `SessionService`, answered from attributes that a test may set."""

    def __init__(
        self, rows: Sequence[Conversation] | None = None, *, stores: Sequence[StoreRef] | None = None
    ) -> None:
        self.rows = list(values.CONVERSATIONS if rows is None else rows)
        self._stores = tuple(stores or (values.STORE,))
        self.transcript: tuple[Message, ...] = values.MESSAGES
        self.hits: tuple[Hit, ...] = values.HITS
        self.plan: ResumePlan = values.PLAN
        self.family: Lineage = values.LINEAGE
        self.ways: tuple[WayOut, ...] = ()
        self.begins_with: int | None = None
        """How many rows there are before the list has been counted; None: the list is there at once."""
        self.failures: dict[str, HermesTuiError] = {}
        """Method → what it raises from now on."""
        self.said_of_store: tuple[str, ...] = ()
        self.searched: int | None = None
        """How many conversations a search says to have searched; None: all of them."""
        self.unread: frozenset[str] = frozenset()
        """Ids of conversations of which something cannot be read."""
        self.changed = False
        self.closed = False
        self.calls: list[Call] = []
        """Every question so far, answered or not."""
        self._held: set[str] = set()
        self._taken: set[Call] = set()
        self._came = asyncio.Condition()

    def hold(self, *names: str) -> None:
        """From now on these methods wait for `Call.answer`."""
        self._held.update(names)

    def release(self, *names: str) -> None:
        """Answer by oneself again; what waits is answered too."""
        self._held.difference_update(names)
        for call in self.calls:
            if call.name in names and not call._answer.done():
                call.answer()
                call.page(call.default)
                call.end()

    async def asked(self, name: str, seconds: float = 10.0) -> Call:
        """The next question to `name` that no `asked` has returned yet; waits for it."""

        def found() -> Call | None:
            return next((call for call in self.calls if call.name == name and call not in self._taken), None)

        async with asyncio.timeout(seconds), self._came:
            await self._came.wait_for(lambda: found() is not None)
        call = found()
        assert call is not None
        self._taken.add(call)
        return call

    async def _call(self, name: str, arguments: tuple[Any, ...], default: Any) -> Call:
        call = Call(name, arguments, default)
        self.calls.append(call)
        async with self._came:
            self._came.notify_all()
        return call

    async def _say(self, name: str, arguments: tuple[Any, ...], default: T | HermesTuiError) -> T:
        call = await self._call(name, arguments, default)
        if name in self._held:
            return await call.wait()  # type: ignore[no-any-return]  # the test answers with the right kind of value
        if name in self.failures:
            raise self.failures[name]
        call.answer()
        if isinstance(default, HermesTuiError):
            raise default
        return default

    @property
    def stores(self) -> tuple[StoreRef, ...]:
        return self._stores

    def _find(self, key: ConversationKey) -> Conversation | HermesTuiError:
        for row in self.rows:
            if row.key == key:
                return row
        return TargetNotFound(f"No session {key.root_id}.")

    async def conversations(self, query: ListQuery) -> ConversationPage:
        words = query.text.casefold().split()
        matching = [row for row in self.rows if all(word in (row.title or "").casefold() for word in words)]
        hidden: dict[HiddenReason, int] = {}
        shown = []
        for row in matching:
            reason = row.hidden_reason
            if reason is not None and not query.include_hidden:
                hidden[reason] = hidden.get(reason, 0) + 1
            else:
                shown.append(row)
        if query.order is Order.TITLE:
            shown.sort(key=lambda row: row.title or "")
        else:
            shown.sort(key=lambda row: row.last_active or 0.0, reverse=True)
        if query.reverse:
            shown.reverse()
        page = ConversationPage(tuple(shown), len(shown), len(self.rows), hidden)
        return await self._say("conversations", (query,), page)

    async def first_page(self, query: ListQuery) -> ConversationPage:
        if self.begins_with is None:
            return await self.conversations(query)
        rows = tuple(self.rows[: self.begins_with])
        return await self._say("first_page", (query,), ConversationPage(rows, len(rows), len(rows), {}, whole=False))

    async def conversation(self, key: ConversationKey) -> Conversation:
        return await self._say("conversation", (key,), self._find(key))

    async def details(
        self, keys: Sequence[ConversationKey], *, brief: bool = False, anew: bool = False
    ) -> dict[ConversationKey, Details]:
        known = {row.key: row for row in self.rows}
        found = {
            key: replace(values.details(known[key]), unread=known[key].id in self.unread)
            for key in keys
            if key in known
        }
        return await self._say("details", (tuple(keys),), found)

    async def notices(self, profile: str) -> tuple[str, ...]:
        return self.said_of_store

    async def provenance(self, key: ConversationKey) -> Provenance:
        return await self._say("provenance", (key,), Provenance(created_source="telegram", user="Mei"))

    async def search(self, query: SearchQuery) -> AsyncIterator[SearchPage]:
        changes = {} if self.searched is None else {"searched": self.searched}
        page = values.page(query.text, self.hits, **changes)
        default = replace(page, notices=(*page.notices, *self.said_of_store))
        call = await self._call("search", (query,), default)
        if "search" in self._held:
            async for page in call.pages():
                yield page
            return
        if "search" in self.failures:
            raise self.failures["search"]
        call.answer()
        yield default

    async def read(self, hits: Sequence[Hit], tree: Node | None) -> tuple[Hit, ...]:
        return await self._say("read", (tuple(hits),), tuple(values.read(hit) for hit in hits))

    async def ways_out(self, query: SearchQuery) -> tuple[WayOut, ...]:
        return await self._say("ways_out", (query,), self.ways)

    async def sources(self) -> frozenset[str]:
        return await self._say("sources", (), frozenset(row.source for row in self.rows))

    async def complete(self, word: str) -> tuple[Completion, ...]:
        key, _, begun = word.partition(":")
        sources = sorted({row.source for row in self.rows})
        found = tuple(Completion(f"{key}:{name}", 1) for name in sources if name.startswith(begun))
        return await self._say("complete", (word,), found)

    async def target(self, text: str) -> Target:
        link = parse_link(text)
        wanted = link.id if link else text
        found: Target | HermesTuiError = TargetNotFound(f"No session {wanted!r}.")
        for row in self.rows:
            if wanted in row.segment_ids or wanted == row.title:
                session_id = wanted if wanted in row.segment_ids else row.id
                found = Target(row.profile, session_id, row.root_id, link.anchor if link else None)
        return await self._say("target", (text,), found)

    async def outline(self, key: ConversationKey) -> Outline:
        return await self._say("outline", (key,), values.outline(self.transcript))

    async def window(
        self, key: ConversationKey, anchor: int | None, *, before: int, after: int, rough: bool = False
    ) -> Window:
        ids = [message.id for message in self.transcript]
        if anchor is not None and anchor not in ids:
            raise TargetNotFound(f"This conversation has no message {anchor}.")
        at = len(ids) - 1 if anchor is None else ids.index(anchor)
        first, last = max(0, at - before), min(len(ids), at + after + 1)
        window = Window(self.transcript[first:last], first, len(ids) - last)
        return await self._say("window", (key, anchor, before, after), window)

    async def messages(self, key: ConversationKey, ids: Sequence[int]) -> tuple[Message, ...]:
        known = {message.id: message for message in self.transcript}
        found = tuple(known[each] for each in ids if each in known)
        return await self._say("messages", (key, tuple(ids)), found)

    async def message_text(self, key: ConversationKey, message_id: int) -> str:
        text = next(message.text for message in self.transcript if message.id == message_id)
        return await self._say("message_text", (key, message_id), text)

    async def find(self, key: ConversationKey, words: str) -> tuple[int, ...]:
        wanted = words.casefold().split()
        found = tuple(m.id for m in self.transcript if all(word in _told(m) for word in wanted))
        return await self._say("find", (key, words), found)

    async def context(self, key: ConversationKey, hit: Hit | None) -> tuple[Window, Window, Window]:
        goal, rest = self.transcript[:3], self.transcript[-3:]
        empty = Window((), 0, 0)
        windows = (Window(goal, 0, len(self.transcript) - 3), empty, Window(rest, len(self.transcript) - 3, 0))
        return await self._say("context", (key, hit), windows)

    async def recap(self, key: ConversationKey) -> Recap:
        return await self._say("recap", (key,), values.RECAP)

    async def lineage(self, profile: str, session_id: str) -> Lineage:
        return await self._say("lineage", (profile, session_id), self.family)

    async def resume_plan(self, profile: str, session_id: str, *, stay: bool = False) -> ResumePlan:
        return await self._say("resume_plan", (profile, session_id, stay), self.plan)

    async def changes(self) -> bool:
        changed, self.changed = self.changed, False
        return await self._say("changes", (), changed)

    async def checks(self) -> tuple[Check, ...]:
        return await self._say("checks", (), ())

    async def close(self) -> None:
        self.closed = True
