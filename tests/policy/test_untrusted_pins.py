"""What nobody trusts says nothing of what an approval binds."""

from __future__ import annotations

from hitl_tui.config.loader import parse_config
from hitl_tui.policy.workspace_trust import restricted


def test_pins_of_an_untrusted_workspace_are_not_obeyed() -> None:
    config = parse_config('[pins]\nexclude = ["plugin.py"]\n', "hitl.toml")
    assert config.pins == ("plugin.py",)
    assert restricted(config).pins == ()
