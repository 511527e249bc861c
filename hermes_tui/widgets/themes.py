"""The colours: two themes of our own, and roles for every other theme (the palette's contrasts are tested)."""

from __future__ import annotations

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

FALLBACK = {
    "ground": "$background",
    "raised": "$surface",
    "cursor": "$panel",
    "hairline": "$panel",
    "guide": "$foreground-disabled",
    "ink": "$foreground",
    "soft": "$foreground",
    "quiet": "$foreground-muted",
    "lit": "$foreground-muted",
    "gold": "$accent",
    "match": "$background",
    "match-ground": "$warning",
    "now": "$background",
    "now-ground": "$accent",
    "good": "$success",
    "bad": "$error",
    "bad-lit": "$error",
    "code": "$secondary",
    "code-text": "$success",
    "code-number": "$warning",
}
"""Each role in terms of Textual's own variables, for themes that are not ours."""


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
