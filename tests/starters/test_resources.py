"""Which starters there are, and how one becomes a folder of the person's own."""

from __future__ import annotations

import gzip
import shutil
import sqlite3
import tomllib
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from starter_support import starter

from hitl_tui.config import starters as packaged
from hitl_tui.config.loader import load_config
from hitl_tui.config.sandbox import make_sandbox
from hitl_tui.core.errors import BadInput, StorageError

NOW = datetime(2026, 6, 15, 9, 30, tzinfo=UTC)


def test_starters_speak_both_languages_and_lease_comes_first() -> None:
    english, korean = packaged.starters("en"), packaged.starters("ko")
    assert [s.key for s in english] == [s.key for s in korean] == ["lease", "ops", "cleanup", "attach"]
    assert "300 million won" in english[0].question
    assert korean[0].question == "집주인이 전세금 3억을 10억으로 올려달래. 법적으로 해결방법 알려줘"
    for s, other in zip(english, korean, strict=True):
        assert all((s.title, s.description, s.question))
        assert not {s.title, s.description, s.question} & {other.title, other.description, other.question}
        assert s.in_language("ko") == other
        assert s.in_language("fr") == s


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({}, "en"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "ko_KR.UTF-8"}, "ko"),
        ({"LANG": "ko"}, "ko"),
        ({"LANG": "kok_IN"}, "en"),
        ({"LANG": "ko_KR.UTF-8", "LC_ALL": "en_US.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "ko_KR", "LC_ALL": ""}, "ko"),
    ],
)
def test_the_language_follows_the_locale(environ: dict[str, str], language: str) -> None:
    assert packaged.environment_language(environ) == language


def test_every_starter_brings_a_configuration_that_can_be_read() -> None:
    for s in packaged.starters():
        load_config(s.folder)


def test_each_start_has_a_copy_of_its_own(tmp_path: Path) -> None:
    lease = starter("lease")
    folder = packaged.new_copy(lease, tmp_path)
    assert folder == tmp_path / "starters" / "lease"
    assert sorted(p.name for p in folder.iterdir()) == sorted(p.name for p in lease.folder.iterdir())
    (folder / "README.md").write_text("mine")
    again = packaged.new_copy(lease.in_language("ko"), tmp_path)
    assert (again / "README.md").read_text() != "mine"
    assert (folder / "README.md").read_text() == "mine"
    names = sorted(p.name for p in (tmp_path / "starters").iterdir())
    assert names == ["lease", "lease-2"], "no scratch folder is left"
    shutil.rmtree(folder)
    assert packaged.new_copy(lease, tmp_path) == folder


