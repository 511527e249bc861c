"""What tool output says behind the beginning that an index holds of it, looked through for many messages at once.

Threads that call a function of Python's own for every text wait for each other most of the time. So SQLite's `like`
looks for the words as they stand, and for those with accents, of which it knows nothing, the ends of many texts are
looked through together.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from hermes_tui.domain.querytrees import Leaf
from hermes_tui.storage.accents import around_accents, beside
from hermes_tui.storage.conditions import Conditions
from hermes_tui.storage.connection import Store
from hermes_tui.storage.fts import CUT_AT
from hermes_tui.storage.sieve import ANY, LEADING, NEEDLE, Sieve
from hermes_tui.values import NamedTuple

_OVERLAP = 1_024
"""So many bytes before the end of what an index holds of a text, the rest of it begins: a word that goes beyond that
end …"""
_MARKS = (_OVERLAP - 3 * NEEDLE) // 3
"""… begins behind them, unless there are more accents among them than this."""
_OTHERS = bytes({*range(256)} - {*LEADING})
_MARKING = (b"\xcc", b"\xcd", b"\xe1\xb7")
"""How accents begin that are no letters by themselves."""
HELD_WHOLE = f"""
length(cast(m.content as blob)) <= {CUT_AT} and printf('%s', m.content) is m.content and m.tool_calls is null
"""
"""Tool output that is a text, and that the index holds to its end: not where there is a NUL in it, at which SQLite
cuts a text."""
AT_ONCE = 256
"""Ids of which the texts are looked through together …"""
_LONGEST = 131_072
"""… up to so many bytes of each."""
_END = f"substr(cast(m.content as blob), {CUT_AT - _OVERLAP + 1}, {_LONGEST})"
_ODD = f"""
m.tool_calls is not null or typeof(m.content) is not 'text'
or length(cast(printf('%s', m.content) as blob)) not between {CUT_AT - _OVERLAP} and {CUT_AT - _OVERLAP + _LONGEST}
"""
"""What `_END` does not tell all of; where it holds a NUL, that tells it."""
_REMEMBERED = 4_000
"""Blocks of so many ids of which is remembered what is known of them."""
_LEAST = 6
"""Letters of a word that are enough to pass over most texts without it."""
_BY_RARITY = string.digits + "etaoinsrlhdcumfpgwybvkxjqz"


def with_end(leaf: Leaf) -> bool:
    """Whether `ends_of` can look for it."""
    return not leaf.substring and leaf.text.isascii() and len(leaf.text) <= NEEDLE and bool(_words_of(leaf))


def ends_of(leaves: Iterable[Leaf]) -> Ends:
    """Looks for what ends behind the beginning of tool output that an index holds: the last word of each leaf."""
    return _ends(tuple(dict.fromkeys(_words_of(leaf)[-1].lower() for leaf in leaves)))


def _words_of(leaf: Leaf) -> list[str]:
    return re.findall("[A-Za-z0-9]+", leaf.text)


class Ends(Sieve):
    """Looks for words in what goes on behind that, and in what no index holds as it is meant."""

    def __init__(self, words: Iterable[str]) -> None:
        super().__init__(words, (), beyond=False, structured=False)
        self.accented = beside(self.words)

    def _worth(self, said: bytes | None, name: bytes | None, calls: bytes | None) -> bool:
        if said is not None:
            if 0 in said:
                # at which SQLite cuts a text, wherever it stands
                if self.holds(said):
                    return True
            elif len(said) > CUT_AT:
                end = said[CUT_AT - _OVERLAP :]
                if self.holds(end) or _crowded(end[:_OVERLAP]):
                    return True
        # where letters may be written as numbers, which no index reads
        return calls is not None and self.holds_in_calls(calls)


_ends = lru_cache(16)(Ends)


def _crowded(raw: bytes) -> bool:
    return not raw.isascii() and len(raw.translate(None, _OTHERS)) > _MARKS


class _Block(NamedTuple):
    """What is known of the tool output between some ids that goes on behind what the index holds, whatever the words
    are that it is looked through for."""

    all: str
    """Their ids, one behind the other."""
    odd: str
    """Of these such as each is looked at."""
    around: bytes | None
    """What stands around accents in them; None where they have many."""


Learned = dict[int, dict[int, _Block]]
"""What the connections that take part in one reading know of these texts, each by what it last found unwritten."""


def ending_with(
    store: Store, ends: Ends, where: Conditions, low: int, high: int, learned: Learned | None = None
) -> list[int]:
    """Tool output between these ids that is to be looked at for one of the words, and little else; less than all when
    nobody waits for it any more. What is learned on the way is remembered until a write. `learned`: where those that
    take part in the same reading, of the same `where`, find what the others know."""
    version = store.version()
    known = _known(store, version, where)
    learned = {} if learned is None else learned
    learned[id(store)] = known
    others = [each for each in list(learned.values()) if each is not known]
    tests, params = _tests(ends)
    params = {**where.params, **params}
    sql = _sql(tests, where)
    closely: list[str] = []
    plain: list[str] = []
    top = high
    while top > low and not store.stopped():
        bottom = max(low, (top - 1) // AT_ONCE * AT_ONCE)
        block, said, texts = None, True, None
        if top - bottom == AT_ONCE:
            block = known.get(top) or next((each[top] for each in others if top in each), None)
        if block is None:
            ids, odd, said, texts = store.conn.execute(sql, {**params, "low": bottom, "high": top}).fetchone()
            block = _block(ids or "", odd or "", texts or b"")
            if top - bottom == AT_ONCE and len(known) < _REMEMBERED:
                known[top] = block
        accented = block.around is None or ends.accented.search(block.around)
        if block.odd == block.all or (accented and (texts is None or ends.holds_words(texts))):
            closely.append(block.all)
        else:
            closely.append(block.odd)
            plain.append(block.all if said or block.odd else "")
        top = bottom
    if store.version() != version:
        store.searching.pop("ends", None)
        learned.pop(id(store), None)
    found = [int(number) for ids in closely if ids for number in ids.split(",")]
    sql = f"select m.id from messages m where m.id in (select value from json_each(:plain)) and ({tests})"
    listed = f"[{','.join(filter(None, plain))}]"
    found += (row[0] for row in store.conn.execute(sql, {**params, "plain": listed}))
    return found


def _known(store: Store, version: int, where: Conditions) -> dict[int, _Block]:
    """By the newest id of each, blocks of as many ids as are looked through together."""
    made_of = (version, where.narrowing, repr(where.params))
    kept = store.searching.get("ends")
    if kept is None or kept[0] != made_of or not isinstance(kept[1], dict):
        kept = store.searching["ends"] = (made_of, {})
    assert isinstance(kept[1], dict)
    return kept[1]


def _block(ids: str, odd: str, texts: bytes) -> _Block:
    around = around_accents(texts)
    unseen = 0 in texts  # `like` sees nothing behind it
    crowded = (around is None or ANY in around) and any(_often(mark, texts) for mark in _MARKING)
    return _Block(ids, ids if unseen or crowded else odd, around)


def _often(mark: bytes, texts: bytes) -> bool:
    """Whether it is there so often that one of the texts may be crowded with such."""
    at = -1
    for _ in range(_MARKS // len(_MARKING)):
        at = texts.find(mark, at + 1)
        if at < 0:
            return False
    return True


def _tests(ends: Ends) -> tuple[str, dict[str, Any]]:
    params = {f"ending{number}": f"%{rarest(word.decode())}%" for number, word in enumerate(ends.words)}
    return " or ".join(f"cast({_END} as text) like :{name}" for name in params), params


def _sql(tests: str, where: Conditions) -> str:
    """What goes on behind the beginning: ids of all and of the odd ones, whether a word is in any, and their ends."""
    together = f"group_concat({_END}, char(10))"
    return f"""
    select
        group_concat(m.id),
        group_concat(case when {_ODD} then m.id end),
        {tests.replace(f"cast({_END} as text)", together)},
        cast({together} as blob)
    from messages m
    where m.id > :low and m.id <= :high and m.role is 'tool' and {where.narrowing} and not ({HELD_WHOLE})
    """


def rarest(word: str) -> str:
    """The end of a word that begins with a rare letter: `like` tries each place where the first letter stands."""
    beginnings = range(max(len(word) - _LEAST, 0) + 1)
    return word[max(beginnings, key=lambda at: _BY_RARITY.find(word[at])) :]
