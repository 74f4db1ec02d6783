"""A data folder, an export and documents that version 0.1 wrote before its modules were named anew open unchanged."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ARCHIVE = Path(__file__).with_name("older_version.tar.gz")
WORKSPACE = Path("/tmp/hitl-tui-older-version/work")
KEY = base64.b64encode(bytes(range(32))).decode()
"""What its record is signed with."""
GROWS = {"message", "waited", "duration", "owned"}
"""What depends on the time and on who looks."""
MENDED = {"options", "shape", "asks"}
"""What an older version said wrongly of questions of graphs: which answers they take, their form, their words."""


@dataclass(frozen=True)
class Older:
    """What the older version wrote, unpacked."""

    root: Path

    def run(self, *arguments: str) -> tuple[int, dict[str, Any]]:
        """Return exit code and document of a command of today's."""
        done = subprocess.run(
            [sys.executable, "-m", "hitl_tui", *arguments, "--data", str(self.root / "data"), "--json"],
            capture_output=True,
            text=True,
            env={**os.environ, "HITL_USER": "ops", "HITL_LANG": "en", "HITL_AUDIT_KEY": KEY},
            timeout=60,
            check=False,
        )
        assert "Traceback" not in done.stderr
        return done.returncode, json.loads(done.stdout)

    def document(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.root / name).read_text(encoding="utf-8"))
        return found


@pytest.fixture
def older(tmp_path: Path) -> Iterator[Older]:
    """Unpack it; the workspace of its sessions has to be where it was."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    shutil.rmtree(WORKSPACE.parent, ignore_errors=True)
    shutil.copytree(tmp_path / "work", WORKSPACE)
    yield Older(tmp_path)
    shutil.rmtree(WORKSPACE.parent, ignore_errors=True)


def differing(before: Any, now: Any, at: str = "") -> list[str]:
    """Return where a document says something else than before; a new key is no difference."""
    if isinstance(before, dict) and isinstance(now, dict):
        return [
            place
            for key, value in before.items()
            if key not in GROWS | MENDED
            for place in (differing(value, now[key], f"{at}.{key}") if key in now else [f"{at}.{key} is gone"])
        ]
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        return [
            place for n, pair in enumerate(zip(before, now, strict=True)) for place in differing(*pair, f"{at}.{n}")
        ]
    return [] if before == now else [f"{at}: {before!r} is {now!r}"]


@pytest.mark.long
def test_what_an_older_version_wrote_opens_unchanged_and_goes_on(older: Older) -> None:
    for name in ("first", "second"):
        code, shown = older.run("show", name)
        assert (code, differing(older.document(f"{name}.json"), shown)) == (0, [])
    code, listed = older.run("sessions")
    assert (code, differing(older.document("sessions.json"), listed)) == (0, [])
    code, verified = older.run("audit", "verify")
    assert code == 0 and verified["ok"] and verified["entries"] == older.document("audit.json")["entries"]

    code, taken = older.run("import", str(older.root / "first.hitl"))
    assert code == 0
    __, shown = older.run("show", taken["session_id"])
    before = older.document("first.json")
    assert [todo["name"] for todo in shown["todos"]] == [todo["name"] for todo in before["todos"]]

    question = older.document("second.json")["questions"][0]
    code, answered = older.run("do", "second", f'/answer {question["id"]} "yes"')
    assert (code, answered["session_status"]) == (0, "finished"), answered
    code, restored = older.run("do", "first", "/checkpoint restore 1f1e7110-ff5c-6b31-8003-8172f29f9e63")
    assert (code, restored["session_status"]) == (3, "waiting"), restored["message"]
    code, verified = older.run("audit", "verify")
    assert code == 0 and verified["ok"]
