"""Tool output that goes on behind what an index holds of it: what SQLite and a few bytes around accents tell of it is
what a look at each text tells, and little comes to Python."""

from __future__ import annotations

import contextlib
import random
import sqlite3
import string
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from hermes_tui.domain.filters import NO_FILTERS
from hermes_tui.domain.querytrees import And, Form, Leaf, Or
from hermes_tui.storage import ends
from hermes_tui.storage.conditions import conditions
from hermes_tui.storage.connection import Store
from hermes_tui.storage.ends import ending_with, ends_of
from hermes_tui.storage.fts import CUT_AT, look
from hermes_tui.storage.judging import UNICODE, Judge
from hermes_tui.storage.scan import Task, everything, scan_slice, slice_sql
from hermes_tui.storage.sieve import teach
from hermes_tui.storage.sifting import ends_suffice
from tests.builders import StoreBuilder
from tests.seeds import SEED
from tests.stores import opened
from tests.watching import Statements

_SEED = SEED
_TOOLS = "m.role is 'tool'"
_LONG = "abcdefghijklm" * 2 + "abcdefghijk" + "nopqrstuvwxyz" + string.digits
"""A word whose letters carry so many accents that its end alone does not tell it."""
_FILLERS = ("lorem ipsum ", "é", "部署 ", "e\u0301")


def outputs(rng: random.Random) -> Iterator[str | bytes]:
    """Tool output in which words stand before, across and behind the place where the index ends."""
    words = ("deeptoolite", "dëEptoolitè", "deep\u0301toolite", "deeptoolites", "harbour lights", "harbour.Lîghts")
    for filler in _FILLERS:
        for word in words:
            for before in (0, 1, 4, 10, 13):
                yield (filler * CUT_AT)[: CUT_AT - before - 1] + " " + word
    marked = (letter + "\u0301" * (37 + at) for at, letter in enumerate(_LONG[37:]))
    yield "." * (CUT_AT - 1_024 - 37) + _LONG[:37] + "".join(marked)
    yield "harbour" + " " * CUT_AT + "lights"
    yield "lorem ipsum " * 700 + "harbour lights"
    for _ in range(60):
        filler, word = rng.choice(_FILLERS), rng.choice(words)
        begun = (filler * CUT_AT)[: rng.choice((10, 7_000, CUT_AT, 9_000))]
        said = begun + rng.choice((" ", "\x00", ".")) + word + rng.choice((" ", "s", "\x00 ")) + filler
        yield said.encode() if rng.random() < 0.1 else said


@pytest.fixture
def put_out(tmp_path: Path) -> Path:
    print(f"drawn with seed {_SEED}")
    with StoreBuilder(tmp_path / "state.db") as store:
        store.session("s1")
        for number, said in enumerate(outputs(random.Random(_SEED))):
            calls = r'[{"function": {"name": "t", "arguments": "d\u00e9eptoolite"}}]' if number % 40 == 0 else None
            store.message("s1", "tool", said, tool_name="terminal", tool_calls=calls)
        for said in ("", None, "deeptoolite", "short\x00deeptoolite", *(f"short {n}" for n in range(30))):
            store.message("s1", "tool", said, tool_name="terminal")
    return tmp_path / "state.db"


def test_of_long_tool_output_its_end_tells_what_the_index_does_not(put_out: Path) -> None:
    """Words across the place where the index ends, accents without number, NULs, blobs."""
    asked = [
        *(Leaf(word) for word in ("deeptoolite", "lights", _LONG)),
        *(Leaf(word, Form.PREFIX) for word in ("deeptool", "l", "deeptoolites")),
        *(Leaf(word, Form.PHRASE) for word in ("harbour lights", "harbour-lights", "ipsum harbour")),
        Or((Leaf("toolite"), Leaf("lights"))),
        And((Leaf("harbour"), Leaf("lorem"))),
    ]
    with opened(put_out) as store:
        base, where = look(store).base, conditions(store.schema, NO_FILTERS)
        assert base is not None
        for tree in asked:
            ids = []
            for begun, anywhere in ((False, None), (True, None), (True, where), (True, where)):
                stretches = everything(store, _TOOLS, held=False, begun=begun)
                task = Task(Judge(tree, tokenizer=UNICODE), tree, stretches, where, base, False, anywhere)
                assert ("messages_fts" in slice_sql(task, stretches[0])[0]) is begun
                found = []
                while task.stretches:
                    found += scan_slice(store, task)
                ids.append({row.id for row in found if row.verdict.whole})
            assert ids[1:] == [ids[0]] * 3, tree
            assert ids[0] or tree not in asked[:9]


