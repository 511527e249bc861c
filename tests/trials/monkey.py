"""The monkey trial: random keys, mouse, pastes and resizes over a store under a live writer.

What is pressed depends on the seed alone, so that a run can be had again. Whatever it is: no exception, no hang,
no growing memory, no worker or thread that stays behind, and at the end the terminal is as it was.
"""

from __future__ import annotations

import os
import random
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textual.keys import _character_to_key

from hermes_tui.keys import PLACES, SMALL_PLACES
from tests.bench.ptyperf import KEYS
from tests.trials.driving import LiveWriter, Watched, complaints, copied

_EVERY = 50
"""Keys between two looks at the program."""
_TOLD = 1_000
"""Keys between two lines that say how it goes."""
_GROWTH = 1.15
"""How much more memory the last quarter of a long run may take than the second."""
_LONG = 4_000
"""Keys from which on memory has something to tell."""
_SENT = {**KEYS, "shift+left": "\x1b[1;2D", "shift+right": "\x1b[1;2C", "shift+up": "\x1b[1;2A", "f5": "\x1b[15~"}
_WORDS = (
    "quokkaflux",
    "the",
    "oauth",
    "TODO: fix",
    "昨晚",
    '"of the',
    "-source:cron",
    "is:branch",
    "after:30d",
    "zzzz",
)
_ODD = ("é", "ß", "中", "👨‍👩‍👧", "\u202e", "\u200b", "e\u0301", "[/]", "[red]", "%s", "\\", "`", "~")
_SIZES = ((80, 24), (120, 36), (160, 48), (40, 12), (20, 5), (250, 70), (1, 1), (99, 30), (100, 29))
_PROFILES = 2
"""Of the trial's home: its own, and `default`, which links name."""
_UNWANTED = {"ctrl+z", "ctrl+s", "ctrl+backslash"}


def _bound() -> list[str]:
    """What a terminal sends for every key that the program knows."""
    written = {_character_to_key(chr(code)): chr(code) for code in range(33, 127)}
    sent = []
    for place in (*PLACES.values(), *SMALL_PLACES.values()):
        for key in place:
            for name in key.keys.split(","):
                sent.append(_SENT.get(name) or written[name])
    return sent


@dataclass(frozen=True, slots=True)
class Stroke:
    """One thing that the monkey does."""

    data: bytes = b""
    size: tuple[int, int] | None = None


def strokes(seed: int) -> Iterator[Stroke]:
    """Without end."""
    chance = random.Random(f"monkey-{seed}")
    bound = _bound()
    moving = [_SENT[name] for name in ("down", "up", "enter", "escape", "tab", "pagedown", "end", "left", "right")]
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,-_/:?#'\"[]"
    others = [text for name, text in _SENT.items() if name not in _UNWANTED]
    while True:
        draw = chance.random()
        if draw < 0.4:
            yield Stroke(chance.choice(bound).encode())
        elif draw < 0.68:
            yield Stroke(chance.choice(moving).encode())
        elif draw < 0.76:
            yield Stroke(chance.choice(letters).encode())
        elif draw < 0.82:
            opener = chance.choice(("/", "f", ":", "#", "?", "P", "", ""))
            yield Stroke((opener + chance.choice(_WORDS) + chance.choice(("\r", "", "\x1b"))).encode())
        elif draw < 0.86:
            yield Stroke(chance.choice(_ODD).encode())
        elif draw < 0.9:
            yield Stroke(chance.choice(others).encode())
        elif draw < 0.96:
            yield Stroke(_mouse(chance))
        elif draw < 0.98:
            text = chance.choice((*_WORDS, *_ODD, "a\nb\r\nc", "x" * 3_000, "\x1b[2J", "@session:default/x"))
            yield Stroke(b"\x1b[200~" + text.encode() + b"\x1b[201~")
        else:
            yield Stroke(size=chance.choice(_SIZES))


def _mouse(chance: random.Random) -> bytes:
    x, y = chance.randrange(1, 161), chance.randrange(1, 49)
    if chance.random() < 0.3:
        return f"\x1b[<{chance.choice((64, 65))};{x};{y}M".encode()
    to_x, to_y = (x, y) if chance.random() < 0.7 else (chance.randrange(1, 161), chance.randrange(1, 49))
    drag = f"\x1b[<32;{to_x};{to_y}M" if (to_x, to_y) != (x, y) else ""
    click = f"\x1b[<0;{x};{y}M{drag}\x1b[<0;{to_x};{to_y}m"
    return (click * chance.choice((1, 1, 2))).encode()


