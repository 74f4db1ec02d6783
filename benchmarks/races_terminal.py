"""Random races with the program itself, in a pseudo-terminal and in real time, while another process answers too."""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.common import trusted
from benchmarks.races_judge import PAUSE, Decided, wrong
from benchmarks.races_program import COLUMNS, ROWS, Program
from benchmarks.races_typed import BURSTS, FILES, NOTICES, PASTES, WORDS, Outcome, file_name
from benchmarks.races_world import OTHER, workspace
from hitl_tui.commands.handler import CommandHandler
from hitl_tui.core.events import utc_now
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.session_registry import SessionRegistry

SIZES = ((80, 24), (100, 30), (120, 40), (90, 20))
# Clearly too soon, and clearly late enough: what lies between depends on how long a byte takes.
SOON, LATE = (0.0, 0.05, 0.15, 0.3), (0.8, 1.0)
PER_PROGRAM = 10


class Terminal:
    """Races in one program.

    Args:
        program: the console.
        other: what somebody else commands, in this process.
        bench: whose ledger has the record.
    """

    def __init__(self, program: Program, other: CommandHandler, bench: SessionRegistry) -> None:
        self.program = program
        self.other = other
        self.bench = bench
        self.known: set[tuple[str, str]] = set()
        self.tasks: set[asyncio.Future[object]] = set()
        self.names: list[str] = []

    async def run(self, dice: random.Random, number: int) -> Outcome:
        """Run one race, and judge."""
        out = Outcome(number)
        self.program.pressed.clear()
        await self.decided()
        for __ in range(dice.randint(1, 3)):
            self.command(f"/todo add command_team {dice.choice(('keep', 'soon'))} file={file_name(dice)}")
        if dice.random() < 0.6:
            # What the race before pressed last may have opened a dialog only now.
            await self.program.until(lambda: self.program.dialog or self.program.stood.sight.digest, "a question")
            await self.back()
        steps = {
            self.types: 24, self.answers: 20, self.attentive: 16, self.elsewhere: 20, self.moves: 10, self.pastes: 4,
            self.window: 6, self.resizes: 5, self.notice: 10, self.bursts: 8,
        }  # fmt: skip
        for __ in range(dice.randint(5, 9)):
            await dice.choices(list(steps), list(steps.values()))[0](dice, out)
        await self.rest()
        await self.program.still()
        decided = await self.decided()
        out.decisions = len(decided)
        out.wrong += wrong(decided, self.program.pressed)
        out.keys = len(self.program.pressed)
        await self.tidy()
        return out

    # Steps -------------------------------------------------------------------------------------------------------

    async def types(self, dice: random.Random, out: Outcome) -> None:
        """Type words, while something may happen, and see that they are where the focus was."""
        program = self.program
        await self.back()
        last = program.pressed[-1] if program.pressed else None
        held = last.key if last is not None and len(last.key) == 1 and time.monotonic() - last.at < PAUSE else ""
        before, began = program.written, program.stood.sight.focused
        text, burst = dice.choice(WORDS), dice.random() < 0.5
        if dice.random() < 0.4:
            await self.elsewhere(dice, out)
        for character in text:
            program.press(character)
            if not burst:
                await asyncio.sleep(dice.choice((0.0, 0.03, 0.08)))
        await self.rest()
        self.compare(out, before, text, began, held)

    def compare(self, out: Outcome, before: str, text: str, began: bool, held: str) -> None:
        """Compare what the prompt shows with what was typed into it, after a key that may have waited for it."""
        program = self.program
        if program.dialog:
            return  # a key opened it: what was typed after is its own
        now, ends = program.written, program.stood.sight.focused
        if not began and not ends:
            right = {(before + text).rstrip()}
        elif began and ends:
            right = {before}
        else:  # the last question went while this was typed: what came after it is the prompt's
            right = {(before + all_of[n:]).rstrip() for all_of in (text, held + text) for n in range(len(all_of) + 1)}
        if now not in right:
            out.lost.append(f"the prompt shows {now!r}; before {before!r}, typed {text!r}")
        if not began and ends:
            out.moved.append(f"typing {text!r} the focus went to the question")

    async def back(self) -> None:
        """Close what lies over the session, and empty a prompt that grew long."""
        program = self.program
        await program.still()
        for __ in range(4):
            if not program.dialog:
                break
            program.press("\x1b", "escape")
            await self.rest()
        if len(program.written) > 50 and not program.stood.sight.focused:
            await self.empty()

    async def empty(self) -> None:
        program = self.program
        for __ in range(12):
            if not program.written:
                return
            program.write("\x15\x7f")
            await self.rest()

    async def rest(self) -> None:
        """Wait until what was typed is seen."""
        await asyncio.sleep(0.12)
        await self.program.still()

    async def answers(self, dice: random.Random, out: Outcome) -> None:
        await asyncio.sleep(dice.choice((*SOON, *SOON, *LATE)))
        if self.program.stood.sight.focused:  # elsewhere they are words, and `types` types those
            self.program.press(dice.choice("111aaㅁ44sㄴ39"))
            if dice.random() < 0.5:
                await asyncio.sleep(0.5)  # else the next step's first character makes it a word

    async def attentive(self, dice: random.Random, out: Outcome) -> None:
        """Somebody who looks: to the question, reads it, rests, answers."""
        program = self.program
        await self.back()
        if not program.stood.sight.digest:
            return
        if not program.stood.sight.focused:
            program.press("\x07", "ctrl+g")
            await self.rest()
        for __ in range(4):
            if not program.stood.sight.more:
                break
            program.press("\x1b[6~", "pagedown")
            await self.rest()
        await asyncio.sleep(dice.choice(LATE))
        program.press(dice.choice("111aㅁ4"))
        await self.rest()

    async def notice(self, dice: random.Random, out: Outcome) -> None:
        """Type words that begin with a key of a question, at one, as fast as a person."""
        program = self.program
        await self.back()
        if not program.stood.sight.digest:
            return
        if not program.stood.sight.focused:
            program.press("\x07", "ctrl+g")
            await self.rest()
        await asyncio.sleep(dice.choice((0.0, 0.3, 0.8)))
        for character in dice.choice(NOTICES):
            program.press(character, text=True)
            await asyncio.sleep(dice.choice((0.04, 0.08, 0.15)))
        await self.rest()

    async def bursts(self, dice: random.Random, out: Outcome) -> None:
        """Something comes all at once without the marks of a paste; nothing of it is sent."""
        program = self.program
        await self.back()
        await asyncio.sleep(0.6)
        program.press(dice.choice(BURSTS), "burst", text=True)
        await self.rest()
        if not program.stood.sight.focused and not program.dialog:
            await self.empty()

    async def moves(self, dice: random.Random, out: Outcome) -> None:
        program = self.program
        await self.back()
        before = program.written
        data, key = dice.choice((("\x07", "ctrl+g"), ("\x1b", "escape"), ("\x04", "ctrl+d"), ("\r", "enter")))
        if key == "enter" and not program.stood.sight.focused:
            program.press(data, key)
            await self.rest()
            if before and program.written:
                out.lost.append(f"{before!r} was sent, and the prompt shows {program.written!r}")
            return
        program.press(data, key)
        await self.rest()

    async def pastes(self, dice: random.Random, out: Outcome) -> None:
        program = self.program
        await self.back()
        before, began = program.written, program.stood.sight.focused
        text = dice.choice(PASTES).rstrip("\n")
        program.press(f"\x1b[200~{text}\x1b[201~", "paste")
        await self.rest()
        if not began and not program.stood.sight.focused and not program.dialog and program.written != before + text:
            out.lost.append(f"the prompt shows {program.written!r}; before {before!r}, pasted {text!r}")
        if "\n" in text and not program.stood.sight.focused:
            await self.empty()

    async def window(self, dice: random.Random, out: Outcome) -> None:
        """Leave the window; something happens; a click brings it back."""
        program = self.program
        program.write("\x1b[O")
        await self.elsewhere(dice, out)
        await asyncio.sleep(dice.choice((0.05, 0.3, 1.0)))
        program.write("\x1b[I")
        if program.stood.sight.places:
            number, column, row = dice.choice(program.stood.sight.places)
            program.click(column + 1, row, number)
        await self.rest()

    async def resizes(self, dice: random.Random, out: Outcome) -> None:
        """Several sizes at once; the last one stays. What the prompt shows stays, too."""
        program = self.program
        await self.back()
        before = program.written
        for size in dice.choices(SIZES, k=dice.randint(1, 6)):
            program.resize(*size)
        await self.rest()
        rows = program.emulator.rows
        corners = [row for row in rows if len(row.rstrip()) == size[0] and row.rstrip()[-1] in "┓╮"]
        if not (rows[-1].strip() and corners) and not program.dialog:
            out.lost.append(f"what is drawn isn't as large as the screen, {size}: {rows[0]!r} … {rows[-1]!r}")
        if program.written != before:
            out.lost.append(f"the prompt shows {program.written!r}; before another size {before!r}")

    async def elsewhere(self, dice: random.Random, out: Outcome) -> None:
        """Something happens that isn't this person's doing."""
        asked = await self.bench.ledger.requests(utc_now(), session="s1", pending=True)
        names = [v.request.todo_id for v in asked if v.request.todo_id]
        what = dice.random()
        if what < 0.4 or not names:
            self.command(f"/todo add command_team {dice.choice(('keep', 'soon'))} file={dice.choice(FILES)}")
        elif what < 0.65:
            self.command(f"/todo edit {dice.choice(names)} file={dice.choice(FILES)}{dice.randint(0, 99)}")
        elif what < 0.92:
            word = dice.choice(("approve", "reject", "skip"))
            self.command(f"/todo {word} {dice.choice(names)}")
        else:
            late = (datetime.now(UTC) + timedelta(hours=2)).isoformat()
            self._begin(self.bench.ledger.expire(late, "s1"))

    def command(self, line: str) -> None:
        self._begin(self.other.handle_command(line))

    def _begin(self, work: object) -> None:
        task = asyncio.ensure_future(work)  # type: ignore[call-overload]
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    # What became of it -------------------------------------------------------------------------------------------

    async def decided(self) -> list[Decided]:
        """Return what the person decided since the last call."""
        found = []
        for view in await self.bench.ledger.requests(utc_now(), session="s1", pending=False, limit=10_000):
            for one in view.decisions:
                name = (view.request.id, one.at)
                if one.channel == "console" and name not in self.known:
                    self.known.add(name)
                    found.append(Decided(view.request.id, one.verdict.value, one.digest, one.reason))
        return found

    async def tidy(self) -> None:
        """Leave nothing behind for the next race."""
        program = self.program
        program.resize(COLUMNS, ROWS)
        await self.back()
        for __ in range(12):
            asked = await self.bench.ledger.requests(utc_now(), session="s1", pending=True)
            if not asked and not program.stood.sight.digest:
                break
            for view in asked:
                kind, todo = view.request.kind.value, view.request.todo_id
                await self.other.handle_command(f"/todo skip {todo}" if todo else f"/{kind} reject")
            await asyncio.sleep(0.3)
        if program.stood.sight.focused:
            program.press("\x1b", "escape")
        await self.rest()
        await self.empty()


