"""How many questions about folders that nobody of the project wrote are answered right.

    python benchmarks/answers.py benchmarks/questions/a.json FOLDER [--only a01,a02] [--save FILE]
        [--model openai:gpt-5-mini [--base-url URL]]

Each question is asked in a session of its own, a follow-up in that of the one before it; as in the console the folder
is indexed ahead. Whatever asks is approved, and where a choice is offered what it proposes is taken: none of it. With a
model it plans, proposes and writes the answers; its key is in the environment.
What counts is the headline, the first section of the answer:

    right      it says what is expected; of a passage it is enough that the first place it names is one of the sources
    partly     what is expected stands further down
    wrong      it says something else, or something where the folder has no answer
    nothing    it says that nothing was found although there is an answer
    honest     it says so, and there is none
    failed     the model gave no answer

A second table sets what an answer says of itself (found, something near, nothing) beside what it is worth.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import common
from benchmarks.question_sets import Question, QuestionSet, build, holds
from hitl_tui.commands.handler import CommandHandler
from hitl_tui.core.errors import BadInput, HitlError, MissingExtra, PlanError
from hitl_tui.core.interrupts.shape import APPROVE, RESPOND
from hitl_tui.core.policy import Mode
from hitl_tui.core.requests import Verdict
from hitl_tui.models.failures import ModelFailure
from hitl_tui.planning.model_planner import Impossible
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.snapshot import Snapshot
from hitl_tui.teams.search.search_report import NEARBY

RIGHT, PARTLY, WRONG, NOTHING, HONEST, FAILED = "right", "partly", "wrong", "nothing", "honest", "failed"
GRADES = (RIGHT, HONEST, PARTLY, WRONG, NOTHING, FAILED)
FOUND, NEAR, NOT_FOUND = "found", "near", "not here"
_APPROVALS = 8
_PLACE = re.compile(r"([^\s`(]+?)(?: p\.\d+)?:(\d+)")
_CITED = ("passage", "followup")


@dataclass(frozen=True)
class Graded:
    """One question, what was answered, and what that is worth; the last of a session has what its model used."""

    id: str
    folder: str
    language: str
    kind: str
    question: str
    grade: str
    said: str
    seconds: float
    answer: str
    plan: tuple[str, ...]
    tokens: int = 0
    cost: float = 0.0


def headline(text: str) -> str:
    """Return the first section of an answer."""
    head = re.split(r"^#+ .*$", text.strip(), flags=re.MULTILINE)
    return next((part.strip() for part in head if part.strip()), "")


def grade(question: Question, text: str, *, found: bool) -> str:
    """Return what an answer is worth.

    Args:
        question: what was asked.
        text: the answer.
        found: it rests on something that was found or computed.
    """
    if question.kind == "none":
        return WRONG if found else HONEST
    head = headline(text)
    if found and all(holds(head, group) for group in question.any):
        return RIGHT
    place = _PLACE.search(head)
    if found and question.kind in _CITED and place and _is_source(question, place[1], int(place[2])):
        return RIGHT
    if not found:
        return NOTHING
    return PARTLY if all(holds(text, group) for group in question.any) else WRONG


def said(text: str, *, found: bool) -> str:
    """Return what an answer says of itself: found, something near, or not in these documents."""
    if not found:
        return NOT_FOUND
    return NEAR if any(words in headline(text) for words in NEARBY) else FOUND


def _is_source(question: Question, path: str, line: int) -> bool:
    for source in question.sources:
        if source.path.endswith("/") and path.startswith(source.path):
            return True
        if path == source.path and (not source.first or source.first <= line <= source.last):
            return True
    return False


def rests(snapshot: Snapshot) -> bool:
    """Return whether the answer of a session rests on something: a citation, or a figure that was computed."""
    return bool((snapshot.response or {}).get("citations"))


async def ask(registry: SessionRegistry, folder: Path, first: Question, more: Sequence[Question]) -> list[Graded]:
    """Ask a question and what goes on from it, one after the other."""
    began = time.perf_counter()
    try:
        setup = await registry.create(first.text, folder, mode=Mode.RISK)
    except Impossible as error:  # the model says that no agent can answer it
        return [_without_plan(first, grade(first, "", found=False), error, began)]
    except (ModelFailure, PlanError) as error:
        return [_without_plan(first, FAILED, error, began)]
    graded = []
    async with open_session(registry.store, setup) as session:
        handler = CommandHandler(session, setup.planner, by="benchmark", channel="console", terminal=True)
        for question in (first, *more):
            before = str((session.snapshot.response or {}).get("text", ""))
            known = len(session.snapshot.todos) if question.after else 0
            if question.after:
                await handler.handle_command(question.text)
            snapshot = await session.settled()
            for _ in range(_APPROVALS):
                if not snapshot.questions:
                    break
                asks = snapshot.questions[0]
                if asks.shape and asks.shape.options:  # which of some queries is meant: none of them, the last option
                    await handler.answer(asks, asks.shape.options[-1].value, RESPOND)
                elif asks.shape and (proposed := asks.shape.action(APPROVE)):
                    await handler.answer(asks, proposed.wants.present, APPROVE)
                else:
                    await handler.decide(asks, Verdict.APPROVE)
                snapshot = await session.settled()
            text = str((snapshot.response or {}).get("text", ""))
            new = text if not question.after else text.replace(before, "") if text != before else ""
            plan = tuple(f"{todo.agent_name}: {todo.name}" for todo in snapshot.todos[known:])
            found = bool(new) and rests(snapshot)
            graded.append(
                Graded(
                    question.id,
                    question.folder,
                    question.language,
                    question.kind,
                    question.text,
                    grade(question, new, found=found),
                    said(new, found=found),
                    round(time.perf_counter() - began, 2),
                    new,
                    plan,
                )
            )
            began = time.perf_counter()
        if setup.model is not None:
            used = (await setup.model.spending()).total
            graded[-1] = replace(graded[-1], tokens=used.tokens, cost=used.cost)
    return graded


def _without_plan(question: Question, grade: str, error: HitlError, began: float) -> Graded:
    seconds = round(time.perf_counter() - began, 2)
    about = (question.id, question.folder, question.language, question.kind, question.text)
    return Graded(*about, grade, NOT_FOUND, seconds, error.message, ())


async def run(
    asked: QuestionSet, folders: Path, data: Path, only: frozenset[str], environ: Mapping[str, str]
) -> list[Graded]:
    """Ask all questions, folder by folder.

    Args:
        asked: the questions.
        folders: where their folders are.
        data: the data folder.
        only: ids of those that are asked; empty for all.
        environ: which model, and its key; empty for none.
    """
    graded = []
    prepared = set[str]()
    after: dict[str, list[Question]] = {}
    for question in asked.questions:
        after.setdefault(question.after, []).append(question)
    async with SessionRegistry.open(data, environ) as registry:
        for first in after[""]:
            more, last = [], first
            while following := after.get(last.id):
                last = following[0]
                more.append(last)
            if only and not only & {first.id, *(q.id for q in more)}:
                continue
            if first.folder not in prepared:
                prepared.add(first.folder)
                await registry.prepare(folders / first.folder, lambda share: None)
            done = await ask(registry, folders / first.folder, first, more)
            graded += done
            for one in done:
                print(f"{one.grade:8} {one.seconds:6.1f} s  {one.id} {one.question}", flush=True)
    return graded


def show(graded: Sequence[Graded]) -> None:
    """Print how many are right, by kind, language and folder."""
    rows = [_row("all", graded)]
    for key in ("kind", "language", "folder"):
        rows += [_row(f"{key}: {name}", [g for g in graded if getattr(g, key) == name]) for name in _names(graded, key)]
    saying = [_row(name, [g for g in graded if g.said == name]) for name in (FOUND, NEAR, NOT_FOUND)]
    common.show("Answers", ["", "questions", *GRADES, "right %", "wrong %"], rows)
    common.show("What they say", ["says", "answers", *GRADES, "right %", "wrong %"], saying)
    if tokens := sum(g.tokens for g in graded):
        print(f"The model used {tokens:,} tokens, ${sum(g.cost for g in graded):.2f} as far as prices are known.")


def _names(graded: Sequence[Graded], key: str) -> list[str]:
    return list(dict.fromkeys(getattr(g, key) for g in graded))


def _row(name: str, graded: Sequence[Graded]) -> list[str]:
    count: Mapping[str, int] = Counter(g.grade for g in graded)
    good = count[RIGHT] + count[HONEST]
    shares = (f"{100 * n / max(1, len(graded)):.0f}" for n in (good, count[WRONG]))
    return [name, str(len(graded)), *(str(count[g]) for g in GRADES), *shares]


def main() -> None:
    """Ask, grade and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=Path)
    parser.add_argument("folder", type=Path, help="where the set's folders are, or are made")
    parser.add_argument("--only", default="", help="ids of questions, with commas")
    parser.add_argument("--save", type=Path, help="file for every answer, as JSON")
    parser.add_argument("--model", default="", help="plans and writes, such as openai:gpt-5-mini")
    parser.add_argument("--base-url", default="", help="of a server that speaks the model's protocol")
    given = parser.parse_args()
    asked = QuestionSet.read(given.set)
    given.folder.mkdir(parents=True, exist_ok=True)
    build(asked.materials, given.folder.resolve())
    print(common.machine())
    with common.scratch(None) as root:
        only = frozenset(filter(None, given.only.split(",")))
        model = {"HITL_MODEL": given.model, "HITL_MODEL_BASE_URL": given.base_url}
        environ = {**os.environ, **model} if given.model else {}
        try:
            graded = asyncio.run(run(asked, given.folder.resolve(), root / "data", only, environ))
        except (BadInput, MissingExtra) as error:
            sys.exit(f"{error.message} {error.help}".strip())
    if given.save:
        given.save.write_text(json.dumps([asdict(g) for g in graded], ensure_ascii=False, indent=1), encoding="utf-8")
    show(graded)


if __name__ == "__main__":
    main()
