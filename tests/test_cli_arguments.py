"""Reading a command line: where options may stand, what is text, and the sentence for what makes no sense."""

from __future__ import annotations

import random

import pytest

from hermes_tui.commands.arguments import read
from hermes_tui.commands.options import BROWSE, COMMANDS, OPTIONS, told
from hermes_tui.domain.queries import SearchOrder
from hermes_tui.errors import UsageError

SEED = 20261130


def test_the_bare_command_opens_the_list() -> None:
    found = read([])
    assert (found.command, found.words, found.screen) == (BROWSE, [], True)


@pytest.mark.parametrize(
    "argv",
    [
        ["--db", "x.db", "list", "--json", "--limit", "3"],
        ["list", "--json", "--db=x.db", "--limit=3"],
        ["--limit", "3", "--json", "list", "--db", "x.db"],
    ],
)
def test_options_stand_before_or_after_the_command(argv: list[str]) -> None:
    found = read(argv)
    assert (found.command, found.db, found.json, found.limit) == ("list", "x.db", True, 3)


def test_any_order_of_the_same_words_is_the_same_command_line() -> None:
    """Whatever the order, as long as values stay with their options."""
    rng = random.Random(SEED)
    groups = [["list"], ["-p", "work"], ["--profile=home"], ["--all"], ["--sort", "title"], ["--source", "cli"]]
    plain = read([word for group in groups for word in group])
    for _ in range(30):
        shuffled = rng.sample(groups, len(groups))
        found = read([word for group in shuffled for word in group])
        assert sorted(found.profile) == ["home", "work"]
        assert (found.command, found.all, found.sort, found.source) == (
            plain.command,
            plain.all,
            plain.sort,
            plain.source,
        )


def test_a_repeated_profile_before_and_after_the_command_counts_twice() -> None:
    assert read(["-p", "a", "list", "-p", "b", "-pc"]).profile == ["a", "b", "c"]


@pytest.mark.parametrize("word", ["-x", "-source:slack", "-pwork", "-h", "-5", "-", "-v", "-rf /", "-p=work"])
def test_after_search_a_word_with_one_dash_is_query_text(word: str) -> None:
    found = read(["search", "token", word])
    assert found.words == ["token", word]
    assert not found.profile
    assert not found.help


def test_after_search_exactly_p_is_the_option() -> None:
    found = read(["search", "token", "-p", "work", "-x"])
    assert (found.words, found.profile) == (["token", "-x"], ["work"])


@pytest.mark.parametrize("command", ["search", "show"])
def test_after_two_dashes_every_word_is_text(command: str) -> None:
    assert read([command, "--", "--json"]).words == ["--json"]
    assert not read([command, "--", "--json"]).json


def test_two_dashes_twice_keep_the_second() -> None:
    assert read(["search", "--", "--", "-p", "--help"]).words == ["--", "-p", "--help"]


def test_a_link_as_first_word_is_short_for_open() -> None:
    for link in ("@session:work/20260101_000000_abcdef", "'@session:x'", "@session:"):
        found = read([link])
        assert (found.command, found.words) == ("open", [link])


@pytest.mark.parametrize("flag", sorted(OPTIONS))
def test_options_are_not_abbreviated(flag: str) -> None:
    short = flag[:-1]
    if short in OPTIONS or short == "--":
        pytest.skip("is an option itself")
    with pytest.raises(UsageError, match=short):
        read([short])


