"""The colours: two themes of our own, and roles for every other theme (the palette's contrasts are tested)."""

from __future__ import annotations

from textual.color import Color
from textual.theme import Theme

DARK = {
    "ground": "#12100C",  # the page
    "raised": "#1E1A14",  # query box, prompts, code, panels
    "cursor": "#2E2618",  # the row under the cursor
    "hairline": "#3D362B",  # the one line between panes; never text
    "guide": "#6E675C",  # tree lines, table rules, scroll thumb: seen, not read
    "ink": "#FFF8DC",  # titles and the words of the person
    "soft": "#D3CAB2",  # prose of the assistant, labels that matter
    "quiet": "#8B8682",  # facts, times, tags, hints
    "lit": "#B3AB9C",  # quiet, on cursor and raised grounds
    "gold": "#DAA520",  # accent: you
    "match": "#FFD057",  # a match …
    "match-ground": "#4A3508",
    "now": "#12100C",  # … and the match you are at
    "now-ground": "#F2B93B",
    "good": "#8FBC8F",  # the assistant, live, checked
    "bad": "#CD5C5C",  # failed, gone
    "bad-lit": "#E38A82",  # bad, on cursor and raised grounds
    "code": "#C9B48A",  # inline code
    "code-text": "#A9BF9B",  # a string
    "code-number": "#D2A184",
}

LIGHT = {
    "ground": "#FBF8EF",
    "raised": "#F3EDDD",
    "cursor": "#EADFC3",
    "hairline": "#D6CBB3",
    "guide": "#9A907E",
    "ink": "#211C14",
    "soft": "#433C2F",
    "quiet": "#6D6558",
    "lit": "#5A5346",
    "gold": "#805900",
    "match": "#3A2900",
    "match-ground": "#FFDF85",
    "now": "#FFFFFF",
    "now-ground": "#805900",
    "good": "#35693A",
    "bad": "#A62F2F",
    "bad-lit": "#962626",
    "code": "#6B4E16",
    "code-text": "#3F6337",
    "code-number": "#8F4A26",
}

ANSI = {
    **dict.fromkeys(DARK, "ansi_default"),
    "hairline": "ansi_bright_black",
    "guide": "ansi_bright_black",
    "gold": "ansi_yellow",
    "match": "ansi_yellow",
    "now": "ansi_yellow",
    "good": "ansi_green",
    "bad": "ansi_red",
    "bad-lit": "ansi_red",
    "code": "ansi_cyan",
    "code-text": "ansi_green",
    "code-number": "ansi_magenta",
}
"""For sixteen colours: the terminal's own. Grounds are said by reversing (see the style sheet)."""
TEXT, GUIDE = 4.5, 2.5
"""Contrasts that text, and lines that are seen rather than read, must have."""
_LIES_ON = {
    "match": ("match-ground",),
    "now": ("now-ground",),
    "code-text": ("raised",),
    "code-number": ("raised",),
    "lit": ("raised", "cursor", "hairline"),
    "quiet": ("ground", "raised"),
    "guide": ("ground",),
}
_GROUNDS = ("ground", "raised", "cursor")


def contrast(ink: Color, ground: Color) -> float:
    """WCAG contrast, 1 to 21."""
    lighter, darker = sorted((_luminance(ink), _luminance(ground)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: Color) -> float:
    parts = [part / 255 for part in color.rgb]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def roles(of: Theme) -> dict[str, str]:
    """Our roles in the colours of any other theme, mixed until they can be read."""
    if of.ansi:
        return ANSI
    made = of.to_color_system().generate()
    ink, ground = Color.parse(made["foreground"]), Color.parse(made["background"])
    accent, warning = Color.parse(made["accent"]), Color.parse(made["warning"])
    good, bad = Color.parse(made["success"]), Color.parse(made["error"])
    second = Color.parse(made["secondary"])
    found = {
        "ground": ground,
        "raised": ground.blend(ink, 0.05),
        "cursor": ground.blend(accent, 0.16),
        "hairline": ground.blend(ink, 0.16),
        "match-ground": ground.blend(warning, 0.3),
        "now-ground": accent,
        "guide": ground.blend(ink, 0.4),
        "ink": ink,
        "soft": ground.blend(ink, 0.85),
        "quiet": ground.blend(ink, 0.6),
        "lit": ground.blend(ink, 0.7),
        "gold": accent,
        "match": warning,
        "now": ground,
        "good": good,
        "bad": bad,
        "bad-lit": bad,
        "code": second,
        "code-text": good,
        "code-number": warning,
    }
    for role in DARK:
        if role not in (*_GROUNDS, "hairline", "match-ground", "now-ground"):
            under = [found[name] for name in _LIES_ON.get(role, _GROUNDS)]
            found[role] = _readable(found[role], under, GUIDE if role == "guide" else TEXT)
    return {role: color.hex6 for role, color in found.items()}


def _readable(color: Color, grounds: list[Color], least: float) -> Color:
    """This colour, moved towards black or white as far as it takes to be read on all of these."""
    if all(contrast(color, ground) >= least for ground in grounds):
        return color
    poles = (Color(255, 255, 255), Color(0, 0, 0))
    pole = max(poles, key=lambda each: min(contrast(each, ground) for ground in grounds))
    for step in range(1, 21):
        moved = color.blend(pole, step / 20)
        if all(contrast(moved, ground) >= least for ground in grounds):
            return moved
    return pole


def theme(name: str, *, dark: bool, ink: dict[str, str]) -> Theme:
    """A Textual theme whose variables are our roles, each prefixed `h-`."""
    return Theme(
        name=name,
        dark=dark,
        primary=ink["gold"],
        accent=ink["gold"],
        warning=ink["gold"],
        success=ink["good"],
        error=ink["bad"],
        foreground=ink["ink"],
        background=ink["ground"],
        surface=ink["ground"],
        panel=ink["raised"],
        variables={f"h-{role}": colour for role, colour in ink.items()},
    )


HERMES_DARK = theme("hermes-dark", dark=True, ink=DARK)
HERMES_LIGHT = theme("hermes-light", dark=False, ink=LIGHT)
HERMES_ANSI = Theme(
    name="hermes-ansi",
    ansi=True,
    dark=True,
    primary="ansi_yellow",
    accent="ansi_yellow",
    warning="ansi_yellow",
    success="ansi_green",
    error="ansi_red",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
    variables={f"h-{role}": colour for role, colour in ANSI.items()},
)
OWN = (HERMES_DARK, HERMES_LIGHT, HERMES_ANSI)
