"""A use of the whole program, as keys: every screen, every kind of query, moving everywhere."""

from __future__ import annotations

import time

from tests.bench.painting import QUIET, asked, wait_still
from tests.bench.ptyperf import PtyApp
from tests.bench.stores import Bench

LIST, TRANSCRIPT, BOX, HITS = "f filter", "[ ] prompt", "deploy*", "tab to the hits"
"""Text that says which screen it is; `BOX`: an empty search box."""
SLOW = frozenset({"escape", "enter", "/", "f", "l", "r", "?", ":", "P", "tab", "a", "s", "S"})
"""Keys that open, close or ask something: what follows them must find it done."""
SCAN_SECONDS = 20.0
"""A scan of everything may take longer on a large store; it is left then."""


class Tour:
    """Keys sent as fast as the program takes them."""

    def __init__(self, app: PtyApp, bench: Bench) -> None:
        self.app, self.bench = app, bench
        self.keys: list[tuple[float, str]] = []
        """When each was sent."""

    def told(self, at: float) -> str:
        """The keys that led to this moment."""
        return " ".join([key for sent, key in self.keys if sent <= at][-4:])

    def press(self, *keys: str) -> None:
        """Each waits until something was painted, if anything is."""
        for key in keys:
            slow = key in SLOW
            mark = self._send(key)
            self.app.wait_beyond(mark, 1 if slow else 0.2)
            self.app.wait_quiet(0.15 if slow else 0.02, timeout=1)

    def go(self, key: str, seen: str) -> None:
        """A key that leads to another screen, and what is seen there."""
        mark = self._send(key)
        self.app.wait_for(seen, 60, mark)
        self.app.wait_quiet(0.15, timeout=2)

    def _send(self, key: str) -> int:
        if self.app.process.poll() is not None:
            raise RuntimeError(f"the program ended before {key!r}; screen:\n{self.app.text()}")
        self.keys.append((time.perf_counter(), key))
        mark = self.app.mark()
        self.app.send(key)
        return mark

    def all(self) -> None:
        """From the list and back to it; a quick look leaves out what others open as well."""
        if self.bench.quick:
            self.searched(next(iter(self.bench.queries.values())))
            self.read()
            return
        self.listed()
        for query in self.bench.queries.values():
            self.searched(query)
        self.scanned()
        self.read()

    def listed(self) -> None:
        """The list: moving, filter, orders, preview, and what opens from it."""
        self.press(*["down"] * 8, *["pagedown"] * 4, "G", "g")
        self.press("f", *"deploy", "escape", "escape")
        self.press("s", "s", "S", "S", "a", "a", "space", "space")
        self.go("enter", TRANSCRIPT)
        self.press("pagedown", "G", "g")
        self.go("escape", LIST)
        for opening in ("l", "r", "?", ":", "P"):
            self.press(opening, "down")
            self.go("escape", LIST)

    def searched(self, query: str) -> None:
        """A query typed letter by letter, its hits, and the first of them read."""
        self.go("/", BOX)
        self.press(*query)
        wait_still(self.app, query)
        self.press("down", "up", "tab", "o", "o", "/")
        wait_still(self.app, query)
        self.go("enter", TRANSCRIPT)
        self.press("down", "pagedown")
        self.go("escape", HITS)
        self._home()

    def scanned(self) -> None:
        """What no index holds."""
        self.go("/", BOX)
        self.press(*"deeptoolite")
        wait_still(self.app, "deeptoolite")
        self.press("tab", "X")
        end = time.perf_counter() + (1 if self.bench.quick else SCAN_SECONDS)
        while time.perf_counter() < end and "searching" in self.app.text():
            self.app.wait_quiet(QUIET, timeout=1)
        self.press("/")
        self._home()

    def read(self) -> None:
        """The longest transcript, from a place in it."""
        place = self.bench.places(1)[0][0]
        self.go("/", BOX)
        asked(self.app, place.link)
        self.go("enter", TRANSCRIPT)
        self.press(*["down"] * 8, *["pagedown"] * 8, "end", "home", "end", *["pageup"] * 4)
        self.press("J", "J", "K", "[", "]", "t", "t", "T", "T")
        self.press("/", *"the", "enter", *["n"] * 8, "N", "escape")
        self.go("l", "esc back")
        self.go("escape", TRANSCRIPT)
        self.go("escape", HITS)
        self._home()

    def _home(self) -> None:
        """From the search box to the list."""
        self.press("end")
        self.go("ctrl+u", BOX)
        self.go("escape", LIST)