@pytest.mark.parametrize(
    ("argv", "named"),
    [
        (["lsit"], "lsit"),
        (["list", "extra"], "extra"),
        (["list", "source:cli"], "it takes --source cli, and hermes-tui search source:cli takes filter words"),
        (["list", "source:cli,slack", "before:7d"], "it takes --source cli --source slack --before 7d, and "),
        (["list", "is:pinned"], "words are for a search: hermes-tui search is:pinned"),
        (["list", "all:x"], "words are for a search: hermes-tui search all:x"),
        (["list", "two words"], "words are for a search: hermes-tui search 'two words'"),
        (["show"], "TARGET"),
        (["show", "Refactoring", "auth"], "quotes"),
        (["show", "-abc"], "-abc"),
        (["list", "--limit"], "--limit"),
        (["list", "--limit", "many"], "many"),
        (["list", "--limit", "-1"], "--limit must not be negative, as -1 is"),
        (["show", "x", "--tail", "-2"], "--tail must not be negative"),
        (["search", "--role", "nobody", "weather"], "--role takes user, assistant, tool, system, not 'nobody'"),
        (["list", "--role", "user,nobody"], "--role takes"),
        (["list", "--after", "yesterdy"], "--after takes a day"),
        (["search", "x", "--before", "7x"], "--before takes a day"),
        (["list", "--after", "today", "--before", "yesterday"], "--after and --before: "),
        (["search"], "search needs WORDS"),
        (["search", "", " "], "search needs WORDS"),
        (["list", "--limit="], "--limit"),
        (["list", "--source", "--json"], "--source"),
        (["list", "--json=yes"], "--json"),
        (["list", "--sort", "size"], "size"),
        (["search", "x", "--sort", "title"], "title"),
        (["search", "x", "--nope"], "--nope"),
        (["list", "--head", "3"], "--head"),
        (["show", "x", "--window", "2"], "--around"),
        (["show", "x", "--around", "1", "--head", "2"], "--head"),
        (["list", "--db", "a", "--home", "b"], "--home"),
        (["list", "--demo", "-p", "work"], "--profile"),
        (["-p", "a", "--all-profiles", "list"], "--all-profiles"),
        (["completion", "tcsh"], "tcsh"),
        (["completion"], "SHELL"),
        (["--json"], "--json"),
        (["open", "x", "--json"], "--json"),
        (["show", "x", "--at", "3"], "--at means nothing to show; it is for open, and show takes --around"),
        (["open", "x", "--around", "3"], "--around means nothing to open; it is for show, and open takes --at"),
        (["search", "x", "--tui", "--json"], "--json means nothing with --tui: "),
        (["search", "x", "--limit", "3", "--tui"], "--limit means nothing with --tui: "),
        (["search", "x", "--offset", "3", "--tui"], "--offset means nothing with --tui: "),
        (["search", "x", "--tui", "--all"], "--all means nothing with --tui: "),
        (["search", "x", "--tui", "--reverse"], "--sort newest"),
        (["search", "x", "--reverse"], "--reverse"),
        (["--db", "", "list"], "--db"),
        (["", "list"], "''"),
    ],
)
def test_what_makes_no_sense_names_the_word_at_fault(argv: list[str], named: str) -> None:
    with pytest.raises(UsageError) as refused:
        read(argv)
    assert named in str(refused.value)
    assert "\n" not in str(refused.value)


def test_filter_options_become_filter_words() -> None:
    argv = ["list", "--source", "cli", "--source=slack", "--workspace", "my code", "--after", "7d", "--role", "user"]
    assert read(argv).filters == 'source:cli source:slack role:user workspace:"my code" after:7d'


def test_a_quote_in_a_filter_value_cannot_end_it() -> None:
    assert read(["list", "--workspace", 'a" OR source:"b']).filters == 'workspace:"a  OR source: b"'


def test_search_without_words_needs_a_filter_or_the_screen() -> None:
    assert read(["search", "--tui"]).screen
    assert read(["search", "--source", "cli"]).words == []


def test_the_search_screen_takes_over_the_order_and_the_scan() -> None:
    from hermes_tui.commands.searches import query_of

    query = query_of(read(["search", "x", "--tui", "--sort", "newest", "--reverse", "--scan", "--source", "cli"]))
    assert (query.text, query.order, query.scan) == ("source:cli x", SearchOrder.OLDEST, True)
    assert read(["search", "x", "--tui", "--scan"]).screen


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_help_is_there_for_every_command(name: str) -> None:
    from hermes_tui.commands.parsers import help_text

    found = read([name, "--help"])
    assert found.help
    assert found.command == name
    text = help_text(name)
    assert f"hermes-tui {name}" in text
    for option in OPTIONS.values():
        assert told(option, name) == any(
            option.flag in line.split()[:3] for line in text.splitlines() if line[:3] == "  -"
        )


def test_help_tells_what_may_stand_where() -> None:
    from hermes_tui.commands.parsers import help_text

    texts = {name: " ".join(help_text(name).split()) for name in COMMANDS}
    assert "active, started, messages, tokens, cost, title" in texts["list"]
    assert "relevance, newest, oldest" in texts["search"]
    for name, command in COMMANDS.items():
        assert command.word_help in texts[name]
        assert bool(command.word) == bool(command.word_help)
    assert "a title, also as the list shows it" in " ".join(texts["show"].split())
    for flag in ("--no-mouse", "--theme", "--ascii"):
        told = [name for name, text in texts.items() if f" {flag} " in text]
        printing = ["list", "show", "tree"] if flag == "--ascii" else []
        assert set(told) == {"open", "search", "config", *printing}
        assert read(["list", flag, *(["dark"] if flag == "--theme" else [])]).command == "list", "accepted anyhow"


def test_random_words_are_read_or_refused_with_a_sentence() -> None:
    """No command line is a traceback."""
    rng = random.Random(SEED)
    words = [*OPTIONS, *COMMANDS, "-p", "-x", "--", "", "x", "@session:a/b", "3", "--json=1", "-", "\udcff", "日本"]
    for _ in range(3_000):
        argv = rng.choices(words, k=rng.randint(0, 6))
        try:
            found = read(argv)
        except UsageError:
            continue
        assert found.help or found.command == BROWSE or found.command in COMMANDS
