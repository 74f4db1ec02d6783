"""The registry of commands, and what is generated from it."""

from __future__ import annotations

import pytest

from hitl_tui.commands.handler import COMMANDS
from hitl_tui.commands.parser import parse
from hitl_tui.commands.spec import SPECS, CommandSpec, registry


def test_every_command_is_carried_out_by_the_handler_or_by_faces() -> None:
    assert {spec.name for spec in SPECS if not spec.local} == set(COMMANDS)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_a_command_is_found_by_its_name_and_aliases(spec: CommandSpec) -> None:
    for name in (spec.name, *spec.aliases):
        assert registry()[name] is spec
    if not any(argument.required for argument in spec.arguments):
        assert parse(f"/{spec.name}").spec is spec
