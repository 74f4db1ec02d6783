"""What a question says that its answer runs again, and what the answer then does run again (I7)."""

from __future__ import annotations

from pathlib import Path

import pytest
from attached_support import attached, world

GRAPHS = Path(__file__).parent / "repeat_graphs.py"
CALLS = "`{}` makes these calls once more after your answer, from their start: {}"
BEFORE = "What comes after your answer happens once; what `{}` did before it asked is done a second time"


@pytest.fixture(autouse=True)
def _world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD", str(tmp_path / "world.txt"))
    monkeypatch.delenv("DIE", raising=False)


@pytest.mark.parametrize(
    ("graph", "said", "done"),
    [
        ("together", [CALLS.format("tools", "pay")], {"pay": 2, "mail": 1}),
        ("apart", [], {"pay": 1, "mail": 1}),
        ("alone", [], {"mail": 1}),
        ("alone_noted", [BEFORE.format("tools → noted")], {"note": 2}),
        (
            "within",
            [CALLS.format("sub → tools", "pay"), "`sub` goes on inside; its finished nodes don't run again"],
            {"pay": 2, "mail": 1},
        ),
        ("sending", [], {"send": 1}),
    ],
)
async def test_exactly_what_runs_again_is_named(
    tmp_path: Path, graph: str, said: list[str], done: dict[str, int]
) -> None:
    async with attached(tmp_path, graph, '{"messages": []}', file=GRAPHS) as op:
        await op.ok("/todo approve")
        (question,) = op.questions
        assert question.again == said
        await op.ok(f"/answer {question.name} respond yes")
        assert op.now.status == "finished", op.now.todos[0].error
    assert world(tmp_path) == done


async def test_calls_of_one_task_are_counted(tmp_path: Path) -> None:
    async with attached(tmp_path, "several", '{"messages": []}', file=GRAPHS) as op:
        await op.ok("/todo approve")
        assert op.questions[0].again == [CALLS.format("tools", "pay ×2, noted")]


async def test_what_was_done_after_an_earlier_answer_is_done_again_by_the_next(tmp_path: Path) -> None:
    async with attached(tmp_path, "asks_twice", '{"messages": []}', file=GRAPHS) as op:
        await op.ok("/todo approve")
        assert op.questions[0].again == []
        await op.ok(f"/answer {op.questions[0].name} respond yes")
        assert op.questions[0].again == [BEFORE.format("tools → twice")]
        await op.ok(f"/answer {op.questions[0].name} respond yes")
        assert op.now.status == "finished", op.now.todos[0].error
    assert world(tmp_path) == {"between": 2}


@pytest.mark.filterwarnings("ignore:NodeInterrupt is deprecated")
async def test_a_question_that_no_answer_reaches_says_so_and_what_helps(tmp_path: Path) -> None:
    async with attached(tmp_path, "checking", '{"text": "much too long"}', file=GRAPHS) as op:
        await op.ok("/todo approve")
        said = "`checks` raises NodeInterrupt: no answer reaches it. Change its state first: /state edit"
        assert op.questions[0].again[0] == said
        await op.ok(f"/answer {op.questions[0].name} ok")
        assert op.asked == ["That is too long."] and op.questions[0].again[0] == said
        await op.ok('/state edit 1 {"text": "short"}')
        await op.ok("/todo approve")
        assert op.now.status == "finished", op.now.todos[0].error
