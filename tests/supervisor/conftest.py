"""Tests of sessions run a second time on a PostgreSQL server, as long ones: those of the modules named here."""

from __future__ import annotations

import pytest
from postgres_server import database, postgres  # noqa: F401 - fixtures
from session_support import Place

ON_A_DATABASE, KEPT_IN = {"test_session", "test_restore", "test_going_back", "test_allowing"}, "kept_in"

ABOUT_FOLDERS = {
    "test_a_result_tampered_with_on_disk_is_noticed",
    "test_a_checkpoint_file_that_cant_be_used_says_so_and_is_left_alone",
    "test_a_session_without_its_description_hides_no_other",
    "test_lost_checkpoints_are_said_to_be_missing",
    "test_it_is_on_record_before_it_begins_and_not_when_a_person_decided",
    "test_an_old_database_opens_and_restores_over_many_deltas",
    "test_execute_runs_without_checkpoints_too",
}
"""What is tested there has no meaning in a database."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    module, name = metafunc.module.__name__.rpartition(".")[2], metafunc.function.__name__
    if module in ON_A_DATABASE and name not in ABOUT_FOLDERS:
        kept = ["folders", pytest.param("postgresql", marks=pytest.mark.long)]
        metafunc.parametrize(KEPT_IN, kept, indirect=True)


@pytest.fixture(autouse=True)
def kept_in(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let sessions of the test be kept in folders or in a database."""
    if getattr(request, "param", "folders") != "folders":
        monkeypatch.setattr(Place, "database", request.getfixturevalue("database"))
