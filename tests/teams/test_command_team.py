"""The command team: declared commands, exactly as approved."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from team_support import DeclaredDone, MemoryEffects, Progress, first, looking, make_context, run_team

from hitl_tui.config.loader import parse_config
from hitl_tui.core.errors import BadInput, HitlError, UnknownName
from hitl_tui.core.policy import Risk
from hitl_tui.teams.command.team import CommandTeam, command_parameters, command_words
from hitl_tui.teams.contract import Team, TeamFailure

TOML = """
[teams.command_team.commands.clean-logs]
run = ["find", "{dir}", "-name", "*.gz", "-mtime", "+{days}", "-print", "-delete"]
preview = ["find", "{dir}", "-name", "*.gz", "-mtime", "+{days}"]
description = "deletes old rotated logs"
parameters.dir = { type = "path" }
parameters.days = { type = "integer", default = 14, minimum = 0, maximum = 3650 }
timeout = "10m"

[teams.command_team.commands.say]
run = ["printf", "--", "%s\\\\n", "{words}"]
parameters.words = { type = "string", default = "hello" }
risk = "low"

[teams.command_team.commands.fail]
run = ["sh", "-c", "echo doing; echo first >&2; echo 'no space left.' >&2; exit 3"]

[teams.command_team.commands.differ]
run = ["sh", "-c", "exit 1"]
exit_codes = [0, 1]

[teams.command_team.commands.wait]
run = ["sh", "-c", "echo $$; sleep 300 & sleep 300"]
timeout = 1

[teams.command_team.commands.leak]
run = ["sh", "-c", "echo $DB_PASSWORD; echo $DB_PASSWORD >&2; echo '```'"]
preview = ["sh", "-c", "echo $DB_PASSWORD"]

[teams.command_team.commands.many]
run = ["true"]
preview = ["seq", "1", "100000"]

[teams.command_team.commands.read]
run = ["cat", "--", "data/{name}"]
parameters.name = { type = "path" }

