"""Values for tests that need no store: a small, fixed history, the same for every test."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hermes_tui.domain.lineage import Lineage, LineageNode
from hermes_tui.domain.messages import (
    ROLE_CODES,
    Message,
    Outline,
    Recap,
    RecapEntry,
    SegmentMark,
    ToolCall,
)
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.domain.queries import Hit, Match, SearchPage, Span, Tier
from hermes_tui.domain.resume import Check, ResumePlan, State
from hermes_tui.domain.sessions import Conversation, Details, Kind, Status

NOW = 1_796_040_000.0
"""Mon 30 Nov 2026 12:00 UTC."""
STORE = StoreRef("default", Path("/home/ada/.hermes/state.db"), Path("/home/ada/.hermes"), Path("/home/ada/.hermes"))


def conversation(id: str, title: str | None = None, *, hours: float = 1.0, **changes: Any) -> Conversation:
    """A conversation last active `hours` before `NOW`."""
    plain = Conversation(
        profile="default",
        segment_ids=(id,),
        kind=Kind.ROOT,
        title=title,
        display_name=None,
        source="cli",
        model="hermes-4-405b",
        provider="nous",
        cwd="/home/ada/src/atlas",
        git_branch="main",
        git_repo_root="/home/ada/src/atlas",
        started_at=NOW - hours * 3_600 - 1_800,
        ended_at=None,
        last_active=NOW - hours * 3_600,
        stored_messages=12,
        tool_call_count=4,
        input_tokens=18_000,
        output_tokens=2_400,
        cost_usd=0.21,
        end_reason=None,
        pinned=False,
        archived=False,
        hidden=False,
        empty=False,
        live=False,
        parent_id=None,
    )
    return plain._replace(**changes)


CONVERSATIONS: tuple[Conversation, ...] = (
    conversation("20261130_110000_aaaaaa", "OAuth refresh token race", hours=0.5, live=True),
    conversation(
        "20261130_090000_bbbbbb",
        "Atlas gateway rollout #3",
        hours=3,
        segment_ids=("20261128_090000_bbbb01", "20261129_090000_bbbb02", "20261130_090000_bbbbbb"),
        stored_messages=82,
    ),
    conversation("20261129_180000_cccccc", "桂林旅行计划", hours=18, source="telegram", cwd=None, git_repo_root=None),
    conversation("20261128_120000_dddddd", None, hours=48, display_name="Mei", source="whatsapp"),
    conversation("20261120_120000_eeeeee", "Retry backoff [bold]x[/]", hours=240, pinned=True),
    conversation("20261001_120000_ffffff", "Postgres upgrade", hours=1_440, archived=True),
    conversation("cron_3f9a1c0b7d2e_20261130_060000", "Daily deploy post", hours=6, source="cron"),
    conversation("20261130_080000_999999", None, hours=4, empty=True, stored_messages=0),
)


def details(row: Conversation) -> Details:
    """What a look at the messages of a row would say."""
    status = Status.EMPTY if row.empty else Status.COMPLETE
    return Details(None if row.empty else f"first words of {row.id}", row.stored_messages, status)


def _message(number: int, role: str, text: str, **changes: Any) -> Message:
    fields: dict[str, Any] = {"timestamp": NOW - 3_600 + 30 * number, "chars": len(text), **changes}
    return Message(id=number, session_id=CONVERSATIONS[0].id, role=role, text=text, **fields)


_CALL = ToolCall("call_1", "terminal", '{"command": "pytest -q tests/auth"}', result_id=4)
MESSAGES: tuple[Message, ...] = (
    _message(1, "user", "The OAuth refresh races when two tabs wake up. Can you look?"),
    _message(2, "assistant", "Two requests refresh the same token; the second finds it **revoked**."),
    _message(
        3, "assistant", "Let me run the tests.", tool_calls=(_CALL,), reasoning="The lock is per tab, not shared."
    ),
    _message(4, "tool", "3 failed, 41 passed", tool_name="terminal", tool_call_id="call_1", call=_CALL),
    _message(
        5, "assistant", "A single-flight guard fixes it:\n\n```python\nasync with guard:\n    await refresh()\n```"
    ),
    _message(6, "user", "Good. Does the mobile app need it too?"),
    _message(7, "assistant", "Yes, it shares the OAuth client; see @session:default/20261128_120000_dddddd."),
)


def outline(messages: Sequence[Message] = MESSAGES) -> Outline:
    """The outline of these messages, one segment."""
    return Outline(
        ids=array("q", [message.id for message in messages]),
        roles=bytes(ROLE_CODES.get(message.role, 0) for message in messages),
        timestamps=array("d", [message.timestamp or float("nan") for message in messages]),
        segments=(SegmentMark(CONVERSATIONS[0].id, 0, CONVERSATIONS[0].started_at, CONVERSATIONS[0].title),),
    )


def match(number: int, snippet: str, word: str, role: str = "user", **changes: Any) -> Match:
    """A match whose snippet has `word` lit."""
    at = snippet.casefold().index(word.casefold())
    spans = (Span(at, at + len(word)),)
    row = CONVERSATIONS[0]
    return Match(number, row.id, role, NOW - 3_600, snippet, spans, **changes)


HITS: tuple[Hit, ...] = (
    Hit(
        CONVERSATIONS[0],
        Tier.CONVERSATION,
        (
            match(1, "The OAuth refresh races when two tabs wake up.", "OAuth"),
            match(7, "Yes, it shares the OAuth client", "OAuth", "assistant"),
        ),
        2,
    ),
    Hit(CONVERSATIONS[1], Tier.CONVERSATION, (match(3, "the gateway's OAuth scopes", "OAuth", "assistant"),), 1),
    Hit(CONVERSATIONS[4], Tier.TOOL, (match(4, "grep -r oauth src", "oauth", "tool", tool="terminal"),), 1),
)


def unread(hit: Hit) -> Hit:
    """The same hit before its messages are read."""
    bare = (Match(each.message_id, each.session_id, "", None, "", (), read=False) for each in hit.matches)
    return replace(hit, matches=tuple(bare))


def read(hit: Hit) -> Hit:
    """A hit of ours with its messages read."""
    return next(replace(hit, matches=each.matches) for each in HITS if each.conversation == hit.conversation)


def page(text: str = "oauth", hits: Sequence[Hit] = HITS, *, final: bool = True, **changes: Any) -> SearchPage:
    """An answer that holds these hits."""
    fields: dict[str, Any] = {
        "searched": len(CONVERSATIONS),
        "expression": f'"{text}"',
        "route": "fts",
        "elapsed_ms": 12.0,
        "words": tuple(text.split()),
        **changes,
    }
    return SearchPage(hits=tuple(hits), total=len(hits), final=final, **fields)


RECAP = Recap(
    (
        RecapEntry("user", "Good. Does the mobile app need it too?", timestamp=NOW - 3_400),
        RecapEntry("assistant", "Yes, it shares the OAuth client.", ("terminal",), 1, NOW - 3_390),
    ),
    earlier=5,
)


def _node(row: Conversation, kind: Kind, depth: int, parent: str | None, *, current: bool = False) -> LineageNode:
    return LineageNode(
        id=row.id,
        parent_id=parent,
        kind=kind,
        title=row.title,
        source=row.source,
        model=row.model,
        started_at=row.started_at,
        ended_at=row.ended_at,
        end_reason=row.end_reason,
        message_count=row.stored_messages,
        tokens=row.tokens,
        is_tip=True,
        is_current=current,
        depth=depth,
        root_id=row.id,
        segment=(1, 1),
        archived=row.archived,
        pinned=row.pinned,
        live=row.live,
        status=Status.COMPLETE,
    )


LINEAGE = Lineage(
    "default",
    (
        _node(CONVERSATIONS[0], Kind.ROOT, 0, None, current=True),
        _node(CONVERSATIONS[4], Kind.BRANCH, 1, CONVERSATIONS[0].id),
    ),
)
PLAN = ResumePlan(
    argv=("hermes", "-p", "default", "--resume", CONVERSATIONS[0].id),
    env={},
    cwd="/home/ada/src/atlas",
    target_id=CONVERSATIONS[0].id,
    requested_id=CONVERSATIONS[0].id,
    checks=(Check("hermes", State.OK, "/usr/bin/hermes"),),
)
