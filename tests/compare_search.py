"""Hermes' search and ours on the same stores, by the same queries: how often do they agree?

    python -m tests.compare_search [--queries 400] [--seeds 5 6] [--sessions 64] [--messages 3000] [--old]

Compared is the tier `conversation`: which conversations, in which order, and which message of each, against
`SessionDB.search_messages` of Hermes 0.22.2 (rows that match in their text; the first of each conversation), and
the order of its `session_search` tool where that saw all there is. Conversations that BM25 holds equal may
stand in either order. `--old` adds a store of 0.19.0 that 0.22.2 has migrated: its index has one column.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hermes_tui.domain.contents import decode_content
from hermes_tui.domain.families import Catalogue
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.domain.queries import Hit, SearchPage, SearchQuery, Tier
from hermes_tui.service.jobs import Lane
from hermes_tui.service.reader import Reader
from hermes_tui.service.searching import run_search
from hermes_tui.storage.catalogue import load_catalogue
from tests.real_stores import LATEST, hermes_environment, hermes_python, store_home

_SCRIPT = Path(__file__).parent / "hermes_side" / "searches.py"
_WORD = re.compile(r"[^\W_]+")
_NAME = re.compile(r"\b\w+(?:[._-]\w+)+\b")
_PLACE = re.compile(r"\S*[/@#:]\S*\w\S*")
_CJK = re.compile("[\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_LOOSE = frozenset({"and", "or", "not", "near"})
"""Words that Hermes takes for operators at the ends of a query, or FTS5 for one inside it."""


@dataclass(slots=True)
class Agreement:
    """How many queries of a kind were asked, and where the answers part."""

    asked: int = 0
    hits: int = 0
    parted: list[str] = field(default_factory=list)


def plain_texts(db: Path) -> list[str]:
    """What people and the assistant said, in a store: where queries come from."""
    conn = sqlite3.connect(f"{db.resolve().as_uri()}?mode=ro", uri=True)
    conn.text_factory = lambda raw: raw.decode("utf-8", "replace")
    try:
        sql = "select content from messages where role in ('user', 'assistant') and content <> '' order by id"
        texts = [row[0] for row in conn.execute(sql)]
    finally:
        conn.close()
    return [text for text in texts if isinstance(text, str)]


def draw(db: Path, number: int, seed: int) -> list[tuple[str, str]]:
    """(kind, query) pairs, drawn from what the store holds."""
    rng = random.Random(f"queries-{seed}")
    texts = [text for text in plain_texts(db) if "\x00" not in text]
    kinds = (_word, _two, _three, _either, _neither, _phrase, _prefix, _name, _place, _untidy, _odd_case, _mixed)
    found: list[tuple[str, str]] = []
    while len(found) < number:
        kind = kinds[len(found) % len(kinds)]
        query = kind(rng, texts)
        if query and not _CJK.search(query):
            found.append((kind.__name__.strip("_"), query))
    return found


def _words_of(rng: random.Random, texts: Sequence[str], number: int) -> list[str]:
    while True:
        words = [word for word in _WORD.findall(rng.choice(texts)) if word.lower() not in _LOOSE and word.isascii()]
        if len(words) >= number:
            return rng.sample(words, number)


def _word(rng: random.Random, texts: Sequence[str]) -> str:
    return _words_of(rng, texts, 1)[0]


def _two(rng: random.Random, texts: Sequence[str]) -> str:
    return " ".join(_words_of(rng, texts, 2))


def _three(rng: random.Random, texts: Sequence[str]) -> str:
    return " ".join(_words_of(rng, texts, 3))


def _either(rng: random.Random, texts: Sequence[str]) -> str:
    return f"{_word(rng, texts)} OR {_word(rng, texts)}"


def _neither(rng: random.Random, texts: Sequence[str]) -> str:
    return f"{_word(rng, texts)} NOT {_word(rng, texts)}"


def _phrase(rng: random.Random, texts: Sequence[str]) -> str:
    words = rng.choice(texts).split()
    start = rng.randrange(max(len(words) - 3, 1))
    return '"' + " ".join(words[start : start + rng.choice((2, 2, 3))]).replace('"', "") + '"'


def _prefix(rng: random.Random, texts: Sequence[str]) -> str:
    word = _word(rng, texts)
    return word[: rng.randrange(2, max(len(word), 3))] + "*"


def _name(rng: random.Random, texts: Sequence[str]) -> str:
    names = _NAME.findall(rng.choice(texts))
    return rng.choice(names) if names else ""


def _place(rng: random.Random, texts: Sequence[str]) -> str:
    places = [place for place in _PLACE.findall(rng.choice(texts)) if place.isascii() and place.isprintable()]
    place = rng.choice(places).strip("`.,;:!?") if places else ""
    return "" if any(odd in place for odd in '"*`%') else place


def _untidy(rng: random.Random, texts: Sequence[str]) -> str:
    one, two = _words_of(rng, texts, 2)
    return rng.choice(
        (
            f"AND {one} {two}",
            f"{one} OR",
            f'"{one}',
            f"{one} *{two}",
            f"({one} {two})",
            f"{one}, {two}!",
            f"{one}: {two}",
        )
    )


def _odd_case(rng: random.Random, texts: Sequence[str]) -> str:
    return "".join(rng.choice((char.upper(), char.lower())) for char in _two(rng, texts))


def _mixed(rng: random.Random, texts: Sequence[str]) -> str:
    one, two, three, four = (_word(rng, texts) for _ in range(4))
    return rng.choice(
        (f"{one} {two} OR {three}", f"{one} AND {two} NOT {three}", f"{one} OR {two} NOT {three} {four}")
    )


def ask_hermes(db: Path, queries: Sequence[str]) -> list[dict[str, Any]]:
    """What Hermes answers, in its own environment."""
    done = subprocess.run(
        [str(hermes_python()), str(_SCRIPT), str(db)],
        input=json.dumps(list(queries)),
        env=hermes_environment(db.parent),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


async def ask_us(db: Path, queries: Sequence[str]) -> tuple[list[SearchPage], Catalogue]:
    """What we answer, last page each."""
    ref = StoreRef("default", db, db.parent, db.parent)
    reader = Reader()
    try:
        catalogue = await reader.run(ref, load_catalogue, lane=Lane.CATALOGUE)

        async def of(_: StoreRef) -> Catalogue:
            return catalogue

        answers = []
        for query in queries:
            pages = [page async for page in run_search(reader, [ref], of, SearchQuery(query, reads=None))]
            answers.append(pages[-1])
    finally:
        reader.close()
    return answers, catalogue


def expected(answer: dict[str, Any], catalogue: Catalogue, scores: Scores) -> list[tuple[str, int]]:
    """(root, message) for the first row of each of our conversations."""
    found: dict[str, int] = {}
    for message_id, session_id, said in answer["rows"]:
        owner = catalogue.owner(session_id)
        if said and owner is not None and message_id not in scores.unseen:
            found.setdefault(owner[0].root_id, message_id)
    return list(found.items())


def said_hits(page: SearchPage) -> list[Hit]:
    """The hits that people's words brought, whatever tier a title or an id has moved them to."""
    return [hit for hit in page.hits if hit.tier is Tier.CONVERSATION]


