"""Tool calls and what came back, in the few words that a folded line has room for."""

from __future__ import annotations

import json
import re
from typing import Any

from hermes_tui.domain.contents import without_payloads
from hermes_tui.text import count, one_line, size
from hermes_tui.values import dataclass

_MAIN_ARGUMENTS = (
    *("command", "cmd", "path", "file_path", "filename", "query", "url", "urls", "pattern", "code", "prompt"),
    *("goal", "question", "name", "action", "text", "content"),
)
"""What a call is about, the most telling first."""
_MAIN_RESULTS = ("output", "content", "diff", "stdout", "result", "text", "matches_text", "summary", "message")
_HEAD = re.compile(r'\s{0,20}\{\s{0,20}"(?P<key>\w{1,40})"\s{0,20}:\s{0,20}"')
_ESCAPE = re.compile(
    r"\\u(?P<high>[dD][89abAB][\da-fA-F]{2})\\u(?P<low>[dD][c-fC-F][\da-fA-F]{2})|\\(?:u[\da-fA-F]{4}|[\"\\/bfnrt])"
)
_ESCAPED = {"b": "", "f": "", "n": "\n", "r": "\r", "t": "\t"}
_FAILED = re.compile(r"(?:error|traceback)\b", re.IGNORECASE)
_LARGEST = 300_000
"""JSON longer than this is not read, only shown."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a call was given."""

    summary: str
    """On one line, as stored otherwise; not yet cut to any width."""
    details: tuple[tuple[str, str], ...]
    """(name, value) of everything that the summary does not show whole."""
    language: str = ""
    """Of the code among them: the ending of the file that it goes to."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came back."""

    text: str
    """What there is to read, as it was before it became JSON; otherwise what is stored."""
    failed: str = ""
    """`exit 1`, `error`; empty when nothing says so."""
    amount: str = ""
    """`14 lines`, `1.2 MB`."""
    language: str = ""
    """For its colours: `json` when that is what it is."""


def _loads(text: str) -> Any:
    """The value, or None for what is no JSON."""
    if len(text) > _LARGEST or text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _spelled(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=1 if isinstance(value, dict | list) and value else None)


def read_arguments(stored: str) -> Arguments:
    """The arguments of a call, whatever was stored."""
    stored = without_payloads(stored)
    value = _loads(stored)
    if not isinstance(value, dict):
        line = one_line(stored, 400)
        return Arguments(line, (("", stored),) if len(stored) > len(line) or "\n" in stored else ())
    main = next((key for key in _MAIN_ARGUMENTS if isinstance(value.get(key), str) and value[key].strip()), None)
    if main is None and len(value) == 1 and isinstance(next(iter(value.values())), str):
        main = next(iter(value))
    if main is None:
        words = (f"{key}={_spelled(each)}" for key, each in value.items())
        summary = one_line(" ".join(words), 400)
        return Arguments(summary, tuple((str(key), _spelled(each)) for key, each in value.items()))
    summary = one_line(value[main], 400)
    whole = summary == value[main].strip()
    rest = tuple((str(key), _spelled(each)) for key, each in value.items() if key != main or not whole)
    path = next((value[key] for key in ("path", "file_path", "filename") if isinstance(value.get(key), str)), "")
    ending = path.rpartition(".")[2][:20] if "." in path else "python" if main == "code" else ""
    return Arguments(summary, rest, ending)


def read_outcome(stored: str, chars: int) -> Outcome:
    """A result, whatever was stored; `chars` is the length of the whole, of which `stored` may be a part."""
    value = _loads(stored) if chars <= len(stored) else None
    if isinstance(value, dict):
        return _of_object(value)
    if value is not None:
        text = json.dumps(value, ensure_ascii=False, indent=2)
        return Outcome(text, "", _amount(text, len(text)), "json")
    begin = main_text_at(stored) if chars > len(stored) else None
    text = stored if begin is None else unescaped(stored[begin:])
    failed = "error" if _FAILED.match(text[:40].lstrip()) else ""
    return Outcome(text, failed, size(chars) if chars > len(stored) else _amount(text, chars))


def _of_object(value: dict[str, Any]) -> Outcome:
    failed = ""
    code = value.get("exit_code", value.get("returncode"))
    if isinstance(code, int) and not isinstance(code, bool) and code:
        failed = f"exit {code}"
    elif value.get("error") or value.get("success") is False:
        failed = "error"
    main = next((key for key in _MAIN_RESULTS if isinstance(value.get(key), str) and value[key]), None)
    if main is None:
        if value.keys() <= {"output", "exit_code", "error"} and isinstance(value.get("error"), str):
            return Outcome(value["error"], failed, _amount(value["error"], 0))
        if value.keys() <= {"output", "exit_code", "error"} and not (value.get("error") or value.get("output")):
            return Outcome("", failed, "no output")
        text = json.dumps(value, ensure_ascii=False, indent=2)
        return Outcome(text, failed, _amount(text, len(text)), "json")
    trivial = {main, "exit_code", "returncode", "success"}
    rest = [
        f"{key}: {_spelled(each)}" for key, each in value.items() if key not in trivial and each not in (None, "", [])
    ]
    text = value[main].rstrip("\n")
    return Outcome("\n".join([text, *rest]), failed, _amount(text, len(text)))


def main_text_at(stored: str) -> int | None:
    """Where the text begins in a JSON object whose first member is what there is to read; None otherwise."""
    head = _HEAD.match(stored)
    return head.end() if head is not None and head["key"] in _MAIN_RESULTS else None


def unescaped(text: str) -> str:
    """JSON's escapes undone, also in a text that ends in the middle of one."""
    return _ESCAPE.sub(_character, text)


def _character(found: re.Match[str]) -> str:
    if found["high"]:
        return chr(0x10000 + ((int(found["high"], 16) & 0x3FF) << 10) + (int(found["low"], 16) & 0x3FF))
    escape = found[0][1:]
    if escape[0] == "u":
        return chr(int(escape[1:], 16))
    return _ESCAPED.get(escape, escape)


def _amount(text: str, chars: int) -> str:
    if not text.strip():
        return "no output"
    lines = text.rstrip("\n").count("\n") + 1
    if lines == 1 and chars > 400:
        return size(chars)
    return count(lines, "line")
