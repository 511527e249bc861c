"""The session that `hermes --resume` goes on with: the same as Hermes itself would say."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from hermes_tui.domain.profiles import StoreRef
from hermes_tui.storage.connection import Store, open_store
from hermes_tui.storage.continuation import continuation
from tests.builders import StoreBuilder
from tests.hermes_answers import hermes_says, session_ids

_RULE = "{id: db.resolve_resume_session_id(id) for id in ids}"


def opened(db: Path) -> Store:
    return open_store(StoreRef("default", db, db.parent, db.parent))


def ours(db: Path, ids: list[str]) -> dict[str, str]:
    store = opened(db)
    try:
        return {id: continuation(store, id) for id in ids}
    finally:
        store.conn.close()


@pytest.mark.real
def test_as_hermes_for_every_session_of_a_real_store(real_home: Path, tmp_path: Path) -> None:
    ids = session_ids(real_home / "state.db")
    assert ours(real_home / "state.db", ids) == hermes_says(_RULE, real_home / "state.db", tmp_path)


@pytest.mark.real
@pytest.mark.parametrize("seed", range(3))
def test_as_hermes_for_every_session_of_a_tangle(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    db = tmp_path / "home" / "state.db"
    ids = [f"s{n:03}" for n in range(120)]
    with StoreBuilder(db) as store:
        for n, id in enumerate(ids):
            parent = rng.choice(ids[:n]) if n and rng.random() < 0.85 else None
            names = ("_branched_from", "_delegate_from", "_reset_from")
            marks = {name: rng.choice([parent, rng.choice(ids), None]) for name in names if rng.random() < 0.15}
            ended = rng.random() < 0.7
            reasons = ["compression", "compression", "compression", "branched", "session_reset", "daily", "user_exit"]
            store.session(
                id,
                rng.choice(["cli", "cli", "cli", "tool", "subagent", "telegram"]),
                parent=parent,
                started_at=rng.choice([store.tick(), 1_780_000_500.0]),
                ended_at=store.tick() if ended else None,
                end_reason=rng.choice(reasons) if ended else None,
                session_key=rng.choice([None, "", "k", "j"]),
                model_config=marks if rng.random() < 0.9 else rng.choice(["{", "[]", "7"]),
                last_activity_at=rng.choice([None, store.clock, 5e246, 1_780_000_900.0]),
            )
            for _ in range(rng.choice([0, 0, 1, 2])):
                store.message(
                    id, "user", "x", active=rng.choice([0, 1]), timestamp=store.clock + rng.uniform(-900, 900)
                )
    assert ours(db, ids) == hermes_says(_RULE, db, tmp_path)


def test_a_loop_and_a_missing_session_come_to_an_end(tmp_path: Path) -> None:
    with StoreBuilder(tmp_path / "state.db") as store:
        store.session("a", parent="b", end_reason="compression", ended_at=1.0)
        store.session("b", parent="a", end_reason="compression", ended_at=1.0)
        store.message("a", "user", "x")
    assert ours(tmp_path / "state.db", ["a", "b", "gone"])["gone"] == "gone"
    assert ours(tmp_path / "state.db", ["a"])["a"] in ("a", "b")
