"""The seed of everything that tests draw: the same in every run, another one on demand.

HERMES_TUI_TEST_SEED=7 pytest tests/test_search_recall.py
"""

from __future__ import annotations

import os

SEED = int(os.environ.get("HERMES_TUI_TEST_SEED", "20261130"))
