"""rules.toml ships with the package."""

from __future__ import annotations

from hitl_tui.core.step_heads import STEP_HEADS
from hitl_tui.planning.rule_planner.command_facts import CommandFacts, ParameterFacts, command_facts
from hitl_tui.planning.rule_planner.rule_file import Need, rules


def test_every_need_has_a_step_with_words_in_every_language() -> None:
    assert set(rules().steps) == set(Need) == STEP_HEADS.keys() - {"table"}
    for head in STEP_HEADS.values():
        assert set(head.titles) == {"ko", "en"} and all(head.titles.values())
    for need, step in rules().steps.items():
        assert step.agent == STEP_HEADS[need].team
        for texts in (step.task, step.purpose, step.expected_output):
            assert set(texts) == {"ko", "en"} and all(texts.values())
        for task in step.task.values():  # the others have the query in their input
            assert ("{query}" in task) == (need in (Need.WRITE, Need.RUN))


def test_no_expression_matches_everywhere() -> None:
    cues = [expression for found in rules().needs.values() for _, expression in found]
    for expression in [*cues, *rules().targets.values()]:
        assert not expression.search(""), expression.pattern


def test_facts_of_declared_commands() -> None:
    from hitl_tui.config.loader import parse_config

    config = parse_config(
        """
        [teams.command_team.commands.clean-logs]
        run = ["find", "{dir}", "-mtime", "+{days}"]
        description = "Deletes old logs"
        parameters.dir = { type = "path" }
        parameters.days = { type = "integer", default = 14 }
        """,
        "hitl.toml",
    )
    parameters = {"dir": ParameterFacts("path"), "days": ParameterFacts("integer", default=14)}
    expected = {"clean-logs": CommandFacts("clean-logs", "Deletes old logs", parameters, runs=("find",))}
    assert command_facts(config.commands) == expected
