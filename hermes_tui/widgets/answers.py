"""What the search screen says about an answer: its four pictures, its status line, its pages."""

from __future__ import annotations

from collections.abc import Sequence

from hermes_tui.domain.filters import DATES
from hermes_tui.domain.links import Link, only_link
from hermes_tui.domain.queries import LEFT_OUT, LOST, UNREAD, SearchOrder, SearchPage, SearchQuery, WayOut
from hermes_tui.domain.querytrees import Leaf, Node, Without
from hermes_tui.text import count, one_line
from hermes_tui.widgets.ink import Form, Part, fitting, gap
from hermes_tui.widgets.query import COMPLETE, filter_words
from hermes_tui.widgets.ways import Paragraph, Way

ORDERS = {
    SearchOrder.RELEVANCE: "best first",
    SearchOrder.NEWEST: "newest first",
    SearchOrder.OLDEST: "oldest first",
}
GRAMMAR: tuple[Paragraph, ...] = (
    (
        ("All words must occur; only where they nowhere do, some of them. ", "quiet"),
        ('"a phrase"', "soft"),
        (" stands together, ", "quiet"),
        ("deploy*", "soft"),
        (" is a beginning, as is the word at the cursor from its third letter on, ", "quiet"),
        ("OR", "soft"),
        (" and ", "quiet"),
        ("NOT", "soft"),
        (" are upper case. Filters: ", "quiet"),
        ("source:telegram", "soft"),
        (" ", "quiet"),
        ("-tool:terminal", "soft"),
        (" ", "quiet"),
        ("role:user", "soft"),
        (" ", "quiet"),
        ("after:7d", "soft"),
        (" ", "quiet"),
        ("before:2026-07-01", "soft"),
        (" ", "quiet"),
        ("messages:>50", "soft"),
        (" ", "quiet"),
        ("is:pinned", "soft"),
        (".", "quiet"),
    ),
)
"""The grammar in one line."""
SCANNED = "All tool output was read too, however long."
"""What a scan adds to where it was looked."""
MEANT = "Looked for this id, one that begins so, and this title."
SEARCHED = "Looked in titles, in what was said, in automation, in tool calls and their output."
SCAN = Way("read tool output beyond 8 KB", does="scan")
CLEAR = Way("clear the query", does="clear")
AGAIN = Way("try again", does="try again")
ASK = "search like this"
"""What taking a query does."""
_OF_MESSAGES = (*DATES, "role", "tool")
"""Filters that test a message and not, as `source:` does too, the conversation it is in."""
_LONGEST = 80
"""Characters of a query that a sentence repeats."""


def words_of(text: str) -> str:
    """The query without its filter words."""
    rest, at = "", 0
    for start, _, end in filter_words(text):
        rest += text[at:start]
        at = end
    return one_line(rest + text[at:], _LONGEST)


def counts(page: SearchPage) -> tuple[str, str]:
    """For the header, long and short: how many conversations, and where there is room how many matches. While more
    may come, a `+`, and no word on the matches: which of them are counted by then goes up and down."""
    more = "" if page.final else "+"
    conversations = f"{page.total:,}{more} conversation{'' if page.total == 1 and not more else 's'}"
    if more:
        return (conversations, conversations)
    matches = sum([hit.count or len(hit.matches) for hit in page.hits])
    if not matches:
        return (conversations, conversations)
    unsure = "+" if any(hit.count is None and hit.matches for hit in page.hits) else ""
    found = f"{matches:,}{unsure} match{'' if matches == 1 and not unsure else 'es'}"
    return (f"{conversations} · {found}", conversations)


