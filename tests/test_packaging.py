"""What is shipped works where nothing of this repository is: wheel, sdist, editable install, a fresh clone."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from tests.bench.ptyperf import PtyApp
from tests.readme import README
from tests.real_stores import OUTSIDE
from tests.tools import ROOT, files

_HEADLESS = """
import asyncio
from pathlib import Path
from hermes_tui.app import HermesApp
from hermes_tui.demo import write_demo
from hermes_tui.service.sqlite import SqliteSessionService
from hermes_tui.settings import Settings

async def main():
    service = SqliteSessionService([write_demo(Path("demo"), 1_796_040_000.0)])
    app = HermesApp(service, settings=Settings())
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        assert app.stylesheet.rules, "no style sheet"
        assert app.screen.query_one("#header").size.height
    await service.close()

asyncio.run(main())
print("ran")
"""


def run(*argv: str | Path, cwd: Path, env: dict[str, str] | None = None) -> str:
    """Output of a command that must succeed."""
    words = [str(word) for word in argv]
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def pip_environment() -> dict[str, str]:
    """As outside the tests, so that pip finds its settings and its cache; nothing of this clone on the path."""
    return {name: value for name, value in OUTSIDE.items() if name != "PYTHONPATH"}


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh clone: what git would carry over, nothing that was made here."""
    to = tmp_path_factory.mktemp("clone") / "hermes-tui"
    for path in files():
        copy = to / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    return to


@pytest.fixture(scope="module")
def built(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """(wheel, sdist), the wheel made from the sdist as an installer would."""
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, clone, cwd=out, env=pip_environment())
    return next(out.glob("*.whl")), next(out.glob("*.tar.gz"))


def fresh_venv(folder: Path, *what: str | Path) -> Path:
    """The `bin` of a new environment in which only this is installed."""
    venv.create(folder, with_pip=True)
    bin = folder / ("Scripts" if os.name == "nt" else "bin")
    run(bin / "python", "-m", "pip", "install", "-q", *what, cwd=folder, env=pip_environment())
    return bin


def works(bin: Path, elsewhere: Path) -> None:
    """Version, a command, and the app, from a folder that has nothing to do with the sources."""
    environment = {**pip_environment(), "HOME": str(elsewhere), "HERMES_HOME": str(elsewhere / "none")}
    assert re.match(r"hermes-tui \d+\.\d+", run(bin / "hermes-tui", "--version", cwd=elsewhere, env=environment))
    listed = json.loads(run(bin / "hermes-tui", "list", "--demo", "--json", cwd=elsewhere, env=environment))
    assert listed["conversations"]
    by_module = run(bin / "python", "-m", "hermes_tui", "list", "--demo", cwd=elsewhere, env=environment)
    assert len(by_module.splitlines()) >= len(listed["conversations"])
    assert run(bin / "python", "-c", _HEADLESS, cwd=elsewhere, env=environment) == "ran\n"


def test_the_wheel_holds_all_that_the_program_needs(built: tuple[Path, Path]) -> None:
    names = set(zipfile.ZipFile(built[0]).namelist())
    package = {path.relative_to(ROOT).as_posix() for path in files() if path.is_relative_to(ROOT / "hermes_tui")}
    assert package <= names
    assert {f"hermes_tui/styles/{path.name}" for path in (ROOT / "styles").iterdir()} <= names
    rest = {name for name in names if not name.startswith("hermes_tui/") and ".dist-info/" not in name}
    assert rest == set()


def test_the_sdist_holds_all_that_is_needed_to_work_on_it(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[1]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    mine = {path.relative_to(ROOT).as_posix() for path in files()}
    assert {name for name in mine if not name.startswith(".") or name == ".ci/run"} <= names


def test_the_wheel_works_anywhere(built: tuple[Path, Path], tmp_path: Path) -> None:
    works(fresh_venv(tmp_path / "venv", built[0]), tmp_path)


def test_an_editable_install_works(clone: Path, tmp_path: Path) -> None:
    works(fresh_venv(tmp_path / "venv", "-e", clone), tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="needs a pty")
def test_the_readme_s_first_command_opens_the_demo(clone: Path, tmp_path: Path) -> None:
    """As it stands, in a fresh clone, with an empty environment and an empty home."""
    command = re.findall(r"```sh\n(.*?)\n```", README.read_text("utf-8"), re.DOTALL)[0]
    pip = {name: value for name, value in OUTSIDE.items() if name.startswith("PIP_")}
    bare = {"HOME": str(tmp_path), "PATH": OUTSIDE["PATH"], "TERM": "xterm-256color", **pip}
    argv = ["env", "-i", *(f"{name}={value}" for name, value in bare.items()), "sh", "-c", command]
    with PtyApp(argv, size=(120, 36), cwd=clone) as app:
        app.wait_for("Hermes history", timeout=300)
        app.wait_for("enter read", timeout=30)
        app.send("q")
        app.wait_exit(30)
        assert app.process.returncode == 0
    assert [path.name for path in tmp_path.iterdir() if "hermes" in path.name.lower()] == []
