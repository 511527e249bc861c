"""One store, written through Hermes' own `SessionDB`, and what the scripts need around it."""

from __future__ import annotations

import inspect
import json
import random
import sqlite3
import uuid
from collections import defaultdict, deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clocks import Clock
from corpus import Text
from places import GATEWAY, PLACES, SYSTEM_PROMPTS, WITH_CWD
from words import MODELS

_BULK_ROWS = 4_000
_TELLING = ("display_kind", "api_content", "observed")
"""Columns that say what kind a message is: without them it would be another message."""
_COUNT_UP = """
update sessions
set message_count = message_count + ?, tool_call_count = tool_call_count + ?
where id = ?
"""


def parameters(call: Any) -> set[str]:
    """The names of a call's parameters: releases differ."""
    return set(inspect.signature(call).parameters)


def _open(home: Path, journal: str) -> Any:
    from hermes_state import SessionDB

    home.mkdir(parents=True, exist_ok=True)
    path = home / "state.db"
    if path.exists():
        raise SystemExit(f"{path} exists; remove it first")
    # Hermes keeps a store that already is in WAL mode there, but refuses to *enter* WAL on the SQLite
    # versions with the WAL-reset bug; so WAL is set on the empty file (and DELETE at the end).
    if journal == "wal":
        conn = sqlite3.connect(path)
        conn.execute("PRAGMA journal_mode=wal")
        conn.close()
    return SessionDB(db_path=path)


