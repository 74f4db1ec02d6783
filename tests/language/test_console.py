"""The console in Korean: on its screens no word of ours is English, and nothing is cut off (C11)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from console_support import Console, console
from screens import english, rows
from test_review import place

from hitl_tui.console.keys import KEYS
from hitl_tui.core.todos import Status
from hitl_tui.language import _, using

QUERY = "상한은 몇 퍼센트인가"

# What isn't ours to translate, and is there all the same: keys, commands, names, and what the test itself wrote.
NAMES = re.compile(
    r"\bTODOs?\b|\bF\d+|Ctrl\+\w|Shift\+\S( \w)?|\b(Esc|Enter|PgDn|PgUp|Space|Tab|Home|End|LangGraph|JSON|hitl-tui)\b"
    r"|/[a-z]+( \w+)?|--[a-z]+|<\w+…?>|\[\w+…?\]|\[--\w+ \w+…?\]|\b[A-Z]{3,}\b|keys\.toml|hitl\.toml|\"question\.1\"|\"y\""
    r"|\b[a-z]+\.[a-z_\d]+\b|(?<=  )[a-z](?= )|(?<=\d )[a-z](?= )|(?<= )[mr](?= )|approve, reject|\bedit\b"
)
WRITTEN = re.compile(
    r"\b(search|analysis|command|document)(_team)?\b|\btodo_\d+|\bs\d\b|\b[\w.]+\.md\b|(The )?cap number \d is \d percent\.?|Cap \d"
    r"|\b(keep|both|note)( file=\w+)?\b|touch \w+|ls -a \.|\bops\b|file=\"\w+\"|\b\w*\d\w*\b|req-\w+|\b[0-9a-f]{6,}\b|/tmp/\S*"
    r"|\b(documents|limit|query|arguments|analysis_type|comprehensive|command|step|plan|risk|console|high|REASON|refresh|find|report)\b"
    r"|\b(coordinator|planning|plan_review|approval|execute_teams|execute_\S*|generate_res\S*|aggregate|prepare|preprocess|analyse"
    r"|generate_\w+|create_\w+|finalise|run|capture)\b"
)
STATE = re.compile(
    r"\b(approval_message|control|current_phase|planning|session_id|request_id|approval_status|todos|results|response)\b|\bwaiting\b"
)
RULE = re.compile(r"^.*(= |\[\[policy\]\]).*$")


def ours(app_rows: list[str], *more: re.Pattern[str]) -> list[str]:
    """Return the English words on a screen that are neither names nor content."""
    found = []
    for line in app_rows:
        for pattern in (*more, NAMES, WRITTEN):
            line = pattern.sub(" ", line)
        found += english([line], re.compile(r"(?!)"))
    return found


async def seen(c: Console, what: str, *more: re.Pattern[str]) -> list[str]:
    """Return the rows of the screen, on which every word of ours is Korean."""
    await c.pilot.pause()
    found = rows(c.app)
    assert any("가" <= letter <= "힣" for line in found for letter in line), what
    assert ours(found, *more) == [], what
    return found


SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids="{0[0]}x{0[1]}".format)


@SIZES
async def test_the_first_screen_help_palette_and_inbox(tmp_path: Path, size: tuple[int, int]) -> None:
    with using("ko"):
        async with console(tmp_path / "d", place(tmp_path / "w"), size=size) as c:
            home = await seen(c, "home")
            assert any("전세금" in line for line in home)
            assert home[-1].split() == home[-1].strip().split(), "the key line"
            await c.press("f1")
            for page in range(12):
                await seen(c, f"help {page}")
                await c.press("pagedown")
            await c.press("escape", "ctrl+p")
            await c.pilot.pause(0.3)
            await seen(c, "palette")
            await c.press("escape", "f3")
            await c.until(lambda: "받은 질문" in "\n".join(rows(c.app)), "inbox")
            await seen(c, "empty inbox")


@SIZES
async def test_a_session_and_its_dialogs(tmp_path: Path, size: tuple[int, int]) -> None:
    with using("ko"):
        async with console(tmp_path / "d", place(tmp_path / "w"), query=QUERY, mode="step", size=size) as c:
            await c.asked(1)
            shown = await seen(c, "a question")
            assert any("1 승인" in line and "7 항상" in line for line in shown), "the row of actions is whole"
            for key, title, more in (
                ("6", "질문 · 001", STATE),
                ("2", "편집 001", STATE),
                ("3", "거부 001", STATE),
                ("7", "항상 허용", RULE),
            ):
                await c.to_question()
                c.clock.rest()
                await c.press(key)
                await c.until(lambda title=title: title in "\n".join(rows(c.app)), title)  # type: ignore[misc]
                assert unclipped(await seen(c, title, more, CONTENT))
                await c.press("escape")
            await c.to_question()
            await c.press("1")
            await c.until(lambda: c.status("todo_001") == Status.COMPLETED, "the search")
            assert c.message == "todo_001: 승인했습니다."
            await c.send("/mode risk")
            await c.until(lambda: c.snapshot.concluded, "the answer")
            await c.send("/todo add command_team keep file=one")
            await c.asked(1)
            await c.send("/todo add command_team both")
            await c.asked(2)
            await c.to_question()
            shown = await seen(c, "a risky question")
            assert any("위험" in line for line in shown)
            await c.press("space", "9")
            await c.until(lambda: "표시됨" in "\n".join(rows(c.app)), "the review")
            await seen(c, "review")
            await c.press("escape", "down")
            assert "2명 중 0명 승인" in "\n".join(await seen(c, "quorum"))
            await c.press("escape")
            for pane in ("plan", "history", "stream", "answer"):
                c.session.show_pane(pane, focus=True)
                await seen(c, pane)
            await c.press("f3")
            await c.until(lambda: "받은 질문 ·" in "\n".join(rows(c.app)), "inbox")
            await seen(c, "inbox")
            await c.press("escape")
            await c.send("/todo priority 99 high")
            await c.until(lambda: 'TODO "99" 없음.' in c.message, "the error")
            await seen(c, "an error")
            await c.send("/rules")
            await c.until(lambda: "항상 허용된 것이 없음" in "\n".join(rows(c.app)), "rules")
            await seen(c, "rules")
            await c.press("escape")
            await replay(c)
            await c.press("ctrl+o")
            await c.until(lambda: "● 결정 대기" in "\n".join(rows(c.app)), "the list of sessions")
            await seen(c, "sessions")


async def replay(c: Console) -> None:
    await c.press("f5")
    await c.until(lambda: "과거를 보는 중" in "\n".join(rows(c.app)), "replay")
    await c.press("left", "left")
    for mode in ("1", "2"):
        await c.press(mode)
        await c.pilot.pause(0.2)
        for pane in range(4):
            await c.press("f6")
            await seen(c, f"replay {mode} {pane}", STATE)
    for key, title in (("4", "체크포인트 복원"), ("3", "포크:")):
        await c.press(key)
        await c.until(lambda title=title: title in "\n".join(rows(c.app)), title)  # type: ignore[misc]
        await seen(c, title, STATE, CONTENT)
        await c.press("escape")
    await c.press("escape")


# Behind a dialog lie the beginnings of lines of content.
CONTENT = re.compile(
    r"(?<=[┃│] )\w{1,4}(?=[│╰╭ ])|(?<=[┃│])\s+\w{1,4}(?=[│╰╭])|\b(team|task|timeout|argv|todo|session|policy|missing|inputs|asked)\b"
)


def unclipped(shown: list[str]) -> bool:
    """Return whether no row of a dialog ends in the midst of a word: buttons and key lines end with their frame."""
    return not any(re.search(r"(Ctrl\+[SE]|F9|Esc) ?$", line.rstrip(" │┃━╯╮")) for line in shown)


async def test_the_language_is_the_apps_own(tmp_path: Path) -> None:
    with using("ko"):
        async with console(tmp_path / "d") as c:
            assert any("보내기" in line for line in rows(c.app))
    async with console(tmp_path / "e") as c:
        assert any("send" in line for line in rows(c.app))


def test_every_key_has_a_korean_label_and_help() -> None:
    with using("ko"):
        for spec in KEYS:
            assert not re.search(r"[a-z]{2}", NAMES.sub("", f"{_(spec.label)} {_(spec.help)}").replace("id", "")), (
                spec.id
            )