@asynccontextmanager
async def terminal(folder: Path) -> AsyncIterator[Terminal]:
    """Run the program on a session whose first step was done, with somebody else in this process, and end it."""
    program = Program(folder / "data", await trusted(folder / "data", workspace(folder / "work")))
    try:
        await program.until(lambda: "✓ finished" in program.screen, "the first step")
        async with (
            SessionRegistry.open(folder / "data") as bench,
            open_session(bench.store, await bench.setup("s1")) as face,
        ):
            planner = (await bench.setup("s1")).planner
            yield Terminal(program, CommandHandler(face, planner, by=OTHER, channel="cli", terminal=True), bench)
    finally:
        asyncio.get_running_loop().remove_reader(program.child.fd)
        program.child.terminate(force=True)


async def through_terminal(seed: str, numbers: Iterable[int]) -> list[Outcome]:
    """Run races in pseudo-terminals, some in one program.

    Args:
        seed: with a race's number, decides what happens in it; how long things take is the machine's doing.
        numbers: the races.
    """
    todo, found = list(numbers), []
    for start in range(0, len(todo), PER_PROGRAM):
        with tempfile.TemporaryDirectory(prefix="races-") as folder:
            async with terminal(Path(folder)) as there:
                for number in todo[start : start + PER_PROGRAM]:
                    found.append(await there.run(random.Random(f"terminal/{seed}/{number}"), number))
    return found
