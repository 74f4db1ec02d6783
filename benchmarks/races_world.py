"""The console in this process: the real app on the real engine, drawing into an emulator, with a clock of its own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePath
from typing import Any, ClassVar

from textual import events
from textual.driver import Driver
from textual.geometry import Size
from textual.widgets import Input

from benchmarks.common import trusted
from benchmarks.races_judge import Decided, Pressed, Stood
from benchmarks.races_seen import Emulator, Ends, Text, digests_shown, squeezed
from hitl_tui.commands.handler import CommandHandler
from hitl_tui.console import app as console_app
from hitl_tui.console.app import HitlApp
from hitl_tui.console.dialogs.text_viewer import TextViewer
from hitl_tui.console.keyguard.guard import Typed
from hitl_tui.console.keyguard.keyboard import ConsoleKeyboard
from hitl_tui.console.screens.session_screen import SessionScreen
from hitl_tui.console.widgets.prompt_line import Prompt
from hitl_tui.console.widgets.question_panel import QuestionPanel
from hitl_tui.console.widgets.virtual_rows import Rows
from hitl_tui.core.events import utc_now
from hitl_tui.ledger.sqlite_ledger import SqliteLedger
from hitl_tui.supervisor.open_options import OpenOptions
from hitl_tui.terminal.textual_driver import TolerantParser

PERSON, OTHER = "ops", "ann"
PATIENCE = 30.0
FRAME = 1 / 60
# Keys that turn to another question; undo turns to what it brings back.
TURNS = ("down", "up", "j", "k", "ㅓ", "ㅏ", "0", "u", "ㅕ")
CONFIG = """
[teams.command_team.commands.keep]
run = ["touch", "{file}"]
preview = ["ls", "-a", "."]
description = "Make a file."
parameters.file = { type = "string", default = "made" }
risk = "high"

[teams.command_team.commands.soon]
run = ["touch", "{file}"]
description = "Make a file soon."
parameters.file = { type = "string", default = "made" }
risk = "medium"

[teams.command_team.commands.fail]
run = ["false", "{file}"]
description = "Fail."
parameters.file = { type = "string", default = "made" }
risk = "high"

[[policy]]
risk = "medium"
decision = "ask"
deadline = "1h"
on_deadline = "reject"
"""


def workspace(folder: Path) -> Path:
    """Make a workspace with commands that ask."""
    folder.mkdir(parents=True)
    for number in range(1, 7):  # found often enough that no further search is proposed
        text = f"# Cap {number}\n\nThe cap number {number} is {number} percent.\n"
        (folder / f"cap{number}.md").write_text(text, encoding="utf-8")
    (folder / "hitl.toml").write_text(CONFIG, encoding="utf-8")
    return folder


@dataclass
class Clock:
    """Real seconds, and those that a race lets pass at once: a person's pause needn't be waited for."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now + time.monotonic()


class SeenDriver(Driver):
    """Draws into an emulator, and reads what is typed through the console's own parser."""

    def __init__(self, app: Any, **options: Any) -> None:
        super().__init__(app, **options)
        self.parser = TolerantParser()
        self.seen: Callable[[str], None] = app.drawn
        self.columns, self.rows = options.get("size") or (80, 24)
        self.sent = 0

    def write(self, data: str) -> None:
        self.seen(data)

    def type(self, data: str) -> None:
        """Type; Esc is a key by itself here."""
        found = [events.Key("escape", "\x1b")] if data == "\x1b" else list(self.parser.feed(data))
        for event in found:
            self.sent += isinstance(event, (events.Key, events.Paste))
            self.process_message(event)

    def start_application_mode(self) -> None:
        self.resize(self.columns, self.rows)

    def resize(self, columns: int, rows: int) -> None:
        self.process_message(events.Resize(Size(columns, rows), Size(columns, rows)))

    def disable_input(self) -> None:
        pass

    def stop_application_mode(self) -> None:
        pass


