"""Which messages exist for people (SPEC 2, FACTS 6.6): one SQL condition, used by every query on messages."""

from __future__ import annotations

from hermes_tui.storage.schema import Schema


def kept(schema: Schema, alias: str = "m") -> str:
    """Rows that were not undone. Without `compacted` (below schema 22) inactive means undone; without
    `active` (below 14) nothing can be undone; NULL is active, as buggy stores have it."""
    m = alias
    if "active" not in schema.messages:
        return "1"
    live = f"coalesce({m}.active, 1) <> 0"
    return f"({live} or {m}.compacted = 1)" if "compacted" in schema.messages else live


def visible(schema: Schema, alias: str = "m") -> str:
    """Rows that a transcript shows, before copies are folded: kept, not hidden, not for the model alone,
    no `session_meta`, no untyped `[System:` row in the person's name."""
    m = alias
    clauses = [f"{m}.role is not 'session_meta'", kept(schema, m)]
    untyped = "1"
    if "display_kind" in schema.messages:
        clauses.append(f"coalesce({m}.display_kind, '') <> 'hidden'")
        untyped = f"coalesce({m}.display_kind, '') = ''"
    clauses.append(f"not ({m}.role is 'user' and {untyped} and substr({m}.content, 1, 8) is '[System:')")
    if "display_metadata" in schema.messages:
        clauses.append(f"not {_model_only(m)}")
    return "(" + " and ".join(clauses) + ")"


def prompting(schema: Schema, alias: str = "m") -> str:
    """Rows in the person's name that may hold their words: shown, and no event."""
    from hermes_tui.domain.messages import EVENTS

    m, events = alias, ", ".join(f"'{kind}'" for kind in sorted(EVENTS - {"steer"}))
    kind = f"coalesce({schema.message('display_kind', m)}, '')"
    return f"{m}.role = 'user' and {m}.content is not null and {kind} not in ({events}) and {visible(schema, m)}"


def _model_only(m: str) -> str:
    """`display_metadata.model_only` is true; the JSON may be encoded twice, or be none."""
    meta = f"{m}.display_metadata"
    once = f"case when json_type({meta}) = 'text' then json_extract({meta}, '$') else {meta} end"
    said = f"case when json_valid({once}) then json_extract({once}, '$.model_only') end"
    value = f"case when instr({meta}, 'model_only') = 0 or not json_valid({meta}) then null else {said} end"
    return f"(coalesce({meta}, '') <> '' and coalesce({value}, 0) not in (0, '', '[]', '{{}}'))"
