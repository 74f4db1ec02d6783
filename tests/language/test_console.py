"""The console in Korean: on its screens no word of ours is English, and nothing is cut off (C11)."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_support import Console, console
from people import write_approvers
from screens import english, rows
from test_review import place

from hitl_tui.commands.spec import SPECS
from hitl_tui.console.keys import KEYS
from hitl_tui.core.todos import Status
from hitl_tui.language import _, using
from hitl_tui.policy.accounts import account_name

pytestmark = pytest.mark.long

QUERY = "cap은 몇 percent인가"
TWO_STEPS = "cap 상한을 분석해줘"

KEYS_SHOWN = frozenset({"Esc", "Enter", "PgDn", "PgUp", "Space", "Tab", "Home", "End", "Shift", "Ctrl", "Del"})
TYPED = frozenset(word for spec in SPECS for word in spec.usage.replace("-", " ").split() for word in word.split("|"))
PROGRAM = frozenset(
    {"hitl-tui", "approver", "add", "NAME", "TODO", "LangGraph", "JSON", "id", "id의", "md나", "md", "json이면", "json"}
)
NODES = frozenset({"coordinator", "planning", "approval", "aggregate", "prepare", "preprocess", "analyse", "finalise"})
FIELDS = frozenset(
    {"documents", "limit", "query", "path", "arguments", "command", "team", "risk", "decision", "workspace"}
)
WRITTEN = frozenset(
    {"search", "analysis", "keep", "both", "note", "touch", "ls", "ops", "console", "comprehensive", "REASON", "step"}
    | {"plan", "risk", "refresh", "find", "report", "run", "one", "high", "low", "allow", "policy", "input", "by", "at"}
    | {"shown", "The", "cap", "Cap", "number", "is", "percent", "approve", "reject", "edit", "y", "priority", "rules"}
    | {"control", "todos", "results", "response", "waiting", "asked", "inputs", "missing", "session", "task", "timeout"}
    | {"todo", "argv", "parameters", "preview", "file", "open", "completed", "true", "false", "qqqq", "fg"}
    | {"never", "any", "until", "ask", "bot", "exact", "quorum", "quo", "comm", "command_team", "deadline", "dark"}
    | {"provider", "name", "none", "budget", "tokens", "da"}
)
"""Names of keys, commands, nodes and fields, and what the test and its documents say."""
PEOPLE = frozenset({"ann", "bob", account_name()})
KNOWN = PEOPLE | KEYS_SHOWN | PROGRAM | NODES | FIELDS | WRITTEN | frozenset(w.strip("/<>[]…") for w in TYPED)


async def seen(c: Console, what: str) -> list[str]:
    """Return the rows of the screen, on which every word of ours is Korean."""
    await c.pilot.pause()
    found = rows(c.app)
    assert any("가" <= letter <= "힣" for line in found for letter in line), what
    assert english(found, KNOWN) == [], what
    return found


async def shows(c: Console, text: str) -> list[str]:
    """Wait until a text is on the screen, and look at all of it."""
    await c.until(lambda: text in "\n".join(rows(c.app)), text)
    return await seen(c, text)


SIZES = pytest.mark.parametrize(
    "size", [(80, 24), pytest.param((120, 40), marks=pytest.mark.slow)], ids="{0[0]}x{0[1]}".format
)


@SIZES
async def test_the_first_screen_help_palette_and_inbox(tmp_path: Path, size: tuple[int, int]) -> None:
    write_approvers(tmp_path / "d", "ann", "bob")
    with using("ko"):
        async with console(tmp_path / "d", place(tmp_path / "w"), size=size) as c:
            home = await shows(c, "전세금")
            assert "F1 도움말" in home[-1]
            await c.press("f1")
            for page in range(12):
                await seen(c, f"help {page}")
                await c.press("pagedown")
            await c.press("escape", "ctrl+p")
            await shows(c, "명령 찾기")
            await c.press(*"qqqq")
            await shows(c, "맞는 것이 없습니다")
            await c.press("escape", "f3")
            await shows(c, "기다리는 질문이 없습니다.")


@SIZES
async def test_a_question_and_its_dialogs(tmp_path: Path, size: tuple[int, int]) -> None:
    with using("ko"):
        async with console(tmp_path / "d", place(tmp_path / "w"), query=TWO_STEPS, mode="step", size=size) as c:
            await c.asked(1)
            actions = [line for line in await seen(c, "a question") if "1 승인 " in line]
            assert "1 승인 2 편집 3 거부 4 건너뛰기 – 응답 6 세부 정보" in " ".join(actions[0].split())
            assert "– 항상 허용 " in actions[0]  # in this mode no rule matters
            for key, title, whole in (
                ("6", "질문 · 001", "Esc 닫기"),
                ("2", "편집 · 001", "Esc 뒤로"),
                ("3", "거부 · 001", "Esc 취소"),
            ):
                await c.to_question()
                c.clock.rest()
                await c.press(key)
                assert any(whole in line for line in await shows(c, title)), title
                await c.press("escape")
            await c.to_question()
            await c.press("1")
            await c.until(lambda: c.status("todo_001") == Status.COMPLETED, "the search")
            await c.asked(1)
            await c.send("/todo skip 2")
            await c.until(lambda: c.message.startswith("1 완료, 1 건너뜀 · 답변 완료 · F6 키로 읽기"), "how it ended")


@SIZES
async def test_a_session_its_panes_and_its_past(tmp_path: Path, size: tuple[int, int]) -> None:
    write_approvers(tmp_path / "d", "ann", "bob")
    with using("ko"):
        async with console(tmp_path / "d", place(tmp_path / "w"), query=QUERY, mode="risk", size=size) as c:
            await c.until(lambda: c.shown() and c.snapshot.concluded, "the answer")
            for number, command in enumerate(("keep file=one", "both"), start=1):
                await c.send(f"/todo add command_team {command}")
                await c.asked(number)
            await c.to_question()
            await shows(c, "위험")
            await c.press("space")
            c.clock.rest()
            await c.press("9")
            assert any("Esc 뒤로" in line for line in await shows(c, "표시됨 · 1"))
            await c.press("escape", "down")
            await shows(c, "찬성 0/2")
            for pane in ("plan", "history", "stream", "answer"):
                c.session.show_pane(pane, focus=True)
                await seen(c, pane)
            await c.press("f3")
            await shows(c, "받은 질문 · 2건")
            await c.press("escape")
            await c.send("/todo priority 99 high")
            await shows(c, '"99": 없는 단계입니다.')
            await c.send("/rules")
            await shows(c, "항상 허용된 것이 없음")
            await c.press("escape", "f5")
            await shows(c, "과거를 보는 중")
            await c.press("left", "left")
            for mode in ("1", "2"):
                await c.press(mode)
                for _pane in range(4):
                    await c.press("f6")
                    await seen(c, f"replay {mode}")
            for key, title in (("4", "번으로 복원"), ("3", "포크:")):
                await c.press(key)
                assert any("Esc 아니요" in line for line in await shows(c, title))
                await c.press("escape")
            await c.press("escape", "ctrl+o")
            await shows(c, "● 결정 대기 2건")


async def test_the_language_is_the_apps_own(tmp_path: Path) -> None:
    with using("ko"):
        async with console(tmp_path / "d") as c:
            assert "보내기" in rows(c.app)[-1]
    async with console(tmp_path / "e") as c:
        assert "send" in rows(c.app)[-1]


def test_every_key_has_a_korean_label_and_help() -> None:
    with using("ko"):
        assert english((f"{_(spec.label)} {_(spec.help)}" for spec in KEYS), KNOWN) == []
