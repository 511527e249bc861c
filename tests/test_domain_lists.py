"""Lists: what is left out and counted, what a filter's words find, in which order rows stand."""

from __future__ import annotations

import random
import string

import pytest

from hermes_tui.domain.lists import Everything, Haystack, Selection, Words, ordered, page, select
from hermes_tui.domain.sessions import Conversation, HiddenReason, ListQuery, Order
from tests.values import conversation


def listed(rows: list[Conversation], words: str = "", *, every: bool = False, prompts: dict[str, str] | None = None):
    return select(
        rows,
        filters=Everything(),
        words=Words(words.split()),
        haystack=lambda row: Haystack(row, (prompts or {}).get(row.id)).fold(),
        include_hidden=every,
    )


def ids(selection: Selection) -> set[str]:
    return {row.id for row in selection.rows}


def test_automation_drowns_nobody_and_is_counted() -> None:  # R1
    sources = {"cron": 400, "subagent": 50, "kanban": 3, "tool": 2, "oneshot": 1}
    rows = [conversation("mine")]
    rows += [conversation(f"{source}_{n}", source=source) for source, times in sources.items() for n in range(times)]
    found = listed(rows)
    assert ids(found) == {"mine"}
    assert found.hidden == {HiddenReason.AUTOMATION: 456}
    assert found.of == 457
    assert len(listed(rows, every=True).rows) == 457


def test_a_source_nobody_thought_of_is_listed() -> None:  # R3
    rng = random.Random()
    made_up = ["".join(rng.choices(string.ascii_lowercase, k=9)) for _ in range(20)]
    sources = ["acp", "webhook", "desktop", "tui", "api_server", "weixin", "", "unknown", *made_up]
    rows = [conversation(f"s{n}", source=source) for n, source in enumerate(sources)]
    assert len(listed(rows).rows) == len(rows)


def test_each_row_is_hidden_under_the_first_reason_that_holds() -> None:
    rows = [
        conversation("a", source="cron", archived=True, empty=True),
        conversation("b", archived=True, hidden=True),
        conversation("c", hidden=True, empty=True),
        conversation("d", empty=True),
        conversation("live", source="cron", live=True, empty=True),
        conversation("pinned", archived=True, pinned=True),
    ]
    found = listed(rows)
    assert ids(found) == {"live", "pinned"}
    assert found.hidden == dict.fromkeys(HiddenReason, 1)


def test_a_filter_word_that_names_a_row_lifts_what_hides_it() -> None:
    class Cron:
        def accepts(self, row: Conversation) -> bool:
            return row.source == "cron"

        def lifts(self, row: Conversation) -> bool:
            return row.source == "cron"

    rows = [conversation("a", source="cron", archived=True), conversation("b", source="tool")]
    found = select(rows, filters=Cron(), words=Words(()), haystack=Haystack, include_hidden=False)
    assert (ids(found), found.hidden) == ({"a"}, {})


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("an94", {"title"}),
        ("AN-94", {"title"}),
        ("an.94", {"title"}),
        ("harbour", {"prompt"}),
        ("HARBOUR lights", {"prompt"}),
        ("20260603_0902", {"id"}),
        ("0902", {"id"}),
        ("teleg", {"source"}),
        ("405b", {"title", "prompt", "id", "source", "workspace", "model", "plus"}),
        ("hermes-4-70", {"model"}),
        ("/srv/ledger", {"workspace"}),
        ("ledger", {"workspace"}),
        ("c++", {"plus"}),
        ("中文标", {"title"}),
        ("an94 harbour", set()),
        ("nowhere", set()),
        ("🚀", {"plus"}),
        ("straSSe", {"prompt"}),
    ],
)
def test_words_are_found_in_every_field_whatever_case_and_punctuation(typed: str, found: set[str]) -> None:  # R14
    rows = [
        conversation("title", "Rifle AN-94, 中文标题"),
        conversation("prompt"),
        conversation("id", segment_ids=("20260603_090200_aaaaaa", "id")),
        conversation("source", source="Telegram"),
        conversation("model", model="hermes-4-70b (405b)"),
        conversation("workspace", git_repo_root="/srv/ledger"),
        conversation("plus", "🚀 C++ build"),
    ]
    prompts = {"prompt": "Harbour: lights on the Straße"}
    assert ids(listed(rows, typed, prompts=prompts)) == found


def test_every_piece_of_a_title_finds_it() -> None:
    rng = random.Random(11)
    for _ in range(500):
        title = "".join(rng.choices("aB9 _-.+#'\u2003ß部🚀", k=12))
        start = rng.randrange(12)
        piece = title[start : rng.randint(start + 1, 12)]
        assert ids(listed([conversation("x", title)], piece)) == {"x"}, (title, piece)


