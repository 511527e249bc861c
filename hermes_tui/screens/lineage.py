"""The lineage screen: how the sessions of a family descend from each other, and each of them at hand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import events, on, work
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widget import Widget

from hermes_tui.domain.lineage import Lineage, LineageNode, chain_names
from hermes_tui.domain.messages import Recap
from hermes_tui.domain.sessions import ConversationKey, Details
from hermes_tui.errors import HermesTuiError, StoreBusy
from hermes_tui.intents import OpenResume, OpenSearch, OpenTranscript
from hermes_tui.keys import LINEAGE, Key
from hermes_tui.screens.acting import Acting, Place
from hermes_tui.screens.base import WIDE, BaseScreen, Movable, Moving, bindings
from hermes_tui.service.sessions import SessionService
from hermes_tui.text import count, one_line
from hermes_tui.values import replace
from hermes_tui.widgets.ink import Form, Ink, Line, gap
from hermes_tui.widgets.nodes import NodeShown, as_recap, node_view
from hermes_tui.widgets.rail import Rail
from hermes_tui.widgets.rows import Rows
from hermes_tui.widgets.tree import (
    REPEATED,
    TreeRow,
    TreeStyle,
    family_words,
    head_line,
    kind_cells,
    row_line,
    session_name,
    tree_rows,
)
from hermes_tui.widgets.ways import Ways

OWN = frozenset(key.action.partition("(")[0] for key in LINEAGE)
ALWAYS = frozenset({"back", "search", "move", "page", "half", "first", "last"})
"""Actions that need no session under the cursor."""
SEGMENT_END = 30
"""Messages before the end of a segment that the pane looks at."""


class LineageScreen(Moving, BaseScreen, Acting):
    """A tree of sessions, the one under the cursor told beside it."""

    PLACE = "lineage"
    BINDINGS: ClassVar[list[BindingType]] = bindings("lineage")
    AUTO_FOCUS = "#tree"

    AGAIN_SECONDS: ClassVar[float] = 1.0
    """How long a store that was busy is left in peace."""

    def __init__(self, service: SessionService, profile: str, session_id: str) -> None:
        super().__init__(service)
        self._profile = profile
        self._session_id = session_id
        # Held rather than looked for, like header and status: answers may come when they have gone.
        self.tree_list = Rows[TreeRow](self._draw, lambda row: row.node.id, self._head, id="tree", classes="list")
        self._rail = Rail(id="rail", classes="rail")
        self._preview = Ink(id="preview", classes="preview")
        self._page = Ways(id="page", classes="body")
        self._lineage: Lineage | None = None
        self._by_id: dict[str, LineageNode] = {}
        self._folded: set[str] = set()
        self._details: dict[str, Details] = {}
        self._asked: set[str] = set()
        """Roots whose details were asked for."""
        self._look_of = TreeStyle(self._details)

    def compose_body(self) -> Iterable[Widget]:
        with Horizontal(id="family", classes="body"):
            yield self.tree_list
            yield self._rail
            yield self._preview
        yield self._page

    def on_mount(self) -> None:
        super().on_mount()
        self.show_header("Lineage")
        self.show_status((((("reading …"), "quiet"),), ""))

    def on_screen_resume(self) -> None:
        """Also on coming back from a transcript or from Hermes: the family may have grown."""
        self._load()

    @property
    def moved(self) -> Movable:
        return self._page if self.has_class("-page") else self.tree_list

    @property
    def current(self) -> TreeRow | None:
        """The session under the cursor."""
        return None if self.has_class("-page") else self.tree_list.current

    @property
    def acted(self) -> Place | None:
        row = self.current
        return None if row is None else Place(self._profile, row.node.id)

    def _draw(self, row: TreeRow, width: int, on: bool) -> Line:
        return row_line(row, width, self._look_of, on=on)

    def _head(self, width: int) -> Line:
        return head_line(width, self._look_of)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action not in OWN:
            return super().check_action(action, parameters)
        if action == "preview" and self.size.width < WIDE:
            return False
        row = self.current
        if action == "fold" and row is not None:
            return (row.holds > 0 and not row.folded) or row.node.parent_id in self._by_id
        if action == "unfold" and row is not None:
            return row.holds > 0
        return action in ALWAYS or row is not None

    def footer_keys(self) -> list[Key]:
        """`←` and `→` under what they do here."""
        row = self.current
        if row is None:
            return super().footer_keys()
        shut = row.folded or not row.holds
        labels = {"fold": "parent" if shut else "fold", "unfold": "unfold" if row.folded else "child"}
        return [replace(key, label=labels.get(key.action, key.label)) for key in super().footer_keys()]

    # the family

    @work(exclusive=True, group="lineage", description="lineage")
    async def _load(self) -> None:
        try:
            lineage = await self.service.lineage(self._profile, self._session_id)
        except HermesTuiError as error:
            busy, said = isinstance(error, StoreBusy), one_line(str(error))
            self.add_class("-page")
            self._page.show([(("The family could not be read. ", "bad"), (said, "soft"))])
            self.show_status(*([((("trying again …", "aside"),), "")] if busy else []))
            if busy:
                self.set_timer(self.AGAIN_SECONDS, self._load)
        else:
            first = self._lineage is None
            self._lineage = lineage
            self._by_id = {node.id: node for node in lineage.nodes}
            self._look_of = TreeStyle(self._details, chain_names(lineage.nodes), kind_cells(lineage.nodes))
            self.remove_class("-page")
            self._show_rows()
            if first:
                self._go_to_current()
            self._show_header(lineage)
        self.show_keys()

    def _show_rows(self) -> None:
        if self._lineage is not None:
            self.tree_list.show(tree_rows(self._lineage.nodes, self._folded))

    def _go_to_current(self) -> None:
        rows = self.tree_list.items
        self.tree_list.choose(next((i for i, row in enumerate(rows) if row.node.is_current), 0))

    def _show_header(self, lineage: Lineage) -> None:
        current = next((node for node in lineage.nodes if node.is_current), None)
        name = session_name(current, self._look_of)[0] if current is not None else self._session_id
        sessions = count(len(lineage.nodes), "session")
        self.show_header("Lineage", sessions, what=f" of {one_line(name, 60)}")

    @on(Rows.Highlighted)
    def _highlighted(self) -> None:
        rows, lineage = self.tree_list, self._lineage
        if lineage is None or rows.current is None:
            return
        words = family_words(lineage)
        at, of = f"{rows.cursor + 1:,}", f"{rows.total:,}"
        forms: list[Form] = [(((words, "quiet"),), f"{at} of {of}"), ((), f"{at} of {of}")]
        if any(node.segment[1] > 1 for node in lineage.nodes):
            forms.insert(0, (((words, "quiet"), gap(3), (REPEATED, "aside")), f"{at} of {of}"))
        self.show_status(*forms)
        self.show_keys()
        self._look(rows.current)

    @on(Rows.Scrolled, "#tree")
    def _scrolled(self) -> None:
        rows = self.tree_list
        self._rail.show(rows.total, rows.room, rows.top)
        named = self._look_of.names
        roots = {row.node.root_id for row in rows.in_sight if row.node.root_id not in named} - self._asked
        if roots:
            self._asked |= roots
            self._describe(tuple(sorted(roots)))

    @on(Rail.Moved)
    def _dragged(self, event: Rail.Moved) -> None:
        self.tree_list.go(event.top)

    @work(group="details", description="details")
    async def _describe(self, roots: tuple[str, ...]) -> None:
        try:
            found = await self.service.details([ConversationKey(self._profile, root) for root in roots])
        except HermesTuiError:
            return  # the rows stand as they are, by their ids
        self._details.update({key.root_id: details for key, details in found.items()})
        self.tree_list.redraw()
        if self._lineage is not None:
            self._show_header(self._lineage)
        if self.current is not None and self.current.node.root_id in roots:
            self._look(self.current)

    # the session under the cursor

    def on_resize(self, event: events.Resize) -> None:
        if self.current is not None:
            self._look(self.current)

    @work(exclusive=True, group="context", description="context")
    async def _look(self, row: TreeRow) -> None:
        """Tell of this session, where there is a pane to tell it in."""
        if self.size.width < WIDE or self.has_class("-alone"):
            return
        node, key = row.node, ConversationKey(self._profile, row.node.root_id)
        conversation, recap, said = None, None, ""
        try:
            conversation = await self.service.conversation(key)
            recap = await self._ending(node, key)
        except HermesTuiError as error:
            said = one_line(str(error))
        name = session_name(node, self._look_of)[0]
        parent = None if node.parent_id is None else self._by_id.get(node.parent_id)
        alone = len(self._by_id) == 1
        shown = NodeShown(self._profile, node, name, parent, alone, conversation, recap, said)
        self._preview.show(node_view(shown))

    async def _ending(self, node: LineageNode, key: ConversationKey) -> Recap:
        """How this very session ended, counted within it; where it is all of its conversation, the recap of that."""
        if node.segment[1] == 1:
            return await self.service.recap(key)
        outline = await self.service.outline(key)
        here = next((i for i, mark in enumerate(outline.segments) if mark.session_id == node.id), None)
        if here is None:
            return Recap((), 0)
        ends = [*(mark.first for mark in outline.segments[here + 1 :]), len(outline)]
        first, last = outline.segments[here].first, ends[0] - 1
        if last < first:
            return Recap((), 0)
        before = min(SEGMENT_END, last - first)
        window = await self.service.window(key, outline.ids[last], before=before, after=0)
        return as_recap(window.messages, max(0, window.before - first))

    @on(Rows.Opened)
    def _opened(self) -> None:
        self.action_read()

    def action_read(self) -> None:
        if row := self.current:
            self._read(row.node)

    @work(exclusive=True, group="open", description="open")
    async def _read(self, node: LineageNode) -> None:
        """The tip is read from its end, an earlier segment from its first message."""
        key, anchor = ConversationKey(self._profile, node.root_id), None
        n, of = node.segment
        if n < of:
            try:
                outline = await self.service.outline(key)
            except HermesTuiError as error:
                self.notify(one_line(str(error)), severity="warning", markup=False)
                return
            marks = [mark for mark in outline.segments if mark.session_id == node.id]
            anchor = outline.ids[marks[0].first] if marks and marks[0].first < len(outline) else None
        self.post_message(OpenTranscript(key, anchor))

    def action_resume(self) -> None:
        if row := self.current:
            self._resume(row.node)

    @work(exclusive=True, group="open", description="open")
    async def _resume(self, node: LineageNode) -> None:
        try:
            conversation = await self.service.conversation(ConversationKey(self._profile, node.root_id))
        except HermesTuiError as error:
            self.notify(one_line(str(error)), severity="warning", markup=False)
            return
        self.post_message(OpenResume(conversation, None if node.id == conversation.id else node.id))

    # other keys

    def action_fold(self) -> None:
        """Fold what hangs off this session; where nothing does, or it is folded, go to its parent."""
        row = self.current
        if row is None:
            return
        if row.holds and not row.folded:
            self._folded.add(row.node.id)
            self._show_rows()
            self.show_keys()
        elif row.node.parent_id is not None:
            rows = self.tree_list.items
            at = next((i for i, each in enumerate(rows) if each.node.id == row.node.parent_id), None)
            if at is not None:
                self.tree_list.choose(at)

    def action_unfold(self) -> None:
        """Unfold; where nothing is folded, on to the first that hangs off it."""
        row = self.current
        if row is not None and row.folded:
            self._folded.discard(row.node.id)
            self._show_rows()
            self.show_keys()
        elif row is not None and row.holds:
            self.action_move(1)

    def action_preview(self) -> None:
        self.toggle_class("-alone")
        if self.current is not None:
            self._look(self.current)

    def action_search(self) -> None:
        self.post_message(OpenSearch())

    def action_back(self) -> None:
        self.dismiss()
