"""Which words of an index hold a piece of Chinese: its pages are read, and must be read as FTS5 wrote them."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Barrier, Thread

import pytest

from hermes_tui.domain.querytrees import Form, Leaf, has_cjk
from hermes_tui.storage import vocabulary, wordpages
from hermes_tui.storage.conditions import Conditions
from hermes_tui.storage.connection import Store
from hermes_tui.storage.fts import Index, look
from hermes_tui.storage.judging import UNICODE, Judge
from hermes_tui.storage.scan import Task, listed, slice_sql
from hermes_tui.storage.sieve import teach
from hermes_tui.storage.vocabulary import rows_with, words_with
from hermes_tui.storage.wordpages import Walk, may_hold, pages_with, rarest, words_of
from tests.builders import StoreBuilder
from tests.searches import searches
from tests.seeds import SEED
from tests.stores import opened
from tests.watching import Statements

_LETTERS = [*"部都郎署罷罰置中丮か", "a", "b", "v2", "é", "e\u0301", "한"]
"""Many begin, or end, with the same bytes."""
_BETWEEN = [" ", "，", "-", "\n", "\x00", "。", ""]
_SAID = "insert into messages(session_id, role, content, timestamp) values ('s1', 'user', ?, 1)"


def _text(rng: random.Random, words: int) -> str:
    drawn = ("".join(rng.choices(_LETTERS, k=rng.randrange(1, 7))) + rng.choice(_BETWEEN) for _ in range(words))
    return "".join(drawn)


@pytest.fixture
def scribbled(tmp_path: Path, schema: int) -> Path:
    """A store whose index is of many small pages in several segments."""
    rng = random.Random(SEED)
    with StoreBuilder(tmp_path / "state.db", schema) as store:
        store.conn.execute("insert into messages_fts(messages_fts, rank) values ('pgsz', 80)")
        store.conn.execute("insert into messages_fts(messages_fts, rank) values ('automerge', 0)")
        store.session("s1")
        store.session("s2", "cron")
        for number in range(600):
            if number % 150 == 149:
                store.conn.execute("commit")
                store.conn.execute("begin")
            said: object = _text(rng, rng.randrange(1, 9))
            if number % 13 == 0:
                said = [{"type": "text", "text": said}]
            arguments = json.dumps({"text": _text(rng, 2)}, ensure_ascii=number % 2 == 0)
            calls = [{"function": {"name": "t", "arguments": arguments}}] if number % 5 == 0 else None
            role = rng.choice(["user", "assistant", "tool"])
            store.message(rng.choice(["s1", "s2"]), role, said, tool_calls=calls, tool_name=_text(rng, 1))
        for number in range(1, 600, 7):
            store.conn.execute("delete from messages where id = ?", (number,))
    return tmp_path / "state.db"


@pytest.fixture
def unbounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """In these stores every piece is in very many words."""
    for name in ("_MOST_WORDS", "_MOST_ROWS", "_FEW_PAGES", "_SOME_PAGES"):
        monkeypatch.setattr(vocabulary, name, 1_000_000)


def _listed(db: Path) -> set[str]:
    """Every word of the index, as FTS5 lists them."""
    with closing(sqlite3.connect(db)) as conn:
        conn.execute("create virtual table temp.v using fts5vocab('main', 'messages_fts', 'row')")
        return {row[0] for row in conn.execute("select term from temp.v")}


def _pieces(rng: random.Random, number: int) -> Iterator[str]:
    for _ in range(number):
        yield "".join(rng.choices(_LETTERS[:10], k=rng.randrange(1, 4)))


def _base(store: Store) -> Index:
    base = look(store).base
    assert base is not None
    return base


@pytest.mark.usefixtures("unbounded")
def test_the_words_that_hold_a_piece_are_those_that_fts5_lists(
    scribbled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wordpages, "_PAGES_AT_ONCE", 50)
    words = _listed(scribbled)
    found = 0
    with opened(scribbled) as store:
        for piece in _pieces(random.Random(SEED), 60):
            store.searching.pop("vocabulary", None)
            expected = {word for word in words if piece in word}
            listed = words_with(store, _base(store), [piece])
            assert listed is not None
            assert expected <= listed[piece], "those of deleted messages may still be there"
            assert all(piece in word for word in listed[piece])
            found += len(expected)
    assert found > 1_000


def _pages(db: Path) -> list[bytes]:
    """Every page of words of the index."""
    sql = """
    select d.block from messages_fts_idx i
    join messages_fts_data d on d.id = (i.segid << 37) + (i.pgno >> 1)
    """
    with closing(sqlite3.connect(db)) as conn:
        return [row[0] for row in conn.execute(sql)]


def _given(store: Store, chars: Iterable[str]) -> list[bytes]:
    """What is given to whoever looks for these."""
    walk, found = Walk(store, "messages_fts"), []
    while (span := walk.next(store)) is not None:
        found += pages_with(store, "messages_fts", span, chars)
    return found


@pytest.mark.parametrize("sparse", [0, 1, 1_000_000])
def test_every_page_is_given_in_which_a_piece_may_be_and_few_others(
    scribbled: Path, sparse: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wordpages, "_SPARSE", sparse)
    held = let_through = 0
    pages = _pages(scribbled)
    assert {word.decode() for page in pages for word in words_of(page)} >= _listed(scribbled)
    with opened(scribbled) as store:
        for piece in _pieces(random.Random(SEED + 1), 30):
            some = _given(store, [rarest(piece)])
            assert len(some) == len({*some})
            for page in pages:
                holds = any(piece.encode() in word for word in words_of(page))
                assert not holds or (may_hold(page, piece.encode()) and page in some)
                held += holds
                let_through += may_hold(page, piece.encode()) and page in some
    assert held > 1_000
    assert let_through < held * 2.5


def test_of_pages_that_hold_none_of_it_python_sees_none(scribbled: Path) -> None:
    with opened(scribbled) as store:
        assert _given(store, ["部", "署"])
        assert not _given(store, ["\uac00", "\u4e00"]), (
            "no word has a character that begins like it and is not after it"
        )
        assert {*_given(store, ["部", "署"])} == {*_given(store, ["部"]), *_given(store, ["署"])}


@pytest.mark.parametrize("pages", [1, 7, 256])
def test_all_pages_are_gone_through_once(scribbled: Path, pages: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also by several who share the work."""
    monkeypatch.setattr(wordpages, "_PAGES_AT_ONCE", pages)
    with opened(scribbled) as one, opened(scribbled) as other:
        walk, seen = Walk(one, "messages_fts"), []
        while (span := walk.next(other if len(seen) % 2 else one)) is not None:
            seen.append(span)
        for each in seen:
            assert each.low is None or each.high is None or each.low < each.high
        parts = {span.part for span in seen}
        assert len(parts) > 3
        for part in parts:
            spans = [span for span in seen if span.part == part]
            assert spans[0].low is None
            assert spans[-1].high is None
            assert [span.low for span in spans[1:]] == [span.high for span in spans[:-1]]
        number = one.conn.execute("select count(*) from messages_fts_idx").fetchone()[0]
        assert number // pages <= len(seen) <= number // pages + len(parts)


