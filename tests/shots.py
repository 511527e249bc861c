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
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import textual
from textual import events
from textual.command import CommandPalette
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


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture: keys from the opened list on, `*4` four times; words in quotes are typed."""

    name: str
    keys: Sequence[str] = ()
    sizes: Sequence[tuple[int, int]] = (BIG,)
    themes: Sequence[str] = ("dark", "light")
    store: bool = True
    """False: a home without a store."""


_TO_HIT = ("slash", "'refresh token'", "enter")
_READ = (*_TO_HIT, "g", "pagedown*18", "g", "n*4")
"""Once through it: heights that were only estimated would make the edge differ from one run to the next."""
SHOTS = (
    Shot("browse", sizes=(BIG, LOW, WIDE)),
    Shot("browse-hidden", ("a",)),
    Shot("filter", ("f", "'gateway'")),
    Shot("filter-nothing", ("f", "'nosuchword'")),
    Shot("search", ("slash", "'refresh token'"), (BIG, LOW, WIDE)),
    Shot("search-nothing", ("slash", "'refresh token source:slack'")),
    Shot("search-empty", ("slash",)),
    Shot("transcript", _READ, (BIG, LOW, WIDE)),
    Shot("transcript-unfolded", (*_READ, "tab*2", "enter")),
    Shot("find", (*_READ, "slash", "'lock'")),
    Shot("lineage", ("slash", "'refresh token'", "tab", "l"), (BIG, LOW)),
    Shot("resume", ("down", "down", "down", "down", "r"), (BIG, LOW)),
    Shot("help", ("question_mark",), (BIG, LOW)),
    Shot("palette", ("colon",)),
    Shot("profiles", ("P",)),
    Shot("missing", store=False),
)


def file_name(shot: Shot, theme: str, size: tuple[int, int]) -> str:
    return f"{shot.name}-{theme}-{size[0]}x{size[1]}.svg"


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
    for name in ("bin", "code/app"):
        (home / name).mkdir(parents=True)
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


async def take(shot: Shot, theme: str, size: tuple[int, int], home: Path) -> str:
    """The SVG of one picture."""
    from hermes_tui import paths
    from hermes_tui.app import HermesApp, connect_to_sqlite
    from hermes_tui.settings import Settings

    service = Timeless(connect_to_sqlite([paths.home_store(home / (".hermes" if shot.store else ".nothing"))]))
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

        svg = await at_rest()
        for key in shot.keys:
            if key.startswith("'"):
                app.post_message(events.Paste(key[1:-1]))
            else:
                name, _, times = key.partition("*")
                await pilot.press(*[name] * int(times or 1))
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
            for theme in shot.themes:
                for size in shot.sizes if theme == "dark" else shot.sizes[:1]:
                    name = file_name(shot, theme, size)
                    if not name.startswith(only):
                        continue
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
