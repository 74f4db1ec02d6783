"""The full disk: what a person meets who approves, rejects, or changes the deletion first."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from starter_support import Trial

pytestmark = pytest.mark.long

NGINX = "web-1/var/log/nginx/"


def _packed(trial: Trial) -> set[str]:
    """Return the packed logs of nginx."""
    return {p for p in trial.files() if p.startswith(NGINX) and p.endswith(".gz")}


def test_approving_everything_deletes_what_the_preview_named(tmp_path: Path) -> None:
    trial = Trial(tmp_path, "ops")
    before = trial.files()
    asked = trial.begin()
    assert asked.code == 3
    assert asked.statuses == ["waiting_approval", "pending", "pending", "pending"]
    found = trial.do("/todo approve")
    assert found.document["todos"][0]["result"]["found"]
    asked = trial.do("/todo approve")
    assert asked.question["about"]["risk"] == "high"
    argv = asked.question["subject"]["arguments"]["argv"]
    assert argv == ["find", "web-1/var/log/nginx", "-type", "f", "-name", "*.gz", "-mtime", "+14", "-print", "-delete"]
    named = [line.split()[1] for line in asked.preview]
    assert len(named) == 14
    assert named == sorted(named)
    assert trial.files() == before, "a preview changes nothing"
    trial.approve(asked)
    assert before - trial.files() == set(named)
    done = trial.do("/todo approve")
    assert (done.code, done.document["session_status"]) == (0, "finished")
    assert done.statuses == ["completed"] * 4
    answer, evidence = done.document["response"].split("## Evidence")
    assert "- `clean-logs`: deleted 14 files in `web-1/var/log/nginx`\n" in answer
    # Sizes are the file system's own, so only what holds everywhere is said of them.
    assert re.search(
        r"- `verify`: compared with `measure`\n  - total \S+ MB, below 3\.5 MB as expected\n"
        r"  - `web-1/var/log/nginx`: \S+ before, \S+ now: .+ less\n",
        answer,
    )
    assert re.search(r"unchanged: .*`web-1/var/log/audit` \(\S+\)", answer)
    assert "runbook.md:3" in answer and "never touch audit logs" in answer, "the rules that were asked for"
    assert all(path in evidence for path in named)
    assert "exit code" not in answer.lower()
    assert trial.audited() == 0


@pytest.mark.parametrize(
    ("language", "text", "name", "said"),
    [
        pytest.param(
            "en",
            "also compute how much space was freed",
            "Analyse: how much space was freed",
            " less (",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "ko",
            "공간이 얼마나 확보됐는지도 계산해줘",
            "분석: 공간이 얼마나 확보됐는지",
            " 감소 (",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_space_that_was_freed_is_computed_from_what_was_measured(
    tmp_path: Path, language: str, text: str, name: str, said: str
) -> None:
    trial = Trial(tmp_path, "ops", language)
    trial.begin()
    trial.do("/todo approve")
    trial.do(text)
    added = trial.do("/proposal accept").document["todos"][-1]
    assert (added["name"], added["dependencies"]) == (name, [f"todo_00{n}" for n in range(1, 5)])
    done = trial.do("/todo approve")
    for _ in range(3):
        done = trial.approve(done)
    assert done.statuses == ["completed"] * 5
    result = done.document["todos"][-1]["result"]
    assert result["summary"].startswith("web-1/var/log/nginx, ") and said in result["summary"]
    answer = done.document["response"]
    assert said in answer and "[todo_002, todo_004]" in answer and "runbook" in answer.split("## ")[1]


@pytest.mark.slow
@pytest.mark.long
def test_rejecting_the_deletion_leaves_every_file_and_says_so(tmp_path: Path) -> None:
    trial = Trial(tmp_path, "ops", "ko")
    before = trial.files()
    trial.begin()
    trial.do("/todo approve")
    trial.do("/todo approve")
    done = trial.do("/todo reject todo_003 not today")
    assert (done.code, done.document["session_status"]) == (0, "finished")
    assert done.statuses == ["completed", "completed", "failed", "blocked"]
    assert trial.files() == before
    assert "not today" in done.document["response"]
    assert "runbook-ko.md:" in done.document["response"]


@pytest.mark.slow
@pytest.mark.long
def test_keeping_thirty_days_is_asked_anew_and_spares_the_younger_logs(tmp_path: Path) -> None:
    trial = Trial(tmp_path, "ops")
    before = _packed(trial)
    trial.begin()
    trial.do("/todo approve")
    asked = trial.do("/todo approve")
    refused = trial.do("/todo edit todo_003 days=3")
    assert refused.code == 2
    assert "at least 14" in refused.document["error"]
    elsewhere = trial.do("/todo edit todo_003 service=audit")
    assert elsewhere.code == 2, "audit logs are not on offer"
    edited = trial.do("/todo edit todo_003 days=30")
    assert edited.question["digest"] != asked.question["digest"]
    assert "+30" in edited.question["subject"]["arguments"]["argv"]
    old = trial.do(f"/todo approve todo_003 --digest {asked.question['digest']}")
    assert old.code == 2, "what was shown before the edit can't be approved any more"
    assert _packed(trial) == before
    trial.do(f"/todo approve todo_003 --digest {edited.question['digest']}")
    assert len(before - _packed(trial)) == 7


@pytest.mark.slow
def test_what_is_said_of_a_step_that_waits_changes_it_and_what_is_wanted_besides_is_added(tmp_path: Path) -> None:
    trial = Trial(tmp_path, "ops")
    trial.begin()
    trial.do("/todo approve")
    trial.do("/todo approve")
    for text in ("change 003 to 30 days", "only delete logs older than 30 days", "003을 30일로 바꿔줘"):
        asked = trial.do(text).document["questions"][-1]
        (change,) = asked["subject"]["proposal"]["changes"]
        assert (change["kind"], change["todo_id"]) == ("edit", "todo_003")
        assert change["arguments"]["parameters"] == {"service": "nginx", "days": 30}
        trial.do("/proposal reject")
    asked = trial.do("also clean the app logs older than 30 days before verify").document["questions"][-1]
    add, after = asked["subject"]["proposal"]["changes"]
    assert add["todo"]["arguments"]["parameters"] == {"service": "app", "days": 30}
    assert (after["todo_id"], after["after"]) == ("todo_004", [add["todo"]["id"]])
