"""The command line and the line mode in Korean; documents for scripts are the same in both languages."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cli_support import S1_KO, Shell
from screens import english

from hitl_tui.cli.arguments import COMMANDS

NAMES = frozenset(
    {
        "hitl-tui",
        "TODO",
        "LangGraph",
        "SQLite",
        "PostgreSQL",
        "Prometheus",
        "JSON",
        "MCP",
        "HTTP",
        "en",
        "ko",
        "step",
        "plan",
        "risk",
        "id",
        "Ctrl",
    }
    | {"GRAPH", "SESSION", "COMMAND", "QUESTION", "TITLE", "CHECKPOINT", "FILE", "DATABASE", "WHAT", "NAME", "DIR"}
    | {"S3", "BUCKET", "PREFIX", "REQUEST"}
    | {
        "ID",
        "TEXT",
        "AGE",
        "THREAD",
        "URI",
        "NS",
        "HOST",
        "PORT",
        "QUERY",
        "INPUT",
        "ADDRESS",
        "SOURCE",
        "PLACE",
        "SECONDS",
    }
    | {
        "verify",
        "head",
        "export",
        "attention",
        "accept",
        "HOME",
        "KEY",
        "decisions",
        "list",
        "show",
        "skip",
        "why",
        "approve",
        "recorded",
        "status",
        "attribute",
        "def",
    }
    | {
        "idempotent",
        "entrypoint",
        "MODULE",
        "ATTRIBUTE",
        "py",
        "hitl",
        "agent",
        "module",
        "path",
        "file",
        "graph",
        "package",
        "PGPASSWORD",
        "pgpass",
    }
    | {"TIME", "low", "medium", "high"}
    | {"replay", "R", "C", "T", "M"}
    | {"PROGRAM", "Claude", "Code", "claude-code", "command", "SECONDS", "cwd", "reason", "session", "masc"}
    | {"SIGTERM", "json", "query"}
    | {"add", "remove", "check", "ACCOUNT", "N", "account", "REQUEST", "ANSWER"}
    | set(COMMANDS)
)
"""Names of formats, options, commands and what is typed."""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_all_help_is_korean(shell: Shell, command: str) -> None:
    ran = shell.run(*command.split(), "--help", "--lang", "ko")
    assert ran.code == 0
    text = ran.out.partition("\n\n")[2]
    told = [line for line in text.split("\n") if '", "' not in line]  # what keys a document has
    assert english(told, NAMES) == []


def test_errors_are_korean_and_their_documents_are_not(shell: Shell) -> None:
    for line in (
        ["run"],
        ["--mode", "x"],
        ["do", "s9", "/todos"],
        ["--workspace", "nowhere", "무엇을 할까?"],
        ["prune", "--keep", "x"],
    ):
        ran = shell.run(*line, HITL_LANG="ko")
        assert ran.code == 2
        assert ran.err.startswith("hitl-tui: ")
        assert english([ran.err.split("\n")[0]], NAMES) == []
        same = [shell.run(*line, "--json", HITL_LANG=code).out for code in ("en", "ko")]
        assert same[0] == same[1]
        assert json.loads(same[0])["kind"]


@pytest.mark.long
def test_documents_are_the_same_in_both_languages(tmp_path: Path) -> None:
    lines = (
        ["run", S1_KO],
        ["do", "s1", "/todos"],
        ["do", "s1", "/todo approve nine"],
        ["do", "s1", "/help"],
        ["sessions"],
        ["starter"],
        ["prune", "--dry-run"],
        ["audit", "verify"],
    )
    found = []
    for code in ("en", "ko"):
        (tmp_path / code).mkdir()
        shell = Shell(tmp_path / code)
        found.append([settled(shell.run(*line, "--json", HITL_LANG=code).json, str(tmp_path / code)) for line in lines])
    assert found[0] == found[1]


def settled(document: object, root: str) -> object:
    """Return a document without what differs between any two runs: times, places, and what is made of them."""
    text = json.dumps(document, ensure_ascii=False).replace(root, "ROOT")
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.+]+", "TIME", text)
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|\b[0-9a-f]{12,}\b", "ID", text)
    return json.loads(re.sub(r'"duration": [\d.]+', '"duration": 0', text))


def test_a_session_is_told_in_korean(shell: Shell) -> None:
    ran = shell.run("run", S1_KO, HITL_LANG="ko")
    assert ran.code == 3
    assert "001 승인할까요? · 자료 검색 · search · 위험 낮음" in ran.out
    assert ran.out.rstrip().endswith("s1: 결정을 기다립니다: 001.")
    approved = shell.run("do", "s1", "/todo approve", HITL_LANG="ko")
    assert approved.out.startswith("001: 승인했습니다.\n✓ 완료")
    refused = shell.run("do", "s1", "/todo update 1 failed", HITL_LANG="ko")
    assert refused.err.startswith("오류: 001 상태: 완료. 다음 상태로 바꿀 수 없습니다: 실패.")


def test_the_exact_subject_of_a_question_is_never_translated(shell: Shell) -> None:
    in_english, in_korean = (
        shell.run("run", S1_KO, "--session", code, "--json", HITL_LANG=code).json["questions"][0]["subject"]
        for code in ("en", "ko")
    )
    assert {**in_english, "session": "ko"} == in_korean


@pytest.mark.long
def test_line_mode_is_korean(shell: Shell) -> None:
    lines = f"{S1_KO}\n/todo approve\n/nothing\n/help todo skip\n"
    ran = shell.process("--line", "--lang", "ko", input=lines)
    assert "001: 승인했습니다." in ran.out
    assert '오류: "/nothing" 명령이 없습니다.' in ran.out
    assert "단계를 건너뛰고 계속" in ran.out
    told = [line for line in ran.out.split("\n") if re.match(r"\[001\] (시작|완료):", line)]
    assert told
    assert english(told, NAMES) == []


def test_a_declared_command_speaks_the_language_that_was_chosen_by_option(shell: Shell) -> None:
    """What a program of the workspace prints is in the language of the command line, not in that of the locale."""
    declared = '[teams.command_team.commands.tell-tongue]\nrun = ["printenv", "HITL_LANG"]\nrisk = "low"\n'
    shell.declare(declared)
    for code, other in (("ko", {}), ("en", {"LANG": "ko_KR.UTF-8"})):
        words = ("run", "run tell-tongue", "--mode", "risk", "--workspace", str(shell.workspace), "--lang", code)
        ran = shell.run(*words, "--json", **{"LANG": "C.UTF-8", **other})
        assert ran.code == 0 and f"\n{code}\n" in str(ran.json["response"]), ran.json["response"]
