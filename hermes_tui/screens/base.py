"""What all screens share: header, body, status and keys; bindings and footer from one table (`keys`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widget import Widget

from hermes_tui.keys import PLACES, Key
from hermes_tui.service.sessions import SessionService
from hermes_tui.widgets.ink import AXIS, BLANK_CELL, Form, Ink, Line, Part, View, fitting, gap, line


def bindings(place: str) -> list[BindingType]:
    """Textual bindings of one place; the ids are what a settings file rebinds."""
    return [
        Binding(key.keys, key.action, key.label, show=bool(key.footer), id=key.id, tooltip=key.help)
        for key in PLACES[place]
    ]


def header_view(place: str, stores: Sequence[str], right: Sequence[str], what: str, facts: Sequence[str]) -> View:
    """Where you are, which store, how much. `stores`, `right` and `facts` go from long to short."""

    def view(width: int, height: int) -> list[Line]:
        forms: list[Form] = [
            (((place, "title"), (what, "soft"), gap(3), (store, "quiet")), text) for store in stores for text in right
        ]
        left, text = fitting(forms, width)
        top = line(AXIS, *left, right=((text, "soft"), BLANK_CELL))
        if not facts:
            return [top]
        fact = next((fact for fact in facts if cell_len(fact) + 4 <= width), facts[-1])
        return [top, line(AXIS, (fact, "quiet"))]

    return view


def status_view(forms: Sequence[Form], mark: str) -> View:
    """What is hidden or what happened; on the right the position."""

    def view(width: int, height: int) -> list[Line]:
        left, right = fitting(forms, width)
        return [line(gap(1), (mark, "gold"), BLANK_CELL, *left, right=((right, "quiet"), BLANK_CELL))]

    return view


def keys_view(shown: Sequence[tuple[str, str]]) -> View:
    """`key label`, three blanks apart; on a narrow screen those before the last give way."""

    def view(width: int, height: int) -> list[Line]:
        pairs = list(shown)
        while sum(cell_len(key) + cell_len(label) + 4 for key, label in pairs) > width and len(pairs) > 1:
            del pairs[-2]
        parts: list[Part] = []
        for key, label in pairs:
            parts += [(key, "strong"), (f" {label}", "quiet"), gap(3)]
        return [line(AXIS, *parts[:-1])]

    return view


class BaseScreen(Screen[None]):
    """A page: header, body, status, keys. Subclasses fill the body and say what the lines show."""

    PLACE: ClassVar[str] = "browse"
    INHERIT_BINDINGS: ClassVar[bool] = False

    def __init__(self, service: SessionService) -> None:
        super().__init__()
        self.service = service

    def compose(self) -> ComposeResult:
        yield Ink(id="header", classes="header")
        yield from self.compose_body()
        yield Ink(id="status", classes="status")
        yield Ink(id="keys", classes="keys")

    def compose_body(self) -> Iterable[Widget]:
        """Everything between header and status."""
        return ()

    def on_mount(self) -> None:
        self.show_keys()

    def store_names(self) -> tuple[str, ...]:
        """The header's word on the store, from long to short."""
        from hermes_tui.paths import tilde

        stores = self.service.stores
        if len(stores) == 1:
            return (f"{stores[0].profile} · {tilde(stores[0].db)}", stores[0].profile)
        return (" · ".join(store.profile for store in stores), f"{len(stores)} profiles")

    def show_header(
        self, place: str, *right: str, what: str = "", facts: Sequence[str] = (), stores: Sequence[str] = ()
    ) -> None:
        """Draw the header; `right` and `facts` from long to short."""
        view = header_view(place, stores or self.store_names(), right or ("",), what, facts)
        self.query_one("#header", Ink).show(view)

    def show_status(self, *forms: Form, mark: str = " ") -> None:
        """Draw the status line; forms from long to short."""
        self.query_one("#status", Ink).show(status_view(forms or (((), ""),), mark))

    def footer_keys(self) -> list[Key]:
        """At most seven keys that work now, by rank; `?` is added as the last."""
        ranked = sorted((key for key in PLACES[self.PLACE] if key.footer), key=lambda key: key.footer)
        working = []
        for key in ranked:
            name, _, rest = key.action.partition("(")
            parameters: tuple[object, ...] = (int(rest[:-1]),) if rest else ()
            if self.check_action(name, parameters):
                working.append(key)
        return working[:7]

    def show_keys(self) -> None:
        """Draw the footer; call it when what works has changed."""
        pairs = [(key.shown, key.label) for key in self.footer_keys()]
        self.query_one("#keys", Ink).show(keys_view([*pairs, ("?", "keys")]))
