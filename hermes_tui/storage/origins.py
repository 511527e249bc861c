"""Where conversations came from: created source, user, chat, thread, hand-off, as far as a store knows."""

from __future__ import annotations

import json
from typing import Any

from hermes_tui.domain.families import Chain
from hermes_tui.domain.sessions import Provenance
from hermes_tui.storage.connection import Store

_COLUMNS = {
    "created": "created_source",
    "user": "user_id",
    "chat": "chat_id",
    "chat_type": "chat_type",
    "thread": "thread_id",
    "state": "handoff_state",
    "platform": "handoff_platform",
    "error": "handoff_error",
    "origin": "origin_json",
}


def load_provenance(store: Store, chain: Chain) -> Provenance:
    """The first segment knows the origin, the last one the present chat."""
    root, known = _known(store, chain)
    origin = known["origin"] or {}
    chat = _first(origin.get("chat_name"), known["chat"], origin.get("chat_id"))
    kind = _first(known["chat_type"], origin.get("chat_type"))
    handoff = " ".join(str(known[part]) for part in ("state", "platform", "error") if known[part]) or None
    return Provenance(
        created_source=_first(root["created"], known["created"]),
        user=_first(origin.get("user_name"), known["user"], origin.get("user_id")),
        chat=f"{chat} ({kind})" if chat and kind else chat,
        thread=_first(known["thread"], origin.get("thread_id")),
        handoff=handoff,
    )


def _first(*values: Any) -> str | None:
    return next((str(value) for value in values if value not in (None, "")), None)


def _known(store: Store, chain: Chain) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the root says, and what the tip says, with the root's word where the tip has none."""
    root, tip = _row(store, chain.root.id), _row(store, chain.tip.id)
    return root, {name: tip[name] or root[name] for name in _COLUMNS}


def _row(store: Store, session_id: str) -> dict[str, Any]:
    asked = ", ".join(f"nullif(cast({store.schema.session(column)} as text), '')" for column in _COLUMNS.values())
    row = store.conn.execute(f"select {asked} from sessions s where s.id = ?", (session_id,)).fetchone()
    found = dict(zip(_COLUMNS, row or (None,) * len(_COLUMNS), strict=True))
    found["origin"] = _object(found["origin"])
    return found


def _object(stored: Any) -> dict[str, Any]:
    try:
        value = json.loads(stored) if isinstance(stored, str) else {}
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
