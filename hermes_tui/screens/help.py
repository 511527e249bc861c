"""`?`: every key, those of the screen one came from first; letters type and find."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.strip import Strip

from hermes_tui.screens.base import Steady
from hermes_tui.text import one_line
from hermes_tui.widgets.helping import help_lines, search_view
from hermes_tui.widgets.ink import Ink, Line
from hermes_tui.widgets.scrolling import Scrolling


class HelpText(Scrolling, can_focus=True):
    """The lines of the help; more of them than fit scroll."""

    def __init__(self, here: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._here = here
        self._typed = ""
        self._laid: tuple[int, list[Line]] | None = None

    def show(self, typed: str) -> None:
        """Show what matches these words; all for none."""
        self._typed, self._laid, self.top = typed, None, 0
        self.refresh(layout=True)

    @property
    def lines(self) -> list[Line]:
        return self._lines(self.size.width)

    def _lines(self, width: int) -> list[Line]:
        if self._laid is None or self._laid[0] != width:
            rebound: dict[str, str] = getattr(self.app, "rebound", {})
            self._laid = (width, help_lines(self._here, self._typed, rebound, width))
        return self._laid[1]

    @property
    def total(self) -> int:
        return len(self.lines)

    def draw(self, y: int, width: int) -> Strip:
        return self.strip(self.lines[y], width)

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return len(self._lines(width))

    def on_resize(self) -> None:
        self.go(self.top)


class HelpScreen(ModalScreen[None], Steady, inherit_bindings=False):
    """A panel over the page."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "close"),
        Binding("enter", "close", "close"),
        Binding("down", "scroll(1)", "down"),
        Binding("up", "scroll(-1)", "up"),
        Binding("pagedown,ctrl+d", "page(1)", "page down"),
        Binding("pageup,ctrl+u", "page(-1)", "page up"),
        Binding("home", "scroll(-100000)", "first"),
        Binding("end", "scroll(100000)", "last"),
    ]
    AUTO_FOCUS = "#text"

    def __init__(self, here: str) -> None:
        super().__init__()
        self._search = Ink(search_view(""), id="search")
        self.text = HelpText(here, id="text")
        self._typed = ""

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel"):
            yield self._search
            yield self.text

    def on_key(self, event: events.Key) -> None:
        if event.key == "backspace" and self._typed:
            self._find(self._typed[:-1])
        elif event.is_printable and event.character:
            self._find(self._typed + event.character)
        else:
            return
        event.stop()

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self._find(self._typed + one_line(event.text))

    def _find(self, typed: str) -> None:
        self._typed = one_line(typed, 60) + (" " if typed.endswith(" ") and typed.strip() else "")
        self.text.show(self._typed)
        self._show_search()

    @on(HelpText.Scrolled)
    def _show_search(self) -> None:
        text = self.text
        more = text.top + text.size.height < text.total
        self._search.show(search_view(self._typed, more=more))

    def on_resize(self) -> None:
        """What does not fit scrolls."""
        self.text.styles.max_height = max(1, self.size.height - 4)

    def action_leave(self) -> None:
        """Escape clears what was typed, then closes."""
        if self._typed:
            self._find("")
        else:
            self.dismiss()

    def action_close(self) -> None:
        self.dismiss()

    def action_scroll(self, step: int) -> None:
        self.text.go(self.text.top + step)

    def action_page(self, step: int) -> None:
        self.text.go(self.text.top + step * max(1, self.text.size.height - 1))
