"""One store's conversations as a reader job meets them: the catalogue's rows, marked where live, and what only
the messages tell, read when it is first asked for and kept until the row changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from hermes_tui.domain.families import Catalogue, Chain
from hermes_tui.domain.lists import Haystack
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.domain.sessions import Conversation, Details, Status
from hermes_tui.storage.connection import Store
from hermes_tui.storage.live import live_ids
from hermes_tui.storage.sessions import chain_count, cut, load_prompt, load_status

_PROMPT_CHARACTERS = 4_000
"""How much of a first prompt is kept for the filter in place."""


@dataclass(slots=True)
class Memo:
    """What was read of one conversation, good as long as its row is what it was."""

    of: Conversation
    prompt: str | None = None
    asked: bool = False
    """Whether `prompt` was looked for."""
    count: int | None = None
    status: Status | None = None
    haystack: Haystack | None = None


@dataclass(slots=True)
class Memos:
    """All memos, by store and root. A dict's own operations are atomic, and two threads that read the same
    thing write the same thing."""

    _known: dict[StoreRef, dict[str, Memo]] = field(default_factory=dict)

    def of(self, ref: StoreRef, conversation: Conversation) -> Memo:
        """What is known of this conversation: nothing, when its row has changed since."""
        known = self._known.setdefault(ref, {})
        found = known.get(conversation.root_id)
        if found is None or (found.of is not conversation and found.of != conversation):
            found = known[conversation.root_id] = Memo(conversation)
        return found


class Shelf:
    """A store, its catalogue, and what is remembered of it; lives as long as one job."""

    def __init__(self, store: Store, catalogue: Catalogue, memos: Memos) -> None:
        self.store, self.catalogue, self._memos = store, catalogue, memos
        chains = (catalogue.chains.get(session_id) for session_id in live_ids(store.ref.home))
        self._live = {chain.root.id for chain in chains if chain is not None}

    def conversations(self) -> Iterator[Conversation]:
        """All of them, live ones marked."""
        if not self._live:
            yield from self.catalogue.conversations
            return
        for conversation in self.catalogue.conversations:
            yield self._marked(conversation)

    def conversation(self, root_id: str) -> Conversation | None:
        """One of them, or a delegate's run by its own id."""
        found = self.catalogue.by_root(root_id)
        return None if found is None else self._marked(found)

    def _marked(self, conversation: Conversation) -> Conversation:
        return conversation._replace(live=True) if conversation.segment_ids[0] in self._live else conversation

    def prompt(self, conversation: Conversation) -> str | None:
        """The first thing the person said, up to some thousand characters."""
        memo, chain = self._known(conversation)
        if not memo.asked:
            said = load_prompt(self.store, chain)
            memo.prompt, memo.asked = said and said[:_PROMPT_CHARACTERS], True
        return memo.prompt

    def preview(self, conversation: Conversation) -> str | None:
        """The same, as short as Hermes shows it."""
        said = self.prompt(conversation)
        return None if said is None else cut(said)

    def status(self, conversation: Conversation) -> Status:
        """How it stands."""
        memo, chain = self._known(conversation)
        if memo.status is None:
            memo.status = load_status(self.store, chain)
        return memo.status

    def haystack(self, conversation: Conversation) -> Haystack:
        """What the words of a filter are looked for in."""
        memo, _ = self._known(conversation)
        if memo.haystack is None:
            memo.haystack = Haystack.of(conversation, self.prompt(conversation))
        return memo.haystack

    def details(self, conversation: Conversation) -> Details:
        """Preview, exact count, status."""
        memo, chain = self._known(conversation)
        if memo.count is None:
            memo.count = chain_count(self.store, chain)
        return Details(self.preview(conversation), memo.count, self.status(conversation))

    def _known(self, conversation: Conversation) -> tuple[Memo, Chain]:
        root_id = conversation.segment_ids[0]
        own = self.catalogue.by_root(root_id) or conversation
        return self._memos.of(self.store.ref, own), self.catalogue.chains[root_id]
