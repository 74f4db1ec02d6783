"""Ten thousand duplicates (S4): counted, backed up, asked about, deleted once, verified."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest
from starter_support import DEADLINE, Said, Trial

pytestmark = pytest.mark.long

LOST = (
    "SELECT count(*) FROM (SELECT name, email, city FROM copy.customers "
    "EXCEPT SELECT name, email, city FROM main.customers)"
)


def _to_the_deletion(trial: Trial) -> Said:
    trial.begin()
    counted = trial.do("/todo approve")
    assert counted.statuses[0] == "completed"
    return trial.do("/todo approve")


def _lost(trial: Trial) -> int:
    """Return how many customers of the backup are no longer in the database."""
    with closing(sqlite3.connect(trial.folder / "shop.db")) as connection:
        connection.execute("ATTACH ? AS copy", (str(trial.folder / "backups/shop-1.db"),))
        return int(connection.execute(LOST).fetchone()[0])


def test_a_person_approves_and_ten_thousand_records_go(tmp_path: Path) -> None:
    trial = Trial(tmp_path, "cleanup")
    asked = _to_the_deletion(trial)
    assert asked.question["todo_id"] == "todo_003"
    assert asked.question["about"]["risk"] == "high"
    assert asked.preview[0] == "10,000 records will be deleted"
    assert trial.rows() == 22_000
    assert "backups/shop-1.db" in trial.files()
    by_name = trial.do("/todo approve")
    assert (by_name.code, by_name.document["give"]) == (2, [asked.approval]), (
        "a name isn't enough for what is of high risk"
    )
    assert trial.rows() == 22_000
    trial.approve(asked)
    assert trial.rows() == 12_000
    done = trial.do("/todo approve")
    assert (done.code, done.document["session_status"]) == (0, "finished")
    assert done.statuses == ["completed"] * 4
    assert (trial.rows(), _lost(trial)) == (12_000, 0)
    answer = done.document["response"].split("## Evidence")[0]
    assert "- `delete-duplicates`: `10,000 records deleted, 12,000 left in shop.db." in answer
    assert "- `backup-database`: `22,000 records backed up to backups/shop-1.db;" in answer
    report = (trial.folder / "reports/cleanup-shop-1.md").read_text()
    for said in (done.document["response"], report):
        assert "12,000 records are left" in said
        assert "Customers of the backup that are missing: 0." in said
    assert trial.audited() == 0


@pytest.mark.slow
@pytest.mark.long
def test_where_only_risky_steps_ask_the_deletion_is_the_one_that_does(tmp_path: Path) -> None:
    trial = Trial(tmp_path, "cleanup")
    asked = trial.begin("risk")
    assert asked.statuses == ["completed", "completed", "waiting_approval", "pending"]
    assert asked.preview[0] == "10,000 records will be deleted"
    done = trial.approve(asked)
    assert done.document["session_status"] == "finished"
    assert trial.rows() == 12_000


@pytest.mark.slow
def test_a_rejection_deletes_nothing_and_ends_the_workflow(tmp_path: Path) -> None:
    trial = Trial(tmp_path, "cleanup", "ko")
    asked = _to_the_deletion(trial)
    assert asked.preview[0] == "10,000 records will be deleted"
    done = trial.do("/todo reject todo_003 wait for the accountant")
    assert (done.code, done.document["session_status"]) == (0, "finished")
    assert done.statuses == ["completed", "completed", "failed", "blocked"]
    assert "wait for the accountant" in done.document["response"]
    assert trial.rows() == 22_000
    assert not (trial.folder / "reports").exists()


@pytest.mark.slow
@pytest.mark.long
def test_killed_in_the_middle_of_the_deletion_nothing_is_lost_or_done_twice(tmp_path: Path) -> None:
    trial = Trial(tmp_path, "cleanup")
    asked = _to_the_deletion(trial)
    with closing(_reader(trial)) as reader:
        owner = trial.start(asked.approval)
        _until(lambda: _deleting(trial), "the deletion has begun")
        scripts = _descendants(owner.pid)
        os.kill(owner.pid, signal.SIGKILL)
        for script in scripts:
            with suppress(ProcessLookupError):  # it ended with its owner
                os.kill(script, signal.SIGKILL)
        owner.wait(DEADLINE)
        reader.rollback()
    asked = trial.do("/todos")
    assert asked.question["kind"] == "effect", "nobody knows what a killed command did, so a person is asked"
    assert trial.rows() == 22_000, "all or nothing"
    trial.do(asked.question["commands"]["do_again"])
    assert (trial.rows(), _lost(trial)) == (12_000, 0)
    done = trial.do("/todo approve")
    assert done.statuses == ["completed"] * 4
    assert trial.audited() == 0


@pytest.mark.slow
@pytest.mark.long
def test_a_deletion_that_outlives_its_owner_is_not_repeated(tmp_path: Path) -> None:
    trial = Trial(tmp_path, "cleanup")
    asked = _to_the_deletion(trial)
    with closing(_reader(trial)) as reader:
        owner = trial.start(asked.approval)
        _until(lambda: _deleting(trial), "the deletion has begun")
        scripts = _descendants(owner.pid)
        os.kill(owner.pid, signal.SIGKILL)
        owner.wait(DEADLINE)
        reader.rollback()
    _until(lambda: not any(map(_alive, scripts)), "the deletion has ended by itself")
    assert trial.rows() == 12_000
    asked = trial.do("/todos")
    assert asked.question["kind"] == "effect"
    trial.do(asked.question["commands"]["do_again"])
    assert (trial.rows(), _lost(trial)) == (12_000, 0)
    shown = trial.do("/todo show todo_003")
    assert "0 records deleted" in str(shown.document)


def test_the_script_refuses_what_no_backup_holds(tmp_path: Path) -> None:
    trial = Trial(tmp_path, "cleanup")

    refused = trial.call("delete", "shop.db", "backups", "10000")
    assert (refused.returncode, trial.rows()) == (1, 22_000)
    assert refused.stderr.startswith("Nothing was deleted: no backup")
    assert trial.call("backup", "shop.db", "backups").returncode == 0
    with closing(sqlite3.connect(trial.folder / "shop.db")) as connection, connection:
        connection.execute(
            "INSERT INTO customers (name, email, city, imported) SELECT 'N', 'n@example.com', 'Oslo', ''"
        )
    refused = trial.call("delete", "shop.db", "backups", "10000")
    assert (refused.returncode, trial.rows()) == (1, 22_001), "the new row is in no backup"
    assert trial.call("backup", "shop.db", "backups").returncode == 0
    assert {"backups/shop-1.db", "backups/shop-2.db"} <= trial.files()
    refused = trial.call("delete", "shop.db", "backups", "9999")
    assert (refused.returncode, trial.rows()) == (1, 22_001)
    assert "10,000 records would go, and 9,999 are allowed" in refused.stderr
    assert trial.call("delete", "shop.db", "backups", "10000").returncode == 0
    again = trial.call("delete", "shop.db", "backups", "10000")
    assert (again.returncode, trial.rows()) == (0, 12_001)
    assert again.stdout.startswith("0 records deleted")


def test_verifying_notices_a_customer_that_is_missing(tmp_path: Path) -> None:
    trial = Trial(tmp_path, "cleanup")
    refused = trial.call("verify", "shop.db", "backups", "reports")
    assert (refused.returncode, refused.stderr) == (1, "There is no backup in backups to compare with.\n")
    trial.call("backup", "shop.db", "backups")
    trial.call("delete", "shop.db", "backups", "10000")
    with closing(sqlite3.connect(trial.folder / "shop.db")) as connection, connection:
        connection.execute("DELETE FROM customers WHERE id = 7")
    found = trial.call("verify", "shop.db", "backups", "reports")
    assert found.returncode == 1
    assert found.stdout.startswith("Verified: NOT as it should be.")
    assert "Customers of the backup that are missing: 1." in (trial.folder / "reports/cleanup-shop-1.md").read_text()


def _reader(trial: Trial) -> sqlite3.Connection:
    """Read in a transaction that stays open: SQLite lets others delete, but not commit, until it ends."""
    connection = sqlite3.connect(trial.folder / "shop.db", isolation_level=None)
    connection.execute("BEGIN")
    connection.execute("SELECT count(*) FROM customers").fetchone()
    return connection


def _deleting(trial: Trial) -> bool:
    """Whether the deletion has begun: SQLite keeps what it would have to put back in a journal."""
    return (trial.folder / "shop.db-journal").exists()


def _descendants(pid: int) -> list[int]:
    """Return what a process started, and what that started: a command, and what watches over its processes."""
    listed = subprocess.run(["ps", "-A", "-o", "ppid=,pid="], capture_output=True, text=True, check=True).stdout
    pairs = [tuple(map(int, line.split())) for line in listed.splitlines()]
    found = [pid]
    for begun in found:
        found += [child for parent, child in pairs if parent == begun]
    return found[1:]


def _alive(pid: int) -> bool:
    listed = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(listed.stdout.strip()) and not listed.stdout.strip().startswith("Z")


def _until(condition: Callable[[], bool], what: str) -> None:
    give_up = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < give_up, f"it never came to this: {what}"


@pytest.mark.slow
@pytest.mark.parametrize("said", ["먼저 데이터베이스를 백업해 줘", "do the backup first"])
def test_a_backup_that_is_asked_for_after_the_deletion_was_refused_comes_before_it(tmp_path: Path, said: str) -> None:
    trial = Trial(tmp_path, "cleanup", "en" if said.isascii() else "ko")
    trial.begin()
    trial.do("/todo approve")
    asked = trial.do("/todo skip todo_002")
    failed = trial.approve(asked)
    assert (failed.question["kind"], failed.question["todo_id"]) == ("failure", "todo_003")
    trial.do(said)
    proposed = trial.do("/todos")
    (proposal,) = (q for q in proposed.document["questions"] if q["kind"] == "proposal")
    trial.do(proposal["commands"]["approve"])
    asked = trial.do("/todos")
    (backup,) = (q for q in asked.document["questions"] if q["todo_id"] == "todo_005")
    again = next(q for q in asked.document["questions"] if q["todo_id"] == "todo_003")
    trial.do(again["commands"]["retry"])
    assert trial.rows() == 22_000, "the deletion waits for the backup"
    asked = trial.do(backup["commands"]["approve"])
    assert asked.question["todo_id"] == "todo_003"
    trial.approve(asked)
    assert (trial.rows(), _lost(trial)) == (12_000, 0)
