"""Indexes that are stale, half built, damaged, strange or missing: a search still finds everything, and says
what it had to do (CASES R31). Every state is made from one that is well, and must answer like it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes_tui.domain.queries import SearchPage, SearchQuery
from hermes_tui.domain.querytext import parse_query
from hermes_tui.domain.resume import State
from hermes_tui.storage.catalogue import load_catalogue
from hermes_tui.storage.fts import look
from hermes_tui.storage.indexes import check_index, check_indexes
from hermes_tui.storage.search import StoreSearch
from tests.builders import StoreBuilder
from tests.searches import hit_of, ids, lit, search, searches, tiers
from tests.stores import opened

_OLD, _NEW = 40, 10
"""Messages that were indexed before the trouble, and those after."""
_QUERIES = (
    "walnut",
    "Wälnut",
    "walnut hazel",
    '"walnut hazel"',
    "hazel NOT walnut",
    "waln*",
    "alnu",
    "walnut OR pecan",
    "昨晚",
    "昨晚的核",
    "晚",
    "昨晚 walnut",
    "argword",
    "café",
    "partword",
    "escapé",
    "walnut role:tool",
    "walnut nowhere",
)


def _fill(store: StoreBuilder, first: int, number: int) -> None:
    calls = [{"id": "c", "function": {"name": "terminal", "arguments": '{"q": "argword caf\\u00e9"}'}}]
    for i in range(first, first + number):
        session = f"s{i % 7}"
        text = [
            "walnut hazel tree",
            "hazel before walnut",
            "only hazel here",
            f"昨晚的核桃 {i}",
            "plain text",
            "Café walnutty",
            "pecan",
        ][i % 7 if i % 3 else (i // 3) % 7]
        store.message(session, ("user", "assistant", "tool", "system")[i % 4], f"{text} {i}")
        if i % 9 == 0:
            store.message(session, "assistant", "", tool_calls=calls)
        if i % 10 == 0:
            store.message(session, "user", [{"type": "text", "text": f"partword\nescapé {i}"}])


def _write(db: Path, schema: int, *, fts: bool = True) -> StoreBuilder:
    store = StoreBuilder(db, schema, fts=fts)
    for i in range(7):
        store.session(f"s{i}", "cron" if i == 6 else "cli")
    return store


@pytest.fixture(params=(22, 31), ids=("inline", "external"))
def schema(request: pytest.FixtureRequest) -> int:
    return int(request.param)


Trouble = Callable[[StoreBuilder], None]


def _drop_triggers(store: StoreBuilder, *names: str) -> None:
    for name in names or ("messages_fts", "messages_fts_trigram"):
        for verb in ("insert", "delete", "update"):
            store.conn.execute(f"drop trigger {name}_{verb}")


def stale(store: StoreBuilder) -> None:
    store.meta("fts_stale", "1")
    _drop_triggers(store)


def triggers_gone(store: StoreBuilder) -> None:
    _drop_triggers(store)


def half_built(store: StoreBuilder) -> None:
    """A rebuild has come to id 20, and rows from id 41 on are indexed as they come."""
    high = store.conn.execute("select max(id) from messages").fetchone()[0]
    _unindex(store, range(21, high + 1))
    store.meta("fts_rebuild_high_water", str(high))
    store.meta("fts_rebuild_progress", "20")


def behind(store: StoreBuilder) -> None:
    """A writer without triggers has come and gone."""
    triggers = store.conn.execute("select name, sql from sqlite_master where type = 'trigger'").fetchall()
    _drop_triggers(store)
    _fill(store, 200, 12)
    for _, sql in triggers:
        store.conn.execute(sql)


def holed(store: StoreBuilder) -> None:
    """Nothing marks what is missing in the middle."""
    _unindex(store, range(9, 14))
    _unindex(store, range(22, 24))


def holed_often(store: StoreBuilder) -> None:
    _unindex(store, range(2, 55, 2))


def _unindex(store: StoreBuilder, gone: range) -> None:
    for table in ("messages_fts", "messages_fts_trigram"):
        columns = [row[1] for row in store.conn.execute(f"pragma table_info({table})")]
        source = f"{table}_src" if store.schema >= 31 else f"{table}_content"
        taken = ", ".join(columns) if store.schema >= 31 else "c0"
        for message in gone:
            row = store.conn.execute(f"select {taken} from {source} where id = ?", (message,)).fetchone()
            held = store.conn.execute(f"select 1 from {table}_docsize where id = ?", (message,)).fetchone()
            if row is None or held is None:
                continue
            if store.schema >= 31:
                holes = ", ".join("?" * len(columns))
                named = f"{table}, rowid, {', '.join(columns)}"
                store.conn.execute(f"insert into {table}({named}) values ('delete', ?, {holes})", (message, *row))
            else:
                store.conn.execute(f"delete from {table} where rowid = ?", (message,))


def no_trigram(store: StoreBuilder) -> None:
    _drop_triggers(store, "messages_fts_trigram")
    store.conn.execute("drop table messages_fts_trigram")


def emptied(store: StoreBuilder) -> None:
    for table in ("messages_fts", "messages_fts_trigram"):
        store.conn.execute(f"delete from {table}_docsize")


def foreign_tokenizer(store: StoreBuilder) -> None:
    """Nobody here can open this table, nor even mention it."""
    store.conn.execute("commit")
    store.conn.execute("pragma writable_schema = on")
    store.conn.execute(
        "insert into sqlite_master values ('table', 'messages_fts_cjk', 'messages_fts_cjk', 0, ?)",
        ("CREATE VIRTUAL TABLE messages_fts_cjk USING fts5(content, tokenize='cjk_unicode61')",),
    )
    store.conn.execute("pragma writable_schema = off")
    store.conn.execute("begin")


def unknown_base(store: StoreBuilder) -> None:
    """An index that stems words knows other words than people typed."""
    _drop_triggers(store, "messages_fts")
    store.conn.execute("drop table messages_fts")
    store.conn.execute("create virtual table messages_fts using fts5(content, tokenize='porter unicode61')")
    for verb, row in (("insert", "new"), ("delete", "old"), ("update", "new")):
        store.conn.execute(f"create trigger messages_fts_{verb} after {verb} on messages begin select {row}.id; end")


def silenced(store: StoreBuilder) -> None:
    """Damage of a kind that FTS5 does not notice: it finds nothing, and that is all it says."""
    store.conn.execute("update messages_fts_data set block = zeroblob(40) where id > 10")


def damaged(store: StoreBuilder) -> None:
    store.conn.execute("update messages_fts_data set block = x'00ff00ff' || randomblob(300) where id > 10")


def shadow_gone(store: StoreBuilder) -> None:
    store.conn.execute("commit")
    store.conn.execute("pragma writable_schema = on")
    store.conn.execute("delete from sqlite_master where name = 'messages_fts_idx'")
    store.conn.execute("pragma writable_schema = off")
    store.conn.execute("begin")


def external_on_messages(store: StoreBuilder) -> None:
    """The layout of middle-aged stores: three columns over the table itself, nothing cut."""
    if store.schema < 31:
        return
    _drop_triggers(store, "messages_fts")
    store.conn.execute("drop table messages_fts")
    store.conn.execute(
        "create virtual table messages_fts using fts5("
        "content, tool_name, tool_calls, content='messages', content_rowid='id')"
    )
    store.conn.execute("insert into messages_fts(messages_fts) values ('rebuild')")
    new, old = ", ".join(f"new.{c}" for c in _THREE), ", ".join(f"old.{c}" for c in _THREE)
    add = f"insert into messages_fts(rowid, {', '.join(_THREE)}) values (new.id, {new});"
    drop = f"insert into messages_fts(messages_fts, rowid, {', '.join(_THREE)}) values ('delete', old.id, {old});"
    for verb, body in (("insert", add), ("delete", drop), ("update", drop + add)):
        store.conn.execute(f"create trigger messages_fts_{verb} after {verb} on messages begin {body} end")


_THREE = ("content", "tool_name", "tool_calls")
_TROUBLES: dict[Trouble, str] = {
    stale: "out of date",
    triggers_gone: "out of date",
    half_built: "% built",
    behind: "lacks the newest",
    holed: "that nothing marks",
    holed_often: "that nothing marks",
    no_trigram: "",
    emptied: "empty",
    foreign_tokenizer: "",
    unknown_base: "unknown kind",
    silenced: "damaged",
    damaged: "damaged",
    shadow_gone: "cannot be read",
    external_on_messages: "",
}

_LAST = (behind, emptied, silenced, damaged, shadow_gone)
"""After these nothing more is written."""


def _facts(page: SearchPage) -> dict[str, tuple[str, int | None]]:
    return {hit.conversation.id: (str(hit.tier), hit.count) for hit in page.hits}


@pytest.mark.parametrize("trouble", _TROUBLES, ids=lambda trouble: trouble.__name__)
async def test_whatever_the_index_is_like_the_same_is_found(tmp_path: Path, schema: int, trouble: Trouble) -> None:
    with _write(tmp_path / "well" / "state.db", schema) as well:
        _fill(well, 0, _OLD)
        if trouble is behind:
            _fill(well, 200, 12)
        if trouble not in _LAST:
            _fill(well, _OLD, _NEW)
    with _write(tmp_path / "ill" / "state.db", schema) as ill:
        _fill(ill, 0, _OLD)
        trouble(ill)
        if trouble not in _LAST:
            _fill(ill, _OLD, _NEW)
    expected = await searches(tmp_path / "well" / "state.db", _QUERIES)
    found = await searches(tmp_path / "ill" / "state.db", _QUERIES)
    for text, ours, theirs in zip(_QUERIES, found, expected, strict=True):
        assert _facts(ours) == _facts(theirs), text
    said = [notice for page in found for notice in page.notices]
    if _TROUBLES[trouble]:
        assert any(_TROUBLES[trouble] in notice for notice in said)
    assert all(page.hits for page in expected[:4])


def test_newest_messages_that_the_index_lacks_stay_found_when_newer_ones_come(tmp_path: Path, schema: int) -> None:
    db = tmp_path / "state.db"
    with _write(db, schema) as store:
        _fill(store, 0, _OLD)
        behind(store)
    with opened(db) as reading:
        lost = "select id from messages where id not in (select id from messages_fts_docsize)"
        lacking = [message for (message,) in reading.conn.execute(lost)]
        assert len(lacking) >= 12
        for _ in range(3):
            base = look(reading).base
            assert base is not None
            assert all(any(low < each <= high for low, high in base.gaps) for each in lacking)
            with sqlite3.connect(db) as writing:
                writing.execute("insert into messages (session_id, role, content) values ('s1', 'user', 'well')")
            writing.close()


async def test_a_store_without_any_index_is_read(tmp_path: Path, schema: int) -> None:
    with _write(tmp_path / "well" / "state.db", schema) as well:
        _fill(well, 0, _OLD)
    with _write(tmp_path / "bare" / "state.db", schema, fts=False) as bare:
        _fill(bare, 0, _OLD)
    expected = await searches(tmp_path / "well" / "state.db", _QUERIES)
    found = await searches(tmp_path / "bare" / "state.db", _QUERIES)
    for text, ours, theirs in zip(_QUERIES, found, expected, strict=True):
        assert _facts(ours) == _facts(theirs), text
        assert ours.route == "scan"
        assert any("no search index" in notice for notice in ours.notices)
        assert [lit(hit) for hit in ours.hits if hit.best] != [[]]


async def test_r31_how_far_a_rebuild_is_and_which_way_was_taken(tmp_path: Path, schema: int) -> None:
    db = tmp_path / "state.db"
    with _write(db, schema) as store:
        for i in range(1_000):
            store.message(f"s{i % 7}", "user", f"message {i}" + (" needle" if i in (50, 650, 990) else ""))
        _unindex(store, range(401, 1_001))
        store.meta("fts_rebuild_high_water", "1000")
        store.meta("fts_rebuild_progress", "400")
        store.message("s1", "user", "needle at last")
    page = await search(db, "needle")
    assert page.route == "mixed"
    assert any("40 % built" in notice for notice in page.notices)
    assert {match.message_id for hit in page.hits for match in hit.matches} == {51, 651, 991, 1_001}
    assert {hit.tier for hit in page.hits} <= {"conversation", "automation"}
    assert hit_of(page, "s1").count == len([i for i in (50, 650, 990) if i % 7 == 1]) + 1
    page = await search(db, "message NOT needle")
    assert sum(hit.count or 0 for hit in page.hits) == 997


_NONSENSE = ("9" * 30, "-5", "x", "1e400", "nan", "", str(2**63 - 1))


@pytest.mark.parametrize("number", _NONSENSE)
async def test_a_rebuild_that_counts_nonsense_hides_nothing(tmp_path: Path, schema: int, number: str) -> None:
    db = tmp_path / "state.db"
    with _write(db, schema) as store:
        store.message("s1", "user", "needle")
        store.meta("fts_rebuild_high_water", number)
        store.meta("fts_rebuild_progress", number)
    assert ids(await search(db, "needle")) == ["s1"]


@pytest.mark.parametrize("number", _NONSENSE)
def test_doctor_reads_such_numbers_too(tmp_path: Path, schema: int, number: str) -> None:
    with _write(tmp_path / "state.db", schema) as store:
        store.message("s1", "user", "needle")
        store.meta("fts_rebuild_high_water", number)
        store.meta("fts_rebuild_progress", number)
    with opened(tmp_path / "state.db") as found:
        assert {check.name for check in check_indexes(found)} >= {"word index"}


async def test_routes_are_told_as_they_are(tmp_path: Path) -> None:
    with StoreBuilder(tmp_path / "old" / "state.db", 22) as store:
        store.session("s1")
        store.message("s1", "user", "walnut 昨晚的核桃")
    with StoreBuilder(tmp_path / "new" / "state.db", 31) as store:
        store.session("s1")
        store.message("s1", "user", "walnut 昨晚的核桃")
        store.message("s1", "tool", "x" * 9_000)
    old, new = (tmp_path / name / "state.db" for name in ("old", "new"))
    assert (await search(old, "walnut")).route == "fts"
    assert (await search(old, "昨晚的")).route in ("trigram", "mixed")
    assert (await search(old, "昨")).route == "fts"
    assert (await search(old, "source:cli")).route == "filter"
    assert (await search(new, "walnut")).route == "fts"
    assert (await search(new, "昨晚的")).route == "mixed"
    assert (await search(new, "walnut", scan=True)).route == "mixed"
    assert tiers(await search(new, "walnut 昨晚")) == {"s1": "conversation"}


def test_no_route_is_named_before_words_have_one(tmp_path: Path) -> None:
    with StoreBuilder(tmp_path / "state.db", 31) as store:
        store.session("s1", title="walnut")
        store.message("s1", "user", "walnut")
    with opened(tmp_path / "state.db") as found:
        for text, first in (("walnut", set()), ("walnut source:cli", set()), ("source:cli", {"filter"})):
            query = SearchQuery(text)
            looked = StoreSearch(query, parse_query(text, present=0.0), load_catalogue(found))
            looked.step(found)
            assert looked.page(found).routes == first
            while not looked.resting:
                looked.step(found)
            assert looked.page(found).routes == (first or {"fts"})


async def test_a_message_on_a_damaged_page_costs_that_message(tmp_path: Path) -> None:
    db = tmp_path / "state.db"
    with StoreBuilder(db, 22, fts=False, journal="delete") as store:
        store.session("s1")
        for i in range(400):
            store.message("s1", "user", f"needle {i} " + "filler " * 60)
    conn = sqlite3.connect(db)
    page = conn.execute("select pageno from dbstat where name = 'messages' and pagetype = 'leaf' limit 1 offset 20")
    number, size = page.fetchone()[0], conn.execute("pragma page_size").fetchone()[0]
    conn.close()
    with db.open("r+b") as file:
        file.seek((number - 1) * size)
        file.write(b"\xff" * size)
    page_of_hits = await search(db, "needle")
    assert ids(page_of_hits) == ["s1"]
    assert 350 < (page_of_hits.hits[0].count or 0) < 400
    assert any("could not be read" in notice for notice in page_of_hits.notices)


def test_the_cjk_index_is_never_mentioned(tmp_path: Path, schema: int) -> None:
    with _write(tmp_path / "state.db", schema) as store:
        _fill(store, 0, 5)
        foreign_tokenizer(store)
    with opened(tmp_path / "state.db") as store:
        assert "messages_fts_cjk" in store.schema.fts
        indexes = look(store)
        assert indexes.base is not None
        assert indexes.notices == ()


def test_doctor_counts_what_the_index_lacks_in_its_middle(tmp_path: Path, schema: int) -> None:
    with _write(tmp_path / "state.db", schema) as store:
        _fill(store, 0, _OLD)
        holed(store)
    with opened(tmp_path / "state.db") as store:
        (check,) = check_index(store)
    assert check.state is State.WARNING
    assert check.detail.startswith("the word index lacks 7 messages that nothing marks, the first is 9")
