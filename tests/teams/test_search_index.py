"""The index in a workspace that changes, is shared, damaged or hostile."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.extraction.blocks import LeftOut
from hitl_tui.teams.search.file_walk import walk
from hitl_tui.teams.search.index import SearchIndex
from hitl_tui.teams.search.index_refresh import Refreshed

HOUR_NS = 3_600_000_000_000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "workspace"
    made.mkdir()
    return made


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "search.db"


def write(path: Path, text: str, *, age_hours: int = 1) -> None:
    """Write a file whose time stamp lies in the past, as most do."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    stamp = path.stat().st_mtime_ns - age_hours * HOUR_NS
    os.utime(path, ns=(stamp, stamp))


def refresh(cache: Path, root: Path, documents: tuple[str, ...] = (".",)) -> Refreshed:
    with SearchIndex(cache) as index:
        return index.refresh(root, documents)


def paths(cache: Path, question: str) -> list[str]:
    with SearchIndex(cache) as index:
        return [passage.path for passage in index.query(question).passages]


def reasons(done: Refreshed) -> dict[str, str]:
    return {item.path: item.reason for item in done.skipped if item.kind is not LeftOut.IGNORED}


def test_only_what_changed_is_read_again(root: Path, cache: Path) -> None:
    for name, word in (("a", "walrus"), ("b", "badger"), ("c", "elephant")):
        write(root / f"{name}.md", f"The animal of {name} is the {word}.")
    first = refresh(cache, root)
    assert (first.indexed, first.unchanged, first.removed, first.searched) == (3, 0, 0, 3)
    second = refresh(cache, root)
    assert (second.indexed, second.unchanged, second.removed) == (0, 3, 0)
    write(root / "a.md", "Now it speaks of giraffes.")
    (root / "b.md").unlink()
    third = refresh(cache, root)
    assert (third.indexed, third.unchanged, third.removed, third.searched) == (1, 1, 1, 2)
    assert paths(cache, "giraffes") == ["a.md"]
    assert "a.md" not in paths(cache, "walrus")
    assert paths(cache, "badger") == []
    assert paths(cache, "elephant") == ["c.md"]


def test_a_change_within_one_tick_of_the_clock_is_seen(root: Path, cache: Path) -> None:
    file = root / "a.md"
    file.write_text("walrus walrus")
    stamp = file.stat().st_mtime_ns
    refresh(cache, root)
    with file.open("r+") as same_inode:
        same_inode.write("badger badger")
    os.utime(file, ns=(stamp, stamp))
    assert refresh(cache, root).indexed == 1
    assert paths(cache, "badger") == ["a.md"]


def test_a_touched_file_is_not_taken_anew(root: Path, cache: Path) -> None:
    write(root / "a.md", "same words")
    refresh(cache, root)
    os.utime(root / "a.md", ns=(1, 1))
    assert (refresh(cache, root).indexed, refresh(cache, root).unchanged) == (0, 1)


def test_documents_choose_files_folders_and_patterns(root: Path, cache: Path) -> None:
    for name in ("top.md", "docs/a.md", "docs/deep/b.txt", "docs/deep/c.md", "other/d.md", "docs/e[1].md"):
        write(root / name, "text")

    def chosen(*documents: str) -> list[str]:
        return [found.path for found in walk(root, documents).files]

    everything = ["docs/a.md", "docs/deep/b.txt", "docs/deep/c.md", "docs/e[1].md", "other/d.md", "top.md"]
    assert chosen(".") == chosen("**") == chosen("**/*") == everything
    assert chosen("docs/") == everything[:4]
    assert chosen("*.md") == ["top.md"]
    assert chosen("**/*.md") == [name for name in everything if name.endswith(".md")]
    assert chosen("docs/**/c.md", "top.md") == ["docs/deep/c.md", "top.md"]
    assert chosen("docs/[ax].md") == ["docs/a.md"]
    assert chosen("oth?r") == ["other/d.md"]
    assert refresh(cache, root, ("docs",)).searched == 4
    assert refresh(cache, root, ("other",)).searched == 1


@pytest.mark.parametrize("pattern", ["/etc", "../x", "docs/../../x", "", "a\0b"])
def test_patterns_that_lead_out_are_refused(root: Path, pattern: str) -> None:
    with pytest.raises(BadInput, match="inside the workspace folder"):
        walk(root, [pattern])


