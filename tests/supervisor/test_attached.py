"""Graphs of others, as they are: asked, answered, stopped, edited, rescued, taken further (I1 to I5, I7)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from attached_support import Attached, attached, world

from hitl_tui.core.json_text import digest
from hitl_tui.core.requests import Kind
from hitl_tui.wording.decision_rows import decision_cells
from hitl_tui.wording.inbox_rows import asked_words
from hitl_tui.wording.question_rows import whole
from hitl_tui.wording.text_lines import result_lines


@pytest.fixture(autouse=True)
def _world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD", str(tmp_path / "world.txt"))
    monkeypatch.delenv("DIE", raising=False)


async def result(op: Attached) -> Any:
    """Return what the graph's last TODO ended with."""
    todo = op.now.todos[-1]
    assert todo.result is not None, todo.error
    return (await op.session.artifact(str(todo.result["digest"])))["data"]["values"]


async def test_nothing_runs_before_it_was_approved_and_the_graph_asks_for_itself(tmp_path: Path) -> None:
    async with attached(tmp_path, "mail", '{"to": "ann"}') as op:
        (question,) = op.questions
        assert question.kind is Kind.TODO
        arguments = question.view.request.subject["arguments"]
        assert arguments["input"] == {"to": "ann"} and "attached_graphs.py" in arguments["programs"]
        assert not world(tmp_path)
        await op.ok("/todo approve")
        assert op.asked == [{"action": "send_mail", "message": "Send it?", "to": "ann", "body": "Dear ann"}]
        assert world(tmp_path) == {"write": 1}
        await op.ok('/answer 1 {"action": "approve", "to": "bob"}')
        assert await result(op) == {"to": "ann", "body": "Dear ann", "sent": True}
    assert world(tmp_path) == {"write": 1, "send bob": 1, "file": 1}


@pytest.mark.parametrize(
    ("graph", "given", "meant"),
    [
        ("essay", '"dogs"', "dogs"),
        ("essay", "dogs", "dogs"),
        ("essay", 'dogs and "cats"', 'dogs and "cats"'),
        ("essay", '"dogs" and "cats"', '"dogs" and "cats"'),
        ("essay", "30", "30"),
        ("essay", "true", "true"),
        ("anything", '"dogs"', "dogs"),
        ("anything", "dogs", "dogs"),
        ("anything", "30", 30),
        ("anything", '"30"', "30"),
    ],
)
async def test_an_input_in_json_is_read_as_json_and_any_other_text_stays_one(
    tmp_path: Path, graph: str, given: str, meant: object
) -> None:
    async with attached(tmp_path, graph, given) as op:
        assert op.questions[0].view.request.subject["arguments"]["input"] == meant


