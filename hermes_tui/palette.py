"""The command palette: every command that works here, by name; the same table as bindings, footer and help."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from hermes_tui.keys import EVERYWHERE, MOVING, shown_as
from hermes_tui.screens.base import BaseScreen, keys_of, works

_MOVES = frozenset(action.partition("(")[0] for _, _, _, action, _ in MOVING)


class Commands(Provider):
    """Commands of the screen that the palette was opened on, of all screens, and the themes."""

    def _commands(self) -> Iterator[tuple[str, str, Callable[[], Any]]]:
        """What it does, the key that does it too, and how to do it."""
        rebound: dict[str, str] = getattr(self.app, "rebound", {})
        screen = self.screen
        if isinstance(screen, BaseScreen):
            for key in keys_of(screen.PLACE):
                if key.action.partition("(")[0] not in _MOVES and works(screen, key):
                    yield key.help, shown_as(key, rebound), partial(screen.run_action, key.action)
        for key in EVERYWHERE[1:]:
            yield key.help, shown_as(key, rebound), partial(self.app.run_action, key.action)
        for name in sorted(self.app.available_themes):
            yield f"theme {name}", "", partial(self.app.run_action, f"choose_theme({name!r})")

    async def discover(self) -> Hits:
        for said, key, run in self._commands():
            yield DiscoveryHit(_line(Content(said), key), run, text=said)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for said, key, run in self._commands():
            score = matcher.match(said)
            if score > 0:
                yield Hit(score, _line(matcher.highlight(said), key), run, text=said)


def _line(said: Content, key: str) -> Content:
    return Content.assemble(said, "  ", (key, "dim")) if key else said
