"""What was written around a person's words, and what only looks like them: compaction hand-offs, skill
scaffolds, steering marks, notes to the model, events (FACTS 6.7 and 6.8).

The marks below are how Hermes tells these rows apart itself; what we say in their place is ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hermes_tui.domain.contents import decode_content
from hermes_tui.domain.messages import EVENTS, HANDOFF, MESSAGE
from hermes_tui.values import dataclass

COMPACTED = "context compacted"
SUMMARY_MARKS = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]")
"""Begin a summary that was written for the model."""
_SUMMARY_END = re.compile(r"--- END OF CONTEXT SUMMARY(?:[^\n]*?---|[^\n]*)")
_PRIOR = re.compile(r"\[PRIOR CONTEXT[^\]\n]*\]?\s*")
_PRIOR_END = re.compile(r"\[END OF PRIOR CONTEXT[^\]\n]*\]?")
_RESTATED = "[STILL IN PROGRESS"
_SYSTEM = "[System:"
_INTERRUPTED = "[System note: Your previous turn was interrupted mid-run"
_FAILED = frozenset(
    {
        "Your request was not processed. Send it again if you still want me to carry it out.",
        "This turn did not complete. Some actions may already have run; verify their effects before resending.",
    }
)
_LEGACY_NOTES = (
    (re.compile(r"\[IMPORTANT: (?:Background process |\d+ background processes )"), "process_complete"),
    (re.compile(r"\[(?:ASYNC DELEGATION|IMPORTANT: \d+ background subagent)"), "async_delegation_complete"),
    (re.compile(r"\[Your active task list was preserved"), "internal_notification"),
)
_STEER_OPEN = "[OUT-OF-BAND USER MESSAGE"
_STEER_CLOSE = "[/OUT-OF-BAND USER MESSAGE]"
_SKILL = re.compile(r'\[IMPORTANT: The user has invoked the (?:"(?P<name>[^"\n]*)")?')
_SKILL_SAID = "The user has provided the following instruction alongside the skill invocation:"
_BUNDLE = " skill bundle,"
_BUNDLE_SAID = "\nUser instruction: "
_BUNDLE_LOADED = "\n\n[Loaded as part of the "
_RUNTIME_NOTE = "\n\n[Runtime note:"
_AUTOLOADED = re.compile(r'\[IMPORTANT: The "(?P<name>[^"\n]*)" skill is auto-loaded')
_FOOTER_END = "run them with the terminal tool using the absolute path."
_PREAMBLES = re.compile(
    r"\[(?:SYSTEM: |SYSTEM\] ?|System note: |Note: (?:model was just|this message came|the user interrupted)|"
    r"Runtime note:|IMPORTANT: You are running as |IMPORTANT: The following skill|Voice input — |"
    r"Triggering message id: |Session was just handed off|STILL IN PROGRESS )"
)
_MEMORY = re.compile(
    r"<\s{0,9}memory-context\s{0,9}>.*?</\s{0,9}memory-context\s{0,9}>\s*", re.IGNORECASE | re.DOTALL
)
_MEMORY_END = re.compile(r"</\s{0,9}memory-context\s{0,9}>\s*", re.IGNORECASE)
_NOTES = 16
"""Bracketed notes that may stand before a person's words."""
_SWITCHED = re.compile(r"changed to (?P<model>[^\s\]]+)(?: via provider (?P<provider>[^\s\].]+))?")


@dataclass(frozen=True, slots=True)
class Reading:
    """One row, told apart."""

    kind: str
    text: str
    """What to show as the message: the content, or what survives of it around a hand-off."""
    label: str | None = None
    """What a person typed or would be told, where that differs."""
    prompt: bool = False
    """A person's words, to be reached by "next prompt"."""


def read(
    role: str,
    text: str,
    *,
    display_kind: str = "",
    metadata: Mapping[str, Any] | None = None,
    summary: bool = False,
) -> Reading:
    """Tell a decoded row apart. `summary` is the column `_compressed_summary`."""
    if role in ("user", "assistant"):
        handoff, live = split_handoff(text, flagged=summary)
        if handoff and live is None and display_kind not in EVENTS - {"steer"}:
            return Reading(HANDOFF, text, COMPACTED)
        if live is not None:
            text = live
    kind = display_kind or _untyped_kind(role, text)
    if kind == "steer":
        return Reading(kind, text, steer_text(text) or text.strip(), prompt=role == "user")
    if kind in EVENTS:
        return Reading(kind, text, event_label(kind, text, metadata or {}))
    if kind not in ("", MESSAGE, "skill_invocation"):
        return Reading(kind, text)  # a kind that nobody has told us of is shown plainly
    if role == "user":
        typed = typed_words(text)
        return Reading(MESSAGE, text, typed if typed and typed != text.strip() else None, prompt=bool(typed))
    return Reading(MESSAGE, text)


def _untyped_kind(role: str, text: str) -> str:
    """The kind of a row from before kinds were stored; "" for somebody's words."""
    if role == "assistant":
        return "failed_turn" if len(text) < 200 and text.strip() in _FAILED else ""
    head = text.lstrip() if text[:1] in ("[", " ", "\n") else ""
    if role != "user" or not head.startswith("["):
        return ""
    if head.startswith(_INTERRUPTED):
        return "" if _without_preambles(head) else "auto_continue"
    if head.startswith(_STEER_OPEN) and steer_text(head):
        return "steer"
    return next((kind for mark, kind in _LEGACY_NOTES if mark.match(head)), "")