[secrets]
names = ["DB_PASSWORD"]
"""
SECRETS = {"DB_PASSWORD": "swordfish"}


def make_team(text: str = TOML) -> CommandTeam:
    return CommandTeam(parse_config(text, "hitl.toml").commands)


def old_file(path: Path, days: int = 100) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("log")
    then = path.stat().st_mtime - days * 86_400
    os.utime(path, (then, then))
    return path


# --- binding ---


def test_binding_gives_exactly_what_will_run() -> None:
    team = make_team()
    assert isinstance(team, Team)
    expected = {
        "command": "clean-logs",
        "parameters": {"dir": "logs", "days": 30},
        "argv": ["find", "logs", "-name", "*.gz", "-mtime", "+30", "-print", "-delete"],
        "preview": ["find", "logs", "-name", "*.gz", "-mtime", "+30"],
        "timeout": 600.0,
        "exit_codes": [0],
    }
    assert team.bind("clean-logs dir=logs days=30", {}) == expected
    by_name = {"command": "clean-logs", "parameters": {"dir": "logs", "days": 30}}
    assert team.bind("delete the old logs", by_name) == expected
    assert team.bind("clean-logs dir=logs", {"parameters": {"days": 30}}) == expected
    assert team.bind("whatever", expected) == expected
    assert team.risk_of(expected) is Risk.HIGH
    assert team.risk_of(team.bind("say", {})) is Risk.LOW
    assert team.bind("say", {})["preview"] is None
    assert team.max_retries == 0
    assert team.timeout > 600


def test_a_command_that_is_gone_counts_as_risky() -> None:
    assert make_team().risk_of({"command": "gone"}) is Risk.HIGH
    assert make_team().risk_of({}) is Risk.HIGH


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        ("", {}, "Say which declared command to run"),
        ("clean-log dir=x", {}, 'did you mean "clean-logs"'),
        ("rm -rf /", {}, 'No declared command "rm"; known: clean-logs, '),
        ("say hello", {}, 'come parameters as name=value, not "hello"'),
        ("say =x", {}, "come parameters as name=value"),
        ("say words=a words=b", {}, "given twice"),
        ("say words='a", {}, "no closing quotation"),
        ("clean-logs", {}, "dir"),
        ("clean-logs dir=logs days=many", {}, "days"),
        ("clean-logs dir=logs days=4000", {}, "days"),
        ("clean-logs dir=/etc", {}, "dir"),
        ("clean-logs dir=../x", {}, "dir"),
        ("say wrods=x", {}, "wrods"),
        ("", {"command": 3}, "name of a declared command"),
        ("", {"command": "say", "words": "x"}, 'not "words"'),
        ("", {"command": "say", "parameters": "x"}, "a table of names and values"),
        ("", {"command": "say", "argv": ["rm"]}, '"argv" follows from the declaration of "say"'),
        ("", {"command": "say", "exit_codes": [0, 1]}, '"exit_codes" follows from the declaration'),
        ("", {"command": "say", "timeout": 9}, '"timeout" follows from the declaration'),
    ],
)
def test_what_can_not_be_bound_is_refused(text: str, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput) as raised:
        make_team().bind(text, arguments)
    assert words in raised.value.message
    assert "\n" not in raised.value.message


def test_without_declared_commands_nothing_can_be_run() -> None:
    with pytest.raises(UnknownName, match="none exist"):
        make_team("").bind("ls", {})
    assert "none is declared" in make_team("").description


@given(st.text())
def test_reading_a_command_line_never_breaks(text: str) -> None:
    try:
        name, *words = command_words(text)
        parameters = command_parameters(name, words)
    except BadInput as error:
        assert "\n" not in error.message
        assert len(error.message) < 300
    else:
        assert [f"{key}={value}" for key, value in parameters.items()] == words


@given(st.text(st.characters(blacklist_categories=["Cc", "Cs"])))
def test_a_value_is_never_more_than_one_argument(words: str) -> None:
    bound = make_team().bind("", {"command": "say", "parameters": {"words": words}})
    assert bound["argv"] == ["printf", "--", "%s\\n", words]


# --- running ---


async def run(workspace: Path, text: str, **more: Any) -> Any:
    team = make_team()
    return await run_team(team, make_context(workspace, team.bind(text, {}), **more))


async def test_a_command_runs_and_reports(tmp_path: Path) -> None:
    old, new = old_file(tmp_path / "logs/a.gz"), old_file(tmp_path / "logs/b.gz", days=2)
    effects, progress = MemoryEffects(), Progress()
    result = await run(tmp_path, "clean-logs dir=logs days=30", effects=effects, progress=progress)
    assert not old.exists()
    assert new.exists()
    argv = ["find", "logs", "-name", "*.gz", "-mtime", "+30", "-print", "-delete"]
    assert effects.asked == [("run", {"argv": argv, "cwd": "."})]
    assert progress.lines == ["logs/a.gz"]
    assert result.data["stdout"] == "logs/a.gz\n"
    assert (result.data["exit_code"], result.data["argv"]) == (0, argv)
    assert "find logs -name '*.gz'" in result.text
    assert "logs/a.gz" in result.text
    assert result.summary == "clean-logs: deleted 1 entry: logs/a.gz"


async def test_a_report_is_in_the_language_of_the_question(tmp_path: Path) -> None:
    result = await run(tmp_path, "say words='네'", query="네를 출력해줘")
    assert "출력:\n\n```text\n네\n```" in result.text and "종료 코드는 0이고 " in result.text
    assert result.summary == "say: 네"
    assert result.data["brief"]["answer"] == result.text.strip(), "a short one is the answer itself"
    quiet = await run(tmp_path, "say words=''", query="아무것도 출력하지 마")
    assert "출력:" not in quiet.text and "출력이 없습니다." in quiet.text


@pytest.mark.long
async def test_processes_that_a_command_left_running_are_named(tmp_path: Path) -> None:
    team = make_team('[teams.command_team.commands.serve]\nrun = ["sh", "-c", "sleep 300 & sleep 300 & echo up"]\n')
    for query, said, line in (
        ("Start the server", "ended with it: 2 processes that it had left running", "serve: up ("),
        ("서버를 시작해줘", "남아서 실행 중이던 프로세스 2개도 함께 종료", "serve: up ("),
    ):
        result = await run_team(team, make_context(tmp_path, team.bind("serve", {}), query=query))
        assert result.summary == f"{line}{said})"
        assert said[1:] in result.text and result.data["left"] == 2


async def test_of_a_long_output_the_answer_says_its_last_line(tmp_path: Path) -> None:
    team = make_team('[teams.command_team.commands.many]\nrun = ["seq", "16"]\n')
    for query, said in (
        ("여러 줄을 보여줘", "many: 출력 16줄, 마지막 줄: 16"),
        ("Show many lines", "many: 16 lines, the last: 16"),
    ):
        result = await run_team(team, make_context(tmp_path, team.bind("many", {}), query=query))
        assert result.data["brief"]["answer"] == result.summary == said
        assert [block["text"] for block in result.data["brief"]["evidence"]] == [result.text.strip()]


async def test_a_finished_command_is_not_run_again(tmp_path: Path) -> None:
    effects = MemoryEffects()
    old_file(tmp_path / "logs/a.gz")
    done = await run(tmp_path, "clean-logs dir=logs", effects=effects)
    again = old_file(tmp_path / "logs/a.gz")
    assert await run(tmp_path, "clean-logs dir=logs", effects=effects) == done
    assert again.exists()
    assert effects.acted == 1


async def test_hostile_values_are_plain_text(tmp_path: Path) -> None:
    result = await run(tmp_path, "say words='$(id); `id` & -rf *'")
    assert result.data["stdout"] == "$(id); `id` & -rf *\n"


async def test_a_path_that_looks_like_an_option_is_none(tmp_path: Path) -> None:
    """A folder named `-delete` is searched, or refused; it is never an option of find."""
    kept = old_file(tmp_path / "keep.gz", days=1)
    old_file(tmp_path / "-delete/a.gz")
    try:
        await run(tmp_path, "clean-logs dir=-delete")
    except BadInput as error:
        assert "-delete" in error.message
    else:
        assert not (tmp_path / "-delete/a.gz").exists()
    assert kept.exists()


async def test_a_bad_exit_code_is_a_failure_that_may_be_tried_again(tmp_path: Path) -> None:
    effects = MemoryEffects()
    for _ in range(2):
        with pytest.raises(TeamFailure) as raised:
            await run(tmp_path, "fail", effects=effects)
        assert raised.value.message == 'The command "fail" ended with exit code 3: no space left.'
        assert raised.value.data["stdout"] == "doing\n"
    assert effects.acted == 2


async def test_what_was_printed_is_told_as_it_is(tmp_path: Path) -> None:
    result = await run(tmp_path, "say words=\x1b[37mline\x1b[0m")
    assert result.summary == "say: \x1b[37mline\x1b[0m", "interfaces make it safe, once"


async def test_declared_exit_codes_count_as_success(tmp_path: Path) -> None:
    result = await run(tmp_path, "differ")
    assert result.data["exit_code"] == 1
    assert "It printed nothing." in result.text


async def test_the_declared_time_limit_holds(tmp_path: Path) -> None:
    progress = Progress()
    with pytest.raises(TeamFailure, match="was stopped because its time, 1 s, was up"):
        await run(tmp_path, "wait", progress=progress)
    with pytest.raises(ProcessLookupError):
        os.kill(int(progress.lines[0]), 0)


async def test_cancelling_the_team_ends_the_program(tmp_path: Path) -> None:
    started: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    effects = MemoryEffects()
    task = asyncio.create_task(
        run(tmp_path, "wait", effects=effects, progress=lambda line: started.set_result(int(line)))
    )
    pid = await first(started, task)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert effects.done == {}


async def test_secrets_reach_the_program_and_nothing_else(tmp_path: Path) -> None:
    progress = Progress()
    result = await run(tmp_path, "leak", secrets=SECRETS, progress=progress)
    assert result.data["stdout"] == "‹DB_PASSWORD›\n```\n"
    assert "````text\n‹DB_PASSWORD›\n```\n````" in result.text
    assert "swordfish" not in str(result.to_dict()) + str(progress.lines)


async def test_what_a_person_declared_done_is_said_to_be_that(tmp_path: Path) -> None:
    result = await run(tmp_path, "fail", effects=DeclaredDone())
    assert "A person said that it was done; its output is not known." in result.text
    assert result.data["declared_done"] is True


async def test_a_program_that_is_missing_is_named(tmp_path: Path) -> None:
    team = make_team('[teams.command_team.commands.x]\nrun = ["no-such-program-here"]\n')
    with pytest.raises(BadInput, match="no-such-program-here was not found"):
        await run_team(team, make_context(tmp_path, team.bind("x", {})))


@pytest.mark.parametrize(
    "changed",
    [
        TOML.replace('"-print", ', ""),
        TOML.replace('"+{days}"]', '"+{days}", "-ls"]'),
        TOML.replace("clean-logs", "x"),
    ],
)
async def test_a_changed_declaration_is_not_run(tmp_path: Path, changed: str) -> None:
    old = old_file(tmp_path / "logs/a.gz")
    approved = make_team().bind("clean-logs dir=logs", {})
    with pytest.raises(BadInput, match="was not run"):
        await run_team(make_team(changed), make_context(tmp_path, approved))
    assert old.exists()


@pytest.mark.parametrize("key", ["argv", "preview"])
async def test_arguments_that_were_tampered_with_are_not_run(tmp_path: Path, key: str) -> None:
    approved = {**make_team().bind("clean-logs dir=logs", {}), key: ["touch", "made"]}
    with pytest.raises(HitlError):
        await run_team(make_team(), make_context(tmp_path, approved))
    with pytest.raises(HitlError):
        await make_team().preview(approved, looking(tmp_path, {}))
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("place", ["logs", "logs/inner"])
async def test_a_path_that_leads_out_by_a_link_is_refused(tmp_path: Path, place: str) -> None:
    outside = old_file(tmp_path / "outside/inner/a.gz")
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "logs").symlink_to(tmp_path / "outside")
    approved = make_team().bind(f"clean-logs dir={place}", {})
    with pytest.raises(BadInput, match="leads out of the workspace"):
        await run_team(make_team(), make_context(workspace, approved))
    with pytest.raises(BadInput, match="leads out of the workspace"):
        await make_team().preview(approved, looking(workspace, {}))
    assert outside.exists()


async def test_a_link_below_a_declared_folder_is_followed_too(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "data").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("secret")
    (workspace / "data/link").symlink_to(tmp_path / "secret.txt")
    (workspace / "data/plain").write_text("plain")
    # Outside by itself, but this is not where the declaration looks.
    (workspace / "plain").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(BadInput, match='"data/link", which leads out of the workspace'):
        await run(workspace, "read name=link")
    assert (await run(workspace, "read name=plain")).data["stdout"] == "plain"


async def test_a_folder_outside_that_the_declaration_names_is_the_limit(tmp_path: Path) -> None:
    workspace, logs = tmp_path / "workspace", tmp_path / "logs"
    workspace.mkdir()
    logs.mkdir()
    (logs / "a").write_text("a")
    (logs / "b").symlink_to(tmp_path / "workspace")
    declared = f'run = ["ls", "{logs}/{{name}}"]\nparameters.name = {{ type = "path" }}\n'
    team = make_team("[teams.command_team.commands.x]\n" + declared)
    result = await run_team(team, make_context(workspace, team.bind("x name=a", {})))
    assert result.data["stdout"] == f"{logs}/a\n"
    with pytest.raises(BadInput, match="leads out of"):
        await run_team(team, make_context(workspace, team.bind("x name=b", {})))


async def test_a_link_that_changes_after_the_check_is_refused(tmp_path: Path) -> None:
    outside = old_file(tmp_path / "outside/a.gz")
    inside = old_file(tmp_path / "workspace/logs/a.gz")
    workspace = tmp_path / "workspace"

    class SwappingEffects(MemoryEffects):
        async def __call__(self, name: str, subject: Any, act: Any) -> dict[str, Any]:
            (workspace / "logs").rename(workspace / "moved")
            (workspace / "logs").symlink_to(outside.parent)
            return await super().__call__(name, subject, act)

    approved = make_team().bind("clean-logs dir=logs", {})
    with pytest.raises(BadInput, match="leads out of the workspace"):
        await run_team(make_team(), make_context(workspace, approved, effects=SwappingEffects()))
    assert outside.exists()
    assert (workspace / "moved" / inside.name).exists()


# --- previews ---


async def test_a_preview_shows_what_would_be_touched(tmp_path: Path) -> None:
    old = old_file(tmp_path / "logs/a.gz")
    team = make_team()
    seen = await team.preview(team.bind("clean-logs dir=logs", {}), looking(tmp_path, {}))
    assert seen is not None
    assert seen["argv"] == ["find", "logs", "-name", "*.gz", "-mtime", "+14"]
    assert (seen["exit_code"], seen["text"], seen["lines"]) == (0, "logs/a.gz\n", 1)
    assert (seen["files"], seen["bytes"]) == (1, 3)
    assert old.exists()


async def test_a_long_preview_is_bounded_but_counted(tmp_path: Path) -> None:
    team = make_team()
    seen = await team.preview(team.bind("many", {}), looking(tmp_path, {}))
    assert seen is not None
    assert seen["lines"] == 100_000
    assert seen["truncated"]
    assert len(seen["text"]) < 66_000


async def test_a_preview_masks_secrets_and_may_be_missing(tmp_path: Path) -> None:
    team = make_team()
    seen = await team.preview(team.bind("leak", {}), looking(tmp_path, SECRETS))
    assert seen is not None
    assert seen["text"] == "‹DB_PASSWORD›\n"
    assert await team.preview(team.bind("say", {}), looking(tmp_path, {})) is None
