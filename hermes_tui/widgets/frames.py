"""Frames: what is drawn together, and when. When a tick comes Textual draws whatever has told by then that it has
changed, the rest a tick later: a key would move a text, and 16 ms after it the line that says where one is."""

from __future__ import annotations

import asyncio

from textual.screen import Screen
from textual.widget import Widget


class Framing(Screen[None], inherit_bindings=False):
    """A screen of which every frame is whole."""

    _hurried: Widget | None = None
    """What is to be drawn at once."""

    def follow_up(self) -> None:
        """Before each frame: bring what stands around a widget up to date with what the widget shows now."""

    async def painted(self, widget: Widget) -> None:
        """Until what this widget shows anew is on the screen, drawn at once: what somebody waits for should not share
        the processor with what comes after it."""
        painted = asyncio.Event()
        self.hurry(widget)
        self.call_after_refresh(painted.set)
        await painted.wait()

    def hurry(self, widget: Widget) -> None:
        """What this widget shows anew is drawn at once, and not at the next tick of the screen's clock."""
        self._hurried = widget
        self.changed(widget)

    def changed(self, widget: Widget) -> None:
        """This widget is to be drawn anew; said without a message, which a frame could overtake."""
        if self in self._compositor:
            self._dirty_widgets.add(widget)
            self.check_idle()

    async def on_idle(self) -> None:
        """All that was to be done at once has been. What has no place on the screen yet gets one at the next tick."""
        hurried = self._hurried
        if hurried in self._dirty_widgets and (self._layout_required or hurried in self._compositor.visible_widgets):
            self._hurried = None
            self._on_timer_update()

    def _on_timer_update(self) -> None:
        """Draw a frame, in it all that has changed and what follows from that, whether or not it has told so yet."""
        if self.is_current:
            self.follow_up()
            for widget in self._compositor.visible_widgets:
                if widget._repaint_required and widget.is_mounted:
                    widget._repaint_required = False
                    self._dirty_widgets.add(widget)
        super()._on_timer_update()


class Framed(Widget):
    """A widget that can be on such a screen."""

    def _check_refresh(self) -> None:
        """What is to be drawn is told to the screen; Textual would send it a message."""
        if self._repaint_required and self.is_attached and isinstance(screen := self.screen, Framing):
            self._repaint_required = False
            if self.display:
                screen.changed(self)
        super()._check_refresh()
