"""Reading where no index answers: the cheap condition must let through everything that matches, and the judge must
tell words as FTS5 tells them."""

from __future__ import annotations

import contextlib
import random
import re
import sqlite3
import string
from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pytest

from hermes_tui.domain.filters import NO_FILTERS
from hermes_tui.domain.querytext import parse_query
from hermes_tui.domain.querytrees import And, Form, Leaf, Node, Or
from hermes_tui.storage import scan
from hermes_tui.storage.conditions import conditions
from hermes_tui.storage.connection import Store
from hermes_tui.storage.fts import express, look
from hermes_tui.storage.judging import UNICODE, Judge, Row, calls_of, said_of
from hermes_tui.storage.scan import Task, everything, plan, read_ahead, scan_slice, slice_sql, take
from hermes_tui.storage.sieve import sieve_of, teach
from hermes_tui.storage.sifting import TESTED, holding, pieces_of
from tests.builders import StoreBuilder
from tests.seeds import SEED
from tests.stores import opened
from tests.watching import Statements

_SEED = SEED
_LETTERS = ["a", "b", "B", "é", "É", "e\u0301", "ß", "ı", "İ", "ж", "Ж", "漢", "字", "か", "ﾊ", "한", "7", "_"]
_BETWEEN = [" ", " ", " ", "-", ".", "\n", "，", "\x00", "→", "🧨", "\u200b", "%", '"', "\\"]


def text(rng: random.Random, words: int) -> str:
    parts = []
    for _ in range(words):
        parts.append("".join(rng.choices(_LETTERS, k=rng.randrange(1, 4))))
        parts.append(rng.choice(_BETWEEN))
    return "".join(parts)


def leaf(rng: random.Random) -> Leaf:
    word = "".join(rng.choices(_LETTERS[:-1], k=rng.randrange(1, 4)))
    roll = rng.random()
    if roll < 0.2:
        return Leaf(f"{word} {''.join(rng.choices(_LETTERS[:-1], k=2))}", Form.PHRASE)
    if roll < 0.4:
        return Leaf(word, Form.PREFIX)
    return Leaf(word, inside=roll < 0.6)


@pytest.fixture
def scribbled(tmp_path: Path) -> Path:
    """A store of nonsense in many alphabets, structured and in calls too."""
    print(f"drawn with seed {_SEED}")
    rng = random.Random(_SEED)
    with StoreBuilder(tmp_path / "state.db") as store:
        store.session("s1")
        for i in range(600):
            said: object = text(rng, rng.randrange(1, 9))
            if i % 11 == 0:
                said = [{"type": "text", "text": said}, {"type": "image_url", "image_url": {"url": "x"}}]
            calls = [{"function": {"name": "t", "arguments": text(rng, 3)}}] if i % 5 == 0 else None
            store.message("s1", rng.choice(["user", "assistant", "tool"]), said, tool_calls=calls, tool_name="ab")
    return tmp_path / "state.db"


def found(db: Path, tree: Node, *, with_index: bool, sieved: bool = True) -> set[int]:
    with opened(db) as store:
        base = look(store).base
        assert base is not None
        judge = Judge(tree, tokenizer=base.tokenizer)
        asked = tree if sieved else Leaf("\u2047")  # no piece of it can be looked for: everything is let through
        stretches = everything(store, held=with_index)
        task = Task(
            judge, asked, stretches, conditions(store.schema, NO_FILTERS), base if with_index else None, False
        )
        rows = []
        while task.stretches:
            rows += scan_slice(store, task)
        return {row.id for row in rows if row.verdict.whole}


def test_nothing_that_matches_is_sieved_out(scribbled: Path) -> None:
    rng = random.Random(_SEED)
    matched = 0
    for _ in range(150):
        one = leaf(rng)
        everything_judged = found(scribbled, one, with_index=False, sieved=False)
        assert found(scribbled, one, with_index=False) == everything_judged, one
        matched += len(everything_judged)
    assert matched > 500


