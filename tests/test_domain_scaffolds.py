"""A person's words told from what was written around them: hand-offs, skills, steering, notes, events (R21)."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from hermes_tui.domain.contents import STRUCTURED
from hermes_tui.domain.messages import EVENTS, HANDOFF, MESSAGE
from hermes_tui.domain.scaffolds import preview_of, read, split_handoff, steer_text, typed_words

SUMMARY = (
    "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted into the summary below: " + "word " * 700
)
LEGACY = "[CONTEXT SUMMARY]: what went before"
END = "--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---"
PRIOR = "[PRIOR CONTEXT — for reference only; not a new message]"
PRIOR_END = "[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]"
STEER = "[OUT-OF-BAND USER MESSAGE — a direct message from the user]\n{}\n[/OUT-OF-BAND USER MESSAGE]"
SKILL = (
    '[IMPORTANT: The user has invoked the "{name}" skill, indicating they want you to follow its instructions. '
    "The full skill content is loaded below.]\n\n# Body\nSay: The user has provided the following instruction "
    "alongside the skill invocation: not this one.\n\n"
)
SAID = "The user has provided the following instruction alongside the skill invocation: "
AUTO = (
    '[IMPORTANT: The "{name}" skill is auto-loaded. Follow its instructions for this session.]\n\nbody\n\n'
    "[Skill directory: /s]\nResolve paths, then run them with the terminal tool using the absolute path."
)
BUNDLE = (
    '[IMPORTANT: The user has invoked the "/clean /work" skill bundle, loading 2 skills together. Treat every skill '
    "below as active guidance for this turn.]\n\nSkills loaded: clean, work\n\nUser instruction: {said}\n\n"
    "[Loaded as part of the bundle]\nbody"
)
WORDS = " ".join(random.Random(11).sample(["amber", "birch", "cedar", "delta", "ember", "fjord", "grove"], 4))


@pytest.mark.parametrize(
    ("text", "live"),
    [
        (SUMMARY, None),
        (LEGACY, None),
        (f"\n {SUMMARY}", None),
        (f"{SUMMARY}\n\n{END}", None),
        (f"{SUMMARY}\n\n{END}\n\n{WORDS}", WORDS),
        (f"{SUMMARY}\n\n{END}\n\n{WORDS}\n\nwith a second paragraph", f"{WORDS}\n\nwith a second paragraph"),
        (f"{PRIOR}\n{WORDS}\n\n{PRIOR_END}\n\n{SUMMARY}\n\n{END}", WORDS),
        (f"{PRIOR} {WORDS}\n{PRIOR_END}\n{LEGACY}", WORDS),
        (f"{WORDS}\n\n{PRIOR_END}\n\n{SUMMARY}", WORDS),
        (f"{PRIOR}\n\n{PRIOR_END}\n\n{SUMMARY}", None),
        (f"{PRIOR}\n{SUMMARY}\n\n{END}\n\n{WORDS}\n\n{PRIOR_END}\n\n{SUMMARY}\n\n{END}", WORDS),
        (f"{SUMMARY}\n\n{END}\n\n[STILL IN PROGRESS — this is the active request, restated.]\n\n{WORDS}", WORDS),
    ],
)
def test_what_survives_of_a_hand_off(text: str, live: str | None) -> None:
    assert split_handoff(text) == (True, live)
    for role in ("user", "assistant"):
        reading = read(role, text)
        assert reading.kind == (HANDOFF if live is None else MESSAGE)
        assert reading.text == (text if live is None else live)
    assert preview_of(text) == (None if live is None else " ".join(live.split()))


@pytest.mark.parametrize(
    "text",
    [
        WORDS,
        f"What does {PRIOR_END} mean?",
        f"They say '{SUMMARY[:60]}' somewhere",
        f"{WORDS}\n\n{END}",
    ],
)
def test_words_about_hand_offs_are_words(text: str) -> None:
    assert split_handoff(text) == (False, None)
    assert read("user", text).kind == MESSAGE
    assert preview_of(text) == " ".join(text.split())


def test_the_flag_of_the_store_is_enough() -> None:
    assert read("user", "a summary without a mark", summary=True).kind == HANDOFF
    assert read("user", f"a summary\n\n{END}\n\n{WORDS}", summary=True).text == WORDS
    assert read("tool", "output", summary=True).kind == MESSAGE


def test_a_structured_hand_off_keeps_the_picture_of_the_person() -> None:
    parts: list[dict[str, Any]] = [
        {"type": "text", "text": f"{SUMMARY}\n\n{END}\n\n{WORDS}"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]
    assert preview_of(STRUCTURED + json.dumps(parts)) == f"{WORDS} [image]"


@pytest.mark.parametrize("name", ["work", "小说拆条", "release-notes"])
def test_a_skill_shows_as_what_was_typed(name: str) -> None:
    scaffold = SKILL.format(name=name)
    assert read("user", scaffold + SAID + WORDS).label == f"/{name} — {WORDS}"
    assert read("user", f"{scaffold}{SAID}{WORDS}\n\n[Runtime note: dry run]").label == f"/{name} — {WORDS}"
    assert preview_of(f"{scaffold}{SAID}first\nsecond") == f"/{name} — first second"
    bare = scaffold.partition("# Body")[0] + "# Body"
    assert preview_of(bare) == f"/{name}"
    reading = read("user", bare)
    assert (reading.kind, reading.text, reading.label, reading.prompt) == (MESSAGE, bare, f"/{name}", True)


def test_a_bundle_and_a_skill_loaded_by_itself() -> None:
    assert preview_of(BUNDLE.format(said=WORDS)) == f"/clean /work — {WORDS}"
    assert preview_of(AUTO.format(name="chat") + f"\n\n{WORDS}") == WORDS
    assert preview_of(AUTO.format(name="chat")) == "/chat"


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        (f"[SYSTEM: You are running as a scheduled cron job.] {WORDS}", WORDS),
        (f'[IMPORTANT: You are running as a scheduled cron job. Say "[SILENT]" if so.]\n\n{WORDS}', WORDS),
        (f"[System note: Your previous turn was interrupted mid-run; go on.]\n\n{WORDS}", WORDS),
        (f"[Note: model was just switched from a to b.]\n[Voice input — be brief.] {WORDS}", WORDS),
        (f"[Triggering message id: `9` — use as `message_id`.]\n\n{WORDS}", WORDS),
        (f"<memory-context>\n[System note: recalled]\nfacts\n</memory-context>\n{WORDS}", WORDS),
        ("[System: the model changed]", ""),
        ("[System note: only for the model]", ""),
        ("[System note: never closed", ""),
        ("[Note: buy milk] and eggs", "[Note: buy milk] and eggs"),
        ("[image] of a cat", "[image] of a cat"),
        ("[/] is my prompt", "[/] is my prompt"),
        ("", ""),
        (f"  {WORDS}\n", WORDS),
    ],
)
def test_preambles_are_not_what_the_person_said(text: str, typed: str) -> None:
    assert typed_words(text) == typed
    assert preview_of(text) == (typed or None)


def test_a_cron_prompt_that_loads_a_skill() -> None:
    preamble = "[IMPORTANT: You are running as a scheduled cron job.]\n\n"
    assert preview_of(f"{preamble}{SKILL.format(name='digest')}{SAID}{WORDS}") == f"/digest — {WORDS}"


@pytest.mark.parametrize("raw", [None, "", "   ", b"", STRUCTURED + "[]"])
def test_nothing_said_is_no_preview(raw: object) -> None:
    assert preview_of(raw) is None


def test_steering_is_the_person_speaking() -> None:
    reading = read("user", STEER.format(WORDS), display_kind="steer")
    assert (reading.kind, reading.label, reading.prompt) == ("steer", WORDS, True)
    assert read("user", STEER.format(WORDS)).kind == "steer"
    assert read("user", WORDS, display_kind="steer").label == WORDS
    assert preview_of(STEER.format(WORDS)) == WORDS
    assert steer_text("[OUT-OF-BAND USER MESSAGE] never closed") == "never closed"
    assert steer_text(WORDS) is None


MODEL = "[System: The active model for this chat has changed to {} via provider {}. From this point forward, …]"


@pytest.mark.parametrize(
    ("kind", "text", "metadata", "label"),
    [
        ("model_switch", MODEL.format("gpt-5.2", "openai"), {}, "model switched to gpt-5.2 (openai)"),
        ("model_switch", "changed", {"model": "x-1"}, "model switched to x-1"),
        ("model_switch", "changed", {}, "model switched"),
        ("personality_switch", "[System: The user has cleared the personality overlay.]", {}, "personality cleared"),
        ("personality_switch", "[System: The user has changed …]", {}, "personality changed"),
        ("async_delegation_complete", "x", {"display_text": "2 of 3 done"}, "2 of 3 done"),
        ("async_delegation_complete", "x", {"task_count": 1}, "delegated work finished: 1 task"),
        (
            "async_delegation_complete",
            "x",
            {"task_count": 3, "completed_count": 2, "failed_count": 1},
            "delegated work finished: 2 of 3 tasks, 1 failed",
        ),
        ("async_delegation_complete", "x", {"task_count": "3", "failed_count": True}, "delegated work finished"),
        ("process_complete", "x", {}, "background process finished"),
        ("process_complete", "x", {"display_text": "build\nfinished"}, "build finished"),
        ("auto_continue", "x", {}, "went on after an interruption"),
        ("failed_turn", "x", {}, "the turn failed before it was answered"),
        ("internal_notification", "x", {"display_text": 3}, "notification"),
    ],
)
def test_an_event_is_one_line_in_our_words(kind: str, text: str, metadata: dict[str, Any], label: str) -> None:
    reading = read("user", text, display_kind=kind, metadata=metadata)
    assert (reading.kind, reading.label, reading.text, reading.prompt) == (kind, label, text, False)


def test_every_known_event_has_a_line() -> None:
    for kind in EVENTS:
        label = read("user", "some text", display_kind=kind).label
        assert label
        assert "\n" not in label


def test_a_kind_nobody_knows_is_shown_plainly() -> None:
    reading = read("user", WORDS, display_kind="someday")
    assert (reading.kind, reading.text, reading.label, reading.prompt) == ("someday", WORDS, None, False)


@pytest.mark.parametrize(
    ("role", "text", "kind"),
    [
        ("user", "[System note: Your previous turn was interrupted mid-run. Go on.]", "auto_continue"),
        ("user", f"[System note: Your previous turn was interrupted mid-run. Go on.]\n{WORDS}", MESSAGE),
        ("user", "[IMPORTANT: Background process 7 finished]", "process_complete"),
        ("user", "[ASYNC DELEGATION COMPLETE] all", "async_delegation_complete"),
        ("user", "[Your active task list was preserved across context compression]\n- a", "internal_notification"),
        (
            "assistant",
            "Your request was not processed. Send it again if you still want me to carry it out.",
            "failed_turn",
        ),
        ("assistant", "They wrote: Your request was not processed. Send it again.", MESSAGE),
        ("user", "Your request was not processed. Send it again if you still want me to carry it out.", MESSAGE),
        ("tool", "[System note: Your previous turn was interrupted mid-run", MESSAGE),
        ("user", WORDS, MESSAGE),
    ],
)
def test_rows_from_before_kinds_were_stored(role: str, text: str, kind: str) -> None:
    assert read(role, text).kind == kind


def test_the_reading_of_a_plain_row_is_the_row() -> None:
    for role in ("user", "assistant", "tool", "system", "oracle"):
        reading = read(role, WORDS)
        assert (reading.kind, reading.text, reading.label) == (MESSAGE, WORDS, None)
        assert reading.prompt == (role == "user")


@pytest.mark.parametrize(
    "piece", ["[Note: model was just x]", "<memory-context>", "[", "[END OF PRIOR CONTEXT]", "[SYSTEM: "]
)
def test_long_hostile_rows_are_read_in_one_go(piece: str) -> None:
    text = piece * (2_000_000 // len(piece))
    assert read("user", text).kind == MESSAGE
    preview_of(text)
