"""The table of cases is complete, the tests that it names are there; and cases from end to end that no other module
has as a whole."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hermes_tui.cli import main
from tests.builders import StoreBuilder
from tests.cases import CASES

_HERE = Path(__file__).parent


def named_in(path: Path) -> set[str]:
    """`test_a` and `Class::test_a`, as pytest names them in this file."""
    found = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{node.name}::" if isinstance(node, ast.ClassDef) else ""
        for each in inner:
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and each.name.startswith("test_"):
                found.add(prefix + each.name)
    return found


def test_every_case_has_a_title_and_a_test() -> None:
    assert list(CASES) == list(range(1, 45))
    for case in CASES.values():
        assert case.title
        assert case.tests.split()


def test_every_test_that_it_names_is_there() -> None:
    known = {path.name: named_in(path) for path in _HERE.glob("test_*.py")}
    for number, case in CASES.items():
        for named in case.tests.split():
            file, _, name = named.partition("::")
            assert name in known.get(file, ()), f"R{number}: {named}"


# cases from end to end

Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def ask(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Ask:
    """A command on the store in `tmp_path`; its JSON."""

    def run(*argv: str) -> dict[str, Any]:
        assert main(["--home", str(tmp_path), *argv, "--json"]) == 0
        found: dict[str, Any] = json.loads(capfdbinary.readouterr()[0])
        return found

    return run


def listed(found: dict[str, Any]) -> list[str]:
    return [row["id"] for row in found["conversations"]]


def test_r3_any_source_is_listed_and_shown(db: Path, ask: Ask, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    sources = ["acp", "webhook", "weixin", "my-custom-bot", "", "[red]", "a\x1b[2Jb"]
    with StoreBuilder(db) as store:
        for number, source in enumerate(sources):
            store.session(f"s{number}", source)
            store.message(f"s{number}", "user", "x")
    assert {row["source"] for row in ask("list")["conversations"]} == set(sources)
    assert listed(ask("list", "--source", "my-custom-bot")) == ["s3"]
    assert main(["--home", str(db.parent), "list"]) == 0
    shown = capfdbinary.readouterr()[0]
    assert b"[red]" in shown
    assert b"\x1b" not in shown


def test_r4_archived_is_one_filter_away(db: Path, ask: Ask, schema: int) -> None:
    with StoreBuilder(db, schema) as store:
        for value in (0, 1, None):
            store.session(f"a{value}", archived=value)
            store.message(f"a{value}", "user", "x")
    known = schema >= 14
    found = ask("list")
    assert set(listed(found)) == ({"a0", "aNone"} if known else {"a0", "a1", "aNone"})
    assert found["meta"]["hidden"]["archived"] == int(known)
    if known:
        assert [hit["id"] for hit in ask("search", "is:archived")["hits"]] == ["a1"]
        assert [row["archived"] for row in ask("list", "--all")["conversations"] if row["id"] == "a1"] == [True]


def test_r5_what_is_in_use_stands_first(db: Path, ask: Ask) -> None:
    now = 1_790_000_000.0
    with StoreBuilder(db) as store:
        store.session("a", started_at=now - 30 * 86_400)
        store.message("a", "user", "x", timestamp=now - 30 * 86_400)
        store.message("a", "assistant", "x", timestamp=now)
        store.session("b", started_at=now - 7_200)
        store.message("b", "user", "x", timestamp=now - 3_600)
        store.session("c", started_at=now - 60)
    found = ask("list")
    assert listed(found) == ["a", "b"]
    assert [row["last_active"] for row in found["conversations"]] == [now, now - 3_600]
    assert found["meta"]["hidden"]["empty"] == 1


@pytest.mark.parametrize("marked", [True, False])
def test_r7_both_sides_of_a_reset_are_listed_and_resumed(db: Path, ask: Ask, marked: bool) -> None:
    config = {"_reset_from": "p"} if marked else None
    with StoreBuilder(db) as store:
        store.session("p", "telegram", title="alpha", end_reason="session_reset", session_key="k")
        store.message("p", "user", "x")
        store.session("n", "telegram", parent="p", session_key="k", model_config=config)
        for _ in range(20):
            store.message("n", "user", "x")
    assert sorted(listed(ask("list"))) == ["n", "p"]
    for each in ("n", "p"):
        assert ask("resume", each)["resume"]["argv"][-1] == each
