"""Every key, once: bindings, footer, help, palette and the README's table are made of this.

`id` is what a settings file names to rebind; `keys` are Textual's names, comma-separated; `action` is the
screen's or app's `action_…`.
"""

from __future__ import annotations

from collections.abc import Mapping

from hermes_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class Key:
    """One command of one place."""

    id: str
    place: str
    """browse, search, transcript, lineage, resume, or everywhere."""
    keys: str
    shown: str
    """The key as people write it; several that belong together share one entry of the help."""
    action: str
    label: str
    """For the footer: one or two words."""
    help: str
    """For the help, the palette and the README."""
    footer: int = 0
    """Rank in the footer, 1 first; 0 is never shown there."""


def _k(place: str, name: str, keys: str, shown: str, action: str, label: str, text: str = "", footer: int = 0) -> Key:
    return Key(f"{place}.{name}", place, keys, shown, action, label, text or label, footer)


MOVING = (
    ("down", "down,j", "↓ j", "move(1)", "next"),
    ("up", "up,k", "↑ k", "move(-1)", "previous"),
    ("page-down", "pagedown", "pgdn", "page(1)", "page down"),
    ("page-up", "pageup", "pgup", "page(-1)", "page up"),
    ("half-down", "ctrl+d", "ctrl+d", "half(1)", "half a page down"),
    ("half-up", "ctrl+u", "ctrl+u", "half(-1)", "half a page up"),
    ("first", "home,g", "g home", "first", "first"),
    ("last", "end,G", "G end", "last", "last"),
)
"""Moving is the same in every list; each place gets its own ids."""


def _moving(place: str) -> tuple[Key, ...]:
    return tuple(_k(place, name, keys, shown, action, text) for name, keys, shown, action, text in MOVING)


BROWSE = (
    _k("browse", "read", "enter", "enter", "read", "read", "read the conversation", 1),
    _k("browse", "search", "slash", "/", "search", "search", "search every word", 2),
    _k("browse", "filter", "f", "f", "filter", "filter", "filter the list as you type", 3),
    _k("browse", "resume", "r", "r", "resume", "resume", "resume in Hermes", 4),
    _k("browse", "lineage", "l", "l", "lineage", "lineage", "how sessions descend from each other", 5),
    _k("browse", "link", "y", "y", "copy_link", "link", "copy the @session link", 6),
    _k("browse", "command", "Y", "Y", "copy_command", "command", "copy the resume command"),
    _k("browse", "id", "i", "i", "copy_id", "id", "copy the session id"),
    _k("browse", "preview", "space", "space", "preview", "preview", "show or hide the preview, if wide", 7),
    _k("browse", "order", "s", "s", "order", "order", "change the order"),
    _k("browse", "reverse", "S", "S", "reverse", "reverse", "reverse the order"),
    _k("browse", "hidden", "a", "a", "hidden", "hidden", "show or hide what is left out"),
    _k("browse", "profiles", "P", "P", "profiles", "profiles", "choose profiles"),
    _k("browse", "clear", "escape,backspace", "esc", "clear", "clear", "clear the filter"),
    _k("browse", "quit", "q", "q", "quit", "quit", "quit"),
    *_moving("browse"),
)

SEARCH = (
    _k("search", "read", "enter", "enter", "read", "read", "read at the match; take a way out", 1),
    _k("search", "next", "ctrl+n", "ctrl+n", "move(1)", "next hit", "next hit", 2),
    _k("search", "previous", "ctrl+p", "ctrl+p", "move(-1)", "previous", "previous hit", 3),
    _k("search", "order", "o", "o", "order", "order", "best, newest, oldest first", 4),
    _k("search", "scan", "X", "X", "scan", "scan", "scan what no index holds"),
    _k("search", "resume", "r", "r", "resume", "resume", "resume in Hermes", 5),
    _k("search", "lineage", "l", "l", "lineage", "lineage", "how sessions descend from each other"),
    _k("search", "link", "y", "y", "copy_link", "link", "copy the @session link", 6),
    _k("search", "command", "Y", "Y", "copy_command", "command", "copy the resume command"),
    _k("search", "id", "i", "i", "copy_id", "id", "copy the session id"),
    _k("search", "box", "slash", "/", "box", "query", "back to the query"),
    _k("search", "focus", "tab,shift+tab", "tab", "switch", "hits", "between query and hits"),
    _k("search", "preview", "space", "space", "preview", "preview", "show or hide the preview, if wide"),
    _k("search", "recent", "ctrl+r", "ctrl+r", "recent", "recent", "recent queries"),
    _k("search", "expression", "E", "E", "expression", "expression", "show the expression that was asked"),
    _k("search", "profiles", "P", "P", "profiles", "profiles", "choose profiles"),
    _k("search", "back", "escape,backspace,q", "esc", "back", "back", "back", 7),
    *_moving("search"),
)

