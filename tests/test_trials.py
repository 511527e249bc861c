"""The trials at a short length and with fixed seeds, and that each of them notices what it looks for. The long ones
go by command: `python -m tests.trials`."""

from __future__ import annotations

import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import real_stores
from tests.seeds import SEED
from tests.trials import fuzz, monkey, writer
from tests.trials.contents import content, sound
from tests.trials.driving import Watched, complaints, copied
from tests.trials.fuzz import Answer, digests, faults
from tests.trials.mutations import mutate
from tests.trials.slices import cut

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(sys.platform != "linux", reason="pseudo-terminals and /proc/locks"),
]
_DAMAGES, _BY_PROCESS, _KEYS = 32, 1, 200


def first(number: int) -> Callable[[int], bool]:
    return lambda done: done < number


def twice_and_until_all_was_seen(outcome: writer.Outcome) -> bool:
    """On a slow machine a key may come before what it is for."""
    return outcome.starts < 2 or (outcome.starts < 6 and not outcome.screens >= writer.EVERYWHERE)


@pytest.fixture
def store() -> Path:
    """A store that Hermes wrote; copy it first."""
    return real_stores.store_home() / "state.db"


@pytest.fixture
def small(store: Path, tmp_path: Path) -> Path:
    """A small one of the same schema, which may be written."""
    cut(store, tmp_path / "small" / "state.db")
    return tmp_path / "small" / "state.db"


# the trials


def test_no_damage_makes_a_command_fail_otherwise_than_in_a_line(tmp_path: Path) -> None:
    outcome = fuzz.run(SEED, tmp_path, more=first(_DAMAGES))
    assert not outcome.failures, "\n".join(outcome.failures)
    assert outcome.damages == _DAMAGES
    assert outcome.codes[0] > _DAMAGES
    assert outcome.codes[3]


def test_nor_when_the_command_has_a_process_of_its_own(tmp_path: Path) -> None:
    outcome = fuzz.run(SEED + 1, tmp_path, more=first(_BY_PROCESS), processes=True)
    assert not outcome.failures, "\n".join(outcome.failures)


def test_random_keys_over_a_store_that_is_written_do_no_harm(store: Path, tmp_path: Path) -> None:
    outcome = monkey.run(SEED, _KEYS, store, tmp_path)
    assert not outcome.failures, "\n".join(outcome.failures)
    assert outcome.keys == _KEYS
    assert outcome.writer["steps"]
    assert len(outcome.screens) > 3


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_beside_the_program_a_writer_writes_what_it_writes_alone(store: Path, tmp_path: Path, journal: str) -> None:
    outcome = writer.run(SEED, store, tmp_path, journal=journal, more=twice_and_until_all_was_seen)
    assert not outcome.failures, "\n".join(outcome.failures)
    assert outcome.screens >= writer.EVERYWHERE
    assert outcome.kills
    assert outcome.writer["steps"] > 20


def test_a_program_that_is_killed_leaves_a_quiet_store_as_it_was(small: Path, tmp_path: Path) -> None:
    with sqlite3.connect(small) as conn:
        conn.execute("pragma journal_mode = wal")
    conn.close()
    before = digests(small.parent)
    chance = random.Random(SEED)
    for number in range(3):
        folder = tmp_path / f"killed{number}"
        folder.mkdir()
        with Watched(small.parent, folder / "report") as watched:
            for key in writer.TOUR[2][: chance.randrange(1, 14)]:
                watched.app.feed(key)
            watched.look()
            watched.app.process.send_signal(signal.SIGKILL)
            watched.app.process.wait()
        assert digests(small.parent) == before
    assert not sound(small)


# that they notice


