"""`/answer` on real graphs: what is sent, what is refused, and several questions of one TODO (I2, I3)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hitl_tui.commands.completion import complete, usage_hint
from hitl_tui.commands.handler import CommandHandler
from hitl_tui.config.declared_graphs import GraphDeclaration
from hitl_tui.core.requests import Verdict
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.session import Session
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.snapshot import Question

GRAPHS = Path(__file__).with_name("shape_graphs.py")
LIMIT = 30.0


@dataclass
class CommandedSession:
    """One session on one graph, and who answers it."""

    session: Session
    handler: CommandHandler

    async def say(self, line: str) -> dict[str, Any]:
        result = await self.handler.handle_command(line)
        async with asyncio.timeout(LIMIT):
            await self.session.settled()
        return {**result.to_dict(), "exit_code": result.exit_code}

    @property
    def questions(self) -> tuple[Question, ...]:
        return self.session.snapshot.questions

    async def said(self) -> dict[str, Any]:
        """Return what each node of the graph got for an answer."""
        todo = self.session.snapshot.todos[0]
        assert todo.result is not None, todo
        result = await self.session.artifact(str(todo.result["digest"]))
        found: dict[str, Any] = {}
        for entry in result["data"]["values"]["said"]:
            found.update(entry)
        return found


@asynccontextmanager
async def commanded_session(folder: Path, name: str) -> AsyncIterator[CommandedSession]:
    """Run a graph until it asks from inside."""
    work = folder / "w"
    work.mkdir()
    declaration = GraphDeclaration(name, f"{GRAPHS}:{name}", str(GRAPHS.parent))
    async with SessionRegistry.open(folder / "d") as registry:
        setup = await registry.create("{}", work, graph=declaration)
        async with open_session(registry.store, setup, "{}") as opened:
            session = opened.view
            assert isinstance(session, Session)
            found = CommandedSession(
                session, CommandHandler(session, setup.planner, by="ops", channel="cli", terminal=True)
            )
            await session.settled()
            await found.say("/todo approve")
            assert all(q.shape is not None for q in found.questions) and found.questions
            yield found


ANSWERS = [
    ("booking", "guests=5 note=late", {"guests": 5, "room": "hall", "note": "late"}),
    ("approval", "reject too expensive", {"type": "reject", "message": "too expensive"}),
    ("batch", "1 approve 2 respond blue", {"decisions": [{"type": "approve"}, {"type": "respond", "message": "blue"}]}),
    ("inbox", "ignore", [{"type": "ignore", "args": None}]),
    ("options", "2", 3),
    ("action", "edit to=lee@example.org", {"action": "approve", "to": "lee@example.org"}),
    ("review", "edit Dear Lee,\nno.", "Dear Lee,\nno."),
    ("review_fields", "edit copies=2", {"to": "kim", "copies": 2}),
    ("yes_no", "no", False),
    ("prompt", "30", 30),
    ("other", '{"a": [null]}', {"a": [None]}),
]


@pytest.mark.parametrize(("name", "text", "value"), ANSWERS)
async def test_the_graph_gets_exactly_what_the_message_says(tmp_path: Path, name: str, text: str, value: Any) -> None:
    async with commanded_session(tmp_path, name) as d:
        told = await d.say(f"/answer 1 {text}")
        assert told["status"] == "resumed", told
        assert told["sent"] == value
        assert told["message"].startswith("Answered 001. Sent: ")
        assert await d.said() == {name: value}


async def test_a_number_and_a_text_are_told_apart(tmp_path: Path) -> None:
    async with commanded_session(tmp_path, "prompt") as d:
        told = await d.say('/answer 1 "30"')
        assert told["message"] == 'Answered 001. Sent: the text "30".'
        assert await d.said() == {"prompt": "30"}


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("booking", "guests=40", "maximum of 12"),
        ("booking", '{"guests": "4"}', "a whole number"),
        ("approval", "30", "must be an object"),
        ("approval", '{"type": "reject", "type": "approve"}', 'names "type" twice in one object'),
        ("approval", 'edit {"to": "a@b.c", "to": "d@e.f"}', 'names "to" twice in one object'),
        ("other", '{"a": [{"b": 1, "b": 2}]}', 'names "b" twice in one object'),
        ("batch", "approve", "one by one"),
        ("options", "blue", "No option"),
        ("yes_no", "maybe", "doesn't answer this"),
    ],
)
async def test_what_does_not_fit_changes_nothing(tmp_path: Path, name: str, text: str, why: str) -> None:
    async with commanded_session(tmp_path, name) as d:
        before = d.questions
        told = await d.say(f"/answer 1 {text}")
        assert told["status"] == "error" and why in told["error"]
        assert d.questions == before
        assert not before[0].view.decisions


async def test_several_are_answered_singly_in_any_order_by_number_or_id(tmp_path: Path) -> None:
    async with commanded_session(tmp_path, "several") as d:
        names = {q.name: q for q in d.questions}
        assert sorted(names) == ["todo_001.1", "todo_001.2", "todo_001.3"]
        told = await d.say("/answer 1 yes")
        assert "asks 3 questions at once; name one of todo_001.1, todo_001.2, todo_001.3" in told["error"]
        assert "No question 001.4" in (await d.say("/answer todo_001.4 yes"))["error"]
        by_node = {q.view.request.subject["path"][-1]: q for q in d.questions}
        told = await d.say(f"/answer {by_node['prompt'].id[:12]} 30")
        assert told["sent"] == 30 and len(d.questions) == 2
        gone = by_node["prompt"].name
        left = {node: q.name for node, q in by_node.items() if node != "prompt"}
        assert {q.name for q in d.questions} == set(left.values()), "the others keep their names"
        told = await d.say(f"/answer {gone} 31")
        assert told["reason"] == "repeated" and f"Answered already: {gone[5:]} was answered by ops at " in told["error"]
        await d.say(f"/answer {left['yes_no']} yes")
        assert [q.name for q in d.questions] == [left["options"]], "the last one, too"
        told = await d.say("/answer 1 red")
        assert told["status"] == "error" and left["options"] in f"{told['error']} {told.get('help', '')}"
        await d.say(f"/answer {left['options']} red")
        assert await d.said() == {"yes_no": True, "prompt": 30, "options": "red"}


async def test_an_answer_to_what_was_answered_is_refused_by_name(tmp_path: Path) -> None:
    async with commanded_session(tmp_path, "two") as d:
        (first,) = d.questions
        await d.say("/answer 1 1 approve 2 respond blue")
        (second,) = d.questions
        again = await d.say(f"/answer {first.id} 1 approve 2 respond blue")
        assert again["reason"] == "repeated" and "Answered already: 001.1 was answered by ops" in again["error"]
        assert second.name == "todo_001.2"
        again = await d.say("/answer 1 1 approve 2 respond blue")
        assert again["reason"] == "repeated", "the name of the first one isn't the second's"
        assert again["help"] == "To answer the current question, name it: todo_001.2."
        late = CommandHandler(d.session, d.handler._context.planner, by="kim", channel="cli", terminal=True)
        result = await late.handle_command(f"/answer {first.id} 1 approve 2 respond blue")
        assert result.data["reason"] == "late"
        unknown = await d.say("/answer req-0000000000000000 yes")
        assert unknown["reason"] == "unknown"
        assert d.questions == (second,), "nothing changed"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [("inbox", "approve", "approve"), ("approval", "reject too dear", "reject"), ("prompt", "30", "respond")],
)
async def test_what_a_person_chose_is_on_record(tmp_path: Path, name: str, text: str, said: str) -> None:
    async with commanded_session(tmp_path, name) as d:
        (question,) = d.questions
        told = await d.say(f"/answer 1 {text}")
        assert (told["verdict"], told["action"]) == ("respond", said), "the graph gets its answer either way"
        ledger = d.session.setup.ledger
        view = await ledger.request(question.id, d.session.setup.now())
        assert view is not None and [decision.said for decision in view.decisions] == [said]
        events = [e.data["event"] for e in await ledger.entries(d.session.id) if e.kind == "event"]
        assert next(e["action"] for e in events if e.get("request_id") == question.id) == said
        late = await CommandHandler(
            d.session, d.handler._context.planner, by="kim", channel="cli", terminal=True
        ).handle_command(f"/answer {question.id} {text}")
        past = {"approve": "approved", "reject": "rejected", "respond": "answered"}[said]
        assert late.message.startswith(f"Answered already: 001.1 was {past} by ops at "), late.message


async def test_what_asks_something_else_is_not_answered(tmp_path: Path) -> None:
    async with commanded_session(tmp_path, "prompt") as d:
        await d.say("/answer 1 30")
        assert "Answered already: 001.1 was answered by ops at " in (await d.say("/answer 1 30"))["error"]
        assert "No step" in (await d.say("/answer 7 30"))["error"]


async def test_the_same_answer_twice_at_once_counts_once(tmp_path: Path) -> None:
    async with commanded_session(tmp_path, "prompt") as d:
        (asked,) = d.questions
        results = await asyncio.gather(*(d.handler.handle_command(f"/answer {asked.id} {n}") for n in (30, 31)))
        assert sorted(r.failed for r in results) == [False, True]
        async with asyncio.timeout(LIMIT):
            await d.session.settled()
        (taken,) = [r.data["sent"] for r in results if not r.failed]
        assert await d.said() == {"prompt": taken}


async def test_scripts_find_form_actions_schema_and_exact_commands(tmp_path: Path) -> None:
    async with commanded_session(tmp_path, "approval") as d:
        shown = d.questions[0].to_dict()
        assert shown["shape"] == "tool_approval" and shown["name"] == "todo_001"
        assert [a["name"] for a in shown["actions"] if a["allowed"]] == ["approve", "edit", "reject", "respond"]
        assert shown["commands"]["approve"] == f"/answer {d.questions[0].id} approve"
        assert shown["commands"]["stop"] == f"/todo reject {d.questions[0].id} REASON"
        told = await d.say(shown["commands"]["approve"])
        assert told["sent"] == {"type": "approve"}


async def test_a_schema_is_part_of_what_scripts_see(tmp_path: Path) -> None:
    async with commanded_session(tmp_path, "booking") as d:
        shown = d.questions[0].to_dict()
        assert shown["schema"]["properties"]["guests"]["maximum"] == 12
        assert shown["actions"][0]["present"] == {"guests": 4, "room": "hall", "note": ""}


async def test_a_step_can_be_stopped_instead_of_answered(tmp_path: Path) -> None:
    async with commanded_session(tmp_path, "several") as d:
        told = await d.say("/todo reject 1 not today")
        assert told["verdict"] == Verdict.REJECT.value
        assert all(q.shape is None for q in d.questions)
        assert d.session.snapshot.todos[0].status.value == "failed"


async def test_names_actions_and_options_are_offered(tmp_path: Path) -> None:
    async with commanded_session(tmp_path, "several") as d:
        snapshot = d.session.snapshot
        names = [c.display for c in complete("/answer ", 8, snapshot)]
        assert sorted(names) == ["todo_001.1", "todo_001.2", "todo_001.3"]
        asked = next(q.name for q in d.questions if q.view.request.subject["path"][-1] == "options")
        line = f"/answer {asked.removeprefix('todo_00')} "
        assert [c.text for c in complete(line, len(line), snapshot)] == ["1", "2"]


async def test_while_an_answer_is_written_its_type_is_shown(tmp_path: Path) -> None:
    async with commanded_session(tmp_path, "prompt") as d:
        snapshot = d.session.snapshot
        assert usage_hint("/answer 1 30", snapshot) == "Sends: the number 30"
        assert usage_hint('/answer 1 "30"', snapshot) == 'Sends: the text "30"'
        assert usage_hint("/answer 1.7 x", snapshot).startswith("No question 001.7")
        assert usage_hint("/answer 1", snapshot).startswith("/answer <id>")
        assert usage_hint("/todo skip 1", snapshot) == "/todo skip <id> [reason] [--digest DIGEST]"


@pytest.mark.parametrize(
    ("name", "text", "sent", "said"),
    [
        ("yes_no", "no we need them", False, "reject"),
        ("yes_no", 'n "we need them"', False, "reject"),
        ("inbox", "ignore we need them", [{"type": "ignore", "args": None}], "ignore"),
    ],
)
async def test_a_reason_that_the_answer_cannot_carry_goes_on_record(
    tmp_path: Path, name: str, text: str, sent: Any, said: str
) -> None:
    async with commanded_session(tmp_path, name) as d:
        (question,) = d.questions
        assert "on record: we need them" in usage_hint(f"/answer 1 {text}", d.session.snapshot)
        told = await d.say(f"/answer 1 {text}")
        assert told["status"] == "resumed" and told["sent"] == sent, told
        assert await d.said() == {name: sent}
        view = await d.session.setup.ledger.request(question.id, d.session.setup.now())
        assert view is not None
        assert [(one.said, one.reason) for one in view.decisions] == [(said, "we need them")]
        listed = await d.say("/decisions")
        assert "we need them" in [one["reason"] for one in listed["decisions"]]


@pytest.mark.parametrize(("name", "text"), [("review", "stop not this one"), ("review", "reject"), ("batch", "stop")])
async def test_an_answer_that_a_form_does_not_have_stops_the_step_where_it_can_be_nothing_else(
    tmp_path: Path, name: str, text: str
) -> None:
    async with commanded_session(tmp_path, name) as d:
        (question,) = d.questions
        assert "stop" in question.answers and "stop" in question.commands
        told = await d.say(f"/answer 1 {text}")
        assert told["verdict"] == Verdict.REJECT.value
        assert d.session.snapshot.todos[0].status.value == "failed"
        view = await d.session.setup.ledger.request(question.id, d.session.setup.now())
        assert view is not None and [one.reason for one in view.decisions] == [text.partition(" ")[2]]
