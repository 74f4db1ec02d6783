"""S1 to S5 on two machines' worth of processes: a console's and a worker's, with one database (X1, X2).

Each has a data folder and a copy of the project of its own, set up as docs/scale.md says under "Two machines in ten
minutes". Nothing happens in the console's copy.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cli_support import EXAMPLES, S1_KO, Ran, by_id, statuses
from postgres_server import PASSWORD, PostgresServer

pytestmark = [pytest.mark.long, pytest.mark.timeout(400)]

PATIENCE = 90.0
SETTINGS = f"""
[teams.command_team.commands.find-duplicates]
description = "Count the duplicate records"
run = ["{sys.executable}", "deed.py", "counted"]

[teams.command_team.commands.delete-duplicates]
description = "Delete the duplicate records"
run = ["{sys.executable}", "deed.py", "deleted"]
preview = ["echo", "10,000 records will be deleted"]
risk = "high"

[teams.command_team.commands.pay]
description = "Pay 1,250,000 won to Hanbit"
run = ["{sys.executable}", "deed.py", "paid"]
preview = ["echo", "pays 1,250,000 won"]
risk = "high"
"""
DEED = "import sys\nopen('world', 'a').write(sys.argv[1] + '\\n')\nprint(sys.argv[1], '10,000 records')\n"


class Machine:
    """A data folder and a copy of the project.

    Args:
        root: an empty folder.
        server: where the database is.
        database: its name.
    """

    def __init__(self, root: Path, server: PostgresServer, database: str) -> None:
        self.project = root / "project"
        shutil.copytree(EXAMPLES / "lease", self.project)
        with (self.project / "hitl.toml").open("a") as settings:
            settings.write(SETTINGS)
        (self.project / "deed.py").write_text(DEED)
        known = {name: value for name, value in os.environ.items() if not name.startswith("HITL_")}
        self._env = {
            **known,
            "HOME": str(root),
            "HITL_DATA_DIR": str(root / "data"),
            "HITL_DATABASE": f"postgresql://owner@127.0.0.1:{server.port}/{database}",
            "PYTHONUTF8": "1",
        }
        passwords = root / ".pgpass"
        passwords.write_text(f"127.0.0.1:{server.port}:*:owner:{PASSWORD}\n")
        passwords.chmod(0o600)
        self.run("trust", "--digest", self.run("trust", "--show", "--json").json["digest"])

    def run(self, *arguments: str) -> Ran:
        """Run `hitl-tui` in the project until it ends."""
        done = subprocess.run(
            [sys.executable, "-m", "hitl_tui", *arguments],
            cwd=self.project,
            env=self._env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    @contextmanager
    def worker(self) -> Iterator[subprocess.Popen[bytes]]:
        """Run `hitl-tui worker`."""
        running = subprocess.Popen(
            [sys.executable, "-m", "hitl_tui", "worker"],
            cwd=self.project,
            env=self._env,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield running
        finally:
            running.kill()
            running.wait()

    def until(self, session: str, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Return how a session stands once it stands as wanted."""
        give_up = time.monotonic() + PATIENCE
        while True:
            found = self.run("show", session, "--json").json
            if wanted(found):
                return found
            assert time.monotonic() < give_up, (found["session_status"], statuses(found), found["questions"])

    def asked(self, session: str, todo: str) -> dict[str, Any]:
        """Return the question about a step, once it is asked."""
        found = self.until(session, lambda s: any(q["todo_id"] == todo for q in s["questions"]))
        return next(dict(q) for q in found["questions"] if q["todo_id"] == todo)

    def answer(self, session: str, command: str) -> dict[str, Any]:
        """Give a command."""
        done = self.run("do", session, command, "--json")
        assert done.code in (0, 3) and done.json["status"] != "asked", (done.out, done.err)
        return done.json

    @property
    def world(self) -> list[str]:
        """What was done to the world here."""
        file = self.project / "world"
        return file.read_text().split() if file.exists() else []


def ended(found: dict[str, Any]) -> bool:
    return bool(found["session_status"] in ("finished", "failed"))


