"""The sessions that a list shows by itself, read without those that it only counts.

Of a store of many years most sessions are runs that nobody asked for and that hang together with nothing: no
parent, no child, not live, not pinned. Each is a conversation of its own, hidden as automation; they are counted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Sequence

from hermes_tui.domain.families import Bystander, Catalogue
from hermes_tui.storage.catalogue import Loaded, assembled, load_catalogue
from hermes_tui.storage.connection import Store, decoding, is_damage, is_undecoded
from hermes_tui.storage.rows import Cells, listed
from hermes_tui.storage.schema import Schema
from hermes_tui.storage.segments import (
    AUTOMATIC,
    flag,
    named,
    segments_of,
    segments_sql,
    session_rows,
    strange,
    uncollected,
)
from hermes_tui.values import replace

_FEW = 400
"""Sessions up to which only these are read."""


def alone(schema: Schema) -> str:
    """SQL, to be bound with a list of the live sessions: whether a session stands aside. What Hermes would not call a
    session is read like the others."""
    return f"""coalesce(
        {AUTOMATIC}
        and coalesce(s.parent_session_id, '') = ''
        and coalesce(instr({schema.session("model_config")}, '_from"'), 0) = 0
        and not {flag(schema, "pinned")}
        and s.id not glob '*[^ -~]*' and length(s.id) = length(cast(s.id as blob))
        and s.id not in (select c.parent_session_id from sessions c where c.parent_session_id is not null)
        and s.id not in (select value from json_each(:live)),
        0
    )"""


def load_shown(store: Store, live: Collection[str]) -> Loaded | None:
    """The catalogue of this store without the sessions that stand aside, which it counts. None where all must be
    read to know which these are: ids that are no texts, damage."""
    if any("\0" in each for each in live):  # would end there in a list
        return None
    shown = segments_sql(store.schema, f"where not {alone(store.schema)}")
    try:
        if strange(store):
            return None
        with uncollected(), decoding(store, str):
            rows = store.conn.execute(shown, {"live": listed(sorted(live))}).fetchall()
            (every,) = store.conn.execute("select count(*) from sessions").fetchone()
    except sqlite3.DatabaseError as error:
        if not (is_damage(error) or is_undecoded(error)):
            raise
        return None
    read = len(rows)
    segments = segments_of(store, rows)
    if len(segments) < read:
        return None
    loaded = assembled(store, segments)
    return loaded._replace(catalogue=replace(loaded.catalogue, aside=max(every - read, 0)))


def load_bystanders(store: Store, catalogue: Catalogue) -> dict[str, Bystander]:
    """The sessions that stand aside of this catalogue. Raises sqlite3.DatabaseError as it comes."""
    sql = f"select s.id, {named(store.schema)} from sessions s"
    chains = catalogue.chains
    with uncollected():
        try:
            with decoding(store, str):
                rows = store.conn.execute(sql).fetchall()
        except sqlite3.DatabaseError as error:
            if not is_undecoded(error):
                raise
            rows = store.conn.execute(sql).fetchall()
        return {row[0]: row for row in rows if row[0] not in chains}


def bring(store: Store, catalogue: Catalogue, session_ids: Iterable[str]) -> None:
    """Have a catalogue know these sessions whole, as far as they stand aside of it. What is gone stays unknown."""
    chains, bystanders = catalogue.chains, catalogue.bystanders
    wanted = [each for each in dict.fromkeys(session_ids) if each not in chains and each in bystanders]
    if not wanted:
        return
    with uncollected():
        try:
            found = assembled(store, segments_of(store, _rows(store, wanted))).catalogue
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            found = load_catalogue(store)  # steps over what is damaged
        catalogue.take_in(found)


def _rows(store: Store, session_ids: Sequence[str]) -> list[Cells]:
    if len(session_ids) > _FEW:
        wanted = frozenset(session_ids)
        return [row for row in session_rows(store)[0] if row[0] in wanted]
    sql = segments_sql(store.schema, "where s.id in (select value from json_each(?))")
    return store.conn.execute(sql, (listed(session_ids),)).fetchall()