def test_of_several_words_nothing_is_sieved_out_either(scribbled: Path) -> None:
    rng = random.Random(_SEED)
    matched = 0
    for kind in (And, Or) * 30:
        tree = kind(tuple(leaf(rng) for _ in range(rng.randrange(2, 4))))
        everything_judged = found(scribbled, tree, with_index=False, sieved=False)
        assert found(scribbled, tree, with_index=False) == everything_judged, tree
        matched += len(everything_judged)
    assert matched > 500


def test_pieces_are_looked_for_by_sqlite_and_what_it_does_not_see_comes_to_python(tmp_path: Path) -> None:
    said = {
        "a 100%_b\\c d": True,
        "A 100%_B\\C d": True,
        "a 100%xb\\c d": False,
        "a 100 b c": False,
        "nothing \x00 100%_b\\c": True,
        "nothing at all": False,
    }
    with StoreBuilder(tmp_path / "state.db") as builder:
        builder.session("s1")
        for each in said:
            builder.message("s1", "tool", each)
        builder.message("s1", "tool", b"x100%_b\\c")
        builder.message("s1", "user", [{"type": "text", "text": "100%_b\\c"}])
        builder.message("s1", "assistant", None, tool_calls=r'[{"arguments": "\u0031\u0030\u0030%_b\\c"}]')
        builder.message("s1", "assistant", None, tool_calls='[{"arguments": "100"}]')
        builder.message("s1", "tool", "", tool_name="100%_B\\c")
        builder.message("s1", "tool", None)
    tree = Leaf("100%_b\\c", inside=True)
    with opened(tmp_path / "state.db") as store:
        test, params = holding(pieces_of(tree) or [])
        rows = {row[0] for row in store.conn.execute(f"select id from messages m where {test}", params)}
        assert rows == {1, 2, 5, 7, 8, 9, 11}
        task = Task(Judge(tree, tokenizer=UNICODE), tree, [], conditions(store.schema, NO_FILTERS), None, False)
        sieve = slice_sql(task, everything(store, held=False)[0])[2][0]
        raw = "cast(content as blob), cast(tool_name as blob), cast(tool_calls as blob)"
        cells = store.conn.execute(f"select id, {raw} from messages").fetchall()
        assert {number for number, *each in cells if sieve.worth(*each)} <= rows


@pytest.mark.parametrize(
    "tree",
    [
        Leaf("word"),
        Leaf("部署", inside=True),
        Or((Leaf("piece", inside=True), Leaf("word"))),
        Or(tuple(Leaf(f"piece{i}", inside=True) for i in range(TESTED + 1))),
    ],
)
def test_what_sqlite_does_not_find_by_itself_is_not_left_to_it(tree: Node) -> None:
    assert pieces_of(tree) is None


def test_a_row_is_looked_at_once_however_many_words(scribbled: Path) -> None:
    """SQLite loads a long text anew for every condition on it."""
    words = tuple(Leaf(word, inside=inside) for word in ("ab", "ba", "7a") for inside in (True, False))
    with opened(scribbled) as store:
        task = Task(
            Judge(words[0], tokenizer=UNICODE), Or(words), [], conditions(store.schema, NO_FILTERS), None, False
        )
        for stretch in (*everything(store), *everything(store, held=False)):
            sql, _, sieves = slice_sql(task, stretch)
            assert len(sieves) == 1
            assert sql.rpartition("from messages m")[2].count("worth0(") == 1
            before_others = sql.rpartition("from messages m")[2].partition("session_meta")[0]
            assert before_others.count("m.content") == 1, "more loads of the text"


