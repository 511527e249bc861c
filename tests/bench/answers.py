"""The service in this process: complete answers beside bare SQL, and beside Hermes' own query."""

from __future__ import annotations

import asyncio
import gc
import itertools
import json
import sqlite3
import statistics
import subprocess
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hermes_tui import paths
from hermes_tui.domain.filters import NO_FILTERS
from hermes_tui.domain.queries import SearchOrder, SearchPage, SearchQuery
from hermes_tui.domain.querytext import parse_query
from hermes_tui.domain.sessions import ListQuery
from hermes_tui.service.jobs import Lane
from hermes_tui.service.reader import Reader
from hermes_tui.service.sqlite import SqliteSessionService
from hermes_tui.storage import ranking
from hermes_tui.storage.conditions import conditions
from hermes_tui.storage.connection import Store
from hermes_tui.storage.fts import CUT_AT, look
from hermes_tui.storage.segments import session_rows
from hermes_tui.tidying import GENERATIONS
from tests import real_stores
from tests.bench.measuring import Result, few, timed
from tests.bench.stores import Bench

TIMED = Path(__file__).parent.parent / "hermes_side" / "timed_searches.py"
_INDEXED = ("rare", "medium", "common", "phrase")
_RANKED = """
select m.id, m.session_id, m.role, m.timestamp, snippet(messages_fts, -1, '>>>', '<<<', '…', 40)
from messages_fts
join messages m on m.id = messages_fts.rowid
join sessions s on s.id = m.session_id
where messages_fts match ?
order by rank
limit 300
"""
_SESSIONS = """
select
    s.id, s.source, s.parent_session_id, s.started_at, s.ended_at, s.end_reason, s.title, s.display_name, s.model,
    s.billing_provider, s.cwd, s.git_branch, s.git_repo_root, s.message_count, s.tool_call_count, s.input_tokens,
    s.output_tokens, s.actual_cost_usd, s.estimated_cost_usd, s.pinned, s.archived, s.hidden, s.last_activity_at,
    s.session_key, s.model_config,
    (select max(m.timestamp) from messages m where m.session_id = s.id) as newest
from sessions s
"""
_LISTED = """
select sum(length(d.block))
from messages_fts_idx i
cross join messages_fts_data d on d.id = (i.segid << 37) + (i.pgno >> 1)
"""
_LOADED = "select sum(length(cast(content as blob))) from messages where role = 'tool'"
"""Whoever reads row by row must at least load the texts; SQLite does so for their length."""
_LOOKED = f"""
select count(*)
from messages
where id {{half}} (select max(id) / 2 from messages) and role = 'tool' and length(cast(content as blob)) > {CUT_AT}
and cast(substr(cast(content as blob), {CUT_AT + 1}) as text) like '%deeptoolite%'
"""


@dataclass(frozen=True, slots=True)
class _Scan:
    """What Hermes reads row by row, and we too, or else the list of words of an index."""

    name: str
    words: tuple[str, ...]
    """Another in each round: what was learned of one is known when it is asked for again."""
    before: str
    """The word, in our query."""
    deep: bool
    roles: list[str]
    """In which Hermes looks."""
    bound: float
    floor: Sequence[str]
    """Statements, each for a thread of its own."""
    floor_is: str

    def query(self, word: str) -> SearchQuery:
        return SearchQuery(self.before + word, scan=self.deep)


_SCANS = (
    _Scan(
        "CJK of 2",
        ("部署", "配置", "日志", "用户", "缓存", "历史", "合并", "漓江", "版本", "超时"),
        "",
        False,
        ["user", "assistant"],
        0.3,
        [_LISTED],
        "a bare `select` that reads the pages on which the index lists its words",
    ),
    _Scan(
        "tool output",
        ("deeptoolite",),
        "role:tool ",
        True,
        ["tool"],
        0.6,
        [_LOOKED.format(half="<="), _LOOKED.format(half=">")],
        "two bare `select` in two threads, each of which has `like` look for the word behind what the index holds of "
        "half of the texts, without a thought of accents",
    ),
)


