"""The screens by name, and how each is brought up: the real console on the real engine, walked as a person does."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from asking_graph import ASKED, MAIL
from console_support import Clock, Console
from foreign_support import payments
from stage import Shown
from textual.pilot import Pilot
from trusting import trust_workspace

from hitl_tui.config.declared_graphs import Attachment, GraphDeclaration
from hitl_tui.config.sandbox import make_sandbox
from hitl_tui.console.app import HitlApp
from hitl_tui.console.dialogs.reading_dialog import ReadingText
from hitl_tui.console.screens.history_screen import HistoryScreen
from hitl_tui.console.screens.home_screen import HomeScreen
from hitl_tui.console.screens.store_screen import StoreScreen
from hitl_tui.console.store_app import StoreApp
from hitl_tui.console.widgets.stream_pane import StreamPane
from hitl_tui.core.todos import Status
from hitl_tui.supervisor.open_options import OpenOptions
from hitl_tui.threads.thread_store import open_store
from hitl_tui.wording.evidence_rows import awaits_preview
from hitl_tui.wording.status_words import number_of
from hitl_tui.wording.subject_rows import command_line

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
Screens = AsyncGenerator[Shown, None]
SIZE = (120, 40)


@asynccontextmanager
async def opened(
    root: Path, workspace: Path, query: str = "", mode: str = "", attached: Attachment | None = None
) -> AsyncIterator[Console]:
    """Run the console in a folder whose settings are trusted."""
    if (workspace / "hitl.toml").exists():
        trust_workspace(root / "data", workspace)
    clock = Clock()
    app = HitlApp(OpenOptions(root / "data", workspace, "", mode, "ops", query, attached), clock)
    async with app.run_test(size=SIZE) as pilot:
        try:
            yield Console(app, pilot, clock)
        finally:
            await app.engine.close()


def copied(root: Path, example: str, language: str = "en") -> Path:
    """Return a copy of an example workspace, without what is written in another language."""
    other = "*-en.md" if language == "ko" else "*-ko.md"
    return Path(shutil.copytree(EXAMPLES / example, root / example, ignore=shutil.ignore_patterns(other)))


def shown(c: Console, name: str) -> Shown:
    """Return a screen of the console, with what would run when that is a question."""
    runs: list[str] = []
    question = c.panel.question if name.startswith("question") else None
    if question is not None:
        arguments = question.view.request.subject.get("arguments") or {}
        argv = arguments.get("argv")
        settings = question.view.request.about.get("settings") or ()
        texts = [v for name, v in arguments.items() if isinstance(v, str) and name not in settings]
        runs = [command_line(argv)] if isinstance(argv, list) else texts
    return Shown(name, c.app, c.pilot, tuple(runs), c.clock.rest)


async def done(c: Console, todo_id: str) -> None:
    """Approve a TODO that asks, and wait for its end."""
    await c.until(lambda: c.shown() and c.panel.select(todo_id), f"{todo_id} asks")
    await c.to_question()
    await c.read_on()
    await c.press("1")
    await c.until(lambda: c.status(todo_id) == Status.COMPLETED, f"{todo_id} done")


async def top(c: Console, name: str) -> Shown:
    await c.pilot.pause()
    return shown(c, name)


LEASE = {
    "en": "The landlord wants to raise my jeonse deposit from 300 million won to 1 billion won. "
    "How can I resolve this legally?",
    "ko": "집주인이 전세금 3억을 10억으로 올려달래. 법적으로 해결방법 알려줘",
}


async def first_start(root: Path, language: str) -> Screens:
    """What is there before anything was done."""
    async with opened(root, copied(root, "lease", language)) as c:
        await c.pilot.pause()
        yield Shown("home", c.app, c.pilot)
        for key, name in (("f1", "help"), ("ctrl+p", "palette"), ("f3", "inbox-empty")):
            await c.press(key)
            await c.pilot.pause()
            yield Shown(name, c.app, c.pilot)
            await c.press("escape")


async def lease(root: Path, language: str) -> Screens:
    """A session of two steps from its first question to its past."""
    async with opened(root, copied(root, "lease", language), LEASE[language], "step") as c:
        await c.asked(1)
        yield await top(c, "question-search")
        for key, name in (("6", "details"), ("2", "edit-words"), ("3", "reason")):
            await opens(c, key, name)
            yield await top(c, name)
            await c.press("escape")
        await done(c, "todo_001")
        await c.asked(1)
        yield await top(c, "question-analysis")
        await done(c, "todo_002")
        await c.until(lambda: c.snapshot.concluded, "the answer")
        for pane in ("plan", "history", "stream", "answer"):
            c.session.show_pane(pane, focus=True)
            yield await top(c, pane)
        await c.send("/todo show 2")
        await c.until(lambda: c.app.screen is not c.session, "the TODO")
        yield await top(c, "todo")
        await c.press("escape", "f5")
        await c.until(lambda: isinstance(c.app.screen, HistoryScreen) and c.app.screen.settled, "replay")
        await c.press("left_square_bracket")
        await c.until(lambda: isinstance(c.app.screen, HistoryScreen) and c.app.screen.settled, "a decision")
        yield await top(c, "replay")
        await c.press("2")
        await c.until(lambda: isinstance(c.app.screen, HistoryScreen) and c.app.screen.settled, "the diff")
        yield await top(c, "replay-diff")
        for key, name in (("4", "replay-restore"), ("3", "replay-fork")):
            await c.press(key)
            await c.until(lambda: not isinstance(c.app.screen, HistoryScreen), name)
            yield await top(c, name)
            await c.press("escape")
        await c.press("escape")


OPS = {
    "en": "web-1's disk is full. Find in the runbook which logs may be deleted and what must never be touched, "
    "then measure, then delete old logs, then verify.",
    "ko": "web-1 디스크가 가득 찼어. 런북에서 지워도 되는 로그와 절대 건드리면 안 되는 것을 찾아줘. "
    "그다음 디스크 사용량을 보여줘. 그다음 오래된 로그를 지워줘. 그다음 남은 용량을 보여줘.",
}
_MEASURED = """run = ["du", "-h", "-d", "3", "web-1"]"""
_COUNTED = """run = ["wc", "-c", "web-1/var/log/nginx/access.log", "web-1/var/log/nginx/error.log",
  "web-1/var/log/app/app.log", "web-1/var/log/audit/audit.log", "web-1/srv/data/orders.dat"]"""


def server(root: Path, language: str) -> Path:
    """Return the starter of the full disk, in which what is measured doesn't depend on the file system."""
    place = copied(root, "ops", language)
    make_sandbox(place)
    toml = (place / "hitl.toml").read_text(encoding="utf-8")
    assert _MEASURED in toml
    (place / "hitl.toml").write_text(toml.replace(_MEASURED, _COUNTED), encoding="utf-8")
    return place


