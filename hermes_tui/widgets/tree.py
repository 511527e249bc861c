"""A family as rows: segments are a straight trunk, time runs down; all else hangs off the segment it left."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from hermes_tui.domain.lineage import Lineage, LineageNode, node_name
from hermes_tui.domain.sessions import Details, Kind, Status
from hermes_tui.text import count, one_line, short
from hermes_tui.times import UNKNOWN, local, now
from hermes_tui.values import dataclass, field
from hermes_tui.widgets.ink import AXIS, BLANK_CELL, Line, Part, crop, fit, gap, line, measure
from hermes_tui.widgets.wording import number

ENDED = {
    "compression": "compacted",
    "user_exit": "left",
    "cli_close": "left",
    "agent_close": "left",
    "tui_close": "left",
    "tui_shutdown": "left",
    "session_reset": "reset",
    "session_switch": "switched",
    "new_session": "reset",
    "resumed_other": "switched",
    "cron_complete": "done",
    "webhook_complete": "done",
    "idle_timeout": "idle",
    "ws_disconnect": "cut off",
    "acp_disconnect": "cut off",
    "ws_orphan_reap": "cut off",
    "startup_orphan_reap": "cut off",
    "superseded_by_resume": "replaced",
    "superseded_by_repair": "replaced",
    "resume_pending_expired": "expired",
    "lru_evict": "evicted",
    "cron_incomplete_no_output": "no output",
    "orphaned_compression": "orphaned",
    "adopted_by_profile": "adopted",
    "onboarding_restart": "restarted",
}
"""Why a session ended, in a word that fits the column; any other reason stands as it is stored."""
DAY = 8
"""Cells of a day, where there is no room for the time."""
STEP = 3
"""Cells by which what hangs off a trunk is set in."""


@dataclass(slots=True, eq=False)
class Trunk:
    """A chain of segments in the drawing: a vertical line that others hang off."""

    parent: Trunk | None
    depth: int
    last: bool = True
    """Nothing hangs off the parent's line below it."""


@dataclass(frozen=True, slots=True, eq=False)
class TreeRow:
    """One session, and how it hangs in the tree."""

    node: LineageNode
    trunk: Trunk
    first: bool
    """It begins its chain: drawn with an elbow, unless it is the root of all."""
    holds: int
    """Sessions that hang off it, all the way down."""
    folded: bool

    def guide(self, room: int) -> str:
        """The lines before its name: at most `room` cells, then the outermost are left out."""
        elbow = self.first and self.trunk.depth > 0
        own = ("└─ " if self.trunk.last else "├─ ") if elbow else "● "
        levels: list[str] = []
        trunk: Trunk | None = self.trunk.parent if elbow else self.trunk
        while trunk is not None and trunk.depth > 0 and STEP * (len(levels) + 1) <= room:
            levels.append("   " if trunk.last else "│  ")
            trunk = trunk.parent
        cut = "… " if trunk is not None and trunk.depth > 0 else ""
        return cut + "".join(reversed(levels)) + own


def tree_rows(nodes: Sequence[LineageNode], folded: Collection[str] = frozenset()) -> list[TreeRow]:
    """The rows in sight, in the order of the family; what hangs off a folded session is left out."""
    ends = _ends(nodes)
    shown: list[tuple[LineageNode, int]] = []
    i = 0
    while i < len(nodes):
        shown.append((nodes[i], ends[i] - i - 1))
        i = ends[i] if nodes[i].id in folded else i + 1
    rows: list[TreeRow] = []
    trunks: list[Trunk] = []
    for node, holds in shown:
        depth = min(node.depth, len(trunks))
        first = node.id == node.root_id or depth >= len(trunks)
        if first:
            trunk = Trunk(trunks[depth - 1] if depth else None, depth)
            del trunks[depth:]
            trunks.append(trunk)
        else:
            trunk = trunks[depth]
            del trunks[depth + 1 :]
        rows.append(TreeRow(node, trunk, first, holds, node.id in folded and holds > 0))
    _find_last(rows)
    return rows


def _ends(nodes: Sequence[LineageNode]) -> list[int]:
    """For each session, where what hangs off it ends."""
    ends = [len(nodes)] * len(nodes)
    open_ones: list[int] = []
    for i, node in enumerate(nodes):
        while open_ones and nodes[open_ones[-1]].depth >= node.depth:
            ends[open_ones.pop()] = i
        open_ones.append(i)
    return ends


def _find_last(rows: Sequence[TreeRow]) -> None:
    """Mark the trunks below which their parent's line ends: seen from below."""
    goes_on: list[bool] = []
    for row in reversed(rows):
        depth = row.trunk.depth
        if row.first:
            if depth:
                goes_on += [False] * (depth - len(goes_on))
                row.trunk.last = not goes_on[depth - 1]
                goes_on[depth - 1] = True
            del goes_on[depth:]
        else:
            goes_on += [False] * (depth + 1 - len(goes_on))
            goes_on[depth] = True
            del goes_on[depth + 1 :]


# drawing


@dataclass(frozen=True, slots=True)
class TreeStyle:
    """What rows depend on beside their session."""

    details: Mapping[str, Details] = field(default_factory=dict)
    """What is known of the messages of a chain, by its root's id: names those without a title."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What a chain is called, by its root's id: segments without a title are called like it."""
    kinds: int = 9
    """Cells that the longest kind takes: what others leave is room for titles."""


Columns = Sequence[tuple[str, int, str]]


def columns(width: int, kinds: int = 9) -> Columns:
    """Name, width and alignment of what follows the title in a tree of this width; the longest kind takes so many
    cells."""
    if width < 60:
        return (("started", 12 if width >= 50 else DAY, "right"),) if width >= 34 else ()
    found = (("kind", kinds, "left"), ("started", 12, "right"), ("msgs", 5, "right"))
    return (*found, ("tokens", 6, "right"), ("ended", 9, "left")) if width >= 90 else found


