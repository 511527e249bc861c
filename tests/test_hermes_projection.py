"""The transcript and the recap beside those that Hermes 0.22.2 makes of the same store, conversation by
conversation. Older stores are compared as 0.22.2 migrates a copy of them; we read the one that was not."""

from __future__ import annotations

import functools
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from hermes_tui.domain.families import Chain
from hermes_tui.domain.messages import HANDOFF
from hermes_tui.domain.sessions import Kind
from hermes_tui.storage.connection import Store
from hermes_tui.storage.recaps import load_recap
from hermes_tui.storage.transcripts import load_messages, load_outline
from tests import real_stores
from tests.stores import all_chains, opened

pytestmark = pytest.mark.real
SIDE = Path(__file__).parent / "hermes_side"
SEEDS = (5, 8)
_CALLS = re.compile(r" ?cli\.resume\.tool_calls_(?:one|other)\Z")


def run(release: str, script: str, home: Path, *arguments: str, given: str = "") -> str:
    command = [str(real_stores.hermes_python(release)), str(SIDE / script), *arguments]
    done = subprocess.run(
        command, env=real_stores.hermes_environment(home), input=given, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout


@functools.cache
def theirs(home: Path) -> dict[str, Any]:
    """Session id → what Hermes 0.22.2 shows of it, asked on a copy."""
    with opened(home / "state.db") as store:
        tips = json.dumps([chain.tip.id for chain in all_chains(store)])
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "copy"
        shutil.copytree(home, copy)
        told = run(real_stores.LATEST, "projections.py", copy, str(copy / "state.db"), given=tips)
    found: dict[str, Any] = json.loads(told)
    return found


def compared(store: Store) -> list[Chain]:
    """Every chain but a losing compression child: Hermes prepends its parent's lineage to it, we keep it as a
    conversation of its own (SPEC 2)."""
    return [chain for chain in all_chains(store) if chain.kind is not Kind.SIBLING]


def shown_by_both(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Hermes projects these rows and hides them when it paints; for us they do not exist (SPEC 2)."""
    return [
        row
        for row in rows
        if row["role"] != "session_meta"
        and row["kind"] != "hidden"
        and not (row["role"] == "user" and not row["kind"] and row["untyped_system"])
    ]


def fold(rows: list[dict[str, Any]], first: int, second: int) -> None:
    """Two rows become one: the active, else the newer, where the first stood."""
    one, other = rows[first], rows.pop(second)
    best = max(one, other, key=lambda row: (row["active"], row["id"]))
    rows[first] = {**best, "stands_in": one["stands_in"]}


def expected(generations: list[dict[str, Any]]) -> list[int]:
    """Hermes' folded rows, and then, told plainly, where SPEC 2 differs from what Hermes does next.

    Rows of one `message_uid` are one message even where a hand-off was written into the copy. A prompt that was
    repeated is one only across a seam: inside one segment a person did say it twice. Of the two the newer is shown.
    """
    rows = shown_by_both(generations)
    at = 0
    while at < len(rows):
        same = [i for i in range(at + 1, len(rows)) if rows[i]["uid"] and rows[i]["uid"] == rows[at]["uid"]]
        if same:
            fold(rows, at, same[0])
        else:
            at += 1
    at = 0
    while at < len(rows):
        earlier = repeated(rows, at)
        if earlier is None:
            at += 1
        else:
            fold(rows, earlier, at)
    return [row["id"] for row in rows]


def repeated(rows: list[dict[str, Any]], at: int) -> int | None:
    """Where the prompt at `at` was said before, in another segment, with no answer between."""
    if rows[at]["role"] != "user" or rows[at]["said"] is None:
        return None
    for earlier in range(at - 1, -1, -1):
        row = rows[earlier]
        if row["answers"]:
            return None
        if row["said"] == rows[at]["said"] and row["stands_in"] != rows[at]["stands_in"]:
            return earlier
    return None


@pytest.mark.parametrize("seed", SEEDS)
def test_generated_stores_read_as_hermes_would_show_them(release: str, seed: int) -> None:
    home = real_stores.store_home(release, seed=seed)
    with opened(home / "state.db") as store:
        chains = compared(store)
        hermes = theirs(home)
        for chain in chains:
            told = hermes[chain.tip.id]
            ids = list(load_outline(store, chain).ids)
            assert told["lineage"] == [segment.id for segment in chain.segments]
            assert ids == [
                row_id for row_id, role, kind in told["rows"] if role != "session_meta" and kind != "hidden"
            ]
            assert ids == expected(told["generations"])


@pytest.mark.parametrize("seed", [1, 2])
def test_stores_full_of_compactions_too(release: str, seed: int, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    run(release, "dramas.py", home, str(home), str(seed), "40")
    with opened(home / "state.db") as store:
        chains = compared(store)
        hermes = theirs(home)
        assert max(len(chain.segments) for chain in chains) > 2
        for chain in chains:
            told = hermes[chain.tip.id]
            assert told["lineage"] == [segment.id for segment in chain.segments]
            assert list(load_outline(store, chain).ids) == expected(told["generations"])


def test_nothing_of_a_drama_is_lost(tmp_path: Path) -> None:
    """Each message that Hermes shows and we fold away is said by the one that stands for it."""
    run(real_stores.LATEST, "dramas.py", tmp_path, str(tmp_path), "9", "30")
    with opened(tmp_path / "state.db") as store:
        for chain in compared(store):
            outline = load_outline(store, chain)
            kept = {
                message.id: message for message in load_messages(store, chain, list(outline.ids), outline=outline)
            }
            for alias, shown in outline.aliases.items():
                raw = store.conn.execute("select content, tool_calls from messages where id = ?", (alias,)).fetchone()
                if raw[0] and not raw[1] and "[CONTEXT" not in raw[0]:
                    text = kept[shown].text
                    assert kept[shown].kind != HANDOFF
                    assert text.strip() == raw[0].strip() or raw[0].startswith("\x00json:")


def test_the_recap_is_that_of_hermes(release: str) -> None:
    """Who speaks, and what; without what we tell otherwise on purpose: hand-offs and events in our words,
    scaffolds as what was typed, structured content read instead of printed."""
    home = real_stores.store_home(release, seed=SEEDS[0])
    with opened(home / "state.db") as store:
        chains = compared(store)
        hermes = theirs(home)
        texts = 0
        for chain in chains:
            entries = hermes[chain.tip.id]["recap"]
            found = load_recap(store, chain)
            assert found.earlier + len(found.entries) == len(entries)
            for ours, (who, text) in zip(found.entries, entries[found.earlier :], strict=True):
                handoff = text.startswith("[CONTEXT COMPACTION")
                assert ours.who == ("event" if handoff else who)
                if ours.who == "event" or text[:1] in ("[", "{") or "[image" in ours.text or "[audio" in ours.text:
                    continue
                assert ours.text == _CALLS.sub("", text)
                texts += 1
        assert texts > 100