async def risky(root: Path, language: str) -> Screens:
    """The runbook of the full disk, up to the deletion and its edit."""
    async with opened(root, server(root, language), OPS[language], "step") as c:
        await done(c, "todo_001")
        await done(c, "todo_002")
        await c.asked(1)
        await c.until(lambda: c.panel.question and c.panel.question.view.evidence, "the preview")
        await c.to_question()
        await c.read_on()
        while c.panel.query_one("#question-body").scroll_offset.y:
            await c.press("pageup")
        c.clock.rest()
        c.panel._places()
        yield await top(c, "question-command")
        await opens(c, "2", "edit-command")
        await c.pilot.pause(0.5)  # the dialog says below when its end was seen
        yield await top(c, "edit-command")
        await c.press("escape")
        await c.send("/mode risk")
        await c.until(lambda: c.snapshot.mode == "risk", "a mode in which a rule counts")
        await opens(c, "7", "always")
        yield await top(c, "always")
        await c.press("escape")


async def opens(c: Console, key: str, name: str) -> None:
    """Press a key of the question that opens something."""
    await c.to_question()
    await c.read_on()
    before = c.app.screen
    await c.press(key)
    await c.until(lambda: c.app.screen is not before, name)
    await c.pilot.pause()


DESK = """
[teams.command_team.commands.keep]
run = ["touch", "{file}"]
preview = ["ls", "."]
description = "Make a file."
parameters.file = { type = "string", default = "made" }
risk = "high"

[teams.command_team.commands.note]
run = ["touch", "{file}-{days}"]
parameters.file = { type = "string", default = "noted" }
parameters.days = { type = "integer", default = 14, minimum = 1, maximum = 99 }
risk = "medium"

[teams.command_team.commands.both]
run = ["touch", "both"]
risk = "high"

[teams.command_team.commands.broken]
run = ["ls", "no-such-folder"]
risk = "low"

[teams.command_team.commands.doubt]
run = ["sh", "-c", "kill -9 $(cut -d ' ' -f 4 /proc/$PPID/stat)"]
risk = "medium"

[[policy]]
team = "command_team"
command = "both"
decision = "ask"
quorum = 2
deadline = "10m"
"""
CAP = {
    "en": ("The cap of a rise", "The deposit may rise by at most {n} percent.", "How much may the deposit rise?"),
    "ko": ("인상 상한", "보증금은 최대 {n} 퍼센트까지 올릴 수 있다.", "보증금은 얼마나 올릴 수 있나?"),
}
MORE = {"en": "The search isn't enough. Add an analysis, too.", "ko": "검색만으로 부족할 것 같아. 분석도 추가해줘."}


