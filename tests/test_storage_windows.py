"""A stretch of a transcript: exact wherever it lies, as cheap in a long one, whole beside damage (R17, R33)."""

from __future__ import annotations

import contextlib
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_tui.domain.messages import UNREADABLE
from hermes_tui.errors import TargetNotFound
from hermes_tui.storage import copies, places
from hermes_tui.storage.connection import Store
from hermes_tui.storage.transcripts import exact_count, load_messages, load_outline, load_window
from tests.builders import StoreBuilder
from tests.stores import all_chains, chain_of, opened, outlined


def test_every_window_is_the_same_stretch_of_the_outline(
    db: Path, schema: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "LONG", 0)
    rng, count = random.Random(schema), "select count(*) from messages m"
    with StoreBuilder(db, schema) as made:
        made.session("r", end_reason="compression", ended_at=made.tick())
        made.session("m", parent="r", end_reason="compression", ended_at=made.tick())
        made.session("t", parent="m")
        made.session("other")
        for number in range(120):
            at = made.clock if rng.random() < 0.2 else made.tick()
            segment = "rmt"[number // 40]
            for session_id in (segment, "other"):
                made.message(
                    session_id,
                    rng.choice(["user", "assistant", "tool", "session_meta"]),
                    rng.choice("ab"),
                    timestamp=at,
                    active=rng.choice([0, 1, 1, None]),
                    compacted=rng.choice([0, 1]),
                    message_uid=rng.choice(["u", "v", None, None]),
                )
    with opened(db) as store:
        chain, found = chain_of(store, "t"), outlined(store, "t")
        assert len(found) < 120
        hidden = store.conn.execute(f"{count} where m.role = 'session_meta'").fetchone()[0]
        for position, message_id in enumerate(found.ids):
            before, after = rng.randrange(5), rng.randrange(5)
            window = load_window(store, chain, message_id, before, after)
            first = max(0, position - before)
            assert [message.id for message in window.messages] == list(found.ids[first : position + after + 1])
            assert window.before == first
            assert window.before + len(window.messages) + window.after == len(found)
            rough = load_window(store, chain, message_id, before, after, rough=True)
            assert rough.messages == window.messages
            assert window.before <= rough.before <= window.before + hidden
            assert window.after <= rough.after <= window.after + hidden
        for alias, shown in found.aliases.items():
            assert load_window(store, chain, alias, 0, 0).messages[0].id == shown
        end = load_window(store, chain, None, 3, 9)
        assert [message.id for message in end.messages] == list(found.ids[-4:])
        assert (end.before, end.after) == (len(found) - 4, 0)


@pytest.mark.parametrize("anchor", [0, -3, 99, 10**17, 10**40, -(10**40)])
def test_an_anchor_that_is_not_there_says_so(db: Path, anchor: int) -> None:
    with StoreBuilder(db, 31) as made:
        made.session("s")
        made.message("s", "user", "hello")
        made.session("other")
    with opened(db) as store:
        with pytest.raises(TargetNotFound, match=str(anchor)):
            load_window(store, chain_of(store, "s"), anchor, 3, 3)
        with pytest.raises(TargetNotFound):
            load_window(store, chain_of(store, "other"), 1, 3, 3)
        assert load_messages(store, chain_of(store, "s"), [anchor]) == ()


def test_an_empty_conversation(db: Path, schema: int) -> None:
    with StoreBuilder(db, schema) as made:
        made.session("s")
    with opened(db) as store:
        assert len(outlined(store, "s")) == 0
        window = load_window(store, chain_of(store, "s"), None, 5, 5)
        assert (window.messages, window.before, window.after) == ((), 0, 0)


@contextlib.contextmanager
def damaged(db: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy with one leaf page of `messages` overwritten."""
    conn = sqlite3.connect(db)
    conn.execute("pragma journal_mode = delete")
    size = conn.execute("pragma page_size").fetchone()[0]
    row = conn.execute("select content from messages where id = 60").fetchone()
    conn.close()
    raw = bytearray(db.read_bytes())
    at = raw.index(row[0].encode()) // size * size
    raw[at : at + size] = b"\xaa" * size
    copy = tmp_path / "damaged.db"
    copy.write_bytes(raw)
    yield copy


def test_a_damaged_page_costs_its_rows(db: Path, schema: int, tmp_path: Path) -> None:
    with StoreBuilder(db, schema, fts=False) as made:
        made.session("s")
        for number in range(1, 121):
            made.message("s", "user", f"unique{number} " + "x" * 400)
    with damaged(db, tmp_path) as broken, opened(broken) as store:
        chain = chain_of(store, "s")
        found = load_outline(store, chain)
        shown = load_messages(store, chain, list(found.ids), outline=found)
        lost = [message.id for message in shown if message.kind == UNREADABLE]
        assert 60 in lost
        assert len(lost) < 20
        assert len(shown) == 120
        assert all(message.text.startswith(f"unique{message.id} ") for message in shown if message.id not in lost)
        assert all("cannot be read" in message.text for message in shown if message.id in lost)
        assert exact_count(store, chain) == 120
        window = load_window(store, chain, 60, 2, 2)
        assert [message.id for message in window.messages] == [58, 59, 60, 61, 62]
        assert (window.before, window.after) == (57, 58)


class Plans:
    """What SQLite did: the statements that ran, and how each would be carried out."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.statements: list[str] = []

    def __enter__(self) -> Plans:
        self._store.conn.set_trace_callback(self.statements.append)
        return self

    def __exit__(self, *exc: object) -> None:
        self._store.conn.set_trace_callback(None)

    def steps(self) -> list[str]:
        asked = [sql for sql in self.statements if sql.lstrip().lower().startswith(("select", "with"))]
        return [
            f"{row[3]}   ⟵ {sql}"
            for sql in dict.fromkeys(asked)
            for row in self._store.conn.execute(f"explain query plan {sql}").fetchall()
        ]


@pytest.mark.real
def test_outline_and_window_search_by_index_and_read_no_texts(real_home: Path) -> None:
    with opened(real_home / "state.db") as store:
        longest = max(all_chains(store), key=lambda chain: sum(each.message_count for each in chain.segments))
        with Plans(store) as whole:
            found = load_outline(store, longest)
            exact_count(store, longest)
        with Plans(store) as part:
            load_window(store, longest, found.ids[len(found) // 2], 5, 5)
        for step in whole.steps() + part.steps():
            assert not step.startswith(("SCAN m ", "SCAN d ", "SCAN u ")), step
            assert not step.startswith(("SCAN m\n", "SCAN messages")), step
        reading = [sql for sql in whole.statements if "m.content" in sql.partition("from messages")[0]]
        for sql in reading:  # only the first character of a person's row, or rows that were named by id
            head = sql.partition("from messages")[0]
            assert "substr(m.content, 1, 1)" in head or "m.id in" in sql, sql


def test_the_outline_does_not_read_the_texts(db: Path, tmp_path: Path) -> None:
    """Long texts lie on pages of their own; here all of these are destroyed."""
    with StoreBuilder(db, 31, fts=False, journal="delete") as made:
        made.session("s")
        for number in range(60):
            role = ("user", "assistant", "tool")[number % 3]
            made.message("s", role, f"{number} " + "long " * (9_000 if number % 3 else 9))
    raw = bytearray(db.read_bytes())
    size = int.from_bytes(raw[16:18], "big")
    destroyed = 0
    for at in range(0, len(raw), size):
        if raw[at + 4 : at + size].count(b"long ") > (size - 4) // 5 - 2:
            raw[at : at + 4] = b"\xff" * 4
            destroyed += 1
    assert destroyed > 300
    broken = tmp_path / "broken.db"
    broken.write_bytes(raw)
    with opened(broken) as store:
        found = outlined(store, "s")
        assert list(found.roles) == [1, 2, 3] * 20
        assert all(at > 0 for at in found.timestamps)


@pytest.mark.parametrize("size", [50, 5_000])
def test_a_window_asks_for_as_many_rows_however_long_the_rest_is(db: Path, size: int) -> None:
    with StoreBuilder(db, 31, fts=False) as made:
        made.session("s")
        for number in range(size):
            made.message("s", ("user", "assistant")[number % 2], f"words {number}")
    with opened(db) as store:
        chain = chain_of(store, "s")
        with Plans(store) as plans:
            window = load_window(store, chain, size // 2, 5, 5)
        assert [message.text for message in window.messages] == [
            f"words {n}" for n in range(size // 2 - 6, size // 2 + 5)
        ]
        assert len(plans.statements) < 20


def test_of_a_long_session_a_rough_count_looks_at_no_row(db: Path) -> None:
    size = 2 * places.LONG
    with StoreBuilder(db, 31, fts=False) as made:
        made.session("s")
        for number in range(size):
            made.message(
                "s", ("user", "assistant")[number % 2], "words", display_kind="hidden" if number < 3 else None
            )
    with opened(db) as store:
        chain = chain_of(store, "s")
        window = load_window(store, chain, size // 2, 5, 5)
        with Plans(store) as plans:
            rough = load_window(store, chain, size // 2, 5, 5, rough=True)
        counting = [step for step in plans.steps() if "count(*)" in step]
        assert len(counting) == 1
        # what is in the row behind its text is asked of none that is active, which the index tells
        assert "USING INDEX idx_messages_session_active" in counting[0]
        assert "where m.session_id = 's' and (coalesce(m.active, 1) <> 0 or m.compacted = 1)" in counting[0]
        assert (rough.messages, rough.before, rough.after) == (window.messages, window.before + 3, window.after)


def test_what_was_folded_is_remembered_until_the_store_is_written(db: Path) -> None:
    with StoreBuilder(db, 31) as made:
        made.session("s")
        made.message("s", "user", "one", message_uid="u")
    with opened(db) as store, contextlib.closing(sqlite3.connect(db)) as writer:
        chain = chain_of(store, "s")
        assert exact_count(store, chain) == 1
        with Plans(store) as plans:
            exact_count(store, chain)
        assert not any("group by" in sql for sql in plans.statements)
        writer.execute(
            "insert into messages (session_id, role, content, message_uid) values ('s', 'user', 'one', 'u')"
        )
        writer.commit()
        assert exact_count(store, chain) == 1
        assert load_outline(store, chain).aliases == {1: 2}


def test_a_transcript_of_many_conversations_keeps_no_more_than_a_few(db: Path) -> None:
    with StoreBuilder(db, 31) as made:
        for number in range(copies.REMEMBERED + 20):
            made.session(f"s{number}")
            made.message(f"s{number}", "user", "x")
    with opened(db) as store:
        for chain in all_chains(store):
            exact_count(store, chain)
        assert len(store.memory) == copies.REMEMBERED