def test_a_missing_folder_and_a_file_as_folder_are_one_sentence(tmp_path: Path, cache: Path) -> None:
    with pytest.raises(BadInput, match="can't be searched: no such file or directory"):
        refresh(cache, tmp_path / "none")
    (tmp_path / "file").write_text("x")
    with pytest.raises(BadInput, match="can't be searched: not a directory"):
        refresh(cache, tmp_path / "file")


def test_an_unreadable_root_is_one_sentence(root: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _refuse(monkeypatch, root)
    with pytest.raises(BadInput, match="can't be searched: permission denied"):
        refresh(cache, root)


def test_an_unreadable_folder_is_skipped_and_the_rest_is_searched(
    root: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root / "closed" / "a.md", "secret otter")
    write(root / "open" / "b.md", "public otter")
    _refuse(monkeypatch, root / "closed")
    done = refresh(cache, root)
    assert reasons(done) == {"closed": "can't be read: permission denied"}
    assert paths(cache, "otter") == ["open/b.md"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_skipped(root: Path, cache: Path) -> None:
    write(root / "a.md", "otter")
    refresh(cache, root)
    (root / "a.md").chmod(0)
    assert reasons(refresh(cache, root)) == {"a.md": "can't be read: permission denied"}
    assert paths(cache, "otter") == []


def _refuse(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let the system refuse to list one folder, as it would anyone but root."""
    real = os.scandir

    def scandir(path: str | os.PathLike[str]) -> object:
        if Path(path) == folder:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)


def test_an_empty_folder_has_nothing(root: Path, cache: Path) -> None:
    done = refresh(cache, root)
    assert (done.searched, done.skipped) == (0, ())
    assert paths(cache, "anything") == []


def test_a_hostile_folder_is_survived_and_each_refusal_has_its_reason(root: Path, cache: Path, tmp_path: Path) -> None:
    write(tmp_path / "outside" / "secret.md", "the secret wombat")
    write(root / "good.md", "the good wombat")
    write(root / "empty.md", "")
    write(root / "real" / "doc.md", "a real wombat")
    write(root / "image.txt", "")
    (root / "image.txt").write_bytes(bytes(range(256)) * 40)
    (root / "broken.pdf").write_bytes(b"%PDF-1.4\nnothing")
    with (root / "huge.md").open("wb") as file:
        file.truncate(200 * 1024 * 1024)
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "out.md").symlink_to(tmp_path / "outside" / "secret.md")
    (root / "loop").symlink_to(root)
    (root / "real" / "up").symlink_to("..")
    (root / "circle.md").symlink_to(root / "circle.md")
    (root / "dangling.md").symlink_to(root / "gone.md")
    os.mkfifo(root / "pipe.md")
    (root / "folder.md").mkdir()
    for hidden in (".git", ".venv", "node_modules", "__pycache__", ".secret"):
        write(root / hidden / "x.md", "a hidden wombat")
    done = refresh(cache, root)
    found = reasons(done)
    assert found.pop("broken.pdf").startswith("broken PDF")
    assert found == {
        "circle.md": "a link that leads nowhere or in a circle",
        "dangling.md": "a link that leads nowhere or in a circle",
        "huge.md": "200 MB is larger than the limit of 20 MB",
        "image.txt": "binary file",
        "out": "a link leads out of the folder",
        "out.md": "a link leads out of the folder",
        "pipe.md": "not a regular file",
    }
    assert done.searched == 3
    assert sorted(paths(cache, "wombat")) == ["good.md", "real/doc.md"]
    assert reasons(refresh(cache, root)) == reasons(done)


def test_a_link_to_a_folder_inside_can_be_named(root: Path) -> None:
    write(root / "handbook" / "a.md", "x")
    (root / "docs").symlink_to(root / "handbook")
    assert [found.path for found in walk(root, ["docs"]).files] == ["handbook/a.md"]


def test_a_pattern_through_a_link_that_leads_out_finds_nothing(root: Path, tmp_path: Path) -> None:
    write(tmp_path / "outside" / "a.md", "x")
    (root / "docs").symlink_to(tmp_path / "outside")
    looked = walk(root, ["docs"])
    assert looked.files == ()
    assert ("docs", "a link leads out of the folder") in [(s.path, s.reason) for s in looked.skipped]


def test_a_hidden_folder_is_searched_when_it_is_named(root: Path) -> None:
    write(root / ".notes" / "a.md", "x")
    write(root / ".notes" / ".deeper" / "b.md", "x")
    assert [found.path for found in walk(root, [".notes"]).files] == [".notes/a.md"]


def test_a_name_that_is_no_text_is_shown_as_escapes(root: Path, cache: Path) -> None:
    name = os.fsdecode(b"bad\xff.md")
    try:
        (root / name).write_text("the marmot")
    except OSError:
        pytest.skip("this file system takes only text as names")
    refresh(cache, root)
    assert paths(cache, "marmot") == ["bad\\udcff.md"]


def test_too_many_files_are_reported(root: Path) -> None:
    for number in range(5):
        write(root / f"{number}.md", "x")
    looked = walk(root, ["."], max_files=3)
    assert [found.path for found in looked.files] == ["0.md", "1.md", "2.md"]
    assert [(item.path, item.reason) for item in looked.skipped] == [("3.md", "and what follows: more than 3 files")]


def test_encodings_are_noted(root: Path, cache: Path) -> None:
    (root / "old.txt").write_bytes("전세금을 돌려받는 방법은 다음과 같다".encode("cp949"))
    done = refresh(cache, root)
    assert [(note.path, note.reason) for note in done.notes] == [("old.txt", "read as CP949")]
    assert paths(cache, "전세금") == ["old.txt"]


def test_hostile_text_is_kept_as_it_is(root: Path, cache: Path) -> None:
    text = "otter \x1b[31mred\x1b[0m \u202eevil\u202c \x00 [bold]" + " plain words" * 20
    write(root / "a.md", text)
    refresh(cache, root)
    with SearchIndex(cache) as index:
        assert index.query("otter").passages[0].text == text


def test_a_pattern_that_fits_in_many_ways_is_decided_at_once(root: Path) -> None:
    deep = root.joinpath(*"a" * 60)
    write(deep / "lynx.md", "the lynx")
    assert walk(root, ["**/a/" * 15 + "*.txt"]).files == ()
    assert len(walk(root, ["**/a/" * 15 + "*.md"]).files) == 1


def test_stopping_keeps_what_was_done_and_the_next_one_goes_on(root: Path, cache: Path) -> None:
    for number in range(6):
        write(root / f"{number}.md", f"vole number {number}")
    asked: list[int] = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) > 2

    with SearchIndex(cache) as index:
        first = index.refresh(root, stop=stop)
        assert (first.indexed, first.complete) == (2, False)
        second = index.refresh(root)
    assert (second.indexed, second.unchanged, second.complete) == (4, 2, True)


def test_a_failure_midway_leaves_the_index_as_it_was(root: Path, cache: Path) -> None:
    write(root / "a.md", "the first heron")
    refresh(cache, root)
    write(root / "a.md", "the second heron", age_hours=2)
    write(root / "b.md", "another heron")

    def fail(done: int, total: int) -> None:
        if done == 1:
            raise KeyboardInterrupt

    with SearchIndex(cache) as index, pytest.raises(KeyboardInterrupt):
        index.refresh(root, progress=fail)
    with SearchIndex(cache) as index:
        assert [passage.text for passage in index.query("heron").passages] == ["the first heron"]


@pytest.mark.parametrize("damage", [b"not a database at all" * 500, b"SQLite format 3\0" + b"\xff" * 5000, b"x"])
def test_a_damaged_cache_is_rebuilt(root: Path, cache: Path, damage: bytes) -> None:
    write(root / "a.md", "the lynx")
    cache.parent.mkdir()
    cache.write_bytes(damage)
    assert refresh(cache, root).indexed == 1
    assert paths(cache, "lynx") == ["a.md"]


@pytest.mark.long
def test_a_cache_damaged_in_the_middle_is_rebuilt(root: Path, cache: Path) -> None:
    for number in range(200):
        write(root / f"{number}.md", f"the lynx number {number} " + "and many more words " * 30)
    refresh(cache, root)
    with sqlite3.connect(cache) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    data = bytearray(cache.read_bytes())
    data[8192:-4096] = b"\xa5" * (len(data) - 12288)
    cache.write_bytes(bytes(data))
    with SearchIndex(cache) as index:
        done = index.refresh(root)
        assert done.searched == 200
        assert index.query("lynx number 150").passages


def test_a_cache_of_another_version_is_rebuilt(root: Path, cache: Path) -> None:
    write(root / "a.md", "the lynx")
    refresh(cache, root)
    with sqlite3.connect(cache) as db:
        db.execute("PRAGMA user_version = 999")
        db.execute("DROP TABLE windows")
    db.close()
    assert refresh(cache, root).indexed == 1
    assert paths(cache, "lynx") == ["a.md"]


def test_a_cache_that_cannot_be_made_is_one_sentence(root: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError, match="can't be used"):
        SearchIndex(tmp_path / "file" / "search.db")
    (tmp_path / "folder.db").mkdir()
    with pytest.raises(StorageError, match="can't be used"):
        SearchIndex(tmp_path / "folder.db")


def test_another_process_that_writes_too_long_is_one_sentence(root: Path, cache: Path) -> None:
    refresh(cache, root)
    other = sqlite3.connect(cache, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        with SearchIndex(cache, wait=0.05) as index, pytest.raises(StorageError, match="locked"):
            index.refresh(root)
    finally:
        other.close()


WORKER = """
import sys
from pathlib import Path
from hitl_tui.teams.search.index import SearchIndex
sys.stdin.readline()
for _ in range(5):
    with SearchIndex(Path(sys.argv[2])) as index:
        done = index.refresh(Path(sys.argv[1]))
        hits = index.query("puffin number 17")
        print(done.searched, hits.passages[0].path, flush=True)
"""


@pytest.mark.long
def test_several_processes_share_one_cache(root: Path, cache: Path) -> None:
    for number in range(40):
        write(root / f"{number}.md", f"The puffin number {number} lives on rock {number}.")
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(root), str(cache)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    for worker in workers:
        out, err = worker.communicate(timeout=120)
        assert (worker.returncode, err) == (0, "")
        assert out.splitlines() == ["40 17.md"] * 5
    with sqlite3.connect(cache) as db:
        assert db.execute("SELECT count(*) FROM windows").fetchone() == (40,)
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()


def test_secrets_of_documents_are_kept_by_name(root: Path, cache: Path) -> None:
    secrets = {"TOKEN": "hunter2hunter2", "KEY": "-----BEGIN\nabcdefghij\nklmnopqrst"}
    write(root / "a.md", "# The hunter2hunter2 section\n\nThe aquarium opens with hunter2hunter2 at nine.")
    write(root / "long.txt", "filler " * 141 + "xxhunter2hunter2 and the walrus")
    write(root / "page.html", "<p>The seal says hunter2&#104;unter2 twice.</p>")
    write(root / "hunter2hunter2.md", "The penguin.")
    write(root / "key.txt", "The otter owns:\n-----BEGIN\nabcdefghij\nklmnopqrst\n")
    parts = [b"hunter2hunter2", b"unter2hunter", b"abcdefghij", b"klmnopqrst"]

    def kept() -> list[str]:
        files = [p for p in cache.parent.glob(f"{cache.name}*") if p.is_file()]
        return [part.decode() for part in parts if any(part in file.read_bytes() for file in files)]

    with SearchIndex(cache) as index:  # as it was before they were declared
        index.refresh(root)
    assert kept()
    with SearchIndex(cache, secrets=secrets) as index:
        done = index.refresh(root)
        told = [index.query(word).passages for word in ("aquarium", "walrus", "seal", "otter", "penguin")]
    assert [item.to_dict() for item in done.skipped] == [
        {"path": "‹TOKEN›.md", "reason": "its name holds a secret", "kind": "unreadable"},
    ]
    assert [bool(found) for found in told] == [True, True, True, True, False]
    assert "opens with ‹TOKEN› at nine" in told[0][0].text
    assert "hunter2" not in repr(told) and "abcdefghij" not in repr(told)
    assert kept() == []
    with SearchIndex(cache, secrets=secrets) as index:
        assert index.refresh(root).indexed == 0
    with SearchIndex(cache, secrets={"TOKEN": "another-value"}) as index:
        assert index.refresh(root).indexed == 5
