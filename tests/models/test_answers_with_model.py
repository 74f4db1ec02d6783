"""The benchmark of answers with a model: the documented command, with a scripted server in the place of a real one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from cli_support import EXAMPLES
from scripted_model import Fails, Reply, Says, ScriptedModel, scripted_model

pytest.importorskip("langchain_openai")
pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
CAP = "What is the cap on a rise of the deposit?"
SUM = "How many households moved in both months?"
MOON = "How is cheese made?"
AGAIN = "And who decides a dispute?"
BROKEN = "What breaks the server?"
SQL = "SELECT sum(households) AS total FROM moves"


def asked(number: str, kind: str, text: str, *any: str, **more: str) -> dict[str, Any]:
    return {"id": number, "folder": "lease", "language": "en", "kind": kind, "question": text,
            "expect": {"any": [list(any)] if any else [], "sources": []}, **more}  # fmt: skip


QUESTIONS = (
    asked("q1", "passage", CAP, "5%"),
    asked("q2", "followup", AGAIN, "mediation committee", after="q1"),
    asked("q3", "table", SUM, "170"),
    asked("q4", "none", MOON),
    asked("q5", "passage", BROKEN, "nothing"),
)


def step(agent: str, title: str, **given: str) -> dict[str, Any]:
    return {"id": "one", "agent": agent, "title": title, "task": title, "input": given, "after": []}


def speaks(body: Mapping[str, Any]) -> Reply:
    """Plan, propose and write as a model would that knows these questions."""
    (form,) = [tool["function"]["name"] for tool in body["tools"]]
    told = str(body["messages"][-1]["content"])
    if BROKEN in told:
        return Fails(400, "no")
    if form == "plan":
        if MOON in told:
            return called("plan", steps=[], missing="cheese")
        if SUM in told:
            return called("plan", steps=[step("table_team", "Sum them up", sql=SQL)])
        return called("plan", steps=[step("search_team", "Find the cap", query="cap on a rise of the deposit")])
    if form == "changes":
        more = step("search_team", "Find who decides", query="dispute mediation committee")
        wanted = [{"kind": "add", "step": more}] if f"The person says:\n{AGAIN}" in told else []
        return called("changes", reason="It goes on.", changes=wanted)
    if SUM in told:
        return called("answer", statements=[{"text": "170 households moved.", "places": ["moves.csv"]}])
    said = "The mediation committee decides." if "mediation committee" in told else "The cap is one twentieth, 5%."
    place = "summary-en.md:46" if "mediation committee" in told else "summary-en.md:9"
    return called("answer", statements=[{"text": said, "places": [place]}])


def called(form: str, **given: Any) -> Says:
    return Says(calls=((form, given),), usage=(1000, 100))


def ask(root: Path, *more: str, **environ: str) -> subprocess.CompletedProcess[str]:
    shutil.copytree(EXAMPLES / "lease", root / "lease", dirs_exist_ok=True)
    (root / "lease" / "moves.csv").write_text("month,households\n2026-01,80\n2026-02,90\n")
    (root / "set.json").write_text(json.dumps({"materials": [], "questions": QUESTIONS}))
    command = [sys.executable, "-m", "benchmarks.answers", str(root / "set.json"), str(root), *more]
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("HITL_", "OPENAI_"))}
    return subprocess.run(command, cwd=ROOT, env={**kept, **environ}, capture_output=True, text=True, check=False)


def of(model: ScriptedModel) -> tuple[str, ...]:
    return "--model", "openai:scripted", "--base-url", model.url


@pytest.mark.slow
def test_questions_are_asked_and_graded_with_a_model(tmp_path: Path) -> None:
    with scripted_model([speaks]) as model:
        ran = ask(tmp_path, *of(model), "--save", str(tmp_path / "saved.json"), OPENAI_API_KEY="test-key")
    assert ran.returncode == 0, ran.stderr
    saved = {one["id"]: one for one in json.loads((tmp_path / "saved.json").read_text())}
    grades = {number: one["grade"] for number, one in saved.items()}
    assert grades == {"q1": "right", "q2": "right", "q3": "right", "q4": "honest", "q5": "failed"}, ran.stdout
    assert saved["q3"]["plan"] == ["table_team: Sum them up"]
    assert SQL in saved["q3"]["answer"]
    assert "The model used " in ran.stdout


def test_a_model_that_cannot_be_asked_is_one_sentence(tmp_path: Path) -> None:
    ran = ask(tmp_path, "--model", "openai:gpt-5-mini")
    assert ran.returncode == 1
    assert ran.stderr.strip() == "The model openai:gpt-5-mini needs a key: set OPENAI_API_KEY in the environment."
