"""A conversation as one text: the visible messages of its segments, root to tip, copies once.

The outline of the whole is read without texts; a window of it costs one count and one page, however long the
rest is. Whoever shows messages asks for them by id and gets them cut; `load_text` gives one whole.
"""

from __future__ import annotations

import math
import sqlite3
from array import array
from collections.abc import Sequence
from itertools import islice

from hermes_tui.domain.copies import Place
from hermes_tui.domain.families import Chain
from hermes_tui.domain.messages import NOT_A_PROMPT, ROLE_CODES, Message, Outline, SegmentMark, Window
from hermes_tui.storage.connection import Store
from hermes_tui.storage.copies import load_folds
from hermes_tui.storage.messages import Standing, load_rows, load_text, read_kinds
from hermes_tui.storage.places import Ground
from hermes_tui.storage.rows import BY_TIME, FIRST, LAST, Cells, fetch, one_by_one, session_ids
from hermes_tui.storage.schema import Schema
from hermes_tui.storage.visibility import visible
from hermes_tui.times import EPOCH_MAX

__all__ = ["exact_count", "ground", "load_messages", "load_outline", "load_stretch", "load_text", "load_window"]

_TO_READ = 9
"""Code of a person's row whose text decides whether it is a prompt."""


def load_outline(store: Store, chain: Chain) -> Outline:
    """The whole transcript without its texts."""
    folds = load_folds(store, chain)
    ids: array[int] = array("q")
    timestamps: array[float] = array("d")
    roles = bytearray()
    marks = []
    lying: dict[int, tuple[int, float]] = {}  # messages that stand elsewhere than they lie
    for segment in chain.segments:
        marks.append(SegmentMark(segment.id, len(ids), segment.started_at, segment.title))
        rows = _outlined(store, segment.id)
        if folds.gone:
            lying.update((row[0], (row[1], row[2])) for row in rows if row[0] in folds.firsts)
            rows = [row for row in rows if row[0] not in folds.gone]
        ids.extend(row[0] for row in rows)
        roles.extend(row[1] for row in rows)
        timestamps.extend(row[2] for row in rows)
    for position, message_id in enumerate(ids) if folds.stand_in else ():
        other = folds.stand_in.get(message_id)
        if other is not None and other in lying:
            ids[position] = other
            roles[position], timestamps[position] = lying[other]
    _settle(store, ids, roles)
    return Outline(ids, bytes(roles), timestamps, tuple(marks), dict(folds.aliases))


def _outlined(store: Store, session_id: str) -> list[tuple[int, int, float]]:
    """(id, role code, time) of a session's visible rows; NaN for no time."""
    rows: list[Cells]
    try:
        rows = fetch(store, outline_sql(store.schema), session_id)
    except sqlite3.DatabaseError as error:
        store.forgive(error)
        known = one_by_one(store, outline_sql(store.schema, one=True), session_ids(store, session_id))
        rows = [(message_id, 0, None) if cells is None else cells for message_id, cells in known]
    return [(message_id, code, math.nan if at is None else at) for message_id, code, at in rows]


def outline_sql(schema: Schema, *, one: bool = False) -> str:
    """Id, role code and time of a session's rows, or of one row; no text: of the person's rows alone the first
    character is looked at. Times come from an index, since in the row they lie behind the text."""
    kind = f"coalesce({schema.message('display_kind')}, '')"
    codes = " ".join(f"when '{role}' then {code}" for role, code in ROLE_CODES.items() if role != "user")
    doubtful = f"""
        {kind} <> '' or coalesce({schema.message("_compressed_summary")}, 0) <> 0
        or coalesce(substr(m.content, 1, 1), '') in ('', '[', '<', ' ', char(9), char(10), char(13))
    """
    if one or BY_TIME not in schema.indexes:
        at, rows, where = "m.timestamp", "messages m", "m.id = ?" if one else "m.session_id = ?"
    else:
        rows = f"messages t indexed by {BY_TIME} cross join messages m on m.id = t.id"
        at, where = "t.timestamp", "t.session_id = ?"
    return f"""
    select
        m.id,
        case m.role when 'user' then case when {doubtful} then {_TO_READ} else 1 end {codes} else 0 end,
        case
            when typeof({at}) in ('real', 'integer') and {at} between 0 and {EPOCH_MAX!r} then {at} + 0.0
        end
    from {rows}
    where {where} and {visible(schema)}
    order by m.id
    """


def _settle(store: Store, ids: array[int], roles: bytearray) -> None:
    """Decide which of the person's doubtful rows are prompts: hand-offs, notes and events are none."""
    doubtful = [position for position, code in enumerate(roles) if code == _TO_READ] if _TO_READ in roles else []
    readings = read_kinds(store, [ids[position] for position in doubtful])
    for position in doubtful:
        reading = readings.get(ids[position])
        roles[position] = ROLE_CODES["user"] if reading is not None and reading.prompt else NOT_A_PROMPT


def ground(store: Store, chain: Chain) -> Ground:
    """This conversation, to walk in."""
    return Ground(store, [segment.id for segment in chain.segments], load_folds(store, chain))


def load_window(
    store: Store, chain: Chain, anchor: int | None, before: int, after: int, *, rough: bool = False
) -> Window:
    """Up to `before` messages, the one at `anchor` (None: the last), up to `after` messages; with exact counts
    of what lies outside. `rough`: of long sessions the counts take in what is kept and not shown, and take no time.
    Raises `TargetNotFound` when no shown message answers to `anchor`."""
    here = ground(store, chain)
    place = next(here.walk(here.end, "desc"), None) if anchor is None else here.place_of(anchor)
    if place is None:
        return Window((), 0, 0)
    earlier = list(islice(here.walk(place, "desc"), before))
    places = [*reversed(earlier), place, *islice(here.walk(place, "asc"), after)]
    return load_stretch(here, chain, [places], rough=rough)[0]


def load_stretch(
    here: Ground, chain: Chain, stretches: Sequence[Sequence[Place]], *, rough: bool = False
) -> tuple[Window, ...]:
    """Places in a row as windows, several with one count."""
    edges = [place for places in stretches if places for place in (places[0], places[-1])]
    total, *befores = here.count(*edges, rough=rough) if edges else (0,)
    counts = iter(befores)
    windows = []
    for places in stretches:
        if not places:
            windows.append(Window((), 0, 0))
            continue
        ids = [here.id_at(place) for place in places]
        first, last = next(counts), next(counts)
        messages = load_rows(here.store, chain, ids, here.standing)
        windows.append(Window(messages, first, max(0, total - last - 1)))
    return tuple(windows)


def load_messages(
    store: Store, chain: Chain, ids: Sequence[int], *, outline: Outline | None = None
) -> tuple[Message, ...]:
    """These messages, in this order, texts cut to a page's size; those that have gone are left out.

    With `outline` at hand the copies are known from it; otherwise they are looked up.
    """
    standing = ground(store, chain).standing if outline is None else _standing(outline, ids)
    wanted = [standing.shown(message_id) for message_id in ids if FIRST <= message_id <= LAST]
    return load_rows(store, chain, wanted, standing)


def _standing(outline: Outline, ids: Sequence[int]) -> Standing:
    moved = set(outline.aliases.values())
    sessions = {}
    for message_id in ids:
        shown = outline.aliases.get(message_id, message_id)
        if shown in moved and (position := outline.position(shown)) is not None:
            sessions[shown] = outline.segments[outline.segment_at(position)].session_id
    return Standing(outline.aliases, sessions)


def exact_count(store: Store, chain: Chain) -> int:
    """How many messages the transcript has."""
    return ground(store, chain).count()[0]
