"""How a conversation is named and described on every screen; all texts that come out are safe to show."""

from __future__ import annotations

from pathlib import Path

from rich.cells import cell_len

from hermes_tui import times
from hermes_tui.domain.sessions import Conversation, Details, Kind, Status
from hermes_tui.paths import tilde
from hermes_tui.text import count, one_line, short
from hermes_tui.widgets.ink import Part, cut
from hermes_tui.widgets.names import shown_name

NO_SOURCE = "(none)"


def title_part(conversation: Conversation, details: Details | None = None) -> Part:
    """The name; while nobody has looked at what an untitled conversation begins with, a quiet `…`."""
    if details is None and not (conversation.title or conversation.display_name):
        return ("…", "quiet")
    name, ink = shown_name(conversation, details.preview if details is not None else None)
    return (name.strip("\u200d") or "…", ink)  # a joiner at an end would swallow a blank beside it


def mark_part(conversation: Conversation, details: Details | None = None) -> Part:
    """The one mark of a row: live, else failed, interrupted, pinned, archived, empty."""
    status = details.status if details is not None else Status.UNKNOWN
    if conversation.live:
        return ("◉", "good")
    if status is Status.ERROR:
        return ("✗", "bad")
    if status is Status.INTERRUPTED:
        return ("◐", "soft")
    if conversation.pinned:
        return ("★", "soft")
    if conversation.archived:
        return ("▫", "quiet")
    if conversation.empty or status is Status.EMPTY:
        return ("○", "quiet")
    return (" ", "ink")


def source_word(source: str) -> str:
    return one_line(source, 60) or NO_SOURCE


def model_word(model: str | None) -> str:
    """A model without the names of its vendors (`anthropic/claude-…`)."""
    return one_line(model or "", 120).rpartition("/")[2]


def place_word(path: str | None) -> str:
    """A directory, with `~` for the home."""
    return one_line(tilde(Path(path))) if path else ""


def fit_end(text: str, width: int) -> str:
    """Exactly `width` cells; what is cut goes at the front, for names that differ at their end."""
    if cell_len(text) <= width:
        return text + " " * (width - cell_len(text))
    kept = cut(text[::-1], width - 1)[::-1]
    return "…" + kept + " " * (width - 1 - cell_len(kept))


def fit_place(place: str, width: int) -> str:
    """A directory on exactly `width` cells, cut between its folders where that leaves something."""
    if cell_len(place) <= width:
        return fit_end(place, width)
    at = place.find("/", len(place) - width + 1)
    return fit_end("…" + place[at:], width) if 0 < at < len(place) - 1 else fit_end(place, width)


def number(n: int, width: int = 5) -> str:
    """`1,204`, or `12k` where that is too wide."""
    written = f"{n:,}"
    return written if len(written) <= width else short(n)


def money(cost: float | None) -> str:
    """`$1.20`; empty when nobody knows."""
    return "" if cost is None else f"${cost:,.2f}" if cost < 1_000 else f"${cost:,.0f}"


def active_word(conversation: Conversation, present: float) -> str:
    return "live" if conversation.live else times.ago(conversation.last_active, present)


def messages_of(conversation: Conversation, details: Details | None) -> int:
    """The exact count, once it is known."""
    return details.message_count if details is not None else conversation.stored_messages


def facts(conversation: Conversation, details: Details | None = None, *, profile: bool = False) -> list[str]:
    """What, how much, when: three lines for a pane, and a fourth for what is special about it."""
    place = place_word(conversation.workspace)
    if conversation.git_branch:
        place = f"{place} ({one_line(conversation.git_branch, 80)})".strip()
    what = [one_line(conversation.profile)] if profile else []
    what += [source_word(conversation.source), model_word(conversation.model), place]
    segments = len(conversation.segment_ids)
    much = [count(messages_of(conversation, details), "message")]
    much += [count(segments, "segment")] if segments > 1 else []
    much += [f"{short(conversation.tokens)} tokens"] if conversation.tokens else []
    much += [money(conversation.cost_usd)] if conversation.cost_usd else []
    lines = [_joined(what), _joined(much), times.stretch(conversation.started_at, conversation.last_active)]
    special = _joined(states(conversation, details))
    return [*lines, special] if special else lines


def states(conversation: Conversation, details: Details | None = None) -> list[str]:
    """What sets this conversation apart, in words."""
    found = ["live now"] if conversation.live else []
    status = details.status if details is not None else Status.UNKNOWN
    found += [str(status)] if status in (Status.ERROR, Status.INTERRUPTED) and not conversation.live else []
    found += [name for name in ("pinned", "archived", "hidden") if getattr(conversation, name)]
    found += ["empty"] if conversation.empty else []
    if conversation.kind not in (Kind.ROOT, Kind.SEGMENT):
        found.append(str(conversation.kind))
    return found


def _joined(words: list[str]) -> str:
    return " · ".join(word for word in words if word)
