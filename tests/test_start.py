"""What a start does, counted instead of timed: modules imported, styles resolved, pictures drawn."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.css.stylesheet import Stylesheet

from hermes_tui import cli
from hermes_tui.app import HermesApp
from hermes_tui.commands import arguments, screens, stores
from hermes_tui.commands.answers import Answer, Asked
from hermes_tui.domain.sessions import ListQuery
from hermes_tui.errors import StoreUnreadable
from hermes_tui.screens.browse import BrowseScreen
from hermes_tui.service import direct
from hermes_tui.storage import fts
from hermes_tui.storage.connection import Store
from hermes_tui.widgets.ink import Inked
from hermes_tui.widgets.inks import INKS
from tests import values
from tests.builders import StoreBuilder
from tests.fakes import GatedService
from tests.stage import seen, until

LATER = frozenset(
    {
        *(f"hermes_tui.screens.{name}" for name in ("help", "lineage", "missing", "profiles", "resume", "search")),
        *(f"hermes_tui.screens.{name}" for name in ("transcript", "searching", "finding", "filling", "leading")),
        *(f"hermes_tui.domain.{name}" for name in ("querytrees", "querytext", "messages", "resume")),
        *(f"hermes_tui.domain.{name}" for name in ("lineage", "scaffolds", "contents", "calls", "recaps")),
        *(
            f"hermes_tui.storage.{name}"
            for name in ("transcripts", "messages", "copies", "facts", "recaps", "search")
        ),
        *(f"hermes_tui.{name}" for name in ("clipboard", "handover", "demo", "bookmarks", "palette", "rebindings")),
        *("markdown_it", "yaml", "pyperclip", "shtab", "argparse", "tomllib", "hashlib"),
    }
)
"""What nobody needs before the first rows are on the screen."""
_SHOWN = """
import asyncio, sys
from pathlib import Path
from hermes_tui import paths
from hermes_tui.app import HermesApp
from hermes_tui.screens.browsing import Browsing
from hermes_tui.service.sqlite import SqliteSessionService

class Rows(SqliteSessionService):
    async def details(self, keys, **how):
        print(*sys.modules)
        shown.set()
        await asyncio.Event().wait()

    async def recap(self, key):
        await asyncio.Event().wait()

    provenance = recap

async def main():
    global shown
    shown = asyncio.Event()
    app = HermesApp(Rows((paths.home_store(Path(sys.argv[1])),)))
    async with app.run_test(size=(120, 36)):
        await shown.wait()

asyncio.run(main())
"""


def test_the_first_rows_need_little_of_the_program(tmp_path: Path) -> None:
    with StoreBuilder(tmp_path / "state.db") as store:
        store.session("20260603_120000_abc123", title="Refactoring auth", cwd="/srv/app")
        store.message("20260603_120000_abc123", "user", "the walnut is in the first message")
    done = subprocess.run(
        [sys.executable, "-c", _SHOWN, str(tmp_path)], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = set(done.stdout.split())
    assert "hermes_tui.widgets.rows" in loaded
    assert loaded & LATER == set()


async def test_the_list_that_was_asked_for_before_is_the_first_picture() -> None:
    service = GatedService()
    first = asyncio.create_task(service.conversations(ListQuery()))
    app = HermesApp(service, first=first)
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: values.CONVERSATIONS[0].title in seen(app))
        screen = app.screen
        assert isinstance(screen, BrowseScreen)
        assert not screen.has_class("-page")
        await service.asked("details")
        assert [call.name for call in service.calls].count("conversations") == 1


async def test_a_first_answer_that_failed_or_is_late_is_asked_for_by_the_list() -> None:
    service = GatedService()
    service.failures["conversations"] = StoreUnreadable("It is damaged.")
    first = asyncio.create_task(service.conversations(ListQuery()))
    app = HermesApp(service, first=first)
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: "It is damaged." in seen(app))
    service = GatedService()
    service.hold("conversations")
    late = asyncio.create_task(service.conversations(ListQuery()))
    await service.asked("conversations")
    app = HermesApp(service, first=late)
    async with app.run_test(size=(120, 36)) as pilot:
        await service.asked("conversations")
        service.release("conversations")
        await until(pilot, lambda: values.CONVERSATIONS[0].title in seen(app))


async def test_styles_are_resolved_for_what_is_drawn_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Textual would resolve every ink for every widget, several times before anything is seen."""
    applied: list[object] = []
    parsed: list[str] = []
    apply, parse = Stylesheet.apply, Stylesheet._parse_rules

    def count_applied(self: Stylesheet, node: object, **options: object) -> None:
        applied.append(node)
        apply(self, node, **options)  # type: ignore[arg-type]  # as Textual calls it

    def count_parsed(self: Stylesheet, css: str, *rest: object, **options: object) -> object:
        if (css, rest) not in self._parse_cache:
            parsed.append(css)
        return parse(self, css, *rest, **options)  # type: ignore[arg-type]  # likewise

    monkeypatch.setattr(Stylesheet, "apply", count_applied)
    monkeypatch.setattr(Stylesheet, "_parse_rules", count_parsed)
    service = GatedService()
    service.hold("details", "recap", "provenance")
    first = asyncio.create_task(service.conversations(ListQuery()))
    app = HermesApp(service, first=first)
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: values.CONVERSATIONS[0].title in seen(app))
        widgets = sum(1 for widget in app.screen.query(Inked))
        assert 0 < len(applied) < widgets * len(INKS)


def test_the_screen_loads_no_openssl_and_whoever_wants_it_later_gets_it() -> None:
    code = """
import sys
from hermes_tui.commands import screens
import hermes_tui.app, textual.drivers.linux_driver
print("asyncio" in sys.modules, {"ssl", "_ssl", "hashlib"} & set(sys.modules))
import ssl
print(ssl.SSLContext.__name__)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split("\n")[:2] == ["True set()", "SSLContext"]


async def test_the_list_is_the_first_screen_and_no_other_is_drawn_below_it() -> None:
    app = HermesApp(GatedService())
    async with app.run_test(size=(120, 36)):
        assert [type(screen) for screen in app.screen_stack] == [BrowseScreen]


def test_a_search_asks_its_indexes_while_the_rest_of_it_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with StoreBuilder(tmp_path / "state.db") as store:
        store.session("s")
        store.message("s", "user", "a harbour")
    asked, load = threading.Event(), cli._command

    def look(opened: Store) -> None:
        look_ahead(opened)
        asked.set()

    def slowly(name: str) -> Callable[[Asked], Awaitable[Answer]]:
        assert asked.wait(20)
        return load(name)

    look_ahead = fts.look_ahead
    monkeypatch.setattr(direct, "processors", lambda: 2)
    monkeypatch.setattr(fts, "look_ahead", look)
    monkeypatch.setattr(cli, "_command", slowly)
    assert cli.main(["--home", str(tmp_path), "search", "harbour"]) == 0
    assert "1 conversation found" in capsys.readouterr().out


def test_threads_take_short_turns_as_long_as_there_is_a_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with StoreBuilder(tmp_path / "state.db") as store:
        store.session("s")
    before, turns = sys.getswitchinterval(), []

    async def show(*_: object) -> tuple[None, int]:
        turns.append(sys.getswitchinterval())
        return None, 3

    monkeypatch.setattr(screens, "_show", show)
    given = arguments.read(["--home", str(tmp_path)])
    assert screens.run(given, stores.chosen(given)) == 3
    assert turns == [pytest.approx(screens.TURN)]
    assert sys.getswitchinterval() == before
