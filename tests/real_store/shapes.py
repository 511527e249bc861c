"""One full set of special shapes, each with its place in time."""

from __future__ import annotations

from contents import Contents
from descents import Descents
from fillers import Fillers
from scripts import Script


class Shapes(Fillers, Descents, Contents):
    """All scripts of one store."""

    def one_set(self) -> list[tuple[float, Script]]:
        """(place within the two years, script)."""
        kestrel = {"title": "Kestrel storage engine", "stale_sibling": True, "leave_open": True}
        hidden = "Keep hiddenquill notes out of the list."
        card = "Kanban card: polish the kanbazorb lane."
        bridge = "Tool session pinged kanbazorb over the bridge."
        return [
            (0.10, self.chain("chain2", "telegram", 2, title="Nimbus telegram alerts")),
            (0.22, self.numbered_chain()),
            (0.35, self.chain("chain4", "discord", 4, archive="archivox")),
            (0.50, self.chain("chain5", "tui", 5, **kestrel)),
            (0.62, self.chain("chain6", "slack", 6, title="Incident 4711 war room")),
            (0.30, self.branch()),
            (0.45, self.delegate()),
            (0.55, self.reset()),
            (0.70, self.in_place()),
            (0.75, self.rewound()),
            (0.82, self.simple("hidden", "telegram", "hiddenquill", hidden, title="Bot Chat", hidden=True)),
            (0.90, self.empty()),
            (0.85, self.simple("kanban", "kanban", "kanbazorb", card, title="Card 17: polish lanes")),
            (0.86, self.simple("tool", "tool", "kanbazorb", bridge)),
            (0.92, self.nasty()),
            (0.94, self.cjk()),
            (0.60, self.big_outputs()),
            (0.96, self.plain_needles()),
            (0.88, self.cron_needles()),
        ]
