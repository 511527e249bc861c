"""Which messages are shown in which order: all of them, or the few around the anchor while all are being read."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Sequence

from hermes_tui import times
from hermes_tui.domain.messages import NOT_A_PROMPT, ROLE_CODES, Outline, Window
from hermes_tui.text import count
from hermes_tui.values import dataclass, field

USER, ASSISTANT, TOOL = ROLE_CODES["user"], ROLE_CODES["assistant"], ROLE_CODES["tool"]
_ESTIMATES = {USER: 4, ASSISTANT: 6, TOOL: 1, ROLE_CODES["system"]: 3, NOT_A_PROMPT: 2}
_FOLDED = bytes(_ESTIMATES.get(role, 3) for role in range(256))
_OPENED = bytes({**_ESTIMATES, TOOL: 14}.get(role, 3) for role in range(256))
"""Lines that a message may take, by its role's code."""


@dataclass(frozen=True, slots=True)
class Order:
    """A stretch of a transcript. A position is an index into `ids`."""

    ids: Sequence[int] = ()
    roles: bytes = b""
    timestamps: Sequence[float] = ()
    outline: Outline | None = None
    """All that is known, as soon as it is."""
    before: int = 0
    """How many messages stand before the first of the stretch …"""
    after: int = 0
    """… and after its last."""
    _where: dict[int, int] = field(default_factory=dict)
    _seams: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def total(self) -> int:
        """Messages of the whole transcript."""
        return self.before + len(self.ids) + self.after

    @property
    def called(self) -> bool:
        """Whether a call was answered in it."""
        return TOOL in self.roles

    def position(self, message_id: int) -> int | None:
        """Where a message, or the copy of it that is shown, stands."""
        if self.outline is not None:
            return self.outline.position(message_id)
        if not self._where:
            self._where.update((each, i) for i, each in enumerate(self.ids))
        return self._where.get(message_id)

    def estimate(self, position: int, *, tools_open: bool = False) -> int:
        """Lines that a message may take, the blank above it among them."""
        return (_OPENED if tools_open else _FOLDED)[self.roles[position]]

    def estimates(self, *, tools_open: bool = False) -> bytes:
        """`estimate` of each message."""
        return self.roles.translate(_OPENED if tools_open else _FOLDED)

    def seams(self, position: int) -> tuple[str, ...]:
        """What is written above this message: where a day or a segment begins."""
        return self._seams.get(position, ())

    @property
    def seamed(self) -> Iterable[int]:
        """The positions that have seams above them."""
        return self._seams.keys()

    def segment(self, position: int) -> tuple[int, int] | None:
        """(number of the segment, how many there are), counted from 1; None while unknown."""
        if self.outline is None or not self.outline.segments:
            return None
        return self.outline.segment_at(position) + 1, len(self.outline.segments)

    def prompt(self, position: int, step: int) -> int | None:
        """The next message of the person from here, up or down."""
        found = self.roles.find(USER, position + 1) if step > 0 else self.roles.rfind(USER, 0, max(0, position))
        return found if found >= 0 else None

    def at_time(self, moment: float) -> int | None:
        """The first message of this instant or later."""
        return next((i for i, at in enumerate(self.timestamps) if at >= moment), None)


def window_order(window: Window) -> Order:
    """The order of a window."""
    messages = window.messages
    roles = bytes(ROLE_CODES.get(message.role, 0) for message in messages)
    timestamps = array("d", [_stamp(message.timestamp) for message in messages])
    return Order(
        ids=array("q", [message.id for message in messages]),
        roles=roles,
        timestamps=timestamps,
        before=window.before,
        after=window.after,
        _seams={place: (said,) for place, said in _days(roles, timestamps)},
    )


def _stamp(at: float | None) -> float:
    return float("nan") if at is None else at


def outline_order(outline: Outline) -> Order:
    """The order of all there is. It takes milliseconds for a hundred thousand messages: not the loop's work."""
    outline.position(0)  # from now on it knows where each message stands
    return Order(outline.ids, outline.roles, outline.timestamps, outline, _seams=_seams(outline))


def _days(roles: bytes, timestamps: Sequence[float]) -> Iterator[tuple[int, str]]:
    """(position, day) wherever another day begins. The results of tools stay with their calls."""
    begins = ends = math.nan
    for position, at in enumerate(timestamps):
        if begins <= at < ends or roles[position] == TOOL or math.isnan(at):
            continue
        if not math.isnan(begins):
            yield position, times.day(at)
        begins, ends = times.midnight(at), times.midnight(at, 1)


def _seams(outline: Outline) -> dict[int, tuple[str, ...]]:
    """The words of each seam, by the position below it."""
    marks = outline.segments
    firsts = [mark.first for mark in marks]
    found: dict[int, tuple[str, ...]] = {place: (said,) for place, said in _days(outline.roles, outline.timestamps)}
    for i in range(1, len(marks)):
        mark = marks[i]
        above = mark.first - firsts[i - 1]
        said = f"compacted {times.clock(mark.started_at)} · segment {i + 1} of {len(marks)}"
        if above > 0:
            said += f" · {count(above, 'message')} summed up above"
        place = min(mark.first, max(0, len(outline.ids) - 1))
        found[place] = (*found.get(place, ()), said)
    return found


def survivor(old: Order, position: int, new: Order) -> tuple[int, bool]:
    """(where the message of an old position stands now, whether it is that one): else the nearest before it that
    is still shown, else the first."""
    for i in range(min(position, len(old) - 1), -1, -1):
        found = new.position(old.ids[i])
        if found is not None:
            return found, i == position
    return 0, False


def other_seams(old: Order, new: Order) -> set[int]:
    """Ids of messages above which something else is written now."""
    places = {old.ids[place]: old.seams(place) for place in old.seamed}
    others = {new.ids[place]: new.seams(place) for place in new.seamed}
    return {each for each in places.keys() | others.keys() if places.get(each) != others.get(each)}
