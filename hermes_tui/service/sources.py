"""Sources that a query names and no store holds."""

from __future__ import annotations

from hermes_tui.domain.querytext import parse_query
from hermes_tui.service.sessions import SessionService
from hermes_tui.times import now


async def no_source(service: SessionService, text: str) -> str:
    """Which sources there are, for a query that names one that is none; else empty. Raises `HermesTuiError`."""
    if "source:" not in text.casefold():
        return ""  # it may be no query that can be read, nothing at all for one
    named = parse_query(text, present=now()).filters.wanted.get("source")
    if not named:
        return ""
    there = await service.sources()
    wrong = sorted(named.difference(map(str.casefold, there)))
    return f"There is no source {', '.join(wrong)}; there are {', '.join(sorted(there))}." if wrong and there else ""