def head_line(width: int, style: TreeStyle) -> Line:
    """The names of the columns."""
    room = _room(width, style)
    cells = [(gap(2)[0] + fit(name, size, align), "aside") for name, size, align in columns(width, style.kinds)]
    return line(AXIS, (fit("session", room), "aside"), *cells)


def _room(width: int, style: TreeStyle) -> int:
    return max(8, width - 4 - sum(size + 2 for _, size, _ in columns(width, style.kinds)))


def row_line(row: TreeRow, width: int, style: TreeStyle, *, on: bool) -> Line:
    """One session; `on`: under the cursor."""
    node, room = row.node, _room(width, style)
    trunk = not (row.first and row.trunk.depth)
    tail: list[Part] = []
    for word, ink in states(row):
        tail += [(", " if tail else "  ", ink), (word, ink)]
    guide = row.guide(room // 2)
    lead: list[Part] = [(guide[:-2], "guide"), (guide[-2], _dot_ink(node) if trunk else "guide"), BLANK_CELL]
    name, titled = session_name(node, style)
    ink = "title" if on else "ink" if trunk and titled else "soft"
    title = crop(((name, ink),), max(4, room - measure(lead) - measure(tail)))
    parts = crop((*lead, *title, *tail), room)
    cells = [
        (gap(2)[0] + fit(cell(node, column, size), size, align), "quiet")
        for column, size, align in columns(width, style.kinds)
    ]
    bar: Part = ("▌", "gold") if on else BLANK_CELL
    return line(bar, gap(2), *parts, gap(room - measure(parts)), *cells, ground="cursor" if on else "")


def _dot_ink(node: LineageNode) -> str:
    return "gold" if node.is_tip else "quiet"


def session_name(node: LineageNode, style: TreeStyle) -> tuple[str, bool]:
    """What it or its conversation is called, else what was said first, else its id; and whether it is a title."""
    if name := node_name(node, style.names):
        return one_line(name, 300), bool(node.title)
    details = style.details.get(node.root_id)
    said = one_line(details.preview or "", 300) if details else ""
    return (f"“{said}”" if said else one_line(node.id, 300)), False


def states(row: TreeRow) -> list[Part]:
    """The words after the title."""
    node = row.node
    words: list[Part] = []
    if node.is_tip and node.segment[1] > 1:
        words.append(("tip", "gold"))
    if node.is_current:
        words.append(("here", "gold"))
    if node.live:
        words.append(("live", "good"))
    if node.status is Status.ERROR:
        words.append(("failed", "bad"))
    elif node.status is Status.INTERRUPTED and not node.live:  # it goes on
        words.append(("interrupted", "quiet"))
    elif node.status is Status.EMPTY:
        words.append(("empty", "quiet"))
    words += [(name, "quiet") for name in ("pinned", "archived") if getattr(node, name)]
    if row.folded:
        words.append((f"▸ {row.holds:,} folded", "lit"))
    return words


def cell(node: LineageNode, column: str, size: int) -> str:
    """What stands in a column of this size."""
    if column == "kind":
        return kind_word(node)
    if column == "started":
        return started_word(node.started_at, day=size <= DAY)
    if column == "msgs":
        return number(node.message_count)
    if column == "tokens":
        return short(node.tokens) if node.tokens else ""
    return ended_word(node.end_reason)


def kind_word(node: LineageNode) -> str:
    """`segment 2` on the trunk, else what it is to its parent."""
    n, of = node.segment
    if of > 1 and (n > 1 or node.kind is Kind.ROOT):
        return f"segment {n}"
    return str(node.kind)


def started_word(at: float | None, *, day: bool = False) -> str:
    """`28 Nov 14:02`, in another year `28 Nov 2025`; at most twelve cells. The `day` alone: `28 Nov`, `Nov 2025`."""
    if at is None:
        return UNKNOWN
    there = local(at)
    this_year = there.year == local(now()).year
    if day:
        return f"{there.day} {there:%b}" if this_year else f"{there:%b %Y}"
    return f"{there.day} {there:%b} " + (f"{there:%H:%M}" if this_year else f"{there.year}")


def kind_cells(nodes: Sequence[LineageNode]) -> int:
    """Cells that the column of kinds needs for these sessions."""
    return max([4, *(min(9, len(kind_word(node))) for node in nodes)])


def ended_word(reason: str | None) -> str:
    return ENDED.get(reason or "", one_line(reason or "", 60).replace("_", " "))


REPEATED = "messages repeated after a compression count in each"


def family_words(lineage: Lineage) -> str:
    """`3 segments · 2 branches · 1 reset · 4 delegates`: together all sessions of the family. Which of them are
    conversations of their own their kinds say."""
    kinds: dict[Kind, int] = {}
    root = lineage.nodes[0].root_id if lineage.nodes else ""
    for node in lineage.nodes:
        if node.root_id != root:
            kinds[node.kind] = kinds.get(node.kind, 0) + 1
    trunk = len(lineage.nodes) - sum(kinds.values())
    words = [count(trunk, "segment")]
    for kind, plural in (
        (Kind.BRANCH, "branches"),
        (Kind.RESET, "resets"),
        (Kind.DELEGATE, "delegates"),
        (Kind.SIBLING, "siblings"),
        (Kind.ORPHAN, "orphans"),
        (Kind.SEGMENT, "further segments"),
    ):
        if kinds.get(kind):
            one = "further segment" if kind is Kind.SEGMENT else str(kind)
            words.append(count(kinds[kind], one, plural))
    return " · ".join(words)
