"""Text for people without a screen: aligned by cell width, no box drawing, good to grep and to hear read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rich.cells import cell_len

from hermes_tui import text, times
from hermes_tui.commands.looks import GAP, PIPED, Fitting, Look, ended
from hermes_tui.domain.links import Candidate
from hermes_tui.domain.names import named
from hermes_tui.domain.sessions import Conversation, Details, HiddenReason, Status
from hermes_tui.paths import tilde

INDENT = "  "
_TWO = [f"{number:02}" for number in range(62)]
_SAID = frozenset({Status.INTERRUPTED, Status.ERROR, Status.EMPTY})
"""States worth a word; the others are as they should be."""


def columns(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Iterable[int] = (),
    look: Look = PIPED,
    fitting: Fitting | None = None,
) -> Iterator[str]:
    """A head and rows in columns; the last column is neither padded nor cut. An empty cell is `-`. With a `fitting`
    no row is wider than the terminal."""
    table = [tuple(head), *(tuple(cell or "-" for cell in row) for row in rows)]
    widths = [max(cell_len(row[i]) for row in table) for i in range(len(head) - 1)]
    numbers, kept = frozenset(right), list(range(len(head)))
    if fitting is not None and look.width is not None:
        widths, kept = fitting.fitted(head, [*widths, max(cell_len(row[-1]) for row in table)], look.width)
        ends = {i for i in kept if head[i] in fitting.ends}
        table = [
            tuple(
                look.cropped(cell, width, left=i in ends)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            for row in table
        ]
    for row in table:
        cells = [
            " " * (widths[i] - cell_len(row[i])) + row[i]
            if i in numbers
            else row[i] + " " * (widths[i] - cell_len(row[i]))
            for i in kept[:-1]
        ]
        yield GAP.join([*cells, row[-1]]).rstrip()


def day(at: float | None, *, seconds: bool = False) -> str:
    """`2026-11-28 15:14 CET`: sorts, greps, and names its zone."""
    if at is None:
        return times.UNKNOWN
    there = times.fields(at)
    # by hand, as formats take several times as long and a search names tens of thousands
    minute = f"{there[0]}-{_TWO[there[1]]}-{_TWO[there[2]]} {_TWO[there[3]]}:{_TWO[there[4]]}"
    return f"{minute}:{_TWO[there[5]]} {there.tm_zone}" if seconds else f"{minute} {there.tm_zone}"


def name(row: Conversation, details: Details | None, look: Look = PIPED, *, segments: bool = True) -> str:
    """Title, else what the platform calls it, else the person's first words in quotes; `segments`: how many it has,
    where they are several, instead of the number that a title has for them."""
    of = len(row.segment_ids)
    shown = called(named(row.title, row.display_name, of), details, look)
    return ended(shown, f" {look.sign('§')}{of}" if segments and of > 1 else "")


def called(title: str | None, details: Details | None, look: Look = PIPED) -> str:
    """As `name`, for what is no conversation."""
    if said := text.one_line(title or ""):
        return said
    said = text.one_line((details.preview if details else None) or "")
    return look.quoted(said) if said else "untitled"


def choice(each: Candidate) -> list[str]:
    """One of several that a name could mean: its link first, then what lets one choose."""
    return [each.link, each.name or "untitled", day(each.last_active), each.source]


def place(workspace: str | None) -> str:
    """A directory as people write it."""
    return text.one_line(tilde(Path(workspace))) if workspace else ""


def marks(row: Conversation, details: Details | None) -> str:
    """What is special about a row, in words."""
    said = []
    if row.live or row.pinned or row.archived or row.hidden:
        flags = {"live": row.live, "pinned": row.pinned, "archived": row.archived, "hidden": row.hidden}
        said = [word for word, holds in flags.items() if holds]
    if details and details.status in _SAID:
        said.append(details.status.value)
    return ",".join(said)


def left_out(hidden: dict[HiddenReason, int]) -> str:
    """`Hidden: 194 automation, 3 archived (--all shows them).`; empty when nothing is."""
    counts = [f"{hidden[reason]:,} {reason.value}" for reason in HiddenReason if hidden.get(reason)]
    return f"Hidden: {', '.join(counts)} (--all shows them)." if counts else ""


def indented(value: str, by: str = INDENT) -> Iterator[str]:
    """Stored text, made safe, each line moved in so that it cannot pass for one of ours."""
    for line in text.clean(value).split("\n"):
        yield f"{by}{line}".rstrip()
