"""The command line on stores that Hermes itself wrote, all four schemas, beside the generator's manifest."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hermes_tui.cli import main
from tests.test_cli_output import CONVERSATION, HIT, MESSAGE, META, NODE

pytestmark = pytest.mark.real

Ask = Callable[..., tuple[int, dict[str, Any]]]
NOWHERE = ("rewoundling", "scaffoldium", "reasonarium")
"""Undone, hidden, and thought: words that a search does not find."""
UNASKED = {"kanbazorb": ("kanban", "tool", "subagent"), "delegatine": ("subagent",)}
"""Words in sources that are left out unless they are asked for."""
WORDLESS = ("nastyblank", "nastyempty", "nastyemptylist", "nastyimageonly")
"""Names of rows that hold no text at all."""
GLUED = "youer"
"""Put inside a CJK run; filler holds it as a word, which is preferred."""
COPIED = "carryover"
"""Its rows are copies; the manifest names others than those that are shown."""
DEEP = ("deeptoolite", "hugeline")
"""Beyond what the index of schema 31 holds of a tool's output."""


@pytest.fixture
def ask(real_home: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Ask:
    """The command in this process, with `--json`: exit code and the one object."""

    def run(*argv: str) -> tuple[int, dict[str, Any]]:
        code = main(["--home", str(real_home), *argv, "--json"])
        out, _ = capfdbinary.readouterr()
        found: dict[str, Any] = json.loads(out) if out else {}
        return code, found

    return run


@pytest.fixture
def manifest(real_home: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((real_home / "gen-manifest.json").read_text("utf-8"))
    return found


def rows(ask: Ask, *argv: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ask("list", *argv)[1]["conversations"]
    return found


def test_every_chain_is_one_row_and_every_row_of_the_store_is_accounted_for(
    ask: Ask, manifest: dict[str, Any]
) -> None:
    code, found = ask("list", "--all")
    assert code == 0
    assert list(found["meta"]) == META
    assert all(list(row) == CONVERSATION for row in found["conversations"])
    chains = {tuple(row["segment_ids"]) for row in found["conversations"]}
    for name, ids in manifest["shapes"].items():
        if name in ("chain2", "chain3", "chain4", "chain5", "chain6"):
            assert tuple(ids) in chains, name
    delegates = next(each for each in ask("doctor")[1]["checks"] if each["name"] == "sessions")["detail"]
    assert f"= {manifest['sessions']} rows of sessions" in delegates


def test_hidden_rows_are_counted_and_the_counts_add_up(ask: Ask) -> None:
    shown, everything = ask("list")[1], ask("list", "--all")[1]
    assert shown["meta"]["total"] == len(shown["conversations"])
    assert shown["meta"]["total"] + sum(shown["meta"]["hidden"].values()) == everything["meta"]["total"]
    kept = {row["id"] for row in shown["conversations"]}
    assert kept <= {row["id"] for row in everything["conversations"]}
    assert all(row["source"] != "cron" for row in shown["conversations"])


def test_pages_of_a_list_are_the_list(ask: Ask) -> None:
    whole = [row["id"] for row in rows(ask, "--all")]
    paged = [
        row["id"] for at in range(0, len(whole), 7) for row in rows(ask, "--all", "--limit", "7", f"--offset={at}")
    ]
    assert paged == whole


def test_show_gives_as_many_messages_as_the_list_says(ask: Ask) -> None:
    for row in rows(ask, "--all"):
        code, found = ask("show", row["link"])
        assert code == 0
        assert found["conversation"] == row
        assert len(found["messages"]) == row["message_count"] == found["meta"]["total"]
        assert all(list(message) == MESSAGE for message in found["messages"])
        assert {message["session_id"] for message in found["messages"]} <= set(row["segment_ids"])


def test_tree_holds_every_segment_and_marks_tip_and_current(ask: Ask) -> None:
    for row in rows(ask, "--all"):
        code, found = ask("tree", row["id"])
        assert code == 0
        assert all(list(node) == NODE for node in found["nodes"])
        nodes = {node["id"]: node for node in found["nodes"]}
        assert set(row["segment_ids"]) <= nodes.keys()
        assert [node["id"] for node in found["nodes"] if node["is_current"]] == [row["id"]]
        assert nodes[row["id"]]["is_tip"]


def test_resume_goes_to_the_tip_from_every_segment(ask: Ask, real_home: Path) -> None:
    for row in rows(ask, "--all"):
        for segment in (row["segment_ids"][0], row["id"]):
            code, found = ask("resume", segment)
            assert code == 0
            plan = found["resume"]
            assert plan["argv"] == ["hermes", "-p", "default", "--resume", row["id"]]
            assert plan["env"] == {"HERMES_HOME": str(real_home)}
            assert plan["requested_id"] == segment


def owners(ask: Ask, session_ids: set[str]) -> set[str]:
    """The conversations that these sessions belong to, or whose delegates they are."""
    found = set()
    every = rows(ask, "--all")
    for session_id in session_ids:
        holding = [row["id"] for row in every if session_id in row["segment_ids"]]
        if not holding:
            family = {node["id"]: node for node in ask("tree", session_id)[1]["nodes"]}
            at: str | None = session_id
            while at in family and not holding:
                at = family[at]["parent_id"]
                holding = [row["id"] for row in every if at in row["segment_ids"]]
        found.update(holding)
    return found


def test_every_needle_is_found_where_it_was_put(ask: Ask, manifest: dict[str, Any]) -> None:
    for word, places in manifest["needles"].items():
        if word in (*NOWHERE, *UNASKED, *DEEP, *WORDLESS, COPIED):
            continue
        code, found = ask("search", word)
        assert code == 0, word
        assert all(list(hit) == HIT for hit in found["hits"])
        sessions = {session for session, _ in places}
        assert owners(ask, sessions) <= {hit["id"] for hit in found["hits"]}, word
        for hit in found["hits"]:
            here = [message for session, message in places if session == hit["session_id"]]
            alone = word in manifest["needle_notes"] and hit["matches"] == len(here)
            if alone and word != GLUED:  # the others stand in calls and in filler, too
                assert hit["message_id"] in here, word
            if hit["snippet"] is not None:
                assert ">>>" in hit["snippet"]
                plain = hit["snippet"].replace(">>>", "").replace("<<<", "")
                assert len(plain) <= 300
                assert all(0 <= start < end <= len(plain) for start, end in hit["spans"])


def test_what_nobody_said_is_not_found(ask: Ask, manifest: dict[str, Any]) -> None:
    for word in NOWHERE:
        code, found = ask("search", word)
        assert (code, found["hits"]) == (1, []), word


def test_sources_that_are_left_out_are_found_when_asked_for(ask: Ask, manifest: dict[str, Any]) -> None:
    for word, sources in UNASKED.items():
        options = [part for source in sources for part in ("--source", source)]
        code, found = ask("search", word, *options)
        assert code == 0, word
        assert {hit["session_id"] for hit in found["hits"]} <= {session for session, _ in manifest["needles"][word]}


@pytest.mark.parametrize("word", DEEP)
def test_deep_tool_output_needs_a_scan_on_the_new_layout(
    ask: Ask, manifest: dict[str, Any], release: str, word: str
) -> None:
    places = manifest["needles"][word]
    code, found = ask("search", word)
    assert code == (1 if release == "0.22.2" else 0)
    assert any("8 KB" in notice for notice in found["meta"]["notices"]) == (release == "0.22.2")
    code, found = ask("search", word, "--scan")
    assert code == 0
    assert found["hits"]
    assert all([hit["session_id"], hit["message_id"]] in places for hit in found["hits"])


@pytest.mark.parametrize("command", ["list", "show", "tree", "link", "profiles", "doctor"])
def test_text_is_text_on_every_schema(
    real_home: Path, capfdbinary: pytest.CaptureFixture[bytes], command: str
) -> None:
    main(["--home", str(real_home), "list", "--all", "--json"])
    every = json.loads(capfdbinary.readouterr()[0])["conversations"]
    targets = [row["id"] for row in every] if command in ("show", "tree", "link") else [""]
    for target in targets:
        code = main(["--home", str(real_home), command, *([target] if target else [])])
        out, err = capfdbinary.readouterr()
        assert code in (0, 1)
        assert err == b""
        assert out
        assert not set(out.decode()) & set("\x1b\x07\x08\r\u202e")


def test_nothing_was_written(ask: Ask, real_home: Path) -> None:
    """A read may leave SQLite's own empty sidecars, and nothing else."""
    before = {
        path.name: path.stat().st_mtime_ns for path in real_home.iterdir() if not path.name.endswith(("-shm", "-wal"))
    }
    ask("list", "--all")
    ask("doctor")
    after = {
        path.name: path.stat().st_mtime_ns for path in real_home.iterdir() if not path.name.endswith(("-shm", "-wal"))
    }
    assert before == after
