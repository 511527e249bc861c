"""What only the messages tell of a conversation: read when it is first asked for, and kept until its row in the
catalogue changes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from hermes_tui.domain.lists import Haystack
from hermes_tui.domain.sessions import Conversation, Details, Status
from hermes_tui.values import dataclass, field

if TYPE_CHECKING:
    from hermes_tui.domain.families import Catalogue, Chain
    from hermes_tui.domain.filters import Origin
    from hermes_tui.domain.profiles import StoreRef
    from hermes_tui.storage.connection import Store
    from hermes_tui.storage.facts import StoreFacts

T = TypeVar("T")
_PROMPT_CHARACTERS = 4_000
"""How much of a first prompt is kept for the filter in place."""


@dataclass(slots=True)
class Memo(Haystack):
    """What was read of one conversation, good as long as its row is what it was."""

    asked: bool = False
    """Whether `prompt` was looked for."""
    count: int | None = None
    status: Status | None = None
    unread: bool = False
    """Whether a damaged page was in the way."""


@dataclass(slots=True)
class Memos:
    """All memos, by store and root. A dict's own operations are atomic, and two threads that read the same
    thing write the same thing."""

    _known: dict[StoreRef, dict[str, Memo]] = field(default_factory=dict)

    def of_store(self, ref: StoreRef) -> dict[str, Memo]:
        """Those of this store, to be asked with `memo_of`."""
        return self._known.setdefault(ref, {})


def memo_of(known: dict[str, Memo], conversation: Conversation) -> Memo:
    """What is known of this conversation: nothing, when its row has changed since."""
    row = conversation._replace(live=False) if conversation.live else conversation
    root_id = row.segment_ids[0]
    found = known.get(root_id)
    if found is None or (found.of is not row and found.of != row):
        found = known[root_id] = Memo(row)
    return found


def _has_name(conversation: Conversation) -> bool:
    """Whether a row calls it something else than its first words."""
    return bool((conversation.title or conversation.display_name or "").strip())


class Shelf:
    """A store, its catalogue, and what is remembered of it; lives as long as one job. What reads messages is
    imported when something is asked of them: a list is there sooner."""

    def __init__(self, store: Store, catalogue: Catalogue, memos: Memos) -> None:
        self.store, self.catalogue, self._memos = store, catalogue, memos.of_store(store.ref)

    @cached_property
    def _facts(self) -> StoreFacts:
        from hermes_tui.storage.facts import StoreFacts

        return StoreFacts(self.store, self.catalogue)

    def prompt(self, conversation: Conversation) -> str | None:
        """The first thing the person said, up to some thousand characters."""
        from hermes_tui.storage.sessions import load_prompt

        memo, chain = self._known(conversation)
        if not memo.asked:
            with self._watched(memo):
                said = load_prompt(self.store, chain)
            memo.prompt, memo.asked = said and said[:_PROMPT_CHARACTERS], True
        return memo.prompt

    def preview(self, conversation: Conversation) -> str | None:
        """The same, as short as Hermes shows it."""
        from hermes_tui.storage.sessions import cut

        said = self.prompt(conversation)
        return None if said is None else cut(said)

    def status(self, conversation: Conversation) -> Status:
        """How it stands."""
        from hermes_tui.storage.sessions import load_status

        memo, chain = self._known(conversation)
        if memo.status is None:
            with self._watched(memo):
                memo.status = load_status(self.store, chain)
        return memo.status

    def origin(self, conversation: Conversation) -> Origin:
        """Who spoke and where."""
        return self._facts.origin(conversation)

    def holds(self, conversation: Conversation, roles: frozenset[str], tools: frozenset[str]) -> bool:
        """Whether it has messages of these roles and tools."""
        return self._facts.holds(conversation, roles, tools)

    def haystack(self, conversation: Conversation) -> Haystack:
        """What the words of a filter are looked for in."""
        memo, _ = self._known(conversation)
        if not memo.folded:
            self.prompt(conversation)
            memo.fold()
        return memo

    def details(self, conversation: Conversation, *, brief: bool = False) -> Details:
        """Preview, exact count, status; `brief`: a preview only where nothing else names it, the stored count."""
        from hermes_tui.storage.sessions import chain_count

        memo, chain = self._known(conversation)
        if brief:
            preview = None if _has_name(conversation) else self.preview(conversation)
            status = memo.status or self.status(conversation)
            return Details(preview, conversation.stored_messages, status, memo.unread)
        if memo.count is None:
            with self._watched(memo):
                memo.count = chain_count(self.store, chain)
        preview, status = self.preview(conversation), self.status(conversation)
        return Details(preview, memo.count, status, memo.unread)

    def forget(self, conversations: Iterable[Conversation]) -> None:
        """Read their messages anew: they may have changed without their rows, as when one was undone."""
        for conversation in conversations:
            self._memos.pop(conversation.root_id, None)

    def read_prompts(self, conversations: Iterable[Conversation]) -> None:
        """Read the first prompts of many at once, before they are asked for one by one."""
        from hermes_tui.storage.details import load_prompts

        def keep(memo: Memo, said: str | None) -> None:
            memo.prompt, memo.asked = said and said[:_PROMPT_CHARACTERS], True

        self._read_many(conversations, lambda memo: not memo.asked, load_prompts, keep)

    def read_statuses(self, conversations: Iterable[Conversation]) -> None:
        """Read how many of them stand."""
        from hermes_tui.storage.details import load_statuses

        def keep(memo: Memo, status: Status) -> None:
            memo.status = status

        self._read_many(conversations, lambda memo: memo.status is None, load_statuses, keep)

    def read_details(self, conversations: Sequence[Conversation], *, brief: bool = False) -> None:
        """Read all that `details` tells of many."""
        if brief:
            self.read_prompts([each for each in conversations if not _has_name(each)])
            self.read_statuses(conversations)
            return
        from hermes_tui.storage.details import load_counts

        def keep(memo: Memo, count: int) -> None:
            memo.count = count

        self.read_prompts(conversations)
        self.read_statuses(conversations)
        self._read_many(conversations, lambda memo: memo.count is None, load_counts, keep)

    def _read_many(
        self,
        conversations: Iterable[Conversation],
        missing: Callable[[Memo], bool],
        load: Callable[[Store, Sequence[Chain]], dict[str, T]],
        keep: Callable[[Memo, T], None],
    ) -> None:
        """A batch in which damage was met is kept out: what is asked for one by one says what of it is unread."""
        from hermes_tui.storage.rows import batches

        known = [self._known(conversation) for conversation in conversations]
        wanted = {chain.root.id: (memo, chain) for memo, chain in known if missing(memo)}
        for batch in batches([chain for _, chain in wanted.values()]):
            if self.store.stopped():
                return
            before = self.store.hurt
            try:
                found = load(self.store, batch)
            except sqlite3.DatabaseError as error:
                self.store.forgive(error)
                continue
            for root_id, value in found.items() if self.store.hurt == before else ():
                keep(wanted[root_id][0], value)

    @contextmanager
    def _watched(self, memo: Memo) -> Iterator[None]:
        """Remember of a conversation that damage was met while it was read."""
        before = self.store.hurt
        yield
        memo.unread = memo.unread or self.store.hurt > before

    def _known(self, conversation: Conversation) -> tuple[Memo, Chain]:
        return memo_of(self._memos, conversation), self.catalogue.chains[conversation.segment_ids[0]]
