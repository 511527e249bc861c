"""What a person should know about how a search was made: what was read instead of an index, what was left out."""

from __future__ import annotations

from collections.abc import Iterable

from hermes_tui.domain.filters import Filters
from hermes_tui.domain.queries import LEFT_OUT, UNREAD
from hermes_tui.domain.querytrees import Leaf
from hermes_tui.storage.finding import Finding, Ground
from hermes_tui.storage.parts import MOST
from hermes_tui.storage.scopes import Scope
from hermes_tui.text import count


def notices(ground: Ground, finding: Finding | None, inside: Iterable[Leaf], filters: Filters) -> tuple[str, ...]:
    """Whole sentences. `inside`: words that were looked for inside words."""
    said = list(ground.indexes.notices)
    words = ", ".join(f"“{word}”" for word in sorted({leaf.text for leaf in inside}))
    if words and finding is not None and (finding.groups or finding.judged):
        said.append(f"{words}: nowhere a word by itself, so it was looked for inside words.")
    if left := _left_out(ground.scope):
        said.append(f"{LEFT_OUT}{left} (source: asks for them).")
    if finding is not None and ground.cut and filters.takes("role", ("tool",)):
        said.append(UNREAD)
    if finding is not None and finding.parts.too_many:
        said.append(f"More than {MOST} words: only messages that hold all of them were looked for.")
    if finding is not None and finding.unreadable:
        said.append(f"{count(finding.unreadable, 'message')} could not be read.")
    return tuple(said)


def _left_out(scope: Scope) -> str:
    """`2 kanban, 1 tool, 4 delegate runs`: conversations by their source, then what is no conversation."""
    said = [f"{n:,} {source}" for source, n in sorted(scope.left_out.items())]
    said += [count(scope.runs_left_out, "delegate run")] if scope.runs_left_out else []
    said += [count(scope.parts_left_out, "segment")] if scope.parts_left_out else []
    return ", ".join(said)
