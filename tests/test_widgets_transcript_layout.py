"""Where lines stand: whatever becomes known, a line that somebody reads stays where it is."""

from __future__ import annotations

import random
from array import array
from dataclasses import replace
from itertools import pairwise

import pytest

from hermes_tui.domain.messages import ROLE_CODES, Message, Outline, SegmentMark, ToolCall, Window
from hermes_tui.widgets.transcript.heights import Heights
from hermes_tui.widgets.transcript.layout import Layout
from hermes_tui.widgets.transcript.order import outline_order, window_order
from hermes_tui.widgets.transcript.rows import text_of
from hermes_tui.widgets.transcript.setter import CLOSED, OPEN
from hermes_tui.widgets.transcript.shelf import Shelf
from tests import values


def conversation(chance: random.Random, count: int, first: int = 1) -> list[Message]:
    """Messages of all sorts and lengths."""
    made = []
    clock = random.Random(first)
    for i in range(first, first + count):
        role = chance.choice(["user", "assistant", "assistant", "tool", "tool"])
        text = "\n".join("word " * chance.randint(0, 60) for _ in range(chance.choice([1, 1, 2, 5, 40])))
        call = ToolCall(f"c{i}", "terminal", '{"command": "ls"}', i) if role == "tool" else None
        thought = "hm " * 30 if role == "assistant" and chance.random() < 0.3 else None
        answered = (ToolCall("x", "terminal", "{}", i + 1),) if role == "assistant" and chance.random() < 0.3 else ()
        if answered:
            text = chance.choice(["", text])
        at = None if clock.random() < 0.1 else values.NOW + 3_600.0 * (i * 5 + clock.randrange(5))
        made.append(Message(i, "s", role, at, text, len(text), call=call, reasoning=thought, tool_calls=answered))
    return made


def laid_out(messages: list[Message], *, texts: bool = False) -> Layout:
    shelf = Shelf()
    plan = Layout(shelf)
    if texts:
        shelf.put(messages)
    plan.show(outline_order(values.outline(messages)))
    return plan


def seen(plan: Layout) -> dict[tuple[int, str], int]:
    """(message, what its line says and which of its kind it is) → line of the screen, for lines that are set."""
    found: dict[tuple[int, str], int] = {}
    for y, (position, line) in enumerate(plan.frame):
        leaf = plan.shelf.peek(plan.order.ids[position])
        if leaf is not None and 0 <= line < len(leaf.rows):
            found[plan.order.ids[position], f"{line} {text_of(leaf.rows[line])}"] = y
    return found


def check(plan: Layout) -> None:
    """Lines follow each other, and no room is left that could be filled."""
    frame = plan.frame
    for (position, line), (after, next_line) in pairwise(frame):
        if after == position:
            assert next_line == line + 1
        else:
            assert after > position
            assert next_line == -plan.gap(after) or not plan.lines(after)
            assert all(plan.lines(between) == 0 for between in range(position + 1, after))
    assert len(frame) <= plan.height
    if len(frame) < plan.height and len(plan.order):
        assert frame[0] == (0, 0) or plan.lines(0) == 0


def at_the_wall(plan: Layout) -> bool:
    """Nothing can move further up, or further down."""
    return plan.sees_end or not any(plan.lines(position) for position in range(plan.frame[0][0]))


@pytest.mark.parametrize("seed", range(24))
def test_texts_that_arrive_move_nothing_that_is_being_read(seed: int) -> None:
    chance = random.Random(seed)
    messages = conversation(chance, 300)
    by_id = {message.id: message for message in messages}
    plan = laid_out(messages)
    plan.go(chance.randrange(12), 0, 10)
    plan.lay(30)
    for _ in range(120):
        before = seen(plan)
        step = chance.randint(-40, 40) if chance.random() < 0.3 else 0
        walled = at_the_wall(plan)
        if step:
            plan.scroll(step)
        else:
            missing = [position for position, _ in plan.frame if not plan.shelf.has(plan.order.ids[position])]
            chosen = chance.sample(missing, min(len(missing), 3))
            plan.shelf.put(by_id[plan.order.ids[position]] for position in chosen)
        plan.lay(30)
        check(plan)
        after = seen(plan)
        read = [key for key, y in before.items() if key in after and 0 <= y - step < 30]
        if read and not walled and not at_the_wall(plan):
            assert after[read[0]] == before[read[0]] - step


@pytest.mark.parametrize("seed", range(8))
def test_scrolling_down_and_back_comes_to_the_same_line(seed: int) -> None:
    chance = random.Random(100 + seed)
    plan = laid_out(conversation(chance, 400), texts=True)
    plan.go(200, 0, 0)
    plan.lay(25)
    begin = list(plan.frame)
    steps = [chance.randint(1, 60) for _ in range(8)]
    for step in steps:
        plan.scroll(step)
        plan.lay(25)
        check(plan)
    for step in reversed(steps):
        plan.scroll(-step)
        plan.lay(25)
        check(plan)
    assert plan.frame == begin


def test_the_end_stays_at_the_bottom_while_texts_come() -> None:
    chance = random.Random(3)
    messages = conversation(chance, 200)
    by_id = {message.id: message for message in messages}
    plan = laid_out(messages)
    plan.at_end = True
    plan.lay(30)
    for _ in range(40):
        assert plan.sees_end
        missing = [position for position, _ in plan.frame if not plan.shelf.has(plan.order.ids[position])]
        if not missing:
            break
        plan.shelf.put([by_id[plan.order.ids[missing[-1]]]])
        plan.lay(30)
        check(plan)
    assert len(plan.frame) == 30