def desk(root: Path, language: str) -> Path:
    """Return a workspace with commands of every class of risk, one that fails and one that needs two people."""
    place, (title, text, __) = root / "desk", CAP[language]
    place.mkdir()
    for n in range(1, 7):  # found often enough that no further search is proposed
        (place / f"cap{n}.md").write_text(f"# {title} {n}\n\n{text.format(n=n)}\n", encoding="utf-8")
    (place / "hitl.toml").write_text(DESK, encoding="utf-8")
    return place


async def kinds(root: Path, language: str) -> Screens:
    """Questions of every kind, the marked together, the inbox and the rules."""
    async with opened(root, desk(root, language), CAP[language][2], "risk") as c:
        await c.until(lambda: c.shown() and c.snapshot.concluded, "the answer")
        await c.send("/mode plan")  # where risky steps alone ask, an analysis is added without a question
        await c.send(MORE[language])
        await c.asked(1)
        yield await top(c, "question-proposal")
        await c.to_question()
        await c.read_on()
        await c.press("1")
        await c.until(lambda: not c.panel.questions and c.snapshot.concluded, "the analysis")
        await c.send("/mode risk")
        await c.send("/todo add document_team " + CAP[language][0])
        await c.asked(1)
        await c.until(lambda: c.panel.complete, "the draft")
        yield await top(c, "question-file")
        await c.send(f"/todo skip {c.panel.questions[0].todo_id}")
        await c.until(lambda: not c.panel.questions, "it was skipped")
        await c.send("/todo add command_team broken")
        await c.asked(1)
        yield await top(c, "question-failure")
        await c.to_question()
        await c.read_on()
        await c.press("4")
        await c.until(lambda: not c.panel.questions, "it was skipped")
        for number, command in enumerate(("keep file=one", "keep file=two", "note", "both"), start=1):
            await c.send(f"/todo add command_team {command}")
            await c.asked(number)
        one, two, note, both = (q.todo_id for q in c.panel.questions)
        await c.until(lambda: not any(map(awaits_preview, c.panel.questions)), "the previews")
        stream = c.session.query_one(StreamPane)
        await c.until(lambda: any(f" {number_of(both)} " in line for line in stream.lines), "the last line")
        await c.send("/clear")  # how many lines were streamed differs with what happened at once
        await c.to_question()
        c.panel.select(both)
        await c.pilot.pause()
        yield await top(c, "question-quorum")
        for todo in (one, two):
            c.panel.select(todo)
            await c.press("space")
        await opens(c, "9", "review")
        await ended(c)
        c.app.screen.query_one(ReadingText).scroll_home(animate=False)
        yield await top(c, "review")
        await c.press("escape")
        await c.press("f3")
        await c.until(lambda: c.app.screen is not c.session, "the inbox")
        yield await top(c, "inbox")
        await c.press("escape")
        c.panel.select(note)
        await opens(c, "7", "the rule")
        await ended(c)
        c.clock.rest()
        await c.press("1")
        await c.until(lambda: c.app.screen is c.session and not c.panel.select(note), "it is allowed")
        await c.send("/rules")
        await c.until(lambda: c.app.screen is not c.session, "the rules")
        yield await top(c, "rules")
        await c.press("escape")
        await c.press("f4")
        await c.until(lambda: c.app.screen is not c.session, "the modes")
        yield await top(c, "mode")
        c.clock.rest()
        await c.press("1")
        await c.until(lambda: c.snapshot.mode == "step", "the mode")
        await c.press("ctrl+o")
        await c.until(lambda: isinstance(c.app.screen, HomeScreen), "the sessions")
        await c.pilot.pause(0.3)
        yield Shown("sessions", c.app, c.pilot)


async def ended(c: Console) -> None:
    """Read a dialog to its end."""
    screen: Any = c.app.screen
    while not screen.read:
        await c.press("pagedown")


async def planned(root: Path, language: str) -> Screens:
    """A plan that is asked for as a whole."""
    async with opened(root, copied(root, "lease", language), LEASE[language], "plan") as c:
        await c.asked(1)
        yield await top(c, "question-plan")
        await opens(c, "3", "the feedback")
        yield await top(c, "feedback")
        await c.press("escape")


