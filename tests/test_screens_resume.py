"""The resume panel: what it says, and what its keys hand over."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from textual.command import DiscoveryHit

from hermes_tui.domain.messages import Recap, RecapEntry
from hermes_tui.domain.resume import Check, ResumePlan, State
from hermes_tui.errors import StoreBusy
from hermes_tui.intents import CopyText, HandOver, PrintAndQuit
from hermes_tui.palette import Commands
from hermes_tui.screens.resume import ResumeScreen
from hermes_tui.widgets.resuming import Resuming, body_lines
from tests import values
from tests.fakes import GatedService
from tests.stage import on_stage, seen, until

ROW = values.CONVERSATIONS[1]
GONE = "~/code/app/services is gone; hermes stays where it is started, which is the directory of this terminal"
CHECKS = (
    Check("continues", State.OK, "segment 3 of 3, the tip"),
    Check("directory", State.WARNING, GONE),
    Check("hermes", State.WARNING, "not on PATH"),
)


@pytest.fixture(autouse=True)
def _a_fixed_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_TUI_NOW", str(values.NOW))


class Planning(GatedService):
    """Plans with checks; staying in this directory is a flag, if `flag` is."""

    def __init__(self, flag: bool = True, **changes: Any) -> None:
        super().__init__()
        self.flag = flag
        self.plan = replace(values.PLAN, checks=CHECKS, **changes)

    async def resume_plan(self, profile: str, session_id: str, *, stay: bool = False) -> ResumePlan:
        plan = await super().resume_plan(profile, session_id, stay=stay)
        return replace(plan, argv=(*plan.argv, "--no-restore-cwd")) if stay and self.flag else plan


def panel(service: GatedService, session_id: str | None = None) -> ResumeScreen:
    return ResumeScreen(service, ROW, session_id)


def words(app: Any) -> str:
    return " ".join(seen(app).split())


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (100, 30)])
async def test_it_tells_recap_checks_and_command(size: tuple[int, int]) -> None:
    async with on_stage(panel(Planning()), size) as (_, app, pilot):
        await until(pilot, lambda: "esc close" in seen(app) and "stay here" in seen(app))
        text = seen(app)
        assert "Resume  Atlas gateway rollout" in text
        assert "Mon 30 Nov 09:00" in text
        assert "5 earlier messages" in text
        assert "Yes, it shares the OAuth client." in text
        assert "✓ continues   segment 3 of 3, the tip" in text
        assert "! directory   ~/code/app/services is gone" in text
        assert GONE.split()[-1] in words(app)
        assert "! hermes      not on PATH" in text
        assert values.PLAN.command in text


async def test_what_has_no_title_is_called_what_the_list_calls_it() -> None:
    service = Planning()
    untitled = ROW._replace(title=None, display_name=None)
    service.rows = [untitled if row.key == ROW.key else row for row in service.rows]
    async with on_stage(ResumeScreen(service, untitled)) as (_, app, pilot):
        await until(pilot, lambda: "Resume  “" in seen(app))
        assert f"Resume  {ROW.id}" not in seen(app)


async def test_it_is_a_panel_over_the_page_and_below_100_columns_the_whole_screen() -> None:
    async with on_stage(panel(Planning()), (120, 40)) as (screen, _app, pilot):
        await until(pilot, lambda: screen.plan is not None)
        region = screen.panel.region
        assert region.width == 84
        assert (region.x, region.height < 40) == (18, True)
        await pilot.resize_terminal(90, 24)
        await until(pilot, lambda: screen.panel.region.width == 90)
        assert screen.panel.region.height == 24


@pytest.mark.parametrize(
    ("key", "back", "window"), [("enter", False, ""), ("b", True, ""), ("w", False, "Atlas gateway rollout")]
)
async def test_keys_hand_over_and_close(key: str, back: bool, window: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMUX", "/tmp/tmux-0/default,1,0")
    service = Planning(env={"HERMES_HOME": "/opt/my data"})
    async with on_stage(panel(service)) as (screen, app, pilot):
        await until(pilot, lambda: screen.plan is not None)
        await pilot.press(key)
        handed = app.last(HandOver)
        assert (handed.argv, handed.env) == (values.PLAN.argv, {"HERMES_HOME": "/opt/my data"})
        assert (handed.back, handed.window) == (back, window)
        await until(pilot, lambda: app.screen is not screen)


async def test_without_tmux_there_is_no_window() -> None:
    async with on_stage(panel(Planning())) as (screen, app, pilot):
        await until(pilot, lambda: screen.plan is not None)
        assert "tmux window" not in seen(app)
        await pilot.press("w")
        assert not app.intents


async def test_print_copy_link_and_id() -> None:
    async with on_stage(panel(Planning(), ROW.segment_ids[0])) as (screen, app, pilot):
        await until(pilot, lambda: screen.plan is not None)
        await pilot.press("c", "y", "i")
        copied = [each.text for each in app.intents if isinstance(each, CopyText)]
        assert copied == [values.PLAN.command, f"@session:default/{ROW.segment_ids[0]}", ROW.segment_ids[0]]
        assert app.screen is screen
        await pilot.press("p")
        assert app.last(PrintAndQuit).line == values.PLAN.command


async def test_staying_here_is_another_command_where_there_is_one() -> None:
    async with on_stage(panel(Planning())) as (screen, app, pilot):
        await until(pilot, lambda: "d stay here" in seen(app))
        await pilot.press("d")
        assert "--no-restore-cwd" in seen(app)
        await pilot.press("enter")
        assert app.last(HandOver).argv[-1] == "--no-restore-cwd"
    service = Planning(flag=False)
    async with on_stage(panel(service)) as (screen, app, pilot):
        await until(pilot, lambda: len([call for call in service.calls if call.name == "resume_plan"]) == 2)
        await pilot.pause()
        assert "stay here" not in seen(app)
        await pilot.press("d")
        assert screen.plan == service.plan


async def test_what_cannot_be_resumed_says_why_and_runs_nothing() -> None:
    why = "The sample store is not known to hermes, so its conversations cannot be resumed [/]."
    async with on_stage(panel(Planning(refused=why))) as (screen, app, pilot):
        await until(pilot, lambda: screen.plan is not None)
        assert why in words(app)
        assert "enter here" not in seen(app)
        await pilot.press("enter", "b", "w", "p", "c", "d")
        assert not app.intents
        assert app.screen is screen
        assert [each.message for each in app._notifications] == [why] * 6  # each of these keys says why
        assert "not on PATH" not in words(app)
        assert "an example of the command, not to be run here" in words(app)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is not screen)


async def test_without_hermes_there_is_only_the_command() -> None:
    missing = Check("hermes", State.ERROR, "not on PATH")
    service = Planning()
    service.plan = replace(service.plan, checks=(missing,))
    async with on_stage(panel(service)) as (screen, app, pilot):
        await until(pilot, lambda: screen.plan is not None)
        assert "✗ hermes      not on PATH" in seen(app)
        await pilot.press("enter", "b", "w")
        assert not app.intents
        assert [each.message for each in app._notifications] == ["hermes is not on PATH"] * 3
        await pilot.press("c")
        assert app.last(CopyText).text == values.PLAN.command


async def test_a_store_that_fails_is_told() -> None:
    service = Planning()
    service.failures["resume_plan"] = StoreBusy("locked \x1b[2J [/]")
    service.failures["recap"] = StoreBusy("locked")
    async with on_stage(panel(service)) as (screen, app, pilot):
        await until(pilot, lambda: "✗ locked" in seen(app))
        await pilot.press("enter", "q")
        assert not app.intents
        await until(pilot, lambda: app.screen is not screen)


async def test_a_hostile_command_is_shown_whole_and_harmless() -> None:
    argv = ("hermes", "-p", "default", "--resume=-x'; rm -rf [/] \x1b]0;pwned\x07" + "z" * 200)
    async with on_stage(panel(Planning(argv=argv)), (80, 24)) as (screen, app, pilot):
        await until(pilot, lambda: screen.plan is not None)
        text = seen(app)
        assert "rm -rf [/]" in text
        assert "".join(text.split()).count("z" * 200) == 1
        assert not {"\x1b", "\x07"} & set(text)
        await pilot.press("c")
        copied = app.last(CopyText).text
        assert copied.isprintable()
        assert copied.startswith("hermes -p default $'--resume=-x\\'; rm -rf [/] \\x1b]0;pwned\\x07zzz")


@pytest.mark.parametrize("size", [(40, 10), (60, 12), (80, 24), (120, 20)])
async def test_a_low_screen_scrolls_to_everything(size: tuple[int, int]) -> None:
    entries = [RecapEntry("user", f"question {i} " * 12) for i in range(3)]
    service = Planning()
    async with on_stage(panel(service), size) as (screen, app, pilot):
        service.calls.clear()
        await until(pilot, lambda: screen.plan is not None)
        screen._shown = replace(screen._shown, recap=Recap(tuple(entries), 3))
        screen._show()
        await pilot.pause()
        read = [seen(app)]
        while screen.panel.top < screen.panel.bottom:
            await pilot.press("down")
            read.append(seen(app))
        together = " ".join(" ".join(read).split())
        for wanted in ("Resume", "question 2", "continues", "not on PATH", "--resume", "esc close"):
            assert wanted in together
        await pilot.press("g")
        assert screen.panel.top == 0
        await pilot.press("G")
        assert screen.panel.top == screen.panel.bottom


@pytest.mark.parametrize("size", [(40, 10), (60, 12)])
async def test_a_low_screen_shows_the_name_what_was_checked_and_the_first_keys_wherever_one_scrolls(
    size: tuple[int, int],
) -> None:
    async with on_stage(panel(Planning()), size) as (_screen, app, pilot):
        await until(pilot, lambda: "! directory" in seen(app))
        for key in ("g", "G"):
            await pilot.press(key)
            lines = [line.strip() for line in seen(app).splitlines() if line.strip()]
            assert lines[0].startswith("Resume")
            assert not re.search(r"\d\d:\d\d", lines[0]) or size[0] >= 60
            assert lines[-1].startswith("enter here")
            assert lines[-1].endswith("? keys")
        assert "! directory" not in seen(app)


async def test_commands_and_help_are_at_hand_in_the_panel() -> None:
    async with on_stage(panel(Planning())) as (screen, app, pilot):
        await until(pilot, lambda: "? keys" in seen(app))
        assert "copy the command" in [said async for said in told_by_palette(screen)]


async def told_by_palette(screen: ResumeScreen) -> AsyncIterator[str]:
    async for hit in Commands(screen).discover():
        assert isinstance(hit, DiscoveryHit)
        yield str(hit.text)


@pytest.mark.parametrize("size", [(120, 30), (80, 24)])
async def test_a_long_last_answer_scrolls_and_leaves_the_checks_in_sight(size: tuple[int, int]) -> None:
    said = " ".join(f"word{i}" for i in range(400))
    async with on_stage(panel(Planning()), size) as (screen, app, pilot):
        await until(pilot, lambda: screen.plan is not None)
        entries = (RecapEntry("user", "why?"), RecapEntry("assistant", said))
        screen._shown = replace(screen._shown, recap=Recap(entries, 3))
        screen._show()
        for _ in range(2):
            await pilot.pause()
            assert "! directory   ~/code/app/services is gone" in seen(app)
            assert "✓ continues" in seen(app)
            assert "esc close" in seen(app)
            await pilot.press("G")
        assert "word399" in seen(app)


def test_a_last_answer_is_not_cut_for_the_sake_of_a_blank() -> None:
    for words in range(20, 400, 5):
        said = " ".join(["word"] * words)
        recap = Recap((RecapEntry("user", "why?"), RecapEntry("assistant", said)), 3)
        shown = Resuming(values.CONVERSATIONS[0], recap, replace(values.PLAN, checks=CHECKS))
        middle, foot = body_lines(shown, [("enter", "here")], 76, 20)
        assert len(middle) + len(foot) != 21, "all but one line of it is in sight"


REFUSED = "This cannot be resumed: this is the demo, and hermes has never heard of its sessions."


@pytest.mark.parametrize("size", [(40, 24), (60, 18), (80, 24), (120, 24)])
async def test_what_stands_in_the_way_and_the_command_are_in_sight_whatever_else_is_not(
    size: tuple[int, int],
) -> None:
    service = Planning(refused=REFUSED)
    opened = Check("elsewhere", State.WARNING, "open in cli (process 4711): hermes refuses a second window")
    gone = Check("directory", State.WARNING, "~/code/images is gone; hermes stays in ~/code")
    length = Check("length", State.OK, "11 stored messages; limit 20,000 (assumed: no setting found)")
    service.plan = replace(service.plan, checks=(CHECKS[0], gone, opened, length))
    async with on_stage(panel(service), size) as (screen, app, pilot):
        await until(pilot, lambda: screen.plan is not None)
        entries = [RecapEntry(who, f"{who} {i} said this " * 6) for i in range(3) for who in ("user", "assistant")]
        screen._shown = replace(screen._shown, recap=Recap(tuple(entries), 3))
        screen._show()
        await pilot.pause()
        said = " ".join(seen(app).replace("┃", " ").split())
        for wanted in (f"✗ {REFUSED}", "! directory", "! elsewhere", "hermes -p default --resume", "? keys"):
            assert wanted in said
        assert screen.panel.bottom == 0 or "┃" in seen(app)


@pytest.mark.parametrize("size", [(40, 24), (60, 18), (80, 24), (120, 36)])
@pytest.mark.parametrize("tmux", ["", "/tmp/tmux-0/default,1,0"])
async def test_the_keys_stand_on_one_line_and_the_ones_wanted_least_give_way(
    size: tuple[int, int], tmux: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMUX", tmux)
    async with on_stage(panel(Planning()), size) as (screen, app, pilot):
        await until(pilot, lambda: len(screen._plans) == 2)
        await pilot.pause()
        (keys,) = [row for row in seen(app).splitlines() if "enter here" in row]
        assert "esc close   ? keys" in keys
        assert "p print" not in keys
        assert ("w tmux window" in keys) == (size[0] == 120 and bool(tmux))
