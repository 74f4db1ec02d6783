"""kill -9 of the process in the middle of graphs, and going on with `do` (D12): nothing is done twice unasked."""

from __future__ import annotations

import signal
from typing import Any

import pytest
from real_cases import CASES, Case, each
from real_support import Place, Talk, attaching, named, seen_in

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

BY_NAME = {case.name: case for case in CASES}


def doubt(document: dict[str, Any]) -> dict[str, Any]:
    """Return the question whether something may have happened; it is asked once."""
    (question,) = (q for q in document["questions"] if q["kind"] == "effect")
    assert isinstance(question, dict)
    return question


# Stopped right after it printed the last question it hasn't noted yet that this was shown: then it is tried again.
@pytest.mark.slow
@pytest.mark.flaky(reruns=2, only_rerun=["wasn't shown before"])
@each("approve", "parallel", "functional", "inbox", "per_call", slow=("approve", "functional", "inbox"))
def test_killed_between_an_answer_and_its_delivery_it_is_delivered_once(ready: Place, case: Case) -> None:
    process = ready.start(*attaching(case, "--line"))
    seen = case.talk[0][0]
    for _ in range(int(seen[1]) if seen.startswith(".") else 1):  # all that ask at once, up to the one answered
        seen_in(process, "/answer")
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


AT_GATES = [
    *[("approve", "before", ""), ("approve", "after", "did pay"), ("functional", "publish", "")],
    *[("parallel", "b", "b bee"), ("email_tool", "after", "sent alice@example.com: Tomorrow")],
]


@pytest.mark.parametrize(
    ("case", "gate", "twice"),
    [
        pytest.param(
            BY_NAME[name],
            gate,
            twice,
            id=f"{name}-{gate}",
            marks=[pytest.mark.graphs]
            if BY_NAME[name].needs
            else [pytest.mark.slow]
            if gate in ("after", "publish", "b")
            else [],
        )
        for name, gate, twice in AT_GATES
    ],
)
def test_killed_in_a_node_right_after_an_answer_it_asks_before_it_does_it_again(
    ready: Place, case: Case, gate: str, twice: str
) -> None:
    document = ready.attach(case).json
    talk = Talk(ready, case)
    pipe = ready.hold(gate)
    seen, words = talk.left.pop(0)
    ready.kill_at(pipe, "do", "s", f"/answer {named(document, seen)} {words}", "--json")
    before = ready.done()
    document = ready.do("/todos")
    assert "nothing says how far it got" in str(doubt(document))
    assert ready.done() == before
    document = ready.do("/todo again 1")
    talk.to_the_end(document)
    wanted = {**case.done, **({twice: 2} if twice else {})}
    assert ready.done() == wanted


@pytest.mark.slow
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


@pytest.mark.slow
def test_what_may_have_happened_can_be_left_at_that(place: Place) -> None:
    case = BY_NAME["approve"]
    document = place.attach(case).json
    pipe = place.hold("after")
    place.kill_at(pipe, "do", "s", "/answer 1 yes", "--json")
    doubt(place.do("/todos"))
    document = place.do("/stop")
    assert document["session_status"] in ("finished", "failed"), document
    assert place.done() == case.done