async def test_what_nodes_print_goes_to_the_stream(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with attached(tmp_path, "mail", '{"to": "ann"}') as op:
        await op.ok("/todo approve")
        assert "writing" in [line.text for line in op.session.activity.lines]
    assert "writing" not in capsys.readouterr().out


async def test_several_questions_are_answered_singly_in_any_order(tmp_path: Path) -> None:
    async with attached(tmp_path, "many", '{"names": ["a", "b", "c"]}') as op:
        await op.ok("/todo approve")
        assert op.asked == ["What of a?", "What of b?", "What of c?"]
        before = {q.view.request.subject["value"]: q.id for q in op.questions}
        await op.ok("/answer todo_001.2 two")
        assert op.asked == ["What of a?", "What of c?"]
        assert {q.view.request.subject["value"]: q.id for q in op.questions}.items() <= before.items()
        assert world(tmp_path)["heard b"] == 1
        await op.ok("/answer todo_001.3 three")
        await op.ok(f"/answer {op.questions[0].name} one")
        assert sorted((await result(op))["said"]) == ["a=one", "b=two", "c=three"]
    heard = {k: n for k, n in world(tmp_path).items() if k.startswith("heard")}
    assert heard == {"heard a": 1, "heard b": 1, "heard c": 1}


async def test_questions_that_were_not_answered_are_the_same_after_reopening(tmp_path: Path) -> None:
    async with attached(tmp_path, "many", '{"names": ["a", "b"]}') as op:
        await op.ok("/todo approve")
        await op.ok("/answer todo_001.1 one")
        asked = [q.id for q in op.questions]
        seen = world(tmp_path)
    async with attached(tmp_path, "many") as op:
        assert [q.id for q in op.questions] == asked
        assert world(tmp_path) == seen
        await op.ok(f"/answer {op.questions[0].name} two")
        assert sorted((await result(op))["said"]) == ["a=one", "b=two"]


async def test_a_validation_loop_asks_again_with_a_better_message(tmp_path: Path) -> None:
    async with attached(tmp_path, "loop", "{}") as op:
        await op.ok("/todo approve")
        first = op.questions[0].id
        await op.ok('/answer 1 "thirty"')
        assert op.asked == ["'thirty' is no age. How old are you?"]
        assert op.questions[0].id != first
        await op.ok(
            f'/answer {op.questions[0].name} "thirty"'
        )  # the same answer to the same words: asked anew, not answered by itself
        assert op.asked == ["'thirty' is no age. How old are you?"]
        await op.ok(f"/answer {op.questions[0].name} 30")
        assert await result(op) == {"age": 30}


async def test_what_the_rules_find_stands_beside_the_first_question(tmp_path: Path) -> None:
    async with attached(tmp_path, "nested", '{"amount": 3}') as op:
        async with asyncio.timeout(30):
            while not op.questions[0].view.evidence:
                await op.session.changed(op.now)
        evidence = op.questions[0].view.evidence
        assert evidence["command"].endswith("attached_graphs.py:nested")
        assert {f["rule"] for f in evidence["findings"]} == {"HT006"}
        noted = [line.text for line in op.session.activity.lines if line.kind == "note"]
        assert any("attached_graphs.py:" in text and " HT006 " in text for text in noted)
        await op.ok("/todo approve")
        assert not op.questions[0].view.evidence


async def test_fields_of_a_question_come_in_the_order_in_which_the_graph_gave_them(tmp_path: Path) -> None:
    async with attached(tmp_path, "mail", '{"to": "ann"}') as op:
        await op.ok("/todo approve")
        (question,) = op.questions
        assert question.shape is not None
        assert [detail.label for detail in question.shape.details] == ["action", "to", "body"]
        assert question.view.request.digest == digest(question.view.request.subject)


async def test_what_runs_again_is_said_before_and_counted_after(tmp_path: Path) -> None:
    async with attached(tmp_path, "nested", '{"amount": 3}') as op:
        await op.ok("/todo approve")
        (question,) = op.questions
        assert question.view.request.subject["path"] == ["sub", "inside"]
        again = question.view.request.about["again"]
        assert again[0] == (
            "What comes after your answer happens once; what `sub → inside` did before it asked is done a second time"
        )
        assert again[1].startswith("`sub` goes on inside")
        await op.ok("/answer 1 true")
        assert op.now.todos[0].metadata["entered"] == {"before_inner": 1, "sub": 2, "sub/inside": 2}
    assert world(tmp_path) == {"before": 1, "inside": 2}


async def test_a_question_says_that_what_it_shows_may_not_be_what_is_used(tmp_path: Path) -> None:
    (tmp_path / "price.txt").write_text("5")
    async with attached(tmp_path, "debt", "{}") as op:
        await op.ok("/todo approve")
        (note,) = op.questions[0].view.request.about["notes"]
        assert note.startswith("What pathlib…read_text gives is shown in the question and used after the answer.")
        assert note.endswith("(HT012, attached_graphs.py:226)")
        await op.ok("/answer 1 true")
        assert op.asked == ["Send a reminder?"]
        assert not op.questions[0].view.request.about["notes"]


async def test_a_node_that_calls_a_graph_runs_again_from_its_start(tmp_path: Path) -> None:
    async with attached(tmp_path, "called", '{"amount": 3}') as op:
        await op.ok("/todo approve")
        again = op.questions[0].view.request.about["again"]
        assert any("what `calls_inner` did before it asked" in line for line in again)
        await op.ok("/answer 1 true")
        assert await result(op) == {"amount": 1}
    assert world(tmp_path)["calls"] == 2


async def test_the_functional_api_works_and_finished_tasks_are_not_done_again(tmp_path: Path) -> None:
    async with attached(tmp_path, "flow", "21") as op:
        await op.ok("/todo approve")
        assert op.asked == [{"question": "Is 42 right?"}]
        await op.ok("/answer 1 true")
        assert await result(op) == {"value": 42, "right": True}
        assert op.now.todos[0].metadata["entered"] == {"flow": 2, "double": 1}
    assert world(tmp_path) == {"double 21": 1}


async def test_a_finished_task_is_entered_once_however_often_its_entrypoint_is(tmp_path: Path) -> None:
    async with attached(tmp_path, "twice", "21") as op:
        await op.ok("/todo approve")
        await op.ok("/answer 1 true")
        await op.ok("/answer 001.2 true")
        assert await result(op) == [True, True, 2]
        assert op.now.todos[0].metadata["entered"] == {"twice": 3, "double": 2}
    assert world(tmp_path) == {"double 21": 1, "double 1": 1}


async def test_breakpoints_stop_and_step_node_by_node(tmp_path: Path) -> None:
    async with attached(tmp_path, "mail", '{"to": "ann"}') as op:
        await op.ok("/break before *")
        await op.ok("/todo approve")
        assert op.asked[0]["next"] == ["write"]
        assert not world(tmp_path)
        await op.ok("/unbreak")
        await op.ok("/step")
        assert op.asked[0]["next"] == ["send"]
        await op.ok("/continue")
        assert op.asked[0]["action"] == "send_mail"
        assert (await op.say("/step")).failed
        await op.ok(f"/answer {op.questions[0].name} approve")
        assert (await result(op))["sent"] is True
    assert world(tmp_path) == {"write": 1, "send ann": 1, "file": 1}


async def test_a_breakpoint_is_still_there_after_reopening(tmp_path: Path) -> None:
    async with attached(tmp_path, "mail", '{"to": "ann"}') as op:
        await op.ok("/break before send --todo 1")
        await op.ok("/todo approve")
        asked = [q.id for q in op.questions]
    async with attached(tmp_path, "mail") as op:
        assert [q.id for q in op.questions] == asked
        await op.ok("/continue")
        assert op.asked[0]["action"] == "send_mail"


async def test_an_edited_state_is_asked_anew_and_an_old_answer_does_not_count(tmp_path: Path) -> None:
    async with attached(tmp_path, "mail", '{"to": "ann"}') as op:
        await op.ok("/todo approve")
        (old,) = op.questions
        refused = await op.say('/state edit 1 {"tooo": "x"}')
        assert refused.failed and "has no" in refused.message
        assert [q.id for q in op.questions] == [old.id]
        await op.ok('/state edit 1 {"to": "eve"}')
        assert op.questions[0].view.request.subject["from_step"]["values"] == {"to": "eve"}
        await op.ok("/todo approve")
        assert op.asked[0]["to"] == "eve"
        assert op.questions[0].id != old.id
        late = await op.session.setup.ledger.request(old.id, op.session.setup.now())
        assert late is not None and late.request.superseded
        await op.ok(f"/answer {op.questions[0].name} approve")
    assert world(tmp_path) == {"write": 1, "send eve": 1, "file": 1}


@pytest.mark.parametrize("graph", ["gated", "joined"])
async def test_an_edited_state_keeps_what_comes_next(tmp_path: Path, graph: str) -> None:
    async with attached(tmp_path, graph, '{"amount": 82000}') as op:
        await op.ok("/todo approve")
        assert op.asked[0]["next"] == ["pay"]
        await op.ok('/state edit 1 {"amount": 5}')
        await op.ok("/todo approve")
        assert (await result(op))["amount"] == 5
    assert world(tmp_path) == {"pay 5": 1}


async def test_an_edited_state_keeps_calls_by_send(tmp_path: Path) -> None:
    async with attached(tmp_path, "sent", '{"amount": 7}') as op:
        await op.ok("/todo approve")
        await op.ok('/state edit 1 {"amount": 5}')
        await op.ok("/todo approve")
        assert (await result(op))["log"] == ["prepared", "paid", "paid"]
    assert world(tmp_path) == {"pay 1": 1, "pay 2": 1}


async def test_a_question_about_an_edited_state_says_what_becomes_of_it_and_who_did_it(tmp_path: Path) -> None:
    async with attached(tmp_path, "gated", '{"amount": 5, "most": 7, "log": ["begun"]}') as op:
        await op.ok("/todo approve")
        await op.ok('/state edit 1 {"amount": 82000, "most": 3, "log": ["more"]}')
        (question,) = op.questions
        shown = "\n".join(f"{row.label} {row.text.plain}" for row in whole(question))
        assert "changes amount: 5 → 82000\n" in shown
        assert "most: 7 → 7 (the field's reducer keeps it)\n" in shown
        assert 'log.2: nothing → "more" (the field\'s reducer makes this of what was given)\n' in shown
        assert "changed by ann" in shown
        assert "\nbegun with " in shown and "\namount 5" not in shown
        assert "amount: 5 → 82000" in asked_words(question.view)
        decided = (await op.ok("/decisions")).data["decisions"]
        assert any("edited 001: amount 5 → 82000" in " ".join(decision_cells(one)) for one in decided)
        happened = str((await op.ok("/checkpoint list")).data)
        assert "82000" in happened


async def test_a_breakpoint_is_asked_again_after_an_attempt_that_ran_nothing(tmp_path: Path) -> None:
    async with attached(tmp_path, "gated", '{"amount": 5, "most": 7}') as op:
        await op.ok("/todo approve")
        await op.ok('/state edit 1 {"most": 9}')
        (tmp_path / "world.txt.broken").touch()
        await op.ok("/todo approve")
        assert op.questions[0].kind is Kind.FAILURE
        assert op.now.todos[0].error == "The state can't be changed like this: not now."
        refused = await op.say('/state edit 1 {"most": 9}')
        assert refused.failed and refused.message == "The state can't be changed like this: not now."
        (tmp_path / "world.txt.broken").unlink()
        await op.ok("/todo retry 1")
        assert not world(tmp_path)
        assert op.asked[0]["next"] == ["pay"]


async def test_a_failure_goes_on_from_its_last_checkpoint_when_it_is_tried_again(tmp_path: Path) -> None:
    async with attached(tmp_path, "flaky", '{"amount": 1}') as op:
        await op.ok("/todo approve")
        (question,) = op.questions
        assert question.kind is Kind.FAILURE
        assert "ValueError: not yet (attached_graphs.py line" in op.now.todos[0].error
        (tmp_path / "world.mended").touch()
        await op.ok("/todo retry 1")
        assert await result(op) == {"amount": 7}
    assert world(tmp_path) == {"before": 1, "flaky": 2}


async def test_a_thread_that_a_bad_answer_wedged_is_rescued(tmp_path: Path) -> None:
    async with attached(tmp_path, "fussy", '{"amount": 1}') as op:
        await op.ok("/todo approve")
        await op.ok("/answer 1 true")
        (question,) = op.questions
        assert question.kind is Kind.FAILURE
        assert question.view.request.about["wedged"] is True
        assert question.commands["rescue"] == "/rescue todo_001"
        await op.ok("/todo retry 1")  # the answer is in the thread: it fails again
        assert op.questions[0].kind is Kind.FAILURE
        await op.ok("/rescue")
        await op.ok("/todo approve")
        assert op.asked == [{"question": "Which?", "amount": 1}]
        await op.ok(f'/answer {op.questions[0].name} {{"amount": 9}}')
        assert await result(op) == {"amount": 9}


async def test_further_input_goes_on_with_the_same_thread(tmp_path: Path) -> None:
    async with attached(tmp_path, "chat", '{"text": "one"}') as op:
        await op.ok("/todo approve")
        await op.ok('{"text": "two"}')
        assert op.questions[0].kind is Kind.PROPOSAL
        await op.ok("/proposal accept")
        await op.ok("/todo approve")
        assert (await result(op))["said"] == ["0:one", "1:two"]


async def test_a_restore_of_the_session_asks_before_it_repeats_the_graph(tmp_path: Path) -> None:
    async with attached(tmp_path, "mail", '{"to": "ann"}') as op:
        waiting = op.now.checkpoint_id
        await op.ok("/todo approve")
        await op.ok(f"/answer {op.questions[0].name} approve")
        await op.ok(f"/checkpoint restore {waiting}")
        await op.ok("/todo approve")
        (question,) = op.questions
        assert question.kind is Kind.EFFECT
        assert world(tmp_path)["write"] == 1
        await op.ok("/todo again 1")
        assert op.asked[0]["action"] == "send_mail"
    assert world(tmp_path)["write"] == 2


async def test_a_step_of_the_graph_is_restored_without_running_what_came_before(tmp_path: Path) -> None:
    async with attached(tmp_path, "mail", '{"to": "ann"}') as op:
        await op.ok("/todo approve")
        await op.ok(f"/answer {op.questions[0].name} approve")
        steps = await op.session.steps("todo_001", 20)
        before_send = next(s for s in steps if s.node == "write" or "send" in str(s.to_dict()))
        await op.ok(f"/checkpoint restore {before_send.checkpoint_id}")
        assert op.questions[0].view.request.about["again"][0] == "`send` restarts from its top"
        await op.ok("/todo approve")
        await op.ok(f'/answer {op.questions[0].name} {{"action": "no"}}') if op.asked and "action" in (
            op.asked[0] or {}
        ) else None
    assert world(tmp_path)["write"] == 1


async def test_a_step_is_named_as_it_is_listed_and_says_which_nodes_come_next(tmp_path: Path) -> None:
    async with attached(tmp_path, "side_by_side", "{}") as op:
        await op.ok("/todo approve")
        listed = await op.ok("/checkpoint list --todo 1")
        lines = [line.split() for line in result_lines(listed, op.now)]
        nodes = {" ".join(words[3:]): words[0] for words in lines if len(words) > 3}
        assert {"a, b", "both"} <= nodes.keys(), lines
        await op.ok(f"/checkpoint restore {nodes['a, b']}")
        assert op.questions[0].view.request.about["again"][0] == "`a, b` restarts from its top"


async def test_a_module_that_is_gone_is_one_sentence_and_the_session_stays(tmp_path: Path) -> None:
    async with attached(tmp_path, "mail", '{"to": "ann"}') as op:
        graph = op.session.setup.folder.graphs()[0]
        op.session.setup.folder.write_graphs([type(graph)(graph.name, str(tmp_path / "gone.py"), str(tmp_path))])
    async with attached(tmp_path, "mail") as op:
        said = await op.say("/todo approve")
        assert (said.failed, said.message) == (True, f"File {tmp_path / 'gone.py'} not found.")
        assert op.questions[0].kind is Kind.TODO


@pytest.mark.parametrize(
    ("attribute", "given", "says"),
    [
        ("mial", '{"to": "a"}', 'did you mean "mail"?'),
        ("Mail", '{"to": "a"}', "not a LangGraph graph"),
        ("mail", '{"too": "a"}', 'has no input "too"; did you mean "to"?'),
        ("mail", '{"to": 5}', '"to" of graph must be a string, not an integer.'),
        ("nested", "some words", "takes"),
        ("COUNT", "{}", "not a LangGraph graph"),
    ],
)
async def test_what_cannot_be_attached_is_one_sentence(tmp_path: Path, attribute: str, given: str, says: str) -> None:
    from hitl_tui.core.errors import BadInput

    with pytest.raises(BadInput) as caught:
        async with attached(tmp_path, attribute, given):
            pass
    assert says in caught.value.message
    assert not list((tmp_path / "data" / "sessions").iterdir())


async def test_a_cancelled_graph_that_is_tried_again_goes_on_where_it_stood(tmp_path: Path) -> None:
    async with attached(tmp_path, "slow", '{"amount": 1}') as op:
        await op.handler.handle_command("/todo approve")
        async with asyncio.timeout(30):
            while not world(tmp_path)["slow"]:
                await op.session.changed(None)
                await asyncio.sleep(0)
        await op.ok("/todo cancel 1")
        assert op.questions[0].kind is Kind.FAILURE
        (tmp_path / "world.mended").touch()
        await op.ok("/todo retry 1")
        assert op.questions[0].kind is Kind.EFFECT  # how far it got when it was cancelled isn't known
        assert "in an earlier attempt" in op.questions[0].view.request.subject["effect"]["why"]
        assert world(tmp_path)["slow"] == 1
        await op.ok("/todo again 1")
        assert await result(op) == {"amount": 8}
        assert op.now.todos[0].metadata["threads"] == {"s1/todo_001/0.2": "s1/todo_001/0.1"}
    assert world(tmp_path) == {"before": 1, "slow": 2}


async def test_a_node_cut_off_beside_one_that_asks_is_asked_about(tmp_path: Path) -> None:
    async with attached(tmp_path, "beside", '{"amount": 1}') as op:
        await op.handler.handle_command("/todo approve")
        async with asyncio.timeout(30):
            while not (await op.session.graph("todo_001")).asking or not world(tmp_path)["slow"]:  # noqa: ASYNC110 - no event says so
                await asyncio.sleep(0)
    (tmp_path / "world.mended").touch()
    async with attached(tmp_path, "beside") as op:
        assert [q.kind for q in op.questions] == [Kind.EFFECT]
        await op.ok("/todo again 1")
        assert op.asked == ["How much?"]
        await op.ok("/answer 1 5")
        assert await result(op) == {"amount": 8}
    assert world(tmp_path)["slow"] == 2
