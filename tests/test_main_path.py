"""The main job on stores that Hermes itself wrote, in all four schemas, through the command line: what was planted
where is found there, and list, transcript, tree and resume agree with it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from hermes_tui.cli import main
from tests.real_stores import LATEST
from tests.terminals import Hermes

NOWHERE = ("rewoundling", "scaffoldium", "reasonarium")
"""Undone, hidden, or reasoning: not found by a search at all."""
ON_REQUEST = {"kanbazorb": "source:kanban,tool,subagent", "delegatine": "source:subagent"}
"""In sources that are left out unless they are asked for."""
EVERYWHERE = (
    *("archivox", "argzilla", "branchberry", "branchonly", "brindlewick", "cafélatté", "compactonyx", "cronolith"),
    *("cronshared", "hiddenquill", "inheritine", "pinnaclette", "quokkaflux", "resetpredecessor"),
    *("resetsuccessor", "shallowtool", "steerfish", "zephyrine"),
)


class Cli:
    """The command line over one home, its answers as JSON."""

    def __init__(self, home: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.home, self._capture = home, capture
        self.manifest = json.loads((home / "gen-manifest.json").read_text("utf-8"))

    def __call__(self, *argv: str, code: int = 0) -> dict[str, Any]:
        given = main([argv[0], "--home", str(self.home), "--json", *argv[1:]])
        out, err = self._capture.readouterr()
        assert given == code, err or out
        return dict(json.loads(out))

    def search(self, *words: str, code: int = 0) -> list[dict[str, Any]]:
        return list(self("search", *words, code=code)["hits"])

    def planted(self, word: str) -> set[tuple[str, int]]:
        return {(session, message) for session, message in self.manifest["needles"].get(word, [])}

    def shape(self, name: str) -> list[str]:
        return list(self.manifest["shapes"][name])


@pytest.fixture
def cli(real_home: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(real_home, capsys)


def where(hits: list[dict[str, Any]]) -> set[tuple[str, int]]:
    return {(hit["session_id"], hit["message_id"]) for hit in hits}


@pytest.mark.parametrize("word", EVERYWHERE)
def test_a_planted_word_leads_to_its_message(cli: Cli, word: str) -> None:
    planted = cli.planted(word)
    if not planted:
        pytest.skip("this release cannot store that kind of message")
    hits = cli.search(word)
    counted = Counter(session for session, _ in planted)
    copied = set(cli.shape("branch")) if word == "branchberry" else set()
    assert {hit["session_id"] for hit in hits} == set(counted) | copied
    for hit in hits:
        if hit["session_id"] in counted:
            assert (hit["session_id"], hit["message_id"]) in planted
            assert hit["matches"] == counted[hit["session_id"]]
        plain = hit["snippet"].replace(">>>", "").replace("<<<", "")
        assert {plain[start:end].casefold() for start, end in hit["spans"]} == {word}


def test_a_word_that_stands_alone_comes_before_one_inside_a_run(cli: Cli) -> None:
    """`youer` is a word in one message and glued to Chinese in another: as a word it is found, glued on request."""
    ((session, message),) = cli.planted("youer")
    assert [hit["session_id"] for hit in cli.search("youer")] == [session]
    assert where(cli.search("修改youer")) == {(session, message)}


def test_a_word_inside_longer_ones_is_found_too(cli: Cli) -> None:
    assert where(cli.search("hugeline", "--scan")) <= cli.planted("hugeline")


@pytest.mark.parametrize("word", NOWHERE)
def test_what_no_reader_may_see_is_not_found(cli: Cli, word: str) -> None:
    assert cli.search(word, code=1) == []


@pytest.mark.parametrize("word", ON_REQUEST)
def test_some_sources_are_searched_on_request(cli: Cli, word: str) -> None:
    unasked = cli("search", word, code=1)
    assert unasked["hits"] == []
    assert unasked["meta"]["notices"]
    assert where(cli.search(word, ON_REQUEST[word])) <= cli.planted(word)
    if word == "kanbazorb":  # a helper's run counts for the conversation that started it, which is none
        assert where(cli.search(word, "is:automation")) <= cli.planted(word)


def test_tool_output_beyond_the_index_is_found_by_scanning(cli: Cli, release: str) -> None:
    if release == LATEST:
        answer = cli("search", "deeptoolite", code=1)
        assert any("8 KB" in notice for notice in answer["meta"]["notices"])
    assert where(cli.search("deeptoolite", "--scan")) == cli.planted("deeptoolite")
    assert where(cli.search("deeptoolite", "role:tool")) == cli.planted("deeptoolite")


def test_a_copy_leads_to_the_one_that_is_shown(cli: Cli) -> None:
    """Compaction in place re-inserts the tail: the copy that is shown has another id than the one planted."""
    (hit,) = cli.search("carryover")
    shown = cli("show", hit["session_id"])["messages"]
    holding = [message["id"] for message in shown if "carryover" in message["content"]]
    assert hit["message_id"] in holding
    assert hit["matches"] == len(holding)


def test_a_phrase_is_one(cli: Cli) -> None:
    (hit,) = cli.search('"brindlewick harbour"')
    assert (hit["session_id"], hit["message_id"]) == tuple(cli.manifest["needles"]["brindlewick"][0])
    assert len(cli.search("brindlewick harbour")) == 2


def test_the_list_is_every_conversation_once(cli: Cli) -> None:
    answer = cli("list", "--all")
    rows = {row["id"]: row for row in answer["conversations"]}
    assert answer["meta"]["total"] == len(rows)
    segments = [segment for row in rows.values() for segment in row["segment_ids"]]
    assert len(segments) == len(set(segments))
    for name in ("chain2", "chain3", "chain4", "chain5", "chain6"):
        chain = cli.shape(name)
        assert rows[chain[-1]]["segment_ids"] == chain
        assert rows[chain[-1]]["root_id"] == chain[0]
    alone = [
        *cli.shape("branch"),
        *cli.shape("reset"),
        *cli.shape("chain5:stale"),
        *cli.shape("chain3:branch-of-root"),
    ]
    assert all(rows[each]["segment_ids"] == [each] for each in alone)
    parent, *helpers = cli.shape("delegate")
    assert parent in rows
    assert not set(helpers) & set(segments)
    assert rows[cli.shape("empty")[0]]["status"] == "empty"


def test_the_list_says_what_it_leaves_out(cli: Cli) -> None:
    shown, everything = cli("list"), cli("list", "--all")
    hidden = shown["meta"]["hidden"]
    assert set(hidden) == {"automation", "archived", "hidden", "empty"}
    assert shown["meta"]["total"] + sum(hidden.values()) == everything["meta"]["total"]
    left_out = {row["id"] for row in everything["conversations"]} - {row["id"] for row in shown["conversations"]}
    assert {*cli.shape("cronneedles"), *cli.shape("kanban"), *cli.shape("tool"), *cli.shape("empty")} <= left_out
    ordered = [row["last_active"] for row in shown["conversations"]]
    assert ordered == sorted(ordered, reverse=True)


def test_counts_of_the_list_are_those_of_the_transcripts(cli: Cli) -> None:
    for name in ("chain3", "chain5", "inplace", "rewind", "nasty", "reset"):
        row = next(row for row in cli("list", "--all")["conversations"] if row["id"] == cli.shape(name)[-1])
        assert row["message_count"] == len(cli("show", row["id"])["messages"])


@pytest.mark.parametrize("name", ["chain2", "chain3", "chain4", "chain5", "chain6"])
def test_a_chain_reads_from_root_to_tip(cli: Cli, name: str) -> None:
    chain = cli.shape(name)
    for asked in (chain[0], chain[-1]):
        messages = cli("show", asked)["messages"]
        assert {message["session_id"] for message in messages} == set(chain)
        text = "\n".join(message["content"] for message in messages)
        marks = [text.index(f"segment{name}part{part}") for part in range(1, len(chain) + 1)]
        assert marks == sorted(marks)


def test_what_was_undone_is_not_read(cli: Cli) -> None:
    text = json.dumps(cli("show", cli.shape("rewind")[0]))
    assert "rewoundling" not in text
    assert "Do not delete anything" in text or not cli.planted("rewoundling")
    nasty = json.dumps(cli("show", cli.shape("nasty")[0]))
    assert "scaffoldium" not in nasty
    assert "reasonarium" in nasty
    assert "compactonyx" in json.dumps(cli("show", cli.shape("inplace")[0]))


def test_a_transcript_opens_around_a_message(cli: Cli) -> None:
    ((session, message),) = cli.planted("quokkaflux")
    answer = cli("show", session, "--around", str(message), "--window", "2")
    assert [each["id"] for each in answer["messages"] if each["is_anchor"]] == [message]
    whole = cli("show", session)["messages"]
    meta = answer["meta"]
    assert meta["before"] + len(answer["messages"]) + meta["after"] == len(whole)


def test_the_tree_shows_how_sessions_descend(cli: Cli) -> None:
    chain, (stale,) = cli.shape("chain5"), cli.shape("chain5:stale")
    nodes = {node["id"]: node for node in cli("tree", chain[2])["nodes"]}
    assert set(nodes) == {*chain, stale}
    assert [nodes[each]["kind"] for each in chain] == ["root", *["segment"] * 4]
    assert nodes[stale]["kind"] == "sibling"
    assert [node["id"] for node in nodes.values() if node["is_current"]] == [chain[2]]
    assert nodes[chain[-1]]["is_tip"]
    for name, kinds in (
        ("branch", ["root", "branch"]),
        ("delegate", ["root", "delegate", "delegate"]),
        ("reset", ["root", "reset", "reset"]),
    ):
        family = {node["id"]: node["kind"] for node in cli("tree", cli.shape(name)[0])["nodes"]}
        assert [family[each] for each in cli.shape(name)] == kinds


@pytest.mark.parametrize("name", ["chain2", "chain3", "chain4", "chain5", "chain6"])
def test_resuming_any_segment_continues_the_tip(cli: Cli, name: str) -> None:
    chain = cli.shape(name)
    for asked in chain:
        plan = cli("resume", asked, "--print")["resume"]
        assert plan["argv"] == ["hermes", "-p", "default", "--resume", chain[-1]]
        assert (plan["target_id"], plan["requested_id"]) == (chain[-1], asked)
        assert plan["env"] == {"HERMES_HOME": str(cli.home)}


def test_resets_and_branches_are_resumed_themselves(cli: Cli) -> None:
    for each in (*cli.shape("reset"), *cli.shape("branch"), *cli.shape("chain5:stale"), *cli.shape("delegate")):
        assert cli("resume", each, "--print")["resume"]["argv"][-1] == each


def test_a_link_leads_back(cli: Cli) -> None:
    for row in cli("list")["conversations"][:5]:
        assert row["link"] == f"@session:default/{row['id']}"
        assert cli("show", row["link"])["conversation"]["id"] == row["id"]
        assert cli.search(row["link"])[0]["tier"] == "target"


def test_the_doctor_adds_it_up(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in Hermes(tmp_path).environment().items():
        monkeypatch.setenv(name, value)
    checks = {check["name"]: check for check in cli("doctor")["checks"]}
    assert {check["state"] for check in checks.values()} <= {"ok"}
    assert any(f"{cli.manifest['sessions']}" in check["detail"] for check in checks.values())
