"""One row a state that a store can be in: what list, search, show, tree, doctor and the screen make of it
(R25 to R31). The table is `store_table.py`; the README has its short form."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pkgutil
import re
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

import hermes_tui
from hermes_tui import cli
from hermes_tui.app import HermesApp
from hermes_tui.domain.queries import SearchQuery
from hermes_tui.domain.sessions import ConversationKey, ListQuery
from hermes_tui.errors import StoreMissing
from hermes_tui.paths import home_store, styles_dir
from hermes_tui.service.sqlite import SqliteSessionService
from hermes_tui.settings import Settings
from hermes_tui.storage import connection
from tests import states
from tests.stage import seen, until
from tests.store_table import BUSY, MISSING, TABLE, State


@pytest.fixture(params=TABLE, ids=[state.name for state in TABLE])
def state(request: pytest.FixtureRequest) -> State:
    assert isinstance(request.param, State)
    return request.param


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder that every user may enter; pytest's own are for one user alone."""
    folder = Path(tempfile.mkdtemp(prefix="store-"))
    folder.chmod(0o755)
    inside = folder / "home"
    inside.mkdir()
    yield inside
    shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "busy_seconds", 0.2)


@pytest.fixture(autouse=True, scope="module")
def _all_imported() -> None:
    """Whoever is not root for a while may not be able to read this program's files."""
    for module in pkgutil.walk_packages(hermes_tui.__path__, "hermes_tui."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for library in ("pyperclip", "yaml"):  # imported when needed
        importlib.import_module(library)


def contents(home: Path) -> dict[str, tuple[int, int]]:
    """Every file below with its size and when it was written; what SQLite itself leaves beside a WAL store, not."""
    return {
        str(path.relative_to(home)): (path.lstat().st_size, path.lstat().st_mtime_ns)
        for path in sorted(home.rglob("*"))
        if not (path.name.endswith("-shm") or (path.name.endswith("-wal") and not path.stat().st_size))
    }


Captured = pytest.CaptureFixture[str]


def ask(home: Path, capsys: Captured, *argv: str) -> tuple[int, str, str]:
    code = cli.main(["--home", str(home), *argv])
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    return code, said.out, said.err


COMMANDS = (("list", "conversations"), ("search", "hits"), ("show", "messages"), ("tree", "nodes"))


def test_what_the_commands_make_of_it(home: Path, state: State, capsys: Captured) -> None:
    with state.make(home):
        before = contents(home)
        for command, name in COMMANDS:
            words = {"list": [], "search": ["walnut"]}.get(command, [state.show or "s1"])
            text_code, text, text_err = ask(home, capsys, command, *words)
            code, out, err = ask(home, capsys, command, *words, "--json")
            found = json.loads(out)
            assert (text_code, text_err) == (code, err)
            if state.code:
                refused(state, home, code, text, err, found, name)
            else:
                answered(state, command, code, text, found, name)
        assert contents(home) == before


def refused(state: State, home: Path, code: int, text: str, err: str, found: dict[str, Any], name: str) -> None:
    """One line that names the path and what to do, in both forms; no rows."""
    assert code == state.code
    assert text == ""
    assert err.count("\n") == 1
    assert state.says in err
    assert str(home / "state.db") in err
    assert found[name] == []
    assert [state.says in each["error"] for each in found["meta"]["errors"]] == [True]


def answered(state: State, command: str, code: int, text: str, found: dict[str, Any], name: str) -> None:
    """What there is, and what is to be known of it, in both forms."""
    said = found["meta"].get("notices", [])
    if command == "list":
        assert code == 0
        assert len(found[name]) == state.rows or state.rows < 0 < len(found[name])
        assert [notice for notice in said if state.says not in notice] == []
        assert bool(said) is bool(state.says)
    elif command == "search":
        assert len(found[name]) == state.found or state.rows < 0 < len(found[name])
        assert code == (0 if state.found else 1)
        assert not state.search or any(state.search in notice for notice in said)
    elif state.show:
        assert code == 0
        assert found[name]
    else:
        assert (code, found["candidates"]) == (1, [])
        return
    for notice in said:
        assert re.sub(r"\s+", " ", notice) in text


def test_what_doctor_makes_of_it(
    home: Path, state: State, capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stub = tmp_path / "hermes"
    stub.write_text("#!/bin/sh\n")
    stub.chmod(0o755)
    for folder in (tmp_path, *tmp_path.parents):
        if Path(tempfile.gettempdir()) in folder.parents:
            folder.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with state.make(home):
        before = contents(home)
        code, out, err = ask(home, capsys, "doctor", "--json")
        assert contents(home) == before
    found = json.loads(out)
    if state.code:
        assert [each["state"] for each in found["checks"] if each["name"] == "database"] == ["error"]
        assert {"home", "hermes", "terminal"} <= {each["name"] for each in found["checks"]}
        refused(state, home, code, "", err, {**found, "checks": []}, "checks")
        return
    bad = [each["name"] for each in found["checks"] if each["state"] != "ok"]
    assert bad == [each for each in re.split(r", | (?!index)", state.doctor) if each]
    assert code == (1 if bad else 0)


@contextlib.asynccontextmanager
async def shown(home: Path) -> AsyncIterator[tuple[HermesApp, Pilot[Any]]]:
    """The whole program on this home."""
    service = SqliteSessionService([home_store(home)])
    app = HermesApp(service, settings=Settings(theme="hermes-dark"))
    try:
        async with app.run_test(size=(120, 36)) as pilot:
            yield app, pilot
    finally:
        await service.close()


async def test_what_the_screen_makes_of_it(home: Path, state: State) -> None:
    with state.make(home):
        readable = os.access(styles_dir() / "app.tcss", os.R_OK, effective_ids=True)
        if not readable and not os.environ.get("HERMES_TUI_SKIP_NOTHING"):
            pytest.skip("this checkout lies where only its owner may read, and this state is seen by another user")
        before = contents(home)
        async with shown(home) as (app, pilot):
            await until(pilot, lambda: state.screen in seen(app) and "reading …" not in seen(app), turns=4_000)
            said = re.sub(r"\s+", " ", seen(app))
            if state.code == 3 and state.screen != MISSING:
                assert state.says in said
            elif state.code == 0:
                wanted = f"{state.rows} conversation" if state.rows > 0 else "conversation"
                await until(pilot, lambda: wanted in seen(app) or not state.rows, turns=4_000)
        assert contents(home) == before


# what changes while it is open


@contextlib.asynccontextmanager
async def opened(home: Path) -> AsyncIterator[SqliteSessionService]:
    service = SqliteSessionService([home_store(home)])
    try:
        yield service
    finally:
        await service.close()


async def titles(service: SqliteSessionService) -> set[str | None]:
    return {row.title for row in (await service.conversations(ListQuery())).rows}


async def test_another_file_under_the_same_name_is_the_store_from_now_on(home: Path) -> None:
    states.well(home)
    async with opened(home) as service:
        assert await titles(service) == {"Talk 0", "Talk 1", "Talk 2"}
        other = states.well(home / "other")
        with contextlib.closing(sqlite3.connect(other, isolation_level=None)) as conn:
            conn.execute("update sessions set title = 'Restored ' || id")
        os.replace(other, home / "state.db")
        assert await titles(service) == {"Restored s0", "Restored s1", "Restored s2"}
        pages = [page async for page in service.search(SearchQuery("walnut"))]
        assert {hit.conversation.title for hit in pages[-1].hits} == {"Restored s0", "Restored s1", "Restored s2"}


async def test_a_store_that_is_deleted_is_missing_and_one_that_comes_back_is_read(home: Path) -> None:
    db = states.well(home)
    async with opened(home) as service:
        await service.conversations(ListQuery())
        kept = db.read_bytes()
        db.unlink()
        for question in (
            service.conversations(ListQuery()),
            service.outline(ConversationKey("default", "s1")),
            service.checks(),
        ):
            with pytest.raises(StoreMissing, match="there is no such file"):
                await question
        assert not db.exists()
        db.write_bytes(kept)
        assert await titles(service) == {"Talk 0", "Talk 1", "Talk 2"}


async def test_the_screen_keeps_what_it_shows_when_the_store_goes_and_says_so(home: Path) -> None:
    db = states.well(home)
    async with shown(home) as (app, pilot):
        await until(pilot, lambda: "Talk 2" in seen(app), turns=4_000)
        kept = db.read_bytes()
        db.unlink()
        await until(pilot, lambda: "there is no such file" in seen(app), turns=8_000)
        assert "Talk 2" in seen(app)
        db.write_bytes(kept)
        await until(pilot, lambda: "there is no such file" not in seen(app), turns=8_000)


async def test_a_lock_that_goes_is_waited_for_while_keys_work(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R27: for as long as a lock is waited for (5 s), the answer is late and not lost."""
    monkeypatch.setattr(connection, "busy_seconds", 60.0)  # longer than this test
    holder = sqlite3.connect(states.well(home), isolation_level=None)
    holder.execute("begin exclusive")
    async with shown(home) as (app, pilot):
        await until(pilot, lambda: "reading …" in seen(app))
        await pilot.press("f", "x")
        await until(pilot, lambda: "f x" in seen(app))
        await pilot.press("backspace")
        assert "Talk 2" not in seen(app)
        holder.execute("rollback")
        await until(pilot, lambda: "Talk 2" in seen(app), turns=8_000)
    holder.close()


async def test_a_lock_that_stays_says_so_and_q_works_at_once(home: Path) -> None:
    with states.locked(home):
        async with shown(home) as (app, pilot):
            await until(pilot, lambda: BUSY in seen(app), turns=8_000)
            await pilot.press("q")
            await until(pilot, lambda: not app.is_running)


async def test_a_store_on_a_slow_network_is_waited_for_and_can_be_left(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening it hangs until the network answers; the screen does not."""
    states.well(home)
    answers = threading.Event()
    connect = connection._connect

    def slow(*where: Any, **how: Any) -> sqlite3.Connection:
        answers.wait(60)
        return connect(*where, **how)

    monkeypatch.setattr(connection, "_connect", slow)
    async with shown(home) as (app, pilot):
        await until(pilot, lambda: "reading …" in seen(app))
        await pilot.press("question_mark")
        await until(pilot, lambda: "Keys" in seen(app) or "keys" in seen(app))
        await pilot.press("escape")
        answers.set()
        await until(pilot, lambda: "Talk 2" in seen(app), turns=8_000)