TRANSCRIPT = (
    _k("transcript", "act", "enter", "enter", "act", "fold", "fold, unfold, follow, show all", 3),
    _k("transcript", "find", "slash", "/", "find", "find", "find in this conversation", 2),
    _k("transcript", "next-match", "n", "n", "match(1)", "next match", "next match", 1),
    _k("transcript", "previous-match", "N", "N", "match(-1)", "previous match", "previous match"),
    _k("transcript", "previous-prompt", "left_square_bracket", "[", "prompt(-1)", "prompt", "previous prompt", 4),
    _k("transcript", "next-prompt", "right_square_bracket", "]", "prompt(1)", "next prompt", "next prompt"),
    _k("transcript", "next-message", "J", "J", "message(1)", "next message", "next message"),
    _k("transcript", "previous-message", "K", "K", "message(-1)", "previous", "previous message"),
    _k("transcript", "next-item", "tab", "tab", "item(1)", "next item", "next call, thought or link"),
    _k("transcript", "previous-item", "shift+tab", "shift+tab", "item(-1)", "previous", "previous item"),
    _k("transcript", "tools", "t", "t", "tools", "all tools", "fold or unfold all tool calls", 5),
    _k("transcript", "reasoning", "T", "T", "reasoning", "thoughts", "fold or unfold all reasoning"),
    _k("transcript", "message", "y", "y", "copy_message", "copy", "copy the message", 6),
    _k("transcript", "code", "c", "c", "copy_code", "code", "copy the code block; again: the next"),
    _k("transcript", "link", "L", "L", "copy_link", "link", "copy a link to this message", 7),
    _k("transcript", "command", "Y", "Y", "copy_command", "command", "copy the resume command"),
    _k("transcript", "id", "i", "i", "copy_id", "id", "copy the session id"),
    _k("transcript", "goto", "number_sign", "#", "goto", "go to", "go to a message id, 14:30, 2026-07-05"),
    _k("transcript", "bookmark", "m", "m", "bookmark", "bookmark", "bookmark this message"),
    _k("transcript", "bookmarks", "apostrophe", "'", "bookmarks", "bookmarks", "list of bookmarks"),
    _k("transcript", "resume", "r", "r", "resume", "resume", "resume in Hermes", 8),
    _k("transcript", "lineage", "l", "l", "lineage", "lineage", "how sessions descend from each other"),
    _k("transcript", "next-hit", "ctrl+n", "ctrl+n", "hit(1)", "next hit", "next hit of the search"),
    _k("transcript", "previous-hit", "ctrl+p", "ctrl+p", "hit(-1)", "previous hit", "previous hit of the search"),
    _k(
        "transcript",
        "scroll-left",
        "shift+left",
        "shift+←",
        "sideways(-1)",
        "left",
        "scroll a wide table left",
    ),
    _k(
        "transcript",
        "scroll-right",
        "shift+right",
        "shift+→",
        "sideways(1)",
        "right",
        "scroll a wide table right",
    ),
    _k("transcript", "page", "space", "space", "page(1)", "page", "page down"),
    _k("transcript", "back", "escape,backspace", "esc", "back", "back", "close find; back"),
    _k("transcript", "leave", "q,left", "q ←", "leave", "back", "back"),
    *_moving("transcript"),
)

LINEAGE = (
    _k("lineage", "read", "enter", "enter", "read", "read", "read this session", 1),
    _k("lineage", "resume", "r", "r", "resume", "resume", "resume in Hermes", 2),
    _k("lineage", "fold", "left", "←", "fold", "fold", "fold; go to the parent", 3),
    _k("lineage", "unfold", "right", "→", "unfold", "unfold", "unfold", 4),
    _k("lineage", "link", "y", "y", "copy_link", "link", "copy the @session link", 5),
    _k("lineage", "command", "Y", "Y", "copy_command", "command", "copy the resume command"),
    _k("lineage", "id", "i", "i", "copy_id", "id", "copy the session id", 6),
    _k("lineage", "preview", "space", "space", "preview", "preview", "show or hide the preview, if wide"),
    _k("lineage", "search", "slash", "/", "search", "search", "search every word"),
    _k("lineage", "back", "escape,backspace,q", "esc", "back", "back", "back", 7),
    *_moving("lineage"),
)

RESUME = (
    _k("resume", "here", "enter", "enter", "here", "here", "leave this program and become hermes", 1),
    _k("resume", "return", "b", "b", "come_back", "and come back", "run hermes, then come back here", 2),
    _k("resume", "window", "w", "w", "window", "tmux window", "in a new tmux window", 3),
    _k("resume", "print", "p", "p", "print", "print", "print the command and quit", 4),
    _k("resume", "copy", "c", "c", "copy_command", "copy", "copy the command", 5),
    _k("resume", "stay", "d", "d", "stay", "stay here", "stay in this directory", 6),
    _k("resume", "link", "y", "y", "copy_link", "link", "copy the @session link"),
    _k("resume", "id", "i", "i", "copy_id", "id", "copy the session id"),
    _k("resume", "close", "escape,backspace,q", "esc", "close", "close", "close", 7),
    *_moving("resume"),
)

