"""The least that a screen full of text can cost in Textual: an input, below it as many lines as there is room for in
three panes, all of them others after each letter and each page key; made beforehand, only to be drawn."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

STYLES = [Style.parse(each) for each in ("#d0d0d0 on #101010", "bold #e0c060 on #101010", "#808080 on #101010")]


class Lines(Widget):
    """Six pieces to a line."""

    turn = 0
    made: dict[tuple[int, int, int], Strip] = {}  # noqa: RUF012  # shared: it never changes

    def render_line(self, y: int) -> Strip:
        key = (self.turn % 2, y, self.size.width)
        if key not in self.made:
            piece = max(1, self.size.width // 6)
            pieces = [Segment(f"{key[0]}{y}{i}".ljust(piece)[:piece], STYLES[i % 3]) for i in range(6)]
            self.made[key] = Strip(pieces).adjust_cell_length(self.size.width, STYLES[0])
        return self.made[key]


class Bare(App[None]):
    CSS = "Horizontal { height: 1fr; } #rail { width: 1; } #pane { width: 48; } Lines { width: 1fr; }"
    BINDINGS = [Binding("pagedown", "turn", "", priority=True)]  # noqa: RUF012  # as Textual declares it

    def compose(self) -> ComposeResult:
        yield Input(placeholder="READY")
        with Horizontal():
            yield Lines()
            yield Lines(id="rail")
            yield Lines(id="pane")

    def on_input_changed(self) -> None:
        self.action_turn()

    def action_turn(self) -> None:
        for each in self.query(Lines):
            each.turn += 1
            each.refresh()


Bare().run()
