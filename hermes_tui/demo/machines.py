"""What nobody typed: jobs by the clock, cards of a board, runs of other programs; and texts too long to write
down by hand."""

from __future__ import annotations

from hermes_tui.demo.scripts import Call, Line, Session

_AUDIT = (
    "No secrets in the diff, no new dependency. auth: token refresh now sits behind a lock, see #4121.",
    "Nothing to report: 3 commits, 41 files, no secrets.",
    "One finding: `requirements.txt` pins a version that was yanked yesterday. I opened #4117.",
    "Nothing to report: 1 commit.",
)
_WEATHER = ("Dry, 9 °C at eight. No umbrella.", "Rain from ten. Umbrella.", "Fog until noon, then sun.")


def fillings() -> dict[str, str]:
    """Placeholder → text."""
    build = "\n".join(
        f"#{n} [{n - 4}/42] step {n}: fetched {n * 37 % 91 + 9} packages, linked in {n * 13 % 50 + 3}.{n % 10} s, "
        f"layer sha256:{n * 2_654_435_761 % 2**32:08x}"
        for n in range(5, 46)
    )
    deploy = "\n".join(
        f"{2_000 + n} npm http fetch GET 200 https://mirror.example.net/pkg-{n * 7 % 113} {n * 31 % 900 + 20}ms "
        f"(cache {'hit' if n % 3 else 'miss'})"
        for n in range(120)
    )
    return {
        "(the build log)": build,
        "(the deploy log)": "ERROR registry: token expired, refresh failed with 401 (attempt 3 of 3), log follows\n"
        f"{deploy}\nnpm error code E401\nnpm error halyard-mirror refused the credentials of runner-7",
    }


def sessions() -> list[Session]:
    """Every session that no person typed in."""
    made = [_audit(days) for days in range(1, 7)]
    made += [_weather(days) for days in range(1, 5)]
    digest = _job("digest", "35m", "Morning digest", "3 mails, 1 meeting, 0 fires.", "Write the morning digest.")
    digest.about["clock"] = "11:25:00"
    made.append(digest)
    for number, (days, card) in enumerate(((3, "Rotate the signing key"), (12, "Upgrade Postgres to 18"))):
        made.append(_other(f"kanban-{number}", f"{days}d 11:{number}5", card, "kanban", f"Card done: {card}."))
    made.append(_other("oneshot", "6d 08:14", None, "oneshot", "The current branch is `main`, 2 commits ahead."))
    made.append(_other("lint", "2d 09:45", None, "tool", "No findings.", cwd="~/code/app"))
    lost = _other("lost", "40d 16:00", "Summarise the thread", "subagent", "Summary: they agree, and nobody noticed.")
    lost.about |= {"parent": "a-session-that-was-deleted", "marker": "delegate"}
    return [*made, lost]


def _audit(days: int) -> Session:
    said = _AUDIT[0] if days == 1 else _AUDIT[1 + days % 3]
    return _job(f"audit-{days}", f"{days}d 03:00", "nightly-audit", said, "Audit what was merged yesterday.")


def _weather(days: int) -> Session:
    said = _WEATHER[days % len(_WEATHER)]
    return _job(f"weather-{days}", f"{days}d 06:30", "umbrella", said, "Do I need an umbrella today? One line.")


def _job(name: str, start: str, job: str, said: str, order: str) -> Session:
    """A run of a scheduled job; titles are unique, so only its newest run bears the name."""
    about = {"start": start, "source": "cron", "job": job, "model": "haiku", "end": "cron_complete"}
    if name.endswith(("-1", "digest")):
        about["title"] = job
    looked = Call("terminal", {"command": f"run-job {job}"}, f"[{job}] ok", 6.0)
    return Session(name, about, [Line("user", order, 1.0), Line("assistant", None, 3.0, [looked]), _answer(said)])


def _other(name: str, start: str, title: str | None, source: str, said: str, **about: str) -> Session:
    about = {"start": start, "source": source, "model": "haiku", "end": "agent_close", **about}
    if title:
        about["title"] = title
    return Session(name, about, [Line("user", title or "Run this once.", 1.0), _answer(said)])


def _answer(said: str) -> Line:
    return Line("assistant", said, 8.0, columns={"finish_reason": "stop"})
