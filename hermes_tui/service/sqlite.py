"""`SqliteSessionService`: the menu of `service.sessions`, answered from one or several databases.

It only assembles: questions become jobs for the reader, the answers are storage's, the rules are the domain's.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from hermes_tui.domain.sessions import ConversationKey
from hermes_tui.errors import StoreError, TargetNotFound
from hermes_tui.service import lists
from hermes_tui.service.catalogues import Catalogues
from hermes_tui.service.reader import Reader
from hermes_tui.service.shelves import Memos, Shelf

if TYPE_CHECKING:
    from hermes_tui.domain.families import Catalogue, Chain
    from hermes_tui.domain.lineage import Lineage
    from hermes_tui.domain.links import Link, Target
    from hermes_tui.domain.messages import Message, Outline, Recap, Window
    from hermes_tui.domain.profiles import StoreRef
    from hermes_tui.domain.queries import Completion, Hit, SearchPage, SearchQuery, WayOut
    from hermes_tui.domain.querytrees import Node
    from hermes_tui.domain.resume import Check, ResumePlan
    from hermes_tui.domain.sessions import Conversation, ConversationPage, Details, ListQuery, Provenance
    from hermes_tui.storage.connection import Store

T = TypeVar("T")
_MANY = 1_000
"""Conversations from which on it pays to look at them on several threads."""


class SqliteSessionService:
    """See `SessionService` for what each question means. What only one question needs is imported with it, so
    that a list is there sooner."""

    def __init__(self, stores: Sequence[StoreRef], *, reader: Reader | None = None) -> None:
        self._stores = tuple(stores)
        self._visited: dict[str, StoreRef] = {}
        """Profiles that a link led to, beside those that were opened."""
        self._reader = reader or Reader()
        self._catalogues = Catalogues(self._reader)
        self._memos = Memos()

    @property
    def stores(self) -> tuple[StoreRef, ...]:
        return self._stores

    # lists

    async def conversations(self, query: ListQuery) -> ConversationPage:
        return await lists.list_page(self._reader, self._stores, self._catalogues, self._memos, query)

    async def first_page(self, query: ListQuery) -> ConversationPage:
        asked = lists.first_page(self._reader, self._stores, self._catalogues, self._memos, query)
        return await asked or await self.conversations(query)

    async def conversation(self, key: ConversationKey) -> Conversation:
        _, catalogue, chain = await self._held(key, fresh=True)
        if (found := catalogue.by_root(chain.root.id)) is None:
            raise _gone(key)
        return found

    async def details(
        self, keys: Sequence[ConversationKey], *, brief: bool = False, anew: bool = False
    ) -> dict[ConversationKey, Details]:
        found: dict[ConversationKey, Details] = {}
        refs = list(dict.fromkeys(ref for key in keys for ref in self._of_profile(key.profile)))
        for ref in refs:
            wanted = [key for key in keys if key.profile == ref.profile and key not in found]
            try:
                catalogue = await self._catalogues.holding(ref, [key.root_id for key in wanted])
                job, share = partial(self._detailing, catalogue, brief, anew), self._reader.abreast
                # what is brief is so fast that threads would be in each other's way
                if brief or len(wanted) <= _MANY or share == 1:
                    found.update(await self._reader.run(ref, job(wanted)))
                    continue
                parts = [job(wanted[number::share]) for number in range(share)]
                for some in await self._reader.side_by_side(ref, parts):
                    found.update(some)
            except StoreError:
                if len(refs) == 1:
                    raise
                continue  # the list names this store as unreadable; the others still answer
        return found

    def _detailing(
        self, catalogue: Catalogue, brief: bool, anew: bool, keys: Sequence[ConversationKey]
    ) -> Callable[[Store], dict[ConversationKey, Details]]:
        def job(store: Store) -> dict[ConversationKey, Details]:
            shelf = Shelf(store, catalogue, self._memos)
            rows = {key: row for key in keys if (row := catalogue.by_root(key.root_id)) is not None}
            if anew:
                shelf.forget(rows.values())
            shelf.read_details(list(rows.values()), brief=brief)
            found = {}
            for key, conversation in rows.items():
                if store.stopped():
                    break
                found[key] = shelf.details(conversation, brief=brief)
            return found

        return job

    async def notices(self, profile: str) -> tuple[str, ...]:
        found: list[str] = []
        for ref in self._of_profile(profile):
            catalogue = await self._catalogues.of(ref)
            found += await self._reader.run(ref, self._noticing(catalogue, named=len(self._stores) > 1))
        return tuple(found)

    @staticmethod
    def _noticing(catalogue: Catalogue, *, named: bool) -> Callable[[Store], list[str]]:
        return lambda store: lists.store_notices(store, catalogue, named=named)

    async def provenance(self, key: ConversationKey) -> Provenance:
        from hermes_tui.storage.origins import load_provenance

        return await self._of_chain(key, load_provenance)

    # search

    def search(self, query: SearchQuery) -> AsyncIterator[SearchPage]:
        from hermes_tui.service import searching

        return searching.run_search(
            self._reader,
            self._stores,
            self._catalogues.of,
            query,
            lean_of=self._catalogues.searched,
            stores_of=self._stores_of_link,
        )

    async def read(self, hits: Sequence[Hit], tree: Node | None) -> tuple[Hit, ...]:
        from hermes_tui.service import searching

        async def where(hit: Hit) -> StoreRef:
            return (await self._held(hit.conversation.key, fresh=False))[0]

        return await searching.read_hits(self._reader, where, hits, tree)

    async def ways_out(self, query: SearchQuery) -> tuple[WayOut, ...]:
        from hermes_tui.service import ways

        return await ways.ways_out(self._reader, self._stores, self._catalogues.of, query)

    async def complete(self, word: str) -> tuple[Completion, ...]:
        from hermes_tui.service import completing

        return await completing.complete(self._reader, self._stores, self._catalogues.of, word)

    async def sources(self) -> frozenset[str]:
        from hermes_tui.service import completing

        return await completing.sources(self._stores, self._catalogues.of)

    async def target(self, text: str) -> Target:
        from hermes_tui.service import targeting

        asked = targeting.Asked(self._reader, self._stores, self._catalogues, self._memos, self._visited)
        return await targeting.find_target(asked, text)

    def _stores_of_link(self, link: Link) -> list[StoreRef]:
        """Where this link leads; a profile beside the opened ones is asked like them from then on."""
        from hermes_tui.service import targeting

        found = targeting.stores_of(self._stores, link)
        self._visited.update((ref.profile, ref) for ref in found if ref not in self._stores)
        return found

    # transcripts

    async def outline(self, key: ConversationKey) -> Outline:
        from hermes_tui.storage.transcripts import load_outline

        return await self._of_chain(key, load_outline, fresh=True)

    async def window(
        self, key: ConversationKey, anchor: int | None, *, before: int, after: int, rough: bool = False
    ) -> Window:
        from hermes_tui.storage.transcripts import load_window

        return await self._of_chain(
            key, lambda store, chain: load_window(store, chain, anchor, before, after, rough=rough)
        )

    async def messages(self, key: ConversationKey, ids: Sequence[int]) -> tuple[Message, ...]:
        from hermes_tui.storage.transcripts import load_messages

        return await self._of_chain(key, lambda store, chain: load_messages(store, chain, ids))

    async def message_text(self, key: ConversationKey, message_id: int) -> str:
        from hermes_tui.storage.messages import load_text

        return await self._of_chain(key, lambda store, chain: load_text(store, message_id))

    async def find(self, key: ConversationKey, words: str) -> tuple[int, ...]:
        from hermes_tui.storage.find import find

        return await self._of_chain(key, lambda store, chain: find(store, chain, words))

    async def context(self, key: ConversationKey, hit: Hit | None) -> tuple[Window, Window, Window]:
        from hermes_tui.storage.recaps import load_context

        ref, catalogue, chain = await self._held(key, fresh=False)
        match = hit.best if hit is not None else None
        if match is None:
            return await self._reader.run(ref, lambda store: load_context(store, chain, None))
        # A match in a delegate's run is shown in that run.
        chain = catalogue.chains.get(match.session_id, chain)
        return await self._reader.run(ref, lambda store: load_context(store, chain, match.message_id))

    async def recap(self, key: ConversationKey) -> Recap:
        from hermes_tui.storage.recaps import load_recap

        return await self._of_chain(key, load_recap, fresh=True)

    # families, resume, health

    async def lineage(self, profile: str, session_id: str) -> Lineage:
        from hermes_tui.storage.lineage import load_lineage

        ref, catalogue, _ = await self._held(ConversationKey(profile, session_id), fresh=True)
        return await self._reader.run(ref, lambda store: load_lineage(store, catalogue, session_id))

    async def resume_plan(self, profile: str, session_id: str, *, stay: bool = False) -> ResumePlan:
        from hermes_tui.service.installed import can_stay
        from hermes_tui.storage.resume import Stay, plan_resume

        ref, catalogue, _ = await self._held(ConversationKey(profile, session_id), fresh=True)
        wish = Stay(offered=await can_stay()) if stay else None
        return await self._reader.run(ref, lambda store: plan_resume(store, catalogue, session_id, wish))

    async def changes(self) -> bool:
        refs, found = (*self._stores, *self._visited.values()), False
        for each in await self._reader.together([self._catalogues.changed(ref) for ref in refs]):
            if isinstance(each, BaseException):
                raise each
            found = found or each
        return found

    async def checks(self) -> tuple[Check, ...]:
        from hermes_tui.service import checking

        return await checking.run_checks(self._reader, self._stores, self._catalogues)

    async def close(self) -> None:
        await self._reader.end()

    # which store, which chain

    def _of_profile(self, profile: str) -> list[StoreRef]:
        """The stores that go by this name: two may be called `custom`."""
        refs = [ref for ref in self._stores if ref.profile == profile]
        if not refs and profile in self._visited:
            refs = [self._visited[profile]]
        return refs

    async def _held(self, key: ConversationKey, *, fresh: bool) -> tuple[StoreRef, Catalogue, Chain]:
        """Where a session lies. `fresh=False` is content with what was known a moment ago: a chain grows at its
        end only, and whoever reads on does not wait for the catalogue of a store that is being written."""
        for ref in self._of_profile(key.profile):
            catalogue = None if fresh else self._catalogues.known(ref)
            if catalogue is None or key.root_id not in catalogue.chains:
                catalogue = await self._catalogues.holding(ref, [key.root_id])
            if (chain := catalogue.chains.get(key.root_id)) is not None:
                return ref, catalogue, chain
        raise _gone(key)

    async def _of_chain(self, key: ConversationKey, ask: Callable[[Store, Chain], T], *, fresh: bool = False) -> T:
        ref, _, chain = await self._held(key, fresh=fresh)
        return await self._reader.run(ref, lambda store: ask(store, chain))


def _gone(key: ConversationKey) -> TargetNotFound:
    from hermes_tui.domain.links import Link

    return TargetNotFound(f"{Link(key.profile, key.root_id)} is not there (any more).")
