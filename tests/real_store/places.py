"""Where sessions come from and run: sources, directories, scheduled jobs, system prompts."""

from __future__ import annotations

GATEWAY = ("telegram", "discord", "slack", "whatsapp")
WITH_CWD = ("cli", "tui", "desktop", "acp", "kanban")
INTERACTIVE = (
    *("cli", "cli", "cli", "tui", "telegram", "telegram", "discord", "slack", "whatsapp"),
    *("desktop", "api", "api_server", "acp"),
)
PLACES = (
    ("/home/user/src/atlas-gateway", "main", "/home/user/src/atlas-gateway"),
    ("/home/user/src/nimbus-api/services/auth", "feature/login-flow", "/home/user/src/nimbus-api"),
    ("/home/user/src/hermes-tui", "fix/№42-überlauf", "/home/user/src/hermes-tui"),
    ("/home/user/Müller & Söhne/项目 α", "", ""),
    ("/tmp", "", ""),
    ("/home/user", "", ""),
    ("C:\\Users\\me\\proj", "master", "C:\\Users\\me\\proj"),
    ("/srv/kestrel.db/worktrees/a b", "release/v0.22.2", "/srv/kestrel.db"),
    ("/home/user/src/" + "deep/" * 40 + "leaf", "main", "/home/user/src/deep"),
)
JOBS = (
    ("3f9a1c0b7d2e", "Daily deploy post"),
    ("a0b1c2d3e4f5", "Nightly session summary"),
    ("nightly-deploy", "Nightly deploy check"),
    ("job-1", "Weekly digest post"),
    ("7e57ab1e0001", "Uptime post"),
    ("c0ffee123456", "Session cleanup report"),
    ("5e551017aaaa", "Post release notes"),
    ("b10bb10bb10b", "Deploy queue watcher"),
)
_RULES = "Follow the user's goals, use tools with care, keep answers short. "
SYSTEM_PROMPTS = tuple(f"You are Hermes, variant {i}. " + _RULES * (18 + 9 * i) for i in range(4))
