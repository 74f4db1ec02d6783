"""The console. `run_console` is what the command line calls; nothing here imports LangGraph before the first frame."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, ClassVar

from textual.app import SystemCommand
from textual.content import Content
from textual.screen import Screen

from hitl_tui.config.starters import Starter, starters
from hitl_tui.console.console_app import ConsoleApp
from hitl_tui.console.engine import Engine
from hitl_tui.console.folder_preparation import FolderPreparation
from hitl_tui.console.idle_collector import delay_full_collections
from hitl_tui.console.screens.home_screen import HomeScreen
from hitl_tui.console.screens.prompt_screen import PromptScreen
from hitl_tui.console.services import Speaker
from hitl_tui.console.session_switcher import SessionSwitcher
from hitl_tui.console.widgets.prompt_line import Prompt
from hitl_tui.core.errors import BadInput, HitlError, StorageError
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.language import _, language, ngettext
from hitl_tui.supervisor.open_options import OpenOptions
from hitl_tui.supervisor.termination import Termination
from hitl_tui.terminal.own_command import own_command
from hitl_tui.wording.times import MODES

if TYPE_CHECKING:
    from rich.console import RenderableType

    from hitl_tui.console.screens.session_screen import SessionScreen
    from hitl_tui.supervisor.snapshot import Snapshot

log = logging.getLogger(__name__)

_MOST_UNSENT = 5
"""Lines that are named on the way out."""


def _again(session: str) -> str:
    return f"{own_command()} --session {session}"


class HitlApp(ConsoleApp):
    """The console: the first screen, and the session that is open.

    Args:
        options: how it begins.
        clock: monotonic seconds, for the keys that must not decide.
        again: returns the shell command that opens a session by id.
    """

    CSS_PATH: ClassVar[list[str | PurePath]] = [*ConsoleApp.CSS_PATH, "widgets/prompt.tcss", "screens/home.tcss"]

    def __init__(
        self, options: OpenOptions, clock: Callable[[], float] = time.monotonic, again: Callable[[str], str] = _again
    ) -> None:
        super().__init__(options, clock)
        self._again = again
        self.sessions = SessionSwitcher(self)
        self.preparation = FolderPreparation(self)
        self.engine = Engine(options, self.sessions.elsewhere)
        self.workspace = (options.workspace or Path.cwd()).expanduser()
        self.started_in = ""
        """The folder that it was started in; empty where that is gone."""
        with suppress(OSError):
            self.started_in = str(Path.cwd())
        self.starters: list[Starter] = [] if options.attached else _starters()
        self.mode = options.mode
        self.home = HomeScreen()
        self.install_screen(self.home, "home")
        self._unsaid: tuple[str, bool] | None = None
        self.parting = ""
        """What is said in the terminal once it was left; empty for nothing."""

    # Screens ---------------------------------------------------------------------------------------------------

    @cached_property
    def session(self) -> SessionScreen:
        """The session screen, imported when it is first shown: the home screen is there sooner without it."""
        from hitl_tui.console.screens.session_screen import SessionScreen

        screen = SessionScreen(self)
        self.install_screen(screen, "session")
        return screen

    @property
    def _session_made(self) -> bool:
        return "session" in self.__dict__

    @property
    def session_mounted(self) -> bool:
        """There is a session screen that can show something, whether it is seen or not."""
        return self._session_made and self.session.is_mounted

    @property
    def session_shown(self) -> bool:
        """A session is on the screen, or lies under a dialog."""
        return self._session_made and self.session in self.screen_stack

    @property
    def lasting_screens(self) -> list[Screen[None]]:
        """The screens there are that aren't built anew each time."""
        return [s for s in (self.home, *([self.session] if self._session_made else [])) if s.is_mounted]

    def shows_workspace(self, screen: Screen[None]) -> bool:
        """Return whether a screen is about the folder that the console was started in: a session may have another."""
        if not self._session_made or screen is not self.session:
            return True
        snapshot = self.session.snapshot
        return snapshot is not None and Path(snapshot.workspace) == self.workspace.resolve()

    @property
    def _session_on_top(self) -> bool:
        return self._session_made and self.screen is self.session

    def get_default_screen(self) -> HomeScreen:
        """Return the first screen, which lies under all others: an empty one would have to be laid out, too."""
        return self.home

    # The beginning ---------------------------------------------------------------------------------------------

    def on_mount(self) -> None:
        if self.options.query or self._wanted:
            self.push_screen(self.session)

    def seen_first(self) -> None:
        self.sessions.begin_listing()
        super().seen_first()
        if wanted := self._wanted:
            self.sessions.open(wanted, unasked=not self.options.session)
        elif self.options.query:
            self.sessions.begin(self.options.query)
        else:
            self.sessions.list_all()
        if self.options.attached is None:
            self.preparation.begin()

    @property
    def _wanted(self) -> str:
        """The session to open at the start: the one named, or the one that was left here before its end."""
        if self.options.attached:
            return ""
        known, here = self.memory.known, str(self.workspace.resolve())
        other = here != known.workspace
        if self.options.workspace is None:  # it may work elsewhere, such as in a starter's folder
            other = other and known.folder not in ("", self.started_in)
        left = "" if known.finished or self.options.query or other else known.session
        return self.options.session or left

    # Messages --------------------------------------------------------------------------------------------------

    def say(self, text: str, *, error: bool = False) -> None:
        """Show one safe line on the screen that is seen, or lies under a dialog."""
        screen = next((s for s in reversed(self.screen_stack) if isinstance(s, PromptScreen)), None)
        if screen is None:
            return
        if screen.is_mounted:
            screen.say(text, error=error)
        else:
            self._unsaid = (text, error)

    def say_now(self, screen: Speaker) -> None:
        """Show what was to be said before the screen was there."""
        if self._unsaid is not None:
            (text, error), self._unsaid = self._unsaid, None
            screen.say(text, error=error)

    def draft(self, text: str) -> None:
        """Put the beginning of a command into the prompt on the screen, unless something is typed there."""
        (self.session if self.session_shown else self.home).draft(text)

    @property
    def snapshot(self) -> Snapshot | None:
        """The session on the screen; None while there is none, or something lies over it."""
        return self.session.snapshot if self._session_on_top else None

    def strayed(self, lines: Sequence[str]) -> None:
        if not self.engine.strayed(lines):
            super().strayed(lines)

    # Keys ------------------------------------------------------------------------------------------------------

    def action_home(self) -> None:
        if self._session_on_top:
            self.pop_screen()
            self.home.to_sessions()
        elif self.screen is self.home:
            self.sessions.back()
            if self.screen is self.home:  # there is none to go back to
                self.home.to_sessions()

    def begin_anew(self) -> None:
        """Go to the prompt of the first screen, where a session begins."""
        if self._session_on_top:
            self.pop_screen()
        self.home.to_prompt()

    def action_mode(self) -> None:
        """Let a mode be chosen, for the session or for new ones; where the list is shown, close it."""
        if self._session_on_top:
            self.session.operator.choose_mode()
        elif self.screen is self.home:
            self.start(self._choose_mode, "mode")
        else:
            from hitl_tui.console.dialogs.mode_dialog import ModeDialog

            if isinstance(self.screen, ModeDialog):
                self.screen.action_cancel()

    async def _choose_mode(self) -> None:
        from hitl_tui.console.dialogs.mode_dialog import ModeDialog

        said = _("When do new sessions ask you? It holds until you quit; `mode` in hitl.toml holds for good.")
        chosen = await self.push_screen_wait(ModeDialog(self.home.mode, said))
        if isinstance(chosen, str):
            self.mode = chosen
            self.home.mode_changed()

    def index_folder(self) -> None:
        """Index the folder of the session on the screen, or of the console where there is none."""
        here = self.workspace
        there = Path(snapshot.workspace) if (snapshot := self.snapshot) is not None else here
        self.preparation.begin(here if there == here.resolve() else there, large=True)

    def action_model(self) -> None:
        """Let another model be chosen for the session on the screen."""
        if self._session_on_top:
            self.session.operator.choose_model()

    async def model_words(self) -> str:
        return await self.session.operator.model_words() if self._session_on_top else ""

    def action_inbox(self) -> None:
        self.sessions.inbox()

    def action_keep(self, what: str) -> None:
        self.sessions.keep(what)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        from hitl_tui.console.help_rows import palette

        return palette(self)

    async def action_quit(self) -> None:
        if self.guard.dropped:
            return  # a decision was on its way: that it wasn't taken is said, which mustn't go with the screen
        from hitl_tui.console.dialogs.prompt_dialogs import QuitDialog

        if isinstance(self.screen, QuitDialog):
            if self.guard.paused:  # no key that is held down
                self.screen.dismiss(True)
        elif running := self.engine.running:
            from hitl_tui.wording.history_rows import quit_words

            self.push_screen(QuitDialog(_("Quit now?"), Content(quit_words(running)), _("Quit")), self._leave_if)
        else:
            await self._leave()

    async def _leave_if(self, wanted: bool | None) -> None:
        if wanted:
            await self._leave()

    async def _leave(self) -> None:
        kept = _("↑ at the prompt brings back what you had typed.") if self._typed else ""
        self.parting = " ".join(filter(None, (self._ended_words(), self._unsent_words(), self._waiting_words(), kept)))
        await self.engine.close()
        await super().action_quit()

    @property
    def _typed(self) -> list[str]:
        """What stands in the prompts."""
        typed = (prompt.text.strip() for screen in self.screen_stack for prompt in screen.query(Prompt))
        return list(filter(None, typed))

    def exit(self, result: int | None = None, return_code: int = 0, message: RenderableType | None = None) -> None:
        """End, whoever wants that; what was typed and not sent is among the lines of the prompt from then on."""
        if typed := self._typed:
            self.memory.lines += typed
            self.memory.keep_lines()
        super().exit(result, return_code, message)

    def _each_second(self) -> None:
        super()._each_second()
        if self.unseen and not self.engine.running:
            self.exit(0)

    def _ended_words(self) -> str:
        """Return which steps end with the console; empty for none."""
        from hitl_tui.wording.history_rows import cut_short_words

        return cut_short_words(self.engine.running) if self.engine.running else ""

    def _unsent_words(self) -> str:
        """Return which lines aren't carried out, since their session hasn't opened; empty for none."""
        unsent = self.session.operator.unsent if self._session_made else []
        lines = " · ".join(one_line(line, 60) for line in unsent[:_MOST_UNSENT])
        more = f" · +{len(unsent) - _MOST_UNSENT}" if len(unsent) > _MOST_UNSENT else ""
        said = _("Not carried out, as the session was still opening: {lines}")
        return said.format(lines=lines + more) if unsent else ""

    def _waiting_words(self) -> str:
        """Return what is left to do in the session that is left, and how it is opened again; empty for nothing."""
        if begun := self.sessions.starting:
            said = _(
                "“{question}” had not begun. Where hitl-tui sessions doesn't list it, ↑ at the prompt brings it back."
            )
            return said.format(question=one_line(begun, 60))
        snapshot = self.session.snapshot if self._session_made and self.sessions.opened else None
        if snapshot is None:
            return ""
        count, name = len(snapshot.questions), safe_text(snapshot.session_id, multiline=False)
        command = self._again(name)
        if snapshot.concluded and not count:
            return _("To open {name} again: {command}").format(name=name, command=command)
        said = ngettext("{n} question waits in {name}.", "{n} questions wait in {name}.", count)
        said = said if count else _("{name} isn't finished.")
        again = _("To continue: {command}").format(command=command)
        return f"{said.format(n=count, name=name)} {again}"


