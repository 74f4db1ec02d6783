"""Why a step was not done, in a Korean answer: said as the rooms below really say it, never in English."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

import pytest

from hitl_tui.config.declared_commands import command_environment
from hitl_tui.core.events import Event, EventKind
from hitl_tui.core.fold_operator_events import rejected
from hitl_tui.core.messages import Message
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.supervisor.final_answer import compose, reason
from hitl_tui.teams.command.team import refuse_failure
from hitl_tui.teams.contract import TeamFailure
from hitl_tui.teams.process import run_command


def asking() -> SupervisorTodo:
    return SupervisorTodo("todo_001", "로그 삭제", status=Status.WAITING_APPROVAL)


def undone(todo: SupervisorTodo) -> str:
    """Return the line of a Korean answer that tells of a step that was not done."""
    text = compose("q", "ko", [todo], {}).text
    (line,) = [line for line in text.split("\n") if line.startswith("- 001")]
    return line.removeprefix("- 001 로그 삭제: ")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"by": "ann", "reason": "감사 로그부터: 확인"}, "ann 님이 거부함: 감사 로그부터: 확인"),
        ({"by": "ann"}, "ann 님이 거부함"),
        ({"by": "ann", "outcome": "expired"}, "기한이 지남"),
    ],
)
def test_a_rejection_is_told_in_korean_with_what_the_person_wrote(data: dict[str, str], said: str) -> None:
    assert undone(rejected(asking(), Event(EventKind.DECIDED, data, at="2026-01-01T00:00:00+00:00"))) == said


@pytest.mark.parametrize(
    ("script", "seconds", "said"),
    [
        ("echo disk full. >&2; exit 3", 30.0, "종료 코드 3: disk full"),
        ("exit 3", 30.0, "종료 코드 3"),
        ("kill -TERM $$", 30.0, "SIGTERM 신호로 종료됨"),
        ("exec sleep 60", 0.05, "제한 시간 0.05초가 지나 중지됨"),
    ],
)
def test_how_a_command_failed_is_told_in_korean(script: str, seconds: float, said: str, tmp_path: Path) -> None:
    argv = ["sh", "-c", script]
    outcome = asyncio.run(run_command(argv, tmp_path, seconds, command_environment({}, os.environ)))
    with pytest.raises(TeamFailure) as failure:
        refuse_failure({"command": "clean", "argv": argv, "exit_codes": [0], "timeout": seconds}, outcome, {})
    message = failure.value.message
    assert undone(SupervisorTodo("todo_001", "로그 삭제", status=Status.FAILED, error=message)) == f"실패 ({said})"
    optional = {"skip_reason": Message("failed: {}", message)}
    skipped = SupervisorTodo("todo_001", "로그 삭제", status=Status.SKIPPED, metadata=optional)
    assert undone(skipped) == f"건너뜀 ({said})"


def test_reasons_of_the_program_itself_hold_no_english() -> None:
    for why in (
        Message("cancelled by {}", "김운영"),
        Message("stopped by {}", "김운영"),
        Message("plan rejected by {}", "김운영"),
        Message("denied by policy rule {}", 2),
        Message("it took longer than {} s", 30),
    ):
        assert not re.search("[a-z]", reason(why, "ko")), why
        assert reason(why, "en") == why


def test_what_is_no_reason_of_the_program_stays_as_it_was_said() -> None:
    for why in ("the auditors said no", "cancelled by nobody", Message("{} said no", "ann")):
        assert reason(why, "ko") == why
