"""Takes a starter through `hitl-tui run` and `hitl-tui do`, each in a process of its own, as a person's shell does."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hitl_tui.config.starters import Starter, new_copy, starters

DEADLINE = 60
"""Seconds after which a process is surely stuck."""


def starter(key: str, language: str = "en") -> Starter:
    """Return one of the packaged starters."""
    return next(s for s in starters(language) if s.key == key)


@dataclass(frozen=True)
class Said:
    """What one process answered.

    Args:
        code: its exit code.
        document: the JSON document on its standard output.
    """

    code: int
    document: dict[str, Any]

    @property
    def statuses(self) -> list[str]:
        return [todo["status"] for todo in self.document["todos"]]

    @property
    def question(self) -> dict[str, Any]:
        """The only question there is."""
        (found,) = self.document["questions"]
        assert isinstance(found, dict)
        return found

    @property
    def approval(self) -> str:
        """The command that approves the only question there is."""
        return str(self.question["commands"]["approve"])

    @property
    def preview(self) -> list[str]:
        """The lines of the preview that stands beside the question."""
        return str(self.question["preview"]["text"]).splitlines()


class Trial:
    """One starter in a data folder of its own.

    Args:
        root: an empty folder.
        key: of the starter.
        language: its question's.
    """

    def __init__(self, root: Path, key: str, language: str = "en") -> None:
        self.starter = starter(key, language)
        self.data = root / "data"
        self.folder = new_copy(self.starter, self.data)
        self._env = {
            **{k: v for k, v in os.environ.items() if not k.startswith("HITL_")},
            "HITL_DATA_DIR": str(self.data),
            "HITL_USER": "tester",
            "PYTHONUTF8": "1",
        }

    def begin(self, mode: str = "step") -> Said:
        """Ask the starter's question."""
        where = ("--workspace", str(self.folder), "--mode", mode)
        return self._said("run", self.starter.question, *where, "--json")

    def do(self, command: str) -> Said:
        """Give one command to the session."""
        return self._said("do", "s1", command, "--json")

    def approve(self, asked: Said) -> Said:
        """Approve the only question of an answer as it says: a name isn't enough here for what is of high risk."""
        return self.do(asked.approval)

    def start(self, command: str) -> subprocess.Popen[bytes]:
        """Start to give one command, without waiting for its end."""
        return subprocess.Popen(
            self._argv("do", "s1", command, "--json"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            env=self._env,
        )

    def audited(self) -> int:
        """Return the exit code of `audit verify`."""
        return self._run("audit", "verify").returncode

    def files(self) -> set[str]:
        """Return the paths of all files there are, relative to the starter's folder."""
        return {str(p.relative_to(self.folder)) for p in self.folder.rglob("*") if p.is_file()}

    def rows(self, query: str = "SELECT count(*) FROM customers") -> int:
        """Return what a query on the starter's database counts."""
        with closing(sqlite3.connect(self.folder / "shop.db", timeout=DEADLINE)) as connection:
            return int(connection.execute(query).fetchone()[0])

    def call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the script that the starter's commands are declared with."""
        argv = ["python3", "tools/duplicates.py", *arguments]
        return subprocess.run(argv, cwd=self.folder, capture_output=True, text=True, timeout=DEADLINE, check=False)

    def _said(self, *arguments: str) -> Said:
        done = self._run(*arguments)
        assert done.stdout, done.stderr.decode()
        return Said(done.returncode, json.loads(done.stdout))

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            self._argv(*arguments),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=self.folder,
            env=self._env,
            timeout=DEADLINE,
            check=False,
        )

    @staticmethod
    def _argv(*arguments: str) -> list[str]:
        return [sys.executable, "-m", "hitl_tui", *arguments]
