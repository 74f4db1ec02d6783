"""kill -9 at every durable step, and a disk that is full at any size: the old or the new, whole (C8, D12)."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from portable_support import COUNT, QUERY, cleanup, left_over, person_at
from trusting import trust_workspace

pytestmark = [pytest.mark.long, pytest.mark.slow]

HERE = Path(__file__).parent
COPIES = ("fork", "import", "export", "delete", "rename")
OPERATIONS = (*COPIES, "attach", "run", "starter")
QUICK = ("fork", "export", "delete")
BEGUN = ("attach", "run", "starter")
SOME = [what if what == "export" else pytest.param(what, marks=pytest.mark.slow) for what in COPIES]


@pytest.fixture
async def root(tmp_path: Path) -> Path:
    """A folder with a data folder called `whole`, in which s1 waits, and an export of it."""
    workspace = cleanup(tmp_path / "whole")
    trust_workspace(tmp_path / "whole", workspace)  # for its copies, too
    async with person_at(tmp_path / "whole") as person:
        await person.bench.create(QUERY, workspace)
        await person.say("s1")
        await person.bench.admin.export("s1", tmp_path / "s1.hitl")
    trust_workspace(tmp_path / "whole", workspace)  # the copies of the data folder lie elsewhere
    return tmp_path


def work(script: str, *arguments: object, within: float = 110) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(HERE / script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=within, cwd=HERE)


def prepare(root: Path) -> None:
    shutil.rmtree(root / "data", ignore_errors=True)
    (root / "out.hitl").unlink(missing_ok=True)
    shutil.copytree(root / "whole", root / "data")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def survive(root: Path, what: str, every: int) -> int:
    """Kill it at every nth step; a child that is stuck ends by itself, so all of them may take long together."""
    done = work("portable_worker.py", what, root, every, within=380)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.parametrize("what", QUICK)
def test_a_kill_leaves_the_old_or_the_whole_new(root: Path, what: str) -> None:
    assert survive(root, what, 11) > 5


@pytest.mark.parametrize("what", BEGUN)
def test_a_kill_leaves_no_session_or_the_one_that_was_begun(root: Path, what: str) -> None:
    assert survive(root, what, 1) > 5


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("what", OPERATIONS)
def test_a_kill_at_every_step_leaves_the_old_or_the_whole_new(root: Path, what: str) -> None:
    assert survive(root, what, 1) > 5


@pytest.mark.long
@pytest.mark.parametrize("what", SOME)
async def test_a_full_disk_is_said_in_one_sentence_and_leaves_nothing_half_done(root: Path, what: str) -> None:
    """Sizes up to what is enough: below some, this or that file can't be written."""
    said = []
    for most in (0, 4_000, 60_000, 10_000_000):
        prepare(root)
        done = work("full_disk_worker.py", what, root, most)
        assert done.returncode == 0, done.stderr
        said.append(done.stdout.strip())
        ended = said[-1] == "done"
        async with person_at(root / "data") as person:
            assert left_over(root / "data") == []
            copied = ended and what in ("fork", "import")
            gone = what == "delete" and ended
            assert person.bench.data.ids() == ([] if gone else ["s1", "s2"] if copied else ["s1"])
            for name in person.bench.data.ids():
                assert [q.todo_id for q in (await person.say(name)).questions] == [COUNT]
        assert names(root) == sorted(
            ["data", "s1.hitl", "whole", *(["out.hitl"] if ended and what == "export" else [])]
        )
    assert said[-1] == "done"
    if what == "delete":  # it makes room
        assert set(said) == {"done"}
        return
    for message in said[:1]:
        assert message.endswith(".")
        assert "\n" not in message
