"""Hits: what their lines say, and where the cursor stays."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from rich.cells import cell_len
from textual.app import App, ComposeResult

from hermes_tui.domain.queries import Hit, Match, Span, Tier
from hermes_tui.domain.sessions import Details, Status
from hermes_tui.widgets.hits import Hits
from hermes_tui.widgets.ink import measure
from hermes_tui.widgets.snippets import HitStyle, hit_lines, snippet
from tests import values

STYLE = HitStyle(values.NOW)
HOSTILE = "[/] \x1b[31m\x1b]0;pwned\x07 \x9b2J \u202eabc {'a': [true]} [link=https://e.example]x[/link]"


def many(n: int, *, seed: int = 1) -> list[Hit]:
    """Hits of random heights in all tiers."""
    rng = random.Random(seed)
    tiers = sorted(rng.choices(list(Tier), k=n), key=list(Tier).index)
    hits = []
    for i, tier in enumerate(tiers):
        row = values.conversation(f"s{i:04}", rng.choice((f"title {i}", None)), hours=i)
        matches = [values.match(10 * i + k, f"we deploy number {i} {k}", "deploy") for k in range(rng.randint(0, 3))]
        hits.append(Hit(row, tier, tuple(matches), len(matches)))
    return hits


class Wall(App[None]):
    """Hits and nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self.wanted: list[str] = []
        self.unread: list[str] = []

    def compose(self) -> ComposeResult:
        yield Hits()

    def on_hits_wanted(self, event: Hits.Wanted) -> None:
        self.wanted += [key.root_id for key in event.keys]

    def on_hits_unread(self, event: Hits.Unread) -> None:
        self.unread += [hit.conversation.id for hit in event.hits]

    @property
    def hits(self) -> Hits:
        return self.query_one(Hits)

    @property
    def text(self) -> list[str]:
        return [self.hits.render_line(y).text.rstrip() for y in range(self.hits.size.height)]


def held(hits: Hits) -> tuple[str, int]:
    """The conversation under the cursor, and the line of the screen on which it begins."""
    assert hits.current is not None
    return hits.current.conversation.root_id, hits._tops[hits.cursor] - hits.top


@pytest.mark.parametrize("width", [24, 40, 59, 60, 72, 120])
def test_a_hit_says_title_matches_source_and_times(width: int) -> None:
    lines = hit_lines(replace(values.HITS[0], count=17), width, STYLE, on=False)
    assert lines[0].text.startswith(" ◉ OA")
    assert "17 matches" in lines[0].text
    assert ("cli" in lines[0].text) is (width >= 60)
    assert lines[0].text.rstrip().endswith("live")
    assert all(each.text.rstrip().endswith("1h") for each in lines[1:])
    assert all(measure((*each.left, *each.right)) <= max(width, 40) for each in lines)


def test_only_the_match_under_the_cursor_is_reversed() -> None:
    hit = values.HITS[0]
    inks = [[ink for _, ink in each.left if ink in ("now", "match")] for each in hit_lines(hit, 80, STYLE, on=True)]
    assert inks == [[], ["now"], ["match"]]
    inks = [[ink for _, ink in each.left if ink in ("now", "match")] for each in hit_lines(hit, 80, STYLE, on=False)]
    assert inks == [[], ["match"], ["match"]]


def test_what_is_special_about_a_conversation_is_said() -> None:
    row = values.conversation("x", "A title", archived=True, hidden=True)
    hit = Hit(row, Tier.TOOL, (), 4, in_delegate=True)
    assert "4 matches  in a delegate's run  archived  hidden" in hit_lines(hit, 120, STYLE, on=False)[0].text


def test_an_untitled_conversation_is_quoted() -> None:
    row = values.conversation("x", None)
    details = Details("what is the weather", 3, Status.COMPLETE)
    assert (
        "“what is the weather”"
        in hit_lines(Hit(row, Tier.TITLE, (), 1), 80, STYLE, on=False, details=details)[0].text
    )


