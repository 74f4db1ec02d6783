"""One random race in this process: a person types while questions come, change, go and are answered by others."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from itertools import pairwise

from textual.widget import Widget
from textual.widgets import Input

from benchmarks.races_judge import ALONE, BURST, PAUSE, Pressed, place_of, wrong
from benchmarks.races_typed import (
    BURSTS,
    FILES,
    MOVES,
    NOTICES,
    OPENINGS,
    OTHERS,
    PASTES,
    RESTS,
    SIZES,
    WORDS,
    Outcome,
    file_name,
)
from benchmarks.races_world import Taken, World
from hitl_tui.console.widgets.prompt_line import Prompt

FRAMES = 0.1
"""Seconds by which what is on the screen may be ahead of what the console knows of it, or behind."""


class Race:
    """One race.

    Args:
        world: the console.
        dice: decides everything.
        number: of the race.
    """

    def __init__(self, world: World, dice: random.Random, number: int) -> None:
        self.world = world
        self.dice = dice
        self.out = Outcome(number)
        self._text = ""
        self._cursor = 0
        self._sent: list[str] = []
        self._words: list[str] = []
        self._lines: dict[Input, str] = {}
        self._reasons: list[str] = []
        self._seen = 0
        self._blurred = False
        self._steps: list[tuple[Callable[[], Awaitable[None]], int]] = [
            (self._types, 22), (self._answers, 20), (self._moves, 10), (self._elsewhere, 22), (self._rests, 10),
            (self._pastes, 4), (self._sends, 4), (self._clicks, 8), (self._leaves_window, 4), (self._resizes, 2),
            (self._attentive, 14), (self._hasty, 12), (self._talks, 6), (self._notice, 14), (self._bursts, 12),
            (self._composes, 4),
        ]  # fmt: skip

    async def run(self) -> Outcome:
        """Run it, bring everything to rest, and judge."""
        dice, world = self.dice, self.world
        if dice.random() < 0.12:
            await self._opens()
        before = len(world.prompt.past)
        self._seen = len(world.app.taken)
        world.pressed.clear()
        await world.decided()
        for __ in range(dice.randint(1, 3)):
            self._add()
        if dice.random() < 0.7:
            await world.still()
        steps, weights = zip(*self._steps, strict=True)
        for __ in range(dice.randint(5, 12)):
            await dice.choices(steps, weights)[0]()
            await self._breathe()
            self.follow()
        await world.still()
        if self._blurred:
            world.driver.type("\x1b[I")
            await world.still()
        self.follow()
        self._judge(await world.decided(), before)
        await self.tidy()
        return self.out

    # Steps -------------------------------------------------------------------------------------------------------

    async def _breathe(self) -> None:
        """Let the console work for a random while: nothing, some turns of its loop, or some milliseconds."""
        if self.dice.random() < 0.3:
            await self.world.came()
        elif self.dice.random() < 0.5:
            await asyncio.sleep(self.dice.random() * 0.03)
        else:
            for __ in range(self.dice.randint(0, 5)):
                await asyncio.sleep(0)

    async def _wait(self, seconds: float) -> None:
        """Time passes; what was typed arrived before, and in a pause what the console knows gets onto the screen."""
        await self.world.came()
        if seconds >= PAUSE / 2:
            await self.world.drawn()
        self.world.clock.now += seconds
        self.world.app.call_later(self.world.app.guard.lapse)

    def _press(self, data: str, key: str = "", *, text: bool = False) -> None:
        self.out.keys += 1
        self.world.press(data, key or ("space" if data == " " else data), place_of(data), text=text)

    async def _types(self) -> None:
        text = self.dice.choice(WORDS)
        burst = self.dice.random() < 0.4
        for character in text:
            self._press(character, text=len(text) > 1)
            if not burst:
                await self._wait(self.dice.choice((0.03, 0.08, 0.15)))
                if self.dice.random() < 0.3:
                    await asyncio.sleep(0)

    async def _answers(self) -> None:
        await self._wait(self.dice.choice(RESTS))
        self._press(self.dice.choice("1111aaㅁ44sㄴb3rㄱ2eㄷ90u 67"))

    async def _attentive(self) -> None:
        """Somebody who looks: to the question, reads it, rests, answers; sometimes it changes under the finger."""
        await self._goes_and_reads()
        world, dice = self.world, self.dice
        await self._wait(dice.choice((0.4, 0.5, 0.55, 1.0)))
        if dice.random() < 0.3:
            await self._elsewhere()
            await self._breathe()
            self._press(dice.choice("111aㅁ43"))
            return
        if dice.random() < 0.4:  # away and back: the question stands there all the while
            for data, key in (("\x1b", "escape"), dice.choice((("\x07", "ctrl+g"), ("\x1bOQ", "f2")))):
                self._press(data, key)
                await world.came()
                await world.drawn()
                await self._wait(dice.choice((0.05, 0.1, 0.2)))
        read = world.app.stood.read
        self._press(dice.choice("111aㅁ43"))
        key = world.pressed[-1]
        if key.at - read < PAUSE + FRAMES:
            return
        await self._wait(1.0)
        await world.still()
        for __ in range(300):  # a decision is written before the question goes
            if not self._asked_still(key):
                return
            await asyncio.sleep(0.01)
        self.out.missed.append(f"{key.key!r} at {key.at:.3f} was meant for {key.sight.digest}, which is asked still")

    def _asked_still(self, key: Pressed) -> bool:
        """Return whether what a key was meant for is asked as it was then, though that key had to count."""
        sight, now = key.sight, self.world.app.stood.sight
        since = max(key.since, key.opened)  # a dialog that was closed uncovered it: it counts as drawn again
        stood = sight.focused and not sight.more and key.at - since >= PAUSE and not key.dialog
        asked = bool(sight.digest) and now.digest == sight.digest and not now.over and not now.more
        return key.place == 1 and stood and asked

    async def _notice(self) -> None:
        """Somebody who looks at a question types words that begin with a key of it: none of them may be lost."""
        world, dice = self.world, self.dice
        await self._goes_and_reads()
        await self._wait(dice.choice((0.2, 0.6, 1.0)))
        began, text = len(world.app.taken), dice.choice(NOTICES)
        quick = dice.random() < 0.2
        if world.app.screen is not world.session or self._focus() not in ("question", "prompt"):
            return  # in a pane a character that means nothing is none
        for character in text:
            self._press(character, text=True)
            if not quick:
                await self._wait(dice.choice((0.04, 0.08, 0.12, 0.2, 0.25)))
        await world.still()
        got = "".join(one.text for one in world.app.taken[began:] if one.field == "prompt")
        times = [p.at for p in world.pressed[-len(text) :]]
        if any(after - before > ALONE for before, after in pairwise(times)):
            return  # the machine was so slow that a character stood alone
        if world.app.screen is world.session and got != text:
            self.out.lost.append(f"of {text!r}, typed at a question, the prompt got {got!r}")

    async def _bursts(self) -> None:
        """Something comes all at once, in one piece or in two."""
        world, dice = self.world, self.dice
        if dice.random() < 0.6:
            await self._goes_and_reads()
            if dice.random() < 0.5:
                self._press("\x1b", "escape")
            await self._wait(dice.choice((0.1, 0.6, 1.0)))
        text = dice.choice(BURSTS)
        cut = dice.randint(1, len(text)) if dice.random() < 0.3 and "\x1b" not in text else len(text)
        for number, part in enumerate(filter(None, (text[:cut], text[cut:]))):
            if number and world.clock() - world.last >= BURST:
                break  # the machine was so slow that the rest would come by itself, as keys that somebody means
            self.out.keys += 1
            world.press(part, "burst", 0, text=True)
            await asyncio.sleep(0.004)
        await self._wait(0.2)

    async def _composes(self) -> None:
        """An input method commits a syllable together with the key that ended it, at the prompt."""
        world = self.world
        if self._focus() != "prompt" or world.app.screen is not world.session:
            return
        await self._wait(0.3)
        self._press("안", text=True)
        await self._wait(self.dice.choice((0.1, 0.2)))
        if self._focus() != "prompt":
            return
        taken = len(world.app.taken)
        world.press("녕\r", "burst", 0, text=True)
        await self._wait(0.2)
        await world.still()
        returned = any(one.key == "returned" for one in world.app.taken[taken:])
        if self._focus() == "prompt" and world.prompt.text.strip() and not returned:
            self.out.lost.append(f"Enter ended a syllable and sent nothing: {world.prompt.text!r}")

    async def _opens(self) -> None:
        """Begin another session, and type on while it opens: all of that is in its prompt, nothing on the way."""
        world, dice, app = self.world, self.dice, self.world.app
        before, query, text = world.session.handle, "The cap", dice.choice(OPENINGS)
        self._press("\x0f", "ctrl+o")
        await world.until(lambda: app.screen is app.home, "the first screen")
        home = app.home.query_one(Prompt)
        if app.home.focused is not home:  # the list of sessions has it; `home.has_focus` knows so a turn later
            self._press("\x1b", "escape")
        await world.until(lambda: app.home.focused is home and home.has_focus, "its prompt")
        for data in (*query, "\r"):
            self._press(data, "enter" if data == "\r" else "", text=True)
            await self._wait(0.06)
        for character in text:
            await asyncio.sleep(dice.choice((0.0, 0.0, 0.002, 0.01, 0.05, 0.15)))
            self._press("\x0a" if character == "\n" else character, text=True)
            await self._wait(0.06)
        await world.until(lambda: world.session.handle not in (None, before), "the other session")
        await world.begin(query)
        self.out.opened += 1
        if world.prompt.text != text or home.text:
            said = f"{text!r} is in two places: {home.text!r} before, {world.prompt.text!r} there"
            self.out.lost.append(f"typed while a session opened, {said}")
        for prompt in (home, world.prompt):
            prompt.text = ""
        world.clock.now += 60

    async def _hasty(self) -> None:
        """Somebody who doesn't rest, to a question that was there or just comes."""
        if self.dice.random() < 0.5:
            await self._elsewhere()
        if self.dice.random() < 0.7:
            await self._goes_and_reads()
        for __ in range(self.dice.randint(1, 2)):
            await self._wait(self.dice.choice((0.0, 0.02, 0.1, 0.3, 0.45, 0.49)))
            self._press(self.dice.choice("111aㅁ4ㄴ9"))

    async def _talks(self) -> None:
        """Somebody who takes the question for the prompt and types words, eight keys a second or all at once."""
        await self._goes_and_reads()
        await self._wait(self.dice.choice((0.1, 0.5, 1.0)))
        pause = self.dice.choice((0.0, 0.125))
        for character in self.dice.choice("rewdl3257") + "eally good":
            self._press(character, text=True)
            await self._wait(pause)
        self._press(*self.dice.choice((("\r", "enter"), ("\x13", "ctrl+s"), ("\x1b[20~", "f9"))))

    async def _goes_and_reads(self) -> None:
        world = self.world
        await world.still()
        self.follow()
        self._compare()
        if world.app.stood.sight.digest and not world.app.stood.sight.focused:
            self._press("\x07", "ctrl+g")
            await world.came()
        for __ in range(4):
            await world.still()
            if not world.app.stood.sight.more:
                break
            self._press("\x1b[6~", "pagedown")

    async def _moves(self) -> None:
        pool = {**MOVES, **OTHERS} if self.dice.random() < 0.5 else {"\x07": "ctrl+g", "\x1b": "escape"}
        data = self.dice.choice(list(pool))
        if data in ("\x1b[A", "\x1b[5~", "\x0a", "\t"):
            await self.world.still()  # what was typed before may take the focus to the prompt
            if self._focus() in ("prompt", "words"):
                return  # history and completion change the text by themselves, and pages move the cursor in it
        self._press(data, pool[data])

    async def _elsewhere(self) -> None:
        """Something happens that isn't this person's doing."""
        world, dice = self.world, self.dice
        names = [q.todo_id for q in self._questions() if q.todo_id]
        what = dice.random()
        if what < 0.4 or not names:
            self._add()
        elif what < 0.6:
            world.elsewhere(f"/todo edit {dice.choice(names)} file={dice.choice(FILES)}{dice.randint(0, 99)}")
        elif what < 0.7:
            world.elsewhere(f"/todo approve {dice.choice(names)}")
        elif what < 0.8:
            world.elsewhere(f"/todo reject {dice.choice(names)} no")
        elif what < 0.85:
            world.elsewhere(f"/todo skip {dice.choice(names)}")
        elif what < 0.93:
            world.expire()
        else:
            world.elsewhere("analyse the cap as well")

    def _add(self) -> None:
        command = self.dice.choice(("keep", "keep", "soon", "soon", "fail"))
        more = self.dice.choice(("", " --priority critical", ""))
        self.world.elsewhere(f"/todo add command_team {command} file={file_name(self.dice)}{more}")

    def _questions(self) -> list[object]:
        handle = self.world.session.handle
        return list(handle.session.snapshot.questions) if handle is not None else []

    async def _rests(self) -> None:
        await self._wait(self.dice.choice(RESTS))

    async def _pastes(self) -> None:
        text = self.dice.choice(PASTES)
        self.world.press(f"\x1b[200~{text}\x1b[201~", "paste", 0, text=True)

    async def _sends(self) -> None:
        self._press("\r", "enter")

    async def _clicks(self) -> None:
        world, dice = self.world, self.dice
        await world.still()
        self.follow()
        sight, rows = world.app.stood.sight, world.app.emulator.rows
        self._compare()
        self._lines.clear()  # a click may move the cursor
        where = dice.random()
        if where < 0.35 and sight.places:
            number, column, row = dice.choice(sight.places)
            if dice.random() < 0.4:
                await self._wait(dice.choice(RESTS))
            world.click(column + 1, row, number)
        elif where < 0.6 and sight.digest:
            world.click(sight.box[0] + 3, sight.box[1] + 1)
        elif where < 0.75:
            world.click(20, 5)
        else:
            row = next((y for y, text in enumerate(rows, 1) if text.strip("│┃").startswith(" › ")), 0)
            if row:
                world.click(len(rows[0]) - 2, row)
        await world.still()
        self.follow()
        prompt = world.prompt
        row_of, column_of = prompt.cursor_location
        self._cursor = sum(len(line) + 1 for line in prompt.text.split("\n")[:row_of]) + column_of

    async def _leaves_window(self) -> None:
        """The window loses the focus, and perhaps a click brings it back."""
        world = self.world
        self._blurred = True
        world.driver.type("\x1b[O")
        await self._breathe()
        if self.dice.random() < 0.7:
            await self._wait(self.dice.choice(RESTS))
            if self.dice.random() < 0.5:
                await self._elsewhere()
            world.driver.type("\x1b[I")
            self._blurred = False
            if self.dice.random() < 0.5 and world.app.stood.sight.places:
                number, column, row = self.dice.choice(world.app.stood.sight.places)
                self._lines.clear()
                world.click(column + 1, row, number)
                await world.still()

    async def _resizes(self) -> None:
        await self.world.still()
        self.world.resize(*self.dice.choice(SIZES))

    # What became of it -------------------------------------------------------------------------------------------

    def _focus(self) -> str:
        focused: Widget | None = self.world.app.screen.focused
        return (focused.id or type(focused).__name__) if focused is not None else ""

    def follow(self) -> None:
        """Go through what arrived since the last time: a plain model of the prompt, and of who may move the focus."""
        app = self.world.app
        for number in range(self._seen, len(app.taken)):
            one = app.taken[number]
            self._model(one)
            before = app.taken[number - 1] if number > self._seen else None
            if before is not None and before.focus == "prompt" and one.focus == "question" and before.text:
                self.out.moved.append(f"after {before.text!r} the focus went from the prompt to the question")
            if one.text and not one.focus:
                self.out.lost.append(f"{one.text!r} went nowhere: nothing had the focus after {before}")
        self._seen = len(app.taken)

    def _model(self, one: Taken) -> None:
        if one.line is not None:
            self._model_line(one, one.line)
        if one.field != "prompt":
            return
        if one.key == "returned":
            self._text, self._cursor = one.text, len(one.text)
        elif one.key == "enter":
            if self._text.strip():
                self._sent.append(self._text.strip())
                self._text, self._cursor = "", 0
        elif one.key == "backspace":
            self._text = self._text[: max(0, self._cursor - 1)] + self._text[self._cursor :]
            self._cursor = max(0, self._cursor - 1)
        elif one.key == "ctrl+j":
            self._text = self._text[: self._cursor] + "\n" + self._text[self._cursor :]
            self._cursor += 1
        elif one.key == "ctrl+d":
            self._text = self._text[: self._cursor] + self._text[self._cursor + 1 :]
        elif one.text and (self._text or one.text.strip("\n")):
            self._text = self._text[: self._cursor] + one.text + self._text[self._cursor :]
            self._cursor += len(one.text)

    def _model_line(self, one: Taken, line: Input) -> None:
        """A line of a dialog: what is typed comes after what stood there; pasted lines become one."""
        known = self._lines.setdefault(line, one.held)
        if one.key == "enter":
            self._reasons.append(known.strip())
        if one.key == "backspace":
            self._lines[line] = known[:-1]
            return
        pasted = one.text.strip("\n") or one.text[:1]
        self._lines[line] = known + (pasted.replace("\n", " ") if one.key == "paste" else one.text)

    def _compare(self) -> None:
        """Compare the lines that a dialog still shows with what was typed into them."""
        for line, typed in self._lines.items():
            if line.is_attached and line.value != typed:
                self.out.lost.append(f"{line.id} has {line.value!r}, typed was {typed!r}")
                self._lines[line] = line.value

    def _judge(self, decided: list, before: int) -> None:  # type: ignore[type-arg]
        world = self.world
        self.out.decisions = len(decided)
        self.out.wrong += wrong(decided, world.pressed, self._sent)
        self._compare()
        self.out.moved += world.app.replaced
        world.app.replaced.clear()
        said = [one.said for one in decided if one.verdict == "reject" and one.said]
        self.out.lost += [f"the reason is {s!r}, typed were {self._reasons}" for s in said if s not in self._reasons]
        if world.prompt.text != self._text:
            self.out.lost.append(f"the prompt has {world.prompt.text!r}, typed was {self._text!r}")
        sent = [line for n, line in enumerate(self._sent) if n == 0 or line != self._sent[n - 1]]
        past = world.prompt.past[before:]
        if past != sent and past != sent[1:]:
            self.out.lost.append(f"sent were {past!r}, typed {sent!r}")

    async def tidy(self) -> None:
        """Leave nothing behind for the next race: no dialog, no question, an empty prompt that has the focus."""
        world = self.world
        world.resize(80, 24)
        for __ in range(6):
            await world.still()
            if world.app.screen is world.session:
                break
            self.world.driver.type("\x1b")
        for __ in range(8):
            for question in self._questions():
                name, kind = getattr(question, "name", ""), getattr(question, "kind", "")
                todo = getattr(question, "todo_id", "")
                world.elsewhere(f"/todo skip {todo}" if todo else f"/{kind} reject {name}".replace("/plan", "/plan"))
            await world.still()
            if not self._questions():
                break
        world.prompt.focus()
        world.prompt.text = ""
        world.clock.now += 60
        await world.still()
