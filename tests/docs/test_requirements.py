"""Ids of requirements that the code and tests name are those of docs/requirements.md."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ID = r"[CDIMPSTX]\d{1,2}"


def test_every_id_that_is_named_exists() -> None:
    page = (ROOT / "docs" / "requirements.md").read_text(encoding="utf-8")
    known = re.findall(rf"^\| ({ID})(?: …)? \|", page, re.MULTILINE)
    assert len(known) == len(set(known))
    named = set()
    for folder in ("hitl_tui", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            for group in re.findall(rf"\(({ID}(?:, {ID})*)\)", path.read_text(encoding="utf-8")):
                named.update(group.split(", "))
    assert named <= set(known)
