"""Which changes of a workspace make it another one, and which files are left out."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hitl_tui.config.pins import path_pattern, pattern_problem, unmatched
from hitl_tui.core.errors import BadInput
from hitl_tui.policy import workspace_digest
from hitl_tui.policy.executable_files import Bindings, Manifests, Surroundings
from hitl_tui.policy.workspace_digest import FileHashes, Scope

Change = Callable[[Path], object]


def make(root: Path) -> None:
    for name in ("a.py", "lib/b.py", "docs/guide.md", "docs/named.md", "reports/r.md", "reports/run.sh", "data.db"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
    (root / "a.py").write_text("open('docs/named.md'), '. reports/named.txt', '이름.md'", encoding="utf-8")
    for name in ("objects/x", "refs/heads/main", "HEAD", "index", "hooks/pre-commit", "config", "modules/m/config"):
        path = root / ".git" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
    for name in (
        "own",
        "logs/run",
        "modules/logs/hooks",
        "modules/logs/objects",
        "modules/logs/refs",
        "rebase-merge",
        "info",
    ):
        (root / ".git" / name).mkdir(parents=True)
    for name in ("modules/logs/HEAD", "ORIG_HEAD", "own/pre-commit"):
        (root / ".git" / name).touch()
    (root / ".git/config").write_text(
        '[core]\n\thooksPath = .git/logs/run\n[include] path = "ORIG_HEAD"\n'
        '[branch "main"]\n\tmerge = refs/heads/main\n[remote "origin"]\n\tfetch = +refs/heads/*:refs/remotes/*\n',
        encoding="utf-8",
    )
    (root / "link").symlink_to("lib")
    (root / ".masc/state/checkpoints").mkdir(parents=True)


def text(name: str) -> Change:
    return lambda root: (root / name).write_text("other", encoding="utf-8")


def in_place(root: Path) -> None:
    """Change a file so that it has its size and its times again."""
    before = (root / "lib/b.py").stat()
    (root / "lib/b.py").write_text("LIB/B.PY", encoding="utf-8")
    os.utime(root / "lib/b.py", ns=(before.st_atime_ns, before.st_mtime_ns))


def turned(root: Path) -> None:
    (root / "link").unlink()
    (root / "link").symlink_to("docs")


@pytest.mark.parametrize(
    "change",
    [
        text("a.py"),
        text("lib/json.py"),
        text("data.db"),
        text(".env"),
        text("docs/named.md"),
        text(".masc/state/checkpoints/run.sh"),
        text("docs/guide.md"),
        text("docs/new.csv"),
        text("docs/tool.py"),
        text("reports/run.sh"),
        text("reports/env"),
        text("reports/named.txt"),
        text("reports/이름.md"),
        text(".git/own/pre-commit"),
        text(".git/extra"),
        text(".git/info/attributes"),
        text(".git/rebase-merge/git-rebase-todo"),
        text(".git/logs/run/pre-push"),
        text(".git/ORIG_HEAD"),
        text(".git/modules/logs/hooks/update"),
        text(".git/hooks/pre-commit"),
        text(".git/config"),
        text(".git/modules/m/config"),
        in_place,
        turned,
        lambda root: (root / "a.py").chmod(0o755),
        lambda root: (root / "docs/guide.md").chmod(0o755),
        lambda root: (root / "docs/guide.md").write_text("#!/bin/sh", encoding="utf-8"),
        lambda root: (root / "a.py").unlink(),
        lambda root: (root / "a.py").rename(root / "A.py"),
        lambda root: os.mkfifo(root / "pipe"),
        lambda root: (root / "gone").symlink_to("nowhere"),
        lambda root: Path(os.fsdecode(os.fsencode(root) + b"/\xff\n.py")).touch(),
    ],
)
def test_what_could_be_executed_otherwise_is_another_workspace(tmp_path: Path, change: Change) -> None:
    make(tmp_path)
    files, scope = FileHashes(), Scope(str(tmp_path), reports="reports")
    before = files.tree(scope)
    assert files.tree(scope) == before == FileHashes().tree(scope)
    change(tmp_path)
    now = files.tree(scope)
    assert now.digest != before.digest and now == FileHashes().tree(scope)


@pytest.mark.parametrize(
    "change",
    [
        text("reports/r.md"),
        text("reports/new.html"),
        text(".masc/state/checkpoints/000002.json"),
        text(".git/objects/x"),
        text(".git/refs/heads/main"),
        text(".git/HEAD"),
        text(".git/HEAD.lock"),
        text(".git/index"),
        text(".git/logs/HEAD"),
        text(".git/COMMIT_EDITMSG"),
        text(".git/modules/logs/HEAD"),
        text(".git/modules/logs/objects/x"),
        text("out/x"),
        lambda root: os.utime(root / "a.py"),
        lambda root: (root / "empty").mkdir(),
    ],
)
def test_what_nobody_executes_makes_no_other_workspace(tmp_path: Path, change: Change) -> None:
    make(tmp_path)
    (tmp_path / "out").mkdir()
    files = FileHashes()
    scope = Scope(str(tmp_path), ("out",), "reports")
    before = files.tree(scope)
    change(tmp_path)
    assert files.tree(scope).digest == before.digest


def test_what_a_command_names_is_bound_wherever_it_lies(tmp_path: Path) -> None:
    make(tmp_path)
    scope = Scope(str(tmp_path), reports="reports")
    before = FileHashes().tree(scope, frozenset({"reports/run.sh", "reports/r.md"}))
    for name in ("reports/run.sh", "reports/r.md"):
        text(name)(tmp_path)
        now = FileHashes().tree(scope, frozenset({"reports/run.sh", "reports/r.md"}))
        assert now.digest != before.digest
        before = now


def test_a_file_is_read_again_only_when_its_state_is_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path)
    read: list[str] = []
    hashed = workspace_digest._hashed

    def watched(path: str) -> object:
        read.append(path)
        return hashed(path)

    monkeypatch.setattr(workspace_digest, "_hashed", watched)
    files = FileHashes(lambda: time.time_ns() + 10_000_000_000)  # as if all had been written long ago
    scope = Scope(str(tmp_path))
    first = files.tree(scope)
    assert len(read) == sum(not value.startswith("L") for value in first.entries.values())
    read.clear()
    assert files.tree(scope) == first and not read
    fresh = FileHashes(lambda: 0)
    assert fresh.tree(scope) == fresh.tree(scope) == first
    assert len(read) == 2 * len(first.entries) - 2, "what may have changed within a tick is read again"


def test_a_large_file_counts_with_its_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace_digest, "LARGEST", 10)
    (tmp_path / "big").write_text("x" * 20, encoding="utf-8")
    before = FileHashes().tree(Scope(str(tmp_path)))
    (tmp_path / "big").write_text("y" * 20, encoding="utf-8")
    assert FileHashes().tree(Scope(str(tmp_path))).digest != before.digest


def test_too_many_files_are_refused_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path)
    monkeypatch.setattr(workspace_digest, "MOST_FILES", 3)
    with pytest.raises(BadInput, match=r"has more than 3 files, too many to bind .* \[pins\] exclude"):
        FileHashes().tree(Scope(str(tmp_path)))


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "up").symlink_to("..")
    (tmp_path / "self").symlink_to("self")
    assert FileHashes().tree(Scope(str(tmp_path))).entries.keys() == {"a/up", "self"}


def test_names_come_from_another_process_and_may_be_lost(tmp_path: Path) -> None:
    root, kept = tmp_path / "w", tmp_path / "kept"
    make(root)
    around = Surroundings()
    before = Bindings(kept).whole(str(root), (), around)
    text("lib/b.py")(root)
    (root / "new.py").touch()
    other = Bindings(kept)
    now = other.whole(str(root), (), around)
    assert other.changed({".": before}, {".": now}) == ["lib/b.py", "new.py"]
    assert Bindings(kept).changed({".": before, "x": "1"}, {".": now, "x": "2"}) == ["x", "lib/b.py", "new.py"]
    assert Manifests(kept).changed(before, "../../x") == []
    for path in kept.iterdir():
        path.write_bytes(b"damaged")
    assert Bindings(kept).changed({".": before}, {".": now}) == ["the workspace"]
    assert Bindings().changed({".": before}, {".": now}) == ["the workspace"]


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("shop.db", ["shop.db"], ["shop.db-wal", "a/shop.db"]),
        ("shop.db*", ["shop.db", "shop.db-wal"], ["a/shop.db"]),
        ("backups/", ["backups", "backups/a/b"], ["backups2"]),
        ("**/*.log", ["a.log", "x/y/a.log"], ["a.log2"]),
        ("./a/[!b]?", ["a/cd", "a/cd/e"], ["a/bd", "a//d"]),
        ("a.b", ["a.b"], ["axb"]),
    ],
)
def test_pins(pattern: str, yes: list[str], no: list[str]) -> None:
    assert pattern_problem(pattern) == ""
    match = path_pattern((pattern,)).match
    assert [bool(match(path)) for path in yes + no] == [True] * len(yes) + [False] * len(no)


@pytest.mark.parametrize("pattern", ["", " ", "/etc", "../x", "a/../b", ".", "**", "*", "./**/*", "a\0"])
def test_pins_that_cannot_be_used(pattern: str) -> None:
    assert pattern_problem(pattern)


def test_pins_that_name_nothing_are_told() -> None:
    assert unmatched(["a", "b/*", "none"], ["a", "b", "b/c"]) == ["none"]


def test_a_file_of_one_endless_word_is_read_as_quickly_as_any_other(tmp_path: Path) -> None:
    """Where each letter began a search of its own, this took longer than the limit of a test."""
    for number, word in enumerate(("A" * 1_000_000, "A." * 500_000, ".md" * 300_000, "\\uac00" * 300_000)):
        (tmp_path / f"{number}.py").write_text(word, encoding="utf-8")
    assert FileHashes().tree(Scope(str(tmp_path)), frozenset()).digest
