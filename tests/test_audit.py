"""The look for known vulnerabilities: what fails, and what is only said."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from tests import audit

USERS = {"textual", "rich"}


def dependency(name: str, *ids: str, skipped: bool = False) -> dict[str, Any]:
    if skipped:
        return {"name": name, "skip_reason": "not found"}
    return {"name": name, "version": "1", "vulns": [{"id": each, "fix_versions": ["2"]} for each in ids]}


@pytest.mark.parametrize(
    ("dependencies", "code", "said"),
    [
        ([dependency("Textual"), dependency("rich")], 0, "2 of 2 libraries"),
        ([dependency("Textual", "V-1"), dependency("rich")], 1, "V-1, fixed in 2 (given to users)"),
        ([dependency("textual"), dependency("rich"), dependency("ruff", "V-2")], 0, "V-2, fixed in 2 (a tool"),
        (
            [dependency("textual", skipped=True), dependency("rich")],
            0,
            "NOT LOOKED UP, there is no data for: textual",
        ),
        ([dependency("textual", skipped=True), dependency("rich", skipped=True)], 0, "0 of 2 libraries"),
    ],
)
def test_only_what_users_get_fails(dependencies: list[dict[str, Any]], code: int, said: str) -> None:
    found, lines = audit.judged({"dependencies": dependencies}, USERS)
    assert found == code
    assert said in "\n".join(lines)


@pytest.mark.parametrize("answer", ["", "no JSON"])
def test_without_data_nothing_fails_and_it_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], answer: str
) -> None:
    done = subprocess.CompletedProcess([], 1, stdout=answer, stderr="cannot connect")
    monkeypatch.setattr(subprocess, "run", lambda *argv, **options: done)
    assert audit.main() == 0
    assert "NOT LOOKED UP" in capsys.readouterr().out


def test_what_users_get_is_known() -> None:
    found = audit.shipped()
    assert {"textual", "rich", "platformdirs", "pyperclip", "pyyaml", "shtab", "markdown-it-py"} <= found
    assert not {"pytest", "ruff", "mypy", "hermes-tui"} & found