class Store:
    """A `SessionDB` of whichever release is installed; what it lacks is left out."""

    def __init__(
        self, home: Path, clock: Clock, rng: random.Random, text: Text, *, bulk: bool, journal: str, tool_bytes: int
    ) -> None:
        self.db = _open(home, journal)
        self.home, self.path, self.clock, self.rng, self.text, self.bulk = (
            home,
            home / "state.db",
            clock,
            rng,
            text,
            bulk,
        )
        self.tool_bytes = tool_bytes
        self.db._conn.execute("PRAGMA synchronous=OFF")
        if bulk:
            self.db._conn.execute("PRAGMA cache_size=-600000")
        self.session_columns = self._columns("sessions")
        self.message_columns = self._columns("messages")
        self.create_parameters = parameters(self.db._insert_session_row)
        self.append_parameters = parameters(self.db.append_message)
        self.rows = 0
        """Messages written through `say`."""
        self.tails: dict[str, deque[tuple[int | None, dict[str, Any]]]] = {}
        """The last messages of a session, for what a compression carries over."""
        self.shapes: dict[str, list[str]] = defaultdict(list)
        self.needles: dict[str, list[list[Any]]] = defaultdict(list)
        self.titles: set[str] = set()
        self.replicate = 0
        """0 while the first set of shapes writes, which alone holds the needles."""
        self._bulk_rows: list[tuple[Any, ...]] = []
        self._bulk_counts: dict[str, list[int]] = {}
        self._bulk_columns: list[str] = []

    def _columns(self, table: str) -> set[str]:
        return {row[1] for row in self.db._conn.execute(f"PRAGMA table_info({table})")}

    def has(self, *names: str) -> bool:
        """Whether this release has these calls."""
        return all(hasattr(self.db, name) for name in names)

    def sql(self, statement: str, values: Sequence[Any] = ()) -> None:
        """One write in Hermes' own transaction, for columns that no public call sets."""
        self.flush()
        self.db._execute_write(lambda conn: conn.execute(statement, values) and None)

    def set_columns(self, sid: str, **columns: Any) -> None:
        known = {name: value for name, value in columns.items() if name in self.session_columns}
        if known:
            pairs = ", ".join(f"{name} = ?" for name in known)
            self.sql(f"UPDATE sessions SET {pairs} WHERE id = ?", (*known.values(), sid))

    def new_id(self, source: str, job: str | None = None) -> str:
        """An id as this source makes them."""

        def digits(count: int) -> str:
            return f"{self.rng.getrandbits(4 * count):0{count}x}"

        stamp = f"{self.clock.day():%Y%m%d_%H%M%S}"
        if source == "cron":
            return f"cron_{job}_{stamp}"
        if source in ("api", "api_server"):
            return f"api_{int(self.clock.now)}_{digits(8)}" if self.rng.random() < 0.7 else f"api-{digits(16)}"
        if source == "acp":
            return str(uuid.uuid4())
        return f"{stamp}_{digits(8 if source in GATEWAY else 6)}"

    def create(
        self, source: str, *, sid: str | None = None, job: str | None = None, place: Any = None, **columns: Any
    ) -> str:
        """A session; returns its id."""
        sid = sid or self.new_id(source, job)
        model, _provider = columns.pop("route", None) or self.rng.choice(MODELS)
        columns.setdefault("model", model)
        columns.setdefault("model_config", {"max_iterations": 90, "reasoning_config": {"effort": "medium"}})
        columns.setdefault("system_prompt", SYSTEM_PROMPTS[len(source) % len(SYSTEM_PROMPTS)])
        if source in GATEWAY and "chat_id" not in columns:
            self._peer(source, columns)
        place = place if place is not None else (self.rng.choice(PLACES) if source in WITH_CWD else None)
        if place:
            columns.setdefault("cwd", place[0])
        self.flush()
        known = {name: value for name, value in columns.items() if name in self.create_parameters}
        self.db.create_session(sid, source, **known)
        rest = {name: value for name, value in columns.items() if name not in known and name != "model_config"}
        self.set_columns(sid, **rest)
        if place and place[1] and "git_branch" in self.session_columns:
            if "git_branch" in parameters(self.db.update_session_cwd):
                self.db.update_session_cwd(sid, place[0], git_branch=place[1], git_repo_root=place[2])
            else:
                self.set_columns(sid, git_branch=place[1], git_repo_root=place[2])
        self.tails[sid] = deque(maxlen=8)
        return sid

    def _peer(self, source: str, columns: dict[str, Any]) -> None:
        """Who is at the other end of a gateway session."""
        chat = str(self.rng.randrange(10**8, 10**9))
        columns.update(
            chat_id=chat,
            chat_type=self.rng.choice(("dm", "group")),
            user_id=str(self.rng.randrange(10**6, 10**7)),
            session_key=f"agent:main:{source}:dm:{chat}",
            display_name=f"{source} chat {chat[-4:]}",
            origin_json=json.dumps({"platform": source, "chat_id": chat, "chat_name": "ops"}),
        )
        if source in ("slack", "discord"):
            columns.setdefault("thread_id", f"17{self.rng.randrange(10**8)}.{self.rng.randrange(10**6)}")

    def end(self, sid: str, reason: str) -> None:
        self.flush()
        self.db.end_session(sid, reason)
        self.tails.pop(sid, None)

    def title(self, sid: str, title: str, source: str = "user") -> str:
        """Set a title; a taken one gets the next free ` (n)`."""
        base, n = title, 1
        while title in self.titles:
            n += 1
            title = f"{base} ({n})"
        self.titles.add(title)
        self.flush()
        if source != "user" and self.has("set_auto_title"):
            self.db.set_auto_title(sid, title, source=source)
        else:
            self.db.set_session_title(sid, title)
        return title

    def usage(self, sid: str, calls: int, second_model: bool = False) -> None:
        """Tokens and cost of that many calls."""
        self.flush()
        rng = self.rng
        for model, provider in [rng.choice(MODELS)] + ([rng.choice(MODELS)] if second_model else []):
            counts = {
                "input_tokens": rng.randrange(2_000, 90_000) * calls,
                "output_tokens": rng.randrange(100, 2_000) * calls,
                "cache_read_tokens": rng.randrange(0, 50_000) * calls,
                "cache_write_tokens": rng.randrange(0, 9_000),
                "reasoning_tokens": rng.randrange(0, 5_000),
                "model": model,
                "billing_provider": provider,
                "estimated_cost_usd": round(rng.random() * calls * 0.02, 6),
                "cost_status": "estimated",
                "cost_source": "catalog",
                "api_call_count": calls,
            }
            known = parameters(self.db.update_token_counts)
            self.db.update_token_counts(sid, **{name: value for name, value in counts.items() if name in known})
        if self.has("record_auxiliary_usage") and rng.random() < 0.5:
            small = {
                "model": "gemini-3-flash",
                "billing_provider": "gemini",
                "input_tokens": 900,
                "output_tokens": 12,
            }
            self.db.record_auxiliary_usage(sid, "title_generation", **small, estimated_cost_usd=0.0001)

    def activity(self, sid: str) -> None:
        """The heartbeat that newer releases stamp; some sessions stay without one, as old rows do."""
        if self.has("touch_session_activity") and self.rng.random() < 0.85:
            self.flush()
            self.db.touch_session_activity(sid, description="waiting for input")
            if self.rng.random() < 0.8:
                self.db.clear_session_activity_labels(sid)

    def say(self, sid: str, role: str, content: Any = None, *, fast: bool = False, **columns: Any) -> int | None:
        """One message; returns its id where it goes through the API. Kinds that the release cannot store are
        left out."""
        if any(name in columns and name not in self.append_parameters for name in _TELLING):
            return None
        self.rows += 1
        if fast and self.bulk:
            self._say_bulk(sid, role, content, **columns)
            return None
        self.flush()
        known = {name: value for name, value in columns.items() if name in self.append_parameters}
        try:
            mid = self.db.append_message(sid, role, content=content, **known)
        except UnicodeEncodeError:  # older releases do not scrub lone surrogates
            content = content.encode("utf-8", "replace").decode("utf-8")
            mid = self.db.append_message(sid, role, content=content, **known)
        if sid in self.tails:
            message = {"role": role, "content": content}
            kept = ("tool_calls", "tool_call_id", "tool_name")
            message.update({name: known[name] for name in kept if known.get(name)})
            self.tails[sid].append((mid, message))
        return int(mid)

    def plant(self, name: str, sid: str, role: str, content: str, **columns: Any) -> int | None:
        """A message that carries the needle `name` (`{}` in `content`); later sets get a rare word instead."""
        if self.replicate:
            return self.say(sid, role, content.format(self.text.rare()), **columns)
        mid = self.say(sid, role, content.format(name), **columns)
        self.needle(name, sid, mid)
        return mid

    def needle(self, name: str, sid: str, mid: int | None) -> None:
        """Note where a needle went."""
        if not self.replicate and mid is not None:
            self.needles[name].append([sid, mid])

    def _say_bulk(self, sid: str, role: str, content: Any, **columns: Any) -> None:
        calls = columns.get("tool_calls")
        row = dict.fromkeys(("session_id", "role", "content", "tool_call_id", "tool_calls", "tool_name", "timestamp"))
        row.update(dict.fromkeys(("token_count", "finish_reason", "reasoning")))
        row.update(columns, session_id=sid, role=role, content=content, timestamp=self.clock(), active=1)
        row.update(tool_calls=json.dumps(calls) if calls else None, reasoning_content=columns.get("reasoning"))
        row.update(display_kind=None, display_metadata=None)
        if "message_uid" in self.message_columns:
            row["message_uid"] = uuid.uuid4().hex
        if "display_identity" in self.message_columns:
            row["display_identity"] = self.db._display_identity(self.db._display_dedupe_key(row))
        if not self._bulk_columns:
            self._bulk_columns = [name for name in row if name in self.message_columns]
        self._bulk_rows.append(tuple(row[name] for name in self._bulk_columns))
        count = self._bulk_counts.setdefault(sid, [0, 0])
        count[0] += 1
        count[1] += len(calls or ())
        if len(self._bulk_rows) >= _BULK_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write what `say(fast=True)` has gathered."""
        if not self._bulk_rows:
            return
        rows, counts, columns = self._bulk_rows, self._bulk_counts, self._bulk_columns
        self._bulk_rows, self._bulk_counts = [], {}
        names, holes = ", ".join(columns), ", ".join("?" * len(columns))

        def write(conn: sqlite3.Connection) -> None:
            conn.executemany(f"INSERT INTO messages ({names}) VALUES ({holes})", rows)
            conn.executemany(_COUNT_UP, [(messages, calls, sid) for sid, (messages, calls) in counts.items()])

        self.db._execute_write(write)