def test_the_window_becomes_the_whole_without_a_move() -> None:
    messages = conversation(random.Random(5), 500)
    part = messages[200:260]
    shelf = Shelf()
    plan = Layout(shelf)
    shelf.put(part)
    plan.show(window_order(Window(tuple(part), before=200, after=240)))
    plan.go(30, 0, 12)
    plan.lay(30)
    before = seen(plan)
    assert plan.order.total == 500
    plan.show(outline_order(values.outline(messages)))
    plan.lay(30)
    assert seen(plan) == before
    assert plan.order.position(part[0].id) == 200


def test_a_seam_that_becomes_known_moves_nothing_below_it() -> None:
    messages = conversation(random.Random(6), 60)
    plan = laid_out(messages, texts=True)
    plan.go(30, 0, 12)
    plan.lay(30)
    plan.look_at(30, 0)
    below = {key: y for key, y in seen(plan).items() if key[0] > messages[30].id}
    whole = values.outline(messages)
    marks = (SegmentMark("a", 0, None, None), SegmentMark("b", 28, None, None))
    plan.show(outline_order(replace(whole, segments=marks)))
    plan.lay(30)
    after = seen(plan)
    below = {key: y for key, y in below.items() if key in after}
    assert below
    assert any("segment 2 of 2" in said for _, said in after)
    assert {key: after[key] for key in below} == below


@pytest.mark.parametrize("width", [40, 61, 120])
def test_another_width_keeps_the_words_at_the_top(width: int) -> None:
    messages = conversation(random.Random(width), 80)
    plan = laid_out(messages, texts=True)
    long = max(range(80), key=lambda i: len(messages[i].text) if messages[i].role != "tool" else 0)
    plan.go(long, 9, 0)
    plan.lay(20)
    leaf = plan.leaf(long)
    assert leaf is not None
    at = leaf.rows[9][7]
    plan.keep()
    plan.shelf.setting = replace(plan.shelf.setting, width=width)
    plan.shelf.drop()
    plan.estimate()
    plan.lay(20)
    position, line = plan.frame[0]
    leaf = plan.leaf(position)
    assert position == long
    assert leaf is not None
    assert leaf.rows[line][7] <= at
    assert line + 1 == len(leaf.rows) or leaf.rows[line + 1][7] > at


def test_tools_fold_and_unfold_around_the_line_that_stays() -> None:
    messages = conversation(random.Random(9), 200)
    plan = laid_out(messages, texts=True)
    at = next(i for i in range(100, 200) if messages[i].role == "user")
    plan.go(at, 0, 14)
    plan.lay(30)
    place = plan.y_of(at, 0)
    for level in (OPEN, CLOSED, OPEN):
        plan.pin.position, plan.pin.line, plan.pin.y = at, 0, 14
        plan.keep()
        plan.shelf.setting = replace(plan.shelf.setting, tools=level)
        plan.shelf.drop()
        plan.estimate()
        plan.lay(30)
        check(plan)
        assert plan.y_of(at, 0) == place == 14


def test_messages_that_go_take_their_lines_and_the_nearest_stays() -> None:
    messages = conversation(random.Random(11), 100)
    plan = laid_out(messages, texts=True)
    plan.go(50, 0, 5)
    plan.lay(20)
    rest = messages[:40] + messages[60:]
    plan.show(outline_order(values.outline(rest)))
    plan.lay(20)
    check(plan)
    assert plan.order.ids[plan.frame[0][0]] <= messages[39].id


def test_without_time_the_frame_is_blank_and_fills_up_later() -> None:
    messages = conversation(random.Random(12), 100)
    plan = laid_out(messages, texts=True)
    plan.go(50, 0, 3)
    plan.lay(30, deadline=0.0)
    assert plan.late
    assert not seen(plan)
    assert len(plan.frame) == 30
    while plan.late:
        plan.lay(30, None)
    assert plan.y_of(50, 0) == 3


def test_nothing_to_show_is_no_frame() -> None:
    plan = laid_out([])
    assert plan.lay(20) == []
    plan.scroll(5)
    assert plan.lay(20) == []
    assert plan.top == 0


def test_heights_agree_with_plain_sums() -> None:
    chance = random.Random(1)
    plain = [chance.randint(0, 9) for _ in range(2_000)]
    heights = Heights(bytes(plain))
    for _ in range(500):
        position, height = chance.randrange(2_000), chance.choice([chance.randint(0, 30), 254, 255, 256, 9_000])
        plain[position] = height
        heights.set(position, height)
        where = chance.randrange(2_000)
        assert heights.before(where) == sum(plain[:where])
    assert heights.total == sum(plain)
    for line in (0, 1, heights.total // 2, heights.total - 1, heights.total + 50):
        position, inner = heights.find(line)
        clamped = min(line, heights.total - 1)
        assert heights.before(position) + inner == clamped
    assert Heights().find(3) == (0, 0)


def test_a_hundred_thousand_messages_cost_no_more_than_what_is_in_sight() -> None:
    count = 100_000
    outline = Outline(
        ids=array("q", range(1, count + 1)),
        roles=bytes([ROLE_CODES["user"], ROLE_CODES["assistant"]]) * (count // 2),
        timestamps=array("d", bytes(8 * count)),
        segments=(SegmentMark("s", 0, None, None),),
    )
    shelf = Shelf()
    plan = Layout(shelf)
    plan.show(outline_order(outline))
    for place in (0, count // 2, count - 1):
        plan.go(place, 0, 0)
        plan.lay(50)
        ids = list(shelf.missing)
        assert 0 < len(ids) < 60
        shelf.put(Message(each, "s", "user", None, f"message {each}", 20) for each in ids)
        shelf.missing.clear()
        plan.lay(50)
        assert len(seen(plan)) > 15
    assert sum(1 for _ in shelf.leaves()) < 200
