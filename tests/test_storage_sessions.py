"""What a list shows beyond the row: first prompt, exact count, how a conversation stands, where it came from."""

from __future__ import annotations

import random
import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hermes_tui.domain.families import Catalogue, Chain
from hermes_tui.domain.messages import EVENTS
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.domain.sessions import Details, Status
from hermes_tui.service.shelves import Memos, Shelf
from hermes_tui.storage import connection
from hermes_tui.storage.catalogue import load_catalogue
from hermes_tui.storage.connection import Store, open_store
from hermes_tui.storage.details import load_counts, load_prompts, load_statuses
from hermes_tui.storage.origins import load_provenance
from hermes_tui.storage.rows import batches
from hermes_tui.storage.sessions import chain_count, load_details, load_prompt, load_status
from tests.builders import SCHEMAS, StoreBuilder
from tests.hermes_answers import hermes_says
from tests.seeds import SEED
from tests.test_storage_catalogue import damage, needs_dbstat
from tests.watching import Statements


class Opened:
    """A store and its catalogue, closed at the end of a `with`."""

    def __init__(self, db: Path) -> None:
        self.store: Store = open_store(StoreRef("default", db, db.parent, db.parent))
        self.catalogue: Catalogue = load_catalogue(self.store)

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *exc: object) -> None:
        self.store.conn.close()

    def chain(self, session_id: str) -> Chain:
        return self.catalogue.chains[session_id]

    def details(self, session_id: str) -> Details:
        chain = self.chain(session_id)
        return load_details(self.store, [chain])[chain.root.id]


def words(n: int = 3) -> str:
    return " ".join("".join(random.choices(string.ascii_lowercase, k=7)) for _ in range(n))


HANDOFF = "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted into the summary below. " + words(300)


def test_the_preview_is_the_first_thing_the_person_said(tmp_path: Path) -> None:  # R21
    said = words()
    with StoreBuilder(tmp_path / "state.db") as store:
        store.session("a")
        store.message("a", "system", words())
        store.message("a", "assistant", words())
        store.message("a", "user", HANDOFF, _compressed_summary=1)
        store.message("a", "user", words(), display_kind="hidden")
        store.message("a", "user", words(), active=0, compacted=0)
        store.message("a", "user", f"[System: {words()}]")
        store.message("a", "user", None)
        store.message("a", "user", f"{said}\nand  more")
        store.message("a", "user", words())
    with Opened(tmp_path / "state.db") as opened:
        preview = opened.details("a").preview
    assert preview is not None
    assert preview.startswith(said)
    assert "\n" not in preview


@pytest.mark.parametrize("kind", sorted(EVENTS - {"steer"}))
def test_an_event_is_not_what_the_person_said(tmp_path: Path, kind: str) -> None:
    with StoreBuilder(tmp_path / "state.db") as store:
        store.session("a")
        store.message("a", "user", words(), display_kind=kind)
        store.message("a", "user", said := words(), display_kind="steer")
    with Opened(tmp_path / "state.db") as opened:
        assert opened.details("a").preview == said
        assert load_prompts(opened.store, [opened.chain("a")]) == {"a": said}


def test_a_hand_off_that_only_the_store_knows_is_not_what_the_person_said(tmp_path: Path) -> None:
    with StoreBuilder(tmp_path / "state.db") as store:
        for id in ("a", "b"):
            store.session(id)
        store.message("a", "user", words(), _compressed_summary=1)
        store.message("a", "user", said := words())
        end = "--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---"
        store.message("b", "user", f"{words()}\n\n{end}\n\n{said}", _compressed_summary=1)
    with Opened(tmp_path / "state.db") as opened:
        assert load_prompts(opened.store, [opened.chain("a"), opened.chain("b")]) == {"a": said, "b": said}
        assert {opened.details(id).preview for id in ("a", "b")} == {said}


@pytest.mark.parametrize(("length", "shown"), [(59, 59), (60, 60), (61, 63), (62, 63), (4_000_000, 63)])
def test_a_preview_is_cut_as_hermes_cuts_it(tmp_path: Path, length: int, shown: int) -> None:
    with StoreBuilder(tmp_path / "state.db") as store:
        store.session("a")
        store.message("a", "user", "ü" * length)
    with Opened(tmp_path / "state.db") as opened:
        preview = opened.details("a").preview
    assert preview == ("ü" * length if length <= 60 else "ü" * 60 + "...")
    assert len(preview) == shown


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_chain_speaks_with_its_first_words_counts_all_and_stands_as_its_tip(tmp_path: Path, schema: int) -> None:
    first = words()
    with StoreBuilder(tmp_path / "state.db", schema) as store:
        store.session("a", ended_at=1.0, end_reason="compression")
        for n in range(20):
            store.message("a", "user", first if n == 0 else words())
            store.message("a", "assistant", words())
        store.session("b", parent="a", ended_at=2.0, end_reason="compression")
        for _ in range(15):
            store.message("b", "user", words())
            store.message("b", "assistant", words())
        store.session("c", parent="b")
        for _ in range(6):
            store.message("c", "assistant", words(), finish_reason="stop")
            store.message("c", "user", words())
    with Opened(tmp_path / "state.db") as opened:
        assert opened.details("c") == Details(first, 82, Status.INTERRUPTED)  # R9


