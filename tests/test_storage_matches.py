"""What a question costs an index, counted in steps of SQLite's machine and read off its plans: no clocks."""

from __future__ import annotations

import gc
import sqlite3
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes_tui.domain.filters import NO_FILTERS
from hermes_tui.domain.queries import SearchOrder
from hermes_tui.domain.querytrees import And, Leaf, Or, Without
from hermes_tui.storage import folding, matches, ranking, structured, summing
from hermes_tui.storage.conditions import Conditions, conditions
from hermes_tui.storage.connection import Store
from hermes_tui.storage.fts import Index, Scale, look, scale, structured_ids, varints
from hermes_tui.storage.matches import Group, Groups, Top
from hermes_tui.storage.structured import may_hold
from hermes_tui.storage.summing import Summing
from hermes_tui.values import replace
from tests.builders import StoreBuilder
from tests.stores import opened

_WORD = Leaf("common")


def _write(db: Path, messages: int, schema: int = 31) -> Path:
    with StoreBuilder(db, schema) as store:
        for i in range(20):
            store.session(f"s{i}")
        for i in range(messages):
            store.message(f"s{i % 20}", "user", f"common word {i}")
    return db


def _steps(store: Store, ask: Callable[[], object]) -> int:
    taken = 0

    def count() -> int:
        nonlocal taken
        taken += 1
        return 0

    store.conn.set_progress_handler(count, 10)
    try:
        ask()
    finally:
        store.conn.set_progress_handler(None, 0)
    return taken


def _base(store: Store) -> Index:
    base = look(store).base
    assert base is not None
    return base


def test_the_newest_matches_cost_the_same_however_many_there_are(tmp_path: Path) -> None:
    taken = []
    for messages in (1_000, 8_000):
        with opened(_write(tmp_path / str(messages) / "state.db", messages)) as store:
            base, where = _base(store), conditions(store.schema, NO_FILTERS)

            def ask(store: Store = store, base: Index = base, where: Conditions = where) -> object:
                return ranking.newest(store, base, _WORD, where, ranking.newest_ids(store, base, _WORD, 50))

            found = ranking.newest(store, base, _WORD, where, ranking.newest_ids(store, base, _WORD, 50))
            assert [top.id for _, top in found] == list(range(messages, messages - 50, -1))
            taken.append(_steps(store, ask))
    assert taken[1] < taken[0] * 1.5


def test_words_that_go_on_are_asked_for_where_the_word_that_is_typed_finds_too_few(tmp_path: Path) -> None:
    typed, other = Leaf("comm", typing=True), Leaf("rare")
    with StoreBuilder(tmp_path / "state.db") as made:
        made.session("s")
        for i in range(1, 61):
            made.message("s", "user", f"{'comm' if i % 3 else 'common'} {'rare' if i % 2 else 'rarely'} {i}")
    trees = (typed, And((typed, other)), Or((other, typed)), Without(typed, other))
    with opened(tmp_path / "state.db") as store:
        base = _base(store)
        for tree in (*trees, Without(other, typed)):
            every = ranking.newest_ids(store, base, tree, 100)
            for number in (5, 12, 30, 100):
                asked, found = ranking.enough(store, base, tree, number)
                assert set(found) <= set(every)
                assert len(found) == number or found == every
                assert asked == tree or len(found) == number
        assert [ranking.enough(store, base, tree, 10)[0] for tree in trees] == [
            Leaf("comm"),
            And((Leaf("comm"), other)),
            Or((other, Leaf("comm"))),
            Without(Leaf("comm"), other),
        ]
        assert ranking.enough(store, base, typed, 50)[0] == typed
        assert ranking.enough(store, base, Without(other, typed), 0)[0] == Without(other, typed)


def test_where_the_word_that_is_typed_finds_enough_no_words_that_go_on_are_looked_up(tmp_path: Path) -> None:
    with opened(_write(tmp_path / "state.db", 100)) as store:
        base, asked, typed = _base(store), [], replace(_WORD, typing=True)
        store.conn.set_trace_callback(asked.append)
        ranking.enough(store, base, typed, 50)
        ranking.enough(store, base, typed, 500)
        store.conn.set_trace_callback(None)
    said = [each for each in asked if each.startswith("select rowid from") and "match" in each]
    assert ['"common"*' in each for each in said] == [False, False, True]


def test_the_best_of_the_newest_do_not_ask_about_the_rest(tmp_path: Path) -> None:
    with opened(_write(tmp_path / "state.db", 8_000)) as store:
        base, where, order = _base(store), conditions(store.schema, NO_FILTERS), SearchOrder.RELEVANCE
        part = ranking.newest_part(store, base, _WORD, 500)
        some = _steps(store, lambda: ranking.ranking(store, base, _WORD, where, order, part))
        rest = _steps(store, lambda: ranking.ranking(store, base, _WORD, where, order, part.rest))
        every = _steps(store, lambda: ranking.ranked(store, base, _WORD, where, order))
        assert some < every / 8
        assert rest < every
        assert every < 8_000 * 12, "a few steps a match, and no sorting"


