"""Filter words: what they name, how they add up, and what they leave out."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from hermes_tui.domain.filters import Filters, Origin
from hermes_tui.domain.filterwords import read_moment
from hermes_tui.domain.querytext import parse_query
from hermes_tui.domain.sessions import Conversation, Kind, Status

PRESENT = 1_780_000_000.0  # Thu 28 May 2026, 20:26:40 UTC
DAY = 86_400.0


def filters(text: str) -> Filters:
    return parse_query(text, present=PRESENT).filters


def row(**columns: Any) -> Conversation:
    """A conversation of which a test says only what it is about."""
    plain: dict[str, Any] = {
        "profile": "default",
        "segment_ids": ("s1",),
        "kind": Kind.ROOT,
        "title": "Ship the release",
        "display_name": None,
        "source": "telegram",
        "model": "hermes-4-405b",
        "provider": "nous",
        "cwd": "/home/me/src/atlas/api",
        "git_branch": "feature/login",
        "git_repo_root": "/home/me/src/atlas",
        "started_at": PRESENT - 3 * DAY,
        "ended_at": None,
        "last_active": PRESENT - DAY,
        "stored_messages": 50,
        "tool_call_count": 7,
        "input_tokens": 900,
        "output_tokens": 100,
        "cost_usd": 0.25,
        "end_reason": "user_exit",
        **dict.fromkeys(("pinned", "archived", "hidden", "empty", "live"), False),
        "parent_id": None,
    }
    return Conversation(**{**plain, **columns})


class Told:
    """Facts as a test tells them."""

    def __init__(self, status: Status = Status.COMPLETE, roles: str = "user assistant", tools: str = "") -> None:
        self._status, self._roles, self._tools = status, set(roles.split()), set(tools.split())

    def status(self, conversation: Conversation) -> Status:
        return self._status

    def origin(self, conversation: Conversation) -> Origin:
        return Origin(frozenset({"mei", "4242"}), frozenset({"ops", "-100"}))

    def holds(self, conversation: Conversation, roles: frozenset[str], tools: frozenset[str]) -> bool:
        return (not roles or bool(roles & self._roles)) and (not tools or bool(tools & self._tools))


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("source:telegram", True),
        ("source:Telegram", True),
        ("SOURCE:telegram", True),
        ("source:tele", False),
        ("source:cli,telegram", True),
        ("source:cli source:telegram", True),
        ("-source:telegram", False),
        ("-source:cli", True),
        ("-source:cli,telegram", False),
        ("model:HERMES-4-405b", True),
        ("model:hermes", False),
        ("provider:nous", True),
        ("profile:default", True),
        ("profile:work", False),
        ("end:user_exit", True),
        ("user:Mei", True),
        ("user:4242", True),
        ("user:bob", False),
        ("-user:mei", False),
        ("chat:ops", True),
        ("chat:op", False),
        ("title:release", True),
        ('title:"the RELEASE"', True),
        ("-title:release", False),
        ("title:deploy", False),
        ("cwd:src/atlas/a", True),
        ("workspace:atlas", True),
        ("workspace:api", False),
        ("branch:login", True),
        ("messages:>49", True),
        ("messages:>50", False),
        ("messages:>=50", True),
        ("messages:50", True),
        ("messages:<50", False),
        ("messages:>10 messages:<60", True),
        ("messages:>10 messages:<40", False),
        ("-messages:>10", False),
        ("tokens:>0.9k", True),
        ("tokens:<1k", False),
        ("cost:<0.3", True),
        ("cost:<.3", True),
        ("tools:7", True),
        ("after:25h", True),
        ("after:23h", False),
        ("before:23h", True),
        ("-after:23h", True),
        ("after:1d", True),
        ("before:1d", False),
        ("after:1", True),
        ("after:1440m", True),
        ("after:1w", True),
        ("after:yesterday", True),
        ("after:today", False),
        ("before:today", True),
        ("after:2026-05-27", True),
        ("after:2026-05-27T20:26:40Z", True),
        ("after:2026-05-27T20:26:41Z", False),
        ("before:2026-05-27", False),
        ("is:live", False),
        ("-is:live", True),
        ("is:automation", False),
        ("is:interrupted", False),
        ("is:error,branch,reset", False),
        ("role:user", True),
        ("role:system", False),
        ("-role:system", True),
        ("tool:terminal", False),
        ("-tool:terminal", True),
        ("source:telegram title:deploy", False),
        ("source:cli title:release", False),
    ],
)
def test_a_list_shows_what_passes_every_word(text: str, passes: bool) -> None:
    assert filters(text).accepts(row(), facts=Told()) is passes


def test_marks_are_those_of_the_row() -> None:
    for mark in ("pinned", "archived", "hidden", "empty", "live"):
        marked = row(**{mark: True})
        assert filters(f"is:{mark}").accepts(marked)
        assert not filters(f"-is:{mark}").accepts(marked)
        assert not filters(f"is:{mark}").accepts(row())
    assert filters("is:automation").accepts(row(source="cron"))
    assert filters("is:branch").accepts(row(kind=Kind.BRANCH))
    assert filters("is:reset,branch").accepts(row(kind=Kind.RESET))
    assert filters("is:error").accepts(row(), facts=Told(Status.ERROR))
    assert filters("is:pinned is:archived").accepts(row(archived=True))


def test_what_is_not_known_is_above_below_and_within_nothing() -> None:
    unknown = row(cost_usd=None, last_active=None, model=None, title=None)
    for text in ("cost:>0", "cost:<9", "after:365d", "before:today", "model:x", "title:x"):
        assert not filters(text).accepts(unknown)
    assert filters("-cost:>0").accepts(unknown)
    assert filters("-model:x -title:x").accepts(unknown)
    assert filters('model:""').accepts(unknown)


def test_a_display_name_stands_in_for_a_missing_title() -> None:
    assert filters("title:ops").accepts(row(title=None, display_name="Ops room"))


def test_a_search_tests_source_role_tool_and_dates_on_the_message_instead() -> None:
    asked = filters("source:cli role:tool tool:terminal after:today title:release")
    assert asked.passes(row(), facts=Told())
    assert not filters("title:deploy").passes(row(), facts=Told())
    assert asked.takes("source", ["CLI"])
    assert not asked.takes("source", ["telegram"])
    assert asked.within(PRESENT)
    assert not asked.within(PRESENT - DAY)
    assert not asked.within(None)


def test_only_words_that_name_a_row_lift_what_hides_it() -> None:
    archived = row(archived=True, source="cron")
    for text in ("source:cron", "is:archived", "is:automation", "is:hidden,archived"):
        assert filters(text).lifts(archived)
    for text in ("source:cli", "-is:archived", "-source:cli", "is:pinned", "title:release"):
        assert not filters(text).lifts(archived)


def test_sources_that_are_left_out_are_asked_for_by_name_or_as_automation() -> None:
    assert filters("source:kanban,tool").asks_for("kanban")
    assert filters("is:automation").asks_for("subagent")
    for text in ("-source:kanban", "-is:automation", "source:cli", "is:archived"):
        assert not filters(text).asks_for("kanban")


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("berlin")
def test_days_begin_at_local_midnight_also_where_clocks_change() -> None:
    assert read_moment("2026-07-05", PRESENT) == 1_783_202_400.0  # 22:00 UTC the day before
    assert read_moment("2026-01-05", PRESENT) == 1_767_567_600.0  # 23:00 UTC the day before
    assert read_moment("2026-07-05T14:30", PRESENT) == 1_783_254_600.0
    assert read_moment("2026-07-05T14:30+00:00", PRESENT) == 1_783_261_800.0
    assert read_moment("today", PRESENT) == 1_779_919_200.0
    on_the_day_after_the_change = 1_774_821_600.0  # Mon 30 Mar 2026, 00:00 in Berlin
    assert read_moment("yesterday", on_the_day_after_the_change) == on_the_day_after_the_change - 23 * 3_600
