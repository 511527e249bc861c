"""Textual's SVG of a screen made plain (no window, no fonts from elsewhere), and PNG of it.

rsvg-convert ignores `textLength`, and Fira Code has ligatures: for a PNG every character becomes an element of its
own on the grid, and blocks and lines become rectangles, so that they meet.
"""

from __future__ import annotations

import html
import io
import math
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, cast

from rich.cells import cell_len

if TYPE_CHECKING:
    from PIL import Image

CELL, ROW = 12.2, 24.4
_BASELINE = 18.5
"""How far below the top of its row a character stands."""
_DOWN, _ACROSS = (0.46, 0, 0.54, 1), (0, 0.48, 1, 0.53)
_BLOCKS = {
    "│": (_DOWN,),
    "┃": ((0.40, 0, 0.60, 1),),
    "─": (_ACROSS,),
    "├": (_DOWN, (0.46, 0.48, 1, 0.53)),
    "└": ((0.46, 0, 0.54, 0.53), (0.46, 0.48, 1, 0.53)),
    "━": ((0, 0.44, 1, 0.56),),
    "┿": (_DOWN, (0, 0.44, 1, 0.56)),
    "▌": ((0, 0, 0.5, 1),),
    "▐": ((0.5, 0, 1, 1),),
    "█": ((0, 0, 1, 1),),
    "▎": ((0, 0, 0.25, 1),),
    "▏": ((0, 0, 0.125, 1),),
}
"""Left, top, right, bottom of each stroke, as shares of a cell."""
_TEXT = re.compile(r'<text class="(\S+-r\d+)" x="([\d.]+)" y="([\d.]+)" textLength[^>]*>(.*?)</text>')
_WIDTH = 1_200
_COLOURS = 256
_FILL = re.compile(r'fill[:=]"? ?(#[0-9a-f]{6})')


def plain(svg: str) -> str:
    """Without the window's frame and buttons, without names that change from run to run."""
    svg = re.sub(r"terminal-\d+-", "t-", svg)
    svg = re.sub(r"@font-face\s*\{.*?\}\s*", "", svg, flags=re.DOTALL)
    size = re.search(r'<rect x="0" y="0" width="([\d.]+)" height="([\d.]+)"', svg)
    ground = re.search(r'<rect fill="(#\w+)" x="0" y="1.5"', svg)
    assert size is not None
    assert ground is not None
    width, height = float(size[1]), float(size[2])
    svg = re.sub(r'viewBox="[^"]*"', f'viewBox="-3 31 {width + 24:g} {height + 24:g}"', svg, count=1)
    margin = f'<rect x="-9" y="0" width="200%" height="200%" fill="{ground[1]}"/>'
    svg = re.sub(r'<rect fill="#292929".*?</g>', margin, svg, count=1, flags=re.DOTALL)
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def on_grid(svg: str) -> str:
    """One element per character."""
    fills = dict(re.findall(r"\.(\S+-r\d+) \{ fill: (#\w+)", svg))

    def split(found: re.Match[str]) -> str:
        name, x, y, text = found[1], float(found[2]), float(found[3]), html.unescape(found[4])
        parts = []
        for char in text:
            cells = cell_len(char)
            if char in _BLOCKS:
                parts.append(_block(char, x, y - _BASELINE, fills[name]))
            elif char not in " \xa0":
                shift = 2.2 if cells == 2 else 0
                parts.append(f'<text class="{name}" x="{x + shift:.1f}" y="{y}">{html.escape(char)}</text>')
            x += CELL * cells
        return "".join(parts)

    return _TEXT.sub(split, re.sub(r' clip-path="[^"]*"', "", svg))


def _block(char: str, x: float, top: float, fill: str) -> str:
    return "".join(
        f'<rect fill="{fill}" x="{x + left * CELL:.1f}" y="{top + upper * ROW:.1f}" '
        f'width="{(right - left) * CELL:.1f}" height="{(lower - upper) * ROW:.1f}"/>'
        for left, upper, right, lower in _BLOCKS[char]
    )


def write_png(svg: str, to: Path, converter: str) -> None:
    """`converter` is rsvg-convert; needs the fonts Fira Code, Noto Sans CJK and Symbola: without one of them
    boxes stand for its characters."""
    from PIL import Image

    command = [converter, "-w", str(_WIDTH)]
    made = subprocess.run(command, input=on_grid(svg).encode(), stdout=subprocess.PIPE, check=True)
    with Image.open(io.BytesIO(made.stdout)) as image:
        _few_colours(image.convert("RGB"), named_colours(svg)).save(to, optimize=True)


def named_colours(svg: str) -> list[tuple[int, int, int]]:
    """The inks and grounds of a picture: what no PNG of it may lose."""
    return [(int(fill[1:3], 16), int(fill[3:5], 16), int(fill[5:7], 16)) for fill in sorted(set(_FILL.findall(svg)))]


def _few_colours(image: Image.Image, named: list[tuple[int, int, int]]) -> Image.Image:
    """With a palette that keeps every named colour: a median over all pixels drops the accents, which are rare."""
    from PIL import Image

    counted = cast("list[tuple[int, tuple[int, int, int]]]", image.getcolors(1 << 24))
    weighed = [colour for count, colour in counted for _ in range(min(8, math.ceil(count**0.25)))]
    strip = Image.new("RGB", (len(weighed), 1))
    strip.putdata(weighed)
    others = _COLOURS - len(named)
    blends = strip.quantize(others, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).getpalette() or []
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for colour in named for part in colour] + blends[: others * 3])
    return image.quantize(palette=palette, dither=Image.Dither.NONE)
