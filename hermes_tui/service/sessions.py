"""`SessionService`: the whole menu of what a screen or a command may ask.

Every method reads; none blocks the event loop; awaiting is cancelling. Failures are `HermesTuiError`s whose
text can be shown as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from hermes_tui.domain.lineage import Lineage
    from hermes_tui.domain.links import Target
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
        ListQuery,
        Provenance,
    )


class SessionService(Protocol):
    """One or several stores, asked as one."""

    @property
    def stores(self) -> tuple[StoreRef, ...]:
        """The stores that answer, in the order in which they were named."""

    async def conversations(self, query: ListQuery) -> ConversationPage:
        """The list. Raises `BadQuery`; `StoreError` only when no store at all can be read."""

    async def first_page(self, query: ListQuery) -> ConversationPage:
        """The list, or, of a store that holds very many sessions, its first rows alone and sooner (`whole` is
        False then). Raises as `conversations` does."""

    async def conversation(self, key: ConversationKey) -> Conversation:
        """One conversation as it is now. Raises `TargetNotFound` when it has gone."""

    async def details(
        self, keys: Sequence[ConversationKey], *, brief: bool = False, anew: bool = False
    ) -> dict[ConversationKey, Details]:
        """Preview, exact count and status of these; those that have gone are left out. `brief`: a preview only of
        what has no name, and the stored count. `anew`: read even where the row says that nothing changed."""

    async def notices(self, profile: str) -> tuple[str, ...]:
        """What an answer from the store of this profile should not keep quiet: recent messages that may be
        missing, sessions that cannot be read."""

    async def provenance(self, key: ConversationKey) -> Provenance:
        """Where a conversation came from."""

    def search(self, query: SearchQuery) -> AsyncIterator[SearchPage]:
        """Pages of growing goodness; the last has `final` set. A newer search stops an older one."""

    async def read(self, hits: Sequence[Hit], tree: Node | None) -> tuple[Hit, ...]:
        """The same hits with their messages read; `tree`: that of the page which they are from."""

    async def ways_out(self, query: SearchQuery) -> tuple[WayOut, ...]:
        """Less strict forms of a query that found nothing, best first, only those that find something."""

    async def complete(self, word: str) -> tuple[Completion, ...]:
        """Values for a filter word begun in the query box (`source:` → this store's sources)."""

    async def sources(self) -> frozenset[str]:
        """Every source of a session in these stores, as it is written there."""

    async def target(self, text: str) -> Target:
        """What a link, an id, a unique id prefix, an exact title or `latest` means.

        Raises `TargetNotFound` or `TargetAmbiguous`.
        """

    async def outline(self, key: ConversationKey) -> Outline:
        """The whole transcript without its texts."""

    async def window(
        self, key: ConversationKey, anchor: int | None, *, before: int, after: int, rough: bool = False
    ) -> Window:
        """Messages around `anchor` (a message id; None: the end), with how many lie outside. `rough`: at once,
        whatever the length of the rest; of long sessions the counts take in what is not shown."""

    async def messages(self, key: ConversationKey, ids: Sequence[int]) -> tuple[Message, ...]:
        """These shown messages, in this order, texts cut to a page's size; those that have gone are left out."""

    async def message_text(self, key: ConversationKey, message_id: int) -> str:
        """The whole text of one message."""

    async def find(self, key: ConversationKey, words: str) -> tuple[int, ...]:
        """Ids of the shown messages that contain `words` (text, calls, reasoning), in transcript order.

        Case does not matter; words are found inside words; `"a b"` is a phrase.
        """

    async def context(self, key: ConversationKey, hit: Hit | None) -> tuple[Window, Window, Window]:
        """Goal (first 3 messages of person and assistant), match with 5 on each side, resolution (last 3);
        without overlap, hand-offs or empty text. The middle one is empty without a match."""

    async def recap(self, key: ConversationKey) -> Recap:
        """How it ended, as Hermes would tell it on resuming."""

    async def lineage(self, profile: str, session_id: str) -> Lineage:
        """The family of a session. Raises `TargetNotFound`."""

    async def resume_plan(self, profile: str, session_id: str, *, stay: bool = False) -> ResumePlan:
        """The command that continues the conversation of this session, and what is known about it.
        `stay`: in the present directory, where the installed `hermes` can."""

    async def changes(self) -> bool:
        """Whether any store was written since this was last asked."""

    async def checks(self) -> tuple[Check, ...]:
        """What `doctor` says. Raises `StoreError` when no store at all can be read."""

    async def close(self) -> None:
        """Stop what runs, join the threads, close the connections."""
