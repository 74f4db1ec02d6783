"""What the first screen says of safety is true in each mode."""

from __future__ import annotations

import pytest

from hitl_tui.core.policy import Mode, Policy, Risk, Ruling
from hitl_tui.wording.times import safety_words


@pytest.mark.parametrize("mode", list(Mode))
def test_what_is_said_of_a_mode_is_what_its_rules_do(mode: Mode) -> None:
    said = safety_words(mode.value)
    at_once = Policy().judge(mode, "any", Risk.LOW).ruling is Ruling.ALLOW
    assert ("run at once" in said or "approve the plan" in said) is at_once
    assert said.startswith("nothing runs until you approve") is (mode is not Mode.RISK)


def test_nothing_is_promised_where_the_mode_is_not_known() -> None:
    assert safety_words("") == "you decide what runs"
