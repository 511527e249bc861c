"""The fuzz trial: real stores are damaged by lot, and every command that reads is run on what is left.

Whatever the damage: no traceback, no answer that takes longer than ten seconds, no changed file, no exit code
but those of the README, no statement that is no reading, JSON that parses, no control character in text.
Each damage has a seed of its own, so one of thousands can be looked at alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import re
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from tests import real_stores
from tests.trials.mutations import mutate
from tests.trials.slices import cut

PATIENCE = 10.0
"""Seconds that one command may take."""
CODES = (0, 1, 3)
"""What may become of a command that is well formed and whose query can be understood."""
_WORDS = (
    "quokkaflux",
    "the",
    "oauth refresh",
    '"of the"',
    "昨晚",
    "TODO: fix",
    "deploy*",
    "a NOT b",
    "my-app.config.ts",
)
_UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What no line of text may hold."""
_RELEASES = sorted(real_stores.RELEASES)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one command."""

    code: int
    out: str
    err: str
    broken: str
    """A traceback, or how the process died."""
    writing: tuple[str, ...] = ()
    threads: int = 0
    seconds: float = 0.0


class Worker:
    """A process that runs one command after the other; a new one takes its place when it dies or hangs."""

    def __init__(self, home: Path) -> None:
        self._env = {**os.environ, "HOME": str(home), "HERMES_HOME": str(home), "TZ": "UTC", "PYTHONUTF8": "1"}
        self._notes = home / "worker.err"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._end()

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                assert pipe is not None
                pipe.close()
            self._process = None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            argv = [sys.executable, "-m", "tests.trials.asking"]
            with self._notes.open("wb") as notes:
                self._process = subprocess.Popen(
                    argv,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=notes,
                    env=self._env,
                    cwd=Path(__file__).parents[2],
                )
            self.ask(["--version"])  # what starting takes is no command's time
        return self._process

    def ask(self, argv: Sequence[str]) -> Answer:
        """Run one command."""
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        began = time.monotonic()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps({"argv": list(argv)}).encode() + b"\n")
            process.stdin.flush()
        line, late = b"", 3 * PATIENCE
        while not line.endswith(b"\n"):
            left = began + late - time.monotonic()
            if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
                process.send_signal(signal.SIGABRT)  # faulthandler tells where it was
                process.wait()
                break
            part = os.read(process.stdout.fileno(), 1 << 20)
            if not part:
                break
            line += part
        seconds = time.monotonic() - began
        if not line.endswith(b"\n"):
            code = process.wait()
            self._end()
            said = self._notes.read_text("utf-8", "replace")[-3_000:]
            return Answer(
                code, "", "", f"the process ended with {code} after {seconds:.1f} s\n{said}", seconds=seconds
            )
        told = json.loads(line)
        told["writing"] = tuple(told["writing"])
        told.pop("statements")
        return Answer(**told, seconds=seconds)


def by_process(argv: Sequence[str]) -> Answer:
    """The same of a process of its own, as a person runs it."""
    began = time.monotonic()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "hermes_tui", *argv], capture_output=True, timeout=3 * PATIENCE, check=False
        )
    except subprocess.TimeoutExpired as late:
        return Answer(-1, "", "", f"no answer after {late.timeout} s")
    out, err = (stream.decode("utf-8", "surrogateescape") for stream in (done.stdout, done.stderr))
    return Answer(done.returncode, out, err, "", seconds=time.monotonic() - began)


@dataclass(slots=True)
class Outcome:
    """What a run of the trial has to tell."""

    damages: int = 0
    commands: int = 0
    codes: Counter[int] = field(default_factory=Counter)
    slowest: tuple[float, str] = (0.0, "")
    failures: list[str] = field(default_factory=list)

    def told(self) -> str:
        """One line."""
        codes = ", ".join(f"{count} × {code}" for code, count in sorted(self.codes.items()))
        return (
            f"{self.damages} damages, {self.commands} commands (exit codes: {codes}), "
            f"slowest {self.slowest[0]:.1f} s, {len(self.failures)} failures"
        )


def sources() -> list[tuple[str, Path]]:
    """The stores of all four schemas; release → file."""
    return [(release, real_stores.store_home(release) / "state.db") for release in _RELEASES]


def cuts(folder: Path) -> list[tuple[str, Path, list[str]]]:
    """A small store of each, and what can be asked of it: session ids and titles."""
    found = []
    for release, source in sources():
        small = folder / release / "state.db"
        cut(source, small)
        with contextlib.closing(sqlite3.connect(small)) as conn:
            rows = conn.execute("select id, title from sessions").fetchall()
        targets = [str(value) for row in rows for value in row if value]
        found.append((release, small, targets))
    return found


def questions(chance: random.Random, targets: list[str]) -> list[list[str]]:
    """What is run on each damaged store: every command that reads, as text and as JSON."""
    plain = [
        ["list", *chance.choice(([], ["--all"], ["--sort", "tokens"], ["--sort", "cost", "--reverse"]))],
        ["search", chance.choice(_WORDS), *chance.choice(([], ["--scan"], ["--role", "tool"], ["--sort", "newest"]))],
        ["search", chance.choice(("is:error", "messages:>2", "title:a", "before:1d", "cwd:/")), "--all"],
        [
            "show",
            chance.choice((*targets, "latest", "latest")),
            *chance.choice(([], ["--tail", "3"], ["--head", "2"])),
        ],
        ["tree", chance.choice((*targets, "latest"))],
        ["resume", chance.choice((*targets, "latest")), "--print"],
        ["doctor"],
    ]
    return [argv if chance.random() < 0.5 else [*argv, "--json"] for argv in plain]


def digests(folder: Path) -> dict[str, str]:
    """What lies in a folder; `-shm` is SQLite's scratch, and an empty `-wal` may appear beside a store."""
    found = {}
    for path in sorted(folder.iterdir()):
        if not path.name.endswith("-shm") and not (path.name.endswith("-wal") and not path.stat().st_size):
            found[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def faults(argv: Sequence[str], answer: Answer) -> Iterator[str]:
    """What is wrong with an answer."""
    if answer.broken:
        yield answer.broken
        return
    if "Traceback" in answer.err:
        yield f"a traceback on stderr: {answer.err[-2_000:]}"
    if answer.code not in CODES:
        yield f"exit code {answer.code}: {answer.err[-500:]}"
    if answer.code == 3 and not answer.err.strip():
        yield "exit code 3 and not a word why"
    if answer.seconds > PATIENCE:
        yield f"it took {answer.seconds:.1f} s"
    if answer.writing:
        yield f"no reading: {answer.writing[0]}"
    if answer.threads:
        yield f"{answer.threads} threads were left"
    if found := _UNSHOWN.search(answer.err):
        yield f"{found[0]!r} on stderr: {answer.err!r}"
    if "--json" in argv:
        yield from _faults_of_json(answer)
    elif found := _UNSHOWN.search(answer.out):
        yield f"{found[0]!r} on stdout: {answer.out[max(0, found.start() - 60) : found.end() + 20]!r}"


def _faults_of_json(answer: Answer) -> Iterator[str]:
    if not answer.out and answer.code == 1:
        return  # a question that took too long, or cannot be answered here: one line on stderr
    try:
        document: Any = json.loads(answer.out, parse_constant=_no_constant)
    except ValueError as error:
        yield f"no JSON: {error}: {answer.out[:300]!r}"
        return
    if document.get("schema_version") != 1 or "meta" not in document:
        yield f"JSON of another shape: {answer.out[:300]!r}"
    if found := _UNSHOWN.search(answer.out):
        yield f"{found[0]!r} in JSON"


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def damage(small: Path, folder: Path, chance: random.Random) -> list[str]:
    """A fresh copy in a fresh folder, damaged; what was done to it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    db = folder / "state.db"
    shutil.copy(small, db)
    return mutate(db, chance)


def run(
    seed: int,
    folder: Path,
    *,
    more: Callable[[int], bool],
    say: Callable[[str], None] = lambda line: None,
    only: int | None = None,
    processes: bool = False,
) -> Outcome:
    """Damage after damage while `more(number)` says so. `only`: the damage of this number alone; `processes`: each
    command in one of its own, as a person runs it, which takes ten times as long."""
    outcome = Outcome()
    kinds = cuts(folder / "cut")
    home = folder / "home"
    home.mkdir(exist_ok=True)
    with Worker(home) as worker:
        number = only if only is not None else 0
        while more(outcome.damages):
            chance = random.Random(f"{seed}-{number}")
            release, small, targets = kinds[number % len(kinds)]
            told = damage(small, folder / "hurt", chance)
            ask = by_process if processes else worker.ask
            for failure in _tried(ask, folder / "hurt", questions(chance, targets), outcome):
                said = f"seed {seed} damage {number} ({release}: {'; '.join(told)[:400]})\n  {failure}"
                outcome.failures.append(said)
                say(said)
            outcome.damages += 1
            number += 1
            if only is not None:
                break
    return outcome


def _tried(
    ask: Callable[[Sequence[str]], Answer], hurt: Path, asked: list[list[str]], outcome: Outcome
) -> Iterator[str]:
    before = digests(hurt)
    for argv in asked:
        answer = ask(["--db", str(hurt / "state.db"), *argv])
        outcome.commands += 1
        outcome.codes[answer.code] += 1
        outcome.slowest = max(outcome.slowest, (answer.seconds, " ".join(argv)))
        for fault in faults(argv, answer):
            yield f"{' '.join(argv)}: {fault}"
    after = digests(hurt)
    if after != before:
        yield f"files changed: {sorted(before.items() ^ after.items())}"
