"""`@session:` links as people paste them."""

from __future__ import annotations

import itertools

import pytest

from hermes_tui.domain.links import Link, find_links, only_link, parse_link

ID = "20261128_164003_c0de55"


@pytest.mark.parametrize("before", ["", "(", "`", '"', "'", "<", "[", ' "'])
@pytest.mark.parametrize("after", ["", ".", ",", ")", "`", "`,", '".', "'", ">", "];", " "])
@pytest.mark.parametrize("anchor", [None, 4711])
def test_quotes_and_punctuation_around_a_link_are_no_part_of_it(before: str, after: str, anchor: int | None) -> None:
    tail = "" if anchor is None else f"#{anchor}"
    assert parse_link(f"{before}@session:work/{ID}{tail}{after}") == Link("work", ID, anchor)
    assert parse_link(f"{before}@session:{ID}{tail}{after}") == Link(None, ID, anchor)


@pytest.mark.parametrize(
    ("quote", "around"), itertools.product("`\"'", [("", ""), ("(", ")"), ("", "."), ("", ".)")])
)
def test_a_quoted_value_keeps_what_is_inside(quote: str, around: tuple[str, str]) -> None:
    title = "Launch, plan (v2)."
    assert parse_link(f"{around[0]}@session:{quote}{title}{quote}{around[1]}") == Link(None, title)


def test_what_is_no_link() -> None:
    assert parse_link("session:x") is None
    assert parse_link("see @session:x") is None
    assert parse_link("@session:") == Link(None, "")


def test_links_inside_a_text_with_their_places() -> None:
    text = f"see @session:work/{ID}, and `@session:{ID}#12`; not a@session:x nor [x](@session:y)"
    found = find_links(text)
    assert [str(each.link) for each in found] == [f"@session:work/{ID}", f"@session:{ID}#12"]
    assert [text[each.start : each.end] for each in found] == [f"@session:work/{ID}", f"@session:{ID}#12"]


def test_links_in_a_sentence_without_blanks_or_with_stops_of_other_scripts() -> None:
    for text in (
        f"见@session:work/{ID}。",
        f"（@session:work/{ID}）",
        f"é@session:work/{ID}…",
        f"@session:work/{ID}\u200b",
    ):
        assert [each.link for each in find_links(text)] == [Link("work", ID)]
    assert parse_link(f"@session:work/{ID}。") == Link("work", ID)


@pytest.mark.parametrize(
    "text",
    [
        f"@session:work/{ID}",
        f" (@session:work/{ID}).",
        f"`@session:work/{ID}`",
        f"“@session:work/{ID}”,",
        f"**@session:work/{ID}**",
        f'"@session:work/{ID}"',
        f"@session:`work/{ID}`",
    ],
)
def test_a_text_that_is_nothing_but_a_link(text: str) -> None:
    link = only_link(text)
    assert link is not None
    assert link.profile == "work"
    assert link.id.startswith(ID)


def test_a_link_among_words_is_not_all_that_the_text_is() -> None:
    assert only_link(f"see @session:work/{ID}") is None
    assert only_link(f"@session:work/{ID} oauth") is None
    assert only_link(f"@session:work/{ID} @session:{ID}") is None
    assert only_link("session:x") is None
    assert only_link('@session:"Launch, plan"') == Link(None, "Launch, plan")
    assert only_link("@session:") == Link(None, "")
