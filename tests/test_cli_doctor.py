"""`hermes-tui doctor`: what it proves, what it warns of, and that it can be pasted into a report."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hermes_tui import cli, clipboard
from hermes_tui.commands.looks import Look
from hermes_tui.service import checking
from hermes_tui.storage import connection, holders
from tests.builders import StoreBuilder

SECRETS = ("walnut", "Divorce papers", "s3cret", "hunter2", "/srv/clients", "someone@example.org", "pineapple")
on_linux = pytest.mark.skipif(not holders.LOCKS.exists(), reason="only Linux tells who holds a lock")


@pytest.fixture
def home() -> Path:
    """A store below the person's own folder, full of what nobody else should see."""
    folder = Path(os.environ["HOME"]) / ".hermes"
    with StoreBuilder(folder / "state.db", journal="delete") as store:
        store.session("s1", title="Divorce papers", cwd="/srv/clients/smith", user_id="someone@example.org")
        store.message("s1", "user", "the walnut question")
        store.session("s2", "cron", title="nightly s3cret")
        store.message("s2", "user", "pineapple")
        store.session("s3", parent="s1")
    return folder


@pytest.fixture(autouse=True)
def _hermes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stub = tmp_path / "bin" / "hermes"
    stub.parent.mkdir()
    stub.write_text("#!/bin/sh\nexit 1\n")
    stub.chmod(0o755)
    monkeypatch.setenv("PATH", f"{stub.parent}{os.pathsep}{os.environ['PATH']}")


