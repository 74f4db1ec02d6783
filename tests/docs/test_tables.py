"""Tables in docs/ are what the code says now."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tables import DOCS, EXAMPLE, MARKED, SETTINGS, TABLES, declared_keys, env_example, written

from hitl_tui.lint.rules import RULES

ROOT = DOCS.parent


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_as_the_code_makes_it(name: str) -> None:
    page = (DOCS / TABLES[name][0]).read_text(encoding="utf-8")
    assert name in [found[2] for found in MARKED.finditer(page)]
    assert page == written(page), "run: uv run python tests/docs/tables.py"


def test_every_lint_rule_is_one_line_of_the_table() -> None:
    lines = TABLES["lint-rules"][1]().splitlines()
    assert [line.split("`")[1] for line in lines[2:]] == list(RULES)
    assert {line.replace("\\|", "").count("|") for line in lines} == {5}


def test_every_setting_is_described() -> None:
    assert {key for key, _default in declared_keys()} == set(SETTINGS)


def test_every_variable_of_ours_is_described() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in Path(ROOT / "hitl_tui").rglob("*.py"))
    configuration = (DOCS / "configuration.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\bHITL_[A-Z_]+\b", code)) <= set(re.findall(r"`(HITL_[A-Z_]+)`", configuration))


def test_every_subcommand_is_in_the_help() -> None:
    page = (DOCS / "command-line.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^### `hitl-tui ([a-z]+)`$", page, re.MULTILINE))
    assert named == set(re.findall(r"^  hitl-tui ([a-z]+) ", help_text(), re.MULTILINE))


def help_text() -> str:
    from hitl_tui.cli.fast_args import CONSOLE
    from hitl_tui.cli.subcommands import Parser

    return Parser(CONSOLE).format_help()


def test_the_example_of_variables_is_as_the_code_has_them() -> None:
    assert EXAMPLE.read_text(encoding="utf-8") == env_example(), "run: uv run python tests/docs/tables.py"
