"""What Hermes does to a session that grew too long, branches, or is undone."""

from __future__ import annotations

from collections import deque
from typing import Any

from places import SYSTEM_PROMPTS
from stores import Store, parameters
from words import MODELS

_LOCK_SECONDS = 300
_COPIED = ("tool_calls", "tool_call_id", "tool_name", "finish_reason", "reasoning", "reasoning_content")


def _summary(store: Store, topic: list[str]) -> dict[str, Any]:
    from agent.context_compressor import SUMMARY_PREFIX

    goal, done, more = (store.text.prose(count, topic) for count in (30, 20, 20))
    return {"role": "user", "content": f"{SUMMARY_PREFIX}\n\n## Goal\n{goal}\n\n## Progress\n- {done}\n- {more}\n"}


def _tail(store: Store, sid: str, count: int) -> list[dict[str, Any]]:
    """The last live messages as fresh dicts, from a user or assistant message on."""
    messages = [dict(message) for _mid, message in list(store.tails[sid])[-count:]]
    while messages and messages[0]["role"] == "tool":
        messages.pop(0)
    return messages


def rotate(store: Store, sid: str, source: str, topic: list[str]) -> str:
    """Compression that goes on in a new session: close `sid`, publish its continuation; returns the child."""
    handoff = [
        _summary(store, topic),
        {"role": "assistant", "content": "Understood, continuing."},
        *_tail(store, sid, 4),
    ]
    child = store.new_id(source)
    store.flush()
    if store.has("publish_compression_child"):
        _publish(store, sid, child, source, handoff)
    else:
        store.end(sid, "compression")
        store.create(source, sid=child, parent_session_id=sid)
        for message in handoff:
            rest = {name: value for name, value in message.items() if name not in ("role", "content")}
            store.say(child, message["role"], message.get("content"), **rest)
    return child


def _publish(store: Store, sid: str, child: str, source: str, handoff: list[dict[str, Any]]) -> None:
    holder = "gen:rotation"
    assert store.db.try_acquire_compression_lock(sid, holder, ttl_seconds=_LOCK_SECONDS)
    watermark = store.db.get_active_message_watermark(sid)
    store.db.publish_compression_child(
        parent_session_id=sid,
        child_session_id=child,
        source=source,
        messages=handoff,
        watermark=watermark,
        compression_lock_holder=holder,
        model=store.rng.choice(MODELS)[0],
        system_prompt=SYSTEM_PROMPTS[0],
    )
    store.db.release_compression_lock(sid, holder)
    store.rows += len(handoff)
    store.tails.pop(sid, None)
    store.tails[child] = deque(((None, message) for message in handoff), maxlen=8)
    if store.rng.random() < 0.8:
        store.usage(child, 2)


def compact(store: Store, sid: str, topic: list[str], tail: int = 3) -> bool:
    """Compaction in place; False where the release has none."""
    if not store.has("archive_and_compact"):
        return False
    carried = _tail(store, sid, tail)
    messages = [_summary(store, topic), {"role": "assistant", "content": "Summary noted."}, *carried]
    options: dict[str, Any] = {}
    store.flush()
    if "watermark" in parameters(store.db.archive_and_compact):
        holder = "gen:compaction"
        assert store.db.try_acquire_compression_lock(sid, holder, ttl_seconds=_LOCK_SECONDS)
        watermark = store.db.get_active_message_watermark(sid)
        options = {"watermark": watermark, "lock_holder": holder, "tail_count": len(carried)}
    store.db.archive_and_compact(sid, messages, **options)
    if options:
        store.db.release_compression_lock(sid, options["lock_holder"])
    store.rows += len(messages)
    store.tails[sid] = deque(((None, message) for message in messages), maxlen=8)
    return True


def copy_history(store: Store, origin: str, to: str) -> None:
    """What `/branch` does: the live transcript of `origin` into `to`."""
    store.flush()
    messages = store.db.get_messages_as_conversation(origin)
    if store.has("append_messages_batch"):
        batch = [
            {"role": each["role"], "content": each.get("content"), **{k: each[k] for k in _COPIED if each.get(k)}}
            for each in messages
        ]
        store.db.append_messages_batch(to, batch, chunk_rows=500)
        store.rows += len(batch)
        return
    for each in messages:
        store.say(to, each["role"], each.get("content"), **{k: each[k] for k in _COPIED if each.get(k)})


def rewind(store: Store, sid: str, mid: int | None) -> None:
    """Undo from this message on, where the release can."""
    if store.has("rewind_to_message"):
        store.flush()
        store.db.rewind_to_message(sid, mid)


def next_title(store: Store, sid: str, title: str) -> None:
    """Give `sid` the next `title #n` of its lineage."""
    store.flush()
    store.db.set_session_title(sid, store.db.get_next_title_in_lineage(title))
