"""What a message must be to be found, beside holding the words: SQL conditions with their parameters."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from hermes_tui.domain.filters import Filters
from hermes_tui.storage.facts import message_clauses
from hermes_tui.storage.schema import Schema
from hermes_tui.storage.visibility import visible
from hermes_tui.times import EPOCH_MAX
from hermes_tui.values import dataclass, field


@dataclass(slots=True)
class Conditions:
    """What a row `m` of `messages` must be, beside matching: SQL, and its named parameters."""

    clauses: list[str]
    params: dict[str, Any] = field(default_factory=dict)
    visible: str = "1"
    """The one that nearly all rows pass, and that takes longest to test."""

    @property
    def sql(self) -> str:
        return f"{self.narrowing} and ({self.visible})"

    @property
    def narrowing(self) -> str:
        """All but `visible`."""
        return " and ".join(f"({clause})" for clause in self.clauses) or "1"

    def also(self, *clauses: str, **params: Any) -> Conditions:
        """With more conditions."""
        return Conditions([*self.clauses, *clauses], {**self.params, **params}, self.visible)

    def in_sessions(self, session_ids: Iterable[str]) -> Conditions:
        """In these sessions only."""
        listed = json.dumps(list(session_ids))
        return self.also("m.session_id in (select value from json_each(:in_sessions))", in_sessions=listed)


def conditions(schema: Schema, filters: Filters) -> Conditions:
    """Visible rows that pass the filters that test messages, but `source:`, which the scope decides."""
    found = Conditions([], visible=visible(schema))
    nothing: frozenset[str] = frozenset()
    wanted = message_clauses(filters.wanted.get("role", nothing), filters.wanted.get("tool", nothing), "wanted")
    found = found.also(*wanted[0], **wanted[1])
    for key, name in (("role", "barred"), ("tool", "shunned")):
        values = filters.barred.get(key, nothing)
        sets = (values, nothing) if key == "role" else (nothing, values)
        clauses, params = message_clauses(*sets, name)
        found = found.also(*(f"not ({clause})" for clause in clauses), **params)
    if filters.after is not None:
        found = found.also(f"{AT} >= :after", after=filters.after)
    if filters.before is not None:
        found = found.also(f"{AT} < :before", before=filters.before)
    return found


AT = (
    f"case when typeof(m.timestamp) in ('real', 'integer') and m.timestamp between 0 and {EPOCH_MAX!r} "
    "then m.timestamp + 0.0 end"
)
"""When a message was said, where its time is believable."""
