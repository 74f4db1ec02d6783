"""The registry of commands, and what is generated from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_tui.commands.handler import COMMANDS
from hitl_tui.commands.parser import parse
from hitl_tui.commands.spec import SPECS, CommandSpec, readme_table, registry

README = Path(__file__).parents[2] / "README.md"


def test_every_command_is_carried_out_by_the_handler_or_by_faces() -> None:
    assert {spec.name for spec in SPECS if not spec.local} == set(COMMANDS)


def test_the_readme_lists_the_commands_as_they_are() -> None:
    assert readme_table() in README.read_text(encoding="utf-8")


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_a_command_is_found_by_its_name_and_aliases(spec: CommandSpec) -> None:
    for name in (spec.name, *spec.aliases):
        assert registry()[name] is spec
    if not any(argument.required for argument in spec.arguments):
        assert parse(f"/{spec.name}").spec is spec
