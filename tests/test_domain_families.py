"""Chains: what a session is to its parent, which child a conversation goes on with, what belongs to whom."""

from __future__ import annotations

import random
from typing import Any

import pytest

from hermes_tui.domain.families import RESET_REASONS, Catalogue, build_chains, edge
from hermes_tui.domain.sessions import Kind, Segment


def segment(id: str, parent: str | None = None, **columns: Any) -> Segment:
    at = columns.pop("at", 100.0)
    plain = Segment(
        id=id,
        source="cli",
        parent_id=parent,
        started_at=at,
        ended_at=None,
        end_reason=None,
        title=None,
        display_name=None,
        model=None,
        provider=None,
        cwd=None,
        git_branch=None,
        git_repo_root=None,
        message_count=2,
        tool_call_count=0,
        input_tokens=10,
        output_tokens=5,
        cost_usd=None,
        pinned=False,
        archived=False,
        hidden=False,
        last_active=at,
        empty=False,
        session_key=None,
        branched_from=None,
        delegate_from=None,
        reset_from=None,
    )
    return plain._replace(**columns)


def compressed(id: str, parent: str | None = None, **columns: Any) -> Segment:
    return segment(id, parent, **{"end_reason": "compression", "ended_at": 200.0, **columns})


def chains(*segments: Segment, **options: Any) -> dict[tuple[str, ...], Kind]:
    """Ids of each chain → what it is to its parent; in any order of rows."""
    rows = list(segments)
    random.Random(len(rows)).shuffle(rows)
    built = list(build_chains(rows, **options))
    assert sorted(each.id for chain in built for each in chain.segments) == sorted(each.id for each in segments)
    return {tuple(each.id for each in chain.segments): chain.kind for chain in built}


@pytest.mark.parametrize(
    ("child", "parent", "kind"),
    [
        pytest.param({}, {"end_reason": "compression"}, Kind.SEGMENT, id="compression"),
        pytest.param({}, {}, Kind.DELEGATE, id="unmarked child of a running session"),
        pytest.param({}, {"end_reason": "user_exit", "ended_at": 90.0}, Kind.DELEGATE, id="unmarked child"),
        pytest.param({"source": "tool"}, {"end_reason": "compression"}, Kind.DELEGATE, id="a tool's own session"),
        pytest.param({"source": "subagent"}, {"end_reason": "compression"}, Kind.DELEGATE, id="unmarked helper"),
        pytest.param(
            {"source": "subagent"},
            {"source": "subagent", "end_reason": "compression"},
            Kind.SEGMENT,
            id="a helper's own continuation",
        ),
        pytest.param({"delegate_from": "p"}, {"end_reason": "compression"}, Kind.DELEGATE, id="marked delegate"),
        pytest.param({"delegate_from": "x"}, {"end_reason": "compression"}, Kind.SEGMENT, id="inherited delegate"),
        pytest.param({"delegate_from": "x"}, {}, Kind.DELEGATE, id="delegate, marker names another"),
        pytest.param({"branched_from": "p"}, {"end_reason": "compression"}, Kind.BRANCH, id="branch of a segment"),
        pytest.param({"branched_from": "x"}, {"end_reason": "compression"}, Kind.SEGMENT, id="inherited branch"),
        pytest.param({"branched_from": "x"}, {"end_reason": "user_exit"}, Kind.BRANCH, id="branch, any marker"),
        pytest.param({"at": 90.0}, {"end_reason": "branched", "ended_at": 80.0}, Kind.BRANCH, id="old branch"),
        pytest.param(
            {"at": 70.0}, {"end_reason": "branched", "ended_at": 80.0}, Kind.DELEGATE, id="before the branch"
        ),
        pytest.param({"reset_from": "p"}, {"end_reason": "session_reset"}, Kind.RESET, id="reset"),
        pytest.param({"reset_from": "p"}, {"end_reason": "compression"}, Kind.RESET, id="reset of a segment"),
        pytest.param({"reset_from": "x"}, {"end_reason": "compression"}, Kind.SEGMENT, id="inherited reset"),
        pytest.param(
            {"reset_from": "p", "branched_from": "x"},
            {"end_reason": "session_reset"},
            Kind.RESET,
            id="the marker that names the parent counts first",
        ),
        pytest.param({"session_key": "k"}, {"end_reason": "daily", "session_key": "k"}, Kind.RESET, id="same key"),
        pytest.param(
            {"session_key": "k"}, {"end_reason": "daily", "session_key": "j"}, Kind.DELEGATE, id="other key"
        ),
        pytest.param({"session_key": ""}, {"end_reason": "daily", "session_key": ""}, Kind.DELEGATE, id="no key"),
        pytest.param(
            {"session_key": "k"}, {"end_reason": "user_exit", "session_key": "k"}, Kind.DELEGATE, id="no reset"
        ),
        pytest.param({"delegate_from": "__orphaned__"}, {}, Kind.ORPHAN, id="orphaned delegate"),
    ],
)
def test_what_a_session_is_to_its_parent(child: dict[str, Any], parent: dict[str, Any], kind: Kind) -> None:
    assert edge(segment("c", "p", **child), segment("p", **parent)) is kind


