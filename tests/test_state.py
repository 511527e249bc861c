"""What is remembered between runs."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest

from hermes_tui import settings
from hermes_tui.state import KEPT, RecentQueries, keep_in, state_dir


def test_the_newest_query_comes_first_and_each_once(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "recent.json"
    recent = RecentQueries(path)
    assert recent() == ()
    for text in ("walnut", "  deploy   log ", "walnut", "", " "):
        recent.add(text)
    assert recent() == ("walnut", "deploy log")
    assert RecentQueries(path)() == ("walnut", "deploy log")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in path.parent.iterdir()] == ["recent.json"]


def test_two_windows_do_not_forget_for_each_other(tmp_path: Path) -> None:
    path = tmp_path / "recent.json"
    first, second = RecentQueries(path), RecentQueries(path)
    assert first() == second() == ()
    first.add("one")
    second.add("two")
    assert RecentQueries(path)() == ("two", "one")


def test_only_so_many_are_kept(tmp_path: Path) -> None:
    recent = RecentQueries(tmp_path / "recent.json")
    for n in range(KEPT + 20):
        recent.add(f"query {n}")
    assert len(RecentQueries(tmp_path / "recent.json")()) == KEPT


@pytest.mark.parametrize(
    "content", ["", "{", "[" * 100_000, "null", "3", '{"a": 1}', '[1, null, "kept", " ", ["x"]]', "\udcff"]
)
def test_a_broken_file_is_no_failure(tmp_path: Path, content: str) -> None:
    path = tmp_path / "recent.json"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    recent = RecentQueries(path)
    assert recent() in ((), ("kept",))
    recent.add("next \ud800")
    assert json.loads(path.read_text("utf-8"))[0] == "next \ud800"


def test_a_folder_that_cannot_be_made_is_an_os_error(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    recent = RecentQueries(tmp_path / "taken" / "recent.json")
    with pytest.raises(OSError, match="taken"):
        recent.add("walnut")
    assert recent() == ("walnut",)


def test_nothing_is_read_or_written_before_it_is_needed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert RecentQueries().path.name == "recent.json"
    assert list(tmp_path.iterdir()) == []
    assert state_dir() == tmp_path / "hermes-tui"


def test_what_is_done_in_the_sample_store_is_kept_elsewhere_until_it_is_left(tmp_path: Path) -> None:
    usual = state_dir()
    keep_in(tmp_path / "passing")
    try:
        RecentQueries().add("oauth")
        assert (tmp_path / "passing" / "recent.json").exists()
    finally:
        keep_in(None)
    assert state_dir() == usual
    assert not usual.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="there every user has a home")
def test_a_user_without_a_home_has_no_settings_and_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(number: int) -> None:
        raise KeyError(number)

    monkeypatch.setattr("pwd.getpwuid", nobody)
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    found, _ = settings.load()
    assert found == settings.Settings()
    recent = RecentQueries()
    assert recent() == ()
    with pytest.raises(OSError, match="hermes-tui"):
        recent.add("walnut")
    assert recent() == ("walnut",)
    assert not Path("~").exists()
