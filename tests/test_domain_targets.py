"""What a name means: id, beginning of an id, exact title, link."""

from __future__ import annotations

import random

import pytest

from hermes_tui.domain.families import Catalogue, build_chains
from hermes_tui.domain.links import link_to
from hermes_tui.domain.sessions import Segment
from hermes_tui.domain.targets import latest, near, read_name, resolve
from hermes_tui.errors import TargetAmbiguous, TargetNotFound
from tests.test_domain_families import compressed, segment


def catalogue(*rows: Segment, profile: str = "default") -> Catalogue:
    return Catalogue.of(build_chains(rows), profile)


STORE = catalogue(
    compressed("20260101_090000_aaaaaa", title="Deck", at=1.0),
    segment("20260102_090000_bbbbbb", "20260101_090000_aaaaaa", title="Deck #2", at=2.0),
    segment("20260103_090000_cccccc", title="AN-94", at=3.0),
    segment("cron_1_20260103", title='"Quoted" title', at=4.0),
    segment("bot", title="Bot Chat", at=5.0, hidden=True),
    segment("bot2", title="Bot Chat #2", at=6.0),
    segment("lone", title="Issue #12", at=7.0),
)


def found(text: str, *catalogues: Catalogue) -> tuple[str, int | None]:
    named = resolve(catalogues or (STORE,), read_name(text))
    return named.segment.id, named.anchor


@pytest.mark.parametrize(
    ("text", "session_id", "anchor"),
    [
        ("20260101_090000_aaaaaa", "20260101_090000_aaaaaa", None),
        ("  20260101_090000_aaaaaa\n", "20260101_090000_aaaaaa", None),
        ("'20260101_090000_aaaaaa'", "20260101_090000_aaaaaa", None),
        ("20260101_090000_aaaaaa.", "20260101_090000_aaaaaa", None),
        ("20260101_09", "20260101_090000_aaaaaa", None),
        ("cron_", "cron_1_20260103", None),
        ("AN-94", "20260103_090000_cccccc", None),
        ("`AN-94`", "20260103_090000_cccccc", None),
        ('"Quoted" title', "cron_1_20260103", None),
        ("Deck", "20260102_090000_bbbbbb", None),
        ("Deck #2", "20260102_090000_bbbbbb", None),
        ("Deck §2", "20260102_090000_bbbbbb", None),
        ("Deck x2", "20260102_090000_bbbbbb", None),
        ("Bot Chat", "bot", None),
        ("Issue #12", "lone", None),
        ("AN-94#4711", "20260103_090000_cccccc", 4711),
        ("20260101_090000_aaaaaa#12", "20260101_090000_aaaaaa", 12),
        ("20260103_09#12", "20260103_090000_cccccc", 12),
        ("@session:default/20260101_090000_aaaaaa", "20260101_090000_aaaaaa", None),
        ("@session:20260101_090000_aaaaaa#7", "20260101_090000_aaaaaa", 7),
        ("`@session:default/20260101_090000_aaaaaa`,", "20260101_090000_aaaaaa", None),
        ("@session:default/Deck #2", "20260102_090000_bbbbbb", None),
        ("`@session:default/Deck #2`", "20260102_090000_bbbbbb", None),
        ('@session:"default/Issue #12"', "lone", None),
        ('@session:"default/Issue #12#7"', "lone", 7),
        ("@session:default/AN-94#0", "20260103_090000_cccccc", 0),
        ('@session:"default/AN-94"', "20260103_090000_cccccc", None),
        ("(see @session:20260103_0900).", "20260103_090000_cccccc", None),
    ],
)
def test_names_in_all_their_forms(text: str, session_id: str, anchor: int | None) -> None:
    assert found(text) == (session_id, anchor)


@pytest.mark.parametrize("text", ["", "   ", "@session:", "nothing", "an-94", "Deck #3", "AN-9", "#12", "''"])
def test_what_answers_to_nothing_says_so(text: str) -> None:
    with pytest.raises(TargetNotFound):
        found(text)


