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
    r"(?i:data):(?P<media>[\w.+-]+\\?/[\w.+-]+)?(?:;[^;:,\"<>\n]{0,100}(?:\"[^\"\n]{0,100}\")?){0,6};(?i:base64),"
    r"(?:[ \t](?=[A-Za-z0-9+/_-]{40}))?[A-Za-z0-9+/_=-]+(?:(?:\\{1,2}[/nr]|%(?i:2B|2F|3D))[A-Za-z0-9+/_=-]*)*"
    r"(?:(?:\r?\n[ \t]{0,16}|[ \t])[A-Za-z0-9+/_=-]{40,})*(?:\r?\n[A-Za-z0-9+/_-]{0,78}={1,2}(?!\w))?"
)
PAYLOAD_MARKS = ("base64,", "BASE64,", "Base64,")
"""One of these stands before what is taken out of a text."""
_PAYLOAD = re.compile(r'"(?:[A-Za-z0-9+/_-]|\\/){200,}={0,2}"')
"""A JSON string that is no words."""
_MEDIA_LINE = re.compile(
    r"^[ \t]*(?:(?P<kind>@image|MEDIA):(?P<quoted>`[^`\n]+`|\"[^\"\n]+\"|'[^'\n]+')?(?P<bare>[^\s`\"'][^\n]*?)?"
    r"|\[Image attached(?: at)?: (?P<hint>[^\]\n]+)\]|(?P<screen>\[screenshot\]))[ \t]*$",
    re.MULTILINE,
)
_LONGEST_LINE = 4_096
"""A line that names an attachment is not longer; what is need not be searched for blanks at its end."""
_PLACE = re.compile(r"\A\[(image|audio|video)\]\Z")
_TEXTS = frozenset({"text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal"})
_IMAGES = frozenset(
    {"image", "image_url", "image_file", "input_image", "output_image", "local_image", "computer_screenshot"}
)
_AUDIOS = frozenset({"audio", "input_audio", "output_audio", "audio_url"})
_VIDEOS = frozenset({"video", "video_url", "input_video"})
_MEDIA_TYPES = ("mime_type", "mimeType", "media_type", "mediaType")
_BYTES = ("data", "blob", "bytes")
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


def without_payloads(text: str) -> str:
    """`text` in which a placeholder stands for each data URL; JSON stays JSON."""
    if any(mark in text for mark in PAYLOAD_MARKS):
        return _DATA_URL.sub(lambda found: f"[{_family(found['media'] or '')}]", text)
    return text


def _placeholders(text: str) -> str:
    """Plain text: data URLs and the lines that stand for attachments become placeholders."""
    text = without_payloads(text)
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
    kind = media.partition("/")[0].rstrip("\\").lower()
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
    text, content = part.get("refusal" if kind == "refusal" else "text"), part.get("content")
    if isinstance(text, dict):
        text = text.get("value")
    if kind in _IMAGES or (kind is None and "image_url" in part):
        yield "[image]"
        yield from _caption(text)
    elif kind in _AUDIOS:
        yield "[audio]"
        yield from _caption(text)
    elif kind in _VIDEOS:
        yield "[video]"
        yield from _caption(text)
    elif isinstance(text, str) and (text or kind in _TEXTS):
        yield _placeholders(text)
    elif isinstance(content, str) and content:
        yield _placeholders(content)
    elif isinstance(content, list | dict) and content and depth:
        yield from _pieces(content if isinstance(content, list) else [content], depth - 1)
    elif kind in _FILES:
        inner = part.get("file")
        holders = (part, inner if isinstance(inner, dict) else {})
        names = (each.get(key) for each in holders for key in ("filename", "name", "title"))
        name = next((name for name in names if isinstance(name, str) and name), None)
        yield f"[file: {name}]" if name else "[file]"
    elif isinstance(text, list) and text and depth:
        yield from _pieces(text, depth - 1)
    elif (media := _media_in(part)) is not None:
        yield f"[{media}]"
    elif kind not in _TEXTS or text:
        yield _unknown(part, kind)


def _caption(text: object) -> Iterator[str]:
    if isinstance(text, str) and text:
        yield _placeholders(text)


def _media_in(part: dict[str, Any]) -> str | None:
    """What a part holds that is nothing but bytes and their type: in itself, or in the one object inside it."""
    for holder in (part, *(each for each in part.values() if isinstance(each, dict))):
        media = next((holder[key] for key in _MEDIA_TYPES if isinstance(holder.get(key), str)), None)
        if media is not None and any(isinstance(holder.get(key), str) for key in _BYTES):
            kind = _family(media)
            return "file" if kind == "data" else kind
    return None


def _unknown(part: dict[str, Any], kind: str | None) -> str:
    """A part of a kind nobody has told us of, as its JSON; its payloads named, not printed."""
    try:
        text = json.dumps(part, ensure_ascii=False)
    except (ValueError, RecursionError):
        return f"[{kind or 'part'}]"
    text = _PAYLOAD.sub('"[data]"', _placeholders(text))
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
    return without_payloads("\n\n".join(found)) or None


def _sidecar(raw: object) -> Iterator[str]:
    """Readable texts of a structured reasoning column; encrypted parts are not for people."""
    text = as_text(raw)
    if not text:
        return
    try:
        value = _unpacked(text)
    except ValueError:
        if text.lstrip()[:1] not in ("[", "{"):
            yield text.strip()
        return
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, str):
            yield item.strip()
        elif isinstance(item, dict):
            for name in ("text", "thinking", "summary", "content"):
                yield from _readable(item.get(name))


def _readable(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value.strip()
    elif isinstance(value, list):
        for part in value:
            text = part.get("text", part.get("refusal")) if isinstance(part, dict) else part
            if isinstance(text, str):
                yield text.strip()


def decode_items(raw: object) -> tuple[str, str]:
    """(answer, commentary) of a `codex_message_items` cell; phase `commentary` is not the answer. What is no JSON
    stands for the answer as it is."""
    text = as_text(raw)
    if not text.strip():
        return ("", "")
    try:
        value = _unpacked(text)
    except ValueError:
        return (_placeholders(text.strip()), "")
    answers: list[str] = []
    asides: list[str] = []
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, str):
            answers.append(item.strip())
        if not isinstance(item, dict) or item.get("type", "message") not in ("message", *_TEXTS):
            continue
        if (item.get("role") or "assistant") != "assistant":
            continue
        phase = str(item.get("phase") or "").strip().lower()
        parts = _readable(item.get("content")) if item.get("content") else _readable([item])
        said = "\n\n".join(part for part in parts if part)
        if said:
            (asides if phase == "commentary" else answers).append(said)
    return (_placeholders("\n\n".join(filter(None, answers))), _placeholders("\n\n".join(asides)))


def _unpacked(text: str) -> Any:
    """The JSON of a column, with or without the mark of structured content, encoded once or twice. Raises
    `ValueError`."""
    value = load_json(text.removeprefix(STRUCTURED))
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return load_json(value)
        except ValueError:
            return value
    return value