@pytest.mark.parametrize("reason", sorted(RESET_REASONS))
def test_without_routing_keys_a_child_of_a_reset_is_its_reset(reason: str) -> None:
    child, parent = segment("c", "p"), segment("p", end_reason=reason)
    assert edge(child, parent, has_session_key=False) is Kind.RESET
    assert edge(child, parent) is Kind.DELEGATE


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        (segment("a"), Kind.ROOT),
        (segment("a", branched_from="gone"), Kind.ROOT),
        (segment("a", "gone"), Kind.ORPHAN),
        (segment("a", delegate_from="gone"), Kind.ORPHAN),
        (segment("a", delegate_from="__orphaned__"), Kind.ORPHAN),
    ],
)
def test_without_a_parent(row: Segment, kind: Kind) -> None:
    assert chains(row) == {("a",): kind}


def test_a_chain_goes_from_root_to_tip_whatever_the_order_of_rows() -> None:
    ids = [f"s{n:03}" for n in range(60)]
    rows = [compressed(id, ids[n - 1] if n else None) for n, id in enumerate(ids[:-1])]
    assert chains(*rows, segment(ids[-1], ids[-2])) == {tuple(ids): Kind.ROOT}


def test_a_line_of_ten_thousand_segments_is_one_chain() -> None:
    ids = [f"s{n:05}" for n in range(10_000)]
    rows = [compressed(id, ids[n - 1] if n else None) for n, id in enumerate(ids)]
    assert chains(*rows) == {tuple(ids): Kind.ROOT}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param({"end_reason": "compression", "ended_at": 1.0, "at": 1.0}, {"at": 99.0}, id="itself compressed"),
        pytest.param({"at": 1.0}, {"ended_at": 9.0, "end_reason": "ws_orphan_reap", "at": 99.0}, id="still running"),
        pytest.param({"at": 1.0, "last_active": 80.0}, {"at": 50.0, "last_active": 70.0}, id="more recent"),
        pytest.param({"at": 51.0, "last_active": 70.0}, {"at": 50.0, "last_active": 70.0}, id="started later"),
    ],
)
def test_of_several_continuations_one_wins_and_the_others_are_siblings(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    rows = (compressed("p"), segment("one", "p", **one), segment("other", "p", **other))
    assert chains(*rows) == {("p", "one"): Kind.ROOT, ("other",): Kind.SIBLING}


def test_equal_continuations_are_told_apart_by_id() -> None:
    rows = (compressed("p"), segment("b", "p"), segment("c", "p"), segment("a", "p"))
    assert chains(*rows) == {("p", "c"): Kind.ROOT, ("b",): Kind.SIBLING, ("a",): Kind.SIBLING}


def test_recency_is_asked_only_where_it_decides() -> None:
    asked: list[str] = []

    def freshest(row: Segment) -> float:
        asked.append(row.id)
        return {"b": 9.0, "c": 3.0}[row.id]

    rows = (compressed("p"), segment("b", "p"), segment("c", "p"), compressed("q"), segment("d", "q"))
    assert chains(*rows, freshest=freshest)[("p", "b")] is Kind.ROOT
    assert sorted(asked) == ["b", "c"]


def test_a_branch_a_helper_and_a_reset_never_take_over_a_chain() -> None:
    rows = (
        compressed("root"),
        segment("branch", "root", branched_from="root", at=900.0),
        segment("helper", "root", delegate_from="root", at=901.0),
        segment("tool", "root", source="tool", at=902.0),
        segment("reset", "root", reset_from="root", at=903.0),
        segment("tip", "root", at=300.0),
    )
    assert chains(*rows) == {
        ("root", "tip"): Kind.ROOT,
        ("branch",): Kind.BRANCH,
        ("helper",): Kind.DELEGATE,
        ("tool",): Kind.DELEGATE,
        ("reset",): Kind.RESET,
    }


def test_a_branch_and_a_helper_may_be_chains_themselves() -> None:
    rows = (
        segment("root"),
        compressed("branch", "root", branched_from="root"),
        segment("branch2", "branch", branched_from="root"),
        compressed("helper", "root", delegate_from="root", source="subagent"),
        segment("helper2", "helper", delegate_from="root", source="subagent"),
    )
    assert chains(*rows) == {
        ("root",): Kind.ROOT,
        ("branch", "branch2"): Kind.BRANCH,
        ("helper", "helper2"): Kind.DELEGATE,
    }


def test_a_loop_is_cut_at_its_oldest_session() -> None:
    rows = (compressed("a", "c", at=3.0), compressed("b", "a", at=1.0), compressed("c", "b", at=2.0))
    assert chains(*rows) == {("b", "c", "a"): Kind.ORPHAN}


def test_its_own_parent_and_a_loop_with_a_tail() -> None:
    rows = (segment("self", "self"), segment("x", "y", at=2.0), segment("y", "x", at=1.0), segment("tail", "x"))
    found = chains(*rows)
    assert found == {("self",): Kind.ORPHAN, ("y",): Kind.ORPHAN, ("x",): Kind.DELEGATE, ("tail",): Kind.DELEGATE}


def test_a_cut_session_does_not_push_the_true_continuation_aside() -> None:
    rows = (compressed("a", "b", at=1.0), compressed("b", "a", at=2.0), segment("c", "b", at=3.0))
    assert chains(*rows) == {("a", "b", "c"): Kind.ORPHAN}


@pytest.mark.parametrize("seed", range(30))
def test_any_tangle_of_rows_gives_every_session_exactly_once(seed: int) -> None:
    rng = random.Random(seed)
    ids = [f"s{n}" for n in range(rng.randrange(2, 40))]
    rows = []
    for id in ids:
        parent = rng.choice([None, rng.choice(ids), "gone"])
        marks = {
            name: rng.choice([None, None, rng.choice(ids), "__orphaned__"])
            for name in ("branched_from", "delegate_from", "reset_from")
        }
        reason = rng.choice(["compression", "compression", None, "branched", "session_reset"])
        source = rng.choice(["cli", "cli", "subagent", "tool"])
        at = rng.choice([None, rng.uniform(0, 9)])
        rows.append(segment(id, parent, end_reason=reason, source=source, started_at=at, **marks))
    catalogue = Catalogue.of(build_chains(rows), "default")
    assert set(catalogue.chains) == set(ids)
    shown = [id for conversation in catalogue.conversations for id in conversation.segment_ids]
    delegates = [
        each.id for chain in catalogue.all_chains() if chain.kind is Kind.DELEGATE for each in chain.segments
    ]
    assert sorted(shown + delegates) == sorted(ids)
    for id in delegates:
        owner = catalogue.owner(id)
        assert owner is not None
        assert owner[1]
        assert owner[0].kind is not Kind.DELEGATE
    for id in ids:
        assert catalogue.family_top(id).root.id in ids


def test_the_tip_speaks_the_root_began_and_numbers_are_summed() -> None:
    rows = (
        compressed(
            "a", at=1.0, title="Deck", tool_call_count=1, cost_usd=0.5, source="tui", archived=True, empty=True
        ),
        compressed("b", "a", at=2.0, message_count=3, cost_usd=None, input_tokens=7),
        segment("c", "b", at=3.0, message_count=4, cost_usd=0.25, source="cli", model="m", cwd="/w", pinned=True),
    )
    (conversation,) = Catalogue.of(build_chains(rows), "work").conversations
    assert conversation.key == ("work", "a")
    assert (conversation.id, conversation.segment_ids) == ("c", ("a", "b", "c"))
    assert (conversation.title, conversation.source, conversation.model) == ("Deck", "cli", "m")
    assert (conversation.started_at, conversation.last_active) == (1.0, 3.0)
    assert (conversation.stored_messages, conversation.tool_call_count) == (9, 1)
    assert (conversation.input_tokens, conversation.output_tokens, conversation.cost_usd) == (27, 15, 0.75)
    assert (conversation.pinned, conversation.archived, conversation.empty) == (True, False, False)
    assert conversation.workspace == "/w"


def test_the_tips_title_goes_before_the_roots() -> None:
    rows = (compressed("a", title="Deck"), segment("b", "a", title="Deck #2"))
    (conversation,) = Catalogue.of(build_chains(rows), "default").conversations
    assert conversation.title == "Deck #2"


def test_a_delegate_of_a_delegate_counts_for_whoever_began_it_all() -> None:
    rows = (
        compressed("root"),
        segment("tip", "root"),
        segment("helper", "tip", delegate_from="tip"),
        segment("deeper", "helper", delegate_from="helper"),
    )
    catalogue = Catalogue.of(build_chains(rows), "default")
    assert [each.id for each in catalogue.conversations] == ["tip"]
    owner = catalogue.owner("deeper")
    assert owner is not None
    assert (owner[0].id, owner[1]) == ("tip", True)
    alone = catalogue.holding("deeper")
    assert alone is not None
    assert (alone.segment_ids, alone.kind) == (("deeper",), Kind.DELEGATE)
    assert catalogue.owner("root") == (catalogue.conversations[0], False)


def test_sessions_are_found_by_the_beginning_of_their_id_or_title_also_after_a_change() -> None:
    segments = [segment("ab1", title="Deck #2"), segment("ab2", title="Deck"), segment("b", title=None)]
    catalogue = Catalogue.of(build_chains(segments), "default")
    assert [each.id for each in catalogue.called("ab")] == ["ab1", "ab2"]
    assert [each.id for each in catalogue.titled("Deck")] == ["ab2", "ab1"]
    assert catalogue.called("c") == catalogue.titled("deck") == []
    changed = catalogue.with_segments([segment("b", title="Deck at night")])
    assert [each.id for each in changed.titled("Deck")] == ["ab2", "ab1", "b"]
    assert [each.id for each in catalogue.titled("Deck")] == ["ab2", "ab1"]
