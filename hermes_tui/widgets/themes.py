"""The colours: two themes of our own, and roles for every other theme (the palette's contrasts are tested)."""

from __future__ import annotations

from functools import cache

from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from hermes_tui.errors import ThemeMissing

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

DARK_256 = {
    "ground": "#121212",
    "raised": "#1C1C1C",
    "cursor": "#303030",
    "hairline": "#3A3A3A",
    "guide": "#6C6C6C",
    "ink": "#FFFFD7",
    "soft": "#D7D7AF",
    "quiet": "#8A8A8A",
    "lit": "#B2B2B2",
    "gold": "#D7AF00",
    "match": "#FFD75F",
    "match-ground": "#5F5F00",
    "now": "#121212",
    "now-ground": "#FFAF00",
    "good": "#87AF87",
    "bad": "#D75F5F",
    "bad-lit": "#D78787",
    "code": "#D7AF87",
    "code-text": "#87AF87",
    "code-number": "#D7875F",
}
LIGHT_256 = {
    "ground": "#FFFFFF",
    "raised": "#EEEEEE",
    "cursor": "#E4E4E4",
    "hairline": "#D0D0D0",
    "guide": "#949494",
    "ink": "#1C1C1C",
    "soft": "#444444",
    "quiet": "#6C6C6C",
    "lit": "#585858",
    "gold": "#5F5F00",
    "match": "#1C1C1C",
    "match-ground": "#FFD787",
    "now": "#FFFFFF",
    "now-ground": "#875F00",
    "good": "#005F00",
    "bad": "#AF0000",
    "bad-lit": "#870000",
    "code": "#5F5F00",
    "code-text": "#005F00",
    "code-number": "#875F00",
}
"""Our two themes for terminals of 256 colours: left to itself Textual would make most of their grounds black."""
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
    "bad": ("ground",),
    "bad-lit": ("raised", "cursor"),
}
_GROUNDS = ("ground", "raised", "cursor")
_UNDER = (*_GROUNDS, "hairline", "match-ground", "now-ground")
"""Roles that something lies on."""


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
        if role not in _UNDER:
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


def in_256(ink: dict[str, str]) -> dict[str, str]:
    """The same roles in the colours that a terminal of 256 has: grounds stay apart from each other, inks legible."""
    if any(not colour.startswith("#") for colour in ink.values()):
        return ink
    wanted = {role: Color.parse(colour) for role, colour in ink.items()}
    found: dict[str, Color] = {}
    for role in _UNDER:
        free = [each for each in _palette() if each not in found.values()]
        found[role] = min(free, key=lambda each: _distance(each, wanted[role]))
    for role, colour in wanted.items():
        if role not in _UNDER:
            least = GUIDE if role == "guide" else TEXT
            under = [found[name] for name in _LIES_ON.get(role, _GROUNDS)]
            legible = [each for each in _palette() if all(contrast(each, ground) >= least for ground in under)]
            found[role] = min(legible or _palette(), key=lambda each: _distance(each, colour))
    return {role: colour.hex6 for role, colour in found.items()}


@cache
def _palette() -> tuple[Color, ...]:
    """Colours 16 to 255: a cube and a ramp of greys; the first sixteen are anybody's guess."""
    steps = (0, 95, 135, 175, 215, 255)
    cube = [Color(red, green, blue) for red in steps for green in steps for blue in steps]
    return (*cube, *(Color(grey, grey, grey) for grey in range(8, 248, 10)))


def _distance(a: Color, b: Color) -> float:
    """How different two colours look, roughly: eyes forgive blue and red more than green."""
    mean = (a.r + b.r) / 512
    return (2 + mean) * (a.r - b.r) ** 2 + 4 * (a.g - b.g) ** 2 + (3 - mean) * (a.b - b.b) ** 2


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
    variables={
        **BUILTIN_THEMES["ansi-dark"].variables,
        **{f"h-{role}": colour for role, colour in ANSI.items()},
    },
)
OWN = (HERMES_DARK, HERMES_LIGHT, HERMES_ANSI)
MEANT = {"auto": HERMES_DARK.name, "dark": HERMES_DARK.name, "light": HERMES_LIGHT.name}
"""What may be said instead of a theme's name."""


def require(name: str) -> None:
    """Raises `ThemeMissing` for a theme that does not exist."""
    names = {*BUILTIN_THEMES, *(each.name for each in OWN)}
    if name not in names and name not in MEANT:
        raise ThemeMissing(f"there is no theme {name!r}; there are {', '.join((*MEANT, *sorted(names)))}")
