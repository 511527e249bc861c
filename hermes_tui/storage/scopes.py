"""Where a search looks: which sessions, what each counts for, and what is left out unless asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Set

from hermes_tui.domain.families import Catalogue
from hermes_tui.domain.filters import Filters
from hermes_tui.domain.sessions import UNASKED_SOURCES, Conversation, Kind, Segment
from hermes_tui.storage.aside import bring
from hermes_tui.storage.connection import Store
from hermes_tui.storage.facts import StoreFacts
from hermes_tui.storage.live import live_ids
from hermes_tui.values import NamedTuple, dataclass, field

DEMOTED = frozenset({"cron", *UNASKED_SOURCES})
"""Sources whose matches stand below all others, whatever matched."""


class Place(NamedTuple):
    """What a session is to a search."""

    root_id: str
    """Of the conversation that a match in it counts for."""
    delegate: bool
    """It is a run that this conversation started."""
    automation: bool
    """Its matches stand in the tier of automation."""


@dataclass(slots=True)
class Scope:
    """The sessions that are searched, and the conversations that they belong to. Not changed once it is made,
    but that it comes to know what stands aside."""

    places: dict[str, Place] = field(default_factory=dict)
    conversations: dict[str, Conversation] = field(default_factory=dict)
    """Root id → conversation, for all that may be found and do not stand aside. See `bring`."""
    aside: frozenset[str] = frozenset()
    """Of the searched sessions those that stand aside, each a conversation of its own."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Source → conversations of which nothing is searched unless it is asked for: with those that are searched they
    make up all that a list holds."""
    runs_left_out: int = 0
    """Runs of delegates that are left out likewise; they are no conversations."""
    parts_left_out: int = 0
    """Segments that are left out likewise, of conversations that are searched for what else is in them."""
    searched: int = 0
    """Conversations that are searched."""
    _sessions: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def bring(self, store: Store, catalogue: Catalogue, session_ids: Set[str]) -> None:
        """Know the conversations of these sessions that stand aside, and that are still there."""
        missing = (self.aside & session_ids) - self.conversations.keys() if self.aside else ()
        if missing:
            bring(store, catalogue, missing)
            found = {each: catalogue.by_root(each) for each in missing}
            self.conversations.update((root_id, row) for root_id, row in found.items() if row is not None)

    def sessions_of(self, root_id: str) -> tuple[str, ...]:
        """The searched sessions that count for a conversation."""
        if not self._sessions:
            found: dict[str, list[str]] = {}
            for session_id, place in self.places.items():
                found.setdefault(place.root_id, []).append(session_id)
            # all at once: another thread may ask too; tuples: the collector need not look at them
            self._sessions = {root_id: tuple(sessions) for root_id, sessions in found.items()}
        return self._sessions.get(root_id, ())


class _Kept(NamedTuple):
    """A scope without filters, and what it depends on beside the catalogue."""

    live: frozenset[str]
    include_hidden: bool
    scope: Scope


def marked(catalogue: Catalogue, live: frozenset[str]) -> dict[str, Conversation]:
    """Every conversation by its root, live ones marked."""
    found = {conversation.segment_ids[0]: conversation for conversation in catalogue.conversations}
    for session_id in live:
        chain = catalogue.chains.get(session_id)
        if chain is not None and chain.root.id in found:
            found[chain.root.id] = found[chain.root.id]._replace(live=True)
    return found


def scope_of(store: Store, catalogue: Catalogue, filters: Filters, *, include_hidden: bool) -> Scope:
    """Where to look; without filters remembered as long as the catalogue, and what is live, are the same."""
    live = live_ids(store.ref.home)
    if filters:
        return _build(store, catalogue, live, filters, include_hidden=include_hidden)
    kept = catalogue.made.get("scope")
    if isinstance(kept, _Kept) and (kept.live, kept.include_hidden) == (live, include_hidden):
        return kept.scope
    scope = _build(store, catalogue, live, filters, include_hidden=include_hidden)
    catalogue.made["scope"] = _Kept(live, include_hidden, scope)
    return scope


def _build(
    store: Store, catalogue: Catalogue, live: frozenset[str], filters: Filters, *, include_hidden: bool
) -> Scope:
    """Go through all sessions once. Filters of conversations are tested once a conversation."""
    known = marked(catalogue, live)
    scope = Scope()
    facts = StoreFacts(store, catalogue)
    passed: dict[str, bool] = {}
    unasked: list[tuple[str, str]] = []
    filtered, by_source = bool(filters), "source" in filters.wanted or "source" in filters.barred
    left_out = {source for source in UNASKED_SOURCES if not (include_hidden or filters.asks_for(source))}
    for session_id, (segments, kind) in catalogue.chains.items():
        if session_id in catalogue.bystanders:
            continue  # known since another search has found it
        root_id, delegate = segments[0].id, False
        if kind is Kind.DELEGATE:
            owner = catalogue.owner(session_id)
            if owner is None:
                continue
            root_id, delegate = owner[0].segment_ids[0], True
        if filtered:
            if root_id not in passed:
                passed[root_id] = filters.passes(known[root_id], facts=facts)
            if not passed[root_id]:
                continue
        source = segments[0].source if len(segments) == 1 else _source(segments, session_id)
        if by_source and not filters.takes("source", (source,)):
            continue
        if source in left_out:
            if delegate:
                scope.runs_left_out += 1
            else:
                unasked.append((root_id, source))
            continue
        scope.places[session_id] = Place(root_id, delegate, source in DEMOTED)
        scope.conversations[root_id] = known[root_id]
    _place_aside(scope, catalogue, left_out)
    scope.parts_left_out = sum(root_id in scope.conversations for root_id, _ in unasked)
    whole = {root_id: source for root_id, source in unasked if root_id not in scope.conversations}
    scope.left_out.update(whole.values())
    return scope


def _place_aside(scope: Scope, catalogue: Catalogue, left_out: Collection[str]) -> None:
    """Search what stands aside too. Whoever has filters asks for a catalogue of which nothing does."""
    searched = []
    for session_id, source, _ in catalogue.bystanders.values():
        if source in left_out:
            scope.left_out[source] += 1
        else:
            scope.places[session_id] = Place(session_id, False, source in DEMOTED)
            searched.append(session_id)
    scope.aside = frozenset(searched)
    scope.searched = len(scope.conversations) + len(searched)


def _source(segments: Iterable[Segment], session_id: str) -> str:
    return next(segment.source for segment in segments if segment.id == session_id)
