"""Drawn sequences of deaths and of what people say in between, for a declared command and for a graph of others.

A seed gives how the starts of each effect end, where two or three processes die one after the other, what is cut off
their checkpoints' log, and what an operator says: again, retry, skip, stop, cancel, try anew, restore. Once the deaths
are over the operator takes the session to its end, looking at the world before each answer.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import crash_faults
from crash_faults import Faults, install
from crash_plan import FixedPlanner, planned
from crash_wal import cut_tail
from crash_words import unasked
from crash_world import World, served

from hitl_tui.commands.handler import CommandHandler
from hitl_tui.config.declared_commands import CommandDeclaration
from hitl_tui.config.declared_graphs import GraphDeclaration
from hitl_tui.core.errors import HitlError
from hitl_tui.core.plan import ExecutionPlan, ExecutionStep, Intent, Strategy
from hitl_tui.core.requests import Kind, Verdict
from hitl_tui.core.todos import Status
from hitl_tui.ledger.audit import verify
from hitl_tui.planning.proposals import Planned
from hitl_tui.supervisor.own_session import own_session
from hitl_tui.supervisor.session import Session
from hitl_tui.supervisor.session_follower import SessionFollower
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.session_setup import SessionSetup
from hitl_tui.supervisor.snapshot import Question, Snapshot
from hitl_tui.teams.command.team import CommandTeam

SESSION, TODO = "s1", "todo_001"
OWNER = "driver.pid"
"""File in a run's folder with the id of the process that has the session open."""
TARGETS = ("command", "graph")
FINISHED, STUCK, BROKEN = 0, 3, 4

_HERE = Path(__file__).parent
_EFFECTS = {"command": ("run",), "graph": ("left", "right", "pay")}
_PLACES = {
    "command": ("effect.run.before", "effect.run.after", "command.alive"),
    "graph": ("node.begun", "node.acted", "node.ended"),
}
_COMMON = ("effect.claimed", "effect.closed", "said.before", "said.after")


@dataclass(frozen=True, slots=True)
class Script:
    """One drawn sequence.

    Args:
        target: one of `TARGETS`.
        seed: what it was drawn from, and what the operator draws from.
        fates: by effect, how its starts end, in turn; `ok` for those after.
        deaths: the point at which each process dies; where it never comes to that, it dies when nothing is left to do.
        cut: by death, the part of the unsynced frames that stays; None cuts nothing.
        moves: how often the operator may do something that a plain operator wouldn't.
        words: what the operator says, in turn, where nothing is drawn: verdicts, and commands at rest.
    """

    target: str
    seed: int
    fates: dict[str, list[str]]
    deaths: tuple[str, ...]
    cut: tuple[float | None, ...]
    moves: int = 0
    words: tuple[str, ...] = ()


def drawn(target: str, seed: int) -> Script:
    """Return the sequence of a seed: two or three deaths."""
    chance = random.Random(f"{target} {seed}")
    fates = {
        effect: [chance.choices(("ok", "fail", "hang"), (4, 5, 1))[0] for _ in range(chance.randint(0, 3))]
        for effect in _EFFECTS[target]
    }
    deaths = tuple(_death(target, chance) for _ in range(chance.choice((2, 3))))
    cut = tuple(chance.choice((None, None, 0.0, chance.random())) for _ in deaths)
    return Script(target, seed, fates, deaths, cut, chance.randint(0, 5))


def _death(target: str, chance: random.Random) -> str:
    how = chance.random()
    if how < 0.4:
        return f"{chance.choice(_PLACES[target])}#{chance.choice((1, 1, 1, 2, 3))}"
    if how < 0.65:
        return f"{chance.choice(_COMMON)}#{chance.choice((1, 1, 2, 3))}"
    if how < 0.95:
        return f"any#{chance.randint(1, 160)}"
    return "never#1"


@dataclass(frozen=True, slots=True)
class Became:
    """What became of a sequence; see `crash_judge.Verdicts` for the words."""

    killed: tuple[str, ...]
    cut: int
    lost: tuple[str, ...]
    repeated: tuple[str, ...]
    damaged: tuple[str, ...]
    asked: int


def run_script(script: Script, root: Path, limit: int) -> Became:
    """Carry a sequence out in an empty folder; return what became of it."""
    world, cut, code = World(root), 0, -1
    with served(world):
        for number in range(len(script.deaths) + 1):
            last = number == len(script.deaths)
            code = _process(script, root, "" if last else script.deaths[number], limit)
            if code != -signal.SIGKILL:
                break
            stays = script.cut[number]
            if stays is not None:
                cut += cut_tail(root / "data" / "sessions" / SESSION / "checkpoints.db", stays, torn=stays > 0)
    killed = tuple(line["at"] for line in _lines(root / "kills.jsonl") if line["what"] == "killed")
    if code != FINISHED:
        return Became(killed, cut, (f"the session can't be finished: its process ended with {code}",), (), (), 0)
    return asyncio.run(_judged(root, killed, cut))


