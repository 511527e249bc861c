"""Words planted once, in the first set of shapes only: what each is there to prove is in its note."""

from __future__ import annotations

NEEDLES = {
    "quokkaflux": "one user message in the whole store",
    "zephyrine": "seven messages in two interactive sessions",
    "brindlewick": "part of the phrase 'brindlewick harbour lights'; the three words also occur apart",
    "kanbazorb": "only in kanban, tool and subagent sessions (hidden sources)",
    "cronolith": "only in cron sessions",
    "cronshared": "many times in cron sessions, once in an interactive one",
    "archivox": "only in an archived session",
    "hiddenquill": "only in a session with hidden=1",
    "pinnaclette": "only in a pinned session",
    "rewoundling": "only in rewound rows (active=0, compacted=0)",
    "compactonyx": "only in rows archived by in-place compaction (active=0, compacted=1)",
    "carryover": "in the tail an in-place compaction re-inserted: rewound original plus active copy",
    "scaffoldium": "only in a display_kind='hidden' row",
    "steerfish": "only in a display_kind='steer' row",
    "shallowtool": "only in tool output, near its start",
    "deeptoolite": "only in tool output, beyond the indexed prefix of 8192 characters",
    "argzilla": "only in the arguments of a tool call",
    "reasonarium": "only in the reasoning of an assistant message",
    "branchberry": "before a /branch: in the parent and copied to the branch",
    "branchonly": "only in the branch",
    "delegatine": "only in a delegate child with source=subagent",
    "inheritine": "only in a delegate child that inherited an interactive source",
    "resetpredecessor": "only in a session that ended at a reset",
    "resetsuccessor": "only in the reset child",
    "cafélatté": "Latin with accents (unicode61 strips them)",
    "youer": "only inside a CJK run: 修改youer服务端",
}
