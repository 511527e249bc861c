"""Which messages are copies of each other, which one of them is shown, and where it stands (SPEC 2). Pure.

Compaction copies the messages it carries over, and so does the hand-over to a new segment. Of copies the
active one is shown, else the newest; it stands where the first of them stood.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from hermes_tui.values import NamedTuple, dataclass, field

Place = tuple[int, int]
"""(index of the segment, message id): the order of a transcript."""


class Row(NamedTuple):
    """One visible row that may be a copy: what is cheap to know of it."""

    id: int
    segment: int
    role: str
    timestamp: float | None
    call_id: str | None
    tool_name: str | None
    uid: str | None
    active: bool

    @property
    def place(self) -> Place:
        return (self.segment, self.id)


@dataclass(slots=True)
class Folds:
    """What folding changes in the plain order of a transcript's visible rows."""

    stand_in: dict[int, int] = field(default_factory=dict)
    """Id of a first copy → the id shown in its place, where that is another."""
    gone: dict[int, Place] = field(default_factory=dict)
    """Ids of the other copies, which do not stand where they lie."""
    aliases: dict[int, int] = field(default_factory=dict)
    """Id of a copy that is not shown → the id of the one that is."""
    firsts: dict[int, Place] = field(default_factory=dict)
    """Id that is shown elsewhere than it lies → where it stands."""

    def gone_before(self, place: Place) -> int:
        """How many copies lie before `place` and do not stand there."""
        return sum(1 for lies in self.gone.values() if lies < place)

    def shown(self, message_id: int) -> int:
        """The id under which this message is shown."""
        return self.aliases.get(message_id, message_id)


class _Groups:
    """Rows that are the same message, joined as evidence comes in."""

    def __init__(self) -> None:
        self._above: dict[int, int] = {}
        self._rows: dict[int, Row] = {}

    def of(self, message_id: int) -> int:
        """The name of the group that this row is in."""
        at = message_id
        while (above := self._above.get(at, at)) != at:
            self._above[at] = self._above.get(above, above)
            at = above
        return at

    def join(self, rows: Sequence[Row]) -> None:
        """All of these are one message."""
        names = {self.of(row.id) for row in rows}
        name = min(names)
        for other in names:
            self._above[other] = name
        self._rows.update((row.id, row) for row in rows)

    def all(self) -> Iterable[list[Row]]:
        """Every group of more than one row."""
        found: dict[int, list[Row]] = defaultdict(list)
        for row in self._rows.values():
            found[self.of(row.id)].append(row)
        return found.values()


def fold(
    rows: Iterable[Row],
    texts: Callable[[Sequence[int]], Mapping[int, Hashable]],
    repeats: Iterable[Sequence[Row]] = (),
) -> Folds:
    """Fold copies: rows of one uid, and rows of one role, time, call id and tool name whose text and calls
    agree too. `texts` gives what stands for these last two, and is asked only about rows that share all the
    rest. `repeats` names prompts that were repeated from one segment to the next.
    """
    groups = _Groups()
    by_uid: dict[str, list[Row]] = defaultdict(list)
    by_look: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    for row in rows:
        if row.uid:
            by_uid[row.uid].append(row)
        if row.timestamp is not None:  # without a time nothing says that it is a copy and no repetition
            by_look[(row.role, row.timestamp, row.call_id or "", row.tool_name or "")].append(row)
    for same in by_uid.values():
        if len(same) > 1:
            groups.join(same)
    alike = [same for same in by_look.values() if len(same) > 1 and len({groups.of(row.id) for row in same}) > 1]
    if alike:
        found = texts([row.id for same in alike for row in same])
        for same in alike:
            by_text: dict[Hashable, list[Row]] = defaultdict(list)
            for row in same:
                if row.id in found:
                    by_text[found[row.id]].append(row)
            for agreeing in by_text.values():
                if len(agreeing) > 1:
                    groups.join(agreeing)
    for prompts in repeats:
        groups.join(prompts)
    return _folds(groups.all())


def _folds(groups: Iterable[list[Row]]) -> Folds:
    folds = Folds()
    for rows in groups:
        first = min(rows, key=lambda row: row.place)
        shown = max(rows, key=lambda row: (row.active, row.id))
        if shown is not first:
            folds.stand_in[first.id] = shown.id
            folds.firsts[shown.id] = first.place
        for row in rows:
            if row is not first:
                folds.gone[row.id] = row.place
            if row is not shown:
                folds.aliases[row.id] = shown.id
    return folds


class Edge(NamedTuple):
    """The prompts of a segment that nothing separates from its neighbours."""

    opening: Sequence[tuple[Row, Hashable]]
    """Before its first answer, in order, each with what it says."""
    closing: Sequence[tuple[Row, Hashable]]
    """After its last answer."""
    answered: bool
    """There is an answer in between; otherwise `opening` and `closing` are the same prompts."""


def repeated(edges: Iterable[Edge]) -> list[list[Row]]:
    """Prompts that a later segment repeats with nothing between (SPEC 2), as groups of rows."""
    found = []
    waiting: dict[Hashable, Row] = {}
    for edge in edges:
        for row, said in edge.opening:
            earlier = waiting.get(said)
            if earlier is not None and earlier.segment != row.segment:
                found.append([earlier, row])
        waiting = {} if edge.answered else waiting
        for row, said in edge.closing:
            waiting[said] = row
    return found
