"""Every place that one can be in, and how to come there by keys: for what is true wherever one is."""

from __future__ import annotations

from dataclasses import dataclass

STARTED_WITH = """
import sys
from textual.events import Key
from hermes_tui.app import HermesApp
from hermes_tui.storage import finding
def crash():
    raise RuntimeError('a bug')
before = HermesApp.on_event
async def on_event(self, event):
    if isinstance(event, Key) and event.key == 'f9':
        self.screen.call_later(crash)
    else:
        await before(self, event)
HermesApp.on_event = on_event
ENDLESS = 'with recursive n(i) as (select 1 union all select i from n) select count(*) from n'
finding.scan_slice = lambda store, task: store.connection.execute(ENDLESS).fetchall()
from hermes_tui.cli import main
sys.exit(main(sys.argv[1:]))
"""
"""The program, in which F9 is a bug, and reading what no index holds takes for ever."""
F9 = "\x1b[20~"


@dataclass(frozen=True)
class Place:
    """Steps: what to press, and what is seen then."""

    name: str
    steps: tuple[tuple[str, str], ...] = ()
    store: str = "there"
    """`there`, `locked` by somebody else, or `missing`."""


_READ = ("\r", "message 1")
PLACES = (
    Place("list"),
    Place("filter", (("f", "title, first words"),)),
    Place("search", (("/", "Search"),)),
    Place("hits", (("/", "Search"), ("walnut", "1 match"), ("\t", "X"))),
    Place("scan", (("/", "Search"), ("zebra", "zzz"))),
    Place("transcript", (_READ,)),
    Place("find", (_READ, ("/", "find"))),
    Place("bookmarks", (_READ, ("m", "bookmarked"), ("'", "zzz"))),
    Place("link", (_READ, ("\t", ""), ("\r", "https"))),
    Place("lineage", (("l", "Lineage"),)),
    Place("resume", (("r", "--resume"),)),
    Place("help", (("?", "everywhere"),)),
    Place("profiles", (("P", "Profiles"),)),
    Place("palette", ((":", "command"),)),
    Place("no store", store="missing"),
    Place("busy store", store="locked"),
)
