"""The command that continues a conversation, and what is known about it beforehand (SPEC 7, FACTS 4)."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from hermes_tui import paths
from hermes_tui.domain.families import Catalogue, Chain
from hermes_tui.domain.profiles import StoreRef
from hermes_tui.domain.resume import Check, ResumePlan, State
from hermes_tui.domain.sessions import Kind
from hermes_tui.storage.config import max_resume_messages, read_config
from hermes_tui.storage.connection import Store
from hermes_tui.storage.continuation import continuation
from hermes_tui.storage.live import leases
from hermes_tui.storage.visibility import kept
from hermes_tui.text import count, one_line
from hermes_tui.times import ago, now
from hermes_tui.values import dataclass

STAY = "--no-restore-cwd"
"""Makes `hermes` stay where it is started; from 0.19 on."""
_LINEAGE_CAP = 100
_LONGEST_PATH = 300
_ASSUMED = "assumed: no setting found"
_VERSION = re.compile(r"hermes_agent\w*-(\d[\w.]*)\.dist-info")


@dataclass(frozen=True, slots=True)
class Stay:
    """The wish to stay in the present directory, and whether the installed `hermes` can."""

    offered: bool


def plan_resume(store: Store, catalogue: Catalogue, session_id: str, stay: Stay | None = None) -> ResumePlan:
    """What `hermes` would be asked to do for the conversation of this session, every fact of it checked."""
    chain = catalogue.chains[session_id]
    full_id = chain.tip.id
    known = _continuation(store, full_id)
    target_id = full_id if known is None else known
    cwd = _directory(catalogue, target_id) or _directory(catalogue, full_id)
    refused = _refusal(store.ref, full_id)
    checks = [
        _continues(store, catalogue, session_id, known),
        _profile(store.ref),
        _whereabouts(cwd, stay),
        _elsewhere(store.ref.home, {segment.id for segment in chain.segments} | {target_id}),
        _length(store, catalogue, target_id),
        *_kanban(store, catalogue, target_id),
        check_program(),
    ]
    notices = [f"{check.name}: {check.detail}" for check in checks if check.state is not State.OK]
    if cwd is None:
        notices.append("directory: none is recorded; hermes starts in the present one")
    return ResumePlan(
        argv=command(store.ref, full_id, stay=stay is not None and stay.offered),
        env=environment(store.ref),
        cwd=cwd,
        target_id=target_id,
        requested_id=session_id,
        checks=tuple(checks),
        notices=tuple(notices),
        refused=refused,
    )


def command(ref: StoreRef, full_id: str, *, stay: bool = False) -> tuple[str, ...]:
    """Always with the profile, also `default`: without it the sticky profile of the root would win."""
    name = paths.DEFAULT if ref.profile == paths.CUSTOM else ref.profile
    session = (f"--resume={full_id}",) if full_id.startswith("-") else ("--resume", full_id)
    return ("hermes", "-p", name, *session, *((STAY,) if stay else ()))


def environment(ref: StoreRef) -> dict[str, str]:
    """What must be added so that `-p` finds this very home: nothing where Hermes would find it anyway."""
    if ref.profile == paths.CUSTOM:
        return {"HERMES_HOME": os.path.abspath(ref.home)}
    launched = paths.env_home() or paths.native_home()
    if launched.parent.name == paths.PROFILES:
        launched = launched.parent.parent
    if os.path.realpath(launched) == os.path.realpath(ref.root):
        return {}
    return {"HERMES_HOME": os.path.abspath(ref.root)}


def _refusal(ref: StoreRef, full_id: str) -> str | None:
    if not ref.resumable:
        return f"This cannot be resumed: {ref.why_not or 'hermes could not open this store'}."
    if ref.profile != paths.CUSTOM and not paths.valid_profile(ref.profile):
        return f"This cannot be resumed: hermes takes no profile called {ref.profile!r}."
    if not full_id or "\0" in full_id:
        return "This cannot be resumed: its id cannot be given on a command line."
    return None


def _directory(catalogue: Catalogue, session_id: str) -> str | None:
    chain = catalogue.chains.get(session_id)
    found = None if chain is None else next(each.cwd for each in chain.segments if each.id == session_id)
    return (found or "").strip() or None


def _continuation(store: Store, session_id: str) -> str | None:
    """What `hermes` would continue; None where the database is too damaged to tell."""
    try:
        return continuation(store, session_id)
    except sqlite3.DatabaseError as error:
        store.forgive(error)
        return None


def _continues(store: Store, catalogue: Catalogue, session_id: str, target_id: str | None) -> Check:
    chain = catalogue.chains[session_id]
    full_id, of = chain.tip.id, len(chain.segments)
    at = 1 + next(n for n, segment in enumerate(chain.segments) if segment.id == session_id)
    said = "this session" if of == 1 else f"segment {of} of {of}, the tip"
    if at < of:
        said += f"; segment {at}, which was asked for, was compacted on the way"
    elif of > 1:
        said += f"; {'segment 1 is' if of == 2 else f'segments 1 to {of - 1} are'} compacted"
    if target_id is None:
        unsure = "the database is damaged here, so hermes may see it otherwise"
        return Check("continues", State.WARNING, f"{said}; {unsure}")
    if target_id != full_id:
        what = {Kind.DELEGATE: "a run that it started", Kind.RESET: "what began after its reset"}
        there = catalogue.chains.get(target_id)
        name = what.get(there.kind, "a session that descends from it") if there else "a session that descends from it"
        return Check("continues", State.WARNING, f"{target_id}: hermes goes on to {name} and holds messages")
    if at < of and (alone := _continuation(store, session_id)) not in (None, target_id):
        said += f" (given {session_id} itself, hermes would stop at {alone})"
    return Check("continues", State.OK, said)


def _profile(ref: StoreRef) -> Check:
    if (refused := _refusal(ref, "-")) is not None:
        return Check("profile", State.ERROR, refused)
    return Check("profile", State.OK, f"{ref.profile} · {paths.tilde(ref.home)}")


def _whereabouts(cwd: str | None, stay: Stay | None) -> Check:
    here = _here()
    if stay is not None and stay.offered:
        return Check("directory", State.OK, f"stays in {here}")
    unable = "" if stay is None else f"; the installed hermes has no {STAY}"
    if cwd is None:
        return Check("directory", State.OK, f"none is recorded; hermes starts in {here}")
    shown = one_line(cwd if "://" in cwd else paths.tilde(Path(cwd)), _LONGEST_PATH)
    if not os.path.isdir(cwd):
        return Check("directory", State.WARNING, f"{shown} is gone; hermes stays in {here}")
    return Check("directory", State.WARNING if unable else State.OK, shown + unable)


def _here() -> str:
    try:
        return paths.tilde(Path.cwd())
    except OSError:
        return "the present directory"


def _elsewhere(home: Path, session_ids: set[str]) -> Check:
    for lease in leases(home):
        if lease.session_id in session_ids:
            since = "" if lease.started_at is None else f", since {ago(lease.started_at, now())}"
            where = f"{one_line(lease.surface, 40)} (process {lease.pid}{since})"
            return Check("elsewhere", State.WARNING, f"open in {where}: hermes refuses a second window")
    return Check("elsewhere", State.OK, "not open in another window")


def _lineage(catalogue: Catalogue, session_id: str) -> list[str]:
    """The sessions whose messages a resume reloads: this one and those that were compacted into it."""
    found: list[str] = []
    chain: Chain | None = catalogue.chains.get(session_id)
    at = session_id
    while chain is not None and at not in found and len(found) < _LINEAGE_CAP:
        ids = [segment.id for segment in chain.segments]
        found += reversed(ids[: ids.index(at) + 1])
        if chain.kind is not Kind.SIBLING or chain.root.parent_id is None:
            break
        at = chain.root.parent_id
        chain = catalogue.chains.get(at)
    return found[:_LINEAGE_CAP] or [session_id]


def _length(store: Store, catalogue: Catalogue, target_id: str) -> Check:
    limit, configured = max_resume_messages(read_config(store.ref.home))
    sql = f"select count(*) from (select 1 from messages m where m.session_id = ? and {kept(store.schema)} limit ?)"
    found = 0
    reloaded = _lineage(catalogue, target_id)
    for session_id in reloaded:
        try:
            found += store.conn.execute(sql, (session_id, limit + 1 - found if limit else -1)).fetchone()[0]
        except sqlite3.DatabaseError as error:
            store.forgive(error)
            return Check("length", State.WARNING, "the messages cannot be counted: the database is damaged here")
        if limit and found > limit:
            why = "sessions.max_resume_messages" if configured else _ASSUMED
            detail = f"more than {limit:,} stored messages, the limit ({why}): hermes refuses to load them"
            return Check("length", State.ERROR, detail)
    if not found:
        return Check("length", State.WARNING, "no messages: hermes starts afresh under the same id")
    stored = count(found, "stored message") + (", with repeated ones" if len(reloaded) > 1 else "")
    why = "" if configured else f" ({_ASSUMED})"
    return Check("length", State.OK, f"{stored}; limit {limit:,}{why}" if limit else f"{stored}; no limit")


def _kanban(store: Store, catalogue: Catalogue, target_id: str) -> Iterator[Check]:
    sql = f"""
    select 1
    from sessions s
    where s.id = ? and 'kanban' in (coalesce(s.source, ''), coalesce({store.schema.session("created_source")}, ''))
    """
    if os.environ.get("HERMES_KANBAN_TASK", "").strip():
        return
    try:
        owned = any(store.conn.execute(sql, (each,)).fetchone() for each in _lineage(catalogue, target_id))
    except sqlite3.DatabaseError as error:
        store.forgive(error)
        owned = False  # "continues" has said that the database is damaged
    if owned:
        yield Check("owner", State.ERROR, "a kanban worker's: hermes refuses it and starts a fresh session instead")


def check_program(missing: State = State.ERROR) -> Check:
    """Whether there is a `hermes` to hand over to; `missing` says how bad it is if not."""
    found = shutil.which("hermes")
    if found is None:
        return Check("hermes", missing, "not on PATH: copy the command and run it where hermes is installed")
    version = installed_version(Path(found))
    return Check(
        "hermes", State.OK, f"{version} · {paths.tilde(Path(found))}" if version else paths.tilde(Path(found))
    )


def installed_version(program: Path) -> str | None:
    """The version of the `hermes` at this path, off its package's folder: running it would write files."""
    prefix = Path(os.path.realpath(program)).parent.parent
    for folder in (*prefix.glob("lib/python3*/site-packages"), prefix / "Lib" / "site-packages"):
        for each in folder.glob("hermes_agent*.dist-info"):
            if named := _VERSION.fullmatch(each.name):
                return named[1]
    return None