def test_starts_at_the_same_time_get_different_copies(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        folders = list(pool.map(lambda _: packaged.new_copy(starter("lease"), tmp_path), range(8)))
    assert len(set(folders)) == 8
    assert {packaged.starter_of(folder) for folder in folders} == {"lease"}


def test_only_copies_of_starters_are_removed(tmp_path: Path) -> None:
    copy = packaged.new_copy(starter("lease"), tmp_path)
    others = [tmp_path / "lease", tmp_path / "starters" / "mine-2", tmp_path / "a" / "starters" / "lease-2"]
    for folder in others:
        folder.mkdir(parents=True)
        packaged.remove_copy(folder, tmp_path)
    packaged.remove_copy(copy, tmp_path)
    packaged.remove_copy(copy, tmp_path)
    assert not copy.exists()
    assert all(folder.is_dir() for folder in others)


def test_a_starter_that_cannot_be_copied(tmp_path: Path) -> None:
    (tmp_path / "starters").write_text("in the way")
    with pytest.raises(StorageError, match="can't be copied"):
        packaged.new_copy(starter("lease"), tmp_path)


def test_the_servers_files_are_small_real_and_of_their_age(tmp_path: Path) -> None:
    (tmp_path / "sandbox.toml").write_bytes((starter("ops").folder / "sandbox.toml").read_bytes())
    make_sandbox(tmp_path, NOW)
    files = [p for p in (tmp_path / "web-1").rglob("*") if p.is_file()]
    assert sum(p.stat().st_blocks * 512 for p in files) < 5 * 1024 * 1024
    for path in files:
        if path.suffix == ".gz":
            text = gzip.decompress(path.read_bytes()).decode()
            assert len(text.splitlines()) > 100
            day = datetime.fromtimestamp(path.stat().st_mtime, UTC).strftime("%Y%m%d")
            assert f"-{day}." in path.name

    def older(days: int) -> int:
        limit = (NOW - timedelta(days=days)).timestamp()
        return sum(p.stat().st_mtime < limit for p in (tmp_path / "web-1/var/log/nginx").glob("*.gz"))

    assert (older(14), older(30)) == (14, 7)


@pytest.mark.long
def test_a_sandbox_is_the_same_every_time(tmp_path: Path) -> None:
    contents = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        for key in ("ops", "cleanup"):
            (folder / "sandbox.toml").write_bytes((starter(key).folder / "sandbox.toml").read_bytes())
            make_sandbox(folder, NOW)
        with closing(sqlite3.connect(folder / "shop.db")) as connection:
            rows = connection.execute("SELECT * FROM customers ORDER BY id").fetchall()
        files = {p.relative_to(folder): p.read_bytes() for p in (folder / "web-1").rglob("*") if p.is_file()}
        contents.append((rows, files))
    assert contents[0] == contents[1]


def test_a_database_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    text = (starter("cleanup").folder / "sandbox.toml").read_text()
    (tmp_path / "sandbox.toml").write_text(text.replace('"shop.db"', '"no-such-folder/shop.db"'))
    with pytest.raises(OSError, match="can't be made: unable to open database file"):
        make_sandbox(tmp_path, NOW)


def test_the_database_holds_ten_thousand_duplicates_among_others(tmp_path: Path) -> None:
    folder = packaged.new_copy(starter("cleanup"), tmp_path)
    declared = tomllib.loads((folder / "sandbox.toml").read_text())["database"]
    with closing(sqlite3.connect(folder / "shop.db")) as connection:

        def count(query: str) -> int:
            return int(connection.execute(query).fetchone()[0])

        rows = count("SELECT count(*) FROM customers")
        whole = count("SELECT count(*) FROM (SELECT DISTINCT name, email, city FROM customers)")
        people = count("SELECT count(*) FROM (SELECT DISTINCT name, city FROM customers)")
    assert rows == declared["customers"] + declared["duplicates"] == 22_000
    assert rows - whole == 10_000
    assert people < whole, "people of the same name and city are no duplicates"
    assert not list(starter("cleanup").folder.rglob("*.db")), "no database is packaged"


def test_a_copy_that_is_reset_is_as_it_was_made(tmp_path: Path) -> None:
    def contents(folder: Path) -> dict[str, bytes]:
        """Return the files; of logs, which have the time, that they are there."""
        files = [p for p in folder.rglob("*") if p.is_file()]
        return {p.relative_to(folder).as_posix(): b"" if "log" in p.parts else p.read_bytes() for p in files}

    folder = packaged.new_copy(starter("ops"), tmp_path)
    made, own = contents(folder), folder.stat().st_ino
    (tmp_path / "kept").write_text("mine")
    (folder / "README.md").write_text("changed")
    shutil.rmtree(folder / "web-1" / "var")
    (folder / "web-1" / "var").write_text("a file in the place of a folder")
    (folder / "new" / "deep").mkdir(parents=True)
    (folder / "new" / "deep" / "file").write_text("added")
    (folder / "link").symlink_to(tmp_path)
    (folder / "runbook.md").unlink(missing_ok=True)
    (folder / "runbook.md").symlink_to(tmp_path / "kept")
    packaged.reset_copy(folder, tmp_path)
    assert contents(folder) == made
    assert folder.stat().st_ino == own, "who is in it stays in it"
    assert not any(p.is_symlink() for p in folder.rglob("*"))
    assert (tmp_path / "kept").read_text() == "mine"
    assert [p.name for p in (tmp_path / "starters").iterdir()] == ["ops"], "no scratch folder is left"


def test_only_copies_of_starters_are_reset(tmp_path: Path) -> None:
    for folder in (tmp_path / "lease", tmp_path / "starters" / "mine-2", tmp_path / "a" / "starters" / "lease-2"):
        folder.mkdir(parents=True)
        (folder / "mine").write_text("mine")
        with pytest.raises(BadInput, match="only a starter can be reset"):
            packaged.reset_copy(folder, tmp_path)
        assert (folder / "mine").read_text() == "mine"
