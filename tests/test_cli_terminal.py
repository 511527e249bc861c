"""The screen started from a terminal: how it begins, and how it leaves the terminal behind (R36, SPEC 11)."""

from __future__ import annotations

import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyte
import pytest

from tests.bench.ptyperf import UNKNOWN
from tests.builders import StoreBuilder

pytestmark = pytest.mark.skipif(os.name == "nt", reason="terminals of POSIX")

COMMAND = [sys.executable, "-m", "hermes_tui"]
ALTERNATE_ON, ALTERNATE_OFF = b"\x1b[?1049h", b"\x1b[?1049l"
MOUSE_ON, MOUSE_OFF = b"\x1b[?1000h", b"\x1b[?1000l"
ID = "20260603_120000_abc123"


@dataclass
class Terminal:
    """A program at the other end of a pseudo-terminal."""

    process: subprocess.Popen[bytes]
    master: int
    slave: int
    data: bytes = b""
    first: list[Any] = field(default_factory=list)
    """The modes before the program began."""

    def read(self) -> None:
        if select.select([self.master], [], [], 0.05)[0]:
            self.data += os.read(self.master, 65_536)

    def until(self, condition: Callable[[], bool], seconds: float = 30.0) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, self.data[-3_000:].decode("utf-8", "replace")
            self.read()

    def shows(self, text: str) -> None:
        """Wait until `text` has been drawn."""
        self.until(lambda: text.encode() in self.data or self.process.poll() is not None)
        self.drain()
        assert text.encode() in self.data, self.data[-3_000:].decode("utf-8", "replace")

    def rests(self, seconds: float = 0.4) -> None:
        """Wait until nothing has been drawn for so long."""
        seen, since = len(self.data), time.monotonic()
        while time.monotonic() - since < seconds:
            self.read()
            if len(self.data) != seen:
                seen, since = len(self.data), time.monotonic()

    def ends(self) -> int:
        """Wait for the end; the exit code."""
        self.until(lambda: self.process.poll() is not None)
        self.drain()
        return self.process.returncode

    def drain(self) -> None:
        """Take in what is there already."""
        while select.select([self.master], [], [], 0)[0]:
            self.data += os.read(self.master, 65_536)

    def settle(self) -> None:
        """Until nothing is written for a moment."""
        while select.select([self.master], [], [], 0.15)[0]:
            self.data += os.read(self.master, 65_536)

    def press(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def modes(self) -> list[Any]:
        """What `stty -g` tells."""
        import termios

        return termios.tcgetattr(self.slave)

    def hang_up(self) -> None:
        """Close the window."""
        os.close(self.master)
        self.master = -1

    def screen(self) -> str:
        """What stands on it."""
        screen = pyte.Screen(120, 36)
        pyte.ByteStream(screen).feed(UNKNOWN.sub(b"", self.data))
        return "\n".join(screen.display)

    def restored(self) -> bool:
        """Everything that was switched on is switched off again, after it was switched on."""
        pairs = [(ALTERNATE_ON, ALTERNATE_OFF), (MOUSE_ON, MOUSE_OFF), (b"\x1b[?25l", b"\x1b[?25h")]
        return all(self.data.rfind(off) >= self.data.rfind(on) for on, off in pairs)


@contextmanager
def started(argv: list[str], env: dict[str, str] | None = None) -> Iterator[Terminal]:
    """A program that leads a terminal of 120×36; its modes are as before when it has ended."""
    import fcntl
    import pty
    import struct
    import termios

    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))
    before = termios.tcgetattr(slave)

    def lead() -> None:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    # As for a user, whose Python keeps what it writes for a while.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    whole = {**kept, "TERM": "xterm-256color", "COLORFGBG": "15;0", **(env or {})}
    process = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, preexec_fn=lead, env=whole)
    terminal = Terminal(process, master, slave, first=before)
    try:
        yield terminal
        assert process.poll() is not None, "the test is over and the program is not"
        assert terminal.master < 0 or termios.tcgetattr(slave) == before
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        if terminal.master >= 0:
            os.close(master)
        os.close(slave)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with StoreBuilder(tmp_path / "home" / "state.db", journal="delete") as store:
        store.session(ID, title="Refactoring auth")
        store.message(ID, "user", "the walnut question")
        store.session("20260603_110000_def456", "telegram", title="Weekly review", started_at=1_000_000_000.0)
        store.message("20260603_110000_def456", "user", "how was it?", timestamp=1_000_000_001.0)
    return tmp_path / "home"