@pytest.mark.usefixtures("unbounded")
async def test_what_is_found_is_what_reading_every_message_finds(
    scribbled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(SEED + 2)
    queries = ["部署 置", "署 -都", "v2部", "a署 OR か", '"部 署"', "role:tool 部", "role:user 部 a"]
    queries += _pieces(rng, 25)
    ours = await searches(scribbled, queries)
    monkeypatch.setattr(vocabulary, "rows_with", lambda *_: None)
    theirs = await searches(scribbled, queries)
    for text, one, other in zip(queries, ours, theirs, strict=True):
        assert (one.hits, one.total, one.notices) == (other.hits, other.total, other.notices), text
    assert {page.route for page in ours} == {"fts", "mixed"}
    assert "scan" in {page.route for page in theirs}
    assert sum(page.total for page in ours) > 20


def test_it_is_asked_again_only_after_a_write(scribbled: Path, unbounded: None, statements: Statements) -> None:
    """Also not while somebody types on."""
    with opened(scribbled) as store:
        one = words_with(store, _base(store), ["部"])
        assert one is not None
        statements.all.clear()
        more = words_with(store, _base(store), ["部署", "中部"])
        assert not [each for each in statements.all if "_data" in each]
        assert more == {piece: {word for word in one["部"] if piece in word} for piece in ("部署", "中部")}
        with closing(sqlite3.connect(scribbled)) as other, other:
            other.execute(_SAID, ("x部署x",))
        again = words_with(store, _base(store), ["部署"])
        assert again is not None
        assert again["部署"] - more["部署"] == {"x部署x"}


def test_where_it_cannot_tell_the_messages_are_read(scribbled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(scribbled) as store:
        base, piece = _base(store), (Leaf("部署"),)
        unlike = [
            replace(base, tokenizer="unicode61 tokenchars '-'"),
            replace(base, inline=False, columns=("content", "tool_name")),
            replace(base, cut=True, cut_as_known=False),
        ]
        monkeypatch.setattr(vocabulary, "_MOST_WORDS", 3)
        assert rows_with(store, base, piece) is None, "too many words"
        monkeypatch.setattr(vocabulary, "_MOST_WORDS", 1_000_000)
        store.searching.clear()
        monkeypatch.setattr(vocabulary, "_FEW_PAGES", 5)
        monkeypatch.setattr(vocabulary, "_PART", 1_000_000)
        assert rows_with(store, base, piece) is None, "too many pages"
        monkeypatch.setattr(vocabulary, "_FEW_PAGES", 1_000_000)
        store.searching.clear()
        assert rows_with(store, base, piece)
        store.searching.clear()
        monkeypatch.setattr(vocabulary, "_SOME_PAGES", 50)
        monkeypatch.setattr(vocabulary, "_WRITTEN_SO", 1_000_000)
        assert rows_with(store, base, piece) is None, "a store that is full of such writing"
        monkeypatch.setattr(vocabulary, "_SOME_PAGES", 1_000_000)
        store.searching.clear()
        assert rows_with(store, base, piece)
        assert all(rows_with(store, each, piece) is None for each in unlike)
        for unsuited in (Leaf("deploy", inside=True), Leaf("·部", inside=True), Leaf("ﾊ"), Leaf("々")):
            assert (rows_with(store, base, (unsuited,)) is None) == (unsuited.text != "·部")
        monkeypatch.setattr(vocabulary, "_MOST_ROWS", 3)
        assert rows_with(store, base, piece) is None, "too many messages"


def test_of_parts_that_are_being_merged_what_is_left_is_read(scribbled: Path, unbounded: None) -> None:
    """What was moved has left its line in the list of pages behind."""
    with opened(scribbled) as store:
        before = words_with(store, _base(store), ["署"])
    left_behind = """
    select count(*)
    from messages_fts_idx i
    left join messages_fts_data d on d.id = (i.segid << 37) + (i.pgno >> 1)
    where d.id is null
    """
    with closing(sqlite3.connect(scribbled)) as conn, conn:
        conn.execute("insert into messages_fts(messages_fts, rank) values ('merge', -10)")
        assert conn.execute(left_behind).fetchone()[0] > 0
    with opened(scribbled) as store:
        assert words_with(store, _base(store), ["署"]) == before
        assert before


def test_tables_of_another_format_are_not_read(scribbled: Path, unbounded: None) -> None:
    with closing(sqlite3.connect(scribbled)) as conn, conn:
        conn.execute("update messages_fts_config set v = 5 where k = 'version'")
    with opened(scribbled) as store:
        assert words_with(store, Index("messages_fts", (), True, UNICODE), ["部"]) is None


def test_a_page_that_is_none_is_not_believed(
    scribbled: Path, unbounded: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = b"\x00\x00\x00\x08" + "0部".encode() + b"\xff\x7f"
    monkeypatch.setattr(vocabulary, "pages_with", lambda *_: iter([page]))
    with opened(scribbled) as store:
        assert words_with(store, _base(store), ["部"]) is None


@pytest.mark.usefixtures("unbounded")
@pytest.mark.parametrize(
    "change",
    [
        "update messages_fts_data set block = zeroblob(length(block)) where id = {id}",
        "delete from messages_fts_data where id = {id}",
        "update messages_fts_idx set pgno = 1 << 30 where (segid << 37) + (pgno >> 1) = {id}",
        "update messages_fts_idx set pgno = null where (segid << 37) + (pgno >> 1) = {id}",
    ],
)
async def test_what_a_damaged_page_of_words_held_is_found_by_reading(
    scribbled: Path, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page of which nothing tells what was on it must not read as one without the words."""
    with closing(sqlite3.connect(scribbled)) as conn:
        pages = "select id, block from messages_fts_data where id >> 37 > 0"
        ids = [id for id, block in conn.execute(pages) if "署".encode() in block and block[2:4] > b"\0\4"]
        for id in ids[: len(ids) // 2]:
            conn.execute(change.format(id=id))
        conn.commit()
    (read,) = await searches(scribbled, ["部署"])
    monkeypatch.setattr(vocabulary, "rows_with", lambda *_: None)
    (everything,) = await searches(scribbled, ["部署"])
    assert [hit.count for hit in read.hits] == [hit.count for hit in everything.hits]
    assert everything.hits


async def test_a_page_that_asks_for_all_memory_there_is_sends_to_the_messages(
    scribbled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite takes some damage for a wish for very much memory, and Python has no other name for that."""

    def exhausted(*_: object) -> None:
        raise MemoryError

    (before,) = await searches(scribbled, ["部署"])
    monkeypatch.setattr(vocabulary, "rows_with", exhausted)
    (after,) = await searches(scribbled, ["部署"])
    assert [hit.conversation for hit in after.hits] == [hit.conversation for hit in before.hits]
    assert "The search index is damaged: the messages themselves were read." in after.notices


@pytest.mark.usefixtures("unbounded")
def test_while_somebody_writes_it_is_read_again(scribbled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written, limit, share = 0, 0, vocabulary.Reading.share

    def disturbed(reading: vocabulary.Reading, store: Store) -> None:
        nonlocal written
        share(reading, store)
        if written < limit:
            written += 1
            with closing(sqlite3.connect(scribbled)) as conn, conn:
                conn.execute(_SAID, (f"x{'署' * written}x",))

    monkeypatch.setattr(vocabulary.Reading, "share", disturbed)
    for times, expected in ((1, {"x署x"}), (9, None)):
        written, limit = 0, times
        with opened(scribbled) as store:
            found = words_with(store, _base(store), ["x署", "署"])
            assert (found and found["x署"]) == expected


def _lacking(store: Store, *texts: str) -> vocabulary.Reading:
    reading = vocabulary.lacking(store, _base(store), [Leaf(text) for text in texts])
    assert reading is not None
    return reading


@pytest.mark.usefixtures("unbounded")
def test_several_threads_share_the_list(scribbled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page is looked at by one of them, and what they find is remembered for whoever asks."""
    monkeypatch.setattr(wordpages, "_PAGES_AT_ONCE", 5)
    spans: list[tuple[Store, wordpages.Span]] = []
    both, pages = Barrier(2), vocabulary.pages_with

    def watched(store: Store, index: str, span: wordpages.Span, chars: Iterable[str]) -> Iterator[bytes]:
        if store not in [each for each, _ in spans]:
            both.wait(20)
        spans.append((store, span))
        return pages(store, index, span, chars)

    monkeypatch.setattr(vocabulary, "pages_with", watched)
    with opened(scribbled) as one, opened(scribbled) as other:
        reading = _lacking(one, "部署")
        thread = Thread(target=reading.share, args=(other,))
        thread.start()
        reading.share(one)
        assert reading.ended(one)
        thread.join()
        assert len({span for _, span in spans}) == len(spans) > 100
        shared = reading.keep(one)
        spans.clear()
        assert words_with(one, _base(one), ["部署"]) == shared
        assert vocabulary.lacking(one, _base(one), [Leaf("部署")]) is None
        assert not spans
    monkeypatch.undo()
    with opened(scribbled) as store:
        assert words_with(store, _base(store), ["部署"]) == shared
    assert shared
    assert shared["部署"]


@pytest.mark.usefixtures("unbounded")
def test_what_was_shared_counts_only_when_all_of_it_is_of_one_moment(
    scribbled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(scribbled) as one, opened(scribbled) as other:
        reading = _lacking(one, "部署")
        with monkeypatch.context() as patched:
            patched.setattr(other, "stopped", lambda: True)
            reading.share(other)
        reading.share(one)
        assert not reading.ended(one), "somebody gave up, perhaps in the middle"

        reading = _lacking(one, "部署")
        with monkeypatch.context() as patched:
            patched.setattr(vocabulary, "pages_with", lambda *_: iter([b"\0\0\0\4" + "部署".encode()]))
            with pytest.raises(IndexError):
                reading.share(other)
        reading.share(one)
        assert not reading.ended(one)

        reading = _lacking(one, "部署")
        reading.share(other)
        with closing(sqlite3.connect(scribbled)) as conn, conn:
            conn.execute(_SAID, ("x部署x",))
        assert not reading.ended(one)
        reading = _lacking(one, "部署")
        reading.share(one)
        assert reading.ended(one)


def test_that_a_piece_is_in_too_many_words_is_found_out_once(
    scribbled: Path, statements: Statements, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vocabulary, "_MOST_WORDS", 3)
    with opened(scribbled) as store:
        assert words_with(store, _base(store), ["部"]) is None
        statements.all.clear()
        assert words_with(store, _base(store), ["部"]) is None
        assert not [each for each in statements.all if "_data" in each]
        assert vocabulary.lacking(store, _base(store), [Leaf("部")]) is None
        assert vocabulary.lacking(store, _base(store), [Leaf("署")]) is not None
        assert vocabulary.lacking(store, _base(store), [Leaf("deploy")]) is None


def test_of_a_word_too_long_to_be_stored_whole_nothing_is_told(tmp_path: Path) -> None:
    """FTS5 leaves out its end, and so would whoever goes by its list."""
    with StoreBuilder(tmp_path / "state.db") as builder:
        builder.session("s1")
        builder.message("s1", "user", "署" * 12_000 + "部署")
        builder.message("s1", "user", "部署")
        builder.message("s1", "user", "f" * 40_000 + "中置")
    with opened(tmp_path / "state.db") as store:
        assert rows_with(store, _base(store), (Leaf("部署"),)) is None
        with closing(sqlite3.connect(tmp_path / "state.db")) as conn, conn:
            conn.execute("delete from messages where id = 1")
            conn.execute("insert into messages_fts(messages_fts) values ('optimize')")
        assert rows_with(store, _base(store), (Leaf("部署"),)) == [3, 2]
        assert rows_with(store, _base(store), (Leaf("中置"),)) == [3]


def test_of_what_is_looked_for_the_longest_run_of_letters_is_taken() -> None:
    for text, piece in (
        ("部署", "部署"),
        ("v2部-数据库查询", "数据库查"),
        ("々部", "部"),
        ("api", None),
        ("々", None),
    ):
        assert vocabulary._piece(Leaf(text)) == piece
    letters = [*filter(vocabulary._is_letter, map(chr, range(0x10000)))]
    assert {len(letter.encode(errors="surrogatepass")) for letter in letters} == {3}
    assert all(map(has_cjk, letters))


def test_the_rows_are_fetched_one_by_one(scribbled: Path) -> None:
    with opened(scribbled) as store:
        task = Task(Judge(Leaf("部"), tokenizer=UNICODE), Leaf("部"), [], Conditions([]), _base(store), False)
        (stretch,) = listed([3, 500], "m.role is not 'tool'", held=True)
        sql, params, sieves = slice_sql(task, stretch)
        teach(store, sieves)
        plan = store.conn.execute(f"explain query plan {sql}", {**params, "low": 2, "high": 500}).fetchall()
    assert "SEARCH m USING INTEGER PRIMARY KEY (rowid=?)" in [row[3] for row in plan]


def test_a_prefix_in_an_index_of_beginnings_is_no_word() -> None:
    page = bytes([0, 0, 0, 0]) + b"\x030ab\x01" + b"\x00\x031xy\x02"
    page = page[:2] + bytes([0, len(page)]) + page[4:] + bytes([4, 5])
    assert list(words_of(page)) == [b"ab"]


def test_words_and_pieces_are_asked_for_together(tmp_path: Path) -> None:
    with StoreBuilder(tmp_path / "state.db") as builder:
        builder.session("s1")
        for said in ("walnut", "x部署x", "nothing", "部", "walnuts"):
            builder.message("s1", "user", said)
        builder.message("s1", "assistant", "", tool_calls='[{"a": "\\\\u90e8\\\\u7F72x"}, "\\u90e8"]')
    with opened(tmp_path / "state.db") as store:
        assert rows_with(store, _base(store), (Leaf("walnut"), Leaf("部署"))) == [6, 2, 1]
        assert rows_with(store, _base(store), (Leaf("walnut", Form.PREFIX),)) == [5, 1]
        assert rows_with(store, _base(store), (Leaf("部"),)) == [6, 4, 2]
