"""The app: turns intents into screens, so that screens do not know each other; themes, global keys, the way out."""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from textual import work
from textual.app import SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.theme import Theme
from textual.worker import WorkerFailed

from hermes_tui import handover, intents, paths, times
from hermes_tui.clipboard import Clipboard, How
from hermes_tui.domain.links import parse_link
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.domain.sessions import ConversationKey
from hermes_tui.errors import HermesTuiError, TargetAmbiguous, UsageError
from hermes_tui.intents import HandOver, PrintAndQuit
from hermes_tui.keyflow import OneKeyAtATime
from hermes_tui.keys import EVERYWHERE
from hermes_tui.screens.base import BaseScreen
from hermes_tui.screens.browse import BrowseScreen
from hermes_tui.service.sessions import SessionService
from hermes_tui.settings import Settings
from hermes_tui.text import clean, one_line
from hermes_tui.widgets import themes

SHEETS = "app widgets browse search transcript lineage resume help profiles missing".split()
ENDING = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}
"""Signals that end the app in good order, and the code it leaves with."""


def connect_to_sqlite(stores: Sequence[StoreRef]) -> SessionService:
    """The service that reads databases."""
    from hermes_tui.service.sqlite import SqliteSessionService

    return SqliteSessionService(stores)


class HermesApp(OneKeyAtATime[HandOver | PrintAndQuit]):
    """`run()` returns None, or what the command line has to carry out once the terminal is its own again."""
