"""How many sentences over invented teams of somebody's own are planned as they were meant.

    python -m benchmarks.team_sentences [--only e01,k02] [--save FILE]

The teams of `questions/teams.json`, functions and declared commands, are written into a folder that is trusted. Each
sentence begins a session of its own there, or is plain text in one that began with another. Nothing is carried out.

    meant             its teams, their arguments, what is missing and what comes after what are those expected
    wrong team        another step, one too many or one too few
    wrong argument    a value that wasn't said, isn't the one that was said, or stands where one is missing
    wrong order       a step depends on too much or too little
    nothing           no team of one's own is planned where one was meant

A parameter that has a default may be left out; one that is missing may hold nothing at all. Where no team fits, only
teams of one's own count.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import common
from hitl_tui.commands.handler import CommandHandler
from hitl_tui.core.errors import HitlError
from hitl_tui.core.policy import Mode
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.session_registry import SessionRegistry

SENTENCES = Path(__file__).resolve().parent / "questions" / "teams.json"
MEANT, WRONG_TEAM, WRONG_ARGUMENT, WRONG_ORDER, NOTHING = GRADES = (
    "meant",
    "wrong team",
    "wrong argument",
    "wrong order",
    "nothing",
)
_COMMANDS = "command_team"
_EMPTY = (None, "", [])


@dataclass(frozen=True)
class Expected:
    """One step as it was meant.

    Args:
        team: a team of one's own, or a built-in one, of which only its place counts.
        arguments: what was said.
        missing: parameters that nothing was said about and that have no default.
        after: numbers of the steps that it depends on, from 0.
    """

    team: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    after: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Sentence:
    """What somebody says, and the plan that they mean.

    Args:
        id: its name in the set.
        language: `en` or `ko`.
        kind: `named`, `unnamed`, `missing`, `pair`, `during` or `none`.
        say: their words.
        plan: what they mean; empty for no team of their own.
        first: what the session began with; empty where `say` begins it.
    """

    id: str
    language: str
    kind: str
    say: str
    plan: tuple[Expected, ...]
    first: str = ""


@dataclass(frozen=True)
class Step:
    """One step as it was planned."""

    id: str
    team: str
    arguments: Mapping[str, Any]
    after: tuple[str, ...] = ()


@dataclass(frozen=True)
class TeamSet:
    """The teams, the folder they are in, and the sentences.

    Args:
        files: texts by path.
        defaults: of each team's parameters that have one.
        sentences: what is said.
    """

    files: Mapping[str, str]
    defaults: Mapping[str, Mapping[str, Any]]
    sentences: tuple[Sentence, ...]

    @classmethod
    def read(cls, path: Path) -> TeamSet:
        """Read a set from its file."""
        given = json.loads(path.read_text(encoding="utf-8"))
        files = {name: list(lines) for name, lines in given["files"].items()}
        for team in given["teams"]:
            files.setdefault("hitl.toml", []).extend([*team["declared"], ""])
            files.setdefault(team["file"], []).extend(team["code"])
        sentences = tuple(
            Sentence(
                s["id"],
                s["language"],
                s["kind"],
                s["say"],
                tuple(
                    Expected(
                        step["team"],
                        step.get("arguments", {}),
                        tuple(step.get("missing", ())),
                        frozenset(step.get("after", ())),
                    )
                    for step in s["plan"]
                ),
                s.get("first", ""),
            )
            for s in given["sentences"]
        )
        texts = {name: "\n".join(lines) + "\n" for name, lines in files.items()}
        return cls(texts, {team["name"]: team["defaults"] for team in given["teams"]}, sentences)

    def build(self, folder: Path) -> None:
        """Write the folder."""
        for name, text in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class Graded:
    """One sentence, what was planned, what that is worth and what came in its place."""

    id: str
    language: str
    kind: str
    say: str
    grade: str
    why: str
    planned: tuple[Step, ...]


def grade(sentence: Sentence, steps: Sequence[Step], defaults: Mapping[str, Mapping[str, Any]]) -> tuple[str, str]:
    """Return what a plan is worth, and why.

    Args:
        sentence: what was meant.
        steps: what was planned, in order.
        defaults: values of parameters that have one, by team.
    """
    own = [step.team for step in steps if step.team in defaults]
    if not sentence.plan:
        return (WRONG_TEAM, f"{', '.join(own)} planned") if own else (MEANT, "")
    if not own:
        return NOTHING, ", ".join(step.team for step in steps) or "no plan"
    meant, planned = sorted(e.team for e in sentence.plan), sorted(step.team for step in steps)
    if meant != planned:
        return WRONG_TEAM, f"{', '.join(planned)} planned, not {', '.join(meant)}"
    found = [_graded(sentence.plan, chosen, defaults) for chosen in permutations(steps) if _fit(sentence.plan, chosen)]
    return min(found, key=lambda graded: (MEANT, WRONG_ORDER, WRONG_ARGUMENT).index(graded[0]))


def _fit(plan: Sequence[Expected], steps: Sequence[Step]) -> bool:
    return all(expected.team == step.team for expected, step in zip(plan, steps, strict=True))


def _graded(
    plan: Sequence[Expected], steps: Sequence[Step], defaults: Mapping[str, Mapping[str, Any]]
) -> tuple[str, str]:
    """Return what steps are worth that have the teams of a plan, one by one."""
    for expected, step in zip(plan, steps, strict=True):
        if expected.team in defaults and (wrong := _wrong_argument(expected, step, defaults[expected.team])):
            return WRONG_ARGUMENT, f"{step.team}: {wrong}"
    for number, step in enumerate(steps):
        needs = _reached(step.id, steps)
        if needs != {steps[n].id for n in _meant_before(number, plan)}:
            return WRONG_ORDER, f"{step.team} after {', '.join(sorted(needs)) or 'nothing'}"
    return MEANT, ""


def _wrong_argument(expected: Expected, step: Step, defaults: Mapping[str, Any]) -> str:
    """Return the first argument that isn't as it was meant; empty for none."""
    for name, value in expected.arguments.items():
        if not same(value, step.arguments.get(name, defaults.get(name))):
            return f"{name} is {step.arguments.get(name)!r}, not {value!r}"
    for name, value in step.arguments.items():
        if name in expected.missing and value not in _EMPTY:
            return f"{name} is {value!r}, and nobody said so"
        known = name in expected.arguments or name in expected.missing
        if not known and value is not None and not same(defaults.get(name), value):
            return f"{name} is {value!r}, and nobody said so"
    return ""


