"""No store: where it was looked for, what there is instead, and a look again every second."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.widget import Widget

from hermes_tui import times
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.errors import HermesTuiError
from hermes_tui.intents import OpenDemo, UseStores
from hermes_tui.paths import DATABASE, PROFILES, profile_stores, tilde
from hermes_tui.screens.base import HELP, BaseScreen, Movable, Moving, bindings, written
from hermes_tui.screens.glances import Connect, Glance, glance
from hermes_tui.service.sessions import SessionService
from hermes_tui.text import count, one_line
from hermes_tui.widgets.ways import Paragraph, Way, Ways

DEMO = Way("look around in a sample store", "about 60 conversations", does="sample store")


def looked(store: StoreRef, others: int) -> list[tuple[str, str]]:
    """Each place that was looked at, and what is there."""
    home = os.environ.get("HERMES_HOME", "").strip()
    there = f"exists, holds no {DATABASE}" if os.path.isdir(store.home) else "does not exist"
    return [
        ("HERMES_HOME", one_line(home) or "not set"),
        (one_line(tilde(store.home)), there),
        (one_line(tilde(store.root / PROFILES)), f"{count(others, 'profile')} with a store"),
    ]


class MissingScreen(Moving, BaseScreen):
    """A page with ways out; it leaves by itself when a store appears."""

    PLACE = "missing"
    BINDINGS: ClassVar[list[BindingType]] = bindings("missing")
    AUTO_FOCUS = "#page"
    FOLLOW_SECONDS: ClassVar[float] = 1.0

    def __init__(self, service: SessionService, connect: Connect) -> None:
        super().__init__(service)
        self._connect = connect
        self._ways = Ways(id="page", classes="body")
        self._others: list[StoreRef] = []
        self._glances: dict[Path, Glance] = {}
        self._seen = 0.0
        """When it was looked last."""

    def compose_body(self) -> Iterable[Widget]:
        yield self._ways

    def on_mount(self) -> None:
        self.show_header("Hermes history", "no store")
        self._look()

    @property
    def store(self) -> StoreRef:
        """The store that is not there."""
        return self.service.stores[0]

    @property
    def moved(self) -> Movable:
        return self._ways

    @work(exclusive=True, group="follow")
    async def _look(self) -> None:
        """Look again and again; files are asked on a thread, as a home may lie on a slow disk."""
        while True:
            found, others = await asyncio.to_thread(self._there)
            if found:
                self.post_message(UseStores(self.service.stores))
                return
            self._others, self._seen = others, times.now()
            self._say(await asyncio.to_thread(looked, self.store, len(others)))
            for other in others:
                if other.db not in self._glances:
                    self._glances[other.db] = await glance(self._connect, other)
                    self._say(await asyncio.to_thread(looked, self.store, len(others)))
            await asyncio.sleep(self.FOLLOW_SECONDS)

    def _there(self) -> tuple[bool, list[StoreRef]]:
        """Whether a store has appeared, and which other profiles have one."""
        found = any(os.path.isfile(store.db) for store in self.service.stores)
        try:
            every = profile_stores(self.store.root)
        except (OSError, HermesTuiError):
            every = []
        return found, [each for each in every if each.db != self.store.db and os.path.isfile(each.db)]

    def _say(self, places: list[tuple[str, str]]) -> None:
        head: list[Paragraph] = [
            (
                ("✗", "bad"),
                ("No history here yet: ", "title"),
                (one_line(tilde(self.store.db)), "ink"),
                (" does not exist.", "title"),
            ),
            (("Hermes writes it with the first conversation. Nothing was created or changed.", "quiet"),),
            (),
        ]
        wide = max(len(place) for place, _ in places) + 3
        head += [((place.ljust(wide), "soft"), (found, "quiet")) for place, found in places]
        name: Paragraph = (
            ("Or name it: ", "quiet"),
            ("hermes-tui --db PATH", "soft"),
            (", ", "quiet"),
            ("--home DIR", "soft"),
            (".", "quiet"),
        )
        self._ways.show(head, [*map(self._way, self._others), DEMO], [name])
        self.show_status(((("looks again by itself, every second", "quiet"),), ""), (((" ", "quiet"),), ""))

    def show_keys(self, *instead: tuple[str, str]) -> None:
        """`enter` is told by what it opens."""
        way = self._ways.current
        keys = [*self.footer_keys(), HELP]
        told = zip(keys, written(self, keys), strict=True)
        super().show_keys(
            *(
                (shown, way.does if way is not None and key.action == "open" else label)
                for key, (shown, label) in told
            )
        )

    @on(Ways.Scrolled)
    def _chosen(self) -> None:
        self.show_keys()

    def _way(self, store: StoreRef) -> Way:
        seen = self._glances.get(store.db)
        if seen is None:
            return Way(f"open profile {store.profile}", "…", does="open")
        if seen.error:
            return Way(f"open profile {store.profile}", "cannot be read", does="open")
        active = times.ago(seen.last_active, times.now()) if seen.conversations else ""
        return Way(f"open profile {store.profile}", count(seen.conversations, "conversation"), active, does="open")

    def action_open(self) -> None:
        """Take the way out under the cursor."""
        at = self._ways.cursor
        self.post_message(UseStores((self._others[at],)) if at < len(self._others) else OpenDemo())

    @on(Ways.Taken)
    def _taken(self) -> None:
        self.action_open()

    def action_quit(self) -> None:
        self.app.exit()
