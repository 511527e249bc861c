"""The answer to a search: hits that follow each other, of which only those in sight are ever drawn."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate, groupby, pairwise
from operator import add

from textual import events
from textual.message import Message
from textual.strip import Strip

from hermes_tui.domain.queries import Hit, Match, SearchPage
from hermes_tui.domain.sessions import ConversationKey, Details
from hermes_tui.times import now
from hermes_tui.values import dataclass, replace
from hermes_tui.widgets.ink import Line, gap, line
from hermes_tui.widgets.scrolling import Scrolling
from hermes_tui.widgets.snippets import SHOWN, HitStyle, hit_lines

_KEPT_AT_MOST = 500
"""Hits whose strips are kept: several screens full."""


class Hits(Scrolling, can_focus=True):
    """Hits of two to four lines, a blank between them, tier names above the first of each tier."""

    @dataclass
    class Selected(Message):
        """The cursor stands on this hit now; None when there is none."""

        hit: Hit | None

    @dataclass
    class Opened(Message):
        """A hit was clicked twice, on its title or on the given match."""

        match: int

    @dataclass
    class Wanted(Message):
        """These came into sight, and nobody has said yet what they are called and how they stand."""

        keys: tuple[ConversationKey, ...]

    @dataclass
    class Unread(Message):
        """These are in sight, or will be soon, and their messages are still to be read."""

        hits: tuple[Hit, ...]

    def __init__(self, *, profiles: bool = False, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._hits: list[Hit] = []
        """Those that were in sight with their messages, as far as these have been read."""
        self._tops: list[int] = []
        """Where each hit begins, its tier's name included; one more: where all ends."""
        self._labels: dict[int, str] = {}
        self._cursor = 0
        self._moved = False
        """The reader has chosen the hit under the cursor."""
        self._style = HitStyle(0.0, profiles)
        self._details: dict[ConversationKey, Details | None] = {}
        self._kept: dict[tuple[int, bool], list[Strip]] = {}
        self._read: dict[tuple[ConversationKey, int], Match | None] = {}
        """Messages of this answer that were asked for after it came; None until they are here."""
        self._places: dict[ConversationKey, int] = {}
        """Where the hits stand whose messages were asked for since this page came."""

    # what it shows

    @property
    def hits(self) -> Sequence[Hit]:
        return self._hits

    @property
    def cursor(self) -> int:
        """Position of the hit under the cursor."""
        return self._cursor

    @property
    def chosen(self) -> bool:
        """The reader has put the cursor where it is."""
        return self._moved

    @property
    def current(self) -> Hit | None:
        """The hit under the cursor."""
        return self._hits[self._cursor] if self._hits else None

    def show(self, page: SearchPage, *, fresh: bool = True) -> None:
        """Show these hits. A `fresh` answer begins at its first hit; another page of the same answer leaves
        the cursor on its conversation, and that conversation where it is on the screen."""
        before, held = self.current, self._tops[self._cursor] - self.top if self._hits else 0
        if fresh:
            self._read.clear()
        self._hits = list(page.hits)
        self._places.clear()
        self._lay_out()
        found = None
        if before is not None and not fresh:
            found = self.position(before.conversation.key)
        self._moved = self._moved and not fresh and found is not None
        if found is None:
            found = 0 if fresh else min(self._cursor, max(0, len(self._hits) - 1))
        top = 0 if fresh else self._tops[found] - held if self._hits else 0
        if not self._moved and not fresh and self.top == 0 and self._hits:
            # Nobody has chosen yet: the best stay in sight, and the cursor goes along as far as that allows.
            top = 0
            if self._last_line(found) >= self.size.height > 0:
                found = 0
        self._cursor = found
        self._style = HitStyle(now(), self._style.profiles)
        self._kept.clear()
        self.go(top)
        if self.size.height and self._hits:
            self._keep_in_sight()
        self.post_message(self.Selected(self.current))

    def clear(self) -> None:
        """Show none: a first question is on its way."""
        self.forget()
        self._lay_out()
        self.go(0)
        self.post_message(self.Selected(None))

    def forget(self) -> None:
        """Hold none of them any more."""
        self._hits, self._cursor, self._moved = [], 0, False
        self._read.clear()
        self._places.clear()
        self._kept.clear()

    def details(self, key: ConversationKey) -> Details | None:
        """What is known of the messages of this conversation."""
        return self._details.get(key)

    def show_details(self, details: Mapping[ConversationKey, Details]) -> None:
        """What a look at the messages says of some conversations."""
        self._details.update(details)
        self._kept.clear()
        self.refresh()

    def show_read(self, hits: Sequence[Hit]) -> None:
        """The messages of some hits are here; the hit under the cursor stays where it is on the screen."""
        held = self._tops[self._cursor] - self.top if self._hits else 0
        fewer = False
        for hit in hits:
            key = hit.conversation.key
            self._read |= {(key, match.message_id): match for match in hit.matches}
            at = self._places.get(key)
            if at is not None and self._hits[at].unread:
                fewer = fewer or len(hit.matches) != len(self._hits[at].matches)
                self._hits[at] = hit
        if fewer:  # some message has gone from the store since
            self._lay_out()
        self._kept.clear()
        self.go(self._tops[self._cursor] - held if self._hits else 0)

    def _as_read(self, hit: Hit) -> Hit:
        """The same hit, with what was read of it for a page before."""
        if not hit.unread:
            return hit
        known = (self._read.get((hit.conversation.key, match.message_id)) or match for match in hit.matches)
        return replace(hit, matches=tuple(known))

    # moving

    def move(self, step: int) -> None:
        """The cursor `step` hits on, as far as there are any."""
        self.choose(self._cursor + step)

    def page(self, step: int) -> None:
        """A screen on or back: to the hit that stands there."""
        self._jump(step * max(1, self.size.height - 2))

    def half(self, step: int) -> None:
        """Half a screen on or back."""
        self._jump(step * max(1, self.size.height // 2))

    def _jump(self, lines: int) -> None:
        if not self._hits:
            return
        found = self._at(max(0, self._tops[self._cursor] + lines))
        self.choose(found if found != self._cursor else self._cursor + (1 if lines > 0 else -1))

    def first(self) -> None:
        """To the best hit."""
        self.choose(0)

    def last(self) -> None:
        """To the last hit."""
        self.choose(len(self._hits) - 1)

    def choose(self, position: int) -> None:
        """The cursor on the hit at this position, or the nearest one there is."""
        if not self._hits:
            return
        position = max(0, min(position, len(self._hits) - 1))
        changed = position != self._cursor
        self._cursor, self._moved = position, True
        self._keep_in_sight()
        if changed:
            self.post_message(self.Selected(self.current))

    def _keep_in_sight(self) -> None:
        self.reveal(self._tops[self._cursor], self._last_line(self._cursor))

    # layout

    @property
    def total(self) -> int:
        return self._tops[-1] if self._hits else 0

    def _lay_out(self) -> None:
        """Every page of an answer of ten thousand hits comes here, on the loop: nothing is done hit by hit."""
        shown = [min(SHOWN, len(hit.matches)) for hit in self._hits]
        lines = [1 + snippets for snippets in shown]
        # A blank before each but the first; between lines without snippets it would part nothing.
        blanks = [1 if above or below else 0 for above, below in pairwise(shown)] + [0]
        self._labels = {}
        at = 0
        for tier, hits in groupby([hit.tier for hit in self._hits]):
            if tier.label:
                self._labels[at] = tier.label
                lines[at] += 1
                if at:
                    blanks[at - 1] = 1
            at += len(list(hits))
        self._tops = list(accumulate(map(add, lines, blanks), initial=0))

    def _at(self, y: int) -> int:
        """The hit that line `y` belongs to."""
        return bisect_right(self._tops, y, hi=len(self._hits)) - 1

    def _last_line(self, position: int) -> int:
        shown = min(SHOWN, len(self._hits[position].matches))
        return self._tops[position] + (position in self._labels) + shown

    def position(self, key: ConversationKey) -> int | None:
        """Where this conversation stands, if it is among the hits."""
        root = key.root_id
        same = (i for i, hit in enumerate(self._hits) if hit.conversation.segment_ids[0] == root)
        return next((i for i in same if self._hits[i].conversation.key == key), None)

    def go(self, top: int) -> None:
        super().go(top)
        first, last = max(0, self._at(self.top)), self._at(self.top + self.size.height) + 1
        ahead = range(first, min(last + self.size.height, len(self._hits)))
        for i in ahead:
            self._hits[i] = self._as_read(self._hits[i])
        keys = (hit.conversation.key for hit in self._hits[first:last])
        wanted = tuple(key for key in keys if key not in self._details)
        if wanted:
            self._details.update(dict.fromkeys(wanted))
            self.post_message(self.Wanted(wanted))
        unread = {i: self._hits[i] for i in ahead if self._hits[i].unread and not self._asked(self._hits[i])}
        for i, hit in unread.items():
            self._places[hit.conversation.key] = i
            self._read |= {(hit.conversation.key, match.message_id): None for match in hit.matches}
        if unread:
            self.post_message(self.Unread(tuple(unread.values())))

    def _asked(self, hit: Hit) -> bool:
        return all((hit.conversation.key, match.message_id) in self._read for match in hit.matches)

    # drawing

    def draw(self, y: int, width: int) -> Strip:
        position = self._at(y)
        strips = self._strips(position, width)
        at = y - self._tops[position]
        return self.placed(strips[at] if at < len(strips) else self.strip(Line(), width), y)

    def spoken(self, y: int) -> str | None:
        return self.draw(y, self.size.width).text if y < self.total else None

    def _strips(self, position: int, width: int) -> list[Strip]:
        on = position == self._cursor
        found = self._kept.get((position, on))
        if found is None:
            hit = self._hits[position]
            details = self._details.get(hit.conversation.key)
            lines = hit_lines(hit, width, self._style, on=on, details=details)
            if position in self._labels:
                lines.insert(0, line(gap(3), (self._labels[position], "aside")))
            found = [self.strip(each, width) for each in lines]
            if len(self._kept) >= _KEPT_AT_MOST:
                self._kept.clear()
            self._kept[position, on] = found
        return found

    def inks_changed(self) -> None:
        self._kept.clear()

    def on_resize(self) -> None:
        self._kept.clear()
        self.go(self.top)
        if self._hits:
            self._keep_in_sight()

    def on_click(self, event: events.Click) -> None:
        y = self.top + event.y
        if not self._hits or y >= self.total:
            return
        position = self._at(y)
        if y > self._last_line(position):
            return
        self.focus()
        self.choose(position)
        if event.chain == 2:
            match = y - self._tops[position] - (position in self._labels) - 1
            self.post_message(self.Opened(max(0, match)))
