"""Names as the program shows them are names to open by, where nothing else answers."""

from __future__ import annotations

import pytest

from hermes_tui.domain.families import Catalogue, build_chains
from hermes_tui.domain.shown import nameless, shown_as
from hermes_tui.domain.targets import read_name
from hermes_tui.errors import TargetAmbiguous
from tests.test_domain_families import compressed, segment

SAID = {
    "said": "Dump log 1 of libfoo.so.1.",
    "long": "ok, and the tests? Then go on with the review of all of it...",
    "ticked": "`foo` fails with `bar`",
    "run": "sub",
}
STORE = Catalogue.of(
    build_chains(
        [
            compressed("one", title="Deck", at=1.0),
            segment("two", "one", title="Deck #2", at=2.0),
            segment("mei", display_name="Mei", at=3.0),
            segment("named", title="Incident 4711 war  room", at=4.0),
            segment("week", title="Weekly review", at=5.0),
            segment("week3", title="Weekly review #3", at=6.0),
            segment("upper", title="NOTES", at=7.0),
            segment("mixed", title="Notes", at=8.0),
            segment("said", at=9.0),
            segment("long", at=10.0),
            segment("ticked", at=10.5),
            compressed("chatted", at=11.0),
            segment("chat", "chatted", display_name="Ben", at=12.0),
        ]
    ),
    "default",
)


def opened(name: str) -> str | None:
    named = shown_as([(STORE, SAID)], read_name(name))
    return None if named is None else named.segment.id


@pytest.mark.parametrize(
    ("name", "session_id"),
    [
        ("Mei", "mei"),
        ("mei", "mei"),
        ("'Mei'", "mei"),
        ("@session:default/Mei", "mei"),
        ("Ben §2", "chat"),
        ("ben x2", "chat"),
        ("Ben §3", None),
        ("“Dump log 1 of libfoo.so.1.”", "said"),
        ('"Dump log 1 of libfoo.so.1."', "said"),
        ("Dump log 1 of libfoo.so.1.", "said"),
        ("dump LOG 1 of libfoo.so.1.", "said"),
        ("“ok, and the tests? Then go on with the review of all of it...”", "long"),
        ("“ok, and the te…", "long"),
        ("Incident 4711 w…", "named"),
        ("Incident 4711 w~", "named"),
        ("chatt~", "chatted"),
        ("De… §2", "two"),
        ("de~ x2", "two"),
        ("De… §3", None),
        ("incident 4711 war room", "named"),
        ("Incident 4711 war room", "named"),
        ("deck", "two"),
        ("deck #2", "two"),
        ("DECK §2", "two"),
        ("weekly review", "week3"),
        ("weekly REVIEW #3", "week3"),
        ("NOTES", "upper"),
        ("Notes", "mixed"),
        ("“`foo` fails with `bar`”", "ticked"),
        ('"`foo` fails with `bar`"', "ticked"),
        ("`foo` fails with `bar`", "ticked"),
        ("“`foo` fai…", "ticked"),
        ("`foo` fai~", "ticked"),
        ("Incident 4711", None),
        ("…", None),
        ("nobody", None),
    ],
)
def test_what_a_list_shows_is_a_name_and_so_is_a_title_but_for_its_case(name: str, session_id: str | None) -> None:
    assert opened(name) == session_id


@pytest.mark.parametrize(("name", "ids"), [("notes", {"upper", "mixed"}), ("Weekly rev…", {"week", "week3"})])
def test_several_that_fit_are_candidates(name: str, ids: set[str]) -> None:
    with pytest.raises(TargetAmbiguous) as caught:
        opened(name)
    assert {each.id for each in caught.value.candidates} == ids


def test_only_what_has_no_name_is_called_by_what_was_said_first() -> None:
    assert {chain.root.id for chain in nameless(STORE)} == {"said", "long", "ticked"}
