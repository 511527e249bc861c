"""Reading: what somebody sees and does in a transcript."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widget import Widget

from hermes_tui.domain.messages import Message, Outline, SegmentMark, ToolCall
from hermes_tui.domain.queries import Hit, Tier
from hermes_tui.domain.sessions import ConversationKey
from hermes_tui.errors import StoreBusy, StoreUnreadable, TargetNotFound
from hermes_tui.intents import CopyText, OpenLineage, OpenResume, OpenTarget, OpenTranscript
from hermes_tui.paths import home_store
from hermes_tui.screens.finding import moment_of
from hermes_tui.screens.transcript import TranscriptScreen
from hermes_tui.service.sqlite import SqliteSessionService
from hermes_tui.widgets.transcript import saying, supply
from tests import values
from tests.builders import StoreBuilder
from tests.fakes import GatedService
from tests.stage import Stage, on_stage, seen, until

KEY = values.CONVERSATIONS[0].key
AT = values.NOW - 86_400


def message(number: int, role: str, text: str, **changes: Any) -> Message:
    fields: dict[str, Any] = {"timestamp": AT + 60 * number, "chars": len(text), **changes}
    return Message(id=number, session_id=fields.pop("session_id", KEY.root_id), role=role, text=text, **fields)


def talk(count: int, **texts: str) -> list[Message]:
    """Question and answer in turn; `texts` by `m<number>`."""
    return [
        message(i, "user" if i % 2 else "assistant", texts.get(f"m{i}", f"{'Question' if i % 2 else 'Answer'} {i}."))
        for i in range(1, count + 1)
    ]


def service_of(messages: Sequence[Message]) -> GatedService:
    service = GatedService()
    service.transcript = tuple(messages)
    return service


def screen_of(service: GatedService, anchor: int | None = None, **opening: Any) -> TranscriptScreen:
    return TranscriptScreen(service, OpenTranscript(KEY, anchor, **opening))


async def settled(screen: TranscriptScreen, pilot: Pilot[None]) -> None:
    """Everything that was asked for has come and is set."""
    await until(pilot, lambda: screen.outline is not None and screen.details is not None and screen.reader.settled)
    await pilot.pause()


@asynccontextmanager
async def on_its_way(
    count: int, anchor: int
) -> AsyncIterator[tuple[TranscriptScreen, Stage, Pilot[None], Callable[[], None]]]:
    """A `talk` of which no more has come than what is around its anchor; the last value lets the rest come."""
    messages = talk(count)
    service = service_of(messages)
    service.hold("outline")
    screen = screen_of(service, anchor)
    async with on_stage(screen) as (_, app, pilot):
        await until(pilot, lambda: messages[anchor - 1].text in seen(app))
        yield screen, app, pilot, lambda: service.release("outline")


def bar(app: Stage) -> str:
    """The line at which the gold bar stands."""
    return next((line for line in seen(app).splitlines() if line.startswith("▌")), "")


def row_of(app: Stage, text: str) -> int:
    return next((i for i, line in enumerate(seen(app).splitlines()) if text in line), -1)


def page(screen: str) -> list[str]:
    """The lines without the rail."""
    return [line[:118].rstrip() for line in screen.splitlines()]


# opening


async def test_it_opens_at_the_match_with_the_words_lit_and_steps_to_the_next() -> None:
    texts = {"m37": "here is needle-4711 for you", "m1500": "and needle-4711 again"}
    service = service_of(talk(2_000, **texts))
    screen = screen_of(service, 37, words="needle-4711")
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        await until(pilot, lambda: "1/2" in seen(app))
        assert "needle-4711" in bar(app)
        assert "message 37 of 2,000" in seen(app)
        await pilot.press("n")
        await until(pilot, lambda: "2/2" in seen(app) and screen.reader.settled)
        assert "needle-4711 again" in bar(app)
        assert "message 1,500 of 2,000" in seen(app)
        await pilot.press("n")
        await until(pilot, lambda: "1/2" in seen(app))
        assert "here is needle-4711" in bar(app)


async def test_a_match_in_a_call_is_gone_to_there_though_a_thought_stands_above_it() -> None:
    call = ToolCall("c", "terminal", '{"command": "make needle"}', result_id=5)
    thinking = message(4, "assistant", "", reasoning="Hm.", tool_calls=(call,))
    service = service_of([*talk(3, m1="a needle"), thinking, message(5, "tool", "done", call=call), *talk(9)[5:]])
    screen = screen_of(service, 1, words="needle")
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        await until(pilot, lambda: "1/2" in seen(app))
        await pilot.press("n")
        await until(pilot, lambda: "2/2" in seen(app) and screen.reader.settled)
        assert "make needle" in bar(app)


@pytest.mark.parametrize("said", ["", "I will make it."])
async def test_of_several_calls_and_what_was_said_that_which_holds_most_of_the_words_is_gone_to(said: str) -> None:
    read = ToolCall("r", "read_file", '{"path": "Makefile"}', result_id=5)
    make = ToolCall("c", "terminal", '{"command": "make needle"}', result_id=6)
    done = [message(5, "tool", "text", call=read), message(6, "tool", "done", call=make)]
    messages = [*talk(3), message(4, "assistant", said, tool_calls=(read, make)), *done, *talk(9)[6:]]
    screen = screen_of(service_of(messages), 4, words="make needle")
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        await until(pilot, lambda: "1/1" in seen(app))
        assert "terminal" in bar(app)
        assert "make needle" in bar(app)


async def test_the_footer_offers_to_fold_calls_where_there_are_some() -> None:
    call = ToolCall("c", "terminal", '{"command": "ls"}', result_id=5)
    with_call = [*talk(3), message(4, "assistant", "", tool_calls=(call,)), message(5, "tool", "x", call=call)]
    for messages, offered in ((talk(5), False), (with_call, True)):
        screen = screen_of(service_of(messages))
        async with on_stage(screen) as (_, app, pilot):
            await settled(screen, pilot)
            await until(pilot, lambda: "/ find" in seen(app).splitlines()[-1])
            assert ("t all tools" in seen(app).splitlines()[-1]) == offered


@pytest.mark.parametrize("parted", ["we make a needle", f"{'x ' * 46}make needle"])
async def test_in_a_long_text_the_line_with_most_of_the_words_is_gone_to(parted: str) -> None:
    lines = [f"line {i}" for i in range(200)]
    lines[2], lines[100] = "we make something", parted
    messages = [*talk(3), message(4, "assistant", "\n\n".join(lines)), *talk(9)[4:]]
    screen = screen_of(service_of(messages), 4, words="make needle")
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        await until(pilot, lambda: "1/1" in seen(app))
        assert "needle" in seen(app).split("/ make needle")[0]
        leaf = screen.reader.shelf.peek(4)
        assert leaf is not None
        assert not leaf.done, "no more of it is set than was needed"


def test_both_numbers_of_a_find_have_their_commas() -> None:
    assert saying.found_words(5_007, 5_010) == "5,007/5,010"


async def test_closing_a_find_gives_back_the_words_of_the_search() -> None:
    screen = screen_of(service_of(talk(20, m4="Answer, the needle.")), 4, words="needle")
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        for leaving in (["enter", "escape"], ["escape", "escape"]):  # kept and then given up; cleared and then left
            await pilot.press("slash", *"Question")
            await until(pilot, lambda: "/10" in seen(app))
            await pilot.press(*leaving)
            await until(pilot, lambda: "needle  0/1" in seen(app))
            assert "esc back" in seen(app)
        await pilot.press("slash", "escape")
        await until(pilot, lambda: "needle  0/1" in seen(app))
        await pilot.press("n")
        await until(pilot, lambda: "1/1" in seen(app))
        assert "the needle" in bar(app)


async def test_without_an_anchor_it_opens_at_the_end() -> None:
    screen = screen_of(service_of(talk(300)))
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        assert "Answer 300." in bar(app)
        assert "message 300 of 300" in seen(app)
        await pilot.press("g")
        await settled(screen, pilot)
        assert "Question 1." in bar(app)
        await pilot.press("G")
        await settled(screen, pilot)
        assert "Answer 300." in bar(app)


async def test_the_anchor_is_readable_before_the_rest_is_known_and_does_not_move_then() -> None:
    async with on_its_way(5_000, 2_501) as (screen, app, pilot, come):
        assert "message 2,501 of 5,000" in seen(app)
        before = row_of(app, "Question 2501.")
        come()
        await settled(screen, pilot)
        assert row_of(app, "Question 2501.") == before
        assert "Question 2501." in bar(app)


async def test_a_chain_is_read_through_with_a_seam_at_each_compression() -> None:
    messages = talk(82)
    service = service_of(messages)
    marks = tuple(SegmentMark(f"s{i}", first, AT + 60 * first, None) for i, first in enumerate((0, 40, 70)))
    whole = replace(values.outline(messages), segments=marks)

    async def outline(key: ConversationKey) -> Outline:
        return whole

    service.outline = outline  # type: ignore[method-assign]  # three segments instead of one
    screen = screen_of(service, 41)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        assert "segment 2 of 3 · 40 messages summed up above" in seen(app)
        assert "message 41 of 82 · segment 2 of 3" in seen(app)
        for _ in range(41):
            await pilot.press("J")
        await settled(screen, pilot)
        assert "message 82 of 82 · segment 3 of 3" in seen(app)


async def test_a_hundred_thousand_messages_take_no_more_widgets_or_texts_than_a_hundred() -> None:
    few, many = service_of(talk(100)), service_of(talk(100_000))
    widgets: list[int] = []
    asked: list[int] = []
    for service in (few, many):
        count = len(service.transcript)
        screen = screen_of(service, count // 2)
        async with on_stage(screen) as (_, _app, pilot):
            await settled(screen, pilot)
            for key in ("pagedown", "pagedown", "g", "G", "pageup", "ctrl+u", "space"):
                await pilot.press(key)
                await settled(screen, pilot)
                assert len(list(screen.reader.shelf.leaves())) < 400
            widgets.append(len(screen.query(Widget)))
            asked.append(sum(len(call.arguments[1]) for call in service.calls if call.name == "messages"))
    assert widgets[0] == widgets[1]
    assert asked[1] < 600


async def test_a_conversation_that_cannot_be_read_says_why() -> None:
    service = service_of(talk(3))
    service.failures["window"] = StoreUnreadable("/x/state.db is damaged [/bold]")
    screen = screen_of(service)
    async with on_stage(screen) as (_, app, pilot):
        await until(pilot, lambda: "Cannot show this conversation" in seen(app))
        assert "/x/state.db is damaged [/bold]" in seen(app)
        lines = seen(app).splitlines()
        assert lines[0].startswith("   Conversation   default")
        assert lines[-1].strip() == "l lineage   esc back   ? keys"
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is not screen)


async def test_a_busy_store_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hermes_tui.screens.filling.FOLLOW_SECONDS", 0.0)
    service = service_of(talk(3))
    service.failures["window"] = StoreBusy("state.db is locked")
    screen = screen_of(service)
    async with on_stage(screen) as (_, app, pilot):
        await until(pilot, lambda: "another process holds the store; trying again …" in seen(app))
        del service.failures["window"]
        await until(pilot, lambda: "Question 3." in seen(app))
        assert "trying again" not in seen(app)


async def test_what_is_said_while_the_rest_still_comes_stays_said() -> None:
    async with on_its_way(20, 4) as (screen, app, pilot, come):
        await pilot.press("m")
        await until(pilot, lambda: "bookmarked" in seen(app))
        come()
        await settled(screen, pilot)
        assert "bookmarked" in seen(app)


async def test_an_empty_conversation_is_a_page_and_not_a_blank() -> None:
    screen = screen_of(service_of([]))
    async with on_stage(screen) as (_, app, pilot):
        await until(pilot, lambda: "Nothing was said here." in seen(app))
        await until(pilot, lambda: seen(app).splitlines()[-1].strip() == "r resume   l lineage   esc back   ? keys")


async def test_an_anchor_that_is_not_there_is_told() -> None:
    screen = screen_of(service_of(talk(10)), 999)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        assert "message 999 is not (or no longer) shown here" in seen(app)
        assert "Answer 10." in seen(app)


async def test_a_bookmark_of_what_was_undone_since_opens_its_conversation(tmp_path: Path) -> None:
    with StoreBuilder(tmp_path / "state.db") as store:
        store.session("s1")
        store.message("s1", "user", "keep")
        undone = store.message("s1", "user", "undone-xyz", active=0)
        store.message("s1", "assistant", "later")
    service = SqliteSessionService((home_store(tmp_path),))
    screen = TranscriptScreen(service, OpenTranscript(ConversationKey("default", "s1"), undone))
    async with on_stage(screen) as (_, app, pilot):
        await until(pilot, lambda: f"message {undone} is not (or no longer) shown here" in seen(app))
        assert "later" in seen(app)
        assert "undone-xyz" not in seen(app)
    await service.close()


async def test_a_notice_is_told_until_one_goes_on() -> None:
    screen = screen_of(service_of(talk(10)), 5, notice="that message lies in another session")
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        assert "that message lies in another session" in seen(app)
        await pilot.press("J")
        await until(pilot, lambda: "lies in another session" not in seen(app))


# moving


async def test_items_messages_and_prompts() -> None:
    call = ToolCall("c", "terminal", '{"command": "ls"}', 3)
    messages = [
        message(1, "user", "Go https://a.example"),
        message(2, "assistant", "", reasoning="hm", tool_calls=(call,)),
        message(3, "tool", "out", call=call),
        message(4, "assistant", "Done."),
        message(5, "user", "Thanks."),
    ]
    screen = screen_of(service_of(messages), 1)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        marks = []
        for _ in range(5):
            await pilot.press("tab")
            await pilot.pause()
            marks.append(bar(app)[7:30].split())
        assert [mark[1] if len(mark) > 1 else mark[0] for mark in marks] == [
            "Go",
            "thought",
            "terminal",
            "Done.",
            "Thanks.",
        ]
        await pilot.press("shift+tab")
        assert "Done." in bar(app)
        await pilot.press("K")
        assert "terminal" in bar(app)
        await pilot.press("left_square_bracket")
        assert "Go" in bar(app)
        await pilot.press("right_square_bracket")
        assert "Thanks." in bar(app)
        await pilot.press("right_square_bracket")
        assert "no prompt after this one" in seen(app)


async def test_the_line_that_is_read_stays_when_texts_above_come_late() -> None:
    chance = random.Random(2)
    messages = [message(i, "assistant", f"Answer {i}.\n" + "more\n" * chance.randint(0, 30)) for i in range(1, 400)]
    service = service_of(messages)
    screen = screen_of(service, 200)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        service.hold("messages")
        for _ in range(12):
            await pilot.press("pageup")
        before = seen(app)
        top = next((line for line in before.splitlines()[3:] if "Answer" in line), None)
        service.release("messages")
        await settled(screen, pilot)
        assert top is None or row_of(app, top.strip()) == row_of_text(before, top.strip())


def row_of_text(screen: str, text: str) -> int:
    return next(i for i, line in enumerate(screen.splitlines()) if text in line)


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (120, 36), (160, 48)])
async def test_every_size_shows_the_anchor_and_where_one_is(size: tuple[int, int]) -> None:
    screen = screen_of(service_of(talk(90)), 45)
    async with on_stage(screen, size) as (_, app, pilot):
        await settled(screen, pilot)
        assert "Question 45." in bar(app)
        assert "45 of 90" in seen(app)
        assert all(len(line) <= size[0] for line in seen(app).splitlines())


async def test_another_size_keeps_what_is_read() -> None:
    texts = {f"m{i}": f"Answer {i}. " + "words and more words " * 40 for i in range(2, 60, 2)}
    screen = screen_of(service_of(talk(60, **texts)), 31)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        for width, height in ((60, 20), (150, 40), (80, 24)):
            await pilot.resize_terminal(width, height)
            await settled(screen, pilot)
            assert "Question 31." in seen(app)


async def test_a_page_of_folded_calls_is_made_ready_before_it_is_turned_to() -> None:
    calls = [message(i, "tool", "done", call=ToolCall(f"c{i}", "terminal", "{}", i)) for i in range(1, 201)]
    screen = screen_of(service := service_of(calls), 60)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        full = screen.reader.size.height
        assert full > supply.AHEAD
        service.hold("messages")
        for key in ("pagedown", "pageup", "pageup"):
            await pilot.press(key)
            assert seen(app).count("▸ terminal") == full
            service.release("messages")
            await settled(screen, pilot)
            service.hold("messages")


async def test_the_rail_stays_where_heights_elsewhere_turn_out_a_little_other_than_was_guessed() -> None:
    screen = screen_of(service := service_of(talk(4_000)), 10)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        await pilot.press("end")
        await settled(screen, pilot)
        service.hold("messages")
        while not screen.reader._asked:
            await pilot.press("pageup")
        before, total, told = seen(app), screen.reader.plan.heights.total, screen.reader._told
        service.release("messages")
        await settled(screen, pilot)
        assert screen.reader.plan.heights.total != total
        assert screen.reader._told == told
        assert seen(app) == before


async def test_the_rail_follows_where_heights_elsewhere_turn_out_much_higher() -> None:
    screen = screen_of(service_of(talk(200, **{f"m{i}": "words " * 1_200 for i in range(1, 201)})), 10)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        screen.reader.go_to(150)
        await settled(screen, pilot)
        total, height, top = screen.reader.scroll_state()
        thumb = [i for i, line in enumerate(seen(app).splitlines()[3:]) if line.endswith("┃")]
        assert abs(thumb[0] - height * top / total) <= 1.5


# folding


def with_call(**changes: Any) -> list[Message]:
    call = ToolCall("c", "terminal", '{"command": "make"}', 32)
    result = json.dumps({"output": "\n".join(f"line {i}" for i in range(40)), "exit_code": 1})
    return [
        *talk(30),
        message(31, "assistant", "", reasoning="because", tool_calls=(call,)),
        message(32, "tool", result, call=call, **changes),
        *(replace(each, id=each.id + 32) for each in talk(30)),
    ]


async def test_enter_opens_what_is_folded_where_it_stands() -> None:
    screen = screen_of(service_of(with_call()), 32)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        assert "▸ terminal  make" in bar(app)
        assert "exit 1 · 40 lines" in bar(app)
        at = row_of(app, "▸ terminal")
        await pilot.press("enter")
        await settled(screen, pilot)
        assert row_of(app, "▾ terminal") == at
        assert "│ line 0" in seen(app)
        await pilot.press("tab")
        await settled(screen, pilot)
        assert "16 more lines" in bar(app)
        assert "enter show all" in seen(app)
        await pilot.press("enter")
        await settled(screen, pilot)
        await until(pilot, lambda: screen.reader.walker.item() is not None)
        assert "more lines" not in seen(app)
        await pilot.press("enter")
        await settled(screen, pilot)
        assert "▸ terminal" in bar(app)


async def test_t_opens_all_tools_and_folds_them_again() -> None:
    screen = screen_of(service_of(with_call()), 32)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        before = seen(app)
        await pilot.press("t")
        await settled(screen, pilot)
        assert "│ line 3" in seen(app)
        assert row_of(app, "▾ terminal") == row_of_text(before, "▸ terminal")
        await pilot.press("t")
        await settled(screen, pilot)
        assert page(seen(app)) == page(before)
        await pilot.press("T")
        await settled(screen, pilot)
        assert "│ because" in seen(app)


async def test_a_long_text_is_shown_whole_on_demand() -> None:
    whole = "The whole text. " * 40_000 + "Its very end."
    messages = talk(5)
    messages[2] = replace(messages[2], text=whole[:16_384], chars=len(whole))
    service = service_of(messages)

    async def message_text(key: ConversationKey, message_id: int) -> str:
        return whole

    service.message_text = message_text  # type: ignore[method-assign]  # pages are cut, the whole is not
    screen = screen_of(service, 3)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        await pilot.press("enter")
        await until(pilot, lambda: screen.reader.settled and screen.reader.shelf.whole(3) is not None)
        assert "The whole text." in bar(app)
        await pilot.press("J", "K", "slash")
        await pilot.press(*"very end")
        await pilot.press("enter")
        await pilot.press("G")
        await settled(screen, pilot)
        assert "Its very end." in seen(app)


# finding


async def test_finding_as_one_types_unfolds_and_counts() -> None:
    screen = screen_of(service_of(with_call()), 1)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        await pilot.press("slash", *"line 2")
        await until(pilot, lambda: "1/1" in seen(app))
        await settled(screen, pilot)
        assert "│ line 2" in seen(app)
        assert "/ line 2" in seen(app)
        await pilot.press("enter", "n")
        await until(pilot, lambda: "1/1" in seen(app))
        await pilot.press("escape")
        await until(pilot, lambda: "1/1" not in seen(app))
        assert app.screen is screen
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is not screen)


async def test_the_count_of_matches_goes_with_the_words() -> None:
    screen = screen_of(service_of(with_call()), 1)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        await pilot.press("slash", *"line 2")
        await until(pilot, lambda: "1/1" in seen(app))
        await pilot.press(*["backspace"] * 6)
        await until(pilot, lambda: "1/1" not in seen(app))
        await pilot.press(*"line 2", "enter")
        await until(pilot, lambda: "1/1" in seen(app))
        await pilot.press("number_sign")
        await until(pilot, lambda: "a message id" in seen(app))
        assert "1/1" not in seen(app)


async def test_letters_are_text_while_one_types_and_escape_clears_then_closes() -> None:
    screen = screen_of(service_of(talk(20)))
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        await pilot.press("slash", *"qdjkn", "slash", "question_mark")
        await pilot.pause()
        assert "/ qdjkn/?" in seen(app)
        await pilot.press("escape")
        assert screen.box.text == ""
        assert screen.typing
        await pilot.press("escape")
        await until(pilot, lambda: not screen.typing)
        assert app.screen is screen


async def test_what_is_nowhere_says_so_and_moves_nothing() -> None:
    screen = screen_of(service_of(talk(50)), 25)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        await pilot.press("slash", *"nosuchword", "enter")
        await until(pilot, lambda: "no match" in seen(app))
        assert "Question 25." in bar(app)


async def test_words_that_take_a_while_are_said_to_be_looked_for_while_typing_and_after() -> None:
    service = service_of(talk(50))
    screen = screen_of(service, 20)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        service.hold("find")
        await pilot.press("slash", *"Answer")
        await until(pilot, lambda: "finding…" in seen(app))
        await pilot.press("enter", "n")
        assert "finding…" in seen(app).splitlines()[-2]
        assert "message 20 of 50" in seen(app)
        service.release("find")
        await until(pilot, lambda: "10/25" in seen(app))
        assert "finding…" not in seen(app)
        service.hold("find")
        await pilot.press("slash", "s")
        await until(pilot, lambda: "finding…" in seen(app))
        await pilot.press("enter", "n", "n")
        assert "message 20 of 50" in seen(app), "the matches that are there are those of other words"
        latest = [call for call in service.calls if call.name == "find"][-1]
        latest.fail(StoreUnreadable("It is damaged."))
        await until(pilot, lambda: "It is damaged." in seen(app))
        assert "finding…" not in seen(app)


async def test_who_reads_on_while_words_are_looked_for_is_led_to_the_first_match_from_there() -> None:
    texts = {f"m{at}": f"needle {at}" for at in (30, 60, 70)}
    service = service_of(talk(100, **texts))
    screen = screen_of(service, 20)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        service.hold("find")
        await pilot.press("slash", *"needle", "enter")
        await until(pilot, lambda: "finding…" in seen(app))
        await pilot.press("number_sign", *"50", "enter")
        await settled(screen, pilot)
        assert "message 50 of 100" in seen(app)
        service.release("find")
        await until(pilot, lambda: "2/3" in seen(app) and "message 60 of 100" in seen(app))
        await pilot.press("n")
        await until(pilot, lambda: "3/3" in seen(app))


async def test_more_letters_do_not_lead_further_and_further() -> None:
    texts = {"m30": "abx", "m40": "abc", "m60": "abc"}
    screen = screen_of(service_of(talk(100, **texts)), 20)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        await pilot.press("slash", *"ab")
        await until(pilot, lambda: "1/3" in seen(app) and "abx" in bar(app))
        await pilot.press("c")
        await until(pilot, lambda: "1/2" in seen(app) and "12:40" in bar(app))
        await pilot.press("backspace")
        await until(pilot, lambda: "1/3" in seen(app) and "abx" in bar(app))


async def test_where_one_is_does_not_change_while_a_screen_is_set_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = screen_of(service_of(talk(50)), 25)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        current = screen.reader.walker.current
        with monkeypatch.context() as patched:
            patched.setattr(supply, "SLICE", -1.0)  # there is no time to set anything
            screen.reader.light("nosuchword")
            assert screen.reader.plan.late
            assert screen.reader.walker.current == current
        await settled(screen, pilot)
        assert "Question 25." in bar(app)


async def test_going_to_a_message_a_time_and_a_day() -> None:
    service = service_of(talk(3_000))
    screen = screen_of(service, 1)
    start = service.transcript[0].timestamp
    assert start is not None
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        await pilot.press("number_sign", *"1234", "enter")
        await settled(screen, pilot)
        assert "Answer 1234." in bar(app)
        await pilot.press("number_sign", *"2026-11-30", "enter")
        await settled(screen, pilot)
        assert "Sun 29 Nov" not in seen(app)
        assert "Mon 30 Nov 00:00:00 UTC" in seen(app)
        await pilot.press("number_sign", *"14:30", "enter")
        await settled(screen, pilot)
        assert "Mon 30 Nov 14:30:00 UTC" in seen(app)
        await pilot.press("number_sign", *"99999", "enter")
        await until(pilot, lambda: "no message 99999" in seen(app))
        await pilot.press("number_sign", *"soon", "enter")
        await until(pilot, lambda: "'soon' is no message id, time or day" in seen(app))
        await pilot.press("t")
        assert "is no message id" not in seen(app)


@pytest.mark.parametrize(("key", "anchor", "said"), [("tab", 6, "after"), ("shift+tab", 1, "before")])
async def test_where_there_is_no_further_item_or_message_this_is_said(key: str, anchor: int, said: str) -> None:
    screen = screen_of(service_of(talk(6)), anchor)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        await pilot.press(key)
        assert f"no item {said} this one" in seen(app)
        await pilot.press("J" if key == "tab" else "K")
        assert f"no message {said} this one" in seen(app)
        await pilot.press("K" if key == "tab" else "J")
        assert "this one" not in seen(app)


async def test_the_next_match_says_when_it_begins_again_at_the_other_end() -> None:
    screen = screen_of(service_of(talk(30, m5="needle", m9="needle")), 1, words="needle")
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        for key, counted, said in (
            ("n", "1/2", ""),
            ("n", "2/2", ""),
            ("n", "1/2", "from the top"),
            ("n", "2/2", ""),
            ("N", "1/2", ""),
            ("N", "2/2", "from the end"),
        ):
            await pilot.press(key)
            await until(pilot, lambda counted=counted: counted in seen(app) and screen.reader.settled)
            assert said in seen(app)
            assert ("from the" in seen(app)) == bool(said)


async def test_a_match_in_a_long_output_is_shown_with_the_line_of_its_call_where_both_fit() -> None:
    output = "\n".join([*(f"line {i}" for i in range(16)), "the needle", *(f"line {i}" for i in range(40))])
    call = ToolCall("c1", "read_file", '{"path": "src/session.py"}', 21)
    said = [*talk(20), message(21, "tool", output, call=call), *(message(i, "user", "on") for i in range(22, 60))]
    screen = screen_of(service_of(said), 21, words="needle")
    async with on_stage(screen, (120, 30)) as (_, app, pilot):
        await settled(screen, pilot)
        assert "the needle" in seen(app)
        assert "read_file" in seen(app)
        assert row_of(app, "the needle") - row_of(app, "read_file") >= 10


async def test_a_time_without_a_day_is_that_of_the_day_before_where_only_that_has_one() -> None:
    times = [values.NOW - 86_400, values.NOW - 86_400 + 600, values.NOW - 7_200]
    said = [replace(each, timestamp=at) for each, at in zip(talk(3), times, strict=True)]
    screen = screen_of(service_of(said), 3)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        wanted = f"{datetime.fromtimestamp(times[1] - 60).astimezone():%H:%M}"
        await pilot.press("number_sign", *"soon", "enter")
        await until(pilot, lambda: "is no message id" in seen(app))
        await pilot.press("number_sign", *wanted, "enter")
        await settled(screen, pilot)
        assert "Answer 2." in bar(app)
        assert "another day" in seen(app)
        await pilot.press("slash", *"Question", "enter")
        await until(pilot, lambda: "/2" in seen(app))
        assert "another day" not in seen(app)
        assert "is no message id" not in seen(app)


async def test_an_empty_line_to_find_in_tells_nothing_of_the_words_before() -> None:
    screen = screen_of(service_of(talk(20)), 4, words="Answer 4.")
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        await until(pilot, lambda: "1/2" in seen(app))
        await pilot.press("slash")
        await until(pilot, lambda: "a phrase" in seen(app))
        assert "1/2" not in seen(app)


async def test_the_keys_of_a_line_that_is_typed_in_stay_whatever_comes_meanwhile() -> None:
    async with on_its_way(20, 4) as (screen, app, pilot, come):
        await pilot.press("slash")
        await until(pilot, lambda: "enter keep" in seen(app))
        come()
        await settled(screen, pilot)
        assert "enter keep" in seen(app)
        await pilot.press("escape")
        await until(pilot, lambda: "enter keep" not in seen(app))
        assert "esc back" in seen(app)


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (160, 48)])
async def test_the_footer_names_the_way_back_at_any_size(size: tuple[int, int]) -> None:
    screen = screen_of(service_of(talk(20)), 4, words="Answer", hits=values.HITS, hit=0)
    async with on_stage(screen, size) as (_, app, pilot):
        await settled(screen, pilot)
        assert "esc back" in seen(app).splitlines()[-1]
        assert seen(app).splitlines()[-1].endswith("? keys")


async def test_a_match_beyond_the_edge_of_a_wide_line_is_scrolled_into_sight() -> None:
    code = "```py\n" + "x = 1\n" + "a" * 150 + " needle " + "b" * 150 + "\n```"
    screen = screen_of(service_of(talk(6, m4=code)), 4, words="needle")
    async with on_stage(screen, (40, 10)) as (_, app, pilot):
        await settled(screen, pilot)
        await until(pilot, lambda: "1/1" in seen(app))
        assert "needle" in seen(app).replace("/ needle", "")
        for _ in range(20):
            await pilot.press("shift+left")
        assert "x = 1" in seen(app)
        assert "needle" not in seen(app).replace("/ needle", "")


@pytest.mark.parametrize(
    "text", ["", "soon", "25:00", "2026-13-01", "2026-02-30", "14:3", "1:2:3:4", "9999-99-99", "-"]
)
def test_what_is_no_moment(text: str) -> None:
    assert moment_of(text, AT) is None


# copying, links, bookmarks


async def test_copies_come_from_the_source() -> None:
    text = "**bold** text\n\n```py\nx\t= 1\n```\n\n```\ny\n```"
    screen = screen_of(service_of(talk(4, m4=text)), 4)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        await pilot.press("y")
        assert app.last(CopyText).text == text
        found = []
        for _ in range(3):
            await pilot.press("c")
            found.append((app.last(CopyText).text, app.last(CopyText).what))
        assert found == [("x\t= 1", "code block 1 of 2"), ("y", "code block 2 of 2"), ("x\t= 1", "code block 1 of 2")]
        await pilot.press("L")
        assert app.last(CopyText).text == f"@session:default/{KEY.root_id}#4"
        await pilot.press("i")
        assert app.last(CopyText).text == KEY.root_id
        await pilot.press("Y")
        await until(pilot, lambda: app.last(CopyText).what == "command")
        assert app.last(CopyText).text == values.PLAN.command
        await pilot.press("K", "c")
        await until(pilot, lambda: "no code block in this message" in seen(app))


async def test_a_session_link_is_followed() -> None:
    screen = screen_of(service_of(talk(2, m2="see `@session:work/20260101_000000_abcdef`, please")), 2)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        await pilot.press("tab")
        await settled(screen, pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.intents[-1], OpenTarget))
        assert app.last(OpenTarget).text == "@session:work/20260101_000000_abcdef"
        assert "please" in bar(app)


async def test_a_web_link_is_shown_in_full_and_opened_only_after_a_yes(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("hermes_tui.screens.leading.browse", lambda target: not opened.append(target))
    address = "https://example.org/" + "path/" * 40 + "end"
    screen = screen_of(service_of(talk(2, m2=f"see [the docs]({address})")), 2)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        assert "example.org" not in seen(app)
        await pilot.press("tab", "enter")
        await until(pilot, lambda: "Open this link?" in seen(app))
        assert address in "".join(line.strip() for line in seen(app).splitlines())
        await pilot.press("escape")
        await until(pilot, lambda: "the docs" in seen(app))
        assert opened == []
        await pilot.press("enter")
        await until(pilot, lambda: "Open this link?" in seen(app))
        await pilot.press("enter")
        await until(pilot, lambda: opened == [address])
        assert "the docs" in bar(app)


@pytest.mark.parametrize("address", ["http://[", "http://[::1", "https://a]b/x", "file://[/etc/passwd"])
async def test_an_address_that_is_none_is_asked_about_like_any_other(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("hermes_tui.screens.leading.browse", lambda target: not opened.append(target))
    screen = screen_of(service_of(talk(2, m2=f"see <{address}>")), 2)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        await pilot.press("tab", "enter")
        await until(pilot, lambda: "Open this link?" in seen(app))
        assert address in seen(app)
        assert opened == []


@pytest.mark.parametrize("target", ["javascript:alert(1)", "ftp://x.example/y", "data:text/html,x", "vscode://x"])
async def test_other_schemes_are_words(target: str) -> None:
    screen = screen_of(service_of(talk(2, m2=f"see [it]({target}) and {target}")), 2)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        await pilot.press("tab", "enter")
        await pilot.pause()
        assert target in seen(app)
        assert "Open this link?" not in seen(app)
        assert not app.intents


async def test_bookmarks_are_kept_and_lead_back() -> None:
    service = service_of(talk(500))
    screen = screen_of(service, 100)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        await pilot.press("m")
        await until(pilot, lambda: "bookmarked" in seen(app))
        await pilot.press("G")
        await settled(screen, pilot)
        await pilot.press("apostrophe")
        await until(pilot, lambda: "Answer 100." in seen(app) and "Bookmarks" in seen(app))
        assert "bookmarked" not in seen(app)
        await pilot.press("enter")
        await settled(screen, pilot)
        assert "Answer 100." in bar(app)
    other = screen_of(service_of(talk(500)))
    async with on_stage(other) as (_, app, pilot):
        await settled(other, pilot)
        await pilot.press("apostrophe")
        await until(pilot, lambda: "Answer 100." in seen(app))
        await pilot.press("enter")
        await settled(other, pilot)
        await pilot.press("K", "m", "apostrophe")
        await until(pilot, lambda: "Question 99." in seen(app) and "Answer 100." in seen(app))
        assert "enter read" in seen(app).splitlines()[-1]
        assert "m remove" in seen(app).splitlines()[-1]
        await pilot.press("m")
        await until(pilot, lambda: "Question 99." not in seen(app) or "Answer 100." not in seen(app))
        await pilot.press("m")
        await until(pilot, lambda: "No bookmarks yet" in seen(app))
        assert "m remove" not in seen(app).splitlines()[-1]


async def test_that_a_bookmark_was_added_is_not_said_of_the_list_nor_after_it() -> None:
    screen = screen_of(service_of(talk(20)), 4)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        await pilot.press("m")
        await until(pilot, lambda: "bookmarked" in seen(app))
        await pilot.press("apostrophe")
        await until(pilot, lambda: "Bookmarks" in seen(app))
        assert "bookmarked" not in seen(app)
        await pilot.press("escape")
        await until(pilot, lambda: "Bookmarks" not in seen(app))
        assert "bookmarked" not in seen(app)


def test_a_bookmark_of_a_call_says_what_its_line_says() -> None:
    call = ToolCall("1", "terminal", '{"command": "make test"}')
    asked = Message(1, "s", "assistant", 1.0, "", 0, tool_calls=(call, replace(call, name="process")))
    brought = Message(2, "s", "tool", 2.0, '{"output": "42 passed"}', 23, call=call)
    said = replace(asked, text="Running the tests.")
    assert [saying.bookmark_words(each) for each in (asked, brought, said)] == [
        "terminal make test, process make test",
        "terminal make test",
        "Running the tests.",
    ]


async def test_the_only_hit_has_no_next_one_and_says_so() -> None:
    screen = screen_of(service_of(talk(10)), 1, words="oauth", hits=values.HITS[:1], hit=0)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        assert "next hit" not in seen(app)
        await pilot.press("ctrl+n")
        await until(pilot, lambda: "that was the last conversation found" in seen(app))


async def test_the_next_hit_is_the_next_conversation_of_the_search() -> None:
    hits = values.HITS
    screen = screen_of(service_of(talk(10)), 1, words="oauth", hits=hits, hit=0)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        assert "ctrl+n next hit" in seen(app)
        await pilot.press("ctrl+p")
        await until(pilot, lambda: "first conversation found" in seen(app))
        await pilot.press("ctrl+n")
        await until(pilot, lambda: bool(app.intents))
        best = hits[1].best
        intent = app.last(OpenTranscript)
        assert (intent.key, intent.anchor, intent.words, intent.hit) == (
            hits[1].conversation.key,
            best.message_id if best else None,
            "oauth",
            1,
        )


async def test_what_was_found_by_its_link_or_title_alone_is_opened_without_looking_for_it_inside() -> None:
    words, named = "session default seg_b 50", Hit(values.CONVERSATIONS[0], Tier.TARGET, (), 0)
    titled = replace(named, tier=Tier.TITLE)
    for hit, sought, said in (
        (named, "", ""),
        (titled, "", "found by its title"),
        (replace(titled, count=None), words, f"/ {words}  in the title"),
    ):
        screen = screen_of(service_of(talk(10)), 3, words=words, hits=(hit,))
        async with on_stage(screen) as (_, app, pilot):
            await settled(screen, pilot)
            await until(pilot, lambda said=said: said in seen(app))
            assert "no match" not in seen(app)
            assert screen.words == sought
            await pilot.press("slash", *"nosuchword", "enter")
            await until(pilot, lambda: "no match" in seen(app))


async def test_resume_and_lineage_go_from_here() -> None:
    screen = screen_of(service_of(talk(4)), 2)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        await pilot.press("r")
        assert app.last(OpenResume).conversation.key == KEY
        await pilot.press("l")
        assert app.last(OpenLineage).session_id == KEY.root_id
        await pilot.press("left")
        await until(pilot, lambda: app.screen is not screen)


# growing


async def test_at_the_end_it_follows_what_is_written_and_elsewhere_it_says_how_much_is_new() -> None:
    service = service_of(talk(200))
    screen = screen_of(service)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        service.transcript = tuple(talk(202))
        service.changed = True
        screen.look_again()
        await until(pilot, lambda: "Answer 202." in seen(app))
        await pilot.press("pageup", "pageup")
        await settled(screen, pilot)
        before = seen(app)
        service.transcript = tuple(talk(205))
        service.changed = True
        screen.look_again()
        await until(pilot, lambda: "3 new messages" in seen(app))
        await settled(screen, pilot)
        assert page(seen(app))[3:-2] == page(before)[3:-2]
        await pilot.press("G")
        await until(pilot, lambda: "Question 205." in seen(app) and "new messages" not in seen(app))


async def test_a_call_gets_its_result_while_one_looks() -> None:
    call = ToolCall("c", "terminal", '{"command": "make"}')
    messages = [*talk(3), message(4, "assistant", "", tool_calls=(call,))]
    service = service_of(messages)
    screen = screen_of(service)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        assert "no result" in seen(app)
        answered = replace(call, result_id=5)
        service.transcript = (
            *messages[:3],
            message(4, "assistant", "", tool_calls=(answered,)),
            message(5, "tool", "a\nb\nc", call=answered),
        )
        service.changed = True
        screen.look_again()
        await until(pilot, lambda: "3 lines" in seen(app) and "no result" not in seen(app))
        assert seen(app).count("terminal") == 1


async def test_undone_messages_go() -> None:
    service = service_of(talk(20))
    screen = screen_of(service)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        service.transcript = tuple(talk(16))
        service.changed = True
        screen.look_again()
        await until(pilot, lambda: "Answer 18." not in seen(app))
        assert "Answer 16." in seen(app)
        assert "of 16" in seen(app)


async def test_a_session_that_has_gone_leaves_what_was_read() -> None:
    service = service_of(talk(20))
    screen = screen_of(service)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        service.failures["conversation"] = TargetNotFound("gone")
        service.changed = True
        screen.look_again()
        await until(pilot, lambda: "no longer in the store" in seen(app))
        assert "Answer 20." in seen(app)


# the mouse


async def test_a_click_selects_and_folds_and_the_wheel_scrolls() -> None:
    screen = screen_of(service_of(with_call()), 32)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        await pilot.click(screen.reader, offset=(20, row_of(app, "▸ terminal") - 3))
        await settled(screen, pilot)
        assert "│ line 0" in seen(app)
        before = page(seen(app))
        wheel = {
            "x": 1,
            "y": 1,
            "delta_x": 0,
            "delta_y": 1,
            "button": 0,
            "shift": False,
            "meta": False,
            "ctrl": False,
        }
        screen.reader.post_message(events.MouseScrollDown(screen.reader, **wheel))
        await until(pilot, lambda: page(seen(app))[3:20] == before[6:23])
        screen.reader.post_message(events.MouseScrollUp(screen.reader, **wheel))
        await until(pilot, lambda: page(seen(app)) == before)


async def test_a_selection_is_copied_from_the_source() -> None:
    texts = {"m1": "First **bold** words.", "m2": "Second line " + "and more words " * 20, "m3": "Third."}
    screen = screen_of(service_of(talk(4, **texts)), 1)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        reader = screen.reader
        top = row_of(app, "First bold") - reader.region.y
        last = row_of(app, "Third.") - reader.region.y
        await pilot.mouse_down(reader, offset=(9, top))
        await pilot.hover(reader, offset=(14, last))
        await pilot.mouse_up(reader, offset=(14, last))
        await pilot.pause()
        assert screen.get_selected_text() == f"{texts['m1']}\n\n{texts['m2']}\n\nThird."
        await pilot.press("pagedown", "pageup")
        assert screen.get_selected_text() == f"{texts['m1']}\n\n{texts['m2']}\n\nThird."
        await pilot.mouse_down(reader, offset=(2, top))
        await pilot.hover(reader, offset=(110, top))
        await pilot.mouse_up(reader, offset=(110, top))
        await pilot.pause()
        assert screen.get_selected_text() == texts["m1"]


async def test_a_selection_dragged_over_the_edge_scrolls_on_and_escape_lets_go_of_it() -> None:
    screen = screen_of(service_of(talk(300)), 100)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        reader = screen.reader
        before = reader.plan.top
        await pilot.mouse_down(reader, offset=(9, 10))
        bottom = reader.region.bottom - 1
        for y in (bottom - 1, bottom):
            at = {"x": 20, "y": y, "screen_x": 20, "screen_y": y, "delta_x": 0, "delta_y": 1}
            held = {"button": 1, "shift": False, "meta": False, "ctrl": False}
            screen._forward_event(events.MouseMove(None, **at, **held))
        await until(pilot, lambda: reader.plan.top > before + 40, 4_000)
        await pilot.mouse_up(reader, offset=(20, reader.size.height - 1))
        selected = screen.get_selected_text() or ""
        assert selected.count("\n\n") > 20
        assert "[…]" not in selected
        await pilot.press("escape")
        assert screen.get_selected_text() is None
        assert app.screen is screen


async def test_a_wide_table_scrolls_sideways_and_is_not_broken() -> None:
    cells = [f"column {i}" for i in range(30)]
    table = f"| {' | '.join(cells)} |\n|{'---|' * 30}\n| {' | '.join(cells)} |"
    screen = screen_of(service_of(talk(2, m2=table)), 2)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        assert "column 0" in seen(app)
        assert "column 29" not in seen(app)
        for _ in range(22):
            await pilot.press("shift+right")
        await pilot.pause()
        assert "column 29" in seen(app)
        assert "column 0 " not in seen(app)
        for _ in range(22):
            await pilot.press("shift+left")
        await pilot.pause()
        assert "column 0" in seen(app)


@pytest.mark.parametrize(
    "text", ["[/]", "[/", "[red]hi[/blue]", "[link=https://e.example]x[/link]", "see [b open", "array[0]", "$x {y}"]
)
async def test_what_looks_like_markup_is_shown_as_it_is(text: str) -> None:
    call = ToolCall(text, text, text, 3)
    messages = [
        message(1, "user", text),
        message(2, "assistant", "", tool_calls=(call, ToolCall("z", text, text)), reasoning=text),
        message(3, "tool", text, call=call),
    ]
    screen = screen_of(service_of(messages), 3, words=text, notice=text)
    async with on_stage(screen) as (_, app, pilot):
        await settled(screen, pilot)
        await pilot.press("t", "T")
        await settled(screen, pilot)
        assert seen(app).count(text) >= 6