def test_two_parts_of_a_store_are_the_whole(tmp_path: Path) -> None:
    with opened(_write(tmp_path / "state.db", 3_000)) as store:
        base, where = _base(store), conditions(store.schema, NO_FILTERS)
        for order in SearchOrder:
            part = ranking.newest_part(store, base, _WORD, 700)
            newest = ranking.ranking(store, base, _WORD, where, order, part)
            before = newest.groups()
            found = ranking.ranking(store, base, _WORD, where, order, part.rest)
            found.add(newest)
            assert sum(group[matches.SAID].count for group in before.values()) == 700
            assert found.groups() == ranking.ranked(store, base, _WORD, where, order)
            assert newest.groups() == before


def test_of_many_matches_of_one_session_the_best_are_kept(tmp_path: Path) -> None:
    with opened(_write(tmp_path / "state.db", 3_000)) as store:
        base, where = _base(store), conditions(store.schema, NO_FILTERS)
        for order in SearchOrder:
            every: dict[str, list[Top]] = {}
            for _, top in ranking.every(store, base, _WORD, where, order):
                every.setdefault(top.session_id, []).append(top)
            assert max(map(len, every.values())) > 2 * ranking.HELD
            groups = ranking.ranked(store, base, _WORD, where, order)
            assert {key: group[matches.SAID] for key, group in groups.items()} == {
                key: Group(len(tops), sorted(tops, key=matches.by_order(order))[: matches.BEST])
                for key, tops in every.items()
            }


def _best_of(groups: Groups) -> dict[tuple[str, int], tuple[int, Top]]:
    return {
        (session_id, kind): (group.count, group.tops[0])
        for session_id, kinds in groups.items()
        for kind, group in kinds.items()
    }


@pytest.mark.parametrize("order", SearchOrder)
def test_very_many_matches_are_summed_up_in_parts_to_the_same(tmp_path: Path, order: SearchOrder) -> None:
    with StoreBuilder(tmp_path / "state.db") as made:
        for i in range(7):
            made.session(f"s{i}")
        for i in range(1_500):
            calls = [{"id": f"c{i}", "function": {"name": "common", "arguments": "{}"}}] if i % 5 == 0 else None
            words = "common " * (1 + i % 3) if i % 4 else "rare"
            made.message(f"s{i % 7}", ("user", "assistant", "tool")[i % 3], words, tool_calls=calls)
    with opened(tmp_path / "state.db") as store, opened(tmp_path / "state.db") as other:
        base, where = _base(store), conditions(store.schema, NO_FILTERS)
        whole = ranking.ranked(store, base, _WORD, where, order)
        assert len(_best_of(whole)) == 14, "said and called, in each session"
        known = ranking.recently(store, base, _WORD, where, order, 100)
        for abreast in (1, 2, 3):
            for recently in (None, known):
                summing = Summing(base, _WORD, where, order, recently)
                summing.divide(store, 1_000, abreast)
                assert len(summing.parts) == abreast
                jobs = summing.ahead
                assert len(jobs) == (abreast if abreast > 1 else 0)
                summing.take([job(other) for job in jobs])
                assert not summing.ahead or abreast == 1
                assert _best_of(summing.groups(other)) == _best_of(whole), "whoever read the newest"
                found = summing.groups(store)
                assert _best_of(found) == _best_of(whole), "of equally good ones the earliest"
                assert summing.deepen(store, found, ["s1", "s2", "gone"])
                assert not summing.deepen(store, found, ["s2"]), "asked for once"
                assert {key: found[key] for key in ("s1", "s2")} == {key: whole[key] for key in ("s1", "s2")}
                assert all(len(group.tops) == 1 for group in found["s3"].values()), "of the others the best alone"


def test_however_many_match_few_are_summed_up_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summing, "MOST", 100)
    with opened(_write(tmp_path / "state.db", 1_000)) as store:
        base, where, order = _base(store), conditions(store.schema, NO_FILTERS), SearchOrder.RELEVANCE
        whole = _best_of(ranking.ranked(store, base, _WORD, where, order))
        for abreast in (1, 2):
            asked = Summing(base, _WORD, where, order)
            asked.divide(store, 1_000, abreast)
            read = [job(store) or [] for job in asked.ahead]
            numbers = [sum(number for _, _, number, *_ in rows) for rows in read]
            assert len(asked.parts) == 10
            assert numbers == ([] if abreast == 1 else [100] * 10), "one processor has nothing to read side by side"
            assert _best_of(asked.groups(store)) == whole


