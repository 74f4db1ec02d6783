"""The order of the plan, changed one command after the other (D15)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from hitl_tui.console.engine import Link
from hitl_tui.console.words import number_of, why_fixed
from hitl_tui.language import _

if TYPE_CHECKING:
    from hitl_tui.commands.results import CommandResult
    from hitl_tui.console.screens.session import SessionScreen


class Ordering:
    """Moves TODOs in the session that a screen shows; what is wanted meanwhile waits until that has taken effect.

    Args:
        screen: the screen.
        report: shows what a command answered.
        begin: runs work of the screen.
    """

    def __init__(
        self,
        screen: SessionScreen,
        report: Callable[[CommandResult], None],
        begin: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._screen = screen
        self._report = report
        self._begin = begin
        self._one = asyncio.Lock()

    def move(self, ids: Sequence[str], where: str, anchor: str) -> None:
        """Give TODOs another place: `before` or `after` another one (D15)."""
        if self._screen.link is not None:
            self._begin(self._move(self._screen.link, ids, where, anchor))

    async def _move(self, link: Link, ids: Sequence[str], where: str, anchor: str) -> None:
        async with self._one:
            await self._put(link, ids, where, anchor)

    async def _put(self, link: Link, ids: Sequence[str], where: str, anchor: str) -> None:
        for todo_id in ids if where == "before" else reversed(ids):
            result = await link.handler.handle(f"/todo move {todo_id} {where} {anchor}")
            if len(ids) == 1 or result.failed:
                self._report(result)
            if result.failed:
                return
        if len(ids) > 1:
            said = (
                _("{n} TODOs are before {anchor} now.") if where == "before" else _("{n} TODOs are after {anchor} now.")
            )
            self._screen.say(said.format(n=len(ids), anchor=number_of(anchor)))

    def step(self, ids: Collection[str], by: int, shown: Collection[str]) -> None:
        """Move TODOs up (-1) or down (1) among those that are shown (all with none given)."""
        if self._screen.link is not None:
            self._begin(self._step(self._screen.link, ids, by, shown))

    async def _step(self, link: Link, ids: Collection[str], by: int, shown: Collection[str]) -> None:
        async with self._one:  # where they stand is known once the step before has taken effect
            todos = [t for t in link.face.snapshot.todos if not shown or t.id in shown]
            places = [i for i, t in enumerate(todos) if t.id in ids]
            why = next(filter(None, (why_fixed(todos[i]) for i in places)), "")
            beside = (places[0] - 1 if by < 0 else places[-1] + 1) if places else -1
            if why:
                self._screen.say(why)
            elif 0 <= beside < len(todos):
                moving = [todos[i].id for i in places]
                await self._put(link, moving, "before" if by < 0 else "after", todos[beside].id)