def differences(page: SearchPage, answer: dict[str, Any], catalogue: Catalogue, scores: Scores) -> str:
    """Where the two answers part, or nothing. Conversations that a title or an id has moved up are left out of
    both."""
    moved = {hit.conversation.root_id for hit in page.hits if hit.tier in (Tier.TARGET, Tier.TITLE)}
    ours = [(hit.conversation.root_id, hit.best.message_id) for hit in said_hits(page) if hit.best is not None]
    theirs = [(root, message) for root, message in expected(answer, catalogue, scores) if root not in moved]
    if {root for root, _ in ours} != {root for root, _ in theirs}:
        mine, yours = dict(ours), dict(theirs)
        return f"only ours {sorted(set(mine) - set(yours))[:3]}, only theirs {sorted(set(yours) - set(mine))[:3]}"
    for (root, message), (other, best) in zip(ours, theirs, strict=True):
        if not scores.close(message, best):
            return f"{root} message {message} stands where {other} message {best} should"
    return ""


class Scores:
    """BM25 of single messages by one query, to tell equals; and messages that only match in what nobody sees."""

    def __init__(self, db: Path, expression: str) -> None:
        conn = sqlite3.connect(f"{db.resolve().as_uri()}?mode=ro", uri=True)
        sql = "select rowid, bm25(messages_fts) from messages_fts where messages_fts match ?"
        try:
            self._scores = dict(conn.execute(sql, (expression,)).fetchall())
            self.unseen = set(_structured(conn)) - _matching(_structured(conn), expression)
        finally:
            conn.close()

    def close(self, one: int, other: int) -> bool:
        """Whether these two are equally good."""
        if one == other:
            return True
        scores = (self._scores.get(one), self._scores.get(other))
        return None not in scores and abs(scores[0] - scores[1]) < 1e-9


def _structured(conn: sqlite3.Connection) -> dict[int, str]:
    """Structured messages, as they read: their JSON is in the index, and is nothing that anybody said."""
    sql = "select id, content from messages where substr(cast(content as blob), 1, 6) = x'006a736f6e3a'"
    return {message: decode_content(content) for message, content in conn.execute(sql)}