def status_forms(
    query: SearchQuery, page: SearchPage | None, *, running: bool, at: int, scan_key: str
) -> tuple[Form, ...]:
    """The status line, from long to short: route, once it is known, time, what was left out, and whether more is
    coming.

    `scan_key`: what to press to read what no index holds; empty when there is nothing more to read.
    """
    if page is None:
        return ((((f"{_doing(query)}…", "quiet"),), ""),)
    took = _time(page.elapsed_ms)
    facts = [*filter(None, [page.route]), took]
    typed = [f"{one_line(word, 30)}…" for word in typed_words(page.tree)]
    begun = [f"{word} as a beginning" for word in typed]
    if running or not page.final:
        facts.append(_progress(query, page, running=running))
    elif not page.hits:
        facts.insert(0, no_matches(query.text, page))
    timeless = [fact for fact in facts if fact != took]
    of = f"{max(page.total, len(page.hits)):,}{'' if page.final else '+'}"
    position = (f"{at + 1:,} of {of}", f"{at + 1:,}/{of}") if page.hits else ("", "")
    notices = [_in_line(notice) for notice in page.notices]
    left = [_in_line(notice) for notice in page.notices if LEFT_OUT in notice]

    def form(said: Sequence[str], offer: str) -> tuple[Part, ...]:
        parts: tuple[Part, ...] = ((" · ".join(said), "quiet"),)
        return (*parts, gap(3), (scan_key, "strong"), (offer, "quiet")) if scan_key else parts

    return (
        (form([*facts, *begun, *notices], " scans it"), position[0]),
        *([(form([*facts, *begun, *left], " scans long output"), position[0])] if left else []),
        *([(form([*facts, *left], " scans long output"), position[1])] if left and not begun else []),
        (form([*facts, *begun], " scans tool output beyond 8 KB"), position[0]),
        (form([*facts, *begun], " scans long output"), position[0]),
        *((form([*timeless, *said], " scans long output"), position[1]) for said in (begun, typed) if begun),
        (form(facts, " scans long output"), position[1]),
        (form(facts[:1], " scans long output"), position[1]),
        (((facts[0], "quiet"),), position[1]),
    )


def _in_line(notice: str) -> str:
    """A notice as a part of the status line."""
    said = one_line(notice).rstrip(".")
    if LEFT_OUT not in notice:
        return said
    said = said.partition(" (")[0]
    return said[0].lower() + said[1:] if said.startswith(LEFT_OUT) else said


def told_above(forms: Sequence[Form], page: SearchPage | None, width: int) -> tuple[bool, bool]:
    """Whether notices are to stand above a status line of this width, and whether it says what was left out."""
    parts, right = fitting(forms, width)
    left = [_in_line(each) for each in page.notices if LEFT_OUT in each] if page is not None else []
    return (parts, right) != forms[0], all(any(each in said for said, _ in parts) for each in left)


def notice_lines(
    page: SearchPage | None, *, whole: bool, told: bool = False, expression: bool = False, hint: str = ""
) -> list[Paragraph]:
    """What stands above the status line: a hint about the query; stores that failed, a line each; the notices, when
    the `whole` of them does not fit below (`told`: what was left out does); and the expression that was asked, on
    demand."""
    lines: list[Paragraph] = [hint_line(hint)] if hint else []
    if page is None:
        return lines
    lines += [((f"{one_line(each.profile)}: ", "soft"), (one_line(each.error, 400), "bad")) for each in page.errors]
    # That tool output was not searched is what the offer to scan it says.
    others = [notice for notice in page.notices if whole and not notice.endswith(UNREAD)]
    others = [notice for notice in others if not (told and LEFT_OUT in notice)]
    if others:
        said = (_in_line(notice) if LEFT_OUT in notice else one_line(notice, 400) for notice in others)
        lines.append((("  ".join(said), "quiet"),))
    if expression:
        lines.append((("expression: ", "aside"), (one_line(page.expression, 1_000) or "none, filters only", "soft")))
    return lines


def hint_line(hint: str) -> Paragraph:
    """A word that is nearly a filter: said wherever the query is answered."""
    return (("!", "gold"), (one_line(hint, 200), "soft"))


def typed_words(tree: Node | None) -> list[str]:
    """The words that are still being typed, and therefore taken for beginnings."""
    if tree is None:
        return []
    if isinstance(tree, Leaf):
        return [tree.text] if tree.typing and not tree.substring else []
    parts = (tree.base, tree.barred) if isinstance(tree, Without) else tree.children
    return [word for part in parts for word in typed_words(part)]


def _doing(query: SearchQuery) -> str:
    return "scanning" if query.scan else "searching"


def _progress(query: SearchQuery, page: SearchPage, *, running: bool) -> str:
    share = "" if page.progress is None else f"{page.progress:.0%}"
    if running:
        return f"{_doing(query)}… {share}".strip()
    return f"stopped at {share}" if share else "stopped"


def _time(milliseconds: float) -> str:
    return f"{milliseconds:.0f} ms" if milliseconds < 10_000 else f"{milliseconds / 1_000:.0f} s"


def no_matches(text: str, page: SearchPage) -> str:
    """`no matches for x in 242 conversations`."""
    asked = words_of(text) or one_line(text, _LONGEST)
    return f"no matches for {asked} in {count(page.searched, 'conversation')}"