def split_handoff(text: str, *, flagged: bool = False) -> tuple[bool, str | None]:
    """(is a hand-off, what survives of somebody's words). A plain text is (False, None)."""
    found = False
    for _ in range(8):  # a carrier may have swallowed an older one
        live = _split_once(text, flagged=flagged and not found)
        if live is None:
            return (found, text if found else None)
        found = True
        if not live:
            return (True, None)
        text = live
    return (True, text)


def _split_once(text: str, *, flagged: bool) -> str | None:
    """What is left around the first hand-off; None where there is none."""
    prior = _PRIOR_END.search(text)
    if prior is not None and (flagged or text[prior.end() :].lstrip().startswith(SUMMARY_MARKS)):
        before = text[: prior.start()].strip()
        header = _PRIOR.match(before)
        return before if header is None else before[header.end() :]
    if not flagged and not text.lstrip().startswith(SUMMARY_MARKS):
        return None
    end = _SUMMARY_END.search(text)
    live = "" if end is None else text[end.end() :].strip()
    return _after_bracket(live) if live.startswith(_RESTATED) else live


def _after_bracket(text: str) -> str:
    """What follows a bracketed note at the start of `text`; "" when its bracket never closes."""
    depth = 0
    for found in re.finditer(r"[\[\]]", text[:16_384]):
        depth += 1 if found[0] == "[" else -1
        if depth == 0:
            return text[found.end() :].lstrip()
    return ""


def _without_preambles(text: str) -> str:
    """`text` without the bracketed notes that Hermes puts before a person's words."""
    text = text.lstrip()
    for _ in range(_NOTES):
        if not _PREAMBLES.match(text):
            break
        text = _after_bracket(text)
    return text


def _without_memory(text: str) -> str:
    """`text` without recalled memory. Only what lies before the last closing mark is searched: an opening one
    without an end would be followed to the end of the text, each of them."""
    end = max((found.end() for found in _MEMORY_END.finditer(text)), default=0)
    return _MEMORY.sub("", text[:end]) + text[end:]


def steer_text(text: str) -> str | None:
    """The person's words between the marks of an out-of-band message."""
    start = text.find(_STEER_OPEN)
    if start < 0:
        return None
    end = text.rfind(_STEER_CLOSE)
    body = text[start : end if end > start else None]
    first_line, _, rest = body.partition("]")
    inner = rest if first_line.startswith(_STEER_OPEN) else ""
    return inner.strip() or None


def skill_words(text: str) -> str | None:
    """`/name — instruction` for a turn that a skill was unfolded into; None for any other text."""
    if (auto := _AUTOLOADED.match(text)) is not None:
        end = text.rfind(_FOOTER_END)
        typed = text[end + len(_FOOTER_END) :].strip() if end >= 0 else ""
        return typed or f"/{auto['name']}"
    found = _SKILL.match(text)
    if found is None:
        return None
    name = (found["name"] or "").strip()
    slash = name if name.startswith("/") or not name else f"/{name}"
    if _BUNDLE in text[:1_000]:
        _, mark, said = text.partition(_BUNDLE_SAID)
        said = said.partition(_BUNDLE_LOADED)[0]
    else:
        _, mark, said = text.rpartition(_SKILL_SAID)
        said = said.partition(_RUNTIME_NOTE)[0]
    said = said.strip() if mark else ""
    return " — ".join(part for part in (slash, said) if part) or None


def typed_words(text: str) -> str:
    """What a person typed of a user row's text, line breaks kept; "" when nothing of it is theirs."""
    if "memory-context" in text:
        text = _without_memory(text)
    text = _without_preambles(text).rstrip()
    if not text.startswith("["):
        return text
    if text.startswith(_SYSTEM) or any(mark.match(text) for mark, _ in _LEGACY_NOTES):
        return ""
    if text.startswith(_STEER_OPEN):
        return steer_text(text) or ""
    skill = skill_words(text)
    return text if skill is None else skill


def preview_of(raw: object, *, flagged: bool = False) -> str | None:
    """The words that a person typed in a user row's stored content, unshortened on one line; None when it
    holds none: a pure hand-off, a note to the model, nothing."""
    text = decode_content(raw)
    handoff, live = split_handoff(text, flagged=flagged)
    if handoff:
        text = live or ""
    return " ".join(typed_words(text).split()) or None


def event_label(kind: str, text: str, metadata: Mapping[str, Any]) -> str:
    """The line of an event, in our words."""
    said = metadata.get("display_text")
    told = " ".join(said.split()) if isinstance(said, str) else ""
    if kind == "model_switch":
        found = _SWITCHED.search(text)
        model = metadata.get("model") if found is None else found["model"].rstrip(".")
        provider = f" ({found['provider']})" if found and found["provider"] else ""
        return f"model switched to {model}{provider}" if isinstance(model, str) else "model switched"
    if kind == "personality_switch":
        return "personality cleared" if "cleared" in text[:120] else "personality changed"
    if kind == "async_delegation_complete":
        return told or _delegated(metadata)
    if kind == "process_complete":
        return told or "background process finished"
    if kind == "auto_continue":
        return "went on after an interruption"
    if kind == "failed_turn":
        return told or "the turn failed before it was answered"
    return told or "notification"


def _delegated(metadata: Mapping[str, Any]) -> str:
    """`delegated work finished: 2 of 3 tasks, 1 failed`."""

    def number(name: str) -> int | None:
        value = metadata.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    tasks, done, failed = number("task_count"), number("completed_count"), number("failed_count")
    parts = []
    if tasks:
        noun = "task" if tasks == 1 else "tasks"
        parts.append(f"{done} of {tasks} {noun}" if done is not None and done != tasks else f"{tasks} {noun}")
    if failed:
        parts.append(f"{failed} failed")
    return ": ".join(part for part in ("delegated work finished", ", ".join(parts)) if part)
