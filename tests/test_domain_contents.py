"""Any stored cell reads as text: pictures and sounds as placeholders, never base64, never an error (R20, R22)."""

from __future__ import annotations

import base64
import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.domain.contents import (
    STRUCTURED,
    decode_content,
    decode_items,
    decode_metadata,
    decode_reasoning,
    without_payloads,
)

PNG = base64.b64encode(random.Random(7).randbytes(300)).decode()
URL = f"data:image/png;base64,{PNG}"


def stored(value: Any) -> str:
    """As Hermes writes a list or a dict."""
    return STRUCTURED + json.dumps(value)


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def image(url: str = URL) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (None, ""),
        ("", ""),
        ("plain [/] words", "plain [/] words"),
        (42, "42"),
        (4.5, "4.5"),
        (b"bytes \xff here", "bytes \ufffd here"),
        (stored("\x00json:[1]"), "\x00json:[1]"),
        (stored([text("one"), text("two")]), "one\ntwo"),
        (stored(["one", {"text": "two"}, {"type": "output_text", "content": "three"}]), "one\ntwo\nthree"),
        (stored([text("look"), image(), image("https://example.org/a.png")]), "look\n[image ×2]"),
        (stored([image(), text("between"), image()]), "[image]\nbetween\n[image]"),
        (stored([{"type": "input_image", "image_url": URL}]), "[image]"),
        (stored([{"type": "image", "source": {"type": "base64", "data": PNG}}]), "[image]"),
        (stored([{"type": "input_audio", "input_audio": {"data": PNG}}]), "[audio]"),
        (stored([{"type": "video_url", "video_url": {"url": URL}}]), "[video]"),
        (stored([{"type": "file", "filename": "a b.pdf", "file_data": PNG}]), "[file: a b.pdf]"),
        (stored([{"type": "document"}]), "[file]"),
        (stored({"type": "text", "text": "alone"}), "alone"),
        (stored([{"type": "file", "file": {"filename": "b.pdf", "file_data": URL}}]), "[file: b.pdf]"),
        (stored([{"inline_data": {"mime_type": "image/png", "data": PNG}}, {"text": "words"}]), "[image]\nwords"),
        (stored({"inlineData": {"mimeType": "application/pdf", "data": PNG}}), "[file]"),
        (stored([{"type": "resource", "resource": {"uri": "x", "mimeType": "image/png", "blob": PNG}}]), "[image]"),
        (stored([{"type": "local_image", "path": "/tmp/a.png"}]), "[image]"),
        (stored([{"image_url": URL, "text": "its caption"}]), "[image]\nits caption"),
        (stored([{"type": "refusal", "refusal": "I will not"}]), "I will not"),
        (stored([{"type": "text", "text": {"value": "words", "annotations": []}}]), "words"),
        (stored([{"type": "text", "text": ["one", "two"]}]), "one\ntwo"),
        (stored([{"type": "tool_result", "content": [text("inside"), image()]}]), "inside\n[image]"),
        (stored([]), ""),
        (stored(None), ""),
        (stored({"a": 1}), '{"a": 1}'),
        (stored([{"type": "note", "value": "ü"}]), '{"type": "note", "value": "ü"}'),
        (stored([text("words"), {"type": "text", "text": ""}]), "words"),
        (STRUCTURED + '[{"type": "te', 'json:[{"type": "te'),
        (STRUCTURED.encode() + b'[{"type":"text","text":"in bytes"}]', "in bytes"),
        ("cut \x00 short", "cut \x00 short"),
    ],
)
def test_a_cell_of_any_kind_reads_as_text(raw: object, shown: str) -> None:
    assert decode_content(raw) == shown


@pytest.mark.parametrize(
    "raw",
    [
        stored([text(f"see {URL} there"), image()]),
        f"the page holds <img src='{URL}'> and more",
        json.dumps([image()]),
        STRUCTURED + json.dumps([text("words"), image()])[:-9],
        stored([{"type": "thing", "payload": f"data:;base64,{PNG}"}]),
        stored([{"type": "thing", "data": PNG * 20}]),
        stored([{"type": "redacted_thinking", "data": PNG}]),
        f"DATA:image/png;BASE64,{PNG}",
        f"see data:image/png;base64, {PNG}",
        f"data:image/png;name=photo 1.png;base64,{PNG}",
        f'data:image/png;name="a b.png";base64,{PNG}',
        f"data:image/png;charset=%22;base64,{PNG}",
        "data:image/png;base64," + PNG.replace("+", "%2B").replace("/", "%2f").replace("=", "%3D"),
        "data:image/png;base64," + " ".join(PNG[at : at + 76] for at in range(0, len(PNG), 76)),
        "a: data:image/png;base64," + "\n    ".join(PNG[at : at + 76] for at in range(0, len(PNG), 76)),
        "data:image/png;base64,iV",
        "data:audio/ogg;codecs=opus;base64," + "\n".join(PNG[at : at + 76] for at in range(0, len(PNG), 76)),
    ],
)
def test_no_base64_is_ever_shown(raw: str) -> None:
    shown = decode_content(raw)
    assert "base64," not in shown
    assert PNG[:60] not in shown
    assert PNG[-60:] not in shown


