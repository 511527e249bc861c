"""A conversation as a row of the list: which columns a width has room for, and what stands in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hermes_tui import times
from hermes_tui.domain.sessions import Conversation, ConversationKey, Details, Order
from hermes_tui.text import one_line, short
from hermes_tui.values import dataclass, field
from hermes_tui.widgets.ink import AXIS, BLANK_CELL, Line, Part, crop, fit, gap, line, measure
from hermes_tui.widgets.wording import (
    active_word,
    fit_end,
    fit_place,
    mark_part,
    messages_of,
    model_word,
    money,
    number,
    place_word,
    source_word,
    title_part,
)

GAP = 2
ASCENDING, DESCENDING = "↑", "↓"


@dataclass(frozen=True, slots=True)
class ListStyle:
    """What rows depend on beside their conversation."""

    present: float = 0.0
    order: Order = Order.ACTIVE
    reverse: bool = False
    profiles: bool = False
    """Several profiles are open: every row says which is its own."""
    details: Mapping[ConversationKey, Details] = field(default_factory=dict)
    """What is known of the messages of some rows."""
    plain: bool = False
    """Without colours: what is not sure yet is told by a letter."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column after the title."""

    name: str
    width: int
    cell: Callable[[Conversation, ListStyle], Part]
    """A part of exactly `width` cells."""
    order: Order | None = None
    """The order that this column shows."""
    right: bool = True
    """Numbers and times stand at the right edge of their column."""


def _active(row: Conversation, style: ListStyle) -> Part:
    return (fit(active_word(row, style.present), 9, "right"), "good" if row.live else "quiet")


def _started(row: Conversation, style: ListStyle) -> Part:
    return (fit(times.ago(row.started_at, style.present), 9, "right"), "quiet")


def _messages(row: Conversation, style: ListStyle) -> Part:
    """The exact count; before anybody has counted what the store wrote down, told apart from it."""
    details = style.details.get(row.key)
    many = messages_of(row, details)
    if details is not None:
        return (fit(number(many), 5, "right"), "quiet")
    return (fit(f"{number(many, 4)}…" if style.plain else number(many), 5, "right"), "unsure")


ACTIVE = Column("active", 9, _active, Order.ACTIVE)
STARTED = Column("started", 9, _started, Order.STARTED)
MESSAGES = Column("msgs", 5, _messages, Order.MESSAGES)
TOKENS = Column(
    "tokens", 6, lambda row, style: (fit(short(row.tokens) if row.tokens else "", 6, "right"), "quiet"), Order.TOKENS
)
COST = Column("cost", 7, lambda row, style: (fit(money(row.cost_usd), 7, "right"), "quiet"), Order.COST)
SOURCE = Column("source", 8, lambda row, style: (fit(source_word(row.source), 8), "quiet"), right=False)
PROFILE = Column("profile", 10, lambda row, style: (fit(one_line(row.profile, 40), 10), "quiet"), right=False)
NARROW_PROFILE = Column("profile", 8, lambda row, style: (fit(one_line(row.profile, 40), 8), "quiet"), right=False)
WORKSPACE = Column(
    "workspace", 15, lambda row, style: (fit_place(place_word(row.workspace), 15), "quiet"), right=False
)
MODEL = Column("model", 11, lambda row, style: (fit_end(model_word(row.model), 11), "quiet"), right=False)


def columns(width: int, style: ListStyle) -> tuple[Column, ...]:
    """What follows the title in a list of this width. The column of the order is always there."""
    amount = {Order.TOKENS: TOKENS, Order.COST: COST}.get(style.order, MESSAGES)
    when = STARTED if style.order is Order.STARTED else ACTIVE
    if width < 60:
        last = amount if amount.order is style.order else when
        return (NARROW_PROFILE, last) if style.profiles else (last,)
    found: tuple[Column, ...] = (SOURCE, amount, when)
    if style.profiles:
        found = (PROFILE, *found)
    if width >= 90:
        found = (WORKSPACE, MODEL, *found) if width >= 112 else (WORKSPACE, *found)
    return found


ROOM_FOR_STATE = 24
"""Cells that a title needs to share them with a word about its conversation."""


def _room(width: int, shown: tuple[Column, ...]) -> int:
    """Cells for the title."""
    return max(1, width - measure((AXIS,)) - 1 - sum(column.width + GAP for column in shown))


def head_line(width: int, style: ListStyle) -> Line:
    """The names of the columns; an arrow at the one that the rows are sorted by."""
    shown = columns(width, style)
    descending = style.reverse if style.order is Order.TITLE else not style.reverse
    arrow = DESCENDING if descending else ASCENDING
    room = _room(width, shown)
    title = f"conversation {arrow}" if style.order is Order.TITLE else "conversation"
    parts = [(fit(title, room), "aside")]
    for column in shown:
        name = f"{column.name} {arrow}" if column.order is style.order else column.name
        cell = fit(name, column.width + GAP, "right") if column.right else gap(GAP)[0] + fit(name, column.width)
        parts.append((cell, "aside"))
    return line(AXIS, *parts)


def order_at(x: int, width: int, style: ListStyle) -> Order | None:
    """What the column at this cell sorts by, if it does."""
    shown = columns(width, style)
    end = measure((AXIS,)) + _room(width, shown)
    if x < end:
        return Order.TITLE
    for column in shown:
        end += GAP + column.width
        if x < end:
            return column.order
    return None


def row_line(row: Conversation, width: int, style: ListStyle, *, on: bool) -> Line:
    """One row; `on`: under the cursor."""
    shown = columns(width, style)
    details = style.details.get(row.key)
    room = _room(width, shown)
    segments = len(row.segment_ids)
    tail = f" §{segments}" if segments > 1 and room > 12 else ""
    tail += " hidden" if row.hidden and room > ROOM_FOR_STATE else ""
    text, ink = title_part(row, details)
    name = crop(((text, "title" if on and ink == "ink" else ink),), room - measure(((tail, ""),)))
    cells: list[Part] = [*name, (tail, "quiet")]
    cells.append(gap(room - measure(cells)))
    for column in shown:
        cells += [gap(GAP), column.cell(row, style)]
    bar: Part = ("▌", "gold") if on else BLANK_CELL
    return line(bar, mark_part(row, details), BLANK_CELL, *cells, BLANK_CELL, ground="cursor" if on else "")
