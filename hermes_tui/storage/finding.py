"""Find one boolean tree in one store: by an index where one answers, by reading the messages where none does.

Every message is in one of two parts: those that an index is asked about, whose matches SQLite counts and ranks,
and those that are read (`divisions`). What stands inside words no index of words knows: messages that hold such are
read, and whatever is left of the tree without them is asked of the index, about all others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from typing import Any

from hermes_tui.domain.querytrees import Leaf, Node, Or, positive
from hermes_tui.storage import matches, ranking
from hermes_tui.storage.conditions import Conditions
from hermes_tui.storage.connection import Store
from hermes_tui.storage.divisions import Division, Ground, divide
from hermes_tui.storage.fts import Index, Scale, scale
from hermes_tui.storage.judging import Judge
from hermes_tui.storage.matches import BEST, CALLED, Group, Groups, by_order
from hermes_tui.storage.parts import Parts, of_words
from hermes_tui.storage.rows import extent
from hermes_tui.storage.scan import Judged, Task, plan, read_ahead, scan_slice, take
from hermes_tui.storage.settling import Asked, settled_by_reading
from hermes_tui.storage.summing import Summing
from hermes_tui.storage.tallies import Scorer, grouped, merged
from hermes_tui.values import dataclass, field

MANY = 5_000
"""Matches from which on the answer comes in steps."""
_SOME = 1_000
"""Matches from which on the newest of them are shown before the best are known: fewer are ranked within a frame."""
_AMONG = 400
"""The newest matches, among which the first step looks for some that somebody said …"""
_AT_ONCE = 50
"""… and shows so many."""
Step = Callable[[Any, Store], None]
"""A method of whoever has it in a list. Bound, it would hold all that was found in a circle."""


@dataclass(slots=True)
class Finding:
    """One tree, what was found of it so far, and what is still to be done."""

    tree: Node
    parts: Parts
    ground: Ground
    steps: list[Step] = field(default_factory=list)
    index: Index | None = None
    """The one that is asked …"""
    asked: Node | None = None
    """… for this; None where none of the messages it is asked about can match."""
    within: Conditions = field(default_factory=lambda: Conditions([]))
    """What the messages are that it is asked about."""
    groups: Groups = field(default_factory=dict)
    """Of these, what matches."""
    judged: dict[int, Judged] = field(default_factory=dict)
    """Of the messages that were read, those that match."""
    partly: dict[int, Judged] = field(default_factory=dict)
    """Those that hold a part of the query."""
    seen: set[Leaf] = field(default_factory=set)
    """Words that occur in a message that was read."""
    routes: set[str] = field(default_factory=set)
    task: Task | None = None
    unreadable: int = 0
    rough: bool = False
    """`groups` are some of the matches, to be shown before all are known."""
    _counts: dict[Node, int] = field(default_factory=dict)
    division: Division = field(init=False)
    _both: set[int] = field(default_factory=set)
    """Messages that were read and that the index may give as well, until it is not asked about them any more."""
    _known: bool = False
    """The index was asked, or will be before anything is read."""
    _to_part: bool = False
    """That is still to be seen to."""
    _recently: ranking.Recently | None = None
    """The newest matches, which need not be ranked again."""
    _summing: Summing | None = None
    """What ranks very many matches."""
    _scorer: tuple[int, Scorer] | None = None
    _measured: dict[int, float] = field(default_factory=dict)
    """BM25 of rows that were read and which the index ranks all the same."""

    def begin(self, store: Store, before: Finding | None = None) -> None:
        """Choose the way, and queue its steps. `before`: what was found where words stand nowhere that are now looked
        for inside words."""
        division = self.division = divide(store, self.tree, self.ground)
        base, self.index, self.within = self.ground.indexes.base, division.index, division.within
        self.asked = self.of_index(self.tree)
        mixed = division.inside is not None
        if self.asked is None:
            self._known = True
        elif mixed and before is not None and before.asked is not None and before.division.within == self.within:
            self.groups, self._summing, self._counts = before.groups, before._summing, before._counts
            self._known = True
        elif self.ground.steps or not mixed:
            self.steps += [Finding._newest] if self.ground.steps else self._ranking(store)
            self._known = True
        if self.index is not None:
            self.routes.add("fts" if self.index is base else "trigram")
        if division.listed:
            self.routes.add("fts")
        if division.stretches:
            self.steps.append(Finding._start_reading)
        if mixed:
            self._to_part = self.asked is not None
            self.steps.append(Finding._part)

    def of_index(self, node: Node) -> Node | None:
        """What the index is asked for that is asked about a part of the tree; None where it has nothing to say."""
        if self.index is None:
            return None
        return node if self.index is self.ground.indexes.trigram else of_words(node)

    # what an index answers

    def _ranking(self, store: Store, *, again: bool = False) -> list[Step]:
        """How all that match are ranked, once it is known how many they are."""
        assert self.index is not None
        assert self.asked is not None
        number = self.count(store, self.asked)
        before, after = self.ground.steps and number > MANY and not again, self.index.inline
        self._summing = None
        if number > MANY and not self.index.inline and not self.ground.where.clauses:
            self._summing = Summing(self.index, self.asked, self.within, self.ground.order)
            self._summing.divide(store, number, 1 if before else self.ground.abreast)
        return [*([Finding._recent] * before), Finding._rank, *([Finding._settle] * after)]

    def _part(self, store: Store) -> None:
        """What was read is no matter of the index any more."""
        if self._both:
            both = json.dumps(sorted(self._both))
            self.within = self.within.also("m.id not in (select value from json_each(:both))", both=both)
        if self.asked is not None and (self._both or not self._known):
            self.steps[1:1] = self._ranking(store, again=self._known)
        self._to_part = False

    def _measure(self, store: Store) -> None:
        self.steps[1:1] = self._ranking(store)

    def _newest(self, store: Store) -> None:
        """Of very many some of the newest that people and the assistant said in sessions that nothing demotes; of any
        others only where there are none. How many match is asked when these are shown."""
        assert self.index is not None
        assert self.asked is not None
        tree, newest = ranking.enough(store, self.index, self.asked, _SOME)
        if len(newest) < _SOME:
            self._counts[self.asked] = len(newest)
            return self._measure(store)
        self.steps.insert(1, Finding._measure)
        groups, places = Groups(), self.ground.scope.places
        among = ranking.newest(store, self.index, tree, self.within, newest[:_AMONG])
        found = [(kind, top) for kind, top in among if top.session_id in places]
        human = [(kind, top) for kind, top in found if kind != CALLED and not places[top.session_id].automation]
        for kind, top in (human or found)[:_AT_ONCE]:
            group = groups.setdefault(top.session_id, {}).setdefault(kind, Group(0))
            group.count += 1
            group.tops.append(top)
        best = by_order(self.ground.order)
        for each in (group for kinds in groups.values() for group in kinds.values()):
            each.tops = sorted(each.tops, key=best)[:BEST]
        self.groups, self.rough = groups, True

    def _recent(self, store: Store) -> None:
        assert self.index is not None
        assert self.asked is not None
        self._recently = ranking.recently(store, self.index, self.asked, self.within, self.ground.order, MANY)
        self.groups = self._recently.ranking.groups()
        if self._summing is not None:
            self._summing.known = self._recently
            self._summing.divide(store, self.count(store, self.asked) - MANY, self.ground.abreast)

    def _rank(self, store: Store) -> None:
        assert self.index is not None
        assert self.asked is not None
        order, known = self.ground.order, self._recently
        if self._summing is not None:
            self.groups = self._summing.last(store)
        else:
            self.groups = ranking.ranked(store, self.index, self.asked, self.within, order, known)
        self._recently, self.rough = None, False

    def deepen(self, store: Store, session_ids: Iterable[str]) -> bool:
        """Know as many matches of these sessions as are ever shown; whether any of them had to be asked for."""
        return self._summing is not None and not self.rough and self._summing.deepen(store, self.groups, session_ids)

    @property
    def ahead(self) -> list[Callable[[Store], object]]:
        """What can be done side by side before the next step, to be given to `take`."""
        if self.task is not None:
            return [*read_ahead(self.task)]
        return [*self._summing.ahead] if self._summing is not None and self.steps[:1] == [Finding._rank] else []

    def take(self, done: Iterable[Any]) -> None:
        """What `ahead` has done, in its order."""
        if self.task is not None:
            take(self.task, done)
        elif self._summing is not None:
            self._summing.take(done)

    def _settle(self, store: Store) -> None:
        assert self.index is not None
        assert self.asked is not None
        asked = Asked(self.index, self.asked, self.within, self.ground.order, self.ground.tokenizer)
        self.groups = settled_by_reading(store, asked, self.groups)

    def count(self, store: Store, tree: Node) -> int:
        """How many rows of the index match, visible or not; asked once."""
        assert self.index is not None
        if tree not in self._counts:
            self._counts[tree] = matches.count(store, self.index, tree)
        return self._counts[tree]

    # what is read

    def _start_reading(self, store: Store) -> None:
        words = tuple(dict.fromkeys(positive(self.tree)))
        asked = self.tree if len(words) == 1 else Or(words)
        judge = Judge(self.tree, self.parts.units, self.parts.barred, tokenizer=self.ground.tokenizer)
        ground, division = self.ground, self.division
        where, base = ground.where, ground.indexes.base
        self.task = Task(
            judge,
            asked,
            division.stretches,
            where,
            base,
            ground.cut,
            ground.anywhere,
            abreast=ground.abreast,
            inside=division.inside,
        )
        plan(store, self.task)
        if any(not stretch.few for stretch in division.stretches):
            self.routes.add("scan")
        self.steps.insert(1, Finding._read)

    def _read(self, store: Store) -> None:
        task = self.task
        assert task is not None
        found = [row for row in scan_slice(store, task) if row.session_id in self.ground.scope.places]
        for row in found:
            verdict = row.verdict
            held = {leaf for leaf, n in zip(task.judge.leaves, verdict.counts, strict=True) if n}
            self.seen |= held
            if task.inside is not None and any(not leaf.substring for leaf in held):
                self._both.add(row.id)
            if verdict.whole:
                self.judged[row.id] = row
            if verdict.units:
                self.partly[row.id] = row
        self._scorer = None
        if task.stretches:
            self.steps.insert(1, Finding._read)
            return
        self.unreadable, self.task = task.unreadable, None
        if self.index is not None and self.judged and task.inside is None:
            self._measured = matches.scores(store, self.index, self.tree, list(self.judged))

    # what was found

    @property
    def progress(self) -> float | None:
        """How far the reading is, while more than single messages are read."""
        return None if self.task is None or self.task.few else self.task.progress

    @property
    def made_of(self) -> tuple[object, ...]:
        """What `found` is made of: another answer needs another of these."""
        return (self.groups, len(self.judged), len(self.partly), self._measured)

    def found(self, store: Store, session_ids: Collection[str] | None = None) -> Groups:
        """Every match so far; of these sessions only, if they are given."""
        groups, judged = self.groups, list(self.judged.values())
        if self._to_part:
            judged = [row for row in judged if row.id not in self._both]
        if session_ids is not None:
            groups = {each: groups[each] for each in session_ids if each in groups}
            judged = [row for row in judged if row.session_id in session_ids]
        if not judged:
            return groups
        rows = grouped(judged, self.scorer(store), self.ground.order, self._measured)
        return merged(groups, rows, self.ground.order)

    def holding(self, store: Store, session_ids: Iterable[str]) -> Groups:
        """Messages of these sessions that were read and hold a part of the query."""
        wanted = set(session_ids)
        rows = [row for row in self.partly.values() if row.session_id in wanted]
        return grouped(rows, self.scorer(store), self.ground.order) if rows else {}

    def scorer(self, store: Store) -> Scorer:
        """Measures rows that were read as the index measures its own; without one, by each other."""
        known = {**self.partly, **self.judged}
        if self._scorer is not None and self._scorer[0] == len(known):
            return self._scorer[1]
        judge = Judge(self.tree, self.parts.units, tokenizer=self.ground.tokenizer)
        frequencies = [sum(1 for row in known.values() if row.verdict.counts[i]) for i in range(len(judge.leaves))]
        if self.index is not None:
            measure, mixed = scale(store, self.index), self.division.inside is not None
            frequencies = [
                n if mixed and leaf.substring else self.count(store, leaf) + (0 if mixed else n)
                for n, leaf in zip(frequencies, judge.leaves, strict=True)
            ]
        else:
            newest = extent(store)[1] or 1
            lengths = [row.verdict.length for row in known.values()]
            measure = Scale(newest, max(sum(lengths) / max(len(lengths), 1), 1.0))
        self._scorer = (len(known), Scorer.of(measure, frequencies))
        return self._scorer[1]
