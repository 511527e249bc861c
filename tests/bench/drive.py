"""Time any terminal program, or look at it, from the command line.

python -m tests.bench.drive start -n 15 --needle READY -- python app.py
python -m tests.bench.drive keys  --needle READY --key down --count 50 -- python app.py
python -m tests.bench.drive shot  --needle READY --keys "down,down,enter" -- python app.py
"""

from __future__ import annotations

import argparse
import sys
import time

from tests.bench.ptyperf import Latency, PtyApp, summary


def start(argv: list[str], args: argparse.Namespace, size: tuple[int, int]) -> None:
    """First byte, first paint, exit, memory; the first run only warms the page cache."""
    figures: dict[str, list[float]] = {"first byte ms": [], "first paint ms": [], "exit ms": [], "rss MB": []}
    for run in range(args.n + 1):
        with PtyApp(argv, size) as app:
            painted = app.wait_for(args.needle)
            app.wait_quiet(0.1)
            memory = app.rss()["Rss"] / 1_024
            asked = time.perf_counter()
            app.send(args.exit_key)
            app.wait_exit()
            ended = time.perf_counter() - asked
        if run:
            first = app.chunks[0][0] - app.began
            measured = (first * 1_000, painted * 1_000, ended * 1_000, memory)
            for values, value in zip(figures.values(), measured, strict=True):
                values.append(value)
    for name, values in figures.items():
        print(f"{name:<16}{summary(values)}")


def keys(argv: list[str], args: argparse.Namespace, size: tuple[int, int]) -> None:
    """One key again and again."""
    with PtyApp(argv, size) as app:
        app.wait_for(args.needle)
        app.wait_quiet(0.3)
        found: list[Latency] = [app.press(args.key) for _ in range(args.count)]
        print("key → first byte ms ", summary([each.first for each in found]))
        print("key → first frame ms", summary([each.frame for each in found]))
        print("key → last byte ms  ", summary([each.last for each in found]))
        print("bytes per press     ", summary([each.bytes for each in found]))
        print("kB                  ", app.rss())
        app.send(args.exit_key)


def shot(argv: list[str], args: argparse.Namespace, size: tuple[int, int]) -> None:
    """The screen as text, after some keys."""
    with PtyApp(argv, size) as app:
        app.wait_for(args.needle)
        app.wait_quiet(0.3)
        for key in filter(None, args.keys.split(",")):
            app.press(key)
        print(app.text())
        app.send(args.exit_key)


def main() -> None:
    """Read the arguments before `--`; the rest is the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=["start", "keys", "shot"])
    parser.add_argument("-n", type=int, default=11)
    parser.add_argument("--needle", required=True, help="text that says that the program is there")
    parser.add_argument("--key", default="down")
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--keys", default="", help="comma-separated")
    parser.add_argument("--exit-key", default="ctrl+q")
    parser.add_argument("--size", default="120x40")
    cut = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    args = parser.parse_args(sys.argv[1:cut])
    width, _, height = args.size.partition("x")
    run = {"start": start, "keys": keys, "shot": shot}[args.mode]
    run(sys.argv[cut + 1 :], args, (int(width), int(height)))


if __name__ == "__main__":
    main()
