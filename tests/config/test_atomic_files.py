"""Publishing new files: whole, never over another, and without hard links as each place needs it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from hitl_tui.config.atomic_files import NoLinks, link_new, publish_new, write_atomically, write_new


@pytest.fixture
def no_links(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_a_new_file_never_takes_the_place_of_another(tmp_path: Path) -> None:
    write_new(tmp_path / "a", b"1")
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "a", b"2")
    assert contents(tmp_path) == {"a": b"1"}
    write_atomically(tmp_path / "a", b"3")
    assert contents(tmp_path) == {"a": b"3"}
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600


@pytest.mark.usefixtures("no_links")
def test_without_hard_links_it_is_new_all_the_same(tmp_path: Path) -> None:
    write_new(tmp_path / "a", b"1")
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "a", b"2")
    assert contents(tmp_path) == {"a": b"1"}


@pytest.mark.usefixtures("no_links")
def test_where_nobody_may_see_an_empty_file_it_is_refused_without_hard_links(tmp_path: Path) -> None:
    with pytest.raises(NoLinks) as refused:
        write_new(tmp_path / "a", b"1", link_new)
    assert refused.value.strerror == "its file system has no hard links"
    assert contents(tmp_path) == {}


@pytest.mark.usefixtures("no_links")
def test_a_name_that_was_taken_in_vain_is_free_again(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        publish_new(tmp_path / "gone", tmp_path / "a")
    assert contents(tmp_path) == {}
