"""What a person should know about how a search was made: what was read instead of an index, what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from hermes_tui.domain.filters import Filters
from hermes_tui.domain.queries import LEFT_OUT, UNREAD
from hermes_tui.domain.querytrees import Leaf
from hermes_tui.storage.divisions import Ground
from hermes_tui.storage.finding import Finding
from hermes_tui.storage.parts import MOST
from hermes_tui.storage.scopes import Scope
from hermes_tui.text import count


def notices(ground: Ground, finding: Finding | None, inside: Iterable[Leaf], filters: Filters) -> tuple[str, ...]:
    """Whole sentences. `inside`: words that were looked for inside words."""
    said = list(ground.indexes.notices)
    words = ", ".join(f"“{word}”" for word in sorted({leaf.text for leaf in inside}))
    if words and finding is not None and (finding.groups or finding.judged):
        said.append(f"{words}: nowhere a word by itself, so it was looked for inside words.")
    said += left_out([ground.scope])
    if finding is not None and ground.cut and filters.takes("role", ("tool",)):
        said.append(UNREAD)
    if finding is not None and finding.parts.too_many:
        said.append(f"More than {MOST} words: only messages that hold all of them were looked for.")
    if finding is not None and finding.unreadable:
        said.append(f"{count(finding.unreadable, 'message')} could not be read.")
    return tuple(said)


def left_out(scopes: Collection[Scope]) -> list[str]:
    """`Left out: 2 kanban, 1 tool, 4 delegate runs`, of all these stores together: conversations by their source,
    then what is no conversation. Nothing when nothing was."""
    sources = sum((scope.left_out for scope in scopes), Counter[str]())
    said = [f"{n:,} {source}" for source, n in sorted(sources.items())]
    runs, parts = sum(scope.runs_left_out for scope in scopes), sum(scope.parts_left_out for scope in scopes)
    said += [count(runs, "delegate run")] if runs else []
    said += [count(parts, "segment")] if parts else []
    return [f"{LEFT_OUT}{', '.join(said)} (source: asks for them)."] if said else []
