"""From a name with a message id to the place to open."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes_tui.domain.links import Target
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.domain.targets import read_name, resolve
from hermes_tui.storage.catalogue import load_catalogue
from hermes_tui.storage.connection import open_store
from hermes_tui.storage.targets import locate
from tests.builders import StoreBuilder


def place(db: Path, text: str) -> Target:
    store = open_store(StoreRef("default", db, db.parent, db.parent))
    try:
        return locate(store, resolve([load_catalogue(store)], read_name(text)))
    finally:
        store.conn.close()


@pytest.fixture
def ids(tmp_path: Path) -> dict[str, int]:
    """A chain of two, a branch, a stranger; messages by what they are."""
    made = {}
    with StoreBuilder(tmp_path / "state.db") as store:
        store.session("a", title="Deck", ended_at=store.tick(), end_reason="compression")
        made["first"] = store.message("a", "user", "one")
        made["undone"] = store.message("a", "user", "oops", active=0, compacted=0)
        made["original"] = store.message("a", "user", "carried", active=0, compacted=0, message_uid="u1")
        made["old"] = store.message("a", "user", "twice", timestamp=5.0, active=0, compacted=0)
        store.session("b", parent="a", title="Deck #2")
        made["copy"] = store.message("b", "user", "carried over", message_uid="u1")
        made["again"] = store.message("b", "user", "twice", timestamp=5.0)
        made["last"] = store.message("b", "assistant", "end")
        store.session("branch", parent="a", title="Other way", model_config={"_branched_from": "a"})
        made["branch"] = store.message("branch", "user", "hm")
        store.session("stranger")
        made["stranger"] = store.message("stranger", "user", "hello")
    return made


def test_without_a_message_it_is_the_conversation(tmp_path: Path, ids: dict[str, int]) -> None:
    assert place(tmp_path / "state.db", "a") == Target("default", "a", "a")
    assert place(tmp_path / "state.db", "b") == Target("default", "b", "a")


@pytest.mark.parametrize("name", ["a", "b", "Deck", "@session:default/b"])
@pytest.mark.parametrize("message", ["first", "last"])
def test_a_message_of_any_segment(tmp_path: Path, ids: dict[str, int], name: str, message: str) -> None:
    found = place(tmp_path / "state.db", f"{name}#{ids[message]}")
    assert (found.root_id, found.anchor, found.notice) == ("a", ids[message], None)


@pytest.mark.parametrize(("asked", "shown"), [("original", "copy"), ("old", "again")])
def test_a_copy_that_is_not_shown_leads_to_the_one_that_is(
    tmp_path: Path, ids: dict[str, int], asked: str, shown: str
) -> None:
    found = place(tmp_path / "state.db", f"@session:default/b#{ids[asked]}")
    assert (found.root_id, found.anchor, found.notice) == ("a", ids[shown], None)


def test_a_message_of_the_family_opens_its_own_session_and_says_so(tmp_path: Path, ids: dict[str, int]) -> None:
    found = place(tmp_path / "state.db", f"b#{ids['branch']}")
    assert (found.session_id, found.root_id, found.anchor) == ("branch", "branch", ids["branch"])
    assert found.notice is not None
    assert "Other way" in found.notice


@pytest.mark.parametrize("message", ["stranger", "undone", None])
def test_a_message_that_is_not_shown_here_opens_the_end_and_says_so(
    tmp_path: Path, ids: dict[str, int], message: str | None
) -> None:
    number = 999_999 if message is None else ids[message]
    found = place(tmp_path / "state.db", f"b#{number}")
    assert (found.session_id, found.root_id, found.anchor) == ("b", "a", None)
    assert found.notice is not None
    assert str(number) in found.notice


def test_a_number_beyond_sqlites_does_no_harm(tmp_path: Path, ids: dict[str, int]) -> None:
    assert place(tmp_path / "state.db", "b#999999999999999999").anchor is None
