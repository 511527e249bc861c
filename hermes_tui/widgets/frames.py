"""Frames: what is drawn together, and when. When a tick comes Textual draws whatever has told by then that it has
changed, the rest a tick later: a key would move a text, and 16 ms after it the line that says where one is."""

from __future__ import annotations

import asyncio

from textual._compositor import Compositor, CompositorMap, ReflowResult
from textual.geometry import Region, Size
from textual.screen import Screen
from textual.widget import Widget

Places = dict[Widget, tuple[Region, Region]]
"""Where widgets are, and what of it may be seen."""


class Sheet(Compositor):
    """Knows where things are on the terminal. Textual only remembers where they were when somebody last asked: once a
    widget asks for its place between a change of style and the layout that follows, as each does while it is drawn,
    the layout finds everything where it should be, and what has come into sight, or moved, is never sent."""

    def __init__(self) -> None:
        super().__init__()
        self._laid: CompositorMap = {}
        """What the last layout made."""
        self._sent: Places = {}
        """What was where when it was last drawn."""

    def clear(self) -> None:
        super().clear()
        self._laid, self._sent = {}, {}

    def reflow(self, parent: Widget, size: Size) -> ReflowResult:
        """Layout, compared with the one before and not with what has been asked for since: of that depends who is
        told that it is shown or has another size."""
        self._full_map = self._laid
        result = super().reflow(parent, size)
        self._laid = self._full_map
        return result

    def begin(self) -> Places:
        """A drawing begins: what the terminal has elsewhere is to be drawn whole. Gives what is drawn where."""
        places = self.visible_widgets
        if places is not self._sent:
            self._cuts = None  # may be those of other places
            moved = (region.intersection(clip) for _, (region, clip) in places.items() ^ self._sent.items())
            self._dirty_regions.update(filter(None, moved))
        return places

    def end(self, places: Places) -> None:
        """It was drawn. Where places changed meanwhile, parts may be missing: next time all is drawn."""
        self._sent = places if self.visible_widgets == places else {}


class Framing(Screen[None], inherit_bindings=False):
    """A screen of which every frame is whole."""

    _hurried: Widget | None = None
    """What is to be drawn at once."""

    def __init__(self, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._compositor: Sheet = Sheet()

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

    def _compositor_refresh(self) -> None:
        """Draw. What is drawn while the app holds drawings back is never sent: so it is drawn afterwards."""
        if self.app._batch_count:
            self.refresh()
            return
        if not self.is_current:
            super()._compositor_refresh()
            return
        places = self._compositor.begin()
        super()._compositor_refresh()
        self._compositor.end(places)


class Framed(Widget):
    """A widget that can be on such a screen."""

    def _check_refresh(self) -> None:
        """What is to be drawn is told to the screen; Textual would send it a message."""
        if self._repaint_required and self.is_attached and isinstance(screen := self.screen, Framing):
            self._repaint_required = False
            if self.display:
                screen.changed(self)
        super()._check_refresh()