def test_of_what_was_summed_up_only_the_groups_stay(tmp_path: Path) -> None:
    with opened(_write(tmp_path / "state.db", 300)) as store:
        base, where, order = _base(store), conditions(store.schema, NO_FILTERS), SearchOrder.RELEVANCE
        known = ranking.recently(store, base, _WORD, where, order, 100)
        newest = weakref.ref(known.ranking)
        summing = Summing(base, _WORD, where, order, known)
        del known
        summing.divide(store, 200, 2)
        summing.take([job(store) for job in summing.ahead])
        groups = summing.last(store)
        assert _best_of(groups) == _best_of(ranking.ranked(store, base, _WORD, where, order))
        assert newest() is None
        assert all(type(each) is not list for each in gc.get_referents(summing) if each is not summing.parts)
        assert summing.deepen(store, groups, ["s1"])


def test_a_part_that_cannot_be_summed_up_ahead_is_left_to_the_answer(tmp_path: Path) -> None:
    with opened(_write(tmp_path / "state.db", 300)) as store:
        base, where, order = _base(store), conditions(store.schema, NO_FILTERS), SearchOrder.RELEVANCE
        summing = Summing(base, _WORD, where, order)
        summing.divide(store, 300, 2)
        summing.take([summing.ahead[0](store), None])
        assert _best_of(summing.groups(store)) == _best_of(ranking.ranked(store, base, _WORD, where, order))


def test_what_is_written_between_two_steps_is_summed_up_as_well(tmp_path: Path) -> None:
    db = _write(tmp_path / "state.db", 300)
    with opened(db) as store:
        base, where, order = _base(store), conditions(store.schema, NO_FILTERS), SearchOrder.RELEVANCE
        summing = Summing(base, _WORD, where, order, ranking.recently(store, base, _WORD, where, order, 100))
        summing.divide(store, 200, 1)
        writer = sqlite3.connect(db)
        writer.execute("update messages set active = 0 where id in (20, 300)")
        writer.commit()
        writer.close()
        assert _best_of(summing.groups(store)) == _best_of(ranking.ranked(store, base, _WORD, where, order))
        assert sum(number for number, _ in _best_of(summing.groups(store)).values()) == 298


def test_the_matches_behind_the_best_cost_no_second_ranking(tmp_path: Path) -> None:
    with opened(_write(tmp_path / "state.db", 8_000)) as store:
        summing = Summing(_base(store), _WORD, conditions(store.schema, NO_FILTERS), SearchOrder.RELEVANCE)
        groups = summing.groups(store)
        every = _steps(store, lambda: summing.groups(store))
        assert _steps(store, lambda: summing.deepen(store, groups, ["s1"])) < every / 4


@pytest.mark.parametrize("schema", [22, 31])
def test_messages_are_looked_up_by_their_id_and_never_gone_through(tmp_path: Path, schema: int) -> None:
    with opened(_write(tmp_path / "state.db", 200, schema)) as store:
        base, where = _base(store), conditions(store.schema, NO_FILTERS)
        asked: list[str] = []
        part, ids = ranking.newest_part(store, base, _WORD, 50), ranking.newest_ids(store, base, _WORD, 50)
        store.conn.set_trace_callback(asked.append)
        ranking.newest(store, base, _WORD, where, ids)
        ranking.ranked(store, base, _WORD, where, SearchOrder.RELEVANCE)
        ranking.ranking(store, base, _WORD, where, SearchOrder.RELEVANCE, part)
        summing = Summing(base, _WORD, where, SearchOrder.RELEVANCE)
        summing.deepen(store, summing.groups(store), ["s1"])
        matches.sessions_with(store, base, _WORD, where)
        store.conn.set_trace_callback(None)
        statements = [sql for sql in asked if not sql.startswith("--")]
        assert len(statements) == 6
        for sql in statements:
            plan = [row[3] for row in store.conn.execute(f"explain query plan {sql}")]
            assert any("SEARCH m USING INTEGER PRIMARY KEY" in line for line in plan), plan
            assert not any(line.split()[:2] == ["SCAN", "m"] for line in plan), plan


def test_structured_messages_are_known_whatever_their_role(tmp_path: Path) -> None:
    for schema in (11, 31):
        with StoreBuilder(tmp_path / str(schema) / "state.db", schema) as made:
            made.session("s1")
            wanted = {
                made.message("s1", role, [{"type": "text", "text": "x"}], tool_name="t" if role == "tool" else None)
                for role in ("user", "assistant", "tool")
            }
            made.message("s1", "user", "json is a word like others")
            made.message("s1", "tool", "", tool_name="t")
        with opened(tmp_path / str(schema) / "state.db") as store:
            assert set(structured_ids(store, _base(store))) == wanted


def test_the_sums_of_an_index_are_read_off_its_own_record(tmp_path: Path) -> None:
    with opened(_write(tmp_path / "state.db", 200)) as store:
        assert scale(store, _base(store)) == Scale(200, 3.0)