def doctor(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    code = cli.main(["doctor", *argv])
    said = capsys.readouterr()
    return code, said.out, said.err


def lines(text: str) -> dict[str, tuple[str, str]]:
    """Check → state and detail."""
    rows = [re.split(r"\s{2,}", line, maxsplit=2) for line in text.splitlines()[1:]]
    return {name: (state, detail) for state, name, detail in rows}


def test_on_a_terminal_what_is_long_goes_on_below_itself(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, whole, _ = doctor(capsys)
    monkeypatch.setattr("hermes_tui.commands.looks.look_of", lambda *_, **__: Look(width=60))
    _, said, _ = doctor(capsys)
    detail = said.splitlines()[0].index("DETAIL")
    assert not [line for line in said.splitlines() if len(line) > 60 and " " in line[detail:].strip()]
    assert {line[:detail].isspace() or line[:2] in ("ok", "wa", "ST") for line in said.splitlines()} == {True}
    assert said.split() == whole.split(), "broken at blanks, and nothing else"


def test_a_healthy_store_is_0_and_everything_is_said(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = doctor(capsys)
    found = lines(out)
    assert (code, err) == (0, "")
    assert {state for state, _ in found.values()} == {"ok"}
    wanted = "database size journal schema sessions live integrity profiles hermes program terminal clipboard index"
    assert {*wanted.split(), "word index", "trigram index"} <= set(found)
    assert found["database"][1] == "~/.hermes/state.db · profile default"


def test_the_sum_of_the_sessions_adds_up(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, detail = lines(doctor(capsys)[1])["sessions"]
    *parts, rows = (int(number) for number in re.findall(r"(\d+) (?:shown|hidden \+|further|delegates|rows)", detail))
    assert sum(parts) == rows == 3


@pytest.mark.parametrize("form", ["text", "json"])
def test_nothing_in_it_is_secret(home: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
    (home / "config.yaml").write_text(
        "database:\n  backend: postgres://joe:hunter2@db/x\nproviders:\n  key: s3cret-key\n"
    )
    (home / "runtime").mkdir()
    entry = {"session_id": "s1", "pid": os.getpid(), "surface": "pineapple"}
    (home / "runtime" / "active_sessions.json").write_text(json.dumps({"entries": [entry]}))
    code, out, _ = doctor(capsys, *(["--json"] if form == "json" else []))
    assert code == 1
    assert "another database" in out
    for secret in (*SECRETS, os.environ["HOME"]):
        assert secret not in out
    if form == "json":
        assert json.loads(out)["meta"]["dbs"] == ["~/.hermes/state.db"]


def test_without_a_store_it_says_where_it_looked_and_what_surrounds_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = doctor(capsys, "--home", str(tmp_path / "absent"))
    assert (code, err.count("\n")) == (3, 1)
    assert "--demo" in err
    said = lines(out)
    assert said["database"][0] == "error"
    assert said["home"] == ("warning", f"{tmp_path / 'absent'}: does not exist")
    assert {"profiles", "hermes", "terminal", "clipboard", "program"} <= said.keys()
    code, out, _ = doctor(capsys, "--home", str(tmp_path / "absent"), "--json")
    found = json.loads(out)
    assert (code, [each["name"] for each in found["checks"]], len(found["meta"]["errors"])) == (3, [*said], 1)
    code, out, _ = doctor(capsys, "-p", "nosuch")
    assert (code, "terminal" in lines(out)) == (3, True), "also where a profile is missing"


@pytest.mark.parametrize("command", [["doctor"], ["list"], ["config"], ["profiles"]])
@pytest.mark.parametrize("name", ["x" * 300, "." * 5_000], ids=["long name", "long path"])
def test_a_home_that_cannot_be_is_said_and_no_failure(
    command: list[str], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERMES_HOME", f"/{name}")
    assert cli.main(command) == {"config": 0, "profiles": 0}.get(command[0], 3)


def test_a_missing_hermes_is_a_warning_where_something_could_be_resumed(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    code, out, _ = doctor(capsys)
    assert (code, lines(out)["hermes"][0]) == (1, "warning")
    other = tmp_path / "backup.db"
    (home / "state.db").rename(other)
    code, out, _ = doctor(capsys, "--db", str(other))
    assert (code, lines(out)["hermes"][0]) == (0, "ok")


def test_a_store_too_large_for_a_quick_look_is_said_to_be(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "look_seconds", 0.0)
    code, out, _ = doctor(capsys)
    assert code == 0
    assert "not looked at: in a store of this size" in lines(out)["integrity"][1]


@contextmanager
def held(db: Path, *statements: str) -> Iterator[int]:
    """Another process that has done this; its number."""
    code = (
        "import sqlite3, sys\nconn = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "for each in sys.argv[2:]:\n    conn.execute(each).fetchall()\nprint('holding', flush=True)\nsys.stdin.read()"
    )
    argv = [sys.executable, "-c", code, str(db), *statements]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"holding\n"
        yield process.pid
        assert process.stdin is not None
        process.stdin.close()


@on_linux
class TestWhoHoldsIt:
    @pytest.mark.parametrize("command", [["list"], ["search", "walnut"], ["show", "s1"], ["doctor"]])
    def test_the_busy_line_names_the_process(
        self,
        home: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
        command: list[str],
    ) -> None:
        monkeypatch.setattr(connection, "busy_seconds", 0.0)
        with held(home / "state.db", "begin exclusive") as pid:
            assert cli.main(command) == 3
        said = capsys.readouterr()
        assert re.search(rf"busy: \S+ \(process {pid}\) is writing", said.err)
        assert said.err.count("\n") == 1

    @pytest.mark.parametrize(
        ("statements", "does"),
        [
            (("begin immediate",), "writes"),
            (("begin", "select * from sessions"), "has it open"),
            (("pragma journal_mode = wal", "begin immediate"), "writes"),
            (("pragma journal_mode = wal", "begin", "select * from sessions"), "has it open"),
        ],
    )
    def test_doctor_says_who_does_what(
        self, home: Path, capsys: pytest.CaptureFixture[str], statements: tuple[str, ...], does: str
    ) -> None:
        with held(home / "state.db", *statements) as pid:
            code, out, _ = doctor(capsys)
        state, detail = lines(out)["locks"]
        assert (code, state) == (0, "ok")
        assert re.fullmatch(rf"\S+ \(process {pid}\) {does}", detail)

    def test_our_own_locks_are_none_and_the_file_is_never_opened(
        self, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        conn = sqlite3.connect(home / "state.db", isolation_level=None)
        conn.execute("begin immediate")
        opened: list[str] = []
        monkeypatch.setattr("os.open", lambda path, *_: opened.append(str(path)))
        assert holders.holders(home / "state.db") == ()
        assert not [path for path in opened if path.startswith(str(home))]
        conn.close()

    def test_another_file_system_of_the_same_inode_is_another_file(
        self, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        inode = (home / "state.db").stat().st_ino
        locks = tmp_path / "locks"
        locks.write_text(f"1: POSIX  ADVISORY  WRITE {os.getppid()} 00:00:{inode} 1073741824 1073742335\n")
        monkeypatch.setattr(holders, "LOCKS", locks)
        assert holders.barring(home / "state.db") == ""

    @pytest.mark.parametrize("content", [None, b"", b"\x00\xff garbage\n1: a b\n1: POSIX ADVISORY WRITE x y z 0 0\n"])
    def test_where_nobody_can_tell_nobody_is_named(
        self,
        home: Path,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
        content: bytes | None,
    ) -> None:
        if content is not None:
            (tmp_path / "locks").write_bytes(content)
        monkeypatch.setattr(holders, "LOCKS", tmp_path / "locks")
        monkeypatch.setattr(connection, "busy_seconds", 0.0)
        with held(home / "state.db", "begin exclusive"):
            assert cli.main(["list"]) == 3
        assert "busy: another process is writing" in capsys.readouterr().err
        code, out, _ = doctor(capsys)
        assert code == 0
        assert ("locks" in lines(out)) is (content is not None)


@pytest.mark.parametrize(
    ("env", "system", "route"),
    [
        ({}, "xclip", "by the system (xclip), else by the terminal (OSC 52)"),
        ({}, "", "by the terminal (OSC 52): no system clipboard was found"),
        ({"TMUX": "/tmp/x"}, "", "by the terminal (OSC 52, wrapped for tmux): no system clipboard was found"),
        ({"SSH_TTY": "/dev/pts/1"}, "xclip", "by the terminal (OSC 52), as this is an SSH session"),
    ],
)
def test_the_way_of_a_copied_text_is_told(env: dict[str, str], system: str, route: str) -> None:
    assert clipboard.route(env, lambda: system) == route