def _matching(texts: dict[int, str], expression: str) -> set[int]:
    conn = sqlite3.connect(":memory:")
    try:
        conn.execute("create virtual table t using fts5(content)")
        conn.executemany("insert into t(rowid, content) values (?, ?)", texts.items())
        return {row[0] for row in conn.execute("select rowid from t where t match ?", (expression,))}
    finally:
        conn.close()


def tool_differences(page: SearchPage, answer: dict[str, Any], catalogue: Catalogue, scores: Scores) -> str:
    """Where the order of the tool, which joins whole families, parts from ours."""
    if answer["tool"] is None:
        return ""
    moved = {_top(catalogue, hit.conversation.id) for hit in page.hits if hit.tier in (Tier.TARGET, Tier.TITLE)}

    def families(found: Iterable[tuple[int, str]]) -> list[tuple[str, int]]:
        first: dict[str, int] = {}
        for message, session_id in found:
            first.setdefault(_top(catalogue, session_id), message)
        return [(family, message) for family, message in first.items() if family not in moved]

    best = [
        (hit.best.message_id, hit.best.session_id)
        for hit in page.hits
        if hit.tier in (Tier.CONVERSATION, Tier.AUTOMATION) and hit.best is not None
    ]
    for (ours, message), (theirs, other) in zip(families(best), families(answer["tool"]), strict=False):
        if not scores.close(message, other):
            return f"tool: {theirs} message {other}, ours {ours} message {message}"
    return ""


def _top(catalogue: Catalogue, session_id: str) -> str:
    """The last ancestor, as Hermes walks: through every parent that exists."""
    seen = set()
    while session_id not in seen and (chain := catalogue.chains.get(session_id)) is not None:
        seen.add(session_id)
        parent = next(each for each in chain.segments if each.id == session_id).parent_id
        if not parent:
            break
        session_id = parent
    return session_id


def compare(db: Path, number: int, seed: int) -> Iterator[tuple[str, str, str, int]]:
    """(kind, query, difference, hits) for each query that both understand alike."""
    drawn = draw(db, number, seed)
    queries = [query for _, query in drawn]
    theirs = ask_hermes(db, queries)
    ours, catalogue = asyncio.run(ask_us(db, queries))
    for (kind, query), answer, page in zip(drawn, theirs, ours, strict=True):
        if not answer["exact"]:
            continue  # Hermes found nothing, and has answered another, looser question
        if any("inside words" in notice for notice in page.notices):
            continue  # a word that stands in no searched message is looked for inside words, in ours
        scores = Scores(db, page.expression)
        parted = differences(page, answer, catalogue, scores) or tool_differences(page, answer, catalogue, scores)
        yield kind, query, parted, len(said_hits(page))


def stores(
    seeds: Sequence[int], scratch: Path, *, sessions: int, messages: int, old: bool
) -> Iterator[tuple[str, Path]]:
    """(name, database) of stores that both may be asked about."""
    for seed in seeds:
        for release in (LATEST, "0.19.0")[: 2 if old else 1]:
            home = store_home(release, seed=seed, sessions=sessions, messages=messages)
            copy = scratch / f"{release}-{seed}"
            copy.mkdir(parents=True)
            for suffix in ("", "-wal"):
                if Path(f"{home}/state.db{suffix}").exists():
                    shutil.copy(f"{home}/state.db{suffix}", copy / f"state.db{suffix}")
            yield f"{release}, seed {seed}", copy / "state.db"


def report(results: Iterable[tuple[str, str, str, int]]) -> dict[str, Agreement]:
    """Agreement by kind of query."""
    found: dict[str, Agreement] = defaultdict(Agreement)
    for kind, query, parted, hits in results:
        found[kind].asked += 1
        found[kind].hits += hits
        if parted:
            found[kind].parted.append(f"{query}: {parted}")
    return found


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--queries", type=int, default=400)
    parser.add_argument("--seeds", type=int, nargs="+", default=[5, 6])
    parser.add_argument("--sessions", type=int, default=64)
    parser.add_argument("--messages", type=int, default=3_000)
    parser.add_argument("--old", action="store_true")
    asked = parser.parse_args(argv)
    parted = 0
    with tempfile.TemporaryDirectory() as scratch:
        for name, db in stores(
            asked.seeds, Path(scratch), sessions=asked.sessions, messages=asked.messages, old=asked.old
        ):
            found = report(compare(db, asked.queries, asked.seeds[0]))
            print(name)
            for kind, agreement in found.items():
                agreed = agreement.asked - len(agreement.parted)
                print(f"  {kind:10} {agreed:4} of {agreement.asked:4} agree, {agreement.hits:6} conversations")
                for line in agreement.parted:
                    print(f"      {line}")
            parted += sum(len(agreement.parted) for agreement in found.values())
    return 1 if parted else 0


if __name__ == "__main__":
    sys.exit(main())
