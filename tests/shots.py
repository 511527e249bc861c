"""The pictures in `screenshots/`: `python -m tests.shots` makes them from the sample store at a fixed clock.

Each is what a person sees after pressing the keys that its line names. Where rsvg-convert is installed, a PNG lies
beside each SVG; the SVG is what is compared (`tests/test_shots.py`).
"""

from __future__ import annotations

import argparse
import asyncio
import inspect
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import textual
from textual import events
from textual.command import CommandPalette
from textual.screen import Screen
from textual.widgets import Input
from textual.worker import Worker

from hermes_tui.domain.queries import SearchPage, SearchQuery
from hermes_tui.service.sessions import SessionService
from tests import pictures
from tests.tools import ROOT

FOLDER = ROOT / "screenshots"
NOW = 1_796_040_000
"""Mon 30 Nov 2026 12:00 UTC."""
_SECONDS = 20.0
"""How long a screen may take to come to rest."""
_QUIET = 4
"""How many looks in a row must see the same."""

BIG, LOW, WIDE = (120, 36), (80, 24), (160, 48)
TINY, HUGE = (40, 10), (200, 60)


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture: keys from the opened list on, `*4` four times; words in quotes are typed."""

    name: str
    keys: Sequence[str] = ()
    main: bool = False
    """One of the five screens that are pinned at every size."""
    store: str = ".hermes"
    """Which home below the user's: `.hermes`, `.nothing`, `.empty` or `.broken`."""

    def pictures(self) -> Iterator[tuple[str, tuple[int, int]]]:
        """Theme and size of each picture."""
        for theme in ("dark", "light"):
            for size in (BIG, LOW, WIDE) if self.main else (BIG,):
                yield theme, size
        if self.main:
            yield "dark", TINY
            yield "light", HUGE


_TO_HIT = ("slash", "'refresh token'", "enter")
_READ = (*_TO_HIT, "g", "pagedown*18", "g", "n*4")
"""Once through it: heights that were only estimated would make the edge differ from one run to the next."""
_LINEAGE = ("slash", "'refresh token'", "tab", "l")
SHOTS = (
    Shot("browse", main=True),
    Shot("browse-hidden", ("a",)),
    Shot("browse-order", ("s*4", "space")),
    Shot("browse-profiles", ("P", "a", "enter")),
    Shot("browse-empty", store=".empty"),
    Shot("browse-broken", store=".broken"),
    Shot("filter", ("f", "'review'")),
    Shot("filter-kept", ("f", "'review'", "enter")),
    Shot("filter-nothing", ("f", "'nosuchword'")),
    Shot("filter-misspelt", ("f", "'sorce:slack'")),
    Shot("search", ("slash", "'refresh token'"), main=True),
    Shot("search-hits", ("slash", "'refresh token'", "tab", "down")),
    Shot("search-cjk", ("slash", "'部署'")),
    Shot("search-tools", ("slash", "'pytest role:tool'")),
    Shot("search-nothing", ("slash", "'refresh token source:slack'")),
    Shot("search-misspelt", ("slash", "'refresh sorce:slack'")),
    Shot("search-unparsable", ("slash", "'refresh after:soon'")),
    Shot("search-empty", ("slash",)),
    Shot("search-recent", (*_TO_HIT, "escape", "escape")),
    Shot("transcript", _READ, main=True),
    Shot("transcript-unfolded", (*_READ, "tab*2", "enter")),
    Shot("transcript-end", ("down*4", "enter")),
    Shot("transcript-empty", ("f", "'is:empty'", "enter*2")),
    Shot("find", (*_READ, "slash", "'lock'")),
    Shot("go-to", (*_READ, "number_sign")),
    Shot("bookmarks", (*_READ, "m", "apostrophe")),
    Shot("lineage", _LINEAGE, main=True),
    Shot("lineage-folded", (*_LINEAGE, "home", "left")),
    Shot("resume", ("down*4", "r"), main=True),
    Shot("help", ("question_mark",), main=True),
    Shot("help-found", ("question_mark", "'copy'")),
    Shot("palette", ("colon",)),
    Shot("profiles", ("P",)),
    Shot("missing", store=".nothing"),
)


def names() -> list[str]:
    """The name of every picture."""
    return [file_name(shot, theme, size) for shot in SHOTS for theme, size in shot.pictures()]


def file_name(shot: Shot, theme: str, size: tuple[int, int]) -> str:
    return f"{shot.name}-{theme}-{size[0]}x{size[1]}.svg"


def _empty(sample: Path, to: Path) -> None:
    """The tables of the sample store, and nothing in them."""
    with closing(sqlite3.connect(sample)) as full, closing(sqlite3.connect(to)) as empty:
        full.backup(empty)
        empty.execute("delete from messages")
        empty.execute("delete from sessions")
        empty.commit()


