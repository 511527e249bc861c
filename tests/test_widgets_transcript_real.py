"""Every message that each release of Hermes wrote can be read: safe, in order, and traced to its text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hermes_tui import paths
from hermes_tui.domain.messages import Message
from hermes_tui.domain.sessions import ListQuery
from hermes_tui.service.sqlite import SqliteSessionService
from hermes_tui.widgets.transcript.leaves import PART, Leaf
from hermes_tui.widgets.transcript.rendering import set_message
from hermes_tui.widgets.transcript.rows import measure, text_of
from hermes_tui.widgets.transcript.setter import CLOSED, WHOLE, Setting

pytestmark = pytest.mark.real
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
KEYS = ("call", "call:0", "call:1", "reasoning", "commentary", "handoff", "event", "sent")


def check(leaf: Leaf, width: int) -> None:
    at = -1
    for row in leaf.rows:
        assert not UNSAFE.search(text_of(row)), text_of(row)
        assert row[7] >= at, text_of(row)
        at = row[7]
        if row[5] < 0:
            assert measure(row[0]) < width, text_of(row)
        for text, _, source in row[0]:
            if source >= 0:
                part = leaf.parts[source // PART]
                written = part[source % PART : source % PART + len(text)]
                assert written == text or text in " •" or "\t" in written, (text, written)


async def test_every_message_can_be_read(real_home: Path) -> None:
    service = SqliteSessionService([paths.home_store(real_home)])
    pattern = re.compile("the|exit", re.IGNORECASE)
    roles = set()
    try:
        page = await service.conversations(ListQuery(include_hidden=True))
        for conversation in page.rows[::3]:
            outline = await service.outline(conversation.key)
            messages: tuple[Message, ...] = await service.messages(conversation.key, list(outline.ids))
            assert [message.id for message in messages] == list(outline.ids)
            for message in messages[:60]:
                roles.add(message.role)
                for width, level in ((44, WHOLE), (120, CLOSED)):
                    setting = Setting(width, pattern, level, level)
                    leaf = set_message(message, setting, dict.fromkeys(KEYS, level), ("a seam",))
                    leaf.pull(1 << 30)
                    check(leaf, width)
    finally:
        await service.close()
    assert {"user", "assistant", "tool"} <= roles
