"""hitl.toml is taken again when it changed, whole, and never half (M9)."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_tui.policy.policy_source import SETTLED, WatchedConfig, stamp_of

ASK, DENY = '[[policy]]\ndecision = "ask"\n', '[[policy]]\ndecision = "deny"\n'


class Watch:
    """A file, and a clock that begins when it was written last."""

    def __init__(self, folder: Path, text: str | None) -> None:
        self.path = folder / "hitl.toml"
        self.late = 0.0
        if text is not None:
            self.path.write_text(text, encoding="utf-8")
        self.file = WatchedConfig(folder, self.now)

    def now(self) -> float:
        written = stamp_of(self.path) or stamp_of(self.path.parent)
        return max(written[:2]) / 1e9 + self.late

    def decisions(self) -> list[str]:
        return [rule.decision.value for rule in self.file.config.policy.rules]


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    return Watch(tmp_path, ASK)


async def test_what_is_being_written_waits_until_it_rests(watch: Watch) -> None:
    watch.path.write_text("", encoding="utf-8")
    assert not await watch.file.look()
    assert (watch.file.waiting, watch.file.current, watch.decisions()) == (True, False, ["ask"])
    watch.path.write_text(DENY, encoding="utf-8")
    watch.late = SETTLED
    assert await watch.file.look()
    assert (watch.file.waiting, watch.file.current, watch.decisions()) == (False, True, ["deny"])


async def test_another_file_in_its_place_counts_with_the_old_one_s_size_and_time(watch: Watch, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text(ASK.replace("ask", "xxx"), encoding="utf-8")
    other.replace(watch.path)
    watch.late = SETTLED
    assert await watch.file.look()
    assert "line 2" in watch.file.problem and watch.decisions() == ["ask"]
    assert not await watch.file.look(), "it is said once"
    watch.path.write_text(ASK, encoding="utf-8")
    assert await watch.file.look()
    assert (watch.file.problem, watch.file.current) == ("", True)


async def test_a_file_that_is_put_in_another_s_place_is_no_missing_one(watch: Watch) -> None:
    watch.path.unlink()
    assert not await watch.file.look()
    assert (watch.file.waiting, watch.file.current) == (True, False)
    watch.path.write_text(DENY, encoding="utf-8")
    watch.late = SETTLED
    assert await watch.file.look() and not watch.file.problem
    watch.path.unlink()
    assert not await watch.file.look()
    watch.late = 2 * SETTLED + 60
    assert await watch.file.look()
    assert "no longer exists" in watch.file.problem and watch.decisions() == ["deny"]


async def test_the_first_file_of_a_workspace_is_taken(tmp_path: Path) -> None:
    watch = Watch(tmp_path, None)
    assert watch.file.current and not await watch.file.look()
    watch.path.write_text(DENY, encoding="utf-8")
    watch.late = SETTLED
    assert await watch.file.look()
    assert (watch.decisions(), len(watch.file.digest)) == (["deny"], 64)
