"""Imports that leave out what they would bring along and nobody here needs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without(name: str) -> Iterator[None]:
    """What is imported meanwhile finds no module of this name, as in a Python that was built without it; afterwards
    it can be imported as ever. A module that has been imported already stays."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]  # how Python is told that there is none
    try:
        yield
    finally:
        del sys.modules[name]
