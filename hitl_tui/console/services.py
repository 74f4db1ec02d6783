"""What widgets, dialogs and screens may ask of the app around them: the app fits these protocols.

`Console` is what every console has, `SessionConsole` one of sessions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from textual.app import App
    from textual.geometry import Size
    from textual.screen import Screen
    from textual.signal import Signal
    from textual.theme import Theme
    from textual.widget import AwaitMount
    from textual.worker import Worker

    from hitl_tui.config.starters import Starter
    from hitl_tui.console.engine import Engine
    from hitl_tui.console.keyguard.guard import KeyGuard
    from hitl_tui.console.keyguard.keyboard import ConsoleKeyboard
    from hitl_tui.console.keymap import Keymap
    from hitl_tui.console.notifications import Notifications
    from hitl_tui.console.user_files import UserMemory
    from hitl_tui.console.workers import Work
    from hitl_tui.supervisor.open_options import OpenOptions
    from hitl_tui.supervisor.session_summary import SessionSummary
    from hitl_tui.supervisor.snapshot import Snapshot

Result = TypeVar("Result")


class Speaker(Protocol):
    """Something that has a line for messages."""

    def say(self, text: str, *, error: bool = False) -> None:
        """Show one safe line."""
        ...


class Console(Speaker, Protocol):
    """The app, whatever it shows."""

    options: OpenOptions
    keyboard: ConsoleKeyboard
    keymap: Keymap
    memory: UserMemory
    notifications: Notifications
    theme: Any

    @property
    def guard(self) -> KeyGuard: ...

    @property
    def watched(self) -> bool: ...

    @property
    def size(self) -> Size: ...

    @property
    def screen(self) -> Screen[object]: ...

    @property
    def screen_stack(self) -> list[Screen[object]]: ...

    @property
    def available_themes(self) -> dict[str, Theme]: ...

    @property
    def theme_changed_signal(self) -> Signal[Theme]: ...

    async def push_screen_wait(self, screen: Screen[Result], /) -> Result:
        """Show a dialog and wait for what it returns; only from a worker."""
        ...

    def push_screen(self, screen: Screen[Result], /) -> AwaitMount: ...

    def copy_to_clipboard(self, text: str) -> None: ...

    def suspend(self) -> AbstractContextManager[None]:
        """Give the terminal away for a while."""
        ...

    def batch_update(self) -> AbstractContextManager[None]:
        """Draw nothing for a while."""
        ...

    def search_themes(self) -> None:
        """Let a theme be chosen."""
        ...

    def say_problems(self) -> None:
        """Say what was left out at the start."""
        ...

    def start(self, work: Work, group: str) -> Worker[None]:
        """Begin something that ends with the app, or when its worker is cancelled; an error becomes a sentence."""
        ...

    async def guarded(self, work: Work) -> None:
        """Run something; an error becomes a sentence."""
        ...

    async def call(self, action: str) -> None:
        """Run one of the app's actions by name."""
        ...

    def action_help(self, *, commands: bool = False) -> None: ...

    async def action_quit(self) -> None: ...


class Sessions(Protocol):
    """Begins, opens, lists and leaves sessions."""

    @property
    def known(self) -> Sequence[SessionSummary]: ...

    def look_up(self) -> None:
        """List all sessions anew, if anything changed: somebody is about to name one."""

    @property
    def chosen(self) -> str: ...

    opened: str

    def begin(self, query: str, *, typed: bool = False) -> None: ...

    def begin_starter(self, starter: Starter) -> None: ...

    def open(self, session_id: str, *, typed: bool = False) -> None: ...

    def back(self) -> None: ...

    def seek(self, words: str) -> None: ...

    def look_through(self, words: str) -> None: ...

    def seen(self, snapshot: Snapshot) -> None: ...

    def list_all(self, at: str = "") -> None: ...

    def keep(self, what: str, session_id: str = "", given: str = "") -> None: ...

    def renamed(self, session_id: str, title: str) -> None: ...

    async def forget(self, session_id: str) -> None: ...


class SessionConsole(Console, Protocol):
    """The app of sessions: the first screen, and the session that is open."""

    engine: Engine
    workspace: Path
    starters: list[Starter]
    mode: str

    @property
    def sessions(self) -> Sessions: ...

    @property
    def session_shown(self) -> bool: ...

    @property
    def is_web(self) -> bool:
        """It is drawn in a browser."""
        ...

    def begin_anew(self) -> None:
        """Go to the prompt of the first screen, where a session begins."""
        ...

    def index_folder(self) -> None:
        """Index the workspace however large it is."""
        ...

    def say_now(self, screen: Speaker) -> None:
        """Show what was to be said before the screen was there."""
        ...

    def draft(self, text: str) -> None:
        """Put the beginning of a command into the prompt on the screen."""
        ...


def console_of(app: App[Any]) -> Console:
    """Return the app as what every console is."""
    return cast("Console", app)


def sessions_of(app: App[Any]) -> SessionConsole:
    """Return the app as a console of sessions."""
    return cast("SessionConsole", app)