def test_q_leaves_the_terminal_as_it_was(home: Path) -> None:
    with started([*COMMAND, "--home", str(home)]) as terminal:
        terminal.shows("Refactoring auth")
        terminal.press("q")
        assert terminal.ends() == 0
        assert terminal.restored()
        assert ALTERNATE_ON in terminal.data
        assert b"Traceback" not in terminal.data


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_leaves_the_terminal_as_it_was(home: Path, number: signal.Signals) -> None:
    with started([*COMMAND, "--home", str(home)]) as terminal:
        terminal.shows("Refactoring auth")
        terminal.process.send_signal(number)
        assert terminal.ends() == 128 + number
        assert terminal.restored()
        assert b"Traceback" not in terminal.data


def test_a_terminal_that_goes_without_a_signal_ends_it(home: Path) -> None:
    """It leads no session, as where a shell keeps SIGHUP from it: it would read nothing for ever, at full speed."""
    import pty
    import select

    master, slave = pty.openpty()
    argv, env = [*COMMAND, "--home", str(home)], {**os.environ, "TERM": "xterm-256color", "COLORFGBG": "15;0"}
    process = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, start_new_session=True, env=env)
    os.close(slave)
    try:
        data = b""
        while ALTERNATE_ON not in data or b"Refactoring" not in data:
            assert select.select([master], [], [], 30)[0]
            data += os.read(master, 65_536)
        os.close(master)
        assert process.wait(30) == 129
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def test_it_ends_though_the_driver_failed_to_let_go_of_the_keys(home: Path) -> None:
    code = (
        "import sys\nfrom textual.drivers.linux_driver import LinuxDriver\n"
        "LinuxDriver.disable_input = lambda self: None\n"
        "from hermes_tui.cli import main\nsys.exit(main(sys.argv[1:]))"
    )
    with started([sys.executable, "-c", code, "--home", str(home)]) as terminal:
        terminal.shows("Refactoring auth")
        terminal.press("q")
        assert terminal.ends() == 0


