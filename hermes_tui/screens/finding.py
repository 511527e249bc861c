"""The line below a transcript: find words in it as you type, go to a message, a time or a day."""

from __future__ import annotations

import re
from datetime import date, time

from textual import on, work

from hermes_tui import times
from hermes_tui.domain.finds import parse_find
from hermes_tui.errors import HermesTuiError
from hermes_tui.screens.base import told_late
from hermes_tui.screens.reading import FIND_HINT, Reading
from hermes_tui.text import count, one_line
from hermes_tui.widgets.query import QueryLine
from hermes_tui.widgets.transcript import saying

_DAY = r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})"
_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?"
_MOMENT = re.compile(rf"(?:{_DAY})?[ T]?(?:{_CLOCK})?")
_CLOCK_ALONE = re.compile(_CLOCK)
_DAY_SECONDS = 86_400.0
GO_HINT = "a message id, 14:30, 2026-07-05, or 2026-07-05 14:30"


def moment_of(text: str, near: float) -> float | None:
    """The local instant that `14:30` (of the day of `near`), `2026-07-05` or both mean; None for anything else."""
    found = _MOMENT.fullmatch(text.strip())
    if found is None or not found[0]:
        return None
    here = times.local(near)
    year, month, day = (int(found[name] or getattr(here, name)) for name in ("year", "month", "day"))
    hour, minute, second = (int(found[name] or 0) for name in ("hour", "minute", "second"))
    try:
        return times.instant(date(year, month, day), time(hour, minute, second))
    except (ValueError, OverflowError, OSError):
        return None  # no such day or hour


def _same_day(one: float, other: float) -> bool:
    return times.local(one).date() == times.local(other).date()


