"""The command that the program offers is one that the real `hermes` takes: it continues that conversation."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from hermes_tui.cli import main
from tests import real_stores
from tests.bench.ptyperf import PtyApp

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pty")
_CONFIG = """
model: {default: nous/hermes-4-405b, provider: openrouter}
sessions: {auto_prune: false}
"""
"""A provider, without which Hermes would begin with its setup; it is never called."""


def test_hermes_continues_the_tip(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = tmp_path / "home"
    shutil.copytree(real_stores.store_home(), home)
    (home / "config.yaml").write_text(_CONFIG, "utf-8")
    (home / ".env").write_text(f"OPENROUTER_API_KEY=sk-or-v1-{'0' * 64}\n", "utf-8")
    root, *_, tip = json.loads((home / "gen-manifest.json").read_text("utf-8"))["shapes"]["chain3"]
    assert main(["resume", root, "--home", str(home), "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)["resume"]
    assert plan["argv"] == ["hermes", "-p", "default", "--resume", tip]

    hermes = real_stores.hermes_python().parent / "hermes"
    env = {"HOME": str(tmp_path), **plan["env"]}
    with PtyApp([str(hermes), *plan["argv"][1:]], size=(120, 50), env=env, cwd=tmp_path) as app:
        app.wait_for("No thanks", timeout=90)  # its first start asks about telemetry
        app.wait_quiet()
        app.send("escape")
        app.wait_for("segmentchain3part3", timeout=90)
        app.wait_for(f"Session: {tip}", timeout=30)
        assert "session_not_found" not in app.text()
