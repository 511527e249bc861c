"""Names of themes that are known to exist, so that a command that draws nothing need not import Textual to tell."""

from __future__ import annotations

VARIABLE = "HERMES_TUI_THEME"
"""Of the environment; it names a theme."""
OURS = frozenset({"auto", "dark", "light", "hermes-dark", "hermes-light", "hermes-ansi"})
TEXTUALS = frozenset(
    [
        "ansi-dark",
        "ansi-light",
        "atom-one-dark",
        "atom-one-light",
        "catppuccin-frappe",
        "catppuccin-latte",
        "catppuccin-macchiato",
        "catppuccin-mocha",
        "dracula",
        "flexoki",
        "gruvbox",
        "monokai",
        "nord",
        "rose-pine",
        "rose-pine-dawn",
        "rose-pine-moon",
        "solarized-dark",
        "solarized-light",
        "textual-dark",
        "textual-light",
        "tokyo-night",
    ]
)
"""Those that every Textual has which this program takes; a newer one may have more, and is asked."""
KNOWN = OURS | TEXTUALS
