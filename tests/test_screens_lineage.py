"""The lineage screen: going about in a family."""

from __future__ import annotations

from array import array
from dataclasses import replace

import pytest

from hermes_tui.domain.lineage import Lineage
from hermes_tui.domain.messages import Message, Outline, SegmentMark, Window
from hermes_tui.domain.sessions import ConversationKey, Kind
from hermes_tui.errors import StoreBusy, TargetNotFound
from hermes_tui.intents import CopyText, OpenResume, OpenSearch, OpenTranscript
from hermes_tui.screens.lineage import LineageScreen
from hermes_tui.widgets.nodes import as_recap
from tests import values
from tests.fakes import GatedService
from tests.stage import on_stage, seen, until
from tests.test_widgets_tree import FAMILY, node

HERE = "auth3"


@pytest.fixture(autouse=True)
def _a_fixed_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_TUI_NOW", str(values.NOW))


class Family(GatedService):
    """A chain of three segments with what hangs off it; messages 1 and 2 are the first segment's."""

    def __init__(self) -> None:
        rows = []
        for root in dict.fromkeys(each.root_id for each in FAMILY):
            ids = tuple(each.id for each in FAMILY if each.root_id == root)
            rows.append(values.conversation(root, root, segment_ids=ids))
        super().__init__(rows)
        parents = {
            "rfc": "auth",
            "auth2": "auth",
            "pkce": "auth2",
            "again": "pkce",
            "auth3": "auth2",
            "proof": "auth3",
        }
        self.family = Lineage(
            "default",
            tuple(replace(each, parent_id=parents.get(each.id), is_current=each.id == HERE) for each in FAMILY),
        )

    async def outline(self, key: object) -> Outline:
        ids = array("q", range(1, 8))
        marks = tuple(SegmentMark(id, first, None, None) for id, first in (("auth", 0), ("auth2", 2), ("auth3", 5)))
        return Outline(ids, bytes(7), array("d", [0.0] * 7), marks)


async def test_it_opens_where_one_is_and_says_what_the_family_is() -> None:
    async with on_stage(LineageScreen(Family(), "default", HERE), (160, 48)) as (screen, app, pilot):
        await until(pilot, lambda: screen.current is not None)
        await until(pilot, lambda: "where this family" in seen(app) or "segment 3 of 3" in seen(app))
        assert screen.current is not None
        assert screen.current.node.id == HERE
        text = seen(app)
        assert "Lineage of auth3" in text
        assert "12 sessions" in text
        assert "tip, here" in text
        assert "3 segments · 2 branches · 1 reset · 5 delegates" in text
        assert "messages repeated after a compression count in each" in text
        assert "10 of 12" in text
        assert "Yes, it shares the OAuth client; see" in text
        assert "@session:default/auth3" in text


async def test_enter_reads_the_session_at_its_place() -> None:
    async with on_stage(LineageScreen(Family(), "default", HERE)) as (screen, app, pilot):
        await until(pilot, lambda: screen.current is not None)
        for keys, root, anchor in (
            ([], "auth", None),
            (["g"], "auth", 1),
            (["j"], "rfc", None),
            (["j", "j"], "auth", 3),
        ):
            await pilot.press(*keys, "enter")
            count = len(app.intents)
            await until(pilot, lambda count=count: len(app.intents) > count or (count and app.intents))
            opened = app.last(OpenTranscript)
            assert (opened.key.root_id, opened.anchor) == (root, anchor)
            app.intents.clear()


async def test_left_and_right_fold_unfold_and_go_to_the_parent() -> None:
    async with on_stage(LineageScreen(Family(), "default", "pkce")) as (screen, app, pilot):
        await until(pilot, lambda: screen.current is not None)
        await pilot.press("g", "left")
        assert "▸ 2 folded" in seen(app)
        assert "rfc" not in seen(app)
        await pilot.press("right")
        assert "rfc" in seen(app)
        await pilot.press("right")
        assert screen.current is not None
        assert screen.current.node.id == "rfc"
        await pilot.press("left")
        assert screen.current.node.id == "auth"


async def test_resume_names_the_very_session() -> None:
    async with on_stage(LineageScreen(Family(), "default", HERE)) as (screen, app, pilot):
        await until(pilot, lambda: screen.current is not None)
        await pilot.press("r")
        await until(pilot, lambda: app.intents)
        assert (app.last(OpenResume).conversation.root_id, app.last(OpenResume).session_id) == ("auth", None)
        await pilot.press("g", "r")
        await until(pilot, lambda: len(app.intents) == 2)
        assert (app.last(OpenResume).conversation.id, app.last(OpenResume).session_id) == ("auth3", "auth")