def same(meant: object, given: object) -> bool:
    """Return whether two values are the same: numbers by their value, truth values and texts as they are."""
    if isinstance(meant, list) and isinstance(given, list):
        return len(meant) == len(given) and all(map(same, meant, given))
    if isinstance(meant, bool) or isinstance(given, bool):
        return meant is given
    if isinstance(meant, int | float) and isinstance(given, int | float):
        return abs(meant - given) < 1e-9 * max(1.0, abs(meant))
    return type(meant) is type(given) and meant == given


def _reached(step_id: str, steps: Sequence[Step]) -> set[str]:
    """Return the ids of the steps, among these, that a step depends on, by way of others too."""
    by_id = {step.id: step for step in steps}
    found: set[str] = set()
    open_ids = [step_id]
    while open_ids:
        new = {name for name in by_id[open_ids.pop()].after if name in by_id} - found
        found |= new
        open_ids += new
    return found


def _meant_before(number: int, plan: Sequence[Expected]) -> set[int]:
    direct = plan[number].after
    return set(direct).union(*(_meant_before(n, plan) for n in direct))


def step_of(todo: SupervisorTodo) -> Step:
    """Return a TODO as it is judged: a declared command counts as a team."""
    given = dict(todo.arguments) or dict(todo.metadata.get("input_mapping", {}))
    team = todo.agent_name
    if team == _COMMANDS:
        team, given = str(given.get("command", team)), given.get("parameters", {})
    else:
        given = given.get("input", given)
    return Step(todo.id, team, given if isinstance(given, Mapping) else {"": given}, tuple(todo.dependencies))