@contextmanager
def _collecting_rarely() -> Iterator[None]:
    """Python's collector as the screen sets it, for both sides: with its own settings it looks again and again at all
    that this process has loaded."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GENERATIONS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


@contextmanager
def _serving(bench: Bench) -> Iterator[Callable[[SearchQuery], SearchPage]]:
    """A function that gives the last page of a search."""
    with _collecting_rarely(), asyncio.Runner() as runner:
        service = SqliteSessionService([paths.home_store(bench.home)])

        async def whole(query: SearchQuery) -> SearchPage:
            last = None
            async for page in service.search(query):
                last = page
            if last is None or not last.final:
                raise RuntimeError(f"{query.text}: the answer never became complete")
            return last

        try:
            yield lambda query: runner.run(whole(query))
        finally:
            runner.run(service.close())


def _scored(store: Store, query: str) -> list[tuple[object, ...]]:
    """Every match that is no hidden message, with its session and its score: without these nobody can say how many
    there are of a conversation, nor which is the best."""
    index, where = look(store).base, conditions(store.schema, NO_FILTERS)
    tree = parse_query(query, present=0.0).expression
    if index is None or tree is None:
        raise RuntimeError(f"{query}: no index answers it")
    sql = ranking.hits_sql(index, where, SearchOrder.RELEVANCE)
    return store.conn.execute(sql, ranking.hits_params(index, tree, where)).fetchall()


def complete(bench: Bench) -> Iterator[Result]:
    """Answers that an index gives, to their last page."""
    conn, ref, reader = bench.connect(), paths.home_store(bench.home), Reader()

    def ranked(query: str) -> list[tuple[object, ...]]:
        return conn.execute(_RANKED, (query,)).fetchall()

    async def scored(query: str) -> list[tuple[object, ...]]:
        """Scored on the thread of searches, after the thread that keeps the list has said that nobody wrote."""
        await reader.run(ref, Store.version, lane=Lane.CATALOGUE)
        return await reader.run(ref, lambda store: _scored(store, query), lane=Lane.SEARCH)

    with _serving(bench) as ask, asyncio.Runner() as runner:
        for kind, query in bench.queries.items():
            if kind not in _INDEXED:
                continue
            rows = ranked(query)
            total = ask(SearchQuery(query)).total

            def floor_of(query: str = query) -> list[tuple[object, ...]]:
                return runner.run(scored(query))

            ours, theirs, floor = bench.in_turn(
                partial(timed, partial(ask, SearchQuery(query))),
                partial(timed, partial(ranked, query)),
                partial(timed, floor_of),
            )
            yield Result(
                f"complete answer, {kind}: `{query}`",
                ours,
                "bare SQL",
                theirs,
                1.2,
                remark=f"conversations found: {total:,}; rows of the SQL: {len(rows)}",
                floor=floor,
                floor_is=f"one statement that scores all {len(floor_of()):,} messages that can be seen, asked of a "
                "thread from an event loop",
            )
        runner.run(reader.end())
    conn.close()


class HermesSearches:
    """A process of Hermes that times its own searches."""

    def __init__(self, bench: Bench) -> None:
        argv = [str(real_stores.hermes_python()), str(TIMED), str(bench.db)]
        self._process = subprocess.Popen(
            argv, env=bench.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def ask(self, query: str, roles: Sequence[str]) -> tuple[float, int]:
        """Milliseconds, and how many messages were found."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([query, roles]) + "\n")
        self._process.stdin.flush()
        if not (line := self._process.stdout.readline()):
            raise RuntimeError("Hermes' searches ended; it may not be able to open the store")
        took, found = json.loads(line)
        return took, found

    def milliseconds(self, query: str, roles: Sequence[str]) -> float:
        """How long it takes."""
        return self.ask(query, roles)[0]

    def close(self) -> None:
        """Let the process end."""
        self._process.communicate(timeout=20)


