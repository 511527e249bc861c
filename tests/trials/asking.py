"""The worker of the fuzz trial: runs commands in one process, one after the other, and tells what came of each.

A line of JSON in, `{"argv": […]}`, and a line out: exit code, stdout and stderr, the traceback if there was one,
and every statement that was no reading. It lives on until its input ends.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import json
import sys
import threading
import time
import traceback
from typing import Any, TextIO

from hermes_tui.cli import main
from hermes_tui.storage import connection
from tests.watching import Statements

_ENDING = 2.0
"""Seconds that a thread which has answered may take to be gone: on a busy machine that is not at once."""


class _Bytes(io.TextIOWrapper):
    """A stdout that is kept in memory, with the buffer that writers of bytes ask for."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", errors="surrogateescape", write_through=True)

    def said(self) -> str:
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode("utf-8", "surrogateescape")


def ask(argv: list[str]) -> dict[str, Any]:
    """Run one command."""
    seen = Statements()
    connection.trace = seen
    out, err, broken = _Bytes(), _Bytes(), ""
    code = -1
    threads = threading.active_count()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(argv)
        except SystemExit as ended:
            broken = f"SystemExit {ended.code}"
        except BaseException:  # whatever it is, it is what this trial looks for
            broken = traceback.format_exc()
    end = time.monotonic() + _ENDING
    while (left := threading.active_count() - threads) > 0 and time.monotonic() < end:
        time.sleep(0.01)
    return {
        "code": code,
        "out": out.said(),
        "err": err.said(),
        "broken": broken,
        "writing": seen.writing,
        "statements": len(seen.all),
        "threads": left,
    }


def serve(asked: TextIO, answers: TextIO) -> None:
    """Until there is nothing more to ask."""
    for line in asked:
        answers.write(json.dumps(ask(json.loads(line)["argv"])) + "\n")
        answers.flush()


if __name__ == "__main__":
    faulthandler.enable()
    serve(sys.stdin, sys.stdout)
