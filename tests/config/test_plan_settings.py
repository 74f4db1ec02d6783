"""Settings of the review of plans: the environment, and a `.env` that counts in a trusted folder (P1, P3, T4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_tui.config.plan_settings import PlanSettings, plan_settings, plan_variables
from hitl_tui.config.workspace_files import read_files
from hitl_tui.core.errors import BadInput
from hitl_tui.core.plan_review import ReviewOptions
from hitl_tui.policy.workspace_trust import restricted
from hitl_tui.policy.workspace_wants import wants_of


def test_without_variables_a_plan_is_reviewed_as_the_platform_does() -> None:
    assert plan_settings({}, {}) == PlanSettings(10, 300.0, 3.0, "approve")
    assert plan_settings({}, {}).review == ReviewOptions(300.0, "approve", 10)
    assert plan_settings({}, {}).interactive == ReviewOptions(0.0, "reject", 10)


def test_the_environment_stands_above_a_file_and_an_empty_value_says_nothing() -> None:
    declared = {"MAX_PLAN_REVISIONS": "4", "PLAN_FEEDBACK_TIMEOUT": "60", "PLAN_FEEDBACK_POLL_INTERVAL": "0.5"}
    environ = {"MAX_PLAN_REVISIONS": "2", "PLAN_FEEDBACK_TIMEOUT": " ", "PLAN_FEEDBACK_ON_TIMEOUT": "REJECT"}
    assert plan_settings(environ, declared) == PlanSettings(2, 60.0, 0.5, "reject")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("MAX_PLAN_REVISIONS", "0", "must be a whole number from 1 to 100, but it is '0'."),
        ("MAX_PLAN_REVISIONS", "ten", "must be a whole number from 1 to 100, but it is 'ten'."),
        ("MAX_PLAN_REVISIONS", "9" * 5000, "must be a whole number from 1 to 100, but it is '999"),
        ("PLAN_FEEDBACK_TIMEOUT", "nan", "must be a number of seconds from 1 to 2678400, but it is 'nan'."),
        ("PLAN_FEEDBACK_TIMEOUT", "-1", "must be a number of seconds"),
        ("PLAN_FEEDBACK_POLL_INTERVAL", "0", "must be a number of seconds from 0.1 to 3600, but it is '0'."),
        ("PLAN_FEEDBACK_ON_TIMEOUT", "maybe\x1b[2J", 'must be "approve" or "reject", but it is'),
    ],
)
def test_a_value_that_cant_be_used_is_named_in_a_sentence(name: str, value: str, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        plan_settings({name: value}, {})
    assert f"{name} {said}" in refused.value.message and "\x1b" not in refused.value.message
    with pytest.raises(BadInput) as refused:
        plan_settings({}, {name: value})
    assert f"{name} in .env must be" in refused.value.message


def test_of_a_file_only_these_variables_are_read() -> None:
    content = b"# x\nexport MAX_PLAN_REVISIONS=3\nAWS_SECRET_ACCESS_KEY=s\nPLAN_FEEDBACK_TIMEOUT='20' # s\nX=${HOME}\n"
    assert plan_variables(content) == {"MAX_PLAN_REVISIONS": "3", "PLAN_FEEDBACK_TIMEOUT": "20"}
    assert plan_variables(b"AWS_SECRET_ACCESS_KEY=s\n") == {} == plan_variables(b"\xff\xfe\0PLAN")


def test_trust_is_bound_to_what_a_file_says_of_plans_and_to_nothing_else_in_it(tmp_path: Path) -> None:
    def digest(text: str | None) -> str:
        if text is not None:
            (tmp_path / ".env").write_text(text)
        return read_files(tmp_path).digest

    nothing = digest(None)
    assert digest("OTHER=1\n") == nothing
    two = digest("OTHER=1\nMAX_PLAN_REVISIONS=2\n")
    assert two != nothing and digest("OTHER=2\nMAX_PLAN_REVISIONS=2\n") == two
    assert digest("MAX_PLAN_REVISIONS=3\n") != two


def test_an_untrusted_folder_sets_nothing_and_says_what_it_wants(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PLAN_FEEDBACK_ON_TIMEOUT=approve\n")
    files = read_files(tmp_path)
    config = files.declared()
    assert config.plan == {"PLAN_FEEDBACK_ON_TIMEOUT": "approve"} and restricted(config).plan == {}
    assert [(want.file, want.text) for want in wants_of(config, files)] == [
        (".env", "PLAN_FEEDBACK_ON_TIMEOUT=approve")
    ]


def test_a_file_that_cant_be_read_is_somebody_elses(tmp_path: Path) -> None:
    (tmp_path / ".env").mkdir()
    assert read_files(tmp_path).plan == {}
    (tmp_path / ".env").rmdir()
    (tmp_path / ".env").write_bytes(b"MAX_PLAN_REVISIONS=2\n" + b"#" * 2_000_000)
    assert read_files(tmp_path).plan == {}