def test_neither_is_it_in_thoughts_or_in_answers_of_their_own_column() -> None:
    assert decode_reasoning(f"see {URL}", None, None, None) == "see [image]"
    item = {"type": "message", "content": [{"type": "output_text", "text": f"this: {URL}"}]}
    assert decode_items(json.dumps([item, {**item, "phase": "commentary"}])) == ("this: [image]", "this: [image]")


@pytest.mark.parametrize("role", [{}, {"role": None}, {"role": "assistant"}])
def test_an_answer_of_its_own_column_is_not_lost_whatever_its_shape(role: dict[str, Any]) -> None:
    item = {"type": "message", **role, "content": [{"type": "output_text", "text": "words"}]}
    for raw in (
        json.dumps([item]),
        json.dumps(item),
        json.dumps(json.dumps([item])),
        stored([item]),
        json.dumps([{**item, "content": "words"}]),
        json.dumps([{"type": "message", **role, "text": "words"}]),
        json.dumps([{"type": "output_text", **role, "text": "words"}]),
        json.dumps(["words"]),
        json.dumps("words"),
        "words",
    ):
        assert decode_items(raw) == ("words", "")
    broken = json.dumps([item])[:-4]
    assert decode_items(broken) == (broken, "")
    assert decode_items(json.dumps([{**item, "role": "user"}, {"type": "reasoning", "text": "no"}])) == ("", "")


def test_thoughts_in_other_shapes() -> None:
    thought = [{"type": "thinking", "thinking": "hm", "signature": "x"}]
    assert decode_reasoning(None, None, json.dumps(thought), None) == "hm"
    assert decode_reasoning(None, None, json.dumps(json.dumps(thought)), None) == "hm"


def test_a_refusal_in_a_column_of_its_own_is_the_answer() -> None:
    item = {"type": "message", "content": [{"type": "refusal", "refusal": "I will not"}]}
    assert decode_items(json.dumps([item])) == ("I will not", "")


@pytest.mark.parametrize("value", [{"a": URL}, {"a": json.dumps({"b": URL, "c": [URL]})}, [f'"{URL}"', f"{URL}\\"]])
def test_json_stays_json_without_its_payloads(value: Any) -> None:
    left = json.dumps(json.loads(without_payloads(json.dumps(value))))
    assert "base64," not in left
    assert left.count("[image]") == json.dumps(value).count("base64,")


def test_words_about_base64_stay_as_they_are() -> None:
    for said in (
        "A URL such as data:image/png;base64,… holds its picture; base64, in short.",
        "It begins with data:image/png;base64, and then comes the picture.",
    ):
        assert decode_content(said) == said


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        ("look\n@image:/tmp/a.png", "look\n[image: /tmp/a.png]"),
        ("look\n@image:`/tmp/a b.png`\n@image:/tmp/c.png", "look\n[image ×2: /tmp/a b.png, /tmp/c.png]"),
        ("look\n@image:/tmp/a.png\n[screenshot]", "look\n[image: /tmp/a.png]"),
        ("look\n[screenshot]\n[screenshot]", "look\n[image ×2]"),
        ("MEDIA:/tmp/reply.ogg", "[audio: /tmp/reply.ogg]"),
        (
            "here\nMEDIA:/tmp/clip.mp4\nMEDIA:/tmp/plan.pdf\nend",
            "here\n[video: /tmp/clip.mp4]\n[file: /tmp/plan.pdf]\nend",
        ),
        ("what is this?\n\n[Image attached at: /tmp/x.jpg]", "what is this?\n\n[image: /tmp/x.jpg]"),
        ("write MEDIA: in front of the path", "write MEDIA: in front of the path"),
        ("MEDIA:", "MEDIA:"),
    ],
)
def test_lines_that_name_media_become_placeholders(lines: str, shown: str) -> None:
    assert decode_content(lines) == shown


