"""How a conversation ended, and what a match in it was about: a few messages from both ends and around."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from hermes_tui.domain.contents import decode_content, decode_items
from hermes_tui.domain.copies import Place
from hermes_tui.domain.families import Chain
from hermes_tui.domain.messages import Message, Recap, RecapEntry, Window
from hermes_tui.domain.recaps import RecapSettings, entry_of, recap_settings, spoken, worth_showing
from hermes_tui.errors import TargetNotFound
from hermes_tui.storage.config import read_config, section
from hermes_tui.storage.connection import Store
from hermes_tui.storage.messages import load_rows, load_text
from hermes_tui.storage.places import Ground
from hermes_tui.storage.rows import by_ids, fetch, in_order, listed
from hermes_tui.storage.schema import Schema
from hermes_tui.storage.transcripts import ground, load_stretch
from hermes_tui.storage.visibility import visible
from hermes_tui.values import replace

GOAL, AROUND, RESOLUTION = 3, 5, 3
_STEP = 48


def load_recap(store: Store, chain: Chain) -> Recap:
    """The last entries of the whole conversation, the last answer whole; `display.resume_*` of the store's
    home decides how many and how long."""
    settings = recap_settings(section(read_config(store.ref.home), "display"))
    if not settings.shown or not settings.entries:
        return Recap((), 0)
    here = ground(store, chain)
    entries: list[RecapEntry] = []
    answered = False
    for _, message in _messages(here, chain, here.end, "desc"):
        entry = entry_of(message, settings)
        if entry is None:
            continue
        if entry.who == "assistant" and not answered:
            answered = True
            whole = replace(message, text=load_text(store, message.id)) if message.cut else message
            entry = entry_of(whole, settings, whole=True) or entry
        entries.append(entry)
        if len(entries) == settings.entries:
            break
    earlier = 0
    if len(entries) == settings.entries:
        earlier = max(0, _count_entries(here, settings) - len(entries))
    return Recap(tuple(reversed(entries)), earlier)


def _messages(here: Ground, chain: Chain, place: Place, direction: str) -> Iterator[tuple[Place, Message]]:
    """Messages from a place on, calls and results unpaired."""
    places = here.walk(place, direction)
    while some := list(islice(places, _STEP)):
        ids = [here.id_at(each) for each in some]
        found = {message.id: message for message in load_rows(here.store, chain, ids, here.standing, paired=False)}
        for each, message_id in zip(some, ids, strict=True):
            if message_id in found:
                yield each, found[message_id]


def _count_entries(here: Ground, settings: RecapSettings) -> int:
    """How many entries the whole conversation has."""
    store, total = here.store, 0
    sql = entries_sql(store.schema, settings)
    for session_id in here.sessions:
        total += store.conn.execute(f"{sql} and m.session_id = ?", (session_id,)).fetchone()[0]
    if here.folds.gone:
        copies = f"{sql} and m.id in (select value from json_each(?))"
        total -= store.conn.execute(copies, (listed(here.folds.gone),)).fetchone()[0]
    return total + _count_unsure(here)


def _count_unsure(here: Ground) -> int:
    """Answers that may be nothing but thoughts, or that another column holds."""
    store, schema, total = here.store, here.store.schema, 0
    unsure = f"""
    select m.id
    from messages m {in_order(schema)}
    where m.session_id = ? and {_unsure(schema)} and {visible(schema)}
    """
    texts = f"select m.id, m.content, {schema.message('codex_message_items')} from messages m where {{ids}}"
    for session_id in here.sessions:
        ids = [cells[0] for cells in fetch(store, unsure, session_id) if cells[0] not in here.folds.gone]
        for start in range(0, len(ids), _STEP):
            for cells in by_ids(store, texts, ids[start : start + _STEP]).values():
                if cells is not None and spoken(decode_content(cells[1]) or decode_items(cells[2])[0]):
                    total += 1
    return total


def _blank(column: str) -> str:
    return f"trim(coalesce({column}, ''), ' ' || char(9, 10, 13)) = ''"


def _unsure(schema: Schema) -> str:
    items = schema.message("codex_message_items")
    return f"""(
        m.role = 'assistant' and coalesce({schema.message("display_kind")}, '') = ''
        and (substr(m.content, 1, 1) = '<' or ({_blank("m.content")} and {items} <> ''))
    )"""


def entries_sql(schema: Schema, settings: RecapSettings) -> str:
    """Counts rows that surely are entries: all of the person's, and answers that say something."""
    calls = "0" if settings.skip_tool_only else "coalesce(m.tool_calls, '') not in ('', '[]', 'null')"
    return f"""
    select count(*)
    from messages m
    where (m.role = 'user' or (m.role = 'assistant' and (not {_blank("m.content")} or {calls})))
    and not {_unsure(schema)} and {visible(schema)}
    """


def load_context(store: Store, chain: Chain, message_id: int | None) -> tuple[Window, Window, Window]:
    """Goal (the first messages of person and assistant), match (`message_id` with its neighbours), resolution
    (the last ones): without overlap, hand-offs or empty text; the match itself stands as it is."""
    here = ground(store, chain)
    match: list[Place] = []
    if message_id is not None:
        try:
            place = here.place_of(message_id)
        except TargetNotFound:
            pass  # it was undone since it was found: there is still a goal and an end to show
        else:
            before = _worthy(here, chain, place, "desc", AROUND)
            match = [*reversed(before), place, *_worthy(here, chain, place, "asc", AROUND)]
    first = match[0] if match else None
    goal = [place for place in _worthy(here, chain, here.start, "asc", GOAL) if first is None or place < first]
    last = match[-1] if match else goal[-1] if goal else here.start
    ends = _worthy(here, chain, here.end, "desc", RESOLUTION)
    resolution = [place for place in reversed(ends) if place > last]
    goal_window, match_window, resolution_window = load_stretch(here, chain, [goal, match, resolution])
    return goal_window, match_window, resolution_window


def _worthy(here: Ground, chain: Chain, place: Place, direction: str, number: int) -> list[Place]:
    """The next places whose messages help to see what it was about."""
    found: list[Place] = []
    places = here.walk(place, direction)
    while len(found) < number and (some := list(islice(places, _STEP))):
        ids = _with_words(here, [here.id_at(each) for each in some])
        messages = load_rows(here.store, chain, ids, here.standing, paired=False)
        worthy = {message.id for message in messages if worth_showing(message)}
        found += [each for each in some if here.id_at(each) in worthy]
    return found[:number]


def _with_words(here: Ground, ids: Sequence[int]) -> list[int]:
    """Those that may be somebody's words, so that the outputs of tools need not be read to find them."""
    schema = here.store.schema
    sql = f"""
    select m.id
    from messages m
    where m.id in (select value from json_each(?)) and m.role in ('user', 'assistant')
    and (not {_blank("m.content")} or {schema.message("codex_message_items")} <> '')
    """
    return [cells[0] for cells in fetch(here.store, sql, listed(ids))]