def nothing_found(text: str, page: SearchPage, *, scanned: bool = False) -> tuple[list[Paragraph], list[Paragraph]]:
    """What stands above and below the ways out of having found nothing: what was searched, and the grammar.
    `scanned`: also what no index holds."""
    words = words_of(text)
    if words:
        head: Paragraph = (("No matches for ", "soft"), (words, "title"), (f"{_where(text, page)}.", "soft"))
    else:
        head = (("No conversation passes ", "soft"), (one_line(text, _LONGEST), "title"), (".", "soft"))
    if only_link(words) is not None:
        return [head], [((MEANT, "quiet"),)]  # its words were not looked for, so that no grammar helps
    return [head], [((f"{SEARCHED} {SCANNED}" if scanned else SEARCHED, "quiet"),), *GRAMMAR]


def _where(text: str, page: SearchPage) -> str:
    """` with before:7d in 157 conversations that pass the other filters`: dates, roles and tools test the message,
    so that a conversation need not hold one that passes."""
    typed = [text[start:end] for start, _, end in filter_words(text)]
    bound = [word for word in typed if word.lstrip("-").partition(":")[0].casefold() in _OF_MESSAGES]
    asked = f" with {one_line(' '.join(bound), _LONGEST)}" if bound else ""
    passes = "passes" if page.searched == 1 else "pass"
    passing = f" that {passes} the {'other ' if bound else ''}filters" if len(bound) < len(typed) else ""
    return f"{asked} in {count(page.searched, 'conversation')}{passing}"


def way_row(way: WayOut) -> Way:
    """A way out, with what it would find."""
    conversations = count(way.conversations, "conversation")
    return Way(one_line(way.label, _LONGEST), conversations, matches_word(way.matches), ASK)


def corrected_row(text: str) -> Way:
    """The query with the filter that was probably meant."""
    return Way(f"search for {one_line(text, _LONGEST)}", does=ASK)


def leads_nowhere(page: SearchPage) -> bool:
    """Whether the link that was asked for is known to name nothing: it could not be opened either."""
    return any(notice.startswith(LOST) for notice in page.notices)


def link_row(link: Link, page: SearchPage) -> Way:
    """A link that names nothing in the open stores may do so in another profile."""
    if leads_nowhere(page):
        return Way("choose profiles", does="choose")
    return Way(f"open {one_line(str(link), _LONGEST)}", does="open")


def matches_word(n: int) -> str:
    return count(n, "match", "matches") if n else ""


def unparsable(text: str, reason: str) -> list[Paragraph]:
    """The page of a query that cannot be understood; what became of it the status line says."""
    return [((one_line(text, _LONGEST), "title"), (f": {one_line(reason, 300)}", "soft"))]


def unparsable_status(text: str, reason: str) -> tuple[Form, ...]:
    shown, why = one_line(text, 40), one_line(reason, 200)
    return (
        ((("cannot parse", "bad"), (f" {shown}: {why}", "quiet")), ""),
        ((("cannot parse", "bad"), (f": {why}", "quiet")), ""),
        ((("cannot parse", "bad"), (f" {shown}", "quiet")), ""),
    )


def failed(sentence: str) -> list[Paragraph]:
    """The page of a search that could not be made."""
    return [(("Could not search. ", "bad"), (sentence, "soft"))]


def failed_status(sentence: str) -> tuple[Form, ...]:
    return ((((sentence, "bad"),), ""),)


def box_keys(
    *, hits: int, taking: Sequence[tuple[str, str]], offer: bool, recent: bool, escape: str
) -> tuple[tuple[str, str], ...]:
    """What works while the box takes all letters: there are so many `hits`, or keys for `taking` ways out, or
    neither; `offer`: a completion is shown; `escape`: what it does."""
    keys: list[tuple[str, str]] = []
    if hits:
        keys += [("enter", "read"), *([("↑ ↓", "hits")] if hits > 1 else []), ("tab", "to the hits")]
    keys += [] if hits else taking
    keys[1:1] = [COMPLETE] if offer else []
    keys += [("ctrl+r", "recent")] if recent else []
    return (*keys, ("esc", escape))


def way_keys(ways: Sequence[Way], at: int) -> list[tuple[str, str]]:
    """What works on a page without hits, the cursor on row `at`."""
    if not ways:
        return []
    return [("enter", ways[at].does), *([("↑ ↓", "choose")] if len(ways) > 1 else [])]


def recent_page(recent: Sequence[str]) -> tuple[list[Paragraph], list[Way]]:
    """What an empty box offers."""
    if not recent:
        return [(("Search every word that was ever exchanged.", "soft"),)], []
    return [(("Recent queries", "aside"),)], [Way(one_line(text, 200), does=ASK) for text in recent]