class Finding(Reading, inherit_bindings=False):
    """Find and go to."""

    _going = False
    """The line asks where to go, not what to find."""
    _origin: int | None = None
    """The message one was at when the search began …"""
    _stood: int | None = None
    """… and when these words were asked for: who has gone on since looks on from there."""
    _sought = False
    """The words are being looked for."""
    _typed = False
    """The words were typed here, and did not come with the conversation."""
    brought = ""
    """Those that did."""

    # the line

    def action_find(self) -> None:
        self._begin(going=False)

    def action_goto(self) -> None:
        self._begin(going=True)

    def _begin(self, *, going: bool) -> None:
        if not self.reads:
            return
        place = self.reader.place
        self._going, self._origin = going, place.message_id if place else None
        self.box.show("" if going or not self._typed else self.words)
        self.box.show_hint(GO_HINT if going else FIND_HINT, mark="#" if going else "/")
        self.add_class("-typing")
        self.box.focus()
        self.show_place()
        self.show_keys(("enter", "go" if going else "keep"), ("esc", "close"))

    def end_typing(self) -> None:
        """The keys belong to the reader again."""
        self.remove_class("-typing")
        self.reader.focus()
        self.show_place()
        self.show_keys()

    def stop_finding(self) -> None:
        """What was typed here is looked for no more; the words with which the conversation came are, as before."""
        self.close_find()
        if self.brought:
            self.look_for(self.brought, -1)

    def close_find(self) -> None:
        """Nothing is looked for any more."""
        self.workers.cancel_group(self, "find")
        self.words, self.found = "", None
        self._typed = self._sought = self.looking_for = False
        self.reader.light("")
        self.reader.show_matches((), None)
        self.show_place()

    @on(QueryLine.Changed)
    def _changed(self, event: QueryLine.Changed) -> None:
        event.stop()
        if not self._going:
            self._typed = True
            self.look_for(event.text)

    def leave_line(self) -> None:
        """Escape: first what is typed, then the line."""
        if self.box.text:
            self.box.clear()
        else:
            if not self._going:
                self.stop_finding()
            self.end_typing()

    def accept_line(self) -> None:
        """Enter: keep the words, or go where the line says."""
        going, text = self._going, self.box.text.strip()
        if not going and not text:
            self.stop_finding()
        self.end_typing()
        if going and text:
            self.go_to(text)

    # finding

    def look_for(self, words: str, anchor: int | None = None) -> None:
        """Light these words, find the messages that hold them. Without an anchor go to the one at or after where
        one was; with one stay, and count from that message; -1 is none of them."""
        self.words, self.found, self.note = words.strip(), None, ""
        self.reader.light(words)
        if parse_find(words):
            self._find(words, anchor)
        else:
            self.close_find()
        self.show_place()

    @work(exclusive=True, group="find", description="find")
    async def _find(self, words: str, anchor: int | None) -> None:
        before, stands = self.reader.walker.match, self.reader.place
        self._stood, self._sought = stands.message_id if stands else None, True
        try:
            found = await told_late(self.service.find(self.key, words), self._tell_late)
        except HermesTuiError as error:
            self.looking_for = self._sought = False
            self.say(one_line(str(error)))
            return
        self.found, self.looking_for, self._sought = len(found), False, False
        here = self._from_here()
        reader, order = self.reader, self.reader.plan.order
        reader.show_matches(found, None)
        if anchor is not None:
            place = order.position(anchor) if anchor >= 0 else order.position(before) if before is not None else None
            index = reader.matches.at(order, place)
            reader.show_matches(found, None if index is None else found[index])
        elif found:
            origin = order.position(here) if here is not None else None
            reader.go_to_match(found[reader.matches.index(order, origin or 0) % len(found)])
        self.show_place()
        self.show_keys()

    def _tell_late(self) -> None:
        if self.found is None:
            self.looking_for = True
            self.show_place()

    def _from_here(self) -> int | None:
        """The message from which on to go to a match: where one was when one began to type, so that more letters
        do not lead further and further; but where one is, if one has gone on while the words were looked for."""
        place = self.reader.place
        here = place.message_id if place else None
        if here is None or here in (self._stood, self.reader.walker.match):
            return self._origin
        self._origin = here
        return here

    def refind(self) -> None:
        """The same words, in what is there now; the reader stays."""
        self._find(self.words, -1)

    def action_match(self, step: int) -> None:
        """Words that are still looked for say so; where their answer leads is the first match from here on."""
        if self._sought and self.found is None:
            self.looking_for = True  # what there is belongs to other words
        elif self.reader.match(step):
            self.say(saying.round_the_end(self.found or 0, step))
        self.show_place()

    # going

    def go_to(self, text: str) -> None:
        """Go to a message id, a time of the present day, a day, or say that there is none."""
        reader = self.reader
        place = reader.place
        if place is None:
            return
        text = text.lstrip("#").strip()
        if text.isdecimal() and len(text) <= 18:
            self._go_to_number(int(text))
            return
        near = place.timestamp if place.timestamp is not None else times.now()
        moment = moment_of(text, near)
        if moment is None:
            self.say(f"{one_line(text, 40)!r} is no message id, time or day")
            return
        position, said = self._at_moment(text, moment, near)
        if position is None:
            reader.last()
        else:
            reader.go_to(reader.plan.order.ids[position])
        self.say(said)

    def _at_moment(self, text: str, moment: float, near: float) -> tuple[int | None, str]:
        """(the first message from this moment on, what is to be said of it). A time without a day means that of
        the present message's day, else of the day before or after, whichever has a message then."""
        order = self.reader.plan.order
        position = order.at_time(moment)
        if _CLOCK_ALONE.fullmatch(text.strip()):
            for days in (0, -1, 1):
                other = moment_of(text, near + days * _DAY_SECONDS)
                at = order.at_time(other) if other is not None else None
                if other is not None and at is not None and _same_day(order.timestamps[at], other):
                    return at, f"{times.moment(other)}, another day" if days else ""
        said = "" if position is not None else f"nothing after {times.moment(moment)}: this is the end"
        return position, said

    def _go_to_number(self, number: int) -> None:
        """A message id; a number that is none, but counts messages, is the number of one."""
        order = self.reader.plan.order
        if self.reader.go_to(number):
            self.say("")
        elif 1 <= number - order.before <= len(order):
            self.reader.go_to(order.ids[number - order.before - 1])
            self.say(f"no message has the id {number}; this is message {number} of {order.total:,}")
        else:
            self.say(f"no message {number} among {count(order.total, 'message')}")