@pytest.mark.parametrize(
    ("blob", "numbers"),
    [(b"", []), (b"\x01\x7f", [1, 127]), (b"\x81\x00\x05", [128, 5]), (b"\xff" * 9 + b"\x02", [2**64 - 1, 2])],
)
def test_numbers_of_variable_length_are_read(blob: bytes, numbers: list[int]) -> None:
    assert list(varints(blob)) == numbers


@pytest.mark.parametrize("schema", [11, 22, 31])
def test_sessions_that_may_hold_copies_are_read_off_indexes(tmp_path: Path, schema: int) -> None:
    with StoreBuilder(tmp_path / "state.db", schema) as made:
        for name in ("plain", "twice", "undone"):
            made.session(name)
        for number in range(5):
            made.message("plain", "user", f"word {number}", timestamp=1_700_000_000.0 + number)
            made.message("twice", "user", f"word {number}", timestamp=1_700_000_000.0 + number // 2)
            inactive = {"active": int(number > 1)} if schema > 11 else {}
            made.message("undone", "user", f"word {number}", timestamp=1_700_000_000.0 + number, **inactive)
    with opened(tmp_path / "state.db") as store:
        found = {"twice", "undone"} if schema > 11 else {"twice"}
        assert folding.suspicious(store) == found
        times = store.conn.execute(f"explain query plan {folding.same_times_sql(store.schema)}").fetchall()
        assert {row[3] for row in times if " m " in row[3]} == {
            "SEARCH m USING COVERING INDEX idx_messages_session (session_id=?)"
        }
        store.schema = replace(store.schema, indexes=frozenset())
        store.searching.clear()
        assert folding.suspicious(store) == found, "without its indexes too"


def test_structured_messages_are_read_only_where_they_may_hold_a_word(tmp_path: Path) -> None:
    with StoreBuilder(tmp_path / "state.db") as made:
        made.session("s1")
        made.message("s1", "user", [{"type": "text", "text": "Caf\u00e9 PLOVER"}])
        made.message("s1", "tool", [{"type": "text", "text": "quay"}], tool_name="terminal")
    with opened(tmp_path / "state.db") as store:
        ids = structured_ids(store, _base(store))
        asked: list[str] = []
        for words in ("plover",), ("cafe",), ("terminal",), ("crane", "quay"):
            assert may_hold(store, ids, map(Leaf, words))
        store.conn.set_trace_callback(asked.append)
        assert not may_hold(store, ids, [Leaf("crane"), Leaf("json")])
        assert may_hold(store, ids, [Leaf("quay"), Leaf("crane")])
        assert not any("from messages" in sql for sql in asked), "what they say is kept"
        assert not may_hold(store, (), [Leaf("plover")])


def test_very_much_that_is_structured_is_read_every_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with StoreBuilder(tmp_path / "state.db") as made:
        made.session("s1")
        made.message("s1", "user", [{"type": "text", "text": "plover"}])
    for limit in ("MOST", "LONGEST"):
        with monkeypatch.context() as patch, opened(tmp_path / "state.db") as store:
            patch.setattr(structured, limit, 0)
            assert may_hold(store, structured_ids(store, _base(store)), [Leaf("crane")])


def test_what_is_written_between_two_steps_is_in_the_answer(tmp_path: Path) -> None:
    db = _write(tmp_path / "state.db", 300)
    with opened(db) as store, opened(db) as other:
        base, where, order = _base(store), conditions(store.schema, NO_FILTERS), SearchOrder.RELEVANCE
        known = ranking.recently(store, base, _WORD, where, order, 100)
        whole = ranking.ranked(store, base, _WORD, where, order)
        assert ranking.ranked(store, base, _WORD, where, order, known) == whole
        assert ranking.ranked(other, base, _WORD, where, order, known) == whole
        writer = sqlite3.connect(db)
        writer.execute("update messages set active = 0 where id = 300")
        writer.commit()
        writer.close()
        after = ranking.ranked(store, base, _WORD, where, order, known)
        assert after == ranking.ranked(store, base, _WORD, where, order)
        assert sum(group[matches.SAID].count for group in after.values()) == 299


def test_messages_are_counted_only_where_their_numbers_do_not_tell_how_many_there_are(tmp_path: Path) -> None:
    db = _write(tmp_path / "state.db", 50)
    for gone, counted in (None, False), (20, True):
        if gone is not None:
            with sqlite3.connect(db) as writer:
                writer.execute("delete from messages where id = ?", (gone,))
            writer.close()
        with opened(db) as store:
            asked: list[str] = []
            store.conn.set_trace_callback(asked.append)
            assert _base(store).gaps == ()
            assert any("from messages)" in sql for sql in asked) is counted
