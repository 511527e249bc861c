"""What is first needed when a screen is opened, imported beforehand on a thread: no key should wait for it."""

from __future__ import annotations

from importlib import import_module
from threading import Event

OPENED = (
    "hermes_tui.domain.querytext",
    "hermes_tui.storage.search",
    "hermes_tui.storage.answering",
    "hermes_tui.storage.counting",
    "hermes_tui.service.searching",
    "hermes_tui.widgets.hits",
    "hermes_tui.screens.search",
    "hermes_tui.widgets.transcript.markdown",
    "hermes_tui.widgets.transcript.layout",
    "hermes_tui.widgets.transcript.view",
    "hermes_tui.storage.find",
    "hermes_tui.screens.transcript",
    "hermes_tui.service.ways",
    "hermes_tui.service.targeting",
    "hermes_tui.domain.nearkeys",
    "hermes_tui.domain.shown",
    "hermes_tui.storage.lineage",
    "hermes_tui.screens.lineage",
    "hermes_tui.storage.resume",
    "hermes_tui.service.installed",
    "hermes_tui.screens.resume",
    "hermes_tui.screens.help",
    "hermes_tui.screens.profiles",
    "hermes_tui.screens.bookmarked",
    "hermes_tui.palette",
    "hermes_tui.storage.targets",
    "concurrent.futures.thread",
    "ctypes",
)
"""By what one is likely to open first."""
PAUSE = 0.01
"""Seconds after each, for whoever else has something to do."""


def warm(stop: Event) -> None:
    """Import them all, until told to stop."""
    for name in OPENED:
        if stop.wait(PAUSE):
            return
        import_module(name)
