"""Copies stand once: which of them is shown, and where (SPEC 2)."""

from __future__ import annotations

import random
from collections.abc import Hashable, Mapping, Sequence

import pytest

from hermes_tui.domain.copies import Edge, Folds, Row, fold, repeated


def row(
    id: int, segment: int = 0, *, role: str = "user", at: float | None = 1.0, uid: str | None = None, **more: object
) -> Row:
    """A visible row; everything that is not said is like in every other."""
    columns = {"call_id": None, "tool_name": None, "active": True, **more}
    return Row(id=id, segment=segment, role=role, timestamp=at, uid=uid, **columns)  # type: ignore[arg-type]  # by name


class Texts:
    """What rows say, and which of them were asked about."""

    def __init__(self, said: Mapping[int, Hashable] | None = None) -> None:
        self.said = said
        self.asked: list[int] = []

    def __call__(self, ids: Sequence[int]) -> Mapping[int, Hashable]:
        self.asked += ids
        return {each: "the same" if self.said is None else self.said[each] for each in ids}


def shown(rows: Sequence[Row], folds: Folds) -> list[int]:
    """The transcript: rows in their order, copies once."""
    places = sorted((each for each in rows if each.id not in folds.gone), key=lambda each: each.place)
    return [folds.stand_in.get(each.id, each.id) for each in places]


def test_rows_that_differ_in_anything_cheap_are_not_even_looked_at() -> None:
    texts = Texts()
    rows = [
        row(1),
        row(2, role="assistant"),
        row(3, at=2.0),
        row(4, call_id="c"),
        row(5, tool_name="t"),
        row(6, at=None),
        row(7, at=None),
    ]
    assert shown(rows, fold(rows, texts)) == [1, 2, 3, 4, 5, 6, 7]
    assert texts.asked == []


def test_of_copies_the_newest_is_shown_where_the_first_stood() -> None:
    rows = [row(1, at=1.0), row(2, at=2.0), row(3, at=1.0), row(4, at=3.0)]
    folds = fold(rows, Texts())
    assert shown(rows, folds) == [3, 2, 4]
    assert folds.aliases == {1: 3}
    assert folds.firsts == {3: (0, 1)}
    assert folds.shown(1) == 3
    assert folds.shown(2) == 2


def test_the_active_one_goes_before_a_newer_one() -> None:
    rows = [row(1, active=False), row(2, active=True), row(3, active=False)]
    folds = fold(rows, Texts())
    assert shown(rows, folds) == [2]
    assert folds.aliases == {1: 2, 3: 2}


def test_texts_that_differ_are_no_copies() -> None:
    rows = [row(1), row(2), row(3)]
    folds = fold(rows, Texts({1: "a", 2: "b", 3: "a"}))
    assert shown(rows, folds) == [3, 2]


def test_one_uid_is_one_message_whatever_it_says() -> None:
    texts = Texts()
    rows = [row(1, at=1.0, uid="u", active=False), row(2, at=2.0), row(3, at=3.0, uid="u")]
    folds = fold(rows, texts)
    assert shown(rows, folds) == [3, 2]
    assert texts.asked == []


def test_different_uids_do_not_keep_equal_rows_apart() -> None:
    rows = [row(1, uid="u"), row(2, uid="v")]
    assert shown(rows, fold(rows, Texts())) == [2]


def test_uid_and_look_are_evidence_together() -> None:
    rows = [row(1, at=1.0, uid="u"), row(2, at=2.0, uid="u"), row(3, at=2.0, uid="w")]
    folds = fold(rows, Texts())
    assert shown(rows, folds) == [3]
    assert folds.aliases == {1: 3, 2: 3}


def test_copies_across_segments_stand_in_the_first_segment() -> None:
    rows = [row(1, 0, at=1.0), row(2, 0, at=2.0), row(3, 1, at=9.0), row(4, 1, at=2.0), row(5, 1, at=7.0)]
    folds = fold(rows, Texts())
    assert shown(rows, folds) == [1, 4, 3, 5]
    assert folds.gone_before((1, 3)) == 0
    assert folds.gone_before((1, 5)) == 1


