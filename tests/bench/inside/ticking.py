"""The program as it is, with a clock.

TICKS=FILE python ticking.py ARGUMENTS…
"""

from __future__ import annotations

import sys

from clock import Clock

import hermes_tui.app
from hermes_tui.cli import main


class Ticking(Clock, hermes_tui.app.HermesApp):
    """Both are mounted: Textual calls the handler of each class."""


hermes_tui.app.HermesApp = Ticking  # type: ignore[misc]  # the command line makes the app itself
sys.exit(main())
