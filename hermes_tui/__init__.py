"""hermes-tui: browse, search, read and resume Hermes Agent sessions, strictly read-only."""

__version__ = "0.1.0"
