"""The app: turns intents into screens, so that screens do not know each other; themes, global keys, the way out."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, ClassVar

from textual import work
from textual.app import SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen, Screen

from hermes_tui import intents, paths, times
from hermes_tui.domain.sessions import ConversationKey
from hermes_tui.errors import HermesTuiError, TargetAmbiguous, Unsupported
from hermes_tui.keys import EVERYWHERE
from hermes_tui.running import Running
from hermes_tui.screens.browse import BrowseScreen
from hermes_tui.screens.browsing import ListPlace
from hermes_tui.settings import Settings
from hermes_tui.values import replace

if TYPE_CHECKING:
    from hermes_tui.domain.profiles import StoreRef
    from hermes_tui.domain.sessions import ConversationPage
    from hermes_tui.intents import HandOver, PrintAndQuit
    from hermes_tui.screens.glances import Connect
    from hermes_tui.service.sessions import SessionService

SHEETS = ("app", "widgets", "browse")
"""Read at the start; every further rule would make the first picture later."""
SHEETS_OF = {
    "SearchScreen": "search",
    "TranscriptScreen": "transcript",
    "LineageScreen": "lineage",
    "ResumeScreen": "resume",
    "HelpScreen": "help",
    "ProfilesScreen": "profiles",
    "BookmarksScreen": "bookmarks",
    "MissingScreen": "missing",
    "Palette": "palette",
}
"""Read with the first screen of its kind."""
FIRST_SECONDS = 0.1
"""How long an empty terminal waits for its first rows; then the page is drawn without them."""


def connect_to_sqlite(stores: Sequence[StoreRef]) -> SessionService:
    """The service that reads databases."""
    from hermes_tui.service.sqlite import SqliteSessionService

    return SqliteSessionService(stores)


class HermesApp(Running):
    """`run()` returns None, or what the command line has to carry out once the terminal is its own again."""

    CSS_PATH: ClassVar[list[str | PurePath]] = [str(paths.sheet(name)) for name in SHEETS]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012  # declared so by Textual
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]  # noqa: RUF012  # likewise
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key.keys, key.action, key.label, show=False, id=key.id, priority=key.action == "quit")
        for key in EVERYWHERE
    ]

    def __init__(
        self,
        service: SessionService,
        *,
        settings: Settings | None = None,
        opening: intents.Intent | None = None,
        connect: Connect = connect_to_sqlite,
        first: asyncio.Task[ConversationPage] | None = None,
    ) -> None:
        """`opening`: what to show on top of the list. `first`: the list that it begins with, where it was asked
        for before. Raises `ThemeMissing` for a theme that does not exist."""
        super().__init__(settings or Settings())
        self._service = service
        self._guests: list[SessionService] = []
        """Services for profiles that only a link led into."""
        self._connect = connect
        self._opening = opening
        self._first = first
        self._demo: tempfile.TemporaryDirectory[str] | None = None
        self._places: dict[frozenset[Path], ListPlace] = {}
        """Where one was in the list of some databases, for coming back to them."""

    async def on_load(self) -> None:
        """What the list begins with is waited for, a moment, before there is anything to be drawn on."""
        if self._first is not None:
            await asyncio.wait({self._first}, timeout=FIRST_SECONDS)

    def get_default_screen(self) -> Screen[None]:
        """The list, instead of an empty screen below it that nobody sees and that is laid out and drawn all the
        same. Under a conversation that was asked for it stands on that one."""
        opening = self._opening
        place = ListPlace(opening.key) if isinstance(opening, intents.OpenTranscript) else None
        screen = BrowseScreen(self._service, settings=self.settings, place=place, page=self._first_page())
        screen._push_result_callback(self, None)  # Textual forgets it, and asks for it later
        return screen

    def _first_page(self) -> ConversationPage | None:
        """What the list begins with, if it is there; a failure is for the screen, which asks again."""
        first = self._first
        if first is None or not first.done() or first.cancelled() or first.exception() is not None:
            return None
        return first.result()

    async def on_mount(self) -> None:
        """On top of the list what was asked for, once the app has started: till then nothing is shown."""
        if self._opening is not None:
            self.call_later(self.post_message, self._opening)

    async def run_async(self, **options: Any) -> HandOver | PrintAndQuit | None:
        try:
            return await super().run_async(**options)
        finally:
            for service in (self._service, *self._guests):
                await service.close()
            if self._demo is not None:
                self._demo.cleanup()

    def _load_screen_css(self, screen: Screen[Any]) -> None:
        if isinstance(screen, ModalScreen):
            self.read_sheet("panel")
        if (name := SHEETS_OF.get(type(screen).__name__)) is not None:
            self.read_sheet(name)
        super()._load_screen_css(screen)

    # keys of every screen

    def action_palette(self) -> None:
        from hermes_tui.palette import Palette

        if not isinstance(self.screen, Palette):
            self.push_screen(Palette())

    async def action_keys(self) -> None:
        from hermes_tui.screens.help import HelpScreen

        await self.push_screen(HelpScreen(getattr(self.screen, "PLACE", "")))

    async def action_bookmarks(self) -> None:
        """For the palette of the lists; a transcript has its own."""
        from hermes_tui.screens.bookmarked import BookmarksScreen

        await self.push_screen(BookmarksScreen(self._service))

    async def action_quit(self) -> None:
        self.exit()

    # intents

    def _service_of(self, profile: str) -> SessionService:
        """The service that reads this profile."""
        for service in (self._service, *self._guests):
            if any(store.profile == profile for store in service.stores):
                return service
        return self._service

    async def on_open_transcript(self, intent: intents.OpenTranscript) -> None:
        from hermes_tui.screens.transcript import TranscriptScreen

        fresh = TranscriptScreen(self._service_of(intent.key.profile), intent)
        if isinstance(self.screen, TranscriptScreen) and intent.hits:
            await self.switch_screen(fresh)  # from hit to hit one stays as deep as one was
            self._point_at(intent)
        else:
            await self.push_screen(fresh)

    def _point_at(self, intent: intents.OpenTranscript) -> None:
        """The search that the hits come from follows, so that going back leads to the one that was read."""
        from hermes_tui.screens.search import SearchScreen

        for screen in reversed(self.screen_stack):
            if isinstance(screen, SearchScreen):
                screen.point_at(intent.hits[intent.hit])
                return

    async def on_open_search(self, intent: intents.OpenSearch) -> None:
        from hermes_tui.screens.search import SearchScreen

        await self.push_screen(SearchScreen(self._service, intent.text, order=intent.order, scan=intent.scan))

    async def on_open_lineage(self, intent: intents.OpenLineage) -> None:
        from hermes_tui.screens.lineage import LineageScreen

        await self.push_screen(LineageScreen(self._service_of(intent.profile), intent.profile, intent.session_id))

    async def on_open_resume(self, intent: intents.OpenResume) -> None:
        from hermes_tui.screens.resume import ResumeScreen

        service = self._service_of(intent.conversation.profile)
        await self.push_screen(ResumeScreen(service, intent.conversation, intent.session_id))

    async def on_open_help(self, intent: intents.OpenHelp) -> None:
        await self.action_keys()

    async def on_open_profiles(self, intent: intents.OpenProfiles) -> None:
        from hermes_tui.screens.profiles import ProfilesScreen

        await self.push_screen(ProfilesScreen(self._service, self._connect))

    def on_open_target(self, intent: intents.OpenTarget) -> None:
        self._follow_target(intent.text)

    @work(exclusive=True, group="target")
    async def _follow_target(self, text: str) -> None:
        """Open what a link, an id or a title means; several answers are for the search screen to list."""
        try:
            service = await self._service_for_link(text)
            target = await service.target(text)
        except TargetAmbiguous:
            self.post_message(intents.OpenSearch(text))
        except HermesTuiError as error:
            self._say(str(error), severity="error")
        else:
            key = ConversationKey(target.profile, target.root_id)
            self.post_message(intents.OpenTranscript(key, target.anchor, notice=target.notice))

    async def _service_for_link(self, text: str) -> SessionService:
        """The open service, or one for the profile of the same root that a link names."""
        from hermes_tui.domain.links import parse_link

        link = parse_link(text)
        if link is None or link.profile is None:
            return self._service
        wanted = paths.normalize_profile(link.profile)
        found = self._service_of(wanted)
        if any(store.profile == wanted for store in found.stores):
            return found
        root = self._service.stores[0].root
        store = await asyncio.to_thread(paths.profile_store, root, wanted)
        self._guests.append(self._connect((store,)))
        return self._guests[-1]

    def on_copy_text(self, intent: intents.CopyText) -> None:
        self._copy(intent.text, intent.what)

    async def _begin_with(self, screen: Screen[None]) -> None:
        """This one in place of everything."""
        while len(self.screen_stack) > 1:
            await self.pop_screen()
        await self.switch_screen(screen)

    def _place_in(self, stores: Sequence[StoreRef]) -> ListPlace:
        """Where the list of these stores begins: as it was left, on the present conversation if it is in there."""
        here = next((each.place for each in self.screen_stack if isinstance(each, BrowseScreen)), ListPlace())
        self._places[frozenset(store.db for store in self._service.stores)] = here
        place = self._places.get(frozenset(store.db for store in stores), ListPlace())
        shared = here.key is not None and here.key.profile in {store.profile for store in stores}
        return replace(place, key=here.key) if shared else place

    async def on_use_stores(self, intent: intents.UseStores) -> None:
        """The list of other stores, in place of everything."""
        before = (self._service, *self._guests)
        place = self._place_in(intent.stores)
        self._service, self._guests = self._connect(intent.stores), []
        self.begin_anew()
        await self._begin_with(BrowseScreen(self._service, settings=self.settings, place=place))
        for service in before:
            await service.close()

    async def on_open_missing(self, intent: intents.OpenMissing) -> None:
        from hermes_tui.screens.missing import MissingScreen

        await self._begin_with(MissingScreen(self._service, self._connect))

    def on_open_demo(self, intent: intents.OpenDemo) -> None:
        self._open_demo()

    @work(exclusive=True, group="demo")
    async def _open_demo(self) -> None:
        from hermes_tui import demo

        self._demo = self._demo or tempfile.TemporaryDirectory(prefix="hermes-tui-demo-", ignore_cleanup_errors=True)
        store = await asyncio.to_thread(demo.write_demo, Path(self._demo.name), times.now())
        self.post_message(intents.UseStores((store,)))

    async def on_hand_over(self, intent: HandOver) -> None:
        """Leave for the command, or run it and come back to where one was."""
        from hermes_tui import handover

        try:
            if intent.window:
                await asyncio.to_thread(handover.in_tmux_window, intent.argv, intent.env, intent.window)
                self._say(f"{intent.argv[0]} runs in a new tmux window")
            elif intent.back:
                self._run_and_return(intent)
            else:
                self.exit(intent)
        except HermesTuiError as error:
            self._say(str(error), severity="error")

    def _run_and_return(self, intent: HandOver) -> None:
        """Nothing is awaited meanwhile: the app's writer stands still. Whatever happens, the app comes back."""
        from hermes_tui import handover

        failure: HermesTuiError | None = None
        code = 0
        try:
            with self.suspend():
                try:
                    code = handover.run(intent.argv, intent.env)
                except HermesTuiError as error:
                    failure = error
        except SuspendNotSupported as error:
            raise Unsupported("This terminal cannot be lent to another program.") from error
        if failure is not None:
            raise failure
        if code:
            self._say(f"{intent.argv[0]} ended with code {code}", severity="warning")

    def on_print_and_quit(self, intent: PrintAndQuit) -> None:
        self.exit(intent)