def test_before_there_is_a_screen_nothing_typed_appears_and_afterwards_all_is_as_it_was() -> None:
    import pty
    import termios

    script = """
import termios
from hermes_tui.terminal import unechoed
before = termios.tcgetattr(0)
with unechoed() as modes:
    assert modes == before
    now = termios.tcgetattr(0)
    assert not now[3] & termios.ECHO
    assert not now[0] & termios.ICRNL
    assert now[3] & termios.ISIG
assert termios.tcgetattr(0) == before
"""
    master, slave = pty.openpty()
    try:
        before = termios.tcgetattr(slave)
        done = subprocess.run(
            [sys.executable, "-c", script], stdin=slave, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert termios.tcgetattr(slave) == before
    finally:
        os.close(master)
        os.close(slave)


def test_a_crash_leaves_the_terminal_as_it_was(home: Path) -> None:
    code = (
        "import sys\nfrom hermes_tui.app import HermesApp\n"
        "def crash(self): raise RuntimeError('a bug')\nHermesApp.action_keys = crash\n"
        "from hermes_tui.cli import main\nsys.exit(main(sys.argv[1:]))"
    )
    with started([sys.executable, "-c", code, "--home", str(home)]) as terminal:
        terminal.shows("Refactoring auth")
        terminal.press("?")
        assert terminal.ends() == 1
        assert terminal.restored()
        assert b"a bug" in terminal.data


def test_a_storm_of_sizes_does_no_harm(home: Path) -> None:
    import fcntl
    import struct
    import termios

    with started([*COMMAND, "--home", str(home)]) as terminal:
        terminal.shows("Refactoring auth")
        chance = random.Random(11)
        sizes = [(chance.choice([1, 2, 5, 24, 60]), chance.choice([1, 3, 20, 80, 300])) for _ in range(80)]
        for rows, columns in [*sizes, (36, 120)]:
            fcntl.ioctl(terminal.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            terminal.read()
        terminal.rests()
        terminal.press("?")
        terminal.shows("everywhere")
        terminal.press("\x11")
        assert terminal.ends() == 0
        assert terminal.restored()


_SHELL = """
import os, signal, subprocess, sys, termios
def lead():
    os.setpgid(0, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
child = subprocess.Popen(sys.argv[2:], preexec_fn=lead)
open(sys.argv[1], 'w').write(str(child.pid))
_, status = os.waitpid(child.pid, os.WUNTRACED)
os.tcsetpgrp(0, os.getpgrp())
flags = termios.tcgetattr(0)[3]
print('stopped', os.WIFSTOPPED(status), bool(flags & termios.ICANON and flags & termios.ECHO), flush=True)
sys.stdin.readline()
os.tcsetpgrp(0, child.pid)
os.killpg(child.pid, signal.SIGCONT)
_, status = os.waitpid(child.pid, 0)
os.tcsetpgrp(0, os.getpgrp())
sys.exit(os.waitstatus_to_exitcode(status))
"""


def test_stopped_it_lends_the_terminal_to_the_shell_and_comes_back(home: Path, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    with started([sys.executable, "-c", _SHELL, str(note), *COMMAND, "--home", str(home)]) as terminal:
        terminal.shows("Refactoring auth")
        os.kill(int(note.read_text()), signal.SIGTSTP)
        terminal.shows("stopped True True")
        assert terminal.restored()
        back = len(terminal.data)
        terminal.press("go\n")
        terminal.until(lambda: b"Refactoring auth" in terminal.data[back:])
        assert ALTERNATE_ON in terminal.data[back:]
        terminal.press("\x11")
        assert terminal.ends() == 0
        assert terminal.restored()


_IN_MID_WRITE = """
import os, signal, sys
from pathlib import Path
from textual.drivers._writer_thread import WriterThread
from hermes_tui.cli import main
note, write = Path(sys.argv.pop(1)), WriterThread.write
def interrupted(self, text):
    if note.exists():
        note.unlink()
        with self._queue.mutex:
            os.kill(os.getpid(), signal.SIGTSTP)
    write(self, text)
WriterThread.write = interrupted
sys.exit(main())
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for the stopped process in Linux' /proc")
def test_stopped_while_it_draws_it_does_not_wait_for_itself(home: Path, tmp_path: Path) -> None:
    """A signal arrives while the line of what is to be written is held."""
    note = tmp_path / "now"
    with started([sys.executable, "-c", _IN_MID_WRITE, str(note), "--home", str(home)]) as terminal:
        terminal.shows("Refactoring auth")
        note.touch()
        terminal.press("j")
        status = Path(f"/proc/{terminal.process.pid}/stat")
        terminal.until(lambda: status.read_text().rpartition(")")[2].split()[0] == "T")
        back = len(terminal.data)
        terminal.process.send_signal(signal.SIGCONT)
        terminal.until(lambda: b"Refactoring auth" in terminal.data[back:])
        terminal.press("\x11")
        assert terminal.ends() == 0
        assert terminal.restored()


def test_a_terminal_that_is_closed_ends_it(home: Path) -> None:
    with started([*COMMAND, "--home", str(home)]) as terminal:
        terminal.shows("Refactoring auth")
        terminal.hang_up()
        assert terminal.process.wait(30) == 128 + signal.SIGHUP


def test_without_a_store_the_bare_command_shows_a_page(tmp_path: Path) -> None:
    with started(COMMAND, {"HERMES_HOME": str(tmp_path / "none")}) as terminal:
        terminal.shows("sample store")
        terminal.press("q")
        assert terminal.ends() == 0
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("argv", "code", "named"),
    [
        (["--home", "/no/such/home"], 3, "/no/such/home/state.db"),
        (["-p", "ghost"], 3, "ghost"),
        (["open", "nobody"], 1, "nobody"),
        (["@session:ghost/x"], 1, "ghost"),
        (["--theme", "plaid"], 2, "plaid"),
    ],
)
def test_what_cannot_be_opened_is_a_line_and_no_screen(home: Path, argv: list[str], code: int, named: str) -> None:
    with started([*COMMAND, *argv], {"HERMES_HOME": str(home)}) as terminal:
        assert terminal.ends() == code
        assert ALTERNATE_ON not in terminal.data
        assert named.encode() in terminal.data
        assert b"Traceback" not in terminal.data


def test_a_dumb_terminal_has_no_screen(home: Path) -> None:
    with started([*COMMAND, "--home", str(home)], {"TERM": "dumb"}) as terminal:
        assert terminal.ends() == 2
        assert ALTERNATE_ON not in terminal.data


def test_a_link_opens_the_conversation(home: Path) -> None:
    with started([*COMMAND, "--home", str(home), f"@session:default/{ID}"]) as terminal:
        terminal.shows("the walnut question")
        terminal.press("\x11")  # ctrl+q
        assert terminal.ends() == 0


def test_a_target_and_a_message_open_there(home: Path) -> None:
    with started([*COMMAND, "--home", str(home), "open", "Refactoring auth", "--at", "1"]) as terminal:
        terminal.shows("the walnut question")
        terminal.press("\x11")
        assert terminal.ends() == 0


def test_search_begins_with_the_words(home: Path) -> None:
    with started([*COMMAND, "--home", str(home), "search", "walnut", "--tui"]) as terminal:
        terminal.until(lambda: "1 of 1" in terminal.screen())
        assert "/ walnut " in terminal.screen()
        terminal.press("\x11")
        assert terminal.ends() == 0


def test_filter_options_and_settings_reach_the_list(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "config" / "hermes-tui"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('filter = "-title:auth"\n')
    env = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    with started([*COMMAND, "--home", str(home), "--source", "telegram"], env) as terminal:
        terminal.shows("Weekly review")
        terminal.press("\x11")
        assert terminal.ends() == 0
        assert b"Refactoring auth" not in terminal.data
    with started([*COMMAND, "--home", str(home)], env) as terminal:
        terminal.shows("Weekly review")
        terminal.press("\x11")
        assert terminal.ends() == 0
        assert b"Refactoring auth" not in terminal.data


@pytest.mark.parametrize("answering", [None, 0.0, 0.6])
def test_what_is_typed_from_the_start_on_comes_whole_and_in_order(home: Path, answering: float | None) -> None:
    """`answering`: after so many seconds the terminal says what it is asked for; None: it is not asked."""
    env = {} if answering is None else {"COLORFGBG": ""}
    with started([*COMMAND, "--home", str(home)], env) as terminal:
        due = None
        for letter in "/walnuts brought for tea":
            terminal.press(letter)
            terminal.read()
            if answering is not None and due is None and b"\x1b]11;?" in terminal.data:
                due = time.monotonic() + answering
            if due is not None and time.monotonic() > due:
                terminal.press("\x1b]11;rgb:1212/1010/0c0c\x1b\\\x1b[?62;22c")
                due = float("inf")
        terminal.until(lambda: "/ walnuts brought for tea" in terminal.screen())
        terminal.press("\x11")
        assert terminal.ends() == 0


def test_no_mouse_leaves_the_mouse_alone(home: Path) -> None:
    with started([*COMMAND, "--home", str(home), "--no-mouse"]) as terminal:
        terminal.shows("Refactoring auth")
        terminal.press("q")
        assert terminal.ends() == 0
        assert MOUSE_ON not in terminal.data


@pytest.mark.parametrize("wrong", ["colour = 3", 'theme = "plaid"', 'keys."search.next" = "n"'])
def test_a_broken_settings_file_is_a_line_and_no_screen(home: Path, tmp_path: Path, wrong: str) -> None:
    folder = tmp_path / "config" / "hermes-tui"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(f"mouse = true\n{wrong}\n")
    env = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    with started([*COMMAND, "--home", str(home)], env) as terminal:
        assert terminal.ends() == 2
        assert b"line 2" in terminal.data
        assert ALTERNATE_ON not in terminal.data


_STUB = """#!{python}
import os, sys, termios
flags = termios.tcgetattr(0)[3]
print("stub", sys.argv[1:], bool(flags & termios.ICANON and flags & termios.ECHO), os.getcwd(), flush=True)
line = sys.stdin.readline().strip()
print("got", line, flush=True)
sys.exit(7)
"""


@pytest.fixture
def stub(tmp_path: Path) -> dict[str, str]:
    """An environment in which `hermes` is a program that tells what it finds and reads one line."""
    path = tmp_path / "bin" / "hermes"
    path.parent.mkdir()
    path.write_text(_STUB.format(python=sys.executable))
    path.chmod(0o755)
    return {"PATH": f"{path.parent}{os.pathsep}{os.environ['PATH']}"}


def at_stub(terminal: Terminal) -> None:
    """Wait for the stub; it must find a cooked terminal, no mouse and the screen of the shell."""
    terminal.shows(f"stub ['-p', 'default', '--resume', '{ID}'] True")
    before = terminal.data[: terminal.data.rfind(b"stub [")]
    assert before.rfind(ALTERNATE_OFF) > before.rfind(ALTERNATE_ON)
    assert before.rfind(MOUSE_OFF) > before.rfind(MOUSE_ON)
    terminal.press("hello\n")
    terminal.shows("got hello")


def test_enter_in_the_panel_becomes_hermes(home: Path, stub: dict[str, str]) -> None:
    with started([*COMMAND, "--home", str(home)], stub) as terminal:
        terminal.shows(f"@session:default/{ID}")
        terminal.press("r")
        terminal.shows("--resume")
        terminal.press("\r")
        at_stub(terminal)
        assert terminal.ends() == 7
        assert b"Traceback" not in terminal.data


def test_b_in_the_panel_comes_back(home: Path, stub: dict[str, str]) -> None:
    with started([*COMMAND, "--home", str(home)], stub) as terminal:
        terminal.shows(f"@session:default/{ID}")
        terminal.press("r")
        terminal.shows("--resume")
        terminal.press("b")
        at_stub(terminal)
        back = terminal.data.rfind(b"got hello")
        terminal.until(lambda: b"Refactoring auth" in terminal.data[back:])
        assert ALTERNATE_ON in terminal.data[back:]
        terminal.press("\x11")
        assert terminal.ends() == 0
        assert terminal.restored()


def test_p_in_the_panel_prints_the_command_and_quits(home: Path, stub: dict[str, str]) -> None:
    with started([*COMMAND, "--home", str(home)], stub) as terminal:
        terminal.shows(f"@session:default/{ID}")
        terminal.press("r")
        terminal.shows("--resume")
        terminal.press("p")
        assert terminal.ends() == 0
        assert terminal.restored()
        last = terminal.data[terminal.data.rfind(ALTERNATE_OFF) :].decode()
        assert f"hermes -p default --resume {ID}" in last


def test_a_list_fits_the_terminal_it_is_printed_on(tmp_path: Path) -> None:
    with StoreBuilder(tmp_path / "home" / "state.db", journal="delete") as store:
        store.session(ID, title="word " * 30, cwd="/srv/" + "deep/" * 30)
        store.message(ID, "user", "hello")
    with started([*COMMAND, "list", "--home", str(tmp_path / "home")]) as terminal:
        terminal.until(lambda: terminal.process.poll() is not None)
        terminal.drain()
        rows = terminal.data.decode().splitlines()
    assert max(map(len, rows)) <= 120
    assert any(ID in row and "…" in row for row in rows)
