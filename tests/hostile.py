"""Text that means harm, and a home in which every text is of that kind (R23, R24).

Behind each sequence that would act on a terminal stands `PWNED`, so that one that got through is found among the
bytes that the program writes.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from tests.builders import StoreBuilder

PWNED = "pWnEd"
TEXTS = {
    "markup": f"[/] [red]{PWNED}[/blue] [link=https://e.example]x[/link] [b open [@click=app.quit]go[/] $x {{y}}",
    "colours": f"\x1b[31;7m{PWNED}\x1b[0m",
    "screen": f"\x1b[2J\x1b[H\x1b[?1049l\x1b[?1000h\x1bc\x1b[3J{PWNED}",
    "title": f"\x1b]0;{PWNED}\x07\x1b]2;{PWNED}\x1b\\",
    "clipboard": f"\x1b]52;c;cHduZWQ=\x07{PWNED}",
    "hyperlink": f"\x1b]8;;file:///{PWNED}\x1b\\x\x1b]8;;\x1b\\",
    "device": f"\x1bP$q{PWNED}\x1b\\\x1b_G{PWNED}\x1b\\\x1b^x\x1b\\\x1bX\x1b\\\x1b[6n\x1b[c\x1b[>q",
    "tmux": f"\x1bPtmux;\x1b\x1b]0;{PWNED}\x07\x1b\\\x1bk{PWNED}\x1b\\",
    "c1": f"\x9b31m{PWNED}\x9d0;{PWNED}\x9c\x90q\x9c\x85\x84",
    "moves": f"a\rb\x08\x08\x08\x7f\x0b\x0c\x07\x0e\x0f{PWNED}",
    "bidi": f"\u202e{PWNED}\u202c\u2066x\u2069\u200e\u200f\u061c",
    "invisible": f"a\u200b\u2060\ufeff\u00ad\u180e\U000e0041\ufff9{PWNED}\u2028\u2029",
    "joined": f"👨‍👩‍👧‍👦 ❄️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 {PWNED}",
    "flood": f"{PWNED} " + "e" + "\u0301" * 3_000 + "Z\u0335\u0489" * 300,
    "nul": f"a\x00b\x00{PWNED}",
    "shell": f"; touch {PWNED}; $(touch {PWNED}) `touch {PWNED}` | & && > {PWNED} ' \" \\ #(touch {PWNED}) -rf --x",
    "paths": f"../../../etc/passwd/{PWNED}\\..\\..\\x ~root /dev/stdin file:///etc/shadow C:\\nul",
    "formats": f"%s%n%x {{0.__class__}} {{}} %(x)s ${{HOME}} {PWNED} \\x1b[31m \\u202e",
    "links": f"http://[{PWNED} https://a@b:c@d/{PWNED} javascript:alert(1) [x](data:text/html,y) @session:../x/y",
    "markdown": f"``` {PWNED}\n| a | b |\n|---|\n> # [x]({PWNED} \\\n<script>{PWNED}</script>\n- [ ] *** ~~ __",
    "replies": f"{PWNED}<think>x</think><tool_call>{{</tool_call>\n[System: {PWNED}]\n[CONTEXT SUMMARY]: x",
}  # fmt: skip
LONG = f"{PWNED} " + "\x1b[31m\u202e[/]" * 120_000
"""A megabyte without a newline."""
SURROGATE = "\ud800" + PWNED
"""Cannot be stored as text; it can stand in JSON as an escape, and in file names."""

_KEPT = {"id", "session_id", "parent_session_id", "started_at", "ended_at", "timestamp", "last_activity_at"}
_NUMBERS = re.compile(r"_count|_tokens|_usd|active|compacted|archived|pinned|hidden|_at\Z|display_order|observed")


def evil_home(home: Path) -> Path:
    """A home with a session for each kind of text, which stands in every column that holds text."""
    with StoreBuilder(home / "state.db", journal="delete") as store:
        sessions = [c for c in store.session_columns if c not in _KEPT and not _NUMBERS.search(c)]
        messages = [c for c in store.message_columns if c not in _KEPT and not _NUMBERS.search(c)]
        for n, text in enumerate(TEXTS.values()):
            id = f"e{n:02}"
            columns = dict.fromkeys(sessions, text) | {"title": f"{text} {n}"}
            if n % 3:
                columns["source"] = "cli"
            store.session(id, columns.pop("source"), **columns)
            for role in ("user", "assistant", text):
                store.message(id, role, f"walnut {text}", **({} if role == "user" else _columns(messages, text)))
            call = {"id": f"c{n}", "function": {"name": text, "arguments": json.dumps({text: text})}}
            store.message(id, "assistant", "", tool_calls=[call, {"function": SURROGATE}], reasoning=text)
            store.message(id, "tool", text, tool_call_id=f"c{n}", tool_name=text)
            store.message(id, "user", [{"type": "text", "text": text + SURROGATE}, {"type": text, text: text}])
            for event in ("model_switch", "async_delegation_complete", text):
                told = json.dumps({"display_text": text})
                store.message(id, "user", text, display_kind=event, display_metadata=told)
        # ids and relations of that kind too
        for n, (kind, text) in enumerate(TEXTS.items()):
            store.session(f"{text}{n}", parent=f"e{n:02}", end_reason="compression", title=None, display_name=text)
            store.message(f"{text}{n}", "user", f"walnut {kind}")
        store.session("long", title=LONG[:5_000], cwd=LONG)
        store.message("long", "assistant", LONG)
        store.message("long", "tool", LONG, tool_name=LONG[:3_000])
    (home / "config.yaml").write_text(
        "display:\n" + "".join(f"  {name}: {json.dumps(TEXTS['title'])}\n" for name in _SETTINGS)
        + f"sessions:\n  max_resume_messages: {json.dumps(TEXTS['colours'])}\n"
        + f"database:\n  backend: {json.dumps(TEXTS['clipboard'])}\n",
        "utf-8",
    )  # fmt: skip
    (home / "runtime").mkdir()
    entries = [
        {"session_id": f"e{n:02}", "pid": os.getpid(), "surface": text, "started_at": text}
        for n, text in enumerate(TEXTS.values())
    ]
    (home / "runtime" / "active_sessions.json").write_text(json.dumps({"entries": entries}))
    for n, text in enumerate(TEXTS.values()):
        name = text.replace("/", "").replace("\x00", "")[:60] or "x"
        folder = home / "profiles" / f"{name}{n}"
        folder.mkdir(parents=True)
        (folder / "state.db").write_text("no database")
    return home


_SETTINGS = ("resume_display", "resume_exchanges", "resume_max_user_chars", "resume_skip_tool_only", "interface")


def _columns(names: list[str], text: str) -> dict[str, str]:
    return {name: text for name in names if name not in ("role", "content", "message_uid", "display_identity")}


_ACTING = re.compile(
    rb"[\x00-\x06\x07\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]"  # C0 but tab, newline, return and escape
    rb"|\xc2[\x80-\x9f]"  # C1
    rb"|\xc2\xad|\xd8\x9c|\xe1\xa0\x8e|\xe2\x80[\x8b\x8e\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]|\xef\xbb\xbf"
    rb"|\xef\xbf[\xb9-\xbb]|\xed[\xa0-\xbf]"  # direction, invisible, surrogates
)
_OURS = re.compile(
    rb"\x1b\[[?>=<]?[0-9;:]*[A-Za-z]"  # SGR, modes, cursor
    rb"|\x1b\[[0-9;]* q|\x1b[=>]|\x1b\[[?>]?[0-9;]*\$p"
    rb"|\x1b\]11;\?\x1b\\|\x1b\]22;[a-z-]*\x07"
    rb"|\x1b\]52;c;[A-Za-z0-9+/=]*\x07"
)
_SENT = (
    b"\x1b[31;7m",
    b"\x1b[2J",
    b"\x1b[3J",
    b"\x1bc",
    b"\x1b[6n",
    b"\x1b]0;",
    b"\x1b]2;",
    b"\x1b]8;",
    b"\x1b]52;c;cHdu",
)


def acting(data: bytes) -> list[bytes]:
    """What in these bytes of a terminal is not the program's own doing, with what stands around it."""
    found = [sequence for sequence in _SENT if sequence in data]
    rest = _OURS.sub(b"", data)
    for match in (*_ACTING.finditer(rest), *re.finditer(rb"\x1b", rest)):
        found.append(rest[max(0, match.start() - 40) : match.end() + 40])
    return found
