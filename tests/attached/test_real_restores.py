"""Going back in the middle of graphs, after a kill -9: to one of their steps, to one of the session (D11)."""

from __future__ import annotations

import signal
from typing import Any

import pytest
from real_cases import Case, each, each_first
from real_support import Place, Talk, asked, attaching, seen_in

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


def values(document: dict[str, Any]) -> list[Any]:
    """Return what interrupts ask."""
    return [question["subject"].get("value") for question in document["questions"]]


@pytest.mark.slow
@each_first()
def test_killed_while_it_asks_then_answered_then_taken_back_to_its_question(ready: Place, case: Case) -> None:
    process = ready.start(*attaching(case, "--line"))
    seen_in(process, "/answer")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = ready.done()
    first = listed = ready.do("/checkpoint list --todo 1")
    assert ready.done() == before
    Talk(ready, case).answer(first)
    middle = ready.done()
    document = ready.do(f"/checkpoint restore {listed['checkpoints'][0]['checkpoint_id']}")
    assert [q["kind"] for q in document["questions"]] == ["todo"], asked(document)
    assert ready.done() == middle
    document = ready.do("/todo approve 1")
    assert values(document) == values(first)
    # What was finished before that step isn't done again; what was within it is.
    back = ready.done()
    assert {k: n - middle.get(k, 0) for k, n in back.items() if n != middle.get(k)} == dict.fromkeys(case.within, 1)
    Talk(ready, case).to_the_end(document)
    rest = {k: n - before.get(k, 0) for k, n in case.done.items() if n != before.get(k)}
    assert {k: n - back.get(k, 0) for k, n in ready.done().items() if n != back.get(k)} == rest


@pytest.mark.slow
@each("approve", "parallel", "discussion", slow=("approve", "discussion"))
def test_a_checkpoint_of_the_session_is_restored_and_asks_before_the_graph_runs_again(ready: Place, case: Case) -> None:
    first = ready.attach(case).json
    before = ready.done()
    checkpoints = ready.do("/checkpoint list")["checkpoints"]
    asking = next(c for c in reversed(checkpoints) if c["node"] == "approval" and not c["todos_completed"])
    document = ready.do(f"/checkpoint restore {asking['checkpoint_id']}")
    assert [q["kind"] for q in document["questions"]] == ["todo"], asked(document)
    assert ready.done() == before
    document = ready.do("/todo approve 1")
    assert [q["kind"] for q in document["questions"]] == ["effect"], asked(document)
    assert ready.done() == before
    document = ready.do("/todo again 1")
    assert values(document) == values(first)
    Talk(ready, case).to_the_end(document)
    done = ready.done()
    assert {k: n - before.get(k, 0) for k, n in done.items() if n - before.get(k, 0)} == case.done