async def test_a_session_alone_offers_nothing_to_fold_and_a_family_what_there_is() -> None:
    service = Family()
    service.family = Lineage("default", (replace(FAMILY[0], parent_id=None, is_current=True),))
    async with on_stage(LineageScreen(service, "default", FAMILY[0].id)) as (screen, app, pilot):
        await until(pilot, lambda: screen.current is not None)
        await until(pilot, lambda: "enter read" in seen(app))
        assert "fold" not in seen(app).splitlines()[-1]
    async with on_stage(LineageScreen(Family(), "default", HERE)) as (screen, app, pilot):
        await until(pilot, lambda: "← fold   → child" in seen(app).splitlines()[-1])
        await pilot.press("left")
        await until(pilot, lambda: "← parent   → unfold" in seen(app).splitlines()[-1])
        await pilot.press("right", "G")
        await until(pilot, lambda: "← parent" in seen(app).splitlines()[-1])
        assert "→" not in seen(app).splitlines()[-1]


async def test_a_busy_store_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LineageScreen, "AGAIN_SECONDS", 0.001)
    service = Family()
    service.failures["lineage"] = StoreBusy("state.db is locked")
    async with on_stage(LineageScreen(service, "default", HERE)) as (screen, app, pilot):
        await until(pilot, lambda: "state.db is locked" in seen(app) and "trying again" in seen(app))
        assert seen(app).splitlines()[-1].strip() == "esc back   ? keys"
        del service.failures["lineage"]
        await until(pilot, lambda: screen.current is not None)


async def test_copying_and_leaving() -> None:
    async with on_stage(LineageScreen(Family(), "default", HERE)) as (screen, app, pilot):
        await until(pilot, lambda: screen.current is not None)
        await pilot.press("g", "j", "y", "i")
        assert [each.text for each in app.intents if isinstance(each, CopyText)] == ["@session:default/rfc", "rfc"]
        await pilot.press("slash")
        assert app.last(OpenSearch).text == ""
        await pilot.press("q")
        await until(pilot, lambda: app.screen is not screen)


async def test_coming_back_finds_the_same_row_in_a_family_that_grew() -> None:
    service = Family()
    async with on_stage(LineageScreen(service, "default", HERE)) as (screen, app, pilot):
        await until(pilot, lambda: screen.current is not None)
        await pilot.press("g", "j", "j")
        from textual.screen import Screen

        await app.push_screen(Screen())
        nodes = service.family.nodes
        service.family = Lineage("default", (nodes[0], node("new", 1, kind=Kind.DELEGATE), *nodes[1:]))
        app.pop_screen()
        await until(pilot, lambda: "13 sessions" in seen(app))
        assert screen.current is not None
        assert screen.current.node.id == "callers"


async def test_a_session_that_is_gone_is_said_to_be() -> None:
    service = Family()
    service.failures["lineage"] = TargetNotFound("No session [/] x.")
    async with on_stage(LineageScreen(service, "default", "x")) as (screen, app, pilot):
        await until(pilot, lambda: "The family could not be read. No session [/] x." in seen(app))
        await pilot.press("r", "y", "enter", "left", "right")
        assert not app.intents
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is not screen)


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (160, 48)])
async def test_it_fits_every_screen(size: tuple[int, int]) -> None:
    async with on_stage(LineageScreen(Family(), "default", HERE), size) as (screen, app, pilot):
        await until(pilot, lambda: screen.current is not None)
        await pilot.press("G", "g", "pagedown", "ctrl+u")
        assert "▌" in seen(app)
        assert "session" in seen(app)


def test_an_event_of_an_earlier_segment_is_no_word_of_the_person() -> None:
    switched = Message(1, "s", "user", 1.0, "Model switched to walnut.", 25, kind="model_switch", label="walnut now")
    said = Message(2, "s", "user", 2.0, "Go on.", 6)
    assert [(entry.who, entry.text) for entry in as_recap([switched, said], 0).entries] == [
        ("event", "walnut now"),
        ("user", "Go on."),
    ]


class Long(Family):
    """The same with sixty messages, of which the last segment holds all but five."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[int | None, int]] = []

    async def outline(self, key: object) -> Outline:
        short = await super().outline(key)
        return replace(short, ids=array("q", range(1, 61)), roles=bytes(60), timestamps=array("d", [0.0] * 60))

    async def window(
        self, key: object, anchor: int | None, *, before: int, after: int, rough: bool = False
    ) -> Window:
        self.asked.append((anchor, before))
        ids = range((anchor or 60) - before, (anchor or 60) + 1)
        said = tuple(Message(each, "s", "user", 1.0, f"Word {each}.", 8) for each in ids)
        return Window(said, ids.start - 1, 0)


@pytest.mark.parametrize(("session_id", "before", "earlier"), [("auth", 1, 0), ("auth2", 2, 0), ("auth3", 30, 24)])
async def test_the_end_of_a_segment_is_counted_within_it(session_id: str, before: int, earlier: int) -> None:
    """Not within the conversation: `21 messages` and `27 earlier messages` of one session contradict each other."""
    service = Long()
    screen = LineageScreen(service, "default", HERE)
    node = next(each for each in service.family.nodes if each.id == session_id)
    recap = await screen._ending(node, ConversationKey("default", "auth"))
    last = {"auth": 2, "auth2": 5, "auth3": 60}[session_id]
    assert service.asked == [(last, before)]
    assert (recap.earlier, recap.entries[-1].text) == (earlier, f"Word {last}.")
    assert len(recap.entries) + recap.earlier == {"auth": 2, "auth2": 3, "auth3": 55}[session_id]
