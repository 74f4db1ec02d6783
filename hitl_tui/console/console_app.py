"""`ConsoleApp`: what every console does, whatever it shows: keys, colours, the terminal, help, the palette."""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, ClassVar, cast

from textual import events
from textual.binding import BindingType
from textual.command import CommandPalette
from textual.content import Content
from textual.driver import Driver
from textual.filter import LineFilter
from textual.widget import Widget
from textual.widgets import DataTable, Input, OptionList, TextArea

from hitl_tui.config.starters import themes_folder
from hitl_tui.console import keys
from hitl_tui.console.idle_collector import IdleCollector
from hitl_tui.console.keyguard.guard import KeyGuard, Typed
from hitl_tui.console.keyguard.key_targets import KeyScreen
from hitl_tui.console.keyguard.keyboard import ConsoleKeyboard
from hitl_tui.console.keymap import FILE, load_keymap
from hitl_tui.console.notifications import Notifications, clipboard, hand_to_tmux, how_chosen, through
from hitl_tui.console.themes import DEFAULT, apply_theme, colourless, fitting_theme, register_themes
from hitl_tui.console.user_files import UserMemory
from hitl_tui.console.widgets.bars import MessageLine
from hitl_tui.console.workers import Work, guarded, work_on
from hitl_tui.core.bursts import ARM_AFTER
from hitl_tui.core.errors import StorageError
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.language import _
from hitl_tui.supervisor.open_options import OpenOptions
from hitl_tui.terminal.compositor import PaintedApp
from hitl_tui.terminal.textual_driver import Drawn, ascii_wanted, tolerant
from hitl_tui.wording.status_words import status_of_session
from hitl_tui.wording.times import mode_words

if TYPE_CHECKING:
    from textual.app import App
    from textual.worker import Worker

    from hitl_tui.supervisor.snapshot import Snapshot
    from hitl_tui.wording.rows import Row

log = logging.getLogger(__name__)

THEME_VARIABLE = "HITL_THEME"
LOG_FILE = "hitl-tui.log"


