"""`python -m hermes_tui`."""

from __future__ import annotations

import sys

from hermes_tui.cli import main

if __name__ == "__main__":
    sys.exit(main())
