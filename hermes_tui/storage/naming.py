"""What a query names outright: a session by link, id or exact title, or conversations by words of their titles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hermes_tui.domain.families import Catalogue, lying_beside
from hermes_tui.domain.filters import Filters
from hermes_tui.domain.links import only_link
from hermes_tui.domain.queries import Tier
from hermes_tui.domain.querytrees import Node
from hermes_tui.domain.sessions import Conversation, Segment
from hermes_tui.domain.targets import beginnings, read_name, resolve
from hermes_tui.domain.titles import holder, needed, squeezed_each
from hermes_tui.errors import TargetAmbiguous, TargetNotFound
from hermes_tui.paths import normalize_profile
from hermes_tui.storage.aside import bring
from hermes_tui.storage.connection import Store
from hermes_tui.storage.facts import StoreFacts
from hermes_tui.storage.live import live_ids
from hermes_tui.storage.scopes import Scope, marked
from hermes_tui.values import NamedTuple

_LONGEST_NAME = 300
_TELLING = 8
"""Characters from which on the beginning of an id names all the sessions that begin so."""
_HINTING = 4
"""Characters from which on it names the only one, if there is a digit in it."""


class Named(NamedTuple):
    """A conversation that the query names."""

    conversation: Conversation
    tier: Tier
    delegate: bool = False
    """The title is that of a run which the conversation started."""


def find_targets(store: Store, catalogue: Catalogue, text: str, filters: Filters) -> list[Named]:
    """What a pasted link, id, beginning of an id, or exact title means, newest first. Nothing is left out, but
    what filter words exclude."""
    if not text or len(text) > _LONGEST_NAME:
        return []
    _bring_named(store, catalogue, text)
    segments = list(_segments(catalogue, text))
    if not segments:
        return []
    found = []
    conversations = marked(catalogue, live_ids(store.ref.home))
    facts = StoreFacts(store, catalogue)
    for segment in segments:
        root_id = catalogue.chains[segment.id].root.id
        conversation = conversations.get(root_id) or catalogue.by_root(root_id)
        if conversation is None or not filters.takes("source", (segment.source,)):
            continue
        if filters.passes(conversation, facts=facts):
            found.append(Named(conversation, Tier.TARGET))
    unique = {named.conversation.root_id: named for named in found}
    return sorted(unique.values(), key=lambda named: -(named.conversation.last_active or 0.0))


def _bring_named(store: Store, catalogue: Catalogue, text: str) -> None:
    """Have the catalogue know what stands aside and could be what this names. Of sessions whose ids begin like that
    and which it does not tell apart, two show that there are several."""
    if not catalogue.bystanders:
        return
    try:
        names = beginnings(read_name(text))
    except TargetNotFound:
        return
    known, called = _by_name(catalogue), []
    for name in names:
        if len(name) >= _HINTING:
            called += known.ids[lying_beside(known.ids, name)][: None if len(name) >= _TELLING else 2]
        called += known.titles.get(name, ())
        called += (
            id for each in known.ordered[lying_beside(known.ordered, f"{name} #")] for id in known.titles[each]
        )
    bring(store, catalogue, [*called, *names])


class _ByName(NamedTuple):
    """What stands aside, by what it may be called."""

    ids: list[str]
    """In order, so that those that begin alike lie side by side."""
    ordered: list[str]
    """Titles, likewise."""
    titles: dict[str, list[str]]
    """Title → ids."""


def _by_name(catalogue: Catalogue) -> _ByName:
    """Kept with the catalogue."""
    kept = catalogue.made.get("by name")
    if not isinstance(kept, _ByName):
        titles: dict[str, list[str]] = {}
        for id, _, name in catalogue.bystanders.values():
            titles.setdefault(name, []).append(id)
        kept = catalogue.made["by name"] = _ByName(sorted(catalogue.bystanders), sorted(titles), titles)
    return kept


def _segments(catalogue: Catalogue, text: str) -> Iterator[Segment]:
    linked = only_link(text) is not None  # whoever pastes a link means it, however short it is
    try:
        link = read_name(text)
        if link.profile is not None and normalize_profile(link.profile) != catalogue.profile:
            return
        segment = resolve([catalogue], link).segment
    except TargetAmbiguous as several:
        if linked or len(link.id) >= _TELLING:
            yield from (_segment(catalogue, candidate.id) for candidate in several.candidates)
        return
    except TargetNotFound:
        return
    telling = linked or segment.id == link.id or not segment.id.startswith(link.id) or len(link.id) >= _TELLING
    if telling or (len(link.id) >= _HINTING and any(char.isdigit() for char in link.id)):
        yield segment


def _segment(catalogue: Catalogue, session_id: str) -> Segment:
    return next(each for each in catalogue.chains[session_id].segments if each.id == session_id)


class Titles:
    """The titles of a catalogue, read once."""

    def __init__(self, catalogue: Catalogue) -> None:
        every = (
            chain.segments[0] if len(chain.segments) == 1 else _segment(catalogue, session_id)
            for session_id, chain in catalogue.chains.items()
        )
        names = {segment.id: name for segment in every if (name := segment.title or segment.display_name)}
        names |= {id: name for id, _, name in catalogue.bystanders.values() if name}
        self._named = list(names.items())
        self._joined = squeezed_each(list(names.values()))

    def named(self, store: Store, catalogue: Catalogue, tree: Node, scope: Scope) -> dict[str, Named]:
        """Root id → conversation, for those that have a title in which the words occur."""
        found: dict[str, Named] = {}
        titles: Iterable[tuple[tuple[str, str], str]] = zip(self._named, self._joined, strict=True)
        for piece in needed(tree):  # of very many titles, none takes longer than this
            titles = [each for each in titles if piece in each[1]]
        holds = holder(tree)
        holding = [id for (id, name), joined in titles if id in scope.places and holds(name, joined)]
        scope.bring(store, catalogue, frozenset(holding))
        for session_id in holding:
            place = scope.places[session_id]
            if place.root_id not in scope.conversations:
                continue  # gone
            tier = Tier.AUTOMATION if place.automation else Tier.TITLE
            named = Named(scope.conversations[place.root_id], tier, place.delegate)
            before = found.get(place.root_id)
            if before is None or (named.tier is Tier.TITLE, not named.delegate) > (
                before.tier is Tier.TITLE,
                not before.delegate,
            ):
                found[place.root_id] = named
        return found


def titles_of(catalogue: Catalogue) -> Titles:
    """Kept with the catalogue."""
    kept = catalogue.made.get("titles")
    if not isinstance(kept, Titles):
        kept = catalogue.made["titles"] = Titles(catalogue)
    return kept


def in_time(conversation: Conversation, filters: Filters) -> bool:
    """Whether a conversation was going on in the time asked for: a title has no time of its own."""
    start, end = conversation.started_at, conversation.last_active
    if not filters.dated or start is None or end is None:
        return not filters.dated
    return (filters.after is None or end >= filters.after) and (filters.before is None or start < filters.before)
