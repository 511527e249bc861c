"""The command as the shell sees it: exit codes, streams, pipes, signals (R28, R39, R40, R42)."""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hermes_tui import cli
from tests.builders import StoreBuilder
from tests.tools import ROOT

COMMAND = [sys.executable, "-m", "hermes_tui"]
SEED = 20261130
ID = "20260603_120000_abc123"


def run(*argv: str, env: dict[str, str] | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
    """The command, without a terminal."""
    return subprocess.run(
        [*COMMAND, *argv],
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
        **options,
    )


def tree(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def one_line_error(done: subprocess.CompletedProcess[str], code: int, *named: str) -> None:
    """A code, nothing on stdout, and one sentence on stderr that names what is at fault."""
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    for name in named:
        assert name in done.stderr


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with three conversations, one of them archived."""
    folder = tmp_path / "home with blanks"
    with StoreBuilder(folder / "state.db", journal="delete") as store:
        store.session(ID, title="Refactoring auth", cwd="/srv/app")
        store.message(ID, "user", "the walnut is in the first message")
        store.message(ID, "assistant", "and the answer")
        store.session("20260603_130000_def456", "telegram", title="Weekly review")
        store.message("20260603_130000_def456", "user", "walnut again")
        store.session("20260603_140000_aaa111", title="Put away", archived=1)
        store.message("20260603_140000_aaa111", "user", "old")
    return folder


class TestWhereItLooks:
    @pytest.mark.parametrize("value", ["", "   ", None])
    def test_without_hermes_home_the_native_one_is_named(self, tmp_path: Path, value: str | None) -> None:
        env = {name: text for name, text in os.environ.items() if name != "HERMES_HOME"}
        if value is not None:
            env["HERMES_HOME"] = value
        done = subprocess.run([*COMMAND, "list"], env=env, capture_output=True, text=True, check=False)
        one_line_error(done, 3, str(Path(os.environ["HOME"]) / ".hermes" / "state.db"))

    @pytest.mark.parametrize("made", [True, False])
    def test_an_empty_or_absent_home_stays_so(self, tmp_path: Path, made: bool) -> None:
        home = tmp_path / "nowhere"
        if made:
            home.mkdir()
        one_line_error(run("list", env={"HERMES_HOME": str(home)}), 3, str(home / "state.db"))
        assert home.exists() == made
        assert not made or not tree(home)

    def test_odd_paths_are_paths_and_nothing_else(self, tmp_path: Path, home: Path) -> None:
        """Whatever the characters: `?mode=rwc`, `#`, `%41`, quotes, newlines, other scripts."""
        rng = random.Random(SEED)
        for number in range(8):
            name = "".join(rng.choices("?#%41&=;:'\" \n日ü🚀[]*~$", k=9)).strip() or "x"
            folder = tmp_path / f"{number}{name}"
            folder.mkdir()
            (folder / "state.db").write_bytes((home / "state.db").read_bytes())
            done = run("--db", str(folder / "state.db"), "list", "--json")
            assert done.returncode == 0, done.stderr
            assert json.loads(done.stdout)["meta"]["dbs"] == [str(folder / "state.db")]
            assert tree(folder) == ["state.db"]


class TestAnswers:
    def test_list_as_text_and_as_json(self, home: Path) -> None:
        done = run("--home", str(home), "list")
        assert done.returncode == 0
        assert done.stderr == ""
        assert "Refactoring auth" in done.stdout
        assert "Put away" not in done.stdout
        assert "2 of 3 conversations. Hidden: 1 archived (--all shows them)." in done.stdout
        found = json.loads(run("list", "--json", "--home", str(home), "--all").stdout)
        assert [row["title"] for row in found["conversations"]] == ["Put away", "Weekly review", "Refactoring auth"]
        assert found["meta"]["profiles"] == ["default"]

    def test_limit_and_offset_do_not_change_the_total(self, home: Path) -> None:
        meta = json.loads(run("--home", str(home), "list", "--json", "--limit", "1", "--offset", "1").stdout)["meta"]
        assert (meta["total"], meta["returned"], meta["offset"], meta["limit"]) == (2, 1, 1, 1)

    def test_a_filtered_list_without_rows_is_nothing_found(self, home: Path) -> None:
        assert run("--home", str(home), "list", "--source", "nowhere").returncode == 1
        assert run("--home", str(home), "list", "--source", "telegram").returncode == 0
        assert run("--home", str(home), "list", "--after", "not-a-date").returncode == 2

    def test_an_unknown_target_is_one_line_and_1(self, home: Path) -> None:
        one_line_error(run("--home", str(home), "show", "nobody"), 1, "nobody")

    def test_a_target_that_is_half_a_title_offers_what_has_such_titles(self, home: Path) -> None:
        done = run("--home", str(home), "show", "review", "--json")
        assert done.returncode == 1
        assert [each["title"] for each in json.loads(done.stdout)["candidates"]] == ["Weekly review"]
        assert list(json.loads(done.stdout)["candidates"][0]) == ["profile", "id", "title", "link"]
        lines = done.stderr.splitlines()[1:] + run("--home", str(home), "show", "refac").stderr.splitlines()[1:]
        cells = [line.split("  ") for line in lines]  # the link, and what lets one choose
        assert [(each[:2], each[3]) for each in cells] == [
            (["@session:default/20260603_130000_def456", "Weekly review"], "telegram"),
            ([f"@session:default/{ID}", "Refactoring auth"], "cli"),
        ]
        assert all(re.fullmatch(r"[\d-]{10} [\d:]{5} \w+", each[2]) for each in cells)

    @pytest.mark.parametrize(
        "name", ["Mei", "mei", "“are you\x1b[31m there?”", "are you�[31m there?", "ARE YOU�[31M THERE?"]
    )
    def test_what_the_list_shows_opens_what_it_names(self, tmp_path: Path, name: str) -> None:
        with StoreBuilder(tmp_path / "state.db", journal="delete") as store:
            store.session(ID, "whatsapp", display_name="Mei" if name.lower() == "mei" else None)
            store.message(ID, "user", "are you\x1b[31m there?")
        assert run("--home", str(tmp_path), "link", name).stdout == f"@session:default/{ID}\n"
        assert "untitled" not in run("--home", str(tmp_path), "tree", name).stdout

    def test_candidates_without_a_title_are_told_apart_by_what_was_said(self, tmp_path: Path) -> None:
        with StoreBuilder(tmp_path / "state.db", journal="delete") as store:
            for number in range(2):
                store.session(f"chat_{number}")
                store.message(f"chat_{number}", "user", f"question\x1b]0;x {number}")
        lines = run("--home", str(tmp_path), "show", "“chat_”").stderr.splitlines()
        assert lines[0] == "hermes-tui: “chat_” could mean 2 sessions."
        assert {line.split("  ")[1] for line in lines[1:]} == {f"“question�]0;x {number}”" for number in range(2)}

    def test_a_source_that_is_none_is_told_from_those_there_are(self, home: Path) -> None:
        said = "There is no source nowhere; there are cli, telegram."
        assert said in run("--home", str(home), "list", "--source", "nowhere").stdout.splitlines()
        found = json.loads(run("--home", str(home), "list", "--source", "nowhere", "--json").stdout)
        assert found["meta"]["notices"] == [said]
        assert said in run("--home", str(home), "search", "source:nowhere").stdout.splitlines()
        assert said in run("--home", str(home), "search", "review", "--source", "Nowhere").stdout.splitlines()
        past = json.loads(
            run("--home", str(home), "list", "--source", "cli", "--before", "2001-01-01", "--json").stdout
        )
        assert past["meta"]["notices"] == []

    @pytest.mark.parametrize(
        ("argv", "env", "named"),
        [
            (["list", "--theme", "drakula"], "", "no theme 'drakula'"),
            (["config", "--theme", "drakula"], "", "no theme 'drakula'"),
            (["config"], "drakula", "HERMES_TUI_THEME: there is no theme 'drakula'"),
            (["list"], "drakula", "HERMES_TUI_THEME: there is no theme 'drakula'"),
            (["search", "x", "--json"], "  drakula ", "HERMES_TUI_THEME: there is no theme 'drakula'"),
            (["doctor"], "\x1b[31m", "HERMES_TUI_THEME: there is no theme"),
            (["list"], "dracula", ""),
            (["list", "--theme", "dark"], "drakula", ""),
            (["list", "--theme", "dracula"], "", ""),
            (["config", "--theme", "dark"], "drakula", ""),
        ],
    )
    def test_a_theme_that_does_not_exist_is_wrong_usage_also_where_nothing_is_drawn(
        self, home: Path, argv: list[str], env: str, named: str
    ) -> None:
        done = run("--home", str(home), *argv, env={"HERMES_TUI_THEME": env})
        if named:
            one_line_error(done, 2, named, "dracula")
        else:
            assert (done.returncode, done.stderr) == (0, "")

    def test_an_ambiguous_target_lists_its_candidates(self, home: Path) -> None:
        done = run("--home", str(home), "show", "20260603_1", "--json")
        assert done.returncode == 1
        lines = done.stderr.splitlines()
        assert len(lines) == 4
        links = {each["link"] for each in json.loads(done.stdout)["candidates"]}
        assert links == {line.split()[0] for line in lines[1:]}

    def test_show_prints_messages_and_their_ids(self, home: Path) -> None:
        done = run("--home", str(home), "show", ID)
        assert done.returncode == 0
        assert "[1] user, " in done.stdout
        assert "  the walnut is in the first message" in done.stdout.splitlines()

    def test_of_a_message_that_is_not_there_it_is_said_which_are(self, home: Path) -> None:
        done = run("--home", str(home), "show", ID, "--around", "999")
        one_line_error(done, 1, f"Message 999 is not shown in session {ID}: the first there is 1, the last 2.")

    def test_link_alone_on_a_line(self, home: Path) -> None:
        assert run("--home", str(home), "link", "Refactoring auth").stdout == f"@session:default/{ID}\n"

    def test_resume_prints_a_command_that_a_shell_takes(self, home: Path) -> None:
        done = run("--home", str(home), "resume", ID, "--print")
        assert done.returncode == 0
        assert done.stdout.splitlines()[0].endswith(f"hermes -p default --resume {ID}")
        found = json.loads(run("--home", str(home), "resume", ID, "--json").stdout)["resume"]
        assert found["argv"] == ["hermes", "-p", "default", "--resume", ID]
        assert found["env"] == {"HERMES_HOME": str(home)}

    def test_a_database_under_another_name_cannot_be_resumed(self, home: Path) -> None:
        other = home / "backup.db"
        (home / "state.db").rename(other)
        one_line_error(run("--db", str(other), "resume", ID), 1, "backup.db")

    @pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
    @pytest.mark.parametrize(
        ("typed", "offered"),
        [
            (["li"], ["list", "link"]),
            (["list", "--sort", "me"], ["messages"]),
            (["search", "--sort", ""], ["relevance", "newest", "oldest"]),
            (["list", "--source", "cli", "--sc"], []),
            (["search", "words", "--sc"], ["--scan"]),
            (["completion", "f"], ["fish"]),
            (["config", "--theme", "tokyo"], ["tokyo-night"]),
            (["list", "--role", ""], ["user", "assistant", "tool", "system"]),
            (["list", "--sort", "=", "me"], ["messages"]),
            (["search", "--sort", "="], ["relevance", "newest", "oldest"]),
            (["--role", "=", "tool", "search", "--theme", "=", "tokyo"], ["tokyo-night"]),
            (["list", "--role", "=", "tool", "--sc"], []),
            (["list", "-p", ""], ["default", "work"]),
            (["list", "--profile", "=", "w"], ["work"]),
        ],
    )
    def test_completion_completes_in_bash(self, tmp_path: Path, typed: list[str], offered: list[str]) -> None:
        (tmp_path / "completion").write_text(run("completion", "bash").stdout)
        words = " ".join(map(shlex.quote, ["hermes-tui", *typed]))
        script = f"""
        source ./completion
        hermes-tui() {{ printf '%s  -  ok\n' PROFILE default work '$(touch oops)' 'Bad Name'; }}
        [[ $(complete -p hermes-tui) =~ -F\\ ([^ ]+) ]]
        COMP_WORDS=({words}) COMP_CWORD={len(typed)}
        "${{BASH_REMATCH[1]}}" hermes-tui {shlex.quote(typed[-1])} {shlex.quote(["hermes-tui", *typed][-2])}
        printf '%s\n' "${{COMPREPLY[@]}}"
        """
        done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True)
        assert (done.stderr, sorted(done.stdout.split())) == ("", sorted(offered))
        assert not (tmp_path / "oops").exists()

    def test_doctor_config_profiles_and_completion_answer(self, home: Path) -> None:
        for argv, name in ((["doctor"], "checks"), (["config"], "config"), (["profiles"], "profiles")):
            done = run("--home", str(home), *argv, "--json")
            assert done.returncode in (0, 1)
            assert json.loads(done.stdout)[name]
        for shell in ("bash", "zsh", "fish"):
            done = run("completion", shell)
            assert done.returncode == 0
            assert "hermes-tui" in done.stdout
            assert "--all-profiles" in done.stdout or "all-profiles" in done.stdout

    def test_version_and_help_go_to_stdout(self) -> None:
        assert run("--version").stdout.startswith("hermes-tui ")
        for argv in (["--help"], ["-h"], ["list", "--help"]):
            done = run(*argv)
            assert done.returncode == 0
            assert "--json" in done.stdout or "COMMAND" in done.stdout
            assert done.stderr == ""

    @pytest.mark.parametrize("argv", [["--nope"], ["lst"], ["list", "--limit", "x"], ["show"]])
    def test_wrong_usage_is_one_line_and_2(self, argv: list[str]) -> None:
        one_line_error(run(*argv), 2, argv[-1] if argv != ["show"] else "TARGET")


class TestProfiles:
    @pytest.fixture
    def root(self, home: Path) -> Path:
        """R40: one good profile beside the root's, an empty one, and a folder that is none."""
        with StoreBuilder(home / "profiles" / "work" / "state.db", journal="delete") as store:
            store.session("20260601_090000_111111", title="Payroll")
            store.message("20260601_090000_111111", "user", "hello from work")
        (home / "profiles" / "empty").mkdir()
        (home / "profiles" / "empty" / "config.yaml").touch()
        bad = home / "profiles" / "Bad Name"
        bad.mkdir()
        (bad / "state.db").write_text("not a database")
        return home

    def listed(self, *argv: str) -> tuple[int, dict[str, Any]]:
        done = run(*argv, "list", "--json")
        found: dict[str, Any] = json.loads(done.stdout)
        return done.returncode, found

    def test_one_profile_by_name(self, root: Path) -> None:
        code, found = self.listed("--home", str(root), "-p", "Work")
        assert code == 0
        assert [row["link"] for row in found["conversations"]] == ["@session:work/20260601_090000_111111"]

    def test_all_profiles_and_an_empty_one_is_no_error(self, root: Path) -> None:
        code, found = self.listed("--home", str(root), "--all-profiles")
        assert code == 0
        assert found["meta"]["profiles"] == ["default", "work"]
        assert {row["profile"] for row in found["conversations"]} == {"default", "work"}
        assert found["meta"]["errors"] == []

    def test_one_broken_profile_hides_no_other(self, root: Path) -> None:
        (root / "state.db").write_text("broken")
        code, found = self.listed("--home", str(root), "--all-profiles")
        assert code == 0
        assert [row["profile"] for row in found["conversations"]] == ["work"]
        assert [error["profile"] for error in found["meta"]["errors"]] == ["default"]
        done = run("--home", str(root), "--all-profiles", "list")
        assert str(root / "state.db") in done.stderr

    def test_one_unknown_profile_of_several_is_an_error_among_answers(self, root: Path) -> None:
        code, found = self.listed("--home", str(root), "-p", "work", "-p", "ghost")
        assert code == 0
        assert [error["profile"] for error in found["meta"]["errors"]] == ["ghost"]
        one_line_error(run("--home", str(root), "-p", "ghost", "list"), 3, "ghost")
        one_line_error(run("--home", str(root), "-p", "Bad Name", "list"), 2, "Bad Name")

    def test_a_broken_profile_is_named_beside_the_answer_of_the_others(self, root: Path) -> None:
        (root / "state.db").write_text("broken")
        every = ["--home", str(root), "--all-profiles"]
        for argv in (
            ["show", "Payroll"],
            ["tree", "Payroll"],
            ["link", "Payroll"],
            ["resume", "Payroll"],
            ["doctor"],
        ):
            done = run(*every, *argv, "--json")
            assert done.returncode == (1 if argv == ["doctor"] else 0)
            assert [each["profile"] for each in json.loads(done.stdout)["meta"]["errors"]] == ["default"]
            assert str(root / "state.db") in done.stderr or argv == ["doctor"]
        done = run(*every, "show", "Refactoring auth")
        assert done.returncode == 1
        assert str(root / "state.db") in done.stderr  # it may be in there

    def test_when_all_fail_it_is_3(self, root: Path) -> None:
        for db in (root / "state.db", root / "profiles" / "work" / "state.db"):
            db.write_text("broken")
        for argv in (["list"], ["search", "x"], ["show", "latest"], ["doctor"]):
            assert run("--home", str(root), "--all-profiles", *argv).returncode == 3

    def test_profiles_and_doctor_name_the_folder_that_is_none(self, root: Path) -> None:
        found = json.loads(run("--home", str(root), "profiles", "--json").stdout)["profiles"]
        assert [each["name"] for each in found] == ["default", "Bad Name", "empty", "work"]
        assert list(found[0]) == ["name", "home", "db", "exists", "active", "valid", "error"]
        assert {each["name"]: each["valid"] for each in found}["Bad Name"] is False
        assert {each["name"]: each["exists"] for each in found}["empty"] is False
        (root / "profiles" / "work" / "state.db").write_text("not a database")
        said = next(line for line in run("--home", str(root), "profiles").stdout.splitlines() if "work" in line)
        assert said.count("work") == 2  # its name and its path, once
        assert said.endswith("  error: is not a database")
        done = run("--home", str(root), "doctor")
        assert "Bad Name" in done.stdout
        assert done.returncode == 1

    def test_a_link_opens_the_profile_that_it_names(self, root: Path) -> None:
        done = run("--home", str(root), "show", "@session:work/20260601_090000_111111.", "--json")
        found = json.loads(done.stdout)
        assert found["conversation"]["title"] == "Payroll"
        assert found["meta"]["profiles"] == ["work"]
        one_line_error(run("--home", str(root), "show", "20260601_090000_111111"), 1, "20260601_090000_111111")

    def test_a_link_is_searched_for_in_the_profile_that_it_names(self, root: Path) -> None:
        done = run("--home", str(root), "search", "@session:work/20260601_090000_111111.", "--json")
        found = json.loads(done.stdout)
        assert [(hit["id"], hit["tier"]) for hit in found["hits"]] == [("20260601_090000_111111", "target")]
        assert found["meta"]["profiles"] == ["work"]

    @pytest.mark.parametrize("link", ["@session:", "@session:ghost/x", "@session:default/no", "`@session:nosuch`."])
    def test_a_search_for_a_link_to_nowhere_finds_nothing_and_says_so(self, root: Path, link: str) -> None:
        done = run("--home", str(root), "search", link)
        assert done.returncode == 1
        assert "no matches" in done.stdout
        assert "leads nowhere" in done.stdout or "names no session" in done.stdout

    @pytest.mark.parametrize("link", ["@session:", "@session:ghost/x", "@session:../work/x", "@session:Bad Name/x"])
    def test_a_link_to_nowhere_is_an_error_and_no_fallback(self, root: Path, link: str) -> None:
        one_line_error(run("--home", str(root), "show", link), 1)


class TestStreams:
    def test_without_a_terminal_the_screen_refuses(self, home: Path) -> None:
        for argv in ([], ["open", ID], [f"@session:default/{ID}"], ["search", "x", "--tui"]):
            one_line_error(run("--home", str(home), *argv), 2, "terminal")

    @pytest.mark.parametrize("json_too", [False, True])
    def test_a_closed_pipe_ends_quietly(self, tmp_path: Path, json_too: bool) -> None:
        with StoreBuilder(tmp_path / "state.db", journal="delete") as store:
            for number in range(3_000):
                store.session(f"s{number}", title=f"Conversation {number} {'x' * 80}")
                store.message(f"s{number}", "user", "x")
        argv = [*COMMAND, "--home", str(tmp_path), "list", *(["--json"] if json_too else [])]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait(60) == 0

    def test_closed_streams_are_no_traceback(self, home: Path) -> None:
        for redirection in (">&-", "2>&-", ">&- 2>&-", "<&-"):
            line = f'"$0" -m hermes_tui --home "$1" list {redirection}'
            done = subprocess.run(
                ["sh", "-c", line, sys.executable, str(home)], capture_output=True, text=True, check=False
            )
            assert "Traceback" not in done.stderr
            assert done.returncode == 0

    @pytest.mark.skipif(os.name == "nt", reason="a directory in use cannot be removed there")
    def test_a_directory_that_is_gone_is_no_traceback(self, home: Path, tmp_path: Path) -> None:
        for argv, code in ((["--home", str(home)], 0), (["--db", "state.db"], 3), (["--home", "."], 3)):
            line = 'mkdir "$0" && cd "$0" && rmdir "$0" && exec "$@"'
            done = subprocess.run(
                ["sh", "-c", line, str(tmp_path / "gone"), *COMMAND, *argv, "list"],
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == code, done.stderr
            assert done.stderr.count("\n") == (code != 0)

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
    def test_a_full_disk_is_one_line(self, home: Path) -> None:
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [*COMMAND, "--home", str(home), "list"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1

    def test_json_is_utf_8_whatever_the_locale(self, home: Path) -> None:
        env = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
        conn = sqlite3.connect(home / "state.db")
        conn.execute("update sessions set title = '部署 🚀' where id = ?", (ID,))
        conn.commit()
        conn.close()
        for argv in (["list", "--json"], ["list"]):
            done = subprocess.run([*COMMAND, "--home", str(home), *argv], env=env, capture_output=True, check=False)
            assert done.returncode == 0, done.stderr
            if "--json" in argv:
                assert "部署 🚀" in done.stdout.decode()

    def test_no_escape_codes_in_a_pipe(self, home: Path) -> None:
        env = {"FORCE_COLOR": "1", "CLICOLOR_FORCE": "1", "TERM": "xterm-256color"}
        for argv in (["list"], ["show", ID], ["tree", ID], ["doctor"], ["profiles"]):
            assert "\x1b" not in run("--home", str(home), *argv, env=env).stdout

    def test_no_command_without_a_screen_imports_textual(self, home: Path) -> None:
        """Only what a command needs: start-up time is a feature."""
        code = (
            "import sys\nfrom hermes_tui.cli import main\nmain(sys.argv[1:])\n"
            "heavy = {'textual', 'rich.console', 'pygments', 'yaml', 'pyperclip', 'shtab', 'argparse', 'tomllib',"
            " 'platformdirs', 'markdown_it', 'importlib.metadata', 'asyncio', 'dataclasses', 'inspect', 'ssl',"
            " 'hashlib'}\n"
            "heavy &= set(sys.modules)\n"
            "print('heavy:', sorted(heavy), file=sys.stderr)"
        )
        for argv in (
            ["list", "--json"],
            ["show", ID],
            ["tree", ID],
            ["link", ID],
            ["profiles"],
            ["search", "walnut"],
            ["search", "source:cli", "nothingofthekind"],
        ):
            done = subprocess.run(
                [sys.executable, "-c", code, "--home", str(home), *argv], capture_output=True, text=True, check=False
            )
            assert done.stderr.splitlines()[-1] == "heavy: []", argv


@pytest.fixture
def locked(home: Path) -> Iterator[Path]:
    """Another process holds the store, so that every question waits."""
    holder = sqlite3.connect(home / "state.db", isolation_level=None)
    holder.execute("begin exclusive")
    yield home
    holder.close()


_ENDLESS = """
import sys
from hermes_tui.service import reader
attempt = reader.Reader._attempt
def endless(store):
    open(sys.argv[1], "w").close()
    sql = "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n"
    return store.conn.execute(sql).fetchone()
def instead(self, job, stores):
    job.work = endless
    return attempt(self, job, stores)
reader.Reader._attempt = instead
from hermes_tui.cli import main
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
class TestSignals:
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    @pytest.mark.parametrize(
        "argv", [["list"], ["search", "walnut"], ["show", ID], ["tree", ID], ["resume", "--print", ID], ["doctor"]]
    )
    def test_in_the_middle_of_a_query_too(
        self, home: Path, tmp_path: Path, argv: list[str], number: signal.Signals
    ) -> None:
        mark = tmp_path / "reads"
        command = [sys.executable, "-c", _ENDLESS, str(mark), "--home", str(home), *argv]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            end = time.monotonic() + 60
            while not mark.exists() and process.poll() is None and time.monotonic() < end:
                time.sleep(0.01)
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
        assert mark.exists()
        assert process.returncode == 128 + number
        assert (out, err) == (b"", b"")

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    def test_a_signal_ends_it_quietly_with_its_code(self, locked: Path, number: signal.Signals) -> None:
        with subprocess.Popen(
            [*COMMAND, "--home", str(locked), "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            wait_until_it_reads(process.pid, locked / "state.db")
            process.send_signal(number)
            out, err = process.communicate(timeout=20)
        assert process.returncode == 128 + number
        assert (out, err) == (b"", b"")

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    def test_a_signal_that_comes_while_a_class_is_made_too(
        self, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
    ) -> None:
        class Field:
            def __set_name__(self, owner: type, name: str) -> None:
                signal.raise_signal(number)

        def reading(argv: list[str]) -> int:
            type("Made", (), {"field": Field()})
            return 0

        monkeypatch.setattr(cli, "_main", reading)
        assert cli.main([]) == 128 + number

    def test_what_nohup_ignores_stays_ignored(self, locked: Path) -> None:
        line = f'trap "" HUP; exec "{sys.executable}" -m hermes_tui --home "$0" list'
        with subprocess.Popen(["sh", "-c", line, str(locked)], stderr=subprocess.PIPE) as process:
            wait_until_it_reads(process.pid, locked / "state.db")
            process.send_signal(signal.SIGHUP)
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 128 + signal.SIGTERM

    def test_a_store_that_stays_locked_is_busy_after_a_while(self, locked: Path) -> None:
        one_line_error(run("--home", str(locked), "list"), 3, "busy", str(locked / "state.db"))

    def test_doctor_says_so_and_looks_at_what_is_around_it(self, locked: Path) -> None:
        done = run("--home", str(locked), "doctor")
        assert done.returncode == 3
        assert re.search(r"^error +database +\S.*/state\.db is busy", done.stdout, re.MULTILINE)
        assert "busy" in done.stderr


def test_a_profile_that_stays_locked_is_named_whatever_else_is_found(tmp_path: Path) -> None:  # R40
    for name, home in (("default", tmp_path), ("work", tmp_path / "profiles/work")):
        with StoreBuilder(home / "state.db", journal="delete") as store:
            store.session(f"of-{name}")
            store.message(f"of-{name}", "user", "hello")
    holder = sqlite3.connect(tmp_path / "profiles/work/state.db", isolation_level=None)
    holder.execute("begin exclusive")
    try:
        found = run("--home", str(tmp_path), "--all-profiles", "show", "of-default", "--json")
        missed = run("--home", str(tmp_path), "--all-profiles", "link", "of-work")
    finally:
        holder.close()
    assert found.returncode == 0
    assert [each["profile"] for each in json.loads(found.stdout)["meta"]["errors"]] == ["work"]
    assert "busy" in found.stderr
    assert missed.returncode == 1
    assert "No session" in missed.stderr
    assert "busy" in missed.stderr


def wait_until_it_reads(pid: int, db: Path) -> None:
    """Until that process has the database open (Linux), or has had the time to."""
    folder = Path(f"/proc/{pid}/fd")
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if not folder.exists():
            time.sleep(1.0)
            return
        try:
            if any(os.path.realpath(each) == str(db.resolve()) for each in folder.iterdir()):
                return
        except OSError:
            pass
        time.sleep(0.01)
    raise AssertionError("it never opened the store")


class TestDemo:
    def test_the_demo_needs_no_store_and_leaves_nothing(self, tmp_path: Path) -> None:
        env = {"TMPDIR": str(tmp_path), "HERMES_HOME": str(tmp_path / "absent"), "HERMES_TUI_NOW": "2026-11-30T12:00"}
        done = run("--demo", "list", "--json", env=env)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["meta"]["total"] > 30
        assert tree(tmp_path) == []

    def test_what_a_search_leaves_out_and_what_it_searches_are_all_that_the_list_holds(self, tmp_path: Path) -> None:
        folder = str(tmp_path / "demo")
        total = json.loads(run("--demo-dir", folder, "list", "--all", "--json").stdout)["meta"]["total"]
        said = run("--demo-dir", folder, "search", "token").stdout
        searched = re.search(r"(\d+) conversations searched", said)
        left = re.search(r"Left out: (.*), 4 delegate runs \(source: asks for them\)\.", said)
        assert searched, said
        assert left, said
        assert int(searched[1]) + sum(map(int, re.findall(r"\d+", left[1]))) == total

    def test_a_user_without_a_home_has_it_too(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        assert cli.main(["--demo-dir", "~nobody-is-called-so/x", "list", "--limit", "1"]) == 0
        assert (tmp_path / "~nobody-is-called-so" / "x" / "state.db").exists()

    def test_demo_dir_keeps_it(self, tmp_path: Path) -> None:
        folder = tmp_path / "demo"
        first = run("--demo-dir", str(folder), "list", "--json")
        assert (folder / "state.db").exists()
        again = run("--demo", "--demo-dir", str(folder), "list", "--json")
        assert json.loads(first.stdout)["conversations"] == json.loads(again.stdout)["conversations"]

    def test_a_folder_with_something_else_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "mine.txt").write_text("x")
        one_line_error(run("--demo-dir", str(tmp_path), "list"), 2, str(tmp_path))

    def test_it_explains_that_it_cannot_be_resumed(self) -> None:
        one_line_error(run("--demo", "resume", "latest"), 1, "demo")
        done = run("--demo", "resume", "latest", "--json")
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        found = json.loads(done.stdout)
        assert found["resume"] is None
        assert ["demo" in each["error"] for each in found["meta"]["errors"]] == [True]

    @pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
    def test_a_signal_removes_it_too(self, tmp_path: Path) -> None:
        env = {**os.environ, "TMPDIR": str(tmp_path)}
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        filled = 0
        try:
            while True:
                filled += os.write(writing, b"x" * 65_536)
        except BlockingIOError:
            os.set_blocking(writing, True)  # the pipe is full: whoever writes next waits
        with subprocess.Popen([*COMMAND, "--demo", "list"], env=env, stdout=writing) as process:
            deadline = time.monotonic() + 20
            while not list(tmp_path.glob("*/runtime/*.json")) and time.monotonic() < deadline:
                time.sleep(0.01)
            process.terminate()
            assert process.wait(20) == 128 + signal.SIGTERM
        os.close(reading)
        os.close(writing)
        assert filled
        assert tree(tmp_path) == []


@pytest.mark.skipif(os.name == "nt", reason="a stub that is a script")
class TestResumeRuns:
    def test_it_becomes_hermes_and_passes_on_its_code(self, home: Path, tmp_path: Path) -> None:
        stub = tmp_path / "bin" / "hermes"
        stub.parent.mkdir()
        stub.write_text('#!/bin/sh\necho "$HERMES_HOME|$PWD|$@"\nexit 9\n')
        stub.chmod(0o755)
        env = {"PATH": f"{stub.parent}{os.pathsep}{os.environ['PATH']}", "HERMES_SESSION_SOURCE": "cron"}
        done = run("--home", str(home), "resume", "Refactoring auth", env=env, cwd=tmp_path)
        assert done.returncode == 9
        assert done.stdout == f"{home}|{tmp_path}|-p default --resume {ID}\n"

    def test_without_hermes_there_is_the_command_to_copy(self, home: Path) -> None:
        done = run("--home", str(home), "resume", ID, env={"PATH": "/nonexistent"})
        one_line_error(done, 1, "hermes is not on PATH", f"hermes -p default --resume {ID}")
