"""Typing into the query line (R34)."""

from __future__ import annotations

import random

import pytest
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from hermes_tui.domain.queries import Completion
from hermes_tui.widgets.query import QueryLine, filter_words


class Desk(App[None]):
    """A query line, whose screen has commands on letters."""

    BINDINGS = [("q", "quit"), ("j", "count"), ("question_mark", "count"), ("space", "count")]  # noqa: RUF012  # as Textual declares it

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self.text = text
        self.changes: list[str] = []
        self.counted = 0

    def compose(self) -> ComposeResult:
        yield QueryLine(self.text)

    def on_query_line_changed(self, event: QueryLine.Changed) -> None:
        self.changes.append(event.text)

    def action_count(self) -> None:
        self.counted += 1

    @property
    def box(self) -> QueryLine:
        return self.query_one(QueryLine)

    @property
    def line(self) -> str:
        """What the box shows."""
        return self.box.render_line(0).text


async def type_in(pilot: Pilot[None], text: str) -> None:
    names = {" ": "space", "/": "slash", "?": "question_mark", ":": "colon", '"': "quotation_mark"}
    await pilot.press(*(names.get(char, char) for char in text))


async def test_every_letter_is_text_and_no_command() -> None:
    letters = [*"qdjknxgGaoXrlyYiPfsS/?:1~@ "]
    random.Random(4).shuffle(letters)
    async with Desk().run_test() as pilot:
        app = pilot.app
        assert isinstance(app, Desk)
        await type_in(pilot, "".join(letters))
        assert app.box.text == "".join(letters)
        assert app.counted == 0
        assert app.changes[-1] == app.box.text


@pytest.mark.parametrize(
    ("keys", "left"),
    [
        ("backspace", "deploy lo"),
        ("home delete", "eploy log"),
        ("home ctrl+d", "eploy log"),
        ("left left ctrl+u", "og"),
        ("ctrl+u", ""),
        ("left backspace end x", "deploy lgx"),
        ("home right right backspace", "dploy log"),
        ("ctrl+w", "deploy "),
        ("home ctrl+right ctrl+k", "deploy "),
    ],
)
async def test_editing(keys: str, left: str) -> None:
    async with Desk("deploy log").run_test() as pilot:
        await pilot.press(*keys.split())
        assert isinstance(pilot.app, Desk)
        assert pilot.app.box.text == left


async def test_a_mark_goes_with_its_letter() -> None:
    async with Desk("cafe\u0301s").run_test() as pilot:
        await pilot.press("left", "left", "x")
        assert isinstance(pilot.app, Desk)
        assert pilot.app.box.text == "cafxe\u0301s"


async def test_a_paste_is_one_line() -> None:
    from textual.events import Paste

    async with Desk("in ").run_test() as pilot:
        assert isinstance(pilot.app, Desk)
        pilot.app.box.post_message(Paste("two\r\nlines\n"))
        await pilot.pause()
        assert pilot.app.box.text == "in two lines"


async def test_control_bytes_are_neither_shown_nor_lost() -> None:
    text = "a\x1b[31mb\x9bc\u202ed"
    async with Desk(text).run_test() as pilot:
        assert isinstance(pilot.app, Desk)
        assert pilot.app.box.text == text
        assert not {"\x1b", "\x9b", "\u202e"} & set(pilot.app.line)


@pytest.mark.parametrize("seed", range(20))
async def test_the_cursor_is_in_sight_and_the_line_exactly_wide(seed: int) -> None:
    rng = random.Random(seed)
    text = "".join(rng.choice("ab 部署テ👩\u200de\u0301:") for _ in range(rng.randint(0, 400)))
    async with Desk(text).run_test(size=(rng.randint(12, 90), 5)) as pilot:
        app = pilot.app
        assert isinstance(app, Desk)
        for key in rng.choices(("left", "right", "home", "end", "x", "backspace", "delete"), k=12):
            await pilot.press(key)
            strip = app.box.render_line(0)
            assert strip.cell_length == app.size.width
            styles = [segment.style for segment in strip if segment.text.strip() or segment.text == " "]
            assert styles


async def test_filter_words_are_tinted_as_they_are_typed() -> None:
    text = 'deploy source:cli -tool:"my tool" foo:bar http://x after: AFTER:7d'
    found = [text[start:end] for start, _, end in filter_words(text)]
    assert found == ["source:cli", '-tool:"my tool"', "AFTER:7d"]


async def test_the_completion_is_shown_and_taken_with_right() -> None:
    async with Desk("log source:te").run_test(size=(80, 5)) as pilot:
        app = pilot.app
        assert isinstance(app, Desk)
        app.box.offer("source:te", (Completion("source:telegram", 58), Completion("source:teams", 3)))
        await pilot.pause()
        assert "source:telegram  58 · teams 3" in app.line
        await type_in(pilot, "l")
        assert "source:telegram" in app.line
        assert "teams" not in app.line
        await pilot.press("right")
        assert app.box.text == "log source:telegram "
        assert app.changes[-1] == app.box.text


async def test_right_inside_the_text_only_moves() -> None:
    async with Desk("source:te").run_test() as pilot:
        app = pilot.app
        assert isinstance(app, Desk)
        app.box.offer("source:te", (Completion("source:telegram", 58),))
        await pilot.press("left", "right")
        assert app.box.text == "source:te"


async def test_a_wide_character_is_never_halved() -> None:
    async with Desk("部" * 60).run_test(size=(21, 3)) as pilot:
        assert isinstance(pilot.app, Desk)
        line = pilot.app.line
        assert cell_len(line) == 21
        assert "�" not in line
