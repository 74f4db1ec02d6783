"""S1 to S3 as a person does them, in a real terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from terminal_support import CTRL_G, DOWN, EXAMPLE, Terminal, shown

RISE = "집주인이 전세금 3억을 10억으로 올려달래. 법적으로 해결방법 알려줘"
LARGE = pytest.param((120, 40), marks=pytest.mark.slow)
SIZES = pytest.mark.parametrize("size", [(80, 24), LARGE], ids=["80x24", "120x40"])


@pytest.mark.long
@SIZES
def test_s1_the_rise_is_computed_and_compared(tmp_path: Path, size: tuple[int, int]) -> None:
    with Terminal(tmp_path, size, "--workspace", str(EXAMPLE)) as terminal:
        terminal.see("Begin with", "Nothing runs until you approve it")
        terminal.send(RISE)
        terminal.see("ASK EVERY STEP", "1 needs you")
        terminal.decide("1", "Approve 001?")
        terminal.decide("1", "Approve 002?")
        terminal.see("✓ finished", "233.3%", "what-to-do.md:8")
        assert terminal.leave() == 0
    after = shown(tmp_path, "s1")
    assert [t["status"] for t in after["todos"]] == ["completed", "completed"]
    assert "233.3%" in after["response"] and "5%" in after["response"]


@pytest.mark.long
@SIZES
def test_s2_words_add_an_analysis(tmp_path: Path, size: tuple[int, int]) -> None:
    with Terminal(tmp_path, size, "--workspace", str(EXAMPLE), "강남구 아파트 시세 조회") as terminal:
        terminal.see("Approve 001?")
        terminal.send("검색만으로 부족할 것 같아. 분석도 추가해줘.")
        terminal.see("Proposed", "1 of 2")
        terminal.keys(CTRL_G)
        terminal.see("┏━ Approve 001?")
        terminal.keys(DOWN)
        terminal.decide("1", "Change the plan? · 2 of 2")
        terminal.decide("1", "Approve 001?")
        terminal.decide("1", "Approve 002?")
        terminal.see("✓ finished")
        assert terminal.leave() == 0
    after = shown(tmp_path, "s1")
    assert [(t["agent_name"], t["status"]) for t in after["todos"]] == [
        ("search_team", "completed"),
        ("analysis_team", "completed"),
    ]
    assert after["todos"][0]["completed_at"] <= after["todos"][1]["started_at"]


@pytest.mark.long
@SIZES
def test_s3_after_a_kill_only_the_analysis_runs(tmp_path: Path, size: tuple[int, int]) -> None:
    with Terminal(tmp_path, size, "--workspace", str(EXAMPLE), RISE) as terminal:
        terminal.decide("1", "Approve 001?")
        terminal.see("✓ done", "Approve 002?")
        terminal.kill()
    with Terminal(tmp_path, size) as terminal:
        terminal.see("✓ done", "Approve 002?")
        terminal.send("/checkpoint list")
        terminal.see("engine steps", "asked 002", "restore")
        terminal.keys("r")
        terminal.see("Asked again: 002", "Nothing runs", "─ ready ─")
        terminal.keys("1")
        terminal.see("restored to ", "┏━ Approve 002?")
        terminal.decide("1", "Approve 002?")
        terminal.see("✓ finished", "233.3%")
        assert terminal.leave() == 0
    after = shown(tmp_path, "s1")
    assert after["branch"] == 1
    assert [(t["status"], t["attempt"]) for t in after["todos"]] == [("completed", 1), ("completed", 1)]
    assert after["todos"][0]["run_id"].startswith("s1/todo_001/0.")
    assert after["todos"][1]["run_id"].startswith("s1/todo_002/1.")


@pytest.mark.long
def test_another_console_follows_and_its_answers_are_recorded(tmp_path: Path) -> None:
    with Terminal(tmp_path, (120, 40), "--workspace", str(EXAMPLE), RISE) as owner:
        owner.see("Approve 001?")
        with Terminal(tmp_path, (120, 40), "--session", "s1") as follower:
            follower.see("followed: another process has it open")
            follower.decide("1", "Approve 001?")
            follower.see("approved 001", "✓ done", "Approve 002?")
            owner.see("✓ done", "Approve 002?")
            assert follower.leave() == 0
        assert owner.leave() == 0