@pytest.mark.parametrize(
    ("answer", "argv"),
    [
        (Answer(0, "", "", "Traceback …"), []),
        (Answer(1, "", "Traceback (most recent call last):", ""), []),
        (Answer(2, "", "usage", ""), []),
        (Answer(-11, "", "", ""), []),
        (Answer(3, "", "", ""), []),
        (Answer(0, "", "", "", seconds=11.0), []),
        (Answer(0, "", "", "", writing=("delete from messages",)), []),
        (Answer(0, "", "", "", threads=1), []),
        (Answer(0, "a\x1b[31mb", "", ""), []),
        (Answer(0, "", "\u202ehermes-tui", ""), []),
        (Answer(0, "{", "", ""), ["--json"]),
        (Answer(0, '{"schema_version": 1, "meta": {"x": NaN}}', "", ""), ["--json"]),
        (Answer(0, '{"meta": {}}', "", ""), ["--json"]),
    ],
)
def test_a_bad_answer_is_noticed(answer: Answer, argv: list[str]) -> None:
    assert list(faults(argv, answer))


def test_a_good_answer_is_not(small: Path) -> None:
    assert not list(faults([], Answer(0, "Harbour lights\n", "", "")))
    argv = ["--db", str(small), "list", "--json"]
    assert not list(faults(argv, fuzz.by_process(argv)))


def test_a_command_that_dies_or_raises_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import os, hermes_tui.cli as cli\n"
        "def main(argv):\n"
        "    if 'die' in argv: os.kill(os.getpid(), 11)\n"
        "    if 'raise' in argv: raise ValueError('a bug')\n"
        "    return 0\n"
        "cli.main = main\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with fuzz.Worker(tmp_path) as worker:
        assert "a bug" in worker.ask(["raise"]).broken
        assert "ended with -11" in worker.ask(["die"]).broken
        assert worker.ask(["well"]).code == 0


def test_damages_are_many_and_can_be_had_again(small: Path, tmp_path: Path) -> None:
    states = set()
    for number in range(12):
        pair = []
        for _ in range(2):
            db = Path(shutil.copy(small, tmp_path / "hurt.db"))
            told = mutate(db, random.Random(f"{SEED}-{number}"))
            pair.append((told, digests_of(db)))
        assert pair[0] == pair[1]
        states.add(pair[0][1])
    assert len(states) == 12


def digests_of(db: Path) -> bytes:
    """The bytes of a damaged store; what lies beside it is put away."""
    found = db.read_bytes()
    for suffix in ("-wal", "-shm", "-journal"):
        db.with_name(db.name + suffix).unlink(missing_ok=True)
    return found


def test_a_change_of_one_cell_is_noticed(small: Path, tmp_path: Path) -> None:
    other = copied(small, tmp_path / "other")
    assert content(other) == content(small)
    with sqlite3.connect(other) as conn:
        conn.execute("update sessions set title = title || '.' where rowid = 5")
    conn.close()
    differ = {table for table, digest in content(other).items() if content(small)[table] != digest}
    assert differ == {"sessions"}


def test_a_lock_is_seen_as_long_as_it_is_held(small: Path) -> None:
    code = (
        "import sqlite3, sys\n"
        "conn = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "conn.execute('begin'); conn.execute('select * from sessions').fetchone()\n"
        "print('held', flush=True); sys.stdin.read(1)\n"
    )
    argv = [sys.executable, "-c", code, str(small)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        locks = writer.Locks(small, holder.pid, wal=False)
        locks.start()
        end = time.monotonic() + 20
        while locks.held < 5 and time.monotonic() < end:
            time.sleep(0.01)
        locks.end()
        holder.communicate(b"x")
    assert locks.held >= 5
    assert locks.longest > 0


def test_what_the_watch_saw_is_complained_of() -> None:
    well: dict[str, list[str]] = {"errors": [], "writing": [], "opened_raw": []}
    assert not complaints(well)
    for name in well:
        assert complaints({**well, name: ["x"]})


def test_the_same_seed_presses_the_same_keys() -> None:
    one, same, other = (
        [stroke for stroke, _ in zip(monkey.strokes(seed), range(2_000), strict=False)] for seed in (1, 1, 2)
    )
    assert one == same != other
    assert {b"\x11", b"\r", b"/", b"?"} <= {stroke.data for stroke in one}
