"""kill -9 of the process in the middle of graphs, and going on with `do` (D12): nothing is done twice unasked."""

from __future__ import annotations

import signal
from typing import Any

import pytest
from real_support import CASES, Case, Place, Talk, asked, attaching

pytestmark = pytest.mark.long

IDS = [case.name for case in CASES]
BY_NAME = {case.name: case for case in CASES}


def doubt(document: dict[str, Any]) -> dict[str, Any]:
    """Return the question whether something may have happened; it has to be the only one."""
    (question,) = document["questions"]
    assert question["kind"] == "effect", asked(document)
    return question


def answer_again(document: dict[str, Any], seen: str) -> bool:
    """Whether a question that was answered is asked again."""
    return any(seen.lstrip(".2 ") in line for line in asked(document))


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_killed_while_it_asks_it_asks_the_same(ready: Place, case: Case) -> None:
    process = ready.start(*attaching(case, "--line"))
    assert process.stdout is not None
    words = case.talk[0][0].split(" ", 1)[1] if case.talk[0][0].startswith(".") else case.talk[0][0]
    for line in process.stdout:
        if words in line:
            break
    else:
        raise AssertionError(f"{words!r} was never seen: {process.communicate()}")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = ready.done()
    document = ready.do("/todos")
    assert ready.done() == before
    Talk(ready, case).to_the_end(document)
    assert ready.done() == case.done


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_killed_between_an_answer_and_its_delivery_it_is_delivered_once(ready: Place, case: Case) -> None:
    process = ready.start(*attaching(case, "--line"))
    assert process.stdout is not None
    for line in process.stdout:
        if "/answer" in line:
            break
    process.send_signal(signal.SIGSTOP)
    try:
        talk = Talk(ready, case)
        document = talk.answer(ready.run("show", "s", "--json").json)
        assert document["status"] == "recorded", document
    finally:
        process.kill()
        process.communicate()
    talk.to_the_end(ready.do("/todos"))
    assert ready.done() == case.done


@pytest.mark.parametrize(
    ("case", "gate", "twice"),
    [
        (BY_NAME["approve"], "before", ""),
        (BY_NAME["approve"], "after", "did pay"),
        (BY_NAME["functional"], "publish", ""),
        (BY_NAME["parallel"], "b", "b bee"),
        (BY_NAME["email_tool"], "before", ""),
        (BY_NAME["email_tool"], "after", "sent alice@example.com: Tomorrow"),
    ],
    ids=lambda value: value.name if isinstance(value, Case) else value,
)
def test_killed_in_a_node_right_after_an_answer_it_asks_before_it_does_it_again(
    ready: Place, case: Case, gate: str, twice: str
) -> None:
    document = ready.attach(case).json
    talk = Talk(ready, case)
    pipe = ready.hold(gate)
    seen, words = talk.left.pop(0)
    name = next(q["name"] for q in document["questions"] if seen.lstrip(".2 ") in str(q["asks"]) + str(q["subject"]))
    ready.kill_at(pipe, "do", "s", f"/answer {name} {words}", "--json")
    before = ready.done()
    document = ready.do("/todos")
    assert "nothing says how far it got" in str(doubt(document))
    assert ready.done() == before
    document = ready.do("/todo again 1")
    if answer_again(document, seen):
        talk.left.insert(0, (seen, words))
    talk.to_the_end(document)
    wanted = {**case.done, **({twice: 2} if twice else {})}
    assert ready.done() == wanted


def test_killed_in_its_first_node_it_asks_before_it_begins_again(place: Place) -> None:
    case = BY_NAME["approve"]
    pipe = place.hold("prepare")
    place.kill_at(pipe, *attaching(case))
    document = place.do("/todos")
    doubt(document)
    assert place.done() == {}
    document = place.do("/todo again 1")
    Talk(place, case).to_the_end(document)
    assert place.done() == case.done


def test_what_may_have_happened_can_be_left_at_that(place: Place) -> None:
    case = BY_NAME["approve"]
    document = place.attach(case).json
    pipe = place.hold("after")
    place.kill_at(pipe, "do", "s", "/answer 1 yes", "--json")
    doubt(place.do("/todos"))
    document = place.do("/stop")
    assert document["session_status"] in ("finished", "failed"), document
    assert place.done() == case.done
