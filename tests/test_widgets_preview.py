"""The pane beside the list: facts, the last exchanges that fit, the link."""

from __future__ import annotations

import random

import pytest
from rich.cells import cell_len

from hermes_tui.domain.messages import Recap, RecapEntry
from hermes_tui.domain.sessions import Details, Provenance, Status
from hermes_tui.widgets.ink import Line, measure
from hermes_tui.widgets.preview import Previewed, packed, preview_view
from tests import values

ROW = values.CONVERSATIONS[0]


@pytest.fixture(autouse=True)
def _a_fixed_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_TUI_NOW", str(values.NOW))


def lines(shown: Previewed, width: int = 48, height: int = 34) -> list[Line]:
    return preview_view(shown)(width, height)


def said(shown: Previewed, width: int = 48, height: int = 34) -> str:
    return "\n".join(line.text for line in lines(shown, width, height))


def test_it_tells_what_how_much_when_and_where_from() -> None:
    origin = Provenance("telegram", "Mei", "ops (dm)", "4", "completed")
    text = said(Previewed(ROW, Details(None, 1_204, Status.COMPLETE), values.RECAP, origin, profile=True), 60)
    assert "default · cli · hermes-4-405b" in text
    assert "1,204 messages · 20k tokens · $0.21" in text
    assert "Mon 30 Nov 11:00 → Mon 30 Nov 11:30 UTC" in text
    assert "began in telegram · user Mei · chat ops (dm)" in text
    assert "thread 4" in text
    assert "handoff completed" in text
    assert "5 earlier messages" in text
    assert "▸ 1 call: terminal" in text
    assert text.rstrip().endswith("@session:default/20261130_110000_aaaaaa")


def test_the_last_answer_stands_whole_and_bright_and_what_comes_before_is_shortened() -> None:
    long = " ".join(f"word{i}" for i in range(60))
    recap = Recap((RecapEntry("user", long), RecapEntry("assistant", long)), 0)
    shown = lines(Previewed(ROW, None, recap))
    text = "\n".join(line.text for line in shown)
    assert text.count("word59") == 1
    assert text.count("word0 ") == 2
    bright = [line for line in shown if "word59" in line.text]
    assert {ink for part, ink in bright[0].left if part.strip()} == {"ink"}


@pytest.mark.parametrize("seed", range(20))
def test_as_many_entries_as_fit_never_more_and_never_an_event_first(seed: int) -> None:
    rng = random.Random(seed)
    whos = ["user", "assistant", "event"]
    entries = [RecapEntry(rng.choice(whos), f"entry{i} " * rng.randrange(1, 40)) for i in range(rng.randrange(1, 30))]
    entries[0] = RecapEntry("user", "entry0")
    height = rng.randrange(14, 50)
    shown = lines(Previewed(ROW, None, Recap(tuple(entries), 7)), 44, height)
    assert len(shown) == height
    text = "\n".join(line.text for line in shown)
    first = next(i for i in range(len(entries)) if f"entry{i} " in text + " " or f"entry{i}\n" in text)
    assert entries[first].who != "event"
    assert f"{7 + first} earlier messages" in text
    assert all(measure((*line.left, *line.right)) <= 44 for line in shown)


def test_the_marks_around_code_are_left_out() -> None:
    code = RecapEntry("user", "```py\nx = `1`\n```")
    recap = Recap((code, RecapEntry("assistant", "There:\n```dockerfile ...")), 0)
    text = said(Previewed(ROW, None, recap))
    assert "`" not in text
    assert "dockerfile" not in text
    assert "There:" in text
    assert "x = 1" in text


@pytest.mark.parametrize("rule", ["|---:|:---:|", "--- | ---", "| - |", "|---:|---|--...", "  |:--|"])
def test_what_parts_the_head_of_a_table_is_left_out(rule: str) -> None:
    recap = Recap((RecapEntry("user", "go"), RecapEntry("assistant", f"| ms | tab |\n{rule}\n| 12 | A |")), 0)
    text = said(Previewed(ROW, None, recap))
    assert "--" not in text
    assert ":-" not in text
    assert "| ms | tab |" in text
    assert "| 12 | A |" in text


@pytest.mark.parametrize("kept", ["---", "a | b", "- | is a pipe", "x |---| y"])
def test_what_only_looks_like_it_stays(kept: str) -> None:
    recap = Recap((RecapEntry("user", "go"), RecapEntry("assistant", f"before\n{kept}\nafter")), 0)
    assert kept in said(Previewed(ROW, None, recap))


def test_hostile_texts_are_shown_and_do_nothing() -> None:
    bad = "[/] \x1b[2J\x1b]0;x\x07 a\u202eb **b[old** `c\x9bode`\r\nnext\ttab"
    origin = Provenance(bad, bad, bad, bad, bad)
    row = ROW._replace(
        title=bad, cwd=bad, git_repo_root=None, git_branch=bad, model=bad, source=bad, segment_ids=(bad,)
    )
    recap = Recap(tuple(RecapEntry(who, bad, (bad,), 2) for who in ("user", "event", "[/]", "assistant")), 0)
    text = said(Previewed(row, None, recap, origin, profile=True))
    assert "[/] \ufffd[2J\ufffd]0;x\ufffd a\ufffdb" in text
    assert "b[old" in text
    assert not [char for char in text if char != "\n" and not char.isprintable()]


@pytest.mark.parametrize("height", range(1, 14))
def test_a_low_pane_still_names_the_conversation_and_keeps_to_its_height(height: int) -> None:
    shown = lines(Previewed(ROW, None, values.RECAP), 40, height)
    assert len(shown) <= height
    assert "OAuth refresh token race" in shown[0].text


def test_facts_break_between_facts_and_a_stretch_at_its_arrow() -> None:
    assert packed("a · b · c", 5, 4) == ["a · b", "c"]
    assert packed("Fri 18 Sep 04:48 → Fri 18 Sep 05:09 CEST", 35, 2) == [
        "Fri 18 Sep 04:48 →",
        "Fri 18 Sep 05:09 CEST",
    ]
    assert all(cell_len(each) <= 6 for each in packed("中文标题测试 · abcdefgh", 6, 4))


def test_a_giant_answer_costs_no_more_than_the_pane_shows() -> None:
    text = said(Previewed(ROW, None, Recap((RecapEntry("assistant", "lorem ipsum " * 2_000_000),), 0)))
    assert text.count("lorem") < 400


def test_nothing_said_and_not_read_yet_are_not_the_same() -> None:
    assert "nothing was said" in said(Previewed(ROW._replace(live=False), None, Recap((), 0)))
    assert "nothing was said" not in said(Previewed(ROW))
    assert "reading …" in said(Previewed(ROW, said="reading …"))
