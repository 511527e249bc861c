"""The main job from start to end, as a person does it in tmux: browse, search, read, lineage, resume, and back."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import real_stores
from tests.terminals import COMMAND, Hermes, Tmux
from tests.tools import needs

pytestmark = needs("tmux")
SIZES = [(80, 24), (160, 48)]


class Walk(NamedTuple):
    """A home, what to search in it, and what is read at the match."""

    home: Path
    query: str
    at_match: str
    session: str
    """The session that is resumed from there: the tip of the one that holds the match."""


def listed(*words: str, home: Path) -> dict[str, list[dict[str, str]]]:
    done = subprocess.run(
        [*COMMAND, *words, "--home", str(home), "--json"], capture_output=True, text=True, check=True
    )
    return dict(json.loads(done.stdout))


def demo_walk(folder: Path) -> Walk:
    home = folder / "demo"
    subprocess.run([*COMMAND, "list", "--demo-dir", str(home)], capture_output=True, check=True)
    hit = listed("search", "early return", home=home)["hits"][0]
    return Walk(home, "early return", r"early\s+return", hit["id"])


def real_walk(folder: Path) -> Walk:
    home = folder / "real"
    shutil.copytree(real_stores.store_home(), home)
    hit = listed("search", "quokkaflux", home=home)["hits"][0]
    return Walk(home, "quokkaflux", r"Where did we store the quokkaflux settings", hit["id"])


def under_cursor(screen: str) -> tuple[int, str]:
    """Where the cursor stands, and the title there."""
    return next((y, line[3:40]) for y, line in enumerate(screen.splitlines()) if line.startswith("▌"))


@pytest.mark.parametrize("size", SIZES, ids="{0[0]}x{0[1]}".format)
@pytest.mark.parametrize("store", [demo_walk, real_walk], ids=["demo", "real"])
def test_from_the_list_to_hermes_and_back(store: object, size: tuple[int, int], tmp_path: Path) -> None:
    assert callable(store)
    walk: Walk = store(tmp_path)
    hermes, here = Hermes(tmp_path), tmp_path / "here"
    here.mkdir()
    first = listed("list", "--limit", "1", home=walk.home)["conversations"][0]
    command = f"hermes -p default --resume {walk.session}"
    argv = [*COMMAND, "--home", str(walk.home)]
    with Tmux(argv, size, env=hermes.environment(), cwd=here, output=tmp_path / "output") as terminal:
        terminal.wait("Hermes history")
        before = terminal.wait("enter read")

        terminal.press("y")
        link = base64.b64encode(first["link"].encode())
        terminal.wait_written(b"\x1bPtmux;\x1b\x1b]52;c;" + link)
        terminal.wait("sent to the terminal")

        terminal.press("/")
        terminal.wait("Search")
        terminal.type(walk.query)
        terminal.wait(rf"(?s){walk.query.split()[0]}.*{walk.query.split()[0]}")
        terminal.wait(r"searching…", gone=True)
        terminal.press("Enter")
        terminal.wait(walk.at_match)
        terminal.press("l")
        terminal.wait(r"(?s)Lineage of.*r resume")
        terminal.press("r")
        terminal.wait(command.replace(" ", r"\s+"))

        terminal.press("b")
        terminal.wait("stub asks:")
        assert terminal.flags().startswith("0 0")
        terminal.type("typed into hermes")
        terminal.press("Enter")
        terminal.wait("stub asks:", gone=True)
        terminal.wait("Lineage of")
        assert ["hermes", *hermes.argv] == command.split()
        assert hermes.note("line") == "typed into hermes\n"
        assert hermes.env["HERMES_HOME"] == str(walk.home)
        assert hermes.note("cwd") == f"{here}\n"
        for mode in ("icanon", "echo", "isig", "icrnl"):
            assert f" {mode}" in hermes.note("stty").replace("\n", " ")

        terminal.press("q")
        terminal.wait(walk.at_match)
        terminal.wait("Lineage of", gone=True)
        terminal.press("q")
        terminal.wait("best first")
        terminal.press("Escape")
        terminal.wait("Hermes history|best first")
        terminal.press("Escape")
        terminal.wait("Hermes history")
        terminal.wait("sent to the terminal", gone=True)  # what is said in passing stands over the first rows
        assert under_cursor(terminal.wait("enter read")) == under_cursor(before)

        terminal.press("r")
        terminal.wait(rf"--resume\s+{first['id']}")
        terminal.press("Enter")
        terminal.wait("stub asks:")
        terminal.type("for good")
        terminal.press("Enter")
        terminal.wait("ended with 7")
        assert hermes.argv == ["-p", "default", "--resume", first["id"]]
        assert hermes.note("line") == "for good\n"
        assert terminal.flags() == "0 0 1"