async def _judged(root: Path, killed: tuple[str, ...], cut: int) -> Became:
    async with SessionRegistry.open(root / "data", {}) as bench:
        entries = await bench.ledger.entries(SESSION, limit=100_000)
        damaged = [str(problem) for problem in (await verify(bench.ledger)).problems]
        async with SessionFollower.open(await bench.setup(SESSION)) as follower:
            end = follower.snapshot
    world = World(root)
    damaged += [f"{todo} went on while an earlier process of it was alive" for todo in world.overlaps()]
    done = {effect for _, effect in world.done()}
    trusted = any(
        e.kind == "decision" and e.data["decision"]["verdict"] in ("use_as_done", "skip", "reject", "stop")
        for e in entries
    )
    effects = _EFFECTS["graph" if end.todos[0].agent_name == "graph" else "command"]
    lost = [f"{t.id} is {t.status.value}" for t in end.todos if t.status not in (Status.COMPLETED, Status.SKIPPED)]
    if end.todos[0].status is Status.COMPLETED and not trusted:
        lost += [f"{TODO} is completed and never did {effect}" for effect in effects if effect not in done]
    asked = sum(e.kind == "request_opened" and e.data["request"]["kind"] == "effect" for e in entries)
    return Became(killed, cut, tuple(lost), unasked(world.lines(), entries), tuple(damaged), asked)


