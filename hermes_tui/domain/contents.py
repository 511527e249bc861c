"""Any stored cell as readable text: structured content, images and media as placeholders, never base64.

Hermes stores lists and dicts as a NUL, `json:` and JSON (FACTS 6.9); damaged stores hold bytes, numbers and
half a JSON. Nothing here raises: what cannot be read as what it should be is shown as what it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

STRUCTURED = "\x00json:"
"""Begins a cell that holds a list or a dict."""
_DEEP = 8
"""Levels of nesting that a part of a message may have before it is shown as it is."""
_DATA_URL = re.compile(
    r"data:(?P<media>[\w.+-]+\\?/[\w.+-]+)?(?:;[\w.+=-]+)*;base64,[A-Za-z0-9+/\\_=-]{4,}"
    r"(?:\r?\n[A-Za-z0-9+/_=-]{40,})*(?:\r?\n[A-Za-z0-9+/_-]{0,78}={1,2}(?!\w))?"
)
_MEDIA_LINE = re.compile(
    r"^[ \t]*(?:(?P<kind>@image|MEDIA):(?P<quoted>`[^`\n]+`|\"[^\"\n]+\"|'[^'\n]+')?(?P<bare>[^\s`\"'][^\n]*?)?"
    r"|\[Image attached(?: at)?: (?P<hint>[^\]\n]+)\]|(?P<screen>\[screenshot\]))[ \t]*$",
    re.MULTILINE,
)
_LONGEST_LINE = 4_096
"""A line that names an attachment is not longer; what is need not be searched for blanks at its end."""
_PLACE = re.compile(r"\A\[(image|audio|video)\]\Z")
_TEXTS = frozenset({"text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal"})
_IMAGES = frozenset({"image", "image_url", "input_image", "output_image"})
_AUDIOS = frozenset({"audio", "input_audio", "output_audio", "audio_url"})
_VIDEOS = frozenset({"video", "video_url", "input_video"})
_FILES = frozenset({"file", "input_file", "document"})
_EXTENSIONS = {
    "image": ("png", "jpg", "jpeg", "gif", "webp", "bmp", "svg", "heic", "tif", "tiff", "avif"),
    "audio": ("mp3", "wav", "ogg", "oga", "opus", "m4a", "flac", "aac"),
    "video": ("mp4", "mov", "webm", "mkv", "avi", "m4v"),
}


def as_text(raw: object) -> str:
    """A cell as text, whatever its type: nothing for NULL, bytes decoded with replacement."""
    if isinstance(raw, str):
        return raw
    if raw is None:
        return ""
    return raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)


def load_json(text: str) -> Any:
    """The value that `text` stands for. Raises `ValueError` for all that is no JSON, too deep a one as well."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def decode_content(raw: object) -> str:
    """The text of a `content` cell, with placeholders for what is no text."""
    text = as_text(raw)
    if not text.startswith(STRUCTURED):
        return _placeholders(text)
    try:
        value = load_json(text[len(STRUCTURED) :])
    except ValueError:
        return _placeholders(text[1:])
    return value if isinstance(value, str) else _structured(value)


def _placeholders(text: str) -> str:
    """Plain text: data URLs and the lines that stand for attachments become placeholders."""
    if "base64," in text:
        text = _DATA_URL.sub(lambda found: f"[{_family(found['media'] or '')}]", text)
    if "@image:" in text or "MEDIA:" in text or "[screenshot]" in text or "[Image attached" in text:
        return _media_lines(text)
    return text


def _media_lines(text: str) -> str:
    """Lines that name an attachment, in runs: Hermes writes one `[screenshot]` more for each named image."""
    out: list[str] = []
    paths: list[tuple[str, str]] = []
    screens = 0

    def flush() -> None:
        nonlocal screens
        images = [path for kind, path in paths if kind == "image"]
        if images:
            number = f" ×{len(images)}" if len(images) > 1 else ""
            out.append(f"[image{number}: {', '.join(images)}]")
        if screens > len(images):
            out.append(_times("image", screens - len(images)))
        out.extend(f"[{kind}: {path}]" for kind, path in paths if kind != "image")
        paths.clear()
        screens = 0

    for line in text.split("\n"):
        found = _MEDIA_LINE.match(line) if len(line) <= _LONGEST_LINE else None
        path = "" if found is None else _path_of(found)
        if found is not None and found["screen"]:
            screens += 1
        elif found is not None and path:
            kind = "image" if found["kind"] != "MEDIA" else _kind_of_path(path)
            paths.append((kind, path))
        else:
            if paths or screens:
                flush()
            out.append(line)
    flush()
    return "\n".join(out)


def _path_of(found: re.Match[str]) -> str:
    return (found["quoted"] or "")[1:-1] or (found["bare"] or "").strip() or (found["hint"] or "").strip()


def _kind_of_path(path: str) -> str:
    extension = path.rpartition(".")[2].lower()
    return next((kind for kind, known in _EXTENSIONS.items() if extension in known), "file")


def _family(media: str) -> str:
    kind = media.partition("/")[0]
    return kind if kind in _EXTENSIONS else "data"


def _times(kind: str, number: int) -> str:
    return f"[{kind}]" if number == 1 else f"[{kind} ×{number}]"