def enter(home: Path) -> None:
    """A user's folder with the sample store as their own, and an environment in which nothing else is seen."""
    from hermes_tui.demo import write_demo

    os.environ.clear()
    os.environ.update(
        HOME=str(home),
        PATH=str(home / "bin"),
        TZ="UTC",
        LANG="C.UTF-8",
        HERMES_TUI_NOW=str(NOW),
        TEXTUAL_ANIMATIONS="none",
        COLORTERM="truecolor",
    )
    time.tzset()
    write_demo(home / ".hermes", float(NOW))
    for profile in ("work", "lab"):
        folder = home / ".hermes" / "profiles" / profile
        folder.mkdir(parents=True)
        shutil.copy(home / ".hermes" / "state.db", folder)
    for name in ("bin", "code/app", ".empty", ".broken"):
        (home / name).mkdir(parents=True)
    _empty(home / ".hermes" / "state.db", home / ".empty" / "state.db")
    (home / ".broken" / "state.db").write_bytes(b"no database at all, though it lies where one should\n" * 100)
    stub = home / "bin" / "hermes"
    stub.write_text("#!/bin/sh\n", "utf-8")
    stub.chmod(0o755)
    os.chdir(home / "code")


class Timeless:
    """A service whose searches always take as long, and that knows whether an answer is still awaited."""

    def __init__(self, service: SessionService) -> None:
        self._service = service
        self.awaited = 0
        """Questions that have no answer yet."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._service, name)
        if not inspect.iscoroutinefunction(found):
            return found

        async def ask(*args: Any, **options: Any) -> Any:
            with self._awaiting():
                return await found(*args, **options)

        return ask

    async def search(self, query: SearchQuery) -> AsyncIterator[SearchPage]:
        with self._awaiting():
            async for page in self._service.search(query):
                yield replace(page, elapsed_ms=12.0)

    @contextmanager
    def _awaiting(self) -> Iterator[None]:
        self.awaited += 1
        try:
            yield
        finally:
            self.awaited -= 1


def _passing(worker: Worker[Any]) -> bool:
    """Whether it ends by itself: a screen follows its store, a palette its input, while they are open."""
    return worker.group != "follow" and not isinstance(worker.node, CommandPalette)


def _measured(screen: Screen[Any]) -> None:
    """How long a transcript is, is an estimate of what was not set in lines yet, and how much was set by now is a
    matter of luck. A picture is of one in which all is."""
    from hermes_tui.screens.transcript import TranscriptScreen

    if not isinstance(screen, TranscriptScreen):
        return
    plan = screen.reader.plan
    plan.deadline = None
    for position in range(len(plan.order)):
        leaf = plan.set(position)
        if leaf is not None:
            plan.settle(position, leaf)
    screen.rail.show(*screen.reader.scroll_state(), screen.reader.ticks())


async def take(shot: Shot, theme: str, size: tuple[int, int], home: Path) -> str:
    """The SVG of one picture."""
    from hermes_tui import paths
    from hermes_tui.app import HermesApp, connect_to_sqlite
    from hermes_tui.settings import Settings

    service = Timeless(connect_to_sqlite([paths.home_store(home / shot.store)]))
    app = HermesApp(service, settings=Settings(theme=theme))
    async with app.run_test(size=size) as pilot:

        async def at_rest() -> str:
            """The screen once it has stopped changing."""
            seen: list[str] = []
            async with asyncio.timeout(_SECONDS):
                while len(seen) < _QUIET or len(set(seen[-_QUIET:])) > 1:
                    await pilot.pause(0.05)
                    seen.append(app.export_screenshot())
                    if service.awaited or any(_passing(each) and each.is_running for each in app.workers):
                        seen.clear()
            return seen[-1]

        await at_rest()
        for key in shot.keys:
            if key.startswith("'"):
                app.post_message(events.Paste(key[1:-1]))
            else:
                name, _, times = key.partition("*")
                await pilot.press(*[name] * int(times or 1))
            await at_rest()
        _measured(app.screen)
        for box in app.screen.query(Input):
            box.cursor_blink = False  # it is seen, whatever half of its blinking it was in
        svg = await at_rest()
    await service.close()
    return pictures.plain(svg)


def make(to: Path, *, png: bool, only: str = "") -> None:
    """Write every picture whose name begins with `only`."""
    to.mkdir(parents=True, exist_ok=True)
    converter = shutil.which("rsvg-convert") if png else None
    to = to.absolute()
    with tempfile.TemporaryDirectory(prefix="hermes-tui-") as folder:
        home = Path(folder) / "ada"
        home.mkdir()
        enter(home)
        for shot in SHOTS:
            for theme, size in shot.pictures():
                name = file_name(shot, theme, size)
                if not name.startswith(only):
                    continue
                shutil.rmtree(home / ".local", ignore_errors=True)  # what the picture before has left to remember
                svg = asyncio.run(take(shot, theme, size, home))
                made = f"<!-- made by python -m tests.shots, Textual {textual.__version__} -->\n"
                (to / name).write_text(made + svg, "utf-8")
                if converter:
                    pictures.write_png(svg, (to / name).with_suffix(".png"), converter)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=FOLDER)
    parser.add_argument("--no-png", action="store_true")
    parser.add_argument("--only", default="", help="only pictures whose name begins so")
    args = parser.parse_args()
    make(args.to, png=not args.no_png, only=args.only)


if __name__ == "__main__":
    main()
