"""What can be no path is one sentence, wherever a person gives it (T7)."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_tui.cli.settings import workspace_folder
from hitl_tui.config.declared_graphs import declared_graph
from hitl_tui.config.paths import given_path
from hitl_tui.core.errors import BadInput
from hitl_tui.supervisor.session_input import check_workspace
from hitl_tui.threads.thread_store import file_of

STRANGE = {
    "a\0b": "null character",
    "\0": "null character",
    "x" * 300: "too long",
    "x/" * 3000: "too long",
    "\ud800": "UTF-8",
    "a\udcffb": "UTF-8",
    "~nobody-of-that-name/x": "can't be found",
}


@pytest.mark.parametrize("text", STRANGE, ids=range(len(STRANGE)))
def test_what_can_be_no_path_is_one_sentence(text: str, tmp_path: Path) -> None:
    for use in (
        given_path,
        workspace_folder,
        file_of,
        lambda given: check_workspace(Path(given)),
        lambda given: declared_graph(f"{given}.py:graph" if "~" not in given else f"{given}/m.py", tmp_path),
    ):
        with pytest.raises(BadInput) as said:
            use(text)
        assert STRANGE[text] in said.value.message
        assert "\n" not in said.value.message
        assert len(said.value.message) < 200
        assert "\0" not in said.value.message


def test_a_path_with_spaces_and_other_letters_is_one(tmp_path: Path) -> None:
    assert given_path(f"{tmp_path}/전세 계약.hitl") == tmp_path / "전세 계약.hitl"
    assert given_path("~") == Path.home()
