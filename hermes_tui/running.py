"""The app as a program of this terminal: its colours, its keys, its clipboard, its end."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text
from textual import on, work
from textual.driver import Driver
from textual.filter import Monochrome
from textual.notifications import Notify, SeverityLevel
from textual.widgets._toast import Toast
from textual.worker import WorkerFailed

from hermes_tui import paths
from hermes_tui.errors import HermesTuiError
from hermes_tui.latecomers import HungUp, keys_of, listen
from hermes_tui.settings import Settings
from hermes_tui.state import read_json, state_dir, write_json
from hermes_tui.text import clean, one_line
from hermes_tui.tidying import QUIET, Tidying
from hermes_tui.warming import warm
from hermes_tui.widgets import themes

if TYPE_CHECKING:
    from hermes_tui.intents import HandOver, PrintAndQuit

ENDING = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}
"""Signals that end the app in good order, and the code it leaves with."""
STOPPING = {"SIGTSTP": "_sigtstp_application", "SIGCONT": "_sigcont_application"}
"""Signals that stop it and let it go on, and what Textual's driver does then. Textual does it in the middle of
whatever is going on, and waits for ever when that is a piece of writing; here the loop does it in its turn."""
TOAST = 200
"""Characters of a text that a toast shows."""
TOAST_SECONDS = 3.0


def _kept_theme() -> Path:
    """Where the last theme chosen is remembered."""
    return state_dir() / "theme.json"


class Running(Tidying["HandOver | PrintAndQuit"]):
    """What has nothing to do with which screens there are."""

    ENABLE_COMMAND_PALETTE = False  # Textual would bind it everywhere, also where someone types
    _chosen = False
    """The theme was chosen in the app, in this run or an earlier one; no terminal need be asked."""
    _dressed = False
    """A theme has been chosen; before, Textual asks for the colours of its own, and nobody sees them."""
    _few = False
    """The terminal has 256 colours."""
    modes: list[Any] | None = None
    """Those of the terminal before anything of us changed them, for the shell and for whoever is started."""

    def __init__(self, settings: Settings) -> None:
        """Raises `ThemeMissing` for a theme that does not exist."""
        super().__init__()
        self.settings = settings
        self.rebound = dict(settings.keys)
        self.ascii_only = settings.ascii
        self._typed_ahead = ""
        self._ending = threading.Event()
        self._choose_theme()
        self.set_keymap(self.rebound)
        if settings.no_color and not self.no_color:
            self.no_color = True
            self._filters.append(Monochrome())

    def _choose_theme(self) -> None:
        for each in themes.OWN:
            self.register_theme(each)
        themes.require(self.settings.theme)
        name = themes.MEANT.get(self.settings.theme, self.settings.theme)
        kept = read_json(_kept_theme()) if self.settings.theme == "auto" else None
        if isinstance(kept, str) and kept in self.available_themes:
            self._chosen = True
            name = kept
        self._dressed = True
        if name == self.theme:
            self.stylesheet.set_variables(self.get_css_variables())  # or nobody would ask for them
        self.theme = name

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our roles, for themes that are not ours; those bring them along."""
        if not self._dressed or self.current_theme in themes.OWN:
            return {}
        roles = themes.roles(self.current_theme)
        return {f"h-{role}": colour for role, colour in (themes.in_256(roles) if self._few else roles).items()}

    def refresh_css(self, animate: bool = True) -> None:
        """Before there is anything to be seen, choosing a theme need not read every sheet: that is done anyhow."""
        if self.screen_stack:
            super().refresh_css(animate=animate)
        else:
            self.stylesheet.set_variables(self.get_css_variables())

    def read_sheet(self, name: str) -> None:
        """Take in the rules of one more sheet, unless that was done before. Textual's own way would read all
        others again."""
        path = str(paths.sheet(name))
        if not self.stylesheet.has_source(path):
            self.stylesheet.read(path)
            self.stylesheet.parse()

    def notify(self, message: str, *, severity: SeverityLevel = "information", **options: Any) -> None:
        self.read_sheet("toast")
        super().notify(message, severity=severity, **{"timeout": TOAST_SECONDS, **options})

    def on_notify(self, event: Notify) -> None:
        """A newer toast takes the place of an older one of its kind, on whatever screen that is; Textual adds it
        after this."""
        for each in [each for each in self._notifications if each.severity == event.notification.severity]:
            self._unnotify(each, refresh=False)
        for screen in self.screen_stack:
            for holder in screen.query("ToastHolder"):
                if any(toast._notification not in self._notifications for toast in holder.query(Toast)):
                    holder.remove()

    async def run_async(self, **options: Any) -> HandOver | PrintAndQuit | None:
        """Run in this terminal, in the colours that it has."""
        if self.console.color_system == "256":
            self._few = True
            self.register_theme(themes.theme("hermes-dark", dark=True, ink=themes.DARK_256))
            self.register_theme(themes.theme("hermes-light", dark=False, ink=themes.LIGHT_256))
        late, own = False, self.theme in ("hermes-dark", "hermes-light")
        if own and self.console.color_system in (None, "standard"):
            self.theme = "hermes-ansi"
        elif self.settings.theme == "auto" and not self._chosen:
            from hermes_tui.terminal import background

            answer = background()  # waits for the terminal; nothing else runs yet
            self._typed_ahead = answer.typed
            late = not answer.whole
            self.theme = "hermes-light" if answer.dark is False else "hermes-dark"
        listen(late=late)
        try:
            return await super().run_async(**{"mouse": self.settings.mouse, **options})
        finally:
            if (ended := getattr(self._driver, "exit_event", None)) is not None:
                ended.set()  # Textual's thread for keys goes, also where its driver met a failure before it said so

    def action_choose_theme(self, name: str) -> None:
        """Take this theme from now on, in later runs too where nothing else is asked for."""
        self.theme = name
        try:
            write_json(_kept_theme(), name)
        except OSError as error:
            self._say(f"the theme cannot be remembered: {error}", severity="warning")

    async def on_mount(self) -> None:
        if self.modes is not None and self._driver is not None and hasattr(self._driver, "attrs_before"):
            self._driver.attrs_before = self.modes
        if not self.is_headless and os.name != "nt":
            loop = asyncio.get_running_loop()
            for name, code in ENDING.items():
                loop.add_signal_handler(getattr(signal, name), self._end, code)
            for name, do in STOPPING.items():
                if (handle := getattr(self._driver, do, None)) is not None:
                    loop.add_signal_handler(getattr(signal, name), handle)

    @on(Driver.SignalResume)
    def _draw_all(self) -> None:
        """It was stopped and goes on, and nothing of it is on the terminal any more. Textual lays out anew, and draws
        what is elsewhere than before: nothing need be."""
        self.refresh(layout=True)

    async def on_ready(self) -> None:
        if not self.is_headless:
            self.collect_rarely()
            self.set_timer(QUIET, self._warm)
        if self._typed_ahead:
            self.put_first(keys_of(self._typed_ahead))

    def _warm(self) -> None:
        """Get ready what keys will open, once nobody waits for a frame."""
        if self.seconds_since_key < QUIET:
            self.set_timer(QUIET, self._warm)
        else:
            warming = threading.Thread(target=warm, args=(self._ending,), name="warming", daemon=True)
            warming.start()
            self._when_warm(warming)

    def _when_warm(self, warming: threading.Thread) -> None:
        """What was imported stays: it is not looked at again whenever something is thrown away."""
        if warming.is_alive() or not self.keep_what_is_there():
            self.set_timer(QUIET, lambda: self._when_warm(warming))

    def exit(self, *how: Any, **more: Any) -> None:
        """End; nothing that is still awaited may come back to a screen that is being taken apart."""
        self._ending.set()
        self.workers.cancel_all()
        super().exit(*how, **more)

    @on(HungUp)
    def _hung_up(self) -> None:
        self._end(ENDING["SIGHUP"])

    def _end(self, code: int) -> None:
        self.exit(return_code=code)

    def _handle_exception(self, error: Exception) -> None:
        """A failure that a screen let pass is said, not died of; anything else is a bug."""
        cause = error.error if isinstance(error, WorkerFailed) else error
        if isinstance(cause, HermesTuiError):
            self._say(str(cause), severity="error")
        else:
            super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """A traceback without the values of variables: they would be people's messages."""
        error: BaseException | None = self._exception
        if isinstance(error, WorkerFailed):
            error = error.error
        lines = traceback.format_exception(error) if error is not None else []
        self._exit_renderables.append(Text(clean("".join(lines)).rstrip()))
        self._close_messages_no_wait()

    def _say(self, text: str, *, title: str = "", severity: SeverityLevel = "information") -> None:
        """A toast; whatever the text holds stays text."""
        self.notify(one_line(text, TOAST), title=one_line(title, TOAST), severity=severity, markup=False)

    # the clipboard

    def action_copy_selection(self) -> None:
        """What is selected; without a selection people mean to quit, and are told how."""
        selected = self.screen.get_selected_text()
        if selected:
            self._copy(selected, "selection")
            self.screen.clear_selection()
        else:
            self._say("ctrl+q quits")

    def copy_to_clipboard(self, text: str) -> None:
        """Textual's own inputs copy through here."""
        if text:
            self._copy(text, "selection")

    @work(group="copy")
    async def _copy(self, text: str, what: str) -> None:
        """Put it on the clipboard; say what became of it, and show it: it can be copied by hand then."""
        from hermes_tui.clipboard import Clipboard, How

        driver = self._driver
        copied = await Clipboard(driver.write if driver is not None else None).copy(text)
        self._clipboard = text
        if copied.how is not How.COPIED and os.environ.get("DISPLAY"):
            self.screen.refresh(layout=True)  # a program that found no display may have said so on the screen
        severity: SeverityLevel = "information" if copied.how in (How.COPIED, How.SENT) else "warning"
        self._say(text, title=f"{what} {copied.sentence}", severity=severity)
