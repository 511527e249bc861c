"""`P`: which profiles to look into."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from hermes_tui import times
from hermes_tui.domain.profiles import ProfileInfo, StoreRef
from hermes_tui.intents import UseStores
from hermes_tui.paths import list_profiles, tilde
from hermes_tui.screens.base import HELP, Moving, Steady, app_bindings, bindings, working_keys, written
from hermes_tui.screens.glances import Connect, Glance, glance
from hermes_tui.service.sessions import SessionService
from hermes_tui.text import count, one_line
from hermes_tui.widgets.ink import AXIS, BLANK_CELL, Ink, Line, Part, fit, gap, line, measure
from hermes_tui.widgets.keyline import KeyLine
from hermes_tui.widgets.rows import Rows
from hermes_tui.widgets.wording import fit_place

NARROW = 60
"""Cells below which there is no room for where a profile lies and when it was active."""


def _head(width: int) -> Line:
    """The names of the columns."""
    if width < NARROW:
        return line(AXIS, (fit("profile", 10), "aside"))
    columns = fit("profile", 16) + gap(6)[0] + fit("holds", 18, "right") + gap(3)[0] + "where"
    return line(AXIS, (columns, "aside"), right=(("last active", "aside"), gap(2)))


class ProfilesScreen(Moving, ModalScreen[None], Steady, inherit_bindings=False):
    """A panel with one row a profile. Marked ones are opened together, else the one under the cursor."""

    PLACE = "profiles"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("profiles"), *app_bindings()]
    AUTO_FOCUS = "#rows"

    def __init__(self, service: SessionService, connect: Connect) -> None:
        super().__init__()
        self._stores = service.stores
        self._connect = connect
        self._profiles: list[ProfileInfo] = []
        self._glances: dict[Path, Glance] = {}
        self._rows: Rows[ProfileInfo] = Rows(self._draw, lambda each: each.db, _head, id="rows")
        opened = {store.db for store in self._stores}
        self._keys = KeyLine(above=1, id="keys")
        self._in_use = frozenset(opened)
        self._marked: set[Path] = opened if len(opened) > 1 else set()

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel"):
            yield Ink(lambda width, height: [line(gap(3), ("Profiles", "title")), line()], id="title")
            yield self._rows
            yield self._keys

    def on_mount(self) -> None:
        self._keys.show_keys(written(self, [*working_keys(self, self.PLACE), HELP]))
        self._look()

    @property
    def moved(self) -> Rows[ProfileInfo]:
        return self._rows

    def _draw(self, each: ProfileInfo, width: int, on: bool) -> Line:
        bar: Part = ("▌", "gold") if on else BLANK_CELL
        seen = self._glances.get(each.db)
        sound: Part = ("✗", "bad") if seen is not None and seen.error else ("✓", "good")
        mark: Part = sound if each.db in self._marked else BLANK_CELL
        active = times.ago(seen.last_active, times.now()) if seen is not None and seen.conversations else ""
        right: tuple[Part, ...] = ((fit(active, 10, "right"), "quiet"), gap(2))
        state = self._state(each, seen)
        narrow = width < NARROW
        name: tuple[Part, ...] = (
            (fit(one_line(each.name), 10 if narrow else 16), "title" if on else "ink"),
            (fit("here" if each.db in self._in_use else "", 4), "gold"),
            gap(1 if narrow else 2),
            (fit(state[0], max(16 if narrow else 18, len(state[0])), "right"), state[1]),
            gap(3),
        )
        if narrow:
            right = ()
        rest = width - 4 - measure(name) - measure(right)
        place: Part = (fit_place(one_line(tilde(each.home)), max(0, rest)) if rest > 0 else "", "quiet")
        return line(bar, mark, BLANK_CELL, *name, place, right=right, ground="cursor" if on else "")

    def _state(self, each: ProfileInfo, seen: Glance | None) -> Part:
        if not each.valid:
            return ("no profile name", "bad")
        if not each.exists:
            return ("no history yet", "quiet")
        if seen is None:
            return ("…", "quiet")
        if seen.error:
            why = seen.error.replace(str(each.db), each.db.name)  # where it lies is told behind it
            return (one_line(why.partition(". ")[0], 60), "bad")
        return (count(seen.conversations, "conversation"), "soft")

    @work(exclusive=True, group="look")
    async def _look(self) -> None:
        """All profiles of the root at once, then how much each holds, one after the other."""
        root = self._stores[0].root
        self._profiles = await asyncio.to_thread(list_profiles, root)
        opened = {store.db for store in self._stores}
        rows = self.moved
        rows.show(self._profiles)
        rows.choose(next((i for i, each in enumerate(self._profiles) if each.db in opened), 0))
        rows.styles.height = 1 + max(1, len(self._profiles))
        for each in self._profiles:
            if each.exists and each.valid:
                self._glances[each.db] = await glance(self._connect, self._ref(each))
                rows.redraw()

    def _ref(self, each: ProfileInfo) -> StoreRef:
        return StoreRef(each.name, each.db, each.home, self._stores[0].root)

    def action_mark(self) -> None:
        """Mark the profile under the cursor, or no longer."""
        each = self.moved.current
        if each is not None and each.exists and each.valid:
            self._marked ^= {each.db}
            self.moved.redraw()

    def action_all(self) -> None:
        """Mark all, or none when all are."""
        every = {each.db for each in self._profiles if each.exists and each.valid}
        self._marked = set() if self._marked == every else every
        self.moved.redraw()

    def action_open(self) -> None:
        """Open what is marked, else what is under the cursor."""
        chosen = [each for each in self._profiles if each.db in self._marked]
        current = self.moved.current
        if not chosen and current is not None:
            chosen = [current]
        if all(each.exists and each.valid for each in chosen) and chosen:
            self.post_message(UseStores(tuple(map(self._ref, chosen))))
        else:
            self.notify("There is no history in this profile yet.", severity="warning", markup=False)

    @on(Rows.Opened)
    def _opened(self) -> None:
        self._marked.clear()
        self.action_open()

    def action_close(self) -> None:
        self.dismiss()