def _starters() -> list[Starter]:
    try:
        return [starter.in_language(language()) for starter in starters()]
    except StorageError as error:
        log.warning("no starters: %s", error.message)
        return []


async def _run(app: HitlApp) -> None:
    ending = Termination.current()
    told = ending.last_words

    def leave(stop: KeyboardInterrupt) -> None:
        """Give the terminal back before the program ends at once."""
        app.release_terminal()
        told(stop)

    ending.last_words = leave
    with ending.calling(lambda number: app.exit(return_code=128 + number)):
        try:
            await app.run_async()
        finally:
            await app.engine.close()


def run_console(options: OpenOptions, again: Callable[[str], str]) -> tuple[int, str]:
    """Run the console until it is left. Who calls it decides where the log goes.

    Args:
        options: how it begins.
        again: returns the shell command that opens a session by id.

    Returns:
        The exit code, and what waits in the session that was left and how to come back; empty for nothing.

    Raises:
        HitlError: it can't begin, or it stopped because of something unexpected; the message is one sentence.
    """
    if options.mode and options.mode not in MODES:
        raise BadInput(Message('Unknown mode "{}"; use step, plan or risk.', options.mode))
    app = HitlApp(options, again=again)
    delay_full_collections()
    asyncio.run(_run(app))
    if app.failure:
        raise HitlError(app.failure)
    return app.return_code or 0, app.parting