async def plan(registry: SessionRegistry, folder: Path, sentence: Sentence) -> tuple[tuple[Step, ...], str]:
    """Return the steps that a sentence leads to, and what was said where there are none."""
    try:
        setup = await registry.create(sentence.first or sentence.say, folder, mode=Mode.STEP)
    except HitlError as error:
        return (), error.message
    async with open_session(registry.store, setup) as session:
        snapshot = await session.settled()
        before = {todo.id: todo for todo in snapshot.todos}
        said = ""
        if sentence.first:
            if not before:
                return (), "the session has no plan to add to"
            handler = CommandHandler(session, setup.planner, by="benchmark", channel="console", terminal=True)
            result = await handler.handle_command(sentence.say)
            said = result.message
            if proposal := result.data.get("proposal_id"):
                said = (await handler.handle_command(f"/proposal accept {proposal}")).message
            snapshot = await session.settled()
            now = {todo.id: todo.status for todo in snapshot.todos}
            if any(now.get(name, Status.SKIPPED) is Status.SKIPPED for name in before):
                return tuple(Step(name, f"without {todo.agent_name}", {}) for name, todo in before.items()), said
            new = tuple(step_of(todo) for todo in snapshot.todos if todo.id not in before)
        else:
            new = tuple(step_of(todo) for todo in snapshot.todos)
    return new, said or " ".join(snapshot.errors)


async def run(asked: TeamSet, root: Path, only: frozenset[str]) -> list[Graded]:
    """Plan all sentences in a folder of their own below an empty one."""
    folder, data = root / "company", root / "data"
    folder.mkdir()
    asked.build(folder)
    await common.trusted(data, folder)
    graded = []
    async with SessionRegistry.open(data, {}) as registry:
        for sentence in asked.sentences:
            if only and sentence.id not in only:
                continue
            steps, said = await plan(registry, folder, sentence)
            worth, why = grade(sentence, steps, asked.defaults)
            told = f"{why}; {said}" if said and worth == NOTHING else why
            graded.append(Graded(sentence.id, sentence.language, sentence.kind, sentence.say, worth, told, steps))
            print(f"{worth:14}  {sentence.id} {sentence.say}" + (f"  ({told})" if told else ""), flush=True)
    return graded


def show(graded: Sequence[Graded]) -> None:
    """Print how many are planned as meant, by kind and language."""
    rows = [_row("all", graded)]
    for key in ("kind", "language"):
        names = dict.fromkeys(getattr(g, key) for g in graded)
        rows += [_row(f"{key}: {name}", [g for g in graded if getattr(g, key) == name]) for name in names]
    common.show("Sentences over teams of one's own", ["", "sentences", *GRADES], rows)


def _row(name: str, graded: Sequence[Graded]) -> list[str]:
    count: Mapping[str, int] = Counter(g.grade for g in graded)
    return [name, str(len(graded)), *(str(count[g]) for g in GRADES)]


def main() -> None:
    """Plan, grade and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="ids of sentences, with commas")
    parser.add_argument("--save", type=Path, help="file for every plan, as JSON")
    given = parser.parse_args()
    print(common.machine())
    with common.scratch(None) as root:
        graded = asyncio.run(run(TeamSet.read(SENTENCES), root, frozenset(filter(None, given.only.split(",")))))
    if given.save:
        given.save.write_text(json.dumps([asdict(g) for g in graded], ensure_ascii=False, indent=1), encoding="utf-8")
    show(graded)


if __name__ == "__main__":
    main()
