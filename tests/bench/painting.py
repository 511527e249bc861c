"""From a key to what it paints, through a pty: hits, transcripts, the way out. The screen is emulated after the
clock has stopped, frame by frame; a frame counts when its last byte has come."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.bench.measuring import Result
from tests.bench.ptyperf import PtyApp
from tests.bench.stores import Bench, Place

INSIDE = Path(__file__).parent / "inside"
SIZE = (120, 40)
QUIET = 0.25
"""Seconds without output after which a screen is taken to have settled."""
_ECHOES = 40
_SEARCHES = 20
"""Of each kind, so that the 95th percentile is not simply the longest."""
_FOUND = re.compile(r"\d\+? conversations?")
_ANSWERED = re.compile(r"\d\+? conversations?|no match")
_LOOKED = re.compile(r"\b\d+/\d|no match")
_LINES = "bare_lines.py"
_FLOOR_IS = "a Textual app that draws as many lines made beforehand"
_BROWSE = "conversations"
_WRONG, _STRANGE = "q", "龘"
"""Letters that make each query find nothing, until they are taken away again."""
_PATIENCE = 30.0
"""Seconds that something on a large store may take; past them no more than the usual number of rounds is taken."""


def pressed(app: PtyApp, key: str, done: Callable[[list[str]], bool], timeout: float = 60) -> float:
    """Milliseconds from a key to the first frame of which `done` is true."""
    mark = app.mark()
    began = time.perf_counter()
    app.send(key)
    end = began + timeout
    while time.perf_counter() < end:
        app.wait_quiet(QUIET)
        for at, lines in app.frames(mark):
            if done(lines):
                return (at - began) * 1_000
        mark = app.seen
    raise TimeoutError(f"{key!r} did not do it; screen:\n{app.text()}")


def settled(app: PtyApp, key: str) -> float:
    """Milliseconds from a key to the first frame after which the text of the screen stayed as it was; the line
    at the bottom aside, which tells what was done."""
    mark = app.mark()
    began = time.perf_counter()
    app.send(key)
    app.wait_beyond(mark, 0.5)
    app.wait_quiet(QUIET / 2)
    frames = app.frames(mark)
    if not frames:
        return 0.0
    last = frames[-1][1][:-2]
    index = len(frames) - 1
    while index and frames[index - 1][1][:-2] == last:
        index -= 1
    return (frames[index][0] - began) * 1_000


def echoes(bench: Bench, number: int, program: str = "one_input.py", key: str = "x") -> list[float]:
    """Keys in the least of Textual: how soon each is on the screen."""
    with PtyApp([bench.python, str(INSIDE / program)], SIZE, bench.env) as app:
        app.wait_for("READY")
        app.wait_quiet(QUIET)
        found = [settled(app, key) for _ in range(number)]
        app.send("ctrl+q")
        app.wait_exit()
    return [value for value in found if value]


def opened(bench: Bench) -> PtyApp:
    """The program, to be entered; `at_list` waits until it is there."""
    return PtyApp(bench.tui, SIZE, bench.env)


def at_list(app: PtyApp) -> None:
    """Until the list is on the screen and has settled."""
    app.wait_for(_BROWSE)
    app.wait_quiet(QUIET)


def left(app: PtyApp) -> float:
    """Milliseconds from ctrl+q to the end of the process."""
    began = time.perf_counter()
    app.send("ctrl+q")
    app.process.wait(60)
    return (time.perf_counter() - began) * 1_000


def _in_reach(app: PtyApp, query: str) -> Iterator[float]:
    """Type a query with one letter too many, which finds nothing; take that letter away and put it there again."""
    if query.endswith('"'):  # inside the phrase
        wrong, typed, there = _WRONG, query[:-1] + _WRONG + '"', ["left"]
    elif query.isascii():
        wrong, typed, there = _WRONG, query + _WRONG, []
    else:  # in front of it: half of it would be another kind of query
        wrong, typed, there = _STRANGE, _STRANGE + query, ["home", "right"]
    asked(app, typed)
    for key in there:
        app.press(key)
    while True:
        yield pressed(app, "backspace", lambda lines: any(_FOUND.search(line) for line in lines[:3]))
        app.send(wrong)
        wait_still(app, typed)


def wait_still(app: PtyApp, asked: str, timeout: float = 120) -> None:
    """Until this is in the box and has been answered to the end: the screen says while a search runs."""
    end = time.perf_counter() + timeout
    still = 0
    while time.perf_counter() < end:
        app.wait_quiet(QUIET)
        text = app.text()
        still = still + 1 if asked in text and _ANSWERED.search(text) and "searching" not in text else 0
        if still == 2:  # between the echo of a key and its search there may be a frame
            return
    raise TimeoutError(f"{asked!r} is not answered; screen:\n{app.text()}")


def asked(app: PtyApp, text: str) -> None:
    """Type a question into the search box, in place of what it holds, and wait for the whole answer."""
    app.send("end")
    app.send("ctrl+u")
    app.wait_quiet(QUIET)
    app.send(text)
    wait_still(app, text)


def hits(bench: Bench) -> Iterator[Result]:
    """The first hits of each kind of query."""
    rounds = 1 if bench.quick else max(2 * bench.runs, _SEARCHES)
    echoed = echoes(bench, 4 if bench.quick else _ECHOES)
    floor = echoes(bench, 4 if bench.quick else _ECHOES, _LINES)
    for kind, query in bench.queries.items():
        with opened(bench) as app:
            at_list(app)
            app.send("/")
            app.wait_quiet(QUIET)
            ours = _rounds(_in_reach(app, query), rounds, bench.rounds)
            left(app)
        echoed += echoes(bench, _ECHOES // 4)
        floor += echoes(bench, _ECHOES // 4, _LINES)
        yield Result(
            f"key → first hits painted, {kind}: `{query}`",
            ours,
            "key → repaint, one input",
            list(echoed),
            1.5,
            plus=30,
            statistic="95th percentile",
            floor=list(floor),
            floor_is=_FLOOR_IS,
        )


def _rounds(values: Iterator[float], wanted: int, least: int) -> list[float]:
    """So many of these, or fewer when they take too long."""
    found: list[float] = []
    end = time.perf_counter() + _PATIENCE
    while len(found) < least or (len(found) < wanted and time.perf_counter() < end):
        found.append(next(values))
    return found


def _open(app: PtyApp, place: Place) -> float:
    """Type a link into the search box and follow it."""
    asked(app, place.link)
    took = pressed(app, "enter", lambda lines: any(place.needle in line for line in lines))
    app.wait_quiet(QUIET)
    app.send("escape")
    app.wait_quiet(QUIET)
    return took


def transcripts(bench: Bench) -> Iterator[Result]:
    """Opened at an anchor, in the longest session and in a short one, in a new process each time."""
    long, short, other = bench.places(bench.rounds)
    found: tuple[list[float], list[float]] = ([], [])
    for run, pair in enumerate(zip(long, short, strict=True)):
        with opened(bench) as app:
            at_list(app)
            app.send("/")
            app.wait_quiet(QUIET)
            _open(app, other[run])  # the first of all pays for what is imported with it
            sides = (0, 1) if run % 2 else (1, 0)
            took = {side: _open(app, pair[side]) for side in sides}
            left(app)
        for side in sides:
            found[side].append(took[side])
    what = f"open at an anchor, session of {long[0].length:,}"
    yield Result(what, found[0], f"session of {short[0].length}", found[1], 1.5)


def moves(bench: Bench) -> Iterator[Result]:
    """Keys in the longest transcript."""
    place = bench.places(1)[0][0]
    presses = 3 if bench.quick else _ECHOES
    echoed = echoes(bench, presses)
    floor = echoes(bench, presses, _LINES, "pagedown")
    with opened(bench) as app:
        at_list(app)
        app.send("/")
        app.wait_quiet(QUIET)
        asked(app, place.link)
        pressed(app, "enter", lambda lines: any(place.needle in line for line in lines))
        app.wait_quiet(QUIET)
        measured = {
            "line": [settled(app, "down") for _ in range(presses)],
            "page": [settled(app, "pagedown") for _ in range(presses)],
            "end": [_and_back(app, "end", "home") for _ in range(presses // 2)],
            "find-next": list(_finding(app, presses)),
        }
        left(app)
    echoed += echoes(bench, presses)
    floor += echoes(bench, presses, _LINES, "pagedown")
    for name, values in measured.items():
        took = [value for value in values if value]
        if not took:
            raise RuntimeError(f"{name}: no key painted anything")
        remark = "" if len(took) == len(values) else f"{len(values) - len(took)} presses had nothing to paint"
        yield Result(
            f"transcript, {name}: key → repainted",
            took,
            "key → repaint, one input",
            echoed,
            5,
            statistic="95th percentile",
            remark=remark,
            floor=floor,
            floor_is=_FLOOR_IS,
        )


def _and_back(app: PtyApp, key: str, back: str) -> float:
    took = settled(app, key)
    settled(app, back)
    return took


def _edges(app: PtyApp) -> list[str]:
    """What stands above and below the transcript."""
    lines = app.text().splitlines()
    return [*lines[:3], *lines[-4:]]


def _finding(app: PtyApp, presses: int) -> Iterator[float]:
    app.send("/")
    app.wait_quiet(QUIET)
    app.send("the")
    app.wait_quiet(QUIET)
    app.send("enter")
    end = time.perf_counter() + _PATIENCE
    while time.perf_counter() < end and not _LOOKED.search("\n".join(_edges(app))):
        app.wait_quiet(QUIET)  # a long transcript is still being looked through
        time.sleep(QUIET)
    app.wait_quiet(2 * QUIET)
    for _ in range(presses):
        yield settled(app, "n")


def quits(bench: Bench) -> Iterator[Result]:
    """Left in the middle of the slowest query, and left when nothing runs."""
    found: tuple[list[float], list[float]] = ([], [])
    for run in range(bench.rounds):
        found[0].append(_quit(bench, run, busy=True))
        found[1].append(_quit(bench, run, busy=False))
    yield Result("quit during the slowest query (a scan of everything)", found[0], "quit when idle", found[1], 1.2)


def _quit(bench: Bench, run: int, *, busy: bool) -> float:
    with opened(bench) as app:
        at_list(app)
        app.send("/")
        app.wait_quiet(QUIET)
        asked(app, f"absent{run}")
        app.send("tab")
        app.wait_quiet(QUIET)
        if busy:
            app.press("X", quiet=0.01)
        return left(app)