def _structured(value: Any) -> str:
    """A list of parts, or one part: texts in their order, equal placeholders in a row counted."""
    parts = value if isinstance(value, list) else [value]
    pieces: list[str] = []
    named = 0  # images that the text before has named, each of which follows as a part of its own
    for piece in _pieces(parts, _DEEP):
        if piece == "[image]" and named:
            named -= 1
            continue
        if piece != "[image]":
            named = sum(int(found[1] or 1) for found in re.finditer(r"^\[image(?: ×(\d+))?: ", piece, re.MULTILINE))
        pieces.append(piece)
    return "\n".join(_counted(pieces))


def _counted(pieces: Iterable[str]) -> Iterator[str]:
    """`[image]`, `[image]` → `[image ×2]`."""
    kind, number = "", 0
    for piece in pieces:
        found = _PLACE.match(piece)
        if found and found[1] == kind:
            number += 1
            continue
        if number:
            yield _times(kind, number)
        kind, number = (found[1], 1) if found else ("", 0)
        if not found and piece:
            yield piece
    if number:
        yield _times(kind, number)


def _pieces(parts: Iterable[Any], depth: int) -> Iterator[str]:
    for part in parts:
        if isinstance(part, str):
            yield _placeholders(part)
        elif isinstance(part, list) and depth:
            yield from _pieces(part, depth - 1)
        elif isinstance(part, dict):
            yield from _part(part, depth)
        elif part is not None:
            yield json.dumps(part)


def _part(part: dict[str, Any], depth: int) -> Iterator[str]:
    kind = part.get("type")
    kind = kind if isinstance(kind, str) else None
    text, content = part.get("text"), part.get("content")
    if kind in _IMAGES or (kind is None and "image_url" in part):
        yield "[image]"
    elif kind in _AUDIOS:
        yield "[audio]"
    elif kind in _VIDEOS:
        yield "[video]"
    elif isinstance(text, str) and (text or kind in _TEXTS):
        yield _placeholders(text)
    elif isinstance(content, str) and content:
        yield _placeholders(content)
    elif isinstance(content, list | dict) and content and depth:
        yield from _pieces(content if isinstance(content, list) else [content], depth - 1)
    elif kind in _FILES:
        name = part.get("filename") or part.get("name") or part.get("title")
        yield f"[file: {name}]" if isinstance(name, str) else "[file]"
    elif kind not in _TEXTS:
        yield _unknown(part, kind)


def _unknown(part: dict[str, Any], kind: str | None) -> str:
    """A part of a kind nobody has told us of, as its JSON; its payloads named, not printed."""
    try:
        text = json.dumps(part, ensure_ascii=False)
    except (ValueError, RecursionError):
        return f"[{kind or 'part'}]"
    text = _placeholders(text)
    return f"[{kind}]" if kind and len(text) > 2_000 else text


def decode_metadata(raw: object) -> dict[str, Any]:
    """A `display_metadata` cell, which older builds encoded twice; {} for all that is no object."""
    value: Any = as_text(raw) if not isinstance(raw, dict) else raw
    for _ in range(2):
        if isinstance(value, str) and value:
            try:
                value = load_json(value)
            except ValueError:
                return {}
    return value if isinstance(value, dict) else {}


def decode_reasoning(reasoning: object, content: object, details: object, items: object) -> str | None:
    """What an answer was thought out with, from the four columns that may hold it, each text once."""
    found: list[str] = []
    for text in (
        as_text(reasoning).strip(),
        decode_content(content).strip(),
        *_sidecar(details),
        *_sidecar(items),
    ):
        if text and not any(text in known for known in found):
            found = [known for known in found if known not in text]
            found.append(text)
    return "\n\n".join(found) or None


def _sidecar(raw: object) -> Iterator[str]:
    """Readable texts of a structured reasoning column; encrypted parts are not for people."""
    text = as_text(raw)
    if not text:
        return
    try:
        value = load_json(text)
    except ValueError:
        if text.lstrip()[:1] not in ("[", "{"):
            yield text.strip()
        return
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, str):
            yield item.strip()
        elif isinstance(item, dict):
            for name in ("text", "summary", "content"):
                yield from _readable(item.get(name))


def _readable(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value.strip()
    elif isinstance(value, list):
        for part in value:
            text = part.get("text") if isinstance(part, dict) else part
            if isinstance(text, str):
                yield text.strip()


def decode_items(raw: object) -> tuple[str, str]:
    """(answer, commentary) of a `codex_message_items` cell; phase `commentary` is not the answer."""
    text = as_text(raw)
    if not text:
        return ("", "")
    try:
        value = load_json(text)
    except ValueError:
        return ("", "")
    answers: list[str] = []
    asides: list[str] = []
    for item in value if isinstance(value, list) else [value]:
        if not isinstance(item, dict) or item.get("type", "message") != "message":
            continue
        if item.get("role", "assistant") != "assistant":
            continue
        phase = str(item.get("phase") or "").strip().lower()
        said = "\n\n".join(part for part in _readable(item.get("content")) if part)
        if said:
            (asides if phase == "commentary" else answers).append(said)
    return ("\n\n".join(answers), "\n\n".join(asides))
