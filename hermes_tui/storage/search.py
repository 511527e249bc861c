"""One store's side of a search, in steps that a reader thread takes one by one.

    search = StoreSearch(query, parsed, catalogue)
    …advance(store) until resting     whole words, in every tier from target down to tool
    search.look_inside(absent)        words that no store knows as words
    search.look_wider()               all words, in different messages
    search.settle_for_less()          some of the words, when nothing else was found anywhere
    search.finish()                   copies, counts

`advance` takes steps until there is something new to show; then `page(store)` says what is known. A step that
raises has changed nothing, and can be taken again. Before it, `ahead` can be read side by side.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable

from hermes_tui.domain.families import Catalogue
from hermes_tui.domain.queries import Hit, SearchQuery, Tier
from hermes_tui.domain.querytext import ParsedQuery
from hermes_tui.domain.querytrees import Leaf, Node, leaves, positive
from hermes_tui.errors import BadQuery
from hermes_tui.storage import folding, matches, spreading
from hermes_tui.storage.answering import Answer, named
from hermes_tui.storage.conditions import conditions
from hermes_tui.storage.connection import Store
from hermes_tui.storage.divisions import Ground
from hermes_tui.storage.finding import Finding, Step
from hermes_tui.storage.fts import TROUBLE, Indexes, express, is_index_trouble, look
from hermes_tui.storage.judging import empty_leaves
from hermes_tui.storage.matches import Groups
from hermes_tui.storage.naming import Named, find_targets, in_time, titles_of
from hermes_tui.storage.notices import notices
from hermes_tui.storage.parts import all_needed, parts_of, with_inside, without_empty
from hermes_tui.storage.passing import passing
from hermes_tui.storage.scopes import Scope, scope_of
from hermes_tui.storage.tallies import PARTIAL, SPREAD, WHOLE, SortKey, Tally, tally
from hermes_tui.values import dataclass, field, replace

FRAME = 0.01
"""Seconds of work after which what is known is shown, though more is on its way."""
_NARROW = 400
"""Sessions up to which statements name those that are searched, even where nothing narrows a search to them."""


@dataclass(frozen=True, slots=True)
class StorePage:
    """What one store knows so far."""

    hits: tuple[tuple[SortKey, Hit], ...]
    """In order."""
    total: int
    matches: int
    """Messages that match, in all of them."""
    searched: int
    expression: str
    routes: frozenset[str]
    notices: tuple[str, ...]
    progress: float | None


@dataclass(slots=True)
class StoreSearch:
    """See the module."""

    query: SearchQuery
    parsed: ParsedQuery
    catalogue: Catalogue
    abreast: int = 1
    """Slices of a reading that whoever advances it can have read at the same time."""
    steps: list[Step] = field(default_factory=list)
    scope: Scope = field(default_factory=Scope)
    ground: Ground | None = None
    tree: Node | None = None
    finding: Finding | None = None
    targets: list[Named] = field(default_factory=list)
    titles: dict[str, Named] = field(default_factory=dict)
    absent: frozenset[Leaf] = frozenset()
    """Plain words that stand in no searched message of this store as words."""
    _inside: frozenset[Leaf] = frozenset()
    _wide: Groups = field(default_factory=dict)
    _less: Groups = field(default_factory=dict)
    _parts: Counter[str] = field(default_factory=Counter)
    _passing: list[Tally] = field(default_factory=list)
    """Conversations that pass, for a query of filter words only."""
    _answer: Answer = field(init=False)

    def __post_init__(self) -> None:
        self.steps = [StoreSearch._prepare]
        self._answer = Answer(self.query)

    @property
    def resting(self) -> bool:
        """Nothing to do until the next phase is asked for."""
        return not self.steps and not (self.finding and self.finding.steps)

    def advance(self, store: Store) -> None:
        """Take steps until there is something new to show, or nothing to do in this phase. What is there within a
        frame is shown whole."""
        began = time.monotonic()
        while not self.resting and not store.stopped():
            changed, found = self.step(store), self.finding
            if self._answer.settled:
                continue
            if not self.query.steps:
                if self.ahead:
                    return  # whoever advances can have it read side by side
                continue
            waited = (found is not None and found.rough) or time.monotonic() - began > FRAME
            reading = found is not None and found.progress is not None
            if reading or (changed and waited and self._tally(store)):
                return

    def step(self, store: Store) -> bool:
        """Take the next step; whether it changed the answer."""
        whose = self.finding if self.finding is not None and self.finding.steps else self
        queue = whose.steps
        step, before = queue[0], self._state()
        try:
            step(whose, store)
        except TROUBLE as error:
            if not is_index_trouble(error) or self.ground is None or self.ground.indexes.base is None:
                raise
            self._distrust(store)
            return True
        queue.remove(step)
        if _same(before, self._state()):
            return False
        self._answer.forget()
        return True

    @property
    def ahead(self) -> list[Callable[[Store], object]]:
        """What can be done side by side before the next `advance`, to be given to `take`."""
        return self.finding.ahead if self.finding is not None else []

    def take(self, done: Iterable[object]) -> None:
        """What `ahead` has done, in its order."""
        if self.finding is not None:
            self.finding.take(done)

    @property
    def progress(self) -> float | None:
        """How far messages are read, while they are."""
        return self.finding.progress if self.finding is not None else None

    @property
    def sought(self) -> Node | None:
        """What is looked for now, words inside words included."""
        return self.finding.tree if self.finding is not None else self.tree

    # phases

    def look_inside(self, absent: frozenset[Leaf]) -> None:
        """Look for these words inside words."""
        if self.tree is None or absent.isdisjoint(positive(self.tree)):
            return
        self._inside = absent & frozenset(positive(self.tree))
        self.steps.append(StoreSearch._begin)

    def look_wider(self) -> None:
        """Look for all words in different messages."""
        if self.finding is not None and self.finding.parts.units:
            self.steps.append(StoreSearch._spread)

    def settle_for_less(self) -> None:
        """Look for some of the words."""
        if self.finding is not None and self.finding.parts.units:
            self.steps.append(StoreSearch._partial)

    def finish(self) -> None:
        """Leave nothing provisional."""
        self.steps.append(StoreSearch._settle if self.finding is None else StoreSearch._fold)

    # steps

    def _prepare(self, store: Store) -> None:
        filters = self.parsed.filters
        self.scope = scope_of(store, self.catalogue, filters, include_hidden=self.query.include_hidden)
        self.targets = find_targets(store, self.catalogue, self.parsed.plain, filters)
        if self.parsed.link is not None:
            return  # its words mean nothing
        where, searched = conditions(store.schema, filters), list(self.scope.places)
        anywhere = where if len(searched) * 2 > len(self.catalogue.chains) + self.catalogue.aside else None
        if filters or len(searched) <= _NARROW:
            where = where.in_sessions(searched)
        deep = self.query.scan or "tool" in filters.wanted.get("role", ())
        self.ground = Ground(
            look(store), self.scope, where, self.query.order, deep, anywhere, self.query.steps, self.abreast
        )
        if self.parsed.expression is None:
            self._passing = self._filtered(store)
            return
        empty = empty_leaves(tuple(leaves(self.parsed.expression)))
        self.tree = without_empty(self.parsed.expression, empty)
        if self.tree is None:
            raise BadQuery(self.query.text, "there is nothing to search for, only punctuation")
        if not any(key in keys for keys in (filters.wanted, filters.barred) for key in ("role", "tool")):
            titled = titles_of(self.catalogue).named(store, self.catalogue, self.tree, self.scope)
            if filters.dated:
                titled = {root_id: each for root_id, each in titled.items() if in_time(each.conversation, filters)}
            self.titles = titled
        self.steps += [StoreSearch._begin, StoreSearch._note_words]

    def _filtered(self, store: Store) -> list[Tally]:
        """The conversations that pass a query of filter words only."""
        return [
            Tally(self.scope.conversations[root_id], Tier.FILTER, delegate=delegate)
            for root_id, delegate in passing(store, self.scope, self.parsed.filters).items()
        ]

    def _begin(self, store: Store) -> None:
        assert self.tree is not None
        assert self.ground is not None
        tree = with_inside(self.tree, self._inside)
        finding = Finding(tree, parts_of(tree), self.ground)
        finding.begin(store, self.finding)
        self.finding = finding

    def _distrust(self, store: Store) -> None:
        """An index is damaged: read instead."""
        assert self.ground is not None
        notice = "The search index is damaged: the messages themselves were read."
        self.ground = replace(self.ground, indexes=Indexes(None, None, (notice,)))
        self._wide, self._less = {}, {}
        self._answer.forget()
        if self.tree is None:
            self.steps = [StoreSearch._prepare]
        else:
            self._begin(store)
            self.steps = [step for step in self.steps if step != StoreSearch._begin]

    def _note_words(self, store: Store) -> None:
        """Which plain words stand nowhere as words. Whoever finds all words of a query has seen each of them."""
        assert self.finding is not None
        assert self.tree is not None
        finding = self.finding
        words = {leaf for leaf in positive(self.tree) if leaf.plain and not leaf.substring} - finding.seen
        if words and all_needed(self.tree) and any(place in self.scope.places for place in finding.found(store)):
            words = set()
        base = finding.ground.indexes.base
        if base is not None:
            searched = set(self.scope.places)
            words = {leaf for leaf in words if not matches.occurs(store, base, leaf, finding.within, searched)}
        self.absent = frozenset(words)

    def _spread(self, store: Store) -> None:
        assert self.finding is not None
        known = {each.conversation.root_id for each in self._tally(store)}
        self._wide = spreading.spread(store, self.finding, known)

    def _partial(self, store: Store) -> None:
        assert self.finding is not None
        self._less, self._parts = spreading.partial(store, self.finding)

    def _fold(self, store: Store) -> None:
        finding = self.finding
        assert finding is not None
        self._deepen(store)
        tallies = self._tally(store)[: self._answer.counted]
        tight = [each for each in tallies if not each.loose]
        folding.fold(store, self.catalogue, finding, tight, finding.tree, finding.judged)
        if len(tight) < len(tallies):
            loose = [each for each in tallies if each.loose]
            folding.fold(store, self.catalogue, finding, loose, finding.parts.any_allowed, finding.partly)
        self._answer.settle()
        finding.groups = {key: {} for key in [*finding.groups][:1]}  # the tallies hold what is left of them
        self.steps.append(StoreSearch._read_more)

    def _read_more(self, store: Store) -> None:
        assert self.finding is not None
        self._answer.read_more(store, self.finding)
        if not self._answer.complete:
            self.steps.append(StoreSearch._read_more)

    def _settle(self, store: Store) -> None:
        self._tally(store)
        self._answer.settle()

    # what is known

    def total(self, store: Store) -> int:
        """Conversations that are known so far."""
        return len(self._tally(store))

    def _tally(self, store: Store) -> list[Tally]:
        """All conversations of the answer, in order."""
        if not self._answer.known:
            main = self.finding.found(store) if self.finding is not None else {}
            for groups in (main, self._less, self._wide):
                self.scope.bring(store, self.catalogue, groups.keys())
            loose = tally(self.scope, self._less, PARTIAL, self.query.order)
            loose |= tally(self.scope, self._wide, SPREAD, self.query.order)
            for root_id, each in loose.items():
                each.loose, each.parts = True, self._parts[root_id]
            found = {each.conversation.root_id: each for each in self._passing}
            found |= loose | tally(self.scope, main, WHOLE, self.query.order)
            self._answer.put(named(found, self.titles.values(), self.targets))
        return self._answer.tallies

    def _deepen(self, store: Store) -> None:
        """Where only the best match of each session is known, ask for the others that the first hits show."""
        finding, scope = self.finding, self.scope
        first = self._tally(store)[: self._answer.first]
        few = {each.conversation.root_id: each for each in first if each.count > len(each.tops) and not each.loose}
        sessions = {session_id for root_id in few for session_id in scope.sessions_of(root_id)}
        if finding is not None and finding.deepen(store, sessions):
            for root_id, each in tally(scope, finding.found(store, sessions), WHOLE, self.query.order).items():
                few[root_id].tops = each.tops

    def page(self, store: Store) -> StorePage:
        """What is known so far, the messages of the hits read."""
        if not self._answer.settled:
            self._deepen(store)
        tallies, finding = self._tally(store), self.finding
        return StorePage(
            hits=self._answer.hits(store, finding),
            total=len(tallies),
            matches=sum(each.count for each in tallies),
            searched=self.scope.searched,
            expression=express(self.tree) if self.tree is not None else "",
            routes=self._routes,
            notices=notices(self.ground, finding, self._inside, self.parsed.filters) if self.ground else (),
            progress=self.progress,
        )

    @property
    def _routes(self) -> frozenset[str]:
        """How it was looked for; nothing before words have been."""
        if self.finding is not None:
            return frozenset(self.finding.routes)
        worded = self.parsed.expression is not None and self.parsed.link is None
        return frozenset() if worded else frozenset({"filter"})

    def _state(self) -> tuple[object, ...]:
        """What the answer is made of: another answer needs another of these."""
        found = self.finding
        made = (found, *found.made_of) if found is not None else ()
        return (self._passing, self.titles, self.targets, self._wide, self._less, self._answer.settled, *made)


def _same(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    """Whether two states are the same: by value for numbers, else by identity."""
    return len(one) == len(other) and all(
        a == b if isinstance(a, int) else a is b for a, b in zip(one, other, strict=True)
    )