@dataclass(frozen=True)
class Taken:
    """One key or paste, and where it went.

    Args:
        text: what it types; empty for a key that types nothing.
        key: its name; `paste` for a paste; `returned` for a line that nobody took and that is in the prompt again.
        field: id of the text field that took it; empty for none.
        focus: what had the focus: its id, or its class.
        line: the field itself where that is one line of a dialog.
        held: what stood in it before and stays, when the cursor stands after it.
    """

    text: str
    key: str
    field: str
    focus: str
    line: Input | None = None
    held: str = ""


class RaceKeyboard(ConsoleKeyboard):
    """The console's keyboard, telling where each key goes."""

    def __init__(self, app: RaceApp, clock: Clock) -> None:
        super().__init__(app, clock)
        self._race = app

    async def hand_on(self, event: Typed) -> None:
        """Follow where what was typed goes: what is held goes nowhere yet."""
        one = self._race.took(event)
        self._race.taken.append(one)
        await super().hand_on(event)
        if event in self.early:
            self._race.taken.remove(one)

    async def type_below(self, event: Typed) -> None:
        """Follow what a dialog leaves to the prompt below it."""
        self._race.taken.append(replace(self._race.took(event), field="prompt", line=None))
        await super().type_below(event)


class RaceApp(HitlApp):
    """The console, telling where each key goes."""

    CSS_PATH: ClassVar[list[str | PurePath]] = [Path(console_app.__file__).parent / path for path in HitlApp.CSS_PATH]

    def __init__(self, options: OpenOptions, clock: Clock, size: tuple[int, int]) -> None:
        self.emulator = Emulator(*size)
        self.stood = Stood()
        self.ends = Ends()
        self.replaced: list[str] = []
        """How a question took the place of one that is still asked, and nobody turned to it."""
        self._stands, self._looked = "", 0
        self.time = clock
        self.taken: list[Taken] = []
        self.came = 0
        self.over = ("", 0.0)
        """What kind of screen the last frame was of, and since when."""
        super().__init__(options, clock)
        self.keyboard = RaceKeyboard(self, clock)

    def drawn(self, data: str) -> None:
        """A frame."""
        self.emulator.feed(data)
        self.stood.saw(self.emulator.look(), self.time())
        self.ends.saw(self.stood.sight, self._text())
        self._look_for_another()
        over = type(self.screen).__name__ if self.screen_stack else ""
        if over != self.over[0]:
            self.over = over, self.time()

    def _look_for_another(self) -> None:
        before, self._stands = self._stands, self.stood.sight.digest or self._stands
        # What came since the last frame, and a burst that was on its way when that was drawn.
        fresh, self._looked = self.taken[max(0, self._looked - 20) :], len(self.taken)
        if self._stands == before:
            return
        session = next(s for s in self.screen_stack if isinstance(s, SessionScreen))
        asked = [q.digest[:8] for q in session.query_one(QuestionPanel).questions]
        turned = any(one.focus == "question" and one.key in TURNS for one in fresh)
        if before in asked and not turned:
            self.replaced.append(f"{self._stands} came in the place of {before}, which is still asked")

    def _text(self) -> Text:
        """What has to be read now, whole."""
        found = next((s for s in self.screen_stack if isinstance(s, SessionScreen) and s.is_mounted), None)
        panel = found.query_one(QuestionPanel) if found is not None else None
        if panel is None or panel.question is None:
            return Text()
        rows = panel.query_one(Rows)
        lines = [line.plain for line in rows._lines(max(1, rows.size.width))]
        whole = any(isinstance(screen, TextViewer) for screen in self.screen_stack)
        return Text(panel.question.digest[:8], squeezed(lines), squeezed([x for x in lines if x.strip()][-1:]), whole)

    @property
    def unread(self) -> bool:
        """The end of what the question says was never on the screen."""
        text = self._text()
        return bool(text.digest) and not self.ends.has(text)

    def get_driver_class(self) -> type[Driver]:
        return SeenDriver

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, (events.Key, events.Paste)) and not event.is_forwarded:
            await super().on_event(event)
            self.came += 1
        else:
            await super().on_event(event)

    def draft(self, text: str) -> None:
        """Put a line into the prompt: one that was sent and that nobody took is there again."""
        super().draft(text)
        if text and self.session_shown and self.session.query_one(Prompt).text == text:
            self.taken.append(Taken(text, "returned", "prompt", "returned", None, ""))

    def took(self, event: Typed) -> Taken:
        """Return what a key is, and where it goes."""
        focused = self.screen.focused
        if focused is None and not self.app_focus:
            focused = self._last_focused_on_app_blur  # what is typed brings the window's focus back
        if (focused is None or not focused.display) and isinstance(self.screen, SessionScreen):
            focused = self.screen.query_one(Prompt)  # what had it is gone: words are the prompt's
        name = (focused.id or type(focused).__name__) if focused is not None else ""
        over = type(self.screen).__name__
        where = f"{over}:{name}" if not isinstance(self.screen, SessionScreen) else name
        field_id = where if name in ("prompt", "words", "edit-task", "say") or name.startswith("field-") else ""
        line = focused if isinstance(focused, Input) and focused.cursor_position == len(focused.value) else None
        held = _unselected(line) if line is not None else ""
        if isinstance(event, events.Paste):
            return Taken(event.text, "paste", field_id, where, line, held)
        typed = event.character if event.is_printable and event.character else ""
        return Taken(typed, event.key, field_id, where, line, held)


