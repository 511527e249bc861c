"""Known vulnerabilities in what is installed with this program: `python -m tests.audit`.

Fails (1) for one in a library that users get. One in a tool of this project is said. Where the data cannot be
reached nothing fails, and it is said that nothing was looked up: silence would look like a clean bill.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import metadata
from typing import Any

PROGRAM = "hermes-tui"
PATIENCE = 180
"""Seconds."""


def plain(name: str) -> str:
    """A distribution's name as they are compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def shipped(name: str = PROGRAM) -> set[str]:
    """What users get with the program: its requirements and theirs, without the extras of tests and tools."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        at = plain(waiting.pop())
        if at in found:
            continue
        found.add(at)
        try:
            wanted = metadata.requires(at) or []
        except metadata.PackageNotFoundError:
            continue
        waiting += [re.split(r"[\s;<>=!~\[(]", each)[0] for each in wanted if "extra ==" not in each]
    return found - {plain(name)}


def judged(report: Any, users: set[str]) -> tuple[int, list[str]]:
    """Exit code, and what to say, of a report of pip-audit."""
    dependencies = report["dependencies"]
    looked_up = [each for each in dependencies if "vulns" in each]
    names = {plain(each["name"]) for each in looked_up}
    said, code = [], 0
    for each in looked_up:
        for vuln in each["vulns"]:
            ours = plain(each["name"]) in users
            code = max(code, int(ours))
            fixed = ", ".join(vuln.get("fix_versions") or ()) or "no version yet"
            whose = "given to users" if ours else "a tool of this project only"
            said.append(f"{each['name']} {each['version']}: {vuln['id']}, fixed in {fixed} ({whose})")
    unseen = sorted(users - names)
    if unseen:
        said.append(f"NOT LOOKED UP, there is no data for: {', '.join(unseen)}")
    said.append(f"{len(names & users)} of {len(users)} libraries that users get were looked up")
    return code, said


def main() -> int:
    """Ask, and say."""
    argv = [sys.executable, "-m", "pip_audit", "--local", "--progress-spinner", "off", "--format", "json"]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE, check=False)
        report = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError) as error:
        print(f"NOT LOOKED UP: the data on vulnerabilities cannot be reached ({type(error).__name__})")
        return 0
    code, said = judged(report, shipped())
    print("\n".join(said))
    return code


if __name__ == "__main__":
    sys.exit(main())
