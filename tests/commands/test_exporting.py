"""Files to read: the answer and the plan as Markdown or JSON, harmless for who opens them (C8, C10)."""

from __future__ import annotations

import json
import resource
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "supervisor"))

from session_support import Place, step

from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.core.policy import Mode
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.extraction.blocks import EXPORTED, Unreadable
from hitl_tui.extraction.file_text import extract_bytes
from hitl_tui.ledger.approval_log import RESTORED, logged_decisions
from hitl_tui.supervisor.session_document import (
    as_json,
    as_markdown,
    export_for_reading,
    is_for_reading,
    write_for_reading,
)
from hitl_tui.supervisor.snapshot import Snapshot

HOSTILE = "a\x1b[2J\x9b1m\u202eb"


def snapshot(response: dict[str, object] | None) -> Snapshot:
    todo = SupervisorTodo(
        id="todo_001",
        name=f"Find {HOSTILE}",
        agent_name="search_team",
        status=Status.COMPLETED,
        approval={"by": f"ann{HOSTILE}", "at": "2026-01-01T00:00:00+00:00"},
        result={"summary": f"found {HOSTILE}"},
    )
    raw = {todo.id: todo.to_state()}
    return Snapshot("s1", f"Why?\n{HOSTILE}", "/w", "step", "approval", 0, 0, "c1", raw, response=response)


def test_markdown_has_question_answer_and_plan_and_nothing_that_moves() -> None:
    text = as_markdown(snapshot({"text": f"# Answer\n\n5 percent {HOSTILE}"}))
    assert text.startswith("# Why?\n")
    for said in (
        "5 percent a␛\\[2J",
        "**001** Find a␛\\[2J",
        "approved by anna␛",
        "found a␛",
        "Session s1, checkpoint c1.",
    ):
        assert said in text
    assert not {"\x1b", "\x9b", "\u202e"} & set(text)
    assert "Not finished" in as_markdown(snapshot(None))


def test_markdown_is_in_the_language_of_the_question() -> None:
    asked = replace(snapshot({"text": "## 답변\n\n5%"}), query="상한은 얼마인가?")
    text = as_markdown(asked)
    assert "## 계획\n" in text and "(search_team): 완료\n" in text
    assert (
        "  - anna␛" in text and "님이 승인함, 2026-01-01 00:00:00 UTC\n" in text and "세션 s1, 체크포인트 c1." in text
    )
    assert "끝나지 않았습니다" in as_markdown(replace(asked, response=None))


def test_an_exported_answer_is_no_evidence_for_another_one() -> None:
    text = as_markdown(snapshot({"text": "The cap is 5 percent."}))
    assert extract_bytes(text.replace(EXPORTED, "").encode(), ".md").blocks
    with pytest.raises(Unreadable, match=r"^an answer exported from here, which is no evidence for another one$"):
        extract_bytes(text.encode(), ".md")


def test_json_is_exact_and_in_ascii() -> None:
    text = as_json(snapshot({"text": HOSTILE}))
    assert text.isascii() and "\x1b" not in text
    assert json.loads(text)["response"]["text"] == HOSTILE


def test_no_file_is_written_over_and_a_missing_folder_is_said(tmp_path: Path) -> None:
    target = tmp_path / "a.md"
    assert write_for_reading(snapshot(None), target) == target
    before = target.read_bytes()
    with pytest.raises(BadInput, match="already exists"):
        write_for_reading(snapshot({"text": "x"}), target)
    assert target.read_bytes() == before
    with pytest.raises(BadInput, match="doesn't exist"):
        write_for_reading(snapshot(None), tmp_path / "none" / "a.json")
    assert [is_for_reading(Path(p)) for p in ("a.MD", "a.json", "a.hitl", "a")] == [True, True, False, False]


@pytest.mark.parametrize("name", ["a.pdf", "a.hitl.zip", "a.MD5", "\x1b[2J.docx"])
def test_a_name_that_promises_another_kind_of_file_is_refused(name: str) -> None:
    with pytest.raises(BadInput) as caught:
        is_for_reading(Path(name))
    assert all(kind in caught.value.message for kind in (".hitl", ".md", ".json"))
    assert "\x1b" not in caught.value.message


