"""The resume panel: how it ended, what `hermes` would be asked to do, and whether that will work."""

from __future__ import annotations

import os
from typing import ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import ModalScreen

from hermes_tui.domain.links import link_to
from hermes_tui.domain.resume import ResumePlan, State
from hermes_tui.domain.sessions import Conversation
from hermes_tui.errors import HermesTuiError
from hermes_tui.intents import CopyText, HandOver, Intent, PrintAndQuit
from hermes_tui.keys import RESUME
from hermes_tui.screens.base import HELP, WIDE, Movable, Moving, Steady, app_bindings, bindings, written
from hermes_tui.service.sessions import SessionService
from hermes_tui.text import one_line
from hermes_tui.values import replace
from hermes_tui.widgets.ink import Line
from hermes_tui.widgets.names import shown_name
from hermes_tui.widgets.panel import Panel
from hermes_tui.widgets.resuming import HERMES, Resuming, body_lines, head_lines

RUNS = frozenset({"here", "come_back", "window", "print", "copy_command", "stay"})
"""Actions that need a command that can be run."""
NEED_HERMES = frozenset({"here", "come_back", "window"})
"""Those of them that run it here and now."""
PADDING = 2
"""Lines of the panel without text …"""
EDGES = 2
"""… and lines of the screen that it leaves free where it is not the whole screen."""
WINDOW_NAME = 30


def in_tmux() -> bool:
    """Whether there is a tmux around us to open a window in."""
    return bool(os.environ.get("TMUX"))


class ResumeScreen(Moving, ModalScreen[None], Steady, inherit_bindings=False):
    """A panel over whatever one came from."""

    PLACE = "resume"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("resume"), *app_bindings()]
    AUTO_FOCUS = "#panel"

    def __init__(self, service: SessionService, conversation: Conversation, session_id: str | None = None) -> None:
        """`session_id`: the very session asked for, when it is not the tip of the conversation."""
        super().__init__()
        self.panel = Panel(id="panel", classes="panel")  # held: answers may come when it has gone
        self.service = service
        self._session_id = session_id or conversation.id
        self._shown = Resuming(conversation)
        self._plans: dict[bool, ResumePlan] = {}
        """By whether Hermes would stay in the present directory."""
        self._staying = False

    def compose(self) -> ComposeResult:
        yield self.panel

    def on_mount(self) -> None:
        self._show()
        self._find_name()
        self._find_recap()
        self._find_plans()

    @property
    def moved(self) -> Movable:
        return self.panel

    @property
    def plan(self) -> ResumePlan | None:
        """What would be run."""
        return self._shown.plan

    @work(group="name", description="name")
    async def _find_name(self) -> None:
        """What the list calls it, where it has no title."""
        key = self._shown.conversation.key
        if shown_name(self._shown.conversation)[1] == "ink":
            return
        try:
            known = (await self.service.details([key], brief=True)).get(key)
        except HermesTuiError:
            return  # its id names it
        if known is not None:
            self._shown = replace(self._shown, preview=known.preview)
            self._show()

    @work(group="recap", description="recap")
    async def _find_recap(self) -> None:
        try:
            recap = await self.service.recap(self._shown.conversation.key)
        except HermesTuiError:
            return  # the panel is about the command; without a recap it says that much less
        self._shown = replace(self._shown, recap=recap)
        self._show()

    @work(group="plan", description="plan")
    async def _find_plans(self) -> None:
        """First what enter would run, then whether staying here would be something else."""
        profile = self._shown.conversation.profile
        try:
            for stay in (False, True):
                self._plans[stay] = await self.service.resume_plan(profile, self._session_id, stay=stay)
                self._shown = replace(self._shown, plan=self._plans[self._staying])
                self._show()
        except HermesTuiError as error:
            if not self._plans:
                self._shown = replace(self._shown, failed=one_line(str(error)))
                self._show()

    def _show(self) -> None:
        shown, keys = self._shown, self._keys()

        def body(width: int) -> tuple[list[Line], list[Line]]:
            edges = EDGES if self.size.width >= WIDE else 0
            height = self.size.height - PADDING - edges - len(head_lines(shown, width))
            return body_lines(shown, keys, width, height)

        self.panel.show(
            lambda width: head_lines(shown, width), lambda width: body(width)[0], lambda width: body(width)[1]
        )

    def on_resize(self) -> None:
        self._show()

    def _keys(self) -> list[tuple[str, str]]:
        """The keys that work now."""
        ranked = sorted((key for key in RESUME if key.footer), key=lambda key: key.footer)
        working = [key for key in ranked if self.check_action(key.action, ())]
        told = zip([*working, HELP], written(self, [*working, HELP]), strict=True)
        return [(shown, self._label(key.action, label)) for key, (shown, label) in told]

    def _label(self, action: str, label: str) -> str:
        return "go to its directory" if action == "stay" and self._staying else label

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action not in RUNS:
            return super().check_action(action, parameters)
        plan = self.plan
        if plan is None or plan.refused:
            return False
        if action in NEED_HERMES and self._missing:
            return False
        if action == "window":
            return in_tmux()
        if action == "stay":
            return True in self._plans and self._plans[True].argv != self._plans[False].argv
        return True

    # keys

    def on_key(self, event: events.Key) -> None:
        """A key that would run something, where nothing can be run: say why rather than nothing."""
        refused = self.plan.refused if self.plan is not None else None
        acts = RUNS if refused else NEED_HERMES
        why = refused or (f"hermes is {self._missing}" if self._missing else "")
        keys = {name.strip() for key in RESUME if key.action in acts for name in key.keys.split(",")}
        if why and event.key in keys:
            event.stop()
            self.notify(one_line(why), severity="warning", markup=False)

    @property
    def _missing(self) -> str:
        """What is to be said of a `hermes` that is not there; empty where it is."""
        checks = self.plan.checks if self.plan is not None else ()
        return next((each.detail for each in checks if each.name == HERMES and each.state is State.ERROR), "")

    def _leave(self, intent: Intent) -> None:
        """Close first: whoever comes back finds the row, not the panel."""
        self.workers.cancel_node(self)  # an answer that comes late would find no panel to be shown in
        self.app.post_message(intent)
        self.dismiss()

    def action_here(self) -> None:
        if plan := self.plan:
            self._leave(HandOver(plan.argv, plan.env))

    def action_come_back(self) -> None:
        if plan := self.plan:
            self._leave(HandOver(plan.argv, plan.env, back=True))

    def action_window(self) -> None:
        if plan := self.plan:
            name, _ = shown_name(self._shown.conversation, self._shown.preview)
            self._leave(HandOver(plan.argv, plan.env, window=name[:WINDOW_NAME]))

    def action_print(self) -> None:
        if plan := self.plan:
            self._leave(PrintAndQuit(plan.command))

    def action_copy_command(self) -> None:
        if plan := self.plan:
            self.post_message(CopyText(plan.command, "command"))

    def action_stay(self) -> None:
        """Stay in this directory, or go to the recorded one after all: the command shows which."""
        self._staying = not self._staying
        self._shown = replace(self._shown, plan=self._plans[self._staying])
        self._show()

    def action_copy_link(self) -> None:
        self.post_message(CopyText(link_to(self._shown.conversation.profile, self._session_id), "link"))

    def action_copy_id(self) -> None:
        self.post_message(CopyText(self._session_id, "id"))

    def action_close(self) -> None:
        self.dismiss()