@pytest.mark.parametrize(
    ("last", "status"),
    [
        ({"role": "assistant", "finish_reason": "stop"}, Status.COMPLETE),
        ({"role": "assistant"}, Status.COMPLETE),
        ({"role": "assistant", "finish_reason": "ERROR "}, Status.ERROR),
        ({"role": "assistant", "finish_reason": "content_filter"}, Status.ERROR),
        ({"role": "tool", "finish_reason": "agent_error"}, Status.ERROR),
        ({"role": "user"}, Status.INTERRUPTED),
        ({"role": "tool"}, Status.INTERRUPTED),
        ({"role": "assistant", "tool_calls": [{"id": "c"}]}, Status.INTERRUPTED),
        ({"role": "assistant", "tool_calls": "[]"}, Status.COMPLETE),
        ({"role": "assistant", "tool_calls": ""}, Status.COMPLETE),
        ({"role": "assistant", "tool_calls": b"[]"}, Status.COMPLETE),
        ({"role": b"assistant", "finish_reason": b"error"}, Status.ERROR),
        ({"role": "system"}, Status.COMPLETE),
    ],
)
def test_how_a_conversation_stands(tmp_path: Path, last: dict[str, Any], status: Status) -> None:
    with StoreBuilder(tmp_path / "state.db") as store:
        store.session("a")
        store.message("a", "user", "x")
        store.message("a", last.pop("role"), "y", timestamp=1.0, **last)
        store.message("a", "user", "undone", active=0, compacted=0)
        store.message("a", "session_meta", "z")
    with Opened(tmp_path / "state.db") as opened:
        assert opened.details("a").status is status


def test_an_empty_tip_stands_as_the_segment_before_it_and_nothing_at_all_is_empty(tmp_path: Path) -> None:
    with StoreBuilder(tmp_path / "state.db") as store:
        store.session("a", ended_at=1.0, end_reason="compression")
        store.message("a", "assistant", "x", finish_reason="error")
        store.session("b", parent="a")
        store.session("nothing")
        store.message("nothing", "user", "undone", active=0, compacted=0)
    with Opened(tmp_path / "state.db") as opened:
        assert opened.details("a").status is Status.ERROR
        assert opened.details("nothing") == Details(None, 0, Status.EMPTY)


@pytest.mark.real
def test_previews_are_those_that_hermes_lists(real_home: Path, tmp_path: Path) -> None:
    db = real_home / "state.db"
    with Opened(db) as opened:
        alone = [chain for chain in opened.catalogue.all_chains() if len(chain.segments) == 1]
        ours = {id: details.preview or "" for id, details in load_details(opened.store, alone).items()}
    asked = "{id: ' '.join(row['preview'].split()) for id in ids if (row := db.get_session_rich_row(id))}"
    theirs = hermes_says(asked, db, tmp_path)
    compared = 0
    for id in ours.keys() & theirs.keys():
        preview = theirs[id]
        if preview.startswith("[") or "\0" in ours[id]:
            continue  # Hermes lists what was put before the person's words, and stops at a NUL
        assert ours[id] == preview
        compared += 1
    assert compared > 20


@needs_dbstat
def test_what_lies_on_a_damaged_page_costs_that_answer_only(tmp_path: Path) -> None:  # R30
    with StoreBuilder(tmp_path / "state.db", fts=False, journal="delete") as store:
        for n in range(30):
            store.session(f"s{n:02}")
            store.message(f"s{n:02}", "user", "x" * 900)
    damage(tmp_path / "state.db", "messages")
    with Opened(tmp_path / "state.db") as opened:
        found = load_details(opened.store, list(opened.catalogue.all_chains()))
    statuses = [details.status for details in found.values()]
    assert len(found) == 30
    assert {Status.INTERRUPTED, Status.UNKNOWN} == set(statuses)
    for details in found.values():
        assert (details.preview is None) == (details.status is Status.UNKNOWN)


def test_where_a_conversation_came_from(tmp_path: Path) -> None:
    with StoreBuilder(tmp_path / "state.db") as store:
        origin = {"platform": "discord", "chat_name": "#ops", "chat_id": "99", "user_name": "Mei", "thread_id": "t1"}
        store.session(
            "a", "discord", ended_at=1.0, end_reason="compression", created_source="cron", user_id="42", chat_id="99",
            chat_type="group", origin_json=origin,
        )  # fmt: skip
        store.session("b", "slack", parent="a", handoff_state="pending", handoff_platform="slack")
        store.session("plain")
        store.session("odd", origin_json="{", user_id=b"\xff", chat_id=7)
    with Opened(tmp_path / "state.db") as opened:
        found = load_provenance(opened.store, opened.chain("b"))
        assert (found.created_source, found.user, found.chat) == ("cron", "Mei", "#ops (group)")
        assert (found.thread, found.handoff) == ("t1", "pending slack")
        assert load_provenance(opened.store, opened.chain("plain")).user is None
        assert load_provenance(opened.store, opened.chain("odd")).chat == "7"


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_store_that_knows_no_origins_says_so(tmp_path: Path, schema: int) -> None:
    with StoreBuilder(tmp_path / "state.db", schema) as store:
        store.session("a", user_id="42")
    with Opened(tmp_path / "state.db") as opened:
        assert load_provenance(opened.store, opened.chain("a")).user == "42"


