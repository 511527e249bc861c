"""The JSON contract (SPEC 10): exactly these keys, in this order; and writing to a pipe without surprises."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TextIO

from hermes_tui import text, times
from hermes_tui.domain.links import link_to
from hermes_tui.errors import Unsupported

if TYPE_CHECKING:
    from hermes_tui.domain.lineage import LineageNode
    from hermes_tui.domain.links import Candidate
    from hermes_tui.domain.messages import Message
    from hermes_tui.domain.profiles import ProfileInfo, StoreRef
    from hermes_tui.domain.queries import Hit
    from hermes_tui.domain.resume import Check, ResumePlan
    from hermes_tui.domain.sessions import Conversation, Details, StoreProblem

SCHEMA_VERSION = 1
OPEN, CLOSE = ">>>", "<<<"
"""What stands around a matched word in a snippet."""

Json = dict[str, Any]


def write(data: bytes) -> None:
    """All of it to stdout, now. A reader that went away ends us quietly: `BrokenPipeError`; any other failure
    is `Unsupported`."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except OSError as error:
        let_go(sys.stdout)
        if isinstance(error, BrokenPipeError):
            raise
        raise Unsupported(f"The output could not be written: {error.strerror}") from error


def let_go(stream: TextIO) -> None:
    """Nobody takes any more what is written there. What is still to be sent goes nowhere: Python would try once more
    at its end, fail, and put a code of its own in the place of ours."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def write_json(document: Json) -> None:
    """One object, UTF-8."""
    write((text.to_json(document) + "\n").encode("utf-8", "replace"))


def write_lines(lines: Iterable[str]) -> None:
    """Text lines in the encoding of stdout; what it cannot say becomes `?`."""
    encoding = (sys.stdout.encoding if sys.stdout is not None else None) or "utf-8"
    left = iter(lines)
    while block := list(islice(left, 1_000)):
        write(os.linesep.join([*block, ""]).encode(encoding, "replace"))


def say(*cells: str) -> None:
    """One line on stderr, whatever its parts contain: two blanks stand between them."""
    if sys.stderr is not None:
        print("  ".join(filter(None, map(text.one_line, cells))), file=sys.stderr, flush=True)


def time_pair(name: str, at: float | None) -> Json:
    """`X` in epoch seconds and `X_iso`."""
    return {name: at, f"{name}_iso": times.iso(at)}


def number(value: float | None) -> float | None:
    """JSON knows no infinity."""
    return value if value is not None and math.isfinite(value) else None


def meta(
    stores: Sequence[StoreRef],
    *,
    total: int = 0,
    returned: int | None = None,
    offset: int = 0,
    limit: int | None = None,
    hidden: dict[str, int] | None = None,
    notices: Iterable[str] = (),
    errors: Iterable[StoreProblem] = (),
) -> Json:
    """What every answer says about itself."""
    return {
        "profiles": [ref.profile for ref in stores],
        "dbs": [str(ref.db) for ref in stores],
        "total": total,
        "returned": total if returned is None else returned,
        "offset": offset,
        "limit": limit,
        "hidden": hidden or {},
        "notices": list(dict.fromkeys(notices)),
        "errors": [{"profile": each.profile, "db": each.db, "error": each.error} for each in errors],
    }


def document(about: Json, name: str, items: Any, **beside: Any) -> Json:
    """The one object of an answer."""
    return {"schema_version": SCHEMA_VERSION, "meta": about, **beside, name: items}


def conversation(row: Conversation, details: Details | None) -> Json:
    """One row of a list. `details` None: it went away meanwhile."""
    return {
        "profile": row.profile,
        "id": row.id,
        "root_id": row.root_id,
        "segment_ids": list(row.segment_ids),
        "title": row.title,
        "preview": details.preview if details else None,
        "source": row.source,
        "model": row.model,
        "workspace": row.workspace,
        "cwd": row.cwd,
        "git_branch": row.git_branch,
        **time_pair("started_at", row.started_at),
        **time_pair("last_active", row.last_active),
        "message_count": details.message_count if details else row.stored_messages,
        "tool_call_count": row.tool_call_count,
        "input_tokens": row.input_tokens,
        "output_tokens": row.output_tokens,
        "cost_usd": number(row.cost_usd),
        "end_reason": row.end_reason,
        "pinned": row.pinned,
        "archived": row.archived,
        "hidden": row.hidden,
        "live": row.live,
        "status": details.status.value if details else "unknown",
        "parent_id": row.parent_id,
        "link": link_to(row.profile, row.id),
    }


def hit(found: Hit, details: Details | None) -> Json:
    """One conversation of a search, with its best match."""
    best = found.best
    return {
        **conversation(found.conversation, details),
        "tier": found.tier.value,
        "session_id": best.session_id if best else found.conversation.id,
        "in_delegate": found.in_delegate,
        "message_id": best.message_id if best else None,
        "role": best.role if best else None,
        **time_pair("timestamp", best.timestamp if best else None),
        "snippet": marked(best.snippet, best.spans) if best else None,
        "spans": [[start, end] for start, end in best.spans] if best else None,
        "matches": found.count if found.count is not None else len(found.matches),
    }


def marked(snippet: str, spans: Iterable[tuple[int, int]], opening: str = OPEN, closing: str = CLOSE) -> str:
    """The snippet with its matched words marked."""
    parts, at = [], 0
    for start, end in spans:
        parts += [snippet[at:start], opening, snippet[start:end], closing]
        at = end
    return "".join([*parts, snippet[at:]])


def message(each: Message, *, anchor: int | None) -> Json:
    """One message of a transcript."""
    calls = each.tool_calls
    return {
        "id": each.id,
        "session_id": each.session_id,
        "role": each.role,
        **time_pair("timestamp", each.timestamp),
        "content": each.text,
        "tool_name": each.tool_name,
        "tool_call_id": each.tool_call_id,
        "tool_calls": None
        if calls is None
        else [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in calls],
        "reasoning": each.reasoning,
        "kind": each.kind,
        "is_anchor": each.id == anchor,
    }


def node(each: LineageNode) -> Json:
    """One session of a family."""
    return {
        "id": each.id,
        "parent_id": each.parent_id,
        "kind": each.kind.value,
        "title": each.title,
        **time_pair("started_at", each.started_at),
        **time_pair("ended_at", each.ended_at),
        "end_reason": each.end_reason,
        "message_count": each.message_count,
        "is_tip": each.is_tip,
        "is_current": each.is_current,
        "depth": each.depth,
    }


def plan(found: ResumePlan) -> Json:
    """What `resume` would run."""
    return {
        "argv": list(found.argv),
        "env": dict(found.env),
        "cwd": found.cwd,
        "target_id": found.target_id,
        "requested_id": found.requested_id,
        "notices": list(found.notices),
    }


def candidate(each: Candidate) -> Json:
    """One thing that an ambiguous name could mean; also a line of `link`."""
    return {"profile": each.profile, "id": each.id, "title": each.title, "link": each.link}


def profile(each: ProfileInfo) -> Json:
    """One profile of the root."""
    return {
        "name": each.name,
        "home": str(each.home),
        "db": str(each.db),
        "exists": each.exists,
        "active": each.active,
        "valid": each.valid,
        "error": each.error,
    }


def check(each: Check) -> Json:
    """One line of `doctor`."""
    return {"name": each.name, "state": each.state.value, "detail": each.detail}