def test_a_match_in_a_tool_names_it() -> None:
    match = Match(1, "s", "assistant", values.NOW, "rm -rf build", (Span(0, 2),), tool="terminal")
    assert [text for text, _ in snippet(match, 60, "match")][:1] == ["terminal"]


@pytest.mark.parametrize("seed", range(60))
def test_a_snippet_slides_until_its_match_shows(seed: int) -> None:
    rng = random.Random(seed)
    words = ["the", "quick", "brown", "部署脚本", "naïve", "x" * rng.randint(1, 40), "lazy"]
    lead = " ".join(rng.choices(words, k=rng.randint(0, 25)))
    word = rng.choice(("deploy", "部署", "émigré", "y" * 70))
    text = f"{lead} {word} " + " ".join(rng.choices(words, k=rng.randint(0, 20)))
    at = len(lead) + 1
    width = rng.randint(16, 100)
    parts = snippet(Match(1, "s", "user", None, text, (Span(at, at + len(word)),)), width, "match")
    assert measure(parts) <= width
    lit = "".join(part for part, ink in parts if ink == "match")
    assert lit == word or (cell_len(word) > width - 7 and word.startswith(lit) and lit)


def test_broken_spans_break_nothing() -> None:
    spans = (Span(-3, 2), Span(1, 4), Span(90, 95), Span(7, 5))
    parts = snippet(Match(1, "s", "user", None, "abcdefgh", spans), 40, "match")
    assert "".join(text for text, _ in parts) == "abcdefgh"


def test_hostile_text_is_shown_as_it_is_and_acts_on_nothing() -> None:
    row = values.conversation("x", HOSTILE, source=HOSTILE)
    hit = Hit(row, Tier.CONVERSATION, (Match(1, "x", HOSTILE, None, HOSTILE, (Span(0, 3),), tool=None),), 1)
    text = "\n".join(each.text for each in hit_lines(hit, 200, STYLE, on=True))
    assert "[/]" in text
    assert "{'a': [true]} [link=https://e.example]x[/link]" in text
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(text)


@pytest.mark.parametrize(
    "title", ["中文标题测试", "한국어", "👨\u200d👩\u200d👧 fam", "❄️ VS16", "e\u0301 plain", "plain"]
)
def test_the_time_stands_in_the_same_column_whatever_the_title(title: str) -> None:
    app_width = 70
    lines = hit_lines(Hit(values.conversation("x", title), Tier.TITLE, (), 1), app_width, STYLE, on=False)
    assert measure(lines[0].right) == 20
    assert measure(lines[0].left) <= app_width - 21


async def test_tier_names_stand_above_their_first_hit() -> None:
    async with Wall().run_test(size=(80, 30)) as pilot:
        app = pilot.app
        assert isinstance(app, Wall)
        app.hits.show(values.page("oauth"))
        await pilot.pause()
        text = [each.strip() for each in app.text]
        at = text.index("in tool calls and output")
        assert text[at - 1] == ""
        assert "Retry backoff [bold]x[/]" in text[at + 1]


@pytest.mark.parametrize("seed", range(8))
async def test_the_cursor_stays_on_its_conversation_and_that_where_it_is(seed: int) -> None:
    rng = random.Random(seed)
    hits = many(60, seed=seed)
    async with Wall().run_test(size=(80, 20)) as pilot:
        app = pilot.app
        assert isinstance(app, Wall)
        app.hits.show(values.page("deploy", hits, final=False))
        app.hits.choose(rng.randint(8, 40))
        before = held(app.hits)
        for _ in range(4):
            extra = [
                replace(h, conversation=h.conversation._replace(segment_ids=(f"n{rng.random()}",))) for h in hits
            ]
            mixed = rng.sample(hits, len(hits)) + rng.sample(extra, 30)
            app.hits.show(values.page("deploy", mixed, final=False), fresh=False)
            name, line = held(app.hits)
            assert name == before[0]
            room = app.hits.size.height
            fits = 0 < app.hits.top < app.hits.bottom
            assert line == before[1] or not fits or line in (0, 1) or line >= room - 6
            before = held(app.hits)