def _found(page: SearchPage, messages: int) -> str:
    """That both sides found something, or both nothing."""
    return f"conversations found: {page.total}; messages that Hermes finds: {messages}"


def scans(bench: Bench) -> Iterator[Result]:
    """Answers for which the messages themselves are read, beside Hermes' reading."""
    hermes = HermesSearches(bench)
    with _serving(bench) as ask:
        for each in _SCANS:
            yield from _scanned(bench, each, ask, hermes)
    hermes.close()


def _scanned(
    bench: Bench, each: _Scan, ask: Callable[[SearchQuery], SearchPage], hermes: HermesSearches
) -> Iterator[Result]:
    """By who has asked for other words before; where that makes a difference, also by who has not."""
    conn = bench.connect()
    mine, theirs_too = (itertools.cycle(each.words) for _ in range(2))
    again: list[float] = []

    def ours() -> float:
        asked = partial(ask, each.query(next(mine)))
        took = timed(asked)
        again.append(timed(asked))
        return took

    def anew() -> float:
        with _serving(bench) as ask_another:
            ask_another(SearchQuery(bench.queries["rare"]))  # the list of sessions is known
            return timed(partial(ask_another, each.query(each.words[0])))

    found, theirs, floor, loaded, *first = bench.in_turn(
        ours,
        lambda: hermes.milliseconds(next(theirs_too), each.roles),
        partial(timed, partial(_side_by_side, bench, each.floor)),
        partial(timed, lambda: conn.execute(_LOADED).fetchall()),
        *([anew] if each.deep else []),
    )
    conn.close()
    word = each.words[0]
    told = "" if bench.quick else _found(ask(each.query(word)), hermes.ask(word, each.roles)[1])
    others = f"then {' '.join(each.words[1 : bench.rounds])}" if len(each.words) > 1 else ""
    repeated = f"the same again: {statistics.median(again):.1f} ms"
    texts = f"a bare `select` that loads tool output and looks at none: {statistics.median(loaded):.1f} ms"
    remark = "; ".join(filter(None, (told, others, repeated, texts, few(found, bench.rounds))))
    for name, times in ((each.name, found), *((f"{each.name}, of which none was read before", one) for one in first)):
        yield Result(
            f"complete scan, {name}: `{each.query(word).text}`",
            times,
            "Hermes' `search_messages`",
            theirs,
            each.bound,
            remark=remark,
            floor=floor,
            floor_is=each.floor_is,
        )


def _side_by_side(bench: Bench, statements: Sequence[str]) -> None:
    def run(sql: str) -> None:
        with closing(bench.connect()) as conn:
            conn.execute(sql).fetchall()

    with ThreadPoolExecutor(len(statements)) as threads:
        list(threads.map(run, statements))


def browse(bench: Bench) -> Iterator[Result]:
    """The whole list, read by a service that knows nothing yet."""

    async def ask() -> int:
        service = SqliteSessionService([paths.home_store(bench.home)])
        try:
            return len((await service.conversations(ListQuery(include_hidden=True))).rows)
        finally:
            await service.close()

    def bare() -> list[tuple[object, ...]]:
        conn: sqlite3.Connection = bench.connect()
        try:
            return conn.execute(_SESSIONS).fetchall()
        finally:
            conn.close()

    async def read() -> None:
        reader = Reader()
        try:
            await reader.run(paths.home_store(bench.home), lambda store: sorted(session_rows(store)[0]))
        finally:
            await reader.end()

    with asyncio.Runner() as runner:
        rows = runner.run(ask())
        ours, theirs, floor = bench.in_turn(
            lambda: timed(lambda: runner.run(ask())),
            lambda: timed(bare),
            lambda: timed(lambda: runner.run(read())),
        )
    yield Result(
        "browse: all loaded and sorted",
        ours,
        "bare `select` of the columns",
        theirs,
        2.5,
        remark=f"conversations: {rows:,}; both open the store anew",
        floor=floor,
        floor_is="the statement that reads a session's columns and its newest message, asked of a thread from an "
        "event loop, sorted by what comes first",
    )