def _process(script: Script, root: Path, kill_at: str, limit: int) -> int:
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = BROKEN
    try:
        log = os.open(root / "driver.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)
        signal.alarm(limit + 10)
        (root / OWNER).write_text(str(os.getpid()), encoding="utf-8")
        os.environ |= {"CRASH_ROOT": str(root), "CRASH_FATES": json.dumps(script.fates)}
        code = asyncio.run(_drive(script, root, kill_at, limit))
    except BaseException:  # noqa: BLE001 - this process ends here; what it met is in its log
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


class TwoSteps(FixedPlanner):
    """Plans the command, and a step after it."""

    async def plan(self, query: str, agents: Any, feedback: str = "") -> Planned:
        first = ExecutionStep("command_team", "pay", id="pay", input_mapping={"command": "pay"}, retry_count=2)
        then = replace(first, task="after", id="after", dependencies=("pay",), input_mapping={"command": "after"})
        return Planned(Intent("crash", 1.0), ExecutionPlan((first, then), Strategy.PIPELINE))


async def _setup(bench: SessionRegistry, script: Script, root: Path) -> SessionSetup:
    workspace = root / "workspace"
    workspace.mkdir(exist_ok=True)
    graph = GraphDeclaration("graph", f"{_HERE / 'crash_sequence_graph.py'}:graph", str(_HERE))
    if SESSION in bench.data.ids():
        setup = await bench.setup(SESSION)
    else:
        given = {"graph": graph} if script.target == "graph" else {}
        setup = await bench.create('{"amount": 1}', workspace, session_id=SESSION, **given)  # type: ignore[arg-type]
    if script.target == "graph":
        return setup
    fates = ",".join(script.fates.get("run", []))
    program = (sys.executable, "-S", "-E", str(_HERE / "crash_fates.py"), str(World(root).socket))
    owner = str(root / OWNER)
    commands = {
        "pay": CommandDeclaration("pay", (*program, TODO, "run", fates, owner)),
        "after": CommandDeclaration("after", (*program, "todo_002", "run", "", owner)),
    }
    return planned(setup, {"command_team": CommandTeam(commands)}, TwoSteps())


async def _drive(script: Script, root: Path, kill_at: str, limit: int) -> int:
    faults = crash_faults.use(Faults(kill_at, root / "kills.jsonl", fine=True))
    install(faults)
    hanging = asyncio.Event()
    faults.on_alive = lambda todo: hanging.set()
    operator: Operator | None = None
    try:
        async with (
            asyncio.timeout(limit),
            SessionRegistry.open(root / "data", {}) as bench,
            own_session(await _setup(bench, script, root)) as session,
        ):
            operator = Operator(script, root, session, faults, hanging, last=not kill_at)
            await operator.play()
            return FINISHED
    except TimeoutError:
        if operator is not None:
            seen = operator.session.snapshot
            print("STUCK", {t.id: (t.status.value, t.attempt, t.asked, t.error) for t in seen.todos})
            print("asked", [(q.kind.value, q.id, q.view.resolution.outcome.value) for q in seen.questions])
            print("busy", seen.busy, "refused", [dict(r) for r in seen.refused])
        return STUCK


class Operator:
    """Who sits at the console: draws what to say, and writes it down so that the next one draws something else.

    Args:
        script: the sequence.
        root: folder of the run.
        session: what they look at.
        faults: where this process dies.
        hanging: set when a start may hang.
        last: nothing dies any more: take the session to its end.
    """

    def __init__(
        self, script: Script, root: Path, session: Session, faults: Faults, hanging: asyncio.Event, *, last: bool
    ) -> None:
        self.script = script
        self.session = session
        self.last = last
        self.world = World(root)
        self.hands = CommandHandler(session, session.setup.planner, by="ann", channel="crash", terminal=True)
        self._faults = faults
        self._hanging = hanging
        self._record = root / "said.jsonl"
        self._said = _lines(self._record)

    async def play(self) -> None:
        """Act until the session is at its end, or die."""
        while True:
            seen = self.session.snapshot
            if seen.busy:
                await self._look_again(seen)
            elif seen.questions:
                await self._answer(seen.questions)
            elif seen.at_rest:
                if not await self._move_at_rest(seen):
                    if self.last:
                        return
                    self._faults.die("at rest")
            elif not await self._hangs(seen):
                await self._look_again(seen)

    async def _look_again(self, seen: Snapshot) -> None:
        changed = asyncio.ensure_future(self.session.changed(seen))
        alive = asyncio.ensure_future(self._hanging.wait())
        try:
            await asyncio.wait({changed, alive}, return_when=asyncio.FIRST_COMPLETED)
            if changed.done():
                changed.result()
        finally:
            changed.cancel()
            alive.cancel()

    async def _hangs(self, seen: Snapshot) -> bool:
        """See whether a running start hangs; cancel it, or die while it does."""
        if not self._hanging.is_set():
            return False
        self._hanging.clear()
        begun = self.world.begun()
        running = [t.id for t in seen.todos if t.status is Status.IN_PROGRESS]
        hung = [e for (t, e), n in begun.items() if t in running and self._fate(e, n) == "hang"]
        if not hung:
            return False
        if not self.last and not self._word and self._chance().random() < 0.4:
            self._faults.die("while it hangs")
        return await self._say(f"/todo cancel {running[0]}")

    def _fate(self, effect: str, number: int) -> str:
        fates = self.script.fates.get(effect, [])
        return fates[number - 1] if 0 < number <= len(fates) else "ok"

    @property
    def _word(self) -> str:
        """What is to be said next; empty when that is drawn."""
        words = self.script.words
        return words[len(self._said)] if len(self._said) < len(words) else ""

    def _chance(self) -> random.Random:
        return random.Random(f"{self.script.seed} {len(self._said)}")

    @property
    def _left(self) -> int:
        return 0 if self.last else self.script.moves - sum(bool(line.get("move")) for line in self._said)

    def _write(self, what: str, *, move: bool = False) -> None:
        line = {"said": what, "move": move}
        self._said.append(line)
        with self._record.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    async def _move_at_rest(self, seen: Snapshot) -> bool:
        """Take up again what ended, now and then though it ended well; return False when nothing is to be done."""
        todo = seen.todos[0]
        chance = self._chance()
        if self._word.startswith("/"):
            return await self._say(self._word)
        if self._left > 0:
            if chance.random() < 0.4:
                found = [c for c in await self.session.checkpoints(1000) if c.waiting]
                if found:
                    return await self._say(f"/checkpoint restore {chance.choice(found).checkpoint_id}", move=True)
            if todo.status in (Status.COMPLETED, Status.FAILED, Status.SKIPPED):
                return await self._say(f"/todo update {todo.id} pending", move=True)
        undone = [t.id for t in seen.todos if t.status is Status.FAILED]
        return await self._say(f"/todo update {undone[0]} pending") if self.last and undone else False

    async def _say(self, line: str, *, move: bool = False) -> bool:
        self._write(line, move=move)
        self._faults.point("said.before")
        result = await self.hands.handle_command(line)
        self._faults.point("said.after")
        if result.failed:
            print("refused", line, result.to_dict())
        return not result.failed

    async def _answer(self, questions: Sequence[Question]) -> None:
        chance = self._chance()
        question = questions[0] if self.script.words else chance.choice(list(questions))
        verdict, value = await self._verdict(question, chance)
        plain = verdict in (Verdict.APPROVE, Verdict.RESPOND, Verdict.RETRY, Verdict.DO_AGAIN)
        self._write(f"{question.kind.value} {verdict.value}", move=not plain)
        self._faults.point("said.before")
        try:
            await self.hands.decide(question, verdict, value=value)
        except HitlError as error:
            print("refused", question.kind, question.todo_id, error.message)
            await asyncio.sleep(0)
        self._faults.point("said.after")

    async def _verdict(self, question: Question, chance: random.Random) -> tuple[Verdict, Any]:
        if self._word:
            value = {"amount": 5} if self._word == Verdict.RESPOND else None
            return Verdict(self._word), value
        free = self._left > 0 and chance.random() < 0.35
        if question.kind is Kind.EFFECT:
            await self.world.settle()
            options = [Verdict(o) for o in question.view.request.options]
            if free:
                return chance.choice(options), None
            if self.last and Verdict.USE_AS_DONE in options and self.world.done()[question.todo_id, "run"]:
                return Verdict.USE_AS_DONE, None
            return Verdict.DO_AGAIN, None
        if question.kind is Kind.INTERRUPT:
            return Verdict.RESPOND, {"amount": 5}
        if question.kind is Kind.FAILURE:
            return (chance.choice((Verdict.SKIP, Verdict.STOP)) if free else Verdict.RETRY), None
        return (Verdict.SKIP if free and chance.random() < 0.5 else Verdict.APPROVE), None


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
