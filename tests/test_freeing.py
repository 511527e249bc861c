"""Memory that was needed for a moment goes back to the system."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from hermes_tui.service import reader as reader_module
from hermes_tui.service.reader import Reader
from tests.builders import StoreBuilder
from tests.test_storage_newest import ref_of


@pytest.fixture
def db(tmp_path: Path) -> Path:
    with StoreBuilder(tmp_path / "state.db") as made:
        made.session("s1")
    return tmp_path / "state.db"


async def test_what_long_jobs_have_left_goes_back_once_their_answers_are_shown(
    db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[threading.Thread] = []
    monkeypatch.setattr(reader_module, "give_back", lambda: given.append(threading.current_thread()))
    monkeypatch.setattr(reader_module, "_LONG", 0.0)
    monkeypatch.setattr(reader_module, "_SHOWN", 3_600.0)
    reader = Reader()
    try:
        await reader.side_by_side(ref_of(db), [lambda store: None] * 4)
        assert given == [], "not before"
        assert reader._freeing is not None
        reader._free()
        assert (given, reader._freeing) == ([threading.current_thread()], None), "no thread that gives way"
        monkeypatch.setattr(reader_module, "_LONG", 60.0)
        await reader.run(ref_of(db), lambda store: None)
        assert reader._freeing is None, "a short one leaves little"
    finally:
        await reader.end()