def test_of_texts_without_the_word_none_comes_to_python(tmp_path: Path) -> None:
    """Not for an accent elsewhere, nor for what only looks like one: bringing them is what takes the time."""
    said = [
        "naïve café — “it’s done” → ✓",
        "crème brûlée 部署",
        "Ångström ×3 ½",
        "plain",
        "deep too lite",
        "dëep toolite",
    ]
    said += ["DEEPTOOLITE", "dëeptoolite", "dee\u0301ptoolite", "deeptoolitè", "deeptoolite\u0301", "ðeeptoolité"]
    with StoreBuilder(tmp_path / "state.db") as builder:
        builder.session("s1")
        for each in said:
            builder.message("s1", "tool", each * 3 if each.isspace() else each)
    with opened(tmp_path / "state.db") as store:
        tree = Leaf("deeptoolite")
        task = Task(Judge(tree, tokenizer=UNICODE), tree, [], conditions(store.schema, NO_FILTERS), None, False)
        sql, params, sieves = slice_sql(task, everything(store, held=False)[0])
        teach(store, sieves)
        read = {row[4] for row in store.conn.execute(sql, {**params, "low": 0, "high": len(said)})}
    assert read == {*said[6:]}


def test_signs_that_are_letters_are_seen_among_dashes_and_quotes() -> None:
    sieve = sieve_of([Leaf("kite")], structured=False)
    assert sieve is not None
    for text, worth in (
        ("— “quoted” → ✓ │", False),
        ("— “\u212aite” → ✓", True),
        ("\u212aite", True),
        ("— kíte", True),
        ("— k─ite", False),
    ):
        assert sieve.worth(text.encode(), None, None) is worth, text


def test_a_text_full_of_accents_is_sieved_as_fast_as_any() -> None:
    """One that tries every way to read them would not be done with these in years."""
    words = [Leaf(string.ascii_lowercase + "abcd"), Leaf("a" * 50)]
    sieve = sieve_of(words, structured=False)
    assert sieve is not None
    for text, worth in (
        ("é" * 27 + " plain", False),
        ("é" * 9_000, True),
        ("plain " + "ééa" * 12 + "b", False),
        ("a\u0301" * 24 + " ", False),
        ("a\u0301" * 25, True),
        ("ab\u0301c\u0301d\u0301" + string.ascii_lowercase[4:] + "abcé", True),
        ("ab\u0301c\u0301d\u0301" + string.ascii_lowercase[4:] + "abé ", False),
    ):
        assert sieve.worth(text.encode(), None, None) is worth, text


def test_a_word_in_an_alphabet_of_its_own_is_not_looked_for_in_ascii(tmp_path: Path) -> None:
    with StoreBuilder(tmp_path / "state.db") as builder:
        builder.session("s1")
        for each in ("plain", "Привет", "привет всем", "uber", "über"):
            builder.message("s1", "user", each)
        builder.message("s1", "assistant", "", tool_calls=[{"function": {"name": "t", "arguments": "привет"}}])
    for word, read in (("привет", {2, 3, 5, 6}), ("über", {4, 5})):
        with opened(tmp_path / "state.db") as store:
            tree = Leaf(word)
            task = Task(Judge(tree, tokenizer=UNICODE), tree, [], conditions(store.schema, NO_FILTERS), None, False)
            sql, params, sieves = slice_sql(task, everything(store, held=False)[0])
            teach(store, sieves)
            assert {row[0] for row in store.conn.execute(sql, {**params, "low": 0, "high": 6})} == read


def test_the_judge_tells_words_as_fts5_does() -> None:
    rng = random.Random(_SEED)
    texts = [text(rng, 6) for _ in range(300)]
    conn = sqlite3.connect(":memory:")
    conn.execute("create virtual table t using fts5(body)")
    conn.executemany("insert into t(rowid, body) values (?, ?)", enumerate(texts))
    rows = [Row(i, "s", "user", 0, said, "", "") for i, said in enumerate(texts)]
    for _ in range(200):
        tree = parse_query(text(rng, 3).replace("\x00", " ").replace('"', " ") + " a", present=0).expression
        if tree is None or any(one.substring for one in _leaves(tree)):
            continue
        expected = {row[0] for row in conn.execute("select rowid from t where t match ?", (express(tree),))}
        judged = {i for i, verdict in Judge(tree, tokenizer="unicode61").judge(rows).items() if verdict.whole}
        assert judged == expected, express(tree)
    conn.close()