class ConsoleApp(PaintedApp):
    """A console, without anything to show yet.

    Args:
        options: how it begins; the data folder has keys and themes.
        clock: monotonic seconds, for the keys that must not decide.
    """

    TITLE = "hitl-tui"
    CSS_PATH: ClassVar[list[str | PurePath]] = ["app.tcss", "widgets/bars.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.ANYWHERE)]
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+p"
    _themed = False

    def __init__(self, options: OpenOptions, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self.options = options
        self.VERTICAL_BREAKPOINTS = [(0, "-tiny"), (8, "-usual")]
        self.keyboard = ConsoleKeyboard(self, clock)
        self._key_at = float("-inf")
        self.idle_collector = IdleCollector(clock)
        self.memory = UserMemory(options.data)
        self.keymap = load_keymap(options.data / FILE)
        self.set_keymap(self.keymap.changed)
        self.problems: tuple[str, ...] = self.keymap.problems
        """What was left out at the start, one sentence each."""
        how = how_chosen(os.environ, self.memory.known.notices)
        self.notifications = Notifications(self.write_sequence, clock, os.environ, how)
        encoding = getattr(sys.__stderr__, "encoding", None) or "utf-8"
        self._drawn = Drawn(plain=ascii_wanted(os.environ, encoding), encoding=encoding)
        self.failure = ""
        """What ended the console unexpectedly, in one sentence."""
        # Before the stylesheets are read for the first time, for another theme means reading them again.
        self._choose_theme()

    def on_mount(self) -> None:
        self.theme_changed_signal.subscribe(
            self, lambda theme: self.memory.keep(self.memory.known._replace(theme=theme.name))
        )
        self.notifications.begin()
        self.set_interval(1.0, self._each_second)
        self.call_after_refresh(self.seen_first)

    def _each_second(self) -> None:
        self.notifications.look(focused=self.app_focus)
        self.idle_collector.look()

    def seen_first(self) -> None:
        """There is something to see: do what that hasn't waited for."""
        self.problems += register_themes(self, self._theme_folders())
        for problem in self.problems:
            log.warning("%s", problem)
        self.say_problems()

    def say_problems(self) -> None:
        """Say what was left out at the start, until it was seen, on the screen that is there or lies under a dialog."""
        if not self.problems:
            return
        more, key = len(self.problems) - 1, self.keymap.shown("console.help")
        rest = _(" ({n} more: {key})").format(n=more, key=key) if more else ""
        screen = next((s for s in reversed(self.screen_stack) if not s.is_modal), None)
        for line in screen.query(MessageLine) if screen is not None and screen.is_mounted else ():
            line.keep(safe_text(self.problems[0], multiline=False) + rest)

    # Themes ----------------------------------------------------------------------------------------------------

    def get_css_variables(self) -> dict[str, str]:
        """Return the theme's colours; none before there is a theme: working them out takes a while."""
        return super().get_css_variables() if self._themed else {}

    def refresh_css(self, animate: bool = True) -> None:
        """Read the stylesheets again; before anything is shown they haven't been read at all."""
        if self.screen_stack:
            super().refresh_css(animate)
        else:
            self.stylesheet.set_variables(self.get_css_variables())

    def _choose_theme(self) -> None:
        """Take the theme that is wanted, or the usual one; the others are read once there is something to see."""
        choices = (os.environ.get(THEME_VARIABLE, ""), self.memory.known.theme, fitting_theme(os.environ), DEFAULT)
        folders = self._theme_folders()
        self._themed = True
        if not apply_theme(self, folders, [choice for choice in choices if choice]):
            self.call_next(self.refresh_css)

    def _theme_folders(self) -> list[Path]:
        own = self.options.data / "themes"
        try:
            return [themes_folder(), own]
        except StorageError as error:
            if error.message not in self.problems:
                self.problems += (error.message,)
            return [own]

    # The terminal ----------------------------------------------------------------------------------------------

    def get_driver_class(self) -> type[Driver]:
        return tolerant(super().get_driver_class())

    def get_line_filters(self) -> Sequence[LineFilter]:
        """See `Drawn`: the last look at each line that is drawn."""
        return [*colourless(super().get_line_filters(), ansi=self.native_ansi_color), self._drawn]

    def action_begin_anew(self) -> None:
        self.guard.begin()
        for screen in self.screen_stack:
            if isinstance(screen, KeyScreen) and screen.is_mounted:
                screen.begin_anew()
        super().action_begin_anew()

    def copy_to_clipboard(self, text: str) -> None:
        """Copy; within a multiplexer also past it, to the terminal around it."""
        super().copy_to_clipboard(text)
        if passed := through(clipboard(text), os.environ):
            self.write_sequence(passed)
        if os.environ.get("TMUX") and not self.is_web:
            self.run_worker(partial(hand_to_tmux, text), thread=True)

    def action_notices(self) -> None:
        self.notifications.how = self.notifications.how.following
        self.memory.keep(self.memory.known._replace(notices=self.notifications.how.value))
        self.say(_("Notices: {words}.").format(words=self.notifications.how.words))

    # Keys ------------------------------------------------------------------------------------------------------

    @property
    def guard(self) -> KeyGuard:
        """When keys decide."""
        return self.keyboard.guard

    async def on_event(self, event: events.Event) -> None:
        if not await self.keyboard.takes(event):
            await super().on_event(event)

    async def deliver(self, event: Typed) -> None:
        """Let Textual hand a key or paste to what has the focus."""
        await super().on_event(event)

    def notice_typing(self) -> None:
        """Somebody types: what was said before was seen, unless it came of what is being typed."""
        self.notifications.typed()
        self.idle_collector.typed()
        now = self.guard.now
        rested, self._key_at = now - self._key_at >= ARM_AFTER, now
        for line in self.screen.children if rested else ():
            if isinstance(line, MessageLine):
                line.pass_by()
        if not self.app_focus:  # Textual does so for keys; text may be dropped into a window without the focus, too
            self.app_focus = True

    def watch_app_focus(self, focus: bool) -> None:
        if focus:
            self.keyboard.window_focused()

    # Words -----------------------------------------------------------------------------------------------------

    def say(self, text: str, *, error: bool = False) -> None:
        """Show one safe line on the screen that is seen, or lies under a dialog."""
        for screen in reversed(self.screen_stack):
            if screen.is_mounted and (found := screen.query(MessageLine)):
                found.first().say(text, error=error)
                return

    async def guarded(self, work: Work) -> None:
        """Run something; an error becomes a sentence, that a question is asked anew a note."""
        await guarded(work, self.say)

    def start(self, work: Work, group: str) -> Worker[None]:
        """Begin something, as `guarded`; it ends with the app, or when its worker is cancelled.

        Args:
            work: what is done.
            group: what kind of work it is, in a word.
        """
        return work_on(self, partial(self.guarded, work), group=group)

    def help(self, *, commands: bool = False) -> list[Row]:
        """Return what the help shows; it begins with the commands if it is asked for as one."""
        from hitl_tui.console.help_rows import help_rows, parts_here

        return help_rows(self.keymap, self.problems, parts_here(self.screen), commands_first=commands)

    def strayed(self, lines: Sequence[str]) -> None:
        """Take what was written past the screen, by a process that something started, for one; it isn't safe."""
        for line in lines:
            log.warning("written past the screen: %s", safe_text(line, multiline=False, limit=1_000))

    def action_help(self, *, commands: bool = False) -> None:
        """Show the help, beginning where the person is; the key that opened it closes it, as any text.

        Args:
            commands: begin with the commands.
        """
        from hitl_tui.console.dialogs.text_viewer import HelpScreen, TextViewer

        if isinstance(self.screen, TextViewer):
            self.screen.action_close()
        else:
            self.push_screen(HelpScreen(self.help(commands=commands)))

    @property
    def snapshot(self) -> Snapshot | None:
        """The session on the screen; None while there is none."""
        return None

    async def action_where(self) -> None:
        """Say in a few words where the person is."""
        self.say(where_words(self.screen.focused, self.snapshot, await self.model_words()))

    async def model_words(self) -> str:
        """Return which model the session on the screen has; empty where there is none."""
        return ""

    # The palette -----------------------------------------------------------------------------------------------

    def action_command_palette(self) -> None:
        from hitl_tui.console.palette import Palette

        if not CommandPalette.is_open(cast("App[object]", self)):
            self.push_screen(Palette(placeholder=_("Search for commands…"), id="--command-palette"))

    def search_themes(self) -> None:
        from hitl_tui.console.palette import Palette, Themes

        self.push_screen(Palette(providers=[Themes], placeholder=_("Search for themes…")))

    async def call(self, action: str) -> None:
        """Run one of the app's actions by name."""
        await self.run_action(action)

    def action_help_quit(self) -> None:
        self.say(
            self.keymap.named(_("{console.quit} quits; work in progress continues when the session is opened again."))
        )

    def action_suspend_process(self) -> None:
        """Stop like any program of the terminal's, with whatever started this one; `fg` comes back."""
        if self.can_suspend:
            os.kill(os.getpid(), signal.SIGTSTP)
        else:
            self.say(_("The console can't be suspended here."))

    # The end ---------------------------------------------------------------------------------------------------

    async def action_quit(self) -> None:
        self.notifications.end()
        self.exit(0)

    def fatal_error(self) -> None:
        """An error nobody expected: one sentence, and the traceback into the log file."""
        log.critical("the console stopped", exc_info=True)
        self.notifications.end()
        path = self.options.data / LOG_FILE
        said = _("The console stopped on an unexpected error; details: {path}")
        self.failure = said.format(path=path)
        self.exit(1, return_code=1)


_LONGEST = 400


def where_words(focused: Widget | None, snapshot: Snapshot | None, model: str = "") -> str:
    """Return session, folder, mode, what waits, what has the focus, and the model, as one safe line.

    Args:
        focused: what has the focus.
        snapshot: the session on the screen; None on the first screen.
        model: the session's, in words.
    """
    parts = [_("First screen")]
    if snapshot is not None:
        name = _("Session {id}").format(id=snapshot.session_id)
        parts = [
            name,
            safe_text(snapshot.workspace, multiline=False),
            mode_words(snapshot.mode),
            status_of_session(snapshot),
        ]
    said = filter(None, [*parts, focus_words(focused), model])
    return one_line(" · ".join(said), _LONGEST)


def focus_words(focused: Widget | None) -> str:
    """Return what has the focus, and what stands there."""
    if focused is None:
        return _("nothing has the focus")
    title = Content.from_markup(str(focused.border_title or "")).plain
    name = " ".join(title.partition(" · ")[0].split())
    if isinstance(focused, DataTable):
        name = name or _("list")
        if not focused.row_count:
            return _("{name}: empty").format(name=name)
        text = " ".join(" ".join(map(str, focused.get_row_at(focused.cursor_row))).split())
        row = _("{name}, row {n} of {total}: {text}")
        return row.format(name=name, n=focused.cursor_row + 1, total=focused.row_count, text=text)
    if isinstance(focused, OptionList):
        place = focused.highlighted
        text = str(focused.get_option_at_index(place).prompt) if place is not None else ""
        return _("choice: {text}").format(text=" ".join(text.split()))
    if isinstance(focused, (TextArea, Input)):
        text = focused.text if isinstance(focused, TextArea) else focused.value
        return _("prompt: {text}").format(text=text) if text.strip() else _("prompt: empty")
    return name or focused.id or ""