def test_of_a_conversation_one_text_is_kept_for_the_next_word() -> None:
    hay = Haystack(conversation("x", "Rifle AN-94"), "harbour lights").fold()
    assert [Words([word]).match(hay) for word in ("an94", "HARBOUR", "nowhere", "an-", "-")] == [1, 1, 0, 1, 1]
    kept = [each for slot in Haystack.__slots__ if isinstance(each := getattr(hay, slot), str)]
    assert kept == ["harbour lights", hay.folded]


def test_words_do_not_match_across_two_fields() -> None:
    rows = [conversation("x", "ends here", source="begins")]
    assert not listed(rows, "herebegins").rows


def test_the_oldest_of_twelve_hundred_is_found_by_its_title() -> None:  # R2
    rows = [conversation(f"s{n}", f"Chat {n}", hours=n) for n in range(1_199)]
    rows.append(conversation("old", "zebra-migration", hours=9_999))
    assert ids(listed(rows, "zebra-migration")) == {"old"}
    whole = page([listed(rows)], ListQuery())
    assert (whole.total, whole.of, len(whole.rows), whole.rows[-1].id) == (1_200, 1_200, 1_200, "old")


def in_order(rows: list[Conversation], order: Order, *, reverse: bool = False, names: dict[str, str] | None = None):
    random.Random(7).shuffle(rows)
    titles = {row.key: (names or {})[row.id] for row in rows if row.id in (names or {})}
    return [row.id for row in ordered(rows, order, reverse=reverse, names=titles)]


def test_newest_activity_first_unknown_times_last_either_way() -> None:
    rows = [
        conversation("b", last_active=20.0),
        conversation("a", last_active=20.0),
        conversation("c", last_active=30.0),
        conversation("none", last_active=None),
    ]
    assert in_order(rows, Order.ACTIVE) == ["c", "a", "b", "none"]
    assert in_order(rows, Order.ACTIVE, reverse=True) == ["a", "b", "c", "none"]


@pytest.mark.parametrize(
    ("order", "column", "values"),
    [
        (Order.STARTED, "started_at", (3.0, 2.0, 1.0, None)),
        (Order.MESSAGES, "stored_messages", (30, 20, 10, 0)),
        (Order.TOKENS, "input_tokens", (30, 20, 10, 0)),
        (Order.COST, "cost_usd", (3.0, 2.0, 0.0, None)),
    ],
)
def test_other_orders_descend(order: Order, column: str, values: tuple[float | None, ...]) -> None:
    rows = [conversation(f"r{n}", **{column: value}) for n, value in enumerate(values)]
    assert in_order(rows, order) == ["r0", "r1", "r2", "r3"]


def test_ties_are_newest_first_then_by_id() -> None:
    rows = [
        conversation("b", stored_messages=5, last_active=9.0),
        conversation("a", stored_messages=5, last_active=9.0),
        conversation("new", stored_messages=5, last_active=10.0),
        conversation("more", stored_messages=6, last_active=1.0),
    ]
    assert in_order(rows, Order.MESSAGES) == ["more", "new", "a", "b"]
    beginning = [conversation("a", last_active=None), conversation("b", last_active=0.0)]
    assert in_order(beginning, Order.MESSAGES) == ["b", "a"]  # the first second is a time, too


def test_titles_from_a_to_z_without_case_untitled_last() -> None:
    rows = [conversation(id) for id in "abcd"]
    names = {"a": "zebra", "b": "Apple", "c": "mango"}
    assert in_order(rows, Order.TITLE, names=names) == ["b", "c", "a", "d"]
    assert in_order(rows, Order.TITLE, names=names, reverse=True) == ["a", "c", "b", "d"]


def test_a_page_is_cut_after_everything_was_counted() -> None:
    rows = [conversation(f"s{n}", last_active=float(n)) for n in range(1, 8)]
    selections = [Selection(rows[:4], 6, {HiddenReason.EMPTY: 2}), Selection(rows[4:], 4, {HiddenReason.EMPTY: 1})]
    found = page(selections, ListQuery(limit=2, offset=1))
    assert [row.id for row in found.rows] == ["s6", "s5"]
    assert (found.total, found.of, found.hidden) == (7, 10, {HiddenReason.EMPTY: 3})
    assert page(selections, ListQuery(offset=5)).rows[-1].id == "s1"
    assert page(selections, ListQuery(limit=0)).rows == ()
