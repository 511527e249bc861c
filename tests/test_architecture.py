"""The walls: layers, sizes, and what must not stand anywhere."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tools import ROOT, texts

PACKAGE = ROOT / "hermes_tui"
MODULES = sorted(PACKAGE.rglob("*.py"))
MAX_MODULE = 350
"""Lines; past 300 a module is looked at, whether it is two things."""
MAX_FUNCTION = 60
"""Lines; past 40 a function is looked at, whether it does two things."""


def name_of(module: Path) -> str:
    return module.relative_to(ROOT).as_posix()


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.Module]:
    return {name_of(module): ast.parse(module.read_text("utf-8")) for module in MODULES}


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_imports_only_point_down() -> None:
    code = "from importlinter.cli import lint_imports; import sys; sys.exit(lint_imports(no_cache=True))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_module_is_read_in_one_sitting() -> None:
    lengths = {name_of(module): len(module.read_text("utf-8").splitlines()) for module in MODULES}
    assert {name: lines for name, lines in lengths.items() if lines > MAX_MODULE} == {}


def test_a_function_does_one_thing(trees: dict[str, ast.Module]) -> None:
    long = {}
    for name, tree in trees.items():
        for function in functions(tree):
            lines = (function.end_lineno or function.lineno) - function.lineno + 1
            if lines > MAX_FUNCTION:
                long[f"{name}:{function.name}"] = lines
    assert long == {}


def test_every_module_says_what_it_is(trees: dict[str, ast.Module]) -> None:
    assert [name for name, tree in trees.items() if not ast.get_docstring(tree)] == []


def test_no_failure_is_swallowed(trees: dict[str, ast.Module]) -> None:
    """No handler takes everything; only the reader's threads do, which hand it on."""
    broad = []
    for name, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ExceptHandler):
                caught = ast.unparse(node.type) if node.type else "everything"
                if re.search(r"\b(everything|Exception|BaseException)\b", caught):
                    broad.append(f"{name}: {caught}")
    assert broad in ([], ["hermes_tui/service/reader.py: BaseException"])


_OPENING = {"open", "read_bytes", "read_text", "fdopen", "copy", "copy2", "copyfile", "copytree", "mmap"}


def test_no_database_is_opened_as_a_plain_file(trees: dict[str, ast.Module]) -> None:
    """Closing such a descriptor drops the locks that SQLite holds: storage reads no file but by name below."""
    allowed = {f"hermes_tui/storage/{name}.py" for name in ("config", "live", "holders")}
    found = []
    for name, tree in trees.items():
        if not name.startswith(("hermes_tui/storage/", "hermes_tui/service/")) or name in allowed:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if called in _OPENING:
                    found.append(f"{name}:{node.lineno}: {called}")
    assert found == []


def test_only_two_places_connect_to_sqlite(trees: dict[str, ast.Module]) -> None:
    """Stores are opened in one place, which makes them read-only; the demo writes its own."""
    connecting = {
        name
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) == "sqlite3.connect"
        and ":memory:" not in ast.unparse(node)
    }
    assert {name for name in connecting if not name.startswith("hermes_tui/demo/")} == {
        "hermes_tui/storage/connection.py"
    }


IGNORED = re.compile(r"#\s*(?:noqa|type:\s*ignore)(?P<codes>[^#\n]*)(?P<reason>#\s*\S.*)?")


def test_every_ignored_rule_has_its_reason() -> None:
    bare = []
    for name, text in texts().items():
        if name.endswith(".py") and name != "tests/test_architecture.py":
            for number, line in enumerate(text.splitlines(), 1):
                if (found := IGNORED.search(line)) and not found["reason"]:
                    bare.append(f"{name}:{number}: {line.strip()}")
    assert bare == []


FORBIDDEN = {
    "a path of one machine": r"(?<![\w~.-])/(?:wo" + r"rk|ro" + r"ot)/",
    "the host of a registry": r"pypi\." + r"org|python" + r"hosted",
    "what is left to be done": r"#\s*(?:TO" + r"DO|FIX" + r"ME|XXX)",
    "a failure that is swallowed": r"^\s*except " + r"(?:Base)?Exception:\s*$",
    "a guard that is bypassed": r"GUARD_" + r"BYPASS",
}


@pytest.mark.parametrize("kind", FORBIDDEN)
def test_what_must_not_stand_anywhere(kind: str) -> None:
    pattern = re.compile(FORBIDDEN[kind], re.MULTILINE)
    assert [name for name, text in texts().items() if pattern.search(text)] == []


def test_there_is_no_lock_file() -> None:
    locks = re.compile(r"(\.lock|-lock\.json|requirements.*\.txt)$")
    assert [name for name in texts() if locks.search(name)] == []


def test_the_top_level_is_what_it_says() -> None:
    allowed = {
        "pyproject.toml",
        "hermes_tui",
        "styles",
        "tests",
        "screenshots",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
    }
    top = {name.split("/")[0] for name in texts()}
    assert {name for name in top if not name.startswith(".")} <= allowed


def test_nothing_that_windows_lacks_is_needed_to_begin() -> None:
    program = """
import importlib, pkgutil, sys
sys.modules.update(dict.fromkeys(("termios", "tty", "fcntl", "pty", "resource", "pwd", "grp")))
import hermes_tui
for found in pkgutil.walk_packages(hermes_tui.__path__, "hermes_tui."):
    if not found.name.endswith("__main__"):
        importlib.import_module(found.name)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
