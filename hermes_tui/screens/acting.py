"""What can be copied of the session under the cursor, whatever the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work
from textual.screen import Screen

from hermes_tui.errors import HermesTuiError
from hermes_tui.intents import CopyText
from hermes_tui.text import one_line
from hermes_tui.values import NamedTuple

if TYPE_CHECKING:
    from hermes_tui.service.sessions import SessionService


class Place(NamedTuple):
    """The session that a key acts on."""

    profile: str
    session_id: str


class Acting(Screen[None]):
    """The actions behind `y`, `Y` and `i`, for screens that say which session is meant."""

    service: SessionService

    @property
    def acted(self) -> Place | None:
        """The session under the cursor."""
        raise NotImplementedError

    def action_copy_link(self) -> None:
        from hermes_tui.domain.links import link_to

        if place := self.acted:
            self.post_message(CopyText(link_to(*place), "link"))

    def action_copy_id(self) -> None:
        if place := self.acted:
            self.post_message(CopyText(place.session_id, "id"))

    def action_copy_command(self) -> None:
        if place := self.acted:
            self._copy_command(place)

    @work(exclusive=True, group="command", description="command")
    async def _copy_command(self, place: Place) -> None:
        """The command is what the resume panel would run: it depends on the store, so it is asked for."""
        try:
            plan = await self.service.resume_plan(*place)
        except HermesTuiError as error:
            self.notify(one_line(str(error)), severity="warning", markup=False)
            return
        if plan.refused:
            self.notify(one_line(plan.refused), severity="warning", markup=False)
        else:
            self.post_message(CopyText(plan.command, "command"))
