"""Making the folder ready for its first question once there is something to see; headers show how far it is."""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from hitl_tui.console.widgets.bars import HeaderBar
from hitl_tui.core.errors import HitlError
from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import _
from hitl_tui.wording.status_words import progress_bar

if TYPE_CHECKING:
    from textual.screen import Screen

    from hitl_tui.console.engine import Engine
    from hitl_tui.console.screens.home_screen import HomeScreen
    from hitl_tui.console.workers import Work

log = logging.getLogger(__name__)


class PreparingConsole(Protocol):
    """What it needs of the app."""

    engine: Engine
    home: HomeScreen
    workspace: Path

    @property
    def lasting_screens(self) -> list[Screen[None]]: ...

    def shows_workspace(self, screen: Screen[None]) -> bool: ...

    def say(self, text: str, *, error: bool = False) -> None: ...

    def start(self, work: Work, group: str) -> object: ...


class FolderPreparation:
    """Lets the teams of the workspace get ready while nobody waits for them.

    Args:
        app: has the engine, and the screens whose headers show it.
    """

    def __init__(self, app: PreparingConsole) -> None:
        self._app = app
        self._running = False

    def begin(self, folder: Path | None = None, *, large: bool = False) -> None:
        """Begin, unless it is under way.

        Args:
            folder: None for the console's own.
            large: a person wants it however large the folder is.
        """
        if not self._running:
            self._running = True
            self._app.start(partial(self._run, folder or self._app.workspace, large=large), "prepare")

    async def _run(self, folder: Path, *, large: bool) -> None:
        try:
            asks = await self._app.engine.prepare_folder(folder, self._show, large=large)
        except HitlError as error:  # a search that is approved says it, to whoever wants one
            if large:
                raise
            log.info("the folder isn't ready: %s", error.message)
            asks = 0
        finally:
            self._running = False
            self._put("")
        if folder == self._app.workspace:
            self._app.home.ask_for_index(asks)
        if large:
            self._app.say(_("Indexed {folder}").format(folder=safe_text(folder.name, multiline=False)))

    def _show(self, share: float) -> None:
        self._put(_("indexing {bar} {share}").format(bar=progress_bar(share), share=f"{share:.0%}"))

    def _put(self, text: str) -> None:
        for screen in self._app.lasting_screens:
            for header in screen.query(HeaderBar):
                header.doing = text if self._app.shows_workspace(screen) else ""