def by_the_row(store: Store, chains: Sequence[Chain]) -> tuple[dict[str, object], ...]:
    """Prompts, statuses and counts, each asked of one conversation."""
    asked = (load_prompt, load_status, chain_count)
    return tuple({chain.root.id: ask(store, chain) for chain in chains} for ask in asked)


def together(store: Store, chains: Sequence[Chain]) -> tuple[dict[str, object], ...]:
    """The same, asked of many at once."""
    asked = (load_prompts, load_statuses, load_counts)
    return tuple({id: value for batch in batches(chains) for id, value in ask(store, batch).items()} for ask in asked)


@pytest.mark.real
def test_many_together_are_told_what_each_alone_is_told(real_home: Path) -> None:
    with Opened(real_home / "state.db") as opened:
        chains = list(opened.catalogue.all_chains())
        assert len(chains) > 20
        assert together(opened.store, chains) == by_the_row(opened.store, chains)


@pytest.mark.parametrize("schema", SCHEMAS)
def test_odd_conversations_among_many_are_told_the_same(tmp_path: Path, schema: int) -> None:
    rng = random.Random(SEED)
    texts = [words(), HANDOFF, "", "[System: note]", "x" * 40_000, "a\0b", None, 7, b"\xff", [{"type": "text"}]]
    ids: list[str] = []
    with StoreBuilder(tmp_path / "state.db", schema) as store:
        for n in range(150):
            odd = rng.choice(["", "", "\0z", "é", "'"])
            id = f"s{n:03}{odd}"
            parent = rng.choice([None, None, *ids[-1:]])
            if parent:
                store.conn.execute("update sessions set end_reason = 'compression' where id = ?", (parent,))
            ids.append(store.session(id, parent=parent))
            same = store.tick()
            for k in range(rng.randrange(6)):
                store.message(
                    id,
                    rng.choice(["user", "user", "assistant", "tool", "session_meta"]),
                    rng.choice(texts),
                    timestamp=rng.choice([same, store.tick(), None, "soon"]),
                    message_uid=rng.choice([None, "", f"u{n}", f"u{n}-{k}"]),
                    active=rng.choice([1, 1, 1, 0, None]),
                    compacted=rng.choice([0, 0, 1]),
                    display_kind=rng.choice([None, None, "hidden"]),
                    finish_reason=rng.choice([None, "stop", "error"]),
                    tool_calls=rng.choice([None, "[]", [{"id": "c"}]]),
                )
    with Opened(tmp_path / "state.db") as opened:
        chains = list(opened.catalogue.all_chains())
        assert together(opened.store, chains) == by_the_row(opened.store, chains)


def test_many_are_asked_for_in_a_few_statements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    statements = Statements()
    monkeypatch.setattr(connection, "trace", statements)

    def asked(number: int) -> int:
        db = tmp_path / str(number) / "state.db"
        with StoreBuilder(db) as store:
            for n in range(number):
                store.session(f"s{n:03}")
                store.message(f"s{n:03}", "user", words())
                store.message(f"s{n:03}", "assistant", words())
        with Opened(db) as opened:
            shelf = Shelf(opened.store, opened.catalogue, Memos())
            statements.all.clear()
            shelf.read_details(opened.catalogue.conversations)
            told = [shelf.details(each) for each in opened.catalogue.conversations]
        assert {(each.message_count, each.status) for each in told} == {(2, Status.COMPLETE)}
        assert all(each.preview for each in told)
        return len(statements.all)

    assert asked(10) == asked(300) == 3


@needs_dbstat
def test_damage_met_among_many_costs_the_same_answers_as_alone(tmp_path: Path) -> None:  # R30
    with StoreBuilder(tmp_path / "state.db", fts=False, journal="delete") as store:
        for n in range(60):
            store.session(f"s{n:02}")
            store.message(f"s{n:02}", "user", "x" * 900)
    damage(tmp_path / "state.db", "messages")
    with Opened(tmp_path / "state.db") as opened:
        ahead, alone = (Shelf(opened.store, opened.catalogue, Memos()) for _ in range(2))
        ahead.read_details(opened.catalogue.conversations)
        told = [ahead.details(each) for each in opened.catalogue.conversations]
        assert told == [alone.details(each) for each in opened.catalogue.conversations]
    assert {True, False} == {each.unread for each in told}