@dataclass(slots=True)
class Outcome:
    """What a run of the trial has to tell."""

    keys: int = 0
    looks: list[dict[str, Any]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    writer: dict[str, Any] = field(default_factory=dict)
    screens: tuple[str, ...] = ()

    @property
    def growth(self) -> float:
        """Memory of the last quarter over that of the second."""
        sizes = [look["Rss"] for look in self.looks]
        quarter = len(sizes) // 4
        return (
            statistics.median(sizes[-quarter:]) / statistics.median(sizes[quarter : 2 * quarter]) if quarter else 1.0
        )

    def told(self) -> str:
        """One line."""
        rss = [look["Rss"] // 1_024 for look in self.looks] or [0]
        return (
            f"{self.keys} keys, {len(self.screens)} kinds of screens, {self.writer.get('steps', 0)} steps of the "
            f"writer, memory {rss[0]} → {rss[-1]} MB (last quarter / second {self.growth:.2f}), "
            f"{self.looks[-1]['statements'] if self.looks else 0} statements, {len(self.failures)} failures"
        )


def run(
    seed: int, keys: int, source: Path, folder: Path, *, say: Callable[[str], None] = lambda line: None
) -> Outcome:
    """So many keys. `source`: the store that is copied; `folder`: an empty one to work in."""
    outcome = Outcome()
    db = copied(source, folder / "home")
    writer = LiveWriter(db, seed, pause=0.1)
    done: list[bytes] = []
    try:
        with Watched(db.parent, folder / "report", stay=True) as watched:
            writer.go()
            try:
                _play(watched, seed, keys, outcome, done, say)
                _leave(watched, outcome)
            except (RuntimeError, TimeoutError, OSError) as error:
                outcome.failures.append(f"{type(error).__name__}: {error}")
                outcome.failures += complaints(watched.lines[-1]) if watched.lines else []
        outcome.writer = writer.end()
    finally:
        writer.kill()
    if outcome.writer["failed"]:
        outcome.failures.append(f"the writer failed: {outcome.writer['failed']}")
    if outcome.failures:
        path = folder / "keys"
        path.write_text("\n".join(map(repr, done)), "utf-8")
        outcome.failures.insert(0, f"seed {seed}, after {len(done)} keys ({path}); the last: {done[-30:]}")
    return outcome


def _play(
    watched: Watched, seed: int, keys: int, outcome: Outcome, done: list[bytes], say: Callable[[str], None]
) -> None:
    first = watched.look()
    outcome.looks.append(first)
    for number, stroke in zip(range(1, keys + 1), strokes(seed), strict=False):
        done.append(stroke.data or repr(stroke.size).encode())
        if stroke.size is not None:
            watched.app.resize(*stroke.size)
        else:
            watched.app.feed(stroke.data)
        outcome.keys = number
        if number % _EVERY == 0:
            told = watched.settled()
            watched.app.forget()
            outcome.looks.append(told)
            if found := complaints(told):
                outcome.failures += found
                return
            if number % _TOLD == 0:
                say(f"{number} keys: {told['Rss'] // 1_024} MB, {len(told['threads'])} threads, {told['screen']}")


def _too_many(threads: list[str]) -> dict[str, int]:
    """Kinds of threads of which there are more than there can be: asyncio's, as many as it makes on this machine; a
    reader's three, of the list and of each profile that a link led to; the rest once."""
    kinds = Counter(re.sub(r"[-_][0-9]+$", "", name) for name in threads)
    most = {"asyncio": min(32, (os.cpu_count() or 1) + 4), "reader": 3 * _PROFILES}
    return {kind: number for kind, number in kinds.items() if number > most.get(kind, 1)}


def _home(watched: Watched) -> dict[str, Any]:
    """Back to the list, by escapes; what the program is then."""
    watched.app.resize(120, 36)
    told = watched.settled()
    for _ in range(40 + 3 * told["depth"]):
        watched.app.feed(b"\x1b")
        watched.app.wait_quiet(0.12, 5)
        told = watched.settled()
        if told["depth"] <= 2 and told["screen"] == "BrowseScreen" and "Input" not in told["focus"]:
            break
    return told


def _leave(watched: Watched, outcome: Outcome) -> None:
    """At home again nothing is left behind; and out."""
    told = _home(watched)
    outcome.screens = tuple(told["screens"])
    outcome.failures += complaints(told)
    if told["screen"] != "BrowseScreen":
        outcome.failures.append(f"no way home from {told['screen']}, {told['depth']} deep; {watched.screen()}")
    first = outcome.looks[0]
    watched.app.wait_quiet(0.5, 10)
    told = watched.settled()
    for name, spare in (("workers", 3), ("tasks", 12)):
        if told[name] > first[name] + spare:
            outcome.failures.append(f"{name}: {first[name]} at first, {told[name]} at last")
    if odd := _too_many(told["threads"]):
        outcome.failures.append(f"threads: {odd}")
    if outcome.keys >= _LONG and outcome.growth > _GROWTH:
        outcome.failures.append(f"memory grows: {[look['Rss'] // 1_024 for look in outcome.looks]}")
    before = watched.app.raw()
    code = watched.quit()
    if code:
        outcome.failures.append(f"it ended with {code}")
    left = watched.app.raw()[len(before) :]
    for mode in (b"\x1b[?1049l", b"\x1b[?1000l", b"\x1b[?25h"):
        if mode not in left:
            outcome.failures.append(f"the terminal was left without {mode!r}")