def _leaves(tree: Node) -> list[Leaf]:
    from hermes_tui.domain.querytrees import leaves

    return list(leaves(tree))


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        (r'{"q": "\u5e7f\u897f"}', '{"q": "广西"}'),
        (r'"{\"q\": \"\\u5e7f\\u897f\"}"', r'"{\"q\": \"广西\"}"'),
        (r"\ud842\udfb7", "𠮷"),
        (r"\ud842 alone", "\ufffd alone"),
        (r"C:\users\u12", r"C:\users\u12"),
        (None, ""),
        (b"\xff\\u00e9", "\ufffdé"),
        (17, "17"),
    ],
)
def test_calls_are_read_as_they_were_meant(stored: object, read: str) -> None:
    assert calls_of(stored) == read


def test_content_of_any_kind_can_be_searched() -> None:
    assert said_of(None) == ""
    assert said_of(b"\xffabc") == "\ufffdabc"
    assert said_of(3.5) == "3.5"
    assert said_of('\x00json:[{"type": "text", "text": "caf\\u00e9"}]') == "café"
    assert said_of("\x00json:{broken").endswith("{broken")


def read_through(db: Path, word: str) -> tuple[set[int], int, int]:
    """Ids of the messages that a reading finds, how many it could not read, and how many slices it took."""
    with opened(db) as store:
        tree = Leaf(word)
        asked = everything(store, "m.session_id in (select value from json_each(:those))", held=False)
        asked = [replace(each, params={"those": '["s1"]'}) for each in asked]
        where = conditions(store.schema, NO_FILTERS)
        task = Task(Judge(tree, tokenizer="unicode61"), tree, asked, where, None, False)
        rows, slices = [], 0
        while task.stretches:
            rows += scan_slice(store, task)
            slices += 1
        assert task.progress == 1.0
        return {row.id for row in rows if row.verdict.whole}, task.unreadable, slices


def test_ids_far_apart_are_not_counted_through(tmp_path: Path) -> None:
    db = tmp_path / "state.db"
    with StoreBuilder(db, fts=False) as store:
        store.session("s1")
        for message_id in (-(2**63) + 1, -5, 1, 2, 10**9, 2**62, 2**63 - 1):
            store.message("s1", "user", "plover", id=message_id)
    found, unreadable, slices = read_through(db, "plover")
    assert found == {-(2**63) + 1, -5, 1, 2, 10**9, 2**62, 2**63 - 1}
    assert unreadable == 0
    assert slices < 20


def test_a_damaged_index_on_the_way_does_not_hide_the_messages(tmp_path: Path, statements: Statements) -> None:
    db = tmp_path / "state.db"
    with StoreBuilder(db, fts=False, journal="delete") as store:
        store.session("s1")
        for n in range(3_000):
            store.message("s1", "user", f"plover {n}")
    whole, _, _ = read_through(db, "plover")
    with contextlib.closing(sqlite3.connect(db)) as conn:
        size = conn.execute("pragma page_size").fetchone()[0]
        pages = conn.execute(
            "select rootpage from sqlite_master where type = 'index' and tbl_name = 'messages'"
        ).fetchall()
    raw = bytearray(db.read_bytes())
    for (page,) in pages:
        raw[(page - 1) * size : page * size] = bytes(size)
    db.write_bytes(raw)
    statements.all.clear()
    found, unreadable, _ = read_through(db, "plover")
    assert found == whole
    assert len(whole) == 3_000
    assert unreadable == 0
    assert len(statements.all) < 100


