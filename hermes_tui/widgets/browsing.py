"""What the list says about itself: how much of it is in sight, what is hidden, and what stands in place of rows."""

from __future__ import annotations

from collections.abc import Sequence

from hermes_tui.domain.sessions import ConversationPage, HiddenReason
from hermes_tui.paths import user_home
from hermes_tui.text import clean, count, one_line
from hermes_tui.values import dataclass
from hermes_tui.widgets.ink import Form, Line, Part, View, gap, line, wrap
from hermes_tui.widgets.query import near_filter
from hermes_tui.widgets.ways import Paragraph, Way

_PROBLEMS = 3
"""Stores that cannot be read, and notices, each on lines of its own; more are counted."""
_ROWS = 3
"""Lines that each of them may take."""


def hidden_words(hidden: dict[HiddenReason, int]) -> str:
    """`194 automation · 3 archived · 2 empty`."""
    return " · ".join(f"{hidden[reason]:,} {reason}" for reason in HiddenReason if hidden.get(reason))


def amount(page: ConversationPage) -> tuple[str, str]:
    """How many are in the list, of how many; long and short."""
    if not page.whole:
        return ("reading …", "reading …")
    return (f"{page.total:,} of {count(page.of, 'conversation')}", f"{page.total:,} of {page.of:,}")


def status_forms(page: ConversationPage, cursor: int, *, shown: bool, filtered: bool = False) -> tuple[Form, ...]:
    """What is not in the list and why, how to see it, and the position: with the rows it adds up to the header's
    count. `shown`: hidden ones are in the list; `filtered`: only what passes the filter is."""
    if not page.whole:
        return (_form("the newest; all others are being read", "", "", ""), _form("reading the others", "", "", ""))
    position = (f"{cursor + 1:,} of {page.total:,}", f"{cursor + 1:,}/{page.total:,}") if page.rows else ("", "")
    hidden = sum(page.hidden.values())
    barred = max(0, page.of - page.total - hidden) if filtered else 0
    but = f"{barred:,} do not pass the filter" if barred > 1 else "1 does not pass the filter" if barred else ""
    less = f"{barred:,} filtered out" if barred else ""
    if shown:
        return (
            _form(but or "all are shown", "a", "hides what is left out by default", position[0]),
            _form(less or "all are shown", "a", "hides", position[1]),
        )
    if not hidden:
        return (_form(but or "nothing is left out", "", "", position[0]), _form(less or " ", "", "", position[1]))
    words = f"left out: {hidden_words(page.hidden)}"
    shows = "shows what is left out" if but else "shows them"
    return (
        _form(_both(but, words), "a", shows, position[0]),
        _form(_both(less, words), "a", shows, position[1]),
        _form(_both(less, words), "a", "shows", position[1]),
        _form(_both(less, f"{hidden:,} left out"), "a", "shows", position[1]),
        _form(f"{hidden + barred:,} not shown", "a", "shows", position[1]),
    )


def awaited_form(said: str) -> Form:
    """The status line while another list is on its way: what was said of the one in sight is not true of it."""
    return _form(said, "", "", "")


def _both(*said: str) -> str:
    return " · ".join(filter(None, said))


def _form(said: str, key: str, does: str, right: str) -> Form:
    parts: tuple[Part, ...] = ((said, "quiet"),)
    return ((*parts, gap(3), (key, "strong"), (f" {does}", "quiet")) if key else parts, right)


def problems(page: ConversationPage | None, error: str = "", hint: str = "") -> list[tuple[Part, str]]:
    """A hint about the filter, stores that cannot be read, and notices, each with its mark."""
    said: list[tuple[Part, str]] = [(("!", "gold"), hint)] if hint else []
    said += [(("✗", "bad"), error)] if error else []
    if page is not None:
        said += [(("✗", "bad"), f"{each.profile}: {each.error}") for each in page.errors]
        said += [(("!", "gold"), notice) for notice in page.notices]
    return said


def problems_view(page: ConversationPage | None, error: str = "", hint: str = "") -> View:
    """A line or two for each of them; none when all is well."""

    def view(width: int, height: int) -> list[Line]:
        said = problems(page, error, hint)
        more = len(said) - _PROBLEMS
        lines: list[Line] = []
        for mark, text in said[:_PROBLEMS]:
            rows = wrap([(one_line(text), "soft")], width - 5, _ROWS)
            lines += [line(gap(1), mark if i == 0 else gap(1), gap(1), *row) for i, row in enumerate(rows)]
        return [*lines, line(gap(3), (f"and {more} more", "aside"))] if more > 0 else lines

    return view


@dataclass(frozen=True, slots=True)
class Notice:
    """A page in place of rows."""

    head: Sequence[Paragraph]
    ways: Sequence[tuple[str, Way]] = ()
    """What taking a row does (`hidden`, `search`, `clear`, `again`, `profiles`), and the row."""
    tail: Sequence[Paragraph] = ()


PROFILES = Way("look into another profile", does="profiles")
READING = Notice(((("reading …", "aside"),),))


def nothing(page: ConversationPage, text: str) -> Notice:
    """Why there are no rows, and the ways out."""
    hidden = sum(page.hidden.values())
    look = [("profiles", PROFILES)]
    if page.of == 0:
        head: Paragraph = (("No conversations yet.", "title"),)
        tail: Paragraph = (("Hermes writes one with the first words that are said. This list follows.", "quiet"),)
        return Notice((head,), look, (tail,))
    show = [("hidden", Way("show them", count(hidden, "conversation"), does="show"))] if hidden else []
    if text:
        from hermes_tui.domain.querytext import beside_filters

        words = one_line(text, 120)
        head = (("No conversation passes ", "title"), (words, "ink"), (".", "title"))
        tail = ((f"Looked at titles, first words, ids, sources, models and workspaces of {page.of:,}.", "quiet"),)
        if hidden:
            show = [("hidden", Way("show those left out that do", count(hidden, "conversation"), does="show"))]
        hint, meant = near_filter(text)
        mend = [("mend", Way(f"filter by {one_line(meant, 60)}", does="filter"))] if hint else []
        told: list[Paragraph] = [head, *([(("!", "gold"), (hint, "soft"))] if hint else [])]
        ways = [*mend, *show]
        if beside_filters(text):  # a search for filter words alone lists what this list would
            ways.append(("search", Way(f"search what was said for {one_line(text, 40)}", does="search")))
        return Notice(told, [*ways, ("clear", Way("clear the filter", does="clear"))], (tail,))
    head = ((f"All conversations are left out: {hidden_words(page.hidden)}.", "title"),)
    return Notice((head,), [*show, *look])


def failed(sentence: str, *, busy: bool) -> Notice:
    """The store cannot be read, and why; `busy`: only for the moment."""
    mark: Part = ("◐", "gold") if busy else ("✗", "bad")
    told = "Another program holds the store. Trying again …" if busy else "This store cannot be read."
    head: list[Paragraph] = [(mark, (told, "title")), *(((each, "soft"),) for each in _lines(sentence))]
    ways = [("again", Way("try again", does="try again")), ("profiles", PROFILES)]
    return Notice(head, ways, ((("Nothing was changed. This page looks again by itself.", "quiet"),),))


def _lines(sentence: str) -> list[str]:
    home = f"{user_home()}/"
    return [one_line(each).replace(home, "~/") for each in clean(sentence).split("\n") if each.strip()]