ORDER = {"en": "order 1042 of ann@example.com", "ko": "ann@example.com의 주문 1042"}


async def inner(root: Path, language: str) -> Screens:
    """What a graph asks from inside, and what it is answered in."""
    work = root / "graphs"
    work.mkdir()
    shutil.copy(Path(__file__).with_name("asking_graph.py"), work / "agent.py")
    attachment = Attachment(GraphDeclaration("agent", f"{work}/agent.py:graph", str(work)), ORDER[language], True)
    async with opened(root, work, ORDER[language], attached=attachment) as c:
        await c.until(lambda: c.shown() and len(c.panel.questions) == 7, "seven questions")
        await c.to_question()
        for node, name, key in (
            ("a_tool", "question-tool", "2"),
            ("b_form", "question-form", "2"),
            ("c_options", "question-options", "5"),
            ("d_words", "question-words", "5"),
            ("e_batch", "question-batch", "2"),
            ("f_review", "question-review", "2"),
            ("g_yes_no", "question-yes-no", ""),
        ):
            asked = next(q for q in c.panel.questions if node in q.view.request.subject.get("path", ()))
            c.panel.select(asked.id)
            await c.pilot.pause()
            yield await top(c, name)
            if key:
                await opens(c, key, name)
                if name == "question-form":
                    await c.press("4")
                yield await top(c, name.replace("question", "answer"))
                await c.press("escape")


async def doubted(root: Path, language: str) -> Screens:
    """A process that was killed within a step: nobody knows whether it happened."""
    place, data = desk(root, language), root / "data"
    trust_workspace(data, place)
    base = [sys.executable, "-m", "hitl_tui"]
    more = ["--data", str(data), "--lang", language, "--json"]
    query = ["run", CAP[language][2], "--workspace", str(place), "--mode", "risk"]
    for line in (query, ["do", "s1", "/todo add command_team doubt"], ["do", "s1", "/todo approve 2"]):
        command, who = [*base, *line, *more], {**os.environ, "HITL_USER": "ops"}
        await asyncio.to_thread(subprocess.run, command, capture_output=True, check=False, timeout=60, env=who)
    clock = Clock()
    app = HitlApp(OpenOptions(data, place, "s1", "", "ops"), clock)
    async with app.run_test(size=SIZE) as pilot:
        c = Console(app, pilot, clock)
        try:
            await c.asked(1)
            yield await top(c, "question-effect")
        finally:
            await app.engine.close()


async def store(root: Path, language: str) -> Screens:
    """A LangGraph store of somebody else."""
    path = payments(root / "payments.db")
    async with open_store(str(path)) as found:
        app = StoreApp(OpenOptions(root / "data"), found, "", "")
        async with app.run_test(size=SIZE) as pilot:
            await settled(app, pilot)
            yield Shown("store-list", app, pilot)
            await pilot.press("down", "enter")
            await settled(app, pilot, HistoryScreen)
            yield Shown("store-thread", app, pilot)
            await pilot.press("left", "2")
            await settled(app, pilot, HistoryScreen)
            yield Shown("store-diff", app, pilot)


_SAID = """
Del SQLite measure clean-logs verify nginx app service days gz check log approved customers sql logs table key content
doubt broken keep note both sh PPID kill cut d f proc stat name nothing trail messages amount ask end work a
send_mail run_sql wants done fg MB KB
Please transfer 100 to Bob Pay the rent Is the account right Transfer I would planned worked answered checked looked
yes right no guests room people hall forked asks md document added May run these tool calls start a number is
total cwd one two cannot access No such file or directory no-such-folder User skipped The command ended with exit code
lines in operator NAME
"""
CONTENT = frozenset(
    word.strip(".,:?'()[]{}<>\"\\") for word in f"{_SAID} {ASKED} {MAIL}".replace("\\n", " ").replace("@", " ").split()
)
"""Words of the graphs, commands and stores that are looked at: they are shown as they are."""


async def settled(app: StoreApp, pilot: Pilot[int], kind: type[StoreScreen | HistoryScreen] = StoreScreen) -> None:
    """Wait until a store's screen shows what was last asked for."""
    for _ in range(3000):
        await pilot.pause(0.01)
        screen: Any = app.screen
        if isinstance(screen, kind) and screen.settled and getattr(screen, "place", True) is not None:
            break
    await pilot.pause()


Walk = Callable[[Path, str], Screens]
WALKS: tuple[Walk, ...] = (
    first_start,
    lease,
    risky,
    kinds,
    planned,
    inner,
    doubted,
    store,
)
