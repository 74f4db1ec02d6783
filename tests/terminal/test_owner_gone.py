"""Two people have one session open, and the one whose process drives it is gone (D12, C8)."""

from __future__ import annotations

from pathlib import Path

import pytest
from terminal_support import EXAMPLE, Terminal, shown

RISE = "A landlord wants to raise a deposit from 300 million to 1 billion won. Is that legal?"

pytestmark = [pytest.mark.long, pytest.mark.timeout(180)]


@pytest.mark.parametrize("gone", ["killed", pytest.param("left", marks=pytest.mark.slow)])
def test_who_looks_on_goes_on_with_it(tmp_path: Path, gone: str) -> None:
    size = (120, 40)
    with Terminal(tmp_path, size, "--workspace", str(EXAMPLE), RISE) as owner:
        owner.see("Approve 001?")
        with Terminal(tmp_path, size, "--session", "s1") as other:
            other.see("followed", "Approve 001?")
            if gone == "killed":
                owner.kill()
            else:
                assert owner.leave() == 0
            other.see("Approve 001?", without="followed")
            other.decide("1", "Approve 001?")
            other.decide("1", "Approve 002?")
            other.see("✓ finished", "233.3%")
            assert other.leave() == 0
    assert [t["status"] for t in shown(tmp_path, "s1")["todos"]] == ["completed", "completed"]
