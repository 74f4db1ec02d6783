"""The console. `run_console` is what the command line calls; nothing here imports LangGraph before the first frame."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from functools import cached_property
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import events
from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.command import CommandPalette
from textual.driver import Driver
from textual.filter import LineFilter
from textual.screen import ModalScreen, Screen
from textual.theme import ThemeProvider

from hitl_tui.console import keys
from hitl_tui.console.arming import Arming
from hitl_tui.console.engine import Engine, Link, sentence
from hitl_tui.console.keymap import FILE, load_keymap
from hitl_tui.console.leisure import Leisure, put_off
from hitl_tui.console.memory import Remembered, recall, recall_lines, remember, remember_lines
from hitl_tui.console.notices import Notices, clipboard, how_chosen, through
from hitl_tui.console.options import ConsoleOptions
from hitl_tui.console.screens.home import HomeScreen
from hitl_tui.console.terminal import Drawn, ascii_wanted, tolerant
from hitl_tui.console.terms import MODES, error_words, next_mode
from hitl_tui.console.themes import DEFAULT, load_themes
from hitl_tui.console.widgets.prompt import typed_text
from hitl_tui.core.errors import BadInput, HitlError, StorageError
from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import _, language
from hitl_tui.resources import Starter, materialise, starters, themes_folder

if TYPE_CHECKING:
    from hitl_tui.config.graphs import Attachment
    from hitl_tui.console.screens.session import SessionScreen
    from hitl_tui.supervisor.snapshot import Snapshot
    from hitl_tui.supervisor.workbench import SessionSummary

log = logging.getLogger(__name__)

THEME_VARIABLE = "HITL_THEME"
LOG_FILE = "hitl-tui.log"
_STYLES = (
    "app.tcss",
    "widgets/bars.tcss",
    "widgets/prompt.tcss",
    "screens/home.tcss",
)


class HitlApp(App[int]):
    """The console.

    Args:
        options: how it begins.
        clock: monotonic seconds, for the arming of keys.
    """

    TITLE = "hitl-tui"
    CSS_PATH: ClassVar[list[str | PurePath]] = [*_STYLES]
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.ANYWHERE)]
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+p"
    _themed = False

    def __init__(self, options: ConsoleOptions, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self.options = options
        self.VERTICAL_BREAKPOINTS = [(0, "-tiny"), (8, "-usual")]
        self.arming = Arming(clock)
        self.engine = Engine(options.data, options.by, options.hide, self._elsewhere)
        self.workspace = (options.workspace or Path.cwd()).expanduser()
        self.starters: list[Starter] = [] if options.attached else _starters()
        self.mode = options.mode
        self.lines = recall_lines(options.data)
        self._remembered = recall(options.data)
        self._home = HomeScreen()
        self.install_screen(self._home, "home")
        self._opened = ""
        self.keymap = load_keymap(options.data / FILE)
        self.set_keymap(self.keymap.changed)
        self._problems: tuple[str, ...] = self.keymap.problems
        self.leisure = Leisure(clock)
        how = how_chosen(os.environ, self._remembered.notices)
        self.notices = Notices(self._to_terminal, clock, os.environ, how)
        encoding = getattr(sys.__stderr__, "encoding", None) or "utf-8"
        self._drawn = Drawn(plain=ascii_wanted(os.environ, encoding), encoding=encoding)
        self._counting = False
        self._begun = False
        self._unsaid: tuple[str, bool] | None = None
        self._early: list[events.Event] | None = []
        self.failure = ""
        """What ended the console unexpectedly, in one sentence."""
        # Before the stylesheets are read for the first time, for another theme means reading them again.
        self._choose_theme()

    @cached_property
    def _session(self) -> SessionScreen:
        """The session screen, imported when it is first shown: the home screen is there sooner without it."""
        from hitl_tui.console.screens.session import SessionScreen

        screen = SessionScreen()
        self.install_screen(screen, "session")
        return screen

    def _shows_session(self) -> bool:
        return "_session" in self.__dict__ and self.screen is self._session

    @property
    def session_shown(self) -> bool:
        """A session is on the screen, or lies under a dialog."""
        return "_session" in self.__dict__ and self._session in self.screen_stack

    def get_driver_class(self) -> type[Driver]:
        return tolerant(super().get_driver_class())

    def get_default_screen(self) -> Screen[Any]:
        """Return the first screen, which lies under all others: an empty one would have to be laid out, too."""
        return self._home

    def on_mount(self) -> None:
        self.theme_changed_signal.subscribe(self, lambda theme: self._keep(theme=theme.name))
        self.notices.begin()
        self.set_interval(1.0, self._each_second)
        if self.options.query or self._wanted():
            self.push_screen(self._session)
        self.call_after_refresh(self._begin)

    def _each_second(self) -> None:
        self.notices.look(focused=self.app_focus)
        self.leisure.look()

    def _wanted(self) -> str:
        """Return the session to open at the start: the one named, or the one that was left before its end."""
        known = self._remembered
        last = "" if known.finished or self.options.query or self.options.attached else known.session
        return "" if self.options.attached else self.options.session or last

    def get_css_variables(self) -> dict[str, str]:
        """Return the theme's colours; none before there is a theme: working them out takes a while."""
        return super().get_css_variables() if self._themed else {}

    def refresh_css(self, animate: bool = True) -> None:
        """Read the stylesheets again; before anything is shown they haven't been read at all."""
        if self.screen_stack:
            super().refresh_css(animate)
        else:
            self.stylesheet.set_variables(self.get_css_variables())

    def _begin(self) -> None:
        self._begun = True
        self._load_themes()
        if wanted := self._wanted():
            self.open(wanted)
        elif self.options.query:
            self.begin(self.options.query)
        else:
            self.list_sessions()
        for problem in self._problems:
            log.warning("%s", problem)
        if self._problems:
            more = _(" ({n} more: F1)").format(n=len(self._problems) - 1) if len(self._problems) > 1 else ""
            self.say(safe_text(self._problems[0], multiline=False) + more, error=True)

    # Themes ----------------------------------------------------------------------------------------------------

    def _choose_theme(self) -> None:
        """Take the theme that is wanted, or the usual one; the others are read once there is something to see."""
        choices = (os.environ.get(THEME_VARIABLE, ""), self._remembered.theme, DEFAULT)
        found = load_themes(self._theme_folders(), only=[c for c in choices if c]).themes
        self._themed = True
        for choice in choices:
            if choice in found:
                self.register_theme(found[choice])
                self.theme = choice
                return
        self.call_next(self.refresh_css)

    def _load_themes(self) -> None:
        found = load_themes(self._theme_folders())
        self._problems += found.problems
        known = self.available_themes
        for theme in found.themes.values():
            if known.get(theme.name) != theme:
                self.register_theme(theme)
        for name in known.keys() - found.themes.keys() if found.themes else ():
            self.unregister_theme(name)

    def _theme_folders(self) -> list[Path]:
        own = self.options.data / "themes"
        try:
            return [themes_folder(), own]
        except StorageError as error:
            if error.message not in self._problems:
                self._problems += (error.message,)
            return [own]

    # Memory ----------------------------------------------------------------------------------------------------

    def _keep(
        self,
        *,
        session: str | None = None,
        finished: bool | None = None,
        theme: str | None = None,
        notices: str | None = None,
    ) -> None:
        known = self._remembered
        fresh = Remembered(
            known.session if session is None else session,
            known.finished if finished is None else finished,
            known.theme if theme is None else theme,
            known.notices if notices is None else notices,
        )
        if fresh != known:
            self._remembered = fresh
            remember(self.options.data, fresh)

    def seen_last(self, session: str, *, finished: bool) -> None:
        """Remember which session is open; its questions go into the window's title and call for somebody."""
        self._keep(session=session, finished=finished)
        seen = self._session.snapshot
        if seen is not None:
            self.notices.asked(session, [q.id for q in seen.questions])
            self.notices.entitle(session, len(seen.questions))

    def keep_lines(self) -> None:
        """Write the lines typed so far."""
        remember_lines(self.options.data, self.lines)

    # The terminal ----------------------------------------------------------------------------------------------

    def get_line_filters(self) -> Sequence[LineFilter]:
        """See `Drawn`: the last look at each line that is drawn."""
        return [*super().get_line_filters(), self._drawn]

    def copy_to_clipboard(self, text: str) -> None:
        """Copy; within a multiplexer also past it, to the terminal around it."""
        super().copy_to_clipboard(text)
        if passed := through(clipboard(text), os.environ):
            self._to_terminal(passed)

    def _to_terminal(self, sequence: str) -> None:
        if self._driver is not None and not self.is_web:
            self._driver.write(sequence)

    def action_notices(self) -> None:
        self.notices.how = self.notices.how.following
        self._keep(notices=self.notices.how.value)
        self.say(_("Notices: {words}.").format(words=self.notices.how.words))

    # Messages --------------------------------------------------------------------------------------------------

    def say(self, text: str, *, error: bool = False) -> None:
        """Show one safe line on the screen that is seen, or lies under a dialog."""
        for screen in reversed(self.screen_stack):
            if not self._is_plain(screen):
                continue
            if screen.is_mounted:
                cast("HomeScreen | SessionScreen", screen).say(text, error=error)
            else:
                self._unsaid = (text, error)
            return

    def say_now(self, screen: HomeScreen | SessionScreen) -> None:
        """Show what was to be said before the screen was there."""
        if self._unsaid is not None:
            (text, error), self._unsaid = self._unsaid, None
            screen.say(text, error=error)

    async def guarded(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something; an error becomes a sentence."""
        try:
            await work
        except HitlError as error:
            self.say(safe_text(error_words(error.message, error.help), multiline=False), error=True)
        except Exception as error:
            log.exception("a command failed")
            self.say(sentence(error), error=True)

    def _start(self, work: Coroutine[Any, Any, None], group: str) -> None:
        self.run_worker(self.guarded(work), group=group)

    # Sessions --------------------------------------------------------------------------------------------------

    def begin(self, query: str) -> None:
        """Begin a session in the workspace."""
        self._start(self._begin_session(query, self.workspace, self.options.attached), "open")

    def begin_starter(self, starter: Starter) -> None:
        """Begin a starter's session in its own copy."""
        self._start(self._begin_starter(starter), "open")

    async def _begin_starter(self, starter: Starter) -> None:
        folder = await asyncio.to_thread(materialise, starter, self.options.data)
        await self._begin_session(starter.question, folder, attached_in(starter, folder))

    async def _begin_session(self, query: str, workspace: Path, attached: Attachment | None = None) -> None:
        from hitl_tui.core.policy import Mode

        self.say(_("Beginning…"))
        try:
            mode = Mode(self.mode) if self.mode else None
            wanted = self.options.session if attached is not None and attached is self.options.attached else ""
            begun = self.engine.begin(query, workspace, mode, self._session, attached, wanted)
            await self._show(begun, _("new session"))
            if self._home.is_mounted:
                self._home.say("")
        except Exception:
            if self.screen is self._home:
                self._home.draft(typed_text(query))
            raise

    def open(self, session_id: str) -> None:
        """Open a session; the one that is open is only shown."""
        if session_id == self._opened:
            self.back_to_session()
        else:
            self._start(self._show(self.engine.open(session_id, self._session), session_id), "open")

    async def _show(self, opening: Coroutine[Any, Any, Link], what: str) -> None:
        before, link = self._opened, self._session.link
        if self._session.is_mounted:
            self._session.opening(safe_text(what, multiline=False))
        self._opened = ""
        try:
            fresh = await opening
        except Exception:
            await self._stay(before, link)
            raise
        self._opened = fresh.face.id
        await self._bring(self._session)
        self._session.attach(fresh)

    def _elsewhere(self, session: str, snapshot: Snapshot) -> None:
        """Something happened in a session that is open and not on the screen: it may call for somebody."""
        self.notices.asked(session, [q.id for q in snapshot.questions])
        self.count_inbox()
        if self.screen is self._home:
            self.list_sessions()

    def count_inbox(self) -> None:
        """Count what waits for a person in all sessions, for the header."""
        if not self._counting:
            self._counting = True
            self.set_timer(0.2, lambda: self._start(self._count_inbox(), "count"))

    async def _count_inbox(self) -> None:
        self._counting = False
        waiting = await self.engine.requests()
        if "_session" in self.__dict__ and self._session.is_mounted:
            self._session.inbox(len(waiting))

    async def _stay(self, before: str, link: Link | None) -> None:
        """After a failure to open: what was open is open still, or the first screen is shown."""
        if link is not None and self.engine.session_open:
            self._opened = before
            self._session.seen(link.face.snapshot)
            self._session.attach(link)
            return
        self._keep(session="")
        await self._bring(self._home)

    async def _bring(self, screen: Screen[Any]) -> None:
        """Make one of the two lasting screens the one that is seen; dialogs over it end without an answer."""
        bottom = screen if screen in self.screen_stack else self._home
        while self.screen is not bottom:
            if isinstance(self.screen, ModalScreen):
                await self.screen.dismiss(None)
            else:
                await self.pop_screen()
        if screen is not bottom:
            await self.push_screen(screen)

    def back_to_session(self) -> None:
        """Show the session that is open."""
        if self._opened and self.screen is self._home:
            self.push_screen(self._session)

    def list_sessions(self, at: str = "") -> None:
        """Load the list of sessions for the first screen; the engine that knows them comes after the first frame.

        Args:
            at: the session to put the cursor on; empty to leave it.
        """
        if self._begun:
            self._start(self._list_sessions(at), "list")

    async def _list_sessions(self, at: str) -> None:
        found: list[SessionSummary] = await self.engine.sessions()
        if self._home.is_mounted:
            await self._home.show_sessions(found, at)
        await self.engine.prepare()

    @property
    def known_sessions(self) -> Sequence[SessionSummary]:
        """The sessions there are, newest last, as they were listed last."""
        return self._home.known[::-1]

    def keep(self, what: str, session_id: str = "", given: str = "") -> None:
        """Rename, fork, export, import or delete a session: see `screens.keeping.keep`; the open one with no id."""
        from hitl_tui.console.screens.keeping import keep

        self._start(keep(self, what, session_id or self.chosen_session, given), "keep")

    @property
    def chosen_session(self) -> str:
        """Id of the session that is on the screen, or at the cursor of the first screen; empty for none."""
        return self._opened if self.session_shown else self._home.chosen

    def action_keep(self, what: str) -> None:
        self.keep(what)

    def seek_sessions(self, words: str) -> None:
        """Show the first screen with the sessions that have these words."""
        self._start(self._seek_sessions(words), "list")

    async def _seek_sessions(self, words: str) -> None:
        await self._bring(self._home)
        await self._list_sessions("")
        self._home.seek(words)

    def renamed(self, session_id: str, title: str) -> None:
        """Show a session under its new title, where it is on the screen."""
        if session_id == self._opened and "_session" in self.__dict__ and self._session.is_mounted:
            self._session.renamed(title)

    async def forget(self, session_id: str) -> None:
        """Leave a session for good: it is about to be deleted."""
        self.notices.asked(session_id, ())
        if session_id == self._remembered.session:
            self._keep(session="")
        if session_id == self._opened:
            self._opened = ""
            await self._bring(self._home)
            self._session.gone()

    # Keys ------------------------------------------------------------------------------------------------------

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, (events.Key, events.Paste)) and not event.is_forwarded:
            self.arming.key(time.monotonic() - event.time)
            self.notices.typed()
            self.leisure.typed()
            if not self.app_focus:  # Textual does so for keys; text may be dropped into a window without the focus, too
                self.app_focus = True
            if self._held(event):
                return
            if self.screen.focused is None:
                self._focus_field()
            if self._shows_session():
                self._session.typed()
        elif isinstance(event, events.Key) and not self.screen.is_mounted:  # what had the focus had no use for it
            again = events.Key(event.key, event.character)
            again.time = event.time
            self._held(again)
            return
        elif isinstance(event, events.MouseDown):
            self.arming.click(time.monotonic() - event.time)
        await super().on_event(event)

    def _held(self, event: events.Event) -> bool:
        """Keep what is typed while nothing can take it: at the start, and while a dialog is being built."""
        if self._early is None and not self.screen.is_mounted:
            self._early = []
            if not self.screen.call_later(self.take_keys):
                self.take_keys()
        if self._early is None:
            return False
        self._early.append(event)
        self._early.sort(key=lambda early: early.time)
        return True

    def watch_app_focus(self, focus: bool) -> None:
        """Give what is typed a place when the window has the focus again, and what had it before is gone."""
        if focus and self.screen_stack and self.screen.focused not in self.screen.focus_chain:
            self._focus_field()

    def _focus_field(self) -> None:
        """Give the focus to the screen's first text field, if it has one."""
        found = self.screen.query("Prompt, Input, TextArea")
        if (field := next((w for w in self.screen.focus_chain if w in found), None)) is not None:
            self.screen.set_focus(field, scroll_visible=False)

    def take_keys(self) -> None:
        """Hand on what was typed before a screen could take it; called by the first one, once it has a prompt."""
        self.call_later(self._hand_on)

    async def _hand_on(self) -> None:
        """Hand on what was typed, in its order: here, what arrived meanwhile is already among it."""
        early, self._early = self._early, None
        for event in early or ():
            await self.on_event(event)

    def action_home(self) -> None:
        if self._shows_session():
            self.pop_screen()
        elif self.screen is self._home:
            self.back_to_session()

    def action_mode(self) -> None:
        if self._shows_session():
            self._session.operator.cycle_mode()
        elif self.screen is self._home:
            self.mode = next_mode(self.mode)
            self._home.mode_changed()

    def action_help(self) -> None:
        from hitl_tui.console.help import help_rows
        from hitl_tui.console.screens.viewer import Viewer

        if not isinstance(self.screen, Viewer):
            self.push_screen(Viewer(_("Help"), help_rows(self.keymap, self._problems)))

    def action_where(self) -> None:
        """Say in one line where the person is."""
        from hitl_tui.console.where import where_words

        snapshot = self._session.snapshot if self._shows_session() else None
        self.say(where_words(self.screen.focused, snapshot))

    def action_inbox(self) -> None:
        if self._is_plain(self.screen):
            self._start(self._inbox(), "inbox")

    def _is_plain(self, screen: Screen[Any]) -> bool:
        return screen is self._home or ("_session" in self.__dict__ and screen is self._session)

    async def _inbox(self) -> None:
        from hitl_tui.console.screens.inbox import Inbox

        views = await self.engine.requests()
        if not self._is_plain(self.screen):
            return
        chosen = await self.push_screen_wait(Inbox(views, self._opened))
        if chosen is None:
            return
        session, request = chosen
        if session != self._opened:
            await self._show(self.engine.open(session, self._session), session)
        else:
            await self._bring(self._session)
        self._session.go_to_question(request)

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        from hitl_tui.console.help import palette

        return palette(self)

    def action_command_palette(self) -> None:
        from hitl_tui.console.palette import Palette

        if not CommandPalette.is_open(cast("App[object]", self)):
            self.push_screen(Palette(placeholder=_("Search for commands…"), id="--command-palette"))

    def search_themes(self) -> None:
        from hitl_tui.console.palette import Palette

        self.push_screen(Palette(providers=[ThemeProvider], placeholder=_("Search for themes…")))

    def draft(self, text: str) -> None:
        """Put the beginning of a command into the prompt on the screen, unless something is typed there."""
        if self.session_shown:
            self._session.draft(text)
        else:
            self._home.draft(text)

    async def call(self, action: str) -> None:
        """Run one of the app's actions by name."""
        await self.run_action(action)

    async def action_quit(self) -> None:
        await self.engine.close()
        self.notices.end()
        self.exit(0)

    # Errors ----------------------------------------------------------------------------------------------------

    def fatal_error(self) -> None:
        """An error nobody expected: one sentence, and the traceback into the log file."""
        log.critical("the console stopped", exc_info=True)
        self.notices.end()
        path = self.options.data / LOG_FILE
        self.failure = f"The console stopped because of something unexpected; {path} has the details."
        self.exit(1, return_code=1)


def attached_in(starter: Starter, folder: Path) -> Attachment | None:
    """Return the graph that a starter attaches; None for one with the built-in teams."""
    if not starter.graph:
        return None
    from hitl_tui.config.graphs import Attachment, graph_in

    return Attachment(graph_in(folder, starter.graph), starter.question)


def _starters() -> list[Starter]:
    try:
        return [starter.in_language(language()) for starter in starters()]
    except StorageError as error:
        log.warning("no starters: %s", error.message)
        return []


async def _run(app: HitlApp) -> None:
    try:
        await app.run_async()
    finally:
        await app.engine.close()


def run_console(options: ConsoleOptions) -> int:
    """Run the console until it is left; return the exit code. Who calls it decides where the log goes.

    Raises:
        HitlError: it can't begin, or it stopped because of something unexpected; the message is one sentence.
    """
    if options.mode and options.mode not in MODES:
        raise BadInput(f'There is no mode "{options.mode}"; it is step, plan or risk.')
    app = HitlApp(options)
    put_off()
    asyncio.run(_run(app))
    if app.failure:
        raise HitlError(app.failure)
    return app.return_code or 0