def test_an_unreadable_text_is_no_evidence() -> None:
    rows = [row(1), row(2)]
    assert shown(rows, fold(rows, lambda ids: {1: "a"})) == [1, 2]


def test_a_hundred_thousand_messages_ask_only_for_the_few_that_may_be_copies() -> None:
    texts = Texts()
    rows = [row(number, at=float(number), uid=f"u{number}") for number in range(1, 100_001)]
    rows += [row(100_000 + number, at=float(number), uid=f"v{number}") for number in range(1, 6)]
    folds = fold(rows, texts)
    assert sorted(texts.asked) == [1, 2, 3, 4, 5, 100_001, 100_002, 100_003, 100_004, 100_005]
    assert len(folds.gone) == 5


@pytest.mark.parametrize("seed", range(20))
def test_folding_equals_a_plain_comparison_of_all_with_all(seed: int) -> None:
    rng = random.Random(seed)
    rows, said = [], {}
    for id in range(1, 40):
        rows.append(
            row(
                id,
                id // 14,
                role=rng.choice(["user", "assistant"]),
                at=rng.choice([1.0, 2.0, None]),
                uid=rng.choice([None, None, None, *"uvw"]),
                call_id=rng.choice([None, "c"]),
                active=rng.random() < 0.6,
            )
        )
        said[id] = rng.choice("ab")
    folds = fold(rows, Texts(said))

    def same(one: Row, other: Row) -> bool:
        if one.uid and one.uid == other.uid:
            return True
        look = (one.role, one.timestamp, one.call_id, said[one.id])
        return one.timestamp is not None and look == (other.role, other.timestamp, other.call_id, said[other.id])

    groups = [[each] for each in rows]
    merged = True
    while merged:
        merged = False
        for one in groups:
            for other in groups:
                if one is not other and any(same(a, b) for a in one for b in other):
                    one.extend(other)
                    groups.remove(other)
                    merged = True
                    break
            if merged:
                break
    expected = [
        max(group, key=lambda each: (each.active, each.id)).id
        for group in sorted(groups, key=lambda group: min(each.place for each in group))
    ]
    assert shown(rows, folds) == expected


def edge(segment: int, opening: Sequence[tuple[int, str]], closing: Sequence[tuple[int, str]] | None = None) -> Edge:
    """Prompts of one segment; without `closing` nothing was answered in it."""
    first = [(row(id, segment), said) for id, said in opening]
    last = first if closing is None else [(row(id, segment), said) for id, said in closing]
    return Edge(first, last, closing is not None)


def pairs(edges: Sequence[Edge]) -> list[list[int]]:
    return [[each.id for each in group] for group in repeated(edges)]


def test_a_prompt_repeated_in_the_next_segment_is_one() -> None:
    assert pairs([edge(0, [(1, "x")], [(5, "go on")]), edge(1, [(7, "go on")], [])]) == [[5, 7]]


def test_an_answer_between_makes_it_another() -> None:
    assert pairs([edge(0, [(1, "go on")], []), edge(1, [(7, "go on")], [])]) == []


def test_a_repetition_inside_one_segment_was_said_twice() -> None:
    assert pairs([edge(0, [(1, "a"), (2, "a")])]) == []


def test_a_prompt_is_carried_over_a_segment_without_answers() -> None:
    edges = [edge(0, [], [(3, "a"), (4, "b")]), edge(1, [(6, "c")]), edge(2, [(8, "a")], [])]
    assert pairs(edges) == [[3, 8]]
    assert pairs([edge(0, [], [(3, "a")]), edge(1, [(6, "a")]), edge(2, [(8, "a")], [])]) == [[3, 6], [6, 8]]
