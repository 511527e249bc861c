"""Making stored text safe to show, and numbers short; pure, and the only place that decides what is safe."""

from __future__ import annotations

import re
from typing import Any

_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but tab and newline, DEL, C1
    "\u00ad\u061c\u180e\u200b\u200e\u200f"  # soft hyphen, marks that steer direction, zero-width space
    "\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # separators, bidi, invisible operators
    "\ud800-\udfff\U000e0000-\U000e0fff]"  # lone surrogates, tag characters
)
_FLAG = "\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f"
_RETURNS = re.compile("\r\n?")
_SPACES = re.compile(r"\s+")


def _neutral(found: re.Match[str]) -> str:
    char = found[0]
    return " " if char in "\u2028\u2029" else "\ufffd"


def clean(text: str) -> str:
    """`text` with every character that could act on a terminal or turn the reading direction replaced.

    The length stays: offsets into the text are offsets into the result. Newlines and tabs stay, a carriage
    return becomes a newline (before one, a blank). Emoji flags keep their tags, joiners stay.
    """
    if text.isascii() and text.isprintable():
        return text
    if "\r" in text:
        text = _RETURNS.sub(lambda found: " \n" if len(found[0]) == 2 else "\n", text)
    if "\U0001f3f4" not in text:
        return _UNSAFE.sub(_neutral, text)
    out, at = [], 0
    for flag in re.finditer(_FLAG, text):
        out += [_UNSAFE.sub(_neutral, text[at : flag.start()]), flag[0]]
        at = flag.end()
    return "".join([*out, _UNSAFE.sub(_neutral, text[at:])])


def one_line(text: str, limit: int | None = None) -> str:
    """Safe, whitespace folded to single blanks, at most `limit` characters with a `…` after a cut."""
    if limit is None:
        if text.isascii() and text.isprintable() and "  " not in text:
            return text.strip()
        return _SPACES.sub(" ", clean(text)).strip()
    text = text.lstrip()
    rest = text[4 * limit + 64 :]
    line = _SPACES.sub(" ", clean(text[: 4 * limit + 64])).strip()
    if len(line) > limit or (rest and not rest.isspace()):
        return line[: limit - 1].rstrip() + "…"
    return line


def storable(text: str) -> str:
    """`text` without lone surrogates, so that it can be encoded; what a clipboard or an argument gets."""
    return text.encode("utf-8", "replace").decode("utf-8")


def to_json(value: Any, *, indent: int | None = 1) -> str:
    """JSON that keeps text faithful and writes control, bidi and surrogate characters as escapes."""
    import json

    text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    return _UNSAFE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    return "".join(f"\\u{unit:04x}" for unit in _units(char))


def _units(char: str) -> tuple[int, ...]:
    code = ord(char)
    if code < 0x10000:
        return (code,)
    code -= 0x10000
    return (0xD800 + (code >> 10), 0xDC00 + (code & 0x3FF))


def count(n: int, noun: str, plural: str | None = None) -> str:
    """`1 message`, `1,204 messages`."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def short(n: float) -> str:
    """Tokens as `182k`, `1.2M`."""
    if n < 1_000:
        return f"{n:.0f}"
    if n < 999_500:
        return f"{n / 1_000:.0f}k"
    return f"{n / 1_000_000:.1f}M" if n < 9_950_000 else f"{n / 1_000_000:.0f}M"


def size(n: int) -> str:
    """Bytes or characters as `412 B`, `1.2 KB`, `3.4 MB`."""
    if n < 1_000:
        return f"{n} B"
    for unit in ("KB", "MB", "GB"):
        n_of_unit = n / 1_000 if unit == "KB" else n / 1_000_000 if unit == "MB" else n / 1_000_000_000
        if n_of_unit < 999.5 or unit == "GB":
            return f"{n_of_unit:.1f} {unit}" if n_of_unit < 9.95 else f"{n_of_unit:.0f} {unit}"
    raise AssertionError("unreachable: the last unit takes everything")
