"""What all screens share: header, body, status and keys; bindings and footer from one table (`keys`)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.await_remove import AwaitRemove
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widget import Widget

from hermes_tui.keys import EVERYWHERE, PLACES, SMALL_PLACES, Key, shown_as
from hermes_tui.text import one_line
from hermes_tui.widgets.frames import Framing
from hermes_tui.widgets.ink import AXIS, BLANK_CELL, Form, Ink, Line, View, fitting, gap, line
from hermes_tui.widgets.keyline import KeyLine

if TYPE_CHECKING:
    from hermes_tui.bookmarks import Bookmark, Bookmarks
    from hermes_tui.service.sessions import SessionService


def keys_of(place: str) -> tuple[Key, ...]:
    """Every key of a place; none of what is no place."""
    return PLACES.get(place) or SMALL_PLACES.get(place, ())


def bindings(place: str) -> list[BindingType]:
    """Textual bindings of one place; the ids are what a settings file rebinds."""
    return [
        Binding(key.keys, key.action, key.label, show=bool(key.footer), id=key.id, tooltip=key.help)
        for key in keys_of(place)
    ]


def app_bindings() -> list[BindingType]:
    """For a panel: what is bound on the app does not reach through it."""
    return [Binding(key.keys, f"app.{key.action}", key.label, show=False) for key in EVERYWHERE]


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


def working_keys(screen: Screen[Any], place: str) -> list[Key]:
    """The keys of a place's footer that work now, by rank."""
    ranked = sorted((key for key in keys_of(place) if key.footer), key=lambda key: key.footer)
    return [key for key in ranked if works(screen, key)]


def works(screen: Screen[Any], key: Key) -> bool:
    """Whether the screen would do it now."""
    name, _, rest = key.action.partition("(")
    parameters: tuple[object, ...] = (int(rest[:-1]),) if rest else ()
    return bool(screen.check_action(name, parameters))


def written(screen: Screen[Any], keys: Iterable[Key]) -> list[tuple[str, str]]:
    """Key and label as a footer shows them, also where a settings file gave a command another key."""
    rebound: dict[str, str] = getattr(screen.app, "rebound", {})
    return [(shown_as(key, rebound), key.label) for key in keys]


SLOW_SECONDS = 0.15
"""What takes longer says that it is on its way."""
T = TypeVar("T")


async def told_late(asked: Coroutine[Any, Any, T], late: Callable[[], None]) -> T:
    """What this gives. When it takes a while, `late` is called; whoever is cancelled cancels it."""
    asking = asyncio.ensure_future(asked)
    try:
        await asyncio.wait({asking}, timeout=SLOW_SECONDS)
        if not asking.done():
            late()
        return await asking
    finally:
        asking.cancel()


WIDE = 100
"""Columns from which on there is a pane beside the list."""


HELP = next(key for key in EVERYWHERE if key.action == "keys")
"""What every footer ends with, wherever letters are no text."""


def toggle_bookmark(screen: Screen[Any], bookmarks: Bookmarks, mark: Bookmark) -> bool | None:
    """Add it, or take it away when it is there; True when it was added, None when that failed, which is said."""
    try:
        return bookmarks.toggle(mark)
    except OSError as error:
        screen.notify(one_line(f"Bookmarks could not be kept: {error}"), severity="warning", markup=False)
        return None


class Steady(Framing, inherit_bindings=False):
    """A screen that only takes the size that the terminal has, and that asks for nothing once it goes.

    Laying out a screen sends it its own size again. Of two sizes that come in one breath each would bring back
    the other for ever, in Textual's own handler; so a size that is no longer true goes no further. It may have
    taken the place of the true one in the queue, which then is sent once more.
    """

    def on_compose(self) -> None:
        """Take the classes of this size before there are any parts: Textual gives them with the first resize, till
        when a panel would be drawn as wide as on a wide screen, and then styles all parts once more."""
        width, height = self.app.size
        for breakpoints, cells in ((self.app.HORIZONTAL_BREAKPOINTS, width), (self.app.VERTICAL_BREAKPOINTS, height)):
            for name in [name for least, name in breakpoints or () if least <= cells][-1:]:
                self.add_class(name, update=False)
        self.app.stylesheet.apply(self)

    async def _on_resize(self, event: events.Resize) -> None:
        true = self.app.size
        if event.size != true:
            event.prevent_default()
            event.stop()
            if self.outer_size != true:
                self.post_message(events.Resize(true, true))

    def turn(self, name: str, on: bool, *widgets: Widget) -> None:
        """Give the screen this class or take it away, where the rules that ask for it are about these widgets alone:
        Textual would look for the styles of everything on the screen again."""
        if self.has_class(name) == on:
            return
        self.set_class(on, name, update=False)
        for widget in widgets:
            if widget.is_attached:
                self.app.stylesheet.apply(widget)

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Go back, once: Textual takes away whatever screen is on top, also when this one has gone already."""
        return super().dismiss(result) if self.app.screen is self else AwaitComplete()

    def remove(self) -> AwaitRemove:
        """Leave; answers that are still awaited are given up first: they would find a screen without its parts."""
        self.workers.cancel_node(self)
        return super().remove()


class BaseScreen(Steady):
    """A page: header, body, status, keys. Subclasses fill the body and say what the lines show."""

    PLACE: ClassVar[str] = "browse"

    def __init__(self, service: SessionService) -> None:
        super().__init__()
        self.service = service
        # Held rather than looked for: a late answer may find a screen whose widgets have gone already.
        self._header = Ink(id="header", classes="header")
        self._status = Ink(id="status", classes="status")
        self._keys = KeyLine(id="keys", classes="keys")

    def compose(self) -> ComposeResult:
        yield self._header
        yield from self.compose_body()
        yield self._status
        yield self._keys

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
            return (f"{stores[0].profile} · {one_line(tilde(stores[0].db))}", stores[0].profile)
        return (" · ".join(store.profile for store in stores), f"{len(stores)} profiles")

    def show_header(
        self, place: str, *right: str, what: str = "", facts: Sequence[str] = (), stores: Sequence[str] = ()
    ) -> None:
        """Draw the header; `right` and `facts` from long to short."""
        view = header_view(place, stores or self.store_names(), right or ("",), what, facts)
        self._header.show(view)

    def show_status(self, *forms: Form, mark: str = " ") -> None:
        """Draw the status line; forms from long to short."""
        self._status.show(status_view(forms or (((), ""),), mark))

    def footer_keys(self) -> list[Key]:
        """At most seven keys that work now, by rank; `?` is added as the last."""
        return working_keys(self, self.PLACE)[:7]

    def show_keys(self, *instead: tuple[str, str]) -> None:
        """Draw the footer; call it when what works has changed. `instead`: other keys, as long as an input
        takes all letters."""
        pairs = instead or written(self, [*self.footer_keys(), HELP])
        self._keys.show_keys(pairs)


class Movable(Protocol):
    """What the moving keys act on."""

    def move(self, step: int) -> None: ...
    def page(self, step: int) -> None: ...
    def half(self, step: int) -> None: ...
    def first(self) -> None: ...
    def last(self) -> None: ...


class Moving:
    """The actions of the moving keys, for screens that say what they move."""

    @property
    def moved(self) -> Movable:
        """What moves now."""
        raise NotImplementedError

    def action_move(self, step: int) -> None:
        self.moved.move(step)

    def action_page(self, step: int) -> None:
        self.moved.page(step)

    def action_half(self, step: int) -> None:
        self.moved.half(step)

    def action_first(self) -> None:
        self.moved.first()

    def action_last(self) -> None:
        self.moved.last()
