"""A console under test: the real app on the real engine, with a clock that only the test moves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from textual import _wait
from textual.events import Key
from textual.pilot import Pilot
from textual.timer import Timer
from trusting import trust_workspace

from hitl_tui.console.app import HitlApp
from hitl_tui.console.keyguard.guard import ALONE_FOR, BlockReason, KeyKind, Typed
from hitl_tui.console.screens.session_screen import SessionScreen
from hitl_tui.console.widgets.bars import MessageLine
from hitl_tui.console.widgets.prompt_line import Prompt
from hitl_tui.console.widgets.question_panel import QuestionPanel
from hitl_tui.console.widgets.stream_pane import StreamPane
from hitl_tui.policy.operator_identity import Operator
from hitl_tui.supervisor.open_options import OpenOptions
from hitl_tui.supervisor.remote_reviews import RemoteReviews
from hitl_tui.supervisor.snapshot import Snapshot

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "lease"
TWO = "What is the deposit cap? Who pays for repairs?"
"""Two questions, and so two steps of which none waits for the other."""
RISE = "집주인이 전세금 3억을 10억으로 올려달래. 법적으로 해결방법 알려줘"
PATIENCE = 30.0

# Textual waits in steps of 20 ms until nothing happens any more; half of a test's time was waiting.
_wait.SLEEP_GRANULARITY = 1 / 200


@dataclass
class Clock:
    """Seconds, as the test says."""

    now: float = 100.0

    def __call__(self) -> float:
        return self.now

    def rest(self, seconds: float = 1.0) -> None:
        self.now += seconds


class Unheard:
    """The keyboard of a guard that only tells the time: see `Keyboard`."""

    def kind_of(self, event: Typed) -> KeyKind:
        return KeyKind.OTHER

    def place(self) -> object:
        return None

    async def as_text(self, key: Key) -> bool:
        return False

    async def hand_on(self, event: Typed) -> None:
        raise AssertionError("nothing is typed here")

    def tell(self, why: BlockReason) -> None:
        raise AssertionError("nothing is typed here")

    def when_shown(self, callback: Callable[[], None]) -> None:
        callback()

    def set_timer(self, delay: float, callback: Callable[[], Awaitable[None]]) -> Timer:
        raise AssertionError("nothing is typed here")


STROKE = 0.1
"""Seconds between two keys of a person."""


def late_by(event: Typed, seconds: float) -> Typed:
    """Return a key that arrives so long after it was pressed, which no real time is: real ones are above zero."""
    event.time = -seconds
    return event


def lateness(event: Typed) -> float:
    """Return how late a test says that a key is; how busy the machine is doesn't count."""
    return max(0.0, -event.time)


class Typist(Pilot[int]):
    """Presses keys one by one as a person does, then waits as long as a key is held.

    Args:
        app: the console.
        clock: goes on with each key.
    """

    def __init__(self, app: HitlApp, clock: Clock) -> None:
        super().__init__(app)
        self._console = app
        self._clock = clock

    async def press(self, *keys: str) -> None:
        for key in keys:
            self._clock.rest(STROKE)
            await super().press(key)
        while self._console.guard.holding:
            self._clock.rest(ALONE_FOR)
            self._console.call_later(self._console.guard.release)
            await self.pause()


@dataclass
class Console:
    """The app, its pilot and its clock."""

    app: HitlApp
    pilot: Pilot[int]
    clock: Clock

    def __post_init__(self) -> None:
        self.pilot = Typist(self.app, self.clock)
        self.app.guard.lateness = lateness

    @property
    def session(self) -> SessionScreen:
        return next(s for s in self.app.screen_stack if isinstance(s, SessionScreen))

    @property
    def panel(self) -> QuestionPanel:
        return self.session.query_one(QuestionPanel)

    @property
    def prompt(self) -> Prompt:
        return self.app.screen.query_one(Prompt)

    @property
    def snapshot(self) -> Snapshot:
        handle = self.session.handle
        assert handle is not None
        return handle.session.snapshot

    @property
    def message(self) -> str:
        found = self.app.screen.query(MessageLine)
        return found.first().text if found else ""

    def status(self, todo_id: str) -> str:
        todo = self.snapshot.todo(todo_id)
        return todo.status.value if todo is not None else ""

    async def until(self, condition: Callable[[], object], what: str) -> None:
        """Wait for a condition of the screen."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + PATIENCE
        while not condition():
            assert loop.time() < deadline, f"never came: {what}; the message is {self.message!r}"
            await self.pilot.pause(0.01)
        await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def send(self, line: str) -> None:
        """Type a line and send it; wait until it was carried out."""
        self.prompt.focus()
        self.prompt.text = line
        await self.press("enter")

    async def asked(self, count: int = 1) -> None:
        """Wait until so many questions are open on the screen."""
        await self.until(lambda: self.shown() and len(self.panel.questions) == count, f"{count} questions")

    def shown(self) -> bool:
        return any(isinstance(s, SessionScreen) for s in self.app.screen_stack) and self.session.handle is not None

    async def to_question(self) -> None:
        """Go to the question and let the keyboard rest until keys decide; what it still waits for is drawn again."""
        if not self.panel.has_focus:
            await self.press("ctrl+g")
        assert self.panel.has_focus
        await self.until(lambda: self.panel.complete and self.rested(), "what is asked, as it stays")

    def rested(self) -> bool:
        """Let the keyboard rest; return whether a key decides then."""
        self.clock.rest()
        return not self.app.guard.remaining

    async def read_on(self) -> None:
        """Read the question to its end and let the keyboard rest."""
        while not self.panel.read:
            await self.press("pagedown")
        await self.until(self.rested, "that its end was seen")


@asynccontextmanager
async def console(
    data: Path,
    workspace: Path = EXAMPLE,
    *,
    query: str = "",
    session: str = "",
    mode: str = "",
    size: tuple[int, int] = (120, 40),
    trusted: bool = True,
    operator: Operator | None = None,
    reach: Callable[[str], RemoteReviews] | None = None,
) -> AsyncIterator[Console]:
    """Run the console without a terminal; a workspace with settings of its own was trusted before, unless told."""
    if trusted and workspace != EXAMPLE and (workspace / "hitl.toml").exists():
        trust_workspace(data, workspace)
    clock = Clock()
    by = operator.name if operator is not None else "ops"
    app = HitlApp(OpenOptions(data, workspace, session, mode, by, query, operator=operator, reach=reach), clock)
    async with app.run_test(size=size) as pilot:
        try:
            yield Console(app, pilot, clock)
        finally:
            await app.engine.close()


def streamed(c: Console) -> list[str]:
    """Return the lines of the stream pane."""
    return list(c.session.query_one(StreamPane).lines)


COMMANDS = """
[teams.command_team.commands.keep]
run = ["touch", "{file}"]
preview = ["ls", "-a", "."]
description = "Make a file."
parameters.file = { type = "string", default = "made" }
risk = "high"
"""


def command_workspace(folder: Path) -> Path:
    """Return a workspace with a risky command that has a preview."""
    folder.mkdir()
    for number in range(1, 7):  # found often enough that no further search is proposed
        text = f"# Cap {number}\n\nThe cap number {number} is {number} percent.\n"
        (folder / f"cap{number}.md").write_text(text, encoding="utf-8")
    (folder / "hitl.toml").write_text(COMMANDS, encoding="utf-8")
    return folder