def test_the_scenarios_with_the_console_on_one_and_the_worker_on_the_other(
    tmp_path: Path, postgres: PostgresServer, database: str
) -> None:
    name = database.rpartition("/")[2]
    (tmp_path / "works").mkdir()
    (tmp_path / "decides").mkdir()
    works, decides = (Machine(tmp_path / place, postgres, name) for place in ("works", "decides"))
    with works.worker():
        give_up = time.monotonic() + PATIENCE
        while "carries project" not in (said := decides.run("doctor")).out:
            assert time.monotonic() < give_up, said
        assert said.code == 0, said

        # S1: search, then analysis; the rise is held against the cap.
        begun = decides.run("run", S1_KO, "--json")
        assert begun.code == 3, begun
        decides.answer("s1", decides.asked("s1", "todo_001")["commands"]["approve"])
        decides.answer("s1", decides.asked("s1", "todo_002")["commands"]["approve"])
        found = decides.until("s1", ended)
        assert statuses(found) == ["completed", "completed"]
        assert "233.3%" in found["response"]

        # S2: plain text becomes a proposal that adds analysis.
        decides.run("run", "강남구 아파트 시세 조회", "--json")
        decides.asked("s2", "todo_001")
        proposed = decides.answer("s2", "검색만으로 부족할 것 같아. 분석도 추가해줘.")
        decides.asked("s2", "")  # it is there once the worker has made it
        decides.answer("s2", f"/proposal accept {proposed['proposal_id']}")
        decides.answer("s2", decides.asked("s2", "todo_001")["commands"]["approve"])
        decides.answer("s2", decides.asked("s2", "todo_002")["commands"]["approve"])
        assert "sample-apartment-prices.csv" in decides.until("s2", ended)["response"]

        # S3, its first half: the search is done.
        decides.run("run", S1_KO, "--json")
        decides.answer("s3", decides.asked("s3", "todo_001")["commands"]["approve"])
        decides.asked("s3", "todo_002")
    # … and the worker was killed. Another one takes over.
    with works.worker():
        listed = decides.answer("s3", "/checkpoint list")
        last = next(c for c in listed["checkpoints"] if c["waiting"])
        assert last["todos_completed"] == 1
        decides.answer("s3", f"/checkpoint restore {last['checkpoint_id']}")
        decides.answer("s3", decides.asked("s3", "todo_002")["commands"]["approve"])
        found = decides.until("s3", ended)
        assert [by_id(found)[todo]["attempt"] for todo in ("todo_001", "todo_002")] == [1, 1]
        assert "233.3%" in found["response"]

        # S4: what would be deleted is counted; a person approves; it is deleted once.
        decides.run("run", "Count the duplicate records, then delete the duplicate records", "--json")
        decides.answer("s4", decides.asked("s4", "todo_001")["commands"]["approve"])
        asked = decides.asked("s4", "todo_002")
        assert "10,000 records will be deleted" in str(asked)
        decides.answer("s4", asked["commands"]["approve"])
        decides.until("s4", ended)
        assert works.world == ["counted", "deleted"]

        # S5: paid once where it was approved, not at all where it was rejected.
        for session, verdict in (("s5", "approve"), ("s6", "reject")):
            decides.run("run", "Pay 1,250,000 won to Hanbit", "--json")
            asked = decides.asked(session, "todo_001")
            assert "1,250,000 won" in str(asked)
            decides.answer(session, asked["commands"][verdict].replace("REASON", "not this month"))
            decides.until(session, ended)
        assert works.world == ["counted", "deleted", "paid"]
        assert decides.world == []

        # What would run became another program after it was asked about: that approval doesn't stand for it.
        decides.run("run", "Pay 1,250,000 won to Hanbit", "--json")
        asked = decides.asked("s7", "todo_001")
        (works.project / "deed.py").write_text(f"{DEED}print('and more')\n")
        decides.answer("s7", asked["commands"]["approve"])
        again = decides.until("s7", lambda s: any(q["id"] != asked["id"] for q in s["questions"]))["questions"][0]
        assert "deed.py" in str(again) and works.world == ["counted", "deleted", "paid"]
        decides.answer("s7", again["commands"]["reject"].replace("REASON", "changed"))
        decides.until("s7", ended)
    assert decides.run("audit", "verify").code == 0
    assert [one["session_status"] for one in decides.run("sessions", "--json").json["sessions"]] == ["finished"] * 7
