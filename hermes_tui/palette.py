"""The command palette: every command that works here, by name; the same table as bindings, footer and help."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from rich.cells import cell_len
from rich.segment import Segment, Segments
from rich.style import Style
from textual import events, on
from textual.app import ComposeResult
from textual.await_remove import AwaitRemove
from textual.command import CommandInput, CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.errors import NoWidget
from textual.scrollbar import ScrollBarRender
from textual.widgets import Input, LoadingIndicator, OptionList
from textual.widgets.option_list import Option

from hermes_tui.keys import EVERYWHERE, MOVING, shown_as
from hermes_tui.screens.base import Steady, keys_of, works
from hermes_tui.widgets.ink import ASCII

_MOVES = frozenset(name for name, *_ in MOVING)
_LISTS = frozenset({"browse", "search"})
"""Places that bookmarks are reached from by name alone; in a transcript they have a key."""
IN_FORCE = "in use"
NO_COMMAND = "there is no such command"
_PAGES = frozenset({"page_up", "page_down"})
_OURS = "hermes-"
"""Begins the names of the themes that were made for this program: of those that match they come first."""
Command = tuple[str, str, str, Callable[[], Any]]
"""What it does, its name in the footer, what stands beside it (the key that does it too), and how to do it."""


def _column(commands: Iterable[Command]) -> int:
    """Where the keys stand: behind the longest command that has one."""
    return 2 + max((cell_len(said) for said, _, beside, _ in commands if beside), default=0)


class Commands(Provider):
    """Commands of the screen that the palette was opened on, of all screens, and the themes."""

    _taken = False
    """One was chosen; a palette does one thing."""

    def _commands(self) -> Iterator[Command]:
        """Each once: what a screen does in the same words as the app is the same command with one more key."""
        found: dict[str, Command] = {}
        for said, name, key, run in (*self._of_screen(), *self._of_app()):
            if said in found:
                _, name, before, run = found[said]
                key = f"{before} {key}"
            found[said] = (said, name, key, run)
        yield from found.values()
        for name in sorted(
            self.app.available_themes, key=lambda name: (name != self.app.theme, not name.startswith(_OURS), name)
        ):
            beside = IN_FORCE if name == self.app.theme else ""
            yield f"theme {name}", "", beside, partial(self.app.run_action, f"choose_theme({name!r})")

    def _of_screen(self) -> Iterator[Command]:
        rebound: dict[str, str] = getattr(self.app, "rebound", {})
        screen = self.screen
        for key in keys_of(getattr(screen, "PLACE", "")):
            if key.id.partition(".")[2] not in _MOVES and works(screen, key):
                yield key.help, key.label, shown_as(key, rebound), partial(screen.run_action, key.action)

    def _of_app(self) -> Iterator[Command]:
        rebound: dict[str, str] = getattr(self.app, "rebound", {})
        if getattr(self.screen, "PLACE", "") in _LISTS:
            yield "list of bookmarks", "bookmarks", "", partial(self.app.run_action, "bookmarks")
        for key in EVERYWHERE[1:]:
            if key.action != "copy_selection" or self.screen.get_selected_text():
                yield key.help, key.label, shown_as(key, rebound), partial(self.app.run_action, key.action)

    def _once(self, run: Callable[[], Any]) -> Any:
        """Do it, unless this palette has done something: of two choices made in one breath Textual takes both."""
        if self._taken:
            return None
        self._taken = True
        return run()

    async def discover(self) -> Hits:
        commands = list(self._commands())
        column = _column(commands)
        for said, _, beside, run in commands:
            yield DiscoveryHit(self._line(Content(said), beside, column), partial(self._once, run), text=said)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        commands = list(self._commands())
        column = _column(commands)
        for said, name, beside, run in commands:
            score = max(matcher.match(said), matcher.match(name) if name else 0)
            if score > 0:
                score *= 2 if said.startswith(f"theme {_OURS}") else 1
                yield Hit(
                    score, self._line(matcher.highlight(said), beside, column), partial(self._once, run), text=said
                )

    def _line(self, said: Content, beside: str, column: int) -> Content:
        if not beside:
            return said
        shown = beside.translate(ASCII) if getattr(self.app, "ascii_only", False) else beside
        return Content.assemble(
            said, " " * max(2, column - said.cell_length), (shown, "bold" if beside == IN_FORCE else "dim")
        )


class _Thumb(ScrollBarRender):
    """A thumb like that of every other list: a line, which is there without colours too."""

    GLYPH = "┃"

    @classmethod
    def render_bar(cls, *args: Any, **named: Any) -> Segments:
        drawn = super().render_bar(*args, **named)
        thumb = Style(color=named["bar_color"], bgcolor=named["back_color"], meta={"@mouse.down": "grab"})
        held = [style is not None and style.meta.get("@mouse.down") == "grab" for _, style, _ in drawn.segments]
        lines = [Segment(cls.GLYPH, thumb) if on else each for each, on in zip(drawn.segments, held, strict=True)]
        return Segments(lines, drawn.new_lines)


class _PlainThumb(_Thumb):
    """The same for a terminal that is given nothing but ASCII."""

    GLYPH = "┃".translate(ASCII)


class _Found(CommandList):
    """What matches. It may be another list by the time that a click on it arrives."""

    def on_mount(self) -> None:
        ascii_only = getattr(self.app, "ascii_only", False)
        self.vertical_scrollbar.renderer = _PlainThumb if ascii_only else _Thumb  # type: ignore[misc]  # as documented

    async def _on_click(self, event: events.Click) -> None:
        at = event.style.meta.get("option")
        if at is not None and at >= self.option_count:
            event.prevent_default()


class Palette(CommandPalette, Steady):
    """Textual's palette with our commands; it closes once, and takes only the size that the terminal has."""

    def __init__(self) -> None:
        super().__init__(providers=[Commands], placeholder="type to find a command")

    def compose(self) -> ComposeResult:
        for widget in super().compose():
            yield _Found() if isinstance(widget, CommandList) else widget

    @property
    def _whole(self) -> bool:
        """Whether its parts are there, and not taken away as it closes."""
        return bool(self.query(CommandList) and self.query(LoadingIndicator) and self.query(CommandInput))

    def remove(self) -> AwaitRemove:
        """What was to be shown in a moment is for nobody."""
        self._stop_busy_countdown()
        return super().remove()

    def _start_no_matches_countdown(self, search_value: str) -> None:
        """At once: Textual waits half a second, in which an empty box looks like a palette that broke. Here all
        commands have been looked at by then."""
        if not self._whole:
            return
        if search_value:
            self.query_one(CommandList).add_option(Option(Content(NO_COMMAND), id=self._NO_MATCHES, disabled=True))
        self._list_visible = bool(search_value)

    def _watch__list_visible(self) -> None:
        if self._whole:
            super()._watch__list_visible()

    async def _watch__show_busy(self) -> None:
        if self._whole:
            await super()._watch__show_busy()

    @on(Input.Changed)
    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def _asked_while_it_goes(self, event: Input.Changed | Input.Submitted | OptionList.OptionSelected) -> None:
        if not self._whole:
            event.prevent_default()

    def on_click(self, event: events.Click) -> None:
        """A click may come from where the terminal ended before it became smaller: there is nothing any more, and
        Textual's palette would raise."""
        try:
            self.get_widget_at(event.screen_x, event.screen_y)
        except NoWidget:
            event.prevent_default()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A list that has not a line to itself does not know how long a page is, and raises if it is asked."""
        if action == "command_list" and parameters and parameters[0] in _PAGES:
            return bool(self.query_one(CommandList).scrollable_content_region)
        return super().check_action(action, parameters)
