"""Which conversations pass a query of filter words alone.

No message matches there, so `role:` and `tool:` ask what a list asks: whether the conversation holds such a
message, and negated, that it holds none. Dates bound its messages, as in every search.
"""

from __future__ import annotations

from hermes_tui.domain.filters import Filters
from hermes_tui.storage.conditions import Conditions, conditions
from hermes_tui.storage.connection import Store
from hermes_tui.storage.facts import message_clauses
from hermes_tui.storage.matches import sessions_where
from hermes_tui.storage.scopes import Scope
from hermes_tui.storage.visibility import visible

_NOTHING: frozenset[str] = frozenset()


def passing(store: Store, scope: Scope, filters: Filters) -> dict[str, bool]:
    """Root id → whether only a delegate's run brings the conversation."""
    sessions = _holding(store, scope, filters) - _shunned(store, scope, filters)
    places = [scope.places[session_id] for session_id in sessions]
    return {place.root_id: True for place in places} | {
        place.root_id: False for place in places if not place.delegate
    }


def _holding(store: Store, scope: Scope, filters: Filters) -> set[str]:
    """The searched sessions that hold what is wanted."""
    sessions = set(scope.places)
    if not filters.dated and not any(key in filters.wanted for key in ("role", "tool")):
        return sessions
    where = conditions(store.schema, filters.barring_none("role", "tool")).in_sessions(sessions)
    return sessions & sessions_where(store, where, sessions)


def _shunned(store: Store, scope: Scope, filters: Filters) -> set[str]:
    """Sessions that hold what is barred, with all others of the same conversation; a run bars itself alone."""
    found: set[str] = set()
    barred = filters.barred.get
    for roles, tools in ((barred("role", _NOTHING), _NOTHING), (_NOTHING, barred("tool", _NOTHING))):
        if roles or tools:
            clauses, params = message_clauses(roles, tools)
            where = Conditions([visible(store.schema), *clauses], dict(params)).in_sessions(scope.places)
            found |= sessions_where(store, where, set(scope.places))
    roots = {scope.places[each].root_id for each in found if not scope.places[each].delegate}
    return found | {each for root_id in roots for each in scope.sessions_of(root_id)}
