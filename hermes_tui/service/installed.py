"""What the installed `hermes` can do: asked of the program itself, with a home of its own to write into."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile

from hermes_tui.storage.resume import STAY

_PATIENCE = 20.0
"""Seconds. Hermes takes two or three to say what it can do."""


async def can_stay() -> bool:
    """Whether the `hermes` on PATH can be told to stay in the present directory."""
    program = shutil.which("hermes")
    if program is None:
        return False
    with tempfile.TemporaryDirectory(prefix="hermes-tui-", ignore_cleanup_errors=True) as home:
        return STAY in await _help(program, home)


async def _help(program: str, home: str) -> str:
    try:
        asked = await asyncio.create_subprocess_exec(
            program,
            "--help",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, "HERMES_HOME": home},
        )
    except OSError:
        return ""
    try:
        said, _ = await asyncio.wait_for(asked.communicate(), _PATIENCE)
    except TimeoutError:
        return ""
    finally:
        if asked.returncode is None:
            asked.kill()
            await asked.wait()
    return said.decode("utf-8", "replace")
