"""How inks and grounds look: of each which roles of the theme it takes (`themes`), and how its text is set.

A table and not a style sheet: parsing three dozen rules, and looking for them once for each ink of each widget, made
the first picture later. What a sheet says of an ink somewhere (`.rail > .ink--faint`) holds all the same.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from rich.style import Style
from textual.app import App
from textual.color import Color
from textual.dom import DOMNode
from textual.widget import Widget

Look = tuple[str, str, str]
"""Role of the text, role of what is beneath it, how the text is set; each may be empty."""

INKS: dict[str, Look] = {
    "ink": ("ink", "", ""),
    "title": ("ink", "", "bold"),
    "soft": ("soft", "", ""),
    "quiet": ("quiet", "", ""),
    "lit": ("lit", "", ""),
    "unsure": ("guide", "", "italic"),
    "unsure-lit": ("quiet", "", "italic"),
    "gold": ("gold", "", ""),
    "strong": ("ink", "", "bold"),
    "guide": ("guide", "", ""),
    "faint": ("hairline", "", ""),
    "match": ("match", "match-ground", "bold"),
    "now": ("now", "now-ground", "bold"),
    "good": ("good", "", ""),
    "bad": ("bad", "", ""),
    "bad-lit": ("bad-lit", "", ""),
    "aside": ("quiet", "", "italic"),
    "chip": ("ink", "hairline", ""),
    "chip-key": ("lit", "hairline", ""),
    "code": ("code", "", ""),
    "code-text": ("code-text", "", ""),
    "code-number": ("code-number", "", ""),
    "code-note": ("quiet", "", "italic"),
}
GROUNDS: dict[str, Look] = {
    "cursor": ("", "cursor", ""),
    "raised": ("", "raised", ""),
    "well": ("", "ground", ""),
}
_DRAWN = {
    **{f"ink--{name}": look for name, look in INKS.items()},
    **{f"ground--{name}": look for name, look in GROUNDS.items()},
}
_PLAIN: Look = ("", "", "")
_OF_SIXTEEN = {
    "ink--quiet": ("quiet", "", "dim"),
    "ink--aside": ("quiet", "", "italic dim"),
    "ink--unsure": ("guide", "", "italic dim"),
    "ink--guide": ("guide", "", "dim"),
    "ink--faint": ("hairline", "", "dim"),
    "ink--match": ("match", "match-ground", "bold underline"),
    "ink--now": ("now", "now-ground", "reverse bold"),
    "ink--chip": ("ink", "ground", "underline"),
    "ink--chip-key": ("lit", "ground", "underline"),
    "ground--cursor": ("", "cursor", "reverse"),
}
"""Sixteen colours have no tints: where a ground says something, it is said by reversing or underlining."""
_FOUND: WeakKeyDictionary[App[Any], tuple[object, dict[object, Style]]] = WeakKeyDictionary()
"""Of each app the rules that hold now, and what was found by them."""


def ruled(widget: Widget, name: str) -> Style:
    """The style of `ink--…` or `ground--…` within this widget, without what is beneath it."""
    app = widget.app
    rules = app.stylesheet.rules
    if (found := _FOUND.get(app)) is None or found[0] is not rules:
        found = _FOUND[app] = (rules, {})
    looks = found[1]
    here: object = name
    if f".{name}" in app.stylesheet.rules_map:
        path = [(type(each), each.id, each.classes, each._pseudo_classes_cache_key) for each in widget.css_path_nodes]
        here = (name, *path)
    style = looks.get(here)
    if style is None:
        style = looks[here] = _drawn(app, name) if here is name else _drawn(app, name) + _by_sheet(widget, name)
    return style


def _drawn(app: App[Any], name: str) -> Style:
    """What the table says, in the colours of the theme; nothing of a role that the theme lacks."""
    role, beneath, how = (_OF_SIXTEEN.get(name) if app.native_ansi_color else None) or _DRAWN.get(name, _PLAIN)
    colours = app.theme_variables
    ink, ground = (
        Color.parse(colours[f"h-{each}"]).rich_color if f"h-{each}" in colours else None for each in (role, beneath)
    )
    return Style(color=ink, bgcolor=ground) + Style.parse(how)


def _by_sheet(widget: Widget, name: str) -> Style:
    """What the style sheets say of `.name` within this widget."""
    node = DOMNode(classes=name)
    node._attach(widget)
    widget.app.stylesheet.apply(node)
    return node.styles.partial_rich_style
