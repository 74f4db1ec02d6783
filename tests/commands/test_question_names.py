"""A name for a question is never given to another, and an answer to what was answered is refused as that (T1)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from test_answer import CommandedSession, commanded_session

from hitl_tui.supervisor.snapshot import Question

APPROVED = {"type": "approve"}


def by_node(d: CommandedSession) -> dict[str, Question]:
    return {str(q.view.request.subject["path"][-1]): q for q in d.questions}


def asks(d: CommandedSession) -> dict[str, str]:
    """Return what each open name means."""
    return {question.name: node for node, question in by_node(d).items()}


def answered(told: dict[str, Any], name: str, said: str) -> bool:
    words = rf"^Answered already: {name.removeprefix('todo_')} was {said} by ops at \d\d:\d\d\."
    return re.search(words, told["error"]) is not None


async def test_an_answer_never_moves_to_another_question(tmp_path: Path) -> None:
    async with commanded_session(tmp_path, "payments") as d:
        printed = {node: q.commands["approve"] for node, q in by_node(d).items()}
        names = asks(d)
        first = next(name for name, node in names.items() if node == "pay_ann")
        await d.say(f"/answer {first} reject")
        assert asks(d) == {name: node for name, node in names.items() if name != first}
        await d.say(printed["mail_bob"])
        await d.say(printed["mail_bob"])
        assert list(asks(d).values()) == ["pay_eve"], "nobody said anything about eve"
        for line in (f"/answer {first} approve", printed["mail_bob"], "/answer todo_001 approve", "/answer 1 approve"):
            assert (await d.say(line))["status"] == "error", line
        assert list(asks(d).values()) == ["pay_eve"]
        await d.say(printed["pay_eve"])
        said = await d.said()
        assert (said["mail_bob"], said["pay_eve"]) == (APPROVED, APPROVED) and said["pay_ann"]["type"] == "reject"


async def test_a_printed_command_sent_twice_pays_once(tmp_path: Path) -> None:
    async with commanded_session(tmp_path, "payments") as d:
        name, question = next((q.name, q) for q in d.questions)
        for line in (question.commands["approve"], question.bound_commands["approve"]):
            await d.say(line)
        again = await d.say(question.commands["approve"])
        assert answered(again, name, "approved") and again["reason"] == "repeated"
        assert answered(await d.say(question.bound_commands["approve"]), name, "approved")
        assert answered(await d.say(f"/answer {name} reject no"), name, "approved")
        assert len(d.questions) == 2


async def test_the_name_of_the_only_question_is_not_the_next_ones(tmp_path: Path) -> None:
    async with commanded_session(tmp_path, "in_turn") as d:
        (first,) = d.questions
        assert first.name == "todo_001"
        line = first.commands["approve"]
        assert line == "/answer todo_001 approve"
        await d.say(line)
        (second,) = d.questions
        assert second.name == "todo_001.2"
        again = await d.say(line)
        assert answered(again, "todo_001.1", "approved")
        assert again["help"] == "To answer the current question, name it: todo_001.2."
        assert d.questions == (second,)
        assert answered(await d.say("/answer todo_001.1 reject"), "todo_001.1", "approved")
        await d.say(second.commands["approve"])
        assert await d.said() == {"pay_ann": APPROVED, "pay_eve": APPROVED}
        assert answered(await d.say(line), "todo_001.2", "approved")


async def test_no_name_is_given_again_after_a_restore(tmp_path: Path) -> None:
    async with commanded_session(tmp_path, "payments") as d:
        old = {q.name: q for q in d.questions}
        await d.say(f"{d.questions[0].commands['approve']}")
        page = await d.session.checkpoints(20)
        begun = page[-1].checkpoint_id
        for info in page:
            if info.node == "approval" and info.waiting:
                begun = info.checkpoint_id
        await d.say(f"/checkpoint restore {begun}")
        assert [q.kind.value for q in d.questions] == ["todo"]
        await d.say("/todo approve")
        if d.questions and d.questions[0].kind.value == "effect":
            await d.say("/todo again 1")
        names = {q.name for q in d.questions}
        assert len(names) == 3 and names.isdisjoint(old)
        before = d.questions
        for question in old.values():
            for line in (question.commands["approve"], question.bound_commands["approve"]):
                assert (await d.say(line))["status"] == "error"
        assert d.questions == before


async def test_every_command_in_json_decides_its_own_request_or_none(tmp_path: Path) -> None:
    async with commanded_session(tmp_path, "payments") as d:
        for question in d.questions:
            document = question.to_dict()
            assert set(document["commands"]) == set(question.commands)
            assert all(question.id in line for line in document["commands"].values())
        line = d.questions[1].to_dict()["commands"]["stop"].replace("REASON", "too dear")
        await d.say(line)
        assert d.session.snapshot.todos[0].status == "failed" and not d.questions
        assert answered(await d.say(line), "todo_001.2", "rejected")


async def test_a_digest_that_was_answered_names_nothing_any_more(tmp_path: Path) -> None:
    async with commanded_session(tmp_path, "in_turn") as d:
        (first,) = d.questions
        await d.say(f"/answer 1 approve --digest {first.digest}")
        (second,) = d.questions
        for line in (
            f"/answer 1 approve --digest {first.digest}",
            f"/answer todo_001.2 approve --digest {first.digest}",
            f"/answer {second.id} approve --digest {first.digest}",
            f"/todo reject 1 no --digest {first.digest}",
        ):
            told = await d.say(line)
            assert told["status"] == "error", line
        assert d.questions == (second,)
        await d.say(f"/todo reject 1 no --digest {second.digest[:12]}")
        assert d.session.snapshot.todos[0].error == "rejected by ops: no"
