"""The drawing of a family."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from hermes_tui.domain.lineage import Lineage, LineageNode, chain_names
from hermes_tui.domain.sessions import Details, Kind, Status
from hermes_tui.widgets.ink import measure
from hermes_tui.widgets.tree import (
    TreeStyle,
    ended_word,
    family_words,
    head_line,
    kind_cells,
    kind_word,
    row_line,
    started_word,
    states,
    tree_rows,
)
from tests import values

STYLE = TreeStyle()


def node(
    id: str,
    depth: int = 0,
    *,
    chain: str = "",
    segment: tuple[int, int] = (1, 1),
    kind: Kind = Kind.ROOT,
    **changes: object,
) -> LineageNode:
    """A session named like its id."""
    plain = LineageNode(
        id=id,
        parent_id=None,
        kind=kind,
        title=id,
        source="cli",
        model=None,
        started_at=values.NOW - 3_600,
        ended_at=None,
        end_reason=None,
        message_count=4,
        tokens=1_200,
        is_tip=segment[0] == segment[1],
        is_current=False,
        depth=depth,
        root_id=chain or id,
        segment=segment,
        archived=False,
        pinned=False,
        live=False,
        status=Status.COMPLETE,
    )
    return replace(plain, **changes)  # type: ignore[arg-type]  # the test names fields of the right kind


FAMILY = (
    node("auth", chain="auth", segment=(1, 3)),
    node("rfc", 1, kind=Kind.DELEGATE),
    node("callers", 1, kind=Kind.DELEGATE),
    node("auth2", chain="auth", segment=(2, 3), kind=Kind.SEGMENT),
    node("pkce", 1, chain="pkce", segment=(1, 2), kind=Kind.BRANCH),
    node("again", 2, kind=Kind.RESET),
    node("pkce2", 1, chain="pkce", segment=(2, 2), kind=Kind.SEGMENT),
    node("probe", 2, kind=Kind.DELEGATE),
    node("tests", 1, kind=Kind.DELEGATE),
    node("auth3", chain="auth", segment=(3, 3), kind=Kind.SEGMENT),
    node("wording", 1, kind=Kind.BRANCH),
    node("proof", 1, kind=Kind.DELEGATE),
)


def drawn(nodes: tuple[LineageNode, ...], folded: frozenset[str] = frozenset(), room: int = 60) -> list[str]:
    return [row.guide(room) + row.node.id for row in tree_rows(nodes, folded)]


def test_segments_are_a_straight_trunk_and_the_rest_hangs_off() -> None:
    assert drawn(FAMILY) == [
        "● auth",
        "├─ rfc",
        "├─ callers",
        "● auth2",
        "├─ pkce",
        "│  ├─ again",
        "│  ● pkce2",
        "│  └─ probe",
        "├─ tests",
        "● auth3",
        "├─ wording",
        "└─ proof",
    ]


def test_the_line_ends_with_the_last_that_hangs_off_it() -> None:
    family = (node("a"), node("b", 1), node("c", 2), node("d", 3), node("e", 2))
    assert drawn(family) == ["● a", "└─ b", "   ├─ c", "   │  └─ d", "   └─ e"]


def test_folding_hides_and_counts() -> None:
    rows = tree_rows(FAMILY, {"auth2", "auth3"})
    assert [row.node.id for row in rows] == ["auth", "rfc", "callers", "auth2", "auth3"]
    assert [row.holds for row in rows] == [2, 0, 0, 5, 2]
    assert "▸ 5 folded" in row_line(rows[3], 100, STYLE, on=False).text
    assert drawn(FAMILY, frozenset({"pkce"}))[4:7] == ["├─ pkce", "│  ● pkce2", "│  └─ probe"]


def test_a_deep_family_keeps_its_innermost_lines() -> None:
    family = tuple(node(f"n{i}", i) for i in range(500))
    row = tree_rows(family)[-1]
    assert row.guide(12) == "… " + "   " * 4 + "└─ "
    line = row_line(row, 60, STYLE, on=True)
    assert "n499" in line.text
    assert measure((*line.left, *line.right)) <= 60


def test_ten_thousand_children_are_rows_like_others() -> None:
    family = (node("root"), *(node(f"c{i}", 1, kind=Kind.DELEGATE) for i in range(10_000)))
    rows = tree_rows(family)
    assert len(rows) == 10_001
    assert rows[9_999].guide(40) == "├─ "
    assert rows[10_000].guide(40) == "└─ "
    assert len(tree_rows(family, {"root"})) == 1


@pytest.mark.parametrize("seed", range(40))
def test_lines_always_join(seed: int) -> None:
    """Under every `├` or `│` the next row goes on with the line, in any family."""
    rng = random.Random(seed)
    family = [node("n0")]
    for i in range(1, rng.randint(2, 60)):
        depth = rng.randint(1, family[-1].depth + 1)
        family.append(node(f"n{i}", depth))
    lines = drawn(tuple(family), room=400)
    for above, below in zip(lines, [*lines[1:], ""], strict=True):
        for x, char in enumerate(above):
            if char in "├│":
                assert x < len(below), lines
                assert below[x] in "├│└", "\n".join(lines)
            if char == "└":
                assert x >= len(below) or below[x] not in "├│└", "\n".join(lines)


def test_marks_are_words_after_the_title() -> None:
    tip = replace(FAMILY[9], is_current=True)
    line = row_line(tree_rows((FAMILY[0], tip))[1], 100, STYLE, on=False)
    assert "auth3  tip, here" in line.text
    failed = node("x", status=Status.ERROR, archived=True, live=True)
    inks = dict(row_line(tree_rows((failed,))[0], 100, STYLE, on=False).left)
    assert (inks["live"], inks["failed"], inks["archived"]) == ("good", "bad", "quiet")
    assert "tip" not in row_line(tree_rows((node("x"),))[0], 100, STYLE, on=False).text


@pytest.mark.parametrize("width", [24, 40, 59, 60, 89, 90, 160])
def test_states_and_columns_are_never_cut(width: int) -> None:
    long = node(
        "x", title="a title 部署 that is very much longer than any tree is wide " * 3, live=True, message_count=1_204
    )
    row = tree_rows((long,))[0]
    line = row_line(row, width, STYLE, on=True)
    assert measure((*line.left, *line.right)) <= width
    assert "live" in line.text
    assert measure((*head_line(width, TreeStyle()).left, *head_line(width, TreeStyle()).right)) <= width
    if width >= 60:
        assert "1,204" in line.text
    if width >= 90:
        assert "1k" in line.text


def test_hostile_titles_and_reasons_are_harmless() -> None:
    evil = node("x", title="[/] \x1b]0;pwned\x07 [red]hi", end_reason="\x1b[2J[/x]", source="\x9b")
    text = row_line(tree_rows((evil,))[0], 120, STYLE, on=False).text
    assert "[/]" in text
    assert not {"\x1b", "\x07", "\x9b"} & set(text)


def test_untitled_sessions_are_quoted_or_named_by_id() -> None:
    bare = node("20261130_111111_abcdef", title=None)
    assert "20261130_111111_abcdef" in row_line(tree_rows((bare,))[0], 100, STYLE, on=False).text
    style = TreeStyle({bare.root_id: Details("read the RFC", 3, Status.COMPLETE)})
    assert "“read the RFC”" in row_line(tree_rows((bare,))[0], 100, style, on=False).text


def test_segments_without_a_title_are_called_like_their_chain() -> None:
    first = node("s1", chain="s1", segment=(1, 2), title=None)
    last = node("s2", chain="s1", segment=(2, 2), kind=Kind.SEGMENT, title="War room #2")
    style = TreeStyle(names=chain_names((first, last)))
    assert [row_line(row, 100, style, on=False).text[3:14] for row in tree_rows((first, last))] == [
        "● War room ",
        "● War room ",
    ]


def test_kinds_and_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_TUI_NOW", str(values.NOW))
    assert [kind_word(each) for each in FAMILY[:5]] == ["segment 1", "delegate", "delegate", "segment 2", "branch"]
    assert kind_word(node("x")) == "root"
    assert started_word(values.NOW) == "30 Nov 12:00"
    assert started_word(values.NOW - 400 * 86_400) == "26 Oct 2025"
    assert started_word(None) == "?"
    assert started_word(values.NOW, day=True) == "30 Nov"
    assert started_word(values.NOW - 400 * 86_400, day=True) == "Oct 2025"


@pytest.mark.parametrize(
    ("width", "shown"), [(71, "● Fix Docker build on arm64  here, live"), (40, "● Fix Docker build…  here")]
)
def test_a_title_gets_the_room_that_the_kinds_and_the_times_of_day_leave(width: int, shown: str) -> None:
    alone = node("x", title="Fix Docker build on arm64", is_current=True, live=width > 60)
    (row,) = tree_rows([alone])
    assert shown in row_line(row, width, TreeStyle(kinds=kind_cells([alone])), on=True).text


def test_of_a_live_session_it_is_not_decided_how_it_ended() -> None:
    rows = tree_rows([replace(node("x"), live=True, status=Status.INTERRUPTED)])
    assert [word for word, _ in states(rows[0])][-1:] == ["live"]


def test_the_family_in_words() -> None:
    assert (
        family_words(Lineage("default", FAMILY))
        == "3 segments · 2 branches · 1 reset · 5 delegates · 1 further segment"
    )
    assert len(FAMILY) == 3 + 2 + 1 + 5 + 1
    assert family_words(Lineage("default", (node("x"),))) == "1 segment"


REASONS = """compression branched session_reset session_switch idle daily suspended resume_pending_expired new_session
resumed_other cli_close user_exit agent_close ws_orphan_reap superseded_by_resume startup_orphan_reap tui_close
tui_shutdown ws_disconnect idle_timeout lru_evict cron_complete cron_incomplete_no_output webhook_complete
acp_disconnect orphaned_compression superseded_by_repair adopted_by_profile onboarding_restart"""
"""All that Hermes 0.22.2 writes."""


def test_every_reason_that_hermes_gives_for_an_end_fits_its_column() -> None:
    assert all(1 <= len(ended_word(reason)) <= 9 for reason in REASONS.split())
    assert ended_word("a_new_reason") == "a new reason"