def test_a_picture_that_its_text_names_is_counted_once() -> None:
    parts = [text("compare\n@image:/tmp/a.png\n@image:/tmp/b.png"), image(), image()]
    assert decode_content(stored(parts)) == "compare\n[image ×2: /tmp/a.png, /tmp/b.png]"


def test_deep_and_endless_nesting_does_no_harm() -> None:
    deep: Any = "bottom"
    for _ in range(40):
        deep = [deep]
    assert isinstance(decode_content(stored(deep)), str)
    assert decode_content(STRUCTURED + "[" * 100_000).startswith("json:[[")


@pytest.mark.parametrize(
    "piece",
    [
        "MEDIA:/x ",
        "@image:a\n",
        "data:;a",
        'data:;a"',
        "data:image/png;base64,",
        "data:x;base64,a%2B\n",
        "[screenshot]\n",
        "[{",
    ],
)
def test_long_hostile_cells_are_read_in_one_go(piece: str) -> None:
    text = piece * (2_000_000 // len(piece))
    decode_content(text)
    decode_content(stored([{"type": "text", "text": text}, image()]))
    decode_content(STRUCTURED + text)
    decode_content(f"MEDIA:x{' ' * 1_000_000}y")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["type", "text", "content", "image_url", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(json_values)
def test_whatever_structure_is_stored_reads_as_text(value: Any) -> None:
    assert isinstance(decode_content(stored(value)), str)


@given(st.one_of(st.text(), st.binary(), st.integers(), st.floats(), st.none()))
def test_no_cell_raises(raw: object) -> None:
    for read in (decode_content, decode_metadata, decode_items):
        read(raw)
    decode_reasoning(raw, raw, raw, raw)


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        ((None, None, None, None), None),
        (("", " ", "[]", "null"), None),
        (("first", None, None, None), "first"),
        (("same", "same", None, None), "same"),
        (("part", "the whole of part and more", None, None), "the whole of part and more"),
        ((None, None, '[{"type": "reasoning.text", "text": "step"}]', None), "step"),
        ((None, None, '[{"type": "reasoning.encrypted", "data": "c2VjcmV0"}]', None), None),
        ((None, None, None, '[{"type": "reasoning", "summary": [{"type": "summary_text", "text": "sum"}]}]'), "sum"),
        ((None, None, None, '[{"encrypted_content": "c2VjcmV0", "summary": []}]'), None),
        (("one", "two", '[{"text": "three"}]', '[{"content": [{"text": "four"}]}]'), "one\n\ntwo\n\nthree\n\nfour"),
        ((None, None, '[{"text": "cut', "plainly said"), "plainly said"),
        ((b"in bytes", 7, None, None), "in bytes\n\n7"),
    ],
)
def test_reasoning_is_read_from_all_its_columns(columns: tuple[object, ...], shown: str | None) -> None:
    assert decode_reasoning(*columns) == shown


def item(phase: str | None, said: str) -> dict[str, Any]:
    return {
        "type": "message",
        "role": "assistant",
        "phase": phase,
        "content": [{"type": "output_text", "text": said}],
    }


@pytest.mark.parametrize(
    ("items", "answer", "commentary"),
    [
        ([item("final_answer", "done")], "done", ""),
        ([item(None, "done")], "done", ""),
        ([item("commentary", "looking"), item("final", "done")], "done", "looking"),
        ([item("Commentary", "one"), item("commentary", "two")], "", "one\n\ntwo"),
        ([{"type": "reasoning", "content": [{"text": "no"}]}], "", ""),
        ([{"type": "message", "role": "user", "content": [{"text": "no"}]}], "", ""),
        ("words", "words", ""),
        (3, "", ""),
    ],
)
def test_an_answer_is_told_from_commentary(items: Any, answer: str, commentary: str) -> None:
    assert decode_items(json.dumps(items)) == (answer, commentary)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (None, {}),
        ("", {}),
        ('{"a": 1}', {"a": 1}),
        (json.dumps('{"a": 1}'), {"a": 1}),
        (json.dumps(json.dumps('{"a": 1}')), {}),
        ("[1]", {}),
        ("{", {}),
        (b'{"a": 1}', {"a": 1}),
        (5, {}),
    ],
)
def test_display_metadata_may_be_encoded_twice(raw: object, value: dict[str, Any]) -> None:
    assert decode_metadata(raw) == value
