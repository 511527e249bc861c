"""What the README says is what the program does; its two commands work as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hermes_tui import __version__
from hermes_tui.settings import Settings, read_file
from tests.readme import README, rewritten
from tests.tools import ROOT

TEXT = README.read_text("utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", TEXT, re.DOTALL)


def test_its_tables_are_those_of_the_program() -> None:
    assert rewritten(TEXT) == TEXT, "run: python -m tests.readme"


def test_the_two_commands_stand_at_its_top() -> None:
    first, second = (block for _, block in BLOCKS[:2])
    assert first.strip().endswith("hermes-tui --demo")
    assert "'.[test]'" in second
    assert ".venv/bin/pytest" in second
    assert TEXT.index(second) < 600


def test_its_pictures_and_links_exist() -> None:
    linked = re.findall(r"\]\((?!https?:)([^)#]+)\)", TEXT)
    assert linked
    assert [name for name in linked if not (ROOT / name).exists()] == []


def test_its_settings_can_be_read(tmp_path: Path) -> None:
    example = next(block for kind, block in BLOCKS if kind == "toml")
    file = tmp_path / "config.toml"
    file.write_text(example, "utf-8")
    assert set(read_file(file)) == set(Settings.__dataclass_fields__)


@pytest.mark.parametrize("place", re.findall(r"\| `([\w/.`, ]+)` \|", TEXT.partition("## How it is put")[2]))
def test_the_places_it_names_exist(place: str) -> None:
    for name in re.split(r"`, `", place):
        if name.endswith((".py", "/")):
            assert (ROOT / "hermes_tui" / name).exists() or (ROOT / name).exists(), name


def test_the_changelog_knows_this_version() -> None:
    assert f"## [{__version__}]" in (ROOT / "CHANGELOG.md").read_text("utf-8")
