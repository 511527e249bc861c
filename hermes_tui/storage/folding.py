"""Matching messages as the transcript shows them: copies counted once, and shown where the one that is shown
stands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from hermes_tui.domain.families import Catalogue
from hermes_tui.domain.querytrees import Node
from hermes_tui.storage import matches
from hermes_tui.storage.connection import Store
from hermes_tui.storage.finding import Finding
from hermes_tui.storage.matches import BEST, Top
from hermes_tui.storage.rows import BY_ACTIVE, BY_TIME
from hermes_tui.storage.scan import Judged
from hermes_tui.storage.schema import Schema
from hermes_tui.storage.scopes import Scope
from hermes_tui.storage.tallies import Tally

FEW = 40
"""Conversations that are looked at one by one; of more, first those that can hold copies are found."""


def fold(
    store: Store,
    catalogue: Catalogue,
    finding: Finding,
    tallies: Sequence[Tally],
    tree: Node,
    read: Mapping[int, Judged],
) -> None:
    """Correct counts and messages of these tallies, which `tree` brought. `read`: the messages that were judged
    one by one and count."""
    scope = finding.ground.scope
    several = _several(catalogue, scope)
    suspects = None
    if len(tallies) > FEW:
        suspects = {scope.places[each].root_id for each in suspicious(store) if each in scope.places}
    doubtful: dict[str, tuple[str, ...]] = {}
    for tally in tallies:
        root_id = tally.conversation.segment_ids[0]
        if root_id in several or (tally.count > 1 and (suspects is None or root_id in suspects)):
            doubtful[root_id] = scope.sessions_of(root_id)
    if not doubtful:
        return
    wanted = [each for sessions in doubtful.values() for each in sessions]
    matching = _matching(store, finding, tree, wanted, read)
    for tally in tallies:
        if tally.conversation.root_id in doubtful and not store.stopped():
            sessions = doubtful[tally.conversation.root_id]
            _correct(store, catalogue, tally, {each: matching.get(each, set()) for each in sessions})


def _several(catalogue: Catalogue, scope: Scope) -> set[str]:
    """Roots of the conversations in which a searched session is one of several segments."""
    segmented = catalogue.made.get("segmented")
    if not isinstance(segmented, list):
        segmented = [session_id for session_id, chain in catalogue.chains.items() if len(chain.segments) > 1]
        catalogue.made["segmented"] = segmented
    return {scope.places[each].root_id for each in segmented if each in scope.places}


def _matching(
    store: Store, finding: Finding, tree: Node, session_ids: Sequence[str], read: Mapping[int, Judged]
) -> dict[str, set[int]]:
    """Session → ids of its matching messages."""
    found: dict[str, set[int]] = defaultdict(set)
    wanted = set(session_ids)
    for row in read.values():
        if row.session_id in wanted:
            found[row.session_id].add(row.id)
    if finding.index is not None and (asked := finding.of_index(tree)) is not None:
        for message_id, session_id in matches.ids(store, finding.index, asked, finding.within, list(session_ids)):
            found[session_id].add(message_id)
    return found


def _correct(store: Store, catalogue: Catalogue, tally: Tally, matching: Mapping[str, Iterable[int]]) -> None:
    """Count messages that are shown, and show those."""
    from hermes_tui.storage.copies import load_folds  # most searches have none to look at

    shown: set[int] = set()
    aliases: dict[int, int] = {}
    for root_id in dict.fromkeys(catalogue.chains[each].root.id for each in matching):
        chain = catalogue.chains[root_id]
        folds = load_folds(store, chain)
        for segment in chain.segments:
            for message_id in matching.get(segment.id, ()):
                aliases[message_id] = folds.shown(message_id)
                shown.add(aliases[message_id])
    tally.count = len(shown)
    tops: dict[int, Top] = {}
    for top in tally.tops:
        there = aliases.get(top.id, top.id)
        tops.setdefault(there, top._replace(id=there))
    tally.tops = list(tops.values())[:BEST]


def suspicious(store: Store) -> frozenset[str]:
    """Sessions in which a message may lie twice: some time occurs twice, or something was compacted. Kept until
    the store is written."""
    version = store.version()
    kept = store.searching.get("copies")
    if kept is not None and kept[0] == version and isinstance(kept[1], frozenset):
        return kept[1]
    asked = [same_times_sql(store.schema)]
    if "compacted" in store.schema.messages:
        asked.append(inactive_sql(store.schema))
    found = frozenset(row[0] for sql in asked for row in store.conn.execute(sql).fetchall())
    store.searching["copies"] = (version, found)
    return found


def same_times_sql(schema: Schema) -> str:
    """Sessions in which some time occurs twice."""
    if BY_TIME not in schema.indexes:
        return """
        select cast(m.session_id as text)
        from messages m
        group by m.session_id, m.timestamp
        having count(*) > 1
        """
    those = f"from messages m indexed by {BY_TIME} where m.session_id = s.id"
    # session by session the index gives the times in order, and nothing has to be sorted or grouped
    return f"""
    select cast(s.id as text)
    from sessions s
    where (select count(*) {those}) <> (select count(*) from (select distinct m.timestamp {those}))
    """


def inactive_sql(schema: Schema) -> str:
    """Sessions in which something was undone or compacted."""
    if BY_ACTIVE not in schema.indexes:
        return "select distinct cast(m.session_id as text) from messages m where m.active = 0"
    those = f"from messages m indexed by {BY_ACTIVE} where m.session_id = s.id and m.active = 0"
    return f"select cast(s.id as text) from sessions s where exists (select 1 {those})"