PROFILES = (
    _k("profiles", "open", "enter", "enter", "open", "open", "open this profile, or those that are marked", 1),
    _k("profiles", "mark", "space", "space", "mark", "mark", "mark a profile, to open several", 2),
    _k("profiles", "all", "a", "a", "all", "all", "mark all profiles", 3),
    _k("profiles", "close", "escape,backspace,q", "esc", "close", "close", "close", 4),
    *_moving("profiles"),
)

BOOKMARKS = (
    _k("bookmarks", "read", "enter", "enter", "read", "read", "read at this bookmark", 1),
    _k("bookmarks", "remove", "m", "m", "remove", "remove", "remove this bookmark", 2),
    _k("bookmarks", "close", "escape,backspace,q", "esc", "close", "close", "close", 3),
    *_moving("bookmarks"),
)

MISSING = (
    _k("missing", "open", "enter", "enter", "open", "open", "open it", 1),
    _k("missing", "quit", "q,escape", "q", "quit", "quit", "quit", 2),
    *_moving("missing"),
)

EVERYWHERE = (
    _k("everywhere", "palette", "colon", ":", "palette", "commands", "every command by name"),
    _k("everywhere", "keys", "question_mark", "?", "keys", "keys", "help: these keys"),
    _k("everywhere", "quit", "ctrl+q", "ctrl+q", "quit", "quit", "quit"),
    _k("everywhere", "copy", "ctrl+c", "ctrl+c", "copy_selection", "copy", "copy the selection"),
)

PLACES: dict[str, tuple[Key, ...]] = {
    "browse": BROWSE,
    "search": SEARCH,
    "transcript": TRANSCRIPT,
    "lineage": LINEAGE,
    "resume": RESUME,
    "everywhere": EVERYWHERE,
}

SMALL_PLACES: dict[str, tuple[Key, ...]] = {"profiles": PROFILES, "bookmarks": BOOKMARKS, "missing": MISSING}
"""Panels and pages whose footer says all there is to say."""

JOINED: tuple[tuple[tuple[str, ...], str], ...] = (
    (("browse.order", "browse.reverse"), "change the order, reverse it"),
    (("browse.link", "browse.command", "browse.id"), "copy link, command, id"),
    (("search.next", "search.previous"), "next, previous hit"),
    (("search.link", "search.command", "search.id"), "copy link, command, id"),
    (("transcript.find", "transcript.next-match", "transcript.previous-match"), "find here, next, previous"),
    (("transcript.previous-prompt", "transcript.next-prompt"), "previous, next prompt"),
    (("transcript.next-message", "transcript.previous-message"), "next, previous message"),
    (("transcript.next-item", "transcript.previous-item"), "next, previous call or link"),
    (("transcript.tools", "transcript.reasoning"), "fold tools, reasoning"),
    (("transcript.message", "transcript.code", "transcript.link"), "copy message, code, link here"),
    (("transcript.bookmark", "transcript.bookmarks"), "bookmark, list of bookmarks"),
    (("transcript.next-hit", "transcript.previous-hit"), "next, previous hit"),
    (("transcript.back", "transcript.leave"), "close find; back"),
    (("transcript.scroll-left", "transcript.scroll-right"), "scroll a wide table"),
    (("transcript.command", "transcript.id"), "copy command, id"),
    (("lineage.fold", "lineage.unfold"), "fold, unfold"),
    (("lineage.link", "lineage.command", "lineage.id"), "copy link, command, id"),
    (("resume.link", "resume.copy", "resume.id"), "copy link, command, id"),
)
"""Keys that the help tells in one line, as they are one thing to remember."""

EVERY_LIST = ("browse.resume", "browse.lineage", "browse.link", "browse.preview")
"""What the help tells once, as it is the same wherever a conversation is under the cursor."""

_WRITTEN = {
    "question_mark": "?",
    "colon": ":",
    "slash": "/",
    "number_sign": "#",
    "apostrophe": "'",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "escape": "esc",
    "left": "←",
    "right": "→",
    "up": "↑",
    "down": "↓",
    "full_stop": ".",
    "comma": ",",
    "semicolon": ";",
    "minus": "-",
    "plus": "+",
    "equals_sign": "=",
    "exclamation_mark": "!",
    "at": "@",
}

_TYPED = {written: name for name, written in _WRITTEN.items()}
_ARROWS = frozenset("←→↑↓")


def shown_as(key: Key, rebound: Mapping[str, str]) -> str:
    """The key as people write it, also where a settings file gave the command another one."""
    if key.id not in rebound:
        return key.shown
    names = [name.strip() for name in rebound[key.id].split(",") if name.strip()]
    return " ".join(_WRITTEN.get(name, name) for name in names)


def typed_as(shown: str) -> str | None:
    """Textual's name of a key that people write so; the first of several for one command, None for `↑ ↓`, which do
    different things."""
    names = shown.split()
    if not names or (len(names) > 1 and names[0] in _ARROWS):
        return None
    return _TYPED.get(names[0], names[0])
