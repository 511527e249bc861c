"""The tree of a family: a straight trunk, and what hangs off it."""

from __future__ import annotations

from hermes_tui.domain.families import Catalogue, build_chains
from hermes_tui.domain.lineage import build_lineage
from hermes_tui.domain.sessions import Kind, Segment, Status
from tests.test_domain_families import compressed, segment


def drawn(session_id: str, *rows: Segment) -> list[str]:
    """Each node as `  kind id`, indented by depth."""
    catalogue = Catalogue.of(build_chains(rows), "default")
    tree = build_lineage(catalogue, session_id, counts={}, statuses={})
    assert len({node.id for node in tree.nodes}) == len(tree.nodes)
    return [f"{'  ' * node.depth}{node.kind} {node.id}" for node in tree.nodes]


FAMILY = (
    compressed("a", at=1.0, title="Deck"),
    compressed("b", "a", at=2.0, title="Deck #2"),
    segment("c", "b", at=3.0, title="Deck #3", archived=True),
    segment("late", "b", at=2.5, end_reason="ws_orphan_reap", ended_at=2.6),
    segment("branch", "a", at=1.5, branched_from="a"),
    segment("helper", "a", at=1.2, delegate_from="a", source="subagent"),
    segment("deeper", "helper", at=1.3, delegate_from="helper", source="subagent"),
    segment("stranger", at=9.0),
)


def test_each_session_then_what_hangs_off_it_then_the_next_segment() -> None:
    assert drawn("c", *FAMILY) == [
        "root a",
        "  delegate helper",
        "    delegate deeper",
        "  branch branch",
        "segment b",
        "  sibling late",
        "segment c",
    ]


def test_the_family_is_the_same_from_wherever_one_looks() -> None:
    whole = drawn("c", *FAMILY)
    for row in FAMILY[:-1]:
        assert drawn(row.id, *FAMILY) == whole
    assert drawn("stranger", *FAMILY) == ["root stranger"]


def test_nodes_say_which_is_current_which_are_tips_and_what_was_counted() -> None:
    catalogue = Catalogue.of(build_chains(FAMILY), "work")
    tree = build_lineage(catalogue, "b", counts={"a": 40, "c": 12}, statuses={"c": Status.INTERRUPTED}, live={"c"})
    nodes = {node.id: node for node in tree.nodes}
    assert tree.profile == "work"
    assert [node.id for node in tree.nodes if node.is_current] == ["b"]
    assert {node.id for node in tree.nodes if node.is_tip} == {"c", "late", "branch", "helper", "deeper"}
    assert (nodes["a"].message_count, nodes["b"].message_count, nodes["c"].message_count) == (40, 2, 12)
    assert (nodes["c"].status, nodes["a"].status) == (Status.INTERRUPTED, Status.UNKNOWN)
    assert (nodes["c"].live, nodes["c"].archived, nodes["a"].live) == (True, True, False)
    assert (nodes["b"].segment, nodes["b"].root_id, nodes["b"].parent_id) == ((2, 3), "a", "a")
    assert (nodes["branch"].segment, nodes["branch"].root_id) == ((1, 1), "branch")


def test_a_missing_parent_and_loops_do_no_harm() -> None:
    assert drawn("x", segment("x", "gone"), segment("y", "x", delegate_from="x")) == ["orphan x", "  delegate y"]
    assert drawn("self", segment("self", "self")) == ["orphan self"]
    loop = (segment("a", "c", at=3.0), segment("b", "a", at=1.0), segment("c", "b", at=2.0))
    for row in loop:
        assert drawn(row.id, *loop) == ["orphan b", "  delegate c", "    delegate a"]


def test_ten_thousand_children_and_ten_thousand_generations() -> None:
    wide = [segment("p"), *(segment(f"c{n:05}", "p", at=float(n), delegate_from="p") for n in range(10_000))]
    lines = drawn("c00007", *wide)
    assert (len(lines), lines[1], lines[-1]) == (10_001, "  delegate c00000", "  delegate c09999")
    deep = [segment("g0"), *(segment(f"g{n}", f"g{n - 1}", branched_from=f"g{n - 1}") for n in range(1, 10_000))]
    catalogue = Catalogue.of(build_chains(deep), "default")
    tree = build_lineage(catalogue, "g9999", counts={}, statuses={})
    assert [node.depth for node in tree.nodes] == list(range(10_000))
    assert all(node.kind is Kind.BRANCH for node in tree.nodes[1:])


def test_a_session_with_an_empty_id_is_nobodys_parent() -> None:
    rows = (*FAMILY, segment("", at=8.0), segment("lost", delegate_from="gone", source="subagent", at=7.0))
    assert drawn("", *rows) == ["root "]
    assert drawn("c", *rows) == drawn("c", *FAMILY)
    catalogue = Catalogue.of(build_chains(rows), "default")
    owner = catalogue.owner("deeper")
    assert owner is not None
    assert owner[0].root_id == "a"