@dataclass
class World:
    """The app, its clock, and what happens elsewhere."""

    app: RaceApp
    clock: Clock
    ledger: SqliteLedger
    pressed: list[Pressed] = field(default_factory=list)
    last: float = float("-inf")
    other: CommandHandler | None = None
    known: set[tuple[str, str]] = field(default_factory=set)
    tasks: set[asyncio.Task[Any]] = field(default_factory=set)

    @property
    def driver(self) -> SeenDriver:
        driver = self.app._driver
        assert isinstance(driver, SeenDriver)
        return driver

    @property
    def session(self) -> SessionScreen:
        return self.app.session

    @property
    def prompt(self) -> Prompt:
        return self.session.query_one(Prompt)

    @property
    def name(self) -> str:
        handle = self.session.handle
        assert handle is not None
        return handle.session.id

    async def until(self, condition: Callable[[], object], what: str) -> None:
        """Wait for something to be so."""
        loop = asyncio.get_running_loop()
        end = loop.time() + PATIENCE
        while not condition():
            if loop.time() > end:
                text = "\n".join(self.app.emulator.rows)
                raise TimeoutError(f"never came: {what}\n{text}")
            await asyncio.sleep(0.002)

    async def came(self) -> None:
        """Wait until what was typed has arrived: only then the clock may go on."""
        await self.until(lambda: self.app.came >= self.driver.sent, "the keys")

    @property
    def _behind(self) -> bool:
        """What stands on the screen is older than what the console knows."""
        screen = self.app.screen
        return bool(screen._layout_required or screen._dirty_widgets or screen._callbacks)

    async def drawn(self) -> None:
        """Wait until what the console knows stands on the screen."""
        frames = 0
        while frames < 2:
            frames = 0 if self._behind else frames + 1
            await asyncio.sleep(FRAME)

    async def still(self) -> None:
        """Let everything come to rest that needs no person."""
        quiet = 0
        while quiet < 3:
            before = (self.app.came, len(self.tasks), id(self.app.stood.sight))
            await asyncio.sleep(0.008)
            busy = self.app._driver is not None and self.app.came < self.driver.sent
            done = not self.tasks and not busy and not self._snapshot_busy() and not self.app.guard.holding
            quiet = quiet + 1 if done and before == (self.app.came, len(self.tasks), id(self.app.stood.sight)) else 0

    def _snapshot_busy(self) -> bool:
        handle = self.session.handle
        return handle is None or handle.session.snapshot.busy or bool(handle.session.snapshot.running)

    # What the person does ----------------------------------------------------------------------------------------

    def press(self, data: str, key: str, place: int, *, text: bool = False) -> None:
        """Type one key; `text` when it is part of one."""
        self._note(key, place, text=text)
        self.last = self.clock()
        self.driver.type(data)

    def click(self, column: int, row: int, place: int = 0) -> None:
        """Click on a cell, from 1."""
        self._note(f"click {column},{row}", place)
        self.driver.type(f"\x1b[<0;{column};{row}M")
        self.driver.type(f"\x1b[<0;{column};{row}m")

    def _note(self, key: str, place: int, *, text: bool = False) -> None:
        stood, screen = self.app.stood, self.app.screen
        sight = stood.sight
        # What stands there may be older than what the console knows: then its end isn't asked for, nor a frame that
        # shows the focus, which the key before this one may have moved.
        focused = sight.focused or (self._behind and isinstance(screen.focused, QuestionPanel))
        sight = replace(sight, focused=focused, more=not self._behind and (sight.more or self.app.unread))
        over, opened = self.app.over
        over = over if not isinstance(screen, SessionScreen) else ""
        self.pressed.append(Pressed(key, place, self.clock(), self.last, sight, stood.since, over, opened, text))

    def resize(self, columns: int, rows: int) -> None:
        self.app.emulator.resize(columns, rows)
        self.driver.resize(columns, rows)

    async def begin(self, query: str) -> None:
        """Take over the session that was begun with this query: somebody else commands in it from now on."""
        handle = self.session.handle
        assert handle is not None and handle.setup.info.title
        self.other = CommandHandler(handle.session, handle.setup.planner, by=OTHER, channel="cli")
        await self.until(lambda: handle.session.snapshot.concluded, f"the first step of {query!r}")
        await self.still()

    # What happens elsewhere --------------------------------------------------------------------------------------

    def elsewhere(self, line: str) -> None:
        """Somebody else gives a command, now."""
        assert self.other is not None
        self._begin(self.other.handle_command(line))

    def expire(self) -> None:
        """The deadline of what has one passes."""
        late = (datetime.now(UTC) + timedelta(hours=2)).isoformat()
        self._begin(self.ledger.expire(late, self.name))

    def _begin(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def decided(self) -> list[Decided]:
        """Return what the person at this console decided since the last call."""
        views = await self.ledger.requests(utc_now(), session=self.name, pending=False, limit=10_000)
        found = []
        for view in views:
            for one in view.decisions:
                name = (view.request.id, one.at)
                if one.channel == "console" and name not in self.known:
                    self.known.add(name)
                    found.append(Decided(view.request.id, one.verdict.value, one.digest, one.reason))
        return found


def _unselected(line: Input) -> str:
    """Return what stays in a line when something is typed: that takes the place of what is selected."""
    begin, end = sorted(line.selection)
    return line.value[:begin] + line.value[end:]


@asynccontextmanager
async def world(folder: Path, size: tuple[int, int] = (80, 24)) -> AsyncIterator[World]:
    """Run the console on a session whose first step was done, and end it."""
    clock = Clock()
    work = await trusted(folder / "data", workspace(folder / "work"))
    options = OpenOptions(folder / "data", work, "", "risk", PERSON, "The cap")
    app = RaceApp(options, clock, size)
    with digests_shown():
        running = asyncio.create_task(app.run_async(size=size))
        try:
            async with SqliteLedger.open(folder / "data" / "ledger.db") as ledger:
                found = World(app, clock, ledger)
                await found.until(lambda: app.session_shown and app.session.pending.is_set(), "the session")
                handle = found.session.handle
                assert handle is not None
                found.other = CommandHandler(
                    handle.session, handle.setup.planner, by=OTHER, channel="cli", terminal=True
                )
                await found.until(lambda: handle.session.snapshot.concluded, "the first step")
                await found.still()
                yield found
        finally:
            app.exit(0)
            await running
            await app.engine.close()