def test_of_very_many_words_the_next_is_looked_for_only_where_those_before_stand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[str] = []

    class Noting:
        def __init__(self, regex: re.Pattern[str]) -> None:
            self._regex = regex

        def finditer(self, text: str) -> Iterator[re.Match[str]]:
            looks.append(text)
            return self._regex.finditer(text)

    words = tuple(Leaf(f"<{i}>", inside=True) for i in range(500))
    judge = Judge(And(words), tokenizer="unicode61")
    monkeypatch.setattr(judge, "_patterns", {leaf: Noting(regex) for leaf, regex in judge._patterns.items()})
    whole = "".join(leaf.text for leaf in words)
    rows = [Row(n, "s", "user", 0.0, text, "", "") for n, text in enumerate((whole, "<0><1>", "nothing"))]
    assert {i for i, verdict in judge.judge(rows).items() if verdict.whole} == {0}
    assert len(looks) == len(words) + 3 + 1


def plovers(db: Path, number: int, *, one_in: int = 1) -> None:
    """A store without an index, with so many messages, one in so many about plovers."""
    with StoreBuilder(db, fts=False) as builder:
        builder.session("s1")
        for n in range(number):
            builder.message("s1", "user", "other" if n % one_in else f"plover {n}")


def reading_of(store: Store, *, abreast: int) -> Task:
    """A search for them that reads everything."""
    tree, where = Leaf("plover"), conditions(store.schema, NO_FILTERS)
    stretches = everything(store, held=False)
    return Task(Judge(tree, tokenizer=UNICODE), tree, stretches, where, None, False, abreast=abreast)


def test_slices_can_be_read_ahead_and_are_taken_in_their_order(tmp_path: Path) -> None:
    plovers(tmp_path / "state.db", 9_000, one_in=7)
    with opened(tmp_path / "state.db") as store, opened(tmp_path / "state.db") as beside:
        task = reading_of(store, abreast=2)
        found = scan_slice(store, task)
        turns = 0
        while task.stretches:
            jobs = read_ahead(task)
            take(task, [job(where) for job, where in zip(jobs, cycle((store, beside)), strict=False)])
            assert read_ahead(task) == []
            found += scan_slice(store, task)
            turns += 1
        assert task.progress == 1.0
    assert turns
    ids = [row.id for row in found]
    assert ids == sorted(ids, reverse=True)
    assert len(ids) == len(set(ids)) == len(range(0, 9_000, 7))


def test_the_first_slices_are_read_side_by_side_and_the_last_are_as_large_as_each_other(tmp_path: Path) -> None:
    """Two for each thread, so that none waits long for the other; most part no block of ids of which is remembered
    what is known of their texts."""
    plovers(tmp_path / "state.db", 5_001)
    with opened(tmp_path / "state.db") as store:
        for number, sizes in ((2, [[1_161, 1_024, 1_024, 1_024], [192] * 4]), (1, [])):
            task = reading_of(store, abreast=number)
            plan(store, task)
            planned, found = [], []
            while task.stretches:
                planned.append([span.high - span.low for span in task.planned])
                take(task, [job(store) for job in read_ahead(task)])
                found += scan_slice(store, task)
            assert [each for each in planned if each] == sizes
            assert [row.id for row in found] == list(range(5_001, 0, -1))


def test_what_could_not_be_read_ahead_is_read_in_its_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plovers(tmp_path / "state.db", 9_000)
    with opened(tmp_path / "state.db") as store:
        task = reading_of(store, abreast=2)
        found = scan_slice(store, task)
        first, second, *others = read_ahead(task)
        damage = sqlite3.DatabaseError("malformed")
        damage.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        with monkeypatch.context() as patch:
            patch.setattr(scan, "read", lambda *_: (_ for _ in ()).throw(damage))
            lost = first(store)
            patch.setattr(scan, "read", lambda *_: (_ for _ in ()).throw(sqlite3.OperationalError("busy")))
            with pytest.raises(sqlite3.OperationalError):
                second(store)
        assert lost is None
        take(task, [lost, second(store), *(job(store) for job in others)])
        assert task.ahead == []
        while task.stretches:
            found += scan_slice(store, task)
    assert len({row.id for row in found}) == len(found) == 9_000
