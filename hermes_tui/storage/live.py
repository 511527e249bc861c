"""Which sessions are open in a Hermes right now: the registry beside the database (FACTS 4.4). A registry that
is missing or broken means that nobody is known to be live; a process is believed only when it exists."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hermes_tui.paths import read_short
from hermes_tui.values import dataclass

_REGISTRY = Path("runtime") / "active_sessions.json"
_LARGEST = 16_000_000
"""Bytes; nothing that Hermes writes there comes near it."""
_START_TOLERANCE = 1.0
"""Seconds. Both sides reckon a start from the kernel's ticks and the time of boot; a number that the kernel
gave to another process differs by more."""


@dataclass(frozen=True, slots=True)
class Lease:
    """One session held open by one process that exists."""

    session_id: str
    pid: int
    surface: str
    """Where: `cli`, `tui`, `gateway` …"""
    started_at: float | None


def live_ids(home: Path) -> frozenset[str]:
    """Ids of the sessions that are open somewhere."""
    return frozenset(lease.session_id for lease in leases(home))


def leases(home: Path) -> list[Lease]:
    """Every session of this home that is open somewhere, with its process."""
    found = []
    for entry in _entries(home / _REGISTRY):
        session_id, pid = entry.get("session_id"), _pid(entry.get("pid"))
        if not isinstance(session_id, str) or not session_id or pid is None:
            continue
        if _runs(pid, _number(entry.get("process_start_time"))):
            surface = str(entry.get("surface") or "another window")
            found.append(Lease(session_id, pid, surface, _number(entry.get("started_at"))))
    return found


def _entries(path: Path) -> Iterable[dict[str, Any]]:
    try:
        text = read_short(path, _LARGEST).decode("utf-8-sig", "replace")
        import json

        data = json.loads(text)
    except (OSError, ValueError, RecursionError):
        return []  # no registry, or half a one: nobody is known to be live
    entries = data.get("entries") if isinstance(data, dict) else data
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def _pid(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    try:
        pid = int(value)
    except ValueError:
        return None
    return pid if 0 < pid < 2**31 else None


def _number(value: Any) -> float | None:
    try:
        number = float(value) if not isinstance(value, bool) else math.nan
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _runs(pid: int, started: float | None) -> bool:
    """Whether this very process exists. Only Linux tells when it started without help; elsewhere, and where
    the registry does not say, its number must do."""
    if sys.platform == "win32":
        return _runs_on_windows(pid)
    if sys.platform == "linux" and os.path.isdir("/proc/self"):
        state, since = _of_proc(pid)
        if state in (None, "Z", "X"):
            return False
        return started is None or since is None or abs(since - started) <= _START_TOLERANCE
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # it exists and is somebody else's
    except OSError:
        return False
    return True


def _of_proc(pid: int) -> tuple[str | None, float | None]:
    """State and start (epoch seconds) of a process; (None, None) when it does not exist."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return (None, None)
    fields = stat[stat.rfind(b")") + 1 :].split()
    if len(fields) < 20:
        return (None, None)
    boot = _boot_time()
    started = None if boot is None else boot + int(fields[19]) / os.sysconf("SC_CLK_TCK")
    return (fields[0].decode("ascii", "replace"), started)


def _boot_time() -> float | None:
    try:
        lines = Path("/proc/stat").read_bytes().splitlines()
    except OSError:
        return None
    found = [line for line in lines if line.startswith(b"btime ")]
    return float(found[0].split()[1]) if found else None


def _runs_on_windows(pid: int) -> bool:
    """There `os.kill(pid, 0)` is no question but a signal."""
    import ctypes

    query, still_active = 0x1000, 259
    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined,unused-ignore]  # exists on Windows only
    handle = kernel.OpenProcess(query, False, pid)
    if not handle:
        return bool(kernel.GetLastError() == 5)  # access denied: it exists
    code = ctypes.c_ulong()
    known = kernel.GetExitCodeProcess(handle, ctypes.byref(code))
    kernel.CloseHandle(handle)
    return not known or code.value == still_active