def test_tool_output_that_the_index_holds_to_its_end_is_not_brought_to_python(put_out: Path) -> None:
    tree = Leaf("deeptoolite")
    with opened(put_out) as store:
        where = conditions(store.schema, NO_FILTERS)
        stretches = everything(store, _TOOLS, held=False, begun=True)
        task = Task(Judge(tree, tokenizer=UNICODE), tree, stretches, where, look(store).base, cut=False)
        sql, params, _ = slice_sql(task, stretches[0])
        seen: list[bytes] = []

        def looked_at(said: bytes | None, name: bytes | None, calls: bytes | None) -> bool:
            if said is not None and calls is None:
                seen.append(said)
            return False

        store.conn.create_function("worth0", 3, looked_at)
        store.conn.execute(sql, {**params, "low": 0, "high": 10_000}).fetchall()
        rows = store.conn.execute("select cast(content as blob), typeof(content) from messages").fetchall()
    assert len(seen) > 100
    whole = {said for said, kind in rows if kind == "text" and len(said) <= CUT_AT and b"\0" not in said}
    whole -= {said for said, kind in rows if kind == "blob"}
    assert len(whole) > 20
    assert not set(seen) & whole


def test_an_index_that_ends_elsewhere_is_not_asked_for_the_beginning(put_out: Path) -> None:
    with opened(put_out) as store:
        base = look(store).base
        assert base is not None
        assert ends_suffice(base, Leaf("deeptoolite"))
        for other in (
            replace(base, cut_as_known=False),
            replace(base, tokenizer="unicode61 tokenchars '_'"),
            replace(base, columns=("content",)),
        ):
            assert not ends_suffice(other, Leaf("deeptoolite"))
        for tree in (Leaf("部署"), Leaf("dëep"), Leaf("too", inside=True), Leaf("a" * 61), Leaf("...")):
            assert not ends_suffice(base, Or((Leaf("deeptoolite"), tree)))


def long(said: str) -> str:
    """Tool output with this at its end, which no index holds."""
    return "lorem ipsum " * 1_000 + said


@pytest.fixture
def noted(tmp_path: Path) -> Path:
    """Output with a word at its end, among much that only resembles it."""
    said = {
        1: long("deeptoolite"),
        2: long("DEEPTOOLITE."),
        3: long("dëeptoolite"),
        4: long("deep\u0301toolitè"),
        300: long("deeptoo lite"),
        301: long("Zoë Łukasz Müller ễ × Ж — ✓ 部署 deep\u0301too lite"),
        302: "deeptoolite",
        600: long("plain"),
        601: long("\x00 deeptoolite"),
        602: long("lorem ipsum " * 20_000) + "déeptoolite",
        603: long("_%_ 100% deep_oolite"),
        900: "deeptoolite " + long("plain"),
        1_300: long("naïve") + " café" * 1_000,
    }
    with StoreBuilder(tmp_path / "state.db") as store:
        store.session("s1")
        for number, each in said.items():
            store.message("s1", "tool", each, id=number, tool_name="terminal")
        store.message("s1", "user", long("deeptoolite"), id=1_000)
    return tmp_path / "state.db"


def ending(store: Store, word: str) -> set[int]:
    return set(ending_with(store, ends_of([Leaf(word)]), conditions(store.schema, NO_FILTERS), 0, 2_000))


def test_only_output_that_may_end_with_the_word_is_named(noted: Path) -> None:
    always = {600, 601, 602, 603}  # one is longer than what is looked through, and in one is a NUL
    with opened(noted) as store:
        assert ending(store, "deeptoolite") == {1, 2, 3, 4} | always
        assert ending(store, "smell") == {1_300} | always, "of texts full of accents nothing is known"
        assert ending(store, "deeptoolite") <= {1, 2, 3, 4, 300, 301, 1_300} | always
        assert ending(store, "plain") == {900, 1_300} | always
        assert ending(store, "muller") == {300, 301, 1_300} | always
        assert ending(store, "cafe") == {1_300} | always


