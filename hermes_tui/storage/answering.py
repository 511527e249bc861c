"""The answer of one store as it grows: its conversations in order, and the messages that show them."""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter

from hermes_tui.domain.queries import Hit, Match, SearchQuery, Tier
from hermes_tui.domain.querytrees import Node
from hermes_tui.storage.connection import Store
from hermes_tui.storage.finding import Finding
from hermes_tui.storage.matches import BEST, Top
from hermes_tui.storage.naming import Named
from hermes_tui.storage.rows import batches
from hermes_tui.storage.snippets import load_matches
from hermes_tui.storage.tallies import TITLED, SortKey, Tally
from hermes_tui.values import dataclass, field

FIRST = 100
"""Hits that are shown with all their matches, and of an answer that still grows, at all; of those behind, only the
best match is read."""

_AT_ONCE = 200
"""Conversations whose messages are read in one step."""

Ranked = tuple[tuple[SortKey, Hit], ...]
"""Hits in order, each with what sorts it among those of other stores."""


@dataclass(slots=True)
class Answer:
    """Conversations are put in, hits come out; nothing is read twice."""

    query: SearchQuery
    tallies: list[Tally] = field(default_factory=list)
    known: bool = False
    """`tallies` are what was found so far."""
    settled: bool = False
    """Nothing will change any more."""
    _keys: list[SortKey] = field(default_factory=list)
    """What sorts each of them."""
    _read_to: int = 0
    """So many conversations have their messages read, once settled."""
    _hits: Ranked | None = None
    _matches: dict[int, Match] = field(default_factory=dict)
    _tree: Node | None = None
    """What the words of `_matches` were lit for."""

    def put(self, tallies: Iterable[Tally]) -> None:
        """These are the conversations."""
        ranked = sorted(((each.key(self.query.order), each) for each in tallies), key=itemgetter(0))
        self._keys, self.tallies = [key for key, _ in ranked], [each for _, each in ranked]
        self.known, self._hits = True, None

    def forget(self) -> None:
        """More was found: the conversations must be put in anew."""
        if not self.settled:
            self.known, self._hits = False, None

    def settle(self) -> None:
        """The conversations that were put in, corrected since, are the answer: what sorts them was right before."""
        self.settled, self._hits = True, None

    @property
    def complete(self) -> bool:
        """Settled, and every message read that was asked for with the answer."""
        return self.settled and self._read_to >= self._reads

    @property
    def _wanted(self) -> int:
        wanted = len(self.tallies)
        return wanted if self.query.limit is None else min(wanted, self.query.offset + self.query.limit)

    @property
    def _reads(self) -> int:
        """So many conversations have their messages read with the answer."""
        reads = self.query.reads
        return self._wanted if reads is None else min(self._wanted, self.query.offset + reads)

    @property
    def first(self) -> int:
        """So many conversations are shown with all their matches."""
        return min(self._wanted, FIRST)

    @property
    def counted(self) -> int | None:
        """So many conversations have their matches counted: those that are given; all, when nothing but the numbers
        is asked for."""
        return self._wanted if self.query.limit else None

    def read_more(self, store: Store, finding: Finding) -> None:
        """Read the messages of some more conversations; of all, where nobody looks before all are there."""
        upto = min(self._read_to + _AT_ONCE, self._reads) if self.query.steps else self._reads
        self._read(store, finding, self._read_to, upto)
        self._read_to, self._hits = upto, None

    def hits(self, store: Store, finding: Finding | None) -> Ranked:
        """All of them once complete, up to the limit; before that the first ones."""
        if self._hits is None:
            wanted, reads = self._wanted, self._reads
            if not (self.settled if finding is None else self.complete):
                wanted = min(wanted, self.query.offset + FIRST) if self.query.steps else 0
                if finding is not None:
                    self._read(store, finding, 0, min(wanted, reads))
            shown = min(wanted, max(FIRST, reads))
            known = [
                self._hit(each, _shown(number), number < reads) for number, each in enumerate(self.tallies[:shown])
            ]
            known += map(self._unread_hit, self.tallies[shown:wanted])
            self._hits = tuple(zip(self._keys, known, strict=False))
        return self._hits

    def _read(self, store: Store, finding: Finding, start: int, upto: int) -> None:
        """Read the messages of the conversations from one place up to another."""
        if finding.tree != self._tree:
            self._matches, self._tree = {}, finding.tree
        chosen = enumerate(self.tallies[start:upto], start)
        wanted = [top.id for number, each in chosen for top in each.tops[: _shown(number)]]
        # in the order in which they lie: pages of the database are met once
        for some in batches(sorted(each for each in wanted if each not in self._matches)):
            if store.stopped():
                return
            self._matches.update(load_matches(store, some, finding.tree, finding.ground.tokenizer))

    def _hit(self, known: Tally, shown: int, read: bool) -> Hit:
        tops = known.tops[:shown]
        if read:
            matches = tuple(self._matches[top.id] for top in tops if top.id in self._matches)
        else:
            matches = tuple(self._matches.get(top.id) or _unread(top) for top in tops)
        return Hit(known.conversation, known.tier, matches, known.count if self.settled else None, known.delegate)

    def _unread_hit(self, known: Tally) -> Hit:
        """A hit of which no more is known than the message."""
        tops = known.tops
        if tops and tops[0].id in self._matches:
            return self._hit(known, 1, read=False)
        matches = (_unread(tops[0]),) if tops else ()
        return Hit(known.conversation, known.tier, matches, known.count if self.settled else None, known.delegate)


def _shown(number: int) -> int:
    """How many of its messages the hit at this place shows."""
    return BEST if number < FIRST else 1


def _unread(top: Top) -> Match:
    return Match(top.id, top.session_id, "", top.at, "", (), None, False)


def named(found: dict[str, Tally], titles: Iterable[Named], targets: Iterable[Named]) -> Iterable[Tally]:
    """The same conversations, moved up where a title or an id names them, and those that nothing else has found."""
    for each in titles:
        known = found.get(each.conversation.root_id)
        if known is None or known.loose:
            inner = TITLED if each.tier is Tier.AUTOMATION else 0
            found[each.conversation.root_id] = Tally(each.conversation, each.tier, inner, delegate=each.delegate)
        elif each.tier is Tier.TITLE:
            known.tier, known.inner = Tier.TITLE, 0
    for each in targets:
        known = found.get(each.conversation.root_id)
        if known is None or known.loose:
            found[each.conversation.root_id] = Tally(each.conversation, Tier.TARGET)
        else:
            known.tier, known.inner = Tier.TARGET, 0
    return found.values()