async def test_a_file_to_read_says_who_or_what_let_each_step_run_and_when(tmp_path: Path) -> None:
    """Somebody who reads it later sees what a mode let run, what a person allowed or refused, and by which way."""
    steps = (step("low", "a"), step("high", "b"), step("high", "c"), step("high", "d"), step("high", "e", "d"))
    place = Place(tmp_path, *steps)
    place.mode = Mode.RISK
    async with place.open() as op:
        await op.rest()
        await op.person("ben").handle_command("/todo approve 2")
        await op.say("/todo reject 3 too much", "/todo skip 5 no need", "/todo skip 4")
        await op.rest()
        assert set(op.statuses.values()) == {"completed", "failed", "skipped"}
        written = await export_for_reading(op.session, tmp_path / "a.md")
        kept = json.loads((await export_for_reading(op.session, tmp_path / "a.json")).read_text())["decisions"]
        korean = as_markdown(replace(op.now, query="지워줘"), await logged_decisions(op.session.writer.ledger, "s1"))
    parts = written.read_text().partition("\n\nSession")[0].split("- **")
    for part, told in zip(
        parts[1:],
        (
            "(low): completed\n  - let run by mode “ask risky steps only” (nobody was asked)"
            " at 2026-01-01 00:00:00 UTC\n",
            "(high): completed\n  - approved by ben (test) at 2026-01-01 00:00:00 UTC\n",
            "(high): rejected\n  - rejected by ann (test) at 2026-01-01 00:00:00 UTC: “too much”\n",
            "(high): skipped\n  - skipped by ann (test) at 2026-01-01 00:00:00 UTC\n",
            "(high): skipped\n  - skipped by ann (test) at 2026-01-01 00:00:00 UTC: “no need”\n",
        ),
        strict=True,
    ):
        assert told.rstrip() in part and part.count(" by ") == 1
    assert [(d["todo_id"], d["verdict"], d["by"], d["channel"]) for d in kept] == [
        ("todo_001", "approve", "mode risk", "mode"),
        ("todo_002", "approve", "ben", "test"),
        ("todo_003", "reject", "ann", "test"),
        ("todo_005", "skip", "ann", "test"),
        ("todo_004", "skip", "ann", "test"),
    ]
    for told in (
        "묻지 않고 모드 ‘위험한 단계만 묻기’에 따라 실행함",
        "ann (test) 님이 거부함",
        "ann (test) 님이 건너뜀, 2026-01-01 00:00:00 UTC\n",
        ": 거부됨\n",
    ):
        assert told in korean


async def test_a_file_to_read_tells_what_was_decided_about_the_plan_and_the_past_of_a_copy(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"))
    place.mode = Mode.PLAN
    async with place.open() as op:
        await op.rest()
        await op.say("/plan approve")
        seen = await op.rest()
        earlier = (await op.session.checkpoints(2))[1].checkpoint_id
        await op.say(f"/checkpoint restore {earlier}")
        decided = await logged_decisions(op.session.writer.ledger, "s1")
        text = as_markdown(op.now, decided)
    assert [one.about for one in decided if one.verdict == RESTORED] == [earlier]
    assert "- the plan: approved by ann (test) at 2026-" in text
    assert "- ann (test) went back to an earlier checkpoint at 2026-" in text
    assert "  - let run by mode “ask the plan, then risky steps” (nobody was asked) at 2026-" in as_markdown(
        seen
    )  # by its state alone


async def test_a_file_to_read_tells_what_input_was_allowed_and_what_was_taken_back(tmp_path: Path) -> None:
    """Of two approvals of one step it says which stood for what (C9)."""
    place = Place(tmp_path, step("high", "a"), step("high", "b"))
    async with place.open() as op:
        await op.rest()
        await op.say("/todo reject 1 not yet", "/todo update 1 pending")
        await op.rest()
        await op.say('/todo edit 1 {"text": "other"}')
        await op.rest()
        found = await logged_decisions(op.session.writer.ledger, "s1")
        lines = as_markdown(op.now, found).splitlines()
        korean = as_markdown(replace(op.now, query="지워줘"), found)
    at = "at 2026-01-01 00:00:00 UTC"
    begin = lines.index(f"  - rejected by ann (test) {at}: “not yet”")
    assert lines[begin + 1 : begin + 3] == [
        f"  - ann (test) wanted to be asked again {at}",
        f"  - ann (test) wanted another input {at}: “text: other”",
    ]
    assert "ann (test) 님이 다시 묻게 함" in korean and "ann (test) 님이 다른 입력을 요청함" in korean
    assert [(d.todo_id, d.verdict) for d in found] == [
        ("todo_001", "reject"),
        ("todo_001", "reopened"),
        ("todo_001", "edited"),
    ]


def test_half_a_file_is_not_left_behind(tmp_path: Path) -> None:
    target = tmp_path / "answer.md"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))  # what a full disk does
    try:
        with pytest.raises(StorageError, match="can't be written"):
            write_for_reading(snapshot({"text": "long " * 100}), target)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not target.exists()
    assert write_for_reading(snapshot({"text": "long " * 100}), target).read_text().count("long") == 100
