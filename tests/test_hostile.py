"""Whatever stands in a store, beside it or in the environment: no byte of it acts on a terminal, a shell, a
clipboard or a file (R23, R24)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hermes_tui import cli, text
from tests.hostile import LONG, PWNED, TEXTS, acting, evil_home
from tests.test_cli_terminal import COMMAND, Terminal, started

Captured = pytest.CaptureFixture[bytes]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return evil_home(tmp_path_factory.mktemp("evil") / "home")


def said(capsys: Captured, *argv: str) -> tuple[bytes, bytes]:
    cli.main(list(argv))
    found = capsys.readouterr()
    assert b"Traceback" not in found.err
    return found.out, found.err


COMMANDS = (
    ["list", "--all"],
    ["search", "walnut", "--all"],
    ["search", PWNED, "--scan"],
    ["search", "\x1b]0;x\x07[/] \u202e%s"],
    ["show", "e01"],
    ["show", "long"],
    ["show", "\x1b]0;x\x07nobody"],
    ["tree", "e04"],
    ["resume", "e01", "--print"],
    ["link", "e03"],
    ["link", PWNED],
    ["doctor"],
    ["profiles"],
    ["config", "--theme", "\x1b[31mx"],
)


@pytest.mark.parametrize("argv", COMMANDS, ids=lambda argv: ascii(" ".join(argv))[1:-1])
@pytest.mark.parametrize("form", ["text", "json"])
def test_no_command_writes_a_byte_that_acts(home: Path, capsysbinary: Captured, argv: list[str], form: str) -> None:
    out, err = said(capsysbinary, "--home", str(home), *argv, *(["--json"] if form == "json" else []))
    assert acting(out) == []
    assert acting(err) == []
    assert b"\x1b" not in out + err
    assert out or err
    if form == "json" and out:
        json.loads(out)


@pytest.mark.parametrize("kind", TEXTS)
def test_every_kind_of_text_is_shown_and_kept_faithfully(home: Path, capsysbinary: Captured, kind: str) -> None:
    id = f"e{list(TEXTS).index(kind):02}"
    out, _ = said(capsysbinary, "--home", str(home), "show", id)
    assert PWNED.encode() in out
    assert acting(out) == []
    out, _ = said(capsysbinary, "--home", str(home), "show", id, "--json")
    assert acting(out) == []
    contents = [message["content"] for message in json.loads(out)["messages"]]
    assert f"walnut {TEXTS[kind]}" in contents


def test_a_resume_is_one_argument_whatever_the_id(home: Path, capsysbinary: Captured) -> None:
    for n, (kind, stored) in enumerate(TEXTS.items()):
        if kind == "links":
            continue  # what holds a link is taken for that link
        out, err = said(capsysbinary, "--home", str(home), "resume", f"{stored}{n}", "--json")
        if "\x00" in stored:
            assert b"cannot be given on a command line" in err
            continue
        found = json.loads(out)
        argv = found["resume"]["argv"]
        assert argv[:3] == ["hermes", "-p", "default"]
        assert argv[3:] in (["--resume", f"{stored}{n}"], [f"--resume={stored}{n}"]), err


def test_what_the_shell_is_given_is_taken_apart_as_it_was(home: Path, tmp_path: Path, capsysbinary: Captured) -> None:
    id = f"{TEXTS['shell']}{list(TEXTS).index('shell')}"
    out, _ = said(capsysbinary, "--home", str(home), "resume", id, "--print")
    stub = tmp_path / "bin" / "hermes"
    stub.parent.mkdir()
    stub.write_text(f"#!{sys.executable}\nimport sys, json; print(json.dumps(sys.argv[1:]))\n")
    stub.chmod(0o755)
    line = out.decode().splitlines()[0]
    env = {**os.environ, "PATH": f"{stub.parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)[-1] == id
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin"]


@pytest.mark.skipif(os.name == "nt", reason="terminals of POSIX")
class TestScreens:
    WALK = (
        # what is pressed, and what is waited for
        ("a", "conversations"),
        ("jjjj", ""),
        ("f\x1b[B[/]\x7f\x7f\x7f", ""),
        ("\x1b", ""),
        ("P", "Profiles"),
        ("\x1b", ""),
        (":", ""),
        ("\x1b", ""),
        ("?", "keys"),
        ("\x1b", ""),
        ("r", "--resume"),
        ("\x1b", ""),
        ("yYi", ""),
        ("l", ""),
        ("jj\x1b[C\x1b[D ", ""),
        ("q", ""),
    )

    def walk(self, terminal: Terminal, keys: tuple[tuple[str, str], ...]) -> None:
        for pressed, wanted in keys:
            terminal.press(pressed)
            if wanted:
                terminal.shows(wanted)
            terminal.settle()

    def ended(self, terminal: Terminal) -> None:
        terminal.press("\x11")
        assert terminal.ends() == 0
        assert acting(terminal.data) == []
        assert PWNED.encode() in terminal.data
        assert terminal.restored()

    def test_the_list_and_what_opens_from_it(self, home: Path) -> None:
        with started([*COMMAND, "--home", str(home)]) as terminal:
            terminal.shows(PWNED)
            self.walk(terminal, self.WALK)
            self.ended(terminal)

    def test_a_search_and_its_hits(self, home: Path) -> None:
        with started([*COMMAND, "--home", str(home), "search", "walnut", "--tui"]) as terminal:
            terminal.shows("match")
            self.walk(
                terminal, (("\t", ""), ("jjj", ""), ("E", "expression"), ("o", ""), ("r", "--resume"), ("\x1b", ""))
            )
            self.ended(terminal)

    @pytest.mark.parametrize("session", ["e02", "e08", "e18", "long"])
    def test_a_transcript_unfolded(self, home: Path, session: str) -> None:
        with started([*COMMAND, "--home", str(home), "open", session]) as terminal:
            terminal.shows("message")
            keys = (
                ("g", ""),
                ("tT", ""),
                (" ", ""),
                ("\t\t", ""),
                ("\r", ""),
                ("m", ""),
                ("'", "ookmarks"),
                ("\x1b", ""),
            )
            self.walk(terminal, keys)
            self.ended(terminal)

    def test_the_page_without_a_store_and_an_environment_that_means_harm(self, tmp_path: Path) -> None:
        bad = str(tmp_path / (TEXTS["title"] + TEXTS["bidi"] + "[/]").replace("/", "").replace("\x00", ""))
        env = {"HERMES_HOME": bad, "COLORTERM": TEXTS["clipboard"], "HERMES_TUI_THEME": ""}
        with started(COMMAND, env) as terminal:
            terminal.shows("sample store")
            terminal.press("q")
            assert terminal.ends() == 0
            assert acting(terminal.data) == []
            assert PWNED.encode() in terminal.data


@pytest.mark.parametrize("name", ["HERMES_HOME", "HERMES_TUI_THEME", "HERMES_TUI_NOW", "TERM", "COLORTERM", "TMUX"])
def test_the_environment_is_shown_and_does_nothing(
    home: Path, capsysbinary: Captured, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "/x" + TEXTS["title"] + TEXTS["bidi"] + TEXTS["markup"])
    for argv in (["doctor"], ["list"], ["config"], ["profiles"]):
        argv = argv if name == "HERMES_HOME" else ["--home", str(home), *argv]
        out, err = said(capsysbinary, *argv)
        assert acting(out + err) == []


def test_settings_that_mean_harm_are_a_line(
    home: Path, tmp_path: Path, capsysbinary: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "hermes-tui").mkdir()
    for name in ("theme", TEXTS["title"], "keys"):
        value = json.dumps(TEXTS["colours"] + TEXTS["bidi"])
        (tmp_path / "hermes-tui" / "config.toml").write_text(f"{json.dumps(name)} = {value}\n")
        out, err = said(capsysbinary, "config")
        assert acting(out + err) == []
        assert err.count(b"\n") <= 1


def test_half_a_character_goes_nowhere_raw(capsysbinary: Captured) -> None:
    half = "\udcff" + PWNED  # as a byte that is no UTF-8 arrives in an argument
    for argv in (["show", half], ["--home", f"/x/{half}", "list"], ["search", half]):
        out, err = said(capsysbinary, *argv, *(["--demo"] if argv[0] != "--home" else []))
        assert acting(out + err) == []


def test_a_megabyte_on_one_line_is_cleaned_whole() -> None:
    assert acting(text.clean(LONG).encode()) == []


@pytest.mark.parametrize(
    "kind", ["colours", "screen", "title", "clipboard", "hyperlink", "device", "tmux", "c1", "bidi"]
)
def test_what_got_through_would_be_found(kind: str) -> None:
    assert acting(b"\x1b[0mbefore " + TEXTS[kind].encode() + b"\x1b[0m")
    assert acting(text.clean(TEXTS[kind]).encode()) == []
