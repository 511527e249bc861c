"""What a test needs beside Python, and the files of this repository."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def needs(program: str) -> pytest.MarkDecorator:
    """Skips a test, with the reason, where this program is not installed; `.ci/run` installs it and skips nothing."""
    wanted = bool(os.environ.get("HERMES_TUI_SKIP_NOTHING"))
    return pytest.mark.skipif(not wanted and shutil.which(program) is None, reason=f"needs the program {program}")


def files() -> list[Path]:
    """Every file of the repository; outside a clone (an unpacked sdist), every file that is there."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode == 0:
        return sorted(path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file())
    unasked = {"__pycache__", ".git"}
    return sorted(path for path in ROOT.rglob("*") if path.is_file() and not unasked & set(path.parts))


def texts() -> dict[str, str]:
    """Name → content of those that are text."""
    found = {}
    for path in files():
        content = path.read_bytes()
        if b"\0" not in content and path.suffix not in (".png", ".svg"):
            found[path.relative_to(ROOT).as_posix()] = content.decode("utf-8")
    return found
