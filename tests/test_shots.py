"""The pictures in `screenshots/` show the program as it is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import textual
from PIL import Image

from tests.shots import FOLDER, names
from tests.tools import ROOT

NAMES = sorted(names())


def made_with(name: str) -> str:
    found = re.search(r"Textual ([\w.]+)", (FOLDER / name).read_text("utf-8")[:200])
    return found[1] if found else "?"


def test_there_is_one_of_each() -> None:
    assert sorted(path.name for path in FOLDER.glob("*.svg")) == NAMES
    assert sorted(path.with_suffix(".svg").name for path in FOLDER.glob("*.png")) == NAMES


def test_the_pictures_keep_the_colours_of_the_screen() -> None:
    """The accent is rare, and a palette made of what is frequent would lose it."""
    with Image.open(FOLDER / "browse-dark-120x36.png") as image:
        shown = {colour for _, colour in image.convert("RGB").getcolors(1 << 24) or []}
    gold, good_on_cursor, cursor = (0xDA, 0xA5, 0x20), (0x8F, 0xBC, 0x8F), (0x2E, 0x26, 0x18)
    assert {gold, good_on_cursor, cursor} <= shown


def test_they_are_up_to_date(tmp_path: Path) -> None:
    """Another release of Textual draws a little differently: then there is nothing to compare."""
    version = made_with(NAMES[0])
    if version != textual.__version__ and not os.environ.get("HERMES_TUI_SKIP_NOTHING"):
        pytest.skip(f"made with Textual {version}, and this is {textual.__version__}")
    command = [sys.executable, "-m", "tests.shots", "--no-png", "--to", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    other = [name for name in NAMES if (tmp_path / name).read_text("utf-8") != (FOLDER / name).read_text("utf-8")]
    assert other == [], "look at what changed, then run: python -m tests.shots"