async def test_nobody_has_chosen_yet_so_the_best_stay_in_sight() -> None:
    hits = many(60)
    async with Wall().run_test(size=(80, 20)) as pilot:
        app = pilot.app
        assert isinstance(app, Wall)
        app.hits.show(values.page("deploy", hits, final=False))
        app.hits.show(values.page("deploy", [*hits[1:], hits[0]]), fresh=False)
        assert (app.hits.cursor, app.hits.top) == (0, 0)


async def test_a_new_query_begins_at_its_best_hit() -> None:
    hits = many(60)
    async with Wall().run_test(size=(80, 20)) as pilot:
        app = pilot.app
        assert isinstance(app, Wall)
        app.hits.show(values.page("deploy", hits))
        app.hits.last()
        app.hits.show(values.page("deployed", hits))
        assert (app.hits.cursor, app.hits.top) == (0, 0)


async def test_only_lines_in_sight_are_drawn_of_very_many() -> None:
    hits = many(20_000)
    async with Wall().run_test(size=(80, 20)) as pilot:
        app = pilot.app
        assert isinstance(app, Wall)
        app.hits.show(values.page("deploy", hits))
        await pilot.pause()
        for move in (app.hits.last, app.hits.first, lambda: app.hits.page(1), lambda: app.hits.half(1)):
            move()
            await pilot.pause()
            assert app.hits.current is not None
            assert any("▌" in each for each in app.text)
        assert len(app.hits._kept) < 200
        assert 0 < len(app.wanted) < 200


@pytest.mark.parametrize("size", [(30, 4), (61, 9), (140, 50)])
async def test_every_line_is_exactly_as_wide_as_its_place(size: tuple[int, int]) -> None:
    async with Wall().run_test(size=size) as pilot:
        app = pilot.app
        assert isinstance(app, Wall)
        app.hits.show(values.page("deploy", many(40)))
        await pilot.pause()
        widths: Sequence[int] = [app.hits.render_line(y).cell_length for y in range(size[1])]
        assert set(widths) == {size[0]}


async def test_a_click_chooses_and_two_open_at_the_match_that_was_hit() -> None:
    opened: list[int] = []

    class Opening(Wall):
        def on_hits_opened(self, event: Hits.Opened) -> None:
            opened.append(event.match)

    async with Opening().run_test(size=(80, 20)) as pilot:
        app = pilot.app
        assert isinstance(app, Wall)
        app.hits.show(values.page("oauth"))
        await pilot.pause()
        await pilot.click(Hits, offset=(10, 5))
        assert app.hits.cursor == 1
        await pilot.click(Hits, offset=(10, 2), times=2)
        assert app.hits.cursor == 0
        assert opened == [1]


async def test_messages_are_asked_for_a_screen_ahead_once_and_shown_without_moving_anything() -> None:
    read = [hit for hit in many(120) if hit.matches]
    app = Wall()
    async with app.run_test(size=(80, 20)) as pilot:
        app.hits.show(values.page("deploy", [*read[:2], *map(values.unread, read[2:])], final=False))
        await pilot.pause()
        first = len(app.unread)
        assert app.unread == [hit.conversation.id for hit in read[2 : first + 2]]
        assert first < 45, "no more than are in sight and one screen on"
        app.hits.move(1)
        app.hits.move(6)
        before = held(app.hits)
        app.hits.show_read(read[2 : first + 2])
        await pilot.pause()
        assert held(app.hits) == before
        assert app.hits.hits[: first + 2] == read[: first + 2]
        assert any("deploy number" in line for line in app.text)
        app.hits.show(values.page("deploy", list(map(values.unread, read))), fresh=False)
        assert app.hits.hits[2 : first + 2] == read[2 : first + 2], "another page forgets nothing"
        app.hits.last()
        await pilot.pause()
        assert read[-1].conversation.id in app.unread
        assert len(app.unread) == len(set(app.unread))
