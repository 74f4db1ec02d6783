"""`hitl-tui lint` as a person's shell and a script run it (I6)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import pytest
from lint_support import HERE

from hitl_tui.cli import main

FAULTY = "seeds/s21_http_in_helper.py"
FINE = "good/g01_approve_reject.py"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HITL_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(HERE)


def test_the_exit_code_tells_findings_from_none_and_from_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", FAULTY]) == 1
    assert "HT006" in capsys.readouterr().out
    assert main(["lint", f"{FINE}:graph"]) == 0
    assert "No findings" in capsys.readouterr().out
    assert main(["lint", "seeds/none.py"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "doesn't exist" in said.err


def test_a_finding_is_told_with_file_line_rule_and_how_to_mend_it(capsys: pytest.CaptureFixture[str]) -> None:
    main(["lint", FAULTY])
    first, *rest = capsys.readouterr().out.splitlines()
    assert first == f"{FAULTY}:23:16: HT006 effect-before-interrupt (error)"
    assert any(line.startswith("  fix: ") for line in rest)
    assert max(map(len, rest)) <= 80


def test_json_is_one_document_with_stable_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", FAULTY, "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert list(document) == ["status", "message", "target", "findings", "nodes", "notes"]
    assert document["status"] == "findings"
    assert document["target"] == {"name": FAULTY, "file": FAULTY, "files": [FAULTY]}
    (finding,) = document["findings"]
    assert {key: finding[key] for key in ("rule", "severity", "file", "line", "column")} == {
        "rule": "HT006",
        "severity": "error",
        "file": FAULTY,
        "line": 23,
        "column": 16,
    }
    assert {"name", "message", "meaning", "remedy"} <= set(finding)
    (node,) = document["nodes"]
    assert (node["node"], node["position"], node["verdict"]) == ("file_report", "before", "happens again")
    assert main(["lint", FINE, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "ok"
    assert main(["lint", "seeds/none.py", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["kind"] == "bad_input"


def test_it_needs_neither_the_engine_nor_the_console_nor_a_data_folder(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from hitl_tui.cli import main\n"
        f"assert main(['lint', {FAULTY!r}]) == 1\n"
        "heavy = ('langgraph', 'langchain_core', 'textual', 'pydantic', 'sqlite3', 'prompt_toolkit', 'rich')\n"
        "print([name for name in heavy if name in sys.modules])\n"
    )
    with chdir(HERE):
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, env=os.environ, check=True
        )
    assert done.stdout.splitlines()[-1] == "[]"
    assert not (tmp_path / "data").exists()


def test_help_names_every_key_of_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    main(["lint", FAULTY, "--json"])
    document = json.loads(capsys.readouterr().out)
    main(["lint", "--help"])
    told = capsys.readouterr().out
    parts = [document, document["target"], *document["findings"], *document["nodes"]]
    assert {key for part in parts for key in part if f'"{key}"' not in told} == set()
