"""What the style sheets say of an ink, found once for all widgets of which they say the same."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from rich.style import Style
from textual.app import App
from textual.dom import DOMNode
from textual.widget import Widget

_FOUND: WeakKeyDictionary[App[Any], tuple[object, dict[object, Style]]] = WeakKeyDictionary()
"""Of each app the rules that hold now, and what was found by them."""


def ruled(widget: Widget, name: str) -> Style:
    """The style of `.name` within this widget, without what is beneath it."""
    app = widget.app
    rules = app.stylesheet.rules
    if (found := _FOUND.get(app)) is None or found[0] is not rules:
        found = _FOUND[app] = (rules, {})
    path = [(type(each), each.id, each.classes, each._pseudo_classes_cache_key) for each in widget.css_path_nodes]
    here = (name, *path)
    style = found[1].get(here)
    if style is None:
        node = DOMNode(classes=name)
        node._attach(widget)
        app.stylesheet.apply(node)
        style = found[1][here] = node.styles.partial_rich_style
    return style