def test_the_newest_numbered_title_stands_for_the_title_even_without_it() -> None:
    rng = random.Random()
    title = f"Plan {rng.randrange(10**9)} 100%_[a]"
    rows = [segment(f"s{n}", title=f"{title} #{n}", at=float(at)) for n, at in ((2, 50), (3, 90), (4, 70))]
    assert found(title, catalogue(*rows)) == ("s3", None)
    rows += [segment("plain", title=title, at=99.0), segment("else", title=f"{title} #x", at=100.0)]
    assert found(title, catalogue(*rows)) == ("s3", None)


@pytest.mark.parametrize(
    "session_id", ["x#12", "x#012", "x#12#7", "#5", "x#99999999999999999999", "x.", "x.)", "x#12!"]
)
@pytest.mark.parametrize("profile", ["default", "custom"])
def test_a_link_that_we_write_opens_the_session_that_it_was_written_for(session_id: str, profile: str) -> None:
    store = catalogue(segment("x"), segment(session_id), segment(f"{session_id}#1x"), profile=profile)
    assert found(link_to(profile, session_id), store) == (session_id, None)
    assert found(link_to(profile, session_id, 3), store) == (session_id, 3)
    assert found(session_id, store) == (session_id, None)
    assert found(link_to(profile, "x") + ".", catalogue(segment("x"), segment("x.1"), profile=profile)) == ("x", None)
    assert found(link_to(profile, "x", 3), store) == ("x", 3)


def test_a_title_is_tried_before_the_beginning_of_an_id() -> None:
    rows = (segment("2026_a", title="first"), segment("b", title="2026"))
    assert found("2026", catalogue(*rows)) == ("b", None)


def test_several_candidates_are_listed_newest_first_with_their_links() -> None:
    with pytest.raises(TargetAmbiguous) as caught:
        found("2026010")
    assert [each.id for each in caught.value.candidates] == [
        "20260103_090000_cccccc",
        "20260102_090000_bbbbbb",
        "20260101_090000_aaaaaa",
    ]
    assert caught.value.candidates[0].link == "@session:default/20260103_090000_cccccc"
    assert caught.value.candidates[0].title == "AN-94"
    assert "3 sessions" in str(caught.value)


def test_the_same_id_in_two_profiles_is_ambiguous() -> None:
    home, work = catalogue(segment("x1", title="Mine")), catalogue(segment("x1"), segment("y"), profile="work")
    with pytest.raises(TargetAmbiguous) as caught:
        found("x1", home, work)
    assert {(each.profile, each.id) for each in caught.value.candidates} == {("default", "x1"), ("work", "x1")}
    assert found("y", home, work) == ("y", None)


def test_a_hostile_name_is_shown_safely() -> None:
    with pytest.raises(TargetNotFound) as caught:
        found("\x1b]0;pwned\x07" + "x" * 500)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 250


def test_the_latest_is_the_first_that_a_list_shows() -> None:
    hidden = (segment("cron", source="cron", at=9.0), segment("undated", last_active=None))
    home = catalogue(segment("old", at=1.0), compressed("a", at=2.0), segment("b", "a", at=3.0), *hidden)
    work = catalogue(segment("new", at=5.0, source="telegram"), profile="work")
    assert latest([home]).segment.id == "b"
    assert (latest([home, work]).profile, latest([home, work]).segment.id) == ("work", "new")
    with pytest.raises(TargetNotFound):
        latest([catalogue(*hidden)])


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("deck", ["20260102_090000_bbbbbb"]),
        ("quot tit", ["cron_1_20260103"]),
        ("title quoted", ["cron_1_20260103"]),
        ("an", ["20260103_090000_cccccc"]),
        ("bot", ["bot2", "bot"]),
        ("quoted nonsense", []),
        ("?!", []),
    ],
)
def test_what_is_near_a_name_has_all_its_words_in_a_title_newest_first(name: str, ids: list[str]) -> None:
    assert [each.id for each in near([STORE], name)] == ids
