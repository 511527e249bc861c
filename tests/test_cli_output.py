"""The JSON contract, key for key, and the text beside it; commands against a service without a store."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from rich.cells import cell_len

from hermes_tui import text
from hermes_tui.commands import families, lists, output, plain, resumes, searches, transcripts
from hermes_tui.commands.answers import Answer, Asked
from hermes_tui.commands.arguments import read
from hermes_tui.commands.looks import PIPED, Look, look_of
from hermes_tui.domain.messages import Message, ToolCall
from hermes_tui.domain.queries import Hit, Match, Span, Tier, WayOut
from hermes_tui.errors import Unsupported
from tests import values
from tests.fakes import GatedService

META = ["profiles", "dbs", "total", "returned", "offset", "limit", "hidden", "notices", "errors"]
CONVERSATION = [
    *("profile", "id", "root_id", "segment_ids", "title", "preview", "source", "model", "workspace", "cwd"),
    *("git_branch", "started_at", "started_at_iso", "last_active", "last_active_iso", "message_count"),
    *("tool_call_count", "input_tokens", "output_tokens", "cost_usd", "end_reason", "pinned", "archived", "hidden"),
    *("live", "status", "parent_id", "link"),
]
HIT = [
    *CONVERSATION,
    *("tier", "session_id", "in_delegate", "message_id", "role", "timestamp", "timestamp_iso", "snippet", "spans"),
    "matches",
]
MESSAGE = [
    *("id", "session_id", "role", "timestamp", "timestamp_iso", "content", "tool_name", "tool_call_id", "tool_calls"),
    *("reasoning", "kind", "is_anchor"),
]
NODE = [
    *("id", "parent_id", "kind", "title", "started_at", "started_at_iso", "ended_at", "ended_at_iso", "end_reason"),
    *("message_count", "is_tip", "is_current", "depth"),
]
EVIL = "a\x1b[31mred\x1b]0;t\x07\x9b2J\r\x00\u202eevil\u2066\ud800[/]end"


def ask(
    command: Callable[[Asked], Awaitable[Answer]],
    argv: list[str],
    service: GatedService | None = None,
    look: Look = PIPED,
) -> Answer:
    async def run() -> Answer:
        return await command(Asked(read(argv), service or GatedService(), look=look))

    return asyncio.run(run())


def document(answer: Answer) -> dict[str, Any]:
    """As a reader of the JSON sees it."""
    found: dict[str, Any] = json.loads(text.to_json(answer.document()))
    return found


def test_list_has_the_keys_of_the_contract_in_their_order() -> None:
    found = document(ask(lists.run, ["list"]))
    assert list(found) == ["schema_version", "meta", "conversations"]
    assert found["schema_version"] == 1
    assert list(found["meta"]) == META
    assert list(found["meta"]["hidden"]) == ["automation", "archived", "hidden", "empty"]
    assert all(list(row) == CONVERSATION for row in found["conversations"])


def test_a_row_says_what_it_knows() -> None:
    found = document(ask(lists.run, ["list"]))
    row = next(each for each in found["conversations"] if each["title"] == "Atlas gateway rollout #3")
    assert row["id"] == row["segment_ids"][-1] == "20261130_090000_bbbbbb"
    assert row["root_id"] == row["segment_ids"][0]
    assert row["link"] == "@session:default/20261130_090000_bbbbbb"
    assert row["last_active"] == values.NOW - 3 * 3_600
    assert row["last_active_iso"] == "2026-11-30T09:00:00.000+00:00"
    assert row["preview"].startswith("first words")


@pytest.mark.parametrize("cost", [float("inf"), float("nan"), None])
def test_json_knows_neither_infinity_nor_nan(cost: float | None) -> None:
    rows = [values.conversation("a", "x", cost_usd=cost, started_at=None, last_active=None)]
    row = document(ask(lists.run, ["list"], GatedService(rows)))["conversations"][0]
    assert row["cost_usd"] is None
    assert row["started_at"] is row["started_at_iso"] is row["last_active_iso"] is None


def test_search_has_the_keys_of_the_contract_in_their_order() -> None:
    found = document(ask(searches.run, ["search", "oauth"]))
    assert list(found) == ["schema_version", "meta", "hits"]
    assert list(found["meta"]) == [*META, "query", "expression", "route", "elapsed_ms"]
    assert found["hits"]
    assert all(list(hit) == HIT for hit in found["hits"])


def test_a_snippet_carries_its_marks_and_its_spans() -> None:
    snippet = "日本 the token 🚀 token refresh"
    spans = (Span(7, 12), Span(15, 20))
    match = Match(5, "s", "user", 1.0, snippet, spans)
    hit = output.hit(Hit(values.CONVERSATIONS[0], Tier.CONVERSATION, (match,), 4), None)
    assert hit["snippet"] == "日本 the >>>token<<< 🚀 >>>token<<< refresh"
    assert [snippet[start:end] for start, end in hit["spans"]] == ["token", "token"]
    assert hit["matches"] == 4


def test_a_hit_by_its_title_alone_has_null_message_keys() -> None:
    row = values.CONVERSATIONS[1]
    hit = output.hit(Hit(row, Tier.TITLE, (), 0), None)
    assert hit["session_id"] == row.id
    nothing = ("message_id", "role", "timestamp", "timestamp_iso", "snippet", "spans")
    assert all(hit[key] is None for key in nothing)
    assert hit["matches"] == 0


def show(*options: str, service: GatedService | None = None) -> dict[str, Any]:
    return document(ask(transcripts.run, ["show", values.CONVERSATIONS[0].id, *options], service))


@pytest.mark.parametrize(
    ("source", "model", "workspace", "branch", "said"),
    [
        ("", "gpt-5", None, "main", "gpt-5, (main)"),
        (" ", None, None, "main", "(main)"),
        ("cli", "", "/srv/x", None, "cli, /srv/x"),
        ("cli", " ", "/srv/x", "main", "cli, /srv/x (main)"),
        ("", None, None, None, ""),
    ],
)
def test_what_is_not_known_leaves_no_gap_among_the_facts(
    source: str, model: str | None, workspace: str | None, branch: str | None, said: str
) -> None:
    known = values.CONVERSATIONS[0]
    bare = known._replace(source=source, model=model, cwd=workspace, git_repo_root=None, git_branch=branch)
    lines = list(ask(transcripts.run, ["show", known.id], GatedService([bare])).lines())
    assert lines[1] == said if said else " segment" in lines[1]


def test_show_has_the_keys_of_the_contract_in_their_order() -> None:
    found = show()
    assert list(found) == ["schema_version", "meta", "conversation", "messages"]
    assert list(found["meta"]) == [*META, "before", "after", "omitted"]
    assert list(found["conversation"]) == CONVERSATION
    assert all(list(message) == MESSAGE for message in found["messages"])
    assert len(found["messages"]) == found["meta"]["total"] == len(values.MESSAGES)


@pytest.mark.parametrize(
    ("command", "name"), [(searches.run, "search"), (transcripts.run, "show"), (families.run, "tree")]
)
def test_what_a_store_may_lack_is_said_with_every_answer(
    command: Callable[[Asked], Awaitable[Answer]], name: str
) -> None:  # R26
    service = GatedService()
    service.said_of_store = ("Recent messages may be missing: the log cannot be read.",)
    word = "oauth" if name == "search" else values.CONVERSATIONS[0].id
    answer = ask(command, [name, word], service)
    assert service.said_of_store[0] in document(answer)["meta"]["notices"]
    assert service.said_of_store[0] in list(answer.lines())


def test_conversations_that_could_not_be_read_whole_are_counted() -> None:  # R30
    rows = [values.conversation(f"s{n}", f"t{n}") for n in range(3)]
    service = GatedService(rows)
    service.unread = frozenset({"s0", "s2"})
    notices = document(ask(lists.run, ["list"], service))["meta"]["notices"]
    assert ["2 conversations" in notice and "damaged" in notice for notice in notices] == [True]


@pytest.mark.parametrize("seed", range(40))
def test_head_and_tail_add_up(seed: int) -> None:
    rng = random.Random(seed)
    head, tail = rng.choice([None, *range(10)]), rng.choice([None, *range(10)])
    options = [word for flag, n in (("--head", head), ("--tail", tail)) if n is not None for word in (flag, str(n))]
    found, ids = show(*options), [message.id for message in values.MESSAGES]
    meta, given = found["meta"], [message["id"] for message in found["messages"]]
    assert meta["before"] + meta["omitted"] + meta["after"] + len(given) == len(ids)
    if head is None and tail == 0:
        assert (meta["before"], given) == (len(ids), []), "all of them are earlier"
    elif head is None and tail is None:
        assert given == ids
    elif (head or 0) + (tail or 0) >= len(ids):
        assert given == ids
        assert meta["omitted"] == 0
    else:
        assert given == [*ids[: head or 0], *(ids[-tail:] if tail else [])]
        assert (meta["omitted"] > 0) == bool(head and tail)


@pytest.mark.parametrize(("window", "given"), [(None, 7), (0, 1), (1, 3), (2, 5)])
def test_around_a_message(window: int | None, given: int) -> None:
    found = show("--around", "4", *(["--window", str(window)] if window is not None else []))
    assert len(found["messages"]) == given
    assert [message["id"] for message in found["messages"] if message["is_anchor"]] == [4]
    meta = found["meta"]
    assert meta["before"] + meta["after"] + given == meta["total"]
    assert meta["omitted"] == 0


def test_tool_calls_are_a_list_or_null_with_a_notice() -> None:
    service = GatedService()
    call = ToolCall("c1", "terminal", '{"command": "ls"}')
    fields = {"session_id": values.CONVERSATIONS[0].id, "role": "assistant", "timestamp": None}
    service.transcript = (
        Message(1, text="a", chars=1, tool_calls=(call,), **fields),
        Message(2, text="b", chars=1, tool_calls=None, tool_calls_raw="{broken", **fields),
        Message(3, text="c", chars=1, **fields),
    )
    found = show(service=service)
    assert [message["tool_calls"] for message in found["messages"]] == [
        [{"id": "c1", "name": "terminal", "arguments": '{"command": "ls"}'}],
        None,
        [],
    ]
    assert any("2" in notice for notice in found["meta"]["notices"])


def test_a_text_that_was_cut_is_given_whole() -> None:
    service = GatedService()
    whole = "x" * 10_000
    message = Message(1, values.CONVERSATIONS[0].id, "user", None, whole, len(whole))

    class Cutting(GatedService):
        async def messages(self, key: Any, ids: Any) -> tuple[Message, ...]:
            return (replace(message, text=whole[:10]),)

    service = Cutting()
    service.transcript = (message,)
    assert show(service=service)["messages"][0]["content"] == whole


def test_tree_resume_and_link_have_the_keys_of_the_contract() -> None:
    wanted = values.CONVERSATIONS[0].id
    tree = document(ask(families.run, ["tree", wanted]))
    assert list(tree) == ["schema_version", "meta", "nodes"]
    assert all(list(node) == NODE for node in tree["nodes"])

    async def plan(asked: Asked) -> Answer:
        return (await resumes.run(asked))[1]

    resume = document(ask(plan, ["resume", wanted]))
    assert list(resume["resume"]) == ["argv", "env", "cwd", "target_id", "requested_id", "notices"]
    link = document(ask(resumes.link, ["link", wanted]))
    assert [list(each) for each in link["links"]] == [["profile", "id", "title", "link"]]


def test_a_tree_calls_a_session_what_the_list_calls_it() -> None:
    service = GatedService()
    service.rows[0] = row = service.rows[0]._replace(title=None)
    nodes = (
        replace(service.family.nodes[0], title=None, segment=(1, 2), root_id="r", is_tip=False),
        replace(service.family.nodes[0], title="Deck", segment=(2, 2), root_id="r"),
        replace(service.family.nodes[1], title=None, display_name="Mei", root_id="m"),
        replace(service.family.nodes[1], title=None, root_id=row.root_id),
    )
    service.family = replace(service.family, nodes=nodes)
    lines = list(ask(families.run, ["tree", row.id], service).lines())
    listed = list(ask(lists.run, ["list"], service).lines())
    titles = [each.split("  ")[-1].split(" (")[0] for each in lines[1:5]]
    assert titles[:3] == ["Deck", "Deck", "Mei"]
    assert titles[3].startswith("“")
    assert any(line.endswith(titles[3]) for line in listed)
    found = document(ask(families.run, ["tree", row.id], service))
    assert [each["title"] for each in found["nodes"]] == [None, "Deck", None, None]


def test_what_cannot_be_resumed_says_why() -> None:
    service = GatedService()
    service.plan = replace(values.PLAN, refused="This is the demo.")

    async def plan(asked: Asked) -> Answer:
        return (await resumes.run(asked))[1]

    with pytest.raises(Unsupported, match="This is the demo"):
        ask(plan, ["resume", values.CONVERSATIONS[0].id], service)


def evil_service() -> GatedService:
    """Every text that a store can hold is hostile (R23, R24)."""
    rows = [
        values.conversation(
            "evil",
            EVIL,
            **dict.fromkeys(("source", "model", "cwd", "git_branch", "git_repo_root", "end_reason"), EVIL),
        )
    ]
    service = GatedService(rows)
    call = ToolCall(EVIL, EVIL, EVIL)
    service.transcript = (
        Message(1, "evil", EVIL, 1.0, EVIL, len(EVIL), reasoning=EVIL, tool_calls=(call,), tool_name=EVIL),
    )
    match = Match(1, "evil", EVIL, 1.0, EVIL, (Span(0, 1),), tool=EVIL)
    service.hits = (Hit(rows[0], Tier.CONVERSATION, (match,), 1),)
    node = replace(values.LINEAGE.nodes[0], title=EVIL, source=EVIL, end_reason=EVIL, id=EVIL)
    service.family = replace(values.LINEAGE, nodes=(node,))
    service.plan = replace(values.PLAN, argv=("hermes", "--resume", EVIL.replace("\ud800", "")), notices=(EVIL,))
    return service


COMMANDS: list[tuple[Callable[[Asked], Awaitable[Answer]], list[str]]] = [
    (lists.run, ["list"]),
    (searches.run, ["search", "x"]),
    (transcripts.run, ["show", "evil"]),
    (families.run, ["tree", "evil"]),
    (resumes.link, ["link", "evil"]),
]


@pytest.mark.parametrize(("command", "argv"), COMMANDS)
def test_no_stored_byte_acts_on_a_terminal(command: Callable[[Asked], Awaitable[Answer]], argv: list[str]) -> None:
    answer = ask(command, argv, evil_service())
    for line in answer.lines():
        assert text.clean(line) == line, ascii(line)
        assert "\n" not in line
    raw = text.to_json(answer.document())
    assert text.clean(raw) == raw
    if argv[0] in ("list", "search", "show"):
        assert EVIL in json.dumps(json.loads(raw), ensure_ascii=False) or _holds(json.loads(raw), EVIL)


def _holds(value: Any, wanted: str) -> bool:
    if isinstance(value, dict):
        return any(_holds(each, wanted) for each in value.values())
    if isinstance(value, list):
        return any(_holds(each, wanted) for each in value)
    return bool(value == wanted)


@pytest.mark.parametrize(("command", "argv"), COMMANDS)
def test_text_has_no_boxes_and_no_colours(command: Callable[[Asked], Awaitable[Answer]], argv: list[str]) -> None:
    argv = [argv[0], values.CONVERSATIONS[0].id if argv[-1] == "evil" else argv[-1]] if len(argv) > 1 else argv
    said = "\n".join(ask(command, argv).lines())
    assert said
    assert not set(said) & set("│┃─━┌┐└┘├┤┬┴┼╭╮╰╯═║")
    assert "\x1b" not in said


def test_columns_align_by_cells() -> None:
    rows = [["日本語", "1", "end"], ["👩‍💻 x", "22,000", "e"], ["é", "", "ende"]]
    lines = list(plain.columns(["NAME", "N", "REST"], rows, right=(1,)))
    starts = {
        cell_len(line[: line.rindex(last)]) for line, last in zip(lines, ["REST", "end", "e", "ende"], strict=True)
    }
    assert len(starts) == 1
    assert "       -  ende" in lines[-1]


def long_names() -> GatedService:
    service = GatedService()
    title, where = "Überlanger Titel 桂林旅行 " * 4, "/home/ada/src/" + "deep/" * 12 + "atlas"
    rows = [service.rows[1], service.rows[2]]
    service.rows = [row._replace(title=f"{title} {at}", cwd=where, git_repo_root=None) for at, row in enumerate(rows)]
    nodes = (replace(each, title=title) for each in service.family.nodes)
    service.family = replace(service.family, nodes=tuple(nodes))
    return service


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 120, 160, 200])
@pytest.mark.parametrize(
    ("command", "argv"), [(lists.run, ["list"]), (families.run, ["tree", values.CONVERSATIONS[1].id])]
)
def test_a_table_fits_the_terminal_and_keeps_what_opens_a_session(
    command: Callable[[Asked], Awaitable[Answer]], argv: list[str], width: int
) -> None:
    lines = list(ask(command, argv, long_names(), Look(width=width)).lines())[:3]
    assert max(map(cell_len, lines)) <= width
    if width >= 40:
        assert lines[0].endswith("TITLE")
    if width >= 60:
        assert " ID " in f" {lines[0]}"
        assert any(each.id in lines[1] for each in values.CONVERSATIONS)
        assert "Überlanger" in lines[1]
    assert (command is families.run and width >= 60) == lines[0].startswith("KIND")
    if width >= 120 and command is lists.run:
        assert "…" in lines[1]
        assert "atlas  " in lines[1]
    piped = list(ask(command, argv, long_names()).lines())
    assert "…" not in "".join(piped)
    assert max(map(cell_len, piped)) > 120


def test_what_stands_behind_a_title_stays_when_it_is_cut() -> None:
    service = long_names()
    service.rows[0] = service.rows[0]._replace(segment_ids=("a", "b", "c"))
    assert list(ask(lists.run, ["list"], service, Look(width=80)).lines())[1].endswith("… §3")
    lines = list(ask(families.run, ["tree", service.rows[0].id], service, Look(width=80)).lines())
    assert lines[1].endswith("… (here, live)")
    lines = list(ask(families.run, ["tree", service.rows[0].id], service, Look(width=80, ascii=True)).lines())
    assert lines[1].endswith("~ (here, live)")


@pytest.mark.parametrize("width", [50, 80])
def test_on_a_terminal_lines_are_broken_at_words(width: int) -> None:
    service = GatedService()
    prose = "  an indented sentence of several words " * 8
    code = "```\n" + "x = 1 " * 40 + "\n```"
    service.transcript = (replace(values.MESSAGES[0], text=f"{prose}\n{code}", chars=1_000),)
    for command, argv in (
        (searches.run, ["search", "oauth"]),
        (transcripts.run, ["show", values.CONVERSATIONS[0].id]),
    ):
        piped = list(ask(command, argv, service).lines())
        lines = list(ask(command, argv, service, Look(width=width)).lines())
        assert len(lines) > len(piped)
        assert " ".join(" ".join(lines).split()) == " ".join(" ".join(piped).split())
        words = {word for line in piped for word in line.split()}
        assert all(set(line.split()) <= words for line in lines)
        wide = [line for line in lines if cell_len(line) > width and "x = 1" not in line]
        assert not [line for line in wide if len(line.split()) > 2]
    assert "  " + ("x = 1 " * 40).rstrip() in lines  # code can be copied


def test_signs_of_ours_can_be_letters_and_stored_ones_stay() -> None:
    service = GatedService()
    service.rows = [
        service.rows[0]._replace(title=None),
        service.rows[1]._replace(title="“§ stored …” #3", segment_ids=("a", "b", "c")),
    ]
    said = list(ask(lists.run, ["list"], service, Look(ascii=True)).lines())
    assert said[1].endswith('"')
    assert said[2].endswith("“§ stored …” x3")
    assert list(ask(lists.run, ["list"], service).lines())[2].endswith("“§ stored …” §3")
    assert "“" not in said[1]


@pytest.mark.parametrize(("locale", "ascii"), [("C", True), ("POSIX", True), ("C.UTF-8", False), ("", False)])
def test_the_plain_locale_gets_letters(locale: str, ascii: bool) -> None:
    assert look_of({"LC_ALL": locale}, ascii=False, no_color=False).ascii is ascii
    assert look_of({"LC_ALL": locale}, ascii=True, no_color=False).ascii
    assert look_of({"LC_ALL": locale}, ascii=False, no_color=False).width is None  # captured: no terminal


def test_the_list_says_n_of_m_and_what_is_hidden() -> None:
    said = list(ask(lists.run, ["list"]).lines())
    assert "Hidden: 1 automation, 1 archived, 1 empty (--all shows them)." in said[-1]
    assert "5 of 8 conversations." in said[-1]


@pytest.mark.parametrize(
    ("argv", "rows", "code"),
    [
        (["list"], [], 0),
        (["list", "--source", "nowhere"], [], 1),
        (["list"], list(values.CONVERSATIONS), 0),
    ],
)
def test_an_empty_list_is_fine_and_an_empty_filtered_one_is_nothing_found(
    argv: list[str], rows: list[Any], code: int
) -> None:
    assert ask(lists.run, argv, GatedService(rows)).code == code


_HINTS = ("no filter", "quote", "Brackets", "no value")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("sorce:slack", "sorce: is no filter; did you mean source:?"),
        ('"abc AND', "A quote is open"),
        ("source:", "source: has no value directly behind it"),
        ("oauth -title: refresh", "title: has no value directly behind it"),
        ('"source: cli" title:x TITLE: x', ""),
        ("(oauth OR refresh", "Brackets group nothing here"),
        ("oauth)", "Brackets group nothing here"),
        ("foo() main(argv)", ""),
        ("TODO: fix", ""),
        ('"abc def"', ""),
    ],
)
def test_what_was_probably_meant_otherwise_is_said_with_the_answer(words: str, said: str) -> None:
    found = ask(searches.run, ["search", words])
    notices = [each for each in document(found)["meta"]["notices"] if any(word in each for word in _HINTS)]
    assert [each[: len(said)] for each in notices] == ([said] if said else [])
    lines = list(found.lines())
    assert lines[: len(notices)] == notices  # before the hits: there may be many
    assert len([line for line in lines if line in notices]) == len(notices)


def test_where_no_conversation_passes_it_is_said_how_many_there_are() -> None:
    service = GatedService()
    service.hits = ()
    there = f" of {len(service.rows)} conversations ("
    assert not any(there in line for line in ask(searches.run, ["search", "walnut"], service).lines())
    service.searched = 0
    assert any(
        f"source:slak in 0{there}" in line for line in ask(searches.run, ["search", "source:slak"], service).lines()
    )


def test_a_tree_says_why_its_segments_count_more_than_the_conversation_shows() -> None:
    argv, service = ["tree", values.CONVERSATIONS[0].id], GatedService()
    assert not any("repeated" in line for line in ask(families.run, argv, service).lines())
    nodes = service.family.nodes
    service.family = replace(service.family, nodes=tuple(replace(each, segment=(1, 2)) for each in nodes))
    assert any("repeated" in line for line in ask(families.run, argv, service).lines())


def test_nothing_found_is_said_in_words_and_in_the_code() -> None:
    service = GatedService()
    service.hits = ()
    answer = ask(searches.run, ["search", "walnut"], service)
    assert answer.code == 1
    assert any("no matches for walnut" in line for line in answer.lines())
    service.ways = (WayOut("without walnut", "is:pinned", 5, 0), WayOut("without is:pinned", "walnut", 1, 3))
    ways = list(ask(searches.run, ["search", "walnut", "is:pinned"], service).lines())
    assert "  without walnut: 5 conversations" in ways  # no words, no matches to count
    assert "  without is:pinned: 1 conversation, 3 matches" in ways