def test_what_is_learned_of_the_texts_holds_for_other_words_until_a_write(
    noted: Path, statements: Statements
) -> None:
    def looked_through() -> int:
        return sum("group_concat" in each for each in statements.all)

    with opened(noted) as store:
        ending(store, "deeptoolite")
        first = looked_through()
        assert first == -(-2_000 // 256)
        assert {600, 900} < ending(store, "plain")
        assert looked_through() == first + 1, "what no whole block is made of"
        with contextlib.closing(sqlite3.connect(noted)) as other:
            other.execute("update messages set content = ? where id = 300", (long("newly plain"),))
            other.commit()
        assert {300, 600, 900} < ending(store, "plain")
        assert looked_through() == first * 2 + 1


def test_what_one_connection_knows_of_the_texts_the_others_of_the_same_reading_know_too(
    noted: Path, statements: Statements
) -> None:
    """Of the next words each of them is given other slices."""

    def asked(store: Store, high: int, learned: ends.Learned) -> tuple[set[int], int]:
        before = len(statements.all)
        where = conditions(store.schema, NO_FILTERS)
        found = ending_with(store, ends_of([Leaf("plain")]), where, 0, high, learned)
        return set(found), sum("group_concat" in each for each in statements.all[before:])

    every, accented = -(-2_000 // 256), {1_300}
    with opened(noted) as one, opened(noted) as other:
        assert asked(one, 2_000, {})[1] == every
        found, looked_through = asked(other, 2_000, {})
        assert looked_through == every, "what others have remembered may have been written over"
        other.searching.clear()
        learned: ends.Learned = {}
        asked(one, 256, learned)
        assert asked(other, 2_000, learned) == (found | accented, 1)
        with contextlib.closing(sqlite3.connect(noted)) as writer:
            writer.execute("update messages set content = ? where id = 300", (long("newly plain"),))
            writer.commit()
        learned = {}
        assert asked(one, 256, learned)[1] == 1
        assert asked(other, 2_000, learned) == (found | {300}, every - 1), "all but what was read anew"


def test_of_more_texts_than_are_remembered_the_others_are_read_again(
    noted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ends, "_REMEMBERED", 2)
    with opened(noted) as store:
        for _ in range(2):
            assert ending(store, "tool") >= {1, 2, 3, 4}
        kept = store.searching["ends"][1]
        assert isinstance(kept, dict)
        assert len(kept) == 2


def test_whoever_is_not_waited_for_reads_no_further(noted: Path, statements: Statements) -> None:
    with opened(noted) as store:
        store.stopped = lambda: sum("group_concat" in each for each in statements.all) >= 2
        assert ending(store, "deeptoolite") == set()
        assert sum("group_concat" in each for each in statements.all) == 2


def test_the_beginning_of_a_rare_letter_is_what_is_looked_for() -> None:
    for word, part in (("deeptoolite", "ptoolite"), ("cat", "cat"), ("testing", "testing"), ("jaguar", "jaguar")):
        assert ends.rarest(word) == part


def test_the_messages_that_are_named_are_gone_to_by_their_ids(noted: Path) -> None:
    tree = Leaf("deeptoolite")
    with opened(noted) as store:
        where = conditions(store.schema, NO_FILTERS)
        stretches = everything(store, _TOOLS, held=False, begun=True)
        task = Task(Judge(tree, tokenizer=UNICODE), tree, stretches, where, look(store).base, False, where)
        sql, params, sieves = slice_sql(task, stretches[0], among=[1, 2])
        teach(store, sieves)
        bound = {**params, "low": 0, "high": 2_000}
        plan = [row[3] for row in store.conn.execute(f"explain query plan {sql}", bound)]
        assert "SEARCH m USING INTEGER PRIMARY KEY (rowid=?)" in plan
        assert [row[0] for row in store.conn.execute(sql, bound)] == [900, 302, 2, 1]
