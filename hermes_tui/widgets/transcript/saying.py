"""What the lines around a transcript say: header, status, pages in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hermes_tui import times
from hermes_tui.bookmarks import Bookmark
from hermes_tui.domain.messages import Message, ToolCall
from hermes_tui.domain.sessions import Conversation, Details
from hermes_tui.intents import OpenTranscript
from hermes_tui.keys import TRANSCRIPT, shown_as
from hermes_tui.text import clean, count, one_line
from hermes_tui.widgets.ink import Form, Part, gap
from hermes_tui.widgets.transcript.leaves import ItemKind
from hermes_tui.widgets.transcript.outcomes import read_arguments
from hermes_tui.widgets.transcript.roaming import Place
from hermes_tui.widgets.ways import Paragraph, Way
from hermes_tui.widgets.wording import facts, title_part

BOOKMARKED = 120
"""Characters of a message that its bookmark keeps."""
_ACTS = {
    ItemKind.CALL: "fold",
    ItemKind.REASONING: "fold",
    ItemKind.FOLD: "fold",
    ItemKind.MORE: "show all",
    ItemKind.LINK: "follow",
}
READING: tuple[Paragraph, ...] = ((("reading…", "aside"),),)


def first_name(opening: OpenTranscript) -> str:
    """What the conversation is called before the store has said it: as the hit that led here, or by its kind."""
    hits, at = opening.hits, opening.hit
    return title_part(hits[at].conversation)[0] if at < len(hits) and hits[at].conversation.title else "Conversation"


def amounts(conversation: Conversation, total: int | None) -> tuple[str, ...]:
    """The right end of the header, from long to short."""
    messages = count(conversation.stored_messages if total is None else total, "message")
    segments = len(conversation.segment_ids)
    return (f"{messages} · {count(segments, 'segment')}", messages) if segments > 1 else (messages,)


def fact_lines(conversation: Conversation, details: Details | None) -> tuple[str, ...]:
    """The line below the title, from long to short."""
    what, _, when, *_ = facts(conversation, details)
    return (f"{what}   {when}", what)


def position_forms(place: Place | None, *, words: tuple[Part, ...], note: Part) -> list[Form]:
    """The status line: what is looked for or what happened, and where one is."""
    left = (*words, *((gap(3),) if words and note[0] else ()), *((note,) if note[0] else ()))
    if place is None:
        return [(left, "")]
    number = f"{place.number:,} of {place.total:,}"
    long = [f"message {number}"]
    short = [number]
    if place.segment is not None and place.segment[1] > 1:
        segment = f"segment {place.segment[0]} of {place.segment[1]}"
        long.append(segment)
        short.append(segment)
    if place.timestamp is not None:
        at = times.local(place.timestamp)
        long.append(times.moment(place.timestamp, seconds=True))
        short.append(f"{at.day} {at:%b %H:%M}")
    return [(left, " · ".join(long)), (left, " · ".join(short)), (left, number), (words or left, number)]


FINDING = "finding…"
IN_TITLE = "in the title"
BY_TITLE = "found by its title"
"""Of a conversation whose title brought it: inside, nothing need match."""


def at_end(what: str, step: int) -> str:
    """There is no further one."""
    return f"no {what} after this one" if step > 0 else f"no {what} before this one"


def round_the_end(found: int, step: int) -> str:
    """The next match is at the other end, or the same."""
    if found == 1:
        return "the only match"
    return "from the top" if step > 0 else "from the end"


def found_words(number: int | None, found: int | None, *, looking: bool = False) -> str:
    """`3/17`, `no match`; `finding…` while somebody is `looking`, nothing while nobody has looked."""
    if found is None:
        return FINDING if looking else ""
    return f"{number or 0:,}/{found:,}" if found else "no match"


def find_parts(words: str, counted: str, *, found: bool) -> tuple[Part, ...]:
    """What is looked for, and which of how many one is at; `found`: there are some."""
    said: list[Part] = [(one_line(words, 60), "ink")]
    return (*said, gap(2), (counted, "gold" if found else "aside")) if counted else tuple(said)


def footer(
    rebound: Mapping[str, str], kind: ItemKind | None, *, matches: bool, hits: bool, tools: bool, finding: bool
) -> tuple[tuple[str, str], ...]:
    """The keys that matter now, as (keys, label): at most eight. `tools`: there are calls to fold; `finding`: there
    are words to let go of first."""
    by_name = {key.id.partition(".")[2]: key for key in TRANSCRIPT}

    def keys(*names: str) -> str:
        return " ".join(shown_as(by_name[name], rebound) for name in names)

    found = [(keys("next-match", "previous-match"), "match")] if matches else [(keys("find"), "find")]
    found += [(keys("next-hit"), "next hit")] if hits else []
    found += [(keys("previous-prompt", "next-prompt"), "prompt")]
    found += [(keys("act"), _ACTS[kind])] if kind in _ACTS else []
    found += [(keys("tools"), "all tools")] if tools else []
    found += [(keys("message"), "copy"), (keys("resume"), "resume")]
    return (*found[:6], (keys("back"), "close" if finding else "back"), ("?", "keys"))


def failure_page(said: str) -> tuple[Paragraph, ...]:
    """In place of a transcript that cannot be read."""
    return (
        (("Cannot show this conversation. ", "bad"), (one_line(said, 1_000), "soft")),
        (),
        (("esc", "strong"), (" goes back", "quiet")),
    )


EMPTY_PAGE: tuple[Paragraph, ...] = (
    (("Nothing was said here.", "soft"),),
    (),
    (("The session has no message that can be shown. ", "quiet"), ("l", "strong"), (" shows its family", "quiet")),
)


def link_page(target: str) -> tuple[tuple[Paragraph, ...], tuple[Way, ...]]:
    """A link, in full, before it is opened."""
    return ((("Open this link?", "soft"),), (), ((clean(target), "title"),)), (
        Way("open it in the browser", does="open"),
        Way("copy it", does="copy"),
        Way("leave it", does="leave it"),
    )


def bookmark_words(message: Message) -> str:
    """What a list of bookmarks says of a message: its words, or its calls as their lines show them."""
    if message.call is not None:
        return _call_words(message.call)
    said = one_line(message.label or message.text, BOOKMARKED)
    return said or one_line(", ".join(map(_call_words, message.tool_calls or ())), BOOKMARKED)


def _call_words(call: ToolCall) -> str:
    return one_line(f"{call.name}  {read_arguments(call.arguments).summary}".strip(), BOOKMARKED)


def bookmarks_page(marks: Sequence[Bookmark]) -> tuple[tuple[Paragraph, ...], tuple[Way, ...]]:
    """The list of bookmarks."""
    if not marks:
        return ((("No bookmarks yet. ", "soft"), ("m", "strong"), (" in a conversation adds one", "quiet")),), ()
    present = times.now()
    rows = tuple(
        Way(
            f"{one_line(mark.title, 60)}  {one_line(mark.words, 60)}",
            right=times.ago(mark.timestamp, present),
            does="read",
        )
        for mark in marks
    )
    return ((("Bookmarks", "title"),),), rows
